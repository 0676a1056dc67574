//===- GpuEmitter.cpp - the kernels of a GPU and their launches -----------===//

#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/program/GpuScheduler.h"
#include "codegen/gpu/program/Threads.h"
#include "targets/nvidia/Blocks.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

/// Elements of a range per thread of a group: DivideWork's chunks are eight
/// vectors.
static constexpr unsigned lanesOfRange = groupThreads / 8;

GpuEmitter::GpuEmitter(ProgramOp program, ModuleOp module,
                       const EmitOptions &options)
    : LaunchEmitter(program, module, options, lanesOfRange,
                    /*listsSlots=*/true) {}

LogicalResult GpuEmitter::emit(const EmitOptions &options) {
  FailureOr<launch::ProgramOp> schedule =
      GpuScheduler(program, storage, real)
          .schedule(options.launches, /*marksSteps=*/false,
                    /*sharesKernels=*/false);
  if (failed(schedule))
    return failure();
  Type pointer = main.pointer(), number = main.getI64Type();
  if (!module.lookupSymbol(parallelName)) {
    main.setInsertionPointToEnd(module.getBody());
    main.create<func::FuncOp>(
            parallelName, main.getFunctionType(
                              {pointer, pointer, pointer, number, number}, {}))
        .setPrivate();
  }
  emitProgram(*schedule);
  emitLoops();
  fillLists();
  assert(callsEachRun(*schedule) && "each run is one call");
  return success();
}

void GpuEmitter::callKernel(func::FuncOp function, Value units, int64_t threads,
                            int64_t unitsAtOnce, Value sharedBytes) {
  lastKernel = function;
  function->setAttr(threadsName, main.getI64IntegerAttr(threads));
  function->setAttr(unitsAtOnceName, main.getI64IntegerAttr(unitsAtOnce));
  callParallel(function, readsOf[function].numbers(), units, sharedBytes,
               /*otherwise=*/0);
}

/// for (unit = number of the group or block; unit < units; unit += all of them)
void GpuEmitter::emitLaunch(Operation *op, StringRef name, const Work &work,
                            KernelBody body) {
  KernelBuilder kernel(op->getLoc(), module.getContext());
  func::FuncOp function =
      beginKernel(kernel, op, name, {kernel.pointer(), kernel.i64()});
  int64_t threads = threadsOf(op).value_or(blockThreads);
  int64_t atOnce = work.isLarge ? 1 : threads / groupThreads;
  Value first = blockNumber(kernel), step = numBlocks(kernel);
  if (!work.isLarge) {
    Value groups = kernel.number(atOnce);
    Value group =
        kernel.div(threadInBlock(kernel), kernel.number(groupThreads));
    first = kernel.add(kernel.mul(first, groups), group);
    step = kernel.mul(step, groups);
  }
  kernel.setTeam(work.isLarge ? blockTeam(kernel, threads) : groupTeam(kernel));
  kernel.setCopies(&roundingCopyOps());
  kernel.loop(first, function.getArgument(1), step, [&](Value unit) {
    body(kernel, function.getArgument(0), unit,
         kernel.add(unit, kernel.number(1)));
  });
  clearRest(kernel, function.getArgument(0), op);
  kernel.create<func::ReturnOp>();
  callKernel(function, work.units, threads, atOnce);
  noteStep(function, /*isByExample=*/work.isLarge,
           /*isAhead=*/work.needsNothing);
}

void GpuEmitter::launchTiles(
    Operation *op, Value units, const TileShape &shape,
    llvm::function_ref<void(KernelBuilder &, Value, Value)> body) {
  KernelBuilder kernel(op->getLoc(), module.getContext());
  std::string name = cast<ComputeOp>(op).getLabel().value_or("").str();
  name += shape.isRounded ? ".gemm.bf16" : ".gemm";
  func::FuncOp function =
      beginKernel(kernel, op, name, {kernel.pointer(), kernel.i64()});
  if (notes) {
    notes->back().tileRows = shape.rows;
    notes->back().tileColumns = shape.columns;
    notes->back().isRounded = shape.isRounded;
  }
  memory = tileMemory(kernel, module, real, shape);
  kernel.loop(blockNumber(kernel), function.getArgument(1), numBlocks(kernel),
              [&](Value unit) { body(kernel, function.getArgument(0), unit); });
  kernel.create<func::ReturnOp>();
  callKernel(function, units, shape.threads, 1);
  // Threads with few sums leave room for others.
  constexpr int64_t threadsAtOnce = 512;
  if (!shape.isRounded && shape.rows < largeTile.rows)
    function->setAttr(blocksName,
                      main.getI64IntegerAttr(threadsAtOnce / shape.threads));
  noteStep(function, /*isByExample=*/false, /*isAhead=*/false);
}

void GpuEmitter::emitColumns(KernelOp) {
  llvm_unreachable("a GPU has no kernels in columns");
}
