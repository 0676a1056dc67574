//===- Quantised.cpp - numbers of 8 and 16 bits with a scale --------------===//
//
// An integer q means (q - zero) * scale. Products and convolutions of such
// numbers are sums of integers, which are exact.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>

using namespace fovea::onnx;

constexpr ElementType uint8Type = 2, int8Type = 3, uint16Type = 4,
                      int16Type = 5;

/// The smallest and the largest integer of a type; nothing of other types.
static std::optional<std::pair<int, int>> rangeOf(ElementType type) {
  switch (type) {
  case uint8Type:
    return std::pair(0, 255);
  case int8Type:
    return std::pair(-128, 127);
  case uint16Type:
    return std::pair(0, 65535);
  case int16Type:
    return std::pair(-32768, 32767);
  default:
    return std::nullopt;
  }
}

static bool givesWhole(Importer &importer, const Node &node, ElementType type) {
  return rangeOf(type) ||
         importer.refuse(node, "gives " + typeName(type) +
                                   ", and only integers of 8 and 16 bits "
                                   "are supported");
}

/// A real as an integer of a type: halves to even, and the nearest if it is
/// outside.
static std::string saturated(const std::string &scaled, const std::string &zero,
                             ElementType type) {
  auto [least, most] = *rangeOf(type);
  return fmt::format("int(max({}, min({}, round({}) + {})))", literal(least),
                     literal(most), scaled, zero);
}

namespace {

/// A scale or zero point: one for all elements, for each place of an axis, or
/// for each block of places.
struct Parameter {
  Value value;
  bool isGiven = false;
  size_t axis = 0;
  int64_t block = 1;

  std::string read(Importer &importer, const Indices &indices,
                   Kind kind) const {
    if (!isGiven)
      return kind == Kind::Real ? "0.0" : "0";
    Indices own(value.rank(), "0");
    bool isOne = productOf(value.shape).is(1);
    if (!isOne && value.rank() > 1)
      own = indices;
    if (!isOne)
      own[value.rank() > 1 ? axis : 0] =
          block == 1 ? indices[axis]
                     : fmt::format("({} // {})", indices[axis], block);
    return importer.readAs(value, own, kind);
  }
};

} // namespace

/// The scale or zero point of `x` at an input, which may be missing.
static bool readParameter(Importer &importer, const Node &node, size_t input,
                          const Value &x, int64_t axis, Parameter &parameter) {
  const Value *given = node.input(input);
  if (!given)
    return true;
  parameter.value = *given;
  parameter.isGiven = true;
  if (productOf(given->shape).is(1))
    return true;
  std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
  if (!own)
    return false;
  parameter.axis = *own;
  Shape wanted = {x.shape[*own]};
  if (int64_t block = node.integer("block_size", 0); block > 0) {
    parameter.block = block;
    wanted = x.shape;
    wanted[*own] = (wanted[*own] + Size(block - 1)).floorDividedBy(block);
  }
  return given->shape == wanted ||
         importer.refuse(node,
                         "'" + given->name + "' " + shapeText(given->shape) +
                             " must be one number, or " + shapeText(wanted));
}

//===----------------------------------------------------------------------===//
// From reals and back
//===----------------------------------------------------------------------===//

/// The scale and the zero point of a node's first input.
static bool readScale(Importer &importer, const Node &node, Parameter &scale,
                      Parameter &zero) {
  const Value x = node.at(0);
  int64_t axis = node.integer("axis", 1);
  return readParameter(importer, node, 1, x, axis, scale) &&
         readParameter(importer, node, 2, x, axis, zero);
}

static bool giveQuantised(Importer &importer, const Node &node) {
  Parameter scale, zero;
  if (!readScale(importer, node, scale, zero))
    return false;
  const Value x = node.at(0);
  auto type = static_cast<ElementType>(node.integer("output_dtype", uint8Type));
  if (zero.isGiven)
    type = zero.value.type;
  if (!givesWhole(importer, node, type))
    return false;
  return importer.give(node, 0, type, x.shape, [&](const Indices &i) {
    return saturated(importer.readAs(x, i, Kind::Real) + " / " +
                         scale.read(importer, i, Kind::Real),
                     zero.read(importer, i, Kind::Real), type);
  });
}

