//===- Cycles.cpp - why no loop computes a cycle --------------------------===//
//
// Diagnoses recurrences without an order: both a past and a future, an equation
// that needs itself at the same place, or a read of the whole. Also diagnoses
// an equation whose gradient alone has no order.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Plan.h"

#include <queue>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

SmallVector<Operation *>
schedule::shortestPath(ArrayRef<Edge> edges, Operation *from, Operation *to) {
  llvm::MapVector<Operation *, SmallVector<Operation *>> reads;
  for (const Edge &edge : edges)
    reads[edge.reader].push_back(edge.target);
  llvm::DenseMap<Operation *, Operation *> reachedFrom = {{from, nullptr}};
  std::queue<Operation *> work;
  work.push(from);
  while (!work.empty() && !(work.front() == to && from != to)) {
    Operation *op = work.front();
    work.pop();
    for (Operation *next : reads[op])
      if (reachedFrom.try_emplace(next, op).second)
        work.push(next);
  }
  SmallVector<Operation *> path;
  for (Operation *op = to; op; op = reachedFrom.lookup(op))
    path.push_back(op);
  std::reverse(path.begin(), path.end());
  return path;
}

/// `path` without ops that carry the name of the op before or of the first.
static SmallVector<Operation *> named(const Graph &graph,
                                      ArrayRef<Operation *> path) {
  SmallVector<Operation *> result;
  for (Operation *op : path)
    if (result.empty() || (graph.getName(op) != graph.getName(result.back()) &&
                           graph.getName(op) != graph.getName(result.front())))
      result.push_back(op);
  return result;
}

/// `a`, `a and b`, `a, b and c`.
static std::string enumeration(ArrayRef<std::string> parts) {
  std::string text;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (i > 0)
      text += i + 1 == parts.size() ? " and " : ", ";
    text += part;
  }
  return text;
}

/// A named op of the cycle, if there is one.
static Operation *spokesman(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (!Graph::ownName(op).empty())
      return op;
  return ops.front();
}

/// `'a' is defined by itself through b (line 12) and c (line 13) at the same
/// t`.
static void reportSelf(const Graph &graph, ArrayRef<Operation *> ops,
                       ArrayRef<Edge> edges, StringRef index) {
  Operation *first = spokesman(ops);
  // The shortest way back to it.
  SmallVector<Operation *> cycle;
  for (const Edge &edge : edges) {
    if (edge.reader != first)
      continue;
    SmallVector<Operation *> path = shortestPath(edges, edge.target, first);
    if (cycle.empty() || path.size() < cycle.size())
      cycle = path;
  }
  cycle.insert(cycle.begin(), first);
  SmallVector<Operation *> through = named(graph, cycle);
  SmallVector<std::string> names;
  for (Operation *op : llvm::drop_begin(through))
    names.push_back(nameAndLine(graph, op));
  InFlightDiagnostic error = emitError(graph.getPlace(first))
                             << quotedName(graph, first)
                             << " is defined by itself";
  if (!names.empty())
    error << " through " << enumeration(names);
  if (!index.empty() && !isMadeUp(index))
    error << " at the same " << index;
  for (Operation *op : llvm::drop_begin(through))
    error.attachNote(graph.getPlace(op))
        << quotedName(graph, op) << " is defined here";
}

/// A read with a constant offset, on one side, along an axis of `extent`.
static std::optional<std::pair<Edge, unsigned>>
readAtOffset(ArrayRef<Edge> edges, Attribute extent, bool past) {
  for (const Edge &edge : edges)
    for (auto [index, range] : loopIndices(edge.reader)) {
      if (range != extent)
        continue;
      for (auto [axis, size] : loopIndices(edge.target)) {
        Distance distance = distanceOf(*edge.access, index, axis);
        if (size == extent && distance.isConstant() &&
            edge.access->indices[axis].kind == AccessIndex::Iterator &&
            (past ? distance.max < 0 : distance.min > 0))
          return std::pair(edge, axis);
      }
    }
  return std::nullopt;
}

/// `'s' reads its past (s[t-1], line 20) and its future (s[t+1], line 24)`.
static bool reportBothWays(const Graph &graph, ArrayRef<Operation *> ops,
                           ArrayRef<Edge> edges, Attribute extent) {
  auto past = readAtOffset(edges, extent, true);
  auto future = readAtOffset(edges, extent, false);
  if (!past || !future)
    return false;
  auto where = [&](const std::pair<Edge, unsigned> &read) {
    std::string text = readText(graph, read.first, read.second);
    if (unsigned line =
            lineOf(graph.getPlace(read.first.reader, read.first.access->read)))
      text += ", line " + std::to_string(line);
    return text;
  };
  Operation *reader = past->first.reader;
  const AccessIndex &index = past->first.access->indices[past->second];
  InFlightDiagnostic error =
      emitError(graph.getPlace(reader))
      << quotedName(graph, reader) << " reads its past (" << where(*past)
      << ") and its future (" << where(*future) << "): no order of "
      << indexName(reader, index.iterator) << " computes both";
  error.attachNote(
      graph.getPlace(future->first.reader, future->first.access->read))
      << "the future is read here";
  return true;
}

