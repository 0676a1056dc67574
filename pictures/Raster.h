//===- Raster.h - pixels as an image inside of SVG ------------------------===//
//
// What is too fine for shapes becomes a PNG in the text of the drawing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PICTURES_RASTER_H
#define FOVEA_PICTURES_RASTER_H

#include "pictures/Page.h"

namespace fovea::pictures {

/// The pixels as a `data:` address.
std::string uriOf(const Pixels &pixels);

/// The same picture with `rows` and `columns`: each pixel equals the one at its
/// place, or the mean of several if there are fewer.
Pixels resized(const Pixels &pixels, int64_t rows, int64_t columns);

/// Values between which others lie evenly, and which are smoothed by a normal
/// distribution as wide as half a place, as Xu et al. (2015) show weights.
std::vector<double> smoothed(const std::vector<double> &values, int64_t rows,
                             int64_t columns, int64_t newRows,
                             int64_t newColumns);

} // namespace fovea::pictures

#endif // FOVEA_PICTURES_RASTER_H
