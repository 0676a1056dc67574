//===- Status.h - done, or one sentence why not ---------------------------===//
//
// What every function of the runtime and of the reference interpreter returns
// that can fail on what a user gives. The caller prints the sentence.
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
  /// file, `model.fov:12:3`, where there is one.
  static Status error(std::string message, std::string where = "") {
    Status status;
    status.bad = true;
    status.message = std::move(message);
    status.where = std::move(where);
    return status;
  }

  /// The same where what was given is right, and the machine has no room for
  /// it.
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
