//===- EmitKernels.h - the programs of a module become kernels ------------===//

#ifndef FOVEA_CODEGEN_EMITKERNELS_H
#define FOVEA_CODEGEN_EMITKERNELS_H

namespace fovea::codegen {

/// Registers the pass `fovea-emit-kernels` for command lines.
void registerEmitKernelsPass();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_EMITKERNELS_H
