//===- Fold.cpp - what is known when a model is compiled ------------------===//
//
// Exporters compute shapes with nodes: Shape, Gather, Concat, Reshape. Folds
// their numbers, which may be lengths, so that their readers have shapes. All
// other nodes are computed at run time.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"
#include "runtime/Functions.h"

#include <algorithm>
#include <cmath>

using namespace fovea::onnx;

/// Larger tensors are not shape arithmetic.
static constexpr int64_t mostElements = 4096;

/// The number of elements of a shape, if it is known and small.
static std::optional<size_t> countOf(const Shape &shape) {
  std::optional<int64_t> count = productOf(shape).value();
  if (!count || *count < 0 || *count > mostElements)
    return std::nullopt;
  return static_cast<size_t>(*count);
}

/// The indices of element `flat` of a constant shape.
static std::vector<int64_t> placeOf(size_t flat, const Shape &shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t size = *shape[i].value();
    place[i] = static_cast<int64_t>(flat) % size;
    flat /= static_cast<size_t>(size);
  }
  return place;
}

/// The element of `value` at a place of a shape that it is broadcast to.
static size_t flatOf(const Value &value, const std::vector<int64_t> &place) {
  size_t flat = 0;
  for (size_t i = 0; i < value.rank(); ++i) {
    int64_t size = *value.shape[i].value();
    int64_t index = place[place.size() - value.rank() + i];
    flat = flat * size_t(size) + size_t(size == 1 ? 0 : index);
  }
  return flat;
}

/// Picks the elements of the first input at `from(place)` of the output.
template <typename From>
static bool pick(Importer &importer, const Node &node, const Value &x,
                 const Shape &shape, From from) {
  std::optional<size_t> count = countOf(shape);
  if (!count)
    return false;
  Contents contents;
  for (size_t i = 0; i < *count; ++i) {
    size_t flat = from(placeOf(i, shape));
    if (x.kind() == Kind::Real)
      contents.reals.push_back(x.known->reals[flat]);
    else
      contents.whole.push_back(x.known->whole[flat]);
  }
  importer.giveKnown(node, 0, x.type, shape, std::move(contents));
  return true;
}

static bool foldGather(Importer &importer, const Node &node) {
  const Value x = node.at(0), at = node.at(1);
  int64_t rank = static_cast<int64_t>(x.rank()), axis = node.integer("axis", 0);
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis >= rank || at.kind() != Kind::Int)
    return false;
  int64_t extent = x.shape[axis].value().value_or(0);
  for (const Size &index : at.known->whole)
    if (!index.value() || *index.value() < -extent || *index.value() >= extent)
      return false;
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), at.shape.begin(), at.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return pick(importer, node, x, shape, [&](std::vector<int64_t> place) {
    std::vector<int64_t> inner(place.begin() + axis,
                               place.begin() + axis +
                                   static_cast<int64_t>(at.rank()));
    int64_t index = *at.known->whole[flatOf(at, inner)].value();
    place.erase(place.begin() + axis,
                place.begin() + axis + static_cast<int64_t>(at.rank()));
    place.insert(place.begin() + axis, index < 0 ? index + extent : index);
    return flatOf(x, place);
  });
}

static bool foldConcat(Importer &importer, const Node &node) {
  Contents contents;
  const Value first = node.at(0);
  for (size_t i = 0; i < node.numInputs(); ++i) {
    const Value &part = node.at(i);
    if (part.rank() != 1 || part.kind() != first.kind())
      return false;
    contents.whole.insert(contents.whole.end(), part.known->whole.begin(),
                          part.known->whole.end());
    contents.reals.insert(contents.reals.end(), part.known->reals.begin(),
                          part.known->reals.end());
  }
  size_t count = contents.whole.size() + contents.reals.size();
  importer.giveKnown(node, 0, first.type, {Size(int64_t(count))},
                     std::move(contents));
  return true;
}

