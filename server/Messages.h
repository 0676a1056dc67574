//===- Messages.h - reads the messages of an editor -------------*- C++ -*-===//
//
// The framing of the protocol: a header with a length, and that many bytes of
// JSON. Whatever else arrives is answered, or skipped to the next header:
// LLVM's transport, which gets only whole requests and notifications, would
// end.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_MESSAGES_H
#define FOVEA_SERVER_MESSAGES_H

#include "llvm/Support/LSP/Transport.h"

#include <functional>
#include <string>

namespace fovea::editors {

class Messages : public llvm::lsp::JSONTransportInput {
public:
  /// Reads the descriptor `file`. `onIdle` is called before it waits for more,
  /// and when the descriptor that it returned has input (-1: none); `onMistake`
  /// with a code of JSON-RPC and what is wrong with a message.
  Messages(int file, std::function<int()> onIdle,
           std::function<void(int code, const std::string &text)> onMistake)
      : file(file), onIdle(std::move(onIdle)), onMistake(std::move(onMistake)) {
  }

  bool hasError() const override { return false; }
  bool isEndOfInput() const override { return ended; }
  llvm::LogicalResult readStandardMessage(std::string &json) override;
  llvm::LogicalResult readDelimitedMessage(std::string &json) override {
    return readStandardMessage(json);
  }

private:
  /// Reads more; false at the end.
  bool fill();
  void waitForInput();
  bool readLine(std::string &line);
  bool readBody(size_t length, std::string &body);
  /// Returns whether LLVM's transport can take it; otherwise reports the
  /// mistake.
  bool isMessage(llvm::StringRef json);

  int file;
  std::function<int()> onIdle;
  std::function<void(int, const std::string &)> onMistake;
  std::string waiting; // read, not used from `at` on
  size_t at = 0;
  bool ended = false;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_MESSAGES_H
