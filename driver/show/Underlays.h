//===- Underlays.h - what lies under an equation in a picture -------------===//
//
// Found by the axes of the equation and the types of the data: weights over
// the rows and columns of a picture lie over the picture, also where these
// have been halved; bars along the frames of a film or a sound under these.
// No name of a model says so.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_SHOW_UNDERLAYS_H
#define FOVEA_DRIVER_SHOW_UNDERLAYS_H

#include "driver/model/Session.h"
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
  /// Of what lies over a picture in one axis: its rows and columns.
  int64_t rows = 0, columns = 0;
};

/// How the present model's equations are drawn.
class Underlays {
public:
  /// `model` still has `@decoding`.
  explicit Underlays(const Model &model);

  /// What lies under an equation, or under data that are generated.
  Underlay under(const runtime::ShownEquation &equation) const;

private:
  /// The length that another one was computed from, or itself.
  std::string originOf(const std::string &extent) const;
  bool liesOver(const DataInfo &data, llvm::ArrayRef<std::string> extents,
                Underlay &result) const;

  std::vector<DataInfo> data;
  std::map<std::string, std::string> parents;
};

/// What is drawn of one equation in one example.
struct Drawn {
  std::string title, group;
  runtime::DataValues values;
  std::vector<pictures::Axis> axes;
  /// Of what lies under it; none of it: it is drawn alone.
  runtime::DataValues under, lifts;
};

/// Adds the panels of `drawn` to a page. False when it is drawn as other arrays
/// are.
bool addOver(pictures::Page &page, const Underlay &underlay,
             const Drawn &drawn);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_SHOW_UNDERLAYS_H
