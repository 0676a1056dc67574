//===- LowerShapes.cpp - arrays of other shapes ---------------------------===//
//
// Joins, members side by side, reshapes: the elements stay what they are.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/lower/Lower.h"

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

/// softmax[i](v[i]) of vectors: its places become the first axes, before those
/// of the vectors.
Lowering::Node Lowering::placesFirst(Term *term, Node last,
                                     llvm::StringRef label) {
  attn::ComputeOp op =
      newCompute(term->loc, label, last.indices, *term->shape, {},
                 attn::Reducer::none, *term->kindOf, /*withCondition=*/false);
  OpBuilder body = OpBuilder::atBlockBegin(&op.getBody().front());
  ArrayRef<BlockArgument> all = op.getBody().getArguments();
  size_t numIndices = last.indices.size(), numPlaces = term->vars.size();
  SmallVector<Value> at(all.take_front(numIndices));
  llvm::append_range(at, all.drop_front(numIndices + numPlaces));
  llvm::append_range(at, all.slice(numIndices, numPlaces));
  attn::YieldOp::create(
      body, op.getLoc(),
      attn::ReadOp::create(body, op.getLoc(), last.array, at).getResult());
  return {op.getResult(), last.indices};
}

Lowering::Node Lowering::emitJoin(Term *term, const Path &path,
                                  ArrayRef<IndexVar *> indices,
                                  llvm::StringRef label) {
  if (term->isMembers && term->shape->size() > 1)
    return emitMembers(term, path, indices, label);
  SmallVector<Value> parts;
  for (Term *part : term->args) {
    // A number joins as a vector of one.
    Value whole = path.empty() && !part->shape->empty()
                      ? wholeArray(part, indices, *term->kindOf)
                      : Value();
    if (whole) {
      parts.push_back(whole);
      continue;
    }
    Term *vector = part;
    if (part->shape->empty()) {
      model.terms.emplace_back();
      vector = &model.terms.back();
      vector->kind = TermKind::Vector;
      vector->loc = part->loc;
      vector->args = {part};
      vector->free = part->free;
      vector->shape = Shape{Extent(1)};
      vector->kindOf = part->kindOf;
    }
    parts.push_back(
        materialiseOver(vector, indices, *term->kindOf, "", part->loc, path));
  }
  SmallVector<Attribute> shape;
  for (IndexVar *var : indices)
    shape.push_back(extent(*var->extent));
  for (const Extent &size : *term->shape)
    shape.push_back(extent(size));
  Value joined = attn::ConcatOp::create(
      builder, location(term->loc), typeOf(shape, *term->kindOf),
      label.empty() ? StringAttr() : builder.getStringAttr(label), parts);
  return {joined, llvm::to_vector<2>(indices)};
}

/// Members as rows: each is joined as the list of its elements.
Lowering::Node Lowering::emitMembers(Term *term, const Path &path,
                                     ArrayRef<IndexVar *> indices,
                                     llvm::StringRef label) {
  Shape member(term->shape->begin() + 1, term->shape->end());
  Extent count(1);
  for (const Extent &size : member)
    count = count * size;
  auto typeOver = [&](ArrayRef<Extent> sizes) {
    SmallVector<Attribute> shape;
    for (IndexVar *var : indices)
      shape.push_back(extent(*var->extent));
    for (const Extent &size : sizes)
      shape.push_back(extent(size));
    return typeOf(shape, *term->kindOf);
  };
  IntegerAttr numIndices = builder.getI64IntegerAttr(indices.size());
  SmallVector<Value> parts;
  for (Term *part : term->args) {
    Value row = materialiseOver(part, indices, *term->kindOf, "", part->loc,
                                path, &member);
    parts.push_back(attn::ReshapeOp::create(builder, location(part->loc),
                                            typeOver({count}), StringAttr(),
                                            row, numIndices));
  }
  Value joined = attn::ConcatOp::create(
      builder, location(term->loc),
      typeOver({Extent(term->args.size()) * count}), StringAttr(), parts);
  Value rows = attn::ReshapeOp::create(
      builder, location(term->loc), typeOver(*term->shape),
      label.empty() ? StringAttr() : builder.getStringAttr(label), joined,
      numIndices);
  return {rows, llvm::to_vector<2>(indices)};
}

/// fold and concat[h]: the elements keep their row-major order.
Lowering::Node Lowering::emitReshape(Term *term, const Path &path,
                                     ArrayRef<IndexVar *> indices,
                                     llvm::StringRef label) {
  Term *operand = term->args[0];
  Value array =
      materialiseOver(operand, indices, *term->kindOf, "", operand->loc, path);
  SmallVector<Attribute> shape;
  for (IndexVar *var : indices)
    shape.push_back(extent(*var->extent));
  for (const Extent &size : *term->shape)
    shape.push_back(extent(size));
  Value result = attn::ReshapeOp::create(
      builder, location(term->loc), typeOf(shape, *term->kindOf),
      label.empty() ? StringAttr() : builder.getStringAttr(label), array,
      builder.getI64IntegerAttr(indices.size()));
  return {result, llvm::to_vector<2>(indices)};
}