static bool giveReal(Importer &importer, const Node &node) {
  Parameter scale, zero;
  if (!readScale(importer, node, scale, zero))
    return false;
  const Value x = node.at(0);
  return importer.give(
      node, 0, scale.value.type, x.shape, [&](const Indices &i) {
        return fmt::format("({} - {}) * {}", importer.readAs(x, i, Kind::Real),
                           zero.read(importer, i, Kind::Real),
                           scale.read(importer, i, Kind::Real));
      });
}

/// The range of the input, with 0 in it, becomes 0 .. 255.
static bool giveDynamic(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  auto extreme = [&](const char *reducer) {
    Indices places;
    std::vector<std::string> binders;
    for (size_t i = 0; i < x.rank(); ++i) {
      places.push_back(fmt::format("k{}", i));
      binders.push_back(fmt::format("k{} < {}", i, x.shape[i].text()));
    }
    std::string element = importer.read(x, places);
    return binders.empty() ? element
                           : fmt::format("{}[{}]({})", reducer,
                                         joined(binders, ", "), element);
  };
  Value least = importer.helper(node, x.type, {}, [&](const Indices &) {
    return fmt::format("min(0.0, {})", extreme("min"));
  });
  Value scale = importer.helper(node, x.type, {}, [&](const Indices &) {
    return fmt::format("(max(0.0, {}) - {}) / 255.0", extreme("max"),
                       importer.read(least, {}));
  });
  Value zero = importer.helper(node, uint8Type, {}, [&](const Indices &) {
    return saturated(fmt::format("-{} / {}", importer.read(least, {}),
                                 importer.read(scale, {})),
                     "0.0", uint8Type);
  });
  return importer.give(node, 0, uint8Type, x.shape, [&](const Indices &i) {
    return saturated(importer.read(x, i) + " / " + importer.read(scale, {}),
                     importer.readAs(zero, {}, Kind::Real), uint8Type);
  }) && importer.give(node, 1, x.type, {}, [&](const Indices &) {
    return importer.read(scale, {});
  }) && importer.give(node, 2, uint8Type, {}, [&](const Indices &) {
    return importer.read(zero, {});
  });
}

//===----------------------------------------------------------------------===//
// Products and convolutions of integers
//===----------------------------------------------------------------------===//

/// q - zero. The zero point is one number, or one for each place of `axis`.
static bool centre(Importer &importer, const Node &node, size_t input,
                   size_t zeroInput, int64_t axis, Value &value) {
  value = node.at(input);
  Parameter zero;
  if (!readParameter(importer, node, zeroInput, value, axis, zero))
    return false;
  const Value own = value;
  value = importer.helper(node, int32Type, own.shape, [&](const Indices &i) {
    std::string text = importer.read(own, i);
    return zero.isGiven ? text + " - " + zero.read(importer, i, Kind::Int)
                        : text;
  });
  return true;
}

static bool giveMatMulInteger(Importer &importer, const Node &node) {
  Value a, b;
  return centre(importer, node, 0, 2, -2, a) &&
         centre(importer, node, 1, 3, -1, b) &&
         multiply(importer, node, a, b, int32Type,
                  [](const std::string &sum, const Indices &) { return sum; });
}

static bool giveConvInteger(Importer &importer, const Node &node) {
  Value x, w;
  return centre(importer, node, 0, 2, 1, x) &&
         centre(importer, node, 1, 3, 0, w) &&
         convolve(importer, node, x, w, int32Type,
                  [](const std::string &sum, const Indices &) { return sum; });
}

namespace {

/// Makes of a sum of integers an integer with another scale.
struct Rescaling {
  Value first;      // scale of the first factor
  Parameter second; // of the second, at places of its axis
  Value scale, zero;

  std::string operator()(Importer &importer, const std::string &sum,
                         const std::string &place) const {
    auto one = [&](const Value &value) {
      return importer.readAs(value, Indices(value.rank(), "0"), Kind::Real);
    };
    std::string own =
        second.read(importer, Indices(second.axis + 1, place), Kind::Real);
    return saturated(fmt::format("1.0 * ({}) * ({} * {} / {})", sum, one(first),
                                 own, one(scale)),
                     one(zero), zero.type);
  }
};

} // namespace

