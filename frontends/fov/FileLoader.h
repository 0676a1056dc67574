//===- FileLoader.h - how files of data are read --------------------------===//
//
// What a spec says after `from` of its data (docs/LANGUAGE.md): it belongs to
// the model, so that training, decoding and everybody who is given the weights
// read pictures and sounds in one way.
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
  /// The arguments that are numbers, those that are not given too. `mean` and
  /// `deviation` of pixels have one number, or one for each channel.
  std::map<std::string, std::vector<double>> numbers;
  /// Of text: what stands between the lists of an outer axis, outermost first.
  std::vector<std::string> separators;

  double number(const std::string &name) const {
    return numbers.at(name).front();
  }
};

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_FILELOADER_H
