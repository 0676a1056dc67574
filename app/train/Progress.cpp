//===- Progress.cpp - how far training is ---------------------------------===//

#include "app/train/Progress.h"
#include "runtime/data/Printable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace fovea::cli;

/// Between the parts of a line.
static constexpr std::string_view gap = "  ";

/// Returns whether the terminal can redraw a line.
static bool isSmartTerminal() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind && std::string_view(kind) != "dumb";
}

static bool wantsColors() {
  const char *unwanted = std::getenv("NO_COLOR");
  return !unwanted || *unwanted == 0;
}

Progress::Progress(bool quiet)
    : quiet(quiet), isTerminal(isSmartTerminal()),
      hasColors(isTerminal && wantsColors()) {}

std::string fovea::cli::clockText(double seconds) {
  auto whole = static_cast<long>(std::clamp(seconds, 0.0, 1e9));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                       whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

static size_t columnsOfTerminal() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? size.ws_col
             : 80;
}

/// The columns of a text, if each character takes one.
static size_t columnsOf(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  });
}

static size_t columnsOf(const std::vector<Part> &parts) {
  size_t columns = 0;
  for (const Part &part : parts)
    columns += (columns == 0 ? 0 : gap.size()) + columnsOf(part.text);
  return columns;
}

/// Omits the least important parts, the last first.
static void fit(std::vector<Part> &parts, size_t width) {
  while (columnsOf(parts) > width) {
    auto least = parts.end();
    for (auto part = parts.begin(); part != parts.end(); ++part)
      if (part->rank > 0 && (least == parts.end() || part->rank >= least->rank))
        least = part;
    if (least == parts.end())
      return;
    parts.erase(least);
  }
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void Progress::clear() {
  if (isDrawn)
    std::fputs("\r\033[K", stderr);
  isDrawn = false;
}

std::string Progress::painted(const Part &part) const {
  if (!hasColors || part.look == Part::Plain)
    return part.text;
  return fmt::format("\033[{}m{}\033[0m", part.look == Part::Good ? 32 : 2,
                     part.text);
}

void Progress::line(const std::vector<Part> &parts) {
  if (quiet)
    return;
  clear();
  std::vector<Part> kept = parts;
  for (Part &part : kept)
    part.text = runtime::printable(part.text);
  if (isTerminal)
    fit(kept, columnsOfTerminal());
  std::string text;
  for (const Part &part : kept)
    text += (text.empty() ? "" : std::string(gap)) + painted(part);
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Progress::frequentLine(const std::vector<Part> &parts,
                            const std::string &note) {
  constexpr int many = 10;
  constexpr auto pause = std::chrono::seconds(2);
  Clock::time_point now = Clock::now();
  if (frequentLines >= many && now - lastFrequent < pause) {
    if (!isSparse)
      line({{note}});
    isSparse = true;
    held = parts;
    return;
  }
  ++frequentLines;
  lastFrequent = now;
  held.clear();
  line(parts);
}

void Progress::printHeld() {
  if (!held.empty())
    line(held);
  held.clear();
}

bool Progress::isDue() const {
  return !quiet && isTerminal &&
         Clock::now() - last >= std::chrono::milliseconds(100);
}

void Progress::bar(double share, const std::vector<Part> &parts) {
  if (!isDue())
    return;
  last = Clock::now();
  // In some terminals the last column starts a new line.
  size_t width = columnsOfTerminal() - 1;
  std::vector<Part> kept = parts;
  std::string drawn;
  if (share >= 0) {
    constexpr size_t least = 8, most = 24, percent = 5;
    size_t around = percent + gap.size();
    fit(kept, width > least + around ? width - least - around : 0);
    size_t text = columnsOf(kept) + around;
    size_t length = text + least > width ? 0 : std::min(most, width - text);
    auto full = static_cast<size_t>(
        std::floor(std::min(1.0, share) * static_cast<double>(length)));
    for (size_t i = 0; i < length; ++i)
      drawn += i < full ? "█" : "·";
    kept.insert(kept.begin(), {fmt::format("{} {:3.0f}%", drawn, share * 100)});
  }
  fit(kept, width);
  clear();
  if (columnsOf(kept) > width)
    return;
  std::string text;
  for (const Part &part : kept)
    text += (text.empty() ? "" : std::string(gap)) + painted(part);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  isDrawn = true;
}
