//===- LowerScalars.cpp - what stands in the body of a compute ------------===//

#include "frontends/fov/check/Infer.h"
#include "frontends/fov/lower/Lower.h"

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

Type Lowering::elementType(Kind kind) {
  switch (kind) {
  case Kind::Bit:
    return builder.getI1Type();
  case Kind::Int:
  case Kind::Token:
    return builder.getI64Type();
  case Kind::Real:
    return builder.getF64Type();
  }
  llvm_unreachable("every kind is listed");
}

Kind Lowering::kindOfType(Type type) {
  return type.isF64() ? Kind::Real : type.isInteger(1) ? Kind::Bit : Kind::Int;
}

Value Lowering::convert(Body &body, Value value, Kind kind) {
  OpBuilder &b = body.builder;
  Location loc = value.getLoc();
  Type wanted = elementType(kind);
  if (value.getType() == wanted)
    return value;
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  if (value.getType() == wanted)
    return value;
  bool fromBit = value.getType().isInteger(1);
  if (kind == Kind::Real)
    return fromBit ? Value(arith::UIToFPOp::create(b, loc, wanted, value))
                   : Value(arith::SIToFPOp::create(b, loc, wanted, value));
  if (kind == Kind::Bit) {
    if (value.getType().isF64())
      return arith::CmpFOp::create(
          b, loc, arith::CmpFPredicate::UNE, value,
          arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0)));
    return arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ne, value,
        arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)));
  }
  if (fromBit)
    return arith::ExtUIOp::create(b, loc, wanted, value);
  return arith::FPToSIOp::create(b, loc, wanted, value);
}

/// One element of a term, as `kind`.
Value Lowering::scalar(Body &body, Term *term, Position position, Kind kind) {
  // A number of the required kind needs no conversion.
  if (term->kind == TermKind::Number && kind == Kind::Real)
    return arith::ConstantOp::create(body.builder, location(term->loc),
                                     builder.getF64FloatAttr(term->number));
  return convert(body, rawScalar(body, term, position), kind);
}

Value Lowering::rawScalar(Body &body, Term *term, Position position) {
  OpBuilder &b = body.builder;
  Location loc = location(term->loc);
  switch (term->kind) {
  case TermKind::Number:
    if (term->kindOf == Kind::Bit)
      return arith::ConstantOp::create(b, loc,
                                       b.getBoolAttr(term->number != 0));
    if (term->kindOf == Kind::Real)
      return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(term->number));
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(int64_t(term->number)));
  case TermKind::Index:
    return body.indices.lookup(term->index);
  case TermKind::Size:
    return sizeValue(body, *term);
  case TermKind::Fill:
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(int64_t(term->number)));
  case TermKind::Read:
  case TermKind::Select:
    return readScalar(body, term, position);
  case TermKind::Vector:
    return rawScalar(body, term->args[0],
                     term->args[0]->shape->empty() ? Position() : position);
  case TermKind::Stack: {
    Body inner(b, body.path);
    inner.indices = body.indices;
    for (auto [k, var] : llvm::enumerate(term->vars))
      inner.indices[var] = position[k];
    return rawScalar(inner, term->args[0],
                     position.drop_front(term->vars.size()));
  }
  case TermKind::Slice: {
    // Row-major within the slice, after the offset.
    Value at = extentValue(body, term->offset, nullptr, term->loc);
    Value inside;
    for (auto [k, size] : llvm::enumerate(term->sizes)) {
      Value index = position[k];
      inside = inside ? Value(arith::AddIOp::create(
                            b, loc,
                            arith::MulIOp::create(
                                b, loc, inside,
                                extentValue(body, size, nullptr, term->loc)),
                            index))
                      : index;
    }
    if (inside)
      at = arith::AddIOp::create(b, loc, at, inside);
    return rawScalar(body, term->args[0], {at});
  }
  case TermKind::Onehot: {
    Value token = convert(body, rawScalar(body, term->args[0], {}), Kind::Int);
    Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), token);
    Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        position[0], index);
    return equal;
  }
  case TermKind::Map:
  case TermKind::If:
    if (isIndexOnly(term))
      return inlineScalar(body, term, position);
    [[fallthrough]];
  default:
    return readNode(body, materialise(term, body.path), position);
  }
}

