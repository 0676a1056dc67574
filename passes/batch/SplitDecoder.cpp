//===- SplitDecoder.cpp - a search becomes programs around it -------------===//
//
// Takes a decoding program apart at its choices: what stands before the search
// (`@encode`), the parts of a step up to each choice (`@step`, `@step.1`, ..)
// and what stands behind (`@finish`). What the search does between them is left
// to the runtime, which knows it as `attn.decoder` (runtime/Decoder.h says what
// the names of values mean). Each of several searches is taken apart for itself
// (CutSearches.h). Runs behind `attn-batch`, which says of every value whether
// the examples share it.
//
//===----------------------------------------------------------------------===//

#include "passes/batch/SplitDecoder.h"
#include "dialect/Distributions.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/batch/Batch.h"
#include "passes/batch/CutSearches.h"
#include "passes/batch/UnrollChoices.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SPLITDECODER
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static constexpr StringLiteral placeName = "attn.place";

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

static bool isArray(Value value) { return isa<ArrayType>(value.getType()); }

/// Calls `visit` for each value that `op` takes from around it.
static void eachOperand(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        visit(operand);
  });
}

namespace {

/// A program that is being filled.
struct Part {
  ProgramOp program;
  IRMapping mapping;
  llvm::StringSet<> outputs;
};

class Splitter {
public:
  /// `prefix` stands before the names of the programs that are made.
  Splitter(ProgramOp program, std::string prefix)
      : program(program), builder(program), prefix(std::move(prefix)) {}

  /// What is to be known of the programs that are made.
  FailureOr<DictionaryAttr> split();

private:
  LogicalResult findSearch();
  void replaceAppend(unsigned carry);
  void findBehind();
  void findSegments();
  LogicalResult refuse(Operation *op, const Twine &text);

  Part makePart(StringRef name, bool withOpen);
  OpBuilder endOf(Part &part) {
    return OpBuilder::atBlockEnd(&part.program.getBody().front());
  }
  void import(Part &part, Value value);
  void take(Part &part, Operation *op);
  Value makeData(Part &part, StringRef name, Value value, DataPlace place);
  Value makeParam(Part &part, StringRef name, Value value);
  void output(Part &part, StringRef name, Value value);
  int carryOf(AppendOp op);

  /// What the runtime calls a value; whoever gives it has it as an output.
  std::string nameOf(Value value);
  bool isStep(Operation *op) const { return segmentOf.contains(op); }

