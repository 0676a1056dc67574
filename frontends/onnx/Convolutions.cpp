//===- Convolutions.cpp - windows over places -----------------------------===//
//
// Convolutions and pools over any number of axes. The part of a window outside
// the input is 0, or excluded.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::onnx;

namespace {

/// A window over the axes after batch and channel.
struct Window {
  std::vector<int64_t> sizes, strides, dilations, before, after;
  Shape output; // of these axes

  size_t rank() const { return sizes.size(); }
  /// The position of element `k` of the window at `i` along an axis.
  std::string place(size_t axis, const std::string &i,
                    const std::string &k) const {
    std::string text =
        strides[axis] == 1 ? i : fmt::format("{}*{}", strides[axis], i);
    if (sizes[axis] > 1)
      text += dilations[axis] == 1
                  ? " + " + k
                  : fmt::format(" + {}*{}", dilations[axis], k);
    return before[axis] == 0 ? text
                             : fmt::format("{} - {}", text, before[axis]);
  }
  /// Returns whether it can be outside.
  bool leaves(size_t axis) const { return before[axis] > 0 || after[axis] > 0; }
};

} // namespace

/// The numbers of an attribute, one for each of `count` axes or ends of axes.
static bool readPerAxis(Importer &importer, const Node &node, const char *name,
                        size_t count, int64_t least, int64_t otherwise,
                        std::vector<int64_t> &numbers) {
  numbers = node.integers(name);
  if (numbers.empty())
    numbers.assign(count, otherwise);
  if (numbers.size() != count)
    return importer.refuse(node, fmt::format("'{}' has {} numbers for {} axes",
                                             name, numbers.size(), count));
  for (int64_t number : numbers)
    if (number < least)
      return importer.refuse(node, fmt::format("'{}' has the value {}, and the "
                                               "least is {}",
                                               name, number, least));
  return true;
}

static bool readWindow(Importer &importer, const Node &node, const Value &x,
                       std::vector<int64_t> sizes, Window &window) {
  if (x.rank() < 3 || sizes.size() != x.rank() - 2)
    return importer.refuse(node,
                           "has a window of " + std::to_string(sizes.size()) +
                               " axes for a value of " + shapeText(x.shape));
  size_t rank = sizes.size();
  window.sizes = std::move(sizes);
  std::vector<int64_t> pads;
  if (!readPerAxis(importer, node, "strides", rank, 1, 1, window.strides) ||
      !readPerAxis(importer, node, "dilations", rank, 1, 1, window.dilations) ||
      !readPerAxis(importer, node, "pads", 2 * rank, 0, 0, pads))
    return false;
  std::string automatic = node.text("auto_pad", "NOTSET");
  bool roundsUp = node.integer("ceil_mode", 0) != 0;
  for (size_t i = 0; i < rank; ++i) {
    const Size &extent = x.shape[i + 2];
    int64_t stride = window.strides[i];
    if (window.sizes[i] < 1 || window.sizes[i] > INT32_MAX)
      return importer.refuse(
          node, fmt::format("has a window of {} places", window.sizes[i]));
    int64_t span = (window.sizes[i] - 1) * window.dilations[i] + 1;
    int64_t before = pads[i], after = pads[rank + i];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      std::optional<int64_t> length = extent.value();
      if (!length && stride != 1)
        return importer.refuse(node, "pads a length by itself");
      int64_t whole = length ? (*length + stride - 1) / stride : 0;
      int64_t all =
          length ? std::max<int64_t>(0, (whole - 1) * stride + span - *length)
                 : span - 1;
      before = automatic == "SAME_UPPER" ? all / 2 : (all + 1) / 2;
      after = all - before;
    } else if (automatic == "VALID") {
      before = after = 0;
    }
    window.before.push_back(before);
    Size room = extent + Size(before + after - span);
    if (roundsUp)
      room = room + Size(stride - 1);
    Size count = room.floorDividedBy(stride) + Size(1);
    // The last window must begin inside.
    if (std::optional<int64_t> length = extent.value(); roundsUp && length)
      count = std::min(*count.value(), (*length + before - 1) / stride + 1);
    // How far the last window may extend past the end.
    window.after.push_back(roundsUp ? after + stride : after);
    window.output.push_back(count);
  }
  return true;
}

