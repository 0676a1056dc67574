//===- Pictures.cpp - what a page does not draw ---------------------------===//
//
// A page draws arrays as matrices and bars. Overlays on pictures, sounds and
// strokes need pixel libraries, and such models have no page.
//
//===----------------------------------------------------------------------===//

#include "pictures/Page.h"

#include <cstdlib>

using namespace fovea::pictures;

Canvas fovea::pictures::drawChart(const Chart &) { std::abort(); }
Canvas fovea::pictures::drawPhoto(const Photo &, const Scale &) {
  std::abort();
}
Canvas fovea::pictures::drawStrip(const Strip &, const Scale &) {
  std::abort();
}
