//===- Explain.cpp - the schedule in words --------------------------------===//
//
// Prints plans by the names of equations: the scheduler's decisions. Decides
// nothing: the plan of each system is recomputed.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Explain.h"
#include "passes/derive/Derive.h"
#include "passes/schedule/Plan.h"

#include <queue>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

class Explanation {
public:
  Explanation(const Graph &graph, const Plan &plan,
              ArrayRef<UnreadEquation> unread, llvm::raw_ostream &out)
      : graph(graph), plan(plan), unread(unread), out(out) {}

  void print();

private:
  using Names = llvm::SmallSetVector<StringRef, 8>;

  void printSteps(ArrayRef<Step> steps, unsigned depth);
  void printLoop(const Loop &loop, unsigned depth);
  void printStates(const Loop &loop, unsigned depth);
  void printWindows(unsigned depth, StringRef title,
                    const llvm::MapVector<StringRef, int64_t> &windows);
  void printCycle(const Loop &loop, unsigned depth);
  /// Equations around a loop that could be in it but are not.
  void printNeighbours(const Loop &loop, unsigned depth);
  void printList(unsigned depth, StringRef title, const Names &names);
  Names namesOf(ArrayRef<Operation *> ops) const;
  llvm::raw_ostream &line(unsigned depth) { return out.indent(2 * depth); }

  const Graph &graph;
  const Plan &plan;
  ArrayRef<UnreadEquation> unread;
  llvm::raw_ostream &out;
  Names looped; // equations that a loop computes, in part at least
};

} // namespace

/// Inputs and results are not computations.
static bool isComputed(Operation *op) {
  return !isa<DataOp, ParamOp, OutputOp>(op);
}

Explanation::Names Explanation::namesOf(ArrayRef<Operation *> ops) const {
  Names names;
  for (Operation *op : ops)
    if (isComputed(op) && !graph.getName(op).empty())
      names.insert(graph.getName(op));
  return names;
}

void Explanation::printList(unsigned depth, StringRef title,
                            const Names &names) {
  if (names.empty())
    return;
  line(depth) << title << ": ";
  llvm::interleaveComma(names, out);
  out << "\n";
}

void Explanation::print() {
  out << "@" << graph.getSystem().getSymName() << "\n";
  for (const Step &step : plan.steps)
    if (step.loop)
      for (auto [op, time] : step.loop->time)
        looped.insert(graph.getName(op));
  printSteps(plan.steps, 1);
  StringRef separator = "dead: ";
  auto printDead = [&](StringRef name, unsigned place) {
    if (separator.starts_with("d"))
      line(1);
    out << separator << name;
    if (place)
      out << " (line " << place << ")";
    separator = ", ";
  };
  for (const UnreadEquation &equation : unread)
    printDead(equation.name, equation.line);
  for (Operation *op : graph.getDead())
    if (StringRef name = Graph::ownName(op); !name.empty())
      printDead(name, lineOf(graph.getPlace(op)));
  if (separator.starts_with(","))
    out << "\n";
}

/// Ops between two loops are one line.
void Explanation::printSteps(ArrayRef<Step> steps, unsigned depth) {
  SmallVector<Operation *> together;
  auto flush = [&] {
    Names whole, parts;
    for (Operation *op : together) {
      StringRef name = graph.getName(op);
      if (!isComputed(op) || name.empty())
        continue;
      bool isPart = Graph::ownName(op).empty() && looped.contains(name);
      (isPart ? parts : whole).insert(name);
    }
    printList(depth, "parallel", whole);
    printList(depth, "parallel, for parts of", parts);
    together.clear();
  };
  for (const Step &step : steps) {
    if (!step.loop) {
      together.push_back(step.op);
      continue;
    }
    flush();
    printLoop(*step.loop, depth);
  }
  flush();
}

