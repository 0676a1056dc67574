//===- Views.cpp - operators that move elements ---------------------------===//
//
// Each says where an element of its output stands in its input; the compiler
// reads there and copies nothing where it can.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::onnx;

/// Numbers of an attribute, or since some version of an input.
static std::optional<std::vector<int64_t>> numbersOf(Importer &importer,
                                                     const Node &node,
                                                     const std::string &name,
                                                     size_t input) {
  if (!node.input(input))
    return node.integers(name);
  return importer.knownNumbers(node, input);
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

/// The indices into `from` of the element that stands at `indices` of `to`, in
/// the order of rows: axes are taken together until they have as many elements.
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
      // The side that has fewer lengths, or is smaller, takes its next axis.
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
    // Axes of one element read at 0.
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
  if (!(productOf(x.shape) == productOf(shape)))
    return importer.refuse(node, "a value of " + shapeText(x.shape) +
                                     " cannot have the shape " +
                                     shapeText(shape));
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    return importer.read(x, reshaped(x.shape, shape, indices));
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
    if (size.is(-1))
      open = shape.size();
    bool isSame = size.is(0) && node.integer("allowzero", 0) == 0 &&
                  shape.size() < x.rank();
    shape.push_back(size.is(-1) ? Size(1)
                    : isSame    ? x.shape[shape.size()]
                                : size);
  }
  if (open) {
    std::optional<Size> rest = productOf(x.shape).dividedBy(productOf(shape));
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
  for (int64_t axis : order) {
    std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
    if (!own)
      return false;
    shape.push_back(x.shape[*own]);
  }
  if (order.size() != x.rank())
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
  auto starts = numbersOf(importer, node, "starts", 1);
  auto axes = numbersOf(importer, node, "axes", 3);
  auto steps = numbersOf(importer, node, "steps", 4);
  if (!starts || !axes || !steps)
    return false;
  std::vector<Size> ends;
  if (node.input(2)) {
    const Contents *known = importer.knownInput(node, 2);
    if (!known)
      return false;
    ends = known->whole;
  } else {
    for (int64_t end : node.integers("ends"))
      ends.emplace_back(end);
  }
  Shape shape = x.shape;
  std::vector<Size> first(x.rank());
  std::vector<int64_t> step(x.rank(), 1);
  for (size_t k = 0; k < starts->size() && k < ends.size(); ++k) {
    std::optional<size_t> axis = importer.axisOf(
        node, k < axes->size() ? (*axes)[k] : static_cast<int64_t>(k),
        x.rank());
    if (!axis)
      return false;
    int64_t by = k < steps->size() ? (*steps)[k] : 1;
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
      // Far past the end is the end; anything else is taken as it is.
      if (*number >= (int64_t(1) << 30))
        return by > 0 ? extent : extent - Size(1);
      if (*number <= -(int64_t(1) << 30))
        return by > 0 ? Size(0) : Size(-1);
      return *number < 0 ? extent + given : given;
    };
    std::optional<Size> from = place((*starts)[k]), to = place(ends[k]);
    if (by == 0)
      return importer.refuse(node, "a step of 0");
    Size span = by > 0 ? *to - *from : *from - *to;
    int64_t size = by > 0 ? by : -by;
    shape[*axis] =
        size == 1 ? span : (span + Size(size - 1)).floorDividedBy(size);
    first[*axis] = *from;
    step[*axis] = by;
  }
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
    return importer.read(x, own);
  });
}

