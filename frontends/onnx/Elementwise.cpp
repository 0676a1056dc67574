//===- Elementwise.cpp - operators of one element -------------------------===//
//
// An element of the output as a function of the inputs at its place; axes are
// broadcast.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"

#include <fmt/format.h>

using namespace fovea::onnx;

//===----------------------------------------------------------------------===//
// One input
//===----------------------------------------------------------------------===//

/// `a` is the element, as a real.
static std::string unary(const Node &node, const std::string &a) {
  const std::string &op = node.op();
  auto alpha = [&](double otherwise) {
    return literal(node.real("alpha", otherwise));
  };
  auto beta = [&](double otherwise) {
    return literal(node.real("beta", otherwise));
  };
  if (op == "Exp" || op == "Log" || op == "Sqrt" || op == "Sin" ||
      op == "Cos" || op == "Tanh" || op == "Sigmoid" || op == "Erf" ||
      op == "Floor" || op == "Round" || op == "Softplus" || op == "Relu") {
    std::string name = op;
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
    return name + "(" + a + ")";
  }
  if (op == "Ceil")
    return "-floor(-" + a + ")";
  if (op == "Reciprocal")
    return "1.0 / " + a;
  if (op == "Tan")
    return fmt::format("sin({0}) / cos({0})", a);
  if (op == "Sinh")
    return fmt::format("0.5 * (exp({0}) - exp(-{0}))", a);
  if (op == "Cosh")
    return fmt::format("0.5 * (exp({0}) + exp(-{0}))", a);
  if (op == "Asinh")
    return fmt::format("(if {0} < 0.0 then -1.0 else 1.0) * log(abs({0}) + "
                       "sqrt({0} * {0} + 1.0))",
                       a);
  if (op == "Acosh")
    return fmt::format("log({0} + sqrt({0} * {0} - 1.0))", a);
  if (op == "Atanh")
    return fmt::format("0.5 * log((1.0 + {0}) / (1.0 - {0}))", a);
  if (op == "Atan")
    return "arctangent(" + a + ")";
  if (op == "Asin")
    return fmt::format("arctangent({0} / sqrt(max(1.0 - {0} * {0}, 1e-30)))",
                       a);
  if (op == "Acos")
    return fmt::format("1.5707963267948966 - arctangent({0} / sqrt(max(1.0 - "
                       "{0} * {0}, 1e-30)))",
                       a);
  if (op == "Elu")
    return fmt::format("if {0} < 0.0 then {1} * (exp({0}) - 1.0) else {0}", a,
                       alpha(1));
  if (op == "Celu")
    return fmt::format("max(0.0, {0}) + min(0.0, {1} * (exp({0} / {1}) - 1.0))",
                       a, alpha(1));
  if (op == "Selu")
    return fmt::format(
        "{2} * (if {0} > 0.0 then {0} else {1} * (exp({0}) - 1.0))", a,
        alpha(1.67326319217681884765625),
        literal(node.real("gamma", 1.05070102214813232421875)));
  if (op == "LeakyRelu")
    return fmt::format("if {0} < 0.0 then {1} * {0} else {0}", a, alpha(0.01));
  if (op == "ThresholdedRelu")
    return fmt::format("if {0} > {1} then {0} else 0.0", a, alpha(1));
  if (op == "HardSigmoid")
    return fmt::format("max(0.0, min(1.0, {1} * {0} + {2}))", a, alpha(0.2),
                       beta(0.5));
  if (op == "HardSwish")
    return fmt::format("{0} * max(0.0, min(1.0, {0} / 6.0 + 0.5))", a);
  if (op == "Softsign")
    return fmt::format("{0} / (1.0 + abs({0}))", a);
  if (op == "Mish")
    return fmt::format("{0} * tanh(softplus({0}))", a);
  if (op == "Swish")
    return fmt::format("{0} * sigmoid({1} * {0})", a, alpha(1));
  if (op == "Gelu")
    return node.text("approximate", "none") == "tanh"
               ? fmt::format("0.5 * {0} * (1.0 + tanh(0.7978845608028654 * "
                             "({0} + 0.044715 * {0} * {0} * {0})))",
                             a)
               : fmt::format(
                     "0.5 * {0} * (1.0 + erf({0} / 1.4142135623730951))", a);
  // Shrink.
  return fmt::format("if {0} < -{1} then {0} + {2} else if {0} > {1} then {0} "
                     "- {2} else 0.0",
                     a, literal(node.real("lambd", 0.5)),
                     literal(node.real("bias", 0)));
}

