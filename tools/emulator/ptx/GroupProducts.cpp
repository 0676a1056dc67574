//===- GroupProducts.cpp - products of groups of warps --------------------===//
//
// wgmma of 64 rows: each of four warps has sixteen. Its sides in shared memory
// are as descriptors say: rows of 128 bytes, swizzled, by address.
//
//===----------------------------------------------------------------------===//

#include "tools/emulator/Machine.h"
#include "tools/emulator/ptx/TensorCore.h"
#include "tools/emulator/ptx/Warp.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace fovea::emulator;
using namespace fovea::emulator::ptx;

constexpr uint32_t numTerms = 16, rowsOfWarp = 16;

namespace {
/// A side in shared memory. Turned: its rows are terms, and 64 of what the
/// other way are its rows lie in them.
struct Side {
  uint64_t start = 0, leading = 0, stride = 0;
  bool isTurned = false;

  uint64_t offset(uint32_t row, uint32_t term) const {
    constexpr uint32_t rowBytes = 128, eight = 8, columns = 64;
    uint64_t address =
        isTurned
            ? start + row / columns * leading + term / eight * stride +
                  term % eight * rowBytes + 2 * (row % columns)
            : start + row / eight * stride + row % eight * rowBytes + 2 * term;
    // Bits 7 to 9 change which 16 bytes of a row these are.
    return (address ^ ((address >> 7 & 7) << 4)) - sharedBegin;
  }
};

class Product {
public:
  Product(Warp &warp, const Instruction &code) : warp(warp), code(code) {}
  bool readLeft();
  bool readRight();
  void compute();

private:
  bool describe(Operand operand, Operand turned, Side &side);
  bool read(const Side &side, uint32_t row, uint32_t term, float &value);
  uint64_t immediate(size_t fromEnd) const {
    return warp.source(code.operands[code.operands.size() - fromEnd]).lane[0];
  }

  Warp &warp;
  const Instruction &code;
  float left[rowsOfWarp][numTerms];
  std::vector<float> right;
};
} // namespace

bool Product::describe(Operand operand, Operand turned, Side &side) {
  const Register &given = warp.source(operand);
  uint64_t bits = given.lane[0];
  for (uint32_t lane = 0; lane < lanes; ++lane)
    if (given.known != everyLane || given.lane[lane] != bits) {
      warp.fail(code, lane, "describes a side otherwise than its warp");
      return false;
    }
  constexpr uint64_t field = 0x3FFF, swizzled = 1, unit = 16;
  side = {(bits & field) * unit, (bits >> 16 & field) * unit,
          (bits >> 32 & field) * unit, warp.source(turned).lane[0] != 0};
  uint64_t known = field | field << 16 | field << 32 | swizzled << 62;
  if ((bits & ~known) == 0 && bits >> 62 == swizzled)
    return true;
  warp.fail(code, 0,
            "multiplies a side that is not in rows of 128 bytes, "
            "swizzled");
  return false;
}

bool Product::read(const Side &side, uint32_t row, uint32_t term,
                   float &value) {
  uint64_t offset = side.offset(row, term);
  Block &block = warp.block;
  if (offset + 2 > block.memory.size()) {
    warp.fail(code, 0, "multiplies what is not in the memory of the block");
    return false;
  }
  Shadow &shadow = block.shadows[offset];
  if (machine().isWatched) {
    Agent &agent = warp.onItsWay();
    std::string wrong = races().access(
        shadow, false, {&agent, agent.number, agent.clock(), Actor::none},
        true);
    if (wrong.empty() && races().isWritten(shadow) &&
        !races().isShown(shadow, warp.wave.agents))
      wrong = "that products do not see yet";
    if (!wrong.empty()) {
      warp.fail(code, 0, "multiplies a number " + wrong);
      return false;
    }
  }
  if (!block.known[offset] || !block.known[offset + 1]) {
    warp.fail(code, 0, "multiplies what has not come yet");
    return false;
  }
  uint16_t half;
  std::memcpy(&half, block.memory.data() + offset, sizeof(half));
  value = std::bit_cast<float>(uint32_t(half) << 16);
  return true;
}

