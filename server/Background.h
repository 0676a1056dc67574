//===- Background.h - work in a process of its own --------------*- C++ -*-===//
//
// Lowering a model takes longer than the pause between two keys. A process of
// its own can be ended at any time, and a fault of ours in it ends nothing
// else.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_BACKGROUND_H
#define FOVEA_SERVER_BACKGROUND_H

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace fovea::editors {

class Background {
public:
  /// Starts `work` in a copy of this process. The copy has this thread alone,
  /// so the others must hold nothing that `work` needs. Does the work here if
  /// the system has no further process.
  explicit Background(const std::function<std::string()> &work);
  /// Ends the work if it is not done.
  ~Background();
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  /// What to poll for input; -1: it is done.
  int file() const { return pipe; }
  /// Takes the text that has arrived, without waiting. Returns whether it is
  /// done.
  bool isDone();
  /// What the work returned; nothing if a fault ended it.
  const std::optional<std::string> &result() const { return text; }

private:
  void start(const std::function<std::string()> &work);
  void finish();

  pid_t process = -1;
  int pipe = -1; // read end
  std::string arrived;
  std::optional<std::string> text;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_BACKGROUND_H
