//===- Atomics.h - numbers by which blocks wait for each other --*- C++ -*-===//

#ifndef FOVEA_TOOLS_EMULATOR_ATOMICS_H
#define FOVEA_TOOLS_EMULATOR_ATOMICS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
} // namespace llvm

namespace fovea::emulator {

/// Makes atomic accesses and fences call the emulator (Together.cpp). A
/// function with any of them joins the functions that wait for others.
llvm::Error replaceAtomics(llvm::Function &function,
                           llvm::DenseSet<llvm::Function *> &waiting);

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_ATOMICS_H
