//===- DecoderOps.cpp - constraints of attn.decoder and its parts ---------===//

#include "dialect/AttnDialect.h"
#include "dialect/Distributions.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// The parts of a decoder
//===----------------------------------------------------------------------===//

LogicalResult DecoderStateOp::verify() {
  // (C1)
  if (getWriter() && !getAppended())
    return emitOpError() << "is replaced, but " << getWriterAttr()
                         << " writes a row of it";
  if (getAppended() && isa<DecoderLoopOp>((*this)->getParentOp()))
    return emitOpError() << "is appended to in a loop inside a step";
  return success();
}

LogicalResult DecoderChoiceOp::verify() {
  // (C1)
  if (getParameters().size() != getParameterTypes().size())
    return emitOpError() << "has " << getParameters().size()
                         << " parameters but " << getParameterTypes().size()
                         << " types of them";
  // (C2)
  SmallVector<Type> types(getParameterTypes().getAsValueRange<TypeAttr>());
  return verifyParameters(*this, getDistribution(), getParameterNames(), types,
                          getType(), {});
}

LogicalResult DecoderStackOp::verify() {
  int64_t rank = getType().getRank();
  if (static_cast<int64_t>(getAxis()) > rank)
    return emitOpError() << "stacks rows of " << getType() << " at axis "
                         << getAxis();
  return success();
}

/// Between two choices, at most one program runs. A loop counts as a choice.
static LogicalResult verifyRuns(Block &body) {
  Operation *previous = nullptr;
  for (Operation &op : body) {
    if (isa<DecoderChoiceOp, DecoderLoopOp>(op))
      previous = nullptr;
    if (!isa<DecoderRunOp>(op))
      continue;
    if (previous) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "follows another program without a choice "
                                   "between them";
      diag.attachNote(previous->getLoc()) << "the other program is here";
      return diag;
    }
    previous = &op;
  }
  return success();
}

LogicalResult DecoderLoopOp::verifyRegions() {
  Block &body = getBody().front();
  // (C1)
  for (Operation &op : body)
    if (!isa<DecoderStateOp, DecoderRunOp, DecoderChoiceOp, DecoderMarkOp>(op))
      return op.emitOpError() << "does not belong to a loop of choices";
  if (getBody().getOps<DecoderChoiceOp>().empty())
    return emitOpError() << "makes no choices";
  // (C2)
  return verifyRuns(body);
}

LogicalResult DecoderOp::verifyRegions() {
  Block &body = getBody().front();
  // (C1)
  for (Operation &op : body)
    if (!isa<DecoderStateOp, DecoderRunOp, DecoderChoiceOp, DecoderLoopOp,
             DecoderMarkOp, DecoderStackOp, DecoderOutputOp>(op))
      return op.emitOpError() << "does not belong to a decoder";
  // (C2)
  if (failed(verifyRuns(body)))
    return failure();
  // (C3)
  if (getExtentAttr())
    return success();
  if (getKnown() || getReverse() || getLongest())
    return emitOpError() << "has no search that is known, reverse or bounded";
  for (Operation &op : body)
    if (isa<DecoderStateOp, DecoderLoopOp, DecoderStackOp>(op))
      return op.emitOpError() << "is part of a search, but the decoder has "
                                 "none";
  return success();
}

//===----------------------------------------------------------------------===//
// Programs and the values that they exchange
//===----------------------------------------------------------------------===//

namespace {

/// The values of a decoder by name, in the order in which they become known.
class Values {
public:
  Values(DecoderOp decoder, SymbolTableCollection &tables)
      : decoder(decoder), tables(tables) {}

  LogicalResult verify();

private:
  LogicalResult give(Operation *op, const Twine &name, ArrayType type);
  FailureOr<ArrayType> find(Operation *op, StringRef name);
  LogicalResult read(Operation *op, StringRef name, ArrayType type);
  LogicalResult run(Operation *op, FlatSymbolRefAttr program);
  LogicalResult readOwn(ProgramOp program, Operation &input, StringRef name);
  LogicalResult enter(Block &step, StringRef prefix, unsigned &number);
  LogicalResult step(Block &body);
  LogicalResult take(DecoderChoiceOp choice);
  LogicalResult take(DecoderMarkOp mark);
  LogicalResult next(DecoderStateOp state);
  LogicalResult results();

  DecoderOp decoder;
  SymbolTableCollection &tables;
  llvm::StringMap<ArrayType> known;
  llvm::DenseSet<Attribute> hasRun;
  unsigned numCarried = 0, numInner = 0, numChoices = 0;
};

} // namespace

LogicalResult Values::give(Operation *op, const Twine &name, ArrayType type) {
  if (known.try_emplace(name.str(), type).second)
    return success();
  return op->emitOpError() << "gives '" << name
                           << "', which the decoder has already";
}

FailureOr<ArrayType> Values::find(Operation *op, StringRef name) {
  auto found = known.find(name);
  if (found != known.end())
    return found->second;
  return op->emitOpError() << "reads '" << name
                           << "', which the decoder does not have by then";
}

LogicalResult Values::read(Operation *op, StringRef name, ArrayType type) {
  FailureOr<ArrayType> given = find(op, name);
  if (failed(given))
    return failure();
  if (*given == type)
    return success();
  return op->emitOpError() << "reads '" << name << "' as " << type
                           << ", but it is " << *given;
}

/// An input of a program that has the name of a value of the decoder.
LogicalResult Values::readOwn(ProgramOp program, Operation &input,
                              StringRef name) {
  StringRef kind = name.split('/').first;
  if (kind == name || !llvm::is_contained({"encode", "carry", "inner", "choice",
                                           "value", "stack", "last"},
                                          kind))
    return success();
  return read(&input, name, cast<ArrayType>(input.getResult(0).getType()));
}

