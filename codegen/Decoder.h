//===- Decoder.h - the programs of a search as kernels --------------------===//

#ifndef FOVEA_CODEGEN_DECODER_H
#define FOVEA_CODEGEN_DECODER_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Decoder.h"

namespace fovea::codegen {

/// Compiles a program to kernels, and describes it.
using EmitProgram = llvm::function_ref<mlir::LogicalResult(attn::ProgramOp,
                                                           runtime::Program &)>;

/// Emits the programs that `attn-split-decoder` made of the `@decode` of
/// `source`, and describes their roles in the search.
mlir::LogicalResult emitDecoder(mlir::ModuleOp source, mlir::Type real,
                                EmitProgram emit, runtime::Decoder &decoder);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_DECODER_H
