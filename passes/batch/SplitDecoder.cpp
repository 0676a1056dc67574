//===- SplitDecoder.cpp - a search becomes programs around it -------------===//
//
// Splits a decoding program at its choices: the part before the search
// (`@encode`), the parts of a step up to each choice (`@step`, `@step.1`,
// ..) and the part after it (`@finish`). The runtime executes the search
// between them, as described by `attn.decoder` (runtime/Decoder.h defines
// the names). Each of several searches is split separately
// (CutSearches.h). Runs after `attn-batch`, which marks the values that
// examples share.
//
//===----------------------------------------------------------------------===//

#include "dialect/Distributions.h"
#include "dialect/conditions/IndexEquations.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/batch/CutSearches.h"
#include "passes/batch/Splitter.h"
#include "passes/batch/UnrollChoices.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SPLITDECODER
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static constexpr StringLiteral placeName = "attn.place";
static constexpr StringLiteral insideName = "attn.inside";

DataPlace fovea::attn::placeOfData(DataOp op) {
  auto place = op->getAttrOfType<StringAttr>(placeName);
  return !place                          ? DataPlace::packed
         : place.getValue() == "example" ? DataPlace::example
                                         : DataPlace::buffer;
}

void fovea::attn::setPlace(DataOp op, DataPlace place) {
  if (place == DataPlace::packed)
    return;
  StringRef name = place == DataPlace::example ? "example" : "buffer";
  op->setAttr(placeName, StringAttr::get(op->getContext(), name));
}

bool fovea::attn::isInsideStep(StepOp op) { return op->hasAttr(insideName); }

void fovea::attn::setInsideStep(StepOp op) {
  op->setAttr(insideName, UnitAttr::get(op->getContext()));
}

void fovea::attn::eachOperand(Operation *op,
                              llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        visit(operand);
  });
}

LogicalResult Splitter::refuse(Operation *op, const Twine &text) {
  emitError(op->getLoc()) << "decoding: " << text
                          << ", which cannot be compiled yet; help: interpret "
                             "it with '--reference'";
  return failure();
}

//===----------------------------------------------------------------------===//
// The places of values
//===----------------------------------------------------------------------===//

/// Finds the search, or the choices of a program without one.
LogicalResult Splitter::findSearch() {
  for (auto length : program.getOps<LengthOp>()) {
    bool open = length.getOpen();
    if (auto of = length.getOf())
      for (StringRef name : of->getAsValueRange<StringAttr>())
        open |= openLengths.contains(name);
    if (open)
      openLengths.insert(length.getLength());
  }
  for (auto op : program.getOps<SearchOp>())
    search = op;
  findChoices();
  if (failed(checkChoices()))
    return failure();
  if (!search)
    return success();
  for (unsigned i = 0; i < search.getNumCarries(); ++i)
    replaceAppend(i);
  return success();
}

/// The choices of a step in order, and the loops that some stand in.
void Splitter::findChoices() {
  for (Operation &op : stepBlock()) {
    if (isMade(&op)) {
      choices.push_back(cast<ChoiceOp>(op));
      continue;
    }
    auto scan = dyn_cast<ScanOp>(op);
    if (!scan || !makesChoices(scan))
      continue;
    Loop &loop = loops.emplace_back();
    loop.scan = scan;
    loop.firstChoice = choices.size();
    loop.firstSegment = choices.size() + 2 * loops.size() - 1;
    for (Operation &inner : scan.getBody().front())
      if (isMade(&inner))
        choices.push_back(cast<ChoiceOp>(inner));
    loop.endChoice = choices.size();
    loop.endSegment = choices.size() + 2 * loops.size();
    loop.firstState = numLoopStates;
    numLoopStates += scan.getNumCarries();
  }
}

