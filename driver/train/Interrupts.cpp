//===- Interrupts.cpp - signals that ask a training to stop ---------------===//

#include "driver/train/Interrupts.h"

#include <csignal>
#include <unistd.h>

static volatile std::sig_atomic_t caught = 0;
static void (*leaving)() = nullptr;

static void onEarlySignal(int number) {
  leaving();
  _exit(128 + number);
}

static void onSignal(int number) {
  // Each line that nobody reads gives another SIGPIPE.
  if (caught != 0 && number != SIGPIPE)
    _exit(128 + number);
  if (caught == 0)
    caught = number;
}

static void handle(void (*handler)(int)) {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before;
    if (sigaction(number, nullptr, &before) == 0 &&
        before.sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = handler;
    // What is being written goes on.
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

void fovea::cli::endOnInterrupts(void (*leave)()) {
  leaving = leave;
  handle(onEarlySignal);
}

void fovea::cli::catchInterrupts() { handle(onSignal); }

int fovea::cli::caughtSignal() { return caught; }
