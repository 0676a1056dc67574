//===- Canvas.cpp - shapes as SVG -----------------------------------------===//

#include "pictures/Canvas.h"

#include <fmt/format.h>
#include <iterator>

using namespace fovea::pictures;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// One code point of UTF-8 text, and its bytes.
struct Point {
  char32_t value;
  std::string_view bytes;
};
} // namespace

/// Takes the first code point off a text; a byte that is not UTF-8 is U+FFFD.
static Point takePoint(std::string_view &text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned first = byte(0);
  size_t count = first < 0x80   ? 1
                 : first < 0xc2 ? 0
                 : first < 0xe0 ? 2
                 : first < 0xf0 ? 3
                 : first < 0xf5 ? 4
                                : 0;
  bool isGood = count > 0 && count <= text.size();
  char32_t value = count == 1 ? first : first & (0x7f >> count);
  for (size_t i = 1; isGood && i < count; ++i) {
    isGood = (byte(i) & 0xc0) == 0x80;
    value = value << 6 | (byte(i) & 0x3f);
  }
  if (!isGood) {
    text.remove_prefix(1);
    return {0xfffd, "\xef\xbf\xbd"};
  }
  Point point{value, text.substr(0, count)};
  text.remove_prefix(count);
  return point;
}

static bool isCombining(char32_t c) {
  return (c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x20d0 && c <= 0x20ff) ||
         (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0x1f3fb && c <= 0x1f3ff);
}

/// East Asian scripts and pictographs take two columns.
static bool isWide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
         (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
         (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
}

std::string fovea::pictures::visible(std::string_view text) {
  if (text == " ")
    return "\xe2\x90\xa3"; // an open box
  std::string result;
  while (!text.empty()) {
    Point point = takePoint(text);
    if (point.value < 0x20) // the pictures of control characters, from U+2400
      result += {'\xe2', '\x90', static_cast<char>(0x80 + point.value)};
    else if (point.value == 0xfffe || point.value == 0xffff ||
             (point.value >= 0x7f && point.value <= 0x9f) ||
             (point.value >= 0xd800 && point.value <= 0xdfff))
      result += "\xef\xbf\xbd";
    else
      result += point.bytes;
  }
  return result;
}

std::string fovea::pictures::escape(std::string_view text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

static size_t columnsOf(char32_t c) {
  return isCombining(c) ? 0 : isWide(c) ? 2 : 1;
}

double fovea::pictures::widthOf(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) {
    char32_t c = takePoint(text).value;
    bool isNarrow =
        c < 0x80 &&
        std::string_view("fijlrtI.,:;|!'()[] ").find(static_cast<char>(c)) !=
            std::string_view::npos;
    bool isBroad =
        c < 0x80 && std::string_view("mwMW@%").find(static_cast<char>(c)) !=
                        std::string_view::npos;
    width += isCombining(c) ? 0
             : isWide(c)    ? 1.05
             : isNarrow     ? 0.42
             : isBroad      ? 0.98
                            : 0.65;
  }
  return width * size;
}

std::string fovea::pictures::shortened(std::string_view text, size_t columns) {
  size_t used = 0;
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    Point point = takePoint(rest);
    used += columnsOf(point.value);
    if (used > columns) {
      // What fits beside the ellipsis.
      std::string_view again = result;
      std::string cut;
      for (size_t kept = 0; !again.empty();) {
        Point next = takePoint(again);
        kept += columnsOf(next.value);
        if (kept + 1 > columns)
          break;
        cut += next.bytes;
      }
      return cut + "\xe2\x80\xa6";
    }
    result += point.bytes;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Without digits that nobody sees.
static std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text == "-0" ? "0" : text;
}

/// Ends an element: with its tip inside, where there is one.
static std::string ending(const char *element, const std::string &tip) {
  if (tip.empty())
    return "/>\n";
  return fmt::format("><title>{}</title></{}>\n", escape(visible(tip)),
                     element);
}

void Canvas::rectangle(double x, double y, double w, double h,
                       const std::string &fill, const std::string &stroke,
                       const std::string &tip) {
  svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")",
                     number(x), number(y), number(w), number(h), fill);
  if (stroke != "none")
    svg += fmt::format(R"( stroke="{}" stroke-width="0.5")", stroke);
  svg += ending("rect", tip);
}

