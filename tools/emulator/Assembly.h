//===- Assembly.h - texts of PTX as calls -----------------------*- C++ -*-===//

#ifndef FOVEA_TOOLS_EMULATOR_ASSEMBLY_H
#define FOVEA_TOOLS_EMULATOR_ASSEMBLY_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Error.h"

namespace fovea::emulator {

/// An address of this process as a constant.
llvm::Constant *addressOf(llvm::LLVMContext &context, void *memory);

/// Replaces a function's PTX texts by calls of the emulator; adds the function
/// to `waiting` if one of them waits for others.
llvm::Error replaceAssembly(llvm::Function &function,
                            llvm::DenseSet<llvm::Function *> &waiting);

} // namespace fovea::emulator

#endif // FOVEA_TOOLS_EMULATOR_ASSEMBLY_H
