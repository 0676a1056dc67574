//===- WatchProcess.h - the page beside a training ------------------------===//
//
// Starts `fovea serve` for the training run of this process. The page ends with
// the training, however that ends; the training does not depend on the page.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_WATCH_WATCHPROCESS_H
#define FOVEA_APP_WATCH_WATCHPROCESS_H

#include "runtime/Status.h"

#include <memory>
#include <string>
#include <sys/types.h>

namespace fovea::cli {

class WatchProcess {
public:
  /// Serves `folder` on 127.0.0.1; `port` 0 takes any free one. Returns when
  /// the page is ready.
  static runtime::Status start(const std::string &folder, int port,
                               std::unique_ptr<WatchProcess> &result);
  /// Ends the server.
  ~WatchProcess();

  /// `http://127.0.0.1:8000/`
  const std::string &address() const { return page; }

private:
  WatchProcess(pid_t server, std::string page)
      : server(server), page(std::move(page)) {}

  pid_t server;
  std::string page;
};

} // namespace fovea::cli

#endif // FOVEA_APP_WATCH_WATCHPROCESS_H
