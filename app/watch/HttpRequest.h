//===- HttpRequest.h - what browsers ask and get --------------------------===//
//
// The text of requests and of answers, apart from sockets.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_WATCH_HTTPREQUEST_H
#define FOVEA_APP_WATCH_HTTPREQUEST_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fovea::cli {

struct HttpRequest {
  bool isHead = false;
  std::string path; // without the query
  std::vector<std::pair<std::string, std::string>> parameters, headers;

  /// Returns the value of a query parameter, or an empty string.
  std::string parameter(const std::string &name) const;
  /// Returns the value of a header, by its lower-case name, or an empty string.
  std::string header(const std::string &name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type, body;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Parses a head without its last empty line. Returns a refusal if that fails.
std::optional<HttpResponse> parseHead(llvm::StringRef head,
                                      HttpRequest &request);

/// Refuses requests that the page of this server's port does not make.
std::optional<HttpResponse> checkHead(const HttpRequest &request, int port);

HttpResponse refusal(int status, const std::string &why);

/// The whole answer; a HEAD request gets no body.
std::string textOf(const HttpResponse &response, bool isHead);

} // namespace fovea::cli

#endif // FOVEA_APP_WATCH_HTTPREQUEST_H
