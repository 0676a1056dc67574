//===- EmitReads.cpp - where an element stands inside the loops -----------===//
//
// A read of an op that shares loops with its reader becomes a read of a row or
// of a growing array. The row is this step's, or a carried one. Boundaries of a
// loop's axis become initial values of its carries. If that is impossible (a
// corner of two axes), the read branches on its indices.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "passes/schedule/Emit.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

/// For rows further back, all rows are kept, instead of one per step.
static constexpr int64_t mostCarried = 256;

Route Emitter::routeOf(const Access &access, unsigned limit) {
  Operation *target = access.array.getDefiningOp();
  const Path &reader = pathOf(access.reader), &path = pathOf(target);
  Route route;
  unsigned rank = cast<ArrayType>(access.array.getType()).getRank();
  for (unsigned axis = 0; axis < rank; ++axis)
    route.axes.push_back(axis);
  for (; route.scope < std::min<size_t>({reader.size(), path.size(), limit}) &&
         reader[route.scope] == path[route.scope];
       ++route.scope) {
    const Loop &loop = *path[route.scope];
    unsigned time = loop.getTime(access.reader), axis = loop.getTime(target);
    const AccessIndex &index = access.indices[axis];
    bool atTime = index.kind == AccessIndex::Iterator &&
                  index.iterator == time && index.offset >= -mostCarried &&
                  index.offset <= mostCarried;
    if (atTime)
      llvm::erase(route.axes, axis);
    if (atTime && index.offset == 0)
      continue;
    route.kind = atTime ? Route::Window : Route::Growing;
    route.axis = axis;
    route.back = atTime ? std::abs(index.offset) : 0;
    route.before = distanceOf(access, time, axis).carried(loop.reverse);
    ++route.scope;
    return route;
  }
  return route;
}

Value Emitter::follow(const Access &access, const Route &route,
                      ArrayRef<Value> inits) {
  switch (route.kind) {
  case Route::Row: {
    Value array =
        scopes[route.scope].arrays.lookup(access.array.getDefiningOp());
    assert(array && "an array is read before it stands");
    return array;
  }
  case Route::Window:
    return windowOf(access, route, inits);
  case Route::Growing:
    return growingOf(access, route);
  }
  llvm_unreachable("unknown kind of route");
}

Value Emitter::windowOf(const Access &access, const Route &route,
                        ArrayRef<Value> inits) {
  Operation *target = access.array.getDefiningOp();
  ArrayType type = typeOf(access.array, route.axes);
  int previous = -1;
  for (int64_t back = 1; back <= route.back; ++back) {
    Value init = inits.empty() ? zeros(route.scope - 1, type) : inits[back - 1];
    Scope &scope = scopes[route.scope];
    auto known = llvm::find_if(scope.carries, [&](const Carry &carry) {
      return carry.target == target && !carry.growing &&
             carry.previous == previous && carry.init == init;
    });
    if (known == scope.carries.end()) {
      Value argument = scope.block->addArgument(type, target->getLoc());
      scope.carries.push_back(
          {target, false, 0, back, previous, init, argument, {}});
      known = std::prev(scope.carries.end());
    }
    previous = known - scope.carries.begin();
  }
  return scopes[route.scope].carries[previous].argument;
}

Value Emitter::growingOf(const Access &access, const Route &route) {
  Operation *target = access.array.getDefiningOp();
  Scope &scope = scopes[route.scope];
  auto known = llvm::find_if(scope.carries, [&](const Carry &carry) {
    return carry.target == target && carry.growing;
  });
  if (known == scope.carries.end()) {
    ArrayType type = typeOf(access.array, route.axes);
    unsigned axis = llvm::find(route.axes, route.axis) - route.axes.begin();
    Value init = zeros(route.scope - 1, type);
    Value argument = scope.block->addArgument(type, target->getLoc());
    scope.carries.push_back({target, true, axis, 0, -1, init, argument, {}});
    known = std::prev(scope.carries.end());
  }
  return route.before ? known->argument : appendedOf(scope, *known);
}

Value Emitter::appendedOf(Scope &scope, Carry &carry) {
  if (carry.appended)
    return carry.appended;
  OpBuilder builder = builderOf(&scope - scopes.data());
  Value row = scope.arrays.lookup(carry.target);
  assert(row && "a row is read before it stands");
  return carry.appended = AppendOp::create(
             builder, carry.target->getLoc(), carry.argument.getType(),
             carry.argument, scope.index, carry.axis, row);
}

