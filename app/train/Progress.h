//===- Progress.h - how far training is -----------------------------------===//
//
// Prints permanent lines, and below them on a terminal a progress bar. On a
// terminal both fit its width: the least important parts are omitted first.
// Colours are for terminals only, and NO_COLOR turns them off
// (https://no-color.org).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_PROGRESS_H
#define FOVEA_APP_TRAIN_PROGRESS_H

#include <chrono>
#include <string>
#include <vector>

namespace fovea::cli {

/// A part of a line. Parts with the largest `rank` are omitted first; rank 0
/// always stays.
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

  /// Prints a permanent line.
  void note(const std::string &text) { line({{text}}); }
  void line(const std::vector<Part> &parts);
  /// Prints a line of a kind that may come many times per second. After the
  /// first ten, it prints at most one per two seconds, and holds the others.
  /// `note` tells the reader so, once.
  void frequentLine(const std::vector<Part> &parts, const std::string &note);
  /// Prints the latest line if it was held.
  void printHeld();
  /// Redraws the bar, a few times per second at most. `share` of the work is
  /// done; less than 0: unknown.
  void bar(double share, const std::vector<Part> &parts);
  /// Returns whether a bar would be visible now.
  bool isDue() const;

private:
  void clear();
  std::string painted(const Part &part) const;

  using Clock = std::chrono::steady_clock;
  bool quiet, isTerminal, hasColors;
  bool isDrawn = false;
  Clock::time_point last;
  int frequentLines = 0;
  bool isSparse = false; // a frequent line was held
  Clock::time_point lastFrequent;
  std::vector<Part> held;
};

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_PROGRESS_H
