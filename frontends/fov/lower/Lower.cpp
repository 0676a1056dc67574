//===- Lower.cpp - systems, lengths, arrays and choices -------------------===//

#include "frontends/fov/lower/Lower.h"
#include "frontends/fov/check/Infer.h"
#include "llvm/ADT/StringSet.h"

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

Location Lowering::location(SMLoc loc) {
  if (!loc.isValid())
    return builder.getUnknownLoc();
  llvm::SourceMgr &sources = diagnostics.sources();
  unsigned buffer = sources.FindBufferContainingLoc(loc);
  if (!buffer)
    return builder.getUnknownLoc();
  auto [line, column] = sources.getLineAndColumn(loc, buffer);
  return FileLineColLoc::get(
      builder.getContext(),
      sources.getMemoryBuffer(buffer)->getBufferIdentifier(), line, column);
}

//===----------------------------------------------------------------------===//
// Lengths and types
//===----------------------------------------------------------------------===//

/// The name of a length; a floor is named after the solutions of its
/// sizes.
std::string Lowering::lengthName(const Atom *atom) {
  if (atom->kind != Atom::Floor)
    return atom->name;
  std::string name = Extent(atom).text();
  llvm::erase(name, ' ');
  return name;
}

/// Length ops come first in the system, each after the ops that it uses.
void Lowering::emitLength(const Atom *atom) {
  if (!lengths.try_emplace(lengthName(atom), atom).second)
    return;
  OpBuilder::InsertionGuard guard(builder);
  StringAttr name = builder.getStringAttr(lengthName(atom));
  StringAttr parent;
  AffineMapAttr map;
  ArrayAttr of;
  if (atom->kind == Atom::Floor) {
    std::optional<Extent::Linear> numerator = atom->numerator.linear();
    std::optional<int64_t> denominator = atom->denominator.value();
    assert(numerator && denominator && *denominator > 0 &&
           "extents were checked");
    SmallVector<Attribute> used;
    AffineExpr sum = builder.getAffineConstantExpr(numerator->constant);
    for (auto &[other, factor] : numerator->coefficients) {
      emitLength(other);
      sum = sum + builder.getAffineSymbolExpr(used.size()) * factor;
      used.push_back(builder.getStringAttr(lengthName(other)));
    }
    map = AffineMapAttr::get(
        AffineMap::get(0, used.size(), sum.floorDiv(*denominator)));
    of = builder.getArrayAttr(used);
  } else if (!atom->parent.empty()) {
    if (const Atom *outer = model.sizes.findLength(atom->parent))
      emitLength(outer);
    parent = builder.getStringAttr(atom->parent);
  }
  for (auto &[set, value] : model.setLengths) {
    if (set != atom)
      continue;
    std::optional<Extent::Linear> linear = value.first.linear();
    assert(linear && "what a length is set to was checked");
    SmallVector<Attribute> used;
    AffineExpr sum = builder.getAffineConstantExpr(linear->constant);
    for (auto &[other, factor] : linear->coefficients) {
      emitLength(other);
      sum = sum + builder.getAffineSymbolExpr(used.size()) * factor;
      used.push_back(builder.getStringAttr(lengthName(other)));
    }
    map = AffineMapAttr::get(AffineMap::get(0, used.size(), sum));
    of = builder.getArrayAttr(used);
  }
  if (lastLength)
    builder.setInsertionPointAfter(lastLength);
  else
    builder.setInsertionPointToStart(&system.getBody().front());
  lastLength = attn::LengthOp::create(
      builder, builder.getUnknownLoc(), name, parent, map, of,
      isOpen(atom) ? builder.getUnitAttr() : UnitAttr(), UnitAttr());
}

/// Returns whether a search finds a length.
bool Lowering::isOpen(const Atom *length) const {
  return openLengths.contains(length) &&
         llvm::none_of(model.setLengths, [&](const auto &given) {
           return given.first == length;
         });
}

