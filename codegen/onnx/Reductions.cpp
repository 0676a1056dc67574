//===- Reductions.cpp - sums, maxima and normalisers of an equation -------===//
//
// What does not take part is replaced by what changes nothing: 0 in a sum,
// -infinity in a maximum. A sum of products is an Einsum, whose factors are
// replaced instead.
//
//===----------------------------------------------------------------------===//

#include "codegen/onnx/Emitter.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen::onnx;
using attn::Reducer;
using codegen::onnx::Tensor;

static constexpr double infinity = std::numeric_limits<double>::infinity();

std::optional<Tensor> BodyEmitter::partOfReduction() {
  std::optional<Tensor> all;
  auto require = [&](Tensor part) {
    all = all ? emitter.both(*all, part) : part;
  };
  for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i) {
    Tensor at = emitter.places(extents[i], i + 1, rank);
    if (op.getLower()[i] > 0)
      require(emitter.apply("GreaterOrEqual",
                            {at, emitter.whole(op.getLower()[i])},
                            Element::Bit));
    if (!Emitter::isLength(extents[i]))
      continue;
    std::optional<Tensor> parent;
    for (unsigned outer = i; outer-- > 0 && !parent;)
      if (extents[outer] == emitter.parentOf(extents[i]))
        parent = emitter.places(extents[outer], outer + 1, rank);
    require(emitter.apply(
        "Less",
        {at, emitter.lengthAt(extents[i], rank, parent ? &*parent : nullptr)},
        Element::Bit));
  }
  return all;
}

Tensor BodyEmitter::reduced(const std::string &name, const Tensor &tensor,
                            bool keeps) {
  Tensor whole = emitter.widen(tensor, reducedAxes, extents);
  std::vector<int64_t> axes;
  for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i)
    axes.push_back(i + 1);
  Tensor result = whole;
  result.name =
      emitter.graph.add(name, {whole.name, emitter.graph.vector(axes)},
                        {NodeAttribute{"keepdims", int64_t(keeps)}});
  result.wide &= ~reducedAxes;
  if (!keeps)
    result.rank -= axes.size();
  return result;
}

/// A sum of products: each factor is 0 where it does not take part.
std::optional<Tensor> BodyEmitter::product(std::optional<Tensor> condition) {
  auto factors = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!factors || op.getReducer() != Reducer::sum)
    return std::nullopt;
  Tensor a = valueOf(factors.getLhs()), b = valueOf(factors.getRhs());
  if (a.wide == 0 || b.wide == 0 ||
      ((a.wide | b.wide) & reducedAxes) != reducedAxes)
    return std::nullopt;
  std::optional<Tensor> after;
  auto apply = [&](const std::optional<Tensor> &part) {
    if (!part)
      return;
    auto mask = [&](Tensor &factor) {
      factor = emitter.where(*part, factor, emitter.zero(factor.type));
    };
    bool ofA = (part->wide & ~a.wide) == 0, ofB = (part->wide & ~b.wide) == 0;
    if ((part->wide & reducedAxes) == 0)
      after = after ? emitter.both(*after, *part) : *part;
    else if (!ofA && !ofB)
      mask(llvm::popcount(a.wide | part->wide) <=
                   llvm::popcount(b.wide | part->wide)
               ? a
               : b);
    else {
      if (ofA)
        mask(a);
      if (ofB)
        mask(b);
    }
  };
  std::optional<Tensor> part = partOfReduction();
  // A factor that depends on a place of the padding may be anything there.
  if (part)
    for (Tensor *factor : {&a, &b})
      if ((factor->wide & part->wide & reducedAxes) ==
          (part->wide & reducedAxes))
        *factor = emitter.where(*part, *factor, emitter.zero(factor->type));
  apply(part);
  apply(condition);

  std::string text;
  std::vector<std::string> names;
  for (const Tensor &factor : {a, b}) {
    std::vector<int64_t> gone;
    text += text.empty() ? "" : ",";
    for (unsigned axis = 0; axis < rank; ++axis)
      if (factor.isWide(axis))
        text += static_cast<char>('a' + axis);
      else
        gone.push_back(axis);
    names.push_back(
        gone.empty()
            ? factor.name
            : emitter.graph.add("Squeeze",
                                {factor.name, emitter.graph.vector(gone)}));
  }
  text += "->";
  Tensor result;
  result.type = a.type;
  SmallVector<int> targets;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (((a.wide | b.wide) & ~reducedAxes) >> axis & 1) {
      text += static_cast<char>('a' + axis);
      targets.push_back(axis);
    }
  result.name =
      emitter.graph.add("Einsum", names, {NodeAttribute{"equation", text}});
  result.rank = targets.size();
  result.wide = (uint64_t(1) << result.rank) - 1;
  unsigned parallel = op.getNumParallel() + 1;
  result = emitter.place(result, targets, parallel);
  if (!after)
    return result;
  // The condition has the axes of the reduction, of one place each.
  Tensor kept = *after;
  SmallVector<int> axes;
  for (unsigned axis = 0; axis < rank; ++axis)
    axes.push_back(axis < parallel ? int(axis) : -1);
  kept = emitter.place(kept, axes, parallel);
  return emitter.where(kept, result, emitter.zero(result.type));
}

