//===- Page.cpp - pictures on one page ------------------------------------===//

#include "pictures/Page.h"
#include "pictures/Color.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace fovea::pictures;

/// Panels stand beside one another up to this width.
static constexpr double pageWidth = 1500, margin = 16;

std::string Axis::label(int64_t place) const {
  return place < static_cast<int64_t>(labels.size()) ? labels[place]
                                                     : std::to_string(place);
}

double Scale::share(double value) const {
  return value / std::max(most, -least);
}

std::string fovea::pictures::textOf(double value) {
  return fmt::format("{:.4g}", value);
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

using Scales = std::map<std::string, Scale>;

/// Of each group 0 to 1 as long as all its values lie there, else from the
/// least, or 0, to the most. In strips, which have numbers beside their rows,
/// the highest bar is as high as there is room.
static Scales scalesOf(const Page &page) {
  Scales scales;
  std::set<std::string> strips;
  auto addAll = [&](const std::string &group, const auto &values) {
    Scale &scale = scales.try_emplace(group, Scale{0, 0}).first->second;
    for (double value : values)
      if (std::isfinite(value)) {
        scale.least = std::min(scale.least, value);
        scale.most = std::max(scale.most, value);
      }
  };
  auto add = [&](const auto &panel) { addAll(panel.group, panel.values); };
  for (const Panel &panel : page.panels) {
    if (const auto *matrix = std::get_if<Matrix>(&panel))
      add(*matrix);
    else if (const auto *bars = std::get_if<Bars>(&panel))
      add(*bars);
    else if (const auto *strip = std::get_if<Strip>(&panel)) {
      add(*strip);
      strips.insert(strip->group);
    } else if (const auto *photo = std::get_if<Photo>(&panel))
      for (const Photo::Tile &tile : photo->tiles)
        addAll(photo->group, tile.values);
  }
  for (auto &[group, scale] : scales)
    if (scale.least == 0 && scale.most <= 1 && strips.count(group) == 0)
      scale.most = 1;
  return scales;
}

static Canvas drawTitled(const Panel &panel, const Scales &scales) {
  if (const auto *matrix = std::get_if<Matrix>(&panel))
    return drawMatrix(*matrix, scales.at(matrix->group));
  if (const auto *bars = std::get_if<Bars>(&panel))
    return drawBars(*bars, scales.at(bars->group));
  if (const auto *photo = std::get_if<Photo>(&panel))
    return drawPhoto(*photo, scales.at(photo->group));
  if (const auto *strip = std::get_if<Strip>(&panel))
    return drawStrip(*strip, scales.at(strip->group));
  return drawChart(std::get<Chart>(panel));
}

static Canvas drawPanel(const Page &page, const Panel &panel,
                        const Scales &scales) {
  if (page.hasTitles)
    return drawTitled(panel, scales);
  Panel plain = panel;
  std::visit([](auto &one) { one.title.clear(); }, plain);
  return drawTitled(plain, scales);
}

/// The colours of a group with their values. If some values are negative, zero
/// is in the middle.
static Canvas drawLegend(const std::string &name, Scale scale) {
  if (scale.least < 0) {
    scale.most = std::max(scale.most, -scale.least);
    scale.least = -scale.most;
  }
  Canvas canvas;
  constexpr int steps = 40;
  constexpr double step = 5, height = 12, top = 16;
  TextStyle style;
  style.size = 10;
  canvas.text(4, 11, name, style);
  double span = scale.most - scale.least;
  for (int i = 0; i < steps; ++i)
    canvas.rectangle(
        4 + i * step, top, step + 0.3, height,
        colorOf(scale.share(scale.least + span * (i + 0.5) / steps)).hex);
  canvas.rectangle(4, top, steps * step, height, "none", "#444444");
  canvas.text(4, top + 24, textOf(scale.least), style);
  style.anchor = Anchor::Middle;
  canvas.text(4 + steps * step / 2, top + 24, textOf(scale.least + span / 2),
              style);
  style.anchor = Anchor::End;
  canvas.text(4 + steps * step, top + 24, textOf(scale.most), style);
  canvas.width = steps * step + 8;
  canvas.height = top + 28;
  return canvas;
}

/// One legend for each group that has colours.
static std::vector<Canvas> drawLegends(const Page &page, const Scales &scales) {
  std::vector<Canvas> legends;
  std::set<std::string> drawn;
  for (const Panel &panel : page.panels)
    if (const auto *matrix = std::get_if<Matrix>(&panel);
        matrix && drawn.insert(matrix->group).second)
      legends.push_back(drawLegend(matrix->group, scales.at(matrix->group)));
  return legends;
}

static std::string fontsOf(const Page &page) {
  std::string usual = "DejaVu Sans, Verdana, Arial, sans-serif";
  return page.font.empty() ? usual : escape(visible(page.font)) + ", " + usual;
}

/// The attributes `width` and `height` of a drawing of so many pixels.
static std::string sizeOf(double width, double height, double millimetres) {
  if (millimetres == 0)
    return fmt::format(R"(width="{:.0f}" height="{:.0f}")", width, height);
  return fmt::format(R"(width="{:.6g}mm" height="{:.6g}mm")", millimetres,
                     millimetres * height / width);
}

static std::string elementOf(const Page &page, const Canvas &canvas,
                             const std::string &title, bool isAlone) {
  double width = std::ceil(canvas.width);
  double height = std::ceil(canvas.height - canvas.top);
  return fmt::format(
      R"(<svg {}{} viewBox="0 {:.0f} {:.0f} {:.0f}" font-family="{}" )"
      R"(role="img" fill="#222222" aria-label="{}">)"
      "\n{}</svg>\n",
      isAlone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "",
      sizeOf(width, height, isAlone ? page.width : 0), canvas.top, width,
      height, fontsOf(page), escape(visible(title)), canvas.body());
}

/// The heads of a layer stand beside each other, and the layers below each
/// other.
static bool beginsRow(const Panel &panel) {
  const auto *matrix = std::get_if<Matrix>(&panel);
  return matrix && matrix->beginsRow;
}

static std::string titleOf(const Panel &panel) {
  return std::visit([](const auto &one) { return one.title; }, panel);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string fovea::pictures::drawSvg(const Page &page) {
  Scales scales = scalesOf(page);
  Canvas whole;
  std::string body;
  double x = margin, y = margin, rowHeight = 0;
  TextStyle title;
  title.size = 15;
  title.isBold = true;
  if (!page.title.empty()) {
    whole.text(x, y + 12, page.title, title);
    body += whole.body();
    whole.width = 2 * margin + widthOf(page.title, 16);
    y += 26;
  }
  auto beginRow = [&] {
    if (x == margin)
      return;
    x = margin;
    y += rowHeight + margin;
    rowHeight = 0;
  };
  auto place = [&](const Canvas &canvas) {
    if (x + canvas.width > pageWidth)
      beginRow();
    body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n",
                        x, y - canvas.top, canvas.body());
    x += std::ceil(canvas.width) + margin;
    rowHeight = std::max(rowHeight, std::ceil(canvas.height - canvas.top));
    whole.width = std::max(whole.width, x);
  };
  for (const Canvas &legend : drawLegends(page, scales))
    place(legend);
  beginRow();
  for (const Panel &panel : page.panels) {
    if (beginsRow(panel))
      beginRow();
    place(drawPanel(page, panel, scales));
  }
  whole.height = y + rowHeight + margin;
  Canvas paper;
  paper.rectangle(0, 0, std::ceil(whole.width), std::ceil(whole.height),
                  "#ffffff");
  paper.width = whole.width;
  paper.height = whole.height;
  std::string element = elementOf(page, paper, page.title, /*isAlone=*/true);
  element.insert(element.rfind("</svg>"), body);
  return R"(<?xml version="1.0" encoding="UTF-8"?>)"
         "\n" +
         element;
}

/// Shows the tips at once, where a browser would wait, and marks what is
/// pointed at.
static constexpr char script[] = R"(
const tip = document.getElementById('tip');
function takeTips() {
  for (const title of document.querySelectorAll('svg rect > title, svg circle > title')) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
}
let marked = null;
function valueAt(image, event) {
  const { rows, columns, values, name } = image.dataset;
  const box = image.getBoundingClientRect();
  const at = (x, length, count) => Math.max(0, Math.min(count - 1, Math.floor(x / length * count)));
  const y = at(event.clientY - box.top, box.height, rows), x = at(event.clientX - box.left, box.width, columns);
  return `${name} [${rows > 1 ? y + ', ' : ''}${x}]: ${values.split(' ')[y * columns + x]}`;
}
function show(event) {
  const data = event.target.dataset || {};
  const text = data.values ? valueAt(event.target, event) : data.tip;
  if (marked) marked.classList.remove('marked');
  marked = text ? event.target : null;
  tip.hidden = !text;
  if (!text) return;
  marked.classList.add('marked');
  tip.textContent = text;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.min(event.clientX + 14, room) + 'px';
  tip.style.top = event.clientY + 18 + 'px';
}
document.addEventListener('pointermove', show);
document.addEventListener('pointerdown', show);
)";

