//===- Search.cpp - what a generated name is computed from ----------------===//
//
// Plans graphs with generated names. The dependences of a choice, and what
// depends on it, form the step of a search. Independent ops come before it (the
// encoder), ops that no choice needs come after. The index of the generated
// name is the outermost loop, upwards: reads of ungenerated places are errors
// that name the equation.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Plan.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

/// The generated names of one index, and the ops computed with them.
struct Group {
  Attribute extent;
  bool open = false;
  SmallVector<Operation *> choices, marks;
  llvm::DenseSet<Operation *> needed;    // by the choices and marks
  llvm::DenseSet<Operation *> dependent; // on the choices
  SmallVector<Operation *> step;         // in source order
  llvm::DenseSet<Operation *> inStep;
};

class DecoderPlanner {
public:
  explicit DecoderPlanner(const Graph &graph) : graph(graph) {}

  FailureOr<Plan> plan(ArrayRef<ChoiceOp> choices);

private:
  void findGroups(ArrayRef<ChoiceOp> choices);
  void findStep(Group &group);
  LogicalResult checkLengths(const Group &group);
  LogicalResult checkOpenIndices(const Group &group, const Loop &loop);
  FailureOr<Step> planSearch(const Group &group);
  /// Reports that `edge` reads a place that is not generated yet.
  void reportRead(const Group &group, const Edge &edge);
  /// Reports that `op` uses the length of the group.
  void reportUse(const Group &group, Operation *op);
  /// Reports that two groups need each other; `between` belongs to both.
  void reportMutual(const Group &first, const Group &second,
                    Operation *between);
  void reportLength(const Group &group, Operation *op, const Twine &what);
  /// `: word reads y, which reads x, which reads word; help: ..`: the shortest
  /// chain of reads through `reader`, and on from `target`.
  std::string chainOf(const Group &group, Operation *reader,
                      Operation *target = nullptr);

