//===- Recompute.h - arrays computed again instead of kept ----------------===//
//
// The way back needs what the way there has computed. Where memory has a limit,
// arrays are computed a second time shortly before they are needed, the
// cheapest for their size first (Chen et al., 2016: training deep nets with
// sublinear memory cost). What loops keep, and products with weights before
// anything cheaper, stay.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_RECOMPUTE_H
#define FOVEA_CODEGEN_CPU_PROGRAM_RECOMPUTE_H

#include "codegen/Backend.h"

namespace fovea::codegen {

/// Lets the program compute arrays again until it keeps the limit or nothing is
/// left to compute again. Returns the bytes of its arrays then. Every result
/// has the same bits. Behind the phase `fuse`.
int64_t recompute(attn::ProgramOp program, mlir::Type real,
                  const Target &target, const MemoryLimit &limit);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_RECOMPUTE_H
