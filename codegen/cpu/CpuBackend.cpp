//===- CpuBackend.cpp - CPUs as a back end --------------------------------===//

#include "codegen/Backend.h"
#include "codegen/cpu/Machine.h"
#include "codegen/cpu/products/Peak.h"
#include "codegen/cpu/program/EmitProgram.h"
#include "targets/cpu/Passes.h"
#include "targets/cpu/Target.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;

namespace {
class CpuBackend final : public Backend {
public:
  ArrayRef<llvm::StringLiteral> targets() const override {
    return Target::names();
  }
  llvm::Expected<Target> target(StringRef name) const override {
    return Target::parse(name);
  }
  attn::TargetAttr describe(const Target &target, Type real) const override {
    return codegen::describe(target, real);
  }
  void registerDialect(DialectRegistry &registry) const override {
    registry.insert<attn::CpuDialect>();
  }
  LogicalResult emitProgram(attn::ProgramOp program, ModuleOp kernels,
                            const EmitOptions &options,
                            runtime::Program &description) const override {
    return codegen::emitProgram(program, kernels, options, description);
  }
  Peak emitPeak(ModuleOp kernels, const EmitOptions &options) const override {
    codegen::emitPeak(kernels, options.real, options.target);
    return {"fma_peak", peakFlops(options.real, options.target)};
  }
  void registerPasses() const override { attn::registerCpuPasses(); }
};
} // namespace

const Backend &fovea::codegen::cpuBackend() {
  static const CpuBackend backend;
  return backend;
}