bool Product::readLeft() {
  uint32_t first = code.count;
  if (!code.isTurned) {
    Side side;
    if (!describe(code.operands[first], code.operands[code.operands.size() - 2],
                  side))
      return false;
    uint32_t row = warp.number % 4 * rowsOfWarp;
    for (uint32_t i = 0; i < rowsOfWarp; ++i)
      for (uint32_t term = 0; term < numTerms; ++term)
        if (!read(side, row + i, term, left[i][term]))
          return false;
    return true;
  }
  // In registers, as for mma.sync.
  for (uint32_t i = 0; i < rowsOfWarp; ++i)
    for (uint32_t term = 0; term < numTerms; ++term) {
      const Register &word =
          warp.source(code.operands[first + term / 8 * 2 + i / 8]);
      uint32_t lane = i % 8 * 4 + term % 8 / 2;
      if (!(word.known >> lane & 1)) {
        warp.fail(code, lane, "multiplies what nobody has set");
        return false;
      }
      auto bits = static_cast<uint32_t>(word.lane[lane]);
      left[i][term] =
          std::bit_cast<float>(term % 2 == 0 ? bits << 16 : bits & 0xFFFF0000);
    }
  return true;
}

bool Product::readRight() {
  Side side;
  if (!describe(code.operands[code.count + (code.isTurned ? 4 : 1)],
                code.operands.back(), side))
    return false;
  uint32_t columns = 2 * code.count;
  right.resize(size_t(columns) * numTerms);
  for (uint32_t column = 0; column < columns; ++column)
    for (uint32_t term = 0; term < numTerms; ++term)
      if (!read(side, column, term, right[column * numTerms + term]))
        return false;
  return true;
}

void Product::compute() {
  size_t others = code.isTurned ? 4 : 5;
  bool adds = immediate(others) != 0;
  for (uint32_t i = 0; i < code.count; ++i) {
    Register &sums = warp.target(code.operands[i]);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      uint32_t row = lane / 4 + 8 * (i / 2 % 2);
      uint32_t column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      float sum =
          adds ? std::bit_cast<float>(static_cast<uint32_t>(sums.lane[lane]))
               : 0;
      sum = tensorCore().add(
          sum, left[row],
          std::span(right).subspan(size_t(column) * numTerms, numTerms));
      sums.lane[lane] = std::bit_cast<uint32_t>(sum);
    }
  }
}

static bool isSame(const PendingSums &pending, const Instruction &code) {
  if (pending.sums.size() != code.count)
    return false;
  for (uint32_t i = 0; i < code.count; ++i)
    if (pending.sums[i].number != code.operands[i].number)
      return false;
  return true;
}

static PendingSums &pendingFor(Warp &warp, const Instruction &code) {
  return *std::ranges::find_if(warp.products, [&](const PendingSums &pending) {
    return isSame(pending, code);
  });
}

static Step multiply(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  if (mask != everyLane || warp.number / 4 * 4 + 4 > warp.block.warps.size())
    return warp.fail(code, 0, "lacks threads of its group");
  if (!warp.isFenced)
    return warp.fail(code, 0, "multiplies without 'wgmma.fence' ahead of it");
  bool isPending =
      std::ranges::any_of(warp.products, [&](const PendingSums &pending) {
        return isSame(pending, code);
      });
  bool hasSums = isPending;
  size_t predicate = code.operands.size() - (code.isTurned ? 4 : 5);
  bool adds = warp.source(code.operands[predicate]).lane[0] != 0;
  for (uint32_t i = 0; i < code.count; ++i) {
    uint32_t known = warp.source(code.operands[i]).known;
    if (isPending && known != 0)
      return warp.fail(code, 0, "changes sums that are on their way");
    if (!hasSums && adds && known != everyLane)
      return warp.fail(code, 0, "adds to what nobody has set");
  }
  for (size_t scale = 1; scale <= 2; ++scale)
    if (warp.source(code.operands[predicate + scale]).lane[0] != 1)
      return warp.fail(code, 0, "scales by another number than 1");
  for (uint32_t half = 0; half < 2; ++half)
    join(warp.onItsWay().seen, warp.agent(half).seen);
  Product product(warp, code);
  if (!product.readLeft() || !product.readRight())
    return Step::Fail;
  product.compute();
  // Nobody knows them until they are awaited.
  for (uint32_t i = 0; i < code.count; ++i)
    warp.target(code.operands[i]).known = 0;
  if (!isPending)
    warp.products.push_back(
        {{code.operands.begin(), code.operands.begin() + code.count},
         warp.numProductGroups,
         {}});
  if (code.isTurned)
    for (uint32_t i = code.count; i < code.count + 4; ++i)
      pendingFor(warp, code)
          .sides.emplace_back(code.operands[i], warp.source(code.operands[i]));
  ++warp.numProducts;
  return Step::Next;
}

