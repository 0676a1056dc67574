//===- Agreement.cpp - processes that go on together, or end --------------===//

#include "app/machines/Agreement.h"
#include "app/Arguments.h"
#include "app/machines/Launch.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
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

void fovea::cli::shareStandardInput(Team &team) {
  std::string text;
  char buffer[1 << 16];
  while (team.isFirst()) {
    ssize_t count = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    text.append(buffer, count);
  }
  team.broadcast(text);
  int file = memfd_create("standard input", MFD_CLOEXEC);
  for (size_t place = 0; file >= 0 && place < text.size();) {
    ssize_t count = write(file, text.data() + place, text.size() - place);
    if (count <= 0)
      break;
    place += count;
  }
  lseek(file, 0, SEEK_SET);
  dup2(file, STDIN_FILENO);
}
