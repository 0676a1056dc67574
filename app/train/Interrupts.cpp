//===- Interrupts.cpp - signals that ask a training to stop ---------------===//

#include "app/train/Interrupts.h"
#include "app/EndingSignals.h"
#include "app/train/Checkpoint.h"

#include <csignal>
#include <unistd.h>

using namespace fovea::cli;

static volatile std::sig_atomic_t caught = 0;
static const TrainingFolder *unbegun = nullptr;
static std::string_view lastWords;

static void onEarlySignal(int number) {
  if (unbegun)
    unbegun->leave();
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, lastWords.data(), lastWords.size());
  _exit(128 + number);
}

static void onSignal(int number) {
  // A second signal forces the end, unless it may repeat automatically: each
  // unread line raises SIGPIPE, each second SIGXCPU, and a scheduler may
  // announce its end twice.
  bool insists = number != SIGPIPE && number != SIGXCPU && number != SIGUSR1 &&
                 number != SIGUSR2;
  if (caught != 0 && insists)
    _exit(128 + number);
  if (caught == 0)
    caught = number;
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction before;
  if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN)
    return;
  struct sigaction action = {};
  action.sa_handler = handler;
  // What is being written goes on.
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

static void handleAll(void (*handler)(int)) {
  for (int number : endingSignals)
    handle(number, handler);
  handle(SIGPIPE, handler);
}

EndOnInterrupts::EndOnInterrupts(const TrainingFolder &folder,
                                 std::string_view words) {
  unbegun = &folder;
  lastWords = words;
  handleAll(onEarlySignal);
}

EndOnInterrupts::~EndOnInterrupts() {
  unbegun = nullptr;
  lastWords = {};
}

void fovea::cli::catchInterrupts() { handleAll(onSignal); }

int fovea::cli::caughtSignal() { return caught; }
