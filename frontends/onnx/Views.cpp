//===- Views.cpp - operators that move elements ---------------------------===//
//
// Each operator maps an output element to its place in the input; the compiler
// reads there, without a copy if possible.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

using namespace fovea::onnx;

/// Numbers from an attribute, or since some version from an input.
static std::optional<std::vector<int64_t>> numbersOf(Importer &importer,
                                                     const Node &node,
                                                     const std::string &name,
                                                     size_t input) {
  if (!node.input(input))
    return node.integers(name);
  return importer.knownNumbers(node, input);
}

/// The same, if they may contain lengths.
static std::optional<std::vector<Size>> sizesIn(Importer &importer,
                                                const Node &node,
                                                const std::string &name,
                                                size_t input) {
  if (node.input(input)) {
    const Contents *known = importer.knownInput(node, input);
    return known ? std::optional<std::vector<Size>>(known->whole)
                 : std::nullopt;
  }
  std::vector<int64_t> numbers = node.integers(name);
  return std::vector<Size>(numbers.begin(), numbers.end());
}

/// `a + n`, with as few signs as can be.
static std::string plus(const std::string &index, const Size &number) {
  if (number.is(0))
    return index;
  std::string text = number.text();
  return text[0] == '-' ? index + " - " + text.substr(1) : index + " + " + text;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The indices into `from` of the element at `indices` of `to`, in row-major
/// order: axes are merged until both sides have equally many elements.
static Indices reshaped(const Shape &from, const Shape &to,
                        const Indices &indices) {
  Indices result(from.size(), "0");
  size_t a = 0, b = 0;
  while (a < from.size() || b < to.size()) {
    size_t firstA = a, firstB = b;
    Size left(1), right(1);
    if (a < from.size())
      left = from[a++];
    if (b < to.size())
      right = to[b++];
    while (!(left == right)) {
      std::optional<int64_t> x = left.value(), y = right.value();
      // The side with fewer lengths, or the smaller one, takes its next axis.
      bool growsLeft = x && y ? *x < *y : left.dividedBy(right) == std::nullopt;
      if (growsLeft ? a == from.size() : b == to.size())
        growsLeft = !growsLeft;
      if (growsLeft ? a == from.size() : b == to.size())
        break;
      if (growsLeft)
        left = left * from[a++];
      else
        right = right * to[b++];
    }
    Indices own(indices.begin() + static_cast<int64_t>(firstB),
                indices.begin() + static_cast<int64_t>(b));
    Shape sizes(to.begin() + static_cast<int64_t>(firstB),
                to.begin() + static_cast<int64_t>(b));
    std::string flat = flatIndex(own, sizes);
    // Axes of one element are read at 0.
    std::vector<size_t> axes;
    for (size_t i = firstA; i < a; ++i)
      if (!from[i].is(1))
        axes.push_back(i);
    Size stride(1);
    for (size_t k = axes.size(); k-- > 0;) {
      std::string index = flat;
      if (!stride.is(1))
        index = fmt::format("({} // {})", index, stride.text());
      if (k > 0)
        index = fmt::format("({} mod {})", index, from[axes[k]].text());
      result[axes[k]] = index;
      stride = stride * from[axes[k]];
    }
  }
  return result;
}

static bool giveReshaped(Importer &importer, const Node &node,
                         const Shape &shape) {
  const Value x = node.at(0);
  if (!importer.areEqual(productOf(x.shape), productOf(shape))) {
    // Exporters bake the lengths of their example into shapes.
    bool isOpen = !productOf(x.shape).value();
    return importer.refuse(
        node, "a value of " + shapeText(x.shape) + " cannot have the shape " +
                  shapeText(shape) +
                  (isOpen ? "; help: where the file is for one length only, "
                            "give it with --set"
                          : ""));
  }
  Shape own = withParts(x.shape, shape);
  return importer.give(node, 0, x.type, own, [&](const Indices &indices) {
    bool isExact = true;
    Indices places = importer.storedPlaces(indices, own, isExact);
    Indices stored = reshaped(storedAxes(x.shape), storedAxes(own), places);
    return importer.read(x, importer.mergedPlaces(stored, x.shape), !isExact);
  });
}

static bool giveReshape(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  const Contents *wanted = importer.knownInput(node, 1);
  if (!wanted)
    return false;
  Shape shape;
  std::optional<size_t> open;
  for (const Size &size : wanted->whole) {
    if (size.is(-1) && open)
      return importer.refuse(node, "has more than one extent to infer in " +
                                       shapeText(wanted->whole));
    if (size.is(-1))
      open = shape.size();
    bool isSame = size.is(0) && node.integer("allowzero", 0) == 0 &&
                  shape.size() < x.rank();
    shape.push_back(size.is(-1) ? Size(1)
                    : isSame    ? x.shape[shape.size()]
                                : size);
  }
  if (open) {
    std::optional<Size> rest =
        importer.divided(productOf(x.shape), productOf(shape));
    if (!rest)
      return importer.refuse(node, "a value of " + shapeText(x.shape) +
                                       " cannot have the shape " +
                                       shapeText(wanted->whole));
    shape[*open] = *rest;
  }
  return giveReshaped(importer, node, shape);
}

static bool giveFlatten(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  int64_t axis = node.integer("axis", 1);
  if (axis < 0)
    axis += static_cast<int64_t>(x.rank());
  if (axis < 0 || axis > static_cast<int64_t>(x.rank()))
    return importer.axisOf(node, axis, x.rank()).has_value();
  return giveReshaped(importer, node,
                      {productOf(x.shape, 0, axis), productOf(x.shape, axis)});
}

static bool giveSqueeze(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto axes = numbersOf(importer, node, "axes", 1);
  if (!axes)
    return false;
  std::vector<bool> drops(x.rank());
  for (int64_t axis : *axes) {
    std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
    if (!own)
      return false;
    drops[*own] = true;
  }
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i)
    if (!(axes->empty() ? x.shape[i].is(1) : drops[i]))
      shape.push_back(x.shape[i]);
  return giveReshaped(importer, node, shape);
}

