//===- WatchServer.cpp - a training in a browser --------------------------===//

#include "app/watch/WatchServer.h"
#include "app/watch/Samples.h"
#include "runtime/data/OpenFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::cli;
using nlohmann::json;

/// The files of the page, embedded by the build.
static constexpr unsigned char indexPage[] = {
#include "app/watch/index.html.inc"
};
static constexpr unsigned char script[] = {
#include "app/watch/watch.js.inc"
};
static constexpr unsigned char style[] = {
#include "app/watch/watch.css.inc"
};

pid_t fovea::cli::trainerOf(const std::string &folder) {
  struct stat lock;
  if (stat((folder + "/last/lock").c_str(), &lock) != 0)
    return 0;
  // `1: FLOCK  ADVISORY  WRITE 13088 fe:00:10953008 0 EOF`; `->` waits for it.
  std::ifstream locks("/proc/locks");
  std::string inode = fmt::format(":{}", lock.st_ino);
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, manner, access, file;
    pid_t holder = 0;
    if (words >> number >> kind >> manner >> access >> holder >> file &&
        kind == "FLOCK" && file.ends_with(inode))
      return holder;
  }
  return 0;
}

namespace {

/// The state of one folder's page.
class Watched {
public:
  Watched(std::string folder, pid_t trainer)
      : folder(std::move(folder)), trainer(trainer) {}

  HttpResponse log(const HttpRequest &request) const;
  HttpResponse about();
  HttpResponse samples(const std::string &show);

private:
  bool findModel(WatchedModel &found, std::string &why);

  const std::string folder;
  const pid_t trainer; // 0: whoever has the lock
  std::mutex decoding; // one request at a time decodes
  std::mutex mutex;    // of what follows
  /// The drawable equations, for weights of this age.
  WatchedModel model;
  timespec age = {};
};

} // namespace

/// Reads the weights if they are new. False, with the reason in `why`, if they
/// cannot be read; the next request tries again.
bool Watched::findModel(WatchedModel &found, std::string &why) {
  std::lock_guard guard(mutex);
  // The model does not change. At the beginning there are no weights.
  struct stat file = {};
  std::string path = folder + "/model.safetensors";
  if (model.name.empty() && stat(path.c_str(), &file) != 0 && errno != ENOENT) {
    why = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return false;
  }
  bool isNew =
      file.st_mtim.tv_sec != age.tv_sec || file.st_mtim.tv_nsec != age.tv_nsec;
  if (model.name.empty() && isNew) {
    if (!readWatchedModel(folder, model, why))
      return false;
    age = file.st_mtim;
  }
  found = model;
  return true;
}

/// Returns the resident memory of a process.
static int64_t residentBytes(pid_t process) {
  long long pages = 0, resident = 0;
  FILE *file = std::fopen(fmt::format("/proc/{}/statm", process).c_str(), "re");
  if (!file)
    return 0;
  int count = std::fscanf(file, "%lld %lld", &pages, &resident);
  std::fclose(file);
  return count == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

HttpResponse Watched::about() {
  WatchedModel known;
  std::string why;
  if (!findModel(known, why))
    return refusal(503, why);
  pid_t process = trainer > 0 ? trainer : trainerOf(folder);
  json text = {{"folder", folder},
               {"live", process > 0},
               {"memory", process > 0 ? residentBytes(process) : 0},
               {"model", known.name},
               {"shows", known.shows}};
  return {200,
          "application/json",
          text.dump(-1, ' ', false, json::error_handler_t::replace),
          {}};
}

/// Reads the log from `from` on, at most a megabyte. A log that has become
/// shorter, as after a resume, is read from its beginning.
HttpResponse Watched::log(const HttpRequest &request) const {
  int64_t from = std::strtoll(request.parameter("from").c_str(), nullptr, 10);
  std::string text, why, path = folder + "/log.jsonl";
  // A training that begins has no log yet.
  errno = 0;
  int file = fovea::runtime::openToRead(path, why);
  bool isMissing = file < 0 && errno == ENOENT;
  int64_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (from < 0 || from > size)
    from = 0;
  ssize_t count = -1;
  if (size >= 0) {
    text.resize(std::min<int64_t>(size - from, 1 << 20));
    count = fovea::runtime::throughSignals(
        [&] { return pread(file, text.data(), text.size(), from); });
  }
  if (file >= 0 && count < 0)
    why = std::strerror(errno);
  if (file >= 0)
    close(file);
  // An empty answer would make the page forget what it has.
  if (count < 0 && !isMissing)
    return refusal(503, fmt::format("cannot read '{}': {}", path, why));
  text.resize(std::max<ssize_t>(count, 0));
  std::string end = std::to_string(from + int64_t(text.size()));
  return {200,
          "text/plain; charset=utf-8",
          std::move(text),
          {{"X-From", std::to_string(from)}, {"X-End", end}}};
}

HttpResponse Watched::samples(const std::string &show) {
  WatchedModel known;
  std::string why;
  if (!findModel(known, why))
    return refusal(503, why);
  std::lock_guard guard(decoding);
  return {200, "application/json", samplesOf(folder, known, show), {}};
}

template <size_t size>
static void addFile(HttpServer &server, const char *path,
                    const unsigned char (&bytes)[size], const char *type) {
  server.add(path, [&bytes, type](const HttpRequest &) {
    return HttpResponse{
        200, type, {reinterpret_cast<const char *>(bytes), size}, {}};
  });
}

void fovea::cli::addTraining(HttpServer &server, const std::string &folder,
                             pid_t trainer) {
  addFile(server, "/", indexPage, "text/html; charset=utf-8");
  addFile(server, "/watch.js", script, "text/javascript; charset=utf-8");
  addFile(server, "/watch.css", style, "text/css; charset=utf-8");
  auto watched = std::make_shared<Watched>(folder, trainer);
  server.add("/log", [watched](const HttpRequest &request) {
    return watched->log(request);
  });
  server.addSlow("/about",
                 [watched](const HttpRequest &) { return watched->about(); });
  server.addSlow("/samples", [watched](const HttpRequest &request) {
    return watched->samples(request.parameter("show"));
  });
}
