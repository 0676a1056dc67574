//===- Bodies.cpp - the scalars of an equation as operators ---------------===//
//
// Both sides of a condition are computed, and the condition selects. So every
// operator must be defined everywhere: places are clipped, and whole numbers
// are not divided by 0.
//
//===----------------------------------------------------------------------===//

#include "codegen/onnx/Emitter.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen::onnx;
using codegen::onnx::Tensor;

BodyEmitter::BodyEmitter(Emitter &emitter, attn::ComputeOp op)
    : emitter(emitter), op(op), rank(op.getNumIndices() + 1) {
  llvm::append_range(extents, op.getExtents());
  for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i)
    reducedAxes |= uint64_t(2) << i;
}

/// The name of an equation; a part without a name is called by its reader.
static std::string nameOf(attn::ComputeOp op) {
  Operation *reader = op;
  for (unsigned steps = 0; reader && steps < 64; ++steps) {
    if (auto label = reader->getAttrOfType<StringAttr>("label"))
      return (reader == op ? "equation '" : "a part of equation '") +
             label.str() + "'";
    auto users = reader->getUsers();
    reader = users.empty() ? nullptr : *users.begin();
    if (reader && !isa<attn::ComputeOp>(reader))
      if (auto compute = reader->getParentOfType<attn::ComputeOp>())
        reader = compute;
  }
  return "an equation";
}

FailureOr<Tensor> BodyEmitter::run() {
  std::optional<Tensor> condition;
  if (op.hasCondition()) {
    FailureOr<Tensor> evaluated = evaluate(op.getCondition());
    if (failed(evaluated))
      return failure();
    condition = *evaluated;
  }
  FailureOr<Tensor> evaluated = evaluate(op.getBody());
  if (failed(evaluated))
    return failure();
  yielded = *evaluated;
  bool isLengthInside = false;
  for (unsigned i = op.getNumParallel() + 1; i < op.getNumIndices(); ++i)
    isLengthInside |= Emitter::isLength(extents[i]);
  if (isLengthInside && (op.getReducer() == attn::Reducer::argmax ||
                         op.getReducer() == attn::Reducer::argmin))
    return op.emitError() << "'--emit onnx' cannot write " << nameOf(op)
                          << ": it numbers places along several axes, and one "
                             "of them is a length";
  Tensor result;
  if (op.getReducer() == attn::Reducer::none)
    result = condition ? emitter.where(*condition, yielded,
                                       emitter.zero(yielded.type))
                       : yielded;
  else
    result = reduce(condition);
  for (unsigned i = 0; i < op.getNumParallel(); ++i)
    if (op.getLower()[i] > 0) {
      Tensor at = emitter.places(extents[i], i + 1,
                                 result.rank == 0 ? op.getNumParallel() + 1
                                                  : result.rank);
      result = emitter.where(
          emitter.apply("GreaterOrEqual", {at, emitter.whole(op.getLower()[i])},
                        Element::Bit),
          result, emitter.zero(result.type));
    }
  return result;
}

FailureOr<Tensor> BodyEmitter::evaluate(Region &region) {
  for (BlockArgument index : region.getArguments())
    values[index] = emitter.places(extents[index.getArgNumber()],
                                   index.getArgNumber() + 1, rank);
  if (failed(evaluate(region.front())))
    return failure();
  Value last = region.front().getTerminator()->getOperand(0);
  auto found = values.find(last);
  // The factors of a sum are multiplied by the sum.
  return found == values.end() ? Tensor() : valueOf(last);
}

LogicalResult BodyEmitter::evaluate(Block &block) {
  Operation *end = block.getTerminator();
  for (Operation &each : block.without_terminator()) {
    bool isFactors = op.getReducer() == attn::Reducer::sum &&
                     end->getParentRegion() == &op.getBody() &&
                     end->getOperand(0).getDefiningOp() == &each &&
                     isa<arith::MulFOp>(each) && each.hasOneUse();
    if (isFactors) {
      Tensor a = valueOf(each.getOperand(0)), b = valueOf(each.getOperand(1));
      if ((a.wide | b.wide) & reducedAxes && a.wide != 0 && b.wide != 0 &&
          ((a.wide | b.wide) & reducedAxes) == reducedAxes)
        continue;
    }
    if (failed(emitScalar(each)))
      return failure();
  }
  return success();
}

