//===- InferShapes.cpp - the shape of a term ------------------------------===//
//
// By the shapes of its parts and the extents of its indices.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Infer.h"

using namespace fovea;
using namespace fovea::fov;

std::optional<Shape> fovea::fov::shapeOf(const Term &term, Sizes &sizes) {
  for (const Term *arg : term.args)
    if (!arg->shape && term.kind != TermKind::Map &&
        term.kind != TermKind::If && term.kind != TermKind::Read)
      return std::nullopt;
  auto arg = [&](unsigned k) -> const Shape & { return *term.args[k]->shape; };
  auto extentsOf = [&](ArrayRef<IndexVar *> vars) -> std::optional<Shape> {
    Shape result;
    for (IndexVar *var : vars) {
      if (!var->extent)
        return std::nullopt;
      result.push_back(*var->extent);
    }
    return result;
  };
  switch (term.kind) {
  case TermKind::Number:
  case TermKind::Index:
  case TermKind::Size:
    return Shape();
  case TermKind::Read: {
    const Array &array = *term.array;
    if (term.args.size() >= array.numPlaces) {
      if (!array.valueShape)
        return std::nullopt;
      unsigned given = term.args.size() - array.numPlaces;
      if (given > array.valueShape->size())
        return Shape(); // reported by the check
      return Shape(array.valueShape->begin() + given, array.valueShape->end());
    }
    std::optional<Shape> whole = array.shape();
    if (!whole)
      return std::nullopt;
    return Shape(whole->begin() + term.args.size(), whole->end());
  }
  case TermKind::Select: {
    size_t given = term.args.size() - 1;
    if (given > arg(0).size())
      return Shape();
    return Shape(arg(0).begin() + given, arg(0).end());
  }
  case TermKind::Map: {
    bool all = true;
    for (const Term *part : term.args) {
      if (part->shape && !part->shape->empty())
        return part->shape;
      all &= part->shape.has_value();
    }
    return all ? std::optional<Shape>(Shape()) : std::nullopt;
  }
  case TermKind::If:
    for (unsigned k : {1u, 2u})
      if (term.args[k]->shape && !term.args[k]->shape->empty())
        return term.args[k]->shape;
    if (term.args[1]->shape && term.args[2]->shape)
      return Shape();
    return std::nullopt;
  case TermKind::Reduce: {
    if (!isNormaliser(term.reduction))
      return term.reduction == Reduction::Argmax ||
                     term.reduction == Reduction::Argmin
                 ? Shape()
                 : arg(0);
    std::optional<Shape> result = extentsOf(term.vars);
    if (result)
      result->append(arg(0).begin(), arg(0).end());
    return result;
  }
  case TermKind::Stack: {
    std::optional<Shape> result = extentsOf(term.vars);
    if (result)
      result->append(arg(0).begin(), arg(0).end());
    return result;
  }
  case TermKind::Join: {
    Shape result;
    for (const Term *part : term.args)
      if (part->shape->size() > result.size())
        result = *part->shape;
    std::optional<Extent> count =
        term.extent.value() == int64_t(term.args.size())
            ? std::optional(term.extent)
            : std::nullopt;
    if (term.isMembers) {
      result.insert(result.begin(), count.value_or(term.args.size()));
      return result;
    }
    auto lengthOf = [](const Term *part) {
      return part->shape->empty() ? Extent(1) : part->shape->back();
    };
    Extent total(0);
    for (const Term *part : term.args)
      total = total + lengthOf(part);
    // K members of D/K are D.
    if (count && total.unresolved())
      return std::nullopt;
    if (count && total == Extent(term.args.size()) * lengthOf(term.args[0]))
      total = *count * lengthOf(term.args[0]);
    if (result.empty())
      return Shape{total};
    result.back() = total;
    return result;
  }
  case TermKind::Contract: {
    Shape result;
    if (arg(0).empty() || arg(1).empty())
      return Shape();
    result.append(arg(0).begin(), arg(0).end() - 1);
    result.append(arg(1).begin() + 1, arg(1).end());
    return result;
  }
  case TermKind::OverAxis: {
    if (isNormaliser(term.reduction) || arg(0).empty())
      return arg(0);
    return Shape(arg(0).begin(), arg(0).end() - 1);
  }
  case TermKind::Fold: {
    if (arg(0).empty())
      return Shape();
    Shape result(term.sizes);
    auto productOf = [](ArrayRef<Extent> extents) {
      Extent product(1);
      for (const Extent &size : extents)
        product = product * size;
      return product.resolved();
    };
    std::optional<Extent> whole = arg(0)[0].resolved(),
                          part = productOf(term.sizes);
    if (!whole || !part || part->value() == 0)
      return std::nullopt;
    bool isDivided = whole->value() && part->value() &&
                     *whole->value() % *part->value() == 0;
    if (arg(0).size() > 1 && !isDivided) {
      std::optional<Extent> all = productOf(arg(0));
      if (!all)
        return std::nullopt;
      // All axes of an array, in other groups.
      if (*all == *part)
        return result;
    }
    result.push_back(sizes.floorDiv(*whole, *part));
    result.append(arg(0).begin() + 1, arg(0).end());
    return result;
  }
  case TermKind::Flatten: {
    size_t axes = term.vars.size();
    Extent product(1);
    size_t merged = std::min(arg(0).size(), axes + 1);
    for (size_t k = 0; k < merged; ++k)
      product = product * arg(0)[k];
    Shape result{product};
    result.append(arg(0).begin() + merged, arg(0).end());
    return result;
  }
  case TermKind::Slice:
  case TermKind::Fill:
    return Shape(term.sizes);
  case TermKind::Onehot: {
    if (!term.args[0]->vocabulary)
      return std::nullopt;
    return Shape{term.args[0]->vocabulary->size};
  }
  case TermKind::Vector:
    return arg(0).empty() ? Shape{Extent(1)} : arg(0);
  case TermKind::Dropout:
    return arg(0);
  case TermKind::Grad:
  case TermKind::GradOver:
    return arg(1);
  }
  return std::nullopt;
}
