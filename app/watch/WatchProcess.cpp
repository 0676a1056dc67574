//===- WatchProcess.cpp - the page beside a training ----------------------===//

#include "app/watch/WatchProcess.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace fovea::cli;
using fovea::runtime::Status;

/// Starts `fovea` with its output in `output`, no input, no other files and its
/// own process group: Ctrl-C reaches the training, which ends the page.
static int spawnSelf(std::vector<std::string> arguments, int output,
                     pid_t &process) {
  static int here;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, &here);
  arguments.insert(arguments.begin(), self);
  std::vector<char *> texts;
  for (std::string &argument : arguments)
    texts.push_back(argument.data());
  texts.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(&process, self.c_str(), &files, &attributes,
                          texts.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// The first output of the server: its address, or an error.
static std::string readLine(int file) {
  std::string line;
  for (char c; line.size() < 1024;) {
    ssize_t count = read(file, &c, 1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0 || c == '\n')
      break;
    line += c;
  }
  return line;
}

Status WatchProcess::start(const std::string &folder, int port,
                           std::unique_ptr<WatchProcess> &result) {
  int ends[2];
  pid_t server = 0;
  int error = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  if (error == 0) {
    error = spawnSelf({"serve", folder, "--port", std::to_string(port),
                       "--trainer", std::to_string(getpid())},
                      ends[1], server);
    close(ends[1]);
    if (error != 0)
      close(ends[0]);
  }
  std::string line = error == 0 ? readLine(ends[0]) : std::strerror(error);
  if (server > 0) {
    close(ends[0]);
    result.reset(new WatchProcess(server, line));
    if (line.starts_with("http://"))
      return Status::success();
    result.reset();
  }
  llvm::StringRef why = line;
  return Status::machine(why.consume_front("error: ")
                             ? why.str()
                             : "cannot start the page: " + line);
}

WatchProcess::~WatchProcess() {
  kill(server, SIGTERM);
  while (waitpid(server, nullptr, 0) < 0 && errno == EINTR) {
  }
}