/// Slices along one axis, as from version 10 on.
static bool foldSlice(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  if (x.rank() == 0 || node.numInputs() < 3)
    return false;
  auto number = [&](size_t i, int64_t otherwise) -> std::optional<int64_t> {
    const Value *value = node.input(i);
    if (!value)
      return otherwise;
    if (value->known->whole.size() != 1)
      return std::nullopt;
    return value->known->whole[0].value();
  };
  std::optional<int64_t> begin = number(1, 0), end = number(2, 0),
                         given = number(3, 0), step = number(4, 1);
  auto rank = static_cast<int64_t>(x.rank());
  if (!begin || !end || !given || !step || *given < -rank || *given >= rank ||
      *step == 0 || *step == INT64_MIN)
    return false;
  size_t axis = *given < 0 ? *given + rank : *given;
  int64_t extent = *x.shape[axis].value();
  // A backward slice may begin at the last place, and end before the first one.
  int64_t lowest = *step < 0 ? -1 : 0,
          highest = *step < 0 ? extent - 1 : extent;
  auto clamped = [&](int64_t place) {
    return std::clamp(place < 0 ? place + extent : place, lowest, highest);
  };
  int64_t first = clamped(*begin), last = clamped(*end);
  int64_t span = *step < 0 ? first - last : last - first;
  int64_t count = span <= 0 ? 0 : (span - 1) / std::abs(*step) + 1;
  Shape shape = x.shape;
  shape[axis] = Size(count);
  return pick(importer, node, x, shape, [&](std::vector<int64_t> place) {
    place[axis] = first + place[axis] * *step;
    return flatOf(x, place);
  });
}

static bool foldTranspose(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::vector<int64_t> order = node.integers("perm");
  if (order.empty())
    for (size_t axis = x.rank(); axis-- > 0;)
      order.push_back(static_cast<int64_t>(axis));
  Shape shape;
  std::vector<bool> isTaken(x.rank(), false);
  for (int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.rank()) || isTaken[axis])
      return false;
    isTaken[axis] = true;
    shape.push_back(x.shape[axis]);
  }
  if (shape.size() != x.rank())
    return false;
  return pick(importer, node, x, shape, [&](const std::vector<int64_t> &place) {
    std::vector<int64_t> own(place.size());
    for (size_t axis = 0; axis < place.size(); ++axis)
      own[order[axis]] = place[axis];
    return flatOf(x, own);
  });
}

/// The same elements in another shape.
static bool foldReshape(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  size_t count = x.known->whole.size() + x.known->reals.size();
  Shape shape;
  if (node.op() == "Squeeze" || node.op() == "Flatten") {
    if (node.op() == "Flatten" || (x.rank() != 1 && x.rank() != 0) ||
        count != 1)
      return false;
  } else if (node.op() == "Unsqueeze") {
    if (x.rank() != 0)
      return false;
    size_t added = node.input(1) ? node.at(1).known->whole.size()
                                 : node.integers("axes").size();
    shape.assign(added, Size(1));
  } else if (node.op() == "Reshape") {
    int64_t others = 1;
    if (std::count(node.at(1).known->whole.begin(),
                   node.at(1).known->whole.end(), Size(-1)) > 1)
      return false;
    for (const Size &size : node.at(1).known->whole) {
      if (size.value().value_or(0) < -1 || size.value().value_or(0) == 0)
        return false;
      others *= size.is(-1) ? 1 : std::min(*size.value(), mostElements + 1);
      if (others > mostElements)
        return false;
    }
    for (const Size &size : node.at(1).known->whole)
      shape.push_back(size.is(-1) ? Size(int64_t(count) / others) : size);
    if (!productOf(shape).is(int64_t(count)))
      return false;
  } else {
    shape = x.shape;
  }
  importer.giveKnown(node, 0, x.type, shape, *x.known);
  return true;
}

