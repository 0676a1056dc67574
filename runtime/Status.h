//===- Status.h - done, or one sentence why not ---------------------------===//
//
// The result of every runtime and reference interpreter function that can fail
// on user input. The caller prints the sentence.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_STATUS_H
#define FOVEA_RUNTIME_STATUS_H

#include <string>
#include <utility>

namespace fovea::runtime {

class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  /// `message` is lower case and without a period. `where` is a place in a
  /// The place in the file, `model.fov:12:3`, if there is one.
  static Status error(std::string message, std::string where = "") {
    Status status;
    status.bad = true;
    status.message = std::move(message);
    status.where = std::move(where);
    return status;
  }

  /// An environment failure: the input is valid, but memory or disk ran
  /// out.
  static Status machine(std::string message) {
    Status status = error(std::move(message));
    status.ofMachine = true;
    return status;
  }

  bool isOfMachine() const { return ofMachine; }
  bool failed() const { return bad; }
  bool succeeded() const { return !bad; }
  const std::string &getMessage() const { return message; }
  const std::string &getWhere() const { return where; }
  /// `model.fov:12:3: message`, or the message alone.
  std::string text() const {
    return where.empty() ? message : where + ": " + message;
  }

private:
  bool bad = false, ofMachine = false;
  std::string message, where;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_STATUS_H