Value Lowering::readNode(Body &body, const Node &node, Position position) {
  SmallVector<Value> indices;
  for (IndexVar *var : node.indices)
    indices.push_back(body.indices.lookup(var));
  indices.append(position.begin(), position.end());
  return attn::ReadOp::create(body.builder, node.array.getLoc(), node.array,
                              indices);
}

/// Everything elementwise in place: conditions and index arithmetic.
Value Lowering::inlineScalar(Body &body, Term *term, Position position) {
  if (term->kind == TermKind::Map)
    return mapScalar(body, term, position, /*inPlace=*/true);
  if (term->kind == TermKind::If)
    return ifScalar(body, term, position);
  return rawScalar(body, term, position);
}

Value Lowering::ifScalar(Body &body, Term *term, Position position) {
  Location loc = location(term->loc);
  Kind kind = *term->kindOf;
  Value condition =
      convert(body, inlineScalar(body, term->args[0], {}), Kind::Bit);
  auto op = scf::IfOp::create(body.builder, loc, TypeRange(elementType(kind)),
                              condition, /*withElseRegion=*/true);
  for (bool yes : {true, false}) {
    Body branch(yes ? op.getThenBodyBuilder() : op.getElseBodyBuilder(),
                body.path);
    branch.indices = body.indices;
    require(term->args[0], yes, branch.path);
    Term *value = term->args[yes ? 1 : 2];
    Value result = scalar(branch, value,
                          value->shape->empty() ? Position() : position, kind);
    scf::YieldOp::create(branch.builder, loc, result);
  }
  return op.getResult(0);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value Lowering::extentValue(Body &body, const Extent &size, Term *parent,
                            SMLoc at) {
  OpBuilder &b = body.builder;
  Location loc = location(at);
  if (std::optional<int64_t> value = size.value())
    return arith::ConstantIndexOp::create(b, loc, *value);
  std::optional<Extent::Linear> linear = size.linear();
  assert(linear && "sizes were checked");
  Value sum;
  for (auto &[atom, factor] : linear->coefficients) {
    Value part;
    if (atom->bound) {
      part = attn::ReadOp::create(b, loc, valueOf(model.lengthValues.at(atom)),
                                  ValueRange());
      part = arith::IndexCastOp::create(b, loc, b.getIndexType(), part);
    } else if (Extent(atom).lengthByValues()) {
      part = arith::FloorDivSIOp::create(
          b, loc, extentValue(body, atom->numerator, nullptr, at),
          extentValue(body, atom->denominator, nullptr, at));
    } else {
      emitLength(atom);
      Value index = parent ? indexValue(body, parent) : Value();
      part = attn::ExtentOp::create(b, loc, b.getStringAttr(lengthName(atom)),
                                    index);
    }
    if (factor != 1)
      part = arith::MulIOp::create(
          b, loc, part, arith::ConstantIndexOp::create(b, loc, factor));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, part)) : part;
  }
  if (linear->constant != 0)
    sum = arith::AddIOp::create(
        b, loc, sum, arith::ConstantIndexOp::create(b, loc, linear->constant));
  return sum;
}

Value Lowering::sizeValue(Body &body, const Term &term) {
  Term *parent = term.args.empty() ? nullptr : term.args[0];
  return extentValue(body, term.extent, parent, term.loc);
}

/// An integer term as a value of type index.
Value Lowering::indexValue(Body &body, Term *term) {
  OpBuilder &b = body.builder;
  Location loc = location(term->loc);
  if (term->kind == TermKind::Number)
    return arith::ConstantIndexOp::create(b, loc, int64_t(term->number));
  if (term->kind == TermKind::Index)
    return body.indices.lookup(term->index);
  if (term->kind == TermKind::Size)
    return sizeValue(body, *term);
  if (term->kind == TermKind::Map && term->args.size() == 2) {
    auto arg = [&](unsigned k) { return indexValue(body, term->args[k]); };
    switch (term->fn) {
    case Fn::Add:
      return arith::AddIOp::create(b, loc, arg(0), arg(1));
    case Fn::Sub:
      return arith::SubIOp::create(b, loc, arg(0), arg(1));
    case Fn::Mul:
      return arith::MulIOp::create(b, loc, arg(0), arg(1));
    case Fn::FloorDiv:
      return arith::FloorDivSIOp::create(b, loc, arg(0), arg(1));
    case Fn::Max:
      return arith::MaxSIOp::create(b, loc, arg(0), arg(1));
    case Fn::Min:
      return arith::MinSIOp::create(b, loc, arg(0), arg(1));
    case Fn::Mod: {
      Value x = arg(0), n = arg(1);
      Value quotient = arith::FloorDivSIOp::create(b, loc, x, n);
      return arith::SubIOp::create(b, loc, x,
                                   arith::MulIOp::create(b, loc, quotient, n));
    }
    default:
      break;
    }
  }
  if (term->kind == TermKind::Map && term->fn == Fn::Negate)
    return arith::SubIOp::create(b, loc,
                                 arith::ConstantIndexOp::create(b, loc, 0),
                                 indexValue(body, term->args[0]));
  Value value = rawScalar(body, term, {});
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                    convert(body, value, Kind::Int));
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// The values at constant places, with more constants first: `h[-1,-1]` does
/// not belong to `h[-1,j]`, in whichever order they are written.
static SmallVector<const Piece *> boundariesOf(const Array &array) {
  auto numFixed = [](const Piece &piece) {
    return llvm::count_if(piece.places,
                          [](const PiecePlace &place) { return !place.var; });
  };
  SmallVector<const Piece *> found;
  for (unsigned count = array.numPlaces; count > 0; --count)
    for (const Piece &piece : array.pieces)
      if ((piece.value || array.latent) && numFixed(piece) == count)
        found.push_back(&piece);
  return found;
}

