//===- FileLoader.h - how files of data are read --------------------------===//
//
// The loader that a spec declares after `from` of its data (docs/LANGUAGE.md).
// It belongs to the model, so training, decoding and all later users of the
// weights read pictures and sounds identically.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_FILELOADER_H
#define FOVEA_FRONTENDS_FOV_FILELOADER_H

#include <map>
#include <string>
#include <vector>

namespace fovea {

struct FileLoader {
  /// `pixels`, `sound` or `text`; empty: the spec says nothing.
  std::string kind;
  /// The numeric arguments, including defaults. `mean` and
  /// `deviation` of pixels have one number, or one for each channel.
  std::map<std::string, std::vector<double>> numbers;
  /// For text: the separators between the lists of an outer axis, outermost
  /// first.
  std::vector<std::string> separators;

  double number(const std::string &name) const {
    return numbers.at(name).front();
  }
};

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_FILELOADER_H