Attribute Lowering::linearExtent(const Extent::Linear &linear) {
  if (linear.coefficients.empty())
    return builder.getI64IntegerAttr(std::max<int64_t>(0, linear.constant));
  std::string name;
  for (auto &[atom, factor] : linear.coefficients) {
    emitLength(atom);
    if (!name.empty())
      name += factor < 0 ? "-" : "+";
    else if (factor < 0)
      name += "-";
    int64_t size = std::abs(factor);
    // 3*(S//2) is not the length 3*S//2.
    bool paren = atom->kind == Atom::Floor && factor != 1;
    name += (size == 1 ? "" : std::to_string(size) + "*") +
            (paren ? "(" + lengthName(atom) + ")" : lengthName(atom));
  }
  if (linear.constant != 0)
    name += (linear.constant > 0 ? "+" : "") + std::to_string(linear.constant);
  StringAttr attribute = builder.getStringAttr(name);
  if (!lengths.try_emplace(name, nullptr).second)
    return attribute;
  SmallVector<Attribute> used;
  AffineExpr sum = builder.getAffineConstantExpr(linear.constant);
  for (auto &[atom, factor] : linear.coefficients) {
    sum = sum + builder.getAffineSymbolExpr(used.size()) * factor;
    used.push_back(builder.getStringAttr(lengthName(atom)));
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(lastLength);
  lastLength = attn::LengthOp::create(
      builder, builder.getUnknownLoc(), attribute, StringAttr(),
      AffineMapAttr::get(AffineMap::get(0, used.size(), sum)),
      builder.getArrayAttr(used), UnitAttr(), UnitAttr());
  return attribute;
}

Attribute Lowering::extent(const Extent &exact) {
  Extent size = model.sizes.capacity(exact);
  if (std::optional<int64_t> value = size.value())
    return builder.getI64IntegerAttr(std::max<int64_t>(0, *value));
  std::optional<Extent::Linear> linear = size.linear();
  assert(linear && "extents were checked");
  return linearExtent(*linear);
}

attn::ArrayType Lowering::typeOf(ArrayRef<Attribute> shape, Kind kind) {
  return attn::ArrayType::get(shape, elementType(kind));
}

attn::ArrayType Lowering::arrayType(const Array &array) {
  SmallVector<Attribute> shape;
  for (IndexVar *var : array.context)
    shape.push_back(extent(*var->extent));
  // x[k+1] = .. is stored over k: its first places are cases of its reads.
  std::optional<Shape> all = array.shape();
  for (auto [k, size] : llvm::enumerate(*all))
    shape.push_back(extent(size - Extent(array.shift(k))));
  return typeOf(shape, *array.kind);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Returns whether a constant place is an element of the stored array.
bool Lowering::isStored(const Array &array, unsigned axis,
                        const Extent &constant) {
  return array.shift(axis) == 0 && isInside(array, axis, constant);
}

/// Returns whether a constant place is inside its axis.
bool Lowering::isInside(const Array &array, unsigned axis,
                        const Extent &constant) {
  std::optional<Extent> size = array.axis(axis);
  return size && !isOutside(constant, *size);
}

Value Lowering::valueOf(Array *array) {
  auto it = arrays.find(array);
  if (it != arrays.end())
    return it->second;
  Value &placeholder = placeholders[array];
  if (!placeholder) {
    attn::ArrayType type = arrayType(*array);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&system.getBody().front());
    placeholder =
        UnrealizedConversionCastOp::create(builder, location(array->loc),
                                           TypeRange(type), ValueRange())
            .getResult(0);
  }
  return placeholder;
}

/// The right side of a piece over the indices of its places.
Value Lowering::pieceValue(Array &array, const Piece &piece,
                           llvm::StringRef label) {
  SmallVector<IndexVar *, 2> order(array.context);
  for (const PiecePlace &place : piece.places)
    if (place.var)
      order.push_back(place.var);
  Path path;
  for (auto [condition, holds] : array.guards)
    if (Term *given = conditionOf(condition, holds); needs(piece.value, given))
      path.push_back(given);
  Value value =
      materialiseOver(piece.value, order, *array.kind, label, piece.loc, path);
  // The location of an equation is its line, also if a def computes it.
  Operation *op = value.getDefiningOp();
  if (op && !label.empty() &&
      op->getAttr("label") == builder.getStringAttr(label))
    op->setLoc(location(piece.loc));
  return value;
}

Value Lowering::defineArray(Array &array) {
  const Piece *general = array.general();
  SmallVector<const Piece *, 2> inside;
  for (const Piece &piece : array.pieces) {
    if (piece.isGeneral())
      continue;
    bool all = true;
    for (auto [k, place] : llvm::enumerate(piece.places))
      if (!place.var)
        all &= isStored(array, k, place.constant);
    if (all)
      inside.push_back(&piece);
  }
  if (general && inside.empty())
    return pieceValue(array, *general, array.name);

  // One equation that selects among the places inside the range.
  OpBuilder::InsertionGuard guard(builder);
  std::optional<Shape> shape = array.shape();
  SmallVector<Extent, 4> extents;
  for (IndexVar *var : array.context)
    extents.push_back(*var->extent);
  extents.append(shape->begin(), shape->end());
  unsigned first = array.context.size();
  struct Part {
    const Piece *piece;
    Value array;
  };
  SmallVector<Part> parts;
  for (const Piece *piece : inside)
    parts.push_back({piece, pieceValue(array, *piece, "")});
  if (general)
    parts.push_back({general, pieceValue(array, *general, "")});
  attn::ComputeOp op = newCompute(array.loc, array.name, {}, extents, {},
                                  attn::Reducer::none, *array.kind, false);
  Body body = bodyOf(op, op.getBody(), {}, extents.size(), {}, {});
  OpBuilder &b = body.builder;
  Location loc = op.getLoc();
  // A chain of scf.if, from the first part to the last.
  auto emitPart = [&](const Part &part, OpBuilder &at) -> Value {
    SmallVector<Value> indices;
    for (unsigned k = 0; k < op.getNumIndices(); ++k) {
      Value index = op.getIndex(k);
      if (k >= first && k - first < part.piece->places.size()) {
        const PiecePlace &place = part.piece->places[k - first];
        if (!place.var)
          continue;
      }
      indices.push_back(index);
    }
    return attn::ReadOp::create(at, loc, part.array, indices);
  };
  std::function<Value(unsigned, OpBuilder &)> emit =
      [&](unsigned k, OpBuilder &at) -> Value {
    const Part &part = parts[k];
    if (part.piece == general || (k + 1 == parts.size() && general))
      return emitPart(part, at);
    Value condition;
    for (auto [axis, place] : llvm::enumerate(part.piece->places)) {
      if (place.var)
        continue;
      Body inner(at, {});
      Value constant = extentValue(inner, place.constant, nullptr, place.loc);
      Value equal = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq,
                                          op.getIndex(first + axis), constant);
      condition = condition
                      ? Value(arith::AndIOp::create(at, loc, condition, equal))
                      : equal;
    }
    auto branch = scf::IfOp::create(at, loc, TypeRange(op.getElementType()),
                                    condition, /*withElseRegion=*/true);
    OpBuilder yes = branch.getThenBodyBuilder();
    scf::YieldOp::create(yes, loc, emitPart(part, yes));
    OpBuilder no = branch.getElseBodyBuilder();
    Value rest;
    if (k + 1 < parts.size())
      rest = emit(k + 1, no);
    else
      rest = arith::ConstantOp::create(no, loc,
                                       no.getZeroAttr(op.getElementType()));
    scf::YieldOp::create(no, loc, rest);
    return branch.getResult(0);
  };
  attn::YieldOp::create(b, loc, emit(0, b));
  return op.getResult();
}

