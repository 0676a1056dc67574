//===- Backend.cpp - back ends by the names of their targets --------------===//

#include "codegen/Backend.h"

using namespace fovea::codegen;

static llvm::ArrayRef<const Backend *> backends() {
  static const Backend *const all[] = {
#define BACKEND(name) &name##Backend(),
#include "codegen/Backends.def"
  };
  return all;
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

llvm::Expected<fovea::attn::MachineAttr>
fovea::codegen::machineNamed(llvm::StringRef target, mlir::Type real) {
  llvm::Expected<const Backend *> backend = backendFor(target);
  if (!backend)
    return backend.takeError();
  llvm::Expected<Target> found = (*backend)->target(target);
  if (!found)
    return found.takeError();
  return (*backend)->machineOf(*found, real);
}

void fovea::codegen::registerBackendPasses() {
  for (const Backend *backend : backends())
    backend->registerPasses();
}
