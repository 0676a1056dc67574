//===- FoveaOpt.cpp - runs any pass alone on a file of IR -----------------===//

#include "codegen/Backend.h"
#include "codegen/EmitKernels.h"
#include "codegen/math/ExpandMath.h"
#include "codegen/native/Lower.h"
#include "compiler/Compiler.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  fovea::compiler::registerDialects(registry);
  fovea::codegen::registerKernelDialects(registry);
  mlir::registerTransformsPasses();
  fovea::attn::registerFoveaPasses();
  fovea::codegen::registerExpandMathPass();
  fovea::codegen::registerBackendPasses();
  fovea::codegen::registerEmitKernelsPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Fovea optimizer driver\n", registry));
}
