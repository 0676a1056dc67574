//===- Inbox.h - messages, read while others are answered -------*- C++ -*-===//
//
// One thread reads what an editor says, at all times. The other answers, one
// message after the other, and works aside while there are none. So the reader
// can say at once that this work is in vain: there is a newer text, or the
// editor has withdrawn its request.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_INBOX_H
#define FOVEA_SERVER_INBOX_H

#include "server/Messages.h"

#include "llvm/Support/LSP/Transport.h"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fovea::editors {

class Inbox : public llvm::lsp::JSONTransportInput {
public:
  using Id = llvm::json::Value;
  /// What the answering thread does besides answering.
  struct Owner {
    /// Work for while no message waits. Returns a descriptor whose input calls
    /// it again; -1: none.
    std::function<int()> onIdle;
    std::function<void(int code, const std::string &why)> onMistake;
    /// The editor has withdrawn this request, and no one has begun it.
    std::function<void(const Id &id)> onWithdrawn;
    /// The same of a request that has been begun, and may be answered already.
    std::function<void(const Id &id)> onCancel;
  };

  /// Reads the descriptor `file`.
  Inbox(int file, Owner owner);
  ~Inbox() override;

  bool hasError() const override { return false; }
  bool isEndOfInput() const override { return hasEnded; }
  llvm::LogicalResult readStandardMessage(std::string &json) override;
  llvm::LogicalResult readDelimitedMessage(std::string &json) override {
    return readStandardMessage(json);
  }

  /// Becomes true when the present work is in vain.
  const std::atomic<bool> &stop() const { return isInVain; }
  /// The request that is being answered; nothing: none.
  const std::optional<Id> &current() const { return answered; }

private:
  /// Wakes a thread that waits for input.
  struct Pipe {
    Pipe();
    ~Pipe();
    void signal();
    void drain();
    int ends[2]; // to read, to write
  };
  struct Entry {
    Message message;
    bool isWithdrawn = false;
  };

  void read();
  void take(Message message);
  void cancel(Message message);
  bool answerNext(std::string &json, bool &isEmpty);
  void waitWith(int file);

  Owner owner;
  Pipe interrupt; // ends the reading thread
  Pipe arrival;   // has input when there are messages
  Messages messages;

  std::mutex mutex; // of the rest, but for what the answering thread alone has
  std::deque<Entry> entries;
  bool isRead = false; // all of the input
  bool isIdle = false; // the present work is aside
  std::atomic<bool> isInVain = false;
  std::optional<Id> answered; // the answering thread writes it

  bool hasEnded = false; // of the answering thread
  std::thread reader;
};

} // namespace fovea::editors

#endif // FOVEA_SERVER_INBOX_H
