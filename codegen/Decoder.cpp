//===- Decoder.cpp - the programs of a search as kernels ------------------===//
//
// Converts each `attn.decoder` to the description of the runtime's search. The
// programs themselves are compiled like any other.
//
//===----------------------------------------------------------------------===//

#include "codegen/Decoder.h"
#include "dialect/Distributions.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Decoder;
using runtime::Program;

namespace {
class Reader {
public:
  Reader(DecoderOp op, Type real, Decoder &decoder)
      : op(op), real(real), decoder(decoder) {}

  /// Returns the program of each segment, or null.
  SmallVector<FlatSymbolRefAttr> read();

private:
  int64_t extent(Attribute extent);
  std::vector<int64_t> shapeOf(ArrayRef<Attribute> extents);
  std::vector<int64_t> shapeOf(ArrayType type) {
    return shapeOf(type.getShape().getValue());
  }
  Program::Element elementOf(ArrayType type) const;
  Decoder::State readState(DecoderStateOp state);
  Decoder::Choice readChoice(DecoderChoiceOp choice);
  void readLoop(DecoderLoopOp loop);
  void readMark(DecoderMarkOp mark);
  void readStep(Block &body);
  void findWriters();

  DecoderOp op;
  Type real;
  Decoder &decoder;
  SmallVector<FlatSymbolRefAttr> segments = {FlatSymbolRefAttr()};
};
} // namespace

/// A number, or -1-id of a length.
int64_t Reader::extent(Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return number.getInt();
  std::string name = cast<StringAttr>(extent).str();
  auto &lengths = decoder.lengths;
  auto found = std::find(lengths.begin(), lengths.end(), name);
  if (found == lengths.end())
    found = lengths.insert(lengths.end(), name);
  return -1 - (found - lengths.begin());
}

std::vector<int64_t> Reader::shapeOf(ArrayRef<Attribute> extents) {
  std::vector<int64_t> shape;
  for (Attribute axis : extents)
    shape.push_back(extent(axis));
  return shape;
}

Program::Element Reader::elementOf(ArrayType type) const {
  Type element = type.getElementType();
  return element.isInteger(1)               ? Program::Element::Bit
         : element.isInteger(64)            ? Program::Element::I64
         : element.isBF16() && real.isF32() ? Program::Element::BF16
         : real.isF32()                     ? Program::Element::F32
                                            : Program::Element::F64;
}

Decoder::State Reader::readState(DecoderStateOp op) {
  Decoder::State state;
  state.name = op.getLabel().value_or("").str();
  state.initial = op.getInitial().value_or("").str();
  state.next = op.getNext().str();
  if (op.getAppended())
    state.written = Decoder::State::bySearch;
  state.element = elementOf(op.getType());
  state.shape = shapeOf(op.getType());
  return state;
}

static Decoder::Distribution distributionOf(Distribution distribution) {
  switch (distribution) {
  case Distribution::categorical:
    return Decoder::Distribution::Categorical;
  case Distribution::bernoulli:
    return Decoder::Distribution::Bernoulli;
  case Distribution::normal:
    return Decoder::Distribution::Normal;
  case Distribution::uniform:
    return Decoder::Distribution::Uniform;
  case Distribution::mixture:
    return Decoder::Distribution::Mixture;
  }
  llvm_unreachable("unknown distribution");
}

Decoder::Choice Reader::readChoice(DecoderChoiceOp op) {
  Decoder::Choice choice;
  choice.name = op.getTarget().str();
  choice.distribution = distributionOf(op.getDistribution());
  int64_t axes = op.getType().getRank() -
                 numValueAxes(op.getDistribution(), op.getParameterNames());
  for (auto [name, value, type] :
       llvm::zip_equal(op.getParameterNames().getAsValueRange<StringAttr>(),
                       op.getParameters().getAsValueRange<StringAttr>(),
                       op.getParameterTypes().getAsValueRange<TypeAttr>()))
    choice.parameters.push_back(
        {name.str(), value.str(),
         shapeOf(
             cast<ArrayType>(type).getShape().getValue().drop_front(axes))});
  choice.shape = shapeOf(op.getType());
  choice.element = elementOf(op.getType());
  if (Attribute end = op.getEndAttr()) {
    choice.hasEnd = true;
    choice.end = extent(end);
  }
  return choice;
}