Tensor BodyEmitter::valueOf(Value value) {
  if (auto found = values.find(value); found != values.end())
    return found->second;
  if (const Tensor *index = emitter.outerIndex(value))
    return *index;
  // A constant outside of the equation.
  (void)emitScalar(*value.getDefiningOp());
  return values.find(value)->second;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Operators with the same operands.
static StringRef operatorOf(Operation &op) {
  return llvm::StringSwitch<StringRef>(op.getName().getStringRef())
      .Cases({"arith.addf", "arith.addi"}, "Add")
      .Cases({"arith.subf", "arith.subi"}, "Sub")
      .Cases({"arith.mulf", "arith.muli"}, "Mul")
      .Cases({"arith.divf", "arith.divsi"}, "Div")
      .Cases({"arith.maximumf", "arith.maxsi", "arith.maxnumf"}, "Max")
      .Cases({"arith.minimumf", "arith.minsi", "arith.minnumf"}, "Min")
      .Case("arith.negf", "Neg")
      .Cases({"math.absf", "math.absi"}, "Abs")
      .Case("math.acos", "Acos")
      .Case("math.asin", "Asin")
      .Case("math.atan", "Atan")
      .Case("math.ceil", "Ceil")
      .Case("math.cos", "Cos")
      .Case("math.cosh", "Cosh")
      .Case("math.erf", "Erf")
      .Case("math.exp", "Exp")
      .Case("math.floor", "Floor")
      .Case("math.log", "Log")
      .Case("math.powf", "Pow")
      .Case("math.roundeven", "Round")
      .Case("math.sin", "Sin")
      .Case("math.sinh", "Sinh")
      .Case("math.sqrt", "Sqrt")
      .Case("math.tan", "Tan")
      .Case("math.tanh", "Tanh")
      .Case("attn.sigmoid", "Sigmoid")
      .Case("attn.stop", "Identity")
      .Default("");
}

/// The comparison, and whether the result is the opposite.
static std::pair<StringRef, bool> comparisonOf(Operation &op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    switch (compare.getPredicate()) {
    case P::eq:
      return {"Equal", false};
    case P::ne:
      return {"Equal", true};
    case P::slt:
      return {"Less", false};
    case P::sle:
      return {"LessOrEqual", false};
    case P::sgt:
      return {"Greater", false};
    case P::sge:
      return {"GreaterOrEqual", false};
    default:
      return {"", false};
    }
  }
  using P = arith::CmpFPredicate;
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case P::OEQ:
    return {"Equal", false};
  case P::UNE:
    return {"Equal", true};
  case P::OLT:
    return {"Less", false};
  case P::OLE:
    return {"LessOrEqual", false};
  case P::OGT:
    return {"Greater", false};
  case P::OGE:
    return {"GreaterOrEqual", false};
  case P::UGE:
    return {"Less", true};
  case P::UGT:
    return {"LessOrEqual", true};
  case P::ULE:
    return {"Greater", true};
  case P::ULT:
    return {"GreaterOrEqual", true};
  default:
    return {"", false};
  }
}