Tensor BodyEmitter::countOf(const std::optional<Tensor> &condition) {
  Tensor one = emitter.realNumber(1);
  return reduced(
      "ReduceSum",
      condition ? emitter.where(*condition, one, emitter.realNumber(0)) : one);
}

/// The least or greatest value; 0 of none.
Tensor BodyEmitter::extremum(const Tensor &value,
                             const std::optional<Tensor> &condition) {
  bool isMax = op.getReducer() == Reducer::max;
  std::string name = isMax ? "ReduceMax" : "ReduceMin";
  if (!condition)
    return reduced(name, value);
  Tensor neutral =
      value.type == Element::I64
          ? emitter.whole(isMax ? std::numeric_limits<int64_t>::min()
                                : std::numeric_limits<int64_t>::max())
          : emitter.realNumber(isMax ? -infinity : infinity);
  Tensor found = reduced(name, emitter.where(*condition, value, neutral));
  Tensor has = emitter.apply(
      "Greater", {countOf(condition), emitter.realNumber(0)}, Element::Bit);
  return emitter.where(has, found, emitter.zero(value.type));
}

Tensor BodyEmitter::place(const Tensor &value,
                          const std::optional<Tensor> &condition) {
  bool isMax = op.getReducer() == Reducer::argmax;
  Tensor all = emitter.cast(value, emitter.real());
  if (condition)
    all = emitter.where(*condition, all,
                        emitter.realNumber(isMax ? -infinity : infinity));
  all = emitter.widen(all, reducedAxes, extents);
  unsigned parallel = op.getNumParallel() + 1;
  if (op.getNumReduction() > 1) {
    std::vector<int64_t> shape(parallel, 0);
    shape.push_back(-1);
    all.name =
        emitter.graph.add("Reshape", {all.name, emitter.graph.vector(shape)});
  }
  Tensor result;
  result.name = emitter.graph.add(isMax ? "ArgMax" : "ArgMin", {all.name},
                                  {NodeAttribute{"axis", int64_t(parallel)},
                                   NodeAttribute{"keepdims", int64_t(0)}});
  result.rank = parallel;
  result.wide = all.wide & ~reducedAxes;
  result.type = Element::I64;
  return result;
}

/// log of the sum of exponentials: -infinity if all values are, 0 of none.
Tensor BodyEmitter::logSumExp(const Tensor &value,
                              const std::optional<Tensor> &condition) {
  Tensor low = emitter.realNumber(-infinity), zero = emitter.realNumber(0);
  Tensor all = condition ? emitter.where(*condition, value, low) : value;
  all = emitter.widen(all, reducedAxes, extents);
  auto finite = [&](const Tensor &most) {
    return emitter.where(emitter.apply("Equal", {most, low}, Element::Bit),
                         zero, most);
  };
  Tensor shares = emitter.apply(
      "Exp",
      {emitter.apply("Sub", {all, finite(reduced("ReduceMax", all, true))})});
  Tensor result = emitter.apply(
      "Add", {emitter.apply("Log", {reduced("ReduceSum", shares)}),
              finite(reduced("ReduceMax", all))});
  if (!condition)
    return result;
  Tensor has =
      emitter.apply("Greater", {countOf(condition), zero}, Element::Bit);
  return emitter.where(has, result, zero);
}

