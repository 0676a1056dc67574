//===- WatchServer.h - a training in a browser ----------------------------===//
//
// Serves one page that follows what a training writes into its folder: its
// curves, and what the best weights make of some examples. It reads files
// alone, so that it does not matter who trains, and answers this machine alone.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_WATCH_WATCHSERVER_H
#define FOVEA_DRIVER_WATCH_WATCHSERVER_H

#include "runtime/Status.h"

#include <memory>
#include <string>

namespace fovea::cli {

class WatchServer {
public:
  /// Begins to serve `folder` on 127.0.0.1; `port` 0: any that is free.
  /// `isTraining`: this process is the one that trains.
  static runtime::Status start(const std::string &folder, int port,
                               bool isTraining,
                               std::unique_ptr<WatchServer> &result);
  /// Ends it.
  ~WatchServer();

  /// `http://127.0.0.1:8000/`
  std::string address() const;
  /// Serves until the process ends.
  void wait();

private:
  struct Impl;
  WatchServer();
  std::unique_ptr<Impl> impl;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_WATCH_WATCHSERVER_H