  Attribute describeState(unsigned carry);
  Attribute describeChoice(unsigned number);
  ArrayAttr describeMarks();
  ArrayAttr describeOutputs();
  FailureOr<DictionaryAttr> describe();
  Attribute text(StringRef value) { return builder.getStringAttr(value); }
  NamedAttribute entry(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  bool isOpen(Attribute extent) const {
    auto name = dyn_cast<StringAttr>(extent);
    return name && openLengths.contains(name.getValue());
  }

  ProgramOp program;
  OpBuilder builder;
  std::string prefix;
  SearchOp search;
  SmallVector<ChoiceOp> choices;
  llvm::StringSet<> openLengths;
  llvm::DenseSet<Operation *> behind;
  /// Of the ops of a step: behind how many choices they can be computed.
  llvm::MapVector<Operation *, unsigned> segmentOf;
  std::vector<Part> parts; // one per choice and the tail
  Part encode, finish;
  llvm::DenseMap<Value, std::string> names;
  unsigned numEncoded = 0, numValues = 0;
};

} // namespace

LogicalResult Splitter::refuse(Operation *op, const Twine &text) {
  emitError(op->getLoc()) << "decoding: " << text
                          << ", which cannot be compiled yet; '--reference' "
                             "interprets it";
  return failure();
}

//===----------------------------------------------------------------------===//
// What stands where
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
  Block &block = search ? search.getBody().front() : program.getBody().front();
  WalkResult walk = program.walk([&](ChoiceOp op) {
    if (!isMade(op) || op->getBlock() == &block)
      return WalkResult::advance();
    (void)refuse(op, "'" + op.getTarget() +
                         "' is chosen in a loop inside a step that has no "
                         "fixed number of at most 64 places");
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto op : block.getOps<ChoiceOp>()) {
    if (!isMade(op))
      continue;
    choices.push_back(op);
    for (Value parameter : op.getParameters())
      for (Attribute extent : cast<ArrayType>(parameter.getType()).getShape())
        if (variesInside(extent, program))
          return refuse(op, "'" + op.getTarget() +
                                "' is chosen from as many values as " +
                                extentText(extent) + ", a nested length, says");
  }
  if (!search)
    return success();
  for (unsigned i = 0; i < search.getNumCarries(); ++i)
    replaceAppend(i);
  return success();
}

/// The append behind a growing state.
static AppendOp appendOf(SearchOp search, unsigned carry) {
  auto state = cast<DictionaryAttr>(search.getStates()[carry]);
  if (state.getAs<StringAttr>("kind").getValue() != "growing")
    return {};
  auto append = search.getNext(carry).getDefiningOp<AppendOp>();
  bool isOwn = append && append.getArray() == search.getCarry(carry) &&
               append.getAt() == search.getLoopIndex();
  return isOwn ? append : AppendOp();
}

/// An array that keeps its elements where they are grows in place. Any other
/// one is a state that each step computes anew, with one place more.
void Splitter::replaceAppend(unsigned carry) {
  AppendOp append = appendOf(search, carry);
  auto type = cast<ArrayType>(search.getCarry(carry).getType());
  bool isInPlace = true;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    isInPlace &= !isOpen(extent) || (axis == 0 && extent == search.getExtent());
  if (append && !isInPlace)
    replaceByEquation(append);
}

/// What depends on the search, or on how long it becomes.
void Splitter::findBehind() {
  for (Operation &op : program.getBody().front()) {
    bool depends = &op == search.getOperation() || isMade(&op);
    eachOperand(&op, [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      depends |= def && behind.contains(def);
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
      behind.insert(&op);
  }
}

void Splitter::findSegments() {
  Block &block = search ? search.getBody().front() : program.getBody().front();
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || isa<MarkOp, OutputOp>(op) ||
        (!search && !behind.contains(&op)))
      continue;
    unsigned segment = 0;
    eachOperand(&op, [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      if (auto *choice = llvm::find(choices, def); choice != choices.end())
        segment = std::max<unsigned>(segment, choice - choices.begin() + 1);
      else if (auto *known = segmentOf.find(def); known != segmentOf.end())
        segment = std::max(segment, known->second);
    });
    if (!isMade(&op))
      segmentOf[&op] = segment;
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Part Splitter::makePart(StringRef name, bool withOpen) {
  Part part;
  OpBuilder before(program);
  part.program =
      ProgramOp::create(before, program.getLoc(), prefix + name.str());
  part.program.getBody().emplaceBlock();
  // A search runs it again and again.
  part.program->setAttr(preparesName, before.getUnitAttr());
  for (auto length : program.getOps<LengthOp>())
    if (withOpen || !openLengths.contains(length.getLength()))
      endOf(part).clone(*length.getOperation());
  return part;
}

Value Splitter::makeData(Part &part, StringRef name, Value value,
                         DataPlace place) {
  OpBuilder end = endOf(part);
  auto data = DataOp::create(end, value.getLoc(), value.getType(), name);
  setBatch(data, BatchKind::each);
  setPlace(data, place);
  return data;
}

Value Splitter::makeParam(Part &part, StringRef name, Value value) {
  OpBuilder end = endOf(part);
  auto param = ParamOp::create(end, value.getLoc(), value.getType(), name);
  setBatch(param, BatchKind::once);
  return param;
}

/// Makes `value` known in `part`, which stands behind whatever gives it.
void Splitter::import(Part &part, Value value) {
  if (part.mapping.contains(value))
    return;
  Operation *def = value.getDefiningOp();
  auto map = [&](Value own) { part.mapping.map(value, own); };
  if (!def && !isArray(value)) {
    OpBuilder end = endOf(part);
    return map(StepOp::create(end, value.getLoc(), search.getExtentAttr()));
  }
  bool isBehind = &part == &finish && behind.contains(def) && def != search;
  // What a step has once is computed where it is needed.
  bool isOnce = isArray(value) && def && isStep(def) && !isPerExample(value);
  if (!isArray(value) || &part == &encode || isBehind || isOnce ||
      isa_and_nonnull<ParamOp>(def))
    return take(part, def);
  if (auto append = dyn_cast_or_null<AppendOp>(def))
    if (int carry = carryOf(append); carry >= 0)
      value = search.getCarry(carry);
  std::string name = nameOf(value);
  bool isEncoded = StringRef(name).starts_with("encode/");
  if (isEncoded && !isPerExample(value))
    return map(makeParam(part, name, value));
  DataPlace place = isEncoded ? DataPlace::example : DataPlace::packed;
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (appendOf(search, argument.getArgNumber() - 1))
      place = DataPlace::buffer;
  map(makeData(part, name, value, place));
}

/// The growing state that gets its row here; -1: none.
int Splitter::carryOf(AppendOp op) {
  for (unsigned i = 0; search && i < search.getNumCarries(); ++i)
    if (appendOf(search, i) == op)
      return i;
  return -1;
}

/// Whether the search itself can write the row of a growing state: nobody reads
/// the longer array, and the row is one piece of it.
static bool isLeftToSearch(AppendOp op) {
  return op.getResult().hasOneUse() && op.getAxis() == 0;
}

/// Clones `op` into `part`, and what it needs.
void Splitter::take(Part &part, Operation *op) {
  eachOperand(op, [&](Value operand) { import(part, operand); });
  endOf(part).clone(*op, part.mapping);
}

void Splitter::output(Part &part, StringRef name, Value value) {
  if (!part.outputs.insert(name).second)
    return;
  OpBuilder end = endOf(part);
  OutputOp::create(end, value.getLoc(), name, value);
}

std::string Splitter::nameOf(Value value) {
  if (auto known = names.find(value); known != names.end())
    return known->second;
  std::string name;
  Operation *def = value.getDefiningOp();
  if (!def) {
    unsigned carry = cast<BlockArgument>(value).getArgNumber() - 1;
    name = "carry/" + std::to_string(carry);
  } else if (auto *choice = llvm::find(choices, def); choice != choices.end()) {
    name = "choice/" + std::to_string(choice - choices.begin());
  } else if (isStep(def)) {
    name = "value/" + std::to_string(numValues++);
    Part &part = parts[segmentOf[def]];
    output(part, name, part.mapping.lookup(value));
  } else if (search && def == search) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    bool isLast = number < search.getNumCarries();
    name = (isLast ? "last/" : "stack/") +
           std::to_string(isLast ? number : number - search.getNumCarries());
  } else {
    name = "encode/" + std::to_string(numEncoded++);
    import(encode, value);
    output(encode, name, encode.mapping.lookup(value));
  }
  return names[value] = name;
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

Attribute Splitter::describeState(unsigned carry) {
  auto state = cast<DictionaryAttr>(search.getStates()[carry]);
  Value argument = search.getCarry(carry), next = search.getNext(carry);
  AppendOp append = appendOf(search, carry);
  // What has no places before the first step begins with none.
  bool isOpenState =
      llvm::any_of(cast<ArrayType>(argument.getType()).getShape(),
                   [&](Attribute extent) { return isOpen(extent); });
  Value value = append ? append.getRow() : next;
  SmallVector<NamedAttribute> entries = {
      entry("name", state.get("name")),
      entry("type", TypeAttr::get(argument.getType())),
      entry("next", text(nameOf(value))),
  };
  if (!isOpenState)
    entries.push_back(entry("initial", text(nameOf(search.getInits()[carry]))));
  if (append)
    entries.push_back(
        entry("written",
              builder.getI64IntegerAttr(
                  isLeftToSearch(append) ? -1 : int64_t(segmentOf[append]))));
  return builder.getDictionaryAttr(entries);
}

/// log p of each symbol of a choice by logits.
static Value logSoftmax(OpBuilder &builder, Value logits) {
  auto type = cast<ArrayType>(logits.getType());
  SmallVector<Attribute> names;
  for (int64_t i = 0; i < type.getRank(); ++i)
    names.push_back(builder.getStringAttr("k" + Twine(i)));
  auto compute = ComputeOp::create(
      builder, logits.getLoc(), "", names, type.getShape().getValue(), {},
      type.getRank() - 1, Reducer::log_softmax, type.getElementType());
  auto inside = OpBuilder::atBlockEnd(&compute.getBody().front());
  Value read = ReadOp::create(inside, logits.getLoc(), logits,
                              compute.getBody().getArguments());
  YieldOp::create(inside, logits.getLoc(), read);
  setBatch(compute, BatchKind::each);
  return compute;
}

Attribute Splitter::describeChoice(unsigned number) {
  ChoiceOp choice = choices[number];
  auto type = cast<ArrayType>(choice.getResult().getType());
  int64_t axes = type.getRank() - numValueAxes(choice);
  SmallVector<Attribute> parameters;
  for (auto [name, value] :
       llvm::zip_equal(choice.getParameterNames(), choice.getParameters())) {
    Attribute own = name;
    std::string source;
    if (cast<StringAttr>(name).getValue() == "logits") {
      own = text("logp");
      source = "logp/" + std::to_string(number);
      Part &part = parts[number];
      import(part, value);
      OpBuilder end = endOf(part);
      output(part, source, logSoftmax(end, part.mapping.lookup(value)));
    } else {
      source = nameOf(value);
    }
    SmallVector<Attribute> extents;
    auto given = cast<ArrayType>(value.getType());
    for (int64_t axis = axes; axis < given.getRank(); ++axis)
      extents.push_back(given.getExtent(axis));
    parameters.push_back(builder.getDictionaryAttr(
        {entry("name", own), entry("value", text(source)),
         entry("type", TypeAttr::get(given.withShape(extents)))}));
  }
  SmallVector<NamedAttribute> entries = {
      entry("name", choice.getTargetAttr()),
      entry("distribution",
            text(stringifyDistribution(choice.getDistribution()))),
      entry("type", TypeAttr::get(type)),
      entry("parameters", builder.getArrayAttr(parameters)),
  };
  if (Attribute end = choice.getEndAttr())
    entries.push_back(entry("end", end));
  return builder.getDictionaryAttr(entries);
}

ArrayAttr Splitter::describeMarks() {
  SmallVector<Attribute> marks;
  int64_t segment = 0;
  Block &block = search ? search.getBody().front() : program.getBody().front();
  for (Operation &op : block) {
    segment += isMade(&op);
    if (auto mark = dyn_cast<MarkOp>(op); mark && mark.getTarget() != "longest")
      marks.push_back(builder.getDictionaryAttr(
          {entry("kind", mark.getTargetAttr()),
           entry("segment", builder.getI64IntegerAttr(segment)),
           entry("value", text(nameOf(mark.getValue())))}));
  }
  return builder.getArrayAttr(marks);
}

ArrayAttr Splitter::describeOutputs() {
  SmallVector<Attribute> outputs;
  for (auto op : program.getOps<OutputOp>()) {
    Value value = op.getValue();
    Operation *def = value.getDefiningOp();
    std::string name;
    if (!search || def == search || !behind.contains(def))
      name = nameOf(value);
    if (name.empty() || StringRef(name).starts_with("last/")) {
      name.clear();
      import(finish, value);
      output(finish, op.getTarget(), finish.mapping.lookup(value));
    }
    outputs.push_back(builder.getDictionaryAttr(
        {entry("name", op.getTargetAttr()), entry("value", text(name))}));
  }
  return builder.getArrayAttr(outputs);
}

FailureOr<DictionaryAttr> Splitter::describe() {
  SmallVector<NamedAttribute> entries = {
      entry("encode", text(encode.program.getSymName()))};
  SmallVector<Attribute> states, made, stacks;
  for (unsigned i = 0; i < choices.size(); ++i)
    made.push_back(describeChoice(i));
  entries.push_back(entry("choices", builder.getArrayAttr(made)));
  entries.push_back(entry("marks", describeMarks()));
  if (search) {
    for (unsigned i = 0; i < search.getNumCarries(); ++i)
      states.push_back(describeState(i));
    for (unsigned i = 0; i < search.getNumStacked(); ++i)
      stacks.push_back(builder.getDictionaryAttr(
          {entry("value", text(nameOf(search.getStackedValue(i)))),
           entry("axis", builder.getI64IntegerAttr(search.getAxes()[i])),
           entry("type", TypeAttr::get(search.getStackedValue(i).getType()))}));
    entries.push_back(entry("states", builder.getArrayAttr(states)));
    entries.push_back(entry("stacks", builder.getArrayAttr(stacks)));
    entries.push_back(entry("extent", search.getExtent()));
    if (search.getKnown())
      entries.push_back(entry("known", builder.getUnitAttr()));
    if (search.getReverse())
      entries.push_back(entry("reverse", builder.getUnitAttr()));
    for (auto mark : program.getOps<MarkOp>()) {
      if (mark.getTarget() != "longest")
        continue;
      if (behind.contains(mark))
        return refuse(mark, "the mark 'longest' depends on what is generated");
      entries.push_back(entry("longest", text(nameOf(mark.getValue()))));
    }
  }
  entries.push_back(entry("outputs", describeOutputs()));
  SmallVector<Attribute> programs;
  for (Part &part : parts)
    programs.push_back(
        text(part.outputs.empty() ? StringRef() : part.program.getSymName()));
  entries.push_back(entry("segments", builder.getArrayAttr(programs)));
  if (!finish.outputs.empty())
    entries.push_back(entry("finish", text(finish.program.getSymName())));
  return builder.getDictionaryAttr(entries);
}

//===----------------------------------------------------------------------===//
// The whole of it
//===----------------------------------------------------------------------===//

FailureOr<DictionaryAttr> Splitter::split() {
  if (failed(findSearch()))
    return failure();
  findBehind();
  findSegments();

  encode = makePart("encode", /*withOpen=*/false);
  // The data say how long things are, whether they are read or not.
  for (auto data : program.getOps<DataOp>())
    import(encode, data.getResult());
  for (unsigned i = 0; i <= choices.size(); ++i) {
    std::string name = i == 0 ? "step" : "step." + std::to_string(i);
    parts.push_back(makePart(name, /*withOpen=*/true));
  }
  finish = makePart("finish", /*withOpen=*/true);
  // In order: a segment reads what those before it give.
  for (auto [op, segment] : segmentOf)
    if (auto append = dyn_cast<AppendOp>(op);
        !append || carryOf(append) < 0 || !isLeftToSearch(append))
      take(parts[segment], op);
  FailureOr<DictionaryAttr> description = describe();
  if (failed(description))
    return failure();
  for (Part &part : parts)
    if (part.outputs.empty())
      part.program.erase();
  if (finish.outputs.empty())
    finish.program.erase();
  program.erase();
  return description;
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
    SmallVector<Attribute> descriptions;
    for (auto [number, part] : llvm::enumerate(cutSearches(program))) {
      std::string prefix =
          number == 0 ? "" : "later." + std::to_string(number) + ".";
      FailureOr<DictionaryAttr> description = Splitter(part, prefix).split();
      if (failed(description))
        return signalPassFailure();
      descriptions.push_back(*description);
    }
    Builder builder(&getContext());
    NamedAttrList first(cast<DictionaryAttr>(descriptions.front()));
    if (descriptions.size() > 1)
      first.set("later",
                builder.getArrayAttr(ArrayRef(descriptions).drop_front()));
    getOperation()->setAttr(decoderName, first.getDictionary(&getContext()));
  }
};
} // namespace