static constexpr char pageStyle[] = R"(
body { font-family: 'DejaVu Sans', Verdana, Arial, sans-serif; margin: 1.2rem; color: #222; background: #fff; }
h1 { font-size: 1.1rem; })";

static constexpr char figures[] = R"(
figure { display: inline-block; margin: 0 1rem 1rem 0; vertical-align: top; max-width: 100%; overflow-x: auto; break-inside: avoid; }
.marked { stroke: #d55e00; stroke-width: 2; }
#tip { position: fixed; background: #222; color: #fff; padding: .2rem .5rem; border-radius: 3px; font-size: .85rem; pointer-events: none; white-space: pre; }
@media print { body { print-color-adjust: exact; -webkit-print-color-adjust: exact; } figure { overflow: visible; } }
)";

std::string_view fovea::pictures::figureStyle() { return figures; }

std::string_view fovea::pictures::tipScript() { return script; }

std::string fovea::pictures::drawFigures(const Page &page) {
  Scales scales = scalesOf(page);
  std::string text;
  for (const Canvas &legend : drawLegends(page, scales))
    text += elementOf(page, legend, "scale", /*isAlone=*/false);
  text += "<div></div>\n";
  for (const Panel &panel : page.panels)
    text += std::string(beginsRow(panel) ? "<div></div>\n" : "") + "<figure>" +
            elementOf(page, drawPanel(page, panel, scales), titleOf(panel),
                      /*isAlone=*/false) +
            "</figure>\n";
  return text;
}

std::string fovea::pictures::drawHtml(const Page &page) {
  std::string title = escape(visible(page.title));
  std::string text =
      fmt::format("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n"
                  "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n{}",
                  title, pageStyle, figures,
                  title.empty() ? "" : "<h1>" + title + "</h1>\n");
  return text + drawFigures(page) + "<div id=\"tip\" hidden></div>\n<script>" +
         script + "takeTips();\n</script>\n</body>\n</html>\n";
}