void Canvas::line(double x1, double y1, double x2, double y2,
                  const std::string &stroke, double strokeWidth) {
  svg += fmt::format(
      R"(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}"/>)"
      "\n",
      number(x1), number(y1), number(x2), number(y2), stroke,
      number(strokeWidth));
}

void Canvas::curve(const std::vector<std::pair<double, double>> &points,
                   const std::string &stroke, const std::string &dash) {
  std::string path;
  for (auto [x, y] : points)
    path +=
        fmt::format("{}{},{}", path.empty() ? "" : " ", number(x), number(y));
  svg += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" )"
                     R"(stroke-width="1.6" stroke-linejoin="round")",
                     path, stroke);
  if (!dash.empty())
    svg += fmt::format(R"( stroke-dasharray="{}")", dash);
  svg += "/>\n";
}

void Canvas::area(const std::vector<std::pair<double, double>> &points,
                  double y, const std::string &fill) {
  if (points.empty())
    return;
  std::string path =
      fmt::format("M{},{}", number(points.front().first), number(y));
  for (auto [x, top] : points)
    path += fmt::format("L{},{}", number(x), number(top));
  path += fmt::format("L{},{}Z", number(points.back().first), number(y));
  svg += fmt::format("<path d=\"{}\" fill=\"{}\"/>\n", path, fill);
}

void Canvas::image(double x, double y, double w, double h,
                   const std::string &uri) {
  svg += fmt::format(R"(<image x="{}" y="{}" width="{}" height="{}" )"
                     R"(preserveAspectRatio="none" href="{}"/>)"
                     "\n",
                     number(x), number(y), number(w), number(h), uri);
}

void Canvas::values(double x, double y, double w, double h, int64_t rows,
                    int64_t columns, const std::vector<double> &values,
                    const std::string &name) {
  svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" )"
                     R"(fill-opacity="0" data-rows="{}" data-columns="{}" )"
                     R"(data-name="{}" data-values=")",
                     number(x), number(y), number(w), number(h), rows, columns,
                     escape(visible(name)));
  for (size_t i = 0; i < values.size(); ++i)
    svg += fmt::format("{}{:.3g}", i == 0 ? "" : " ", values[i]);
  svg += "\"/>\n";
}

void Canvas::dot(double x, double y, double radius, const std::string &fill,
                 const std::string &tip) {
  svg += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" fill="{}")", number(x),
                     number(y), number(radius), fill);
  svg += ending("circle", tip);
}

void Canvas::ring(double x, double y, double radius, const std::string &stroke,
                  const std::string &tip) {
  svg += fmt::format(
      R"(<circle cx="{}" cy="{}" r="{}" fill="none" stroke="{}" stroke-width="2")",
      number(x), number(y), number(radius), stroke);
  svg += ending("circle", tip);
}

void Canvas::text(double x, double y, std::string_view text,
                  const TextStyle &style, const std::string &full) {
  if (text.empty())
    return;
  svg += fmt::format(R"(<text x="{}" y="{}" font-size="{}")", number(x),
                     number(y), number(style.size));
  if (style.color != "#222222")
    svg += fmt::format(R"( fill="{}")", style.color);
  if (style.anchor != Anchor::Start)
    svg += fmt::format(R"( text-anchor="{}")",
                       style.anchor == Anchor::Middle ? "middle" : "end");
  if (style.isBold)
    svg += R"( font-weight="bold")";
  if (style.turn != 0)
    svg += fmt::format(" transform=\"rotate({} {} {})\"", number(style.turn),
                       number(x), number(y));
  svg += '>';
  if (!full.empty() && full != text)
    svg += "<title>" + escape(visible(full)) + "</title>";
  svg += escape(visible(text)) + "</text>\n";
}

void Canvas::title(const std::string &full) {
  if (full.empty()) {
    top = 18;
    return;
  }
  TextStyle style;
  style.size = 12.5;
  style.isBold = true;
  text(4, 15, shortened(full, 70), style, full);
}