/// Whether the scale and zero point of the first factor and of the result are
/// single numbers.
static bool haveOneScale(Importer &importer, const Node &node) {
  for (size_t input : {1, 2, 6, 7})
    if (!productOf(node.at(input).shape).is(1))
      return importer.refuse(node, "'" + node.at(input).name + "' " +
                                       shapeText(node.at(input).shape) +
                                       " must be one number");
  return givesWhole(importer, node, node.at(7).type);
}

static bool giveQLinearMatMul(Importer &importer, const Node &node) {
  Rescaling rescale{node.at(1), {}, node.at(6), node.at(7)};
  Value a, b;
  return haveOneScale(importer, node) &&
         readParameter(importer, node, 4, node.at(3), -1, rescale.second) &&
         centre(importer, node, 0, 2, -2, a) &&
         centre(importer, node, 3, 5, -1, b) &&
         multiply(importer, node, a, b, rescale.zero.type,
                  [&](const std::string &sum, const Indices &i) {
                    return rescale(importer, sum, i.empty() ? "0" : i.back());
                  });
}

static bool giveQLinearConv(Importer &importer, const Node &node) {
  Rescaling rescale{node.at(1), {}, node.at(6), node.at(7)};
  const Value *given = node.input(8);
  Value bias = given ? *given : Value(), x, w;
  return haveOneScale(importer, node) &&
         readParameter(importer, node, 4, node.at(3), 0, rescale.second) &&
         centre(importer, node, 0, 2, 1, x) &&
         centre(importer, node, 3, 5, 0, w) &&
         convolve(importer, node, x, w, rescale.zero.type,
                  [&](const std::string &sum, const Indices &i) {
                    return rescale(
                        importer,
                        given ? sum + " + " + importer.read(bias, {i[1]}) : sum,
                        i[1]);
                  });
}

//===----------------------------------------------------------------------===//
// Operators of ONNX Runtime
//===----------------------------------------------------------------------===//

/// The element type of a result, by its zero point; without one, `otherwise`.
static std::optional<ElementType> resultType(Importer &importer,
                                             const Node &node, size_t zero,
                                             ElementType otherwise) {
  ElementType type = node.input(zero) ? node.at(zero).type : otherwise;
  return givesWhole(importer, node, type) ? std::optional(type) : std::nullopt;
}

/// (q - zero) * scale of inputs `first`, `first + 1` and `first + 2`.
static bool makeReal(Importer &importer, const Node &node, size_t first,
                     Value &real) {
  const Value q = node.at(first);
  Parameter scale, zero;
  if (!readParameter(importer, node, first + 1, q, 1, scale) ||
      !readParameter(importer, node, first + 2, q, 1, zero))
    return false;
  real = importer.helper(node, floatType, q.shape, [&](const Indices &i) {
    return fmt::format("({} - {}) * {}", importer.readAs(q, i, Kind::Real),
                       zero.read(importer, i, Kind::Real),
                       scale.read(importer, i, Kind::Real));
  });
  return true;
}

/// QLinearAdd is Add between reals: its inputs become reals, and its result an
/// integer again. An input has three parts: a value, its scale and its zero
/// point. Scale and zero point of the result come last, in QLinearConcat first.
static bool giveThroughReals(Importer &importer, const Node &node) {
  constexpr size_t prefix = std::char_traits<char>::length("QLinear");
  std::string op = node.op().substr(prefix);
  bool scaleIsFirst = op == "Concat", choosesFirst = op == "Where";
  schema::NodeProto proto = node.schema();
  proto.set_op_type(op);
  proto.clear_domain();
  proto.clear_input();
  std::string name = node.schema().output(0) + "/reals";
  proto.set_output(0, name);
  size_t first = scaleIsFirst ? 2 : choosesFirst ? 1 : 0;
  size_t end = scaleIsFirst ? node.numInputs() : node.numInputs() - 2;
  if (op == "Add" || op == "Mul")
    end = 6;
  else if (!scaleIsFirst && !choosesFirst)
    end = 3;
  if (scaleIsFirst && (end - first) % 3 != 0)
    return importer.refuse(node, "each value needs a scale and a zero point");
  if (node.integer("channels_last", 0) != 0)
    return importer.refuse(node, "'channels_last' is not supported");
  if (choosesFirst)
    proto.add_input(node.schema().input(0));
  for (; first + 3 <= end; first += 3) {
    Value real;
    if (!makeReal(importer, node, first, real))
      return false;
    proto.add_input(fmt::format("{}/{}", name, first));
    importer.values[proto.input(proto.input_size() - 1)] = real;
  }
  size_t given = scaleIsFirst ? 0 : end;
  std::optional<ElementType> type = resultType(
      importer, node, given + 1, node.at(scaleIsFirst ? 2 : end - 3).type);
  Node inner(importer, proto);
  if (!type || !handlers().at(op)(importer, inner))
    return false;
  const Value real = *importer.find(name);
  Parameter scale, zero;
  return readParameter(importer, node, given, real, 1, scale) &&
         readParameter(importer, node, given + 1, real, 1, zero) &&
         importer.give(node, 0, *type, real.shape, [&](const Indices &i) {
           return saturated(importer.readAs(real, i, Kind::Real) + " / " +
                                scale.read(importer, i, Kind::Real),
                            zero.read(importer, i, Kind::Real), *type);
         });
}