/// Returns whether an argument of a read is the place `place`, whatever the
/// indices.
static bool isPlace(const Term &arg, const Extent &place) {
  if (arg.kind == TermKind::Number)
    return place == Extent(int64_t(arg.number));
  return arg.kind == TermKind::Size && arg.args.empty() && place == arg.extent;
}

Value Lowering::readScalar(Body &body, Term *term, Position position) {
  OpBuilder &b = body.builder;
  Location loc = location(term->loc);
  if (term->kind == TermKind::Select) {
    Term *base = term->args[0];
    SmallVector<Value> indices;
    for (Term *arg : ArrayRef(term->args).drop_front())
      indices.push_back(indexValue(body, arg));
    indices.append(position.begin(), position.end());
    if (!term->fallback)
      return rawScalar(body, base, indices);
    Node node = materialise(base, body.path);
    SmallVector<Value> all;
    for (IndexVar *var : node.indices)
      all.push_back(body.indices.lookup(var));
    all.append(indices);
    Kind kind = kindOfType(
        cast<attn::ArrayType>(node.array.getType()).getElementType());
    auto otherwise = [&](Body &in) {
      return scalar(in, term->fallback,
                    term->fallback->shape->empty() ? Position() : position,
                    kind);
    };
    auto read = [&](Body &in) -> Value {
      return attn::ReadOp::create(in.builder, loc, elementType(kind),
                                  node.array, all, ValueRange(), otherwise(in),
                                  ArrayAttr());
    };
    SmallVector<std::pair<Value, Extent>> places;
    for (auto [index, size] : llvm::zip(indices, *base->shape))
      places.push_back({index, size});
    if (Value inside = isInside(body, term->loc, places))
      return branch(body, term->loc, kind, inside, read, otherwise);
    return read(body);
  }

  Array &array = *term->array;
  // A constant place is resolved here: s[-1], x[0].
  SmallVector<const Piece *> boundaries = boundariesOf(array);
  for (const Piece *boundary : boundaries) {
    const Piece &piece = *boundary;
    bool hits = true, outside = false;
    for (auto [k, place] : llvm::enumerate(piece.places)) {
      if (place.var)
        continue;
      hits &= k < term->args.size() && isPlace(*term->args[k], place.constant);
      outside |= !isStored(array, k, place.constant);
    }
    if (!hits || !outside)
      continue;
    SmallVector<Value> indices;
    for (IndexVar *var : array.context)
      indices.push_back(body.indices.lookup(var));
    unsigned next = 0;
    for (unsigned k = 0; k < array.numPlaces; ++k) {
      Value index = k < term->args.size() ? indexValue(body, term->args[k])
                                          : position[next++];
      if (piece.places[k].var)
        indices.push_back(index);
    }
    for (unsigned k = array.numPlaces; k < term->args.size(); ++k)
      indices.push_back(indexValue(body, term->args[k]));
    indices.append(position.begin() + next, position.end());
    return attn::ReadOp::create(b, loc, boundaryValue(array, piece), indices);
  }

  // The value before a sentence, unless an equation defines it.
  unsigned words = array.numPlaces - 1; // the axis of a sentence
  bool hasStart =
      array.isSentence && llvm::all_of(array.pieces, [](const Piece &piece) {
        return piece.isGeneral();
      });
  auto startSymbols = [&] {
    return startSymbol(ArrayRef(array.extents).take_front(words));
  };
  if (hasStart && words < term->args.size() &&
      isPlace(*term->args[words], Extent(-1))) {
    SmallVector<Value> row;
    for (Term *arg : ArrayRef(term->args).take_front(words))
      row.push_back(indexValue(body, arg));
    return attn::ReadOp::create(b, loc, startSymbols(), row);
  }

  SmallVector<Value> indices;
  for (IndexVar *var : array.context)
    indices.push_back(body.indices.lookup(var));
  for (Term *arg : term->args)
    indices.push_back(indexValue(body, arg));
  indices.append(position.begin(), position.end());
  unsigned first = array.context.size();
  for (unsigned k = 0; k < array.numPlaces; ++k)
    if (int64_t shift = array.shift(k))
      indices[first + k] =
          arith::SubIOp::create(b, loc, indices[first + k],
                                arith::ConstantIndexOp::create(b, loc, shift));
  return readInside(body, term, position, indices, boundaries);
}

