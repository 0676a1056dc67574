//===- Reductions.cpp - operators over whole axes -------------------------===//
//
// Sums, means, maxima and similar, argmax, cumulative sums,
// top-k.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"

#include <fmt/format.h>

using namespace fovea::onnx;

/// The axes of a reduction, from an attribute or an input.
static bool axesOf(Importer &importer, const Node &node, const Value &x,
                   std::vector<bool> &isReduced, bool &keepsAll) {
  std::vector<int64_t> axes = node.integers("axes");
  if (node.input(1)) {
    auto known = importer.knownNumbers(node, 1);
    if (!known)
      return false;
    axes = *known;
  }
  isReduced.assign(x.rank(), axes.empty());
  keepsAll = axes.empty() && node.integer("noop_with_empty_axes", 0) != 0;
  for (int64_t axis : axes) {
    std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
    if (!own)
      return false;
    isReduced[*own] = true;
  }
  return true;
}

/// The reduced function of an element, the reducer, and the function of the
/// result.
static std::string reduction(const std::string &op, const std::string &binders,
                             const std::string &element, Kind kind) {
  auto reduce = [&](const std::string &how, const std::string &what) {
    return binders.empty() ? what
                           : fmt::format("{}[{}]({})", how, binders, what);
  };
  std::string square = element + " * " + element;
  if (op == "ReduceSum")
    return reduce("sum", element);
  if (op == "ReduceMean")
    return reduce("mean", element);
  if (op == "ReduceProd")
    return reduce("prod", element);
  if (op == "ReduceMax" || op == "ReduceMin")
    return kind == Kind::Bit
               ? reduce(op == "ReduceMax" ? "any" : "all", element)
               : reduce(op == "ReduceMax" ? "max" : "min", element);
  if (op == "ReduceL1")
    return reduce("sum", "abs(" + element + ")");
  if (op == "ReduceL2")
    return "sqrt(" + reduce("sum", "1.0 * " + square) + ")";
  if (op == "ReduceSumSquare")
    return reduce("sum", square);
  if (op == "ReduceLogSum")
    return "log(" + reduce("sum", element) + ")";
  return binders.empty() ? element : reduce("logsumexp", element);
}

static bool giveReduction(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::vector<bool> isReduced;
  bool keepsAll = false;
  if (!axesOf(importer, node, x, isReduced, keepsAll))
    return false;
  if (keepsAll)
    return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
      return reduction(node.op(), "", importer.read(x, indices), x.kind());
    });
  bool keepsAxes = node.integer("keepdims", 1) != 0;
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i)
    if (!isReduced[i] || keepsAxes)
      shape.push_back(isReduced[i] ? Size(1) : x.shape[i]);
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own;
    std::vector<std::string> binders;
    size_t next = 0;
    for (size_t i = 0; i < x.rank(); ++i) {
      if (isReduced[i]) {
        own.push_back(fmt::format("k{}", i));
        binders.push_back(own.back() + " < " + x.shape[i].text());
        next += keepsAxes ? 1 : 0;
      } else {
        own.push_back(indices[next++]);
      }
    }
    std::string element = importer.read(x, own);
    // A known constant has no index to reduce over.
    if (x.known && x.kind() != Kind::Bit && !binders.empty() &&
        element.find('k') == std::string::npos)
      element = fmt::format("({} + {} * {})", element,
                            x.kind() == Kind::Real ? "0.0" : "0",
                            binders.back().substr(0, binders.back().find(' ')));
    return reduction(node.op(), joined(binders, ", "), element, x.kind());
  });
}

static bool giveArg(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", 0), x.rank());
  if (!axis)
    return false;
  bool keepsAxes = node.integer("keepdims", 1) != 0;
  bool isLast = node.integer("select_last_index", 0) != 0;
  Shape shape = x.shape;
  if (keepsAxes)
    shape[*axis] = Size(1);
  else
    shape.erase(shape.begin() + static_cast<int64_t>(*axis));
  return importer.give(node, 0, int64Type, shape, [&](const Indices &indices) {
    Indices own = indices;
    if (!keepsAxes)
      own.insert(own.begin() + static_cast<int64_t>(*axis), "");
    std::string extent = x.shape[*axis].text();
    // Finds the first of several; from the back, the last.
    own[*axis] = isLast ? extent + " - 1 - k0" : "k0";
    std::string found = fmt::format("{}[k0 < {}]({})",
                                    node.op() == "ArgMax" ? "argmax" : "argmin",
                                    extent, importer.read(x, own));
    return isLast ? extent + " - 1 - " + found : "0 + " + found;
  });
}

static bool giveCumulative(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto axes = importer.knownNumbers(node, 1);
  std::optional<size_t> axis =
      axes ? importer.axisOf(node, (*axes)[0], x.rank()) : std::nullopt;
  if (!axis)
    return false;
  bool isOpen = node.integer("exclusive", 0) != 0;
  bool isBackward = node.integer("reverse", 0) != 0;
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    Indices own = indices;
    own[*axis] = "k0";
    std::string sign =
        isBackward ? (isOpen ? ">" : ">=") : (isOpen ? "<" : "<=");
    return fmt::format("{}[k0 < {} where k0 {} {}]({})",
                       node.op() == "CumProd" ? "prod" : "sum",
                       x.shape[*axis].text(), sign, indices[*axis],
                       importer.read(x, own));
  });
}

/// Counts the elements of the axis that rank before each, then finds the
/// element of each rank.
static bool giveTopK(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  int64_t count = node.integer("k", 0);
  if (node.input(1)) {
    auto known = importer.knownNumbers(node, 1);
    if (!known)
      return false;
    count = (*known)[0];
  }
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", -1), x.rank());
  if (!axis)
    return false;
  std::optional<int64_t> most = x.shape[*axis].value();
  if (count < 0 || count > most.value_or(count))
    return importer.refuse(node, fmt::format("wants {} elements of {}", count,
                                             x.shape[*axis].text()));
  bool isLargest = node.integer("largest", 1) != 0;
  std::string extent = x.shape[*axis].text();
  Value rank =
      importer.helper(node, int64Type, x.shape, [&](const Indices &indices) {
        Indices own = indices;
        own[*axis] = "k0";
        std::string here = importer.read(x, indices);
        std::string other = importer.read(x, own);
        return fmt::format("sum[k0 < {} where {} {} {} or ({} == {} and k0 < "
                           "{})](1)",
                           extent, other, isLargest ? ">" : "<", here, other,
                           here, indices[*axis]);
      });
  Shape shape = x.shape;
  shape[*axis] = Size(count);
  auto found = [&](const Indices &indices, const std::string &what) {
    Indices own = indices;
    own[*axis] = "k0";
    return fmt::format("sum[k0 < {} where {} == {}]({})", extent,
                       importer.read(rank, own), indices[*axis], what);
  };
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own = indices;
    own[*axis] = "k0";
    return found(indices, importer.read(x, own));
  }) && importer.give(node, 1, int64Type, shape, [&](const Indices &indices) {
    return found(indices, "k0");
  });
}

void fovea::onnx::addReductions(Handlers &handlers) {
  for (const char *name :
       {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin",
        "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
        "ReduceLogSumExp"})
    handlers[name] = giveReduction;
  handlers["ArgMax"] = giveArg;
  handlers["ArgMin"] = giveArg;
  handlers["CumSum"] = giveCumulative;
  handlers["CumProd"] = giveCumulative;
  handlers["TopK"] = giveTopK;
}
