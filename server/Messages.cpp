//===- Messages.cpp - reads the messages of an editor ---------------------===//

#include "server/Messages.h"
#include "app/open/JsonDepth.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

using namespace fovea::editors;
using llvm::StringRef;

/// What no editor sends.
static constexpr size_t longestBody = size_t(64) << 20;
static constexpr size_t longestLine = 1 << 16;
/// LLVM reads JSON by recursion.
static constexpr unsigned deepest = 100;

namespace {
/// The codes of JSON-RPC.
enum Mistake { NoJson = -32700, NoRequest = -32600 };
} // namespace

static Message mistakeOf(int code, const std::string &why) {
  Message message;
  message.mistake = code;
  message.why = why;
  return message;
}

bool Messages::fill() {
  waiting.erase(0, at);
  at = 0;
  // A descriptor below 0 is passed over.
  pollfd entries[] = {{file, POLLIN, 0}, {interrupt, POLLIN, 0}};
  while (poll(entries, 2, -1) < 0 && errno == EINTR)
    ;
  if (entries[1].revents)
    return false;
  char chunk[1 << 14];
  ssize_t count;
  do
    count = read(file, chunk, sizeof(chunk));
  while (count < 0 && errno == EINTR);
  if (count <= 0)
    return false;
  waiting.append(chunk, count);
  return true;
}

/// A line longer than any header comes in parts.
bool Messages::readLine(std::string &line) {
  line.clear();
  while (true) {
    size_t end = waiting.find('\n', at);
    size_t length = (end == std::string::npos ? waiting.size() : end) - at;
    line.append(waiting, at, length);
    at += length;
    if (end != std::string::npos) {
      ++at;
      if (!line.empty() && line.back() == '\r')
        line.pop_back();
      return true;
    }
    if (line.size() > longestLine)
      return true;
    if (!fill())
      return false;
  }
}

bool Messages::readBody(size_t length, std::string &body) {
  body.clear();
  while (true) {
    size_t count = std::min(length - body.size(), waiting.size() - at);
    body.append(waiting, at, count);
    at += count;
    if (body.size() == length)
      return true;
    if (!fill())
      return false;
  }
}

std::optional<Message> Messages::messageOf(std::string json) {
  if (fovea::cli::nestsDeeper(json, deepest))
    return mistakeOf(NoJson, "the message is nested more than " +
                                 std::to_string(deepest) + " deep");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value)
    return mistakeOf(NoJson, "the message is not JSON: " +
                                 llvm::toString(value.takeError()));
  const llvm::json::Object *object = value->getAsObject();
  if (!object || object->getString("jsonrpc") != std::optional("2.0"))
    return mistakeOf(NoRequest, "the message is not a JSON-RPC 2.0 object");
  // An answer: nothing has been asked of the editor.
  if (!object->get("method"))
    return std::nullopt;
  auto isName = [](const llvm::json::Value *id) {
    return !id || id->getAsString() || id->getAsInteger();
  };
  const llvm::json::Value *id = object->get("id");
  if (!object->getString("method") || !isName(id))
    return mistakeOf(
        NoRequest,
        "the method must be a string, and the id a string or whole number");
  Message message;
  message.method = object->getString("method")->str();
  if (id)
    message.id = *id;
  if (const llvm::json::Object *params = object->getObject("params");
      params && message.method == "$/cancelRequest")
    if (const llvm::json::Value *other = params->get("id");
        other && isName(other))
      message.cancels = *other;
  message.json = std::move(json);
  return message;
}

std::optional<Message> Messages::next() {
  constexpr StringRef word = "content-length:";
  std::optional<size_t> length;
  std::string line;
  while (readLine(line)) {
    if (line.empty()) {
      if (!length)
        continue;
      std::string json;
      if (!readBody(*std::exchange(length, std::nullopt), json))
        break;
      if (std::optional<Message> message = messageOf(std::move(json)))
        return message;
      continue;
    }
    // After a message whose length is not what it says, the next header does
    // not begin a line.
    size_t begin = StringRef(line).rfind_insensitive(word);
    if (begin == StringRef::npos)
      continue;
    uint64_t number;
    length.reset();
    if (StringRef(line)
            .drop_front(begin + word.size())
            .trim()
            .getAsInteger(10, number))
      return mistakeOf(NoRequest, "'Content-Length' is not a number of bytes");
    if (number > longestBody)
      return mistakeOf(NoRequest, "the message has more than " +
                                      std::to_string(longestBody) + " bytes");
    length = number;
  }
  return std::nullopt;
}
