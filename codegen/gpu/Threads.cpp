//===- Threads.cpp - the threads of a GPU ---------------------------------===//

#include "codegen/gpu/Threads.h"
#include "passes/analysis/VectorIndex.h"

using namespace mlir;
using namespace fovea::codegen;

static_assert(groupThreads == fovea::attn::partialResults);

static Value intrinsic(KernelBuilder &kernel, StringRef name, Type result,
                       ValueRange operands) {
  auto call = kernel.create<LLVM::CallIntrinsicOp>(
      result, kernel.getStringAttr("llvm.nvvm." + name.str()), operands);
  return call->getResult(0);
}

static Value i32(KernelBuilder &kernel, int64_t value) {
  return kernel.create<arith::ConstantOp>(
      kernel.getI32IntegerAttr(static_cast<int32_t>(value)));
}

static Value readRegister(KernelBuilder &kernel, StringRef name) {
  Value value = intrinsic(kernel, ("read.ptx.sreg." + name).str(),
                          kernel.getI32Type(), {});
  return kernel.create<arith::ExtUIOp>(kernel.i64(), value);
}

Value fovea::codegen::threadInBlock(KernelBuilder &kernel) {
  return readRegister(kernel, "tid.x");
}
Value fovea::codegen::blockNumber(KernelBuilder &kernel) {
  return readRegister(kernel, "ctaid.x");
}
Value fovea::codegen::numBlocks(KernelBuilder &kernel) {
  return readRegister(kernel, "nctaid.x");
}

void fovea::codegen::waitForBlock(KernelBuilder &kernel) {
  kernel.create<LLVM::CallIntrinsicOp>(
      kernel.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
      ValueRange{i32(kernel, 0)});
}

namespace {
class GpuTeamOps final : public TeamOps {
public:
  Value shiftDown(KernelBuilder &kernel, Value value,
                  int64_t distance) const override {
    return move(kernel, value, [&](Value word) {
      return shuffle(kernel, "down", word, distance);
    });
  }
  Value ofFirst(KernelBuilder &kernel, Value value) const override {
    return move(kernel, value,
                [&](Value word) { return shuffle(kernel, "idx", word, 0); });
  }
  void wait(KernelBuilder &kernel, bool ofAllGroups) const override {
    if (ofAllGroups)
      return waitForBlock(kernel);
    kernel.create<LLVM::CallIntrinsicOp>(
        kernel.getStringAttr("llvm.nvvm.bar.warp.sync"),
        ValueRange{threadsOfGroup(kernel)});
  }

private:
  /// The threads of this group, as bits of those of the warp, which is two.
  static Value threadsOfGroup(KernelBuilder &kernel) {
    Value thread =
        intrinsic(kernel, "read.ptx.sreg.tid.x", kernel.getI32Type(), {});
    Value first = kernel.create<arith::AndIOp>(thread, i32(kernel, 16));
    return kernel.create<arith::ShLIOp>(i32(kernel, 0xFFFF), first);
  }

  static Value shuffle(KernelBuilder &kernel, StringRef kind, Value word,
                       int64_t number) {
    // Lanes in segments of 16, of which `down` stops at the last.
    constexpr int64_t segments = (32 - groupThreads) << 8 | 0x1F;
    return intrinsic(kernel, ("shfl.sync." + kind + ".i32").str(),
                     kernel.getI32Type(),
                     {threadsOfGroup(kernel), word, i32(kernel, number),
                      i32(kernel, segments)});
  }

  /// A value word by word.
  static Value move(KernelBuilder &kernel, Value value,
                    llvm::function_ref<Value(Value)> word) {
    Type type = value.getType();
    unsigned bits = type.getIntOrFloatBitWidth();
    Type whole = kernel.getIntegerType(bits), half = kernel.getI32Type();
    if (bits < 32)
      return kernel.create<arith::TruncIOp>(
          type, word(kernel.create<arith::ExtUIOp>(half, value)));
    if (isa<FloatType>(type))
      value = kernel.create<arith::BitcastOp>(whole, value);
    if (bits == 32) {
      value = word(value);
    } else {
      Value shift = kernel.number(32);
      Value low = word(kernel.create<arith::TruncIOp>(half, value));
      Value high = word(kernel.create<arith::TruncIOp>(
          half, kernel.create<arith::ShRUIOp>(value, shift)));
      value = kernel.create<arith::OrIOp>(
          kernel.create<arith::ExtUIOp>(whole, low),
          kernel.create<arith::ShLIOp>(
              kernel.create<arith::ExtUIOp>(whole, high), shift));
    }
    return isa<FloatType>(type)
               ? kernel.create<arith::BitcastOp>(type, value).getResult()
               : value;
  }
};
} // namespace

static const GpuTeamOps teamOps;

Team fovea::codegen::groupTeam(KernelBuilder &kernel) {
  Team team;
  team.ops = &teamOps;
  team.thread = team.lane =
      kernel.rem(threadInBlock(kernel), kernel.number(groupThreads));
  team.size = groupThreads;
  return team;
}

Team fovea::codegen::blockTeam(KernelBuilder &kernel, int64_t threads) {
  Team team;
  team.ops = &teamOps;
  team.thread = threadInBlock(kernel);
  team.size = threads;
  team.lane = kernel.rem(team.thread, kernel.number(groupThreads));
  team.group = kernel.div(team.thread, kernel.number(groupThreads));
  team.numGroups = threads / groupThreads;
  return team;
}