/// What a program reads must be known; then what it gives is known.
LogicalResult Values::run(Operation *op, FlatSymbolRefAttr name) {
  auto program = tables.lookupNearestSymbolFrom<ProgramOp>(decoder, name);
  if (!program)
    return op->emitOpError()
           << "runs " << name << ", which the module has no program for";
  hasRun.insert(name);
  for (Operation &input : program.getBody().front()) {
    if (auto data = dyn_cast<DataOp>(input))
      if (failed(readOwn(program, input, data.getSource())))
        return failure();
    if (auto param = dyn_cast<ParamOp>(input))
      if (failed(readOwn(program, input, param.getPath())))
        return failure();
  }
  for (auto output : program.getOps<OutputOp>())
    if (failed(give(output, output.getTarget(), output.getValue().getType())))
      return failure();
  return success();
}

/// The states at their start.
LogicalResult Values::enter(Block &step, StringRef prefix, unsigned &number) {
  for (auto state : step.getOps<DecoderStateOp>()) {
    if (std::optional<StringRef> initial = state.getInitial())
      if (failed(read(state, *initial, state.getType())))
        return failure();
    if (failed(give(state, prefix + Twine(number++), state.getType())))
      return failure();
  }
  return success();
}

LogicalResult Values::take(DecoderChoiceOp choice) {
  for (auto [name, type] :
       llvm::zip_equal(choice.getParameters().getAsValueRange<StringAttr>(),
                       choice.getParameterTypes().getAsValueRange<TypeAttr>()))
    if (failed(read(choice, name, cast<ArrayType>(type))))
      return failure();
  return give(choice, "choice/" + Twine(numChoices++), choice.getType());
}

LogicalResult Values::take(DecoderMarkOp mark) {
  FailureOr<ArrayType> type = find(mark, mark.getValue());
  if (failed(type))
    return failure();
  bool isScore = mark.getKind() == MarkKind::score;
  Type element = type->getElementType();
  if (isScore ? element.isF64() : element.isInteger(1))
    return success();
  return mark.emitOpError() << "marks '" << stringifyMarkKind(mark.getKind())
                            << "' with " << element;
}

/// The programs, choices and marks of the step, or of a loop in it.
LogicalResult Values::step(Block &body) {
  for (Operation &op : body) {
    LogicalResult done = success();
    if (auto run = dyn_cast<DecoderRunOp>(op)) {
      done = this->run(run, run.getProgramAttr());
    } else if (auto choice = dyn_cast<DecoderChoiceOp>(op)) {
      done = take(choice);
    } else if (auto mark = dyn_cast<DecoderMarkOp>(op)) {
      done = take(mark);
    } else if (auto loop = dyn_cast<DecoderLoopOp>(op)) {
      Block &inner = loop.getBody().front();
      done = success(succeeded(enter(inner, "inner/", numInner)) &&
                     succeeded(step(inner)));
    }
    if (failed(done))
      return failure();
  }
  for (auto state : body.getOps<DecoderStateOp>())
    if (failed(next(state)))
      return failure();
  return success();
}

/// What a state is after the step, or its new row.
LogicalResult Values::next(DecoderStateOp state) {
  ArrayType type = state.getType();
  if (!state.getAppended())
    return read(state, state.getNext(), type);
  if (FlatSymbolRefAttr writer = state.getWriterAttr();
      writer && !hasRun.contains(writer))
    return state.emitOpError()
           << "is written by " << writer << ", which does not run in a step";
  FailureOr<ArrayType> row = find(state, state.getNext());
  if (failed(row))
    return failure();
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.dropAxis(axis) == *row)
      return success();
  return state.emitOpError() << "appends '" << state.getNext() << "' to "
                             << type << ", but it is " << *row;
}

/// What the search gives, and the program after it.
LogicalResult Values::results() {
  for (auto [number, stack] :
       llvm::enumerate(decoder.getBody().getOps<DecoderStackOp>())) {
    ArrayType row = stack.getType();
    if (failed(read(stack, stack.getValue(), row)))
      return failure();
    SmallVector<Attribute> shape(row.getShape().getValue());
    shape.insert(shape.begin() + stack.getAxis(), decoder.getExtentAttr());
    if (failed(give(stack, "stack/" + Twine(number), row.withShape(shape))))
      return failure();
  }
  for (auto [number, state] :
       llvm::enumerate(decoder.getBody().getOps<DecoderStateOp>()))
    if (failed(give(state, "last/" + Twine(number), state.getType())))
      return failure();
  if (FlatSymbolRefAttr finish = decoder.getFinishAttr())
    if (failed(run(decoder, finish)))
      return failure();
  for (auto output : decoder.getBody().getOps<DecoderOutputOp>())
    if (failed(find(output, output.getValue().value_or(output.getTarget()))))
      return failure();
  return success();
}

LogicalResult Values::verify() {
  if (failed(run(decoder, decoder.getEncodeAttr())))
    return failure();
  if (std::optional<StringRef> longest = decoder.getLongest()) {
    FailureOr<ArrayType> type = find(decoder, *longest);
    if (failed(type))
      return failure();
    if (!type->getElementType().isInteger(64))
      return decoder.emitOpError() << "has at most " << *type << " steps";
  }
  Block &body = decoder.getBody().front();
  hasRun.clear();
  return success(succeeded(enter(body, "carry/", numCarried)) &&
                 succeeded(step(body)) && succeeded(results()));
}

// (C4), (C5)
LogicalResult DecoderOp::verifySymbolUses(SymbolTableCollection &tables) {
  return Values(*this, tables).verify();
}
