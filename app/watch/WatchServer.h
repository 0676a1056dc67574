//===- WatchServer.h - a training in a browser ----------------------------===//
//
// Serves a live page about a training folder: its curves, and the outputs
// of the best weights for some examples. The server is a separate process
// that only reads files. Whatever a client does to it, the training
// continues.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_WATCH_WATCHSERVER_H
#define FOVEA_APP_WATCH_WATCHSERVER_H

#include "app/watch/HttpServer.h"

#include <sys/types.h>

namespace fovea::cli {

/// Returns the process that trains in `folder`, or 0. Reads it from the lock
/// file: trying to take the lock would block a training run that is just
/// starting.
pid_t trainerOf(const std::string &folder);

/// Adds the page of the training in `folder` to a server. `trainer` is the
/// training process if it started this one; otherwise 0.
void addTraining(HttpServer &server, const std::string &folder, pid_t trainer);

} // namespace fovea::cli

#endif // FOVEA_APP_WATCH_WATCHSERVER_H
