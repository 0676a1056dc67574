//===- Compiler.cpp - from a spec to machine code -------------------------===//

#include "compiler/Compiler.h"
#include "codegen/Backend.h"
#include "dialect/AttnDialect.h"
#include "dialect/launch/LaunchDialect.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace fovea;
using runtime::Status;

void compiler::registerDialects(DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, launch::LaunchDialect>();
  codegen::registerTargets(registry);
}

compiler::Context::Context() : MLIRContext(Threading::DISABLED) {
  DialectRegistry registry;
  registerDialects(registry);
  appendDialectRegistry(registry);
  loadAllAvailableDialects();
}

/// Passes rely on it. The handler of the context's errors reports it.
static std::unique_ptr<Model> verified(std::unique_ptr<Model> model) {
  if (model && model->module && failed(verify(*model->module)))
    return nullptr;
  return model;
}

std::unique_ptr<Model> compiler::open(StringRef path,
                                      const FrontendOptions &options,
                                      Context &context,
                                      Diagnostics &diagnostics) {
  return verified(compileSpec(path, options, context, diagnostics));
}

std::unique_ptr<Model> compiler::open(StringRef text, StringRef name,
                                      const FrontendOptions &options,
                                      Context &context,
                                      Diagnostics &diagnostics) {
  return verified(compileText(text, name, options, context, diagnostics));
}

/// What the passes ask of a target.
static llvm::Expected<attn::TargetAttr>
describe(MLIRContext &context, StringRef target, bool isDouble) {
  Builder builder(&context);
  return codegen::describeTarget(target, isDouble ? builder.getF64Type()
                                                  : builder.getF32Type());
}

llvm::Error compiler::setTarget(ModuleOp module, StringRef target,
                                bool isDouble) {
  auto described = describe(*module.getContext(), target, isDouble);
  if (!described)
    return described.takeError();
  described->setTo(module);
  return llvm::Error::success();
}

llvm::Expected<attn::OptionalPasses> compiler::optionalPasses(StringRef target,
                                                              bool isDouble) {
  Context context;
  auto described = describe(context, target, isDouble);
  if (!described)
    return described.takeError();
  return attn::optionalPasses(*described);
}

LogicalResult compiler::lower(ModuleOp module,
                              const attn::PipelineOptions &options,
                              std::unique_ptr<PassInstrumentation> watcher) {
  return attn::runPasses(
      module,
      [&](OpPassManager &manager) { attn::buildPipeline(manager, options); },
      std::move(watcher));
}

bool compiler::packsOnce(ModuleOp module, bool learns,
                         const codegen::DriverOptions &options) {
  auto target =
      describe(*module.getContext(), options.target, options.isDouble);
  // The driver reports it.
  if (!target) {
    llvm::consumeError(target.takeError());
    return false;
  }
  return !learns && target->getTileColumns() > 0;
}

/// Compiles what `add` adds to the programs of a driver.
static Status compileWith(ModuleOp module,
                          const codegen::DriverOptions &options,
                          codegen::Code &code,
                          llvm::function_ref<Status(codegen::Driver &)> add) {
  std::unique_ptr<codegen::Driver> driver;
  if (Status status = codegen::Driver::create(module.getLoc(), options, driver);
      status.failed())
    return status;
  if (Status status = add(*driver); status.failed())
    return status;
  return driver->finish(code);
}

Status compiler::compile(ModuleOp module, StringRef entry,
                         const codegen::DriverOptions &options,
                         codegen::Code &code) {
  return compileWith(module, options, code, [&](codegen::Driver &driver) {
    return driver.add(module, entry);
  });
}

Status compiler::compileDecoder(ModuleOp module,
                                const codegen::DriverOptions &options,
                                codegen::Code &code) {
  return compileWith(module, options, code, [&](codegen::Driver &driver) {
    return driver.addDecoder(module);
  });
}
