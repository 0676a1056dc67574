//===- Team.cpp - processes that train together ---------------------------===//

#include "runtime/train/Team.h"

#include <cstring>

using namespace fovea::runtime;

namespace {
class Alone : public Team {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string nameOf(int) const override { return "this process"; }
  int64_t beginExchange(const void *from, const Parts &sent, void *to,
                        const Parts &received, int64_t unit) override {
    if (sent.counts[0] > 0)
      std::memcpy(static_cast<char *>(to) + received.places[0] * unit,
                  static_cast<const char *>(from) + sent.places[0] * unit,
                  sent.counts[0] * unit);
    return 0;
  }
  void finish(int64_t) override {}
  void gather(void *, const Parts &, int64_t) override {}
  using Team::broadcast;
  void broadcast(void *, int64_t) override {}
};
} // namespace

Team &Team::alone() {
  static Alone team;
  return team;
}

void Team::broadcast(std::string &text) {
  int64_t length = text.size();
  broadcast(&length, sizeof(length));
  text.resize(length);
  if (length > 0)
    broadcast(text.data(), length);
}

/// Consecutive parts.
static Parts consecutive(std::vector<int64_t> counts) {
  Parts parts;
  int64_t place = 0;
  for (int64_t count : counts) {
    parts.places.push_back(place);
    place += count;
  }
  parts.counts = std::move(counts);
  return parts;
}

static std::vector<std::string> split(const std::string &bytes,
                                      const Parts &parts) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < parts.counts.size(); ++i)
    texts.push_back(bytes.substr(parts.places[i], parts.counts[i]));
  return texts;
}

std::vector<std::string> Team::gatherTexts(const std::string &own) {
  std::vector<int64_t> lengths(size());
  lengths[rank()] = own.size();
  gather(lengths.data(), consecutive(std::vector<int64_t>(size(), 1)),
         sizeof(int64_t));
  Parts parts = consecutive(lengths);
  std::string bytes(parts.places.back() + parts.counts.back(), '\0');
  own.copy(bytes.data() + parts.places[rank()], own.size());
  gather(bytes.data(), parts, 1);
  return split(bytes, parts);
}

std::vector<std::string> Team::gatherTextsOnFirst(const std::string &own) {
  std::vector<int64_t> lengths(size());
  lengths[rank()] = own.size();
  gather(lengths.data(), consecutive(std::vector<int64_t>(size(), 1)),
         sizeof(int64_t));
  std::vector<int64_t> sent(size());
  sent[0] = own.size();
  if (!isFirst())
    lengths.assign(size(), 0);
  Parts parts = consecutive(lengths);
  std::string bytes(parts.places.back() + parts.counts.back(), '\0');
  finish(beginExchange(own.data(), consecutive(sent), bytes.data(), parts, 1));
  return split(bytes, parts);
}

void Team::gatherShares(std::vector<double> &numbers, int64_t count,
                        int64_t width) {
  std::vector<int64_t> counts;
  for (int r = 0; r < size(); ++r) {
    auto [from, to] = shareOf(count, r);
    counts.push_back((to - from) * width);
  }
  gather(numbers.data(), consecutive(std::move(counts)), sizeof(double));
}

void Team::gatherTurns(std::vector<double> &numbers, int64_t count,
                       int64_t width) {
  if (isAlone())
    return;
  std::vector<int64_t> counts;
  for (int r = 0; r < size(); ++r)
    counts.push_back((count - r + size() - 1) / size() * width);
  Parts parts = consecutive(std::move(counts));
  std::vector<double> together(count * width);
  // The items of a rank are consecutive in the message.
  auto placeOf = [&](int64_t number) {
    return parts.places[number % size()] + number / size() * width;
  };
  for (int64_t number = rank(); number < count; number += size())
    std::memcpy(&together[placeOf(number)], &numbers[number * width],
                width * sizeof(double));
  gather(together.data(), parts, sizeof(double));
  for (int64_t number = 0; number < count; ++number)
    std::memcpy(&numbers[number * width], &together[placeOf(number)],
                width * sizeof(double));
}

/// Prefixes each text with its length and a colon: `5:horse`.
std::string fovea::runtime::joinTexts(const std::vector<std::string> &texts) {
  std::string joined;
  for (const std::string &text : texts)
    joined += std::to_string(text.size()) + ":" + text;
  return joined;
}

std::vector<std::string> fovea::runtime::splitTexts(const std::string &joined) {
  std::vector<std::string> texts;
  for (size_t place = 0; place < joined.size();) {
    size_t colon = joined.find(':', place);
    size_t length = std::stoull(joined.substr(place, colon - place));
    texts.push_back(joined.substr(colon + 1, length));
    place = colon + 1 + length;
  }
  return texts;
}
