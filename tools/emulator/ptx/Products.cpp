//===- Products.cpp - products of warps -----------------------------------===//

#include "tools/emulator/ptx/TensorCore.h"
#include "tools/emulator/ptx/Warp.h"

using namespace fovea::emulator::ptx;

static constexpr uint32_t numTerms = 16;

static float halfOf(uint64_t word, uint32_t number) {
  return std::bit_cast<float>(
      static_cast<uint32_t>(number % 2 ? word & 0xFFFF0000 : word << 16));
}

/// 16 x 16 times 16 x 8; the PTX manual says which lane has which elements.
static Step multiply(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  if (mask != everyLane)
    return warp.fail(code, 0, "lacks lanes of its warp");
  Register from[10];
  uint32_t known = everyLane;
  for (uint32_t i = 0; i < 10; ++i) {
    from[i] = warp.source(code.operands[4 + i]);
    if (i < 6)
      known &= from[i].known;
  }
  for (uint32_t i = 0; i < 4; ++i)
    forLanes(mask, [&](uint32_t lane) {
      uint32_t row = lane / 4, column = lane % 4 * 2 + i % 2;
      float sum =
          std::bit_cast<float>(static_cast<uint32_t>(from[6 + i].lane[lane]));
      float left[numTerms], right[numTerms];
      for (uint32_t term = 0; term < numTerms; ++term) {
        uint32_t pair = term % 8 / 2, late = term / 8;
        left[term] = halfOf(from[i / 2 + 2 * late].lane[4 * row + pair], term);
        right[term] = halfOf(from[4 + late].lane[4 * column + pair], term);
      }
      sum = tensorCore().add(sum, left, right);
      // What a lane lacks is in all that it is multiplied with.
      warp.set(code.operands[i], lane, std::bit_cast<uint32_t>(sum),
               known == everyLane && (from[6 + i].known >> lane & 1));
    });
  return Step::Next;
}

bool fovea::emulator::ptx::decodeProduct(std::string_view name,
                                         Instruction &code) {
  constexpr size_t numOperands = 14;
  if (name != "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" ||
      code.operands.size() != numOperands)
    return false;
  code.run = &multiply;
  return true;
}
