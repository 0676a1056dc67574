//===- Compile.cpp - kernel modules become objects ------------------------===//
//
// Runs the steps of Lower.h and Emit.h over modules and turns diagnostics
// into one error.
//
//===----------------------------------------------------------------------===//

#include "codegen/Compile.h"
#include "codegen/Emit.h"
#include "codegen/Lower.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace fovea::codegen;
using namespace mlir;

/// `file:line:column: message`, and the notes below it.
static void append(const Diagnostic &diagnostic, std::string &messages) {
  llvm::raw_string_ostream stream(messages);
  stream << (messages.empty() ? "" : "\n");
  if (auto at = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << at.getFilename().getValue() << ":" << at.getLine() << ":"
           << at.getColumn() << ": ";
  stream << diagnostic.str();
  for (const Diagnostic &note : diagnostic.getNotes())
    append(note, messages);
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileObject(ModuleOp module, const Target &target,
              const CompileOptions &options) {
  auto machine = target.createMachine(llvm::CodeGenOptLevel(options.codegen));
  if (!machine)
    return machine.takeError();
  if (failed(lowerToLLVM(module)))
    return llvm::createStringError("cannot lower a kernel to LLVM");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateToLLVM(module, context, **machine, target);
  if (!translated)
    return llvm::createStringError("cannot translate a kernel to LLVM");
  optimise(*translated, **machine, options.optimisation);
  auto object =
      emitFile(*translated, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(*object), translated->getModuleIdentifier(),
      /*RequiresNullTerminator=*/false);
}

llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
fovea::codegen::compileObjects(std::vector<OwningOpRef<ModuleOp>> modules,
                               const Target &target,
                               const CompileOptions &options) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  for (OwningOpRef<ModuleOp> &module : modules) {
    MLIRContext &context = *module->getContext();
    loadKernelDialects(context);
    std::string messages;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      append(diagnostic, messages);
      return success();
    });
    auto object = compileObject(*module, target, options);
    if (!object) {
      if (messages.empty())
        return object.takeError();
      llvm::consumeError(object.takeError());
      return llvm::createStringError(messages);
    }
    objects.push_back(std::move(*object));
  }
  return objects;
}
