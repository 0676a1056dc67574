//===- Progress.h - how far training is -----------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_PROGRESS_H
#define FOVEA_TOOLS_FOVEA_PROGRESS_H

#include <chrono>
#include <string>

namespace fovea::cli {

/// Notes and a bar on standard error: the bar on a terminal only, nothing with
/// `--quiet`.
class Progress {
public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }

  /// A line that stays.
  void note(const std::string &text);
  /// Draws the bar anew, some times a second at most. `share` of the work is
  /// done, or less than 0: nobody knows.
  void bar(double share, const std::string &text);

private:
  void clear();

  using Clock = std::chrono::steady_clock;
  bool quiet, isTerminal;
  bool isDrawn = false;
  Clock::time_point begin = Clock::now(), last;
  double firstShare = -1;
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_PROGRESS_H
