//===- Backend.cpp - back ends by the names of their targets --------------===//

#include "codegen/Backend.h"
#include "dialect/AttnDialect.h"

using namespace fovea;
using namespace fovea::codegen;

/// Options of code that is not shipped.
static std::vector<const Backend *> &added() {
  static std::vector<const Backend *> backends;
  return backends;
}

static std::vector<const Backend *> backends() {
  std::vector<const Backend *> all = {
#define BACKEND(name) &name##Backend(),
#include "codegen/Backends.def"
  };
  llvm::append_range(all, added());
  return all;
}

void fovea::codegen::addBackend(const Backend &backend) {
  added().push_back(&backend);
}

std::vector<std::string> fovea::codegen::addedTargets() {
  std::vector<std::string> names;
  for (const Backend *backend : added())
    for (llvm::StringRef name : backend->targets())
      names.push_back(name.str());
  return names;
}

llvm::Expected<const Backend *>
fovea::codegen::backendFor(llvm::StringRef target) {
  std::vector<llvm::StringRef> known;
  for (const Backend *backend : backends()) {
    if (backend->has(target))
      return backend;
    llvm::append_range(known, backend->targets());
  }
  return unknownTarget(target, known);
}

llvm::Expected<Target> fovea::codegen::targetNamed(llvm::StringRef name) {
  llvm::Expected<const Backend *> backend = backendFor(name);
  if (!backend)
    return backend.takeError();
  return (*backend)->target(name);
}

llvm::Expected<Target> fovea::codegen::hostOf(llvm::StringRef name) {
  llvm::Expected<const Backend *> backend = backendFor(name);
  if (!backend)
    return backend.takeError();
  llvm::Expected<Target> target = (*backend)->target(name);
  if (!target)
    return target.takeError();
  return (*backend)->host(*target);
}

llvm::Expected<fovea::attn::TargetAttr>
fovea::codegen::describeTarget(llvm::StringRef name, mlir::Type real) {
  llvm::Expected<const Backend *> backend = backendFor(name);
  if (!backend)
    return backend.takeError();
  llvm::Expected<Target> target = (*backend)->target(name);
  if (!target)
    return target.takeError();
  return (*backend)->describe(*target, real);
}

void fovea::codegen::registerTargets(mlir::DialectRegistry &registry) {
  for (const Backend *backend : backends())
    backend->registerDialect(registry);
  // Parsing loads the dialect of a target; programs that write none need it,
  // too.
  registry.addExtension(+[](mlir::MLIRContext *context, attn::AttnDialect *) {
    mlir::DialectRegistry targets;
    for (const Backend *backend : backends())
      backend->registerDialect(targets);
    for (llvm::StringRef name : targets.getDialectNames())
      context->getOrLoadDialect(name);
  });
}

void fovea::codegen::registerBackendPasses() {
  for (const Backend *backend : backends())
    backend->registerPasses();
}