/// The array over all of its places, as in the spec.
Value Lowering::visibleValue(Array &array) {
  bool shifted = false;
  for (unsigned k = 0; k < array.numPlaces; ++k)
    shifted |= array.shift(k) != 0;
  if (!shifted)
    return arrays[&array];
  model.terms.emplace_back();
  Term *read = &model.terms.back();
  read->kind = TermKind::Read;
  read->loc = array.loc;
  read->array = &array;
  read->shape = *array.valueShape;
  read->kindOf = array.kind;
  SmallVector<IndexVar *, 2> order;
  for (unsigned k = 0; k < array.numPlaces; ++k) {
    model.indices.emplace_back();
    IndexVar *var = &model.indices.back();
    var->name = array.general()->places[k].var->name;
    var->extent = array.axis(k);
    order.push_back(var);
    read->args.push_back(indexTerm(model, var, array.loc));
    read->free.push_back(var);
  }
  return materialiseOver(read, order, *array.kind, array.name, array.loc);
}

//===----------------------------------------------------------------------===//
// Choices and marks
//===----------------------------------------------------------------------===//

void Lowering::emitChoice(const Choice &choice) {
  // A guide proposes only in training.
  if (choice.guide && model.decoding)
    return;
  Array &target = *choice.target;
  const Piece *boundary = nullptr;
  for (const Piece &piece : target.pieces)
    if (!piece.value && !piece.isGeneral() && piece.loc == choice.loc)
      boundary = &piece;
  SmallVector<IndexVar *, 2> order;
  for (const PiecePlace &place : choice.places)
    if (place.var)
      order.push_back(place.var);
  SmallVector<Attribute> names;
  SmallVector<Value> parameters;
  for (auto &[name, term] : choice.parameters) {
    if (name == "size")
      continue;
    names.push_back(builder.getStringAttr(name));
    bool perValue =
        choice.distribution == "normal" || choice.distribution == "uniform";
    if (choice.isCertain && !parameters.empty()) {
      parameters.push_back(parameters.front()); // both bounds are the value
      continue;
    }
    parameters.push_back(
        materialiseOver(term, order, Kind::Real, "", choice.loc, {},
                        perValue ? &*target.valueShape : nullptr));
  }
  attn::Distribution distribution =
      *attn::symbolizeDistribution(choice.distribution);
  std::string name = target.name;
  Value given;
  if (choice.ahead) {
    name += placesText(choice.places, true);
    given = materialiseOver(choice.ahead, order, *target.kind, "", choice.loc);
  } else if (!choice.latent && (!model.decoding || target.continued)) {
    given = valueOf(&target);
  }
  auto observed = static_cast<bool>(given);
  // A given length belongs to the output, whatever its place.
  Attribute end;
  bool canEnd = observed || llvm::any_of(target.extents, [&](auto &e) {
                  return isOpen(e.length());
                });
  if (canEnd && target.isSentence && !choice.ahead)
    end = builder.getI64IntegerAttr(1);
  else if (canEnd && target.ends && target.positionOf && !choice.ahead)
    end = extent(*target.positionOf->axis(0));
  // The treatment of a latent.
  DictionaryAttr treated;
  Value reward, baseline;
  if (choice.guide) {
    treated = builder.getDictionaryAttr(
        builder.getNamedAttr("kind", builder.getStringAttr("guide")));
  } else if (choice.treatment) {
    NamedAttrList entries;
    entries.set("kind", builder.getStringAttr(choice.treatment->kind));
    // The baseline is the one of the other places.
    for (auto &[name, number] : choice.treatment->numbers)
      if (!boundary || name != "baseline")
        entries.set(name, builder.getF64FloatAttr(number));
    for (auto &[name, word] : choice.treatment->words)
      entries.set(name, builder.getStringAttr(word));
    // An equation provides values that depend on the update; its name is used.
    for (auto &[name, term] : choice.treatment->schedules) {
      auto label = builder.getStringAttr(target.name + "." + name);
      entries.set(name, label);
      if (boundary)
        continue;
      attn::EquationOp::create(
          builder, location(term->loc), label,
          materialiseOver(term, {}, Kind::Real, "", term->loc));
    }
    treated = entries.getDictionary(builder.getContext());
    auto arrayOf = [&](Term *term) {
      return term ? materialiseOver(term, {}, Kind::Real, "", term->loc)
                  : Value();
    };
    reward = arrayOf(choice.treatment->reward);
    baseline = boundary ? Value() : arrayOf(choice.treatment->baseline);
  }
  Value weight;
  if (choice.weight && observed && !model.decoding)
    weight = materialiseOver(choice.weight, {}, Kind::Real, "", choice.loc);
  if (choice.isThere)
    weight = materialiseOver(choice.isThere, order, Kind::Real, "", choice.loc);
  Value placeholder;
  if (boundary)
    placeholder = boundaryValue(target, *boundary);
  Type type = observed   ? Type()
              : boundary ? placeholder.getType()
                         : Type(arrayType(target));
  auto op = attn::ChoiceOp::create(
      builder, location(choice.loc), type, builder.getStringAttr(name),
      attn::DistributionAttr::get(builder.getContext(), distribution),
      builder.getArrayAttr(names), parameters, given, weight, reward, baseline,
      end, choice.latent ? builder.getUnitAttr() : UnitAttr(), treated);
  if (target.continued)
    op->setAttr("attn.continued", builder.getUnitAttr());
  if (choice.ahead)
    op->setAttr("attn.ahead", builder.getUnitAttr());
  if (boundary) {
    placeholder.replaceAllUsesWith(op.getResult());
    boundaries[{boundary, &target}] = op.getResult();
    placeholder.getDefiningOp()->erase();
  } else if (!observed && !choice.guide) {
    arrays[&target] = op.getResult();
  }
}

