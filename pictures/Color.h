//===- Color.h - colours that stand for numbers ---------------------------===//
//
// One hue whose lightness falls in equal steps as the eye sees them, by OKLab
// (Ottosson, 2020): printed in grey it says the same, and it needs no sense of
// hue. Below 0 a second hue, which the colour-blind tell from the first.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PICTURES_COLOR_H
#define FOVEA_PICTURES_COLOR_H

#include <string>

namespace fovea::pictures {

struct Color {
  double lightness = 1; // of OKLab, 0 to 1
  std::string hex;      // #rrggbb
  bool isDark() const { return lightness < 0.65; }
};

/// White for 0, dark blue for 1, dark orange for -1.
Color colorOf(double value);

/// The colour of the n-th curve, after Okabe and Ito (2008).
const char *curveColor(size_t number);

} // namespace fovea::pictures

#endif // FOVEA_PICTURES_COLOR_H
