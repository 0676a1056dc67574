//===- Made.cpp - arrays that come from no other array --------------------===//
//
// Constants, ranges, and the matrices of zeros and ones.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

using namespace fovea::onnx;

static bool giveConstantOfShape(Importer &importer, const Node &node) {
  const Contents *wanted = importer.knownInput(node, 0);
  if (!wanted)
    return false;
  Shape shape = wanted->whole;
  Value value;
  if (const auto *tensor = node.attribute("value")) {
    if (!importer.addTensor(tensor->t(), "value", value))
      return false;
    if (!productOf(value.shape).is(1))
      return importer.refuse(node, "needs a value of one element");
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
    return importer.read(value, Indices(value.rank(), "0"));
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
    if (!size || *size == 0 || *size < INT32_MIN || *size > INT32_MAX)
      return importer.refuse(node, "needs a step that is a number of 32 bits "
                                   "and not 0");
    Size span = *size > 0 ? end->whole[0] - begin->whole[0]
                          : begin->whole[0] - end->whole[0];
    count = (span + Size(std::abs(*size) - 1)).floorDividedBy(std::abs(*size));
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
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &i) {
    return fmt::format("if {} {} {} + {} then {} else {}", i[x.rank() - 1],
                       isUpper ? ">=" : "<=", i[x.rank() - 2], shift,
                       importer.read(x, i),
                       converted("0", Kind::Int, x.kind()));
  });
}

void fovea::onnx::addMade(Handlers &handlers) {
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
