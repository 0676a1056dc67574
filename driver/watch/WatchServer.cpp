//===- WatchServer.cpp - a training in a browser --------------------------===//

#include "driver/watch/WatchServer.h"
#include "driver/watch/Samples.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <httplib.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace fovea::cli;
using fovea::runtime::Status;
using nlohmann::json;

/// The files of the page, as the build has read them.
static constexpr unsigned char indexPage[] = {
#include "driver/watch/index.html.inc"
};
static constexpr unsigned char script[] = {
#include "driver/watch/watch.js.inc"
};
static constexpr unsigned char style[] = {
#include "driver/watch/watch.css.inc"
};

/// Nobody else may be asked for anything.
static constexpr const char *policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

struct WatchServer::Impl {
  std::string folder;
  bool isTraining = false;
  int port = 0;
  httplib::Server server;
  std::thread thread;
  /// What there is to be drawn, of weights of this age. One request at a time
  /// asks for it, or decodes.
  std::mutex mutex;
  WatchedModel model;
  timespec age = {};

  void addRoutes();
  void findModel();
  void sendLog(const httplib::Request &request, httplib::Response &response);
  std::string about();
};

WatchServer::WatchServer() : impl(new Impl) {}

/// Reads what weights say where they are new. Under the mutex.
void WatchServer::Impl::findModel() {
  struct stat file;
  if (stat((folder + "/model.safetensors").c_str(), &file) != 0)
    return;
  // Which model it is does not change; weights that are there do at the begin.
  if (!model.name.empty() || (file.st_mtim.tv_sec == age.tv_sec &&
                              file.st_mtim.tv_nsec == age.tv_nsec))
    return;
  age = file.st_mtim;
  model = watchedModel(folder);
}

/// The bytes in use by this process.
static int64_t residentBytes() {
  long long pages = 0, resident = 0;
  FILE *file = std::fopen("/proc/self/statm", "re");
  if (!file)
    return 0;
  int count = std::fscanf(file, "%lld %lld", &pages, &resident);
  std::fclose(file);
  return count == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

/// Whether a process holds the lock of the training. Trying to take it would
/// keep away one that begins in this moment.
static bool isLocked(const std::string &folder) {
  struct stat lock;
  if (stat((folder + "/last/lock").c_str(), &lock) != 0)
    return false;
  std::ifstream locks("/proc/locks");
  std::string inode = fmt::format(":{} ", lock.st_ino);
  for (std::string line; std::getline(locks, line);)
    if (line.find("FLOCK") != line.npos && line.find(inode) != line.npos)
      return true;
  return false;
}

std::string WatchServer::Impl::about() {
  std::lock_guard guard(mutex);
  findModel();
  return json{{"folder", folder},
              {"live", isTraining || isLocked(folder)},
              {"memory", isTraining ? residentBytes() : 0},
              {"model", model.name},
              {"shows", model.shows}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The log from `from` on, a megabyte at most. A log that has become shorter,
/// as by a training that is resumed, is read from its beginning.
void WatchServer::Impl::sendLog(const httplib::Request &request,
                                httplib::Response &response) {
  int64_t from = 0;
  if (request.has_param("from"))
    from = std::strtoll(request.get_param_value("from").c_str(), nullptr, 10);
  std::string text;
  int file = open((folder + "/log.jsonl").c_str(), O_RDONLY | O_CLOEXEC);
  int64_t size = file < 0 ? 0 : std::max<int64_t>(lseek(file, 0, SEEK_END), 0);
  if (from < 0 || from > size)
    from = 0;
  text.resize(std::min<int64_t>(size - from, 1 << 20));
  ssize_t count = file < 0 ? 0 : pread(file, text.data(), text.size(), from);
  text.resize(std::max<ssize_t>(count, 0));
  if (file >= 0)
    close(file);
  response.set_header("X-From", std::to_string(from));
  response.set_header("X-End", std::to_string(from + int64_t(text.size())));
  response.set_content(text, "text/plain; charset=utf-8");
}

template <size_t size>
static void serve(httplib::Server &server, const char *path,
                  const unsigned char (&bytes)[size], const char *type) {
  server.Get(path, [&bytes, type](const auto &, httplib::Response &response) {
    response.set_content(reinterpret_cast<const char *>(bytes), size, type);
  });
}

void WatchServer::Impl::addRoutes() {
  server.set_default_headers({{"Content-Security-Policy", policy},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cache-Control", "no-store"}});
  // A page from elsewhere may have a name that it says is of this machine.
  server.set_pre_routing_handler([this](const httplib::Request &request,
                                        httplib::Response &response) {
    std::string host = request.get_header_value("Host");
    for (const char *own : {"127.0.0.1", "localhost"})
      if (host == fmt::format("{}:{}", own, port))
        return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content("this page is for this machine alone\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  serve(server, "/", indexPage, "text/html; charset=utf-8");
  serve(server, "/watch.js", script, "text/javascript; charset=utf-8");
  serve(server, "/watch.css", style, "text/css; charset=utf-8");
  server.Get("/log", [this](const auto &request, auto &response) {
    sendLog(request, response);
  });
  server.Get("/about", [this](const auto &, auto &response) {
    response.set_content(about(), "application/json");
  });
  server.Get("/samples", [this](const auto &request, auto &response) {
    std::lock_guard guard(mutex);
    findModel();
    response.set_content(
        samplesOf(folder, model, request.get_param_value("show")),
        "application/json");
  });
}

Status WatchServer::start(const std::string &folder, int port, bool isTraining,
                          std::unique_ptr<WatchServer> &result) {
  std::unique_ptr<WatchServer> made(new WatchServer);
  Impl &impl = *made->impl;
  impl.folder = folder;
  impl.isTraining = isTraining;
  // Without SO_REUSEPORT: a port that is taken is taken.
  impl.server.set_socket_options([](socket_t socket) {
    int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  impl.server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  impl.port = port != 0
                  ? (impl.server.bind_to_port("127.0.0.1", port) ? port : -1)
                  : impl.server.bind_to_any_port("127.0.0.1");
  if (impl.port < 0)
    return Status::machine(
        fmt::format("cannot serve on port {} of 127.0.0.1: it is taken", port));
  impl.addRoutes();
  impl.thread = std::thread([&impl] { impl.server.listen_after_bind(); });
  result = std::move(made);
  return Status::success();
}

WatchServer::~WatchServer() {
  impl->server.stop();
  if (impl->thread.joinable())
    impl->thread.join();
}

std::string WatchServer::address() const {
  return fmt::format("http://127.0.0.1:{}/", impl->port);
}

void WatchServer::wait() { impl->thread.join(); }
