//===- HttpServer.h - answers browsers of this machine --------------------===//
//
// Answers GET and HEAD on 127.0.0.1, one request per connection. A request is a
// head of at most 8 KB; a body is refused unread. One thread polls all
// connections, so a slow client delays nobody. It is disconnected after a few
// seconds, or earlier if another client needs the place. (Our previous HTTP
// library gave each client a thread without a time limit.)
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_WATCH_HTTPSERVER_H
#define FOVEA_APP_WATCH_HTTPSERVER_H

#include "app/watch/HttpRequest.h"
#include "runtime/Status.h"

#include <functional>
#include <memory>
#include <string>

namespace fovea::cli {

class HttpServer {
public:
  using Handler = std::function<HttpResponse(const HttpRequest &)>;

  /// Listens on a port of 127.0.0.1; `port` 0 takes any free one.
  static runtime::Status listen(int port, std::unique_ptr<HttpServer> &result);
  ~HttpServer();

  /// `http://127.0.0.1:8000/`
  std::string address() const;
  /// Answers requests for `path`. A slow handler runs on a thread of its own.
  void add(const std::string &path, Handler handler);
  void addSlow(const std::string &path, Handler handler);
  /// Starts the threads for slow requests. Call it once, ahead of `serve`.
  runtime::Status start();
  /// Serves until the process ends.
  [[noreturn]] void serve();

private:
  struct Impl;
  HttpServer();
  std::unique_ptr<Impl> impl;
};

} // namespace fovea::cli

#endif // FOVEA_APP_WATCH_HTTPSERVER_H
