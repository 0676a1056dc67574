//===- FormPlaces.h - equations of many rows, row by row ------*- C++ -*---===//

#ifndef FOVEA_TARGETS_NVIDIA_FORMPLACES_H
#define FOVEA_TARGETS_NVIDIA_FORMPLACES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether all rows along the first axis have the same, small number of
/// elements: at most 4,096. They may be in memory a little longer for the sake
/// of fewer launches.
bool hasShortRows(ArrayType type);

} // namespace fovea::attn

#endif // FOVEA_TARGETS_NVIDIA_FORMPLACES_H
