//===- MoveMarks.cpp - what is valid at each place of a step --------------===//
//
// A mark `valid` may have all indices of a choice, as `valid[m,j]` of
// `tag[m,j]`. It judges each value when it is chosen, so that another one can
// replace it. This pass moves such a mark into the loop of the choice inside
// the step, with the equations that it needs. Without such a loop, it makes
// one. A mark that needs later places stays after the loop and judges all of
// it.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Plan.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

static SmallVector<Operation *> opsOf(const Step &step) {
  if (!step.loop)
    return {step.op};
  return llvm::to_vector(llvm::make_first_range(step.loop->time));
}

static bool contains(const Step &step, Operation *op) {
  return step.loop ? step.loop->contains(op) : step.op == op;
}

/// A step makes or judges choices: these keep their order.
static bool isPinned(const Step &step) {
  return llvm::any_of(opsOf(step), [](Operation *op) {
    auto choice = dyn_cast<ChoiceOp>(op);
    return isa<MarkOp>(op) || (choice && !choice.getLatent());
  });
}

namespace {
class MarkMover {
public:
  MarkMover(const Graph &graph, const Loop &search, std::vector<Step> &steps,
            MarkOp mark)
      : graph(graph), search(search), steps(steps), mark(mark) {}

  void move();

private:
  bool findChoice();
  void findDependent();
  bool findTimes();
  bool take(Operation *op, unsigned time);
  void insert(Step step);

  const Graph &graph;
  const Loop &search;
  std::vector<Step> &steps;
  MarkOp mark;
  size_t number = 0;          // of the step that makes the choice
  std::unique_ptr<Loop> loop; // that step
  llvm::DenseMap<Operation *, size_t> stepOf; // of those after it
  llvm::DenseSet<size_t> dependent;           // those that stay after it
  /// The loop's index in the ops that move into it.
  llvm::MapVector<Operation *, unsigned> times;
};
} // namespace

/// Finds the last choice with the indices of the mark, and removes its loop
/// from the steps.
bool MarkMover::findChoice() {
  ArrayType type = mark.getValue().getType();
  auto isIts = [&](const Step &step) {
    auto choice = dyn_cast_or_null<ChoiceOp>(step.op);
    return choice && choice.getResult() && !choice.getLatent() &&
           cast<ArrayType>(choice.getResult().getType()).getShape() ==
               type.getShape();
  };
  if (type.getRank() != 2)
    return false;
  for (number = steps.size(); number-- > 0;) {
    Step &step = steps[number];
    if (step.loop && llvm::any_of(step.loop->body, isIts)) {
      loop = std::move(step.loop);
      return true;
    }
    if (!isIts(step))
      continue;
    loop = std::make_unique<Loop>();
    loop->time[step.op] = 1 - search.getTime(step.op);
    loop->extent = type.getExtent(loop->getTime(step.op));
    loop->body.push_back(std::move(step));
    return true;
  }
  return false;
}

/// Finds the steps after the choice that depend on it, or must stay after
/// it.
void MarkMover::findDependent() {
  for (size_t i = number + 1; i < steps.size(); ++i) {
    bool depends = isPinned(steps[i]);
    for (Operation *op : opsOf(steps[i])) {
      stepOf[op] = i;
      for (const Edge &edge : graph.getReads(op)) {
        auto later = stepOf.find(edge.target);
        depends |=
            !search.carries(edge) &&
            (loop->contains(edge.target) ||
             (later != stepOf.end() && dependent.contains(later->second)));
      }
    }
    if (depends)
      dependent.insert(i);
  }
}

/// Marks an op, and all of its own loop, to move into the loop. Returns false
/// if it cannot.
bool MarkMover::take(Operation *op, unsigned time) {
  const Step &step = steps[stepOf.lookup(op)];
  if (op != mark && isPinned(step))
    return false;
  if (!step.loop) {
    times[op] = time;
    return true;
  }
  if (step.loop->extent != loop->extent ||
      step.loop->reverse != loop->reverse || step.loop->getTime(op) != time)
    return false;
  for (auto [inner, own] : step.loop->time)
    times[inner] = own;
  return true;
}

/// Finds the ops that must move into the loop. Returns false if some need later
/// places, or are needed before all are chosen.
bool MarkMover::findTimes() {
  times[mark] = 1 - search.getTime(mark);
  for (size_t i = 0; i < times.size(); ++i) {
    auto [op, time] = times.begin()[i];
    for (const Edge &edge : graph.getReads(op)) {
      Operation *target = edge.target;
      auto fits = [&, time = time](unsigned axis) {
        return distanceOf(*edge.access, time, axis).allowed(loop->reverse);
      };
      auto later = stepOf.find(target);
      if (search.carries(edge))
        continue;
      if (loop->contains(target) || times.contains(target)) {
        bool isNew = times.contains(target);
        if (!fits(isNew ? times.lookup(target) : loop->getTime(target)))
          return false;
      } else if (later != stepOf.end() && dependent.contains(later->second)) {
        bool isTaken = llvm::any_of(loopIndices(target), [&](auto index) {
          return index.second == loop->extent &&
                 index.first != search.getTime(target) && fits(index.first) &&
                 take(target, index.first);
        });
        if (!isTaken)
          return false;
      }
    }
  }
  return true;
}

/// Moves a step into the loop, after its inputs of the same place; a mark also
/// after a choice.
void MarkMover::insert(Step step) {
  std::vector<Step> &body = loop->body;
  auto reads = [&](const Step &other) {
    return llvm::any_of(opsOf(step), [&](Operation *op) {
      return llvm::any_of(graph.getReads(op), [&](const Edge &edge) {
        return contains(other, edge.target) && !search.carries(edge) &&
               !loop->carries(edge);
      });
    });
  };
  size_t at = 0;
  if (isPinned(step))
    at = llvm::find_if(body, isPinned) - body.begin() + 1;
  for (size_t i = at; i < body.size(); ++i)
    if (reads(body[i]))
      at = i + 1;
  body.insert(body.begin() + at, std::move(step));
}

void MarkMover::move() {
  if (!findChoice())
    return;
  findDependent();
  if (!findTimes()) {
    bool isNew = loop->time.size() == 1;
    steps[number] =
        isNew ? std::move(loop->body.front()) : Step{nullptr, std::move(loop)};
    return;
  }
  llvm::MapVector<Operation *, unsigned> own;
  for (Operation *op : graph.getNodes())
    if (loop->contains(op) || times.contains(op))
      own[op] = times.contains(op) ? times.lookup(op) : loop->getTime(op);
  loop->time = std::move(own);
  std::vector<Step> all, after;
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (i == number)
      continue;
    if (!times.contains(opsOf(step).front()))
      (dependent.contains(i) ? after : all).push_back(std::move(step));
    else if (!step.loop)
      insert(std::move(step));
    else
      for (Step &inner : step.loop->body)
        insert(std::move(inner));
  }
  all.push_back({nullptr, std::move(loop)});
  llvm::move(after, std::back_inserter(all));
  steps = std::move(all);
}

void schedule::moveMarks(const Graph &graph, const Loop &search,
                         std::vector<Step> &steps) {
  SmallVector<MarkOp> marks;
  for (const Step &step : steps)
    if (auto mark = dyn_cast_or_null<MarkOp>(step.op))
      if (mark.getTarget() == "valid")
        marks.push_back(mark);
  for (MarkOp mark : marks)
    MarkMover(graph, search, steps, mark).move();
}
