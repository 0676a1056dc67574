//===- ProgramRunner.cpp - a hypothesis of a scheduled decoder ------------===//
//
// Runs the ops of a program one by one. Its enclosing loops are a stack of
// levels, so that a hypothesis can stop at a choice, be copied, and resume. A
// scan that makes choices is such a level, too; Machine executes every other
// op.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Runner.h"

#include "llvm/ADT/SetVector.h"
#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

/// Returns whether a program makes all its choices once, all of symbols.
static bool isListable(Operation *program) {
  return !program
              ->walk([&](Operation *op) {
                auto choice = dyn_cast<attn::ChoiceOp>(op);
                bool isOther =
                    isa<attn::SearchOp>(op) ||
                    (choice && choice.getResult() && !choice.getLatent() &&
                     (choice->getParentOp() != program ||
                      !ChoiceDistribution::isDiscrete(
                          choice.getDistribution())));
                return isOther ? WalkResult::interrupt()
                               : WalkResult::advance();
              })
              .wasInterrupted();
}

namespace {
/// A loop that contains a hypothesis, or the program around all of them.
struct Level {
  Operation *loop = nullptr; // null: the program
  Block *block = nullptr;
  Block::iterator at;
  int64_t step = 0;
  int64_t extent = -1; // -1: found by the search
  int length = -1;     // the length that is found
  bool ended = false;
  std::vector<ArrayPtr> inits, carries;
  std::vector<std::vector<ArrayPtr>> rows;
  std::vector<int64_t> places;
};

class ProgramRunner : public Runner {
public:
  ProgramRunner(Operation *program, const Inputs &inputs,
                const SearchOptions &options)
      : Runner(inputs, options),
        machine(std::make_shared<Machine>(program, inputs)) {
    Level level;
    level.block = &program->getRegion(0).front();
    level.at = level.block->begin();
    levels.push_back(level);
    isListed = isListable(program);
  }
  Status start() {
    machine->isWanted = [names = options->equations](StringRef name) {
      return llvm::is_contained(names, name.str());
    };
    return machine->start(environment);
  }

  std::unique_ptr<Runner> clone() const override {
    return std::make_unique<ProgramRunner>(*this);
  }
  Status advance(Event &event) override;
  bool ranksByScore() const override;
  void shareStates(const Runner &first) override;
  Arrays outputs() const override { return environment.outputs; }

protected:
  Status store(ArrayRef<double> value) override;

private:
  Status enter(Operation *loop);
  Status findLongest();
  Status beginStep();
  Status endStep(bool &over);
  Status leave();
  void endSearch();
  Status mark(attn::MarkOp op, bool &rejected);
  Status nextElement(bool &waits);
  Status chooseOutside(attn::ChoiceOp op, Environment &where, Array &result);
  int64_t indexOf(const Level &level) const;

  std::shared_ptr<Machine> machine;
  Environment environment;
  std::vector<Level> levels;
  std::optional<int64_t> longestMark;
  /// Without a search: whether hypotheses differ in choices made once.
  bool isListed = false;
  // The current choice, element by element.
  attn::ChoiceOp choice;
  Array chosen;
  int64_t group = -1;
};
} // namespace

/// The values of a loop op, whether it is a scan or a search.
static OperandRange initsOf(Operation *loop) { return loop->getOperands(); }
static ArrayRef<int64_t> axesOf(Operation *loop) {
  return loop->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
}

/// Returns whether the search must take choices in a loop.
static bool makesChoices(Operation *loop) {
  return loop
      ->walk([](attn::ChoiceOp op) {
        return op.getResult() && !op.getLatent() ? WalkResult::interrupt()
                                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t ProgramRunner::indexOf(const Level &level) const {
  bool reverse = level.loop->hasAttr("reverse");
  return reverse ? level.extent - 1 - level.step : level.step;
}

Status ProgramRunner::enter(Operation *loop) {
  Level level;
  level.loop = loop;
  level.block = &loop->getRegion(0).front();
  auto extent = loop->getAttr("extent");
  auto name = dyn_cast<StringAttr>(extent);
  int id = name ? environment.lengths.find(name.getValue()) : -1;
  if (name && id < 0)
    return Status::error(
        fmt::format("'{}' is no length of the model", name.getValue().str()),
        placeOf(loop));
  if (id >= 0 && environment.lengths.isOpen(id) && isa<attn::SearchOp>(loop) &&
      !loop->hasAttr("known"))
    level.length = id;
  else
    level.extent = machine->extentOf(extent, environment);
  if (level.extent < 0 && loop->hasAttr("reverse"))
    return Status::error("a search backwards needs a given length",
                         placeOf(loop));
  level.rows.resize(axesOf(loop).size());
  for (Value init : initsOf(loop))
    level.inits.push_back(machine->find(init, environment));
  level.carries = level.inits;
  levels.push_back(std::move(level));
  if (levels.size() == 2) {
    if (Status status = findLongest(); status.failed())
      return status;
    steps = 0;
    cut = false;
    score.reset();
  }
  return levels.back().extent == 0 ? leave() : beginStep();
}

/// The program's mark "longest", which may come after the search: its inputs
/// are computed here.
Status ProgramRunner::findLongest() {
  Block &block = *levels.front().block;
  for (auto mark : block.getOps<attn::MarkOp>()) {
    if (mark.getTarget() != "longest")
      continue;
    llvm::SetVector<Operation *> needed;
    needed.insert(mark);
    for (size_t i = 0; i < needed.size(); ++i)
      needed[i]->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *op = operand.getDefiningOp();
              op && op->getBlock() == &block)
            needed.insert(op);
      });
    Environment own = environment;
    for (Operation &op : block)
      if (&op != mark && needed.contains(&op))
        if (Status status = machine->execute(&op, own); status.failed())
          return status;
    ArrayPtr array = machine->find(mark.getValue(), own);
    if (array->values.size() != 1)
      return Status::error("the mark 'longest' is not one number",
                           placeOf(mark));
    longestMark = std::max<int64_t>(1, array->values[0]);
  }
  return Status::success();
}

