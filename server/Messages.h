//===- Messages.h - reads the messages of an editor -------------*- C++ -*-===//
//
// The framing of the protocol: a header with a length, and that many bytes of
// JSON. Whatever else arrives is a mistake to answer, or is skipped to the next
// header: LLVM's transport, which gets only whole requests and notifications,
// would end.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_MESSAGES_H
#define FOVEA_SERVER_MESSAGES_H

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace fovea::editors {

/// A request or a notification, or what is wrong with a message.
struct Message {
  std::string json;
  std::string method;
  std::optional<llvm::json::Value> id; // of a request
  /// The request that `$/cancelRequest` means.
  std::optional<llvm::json::Value> cancels;
  int mistake = 0; // a code of JSON-RPC
  std::string why; // of a mistake
};

class Messages {
public:
  /// Reads the descriptor `file`, until `interrupt` has input (-1: never).
  explicit Messages(int file, int interrupt = -1)
      : file(file), interrupt(interrupt) {}

  /// Waits for the next message; nothing at the end of the input.
  std::optional<Message> next();

private:
  /// Reads more; false at the end.
  bool fill();
  bool readLine(std::string &line);
  bool readBody(size_t length, std::string &body);
  /// What a text says; nothing if it needs no answer.
  static std::optional<Message> messageOf(std::string json);

  int file, interrupt;
  std::string waiting; // read, not used from `at` on
  size_t at = 0;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_MESSAGES_H
