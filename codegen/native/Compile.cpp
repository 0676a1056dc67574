//===- Compile.cpp - kernel modules become objects ------------------------===//
//
// Runs the steps of Lower.h and Emit.h over modules and combines diagnostics
// into one error.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Compile.h"
#include "codegen/native/Emit.h"
#include "codegen/native/Lower.h"
#include "codegen/native/ObjectCache.h"
#include "codegen/native/Split.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"

#include <mutex>

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

namespace {

using Object = std::unique_ptr<llvm::MemoryBuffer>;

/// One call of compileObjects.
class Compilation {
public:
  Compilation(MLIRContext &context, const Target &target,
              const CompileOptions &options)
      : context(context), target(target), options(options) {}

  llvm::Expected<Object> compile(ModuleOp module);
  std::string keyOf(ModuleOp module) const;

private:
  MLIRContext &context;
  const Target &target;
  const CompileOptions &options;
  /// Held while MLIR is used, whose context is for one thread.
  std::mutex single;
};

} // namespace

/// What the object of a module depends on.
std::string Compilation::keyOf(ModuleOp module) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().assumeVerified().useLocalScope());
  std::string levels = std::to_string(options.optimisation) + "," +
                       std::to_string(options.codegen);
  return ObjectCache::keyOf({"object", text, target.describe(), levels});
}

llvm::Expected<Object> Compilation::compile(ModuleOp module) {
  bool isHost = module->hasAttr(hostName);
  auto machine =
      target.createMachine(llvm::CodeGenOptLevel(isHost ? 0 : options.codegen));
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> translated;
  {
    std::unique_lock lock(single, std::defer_lock);
    if (!context.isMultithreadingEnabled())
      lock.lock();
    if (failed(lowerToLLVM(module, target)))
      return llvm::createStringError("cannot lower a kernel to LLVM");
    translated = translateToLLVM(module, llvmContext, **machine, target);
  }
  if (!translated)
    return llvm::createStringError("cannot translate a kernel to LLVM");
  optimise(*translated, **machine, isHost ? 0 : options.optimisation);
  auto object =
      emitFile(*translated, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(*object), translated->getModuleIdentifier(),
      /*RequiresNullTerminator=*/false);
}

llvm::Expected<std::vector<Object>>
fovea::codegen::compileObjects(std::vector<OwningOpRef<ModuleOp>> modules,
                               const Target &target,
                               const CompileOptions &options) {
  std::vector<Object> objects(modules.size());
  if (modules.empty())
    return objects;
  MLIRContext &context = *modules.front()->getContext();
  loadKernelDialects(context);
  Compilation compilation(context, target, options);

  std::vector<std::string> keys(modules.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < modules.size(); ++i) {
    assert(modules[i]->getContext() == &context && "modules of two contexts");
    if (options.cache) {
      keys[i] = compilation.keyOf(*modules[i]);
      objects[i] = options.cache->load(keys[i]);
    }
    if (!objects[i])
      missing.push_back(i);
  }

  std::string messages;
  std::vector<std::string> errors(modules.size());
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      append(diagnostic, messages);
    });
    // Forwards them in the order of the modules, on destruction.
    ParallelDiagnosticHandler ordered(&context);
    auto compile = [&](size_t i) {
      ordered.setOrderIDForThread(i);
      llvm::Expected<Object> object = compilation.compile(*modules[i]);
      ordered.eraseOrderIDForThread();
      if (object)
        objects[i] = std::move(*object);
      else
        errors[i] = llvm::toString(object.takeError());
      if (object && options.cache)
        options.cache->store(keys[i], objects[i]->getBuffer());
    };
    auto strategy = llvm::hardware_concurrency(options.threads);
    strategy.Limit = true;
    if (missing.size() < 2 || options.threads == 1) {
      llvm::for_each(missing, compile);
    } else {
      llvm::DefaultThreadPool pool(strategy);
      for (size_t i : missing)
        pool.async(compile, i);
      pool.wait();
    }
  }
  if (options.cache && !missing.empty())
    options.cache->trim();

  auto failed = llvm::find_if(
      errors, [](const std::string &error) { return !error.empty(); });
  if (failed != errors.end())
    return llvm::createStringError(messages.empty() ? *failed : messages);
  return objects;
}
