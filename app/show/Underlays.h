//===- Underlays.h - what lies under an equation in a picture -------------===//
//
// Selects underlays by the axes of the equation and the types of the data,
// never by a model's name. Weights over the rows and columns of a picture are
// drawn over it, also at half resolution. Bars along the frames of a film or a
// sound are drawn below these.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_SHOW_UNDERLAYS_H
#define FOVEA_APP_SHOW_UNDERLAYS_H

#include "app/open/Session.h"
#include "pictures/Page.h"
#include "runtime/data/Shown.h"

namespace fovea::cli {

struct Underlay {
  enum Kind {
    None,
    Photo,  // weights over a picture that is given
    Pixels, // what has the rows and columns of a picture that is generated
    Frames, // along the pictures of a film
    Sound,  // along a sound
    Strokes // along the strokes of a pen
  };
  Kind kind = None;
  DataInfo data, lift; // `lift`: whether a pen leaves the paper
  /// For an overlay on a picture in one axis: its rows and columns.
  int64_t rows = 0, columns = 0;
};

/// The drawing options of the current model's equations.
class Underlays {
public:
  /// `model` still has `@decoding`.
  explicit Underlays(const Model &model);

  /// The underlay of an equation, or of generated data.
  Underlay under(const runtime::ShownEquation &equation) const;

private:
  /// The length that another one was computed from, or itself.
  std::string originOf(const std::string &extent) const;
  bool liesOver(const DataInfo &data, llvm::ArrayRef<std::string> extents,
                Underlay &result) const;

  std::vector<DataInfo> data;
  std::map<std::string, std::string> parents;
};

/// The drawing of one equation in one example.
struct Drawn {
  std::string title, group;
  runtime::DataValues values;
  std::vector<pictures::Axis> axes;
  /// The underlay; empty: it is drawn alone.
  runtime::DataValues under, lifts;
};

/// Adds the panels of `drawn` to a page. Returns false if it is drawn like
/// other arrays.
bool addOver(pictures::Page &page, const Underlay &underlay,
             const Drawn &drawn);

} // namespace fovea::cli

#endif // FOVEA_APP_SHOW_UNDERLAYS_H