/// The sum is exact. Without a scale of the result, it becomes a real.
static bool giveQGemm(Importer &importer, const Node &node) {
  int64_t rows = node.integer("transA", 0) != 0 ? 1 : 0,
          columns = node.integer("transB", 0) != 0 ? 0 : 1;
  Value a, b;
  Parameter scale;
  if (!readParameter(importer, node, 4, node.at(3), columns, scale) ||
      !centre(importer, node, 0, 2, 1, a) ||
      !centre(importer, node, 3, 5, columns, b))
    return false;
  const Size &inner = a.shape[1 - rows];
  if (!importer.areEqual(inner, b.shape[1 - columns]))
    return importer.refuse(node, "'" + a.name + "' " + shapeText(a.shape) +
                                     " and '" + b.name + "' " +
                                     shapeText(b.shape) + " do not match");
  Shape shape = {a.shape[rows], b.shape[columns]};
  const Value *given = node.input(6);
  if (given && !importer.broadcastsTo(node, *given, shape))
    return false;
  Value bias = given ? *given : Value();
  Parameter scaleOfA, own, zero;
  if (!readParameter(importer, node, 1, node.at(0), 1, scaleOfA) ||
      !readParameter(importer, node, 7, node.at(0), 1, own) ||
      !readParameter(importer, node, 8, node.at(0), 1, zero))
    return false;
  std::optional<ElementType> type =
      own.isGiven ? resultType(importer, node, 8, node.at(0).type)
                  : std::optional(floatType);
  if (!type)
    return false;
  return importer.give(node, 0, *type, shape, [&](const Indices &i) {
    std::string sum = fmt::format(
        "sum[k0 < {}]({} * {})", inner.text(),
        importer.read(a, rows != 0 ? Indices{"k0", i[0]} : Indices{i[0], "k0"}),
        importer.read(b, columns != 0 ? Indices{"k0", i[1]}
                                      : Indices{i[1], "k0"}));
    if (given)
      sum += " + " + importer.readAligned(bias, i);
    Indices place(2, i[1]);
    std::string real = fmt::format("1.0 * ({}) * ({} * {} * {}", sum,
                                   literal(node.real("alpha", 1)),
                                   scaleOfA.read(importer, i, Kind::Real),
                                   scale.read(importer, place, Kind::Real));
    if (!own.isGiven)
      return real + ")";
    return saturated(
        fmt::format("{} / {})", real, own.read(importer, i, Kind::Real)),
        zero.read(importer, i, Kind::Real), *type);
  });
}

void fovea::onnx::addQuantised(Handlers &handlers) {
  handlers["QuantizeLinear"] = giveQuantised;
  handlers["DequantizeLinear"] = giveReal;
  handlers["DynamicQuantizeLinear"] = giveDynamic;
  handlers["MatMulInteger"] = giveMatMulInteger;
  handlers["ConvInteger"] = giveConvInteger;
  handlers["QLinearMatMul"] = giveQLinearMatMul;
  handlers["QLinearConv"] = giveQLinearConv;
  handlers["QGemm"] = giveQGemm;
  for (const char *op : {"QLinearAdd", "QLinearAveragePool", "QLinearConcat",
                         "QLinearGlobalAveragePool", "QLinearLeakyRelu",
                         "QLinearMul", "QLinearReduceMean", "QLinearSigmoid",
                         "QLinearSoftmax", "QLinearWhere"})
    handlers[op] = giveThroughReals;
}
