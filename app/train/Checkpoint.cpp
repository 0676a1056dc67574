//===- Checkpoint.cpp - a training that can be continued ------------------===//

#include "app/train/Checkpoint.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/ReplaceFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::cli;
using fovea::runtime::Learner;
using fovea::runtime::Status;
using fovea::runtime::TensorFile;
using fovea::runtime::throughSignals;
using nlohmann::json;

void Sums::add(const Sums &other) {
  nll += other.nll;
  logp += other.logp;
  choices += other.choices;
  penalty += other.penalty;
  examples += other.examples;
  reward += other.reward;
  samples += other.samples;
}

static Status systemError(const std::string &what, const std::string &path) {
  return Status::machine(
      fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno)));
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// A run that wrote nothing leaves nothing: its folder is removed if it is
/// empty.
TrainingFolder::~TrainingFolder() {
  leave();
  for (int file : {log, lock})
    if (file >= 0)
      close(file);
}

void TrainingFolder::leave() const {
  if (log >= 0 && isNewLog && written == 0)
    unlink(logPath.c_str());
  if (lock < 0)
    return;
  unlink(lockPath.c_str());
  if (rmdir(lastPath.c_str()) == 0 && isMade)
    rmdir(path.c_str());
}

/// Removes the partial files of an interrupted run. A folder that cannot be
/// read completely keeps the rest.
static void removeParts(const std::string &folder, const std::string &name) {
  std::error_code failure;
  std::vector<std::filesystem::path> parts;
  for (std::filesystem::directory_iterator entry(folder, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    std::string file = entry->path().filename().string();
    if (file.starts_with(name + ".") && file.ends_with(".part"))
      parts.push_back(entry->path());
  }
  for (const std::filesystem::path &part : parts)
    std::filesystem::remove(part, failure);
}

/// Opens a file that belongs to this folder alone: links are not
/// followed.
static int openOwn(const std::string &path) {
  return throughSignals([&] {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                  0666);
  });
}

/// Opens the file and locks it; returns -1 on failure, with `errno`.
static int lockFile(const std::string &path) {
  while (true) {
    int file = openOwn(path);
    if (file < 0)
      return -1;
    struct stat held, there;
    bool isGone = false;
    if (throughSignals([&] { return flock(file, LOCK_EX | LOCK_NB); }) == 0 &&
        fstat(file, &held) == 0) {
      // A finishing run removes its file, so the lock must be on the current
      // one.
      bool isThere = stat(path.c_str(), &there) == 0;
      if (isThere && held.st_dev == there.st_dev && held.st_ino == there.st_ino)
        return file;
      isGone = isThere || errno == ENOENT;
    }
    int error = errno;
    close(file);
    errno = error;
    if (!isGone)
      return -1;
  }
}

Status TrainingFolder::open(const std::string &folder, bool &isBusy) {
  path = folder;
  lastPath = path + "/last";
  lockPath = lastPath + "/lock";
  logPath = path + "/log.jsonl";
  std::error_code failure;
  isMade = std::filesystem::create_directories(path, failure);
  if (!failure)
    std::filesystem::create_directories(lastPath, failure);
  if (failure)
    return Status::error(fmt::format("cannot make the folder '{}/last': {}",
                                     path, failure.message()));
  lock = lockFile(lockPath);
  isBusy = lock < 0 && errno == EWOULDBLOCK;
  if (isBusy)
    return Status::error(
        fmt::format("another training is writing to '{}'", path));
  if (lock < 0)
    return systemError("write", lockPath);
  removeParts(path, "model.safetensors");
  removeParts(lastPath, "state.safetensors");
  removeParts(lastPath, "given.json");
  return Status::success();
}

Status TrainingFolder::findState(bool &isThere) const {
  struct stat information;
  isThere = stat(statePath().c_str(), &information) == 0;
  return isThere || errno == ENOENT ? Status::success()
                                    : systemError("read", statePath());
}