static Step beginProducts(Warp &warp, const Instruction &, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  warp.isFenced = true;
  return Step::Next;
}

static Step commit(Warp &warp, const Instruction &, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  ++warp.numProductGroups;
  warp.committed.push_back(warp.onItsWay().seen);
  warp.onItsWay().tick();
  return Step::Next;
}

/// Some of the last groups may stay on their way.
static Step finish(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  uint64_t most = warp.source(code.operands[0]).lane[0];
  auto isAwaited = [&](const PendingSums &pending) {
    return pending.group + most < warp.numProductGroups;
  };
  for (const PendingSums &pending : warp.products) {
    if (pending.group >= warp.numProductGroups)
      return warp.fail(code, 0, "waits for products that are not committed");
    for (Operand sum : pending.sums) {
      if (warp.source(sum).known != 0)
        return warp.fail(code, 0, "changes sums that are on their way");
      if (isAwaited(pending))
        warp.target(sum).known = everyLane;
    }
    for (const auto &[side, given] : pending.sides)
      if (!std::ranges::equal(warp.source(side).lane, given.lane))
        return warp.fail(code, 0, "changes a side that is on its way");
  }
  std::erase_if(warp.products, isAwaited);
  if (machine().fault == Fault::Sides)
    for (const PendingSums &pending : warp.products)
      for (const auto &[side, given] : pending.sides)
        warp.target(side).lane[0] ^= 1;
  warp.isFenced = false;
  for (; warp.committed.size() > most; warp.committed.pop_front())
    warp.join(warp.committed.front());
  return Step::Next;
}

/// The warps of a block have the registers of its launch among them.
template <bool takes>
static Step setRegisters(Warp &warp, const Instruction &code, uint32_t mask) {
  if (!warp.isWhole(mask))
    return Step::Wait;
  auto count = static_cast<uint32_t>(warp.source(code.operands[0]).lane[0]);
  if (count < 24 || count > 256 || count % 8 != 0 || warp.registers == 0)
    return warp.fail(code, 0, "has no such number of registers");
  if (takes ? count < warp.registers : count > warp.registers)
    return warp.fail(code, 0, "changes registers the other way");
  if (takes && (count - warp.registers) * lanes > warp.block.freeRegisters)
    return Step::Wait;
  warp.block.freeRegisters += (warp.registers - count) * lanes;
  warp.registers = count;
  ++warp.wave.effects;
  return Step::Next;
}

bool fovea::emulator::ptx::decodeGroupProduct(std::string_view name,
                                              Instruction &code) {
  size_t operands = code.operands.size();
  constexpr Known known[] = {
      {"wgmma.fence.sync.aligned", &beginProducts, 0},
      {"wgmma.commit_group.sync.aligned", &commit, 0},
      {"wgmma.wait_group.sync.aligned", &finish, 1},
      {"setmaxnreg.inc.sync.aligned.u32", &setRegisters<true>, 1},
      {"setmaxnreg.dec.sync.aligned.u32", &setRegisters<false>, 1},
  };
  if (decodeKnown(known, name, code))
    return true;
  constexpr std::string_view prefix = "wgmma.mma_async.sync.aligned.m64n",
                             suffix = "k16.f32.bf16.bf16";
  if (!name.starts_with(prefix) || !name.ends_with(suffix))
    return false;
  uint32_t columns = 0;
  auto [end, error] =
      std::from_chars(name.data() + prefix.size(),
                      name.data() + name.size() - suffix.size(), columns);
  if (error != std::errc() ||
      end != name.data() + name.size() - suffix.size() || columns % 8 != 0 ||
      columns == 0 || columns > 256)
    return false;
  code.run = &multiply;
  code.count = columns / 2;
  // With the left side in registers there are two more operands.
  code.isTurned = operands == code.count + 9;
  return code.isTurned || operands == code.count + 7;
}
