//===- Shown.h - equations of hypotheses as a file ------------------------===//
//
// What a decoder shows besides what it generates, as an alignment: the values
// of each example, and the symbols that stand along their axes. The file is one
// that `fovea plot` draws.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SHOWN_H
#define FOVEA_RUNTIME_DATA_SHOWN_H

#include "runtime/data/SafeTensors.h"
#include "runtime/data/Text.h"

namespace fovea::runtime {

/// An equation that is shown, with its extents as text: `S`, `3`.
struct ShownEquation {
  std::string name;
  std::vector<std::string> extents;
};

/// Symbols that lie along an extent: those of `field`, of which an example has
/// some, or a hypothesis.
struct AxisSymbols {
  std::string extent;
  TextField field;
  bool isChosen = false;
  /// Where a place has several symbols, one after another: their length.
  std::string within;
};

struct ShownAxis {
  std::string name;
  std::vector<std::string> labels; // empty: places are numbers from 0
};

/// An equation in one example.
struct ShownValues {
  DataValues values;
  std::vector<ShownAxis> axes;
};

/// An equation among what was `generated` for `example`. The labels of an axis
/// are the symbols that lie along it, of what is given or of what was
/// generated.
ShownValues shownIn(const ShownEquation &equation,
                    const std::vector<AxisSymbols> &symbols,
                    const Example &example,
                    const std::map<std::string, DataValues> &generated,
                    const Vocabularies &vocabularies);

/// Adds an equation to a batch file: a padded array with its lengths, and what
/// stands along its axes as metadata.
void storeShown(const std::string &name,
                const std::vector<ShownValues> &examples, TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SHOWN_H
