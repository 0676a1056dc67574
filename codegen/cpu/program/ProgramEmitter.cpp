//===- ProgramEmitter.cpp - the kernels of a CPU and their launches -------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "codegen/cpu/Machine.h"
#include "codegen/cpu/program/CpuScheduler.h"
#include "codegen/math/ExpandMath.h"
#include "dialect/Precision.h"
#include "dialect/RoundedFactors.h"
#include "passes/memory/Locations.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;
using runtime::StorageFormat;

LogicalResult fovea::codegen::emitProgram(ProgramOp program, ModuleOp module,
                                          const EmitOptions &options,
                                          runtime::Program &description) {
  assert((!packsProducts(program) ||
          TargetAttr::of(program) == describe(options.target, options.real)) &&
         "products are packed for one target");
  ProgramEmitter emitter(program, module, options);
  if (failed(emitter.emit(options)))
    return failure();
  expandMath(module);
  description = emitter.description();
  return success();
}

GemmElement fovea::codegen::elementOf(ComputeOp op, Type real) {
  if (roundsFactors(op) && real.isF32())
    return GemmElement::inPairs(real);
  return {real, nullptr, groupedSumsOf(op)};
}

bool fovea::codegen::skipsTerms(ComputeOp op, const RowsProduct &product) {
  return choosesRows(op, product) && !product.isByRows() &&
         !groupedSumsOf(op) && !roundsFactors(op);
}

ProductFunctions fovea::codegen::functionsOf(ComputeOp op, Type real) {
  const StorageFormat *packed = packedFormatOf(op, real);
  if (packed && packed->kind == StorageFormat::Whole)
    return {.multiply = gemmIntegersName,
            .multiplyRows = gemmIntegerRowsName,
            .pack = packIntegersName,
            .packFar = packIntegersName,
            .packParts = packIntegersName};
  if (packed && packed->kind == StorageFormat::Groups)
    return {.multiply = gemmGroupsName,
            .multiplyRows = gemmGroupRowsName,
            .pack = packGroupsName,
            .packFar = packGroupsName,
            .packParts = packGroupsName};
  GemmElement element = elementOf(op, real);
  element.right = element.pairs ? nullptr : packed;
  return {.multiply = gemmName(element),
          .multiplyRows = gemmRowsName(element),
          .pack = packName(element),
          .packFar = element.pairs ? packName(element) : packFarName(element),
          .packParts = packPartsName(element)};
}

static void emitFunctions(ModuleOp module, Type real,
                          const StorageFormat &packed, const Target &target) {
  switch (packed.kind) {
  case StorageFormat::Rounded:
    return emitGemm(module, {real, &packed}, target);
  case StorageFormat::Whole:
    return emitIntegerGemm(module, target);
  case StorageFormat::Groups:
    return emitGroupGemm(module, target);
  }
}

ProgramEmitter::ProgramEmitter(ProgramOp program, ModuleOp module,
                               const EmitOptions &options)
    : LaunchEmitter(program, module, options,
                    options.target.lanes(options.real),
                    /*listsSlots=*/!options.keepsNames),
      target(options.target), tile(gemmTile(real, target)),
      sharesKernels(!options.keepsNames && !options.notes) {}

