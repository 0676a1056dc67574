//===- TensorSeal.h - whether tensors are those that were written ---------===//
//
// Each written file stores, in its metadata under `sealKey`, checksums of its
// tensors and of the other metadata. They cover the content, not the layout:
// another order or layout of the header changes nothing. Files of other tools
// have no such entry, and are read without a check.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TENSORSEAL_H
#define FOVEA_RUNTIME_DATA_TENSORSEAL_H

#include "runtime/data/SafeTensors.h"

namespace fovea::runtime {

inline constexpr const char *sealKey = "fovea.checksum";

/// The expected entry of `file`.
std::string sealOf(const TensorFile &file);

/// Compares `file` with its entry, if it has one, and removes the entry. A
/// mismatch is an error that says how to fix it.
Status checkSeal(TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TENSORSEAL_H
