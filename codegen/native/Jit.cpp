//===- Jit.cpp - kernel modules run in this process -----------------------===//
//
// ORC only links here: compilation is Compile.cpp's task, so that cached
// objects skip all of it.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Jit.h"
#include "codegen/native/PerfMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"

#include <cmath>
#include <cstring>

using namespace fovea::codegen;
using namespace mlir;
using namespace llvm::orc;

template <typename Function>
static std::pair<std::string, void *> entry(const char *name,
                                            Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

/// Functions that LLVM's passes and code generator may call on their own.
static std::vector<std::pair<std::string, void *>> compilerSymbols() {
  return {
      entry("memcpy", &std::memcpy),
      entry("memmove", &std::memmove),
      entry("memset", &std::memset),
      entry("fmod", static_cast<double (*)(double, double)>(&std::fmod)),
      entry("fmodf", static_cast<float (*)(float, float)>(&std::fmod)),
  };
}

static std::vector<std::pair<std::string, void *>> libmSymbols() {
  using F = float (*)(float);
  using D = double (*)(double);
#define FOVEA_LIBM(name)                                                       \
  entry(#name, static_cast<D>(&std::name)),                                    \
      entry(#name "f", static_cast<F>(&std::name))
  return {FOVEA_LIBM(exp),
          FOVEA_LIBM(exp2),
          FOVEA_LIBM(expm1),
          FOVEA_LIBM(log),
          FOVEA_LIBM(log2),
          FOVEA_LIBM(log10),
          FOVEA_LIBM(log1p),
          FOVEA_LIBM(sin),
          FOVEA_LIBM(cos),
          FOVEA_LIBM(tan),
          FOVEA_LIBM(asin),
          FOVEA_LIBM(acos),
          FOVEA_LIBM(atan),
          FOVEA_LIBM(sinh),
          FOVEA_LIBM(cosh),
          FOVEA_LIBM(tanh),
          FOVEA_LIBM(erf),
          FOVEA_LIBM(erfc),
          FOVEA_LIBM(cbrt),
          FOVEA_LIBM(asinh),
          FOVEA_LIBM(acosh),
          FOVEA_LIBM(atanh),
          entry("pow", static_cast<double (*)(double, double)>(&std::pow)),
          entry("powf", static_cast<float (*)(float, float)>(&std::pow)),
          entry("atan2", static_cast<double (*)(double, double)>(&std::atan2)),
          entry("atan2f", static_cast<float (*)(float, float)>(&std::atan2))};
#undef FOVEA_LIBM
}

/// The message of an error of linking.
static std::string describe(llvm::Error error) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  llvm::handleAllErrors(
      std::move(error),
      [&](const SymbolsNotFound &unknown) {
        for (const SymbolStringPtr &name : unknown.getSymbols())
          stream << (message.empty() ? "" : "; ") << "no kernel is named '"
                 << *name << "', nor may kernels call it";
      },
      [&](const llvm::ErrorInfoBase &other) { other.log(stream); });
  return message;
}

Jit::Jit(const Target &target, JitOptions options)
    : compiledFor(target), options(std::move(options)) {}

Jit::~Jit() = default;

llvm::Expected<std::unique_ptr<Jit>> Jit::create(const Target &target,
                                                 JitOptions options) {
  if (llvm::Error error = target.checkRunsHere())
    return error;
  auto machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  JITTargetMachineBuilder machineBuilder((*machine)->getTargetTriple());
  std::unique_ptr<Jit> jit(new Jit(target, std::move(options)));
  bool perf = jit->options.perf;
  auto session =
      LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(machineBuilder))
          .setDataLayout((*machine)->createDataLayout())
          .setLinkProcessSymbolsByDefault(false)
          .setPlatformSetUp(setUpInactivePlatform)
          .setObjectLinkingLayerCreator([perf](ExecutionSession &execution) {
            auto layer = std::make_unique<ObjectLinkingLayer>(execution);
            if (perf)
              layer->addPlugin(std::make_shared<PerfMap>());
            return layer;
          })
          .create();
  if (!session)
    return session.takeError();
  jit->session = std::move(*session);

  // ORC reports why a symbol could not be linked here, before the failure.
  jit->session->getExecutionSession().setErrorReporter(
      [&reports = jit->reports](llvm::Error error) {
        reports.push_back(describe(std::move(error)));
      });

  SymbolMap symbols;
  auto offer = [&](const std::pair<std::string, void *> &symbol) {
    symbols[jit->session->mangleAndIntern(symbol.first)] = {
        ExecutorAddr::fromPtr(symbol.second),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  llvm::for_each(compilerSymbols(), offer);
  if (jit->options.libm)
    llvm::for_each(libmSymbols(), offer);
  llvm::for_each(jit->options.symbols, offer);
  if (llvm::Error error = jit->session->getMainJITDylib().define(
          absoluteSymbols(std::move(symbols))))
    return error;
  return jit;
}

llvm::Error Jit::add(std::vector<OwningOpRef<ModuleOp>> modules) {
  auto objects =
      compileObjects(std::move(modules), compiledFor, options.compile);
  if (!objects)
    return objects.takeError();
  for (std::unique_ptr<llvm::MemoryBuffer> &object : *objects)
    if (llvm::Error error = add(std::move(object)))
      return error;
  return llvm::Error::success();
}

llvm::Error Jit::add(std::unique_ptr<llvm::MemoryBuffer> object) {
  return session->addObjectFile(std::move(object));
}

llvm::Error Jit::add(OwningOpRef<ModuleOp> module) {
  std::vector<OwningOpRef<ModuleOp>> modules;
  modules.push_back(std::move(module));
  return add(std::move(modules));
}

llvm::Expected<void *> Jit::lookup(llvm::StringRef name) {
  auto address = session->lookup(name);
  if (!address) {
    // A symbol that cannot be linked takes along all that need it: the other
    // reports have the causes.
    std::string message = describe(address.takeError());
    llvm::erase_if(reports, [](llvm::StringRef report) {
      return report.starts_with("Failed to materialize symbols");
    });
    if (!reports.empty())
      message = llvm::join(std::exchange(reports, {}), "; ");
    return llvm::createStringError("cannot load compiled code: " + message);
  }
  return address->toPtr<void *>();
}
