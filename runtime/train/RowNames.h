//===- RowNames.h - outputs of a gradient that lists its rows ---*- C++ -*-===//
//
// A gradient `grad/emb.weight` that lists its rows is the sum of its parts, in
// this order: `part.0/emb.weight`, `part.1/emb.weight`, .. A part has the
// extents of the parameter. `terms.0/emb.weight` has the number of terms that
// each row of the part is a sum of. A row without a term is zero, whatever its
// memory holds.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_ROWNAMES_H
#define FOVEA_RUNTIME_TRAIN_ROWNAMES_H

#include <string>

namespace fovea::runtime {

inline std::string partName(int number, const std::string &path) {
  return "part." + std::to_string(number) + "/" + path;
}
inline std::string termsName(int number, const std::string &path) {
  return "terms." + std::to_string(number) + "/" + path;
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_ROWNAMES_H
