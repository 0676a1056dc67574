//===- Lines.cpp - lines of a file as they come ---------------------------===//

#include "runtime/model/Lines.h"
#include "runtime/data/Text.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>
#include <utility>

using namespace fovea::runtime;

bool Lines::fill() {
  buffer.erase(0, begin);
  searched -= begin;
  begin = 0;
  char chunk[1 << 16];
  ssize_t count;
  do
    count = read(file, chunk, sizeof(chunk));
  while (count < 0 && errno == EINTR);
  hasFailed = count < 0;
  isAtEnd = count <= 0;
  if (count > 0)
    buffer.append(chunk, count);
  return count > 0;
}

Lines::Next Lines::take(std::string &line, size_t end, size_t next) {
  line.assign(buffer, begin, end - begin);
  begin = searched = next;
  // A byte order mark is not text.
  if (std::exchange(isFirst, false) && line.starts_with("\xef\xbb\xbf"))
    line.erase(0, 3);
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  return line.size() > longestLine ? TooLong : Line;
}

Lines::Next Lines::next(std::string &line) {
  while (true) {
    if (size_t end = buffer.find('\n', searched); end != buffer.npos)
      return take(line, end, end + 1);
    searched = buffer.size();
    // A carriage return is not part of a line.
    if (searched - begin > longestLine + 1)
      return TooLong;
    if (isAtEnd)
      return begin == searched ? End : take(line, searched, searched);
    if (!fill() && hasFailed)
      return Failed;
  }
}

bool Lines::isReady() {
  if (isAtEnd || buffer.find('\n', begin) != buffer.npos)
    return true;
  pollfd wait = {file, POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}