void Lowering::emitMarks() {
  for (const Mark &mark : model.marks) {
    Kind kind = mark.name == "score"     ? Kind::Real
                : mark.name == "longest" ? Kind::Int
                                         : Kind::Bit;
    SMLoc loc = mark.value->loc;
    Value value = materialiseOver(mark.value, mark.indices, kind, "", loc);
    attn::MarkOp::create(builder, location(loc),
                         builder.getStringAttr(mark.name), value);
  }
}

/// The terms that choices are made from, and the terms that steer a search.
static SmallVector<const Term *> decodingTerms(const Elaborated &model) {
  SmallVector<const Term *> terms;
  for (const Choice &choice : model.choices) {
    for (auto &[name, term] : choice.parameters)
      terms.push_back(term);
    for (const Piece &piece : choice.target->pieces)
      terms.push_back(piece.value);
  }
  for (const Mark &mark : model.marks)
    terms.push_back(mark.value);
  // Any index may run over one of these.
  for (auto &[length, array] : model.lengthValues)
    for (const Piece &piece : array->pieces)
      terms.push_back(piece.value);
  return terms;
}

/// The terms that only the objective is computed from.
static SmallVector<const Term *> trainingTerms(const Elaborated *model) {
  SmallVector<const Term *> terms;
  if (!model)
    return terms;
  for (auto &[term, loc] : model->penalties)
    terms.push_back(term);
  for (const Choice &choice : model->choices) {
    terms.push_back(choice.weight);
    if (choice.treatment)
      terms.append({choice.treatment->reward, choice.treatment->baseline});
  }
  return terms;
}

