//===- TensorSeal.h - whether tensors are those that were written ---------===//
//
// Each file that is written says in its metadata, under `sealKey`, checksums of
// its tensors and of the other metadata. They are of what the file says, not
// of how it lies there: another order or layout of the header changes nothing.
// Files of other tools have no such entry, and are read as they are.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TENSORSEAL_H
#define FOVEA_RUNTIME_DATA_TENSORSEAL_H

#include "runtime/data/SafeTensors.h"

namespace fovea::runtime {

inline constexpr const char *sealKey = "fovea.checksum";

/// What the entry of `file` has to be.
std::string sealOf(const TensorFile &file);

/// Compares `file` with its entry, if it has one, and takes the entry out. What
/// differs is an error that says what to do.
Status checkSeal(TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TENSORSEAL_H