static bool giveConcat(Importer &importer, const Node &node) {
  std::vector<Value> parts;
  for (size_t i = 0; i < node.numInputs(); ++i)
    // A part without elements is none.
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
          (i != *axis && !(parts[k].shape[i] == shape[i])))
        return importer.refuse(node, "'" + parts[k].name + "' " +
                                         shapeText(parts[k].shape) +
                                         " does not fit to '" + parts[0].name +
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
      sizes->push_back(std::min(part, *extent - k * part));
  }
  int64_t offset = 0;
  for (size_t k = 0; k < node.numOutputs() && k < sizes->size(); ++k) {
    Shape shape = x.shape;
    shape[*axis] = Size((*sizes)[k]);
    if (!importer.give(node, k, x.type, shape, [&](const Indices &indices) {
          Indices own = indices;
          own[*axis] = plus(own[*axis], Size(offset));
          return importer.read(x, own);
        }))
      return false;
    offset += (*sizes)[k];
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
  std::vector<int64_t> before(x.rank()), after(x.rank());
  size_t count = pads->size() / 2;
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
    shape[i] = shape[i] + Size(before[i] + after[i]);
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    Indices own;
    std::vector<std::string> inside;
    for (size_t i = 0; i < x.rank(); ++i) {
      std::string index = plus(indices[i], Size(-before[i]));
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
  if (x.rank() != 4 || block < 1)
    return importer.refuse(node, "takes 4 axes, and blocks of at least 1");
  std::string c = x.shape[1].text();
  Shape shape = x.shape;
  if (isOut) {
    shape[1] = shape[1] * Size(block * block);
    shape[2] = shape[2].floorDividedBy(block);
    shape[3] = shape[3].floorDividedBy(block);
    return importer.give(node, 0, x.type, shape, [&](const Indices &i) {
      return importer.read(
          x, {i[0], fmt::format("{} mod {}", i[1], c),
              fmt::format("{0}*{1} + {2} // {3}", block, i[2], i[1],
                          (x.shape[1] * Size(block)).text()),
              fmt::format("{0}*{1} + ({2} // {3}) mod {0}", block, i[3], i[1],
                          c)});
    });
  }
  shape[1] = shape[1].floorDividedBy(block * block);
  shape[2] = shape[2] * Size(block);
  shape[3] = shape[3] * Size(block);
  bool isCrd = node.text("mode", "DCR") == "CRD";
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

//===----------------------------------------------------------------------===//
// Made of nothing
//===----------------------------------------------------------------------===//

static bool giveConstantOfShape(Importer &importer, const Node &node) {
  const Contents *wanted = importer.knownInput(node, 0);
  if (!wanted)
    return false;
  Shape shape = wanted->whole;
  Value value;
  if (const auto *tensor = node.attribute("value")) {
    if (!importer.addTensor(tensor->t(), "value", value))
      return false;
  } else {
    value.known = std::make_shared<Contents>(Contents{{}, {0.0}});
    value.shape = {Size(1)};
  }
  std::optional<int64_t> count = productOf(shape).value();
  if (count && *count >= 0 && *count <= 64) {
    Contents contents;
    if (value.kind() == Kind::Real)
      contents.reals.assign(size_t(*count), value.known->reals[0]);
    else
      contents.whole.assign(size_t(*count), value.known->whole[0]);
    importer.giveKnown(node, 0, value.type, shape, std::move(contents));
    return true;
  }
  return importer.give(node, 0, value.type, shape, [&](const Indices &) {
    return importer.read(value, {"0"});
  });
}

static bool giveRange(Importer &importer, const Node &node) {
  const Value from = node.at(0), to = node.at(1), by = node.at(2);
  const Contents *end = importer.knownInput(node, 1);
  const Contents *begin = end ? importer.knownInput(node, 0) : nullptr;
  const Contents *step = begin ? importer.knownInput(node, 2) : nullptr;
  if (!step)
    return false;
  Size count(0);
  if (from.kind() == Kind::Real) {
    double number = (end->reals[0] - begin->reals[0]) / step->reals[0];
    if (!(number > 0 && number < 0x1p40))
      return importer.refuse(node, "gives no elements");
    count = Size(static_cast<int64_t>(std::ceil(number)));
  } else {
    std::optional<int64_t> size = step->whole[0].value();
    if (!size || *size == 0)
      return importer.refuse(node, "has a step that is a length");
    Size span = end->whole[0] - begin->whole[0];
    count = *size > 0
                ? (span + Size(*size - 1)).floorDividedBy(*size)
                : (Size(0) - span + Size(-*size - 1)).floorDividedBy(-*size);
  }
  return importer.give(node, 0, from.type, {count}, [&](const Indices &i) {
    return fmt::format("{} + {} * {}",
                       importer.read(from, Indices(from.rank(), "0")), i[0],
                       importer.read(by, Indices(by.rank(), "0")));
  });
}

static bool giveEyeLike(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto type = static_cast<ElementType>(node.integer("dtype", x.type));
  std::optional<Kind> kind = kindOf(type);
  if (x.rank() != 2 || !kind)
    return importer.refuse(node, "takes a matrix");
  return importer.give(node, 0, type, x.shape, [&](const Indices &i) {
    return converted(fmt::format("(if {} == {} + {} then 1 else 0)", i[1], i[0],
                                 node.integer("k", 0)),
                     Kind::Int, *kind);
  });
}

static bool giveTrilu(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::string shift = "0";
  if (const Value *k = node.input(1))
    shift = importer.read(*k, Indices(k->rank(), "0"));
  bool isUpper = node.integer("upper", 1) != 0;
  if (x.rank() < 2)
    return importer.refuse(node, "takes matrices");
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &i) {
    return fmt::format("if {} {} {} + {} then {} else {}", i[x.rank() - 1],
                       isUpper ? ">=" : "<=", i[x.rank() - 2], shift,
                       importer.read(x, i),
                       converted("0", Kind::Int, x.kind()));
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
  handlers["ConstantOfShape"] = giveConstantOfShape;
  handlers["Range"] = giveRange;
  handlers["EyeLike"] = giveEyeLike;
  handlers["Trilu"] = giveTrilu;
  // Both are always known (Fold.cpp).
  for (const char *name : {"Constant", "Shape", "Size"})
    handlers[name] = [](Importer &importer, const Node &node) {
      return importer.refuse(node, "has a value that is not supported");
    };
}