  const Graph &graph;
  std::vector<Group> groups;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void DecoderPlanner::findGroups(ArrayRef<ChoiceOp> choices) {
  // A name that is read back needs the search. So does a name that a mark
  // judges step by step, and one whose length the search finds.
  llvm::DenseSet<Operation *> readBack, judged;
  SmallVector<SmallVector<unsigned>> reads(graph.getNodes().size());
  for (Operation *op : graph.getNodes())
    for (const Edge &edge : graph.getReads(op))
      reads[graph.getPosition(op)].push_back(graph.getPosition(edge.target));
  for (ArrayRef<unsigned> component : orderedComponents(reads))
    if (component.size() > 1)
      for (unsigned i : component)
        readBack.insert(graph.getNodes()[i]);

  SmallVector<Operation *> work;
  for (Operation *op : graph.getNodes())
    if (auto mark = dyn_cast<MarkOp>(op);
        mark && mark.getValue().getType().getRank() > 0)
      work.push_back(op);
  while (!work.empty())
    for (const Edge &edge : graph.getReads(work.pop_back_val()))
      if (judged.insert(edge.target).second)
        work.push_back(edge.target);

  for (ChoiceOp choice : choices) {
    ArrayRef<Attribute> shape =
        cast<ArrayType>(choice.getResult().getType()).getShape().getValue();
    const Attribute *open = llvm::find_if(
        shape, [&](Attribute extent) { return graph.isOpen(extent); });
    bool isOpen = open != shape.end();
    if (shape.empty() ||
        (!isOpen && !readBack.contains(choice) && !judged.contains(choice)))
      continue;
    Attribute extent = isOpen ? *open : shape.front();
    auto group = llvm::find_if(
        groups, [&](const Group &group) { return group.extent == extent; });
    if (group == groups.end()) {
      groups.emplace_back();
      groups.back().extent = extent;
      groups.back().open = isOpen;
      group = std::prev(groups.end());
    }
    group->choices.push_back(choice);
  }
}

void DecoderPlanner::findStep(Group &group) {
  for (Operation *op : graph.getNodes())
    if (auto mark = dyn_cast<MarkOp>(op);
        mark &&
        llvm::is_contained(mark.getValue().getType().getShape(), group.extent))
      group.marks.push_back(op);

  SmallVector<Operation *> work(group.choices);
  group.dependent.insert(work.begin(), work.end());
  while (!work.empty())
    for (const Edge &edge : graph.getReaders(work.pop_back_val()))
      if (group.dependent.insert(edge.reader).second)
        work.push_back(edge.reader);

  llvm::append_range(work, group.choices);
  llvm::append_range(work, group.marks);
  group.needed.insert(work.begin(), work.end());
  while (!work.empty())
    for (const Edge &edge : graph.getReads(work.pop_back_val()))
      if (group.needed.insert(edge.target).second)
        work.push_back(edge.target);

  for (Operation *op : graph.getNodes()) {
    if (!group.needed.contains(op) || isa<DataOp, ParamOp>(op))
      continue;
    auto hasAxis = [&](Value value) {
      return llvm::any_of(cast<ArrayType>(value.getType()).getShape(),
                          [&](Attribute extent) {
                            return graph.derivesFrom(extent, group.extent);
                          });
    };
    // The length of an open axis is unknown before the search.
    if (group.dependent.contains(op) || isa<MarkOp>(op) ||
        (group.open && llvm::any_of(op->getResults(), hasAxis)))
      group.step.push_back(op);
  }
  group.inStep.insert(group.step.begin(), group.step.end());
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static StringRef verbOf(Operation *op) {
  auto compute = dyn_cast<ComputeOp>(op);
  switch (compute ? compute.getReducer() : Reducer::none) {
  case Reducer::mean:
    return "averages over";
  case Reducer::sum:
    return "sums over";
  case Reducer::prod:
    return "multiplies over";
  case Reducer::max:
  case Reducer::argmax:
    return "takes the largest of";
  case Reducer::min:
  case Reducer::argmin:
    return "takes the smallest of";
  case Reducer::softmax:
  case Reducer::log_softmax:
    return "normalises over";
  default:
    return "reads";
  }
}

/// `'tgt' (line 18)`.
static std::string quoted(const Graph &graph, Operation *op) {
  std::string text = "'" + graph.getText(op) + "'";
  if (unsigned line = lineOf(graph.getPlace(op)))
    text += " (line " + std::to_string(line) + ")";
  return text;
}

/// `decoding: 'bias' (line 18)`.
static InFlightDiagnostic decodingError(const Graph &graph, Operation *op) {
  InFlightDiagnostic error = emitError(graph.getPlace(op, op));
  error << "decoding: " << quoted(graph, op);
  return error;
}

void DecoderPlanner::reportMutual(const Group &first, const Group &second,
                                  Operation *between) {
  Operation *a = first.choices.front(), *b = second.choices.front();
  InFlightDiagnostic error = decodingError(graph, a);
  error << ", generated along " << extentText(first.extent) << ", and "
        << quoted(graph, b) << ", generated along " << extentText(second.extent)
        << ", need each other, so that neither can be generated first";
  if (between != a && between != b)
    error.attachNote(graph.getPlace(between, between))
        << "'" << graph.getText(between) << "' depends on both, and both on it";
}

/// Returns whether `reader` reads places of the search that values choose, as
/// h[at[t]] does.
static bool readsChosenPlaces(const Graph &graph, Operation *reader,
                              Attribute length) {
  auto isChosen = [](Value place) {
    llvm::SetVector<Value> values;
    values.insert(place);
    for (size_t i = 0; i < values.size(); ++i)
      if (Operation *def = values[i].getDefiningOp()) {
        if (isa<ReadOp>(def))
          return true;
        values.insert(def->operand_begin(), def->operand_end());
      }
    return false;
  };
  return llvm::any_of(graph.getAccesses(reader), [&](const Access &access) {
    auto shape = cast<ArrayType>(access.array.getType()).getShape();
    return llvm::any_of(llvm::zip(access.indices, shape), [&](auto axis) {
      auto [index, extent] = axis;
      return index.kind == AccessIndex::Computed && index.expression &&
             graph.derivesFrom(extent, length) && isChosen(index.expression);
    });
  });
}

/// Returns whether `op` gives a number that conditions read, as those of arrays
/// over a length that follows from values.
static bool isLength(const Graph &graph, Operation *op) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute || compute.getType().getRank() != 0 ||
      !compute.getType().getElementType().isInteger(64))
    return false;
  return llvm::any_of(graph.getReaders(op), [&](const Edge &edge) {
    auto reader = dyn_cast<ComputeOp>(edge.reader);
    if (!reader || !reader.hasCondition())
      return false;
    return reader.getCondition()
        .walk([&](ReadOp read) {
          return read.getArray() == compute.getResult()
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

/// `sum[s where s <= t](..)`: what to write for a reduction over all places of
/// a length, so that step `t` reads only what it has. Empty for another op.
static std::string prefixForm(Operation *op, Attribute length,
                              ChoiceOp choice) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute || compute.getReducer() == Reducer::none)
    return "";
  unsigned parallel = compute.getNumParallel();
  ArrayRef<Attribute> extents = compute.getExtents().getValue();
  std::string time, reduced;
  for (auto [i, extent] : llvm::enumerate(extents))
    if (std::string &name = i < parallel ? time : reduced;
        extent == length && name.empty())
      name = indexName(op, i);
  if (compute.getReducer() == Reducer::cumsum) {
    std::string other = reduced == "s" ? "u" : "s";
    return reduced.empty() ? ""
                           : "sum[" + other + " where " + other +
                                 " <= " + reduced + "](..)";
  }
  if (time.empty())
    time = indexName(choice, 0);
  if (reduced.empty() || time == reduced)
    return "";
  return stringifyReducer(compute.getReducer()).str() + "[" + reduced +
         " where " + reduced + " <= " + time + "](..)";
}

std::string DecoderPlanner::chainOf(const Group &group, Operation *reader,
                                    Operation *target) {
  SmallVector<Edge> edges;
  for (Operation *op : group.needed)
    llvm::append_range(edges, graph.getReads(op));
  auto shortest = [&](auto pathTo) {
    SmallVector<Operation *> best;
    for (Operation *choice : group.choices)
      if (SmallVector<Operation *> path = pathTo(choice);
          best.empty() || path.size() < best.size())
        best = path;
    return best;
  };
  SmallVector<Operation *> chain = shortest(
      [&](Operation *choice) { return shortestPath(edges, choice, reader); });
  if (target)
    llvm::append_range(chain, shortest([&](Operation *choice) {
                         return shortestPath(edges, target, choice);
                       }));
  std::string text, last;
  for (Operation *op : chain) {
    std::string name = graph.getText(op);
    if (name.empty() || name == last)
      continue;
    text += (last.empty()          ? ": "
             : text == ": " + last ? " reads "
                                   : ", which reads ") +
            name;
    last = name;
  }
  if (text == ": " + last)
    text = "";
  std::string name = graph.getText(reader);
  bool counts = llvm::any_of(graph.getNodes(), [&](Operation *op) {
    return graph.getText(op) == name && isLength(graph, op);
  });
  std::string prefix =
      prefixForm(reader, group.extent, cast<ChoiceOp>(group.choices.front()));
  text +=
      counts || readsChosenPlaces(graph, reader, group.extent)
          ? "; help: instead of numbering values, keep them from step to "
            "step: z[t] = if cut[t] then .. else z[t-1]"
      : prefix.empty()
          ? "; help: read only what is generated by then, for example where "
            "u <= t"
          : "; help: read only what is generated by then: " + prefix;
  // What is generated has no equation, and a length follows from what it reads.
  bool isGenerated = llvm::any_of(group.choices, [&](Operation *choice) {
    return graph.getText(choice) == name;
  });
  return isGenerated || counts
             ? text
             : text + ", or replace '" + name + "' in decoding: decode { set " +
                   name + " = .. }";
}

void DecoderPlanner::reportLength(const Group &group, Operation *op,
                                  const Twine &what) {
  decodingError(graph, op) << " " << what << ", whose length "
                           << extentText(group.extent)
                           << " is known only at the end" << chainOf(group, op);
}

void DecoderPlanner::reportRead(const Group &group, const Edge &edge) {
  // The index of the step, as the reader calls it.
  std::string time = indexName(group.choices.front(), 0);
  for (auto [index, extent] : loopIndices(edge.reader))
    if (extent == group.extent) {
      time = indexName(edge.reader, index);
      break;
    }
  for (auto [axis, extent] : loopIndices(edge.target)) {
    if (extent != group.extent)
      continue;
    const AccessIndex &index = edge.access->indices[axis];
    bool isFuture = index.kind == AccessIndex::Iterator && index.offset > 0 &&
                    llvm::is_contained(loopIndices(edge.reader),
                                       std::pair(index.iterator, extent));
    std::string text = readText(graph, edge, axis);
    bool isSum =
        index.kind == AccessIndex::Computed && !StringRef(text).contains("..");
    if (!isFuture && !isSum)
      continue;
    decodingError(graph, edge.reader)
        << " reads " << text << ", which is not generated yet at step " << time
        << chainOf(group, edge.reader, edge.target);
    return;
  }
  // Ops derived only for the reader have no name of their own.
  StringRef name = Graph::ownName(edge.target);
  if (name.empty())
    name = graph.getName(edge.target);
  if (name.empty() || name == graph.getName(edge.reader))
    name = Graph::ownName(group.choices.front());
  bool hasTime = llvm::any_of(loopIndices(edge.reader), [&](auto index) {
    return index.second == group.extent;
  });
  if (group.open && !hasTime)
    return reportLength(group, edge.reader,
                        verbOf(edge.reader) + " all of " + writtenName(name));
  decodingError(graph, edge.reader)
      << " reads all of " << writtenName(name)
      << ", which is not generated yet at step " << time
      << chainOf(group, edge.reader, edge.target);
}

//===----------------------------------------------------------------------===//
// One search
//===----------------------------------------------------------------------===//

/// Whether an axis of `extent` has in each step of a search over `length` the
/// places so far.
static bool endsAtStep(const Graph &graph, Attribute extent, Attribute length) {
  return extent == length || prefixedLength(graph, extent, length);
}

/// Returns whether an op needs a length, as the extent of an axis or as a
/// number. With `exact`, axes of that very length count, and axes that are
/// longer by the given part: in a step they end at the step.
static bool usesLength(const Graph &graph, Operation *op, Attribute length,
                       bool exact) {
  auto counts = [&](Attribute extent) {
    return graph.derivesFrom(extent, length) &&
           (exact || !endsAtStep(graph, extent, length));
  };
  auto hasAxis = [&](Value value) {
    auto type = dyn_cast<ArrayType>(value.getType());
    return type && llvm::any_of(type.getShape(), counts);
  };
  if (llvm::any_of(op->getOperands(), hasAxis) ||
      llvm::any_of(op->getResults(), hasAxis))
    return true;
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return false;
  bool asNumber = false;
  compute->walk([&](ExtentOp extent) {
    asNumber |= !extent->use_empty() &&
                graph.derivesFrom(extent.getLengthAttr(), length);
  });
  return asNumber || llvm::any_of(compute.getExtents(), counts);
}

/// Refuses uses of a length that is known only at the end.
LogicalResult DecoderPlanner::checkLengths(const Group &group) {
  for (Operation *op : group.step)
    if (group.open && usesLength(graph, op, group.extent, /*exact=*/false)) {
      reportUse(group, op);
      return failure();
    }
  return success();
}

void DecoderPlanner::reportUse(const Group &group, Operation *op) {
  decodingError(graph, op) << " uses the length " << extentText(group.extent)
                           << ", which is known only at the end"
                           << chainOf(group, op);
}

/// Whether the last index of `op`, over which it reduces, stays at or before
/// `time` wherever it counts.
static bool staysBehind(const Graph &graph, ComputeOp op, unsigned index,
                        unsigned time) {
  if (largestDifference(op, index, time) <= 0)
    return true;
  if (!llvm::is_contained({Reducer::sum, Reducer::any}, op.getReducer()))
    return false;
  // A sum may say it inside: `if u <= t then x[u] else 0`.
  bool reads = false;
  for (const Access &access : graph.getAccesses(op))
    for (const AccessIndex &at : access.indices)
      if (at.kind == AccessIndex::Iterator && at.iterator == index) {
        reads = true;
        if (largestDifference(access, index, time) > 0)
          return false;
      }
  return reads;
}

/// Inside a step an index over an open length ends at the step: refuses ops
/// that would count or read further where the length is known.
LogicalResult DecoderPlanner::checkOpenIndices(const Group &group,
                                               const Loop &loop) {
  for (Operation *op : group.step) {
    unsigned time = loop.getTime(op);
    if (auto compute = dyn_cast<ComputeOp>(op))
      for (unsigned i = compute.getNumParallel(); i < compute.getNumIndices();
           ++i)
        if (endsAtStep(graph, compute.getExtents()[i], group.extent) &&
            !staysBehind(graph, compute, i, time)) {
          reportLength(group, op, verbOf(op) + " every " + indexName(op, i));
          return failure();
        }
    for (const Edge &edge : graph.getReads(op)) {
      if (!group.inStep.contains(edge.target))
        continue;
      // A row of an earlier step has only the places up to that step.
      int64_t last = std::min<int64_t>(loop.distance(edge).max, 0);
      auto shape = cast<ArrayType>(edge.access->array.getType()).getShape();
      for (auto [axis, extent] : llvm::enumerate(shape)) {
        const AccessIndex &index = edge.access->indices[axis];
        if (!endsAtStep(graph, extent, group.extent) ||
            axis == loop.getTime(edge.target) ||
            index.kind != AccessIndex::Iterator)
          continue;
        Distance distance = distanceOf(*edge.access, time, axis);
        // No state has an axis that begins with the given part.
        bool isState = extent != group.extent && !loop.distance(edge).isZero();
        if (!isState &&
            (distance.max <= last || (last == 0 && index.offset <= 0)))
          continue;
        decodingError(graph, op)
            << " reads " << readText(graph, edge, axis) << " for every "
            << indexName(op, index.iterator)
            << ", which is not generated yet at step " << indexName(op, time)
            << chainOf(group, op, edge.target);
        return failure();
      }
    }
  }
  return success();
}

/// A read of `op` that looks ahead whatever index of the op is the time.
static std::optional<Edge> findImpossible(Operation *op, ArrayRef<Edge> edges,
                                          const TimeAxes &axes,
                                          Attribute extent) {
  std::optional<Edge> first;
  SmallVector<unsigned> times = axes.candidates(op, extent);
  for (unsigned time : times) {
    std::optional<Edge> wrong;
    for (const Edge &edge : edges) {
      if (edge.reader != op)
        continue;
      SmallVector<unsigned> targets = axes.candidates(edge.target, extent);
      if (targets.empty() || llvm::any_of(targets, [&](unsigned axis) {
            return distanceOf(*edge.access, time, axis).allowed(false);
          }))
        continue;
      wrong = edge;
      break;
    }
    if (!wrong)
      return std::nullopt;
    if (!first)
      first = wrong;
  }
  if (!times.empty())
    return first;
  for (const Edge &edge : edges)
    if (edge.reader == op && !axes.candidates(edge.target, extent).empty())
      return edge;
  return std::nullopt;
}

FailureOr<Step> DecoderPlanner::planSearch(const Group &group) {
  if (failed(checkLengths(group)))
    return failure();
  auto loop = std::make_unique<Loop>();
  loop->extent = group.extent;
  loop->search = true;
  SmallVector<Edge> edges = edgesWithin(graph, group.step, {});
  TimeAxes axes(group.step, edges, {});
  SmallVector<Operation *> first(group.choices);
  llvm::append_range(first, group.marks);

  if (!axes.find(*loop, first)) {
    // An op with an error of its own explains more than the read that failed
    // last.
    std::optional<Edge> wrong = axes.conflict;
    for (Operation *op : group.step)
      if (auto edge = findImpossible(op, edges, axes, group.extent)) {
        wrong = edge;
        break;
      }
    if (wrong) {
      reportRead(group, *wrong);
      return failure();
    }
    // An op without a time that reads nothing of the step runs over all of it.
    for (Operation *op : group.step)
      if (axes.candidates(op, group.extent).empty()) {
        reportLength(group, op, verbOf(op) + " every place");
        return failure();
      }
    decodingError(graph, group.choices.front())
        << " needs at a step what is known only after it";
    return failure();
  }
  if (group.open && failed(checkOpenIndices(group, *loop)))
    return failure();
  auto body = planOps(graph, group.step, {loop.get()}, /*report=*/true);
  if (failed(body))
    return failure();
  loop->body = std::move(*body);
  moveMarks(graph, *loop, loop->body);
  Step step;
  step.loop = std::move(loop);
  return step;
}

//===----------------------------------------------------------------------===//
// The whole graph
//===----------------------------------------------------------------------===//

FailureOr<Plan> DecoderPlanner::plan(ArrayRef<ChoiceOp> choices) {
  findGroups(choices);
  llvm::DenseMap<Operation *, const Group *> groupOf;
  Plan result;
  for (Group &group : groups) {
    findStep(group);
    result.generated.insert(group.dependent.begin(), group.dependent.end());
    for (Operation *op : group.step)
      if (auto [it, isNew] = groupOf.try_emplace(op, &group); !isNew) {
        reportMutual(*it->second, group, op);
        return failure();
      }
  }

  // The ops of a step count as one node, at the place of the first.
  llvm::DenseMap<const Group *, unsigned> placeOf;
  SmallVector<unsigned> place;
  for (Operation *op : graph.getNodes()) {
    const Group *group = groupOf.lookup(op);
    unsigned own = graph.getPosition(op);
    place.push_back(group ? placeOf.try_emplace(group, own).first->second
                          : own);
  }
  SmallVector<SmallVector<unsigned>> reads(place.size());
  for (Operation *op : graph.getNodes()) {
    // The length of a generated array is known after its search.
    for (const Group &group : groups)
      if (group.open && groupOf.lookup(op) != &group &&
          usesLength(graph, op, group.extent, /*exact=*/true))
        reads[place[graph.getPosition(op)]].push_back(
            place[graph.getPosition(group.step.front())]);
    for (const Edge &edge : graph.getReads(op)) {
      unsigned from = place[graph.getPosition(op)];
      unsigned to = place[graph.getPosition(edge.target)];
      if (from != to || !groupOf.contains(op))
        reads[from].push_back(to);
    }
  }

  bool failedOnce = false;
  for (ArrayRef<unsigned> component : orderedComponents(reads)) {
    SmallVector<Operation *> members;
    const Group *group = nullptr;
    for (unsigned i : component) {
      Operation *op = graph.getNodes()[i];
      if (place[i] != i)
        continue;
      members.push_back(op);
      if (groupOf.contains(op))
        group = groupOf.lookup(op);
    }
    if (members.empty())
      continue;
    if (!group) {
      FailureOr<Step> step = planComponent(graph, members, {}, true);
      if (succeeded(step))
        result.steps.push_back(std::move(*step));
      failedOnce |= failed(step);
      continue;
    }
    // An input of the step is computed from all of the step.
    for (Operation *op : members) {
      if (group->inStep.contains(op))
        continue;
      for (const Edge &edge : graph.getReads(op))
        if (group->inStep.contains(edge.target)) {
          reportRead(*group, edge);
          return failure();
        }
      if (usesLength(graph, op, group->extent, /*exact=*/true)) {
        reportUse(*group, op);
        return failure();
      }
    }
    FailureOr<Step> step = planSearch(*group);
    if (succeeded(step))
      result.steps.push_back(std::move(*step));
    failedOnce |= failed(step);
  }
  if (failedOnce)
    return failure();
  return result;
}

FailureOr<Plan> schedule::planDecoder(const Graph &graph,
                                      ArrayRef<ChoiceOp> choices) {
  return DecoderPlanner(graph).plan(choices);
}