static bool giveUnary(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    return unary(node, importer.read(x, indices));
  });
}

/// Operators that keep the kind of their input.
static bool giveKept(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    std::string a = importer.read(x, indices);
    if (node.op() == "Neg")
      return "-" + a;
    if (node.op() == "Abs")
      return "abs(" + a + ")";
    if (node.op() == "Sign")
      return x.kind() == Kind::Real
                 ? fmt::format("if {0} > 0.0 then 1.0 else if {0} < 0.0 then "
                               "-1.0 else 0.0",
                               a)
                 : fmt::format("if {0} > 0 then 1 else if {0} < 0 then -1 "
                               "else 0",
                               a);
    if (node.op() == "Not")
      return "not " + a;
    return a; // Identity
  });
}

static bool giveTest(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  return importer.give(node, 0, boolType, x.shape, [&](const Indices &indices) {
    std::string a = importer.read(x, indices);
    if (node.op() == "IsNaN")
      return fmt::format("not ({0} == {0})", a);
    std::vector<std::string> parts;
    if (node.integer("detect_positive", 1) != 0)
      parts.push_back(a + " == inf");
    if (node.integer("detect_negative", 1) != 0)
      parts.push_back(a + " == -inf");
    return parts.empty() ? "false" : joined(parts, " or ");
  });
}

//===----------------------------------------------------------------------===//
// Two inputs, or any number
//===----------------------------------------------------------------------===//

/// Integer division rounds towards 0; division by 0 gives 0.
static std::string quotient(const std::string &a, const std::string &b,
                            bool isNatural) {
  if (isNatural)
    return fmt::format("(if {1} == 0 then 0 else {0} // {1})", a, b);
  return fmt::format("(if {1} == 0 then 0 else if {0} * {1} < 0 then "
                     "-(abs({0}) // abs({1})) else abs({0}) // abs({1}))",
                     a, b);
}

static std::string binary(const Node &node, const Value &x,
                          const std::string &a, const std::string &b) {
  const std::string &op = node.op();
  bool isReal = x.kind() == Kind::Real;
  if (op == "Add" || op == "Sum" || op == "Mean")
    return a + " + " + b;
  if (op == "Sub")
    return a + " - " + b;
  if (op == "Mul")
    return a + " * " + b;
  if (op == "Div")
    return isReal ? a + " / " + b : quotient(a, b, isUnsigned(x.type));
  if (op == "Mod") {
    if (node.integer("fmod", 0) == 0)
      return isReal ? fmt::format("{0} - {1} * floor({0} / {1})", a, b)
                    : fmt::format("if {1} == 0 then 0 else {0} mod {1}", a, b);
    return isReal ? fmt::format("{0} - {1} * int({0} / {1})", a, b)
                  : fmt::format("{0} - {1} * {2}", a, b,
                                quotient(a, b, isUnsigned(x.type)));
  }
  if (op == "Max" || op == "Min")
    return (op == "Max" ? "max(" : "min(") + a + ", " + b + ")";
  if (op == "And" || op == "Or")
    return a + (op == "And" ? " and " : " or ") + b;
  if (op == "Xor")
    return fmt::format("({0} or {1}) and not ({0} and {1})", a, b);
  // PRelu
  return fmt::format("if {0} < {2} then {1} * {0} else {0}", a, b,
                     isReal ? "0.0" : "0");
}

static bool giveBinary(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::vector<const Value *> inputs;
  for (size_t i = 0; i < node.numInputs(); ++i)
    inputs.push_back(&node.at(i));
  std::optional<Shape> shape = importer.broadcast(node, inputs);
  if (!shape)
    return false;
  std::vector<Value> all;
  for (const Value *input : inputs)
    all.push_back(*input);
  return importer.give(node, 0, x.type, *shape, [&](const Indices &indices) {
    std::string result = importer.readAligned(all[0], indices);
    for (size_t i = 1; i < all.size(); ++i)
      result = "(" +
               binary(node, x, result, importer.readAligned(all[i], indices)) +
               ")";
    if (node.op() == "Mean")
      result += " / " + literal(static_cast<double>(all.size()));
    return result;
  });
}