static bool giveUnsqueeze(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto axes = numbersOf(importer, node, "axes", 1);
  if (!axes)
    return false;
  size_t rank = x.rank() + axes->size();
  std::vector<bool> isNew(rank);
  for (int64_t axis : *axes) {
    std::optional<size_t> own = importer.axisOf(node, axis, rank);
    if (!own)
      return false;
    if (isNew[*own])
      return importer.refuse(node,
                             fmt::format("names the axis {} twice", axis));
    isNew[*own] = true;
  }
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i)
    shape.push_back(isNew[i] || next == x.rank() ? Size(1) : x.shape[next++]);
  return giveReshaped(importer, node, shape);
}

static bool giveTranspose(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::vector<int64_t> order = node.integers("perm");
  if (order.empty())
    for (size_t i = x.rank(); i-- > 0;)
      order.push_back(static_cast<int64_t>(i));
  Shape shape;
  std::vector<bool> isNamed(x.rank());
  for (int64_t &axis : order) {
    std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
    if (!own)
      return false;
    axis = static_cast<int64_t>(*own);
    shape.push_back(x.shape[*own]);
    isNamed[*own] = true;
  }
  if (order.size() != x.rank() ||
      std::count(isNamed.begin(), isNamed.end(), false) > 0)
    return importer.refuse(node, "'perm' does not name each axis");
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own(x.rank());
    for (size_t i = 0; i < order.size(); ++i)
      own[order[i]] = indices[i];
    return importer.read(x, own);
  });
}

static bool giveExpand(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  const Contents *wanted = importer.knownInput(node, 1);
  if (!wanted)
    return false;
  Value like;
  like.shape = wanted->whole;
  like.name = node.at(1).name;
  std::optional<Shape> shape = importer.broadcast(node, {&x, &like});
  return shape &&
         importer.give(node, 0, x.type, *shape, [&](const Indices &indices) {
           return importer.readAligned(x, indices);
         });
}