void Explanation::printLoop(const Loop &loop, unsigned depth) {
  SmallVector<Operation *> ops =
      llvm::to_vector(llvm::make_first_range(loop.time));
  line(depth) << (loop.search ? "search" : "loop") << " over "
              << extentText(loop.extent) << (loop.reverse ? ", down" : ", up")
              << (loop.search && !graph.isOpen(loop.extent)
                      ? ", of given length"
                      : "")
              << ": ";
  // An unnamed op may be named after a reader that follows the loop.
  SmallVector<Operation *> named;
  llvm::copy_if(ops, std::back_inserter(named),
                [](Operation *op) { return !Graph::ownName(op).empty(); });
  llvm::interleaveComma(namesOf(named.empty() ? ops : named), out);
  out << "\n";
  printCycle(loop, depth + 1);
  printNeighbours(loop, depth + 1);
  if (loop.search)
    printStates(loop, depth + 1);
  if (llvm::any_of(loop.body, [](const Step &step) { return bool(step.loop); }))
    printSteps(loop.body, depth + 1);
}

/// The shortest path from the loop's carry back to its reader.
void Explanation::printCycle(const Loop &loop, unsigned depth) {
  std::optional<std::string> best;
  size_t bestLength = 0;
  for (auto [op, time] : loop.time)
    for (const Edge &edge : graph.getReads(op)) {
      // The storage of a state is not a reason to keep it.
      if (!loop.contains(edge.target) || !loop.carries(edge) ||
          op->hasAttr("attn.state"))
        continue;
      llvm::DenseMap<Operation *, Operation *> from = {{edge.target, nullptr}};
      std::queue<Operation *> work;
      work.push(edge.target);
      while (!work.empty() && !from.contains(edge.reader)) {
        Operation *next = work.front();
        work.pop();
        for (const Edge &read : graph.getReads(next))
          if (loop.contains(read.target) && !loop.carries(read) &&
              from.try_emplace(read.target, next).second)
            work.push(read.target);
      }
      if (!from.contains(edge.reader))
        continue;
      std::string text = readText(graph, edge, loop.getTime(edge.target),
                                  /*asWritten=*/false);
      Names names;
      for (Operation *at = edge.reader; at; at = from.lookup(at))
        if (names.insert(graph.getName(at)))
          text += " -> " + nameAndLine(graph, at, /*asWritten=*/false);
      if (!best || names.size() < bestLength) {
        best = text;
        bestLength = names.size();
      }
    }
  if (best)
    line(depth) << "because: " << *best << "\n";
}

void Explanation::printNeighbours(const Loop &loop, unsigned depth) {
  Names inside = namesOf(llvm::to_vector(llvm::make_first_range(loop.time)));
  auto nameOf = [&](Operation *op) {
    std::string text = graph.getName(op).str();
    if (!inside.contains(text) || !Graph::ownName(op).empty())
      return text;
    // An op that was written inside an equation of the loop.
    text = "part of " + text;
    StringRef separator = " over ";
    for (auto [index, extent] : loopIndices(op)) {
      std::string name = indexName(op, index);
      if (!isa<ComputeOp>(op) || isMadeUp(name))
        continue;
      text += separator.str() + name;
      separator = ", ";
    }
    return text;
  };
  llvm::SmallSetVector<Operation *, 8> before, after;
  for (auto [op, time] : loop.time) {
    for (const Edge &edge : graph.getReads(op))
      if (!loop.contains(edge.target) && isComputed(edge.target))
        before.insert(edge.target);
    for (const Edge &edge : graph.getReaders(op))
      if (!loop.contains(edge.reader) && isComputed(edge.reader))
        after.insert(edge.reader);
  }
  for (auto [title, ops] :
       {std::pair("hoisted", &before), std::pair("sunk", &after)}) {
    llvm::SmallSetVector<Attribute, 8> names;
    for (Operation *op : *ops)
      names.insert(StringAttr::get(op->getContext(), nameOf(op)));
    if (names.empty())
      continue;
    line(depth) << title << ": ";
    llvm::interleaveComma(names, out, [&](Attribute name) {
      out << cast<StringAttr>(name).getValue();
    });
    out << "\n";
  }
}

/// `title: s (last 1), ks (last 3)`.
void Explanation::printWindows(
    unsigned depth, StringRef title,
    const llvm::MapVector<StringRef, int64_t> &windows) {
  if (windows.empty())
    return;
  line(depth) << title << ": ";
  llvm::interleaveComma(windows, out, [&](auto &window) {
    out << window.first << " (last " << window.second << ")";
  });
  out << "\n";
}

