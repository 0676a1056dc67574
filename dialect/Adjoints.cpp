//===- Adjoints.cpp - the reverse mode of each op -------------------------===//

#include "dialect/AttnDialect.h"

using namespace mlir;
using namespace fovea::attn;

void ComputeOp::buildAdjoint(OpBuilder &, Value,
                             llvm::function_ref<bool(Value)>,
                             llvm::function_ref<void(Value, Value)>) {}
void ConcatOp::buildAdjoint(OpBuilder &, Value, llvm::function_ref<bool(Value)>,
                            llvm::function_ref<void(Value, Value)>) {}
void ReshapeOp::buildAdjoint(OpBuilder &, Value,
                             llvm::function_ref<bool(Value)>,
                             llvm::function_ref<void(Value, Value)>) {}
void DropoutOp::buildAdjoint(OpBuilder &, Value,
                             llvm::function_ref<bool(Value)>,
                             llvm::function_ref<void(Value, Value)>) {}
