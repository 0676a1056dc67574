//===- Progress.cpp - how far training is ---------------------------------===//

#include "tools/fovea/Progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace fovea::cli;

Progress::Progress(bool quiet)
    : quiet(quiet), isTerminal(isatty(STDERR_FILENO) != 0) {}

void Progress::clear() {
  if (isDrawn)
    std::fputs("\r\033[K", stderr);
  isDrawn = false;
}

void Progress::note(const std::string &text) {
  if (quiet)
    return;
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

/// `1:02:03`, `2:03`.
static std::string clockText(double seconds) {
  auto whole = static_cast<long>(std::min(seconds, 1e9));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                       whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void Progress::bar(double share, const std::string &text) {
  Clock::time_point now = Clock::now();
  if (quiet || !isTerminal || now - last < std::chrono::milliseconds(100))
    return;
  last = now;
  std::string line = text;
  if (share >= 0) {
    if (firstShare < 0)
      firstShare = share;
    constexpr int width = 24;
    int full = static_cast<int>(std::floor(std::min(1.0, share) * width));
    std::string drawn;
    for (int i = 0; i < width; ++i)
      drawn += i < full ? "█" : "·";
    std::chrono::duration<double> spent = now - begin;
    double done = share - firstShare;
    std::string left =
        done > 0 ? clockText(spent.count() * (1 - share) / done) + " left" : "";
    line = fmt::format("{} {:3.0f}%  {}  {}", drawn, share * 100, text, left);
  }
  clear();
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  isDrawn = true;
}
