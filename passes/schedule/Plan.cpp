//===- Plan.cpp - in which order and in which loops -----------------------===//
//
// Allen and Kennedy's scheduling, recursive: a component without a cycle is one
// op over its whole range. A cyclic one gets a loop over an index along which
// no read looks ahead; the reads that the loop carries are removed, and the
// rest is planned inside the loop. The recursion is as deep as arrays have
// axes.
//
// Allen and Kennedy (1987): Automatic Translation of Fortran Programs to Vector
// Form.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Plan.h"

#include <set>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

//===----------------------------------------------------------------------===//
// TimeAxes
//===----------------------------------------------------------------------===//

TimeAxes::TimeAxes(ArrayRef<Operation *> ops, ArrayRef<Edge> edges,
                   ArrayRef<const Loop *> enclosing)
    : ops(ops), edges(edges), enclosing(enclosing) {
  for (const Edge &edge : edges) {
    edgesOf[edge.reader].push_back(&edge);
    if (edge.target != edge.reader)
      edgesOf[edge.target].push_back(&edge);
  }
}

SmallVector<unsigned> TimeAxes::candidates(Operation *op,
                                           Attribute extent) const {
  SmallVector<unsigned> result;
  for (auto [index, range] : loopIndices(op))
    if (range == extent &&
        llvm::none_of(enclosing, [&, index = index](const Loop *loop) {
          return loop->contains(op) && loop->getTime(op) == index;
        }))
      result.push_back(index);
  return result;
}

bool TimeAxes::narrow(Domains &domains, bool reverse) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Edge &edge : edges) {
      auto &times = domains[edge.reader], &axes = domains[edge.target];
      auto fits = [&](unsigned time, unsigned axis) {
        // An op has one time index, even if it reads itself.
        return (edge.reader != edge.target || time == axis) &&
               distanceOf(*edge.access, time, axis).allowed(reverse);
      };
      size_t before = times.size() + axes.size();
      SmallVector<unsigned> oldTimes = times;
      llvm::erase_if(times, [&](unsigned time) {
        return llvm::none_of(axes,
                             [&](unsigned axis) { return fits(time, axis); });
      });
      llvm::erase_if(axes, [&](unsigned axis) {
        return llvm::none_of(oldTimes,
                             [&](unsigned time) { return fits(time, axis); });
      });
      if (times.empty() || axes.empty()) {
        conflict = edge;
        return false;
      }
      changed |= times.size() + axes.size() != before;
    }
  }
  return true;
}

unsigned TimeAxes::best(Operation *op, Domains &domains) const {
  unsigned best = domains[op].front(), most = 0;
  auto list = edgesOf.find(op);
  if (list == edgesOf.end())
    return best;
  for (unsigned candidate : domains[op]) {
    // Reads at the same place keep arrays small: prefer the index that has
    // the most of them.
    unsigned exact = 0;
    for (const Edge *edge : list->second) {
      Operation *other = edge->reader == op ? edge->target : edge->reader;
      exact += llvm::any_of(domains[other], [&](unsigned index) {
        return edge->reader == op
                   ? distanceOf(*edge->access, candidate, index).isZero()
                   : distanceOf(*edge->access, index, candidate).isZero();
      });
    }
    if (exact > most) {
      best = candidate;
      most = exact;
    }
  }
  return best;
}

SmallVector<TimeAxes::Carried> TimeAxes::carriable(const Loop &loop) const {
  SmallVector<Carried> result;
  for (const Edge &edge : edges)
    for (unsigned time : candidates(edge.reader, loop.extent))
      for (unsigned axis : candidates(edge.target, loop.extent))
        if ((edge.reader != edge.target || time == axis) &&
            distanceOf(*edge.access, time, axis).carried(loop.reverse))
          result.push_back({&edge, time, axis});
  return result;
}