LogicalResult BodyEmitter::emitScalar(Operation &each) {
  auto give = [&](Tensor tensor) {
    values[each.getResult(0)] = std::move(tensor);
    return success();
  };
  auto operand = [&](unsigned i) { return valueOf(each.getOperand(i)); };
  auto refuse = [&](const Twine &why) {
    return op.emitError() << "'--emit onnx' cannot write " << nameOf(op) << ": "
                          << why;
  };
  if (auto constant = dyn_cast<arith::ConstantOp>(each)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return give(emitter.realNumber(number.getValueAsDouble()));
    auto number = cast<IntegerAttr>(constant.getValue());
    if (number.getType().isInteger(1))
      return give(
          {emitter.graph.bit(!number.getValue().isZero()), 0, 0, Element::Bit});
    return give(emitter.whole(number.getInt()));
  }
  if (auto random = dyn_cast<attn::RandomOp>(each)) {
    // Dropout is the identity: there is no seed.
    if (random.givesWord())
      return give(emitter.whole(attn::RandomOp::noWord));
    return refuse("it draws random numbers, and an ONNX model has no seed");
  }
  if (auto read = dyn_cast<attn::ReadOp>(each))
    return give(emitRead(read));
  if (auto extent = dyn_cast<attn::ExtentOp>(each))
    return give(emitExtent(extent));
  if (auto branch = dyn_cast<scf::IfOp>(each))
    return emitIf(branch);
  if (isa<arith::SelectOp>(each))
    return give(emitter.where(operand(0), operand(1), operand(2)));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(each))
    return give(operand(0));
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(each))
    return give(emitter.cast(operand(0), emitter.real()));
  if (isa<arith::FPToSIOp, arith::ExtUIOp>(each))
    return give(emitter.cast(operand(0), Element::I64));
  if (isa<arith::CmpIOp, arith::CmpFOp>(each)) {
    auto [name, isOpposite] = comparisonOf(each);
    if (name.empty())
      return refuse("opset 18 has no operator for '" +
                    each.getName().getStringRef() + "'");
    Tensor result =
        emitter.apply(name.str(), {operand(0), operand(1)}, Element::Bit);
    return give(isOpposite ? emitter.apply("Not", {result}) : result);
  }
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(each)) {
    std::string name = isa<arith::AndIOp>(each)  ? "And"
                       : isa<arith::OrIOp>(each) ? "Or"
                                                 : "Xor";
    bool isBit = each.getResult(0).getType().isInteger(1);
    return give(emitter.apply(isBit ? name : "Bitwise" + name,
                              {operand(0), operand(1)}));
  }
  if (isa<arith::FloorDivSIOp, arith::RemSIOp>(each)) {
    Tensor a = operand(0), b = operand(1);
    bool isKnown = matchPattern(each.getOperand(1), m_Constant()) &&
                   !matchPattern(each.getOperand(1), m_Zero());
    Tensor isZero, divisor = b;
    if (!isKnown) {
      isZero = emitter.apply("Equal", {b, emitter.whole(0)}, Element::Bit);
      divisor = emitter.where(isZero, emitter.whole(1), b);
    }
    if (isa<arith::RemSIOp>(each))
      return give(emitter.apply("Mod", {a, divisor}, Element::I64,
                                {NodeAttribute{"fmod", int64_t(1)}}));
    Tensor rest = emitter.apply("Mod", {a, divisor});
    Tensor quotient =
        emitter.apply("Div", {emitter.apply("Sub", {a, rest}), divisor});
    return give(isKnown ? quotient
                        : emitter.where(isZero, emitter.whole(0), quotient));
  }
  if (isa<attn::SoftplusOp>(each)) {
    // log(1 + exp(x)) without overflow.
    Tensor x = operand(0);
    Tensor small = emitter.apply(
        "Exp", {emitter.apply("Neg", {emitter.apply("Abs", {x})})});
    Tensor part = emitter.apply(
        "Log", {emitter.apply("Add", {small, emitter.realNumber(1)})});
    return give(emitter.apply(
        "Add", {emitter.apply("Max", {x, emitter.realNumber(0)}), part}));
  }
  StringRef name = operatorOf(each);
  if (name.empty())
    return refuse("opset 18 has no operator for '" +
                  each.getName().getStringRef() + "'");
  SmallVector<Tensor> operands;
  for (unsigned i = 0; i < each.getNumOperands(); ++i)
    operands.push_back(operand(i));
  return give(emitter.apply(name.str(), operands));
}

LogicalResult BodyEmitter::emitIf(scf::IfOp branch) {
  if (failed(evaluate(*branch.thenBlock())) ||
      failed(evaluate(*branch.elseBlock())))
    return failure();
  Tensor condition = valueOf(branch.getCondition());
  for (auto [result, a, b] :
       llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                       branch.elseYield().getOperands()))
    values[result] = emitter.where(condition, valueOf(a), valueOf(b));
  return success();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

int BodyEmitter::plainIndex(Value index, mlir::Attribute extent) {
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getOwner()->getParentOp() != op.getOperation() ||
      extents[argument.getArgNumber()] != extent)
    return -1;
  return argument.getArgNumber() + 1;
}

/// Whether an index is a number inside of an extent.
static bool isKnownInside(Value index, mlir::Attribute extent) {
  IntegerAttr number;
  auto size = dyn_cast<IntegerAttr>(extent);
  return size && matchPattern(index, m_Constant(&number)) &&
         number.getInt() >= 0 && number.getInt() < size.getInt();
}

Tensor BodyEmitter::read(Value array, ValueRange indices) {
  auto type = cast<attn::ArrayType>(array.getType());
  SmallVector<Tensor> at;
  SmallVector<int> plain;
  SmallVector<mlir::Attribute> shape(type.getShape().getValue());
  for (auto [index, extent] : llvm::zip_equal(indices, shape)) {
    Tensor place = valueOf(index);
    plain.push_back(plainIndex(index, extent));
    const Tensor *loop = emitter.loopOver(extent);
    bool isInside = plain.back() >= 0 || isKnownInside(index, extent) ||
                    (loop && loop->name == place.name);
    if (!isInside) {
      Tensor end{emitter.extentNumber(extent), 0, 0, Element::I64};
      Tensor last = emitter.apply("Sub", {end, emitter.whole(1)});
      place = emitter.apply(
          "Min", {emitter.apply("Max", {place, emitter.whole(0)}), last});
    }
    at.push_back(place);
  }
  return emitter.gather(emitter.arrayOf(array), shape, at, plain, extents);
}