static bool giveTile(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  const Contents *times = importer.knownInput(node, 1);
  if (!times || times->whole.size() != x.rank())
    return times && importer.refuse(node, "'repeats' has another number of "
                                          "axes");
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i)
    shape.push_back(x.shape[i] * times->whole[i]);
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own;
    for (size_t i = 0; i < x.rank(); ++i)
      own.push_back(x.shape[i] == shape[i]
                        ? indices[i]
                        : indices[i] + " mod " + x.shape[i].text());
    return importer.readAligned(x, own);
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static bool giveSlice(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto starts = sizesIn(importer, node, "starts", 1);
  auto ends = sizesIn(importer, node, "ends", 2);
  auto axes = numbersOf(importer, node, "axes", 3);
  auto steps = numbersOf(importer, node, "steps", 4);
  if (!starts || !ends || !axes || !steps)
    return false;
  auto isMissing = [&](size_t count) {
    return count != starts->size() && count != 0;
  };
  if (ends->size() != starts->size() || isMissing(axes->size()) ||
      isMissing(steps->size()))
    return importer.refuse(node, "has other numbers of starts, ends, axes and "
                                 "steps");
  Shape shape = x.shape;
  std::vector<Size> first(x.rank());
  std::vector<int64_t> step(x.rank(), 1);
  for (size_t k = 0; k < starts->size(); ++k) {
    std::optional<size_t> axis = importer.axisOf(
        node, axes->empty() ? static_cast<int64_t>(k) : (*axes)[k], x.rank());
    if (!axis)
      return false;
    int64_t by = steps->empty() ? 1 : (*steps)[k];
    const Size &extent = x.shape[*axis];
    std::optional<int64_t> length = extent.value();
    auto place = [&](const Size &given) -> std::optional<Size> {
      std::optional<int64_t> number = given.value();
      if (length && number) {
        int64_t at = *number < 0 ? *number + *length : *number;
        return Size(by > 0 ? std::clamp<int64_t>(at, 0, *length)
                           : std::clamp<int64_t>(at, -1, *length - 1));
      }
      if (!number)
        return given;
      // Far past the end means the end; other values are used unchanged.
      if (*number >= (int64_t(1) << 30))
        return by > 0 ? extent : extent - Size(1);
      if (*number <= -(int64_t(1) << 30))
        return by > 0 ? Size(0) : Size(-1);
      return *number < 0 ? extent + given : given;
    };
    if (by == 0)
      return importer.refuse(node, "a step of 0");
    if (by < INT32_MIN || by > INT32_MAX)
      return importer.refuse(
          node, fmt::format("a step of {}, and only numbers of 32 bits are "
                            "supported",
                            by));
    std::optional<Size> from = place((*starts)[k]), to = place((*ends)[k]);
    Size span = by > 0 ? *to - *from : *from - *to;
    if (span.value().value_or(0) < 0)
      span = 0;
    int64_t size = by > 0 ? by : -by;
    shape[*axis] =
        size == 1 ? span : (span + Size(size - 1)).floorDividedBy(size);
    first[*axis] = *from;
    step[*axis] = by;
  }
  // A number and a length can be compared only at run time.
  bool isOpen = false;
  for (size_t i = 0; i < x.rank(); ++i)
    isOpen |= x.shape[i].value() && !shape[i].value();
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own;
    for (size_t i = 0; i < x.rank(); ++i) {
      std::string index = step[i] == 1 ? indices[i]
                          : step[i] == -1
                              ? "-" + indices[i]
                              : fmt::format("{}*{}", step[i], indices[i]);
      own.push_back(step[i] < 0 && !first[i].is(0)
                        ? fmt::format("{} {} {}*{}", first[i].text(), "-",
                                      -step[i], indices[i])
                        : plus(index, first[i]));
    }
    return importer.read(x, own, isOpen);
  });
}