Status TrainingFolder::checkIsOurs() const {
  auto foreign = [](const std::string &name, const char *what) {
    return Status::error(fmt::format("'{}' is no {} of a training and would be "
                                     "overwritten; help: move it, or "
                                     "name another folder",
                                     name, what));
  };
  struct stat information;
  std::string model = path + "/model.safetensors";
  if (stat(model.c_str(), &information) == 0) {
    // A device needs no sync.
    TensorFile file;
    if (S_ISREG(information.st_mode) &&
        (runtime::readSafeTensors(model, file).failed() ||
         !file.metadata.contains("update")))
      return foreign(model, "model");
  } else if (errno != ENOENT) {
    return systemError("read", model);
  }
  int file = throughSignals([&] {
    return ::open(logPath.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  });
  if (file < 0)
    return errno == ENOENT ? Status::success() : systemError("read", logPath);
  char first[8] = {};
  ssize_t count =
      throughSignals([&] { return pread(file, first, sizeof(first), 0); });
  bool isPipe = count < 0 && errno == ESPIPE;
  Status status = count < 0 ? systemError("read", logPath) : Status::success();
  close(file);
  constexpr std::string_view begin = "{\"step\":";
  if (isPipe || (count > 0 && !begin.starts_with({first, size_t(count)})))
    return foreign(logPath, "log");
  return status;
}

/// A rename survives a power cut once its folder is synced.
static void syncFolder(const std::string &path) {
  int folder = throughSignals(
      [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (folder < 0)
    return;
  throughSignals([&] { return fsync(folder); });
  close(folder);
}

Status TrainingFolder::writeModel(const Learner &learner,
                                  std::map<std::string, std::string> metadata) {
  TensorFile file;
  learner.storeWeights(file);
  file.metadata = std::move(metadata);
  Status status = runtime::writeSafeTensors(path + "/model.safetensors", file);
  syncFolder(path);
  return status;
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

/// Reads the first `lines` of a log, or all: their number, the end of the last,
/// and its value of "seconds" (0 if absent). Returns false if they cannot be
/// read: their content is then unknown.
static bool readLines(int file, int64_t lines, int64_t &found, int64_t &end,
                      double &seconds) {
  std::string line;
  char buffer[1 << 16];
  int64_t place = 0;
  found = end = 0;
  seconds = 0;
  while (found < lines) {
    ssize_t count = throughSignals(
        [&] { return pread(file, buffer, sizeof(buffer), place); });
    if (count <= 0)
      return count == 0;
    for (ssize_t i = 0; i < count && found < lines; ++i) {
      ++place;
      if (buffer[i] != '\n') {
        line += buffer[i];
        continue;
      }
      ++found;
      end = place;
      constexpr std::string_view key = "\"seconds\":";
      if (size_t at = line.rfind(key); at != std::string::npos)
        seconds = std::strtod(line.c_str() + at + key.size(), nullptr);
      line.clear();
    }
  }
  return true;
}

Status TrainingFolder::openLog(int64_t lines) {
  std::string name = logPath;
  log = openOwn(name);
  if (log < 0)
    return systemError("write", name);
  int64_t end = 0;
  if (!readLines(log, lines, written, end, secondsLogged))
    return systemError("read", name);
  if (throughSignals([&] { return ftruncate(log, end); }) != 0 ||
      lseek(log, 0, SEEK_END) < 0)
    return systemError("write", name);
  isNewLog = end == 0;
  return Status::success();
}

Status TrainingFolder::addToLog(const std::string &line) {
  if (!runtime::writeAll(log, line + "\n"))
    return systemError("write", logPath);
  ++written;
  return events.isOpen() ? events.add(line) : Status::success();
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

static constexpr const char *stateKey = "training";

static json toJson(const Sums &sums) {
  return {sums.nll,      sums.logp,   sums.choices, sums.penalty,
          sums.examples, sums.reward, sums.samples};
}

/// Increase it with changes to the state, or to the batches that follow from a
/// seed: only a run of the same version can continue bit for bit.
static constexpr int64_t version = 3;

static std::string textOf(const Position &position) {
  json state = {{"version", version},
                {"seed", position.seed},
                {"update", position.update},
                {"epoch", position.epoch},
                {"place", position.place},
                {"sums", toJson(position.sums)},
                {"norm", position.norm},
                {"reported", position.reported},
                {"best_update", position.bestUpdate},
                {"without_best", position.withoutBest},
                {"validated", position.validated},
                {"log_lines", position.logLines},
                {"identity", position.identity}};
  for (const auto &[name, average] : position.states)
    state["states"][name] = {average.sum, average.weight};
  if (position.best)
    state["best"] = {position.best->score, position.best->loss};
  return state.dump();
}

/// Reads a counter: a whole number, far from any overflow.
template <typename T>
static bool take(const json &state, const char *key, T &value, T least = 0) {
  auto found = state.find(key);
  if (found == state.end() || !found->is_number())
    return false;
  if constexpr (std::is_integral_v<T>) {
    constexpr int64_t most = int64_t(1) << 53;
    if (!found->is_number_integer() ||
        (found->is_number_unsigned() ? found->get<uint64_t>() > uint64_t(most)
                                     : found->get<int64_t>() < int64_t(least)))
      return false;
  }
  value = found->get<T>();
  return true;
}

static bool parse(const std::string &text, Position &position) {
  json state = json::parse(text, nullptr, /*allow_exceptions=*/false);
  int64_t given = 0;
  if (!state.is_object() || !take(state, "version", given) || given != version)
    return false;
  auto seed = state.find("seed");
  if (seed == state.end() || !seed->is_number_unsigned())
    return false;
  position.seed = seed->get<uint64_t>(); // any number
  bool good = take(state, "update", position.update) &&
              take(state, "epoch", position.epoch) &&
              take(state, "place", position.place) &&
              take(state, "norm", position.norm) &&
              take(state, "reported", position.reported) &&
              take(state, "best_update", position.bestUpdate) &&
              take(state, "without_best", position.withoutBest) &&
              take(state, "validated", position.validated, int64_t(-1)) &&
              take(state, "log_lines", position.logLines);
  if (auto best = state.find("best"); best != state.end()) {
    if (!best->is_array() || best->size() != 2 || !(*best)[0].is_number() ||
        !(*best)[1].is_number())
      return false;
    position.best = {(*best)[0].get<double>(), (*best)[1].get<double>()};
  }
  if (auto states = state.find("states"); states != state.end()) {
    if (!states->is_object())
      return false;
    for (const auto &[name, average] : states->items()) {
      if (!average.is_array() || average.size() != 2 ||
          !average[0].is_number() || !average[1].is_number())
        return false;
      position.states[name] = {average[0].get<double>(),
                               average[1].get<double>()};
    }
  }
  auto sums = state.find("sums"), identity = state.find("identity");
  if (!good || sums == state.end() || !sums->is_array() ||
      (sums->size() != 5 && sums->size() != 7) || identity == state.end() ||
      !identity->is_object())
    return false;
  double *parts[] = {&position.sums.nll,      &position.sums.logp,
                     &position.sums.choices,  &position.sums.penalty,
                     &position.sums.examples, &position.sums.reward,
                     &position.sums.samples};
  for (size_t i = 0; i < sums->size(); ++i) {
    if (!(*sums)[i].is_number())
      return false;
    *parts[i] = (*sums)[i].get<double>();
  }
  for (const auto &[key, value] : identity->items()) {
    if (!value.is_string())
      return false;
    position.identity[key] = value.get<std::string>();
  }
  return true;
}

std::string TrainingFolder::readGiven() const {
  std::string text, why;
  return runtime::readWhole(givenPath(), text, why) ? text : "";
}

Status TrainingFolder::writeGiven() {
  if (given.empty())
    return Status::success();
  runtime::ReplaceFile file;
  if (!file.open(givenPath()) || !file.write(given) || !file.finish())
    return systemError("write", givenPath());
  given.clear();
  return Status::success();
}

Status TrainingFolder::writeState(const Position &position, TensorFile file) {
  // The log must contain what the state claims.
  if (log >= 0 && throughSignals([&] { return fsync(log); }) != 0)
    return systemError("write", logPath);
  if (Status status = writeGiven(); status.failed())
    return status;
  file.metadata[stateKey] = textOf(position);
  Status status = runtime::writeSafeTensors(statePath(), file);
  syncFolder(lastPath);
  return status;
}

Status TrainingFolder::readState(Position &position, TensorFile &file) {
  if (Status status = runtime::readSafeTensors(statePath(), file);
      status.failed())
    return status;
  if (takePosition(file, position))
    return Status::success();
  auto text = file.metadata.find(stateKey);
  json state = text == file.metadata.end()
                   ? json()
                   : json::parse(text->second, nullptr,
                                 /*allow_exceptions=*/false);
  int64_t given = version;
  if (state.is_object() && take(state, "version", given) && given != version)
    return Status::error(fmt::format(
        "'{}' was saved by another version of Fovea, whose batches differ; "
        "help: '--weights {}/model.safetensors' starts a new training in "
        "another folder from its weights",
        statePath(), path));
  return Status::error(
      fmt::format("'{}' is no state of a training", statePath()));
}

bool TrainingFolder::takePosition(const TensorFile &file, Position &position) {
  auto text = file.metadata.find(stateKey);
  return text != file.metadata.end() && parse(text->second, position);
}
