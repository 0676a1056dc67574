//===- Shown.h - equations of hypotheses as a file ------------------------===//
//
// An additional output of a decoder, such as an alignment: the values of
// each example, and the symbols along their axes. `fovea plot` draws the
// file.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SHOWN_H
#define FOVEA_RUNTIME_DATA_SHOWN_H

#include "runtime/data/SafeTensors.h"
#include "runtime/data/Text.h"

namespace fovea::runtime {

/// A shown equation, with its extents as text: `S`, `3`.
struct ShownEquation {
  std::string name;
  std::vector<std::string> extents;
  /// For each axis, the symbol that labels a place: -1 is the one before it.
  /// Empty: the symbol at the place itself.
  std::vector<int64_t> offsets;
};

/// The symbols along an extent: those of `field`, from an example or a
/// hypothesis.
struct AxisSymbols {
  std::string extent;
  TextField field;
  bool isChosen = false;
  /// If a place has several symbols in a row: their length.
  std::string within;
};

struct ShownAxis {
  std::string name;
  std::vector<std::string> labels; // empty: places are numbers from 0
};

/// The equation in one example.
struct ShownValues {
  DataValues values;
  std::vector<ShownAxis> axes;
};

/// Finds an equation in `generated` for `example`. The labels of an
/// axis are the symbols along it, given or generated. `words` is the
/// data of the example's words, which are shown if the vocabulary lacks
/// one.
ShownValues shownIn(const ShownEquation &equation,
                    const std::vector<AxisSymbols> &symbols,
                    const Example &example,
                    const std::map<std::string, DataValues> &generated,
                    const Vocabularies &vocabularies,
                    const std::string &words = "");

/// Adds an equation to a batch file: a padded array with its lengths, and the
/// symbols along its axes as metadata.
void storeShown(const std::string &name,
                const std::vector<ShownValues> &examples, TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SHOWN_H