Status ProgramRunner::beginStep() {
  Level &level = levels.back();
  level.at = level.block->begin();
  level.ended = false;
  environment.indices[level.block->getArgument(0)] = indexOf(level);
  for (size_t i = 0; i < level.carries.size(); ++i)
    environment.arrays[level.block->getArgument(1 + i)] = level.carries[i];
  if (level.length >= 0)
    environment.lengths.set(level.length, level.step + 1);
  return Status::success();
}

Status ProgramRunner::endStep(bool &over) {
  Level &level = levels.back();
  Operation *yield = level.block->getTerminator();
  auto search = dyn_cast<attn::SearchOp>(level.loop);
  size_t numCarries = level.carries.size();
  for (size_t i = 0; i < numCarries; ++i) {
    level.carries[i] = machine->find(yield->getOperand(i), environment);
    auto state = search ? dyn_cast<DictionaryAttr>(search.getStates()[i])
                        : DictionaryAttr();
    auto name = state ? state.getAs<StringAttr>("name") : StringAttr();
    if (name && !options->dropState.empty() &&
        name.getValue() == options->dropState)
      level.carries[i] = level.inits[i];
  }
  for (size_t i = 0; i < level.rows.size(); ++i)
    level.rows[i].push_back(
        machine->find(yield->getOperand(numCarries + i), environment));
  level.places.push_back(indexOf(level));
  ++level.step;
  bool outermost = levels.size() == 2;
  if (outermost)
    steps = level.step;
  if (outermost && prefixGoesOn())
    level.ended = hasEnd = false;
  over = level.ended || level.step == level.extent ||
         (outermost && isForcedOver());
  int64_t longest = options->longest ? *options->longest
                    : longestMark ? *longestMark
                                  : 2 * environment.lengths.largestGiven() + 50;
  if (!over && level.extent < 0 && level.step >= longest) {
    over = true;
    cut = true;
  }
  return Status::success();
}

Status ProgramRunner::leave() {
  Level level = std::move(levels.back());
  levels.pop_back();
  if (level.length >= 0)
    environment.lengths.set(level.length, level.step);
  environment.indices.erase(level.block->getArgument(0));
  size_t numCarries = level.carries.size();
  for (size_t i = 0; i < numCarries; ++i)
    environment.arrays[level.loop->getResult(i)] = level.carries[i];
  for (size_t i = 0; i < level.rows.size(); ++i) {
    Value result = level.loop->getResult(numCarries + i);
    ArrayPtr stacked;
    if (Status status = machine->stack(
            cast<attn::ArrayType>(result.getType()), axesOf(level.loop)[i],
            level.step, level.rows[i], level.places, environment, stacked);
        status.failed())
      return status;
    environment.arrays[result] = stacked;
  }
  return Status::success();
}

Status ProgramRunner::mark(attn::MarkOp op, bool &rejected) {
  ArrayPtr array = machine->find(op.getValue(), environment);
  StringRef target = op.getTarget();
  bool all = llvm::all_of(array->values, [](double v) { return v != 0; });
  if (target == "valid")
    rejected = !all && isJudged(/*isLast=*/levels.size() > 2);
  if (target == "stop" && all)
    endSearch();
  if (target == "score") {
    if (array->values.size() != 1)
      return Status::error("the mark 'score' is not one number", placeOf(op));
    score = array->values[0];
  }
  return Status::success();
}