//===----------------------------------------------------------------------===//
// Whole arrays
//===----------------------------------------------------------------------===//

/// The loop that runs an index of a read, or none.
static std::optional<unsigned> loopOf(ArrayRef<unsigned> run,
                                      const AccessIndex &index) {
  if (index.kind != AccessIndex::Iterator)
    return std::nullopt;
  const auto *level = llvm::find(run, index.iterator);
  if (level == run.end())
    return std::nullopt;
  return level - run.begin();
}

bool Emitter::canMaterialise(const Access &access, ArrayRef<unsigned> wanted,
                             unsigned limit) {
  Route route = routeOf(access, limit);
  SmallVector<unsigned> run = runIndices(access.reader);
  // The loop's own results do not exist before it.
  const Path &path = pathOf(access.array.getDefiningOp());
  if (limit < run.size() && limit < path.size() &&
      path[limit] == scopes[limit + 1].loop)
    return false;
  for (unsigned axis : wanted)
    if (!llvm::is_contained(route.axes, axis))
      return false;
  return llvm::all_of(route.axes, [&](unsigned axis) {
    if (llvm::is_contained(wanted, axis))
      return true;
    std::optional<unsigned> level = loopOf(run, access.indices[axis]);
    return level && *level < limit;
  });
}

Value Emitter::materialise(const Access &access, ArrayRef<unsigned> wanted,
                           unsigned limit) {
  assert(canMaterialise(access, wanted, limit) && "no such array");
  Route route = routeOf(access, limit);
  Value array = follow(access, route);
  if (route.axes.size() == wanted.size())
    return array;
  // Take the slice at the loops' indices.
  unsigned scope = std::min<size_t>(limit, scopes.size() - 1);
  SmallVector<unsigned> run = runIndices(access.reader);
  std::vector<int64_t> key;
  for (unsigned axis : route.axes) {
    bool isLeft = llvm::is_contained(wanted, axis);
    const AccessIndex &index = access.indices[axis];
    key.push_back(isLeft ? -1 : *loopOf(run, index));
    key.push_back(isLeft ? 0 : index.offset);
  }
  Value &known = scopes[scope].slices[{array.getAsOpaquePointer(), key}];
  if (known)
    return known;
  OpBuilder builder = builderOf(scope);
  Location loc = access.read->getLoc();
  ArrayType type = typeOf(access.array, wanted);
  SmallVector<Attribute> names;
  for (size_t i = 0; i < wanted.size(); ++i)
    names.push_back(builder.getStringAttr("k" + std::to_string(i)));
  auto slice =
      ComputeOp::create(builder, loc, "", names, type.getShape().getValue(), {},
                        type.getRank(), Reducer::none, type.getElementType());
  Block &body = slice.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> indices;
  unsigned next = 0;
  Value otherwise;
  for (unsigned axis : route.axes) {
    if (llvm::is_contained(wanted, axis)) {
      indices.push_back(body.getArgument(next++));
      continue;
    }
    const AccessIndex &index = access.indices[axis];
    auto loop = loopOf(run, index);
    assert(loop && "another axis is read as a whole");
    Value at = scopes[1 + *loop].index;
    if (index.offset != 0) {
      Value offset = arith::ConstantIndexOp::create(inside, loc, index.offset);
      at = arith::AddIOp::create(inside, loc, at, offset);
      // The first steps read outside; the cases of the read then decide.
      if (!otherwise)
        otherwise = arith::ConstantOp::create(
            inside, loc, inside.getZeroAttr(type.getElementType()));
    }
    indices.push_back(at);
  }
  Value element = ReadOp::create(inside, loc, type.getElementType(), array,
                                 indices, ValueRange(), otherwise, ArrayAttr());
  YieldOp::create(inside, loc, element);
  return known = slice.getResult();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

bool Emitter::Case::places(unsigned axis) const { return bool(placeOf(axis)); }

Attribute Emitter::Case::placeOf(unsigned axis) const {
  for (auto pair : access->places.getAsRange<ArrayAttr>())
    if (cast<IntegerAttr>(pair[0]).getInt() == axis)
      return pair[1];
  return {};
}

SmallVector<Emitter::Case> Emitter::reachableCases(const Access &main) {
  SmallVector<Case> cases;
  for (const Edge &edge : graph.getReads(main.reader)) {
    if (edge.access->read != main.read || !edge.access->places)
      continue;
    Case &found = cases.emplace_back(Case{edge.access, {}});
    for (unsigned axis = 0; axis < main.indices.size(); ++axis)
      if (!found.places(axis))
        found.axes.push_back(axis);
  }
  return cases;
}

std::optional<int64_t> Emitter::stepsBack(const Route &route,
                                          const Access &main, Attribute place) {
  std::optional<int64_t> back;
  if (scopes[route.scope].loop->reverse) {
    auto type = cast<ArrayType>(main.array.getType());
    if (auto past = graph.pastEnd(place, type.getExtent(route.axis)))
      back = *past + 1;
  } else if (auto number = dyn_cast<IntegerAttr>(place)) {
    back = -number.getInt();
  }
  if (back && (*back < 1 || *back > route.back))
    back.reset();
  return back;
}

void Emitter::emitRead(ReadOp read, OpBuilder &builder, IRMapping &mapping) {
  const Access *main =
      llvm::find_if(graph.getAccesses(read->getParentOfType<ComputeOp>()),
                    [&](const Access &access) {
                      return access.read == read && !access.places;
                    });
  Route route = routeOf(*main);
  SmallVector<Case> cases = reachableCases(*main);

  // The remaining axes of an alternative, given those of the read's array.
  auto wantedOf = [&](const Case &one, ArrayRef<unsigned> left) {
    SmallVector<unsigned> wanted;
    for (auto [axis, place] : llvm::enumerate(one.axes))
      if (llvm::is_contained(left, place))
        wanted.push_back(axis);
    return wanted;
  };
  bool plain = true;
  SmallVector<const Case *> first(route.back, nullptr);
  SmallVector<Case> rest;
  for (const Case &one : cases) {
    Attribute place =
        route.kind == Route::Window ? one.placeOf(route.axis) : Attribute();
    if (!place) {
      plain &= canMaterialise(*one.access, wantedOf(one, route.axes));
      rest.push_back(one);
      continue;
    }
    plain &=
        one.access->places.size() == 1 &&
        canMaterialise(*one.access, wantedOf(one, route.axes), route.scope - 1);
    if (auto back = stepsBack(route, *main, place); back && !first[*back - 1])
      first[*back - 1] = &one;
  }
  TypedAttr otherwise;
  if (read.getOtherwise() && llvm::is_contained(first, nullptr))
    plain &= matchPattern(read.getOtherwise(), m_Constant(&otherwise));
  // Outside along two axes at once, a default and a case differ.
  if (route.kind == Route::Window && read.getOtherwise() && !rest.empty())
    plain = false;
  if (!plain || isPartial(*main, route)) {
    Value element = emitBranches(read, *main, cases, builder, mapping);
    mapping.map(read.getResult(), element);
    return;
  }

  SmallVector<Value> inits;
  for (const Case *one : first)
    inits.push_back(
        one ? materialise(*one->access, wantedOf(*one, route.axes),
                          route.scope - 1)
        : otherwise
            ? fill(route.scope - 1, typeOf(main->array, route.axes), otherwise)
            : zeros(route.scope - 1, typeOf(main->array, route.axes)));
  Value array = follow(*main, route, inits);
  SmallVector<Value> indices, alternatives;
  for (unsigned axis : route.axes)
    indices.push_back(mapping.lookup(read.getIndices()[axis]));
  SmallVector<Attribute> places;
  for (const Case &one : rest) {
    alternatives.push_back(materialise(*one.access, wantedOf(one, route.axes)));
    SmallVector<Attribute> pairs;
    for (auto [number, axis] : llvm::enumerate(route.axes))
      if (Attribute place = one.placeOf(axis))
        pairs.push_back(
            builder.getArrayAttr({builder.getI64IntegerAttr(number), place}));
    places.push_back(builder.getArrayAttr(pairs));
  }
  // Along the axis of a loop the first steps have taken the default.
  Value fallback;
  auto mayLeave = [&](unsigned axis) {
    return !staysInside(main->indices[axis],
                        read.getArrayType().getExtent(axis),
                        read->getParentOfType<ComputeOp>());
  };
  if (read.getOtherwise() && llvm::any_of(route.axes, mayLeave))
    fallback = mapping.lookup(read.getOtherwise());
  Value element = ReadOp::create(
      builder, read.getLoc(), read.getType(), array, indices, alternatives,
      fallback, places.empty() ? ArrayAttr() : builder.getArrayAttr(places));
  mapping.map(read.getResult(), element);
}

bool Emitter::isPartial(const Access &access, const Route &route) {
  if (route.kind != Route::Growing || route.before)
    return false;
  const Path &reader = pathOf(access.reader);
  const Path &target = pathOf(access.array.getDefiningOp());
  return route.scope < std::min(reader.size(), target.size()) &&
         reader[route.scope] == target[route.scope];
}

Value Emitter::readElement(OpBuilder &builder, Location loc,
                           const Access &access, ArrayRef<Value> indices,
                           Value otherwise) {
  Route route = routeOf(access);
  Type type = cast<ArrayType>(access.array.getType()).getElementType();
  auto readHere = [&](OpBuilder &at) -> Value {
    Value array = follow(access, route);
    SmallVector<Value> left;
    for (unsigned axis : route.axes)
      left.push_back(indices[axis]);
    return ReadOp::create(at, loc, type, array, left, ValueRange(),
                          route.axes.empty() ? Value() : otherwise,
                          ArrayAttr());
  };
  auto choose = [&](Value condition,
                    llvm::function_ref<Value(OpBuilder &)> whenTrue) -> Value {
    auto branch = scf::IfOp::create(builder, loc, type, condition,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    scf::YieldOp::create(then, loc, whenTrue(then));
    OpBuilder inElse = branch.getElseBodyBuilder();
    scf::YieldOp::create(inElse, loc, readHere(inElse));
    return branch.getResult(0);
  };

  if (route.kind == Route::Window && otherwise) {
    // Before the first step a carry has an initial value, but not this default.
    bool reverse = scopes[route.scope].loop->reverse;
    Attribute end =
        reverse ? cast<ArrayType>(access.array.getType()).getExtent(route.axis)
                : builder.getI64IntegerAttr(0);
    Value outside = arith::CmpIOp::create(
        builder, loc,
        reverse ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt,
        indices[route.axis], placeValue(builder, loc, end));
    return choose(outside, [&](OpBuilder &) { return otherwise; });
  }
  if (isPartial(access, route)) {
    // This step's row is incomplete: a loop inside is still computing it.
    const Scope &scope = scopes[route.scope];
    Access now = access;
    now.indices[route.axis] = AccessIndex();
    now.indices[route.axis].kind = AccessIndex::Iterator;
    now.indices[route.axis].iterator = scope.loop->getTime(access.reader);
    Value isNow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        indices[route.axis], scope.index);
    route.before = true;
    return choose(isNow, [&](OpBuilder &then) {
      return readElement(then, loc, now, indices, otherwise);
    });
  }
  return readHere(builder);
}

Value Emitter::placeValue(OpBuilder &builder, Location loc, Attribute place) {
  if (auto name = dyn_cast<StringAttr>(place))
    return ExtentOp::create(builder, loc, name, Value());
  return arith::ConstantIndexOp::create(builder, loc,
                                        cast<IntegerAttr>(place).getInt());
}

/// A read that branches on its indices: one branch per case, and one for the
/// array itself.
Value Emitter::emitBranches(ReadOp read, const Access &access,
                            ArrayRef<Case> cases, OpBuilder &builder,
                            IRMapping &mapping) {
  Location loc = read.getLoc();
  SmallVector<Value> indices;
  for (Value index : read.getIndices())
    indices.push_back(mapping.lookup(index));
  Value otherwise =
      read.getOtherwise() ? mapping.lookup(read.getOtherwise()) : Value();

  SmallVector<scf::IfOp> branches;
  OpBuilder at = builder;
  for (const Case &one : cases) {
    Value holds;
    SmallVector<Value> left;
    for (auto [axis, index] : llvm::enumerate(indices)) {
      Attribute place = one.placeOf(axis);
      if (!place) {
        left.push_back(index);
        continue;
      }
      Value equal = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq,
                                          index, placeValue(at, loc, place));
      holds = holds ? arith::AndIOp::create(at, loc, holds, equal).getResult()
                    : equal;
    }
    auto branch = scf::IfOp::create(at, loc, read.getType(), holds,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    Value element = readElement(then, loc, *one.access, left, otherwise);
    scf::YieldOp::create(then, loc, element);
    branches.push_back(branch);
    at = branch.getElseBodyBuilder();
  }
  Value element = readElement(at, loc, access, indices, otherwise);
  for (scf::IfOp branch : llvm::reverse(branches)) {
    OpBuilder inElse = OpBuilder::atBlockEnd(branch.elseBlock());
    scf::YieldOp::create(inElse, loc, element);
    element = branch.getResult(0);
  }
  return element;
}
