//===- DescribeDecoder.cpp - what a search does between its programs ------===//

#include "dialect/Distributions.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Orders.h"
#include "passes/batch/CutSearches.h"
#include "passes/batch/Splitter.h"

using namespace mlir;
using namespace fovea::attn;

StringAttr Splitter::text(const Twine &value) {
  return builder.getStringAttr(value);
}

FlatSymbolRefAttr Splitter::nameOf(const Part &part) {
  return FlatSymbolRefAttr::get(ProgramOp(part.program).getSymNameAttr());
}

void Splitter::describeState(unsigned carry) {
  auto state = cast<DictionaryAttr>(search.getStates()[carry]);
  Value argument = search.getCarry(carry), next = search.getNext(carry);
  auto type = cast<ArrayType>(argument.getType());
  AppendOp append = appendOf(carry);
  // An array without places before the first step starts with none.
  bool isOpenState = llvm::any_of(
      type.getShape(), [&](Attribute extent) { return isOpen(extent); });
  StringAttr after = text(nameOf(append ? Value(append.getRow()) : next));
  StringAttr initial;
  if (!isOpenState)
    initial = text(nameOf(search.getInits()[carry]));
  FlatSymbolRefAttr writer;
  if (append && !isLeftToSearch(append))
    writer = nameOf(parts[segmentOf[append]]);
  OpBuilder before(parts.front().run);
  DecoderStateOp::create(before, argument.getLoc(),
                         state.getAs<StringAttr>("name"), initial, after,
                         append ? builder.getUnitAttr() : UnitAttr(), writer,
                         TypeAttr::get(type));
}

void Splitter::describeStates(const Loop &loop) {
  ScanOp scan = loop.scan;
  OpBuilder before(parts[loop.firstSegment].run);
  for (unsigned i = 0; i < scan.getNumCarries(); ++i) {
    StringAttr initial = text(nameOf(scan.getInits()[i]));
    DecoderStateOp::create(before, scan.getLoc(), StringAttr(), initial,
                           text(nameOf(scan.getNext(i))), UnitAttr(),
                           FlatSymbolRefAttr(),
                           TypeAttr::get(scan.getInits()[i].getType()));
  }
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
  // Passes of the phase `fuse` keep the order that training has.
  compute.setOrderAttr(
      orderOf(compute, Examples(compute->getParentOfType<ProgramOp>())));
  return compute;
}

void Splitter::describeChoice(OpBuilder &end, ChoiceOp choice) {
  size_t place = llvm::find(choices, choice) - choices.begin();
  SmallVector<Attribute> names, values, types;
  for (auto [name, value] :
       llvm::zip_equal(choice.getParameterNames(), choice.getParameters())) {
    types.push_back(TypeAttr::get(value.getType()));
    if (cast<StringAttr>(name).getValue() == "logits") {
      std::string source = "logp/" + std::to_string(place);
      names.push_back(text("logp"));
      values.push_back(text(source));
      Part &part = parts[segmentAfter(choice) - 1];
      import(part, value);
      OpBuilder after = endOf(part);
      output(part, source, logSoftmax(after, part.mapping.lookup(value)));
    } else {
      names.push_back(name);
      values.push_back(text(nameOf(value)));
    }
  }
  DecoderChoiceOp::create(
      end, choice.getLoc(), choice.getTargetAttr(),
      choice.getDistributionAttr(), builder.getArrayAttr(names),
      builder.getArrayAttr(values), builder.getArrayAttr(types),
      choice.getEndAttr(), TypeAttr::get(choice.getResult().getType()));
}

/// The programs and choices of the step, or of a loop inside it.
void Splitter::describeStep(Block &block, OpBuilder end, unsigned &segment) {
  auto run = [&] {
    Part &part = parts[segment++];
    part.run = DecoderRunOp::create(end, part.program.getLoc(), nameOf(part));
    part.last = part.run;
  };
  run();
  for (Operation &op : block) {
    if (isMade(&op)) {
      describeChoice(end, cast<ChoiceOp>(op));
      run();
    } else if (findLoop(&op)) {
      auto scan = cast<ScanOp>(op);
      auto loop = DecoderLoopOp::create(end, op.getLoc(), scan.getExtentAttr(),
                                        scan.getReverseAttr());
      Block &body = loop.getBody().emplaceBlock();
      describeStep(scan.getBody().front(), OpBuilder::atBlockEnd(&body),
                   segment);
      run();
    }
  }
}

/// The marks of the step, or of a loop inside it, after the programs that
/// compute them.
void Splitter::describeMarks(Block &block, unsigned segment) {
  for (Operation &op : block) {
    if (const Loop *loop = findLoop(&op))
      describeMarks(op.getRegion(0).front(), loop->firstSegment);
    if (isMade(&op) || findLoop(&op))
      segment = segmentAfter(&op);
    auto mark = dyn_cast<MarkOp>(op);
    if (!mark || mark.getTarget() == "longest")
      continue;
    Part &part = parts[segment];
    OpBuilder after(builder.getContext());
    after.setInsertionPointAfter(part.last);
    part.last = DecoderMarkOp::create(after, mark.getLoc(),
                                      *symbolizeMarkKind(mark.getTarget()),
                                      nameOf(mark.getValue()));
  }
}

LogicalResult Splitter::describeLongest() {
  for (auto mark : program.getOps<MarkOp>()) {
    if (mark.getTarget() != "longest")
      continue;
    if (afterSearch.contains(mark))
      return refuse(mark, "the mark 'longest' depends on what is generated");
    decoder.setLongest(nameOf(mark.getValue()));
  }
  return success();
}

void Splitter::describeOutputs(OpBuilder &end) {
  for (auto op : program.getOps<OutputOp>()) {
    Value value = op.getValue();
    Operation *def = value.getDefiningOp();
    StringAttr name;
    if (!search || def == search || !afterSearch.contains(def))
      name = text(nameOf(value));
    if (!name || name.getValue().starts_with("last/")) {
      name = {};
      import(finish, value);
      output(finish, op.getTarget(), finish.mapping.lookup(value));
    }
    DecoderOutputOp::create(end, op.getLoc(), op.getTargetAttr(), name);
  }
}

LogicalResult Splitter::describe() {
  OpBuilder before(encode.program);
  decoder = DecoderOp::create(before, program.getLoc(), nameOf(encode),
                              search ? search.getExtentAttr() : Attribute(),
                              search ? search.getKnownAttr() : UnitAttr(),
                              search ? search.getReverseAttr() : UnitAttr(),
                              StringAttr(), FlatSymbolRefAttr());
  OpBuilder end = OpBuilder::atBlockEnd(&decoder.getBody().emplaceBlock());
  unsigned segment = 0;
  describeStep(stepBlock(), end, segment);
  describeMarks(stepBlock(), 0);
  if (search) {
    for (unsigned i = 0; i < search.getNumCarries(); ++i)
      describeState(i);
    for (const Loop &loop : loops)
      describeStates(loop);
    for (unsigned i = 0; i < search.getNumStacked(); ++i)
      DecoderStackOp::create(
          end, search.getLoc(), text(nameOf(search.getStackedValue(i))),
          builder.getI64IntegerAttr(search.getAxes()[i]),
          TypeAttr::get(search.getStackedValue(i).getType()));
    if (failed(describeLongest()))
      return failure();
  }
  describeOutputs(end);
  return success();
}