/// The arrays that `roots` are computed from.
static llvm::DenseSet<const Array *> arraysOf(ArrayRef<const Term *> roots) {
  llvm::SetVector<const Term *> terms(roots.begin(), roots.end());
  llvm::DenseSet<const Array *> found;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Term *term = terms[i];
    if (!term)
      continue;
    if (term->array && found.insert(term->array).second)
      for (const Piece &piece : term->array->pieces)
        terms.insert(piece.value);
    terms.insert_range(term->args);
    terms.insert(term->condition);
    terms.insert(term->fallback);
  }
  return found;
}

attn::SystemOp Lowering::run(llvm::StringRef name) {
  system = attn::SystemOp::create(builder, builder.getUnknownLoc(),
                                  builder.getStringAttr(name));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&system.getBody());

  for (auto &[read, conditions] : model.guards)
    guards.insert(conditions.begin(), conditions.end());
  model.sizes.nameFloors();
  // A length is open if only generated data has it.
  if (model.decoding) {
    llvm::SmallPtrSet<const Atom *, 8> given;
    llvm::DenseSet<const Array *> read = arraysOf(decodingTerms(model));
    llvm::StringSet<> trained;
    for (const Array *array : arraysOf(trainingTerms(training)))
      trained.insert(array->name);
    for (Array *data : model.data) {
      bool isOpen = data->generated && !data->continued;
      // What only training reads is not given; what nothing reads gives its
      // length.
      if (!isOpen && trained.contains(data->name) && !read.contains(data))
        continue;
      for (const Extent &size : data->extents)
        if (const Atom *length = size.length())
          (isOpen ? openLengths : given).insert(length);
    }
    for (const Atom *length : given)
      openLengths.erase(length);
  }
  for (Array *data : model.data)
    for (const Extent &size : data->extents)
      (void)extent(size);
  for (Array *data : model.data) {
    if (model.decoding && data->generated && !data->continued)
      continue;
    arrays[data] =
        attn::DataOp::create(builder, location(data->loc), arrayType(*data),
                             builder.getStringAttr(data->name));
  }
  if (Array *number = model.updateNumber)
    arrays[number] = attn::DataOp::create(builder, builder.getUnknownLoc(),
                                          arrayType(*number),
                                          builder.getStringAttr(number->name));
  for (Array *param : model.params)
    arrays[param] =
        attn::ParamOp::create(builder, location(param->loc), arrayType(*param),
                              builder.getStringAttr(param->name));
  for (Array *array : model.arrays) {
    if (array->latent || array->pieces.empty())
      continue;
    Value value = defineArray(*array);
    arrays[array] = value;
  }
  for (const Choice &choice : model.choices)
    emitChoice(choice);
  for (auto &[term, loc] : model.penalties)
    attn::PenaltyOp::create(builder, location(loc),
                            materialiseOver(term, {}, Kind::Real, "", loc));
  emitMarks();
  for (Array *array : model.arrays)
    if (arrays.count(array) && array->context.empty() && !array->name.empty())
      attn::EquationOp::create(builder, location(array->loc),
                               builder.getStringAttr(array->name),
                               visibleValue(*array));
  for (auto &[array, placeholder] : placeholders) {
    auto it = arrays.find(array);
    if (it == arrays.end())
      continue;
    Operation *op = placeholder.getDefiningOp();
    placeholder.replaceAllUsesWith(it->second);
    op->erase();
  }
  buildGradients();
  return system;
}