void Reader::readMark(DecoderMarkOp op) {
  Decoder::Mark &mark = decoder.marks.emplace_back();
  switch (op.getKind()) {
  case MarkKind::valid:
    mark.kind = Decoder::Mark::Valid;
    break;
  case MarkKind::stop:
    mark.kind = Decoder::Mark::Stop;
    break;
  case MarkKind::score:
    mark.kind = Decoder::Mark::Score;
    break;
  }
  mark.segment = segments.size() - 1;
  mark.value = op.getValue().str();
}

void Reader::readLoop(DecoderLoopOp op) {
  Decoder::Loop loop;
  loop.firstChoice = decoder.choices.size();
  loop.extent = extent(op.getExtentAttr());
  loop.reverse = op.getReverse();
  loop.firstState = decoder.inner.size();
  for (auto state : op.getBody().getOps<DecoderStateOp>())
    decoder.inner.push_back(readState(state));
  loop.endState = decoder.inner.size();
  readStep(op.getBody().front());
  loop.endChoice = decoder.choices.size();
  decoder.loops.push_back(loop);
}

/// The step, or a loop inside it. Each choice ends a segment; a loop ends one
/// where it begins and another one where it ends.
void Reader::readStep(Block &body) {
  for (Operation &op : body) {
    if (auto run = dyn_cast<DecoderRunOp>(op)) {
      segments.back() = run.getProgramAttr();
    } else if (auto mark = dyn_cast<DecoderMarkOp>(op)) {
      readMark(mark);
    } else if (auto choice = dyn_cast<DecoderChoiceOp>(op)) {
      decoder.choices.push_back(readChoice(choice));
      segments.emplace_back();
    } else if (auto loop = dyn_cast<DecoderLoopOp>(op)) {
      segments.emplace_back();
      readLoop(loop);
      segments.emplace_back();
    }
  }
}

/// The segments that write the rows of states.
void Reader::findWriters() {
  for (auto [state, read] :
       llvm::zip_equal(op.getBody().getOps<DecoderStateOp>(), decoder.states))
    if (FlatSymbolRefAttr writer = state.getWriterAttr())
      read.written = llvm::find(segments, writer) - segments.begin();
}

SmallVector<FlatSymbolRefAttr> Reader::read() {
  for (auto state : op.getBody().getOps<DecoderStateOp>())
    decoder.states.push_back(readState(state));
  readStep(op.getBody().front());
  findWriters();
  for (auto stack : op.getBody().getOps<DecoderStackOp>())
    decoder.stacks.push_back(
        {stack.getValue().str(), static_cast<int64_t>(stack.getAxis()),
         elementOf(stack.getType()), shapeOf(stack.getType())});
  for (auto output : op.getBody().getOps<DecoderOutputOp>())
    decoder.outputs.push_back(
        {output.getTarget().str(), output.getValue().value_or("").str()});
  Attribute steps = op.getExtentAttr();
  decoder.isSearch = steps != nullptr;
  if (decoder.isSearch)
    decoder.extent = extent(steps);
  decoder.known = op.getKnown();
  decoder.reverse = op.getReverse();
  decoder.longest = op.getLongest().value_or("").str();
  return std::move(segments);
}

/// One search of a decoder; its programs join `programs`.
static LogicalResult emitSearch(DecoderOp op, Type real,
                                EmitProgram emitProgram, Decoder &decoder,
                                std::vector<Program> &programs) {
  auto emit = [&](FlatSymbolRefAttr name, int &number) -> LogicalResult {
    number = -1;
    if (!name)
      return success();
    auto program = SymbolTable::lookupNearestSymbolFrom<ProgramOp>(op, name);
    number = programs.size();
    return emitProgram(program, programs.emplace_back());
  };
  SmallVector<FlatSymbolRefAttr> segments = Reader(op, real, decoder).read();
  if (failed(emit(op.getEncodeAttr(), decoder.encode)))
    return failure();
  for (FlatSymbolRefAttr segment : segments)
    if (failed(emit(segment, decoder.segments.emplace_back())))
      return failure();
  return emit(op.getFinishAttr(), decoder.finish);
}

LogicalResult fovea::codegen::emitDecoder(ModuleOp source, Type real,
                                          EmitProgram emit, Decoder &decoder) {
  assert(!source.getOps<DecoderOp>().empty() &&
         "the phase 'batch' has split a decoder");
  if (auto model = source->getAttrOfType<StringAttr>("attn.model"))
    decoder.model = model.str();
  bool isFirst = true;
  for (DecoderOp op : source.getOps<DecoderOp>()) {
    Decoder &search = isFirst ? decoder : decoder.later.emplace_back();
    isFirst = false;
    search.model = decoder.model;
    if (failed(emitSearch(op, real, emit, search, decoder.programs)))
      return failure();
  }
  return success();
}
