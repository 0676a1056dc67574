//===- Checkpoint.cpp - a training that can be continued ------------------===//

#include "tools/fovea/Checkpoint.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

using namespace fovea::cli;
using fovea::runtime::Learner;
using fovea::runtime::Status;
using fovea::runtime::TensorFile;
using nlohmann::json;

void Sums::add(const Sums &other) {
  nll += other.nll;
  logp += other.logp;
  choices += other.choices;
  penalty += other.penalty;
  examples += other.examples;
}

static Status systemError(const std::string &what, const std::string &path) {
  return Status::error(
      fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno)));
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

TrainingFolder::~TrainingFolder() {
  for (int file : {lock, log})
    if (file >= 0)
      close(file);
}

/// Removes what a training was writing when it was cut off.
static void removeParts(const std::string &folder, const std::string &name) {
  std::error_code ignored;
  std::vector<std::filesystem::path> parts;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder, ignored)) {
    std::string file = entry.path().filename().string();
    if (file.starts_with(name + ".") && file.ends_with(".part"))
      parts.push_back(entry.path());
  }
  for (const std::filesystem::path &part : parts)
    std::filesystem::remove(part, ignored);
}

Status TrainingFolder::open(const std::string &folder, bool &isBusy) {
  path = folder;
  std::error_code failure;
  std::filesystem::create_directories(path + "/last", failure);
  if (failure)
    return Status::error(fmt::format("cannot make the folder '{}/last': {}",
                                     path, failure.message()));
  std::string name = path + "/last/lock";
  lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0)
    return systemError("write", name);
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
    removeParts(path, "model.safetensors");
    removeParts(path + "/last", "state.safetensors");
    return Status::success();
  }
  isBusy = errno == EWOULDBLOCK;
  return isBusy ? Status::error(
                      fmt::format("another training is writing to '{}'", path))
                : systemError("lock", name);
}

bool TrainingFolder::hasState() const {
  std::error_code ignored;
  return std::filesystem::exists(statePath(), ignored);
}

/// A rename survives a power cut once its folder is written.
static void syncFolder(const std::string &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  fsync(folder);
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

/// The place behind the first `lines` of a file; its end when it has fewer.
static int64_t endOfLines(int file, int64_t lines) {
  char buffer[1 << 16];
  int64_t place = 0, end = 0;
  ssize_t count = 0;
  while (lines > 0 && (count = pread(file, buffer, sizeof(buffer), place)) > 0)
    for (ssize_t i = 0; i < count && lines > 0; ++i)
      if (++place; buffer[i] == '\n') {
        --lines;
        end = place;
      }
  return end;
}

/// What the lines before `end` last say of "seconds"; 0 where they do not.
static double secondsIn(int file, int64_t end) {
  std::string text(std::min<int64_t>(end, 4096), ' ');
  if (pread(file, text.data(), text.size(),
            end - static_cast<int64_t>(text.size())) < 0)
    return 0;
  constexpr std::string_view key = "\"seconds\":";
  size_t place = text.rfind(key);
  return place == std::string::npos
             ? 0
             : std::strtod(text.c_str() + place + key.size(), nullptr);
}

Status TrainingFolder::openLog(int64_t lines) {
  std::string name = path + "/log.jsonl";
  log = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (log < 0)
    return systemError("write", name);
  int64_t end = endOfLines(log, lines);
  if (ftruncate(log, end) != 0 || lseek(log, 0, SEEK_END) < 0)
    return systemError("write", name);
  secondsLogged = secondsIn(log, end);
  written = lines;
  return Status::success();
}

Status TrainingFolder::addToLog(const std::string &line) {
  std::string text = line + "\n";
  const char *data = text.data();
  for (size_t left = text.size(); left > 0;) {
    ssize_t count = write(log, data, left);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("write", path + "/log.jsonl");
    data += count;
    left -= count;
  }
  ++written;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

static constexpr const char *stateKey = "training";

static json toJson(const Sums &sums) {
  return {sums.nll, sums.logp, sums.choices, sums.penalty, sums.examples};
}

static std::string textOf(const Position &position) {
  json state = {{"version", 1},
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
  if (position.best)
    state["best"] = *position.best;
  return state.dump();
}

/// Reads numbers of one type; nothing else is in a state.
template <typename T>
static bool take(const json &state, const char *key, T &value) {
  auto found = state.find(key);
  if (found == state.end() || !found->is_number())
    return false;
  value = found->get<T>();
  return true;
}

static bool parse(const std::string &text, Position &position) {
  json state = json::parse(text, nullptr, /*allow_exceptions=*/false);
  int64_t version = 0;
  if (!state.is_object() || !take(state, "version", version) || version != 1)
    return false;
  bool good = take(state, "seed", position.seed) &&
              take(state, "update", position.update) &&
              take(state, "epoch", position.epoch) &&
              take(state, "place", position.place) &&
              take(state, "norm", position.norm) &&
              take(state, "reported", position.reported) &&
              take(state, "best_update", position.bestUpdate) &&
              take(state, "without_best", position.withoutBest) &&
              take(state, "validated", position.validated) &&
              take(state, "log_lines", position.logLines);
  if (double best; take(state, "best", best))
    position.best = best;
  auto sums = state.find("sums"), identity = state.find("identity");
  if (!good || sums == state.end() || !sums->is_array() || sums->size() != 5 ||
      identity == state.end() || !identity->is_object())
    return false;
  double *parts[] = {&position.sums.nll, &position.sums.logp,
                     &position.sums.choices, &position.sums.penalty,
                     &position.sums.examples};
  for (size_t i = 0; i < 5; ++i) {
    if (!(*sums)[i].is_number())
      return false;
    *parts[i] = (*sums)[i].get<double>();
  }
  for (const auto &[key, value] : identity->items()) {
    if (!value.is_string())
      return false;
    position.identity[key] = value.get<std::string>();
  }
  return position.update >= 0 && position.place >= 0 && position.logLines >= 0;
}

Status TrainingFolder::writeState(const Position &position,
                                  const Learner &learner,
                                  std::map<std::string, std::string> metadata) {
  // What the state says of the log has to be there.
  if (log >= 0 && fsync(log) != 0)
    return systemError("write", path + "/log.jsonl");
  TensorFile file;
  learner.store(file);
  file.metadata = std::move(metadata);
  file.metadata[stateKey] = textOf(position);
  Status status = runtime::writeSafeTensors(statePath(), file);
  syncFolder(path + "/last");
  return status;
}

Status TrainingFolder::readState(Position &position, TensorFile &file) {
  if (Status status = runtime::readSafeTensors(statePath(), file);
      status.failed())
    return status;
  auto text = file.metadata.find(stateKey);
  if (text == file.metadata.end() || !parse(text->second, position))
    return Status::error(
        fmt::format("'{}' is no state of a training", statePath()));
  return Status::success();
}