/// One of two values.
Value Lowering::branch(Body &body, SMLoc loc, Kind kind, Value condition,
                       llvm::function_ref<Value(Body &)> yes,
                       llvm::function_ref<Value(Body &)> no) {
  auto op = scf::IfOp::create(body.builder, location(loc),
                              TypeRange(elementType(kind)), condition,
                              /*withElseRegion=*/true);
  for (bool holds : {true, false}) {
    Body inner(holds ? op.getThenBodyBuilder() : op.getElseBodyBuilder(),
               body.path);
    inner.indices = body.indices;
    Value value = holds ? yes(inner) : no(inner);
    scf::YieldOp::create(inner.builder, location(loc), value);
  }
  return op.getResult(0);
}

/// Reads an array at the places `indices`, or one of `boundaries` that is
/// there.
Value Lowering::readInside(Body &body, Term *term, Position position,
                           ArrayRef<Value> indices,
                           ArrayRef<const Piece *> boundaries) {
  OpBuilder &b = body.builder;
  Location loc = location(term->loc);
  Array &array = *term->array;
  Kind kind = *array.kind;
  unsigned first = array.context.size(), words = array.numPlaces - 1;
  bool hasStart =
      array.isSentence && llvm::all_of(array.pieces, [](const Piece &piece) {
        return piece.isGeneral();
      });

  // Places outside the array that this read can reach.
  SmallVector<Attribute> cases;
  SmallVector<Value> alternatives;
  auto reaches = [&](unsigned axis, const Extent &place) {
    if (axis >= term->args.size())
      return array.shift(axis) != 0; // the whole axis is read
    const Term *arg = term->args[axis];
    if (arg->kind == TermKind::Number)
      return false;
    auto [var, shift] =
        affineIndex(*arg).value_or(std::pair<IndexVar *, int64_t>(nullptr, 0));
    if (!var)
      return true;
    // Values of the index: lower .. extent - 1, shifted.
    std::optional<int64_t> number = place.value();
    if (number && *number < var->lower + shift)
      return false;
    Extent last = *var->extent + Extent(shift - 1);
    std::optional<Extent::Linear> room = (last - place).linear();
    return !room || !room->coefficients.empty() || room->constant >= 0;
  };
  auto placeAttribute = [&](const Extent &place) -> Attribute {
    if (std::optional<int64_t> value = place.value())
      return builder.getI64IntegerAttr(*value);
    return extent(place);
  };
  auto addCase = [&](ArrayRef<std::pair<unsigned, Extent>> places,
                     Value alternative) {
    SmallVector<Attribute> pairs;
    for (auto &[axis, place] : places)
      pairs.push_back(builder.getArrayAttr(
          {builder.getI64IntegerAttr(first + axis),
           placeAttribute(place - Extent(array.shift(axis)))}));
    cases.push_back(builder.getArrayAttr(pairs));
    alternatives.push_back(alternative);
  };
  for (auto [number, boundary] : llvm::enumerate(boundaries)) {
    const Piece &piece = *boundary;
    SmallVector<std::pair<unsigned, Extent>> places;
    bool possible = true, outside = false, byValues = false;
    for (auto [k, place] : llvm::enumerate(piece.places)) {
      if (place.var)
        continue;
      places.push_back({unsigned(k), place.constant});
      possible &= reaches(k, place.constant);
      outside |= !isStored(array, k, place.constant);
      byValues |= place.constant.lengthByValues() != nullptr;
    }
    if (!outside || !possible)
      continue;
    if (!byValues) {
      addCase(places, boundaryValue(array, piece));
      continue;
    }
    // Cases have places that are known beforehand; this one comes first.
    Value isThere;
    SmallVector<Value> rest(indices);
    for (auto &[axis, place] : llvm::reverse(places)) {
      Value equal = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq, indices[first + axis],
          extentValue(body, place - Extent(array.shift(axis)), nullptr,
                      term->loc));
      isThere = isThere ? Value(arith::AndIOp::create(b, loc, isThere, equal))
                        : equal;
      rest.erase(rest.begin() + first + axis);
    }
    SmallVector<const Piece *> others(boundaries);
    others.erase(others.begin() + number);
    return branch(
        body, term->loc, kind, isThere,
        [&](Body &in) -> Value {
          return attn::ReadOp::create(in.builder, loc,
                                      boundaryValue(array, piece), rest);
        },
        [&](Body &in) {
          return readInside(in, term, position, indices, others);
        });
  }
  if (hasStart && reaches(words, Extent(-1)))
    addCase({{words, Extent(-1)}},
            startSymbol(ArrayRef(array.extents).take_front(words)));
  auto fallback = [&](Body &in) {
    return scalar(in, term->fallback,
                  term->fallback->shape->empty() ? Position() : position, kind);
  };
  auto read = [&](Body &in) -> Value {
    return attn::ReadOp::create(
        in.builder, loc, elementType(kind), valueOf(&array), indices,
        alternatives, term->fallback ? fallback(in) : Value(),
        cases.empty() ? ArrayAttr() : builder.getArrayAttr(cases));
  };
  if (!term->fallback)
    return read(body);
  SmallVector<std::pair<Value, Extent>> places;
  for (auto [k, index] : llvm::enumerate(indices.drop_front(first)))
    if (std::optional<Extent> size = array.axis(k))
      places.push_back({index, *size - Extent(array.shift(k))});
  Value inside = isInside(body, term->loc, places);
  return inside ? branch(body, term->loc, kind, inside, read, fallback)
                : read(body);
}

