//===- Interrupts.cpp - signals that ask a training to stop ---------------===//

#include "driver/train/Interrupts.h"

#include <csignal>
#include <unistd.h>

static volatile std::sig_atomic_t caught = 0;

static void onSignal(int number) {
  // Each line that nobody reads gives another SIGPIPE.
  if (caught != 0 && number != SIGPIPE)
    _exit(128 + number);
  if (caught == 0)
    caught = number;
}

void fovea::cli::catchInterrupts() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before;
    if (sigaction(number, nullptr, &before) == 0 &&
        before.sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = onSignal;
    // What is being written goes on.
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

int fovea::cli::caughtSignal() { return caught; }