static bool foldCast(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::optional<Kind> kind =
      kindOf(static_cast<ElementType>(node.integer("to", 1)));
  if (!kind)
    return false;
  Contents contents;
  for (const Size &size : x.known->whole) {
    if (*kind == Kind::Real) {
      if (!size.value())
        return false;
      contents.reals.push_back(static_cast<double>(*size.value()));
    } else {
      if (*kind == Kind::Bit && !size.value())
        return false;
      contents.whole.push_back(*kind == Kind::Bit ? Size(!size.is(0)) : size);
    }
  }
  for (double number : x.known->reals) {
    if (*kind == Kind::Real) {
      contents.reals.push_back(number);
      continue;
    }
    if (!(std::fabs(number) < 0x1p62))
      return false;
    contents.whole.emplace_back(*kind == Kind::Bit
                                    ? int64_t(number != 0)
                                    : static_cast<int64_t>(number));
  }
  importer.giveKnown(node, 0, static_cast<ElementType>(node.integer("to", 1)),
                     x.shape, std::move(contents));
  return true;
}

static std::optional<Size> wholeBinary(const std::string &op, const Size &a,
                                       const Size &b) {
  std::optional<int64_t> x = a.value(), y = b.value();
  if (op == "Add")
    return a + b;
  if (op == "Sub")
    return a - b;
  if (op == "Mul")
    return a * b;
  if (op == "Div") {
    if (std::optional<Size> exact = b.is(0) ? std::nullopt : a.dividedBy(b))
      return exact;
    if (x && y && *y != 0)
      return *y == -1 ? Size(0) - a : Size(*x / *y);
    return y && *y > 0 ? std::optional<Size>(a.floorDividedBy(*y))
                       : std::nullopt;
  }
  if (op == "Equal" && a == b)
    return Size(1);
  auto isBelow = [](const Size &low, const Size &high) {
    return (high - low).least().value_or(-1) >= 0;
  };
  if (op == "Max" || op == "Min") {
    if (isBelow(a, b))
      return op == "Max" ? b : a;
    if (isBelow(b, a))
      return op == "Max" ? a : b;
  }
  if (op == "Mod" && !x && y && *y > 0)
    return a - Size(*y) * a.floorDividedBy(*y);
  if (!x || !y) {
    // An extent is not negative, and may be 0 only where that is known.
    const Size &other = x ? b : a;
    int64_t number = x.value_or(y.value_or(1));
    bool differs = number < 0 || (number == 0 && other.least() != 0);
    return op == "Equal" && differs ? std::optional<Size>(0) : std::nullopt;
  }
  if (op == "Mod") {
    if (*y == 0)
      return std::nullopt;
    int64_t rest = *y == -1 ? 0 : *x % *y;
    return Size(rest != 0 && (rest < 0) != (*y < 0) ? rest + *y : rest);
  }
  if (op == "Max" || op == "Min")
    return Size(op == "Max" ? std::max(*x, *y) : std::min(*x, *y));
  bool holds = op == "Equal"         ? *x == *y
               : op == "Less"        ? *x < *y
               : op == "Greater"     ? *x > *y
               : op == "And"         ? *x != 0 && *y != 0
               : op == "Or"          ? *x != 0 || *y != 0
               : op == "LessOrEqual" ? *x <= *y
                                     : *x >= *y;
  return Size(holds);
}

static double realBinary(const std::string &op, double a, double b) {
  return op == "Add"   ? a + b
         : op == "Sub" ? a - b
         : op == "Mul" ? a * b
         : op == "Div" ? a / b
         : op == "Pow" ? fovea::runtime::powOf(a, b)
         : op == "Max" ? std::max(a, b)
                       : std::min(a, b);
}