/// The array of a place outside the range, over the remaining indices.
Value Lowering::boundaryValue(Array &array, const Piece &piece) {
  Value &value = boundaries[{&piece, &array}];
  if (value)
    return value;
  // Its own right side may read the array again, so a placeholder comes first.
  SmallVector<Attribute> shape;
  for (IndexVar *var : array.context)
    shape.push_back(extent(*var->extent));
  for (auto [k, place] : llvm::enumerate(piece.places))
    if (place.var)
      shape.push_back(extent(*place.var->extent));
  for (const Extent &size : *array.valueShape)
    shape.push_back(extent(size));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&system.getBody().front());
  auto placeholder = UnrealizedConversionCastOp::create(
      builder, location(piece.loc), TypeRange(typeOf(shape, *array.kind)),
      ValueRange());
  value = placeholder.getResult(0);
  // Samples come after all equations.
  if (!piece.value)
    return value;
  Value defined = pieceValue(array, piece, boundaryLabel(array, piece));
  placeholder.getResult(0).replaceAllUsesWith(defined);
  boundaries[{&piece, &array}] = defined;
  placeholder.erase();
  return defined;
}

std::string Lowering::boundaryLabel(const Array &array, const Piece &piece) {
  std::string label = array.name + "[";
  for (auto [k, place] : llvm::enumerate(piece.places))
    label +=
        (k ? "," : "") + (place.var ? place.var->name : place.constant.text());
  return label + "]";
}

/// `<s>` before every sentence. For an array of sentences, `<s>` for each of
/// them.
Value Lowering::startSymbol(ArrayRef<Extent> outer) {
  if (start && outer.empty())
    return start;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&system.getBody().front());
  attn::ComputeOp op = newCompute({}, "<s>", {}, outer, {}, attn::Reducer::none,
                                  Kind::Token, false);
  OpBuilder body = OpBuilder::atBlockEnd(&op.getBody().front());
  attn::YieldOp::create(
      body, op.getLoc(),
      arith::ConstantOp::create(body, op.getLoc(), body.getI64IntegerAttr(0))
          .getResult());
  if (outer.empty())
    start = op.getResult();
  return op.getResult();
}