/// Moves to the next element of the current choice; after the last, its array
/// is complete.
Status ProgramRunner::nextElement(bool &waits) {
  waits = false;
  bool passed = group < 0;
  int64_t last = group;
  Status status = machine->eachChoice(
      choice, environment,
      [&](int64_t number, const ChoiceDistribution &distribution) {
        if (!waits && (passed || number > last)) {
          waits = true;
          group = number;
          pending = {choice, distribution};
        }
        return Status::success();
      });
  if (status.failed())
    return status;
  if (waits) {
    pendingEnd = endOf(choice, environment.lengths);
    return status;
  }
  environment.arrays[choice.getResult()] =
      std::make_shared<const Array>(std::move(chosen));
  choice = nullptr;
  ++levels.back().at;
  return status;
}

/// The innermost search ends with this step.
void ProgramRunner::endSearch() {
  for (Level &level : llvm::reverse(levels))
    if (isa_and_nonnull<attn::SearchOp>(level.loop)) {
      level.ended = true;
      return;
    }
}

Status ProgramRunner::store(ArrayRef<double> value) {
  std::copy(value.begin(), value.end(),
            chosen.values.begin() + group * value.size());
  if (pendingEnd && value[0] == static_cast<double>(*pendingEnd))
    endSearch();
  return Status::success();
}

Status ProgramRunner::chooseOutside(attn::ChoiceOp op, Environment &where,
                                    Array &result) {
  return machine->eachChoice(
      op, where, [&](int64_t number, const ChoiceDistribution &distribution) {
        std::vector<double> value = distribution.mode();
        if (!op.getLatent())
          if (Status status = choose(distribution, op.getTarget(), value);
              status.failed())
            return status;
        std::copy(value.begin(), value.end(),
                  result.values.begin() + number * value.size());
        return Status::success();
      });
}

Status ProgramRunner::advance(Event &event) {
  machine->onChoice = [&](attn::ChoiceOp op, Environment &where,
                          Array &result) {
    return chooseOutside(op, where, result);
  };
  while (true) {
    if (choice) {
      bool waits;
      if (Status status = nextElement(waits); status.failed())
        return status;
      if (waits) {
        event = Event::Choice;
        return Status::success();
      }
      continue;
    }
    Level &level = levels.back();
    if (level.at == level.block->end()) {
      event = Event::End;
      return Status::success();
    }
    Operation *op = &*level.at;
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      bool over, outermost = levels.size() == 2;
      if (Status status = endStep(over); status.failed())
        return status;
      if (Status status = over ? leave() : beginStep(); status.failed())
        return status;
      if (outermost) {
        event = over ? Event::SearchEnd : Event::StepEnd;
        return Status::success();
      }
      continue;
    }
    bool loops =
        isa<attn::SearchOp>(op) || (isa<attn::ScanOp>(op) && makesChoices(op));
    auto choiceOp = dyn_cast<attn::ChoiceOp>(op);
    if (loops) {
      ++level.at;
      if (Status status = enter(op); status.failed())
        return status;
    } else if (choiceOp && choiceOp.getResult() && !choiceOp.getLatent() &&
               (levels.size() > 1 || isListed)) {
      choice = choiceOp;
      group = -1;
      auto type = cast<attn::ArrayType>(choice.getResult().getType());
      std::vector<int64_t> shape;
      if (Status status = environment.lengths.checkedShape(type, shape);
          status.failed())
        return status;
      chosen = Array::zeros(shape, !type.getScalarType().isF64());
    } else if (auto markOp = dyn_cast<attn::MarkOp>(op)) {
      ++level.at;
      bool rejected = false;
      if (Status status = mark(markOp, rejected); status.failed())
        return status;
      if (rejected) {
        event = Event::Rejected;
        return Status::success();
      }
    } else {
      ++level.at;
      if (Status status = machine->execute(op, environment); status.failed())
        return status;
    }
  }
}

bool ProgramRunner::ranksByScore() const {
  if (levels.size() < 2)
    return false;
  return levels[1]
      .loop
      ->walk([](attn::MarkOp op) {
        return op.getTarget() == "score" ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

void ProgramRunner::shareStates(const Runner &first) {
  const auto &other = static_cast<const ProgramRunner &>(first);
  Level &level = levels[1];
  auto search = dyn_cast<attn::SearchOp>(level.loop);
  if (!search)
    return;
  for (size_t i = 0; i < level.carries.size(); ++i) {
    auto state = dyn_cast<DictionaryAttr>(search.getStates()[i]);
    auto reorder = state ? state.getAs<BoolAttr>("reorder") : BoolAttr();
    if (!reorder || reorder.getValue())
      continue;
    level.carries[i] = other.levels[1].carries[i];
    environment.arrays[level.block->getArgument(1 + i)] = level.carries[i];
  }
}

Status reference::makeProgramRunner(Operation *program, const Inputs &inputs,
                                    const SearchOptions &options,
                                    std::unique_ptr<Runner> &runner) {
  auto made = std::make_unique<ProgramRunner>(program, inputs, options);
  Status status = made->start();
  runner = std::move(made);
  return status;
}