/// Indices, binders and conditions of the elements under a window.
struct Covered {
  Indices places;
  std::vector<std::string> binders, inside;
};

static Covered coveredBy(const Window &window, const Value &x,
                         const Indices &indices) {
  Covered covered;
  for (size_t i = 0; i < window.rank(); ++i) {
    std::string k = fmt::format("k{}", i + 1);
    if (window.sizes[i] > 1)
      covered.binders.push_back(fmt::format("{} < {}", k, window.sizes[i]));
    std::string place = window.place(i, indices[i + 2], k);
    if (window.before[i] > 0)
      covered.inside.push_back("0 <= " + place);
    if (window.after[i] > 0)
      covered.inside.push_back(place + " < " + x.shape[i + 2].text());
    covered.places.push_back(place);
  }
  return covered;
}

static std::vector<int64_t> sizesOf(const Value &weights) {
  std::vector<int64_t> sizes;
  for (size_t i = 2; i < weights.rank(); ++i)
    sizes.push_back(weights.shape[i].value().value_or(0));
  return sizes;
}

/// `sum[k0 < 3, k1 < 2 where ..](what)`
static std::string reduced(const std::string &reducer, const Covered &covered,
                           const std::string &what,
                           const std::string &zero = "0.0") {
  if (covered.binders.empty() && covered.inside.empty())
    return what;
  if (covered.binders.empty())
    return fmt::format("(if {} then {} else {})",
                       joined(covered.inside, " and "), what,
                       reducer == "max" ? "-inf" : zero);
  std::string over = joined(covered.binders, ", ");
  if (!covered.inside.empty())
    over += " where " + joined(covered.inside, " and ");
  return fmt::format("{}[{}]({})", reducer, over, what);
}

/// Windows of fewer places are read in place.
static constexpr int64_t leastFrame = 8;

bool fovea::onnx::convolve(Importer &importer, const Node &node, const Value &x,
                           const Value &w, ElementType type,
                           const Finish &finish) {
  std::string zero = x.kind() == Kind::Real ? "0.0" : "0";
  int64_t groups = node.integer("group", 1);
  std::optional<int64_t> outputs = w.shape[0].value(),
                         inputs = w.shape[1].value();
  if (!outputs || !inputs || groups < 1 || *outputs % groups != 0 ||
      !(x.shape[1] == w.shape[1] * Size(groups)))
    return importer.refuse(node, "'" + x.name + "' " + shapeText(x.shape) +
                                     " and '" + w.name + "' " +
                                     shapeText(w.shape) + " do not match");
  Window window;
  if (!readWindow(importer, node, x, sizesOf(w), window))
    return false;
  Shape shape = {x.shape[0], w.shape[0]};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  int64_t perGroup = *outputs / groups;
  // A window of one channel is a separate row: a transform of sound frames is a
  // product of these.
  bool isFramed = *inputs == 1 && groups == 1 && window.rank() == 1 &&
                  !x.array.empty() && window.sizes[0] >= leastFrame;
  if (isFramed) {
    Shape frames = {x.shape[0], window.output[0], Size(window.sizes[0])};
    Value rows = importer.helper(node, x.type, frames, [&](const Indices &at) {
      std::string element =
          importer.read(x, {at[0], "0", window.place(0, at[1], at[2])});
      return window.leaves(0) ? fmt::format("({} ?? {})", element, zero)
                              : element;
    });
    return importer.give(node, 0, type, shape, [&](const Indices &at) {
      std::string sum = fmt::format("sum[k1 < {}]({} * {})", window.sizes[0],
                                    importer.read(rows, {at[0], at[2], "k1"}),
                                    importer.read(w, {at[1], "0", "k1"}));
      return finish(sum, at);
    });
  }
  return importer.give(node, 0, type, shape, [&](const Indices &indices) {
    Covered covered = coveredBy(window, x, indices);
    Indices place = {indices[0], "k0"}, weight = {indices[1], "k0"};
    if (*inputs == 1)
      place[1] = weight[1] = "0";
    if (groups > 1) {
      std::string group = perGroup == 1
                              ? indices[1]
                              : fmt::format("{} // {}", indices[1], perGroup);
      place[1] =
          *inputs == 1 ? group : fmt::format("({}) * {} + k0", group, *inputs);
    }
    if (*inputs > 1)
      covered.binders.insert(covered.binders.begin(),
                             fmt::format("k0 < {}", *inputs));
    place.insert(place.end(), covered.places.begin(), covered.places.end());
    for (size_t i = 0; i < window.rank(); ++i)
      weight.push_back(window.sizes[i] > 1 ? fmt::format("k{}", i + 1) : "0");
    std::string element = importer.read(x, place);
    // A read that is 0 outside has no condition, so the sum is a product.
    if (!covered.inside.empty() && !x.array.empty()) {
      element = fmt::format("({} ?? {})", element, zero);
      covered.inside.clear();
    }
    return finish(reduced("sum", covered,
                          element + " * " + importer.read(w, weight), zero),
                  indices);
  });
}