static bool givePower(Importer &importer, const Node &node) {
  const Value x = node.at(0), y = node.at(1);
  std::optional<Shape> shape = importer.broadcast(node, {&x, &y});
  return shape &&
         importer.give(node, 0, x.type, *shape, [&](const Indices &indices) {
           std::string base = importer.alignedAs(x, indices, Kind::Real);
           std::string exponent = importer.readAligned(y, indices);
           std::string power = base + " ^ " + exponent;
           // An integer power is rounded to the nearest integer.
           return x.kind() == Kind::Int ? "int(round(" + power + "))" : power;
         });
}

static bool giveComparison(Importer &importer, const Node &node) {
  static const std::map<std::string, std::string> signs = {
      {"Equal", "=="},
      {"Less", "<"},
      {"Greater", ">"},
      {"LessOrEqual", "<="},
      {"GreaterOrEqual", ">="}};
  const Value x = node.at(0), y = node.at(1);
  std::optional<Shape> shape = importer.broadcast(node, {&x, &y});
  Kind kind = x.kind() == Kind::Bit ? Kind::Int : x.kind();
  return shape &&
         importer.give(node, 0, boolType, *shape, [&](const Indices &indices) {
           return importer.alignedAs(x, indices, kind) + " " +
                  signs.at(node.op()) + " " +
                  importer.alignedAs(y, indices, kind);
         });
}

static bool giveWhere(Importer &importer, const Node &node) {
  const Value c = node.at(0), x = node.at(1), y = node.at(2);
  std::optional<Shape> shape = importer.broadcast(node, {&c, &x, &y});
  return shape &&
         importer.give(node, 0, x.type, *shape, [&](const Indices &indices) {
           return "if " + importer.readAligned(c, indices) + " then " +
                  importer.readAligned(x, indices) + " else " +
                  importer.readAligned(y, indices);
         });
}

static bool giveClip(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  // Before version 11 the bounds are attributes.
  const Value *low = node.input(1), *high = node.input(2);
  auto bound = [&](const Value &value) {
    return importer.read(value, Indices(value.rank(), "0"));
  };
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    std::string text = importer.read(x, indices);
    if (low)
      text = "max(" + text + ", " + bound(*low) + ")";
    else if (node.attribute("min"))
      text = "max(" + text + ", " + literal(node.real("min", 0)) + ")";
    if (high)
      text = "min(" + text + ", " + bound(*high) + ")";
    else if (node.attribute("max"))
      text = "min(" + text + ", " + literal(node.real("max", 0)) + ")";
    return text;
  });
}

static bool giveCast(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  ElementType type = node.op() == "CastLike"
                         ? node.at(1).type
                         : static_cast<ElementType>(node.integer("to", 1));
  std::optional<Kind> kind = kindOf(type);
  if (!kind)
    return importer.refuse(node, "gives " + typeName(type) +
                                     ", which is not supported");
  return importer.give(node, 0, type, x.shape, [&](const Indices &indices) {
    return importer.readAs(x, indices, *kind);
  });
}

/// Training-only noise: returns the input and a mask that keeps all of it.
static bool giveDropout(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  if (const Value *training = node.input(2)) {
    const Contents *known = importer.knownInput(node, 2);
    if (!known)
      return false;
    const Value *ratio = node.input(1);
    bool isNone = ratio && ratio->known && ratio->known->reals.size() == 1 &&
                  ratio->known->reals[0] == 0;
    if (training->known->whole.size() == 1 &&
        !training->known->whole[0].is(0) && !isNone)
      return importer.refuse(node, "is for training, and draws");
  }
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    return importer.read(x, indices);
  }) && importer.give(node, 1, boolType, x.shape, [&](const Indices &) {
    return std::string("true");
  });
}

/// Bits shifted out are lost, whatever the shift.
static bool giveShift(Importer &importer, const Node &node,
                      const Shape &shape) {
  const Value x = node.at(0), y = node.at(1);
  bool isLeft = node.text("direction", "LEFT") == "LEFT";
  int bits = x.type == 2 || x.type == 3    ? 8
             : x.type == 4 || x.type == 5  ? 16
             : x.type == 6 || x.type == 12 ? 32
                                           : 64;
  return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
    std::string a = importer.readAligned(x, indices);
    std::string by = importer.readAligned(y, indices);
    std::string power =
        fmt::format("int(round(2.0 ^ max(0, min({}, {}))))", by, bits - 1);
    std::string left = fmt::format("({} * {})", a, power);
    if (bits < 64 && isUnsigned(x.type))
      left = fmt::format("{} mod {}", left, int64_t(1) << bits);
    else if (bits < 64)
      left =
          fmt::format("({} + {}) mod {} - {}", left, int64_t(1) << (bits - 1),
                      int64_t(1) << bits, int64_t(1) << (bits - 1));
    std::string none = isLeft || isUnsigned(x.type)
                           ? "0"
                           : fmt::format("(if {} < 0 then -1 else 0)", a);
    return fmt::format("if 0 <= {0} and {0} < {1} then {2} else {3}", by, bits,
                       isLeft ? left : a + " // " + power, none);
  });
}