static bool foldBinary(Importer &importer, const Node &node) {
  const std::string &op = node.op();
  if (node.numInputs() != 2)
    return false;
  const Value x = node.at(0), y = node.at(1);
  bool isReal = x.kind() == Kind::Real;
  bool isTest = op == "Equal" || op == "Less" || op == "Greater" ||
                op == "LessOrEqual" || op == "GreaterOrEqual" || op == "And" ||
                op == "Or";
  if (y.kind() != x.kind() || (isReal && (isTest || op == "Mod")) ||
      (!isReal && op == "Pow") || node.integer("fmod", 0) != 0)
    return false;
  std::optional<Shape> shape = importer.broadcast(node, {&x, &y});
  std::optional<size_t> count = shape ? countOf(*shape) : std::nullopt;
  if (!count)
    return false;
  Contents contents;
  for (size_t i = 0; i < *count; ++i) {
    std::vector<int64_t> place = placeOf(i, *shape);
    size_t left = flatOf(x, place), right = flatOf(y, place);
    if (isReal) {
      contents.reals.push_back(
          realBinary(op, x.known->reals[left], y.known->reals[right]));
      continue;
    }
    std::optional<Size> result =
        wholeBinary(op, x.known->whole[left], y.known->whole[right]);
    if (!result)
      return false;
    contents.whole.push_back(*result);
  }
  importer.giveKnown(node, 0, isTest ? boolType : x.type, *shape,
                     std::move(contents));
  return true;
}

static bool foldUnary(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  const std::string &op = node.op();
  Contents contents;
  for (const Size &size : x.known->whole) {
    if (op == "Neg")
      contents.whole.push_back(Size(0) - size);
    else if (op == "Not" && size.value())
      contents.whole.emplace_back(size.is(0));
    else
      return false;
  }
  for (double number : x.known->reals)
    contents.reals.push_back(op == "Neg"     ? -number
                             : op == "Sqrt"  ? std::sqrt(number)
                             : op == "Floor" ? std::floor(number)
                             : op == "Ceil"  ? std::ceil(number)
                                             : 1 / number);
  if (op == "Not" && !contents.reals.empty())
    return false;
  importer.giveKnown(node, 0, x.type, x.shape, std::move(contents));
  return true;
}

static bool foldWhere(Importer &importer, const Node &node) {
  const Value c = node.at(0), x = node.at(1), y = node.at(2);
  std::optional<Shape> shape = importer.broadcast(node, {&c, &x, &y});
  std::optional<size_t> count = shape ? countOf(*shape) : std::nullopt;
  if (!count || x.kind() == Kind::Real || c.kind() != Kind::Bit)
    return false;
  Contents contents;
  for (size_t i = 0; i < *count; ++i) {
    std::vector<int64_t> place = placeOf(i, *shape);
    bool holds = !c.known->whole[flatOf(c, place)].is(0);
    contents.whole.push_back(holds ? x.known->whole[flatOf(x, place)]
                                   : y.known->whole[flatOf(y, place)]);
  }
  importer.giveKnown(node, 0, x.type, *shape, std::move(contents));
  return true;
}

static bool foldReduction(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  if (x.rank() != 1 || x.kind() != Kind::Int)
    return false;
  Size result = node.op() == "ReduceProd" ? Size(1) : Size(0);
  for (const Size &size : x.known->whole)
    result = node.op() == "ReduceProd" ? result * size : result + size;
  Shape shape;
  if (node.integer("keepdims", 1) != 0)
    shape.emplace_back(1);
  importer.giveKnown(node, 0, x.type, shape, {{result}, {}});
  return true;
}

static bool foldRange(Importer &importer, const Node &node) {
  const Value from = node.at(0);
  if (from.kind() != Kind::Int)
    return false;
  std::optional<int64_t> begin = from.known->whole[0].value(),
                         end = node.at(1).known->whole[0].value(),
                         step = node.at(2).known->whole[0].value();
  if (!begin || !end || !step || *step == 0 || *step == INT64_MIN)
    return false;
  std::optional<int64_t> span =
      (*step > 0 ? Size(*end) - Size(*begin) : Size(*begin) - Size(*end))
          .value();
  if (!span)
    return false;
  int64_t count = *span <= 0 ? 0 : (*span - 1) / std::abs(*step) + 1;
  if (count > mostElements)
    return false;
  Contents contents;
  for (int64_t i = 0; i < count; ++i)
    contents.whole.emplace_back(*begin + i * *step);
  importer.giveKnown(node, 0, from.type, {Size(count)}, std::move(contents));
  return true;
}

