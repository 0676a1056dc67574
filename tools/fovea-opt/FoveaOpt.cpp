//===- FoveaOpt.cpp - runs any pass alone on a file of IR -----------------===//

#include "dialect/AttnDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<fovea::attn::AttnDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
  mlir::registerTransformsPasses();
  fovea::attn::registerFoveaPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Fovea optimizer driver\n", registry));
}
