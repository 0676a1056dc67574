//===- Agreement.cpp - processes that go on together, or end --------------===//

#include "app/machines/Agreement.h"
#include "app/Arguments.h"
#include "app/machines/Launch.h"
#include "runtime/data/OpenFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Status;
using runtime::Team;
using Texts = std::map<std::string, std::string>;

static Team *present = nullptr;

Team &fovea::cli::team() { return present ? *present : Team::alone(); }
void fovea::cli::setTeam(Team &team) { present = &team; }

int fovea::cli::agree(int code) {
  Team &all = team();
  if (all.isAlone())
    return code;
  std::vector<double> codes(all.size());
  codes[all.rank()] = code;
  all.gatherShares(codes, all.size(), 1);
  auto failed = std::find_if(codes.begin(), codes.end(),
                             [](double code) { return int(code) != done; });
  if (failed == codes.end())
    return done;
  endTogether(failed - codes.begin() == all.rank());
  bool isSame = std::all_of(codes.begin(), codes.end(),
                            [&](double other) { return other == *failed; });
  return isSame ? int(*failed) : badMachine;
}

std::string fovea::cli::oddOf(const std::vector<Texts> &texts,
                              const Team &team) {
  constexpr size_t readable = 40;
  static constexpr const char *hashes[] = {"data", "validation", "equations",
                                           "bits of a gradient"};
  const Texts &first = texts.front();
  auto valueIn = [](const Texts &of, const std::string &what) {
    auto found = of.find(what);
    return found == of.end() ? "none" : found->second;
  };
  for (int rank = 1; rank < int(texts.size()); ++rank)
    for (const Texts &names : {first, texts[rank]})
      for (const auto &[what, unused] : names) {
        std::string own = valueIn(texts[rank], what);
        std::string other = valueIn(first, what);
        if (own == other)
          continue;
        if (std::max(own.size(), other.size()) > readable ||
            std::find(std::begin(hashes), std::end(hashes), what) !=
                std::end(hashes))
          return fmt::format("{} lacks the '{}' of {}", team.nameOf(rank), what,
                             team.nameOf(0));
        return fmt::format("{} has '{}' {} but {} has {}", team.nameOf(rank),
                           what, own, team.nameOf(0), other);
      }
  return "";
}

std::string fovea::cli::findOdd(const Texts &own) {
  Team &all = team();
  if (all.isAlone())
    return "";
  std::vector<Texts> texts;
  for (const std::string &text : all.gatherTexts(nlohmann::json(own).dump(
           -1, ' ', true, nlohmann::json::error_handler_t::replace)))
    texts.push_back(nlohmann::json::parse(text).get<Texts>());
  return oddOf(texts, all);
}

Status fovea::cli::shareStandardInput(Team &team) {
  std::string text;
  int error = 0;
  if (team.isFirst() && !runtime::readAll(STDIN_FILENO, text)) {
    error = errno;
    text.clear();
  }
  team.broadcast(text);
  if (error != 0)
    return Status::machine(
        fmt::format("cannot read standard input: {}", std::strerror(error)));
  int file = memfd_create("standard input", MFD_CLOEXEC);
  bool isKept = file >= 0 && runtime::writeAll(file, text) &&
                lseek(file, 0, SEEK_SET) == 0 &&
                dup2(file, STDIN_FILENO) == STDIN_FILENO;
  error = errno;
  if (file >= 0)
    close(file);
  return isKept ? Status::success()
                : Status::machine(fmt::format("cannot keep standard input: {}",
                                              std::strerror(error)));
}