/// Shape and Size need only the shape of their input.
static bool foldShape(Importer &importer, const Node &node) {
  const Value &x = node.at(0);
  if (node.op() == "Size") {
    importer.giveKnown(node, 0, int64Type, {}, {{productOf(x.shape)}, {}});
    return true;
  }
  auto rank = static_cast<int64_t>(x.rank());
  int64_t begin = node.integer("start", 0), end = node.integer("end", rank);
  begin = std::clamp<int64_t>(begin < 0 ? begin + rank : begin, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, 0, rank);
  Contents contents;
  if (begin < end)
    contents.whole.assign(x.shape.begin() + begin, x.shape.begin() + end);
  importer.giveKnown(node, 0, int64Type,
                     {Size(std::max<int64_t>(0, end - begin))},
                     std::move(contents));
  return true;
}

/// The value of an attribute, or a tensor of one number.
static bool foldConstant(Importer &importer, const Node &node) {
  Contents contents;
  ElementType type = int64Type;
  Shape shape;
  if (const auto *tensor = node.attribute("value")) {
    Value value;
    if (importer.addTensor(tensor->t(), node.schema().output(0), value))
      importer.giveSame(node, 0, value);
    return true;
  }
  if (const auto *number = node.attribute("value_int")) {
    contents.whole = {Size(number->i())};
  } else if (const auto *all = node.attribute("value_ints")) {
    contents.whole.assign(all->ints().begin(), all->ints().end());
    shape = {Size(all->ints_size())};
  } else if (const auto *real = node.attribute("value_float")) {
    contents.reals = {double(real->f())};
    type = floatType;
  } else if (const auto *reals = node.attribute("value_floats")) {
    contents.reals.assign(reals->floats().begin(), reals->floats().end());
    shape = {Size(reals->floats_size())};
    type = floatType;
  } else {
    return false;
  }
  importer.giveKnown(node, 0, type, shape, std::move(contents));
  return true;
}

bool fovea::onnx::fold(Importer &importer, const Node &node) {
  const std::string &op = node.op();
  if (op == "Constant")
    return foldConstant(importer, node);
  if (op == "Shape" || op == "Size")
    return node.input(0) && foldShape(importer, node);
  if (node.numInputs() == 0)
    return false;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    const Value *input = node.input(i);
    if (input && (!input->known || !countOf(input->shape)))
      return false;
    if (!input && i == 0)
      return false;
  }
  using Folder = bool (*)(Importer &, const Node &);
  static const std::map<std::string, Folder> folders = {
      {"Gather", foldGather},       {"Concat", foldConcat},
      {"Slice", foldSlice},         {"Transpose", foldTranspose},
      {"Squeeze", foldReshape},     {"Unsqueeze", foldReshape},
      {"Reshape", foldReshape},     {"Identity", foldReshape},
      {"Cast", foldCast},           {"Add", foldBinary},
      {"Sub", foldBinary},          {"Mul", foldBinary},
      {"Div", foldBinary},          {"Mod", foldBinary},
      {"Max", foldBinary},          {"Min", foldBinary},
      {"Pow", foldBinary},          {"Equal", foldBinary},
      {"Less", foldBinary},         {"Greater", foldBinary},
      {"LessOrEqual", foldBinary},  {"GreaterOrEqual", foldBinary},
      {"And", foldBinary},          {"Or", foldBinary},
      {"Neg", foldUnary},           {"Not", foldUnary},
      {"Sqrt", foldUnary},          {"Floor", foldUnary},
      {"Ceil", foldUnary},          {"Reciprocal", foldUnary},
      {"Where", foldWhere},         {"ReduceProd", foldReduction},
      {"ReduceSum", foldReduction}, {"Range", foldRange}};
  auto found = folders.find(op);
  return found != folders.end() && found->second(importer, node);
}
