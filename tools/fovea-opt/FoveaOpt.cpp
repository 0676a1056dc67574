//===- FoveaOpt.cpp - runs any pass alone on a file of IR -----------------===//

#include "codegen/Backend.h"
#include "codegen/EmitKernels.h"
#include "codegen/math/ExpandMath.h"
#include "codegen/native/Lower.h"
#include "dialect/AttnDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<fovea::attn::AttnDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
  fovea::codegen::registerTargets(registry);
  fovea::codegen::registerKernelDialects(registry);
  mlir::registerTransformsPasses();
  fovea::attn::registerFoveaPasses();
  fovea::codegen::registerExpandMathPass();
  fovea::codegen::registerBackendPasses();
  fovea::codegen::registerEmitKernelsPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Fovea optimizer driver\n", registry));
}
