//===- Canvas.h - shapes as SVG -------------------------------------------===//
//
// Lengths are CSS pixels, y grows downward. Widths of text are estimates: the
// font is the reader's.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PICTURES_CANVAS_H
#define FOVEA_PICTURES_CANVAS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::pictures {

enum class Anchor { Start, Middle, End };

struct TextStyle {
  double size = 12;
  Anchor anchor = Anchor::Start;
  std::string color = "#222222";
  double turn = 0; // degrees, clockwise, about the anchor
  bool isBold = false;
};

class Canvas {
public:
  /// `tip`, where there is one, is shown to who points at the shape.
  void rectangle(double x, double y, double width, double height,
                 const std::string &fill, const std::string &stroke = "none",
                 const std::string &tip = "");
  void line(double x1, double y1, double x2, double y2,
            const std::string &stroke, double width = 1);
  /// `dash` is an SVG dash pattern, empty: none.
  void curve(const std::vector<std::pair<double, double>> &points,
             const std::string &stroke, const std::string &dash);
  void dot(double x, double y, double radius, const std::string &fill,
           const std::string &tip);
  /// A circle that is not filled.
  void ring(double x, double y, double radius, const std::string &stroke,
            const std::string &tip);
  /// The surface between a curve and the level `y`.
  void area(const std::vector<std::pair<double, double>> &points, double y,
            const std::string &fill);
  /// A picture, by its `data:` address.
  void image(double x, double y, double width, double height,
             const std::string &uri);
  /// The tip for the pointer at one of `rows` by `columns` places: its value,
  /// after `name`. It is clear.
  void values(double x, double y, double width, double height, int64_t rows,
              int64_t columns, const std::vector<double> &values,
              const std::string &name);
  /// The baseline of the text begins, has its middle or ends at (x, y). `full`
  /// is what the text is short for.
  void text(double x, double y, std::string_view text, const TextStyle &style,
            const std::string &full = "");
  /// The title of a drawing, at its top left. Without a text, the drawing
  /// begins below the room of a title.
  void title(const std::string &text);

  const std::string &body() const { return svg; }
  double width = 0, height = 0;
  double top = 0; // where the drawing begins

private:
  std::string svg;
};

/// The text without what XML does not take; a blank that is a symbol of its own
/// and control characters become visible.
std::string visible(std::string_view text);
/// Escaped for XML and HTML, in attributes too.
std::string escape(std::string_view text);
/// About how wide a text is.
double widthOf(std::string_view text, double size);
/// The text, or its beginning and an ellipsis when it has more than so many
/// columns.
std::string shortened(std::string_view text, size_t columns);

} // namespace fovea::pictures

#endif // FOVEA_PICTURES_CANVAS_H
