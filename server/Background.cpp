//===- Background.cpp - work in a process of its own ----------------------===//

#include "server/Background.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fovea::editors;

/// Typing comes first.
static constexpr int politeness = 5;

/// Returns whether all of it has been written.
static bool writeAll(int file, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t count = write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
  }
  return true;
}

Background::Background(const std::function<std::string()> &work) {
  start(work);
  if (process < 0)
    text = work();
}

Background::~Background() {
  if (process < 0)
    return;
  kill(process, SIGKILL);
  finish();
}

void Background::start(const std::function<std::string()> &work) {
  int ends[2];
  if (::pipe(ends))
    return;
  process = fork();
  if (process == 0) {
    close(ends[0]);
    // The editor talks to the other process alone.
    close(STDIN_FILENO);
    [[maybe_unused]] int level = nice(politeness);
    // Buffers, and what ends at exit, belong to the other process.
    _exit(writeAll(ends[1], work()) ? 0 : 1);
  }
  close(ends[1]);
  if (process > 0)
    pipe = ends[0];
  else
    close(ends[0]);
}

bool Background::isDone() {
  while (pipe >= 0) {
    pollfd entry{pipe, POLLIN, 0};
    if (poll(&entry, 1, 0) == 0)
      return false;
    char chunk[1 << 14];
    ssize_t count = read(pipe, chunk, sizeof(chunk));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      finish();
    else
      arrived.append(chunk, count);
  }
  return true;
}

void Background::finish() {
  close(pipe);
  pipe = -1;
  int status = 1;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  process = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    text = std::move(arrived);
}