static bool giveConvolution(Importer &importer, const Node &node) {
  const Value x = node.at(0), w = node.at(1);
  const Value *given = node.input(2);
  Value bias = given ? *given : Value();
  return convolve(importer, node, x, w, x.type,
                  [&](const std::string &sum, const Indices &i) {
                    return given ? sum + " + " + importer.read(bias, {i[1]})
                                 : sum;
                  });
}

/// Each input element adds to a window of the output: it contributes where the
/// division by the stride has no remainder.
static bool giveTransposed(Importer &importer, const Node &node) {
  const Value x = node.at(0), w = node.at(1);
  const Value *bias = node.input(2);
  int64_t groups = node.integer("group", 1);
  std::optional<int64_t> inputs = w.shape[0].value();
  if (!inputs || groups < 1 || !x.shape[1].is(*inputs) || *inputs % groups != 0)
    return importer.refuse(node, "'" + x.name + "' " + shapeText(x.shape) +
                                     " and '" + w.name + "' " +
                                     shapeText(w.shape) + " do not match");
  std::vector<int64_t> sizes = sizesOf(w);
  size_t rank = sizes.size();
  std::vector<int64_t> strides, dilations, pads, more,
      wanted = node.integers("output_shape");
  if (!readPerAxis(importer, node, "strides", rank, 1, 1, strides) ||
      !readPerAxis(importer, node, "dilations", rank, 1, 1, dilations) ||
      !readPerAxis(importer, node, "pads", 2 * rank, 0, 0, pads) ||
      !readPerAxis(importer, node, "output_padding", rank, 0, 0, more))
    return false;
  // Some files include the batch and channel axes.
  if (!wanted.empty() && wanted.size() != rank && wanted.size() != rank + 2)
    return importer.refuse(node, fmt::format("'output_shape' has {} numbers "
                                             "for {} axes",
                                             wanted.size(), rank));
  for (int64_t size : sizes)
    if (size < 1 || size > INT32_MAX)
      return importer.refuse(node,
                             fmt::format("has a window of {} places", size));
  std::string automatic = node.text("auto_pad", "NOTSET");
  Size perGroup = w.shape[1];
  Shape shape = {x.shape[0], perGroup * Size(groups)};
  for (size_t i = 0; i < rank; ++i) {
    Size full = (x.shape[i + 2] - Size(1)) * Size(strides[i]) +
                Size(more[i] + (sizes[i] - 1) * dilations[i] + 1);
    Size output = full - Size(pads[i] + pads[rank + i]);
    bool isSame = automatic.starts_with("SAME");
    if (!wanted.empty() || isSame) {
      output = wanted.empty() ? x.shape[i + 2] * Size(strides[i])
                              : Size(wanted[wanted.size() - rank + i]);
      std::optional<int64_t> over = (full - output).value();
      if (!over)
        return importer.refuse(node, "pads a length by itself");
      int64_t all = std::max<int64_t>(0, *over);
      pads[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    }
    shape.push_back(output);
  }
  int64_t inGroup = *inputs / groups;
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    std::string out = perGroup.text();
    Indices place = {indices[0], "k0"};
    Indices weight = {"k0", indices[1]};
    if (groups > 1) {
      place[1] = weight[0] =
          fmt::format("({} // {}) * {} + k0", indices[1], out, inGroup);
      weight[1] = fmt::format("{} mod {}", indices[1], out);
    }
    std::vector<std::string> binders = {fmt::format("k0 < {}", inGroup)};
    std::vector<std::string> inside;
    for (size_t i = 0; i < rank; ++i) {
      std::string k = fmt::format("k{}", i + 1);
      binders.push_back(fmt::format("{} < {}", k, sizes[i]));
      std::string scaled = fmt::format("({} + {} - {}*{})", indices[i + 2],
                                       pads[i], dilations[i], k);
      std::string from = strides[i] == 1
                             ? scaled
                             : fmt::format("({} // {})", scaled, strides[i]);
      if (strides[i] != 1)
        inside.push_back(fmt::format("{} mod {} == 0", scaled, strides[i]));
      inside.push_back("0 <= " + from);
      inside.push_back(from + " < " + x.shape[i + 2].text());
      place.push_back(from);
      weight.push_back(k);
    }
    std::string sum =
        fmt::format("sum[{} where {}]({} * {})", joined(binders, ", "),
                    joined(inside, " and "), importer.read(x, place),
                    importer.read(w, weight));
    return bias ? sum + " + " + importer.read(*bias, {indices[1]}) : sum;
  });
}