/// Bitwise logic, bit by bit.
static bool giveBitwise(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::string op = node.op();
  if (op == "BitwiseNot")
    return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
      std::string a = importer.read(x, indices);
      if (!isUnsigned(x.type))
        return "-1 - " + a;
      std::string most = x.type == 2    ? "255"
                         : x.type == 4  ? "65535"
                         : x.type == 12 ? "4294967295"
                                        : "";
      return most.empty() ? "-1 - " + a : most + " - " + a;
    });
  const Value y = node.at(1);
  std::optional<Shape> shape = importer.broadcast(node, {&x, &y});
  if (!shape)
    return false;
  if (op == "BitShift")
    return giveShift(importer, node, *shape);
  // A sum over bits; for a negative number, those of its complement.
  int bits = x.type == 2 || x.type == 3   ? 8
             : x.type == 4 || x.type == 5 ? 16
                                          : 32;
  return importer.give(node, 0, x.type, *shape, [&](const Indices &indices) {
    auto bit = [&](const Value &value) {
      return fmt::format("({} // int(round(2.0 ^ k0))) mod 2",
                         importer.readAligned(value, indices));
    };
    std::string a = bit(x), b = bit(y);
    std::string both = op == "BitwiseAnd" ? fmt::format("{} * {}", a, b)
                       : op == "BitwiseOr"
                           ? fmt::format("max({}, {})", a, b)
                           : fmt::format("({} + {}) mod 2", a, b);
    std::string sum = fmt::format("sum[k0 < {}](({}) * int(round(2.0 ^ k0)))",
                                  isUnsigned(x.type) ? bits : bits - 1, both);
    if (isUnsigned(x.type))
      return sum;
    auto sign = [&](const Value &value) {
      return "(if " + importer.readAligned(value, indices) +
             " < 0 then 1 else 0)";
    };
    std::string top = op == "BitwiseAnd" ? sign(x) + " * " + sign(y)
                      : op == "BitwiseOr"
                          ? "max(" + sign(x) + ", " + sign(y) + ")"
                          : "(" + sign(x) + " + " + sign(y) + ") mod 2";
    return fmt::format("{} - ({}) * {}", sum, top, int64_t(1) << (bits - 1));
  });
}

void fovea::onnx::addElementwise(Handlers &handlers) {
  for (const char *name :
       {"Exp",         "Log",        "Sqrt",      "Sin",
        "Cos",         "Tanh",       "Sigmoid",   "Erf",
        "Floor",       "Round",      "Relu",      "Softplus",
        "Ceil",        "Reciprocal", "Tan",       "Sinh",
        "Cosh",        "Asinh",      "Acosh",     "Atanh",
        "Atan",        "Asin",       "Acos",      "Elu",
        "Celu",        "Selu",       "LeakyRelu", "ThresholdedRelu",
        "HardSigmoid", "HardSwish",  "Softsign",  "Mish",
        "Swish",       "Gelu",       "Shrink"})
    handlers[name] = giveUnary;
  for (const char *name : {"Neg", "Abs", "Sign", "Not", "Identity"})
    handlers[name] = giveKept;
  for (const char *name : {"IsNaN", "IsInf"})
    handlers[name] = giveTest;
  for (const char *name : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min",
                           "And", "Or", "Xor", "PRelu", "Sum", "Mean"})
    handlers[name] = giveBinary;
  for (const char *name :
       {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"})
    handlers[name] = giveComparison;
  handlers["Pow"] = givePower;
  handlers["Where"] = giveWhere;
  handlers["Clip"] = giveClip;
  handlers["Cast"] = giveCast;
  handlers["CastLike"] = giveCast;
  handlers["Dropout"] = giveDropout;
  for (const char *name :
       {"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"})
    handlers[name] = giveBitwise;
}
