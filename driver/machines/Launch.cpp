//===- Launch.cpp - a process that mpirun started -------------------------===//

#include "driver/machines/Launch.h"
#include "driver/Arguments.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fovea::cli;

//===----------------------------------------------------------------------===//
// The environment
//===----------------------------------------------------------------------===//

Launch fovea::cli::findLaunch() {
  const char *wanted = std::getenv("FOVEA_MPI");
  Launch launch;
  if (wanted && std::strcmp(wanted, "none") == 0)
    return launch;
  // mpirun of either library, and srun, which has PMI for one of them.
  static constexpr std::pair<const char *, const char *> ranks[] = {
      {"OMPI_COMM_WORLD_RANK", "openmpi"},
      {"PMIX_RANK", "openmpi"},
      {"PMI_RANK", "mpich"}};
  for (auto [name, library] : ranks)
    if (const char *rank = std::getenv(name); rank && launch.library.empty()) {
      launch.library = wanted ? wanted : library;
      launch.rank = std::atoi(rank);
    }
  return launch;
}

//===----------------------------------------------------------------------===//
// Worker and watcher
//===----------------------------------------------------------------------===//

static pid_t worker = -1;
static volatile std::sig_atomic_t isAsked = 0;
/// What ranks but the first say, until it is known who speaks: a file in
/// memory; -1: it is printed.
static int heldBack = -1;

static void passOn(int number) {
  isAsked = 1;
  if (worker > 0)
    kill(worker, number);
}

/// Whether the worker ends as all others do: in memory of both processes.
static volatile int *isTogether = nullptr;

void fovea::cli::endTogether(bool speaks) {
  if (isTogether)
    *isTogether = 1;
  if (!speaks && heldBack >= 0 && ftruncate(heldBack, 0) == 0)
    lseek(heldBack, 0, SEEK_SET);
}

static void say(const std::string &text) {
  [[maybe_unused]] ssize_t count =
      write(STDERR_FILENO, text.data(), text.size());
}

/// Where a process runs: `rank 2 on 'node7'`.
static std::string placeOf(int rank) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return fmt::format("rank {} on '{}'", rank, host);
}

/// Says what the worker was about to say when it ended by itself.
static void sayHeldBack(int rank) {
  if (heldBack < 0)
    return;
  std::string text;
  char buffer[1 << 12];
  lseek(heldBack, 0, SEEK_SET);
  for (ssize_t count; (count = read(heldBack, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, count);
  for (size_t from = 0; from < text.size();) {
    size_t end = std::min(text.find('\n', from), text.size() - 1);
    say(placeOf(rank) + ": " + text.substr(from, end + 1 - from));
    from = end + 1;
  }
}

/// Ends the other ranks too. Open MPI does it where one has an exit code, but
/// MPICH only where one was killed itself, or says so as processes say things
/// to its mpirun (https://wiki.mpich.org/mpich/index.php/PMI_v1_wire_protocol).
[[noreturn]] static void endAll(int code) {
  const char *number = std::getenv("PMI_FD");
  if (number && (!isTogether || *isTogether == 0)) {
    // What was said is on its way through the same mpirun.
    usleep(300'000);
    std::string text = fmt::format("cmd=abort exitcode={}\n", code);
    [[maybe_unused]] ssize_t count =
        write(std::atoi(number), text.data(), text.size());
  }
  _exit(code);
}

[[noreturn]] static void watch(const Launch &launch, bool resumes) {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    action.sa_handler = passOn;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
  int status = 0;
  while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) == done)
      _exit(done);
    sayHeldBack(launch.rank);
    endAll(WEXITSTATUS(status));
  }
  int number = WTERMSIG(status);
  // The library of messages aborts where another rank has gone: that one's
  // watcher says what happened, and mpirun then asks this one to end.
  if (number == SIGABRT)
    usleep(1'500'000);
  // It was asked to end, or nobody reads what it says.
  if (isAsked != 0 || number == SIGPIPE || number == SIGTERM ||
      number == SIGHUP || number == SIGINT)
    endAll(128 + number);
  sayHeldBack(launch.rank);
  say(fmt::format("error: {} was ended by signal {} ({}){}\n",
                  placeOf(launch.rank), number, strsignal(number),
                  resumes ? "; '--resume' continues the training" : ""));
  endAll(badMachine);
}

void fovea::cli::startWorker(const Launch &launch, bool resumes) {
  if (launch.rank != 0) {
    heldBack = memfd_create("held back", MFD_CLOEXEC);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
      dup2(nowhere, STDOUT_FILENO);
  }
  void *page = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED)
    isTogether = static_cast<volatile int *>(page);
  pid_t watcher = getpid();
  worker = fork();
  if (worker > 0)
    watch(launch, resumes);
  // Where there is no second process, there is no watcher.
  if (worker == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != watcher)
      _exit(badMachine);
    if (heldBack >= 0)
      dup2(heldBack, STDERR_FILENO);
  }
}