static bool givePool(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  Window window;
  if (!readWindow(importer, node, x, node.integers("kernel_shape"), window))
    return false;
  if (node.gives(1))
    return importer.refuse(node, "gives places, which is not supported");
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  const std::string &op = node.op();
  bool countsPads = node.integer("count_include_pad", 0) != 0;
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Covered covered = coveredBy(window, x, indices);
    Indices place = {indices[0], indices[1]};
    place.insert(place.end(), covered.places.begin(), covered.places.end());
    std::string element = importer.read(x, place);
    if (op == "MaxPool")
      return reduced("max", covered, element);
    if (op == "LpPool") {
      int64_t p = node.integer("p", 2);
      return fmt::format(
          "({}) ^ (1.0 / {}.0)",
          reduced("sum", covered, fmt::format("abs({}) ^ {}.0", element, p)),
          p);
    }
    if (!countsPads)
      return reduced("mean", covered, element);
    // Padding counts; places past it do not.
    Covered padded = covered;
    padded.inside.clear();
    std::vector<int64_t> pads = node.integers("pads");
    pads.resize(2 * window.rank(), 0);
    if (node.integer("ceil_mode", 0) != 0)
      for (size_t i = 0; i < window.rank(); ++i)
        padded.inside.push_back(fmt::format(
            "{} < {}", padded.places[i],
            (x.shape[i + 2] + Size(pads[window.rank() + i])).text()));
    std::string one = padded.inside.empty()
                          ? ""
                          : fmt::format("if {} then 1.0 else 0.0",
                                        joined(padded.inside, " and "));
    double all = 1;
    for (int64_t size : window.sizes)
      all *= static_cast<double>(size);
    std::string count =
        one.empty() || padded.binders.empty()
            ? literal(all)
            : fmt::format("sum[{}]({})", joined(padded.binders, ", "), one);
    return reduced("sum", covered, element) + " / " + count;
  });
}

static bool giveGlobal(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  Shape shape(x.rank(), Size(1));
  shape[0] = x.shape[0];
  shape[1] = x.shape[1];
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own = {indices[0], indices[1]};
    std::vector<std::string> binders;
    for (size_t i = 2; i < x.rank(); ++i) {
      own.push_back(fmt::format("k{}", i));
      binders.push_back(own.back() + " < " + x.shape[i].text());
    }
    return fmt::format("{}[{}]({})",
                       node.op() == "GlobalMaxPool" ? "max" : "mean",
                       joined(binders, ", "), importer.read(x, own));
  });
}

void fovea::onnx::addConvolutions(Handlers &handlers) {
  handlers["Conv"] = giveConvolution;
  handlers["ConvTranspose"] = giveTransposed;
  for (const char *name : {"MaxPool", "AveragePool", "LpPool"})
    handlers[name] = givePool;
  handlers["GlobalAveragePool"] = giveGlobal;
  handlers["GlobalMaxPool"] = giveGlobal;
}
