//===- Progress.h - how far training is -----------------------------------===//
//
// Lines that stay, and below them on a terminal one that is drawn again and
// again. On a terminal both fit its width: of their parts, those that say the
// least are left out first. Colours are for terminals too, and not where
// NO_COLOR says so (https://no-color.org).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_PROGRESS_H
#define FOVEA_DRIVER_TRAIN_PROGRESS_H

#include <chrono>
#include <string>
#include <vector>

namespace fovea::cli {

/// A part of a line. Those with the largest `rank` are left out first; what has
/// rank 0 stays.
struct Part {
  std::string text;
  int rank = 0;
  enum Look { Plain, Quiet, Good } look = Plain;
};

/// `1:02:03`, `2:03`.
std::string clockText(double seconds);

/// Standard error, or nothing with `--quiet`.
class Progress {
public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }

  /// A line that stays.
  void note(const std::string &text) { line({{text}}); }
  void line(const std::vector<Part> &parts);
  /// Draws the bar anew, some times a second at most. `share` of the work is
  /// done, or less than 0: nobody knows.
  void bar(double share, const std::vector<Part> &parts);
  /// Whether anybody would see a bar now.
  bool isDue() const;

private:
  void clear();
  std::string painted(const Part &part) const;

  using Clock = std::chrono::steady_clock;
  bool quiet, isTerminal, hasColors;
  bool isDrawn = false;
  Clock::time_point last;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_PROGRESS_H
