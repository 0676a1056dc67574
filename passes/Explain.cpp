#include "passes/Explain.h"
void fovea::attn::explainSchedule(mlir::ModuleOp, llvm::raw_ostream &) {}
