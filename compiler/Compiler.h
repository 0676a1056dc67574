//===- Compiler.h - from a spec to machine code ---------------------------===//
//
// The one way through the compiler, step by step: create a context, open a
// model, lower it up to a phase, compile its programs for a target. Commands,
// the language server, Python and tests all take it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_COMPILER_COMPILER_H
#define FOVEA_COMPILER_COMPILER_H

#include "codegen/Driver.h"
#include "frontends/fov/Frontend.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/Pipeline.h"

namespace fovea::compiler {

/// Adds the dialects of models and programs, with those of all targets.
void registerDialects(mlir::DialectRegistry &registry);

/// A context for models: it has these dialects, and works in one thread.
class Context : public mlir::MLIRContext {
public:
  Context();
};

/// Compiles the spec at `path` to a module of the dialect, and verifies it.
/// Null on an error (reported).
std::unique_ptr<Model> open(llvm::StringRef path,
                            const FrontendOptions &options, Context &context,
                            Diagnostics &diagnostics);
/// The same for a text, which messages call `name`.
std::unique_ptr<Model> open(llvm::StringRef text, llvm::StringRef name,
                            const FrontendOptions &options, Context &context,
                            Diagnostics &diagnostics);

/// Sets the target that the passes decide for, by its name on the command line
/// (codegen::describeTarget). Fails if there is none of that name.
llvm::Error setTarget(mlir::ModuleOp module, llvm::StringRef target,
                      bool isDouble);
/// The passes of a target that may be left out. Fails in the same way.
llvm::Expected<attn::OptionalPasses> optionalPasses(llvm::StringRef target,
                                                    bool isDouble);

/// Runs all phases up to `options.stopAfter`, each with a check of its
/// contract. `watcher` is called before and after each pass.
mlir::LogicalResult
lower(mlir::ModuleOp module, const attn::PipelineOptions &options,
      std::unique_ptr<mlir::PassInstrumentation> watcher = nullptr);

/// Whether the programs of a model pack its parameters in a function of their
/// own, once for many calls (DriverOptions::prepares). `learns`: updates change
/// the parameters between calls. A target whose products read their factors in
/// place, such as a GPU, packs none.
bool packsOnce(mlir::ModuleOp module, bool learns,
               const codegen::DriverOptions &options);

/// Compiles an entry of a module after the phase `fuse` for a target.
runtime::Status compile(mlir::ModuleOp module, llvm::StringRef entry,
                        const codegen::DriverOptions &options,
                        codegen::Code &code);
/// The same for the programs that `attn-split-decoder` made of a model.
runtime::Status compileDecoder(mlir::ModuleOp module,
                               const codegen::DriverOptions &options,
                               codegen::Code &code);

} // namespace fovea::compiler

#endif // FOVEA_COMPILER_COMPILER_H