void Explanation::printStates(const Loop &loop, unsigned depth) {
  llvm::MapVector<StringRef, int64_t> carried, windows;
  Names growing, accumulators, reordered;
  auto keep = [&](Operation *op) {
    StringRef name = graph.getName(op);
    if (plan.generated.contains(op))
      reordered.insert(name);
    return name;
  };
  for (auto [op, time] : loop.time) {
    auto state = op->getAttrOfType<StringAttr>("attn.state");
    if (state && state.getValue() == "window")
      windows[keep(op)] =
          cast<IntegerAttr>(cast<ComputeOp>(op).getExtents()[time + 1])
              .getInt();
    else if (state)
      accumulators.insert(keep(op));
  }
  for (auto [op, time] : loop.time)
    for (const Edge &edge : graph.getReads(op)) {
      Operation *target = edge.target;
      if (!loop.contains(target) || target->hasAttr("attn.state"))
        continue;
      const AccessIndex &index = edge.access->indices[loop.getTime(target)];
      if (index.kind != AccessIndex::Iterator || index.iterator != time) {
        growing.insert(keep(target));
      } else if (index.offset != 0) {
        int64_t &window = carried[keep(target)];
        window = std::max(window, std::abs(index.offset));
      }
    }
  SmallVector<Operation *> before, inside;
  for (Operation *op : graph.getNodes())
    if (loop.contains(op))
      inside.push_back(op);
    else if (!plan.generated.contains(op))
      before.push_back(op);
  Names temporary;
  for (StringRef name : namesOf(inside))
    if (!carried.contains(name) && !windows.contains(name) &&
        !growing.contains(name) && !accumulators.contains(name))
      temporary.insert(name);
  printList(depth, "encoder", namesOf(before));
  printList(depth, "per step", temporary);
  printWindows(depth, "carried", carried);
  printWindows(depth, "window", windows);
  printList(depth, "growing", growing);
  printList(depth, "accumulator", accumulators);
  printList(depth, "reordered", reordered);
}

std::vector<UnreadEquation>
fovea::attn::findUnread(ModuleOp module, ArrayRef<std::string> gets,
                        ArrayRef<std::string> shows) {
  std::vector<UnreadEquation> unread;
  for (auto system : module.getOps<SystemOp>()) {
    bool decodes = system.getSymName() == "decoding";
    std::vector<std::string> wanted =
        decodes ? shows.vec() : equationsToGet(system, gets);
    llvm::SetVector<Operation *> needed;
    for (Operation &op : system.getOps()) {
      auto choice = dyn_cast<ChoiceOp>(op);
      auto equation = dyn_cast<EquationOp>(op);
      if (equation  ? llvm::is_contained(wanted, equation.getTarget())
          : decodes ? isa<MarkOp>(op) || (choice && !choice.getObserved())
                    : !isMemoryEffectFree(&op))
        needed.insert(&op);
    }
    for (unsigned i = 0; i < needed.size(); ++i)
      needed[i]->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *given = operand.getDefiningOp())
            if (given->getParentOp() == system)
              needed.insert(given);
      });
    for (auto equation : system.getOps<EquationOp>()) {
      Operation *given = equation.getValue().getDefiningOp();
      if (!needed.contains(given) && !isa<DataOp, ParamOp>(given))
        unread.push_back({decodes ? "decode" : "loss",
                          equation.getTarget().str(),
                          lineOf(equation.getLoc())});
    }
  }
  return unread;
}

void fovea::attn::explainSchedule(ModuleOp module,
                                  ArrayRef<UnreadEquation> unread,
                                  llvm::raw_ostream &out) {
  for (auto system : module.getOps<SystemOp>()) {
    OwningOpRef<SystemOp> copy = system.clone();
    // The pass itself reports systems without a schedule.
    ScopedDiagnosticHandler silence(module.getContext(),
                                    [](Diagnostic &) { return success(); });
    auto planned = planSystem(*copy);
    if (failed(planned))
      continue;
    std::vector<UnreadEquation> own;
    for (const UnreadEquation &equation : unread)
      if (equation.system == system.getSymName() ||
          (equation.system == "loss" && system.getSymName() == "grad"))
        own.push_back(equation);
    Explanation(*planned->first, planned->second, own, out).print();
  }
}
