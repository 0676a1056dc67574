//===- Launch.cpp - a process that mpirun started -------------------------===//

#include "app/machines/Launch.h"
#include "app/Arguments.h"
#include "app/EndingSignals.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
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
  // mpirun of either library, and srun, which supports PMI for one of them.
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
/// The output of all ranks except the first, until it is known which rank
/// reports: a file in memory; -1: it is printed.
static int heldBack = -1;
static Pair *pair = nullptr;

Pair *fovea::cli::watched() { return pair; }

double Pair::beatSeconds() const {
  double given = patience;
  return given > 0 ? std::clamp(given / 8, 0.02, 1.0) : 1;
}

double Pair::patienceOf(int rank) const {
  return patience + 3 * std::min(rank, 30);
}

static void passOn(int number) {
  isAsked = 1;
  if (worker > 0)
    kill(worker, number);
}

void fovea::cli::endTogether(bool speaks) {
  if (pair)
    pair->isTogether = true;
  if (!speaks && heldBack >= 0 && ftruncate(heldBack, 0) == 0)
    lseek(heldBack, 0, SEEK_SET);
}

static void say(const std::string &text) {
  [[maybe_unused]] ssize_t count =
      write(STDERR_FILENO, text.data(), text.size());
}

/// Names the place of a process: `rank 2 on 'node7'`.
static std::string placeOf(int rank) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return fmt::format("rank {} on '{}'", rank, host);
}

/// Prints the output that the worker left when it ended on its own.
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

/// Ends the other ranks too. Open MPI ends them if one has an exit code. MPICH
/// ends them only if one was killed, or if it announces the failure in mpirun's
/// protocol (https://wiki.mpich.org/mpich/index.php/PMI_v1_wire_protocol).
[[noreturn]] static void endAll(int code) {
  const char *number = std::getenv("PMI_FD");
  if (number && !pair->isTogether) {
    // Earlier output is on its way through the same mpirun.
    usleep(300'000);
    std::string text = fmt::format("cmd=abort exitcode={}\n", code);
    [[maybe_unused]] ssize_t count =
        write(std::atoi(number), text.data(), text.size());
  }
  _exit(code);
}

/// The exit code of a worker that has left a message for its watcher.
static constexpr int toldCode = 70;

void fovea::cli::endWorker(const std::string &sentence, bool isSure) {
  if (!pair) {
    say("error: " + sentence + "\n");
    _exit(badMachine);
  }
  sentence.copy(pair->last, sizeof(pair->last) - 1);
  pair->isSure = isSure;
  _exit(toldCode);
}

/// Sleeps until mpirun ends this process, as it does after another process has
/// ended with a message. A time limit ends the wait without such an mpirun.
static void waitToBeEnded(int rank) {
  for (double left = 20 + std::min(rank, 30); left > 0 && isAsked == 0;
       left -= 0.05)
    usleep(50'000);
}

/// Waits for the worker to end. If the worker hangs while waiting for the
/// others, ends both.
static int waitForWorker(int rank) {
  // Do not use the clock: a process that was stopped itself has not waited.
  double waited = 0;
  int status = 0;
  while (true) {
    pid_t ended = waitpid(worker, &status, WNOHANG);
    if (ended == worker || (ended < 0 && errno != EINTR))
      return status;
    double nap = std::min(pair->beatSeconds(), 0.2);
    usleep(useconds_t(nap * 1e6));
    ++pair->beats;
    waited = pair->isMeeting ? waited + nap : 0;
    if (pair->patience <= 0 || waited < pair->patienceOf(rank))
      continue;
    say(fmt::format("error: {} got no answer from another process for {} s\n",
                    placeOf(rank), pair->patience.load()));
    kill(worker, SIGKILL);
    endAll(badMachine);
  }
}

[[noreturn]] static void watch(const Launch &launch, bool resumes) {
  for (int number : endingSignals) {
    struct sigaction action = {};
    action.sa_handler = passOn;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
  // An unread pipe does not end the process.
  std::signal(SIGPIPE, SIG_IGN);
  // The worker's end interrupts a sleep.
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGCHLD, &action, nullptr);
  int status = waitForWorker(launch.rank);
  bool hasTold = WIFEXITED(status) && WEXITSTATUS(status) == toldCode;
  if (WIFEXITED(status) && !hasTold) {
    if (WEXITSTATUS(status) == done)
      _exit(done);
    sayHeldBack(launch.rank);
    endAll(WEXITSTATUS(status));
  }
  // Whatever it had agreed on, it did not get there.
  pair->isTogether = false;
  int number = hasTold ? 0 : WTERMSIG(status);
  // The message library fails or aborts when another rank is gone. That rank's
  // watcher reports it, and mpirun then ends this process.
  if (hasTold ? !pair->isSure : number == SIGABRT)
    waitToBeEnded(launch.rank);
  if (isAsked != 0 || llvm::is_contained(endingSignals, number))
    endAll(hasTold || number == SIGABRT ? badMachine : 128 + number);
  if (!hasTold)
    sayHeldBack(launch.rank);
  std::string sentence =
      hasTold ? pair->last
              : fmt::format("{} was ended by signal {} ({})",
                            placeOf(launch.rank), number, strsignal(number));
  say("error: " + sentence +
      (resumes ? "; help: continue with --resume\n" : "\n"));
  endAll(badMachine);
}

void fovea::cli::startWorker(const Launch &launch, bool resumes) {
  if (launch.rank != 0) {
    heldBack = memfd_create("held back", MFD_CLOEXEC);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
      dup2(nowhere, STDOUT_FILENO);
  }
  void *page = mmap(nullptr, sizeof(Pair), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  pair = new (page) Pair;
  pid_t watcher = getpid();
  worker = fork();
  if (worker > 0)
    watch(launch, resumes);
  // Without a second process there is no watcher.
  if (worker < 0) {
    pair = nullptr;
    return;
  }
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != watcher)
    _exit(badMachine);
  if (heldBack >= 0)
    dup2(heldBack, STDERR_FILENO);
  // Connections to a dead rank return errors instead of killing this process.
  std::signal(SIGPIPE, SIG_IGN);
}