/// The index of the parent of axis `axis`, or null: it belongs to a loop.
static Value parentAmong(attn::ArrayType type, ValueRange indices,
                         unsigned axis, mlir::Attribute parent) {
  for (unsigned i = axis; i-- > 0;)
    if (type.getExtent(i) == parent)
      return indices[i];
  return {};
}

std::optional<Tensor> BodyEmitter::inside(Value array, ValueRange indices) {
  auto type = cast<attn::ArrayType>(array.getType());
  std::optional<Tensor> all;
  auto require = [&](Tensor part) {
    all = all ? emitter.both(*all, part) : part;
  };
  for (auto [axis, index] : llvm::enumerate(indices)) {
    mlir::Attribute extent = type.getExtent(axis);
    mlir::Attribute parent = emitter.parentOf(extent);
    Value outer = parent ? parentAmong(type, indices, axis, parent) : Value();
    bool isOwn = !outer || plainIndex(outer, parent) >= 0;
    const Tensor *loop = emitter.loopOver(extent);
    Tensor place = valueOf(index);
    if (isKnownInside(index, extent) ||
        (isOwn && plainIndex(index, extent) >= 0) ||
        (isOwn && loop && loop->name == place.name))
      continue;
    Tensor end;
    if (!Emitter::isLength(extent)) {
      end = Tensor{emitter.extentNumber(extent), 0, 0, Element::I64};
    } else if (outer) {
      Tensor at = valueOf(outer);
      end = emitter.lengthAt(extent, rank, &at);
    } else {
      end = emitter.lengthAt(extent, rank, nullptr);
    }
    require(emitter.apply("GreaterOrEqual", {place, emitter.whole(0)},
                          Element::Bit));
    require(emitter.apply("Less", {place, end}, Element::Bit));
  }
  return all;
}

Tensor BodyEmitter::emitRead(attn::ReadOp each) {
  ValueRange indices = each.getIndices();
  Tensor value = read(each.getArray(), indices);
  std::optional<Tensor> outside;
  if (each.getOtherwise())
    outside = valueOf(each.getOtherwise());
  for (unsigned number = each.getAlternatives().size(); number-- > 0;) {
    Value array = each.getAlternatives()[number];
    llvm::SmallDenseMap<unsigned, mlir::Attribute> places;
    for (mlir::Attribute pair : cast<ArrayAttr>((*each.getPlaces())[number])) {
      auto both = cast<ArrayAttr>(pair);
      places[cast<IntegerAttr>(both[0]).getInt()] = both[1];
    }
    SmallVector<Value> others;
    std::optional<Tensor> holds;
    for (auto [axis, index] : llvm::enumerate(indices)) {
      auto found = places.find(axis);
      if (found == places.end()) {
        others.push_back(index);
        continue;
      }
      Tensor place;
      if (auto known = dyn_cast<IntegerAttr>(found->second)) {
        place = emitter.whole(known.getInt());
      } else {
        mlir::Attribute parent = emitter.parentOf(found->second);
        Value outer =
            parent ? parentAmong(each.getArrayType(), indices, axis, parent)
                   : Value();
        Tensor at = outer ? valueOf(outer) : Tensor();
        place = emitter.lengthAt(found->second, rank, outer ? &at : nullptr);
      }
      Tensor isHere =
          emitter.apply("Equal", {valueOf(index), place}, Element::Bit);
      holds = holds ? emitter.both(*holds, isHere) : isHere;
    }
    Tensor there = read(array, others);
    if (outside)
      if (std::optional<Tensor> has = inside(array, others);
          has && each.getOtherwise())
        there = emitter.where(*has, there, valueOf(each.getOtherwise()));
    outside = outside ? emitter.where(*holds, there, *outside) : there;
  }
  if (!outside)
    return value;
  std::optional<Tensor> isInside = inside(each.getArray(), indices);
  return isInside ? emitter.where(*isInside, value, *outside) : value;
}

Tensor BodyEmitter::emitExtent(attn::ExtentOp each) {
  auto length = each.getLengthAttr();
  if (each.getLargest())
    return emitter.largestLength(length, rank);
  if (!each.getParent())
    return emitter.lengthAt(length, rank, nullptr);
  Tensor at = valueOf(each.getParent());
  return emitter.lengthAt(length, rank, &at);
}