static bool isComputed(const Access &access) {
  return llvm::any_of(access.indices, [](const AccessIndex &index) {
    return index.kind == AccessIndex::Computed;
  });
}

/// `'a' reads all of y, which is computed from 'a' itself: a -> y -> c -> a`.
static void reportWhole(const Graph &graph, ArrayRef<Edge> edges,
                        const Edge &edge) {
  SmallVector<Operation *> cycle =
      shortestPath(edges, edge.target, edge.reader);
  cycle.insert(cycle.begin(), edge.reader);
  std::string reader = graph.getText(edge.reader);
  std::string text = reader, last = reader;
  for (Operation *op : llvm::drop_begin(cycle))
    if (std::string name = graph.getText(op); name != last) {
      text += " -> " + name;
      last = name;
    }
  bool computed = isComputed(*edge.access);
  InFlightDiagnostic error =
      emitError(graph.getPlace(edge.reader, edge.access->read));
  std::string read = readText(
      graph, edge,
      edge.access->indices.empty() ? 0 : edge.access->indices.size() - 1);
  error << "'" << reader << "' reads ";
  if (!computed)
    error << "all of " << graph.getText(edge.target);
  else if (StringRef(read).contains(".."))
    error << graph.getText(edge.target) << " at a computed place";
  else
    error << read;
  error << ", which is computed from '" << reader << "' itself";
  if (text != reader)
    error << ": " << text;
  error.attachNote(graph.getPlace(edge.target))
      << "'" << graph.getText(edge.target) << "' is defined here";
}

/// The equations have an order, but those of their gradient have none:
/// `'a' has no gradient: ..`. What flows back runs against the reads.
static void reportGradient(const Graph &graph, ArrayRef<Operation *> ops,
                           const std::optional<Edge> &conflict) {
  Operation *op = conflict ? conflict->target : spokesman(ops);
  std::string name = graph.getText(op);
  InFlightDiagnostic error = emitError(graph.getPlace(op));
  error << "'" << name << "' has no gradient: ";
  if (!conflict) {
    error << "no order of its places computes what flows back through it";
    return;
  }
  std::string read = graph.getText(conflict->reader);
  error << "it reads " << (name == read ? "itself" : read)
        << (isComputed(*conflict->access) ? " at a computed place"
                                          : " at more than one place")
        << ", and no order computes what flows back; help: read it at an index "
           "of "
           "its own, with a condition, for example "
        << read << "[u] where u < t";
  if (name != read)
    error.attachNote(graph.getPlace(conflict->reader))
        << "'" << read << "' is defined here";
}

void schedule::reportCycle(const Graph &graph, ArrayRef<Operation *> ops,
                           ArrayRef<const Loop *> enclosing) {
  SmallVector<Edge> edges = edgesWithin(graph, ops, enclosing);
  TimeAxes axes(ops, edges, enclosing);
  llvm::SmallSetVector<Attribute, 4> extents;
  for (Operation *op : ops)
    for (auto [index, extent] : loopIndices(op))
      if (!axes.candidates(op, extent).empty())
        extents.insert(extent);
  // The axes of an equation precede those of its value: report the first
  // extent, unless another one is read in both directions.
  std::optional<Edge> conflict;
  std::optional<unsigned> sameIndex;
  Operation *first = spokesman(ops);
  for (Attribute extent : extents) {
    Loop loop;
    loop.extent = extent;
    bool possible = axes.find(loop, {});
    if (!possible && !isOfGradient(graph.getName(first)) &&
        reportBothWays(graph, ops, edges, extent))
      return;
    if (conflict || sameIndex)
      continue;
    if (possible)
      sameIndex = loop.getTime(first);
    else
      conflict = axes.conflict;
  }
  if (isOfGradient(graph.getName(first)))
    return reportGradient(graph, ops, conflict);
  if (conflict)
    return reportWhole(graph, edges, *conflict);
  // Some op of the cycle has no index to run along: it reads the whole.
  for (const Edge &edge : edges)
    for (auto [axis, extent] : loopIndices(edge.target))
      if (!sameIndex && isa<StringAttr>(extent) &&
          llvm::is_contained(axes.candidates(edge.target, extent), axis) &&
          axes.candidates(edge.reader, extent).empty())
        return reportWhole(graph, edges, edge);
  if (!sameIndex && !enclosing.empty())
    sameIndex = enclosing.back()->getTime(first);
  reportSelf(graph, ops, edges, sameIndex ? indexName(first, *sameIndex) : "");
}