static bool giveConcat(Importer &importer, const Node &node) {
  std::vector<Value> parts;
  for (size_t i = 0; i < node.numInputs(); ++i)
    // A part without elements is dropped.
    if (!productOf(node.at(i).shape).is(0))
      parts.push_back(node.at(i));
  if (parts.empty())
    parts.push_back(node.at(0));
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", 0), parts[0].rank());
  if (!axis)
    return false;
  Shape shape = parts[0].shape;
  for (size_t k = 1; k < parts.size(); ++k)
    for (size_t i = 0; i < shape.size(); ++i) {
      if (parts[k].rank() != shape.size() ||
          (i != *axis && !importer.areEqual(shape[i], parts[k].shape[i])))
        return importer.refuse(node, "'" + parts[k].name + "' " +
                                         shapeText(parts[k].shape) +
                                         " does not match '" + parts[0].name +
                                         "' " + shapeText(parts[0].shape));
      if (i == *axis)
        shape[i] = shape[i] + parts[k].shape[i];
    }
  return importer.give(
      node, 0, parts[0].type, shape, [&](const Indices &indices) {
        std::string text;
        Size offset(0);
        for (size_t k = 0; k < parts.size(); ++k) {
          Indices own = indices;
          own[*axis] = plus(indices[*axis], Size(0) - offset);
          if (offset.value() == std::nullopt)
            own[*axis] = indices[*axis] + " - " + offset.text();
          offset = offset + parts[k].shape[*axis];
          std::string element = importer.read(parts[k], own);
          text += k + 1 < parts.size()
                      ? fmt::format("if {} < {} then {} else ", indices[*axis],
                                    offset.text(), element)
                      : element;
        }
        return text;
      });
}

static bool giveSplit(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", 0), x.rank());
  auto sizes = numbersOf(importer, node, "split", 1);
  if (!axis || !sizes)
    return false;
  std::optional<int64_t> extent = x.shape[*axis].value();
  auto count = static_cast<int64_t>(node.numOutputs());
  if (sizes->empty()) {
    if (!extent)
      return importer.refuse(node, "splits a length");
    int64_t part = (*extent + count - 1) / count;
    for (int64_t k = 0; k < count; ++k)
      sizes->push_back(std::clamp<int64_t>(*extent - k * part, 0, part));
  }
  Size whole(0);
  for (int64_t size : *sizes)
    whole = whole + Size(size);
  if (sizes->size() != node.numOutputs() || (extent && !whole.is(*extent)))
    return importer.refuse(
        node, fmt::format("cannot split {} elements into {} parts of {}",
                          x.shape[*axis].text(), count,
                          shapeText({sizes->begin(), sizes->end()})));
  Size offset(0);
  for (size_t k = 0; k < sizes->size(); ++k) {
    Shape shape = x.shape;
    shape[*axis] = Size((*sizes)[k]);
    if (!importer.give(node, k, x.type, shape, [&](const Indices &indices) {
          Indices own = indices;
          own[*axis] = plus(own[*axis], offset);
          return importer.read(x, own);
        }))
      return false;
    offset = offset + shape[*axis];
  }
  return true;
}

static bool givePad(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto pads = numbersOf(importer, node, "pads", 1);
  auto axes = numbersOf(importer, node, "", 3);
  if (!pads || !axes)
    return false;
  std::string mode = node.text("mode", "constant");
  std::string filler = x.kind() == Kind::Real  ? literal(node.real("value", 0))
                       : x.kind() == Kind::Int ? "0"
                                               : "false";
  if (const Value *value = node.input(2))
    filler = importer.read(*value, Indices(value->rank(), "0"));
  if (mode != "constant" && mode != "edge" && mode != "wrap" &&
      mode != "reflect")
    return importer.refuse(node, "the mode '" + mode + "' is not supported");
  size_t count = axes->empty() ? x.rank() : axes->size();
  if (pads->size() != 2 * count)
    return importer.refuse(
        node, fmt::format("has {} pads for {} axes", pads->size(), count));
  std::vector<int64_t> before(x.rank()), after(x.rank());
  for (size_t k = 0; k < count; ++k) {
    std::optional<size_t> axis = importer.axisOf(
        node, axes->empty() ? static_cast<int64_t>(k) : (*axes)[k], x.rank());
    if (!axis)
      return false;
    before[*axis] = (*pads)[k];
    after[*axis] = (*pads)[count + k];
  }
  Shape shape = x.shape;
  for (size_t i = 0; i < x.rank(); ++i)
    shape[i] = shape[i] + Size(before[i]) + Size(after[i]);
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own;
    std::vector<std::string> inside;
    for (size_t i = 0; i < x.rank(); ++i) {
      std::string index = plus(indices[i], Size(0) - Size(before[i]));
      std::string extent = x.shape[i].text();
      if (before[i] != 0 || after[i] != 0) {
        if (mode == "edge")
          index = fmt::format("max(0, min({}, {} - 1))", index, extent);
        else if (mode == "wrap")
          index = fmt::format("({}) mod {}", index, extent);
        else if (mode == "reflect")
          index =
              fmt::format("{1} - 1 - abs({1} - 1 - abs({0}))", index, extent);
        else {
          if (before[i] > 0)
            inside.push_back("0 <= " + index);
          if (after[i] > 0)
            inside.push_back(index + " < " + extent);
        }
      }
      own.push_back(index);
    }
    std::string element = importer.read(x, own);
    return inside.empty()
               ? element
               : fmt::format("if {} then {} else {}", joined(inside, " and "),
                             element, filler);
  });
}

