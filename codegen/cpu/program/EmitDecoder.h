//===- EmitDecoder.h - the programs of a search as kernels ----------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_EMITDECODER_H
#define FOVEA_CODEGEN_CPU_PROGRAM_EMITDECODER_H

#include "codegen/cpu/program/EmitProgram.h"
#include "runtime/Decoder.h"

namespace fovea::codegen {

/// Emits the programs that `attn-split-decoder` made of `source`'s `@decode`,
/// each with a function that packs its parameters, and describes how the search
/// uses them. Behind the phase `fuse`.
mlir::LogicalResult emitDecoder(mlir::ModuleOp source, mlir::ModuleOp module,
                                const EmitOptions &options,
                                runtime::Decoder &decoder);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_EMITDECODER_H
