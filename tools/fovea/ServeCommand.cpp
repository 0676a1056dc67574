//===- ServeCommand.cpp - fovea serve -------------------------------------===//

#include "app/Arguments.h"
#include "app/open/Errors.h"
#include "app/watch/WatchServer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <sys/prctl.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runServe(const Arguments &arguments) {
  pid_t trainer = arguments.trainer.value_or(0);
  if (trainer != 0) {
    // The page ends with the training run that started it.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != trainer)
      return badUsage;
    // The process that decodes samples is not a rank of the training.
    setenv("FOVEA_MPI", "none", /*overwrite=*/1);
  } else if (!llvm::sys::fs::exists(arguments.folder + "/log.jsonl")) {
    beginError() << "'" << arguments.folder
                 << "' is not a training folder: it has no log.jsonl\n";
    return badInput;
  }
  std::unique_ptr<HttpServer> server;
  if (runtime::Status status =
          HttpServer::listen(arguments.port.value_or(0), server);
      status.failed()) {
    beginError() << status.text() << '\n';
    return badMachine;
  }
  addTraining(*server, arguments.folder, trainer);
  if (runtime::Status status = server->start(); status.failed()) {
    beginError() << status.text() << '\n';
    return badMachine;
  }
  llvm::outs() << server->address() << '\n';
  llvm::outs().flush();
  server->serve();
}