Tensor BodyEmitter::normalise(const Tensor &value,
                              const std::optional<Tensor> &condition) {
  Tensor zero = emitter.realNumber(0), low = emitter.realNumber(-infinity);
  bool isSum = op.getReducer() == Reducer::cumsum;
  Tensor all = condition ? emitter.where(*condition, value,
                                         isSum ? emitter.zero(value.type) : low)
                         : value;
  all = emitter.widen(all, reducedAxes, extents);
  Tensor result = all;
  if (isSum) {
    result.name = emitter.graph.add(
        "CumSum", {all.name, emitter.graph.number(int64_t(rank - 1))});
  } else {
    // Of values that are all -infinity, nothing is possible.
    bool isLog = op.getReducer() == Reducer::log_softmax;
    Tensor impossible = emitter.apply(
        "Equal", {reduced("ReduceMax", all, true), low}, Element::Bit);
    Tensor shares;
    if (isLog) {
      // LogSoftmax of onnx's reference evaluator takes logarithms of 0.
      Tensor most = reduced("ReduceMax", all, true);
      Tensor below = emitter.apply("Sub", {all, most});
      Tensor sum = reduced("ReduceSum", emitter.apply("Exp", {below}), true);
      shares = emitter.apply("Sub", {below, emitter.apply("Log", {sum})});
    } else {
      shares = emitter.apply("Softmax", {all}, all.type,
                             {NodeAttribute{"axis", int64_t(-1)}});
    }
    result = emitter.where(impossible, isLog ? low : zero, shares);
  }
  return condition
             ? emitter.where(*condition, result, emitter.zero(result.type))
             : result;
}

Tensor BodyEmitter::reduce(std::optional<Tensor> condition) {
  if (std::optional<Tensor> sum = product(condition))
    return *sum;
  if (std::optional<Tensor> part = partOfReduction())
    condition = condition ? emitter.both(*part, *condition) : *part;
  const Tensor &value = yielded;
  auto masked = [&](Tensor other) {
    return condition ? emitter.where(*condition, value, other) : value;
  };
  Tensor zero = emitter.realNumber(0);
  auto asReal = [&](const Tensor &bits) {
    return emitter.where(bits, emitter.realNumber(1), zero);
  };
  switch (op.getReducer()) {
  case Reducer::none:
    break;
  case Reducer::sum:
    return reduced("ReduceSum", masked(emitter.zero(value.type)));
  case Reducer::prod:
    return reduced("ReduceProd",
                   masked(value.type == Element::I64 ? emitter.whole(1)
                                                     : emitter.realNumber(1)));
  case Reducer::mean:
    return emitter.apply(
        "Div",
        {reduced("ReduceSum", masked(zero)),
         emitter.apply("Max", {countOf(condition), emitter.realNumber(1)})});
  case Reducer::max:
  case Reducer::min:
    return extremum(value, condition);
  case Reducer::argmax:
  case Reducer::argmin:
    return place(value, condition);
  case Reducer::any:
    return emitter.apply(
        "Greater",
        {reduced("ReduceSum",
                 asReal(condition ? emitter.both(*condition, value) : value)),
         zero},
        Element::Bit);
  case Reducer::all: {
    Tensor fails = emitter.apply("Not", {value});
    return emitter.apply(
        "Equal",
        {reduced("ReduceSum",
                 asReal(condition ? emitter.both(*condition, fails) : fails)),
         zero},
        Element::Bit);
  }
  case Reducer::logsumexp:
    return logSumExp(value, condition);
  case Reducer::softmax:
  case Reducer::log_softmax:
  case Reducer::cumsum:
    return normalise(value, condition);
  }
  llvm_unreachable("every reducer is known");
}
