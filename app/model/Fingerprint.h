//===- Fingerprint.h - hashes of what is compiled ---------------*- C++ -*-===//
//
// A fingerprint shows which programs a change to the compiler affects, without
// running any of them. It covers what a back end emits, not what LLVM makes of
// it. scripts/fingerprints keeps those of all models.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MODEL_FINGERPRINT_H
#define FOVEA_APP_MODEL_FINGERPRINT_H

#include "codegen/Driver.h"

namespace fovea::cli {

/// Prints a line for `entry`, as in `grad: 57 kernels 81c3.., host 4fd0..,
/// memory 2b9e.., 1048576 bytes`. `decode` is what `attn-split-decoder` made.
/// `memory` hashes the description that the runtime lays out batches by; the
/// bytes are those of its arrays for 4 examples of length 16 on two threads.
runtime::Status printFingerprint(mlir::ModuleOp module, llvm::StringRef entry,
                                 const codegen::DriverOptions &options,
                                 llvm::raw_ostream &stream);

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_FINGERPRINT_H
