//===- Page.h - pictures on one page --------------------------------------===//
//
// What can be drawn, and how it becomes a file: SVG, HTML (the same, with
// values for who points at them). Renderer.h makes PNG and PDF of the SVG.
//
// No value is shown by colour alone: large cells have it as a number, in small
// ones it is also the area of a square.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PICTURES_PAGE_H
#define FOVEA_PICTURES_PAGE_H

#include "pictures/Canvas.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace fovea::pictures {

struct Axis {
  std::string name;
  std::vector<std::string> labels; // empty: places are numbers from 0
  int64_t size = 0;
  std::string label(int64_t place) const;
};

/// Rows by columns, or rows alone as bars.
struct Matrix {
  std::string title;
  Axis rows, columns;
  std::vector<double> values; // row by row
  std::string group;          // panels of one group have one scale
  bool beginsRow = false;     // stands below what was drawn before
};
struct Bars {
  std::string title;
  Axis rows;
  std::vector<double> values;
  std::string group;
};

/// From the upper left, row by row; 0 is black and 1 is white.
struct Pixels {
  int64_t rows = 0, columns = 0, channels = 1; // 1: grey, or 3
  std::vector<double> values;
};

/// Weights over places of a picture, one tile for each word; without a picture
/// the values themselves are pixels.
struct Photo {
  struct Tile {
    std::string caption;
    std::vector<double> values; // row by row
  };
  std::string title;
  Pixels under; // of no rows: none
  int64_t rows = 0, columns = 0;
  std::vector<Tile> tiles;
  /// Whether values are the logits of bits, which are seen as probabilities.
  bool areLogits = false;
  std::string group;
};

/// Rows of bars under something whose columns they belong to: the frames of a
/// film, the spectrogram of a sound, or the strokes of a pen.
struct Strip {
  /// Where the pen was, and whether it leaves the paper after that.
  struct Stroke {
    double x = 0, y = 0;
    bool isLast = false;
  };
  std::string title;
  std::vector<Pixels> above; // beside one another
  std::vector<Stroke> strokes;
  double seconds = 0; // of a column; 0: columns are counted
  Axis rows, columns;
  std::vector<double> values; // row by row; none: what is above alone
  std::string group;
};

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points; // x grows
  bool isDashed = false;
  size_t color = 0;           // curves of one number have one colour
  std::optional<size_t> best; // the point to mark
};
struct Chart {
  std::string title, xName;
  std::vector<Curve> curves;
  bool isLogarithmic = false; // the values
};

using Panel = std::variant<Matrix, Bars, Chart, Photo, Strip>;

struct Page {
  std::string title; // empty: none
  /// Whether panels have titles.
  bool hasTitles = true;
  /// Of an SVG, PNG or PDF, in millimetres; 0: 96 pixels per inch.
  double width = 0;
  std::string font; // a family; empty: sans-serif
  std::vector<Panel> panels;
};

/// Axis `number` of `axes` with its extent; labels that are not as many say
/// nothing of it.
Axis fittedAxis(const std::vector<Axis> &axes, size_t number, int64_t size);

/// What the instances of one equation have in common: `past` of `past.0` and
/// `past.1`, so that the layers and heads of a model have one scale.
std::string groupOf(const std::string &name);

/// Adds an array to a page: one axis or none as bars, two as a matrix. With
/// more axes, each place of the others has a matrix of the last two. A new row
/// of matrices begins at each place of all but the innermost of them. `values`
/// are row by row; `axes` have the names and labels of its axes. Arrays of one
/// group have one scale.
void addPanels(Page &page, const std::string &title, const std::string &group,
               const std::vector<int64_t> &shape,
               const std::vector<double> &values,
               const std::vector<Axis> &axes);

std::string drawSvg(const Page &page);
std::string drawHtml(const Page &page);
/// What `drawHtml` has between its heading and its end, for a page that has
/// `figureStyle` and `tipScript`.
std::string drawFigures(const Page &page);
/// How figures look, as CSS.
std::string_view figureStyle();
/// Shows the value that is pointed at: `takeTips()`, to be called when figures
/// are there, and what else that needs of JavaScript.
std::string_view tipScript();

//===----------------------------------------------------------------------===//
// What the files of this folder share
//===----------------------------------------------------------------------===//

/// What the values of a group lie within: colours and lengths compare across
/// its panels.
struct Scale {
  double least = 0, most = 1;
  /// -1 .. 1.
  double share(double value) const;
};

/// A value as people read it.
std::string textOf(double value);

Canvas drawMatrix(const Matrix &matrix, const Scale &scale);
Canvas drawBars(const Bars &bars, const Scale &scale);
Canvas drawChart(const Chart &chart);
Canvas drawPhoto(const Photo &photo, const Scale &scale);
Canvas drawStrip(const Strip &strip, const Scale &scale);

} // namespace fovea::pictures

#endif // FOVEA_PICTURES_PAGE_H
