//===- Threads.cpp - the threads of a GPU ---------------------------------===//

#include "codegen/gpu/program/Threads.h"
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

Value fovea::codegen::blockInCluster(KernelBuilder &kernel) {
  return readRegister(kernel, "cluster.ctarank");
}
Value fovea::codegen::blocksOfCluster(KernelBuilder &kernel) {
  return readRegister(kernel, "cluster.nctarank");
}

void fovea::codegen::waitForBlock(KernelBuilder &kernel) {
  kernel.create<LLVM::CallIntrinsicOp>(
      kernel.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
      ValueRange{i32(kernel, 0)});
}

void fovea::codegen::waitForThreads(KernelBuilder &kernel, int64_t count) {
  // Barrier 0 is for all threads.
  kernel.create<LLVM::CallIntrinsicOp>(
      kernel.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.count"),
      ValueRange{i32(kernel, 1), i32(kernel, count)});
}

/// The threads of a warp may diverge, and arrive as one.
void fovea::codegen::waitForCluster(KernelBuilder &kernel) {
  kernel.create<LLVM::CallIntrinsicOp>(
      kernel.getStringAttr("llvm.nvvm.bar.warp.sync"),
      ValueRange{i32(kernel, -1)});
  for (StringRef part : {"arrive", "wait"})
    kernel.create<LLVM::CallIntrinsicOp>(
        kernel.getStringAttr("llvm.nvvm.barrier.cluster." + part.str()),
        ValueRange());
}

/// A number in the memory of the device, 0 before the first launch.
static Value numberInMemory(KernelBuilder &kernel, ModuleOp module,
                            StringRef symbol) {
  constexpr unsigned global = 1, cacheLine = 128;
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(kernel);
    kernel.setInsertionPointToStart(module.getBody());
    kernel.create<LLVM::GlobalOp>(
        kernel.getI32Type(), /*isConstant=*/false, LLVM::Linkage::Internal,
        symbol, kernel.getI32IntegerAttr(0), cacheLine, global);
  }
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), global);
  return kernel.create<LLVM::AddressOfOp>(pointer, symbol);
}

/// The first thread of a block signals its arrival. The last block's thread
/// starts the next turn, for which the others wait. NVPTX's atomic additions
/// are unordered, so there are fences.
void fovea::codegen::waitForGrid(KernelBuilder &kernel, ModuleOp module) {
  using LLVM::AtomicOrdering;
  constexpr llvm::StringLiteral scope = "device";
  Value arrived = numberInMemory(kernel, module, "fovea_arrived");
  Value turn = numberInMemory(kernel, module, "fovea_turn");
  Type word = kernel.getI32Type();
  auto load = [&](AtomicOrdering ordering) -> Value {
    return kernel.create<LLVM::LoadOp>(
        word, turn, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, ordering, scope);
  };
  auto store = [&](Value value, Value to, AtomicOrdering ordering) {
    kernel.create<LLVM::StoreOp>(value, to, /*alignment=*/4,
                                 /*isVolatile=*/false, /*isNonTemporal=*/false,
                                 /*isInvariantGroup=*/false, ordering, scope);
  };
  auto fence = [&] {
    kernel.create<LLVM::FenceOp>(AtomicOrdering::acq_rel, scope);
  };
  waitForBlock(kernel);
  Value isFirst = kernel.equal(threadInBlock(kernel), kernel.number(0));
  kernel.branch(isFirst, [&] {
    Value own = load(AtomicOrdering::monotonic);
    fence();
    Value before = kernel.create<LLVM::AtomicRMWOp>(
        LLVM::AtomicBinOp::add, arrived, i32(kernel, 1),
        AtomicOrdering::monotonic, scope);
    before = kernel.create<arith::ExtUIOp>(kernel.i64(), before);
    Value isLast =
        kernel.equal(before, kernel.sub(numBlocks(kernel), kernel.number(1)));
    kernel.branch(
        isLast,
        [&] {
          fence();
          store(i32(kernel, 0), arrived, AtomicOrdering::monotonic);
          store(kernel.create<arith::AddIOp>(own, i32(kernel, 1)), turn,
                AtomicOrdering::release);
        },
        [&] {
          kernel.repeatWhile(
              load(AtomicOrdering::acquire),
              [&](Value now) { return kernel.equal(now, own); },
              [&](Value) { return load(AtomicOrdering::acquire); });
        });
  });
  waitForBlock(kernel);
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
  /// The threads of this group, as bits of the warp, which has two groups.
  static Value threadsOfGroup(KernelBuilder &kernel) {
    Value thread =
        intrinsic(kernel, "read.ptx.sreg.tid.x", kernel.getI32Type(), {});
    Value first = kernel.create<arith::AndIOp>(thread, i32(kernel, 16));
    return kernel.create<arith::ShLIOp>(i32(kernel, 0xFFFF), first);
  }

  static Value shuffle(KernelBuilder &kernel, StringRef kind, Value word,
                       int64_t number) {
    // Lanes in segments of 16, at whose end `down` stops.
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
