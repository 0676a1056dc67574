//===- ServeCommand.cpp - fovea serve -------------------------------------===//

#include "driver/Arguments.h"
#include "driver/watch/WatchServer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runServe(const Arguments &arguments) {
  if (!llvm::sys::fs::exists(arguments.folder + "/log.jsonl")) {
    llvm::errs() << "error: '" << arguments.folder
                 << "' is no folder of a training: it has no log.jsonl\n";
    return badInput;
  }
  std::unique_ptr<WatchServer> server;
  if (runtime::Status status =
          WatchServer::start(arguments.folder, arguments.port.value_or(0),
                             /*isTraining=*/false, server);
      status.failed()) {
    llvm::errs() << "error: " << status.text() << '\n';
    return badMachine;
  }
  llvm::outs() << server->address() << '\n';
  llvm::outs().flush();
  server->wait();
  return done;
}