static bool giveDepth(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  int64_t block = node.integer("blocksize", 1);
  bool isOut = node.op() == "SpaceToDepth";
  bool isCrd = node.text("mode", "DCR") == "CRD";
  if (x.rank() != 4 || block < 1)
    return importer.refuse(node, "takes 4 axes, and blocks of at least 1");
  std::string c = x.shape[1].text();
  Shape shape = x.shape;
  if (isOut) {
    shape[1] = shape[1] * Size(block * block);
    shape[2] = shape[2].floorDividedBy(block);
    shape[3] = shape[3].floorDividedBy(block);
    return importer.give(node, 0, x.type, shape, [&](const Indices &i) {
      // The channel, and its place in its block.
      std::string channel, row, column;
      if (isCrd) {
        channel = fmt::format("{} // {}", i[1], block * block);
        row = fmt::format("({} // {}) mod {}", i[1], block, block);
        column = fmt::format("{} mod {}", i[1], block);
      } else {
        channel = fmt::format("{} mod {}", i[1], c);
        row = fmt::format("{} // {}", i[1], (x.shape[1] * Size(block)).text());
        column = fmt::format("({} // {}) mod {}", i[1], c, block);
      }
      return importer.read(x, {i[0], channel,
                               fmt::format("{}*{} + {}", block, i[2], row),
                               fmt::format("{}*{} + {}", block, i[3], column)});
    });
  }
  shape[1] = shape[1].floorDividedBy(block * block);
  shape[2] = shape[2] * Size(block);
  shape[3] = shape[3] * Size(block);
  return importer.give(node, 0, x.type, shape, [&](const Indices &i) {
    std::string depth = shape[1].text();
    std::string channel =
        isCrd ? fmt::format("({0} * {1} + {2} mod {1}) * {1} + {3} mod {1}",
                            i[1], block, i[2], i[3])
              : fmt::format("(({2} mod {1}) * {1} + {3} mod {1}) * {4} + {0}",
                            i[1], block, i[2], i[3], depth);
    return importer.read(x,
                         {i[0], channel, fmt::format("{} // {}", i[2], block),
                          fmt::format("{} // {}", i[3], block)});
  });
}

void fovea::onnx::addViews(Handlers &handlers) {
  handlers["Reshape"] = giveReshape;
  handlers["Flatten"] = giveFlatten;
  handlers["Squeeze"] = giveSqueeze;
  handlers["Unsqueeze"] = giveUnsqueeze;
  handlers["Transpose"] = giveTranspose;
  handlers["Expand"] = giveExpand;
  handlers["Tile"] = giveTile;
  handlers["Slice"] = giveSlice;
  handlers["Concat"] = giveConcat;
  handlers["Split"] = giveSplit;
  handlers["Pad"] = givePad;
  handlers["DepthToSpace"] = giveDepth;
  handlers["SpaceToDepth"] = giveDepth;
}
