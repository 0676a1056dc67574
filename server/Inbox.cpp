//===- Inbox.cpp - messages, read while others are answered ---------------===//

#include "server/Inbox.h"

#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

using namespace fovea::editors;

/// Whether work for an older state of the editor's files is in vain.
static bool changesFiles(const Message &message) {
  return llvm::is_contained({"textDocument/didOpen", "textDocument/didChange",
                             "textDocument/didClose", "shutdown", "exit"},
                            message.method);
}

Inbox::Pipe::Pipe() {
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
    ends[0] = ends[1] = -1;
}

Inbox::Pipe::~Pipe() {
  close(ends[0]);
  close(ends[1]);
}

void Inbox::Pipe::signal() {
  char byte = 0;
  // A full pipe says as much.
  [[maybe_unused]] ssize_t count = write(ends[1], &byte, 1);
}

void Inbox::Pipe::drain() {
  char bytes[256];
  while (::read(ends[0], bytes, sizeof(bytes)) > 0)
    ;
}

Inbox::Inbox(int file, Owner owner)
    : owner(std::move(owner)), messages(file, interrupt.ends[0]),
      reader([this] { read(); }) {}

Inbox::~Inbox() {
  interrupt.signal();
  reader.join();
}

//===----------------------------------------------------------------------===//
// The reading thread
//===----------------------------------------------------------------------===//

void Inbox::read() {
  while (std::optional<Message> message = messages.next())
    take(std::move(*message));
  std::lock_guard lock(mutex);
  isRead = true;
  isInVain = isInVain || isIdle;
  arrival.signal();
}

void Inbox::take(Message message) {
  std::lock_guard lock(mutex);
  if (message.cancels)
    return cancel(std::move(message));
  if (isIdle && changesFiles(message))
    isInVain = true;
  entries.push_back({std::move(message)});
  arrival.signal();
}

void Inbox::cancel(Message message) {
  auto entry = llvm::find_if(entries, [&](const Entry &entry) {
    return entry.message.id && *entry.message.id == *message.cancels;
  });
  if (entry != entries.end()) {
    entry->isWithdrawn = true;
    return;
  }
  if (answered && *answered == *message.cancels)
    isInVain = true;
  entries.push_back({std::move(message)});
  arrival.signal();
}

//===----------------------------------------------------------------------===//
// The answering thread
//===----------------------------------------------------------------------===//

void Inbox::waitWith(int file) {
  // A descriptor below 0 is passed over.
  pollfd entries[] = {{arrival.ends[0], POLLIN, 0}, {file, POLLIN, 0}};
  while (poll(entries, 2, -1) < 0 && errno == EINTR)
    ;
  arrival.drain();
}

/// Takes the next message. Returns whether it is one to be handled, in `json`.
bool Inbox::answerNext(std::string &json, bool &isEmpty) {
  Entry entry;
  {
    std::lock_guard lock(mutex);
    answered.reset();
    isIdle = isEmpty = entries.empty();
    isInVain = false;
    if (isEmpty) {
      hasEnded = isRead;
      return false;
    }
    entry = std::move(entries.front());
    entries.pop_front();
    if (!entry.isWithdrawn)
      answered = entry.message.id;
  }
  if (entry.message.mistake)
    owner.onMistake(entry.message.mistake, entry.message.why);
  else if (entry.message.cancels)
    owner.onCancel(*entry.message.cancels);
  else if (entry.isWithdrawn)
    owner.onWithdrawn(*entry.message.id);
  else if (entry.message.method != "$/cancelRequest") {
    json = std::move(entry.message.json);
    return true;
  }
  return false;
}

llvm::LogicalResult Inbox::readStandardMessage(std::string &json) {
  while (!hasEnded) {
    bool isEmpty;
    if (answerNext(json, isEmpty))
      return llvm::success();
    if (isEmpty && !hasEnded)
      waitWith(owner.onIdle());
  }
  return llvm::failure();
}