bool TimeAxes::find(Loop &loop, ArrayRef<Operation *> first,
                    const Carried *carried) {
  conflict.reset();
  Domains domains;
  for (Operation *op : ops) {
    domains[op] = candidates(op, loop.extent);
    if (domains[op].empty())
      return false;
  }
  if (carried) {
    domains[carried->edge->reader] = {carried->time};
    domains[carried->edge->target] = {carried->axis};
  }
  if (!narrow(domains, loop.reverse))
    return false;
  // Breadth first from the consumers: an op takes its time from its readers.
  SmallVector<Operation *> order(first);
  llvm::DenseSet<Operation *> seen(first.begin(), first.end());
  size_t next = 0;
  auto follow = [&] {
    for (; next < order.size(); ++next)
      for (const Edge *edge : edgesOf[order[next]])
        if (edge->reader == order[next] && seen.insert(edge->target).second)
          order.push_back(edge->target);
  };
  follow();
  for (Operation *op : ops)
    if (seen.insert(op).second) {
      order.push_back(op);
      follow();
    }
  for (Operation *op : order) {
    if (domains[op].size() == 1)
      continue;
    domains[op] = {best(op, domains)};
    if (!narrow(domains, loop.reverse))
      return false;
  }
  for (Operation *op : ops)
    loop.time[op] = domains[op].front();
  return true;
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

SmallVector<Edge> schedule::edgesWithin(const Graph &graph,
                                        ArrayRef<Operation *> ops,
                                        ArrayRef<const Loop *> enclosing) {
  llvm::DenseSet<Operation *> members(ops.begin(), ops.end());
  SmallVector<Edge> edges;
  for (Operation *op : ops)
    for (const Edge &edge : graph.getReads(op))
      if (members.contains(edge.target) &&
          llvm::none_of(enclosing,
                        [&](const Loop *loop) { return loop->carries(edge); }))
        edges.push_back(edge);
  return edges;
}

/// The extents that a loop over `ops` could have, in order of appearance.
static llvm::SmallSetVector<Attribute, 4>
possibleExtents(ArrayRef<Operation *> ops) {
  llvm::SmallSetVector<Attribute, 4> extents;
  for (Operation *op : ops)
    for (auto [index, extent] : loopIndices(op))
      extents.insert(extent);
  return extents;
}

static bool hasLoop(ArrayRef<Step> steps) {
  return llvm::any_of(steps, [](const Step &step) { return bool(step.loop); });
}

/// The maximum number of variants of a loop over one extent.
static constexpr size_t maxTries = 16;

FailureOr<Step> schedule::planComponent(const Graph &graph,
                                        ArrayRef<Operation *> ops,
                                        ArrayRef<const Loop *> enclosing,
                                        bool report) {
  SmallVector<Edge> edges = edgesWithin(graph, ops, enclosing);
  if (ops.size() == 1 && edges.empty()) {
    Step step;
    step.op = ops.front();
    return step;
  }
  TimeAxes axes(ops, edges, enclosing);
  llvm::SmallSetVector<Attribute, 4> extents = possibleExtents(ops);
  std::unique_ptr<Loop> found;
  std::unique_ptr<Loop> failed;
  for (Attribute extent : extents) {
    // A nested length is known where its parent's index is.
    StringAttr parent = graph.getParent(extent);
    if (parent && llvm::none_of(enclosing, [&](const Loop *loop) {
          return loop->extent == parent;
        }))
      continue;
    bool isParent = llvm::any_of(extents, [&](Attribute other) {
      return graph.getParent(other) == extent;
    });
    /// Returns whether the loop is optimal: without loops inside.
    auto consider = [&](std::unique_ptr<Loop> loop) {
      bool advances = isParent || llvm::any_of(edges, [&](const Edge &edge) {
                        return loop->carries(edge);
                      });
      if (!advances)
        return false;
      SmallVector<const Loop *> inner(enclosing);
      inner.push_back(loop.get());
      auto body = planOps(graph, ops, inner, /*report=*/false);
      if (mlir::failed(body)) {
        if (!failed)
          failed = std::move(loop);
        return false;
      }
      loop->body = std::move(*body);
      bool parallelInside = !hasLoop(loop->body);
      if (parallelInside || !found)
        found = std::move(loop);
      return parallelInside;
    };
    auto loopOver = [&](bool reverse) {
      auto loop = std::make_unique<Loop>();
      loop->extent = extent;
      loop->reverse = reverse;
      return loop;
    };
    for (bool reverse : {false, true})
      if (auto loop = loopOver(reverse);
          axes.find(*loop, {}) && consider(std::move(loop)))
        break;
    if (found && !hasLoop(found->body))
      break;
    if (found)
      continue;
    // If ops have several indices of the extent, a loop along others of them
    // may carry something.
    std::set<std::vector<unsigned>> tried;
    for (bool reverse : {false, true}) {
      for (auto &carried : axes.carriable(*loopOver(reverse))) {
        auto loop = loopOver(reverse);
        if (tried.size() == maxTries || !axes.find(*loop, {}, &carried))
          continue;
        std::vector<unsigned> times = {reverse};
        for (auto [op, time] : loop->time)
          times.push_back(time);
        if (tried.insert(times).second && consider(std::move(loop)))
          break;
      }
      if (found && !hasLoop(found->body))
        break;
    }
    if (found && !hasLoop(found->body))
      break;
  }
  if (found) {
    Step step;
    step.loop = std::move(found);
    return step;
  }
  if (!report)
    return failure();
  if (failed) {
    SmallVector<const Loop *> inner(enclosing);
    inner.push_back(failed.get());
    (void)planOps(graph, ops, inner, /*report=*/true);
  } else {
    reportCycle(graph, ops, enclosing);
  }
  return failure();
}

FailureOr<std::vector<Step>> schedule::planOps(const Graph &graph,
                                               ArrayRef<Operation *> ops,
                                               ArrayRef<const Loop *> enclosing,
                                               bool report) {
  llvm::DenseMap<Operation *, unsigned> number;
  for (auto [i, op] : llvm::enumerate(ops))
    number[op] = i;
  SmallVector<SmallVector<unsigned>> reads(ops.size());
  for (const Edge &edge : edgesWithin(graph, ops, enclosing))
    reads[number[edge.reader]].push_back(number[edge.target]);

  std::vector<Step> steps;
  bool failedOnce = false;
  for (ArrayRef<unsigned> component : orderedComponents(reads)) {
    SmallVector<Operation *> members;
    for (unsigned i : component)
      members.push_back(ops[i]);
    FailureOr<Step> step = planComponent(graph, members, enclosing, report);
    if (succeeded(step))
      steps.push_back(std::move(*step));
    else if (!report)
      return failure();
    else
      failedOnce = true;
  }
  if (failedOnce)
    return failure();
  return steps;
}

SmallVector<ChoiceOp> schedule::generatedNames(SystemOp system) {
  SmallVector<ChoiceOp> choices;
  for (auto choice : system.getOps<ChoiceOp>())
    if (choice.getResult() && !choice.getLatent())
      choices.push_back(choice);
  return choices;
}

FailureOr<Plan> schedule::makePlan(const Graph &graph) {
  SmallVector<ChoiceOp> choices = generatedNames(graph.getSystem());
  llvm::erase_if(choices,
                 [&](ChoiceOp choice) { return !graph.isLive(choice); });
  if (!choices.empty())
    return planDecoder(graph, choices);
  auto steps = planOps(graph, graph.getNodes(), {}, /*report=*/true);
  if (failed(steps))
    return failure();
  Plan plan;
  plan.steps = std::move(*steps);
  return plan;
}
