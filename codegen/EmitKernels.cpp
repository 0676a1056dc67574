//===- EmitKernels.cpp - the programs of a module become kernels ----------===//
//
// The passes `fovea-emit-kernels` and `fovea-schedule-launches`, for
// developers: they do for a module printed after a phase what `fovea compile
// --emit kernels` and `--emit launches` do for a spec. A placed program is
// compiled unchanged.
//
//===----------------------------------------------------------------------===//

#include "codegen/EmitKernels.h"
#include "codegen/Driver.h"
#include "codegen/native/Lower.h"
#include "dialect/launch/LaunchDialect.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/kernels/DivideWork.h"
#include "passes/memory/CheckMemory.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;
using runtime::Status;

namespace {

/// What the passes of this file do: they compile the programs of a module.
struct CompilePrograms : OperationPass<ModuleOp> {
  explicit CompilePrograms(TypeID id) : OperationPass(id) {}
  CompilePrograms(const CompilePrograms &other) : OperationPass(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registerKernelDialects(registry);
  }

  Option<std::string> target{*this, "target", llvm::cl::init("native"),
                             llvm::cl::desc("what the kernels are for")};
  Option<bool> isDouble{*this, "double", llvm::cl::init(false),
                        llvm::cl::desc("whether real numbers are f64")};
  Option<bool> keepsNames{*this, "names", llvm::cl::init(true),
                          llvm::cl::desc("whether kernels keep their names")};
  Option<bool> isChecked{
      *this, "checked", llvm::cl::init(false),
      llvm::cl::desc("whether kernels check their accesses to memory")};

  /// Checks that a placed program is for this target and can be compiled.
  LogicalResult check(ModuleOp module) {
    MLIRContext *context = &getContext();
    Type real = isDouble ? Type(Float64Type::get(context))
                         : Type(Float32Type::get(context));
    llvm::Expected<attn::TargetAttr> described = describeTarget(target, real);
    if (!described)
      return module.emitError() << llvm::toString(described.takeError());
    for (auto program : module.getOps<attn::ProgramOp>()) {
      if (!attn::isPlaced(program))
        continue;
      attn::TargetAttr own = attn::TargetAttr::of(program);
      if (own != *described)
        return program.emitError() << "is placed for " << own << " but compiled"
                                   << " for " << *described;
      if (failed(attn::verifyPlaced(program)) ||
          failed(attn::verifyUnits(program)))
        return failure();
    }
    return success();
  }

  Status emit(ModuleOp module, std::unique_ptr<Driver> &driver) {
    DriverOptions options;
    options.target = target;
    options.isDouble = isDouble;
    options.keepsNames = keepsNames;
    options.isChecked = isChecked;
    if (Status status = Driver::create(module.getLoc(), options, driver);
        status.failed())
      return status;
    for (StringRef entry : {"loss", "grad"})
      if (module.lookupSymbol<attn::ProgramOp>(entry))
        if (Status status = driver->add(module, entry); status.failed())
          return status;
    if (!module.getOps<attn::DecoderOp>().empty())
      return driver->addDecoder(module);
    return Status::success();
  }

  /// Compiles the programs, and compares schedules that the module has.
  LogicalResult compile(std::unique_ptr<Driver> &driver) {
    ModuleOp module = getOperation();
    if (failed(check(module)))
      return failure();
    if (Status status = emit(module, driver); status.failed())
      return module.emitError() << status.text();
    for (auto given : module.getOps<launch::ProgramOp>())
      for (auto own : driver->launches().getOps<launch::ProgramOp>())
        if (given.getProgram() == own.getProgram() &&
            failed(launch::matchSchedule(given, own)))
          return failure();
    return success();
  }
};

struct EmitKernels : PassWrapper<EmitKernels, CompilePrograms> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitKernels)

  StringRef getArgument() const override { return "fovea-emit-kernels"; }
  StringRef getDescription() const override {
    return "programs become kernels of a target";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::unique_ptr<Driver> driver;
    if (failed(compile(driver)))
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      op.erase();
    module->setDiscardableAttrs(ArrayRef<NamedAttribute>());
    module.getBody()->getOperations().splice(
        module.getBody()->end(), driver->kernels().getBody()->getOperations());
  }
};

struct ScheduleLaunches : PassWrapper<ScheduleLaunches, CompilePrograms> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScheduleLaunches)

  StringRef getArgument() const override { return "fovea-schedule-launches"; }
  StringRef getDescription() const override {
    return "programs get their schedules; those that have one are compared";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::unique_ptr<Driver> driver;
    if (failed(compile(driver)))
      return signalPassFailure();
    if (module.getOps<launch::ProgramOp>().empty())
      module.getBody()->getOperations().splice(
          module.getBody()->end(),
          driver->launches().getBody()->getOperations());
  }
};

} // namespace

void fovea::codegen::registerEmitKernelsPass() {
  PassRegistration<EmitKernels>();
  PassRegistration<ScheduleLaunches>();
}
