//===- HttpRequest.cpp - what browsers ask and get ------------------------===//

#include "app/watch/HttpRequest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace fovea::cli;
using llvm::StringRef;

/// The page may load nothing from elsewhere, and no other page may use it.
static constexpr StringRef safety =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src "
    "'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action "
    "'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n"
    "Connection: close\r\n";

static std::string
valueOf(const std::vector<std::pair<std::string, std::string>> &pairs,
        const std::string &name) {
  for (const auto &[key, value] : pairs)
    if (key == name)
      return value;
  return "";
}

std::string HttpRequest::parameter(const std::string &name) const {
  return valueOf(parameters, name);
}

std::string HttpRequest::header(const std::string &name) const {
  return valueOf(headers, name);
}

/// Replaces `%41` with `A`. Keeps invalid escapes.
static std::string decoded(StringRef text) {
  std::string result;
  while (!text.empty()) {
    uint8_t code = 0;
    if (text.front() == '%' && text.size() > 2 &&
        llvm::tryGetHexFromNibbles(text[1], text[2], code)) {
      result += char(code);
      text = text.drop_front(3);
      continue;
    }
    result += text.front();
    text = text.drop_front();
  }
  return result;
}

HttpResponse fovea::cli::refusal(int status, const std::string &why) {
  return {status, "text/plain; charset=utf-8", why + "\n", {}};
}

std::optional<HttpResponse> fovea::cli::parseHead(StringRef head,
                                                  HttpRequest &request) {
  llvm::SmallVector<StringRef> lines, words;
  head.split(lines, "\r\n");
  lines.front().split(words, ' ');
  if (words.size() != 3 || !words[2].starts_with("HTTP/1.") ||
      !words[1].starts_with("/"))
    return refusal(400, "this is not an HTTP request");
  if (words[0] != "GET" && words[0] != "HEAD") {
    HttpResponse response = refusal(405, "only GET and HEAD are answered");
    response.headers.push_back({"Allow", "GET, HEAD"});
    return response;
  }
  request.isHead = words[0] == "HEAD";
  auto [path, query] = words[1].split('?');
  request.path = path.str();
  while (!query.empty()) {
    StringRef parameter;
    std::tie(parameter, query) = query.split('&');
    auto [name, value] = parameter.split('=');
    request.parameters.push_back({decoded(name), decoded(value)});
  }
  for (StringRef line : llvm::drop_begin(lines)) {
    auto [name, value] = line.split(':');
    if (name.empty() || name.size() == line.size() ||
        name.find_first_of(" \t") != StringRef::npos)
      return refusal(400, "this is not an HTTP header");
    request.headers.push_back({name.lower(), value.trim().str()});
  }
  return std::nullopt;
}

/// A page from elsewhere may have a host name that resolves to this machine
/// (DNS rebinding), or may send requests whose answers it cannot read.
std::optional<HttpResponse> fovea::cli::checkHead(const HttpRequest &request,
                                                  int port) {
  auto isOwn = [&](StringRef host) {
    return host == fmt::format("127.0.0.1:{}", port) ||
           host == fmt::format("localhost:{}", port);
  };
  size_t numHosts = llvm::count_if(request.headers, [](const auto &header) {
    return header.first == "host";
  });
  if (numHosts != 1 || !isOwn(request.header("host")))
    return refusal(403, "this page is available on this machine only");
  std::string size = request.header("content-length");
  if (!request.header("transfer-encoding").empty() ||
      (!size.empty() && size != "0"))
    return refusal(413, "requests must have no body");
  std::string given = request.header("origin");
  StringRef origin = given;
  if (!given.empty() && !(origin.consume_front("http://") && isOwn(origin)))
    return refusal(403, "requests from other sites are refused");
  // Links to this address may be anywhere; all other requests come from the
  // page.
  std::string site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none" &&
      request.header("sec-fetch-mode") != "navigate")
    return refusal(403, "requests from other sites are refused");
  return std::nullopt;
}

static StringRef reasonOf(int status) {
  switch (status) {
  case 200:
    return "OK";
  case 400:
    return "Bad Request";
  case 403:
    return "Forbidden";
  case 404:
    return "Not Found";
  case 405:
    return "Method Not Allowed";
  case 413:
    return "Content Too Large";
  case 431:
    return "Request Header Fields Too Large";
  case 503:
    return "Service Unavailable";
  default:
    return "Error";
  }
}

std::string fovea::cli::textOf(const HttpResponse &response, bool isHead) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
      response.status, reasonOf(response.status).str(), response.type,
      response.body.size());
  for (const auto &[name, value] : response.headers)
    text += name + ": " + value + "\r\n";
  text += safety;
  text += "\r\n";
  return isHead ? text : text + response.body;
}