/// No CPU defines the order of such sums.
static LogicalResult verifyRoundedSums(ProgramOp program) {
  WalkResult walk = program.walk([](ComputeOp op) {
    Type factor = precisionOf(op);
    if (!factor || !factor.isBF16() || groupedSumsOf(op) || roundsFactors(op))
      return WalkResult::advance();
    op.emitError() << "has factors in bf16, whose sums no CPU defines; help: "
                      "name a tensor core, as in '--precision bf16:sm_90'";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

/// A machine without a fused multiply-add has no such sums.
static LogicalResult verifyFused(ProgramOp program) {
  WalkResult walk = program.walk([](ComputeOp op) {
    if (!roundsFactors(op))
      return WalkResult::advance();
    op.emitError() << "has factors in bf16, whose products this machine adds "
                      "with two roundings";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult ProgramEmitter::emit(const EmitOptions &options) {
  if (failed(verifyRoundedSums(program)) ||
      (!options.target.fusesMultiplyAdd && failed(verifyFused(program))))
    return failure();
  FailureOr<launch::ProgramOp> schedule =
      CpuScheduler(program, storage)
          .schedule(options.launches, options.marksSteps, sharesKernels);
  if (failed(schedule))
    return failure();
  declareFunctions(options.marksSteps);
  emitProgram(*schedule);
  fillLists();
  assert(callsEachRun(*schedule) && "each run is one call");
  return success();
}

/// What kernels, and the functions of programs, call.
void ProgramEmitter::declareFunctions(bool marksSteps) {
  emitGemm(module, real, target);
  Type pointer = main.pointer(), number = main.getI64Type();
  auto declare = [&](StringRef name, TypeRange arguments, TypeRange results) {
    if (module.lookupSymbol(name))
      return;
    main.setInsertionPointToEnd(module.getBody());
    main.create<func::FuncOp>(name, main.getFunctionType(arguments, results))
        .setPrivate();
  };
  declare(parallelName, {pointer, pointer, pointer, number, number}, {});
  if (marksSteps)
    declare(stepName, {pointer, number}, {});
  program.walk([&](Operation *op) {
    if (op->hasAttr(roomsName))
      declare(threadName, {}, number);
    auto compute = dyn_cast<ComputeOp>(op);
    std::optional<RowsProduct> product;
    if (compute)
      product = rowsProductOf(compute);
    if (const StorageFormat *packed =
            product ? packedFormatOf(compute, real) : nullptr)
      emitFunctions(module, real, *packed, target);
    std::optional<ExampleProduct> ofExample;
    if (compute)
      ofExample = exampleProductOf(compute);
    if (ofExample &&
        storage.of(ofExample->right.getArray())
            .type.getElementType()
            .isBF16() &&
        real.isF32())
      emitGemm(module, {real, runtime::findStorageFormat("bf16")}, target);
    if (compute && productOf(compute) &&
        (groupedSumsOf(compute) || roundsFactors(compute)))
      emitGemm(module, elementOf(compute, real), target);
    if (!product || !product->gathered)
      return;
    emitGatheredGemm(module, elementOf(compute, real), target);
    if (skipsTerms(compute, *product))
      emitChosenGemm(module, real, target);
    declare(poolThreadsName, pointer, main.getI32Type());
  });
}

void ProgramEmitter::emitStrips(KernelOp kernel) {
  emitStrips(stripsOf(kernel));
}

void ProgramEmitter::emitColumns(KernelOp kernel) {
  emitEpilogue(epilogueOf(kernel));
}

void ProgramEmitter::emitLaunch(Operation *op, StringRef name, const Work &work,
                                KernelBody body) {
  if (callKnown(work.units, work.atOnce, /*otherwise=*/1))
    return;
  KernelBuilder kernel(op->getLoc(), module.getContext());
  Type pointer = kernel.pointer(), number = kernel.getI64Type();
  func::FuncOp function =
      beginKernel(kernel, op, name, {pointer, number, number});
  body(kernel, function.getArgument(0), function.getArgument(1),
       function.getArgument(2));
  kernel.create<func::ReturnOp>();
  SmallVector<int64_t> slots = readsOf[function].numbers();
  assert(llvm::all_of(slots,
                      [&, named = argumentsOf(run, storage)](int64_t slot) {
                        return !storage.numberOf(static_cast<int>(slot)) ||
                               llvm::is_contained(named, slot);
                      }) &&
         "a run names all memories that its kernel reads");
  callParallel(function, std::move(slots), work.units, work.atOnce,
               /*otherwise=*/1);
}