LogicalResult Splitter::checkChoices() {
  WalkResult walk = program.walk([&](ChoiceOp op) {
    if (!isMade(op) || llvm::is_contained(choices, op))
      return WalkResult::advance();
    (void)refuse(op, "'" + op.getTarget() +
                         "' is chosen in a nested loop of a step");
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (ChoiceOp op : choices) {
    auto type = cast<ArrayType>(op.getResult().getType());
    unsigned axes = type.getRank() - numValueAxes(op);
    for (Value parameter : op.getParameters())
      for (Attribute extent : cast<ArrayType>(parameter.getType())
                                  .getShape()
                                  .getValue()
                                  .drop_front(axes))
        if (variesInside(extent, program))
          return refuse(op, "'" + op.getTarget() +
                                "' is chosen from as many values as " +
                                extentText(extent) + ", a nested length, says");
  }
  return loops.empty() ? success() : checkLoops();
}

/// Returns whether a length is nested in the search's length.
bool Splitter::isRowOfStep(Attribute extent) {
  StringAttr parent = Lengths(program).parentOf(extent);
  return parent && parent.getValue() == extentText(search.getExtentAttr());
}

/// Returns whether a mark would undo the last choice of a finished loop.
bool Splitter::judgesLoop(MarkOp mark) {
  for (Operation *op = mark->getPrevNode(); op; op = op->getPrevNode())
    if (isMade(op) || findLoop(op))
      return !isMade(op);
  return false;
}

LogicalResult Splitter::checkLoops() {
  ChoiceOp first = choices[loops.front().firstChoice];
  for (const Loop &loop : loops) {
    Attribute extent = ScanOp(loop.scan).getExtentAttr();
    if (!search || (variesInside(extent, program) && !isRowOfStep(extent)))
      return refuse(choices[loop.firstChoice],
                    "'" + choices[loop.firstChoice].getTarget() +
                        "' is chosen as often as " + extentText(extent) +
                        " says of another index than that of the step");
  }
  WalkResult walk = program.walk([&](MarkOp mark) {
    StringRef target = mark.getTarget();
    if (target == "longest" || (target == "valid" && !judgesLoop(mark)) ||
        (target == "stop" && mark->getBlock() == &stepBlock()))
      return WalkResult::advance();
    (void)refuse(mark, "the mark '" + target + "' judges '" +
                           first.getTarget() +
                           "', which is chosen in a loop inside a step");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

/// The append of a growing state.
AppendOp Splitter::appendOf(unsigned carry) {
  auto state = cast<DictionaryAttr>(search.getStates()[carry]);
  if (state.getAs<StringAttr>("kind").getValue() != "growing")
    return {};
  auto append = search.getNext(carry).getDefiningOp<AppendOp>();
  bool isOwn = append && append.getArray() == search.getCarry(carry) &&
               append.getAt() == search.getLoopIndex();
  return isOwn ? append : AppendOp();
}

/// An array whose elements keep their positions grows in place. Any other one
/// is a state that each step recomputes, with one place more.
void Splitter::replaceAppend(unsigned carry) {
  AppendOp append = appendOf(carry);
  auto type = cast<ArrayType>(search.getCarry(carry).getType());
  bool isInPlace = true;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    isInPlace &= !isOpen(extent) || (axis == 0 && extent == search.getExtent());
  if (append && !isInPlace)
    replaceByEquation(append);
}

/// Values that depend on the search, or on its length.
void Splitter::findAfterSearch() {
  for (Operation &op : program.getBody().front()) {
    bool depends = &op == search.getOperation() || isMade(&op);
    eachOperand(&op, [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      depends |= def && afterSearch.contains(def);
    });
    auto hasOpen = [&](ArrayRef<Attribute> extents) {
      return llvm::any_of(extents, [&](Attribute e) { return isOpen(e); });
    };
    for (Value result : op.getResults())
      if (auto type = dyn_cast<ArrayType>(result.getType()))
        depends |= hasOpen(type.getShape().getValue());
    op.walk([&](Operation *inner) {
      if (auto compute = dyn_cast<ComputeOp>(inner))
        depends |= hasOpen(compute.getExtents().getValue());
      if (auto extent = dyn_cast<ExtentOp>(inner))
        depends |= isOpen(extent.getLengthAttr());
    });
    if (depends)
      afterSearch.insert(&op);
  }
}

/// The first segment in which the result of a choice, or of a loop of choices,
/// is known.
unsigned Splitter::segmentAfter(Operation *op) const {
  if (const Loop *loop = findLoop(op))
    return loop->endSegment;
  unsigned number = llvm::find(choices, op) - choices.begin();
  unsigned segment = number + 1;
  for (const Loop &loop : loops)
    segment += (number >= loop.firstChoice) + (number >= loop.endChoice);
  return segment;
}

/// Finds the segment of each op of the step, or of a loop inside it: at least
/// `first`.
void Splitter::findSegments(Block &block, unsigned first) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<MarkOp, OutputOp>(op) ||
        (!search && !afterSearch.contains(&op)) || isMade(&op))
      continue;
    if (const Loop *loop = findLoop(&op)) {
      findSegments(op.getRegion(0).front(), loop->firstSegment);
      continue;
    }
    unsigned segment = first;
    eachOperand(&op, [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      if (llvm::is_contained(choices, def) || findLoop(def))
        segment = std::max(segment, segmentAfter(def));
      else if (auto *known = segmentOf.find(def); known != segmentOf.end())
        segment = std::max(segment, known->second);
    });
    segmentOf[&op] = segment;
  }
}

/// Moves the append of a growing state to the first segment that reads the
/// longer array: where nothing reads it, nothing writes the row.
LogicalResult Splitter::moveAppends() {
  for (auto &[op, segment] : segmentOf) {
    auto append = dyn_cast<AppendOp>(op);
    if (!append || carryOf(append) < 0 || isLeftToSearch(append))
      continue;
    std::optional<unsigned> first;
    for (Operation *user : append->getUsers()) {
      while (user && !segmentOf.contains(user) && !isMade(user))
        user = user->getParentOp();
      if (!user)
        continue;
      unsigned own = isMade(user) ? segmentAfter(user) - 1 : segmentOf[user];
      first = std::min(first.value_or(own), own);
    }
    if (!first || *first == segment)
      continue;
    for (const Loop &loop : loops)
      if (*first >= loop.firstSegment && *first < loop.endSegment)
        return refuse(append, "a loop of choices is the first to read what the "
                              "step appends");
    segment = *first;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The whole of it
//===----------------------------------------------------------------------===//

LogicalResult Splitter::split() {
  if (failed(findSearch()))
    return failure();
  findAfterSearch();
  findSegments(stepBlock(), 0);
  if (failed(moveAppends()))
    return failure();

  encode = makePart("encode", /*withOpen=*/false);
  // Data determine lengths even if they are not read.
  for (auto data : program.getOps<DataOp>())
    import(encode, data.getResult());
  for (unsigned i = 0; i <= choices.size() + 2 * loops.size(); ++i) {
    std::string name = i == 0 ? "step" : "step." + std::to_string(i);
    parts.push_back(makePart(name, /*withOpen=*/true));
    // Rows of a nested length are those of the step.
    for (auto length : program.getOps<LengthOp>())
      if (search && isRowOfStep(length.getLengthAttr()))
        import(parts.back(), search.getLoopIndex());
  }
  finish = makePart("finish", /*withOpen=*/true);
  // In order: a segment reads the results of earlier ones.
  for (auto [op, segment] : segmentOf)
    if (!isLeftToSearch(op))
      take(parts[segment], op);
  if (failed(describe()))
    return failure();
  for (Part &part : parts)
    if (part.outputs.empty()) {
      part.run.erase();
      part.program.erase();
    }
  if (finish.outputs.empty())
    finish.program.erase();
  else
    decoder.setFinishAttr(nameOf(finish));
  program.erase();
  return success();
}

namespace {
struct SplitDecoder : fovea::attn::impl::SplitDecoderBase<SplitDecoder> {
  void runOnOperation() override {
    auto program = getOperation().lookupSymbol<ProgramOp>("decode");
    if (!program)
      return;
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    unrollChoices(program);
    carryRows(program);
    for (auto [number, part] : llvm::enumerate(cutSearches(program))) {
      std::string prefix =
          number == 0 ? "" : "later." + std::to_string(number) + ".";
      if (failed(Splitter(part, prefix).split()))
        return signalPassFailure();
    }
  }
};
} // namespace
