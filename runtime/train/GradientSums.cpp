//===- GradientSums.cpp - gradients of micro-batches, added ---------------===//

#include "runtime/train/GradientSums.h"
#include "runtime/train/Optimiser.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace fovea::runtime;

/// Zeros in these ranges. Nobody touches the memory of the others.
template <typename T>
static OwnArray<T> allocateParts(int64_t count,
                                 const std::vector<Range> &ranges) {
  int64_t bytes = std::max<int64_t>(count * sizeof(T), lineBytes);
  OwnArray<T> array(static_cast<T *>(newShared(bytes, lineBytes)));
  for (Range range : ranges)
    std::memset(array.get() + range.from, 0,
                (range.to - range.from) * sizeof(T));
  return array;
}

template <typename T> OwnArray<T> fovea::runtime::allocateArray(int64_t count) {
  return allocateParts<T>(count, {{0, count}});
}

template <typename T>
GradientSums<T>::GradientSums(Team &team, int64_t total, int64_t grain,
                              FoveaPool *pool)
    : team(team), total(total), pool(pool), ranges{{0, total}} {
  int64_t grains = (total + grain - 1) / grain;
  for (int rank = 0; rank < team.size(); ++rank) {
    auto [from, to] = team.shareOf(grains, rank);
    int64_t place = std::min(from * grain, total);
    parts.places.push_back(place);
    parts.counts.push_back(std::min(to * grain, total) - place);
  }
}

template <typename T>
void GradientSums<T>::setRanges(std::vector<Range> chosen) {
  assert(team.isAlone() && !leaf && nodes.empty() && "between two updates");
  ranges = std::move(chosen);
  unused.clear();
}

template <typename T> OwnArray<T> GradientSums<T>::take() {
  if (unused.empty())
    return allocateParts<T>(total, ranges);
  OwnArray<T> array = std::move(unused.back());
  unused.pop_back();
  return array;
}

template <typename T> void GradientSums<T>::freeNodes() {
  for (Node &node : nodes)
    unused.push_back(std::move(node.values));
  nodes.clear();
}

template <typename T>
void GradientSums<T>::begin(int64_t given, OwnArray<T> &sums) {
  assert(exchanges.empty() && "the last update was finished");
  freeNodes();
  if (sums)
    unused.push_back(std::move(sums));
  sent = 0;
  number = team.shareOf(given, team.rank()).first;
  if (given == count)
    return;
  count = given;
  plan.clear();
  rounds = 0;
  for (int rank = 0; rank < team.size(); ++rank) {
    auto [from, to] = team.shareOf(count, rank);
    plan.push_back(nodesOf(from, to, count));
    rounds = std::max(rounds, plan.back().size());
  }
}

template <typename T> T *GradientSums<T>::next() {
  if (!leaf)
    leaf = take();
  for (Range range : ranges)
    clear(leaf.get() + range.from, range.to - range.from);
  return leaf.get();
}

template <typename T> void GradientSums<T>::add() {
  addToTree(nodes, Node{number, number + 1, std::move(leaf)}, count,
            [&](OwnArray<T> &left, OwnArray<T> &right) {
              for (Range range : ranges)
                addTo(left.get() + range.from, right.get() + range.from,
                      range.to - range.from, pool);
              unused.push_back(std::move(right));
            });
  ++number;
  if (team.isAlone())
    return;
  waitForDevice();
  // Sends nodes that nothing here can be added to.
  const auto &own = plan[team.rank()];
  while (sent < std::min(own.size(), nodes.size()) &&
         nodes[sent].from == own[sent].from && nodes[sent].to == own[sent].to)
    sendNext(nodes[sent].values.get());
}

template <typename T> Parts GradientSums<T>::inLines(Parts ofValues) const {
  constexpr int64_t values = lineBytes / sizeof(T);
  for (auto *numbers : {&ofValues.counts, &ofValues.places})
    for (int64_t &value : *numbers)
      value /= values;
  return ofValues;
}

/// Sends the next node of this process, or null for none, to the owners of its
/// chunks. Receives the other processes' nodes of this chunk.
template <typename T> void GradientSums<T>::sendNext(const T *values) {
  Parts out = parts, in;
  if (!values)
    out.counts.assign(team.size(), 0);
  int64_t own = parts.counts[team.rank()], place = 0;
  for (size_t rank = 0; rank < plan.size(); ++rank)
    for (size_t i = 0; i < std::min(sent, plan[rank].size()); ++i)
      place += own;
  int64_t all = 0;
  for (const auto &ofRank : plan)
    all += own * int64_t(ofRank.size());
  if (all > roomReceived) {
    assert(sent == 0 && "nothing lies there yet");
    received = allocateArray<T>(all);
    roomReceived = all;
  }
  for (const auto &ofRank : plan) {
    bool sends = sent < ofRank.size();
    in.counts.push_back(sends ? own : 0);
    in.places.push_back(place);
    place += in.counts.back();
  }
  exchanges.push_back(team.beginExchange(values, inLines(out), received.get(),
                                         inLines(in), lineBytes));
  ++sent;
}

template <typename T> void GradientSums<T>::send() {
  if (team.isAlone())
    return;
  const auto &own = plan[team.rank()];
  OwnArray<T> nothing;
  while (sent < rounds) {
    const T *values = nullptr;
    if (sent < nodes.size())
      values = nodes[sent].values.get();
    else if (sent < own.size()) {
      // The update failed: drain the messages unread.
      if (!nothing)
        nothing = take();
      values = nothing.get();
    }
    sendNext(values);
  }
  if (nothing)
    finishExchanges();
}

template <typename T> void GradientSums<T>::finishExchanges() {
  for (int64_t exchange : exchanges)
    team.finish(exchange);
  exchanges.clear();
}

template <typename T> void GradientSums<T>::finish(OwnArray<T> &sums) {
  if (team.isAlone()) {
    if (nodes.empty())
      next(), add();
    assert(nodes.size() == 1 && "all micro-batches are added");
    sums = std::move(nodes.front().values);
    nodes.clear();
    return;
  }
  finishExchanges();
  freeNodes();
  sums = take();
  // They arrived round by round; they are added in the order of their numbers.
  int64_t own = parts.counts[team.rank()];
  std::vector<std::vector<T *>> places(plan.size());
  T *place = received.get();
  for (size_t round = 0; round < rounds; ++round)
    for (size_t rank = 0; rank < plan.size(); ++rank)
      if (round < plan[rank].size()) {
        places[rank].push_back(place);
        place += own;
      }
  std::vector<SumNode<T *>> tree;
  for (size_t rank = 0; rank < plan.size(); ++rank)
    for (size_t i = 0; i < plan[rank].size(); ++i)
      addToTree(
          tree,
          SumNode<T *>{plan[rank][i].from, plan[rank][i].to, places[rank][i]},
          count, [&](T *left, T *right) { addTo(left, right, own, pool); });
  assert(tree.size() == 1 && "the nodes of all make the sum");
  waitForDevice();
  if (own > 0)
    std::memcpy(sums.get() + begin(), tree.front().values, own * sizeof(T));
}

namespace fovea::runtime {
template OwnArray<float> allocateArray<float>(int64_t);
template OwnArray<double> allocateArray<double>(int64_t);
template OwnArray<uint16_t> allocateArray<uint16_t>(int64_t);
template class GradientSums<float>;
template class GradientSums<double>;
} // namespace fovea::runtime
