//===- EmitKernels.h - the programs of a module become kernels ------------===//

#ifndef FOVEA_CODEGEN_EMITKERNELS_H
#define FOVEA_CODEGEN_EMITKERNELS_H

namespace fovea::codegen {

/// Makes the pass `fovea-emit-kernels` known to command lines.
void registerEmitKernelsPass();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_EMITKERNELS_H
