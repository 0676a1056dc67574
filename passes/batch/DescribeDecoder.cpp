//===- DescribeDecoder.cpp - what a search does between its programs ------===//

#include "dialect/Distributions.h"
#include "passes/analysis/Batch.h"
#include "passes/batch/CutSearches.h"
#include "passes/batch/Splitter.h"

using namespace mlir;
using namespace fovea::attn;

Attribute Splitter::describeState(unsigned carry) {
  auto state = cast<DictionaryAttr>(search.getStates()[carry]);
  Value argument = search.getCarry(carry), next = search.getNext(carry);
  AppendOp append = appendOf(carry);
  // An array without places before the first step starts with none.
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
    entries.push_back(entry(
        "written",
        number(isLeftToSearch(append) ? -1 : int64_t(segmentOf[append]))));
  return builder.getDictionaryAttr(entries);
}

Attribute Splitter::describeLoop(const Loop &loop) {
  ScanOp scan = loop.scan;
  SmallVector<Attribute> states;
  for (unsigned i = 0; i < scan.getNumCarries(); ++i)
    states.push_back(builder.getDictionaryAttr(
        {entry("type", TypeAttr::get(scan.getInits()[i].getType())),
         entry("initial", text(nameOf(scan.getInits()[i]))),
         entry("next", text(nameOf(scan.getNext(i))))}));
  SmallVector<NamedAttribute> entries = {
      entry("first", number(loop.firstChoice)),
      entry("end", number(loop.endChoice)), entry("extent", scan.getExtent()),
      entry("states", builder.getArrayAttr(states))};
  if (scan.getReverse())
    entries.push_back(entry("reverse", builder.getUnitAttr()));
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

Attribute Splitter::describeChoice(unsigned place) {
  ChoiceOp choice = choices[place];
  auto type = cast<ArrayType>(choice.getResult().getType());
  int64_t axes = type.getRank() - numValueAxes(choice);
  SmallVector<Attribute> parameters;
  for (auto [name, value] :
       llvm::zip_equal(choice.getParameterNames(), choice.getParameters())) {
    Attribute own = name;
    std::string source;
    if (cast<StringAttr>(name).getValue() == "logits") {
      own = text("logp");
      source = "logp/" + std::to_string(place);
      Part &part = parts[segmentAfter(choice) - 1];
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

/// The marks of the step, or of a loop inside it.
void Splitter::describeMarks(Block &block, SmallVectorImpl<Attribute> &marks) {
  int64_t segment = 0;
  for (Operation &op : block) {
    if (isMade(&op) || findLoop(&op))
      segment = segmentAfter(&op);
    if (findLoop(&op))
      describeMarks(op.getRegion(0).front(), marks);
    if (auto mark = dyn_cast<MarkOp>(op); mark && mark.getTarget() != "longest")
      marks.push_back(builder.getDictionaryAttr(
          {entry("kind", mark.getTargetAttr()),
           entry("segment", number(segment)),
           entry("value", text(nameOf(mark.getValue())))}));
  }
}

ArrayAttr Splitter::describeOutputs() {
  SmallVector<Attribute> outputs;
  for (auto op : program.getOps<OutputOp>()) {
    Value value = op.getValue();
    Operation *def = value.getDefiningOp();
    std::string name;
    if (!search || def == search || !afterSearch.contains(def))
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
  SmallVector<Attribute> states, made, marks, stacks, inside;
  for (unsigned i = 0; i < choices.size(); ++i)
    made.push_back(describeChoice(i));
  entries.push_back(entry("choices", builder.getArrayAttr(made)));
  describeMarks(stepBlock(), marks);
  entries.push_back(entry("marks", builder.getArrayAttr(marks)));
  if (search) {
    for (unsigned i = 0; i < search.getNumCarries(); ++i)
      states.push_back(describeState(i));
    for (const Loop &loop : loops)
      inside.push_back(describeLoop(loop));
    for (unsigned i = 0; i < search.getNumStacked(); ++i)
      stacks.push_back(builder.getDictionaryAttr(
          {entry("value", text(nameOf(search.getStackedValue(i)))),
           entry("axis", number(search.getAxes()[i])),
           entry("type", TypeAttr::get(search.getStackedValue(i).getType()))}));
    entries.push_back(entry("states", builder.getArrayAttr(states)));
    if (!loops.empty())
      entries.push_back(entry("loops", builder.getArrayAttr(inside)));
    entries.push_back(entry("stacks", builder.getArrayAttr(stacks)));
    entries.push_back(entry("extent", search.getExtent()));
    if (search.getKnown())
      entries.push_back(entry("known", builder.getUnitAttr()));
    if (search.getReverse())
      entries.push_back(entry("reverse", builder.getUnitAttr()));
    for (auto mark : program.getOps<MarkOp>()) {
      if (mark.getTarget() != "longest")
        continue;
      if (afterSearch.contains(mark))
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
