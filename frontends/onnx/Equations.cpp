//===- Equations.cpp - how equations read and give values -----------------===//
//
// An element of a value as text, whether it is computed, a parameter or known,
// and the equations that give others.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/onnx.pb.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::onnx;
using runtime::Status;

/// Expressions nest less deep than 256.
static constexpr size_t longestChain = 200;

std::string fovea::onnx::joined(const std::vector<std::string> &parts,
                                const std::string &between) {
  std::string result;
  for (const std::string &part : parts)
    result += (result.empty() ? "" : between) + part;
  return result;
}

std::string fovea::onnx::literal(double number) {
  if (std::isinf(number))
    return number > 0 ? "inf" : "(-inf)";
  // The language has no name for what is no number.
  if (std::isnan(number))
    return "(inf - inf)";
  std::string text = fmt::format("{:.17g}", std::fabs(number));
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return std::signbit(number) ? "(-" + text + ")" : text;
}

std::string fovea::onnx::converted(const std::string &expression, Kind from,
                                   Kind to) {
  if (from == to)
    return expression;
  if (to == Kind::Bit)
    return "(" + expression + (from == Kind::Int ? " != 0)" : " != 0.0)");
  if (from == Kind::Bit)
    return "(if " + expression +
           (to == Kind::Int ? " then 1 else 0)" : " then 1.0 else 0.0)");
  return to == Kind::Int ? "int(" + expression + ")"
                         : "(1.0 * " + expression + ")";
}

std::string fovea::onnx::flatIndex(const Indices &indices, const Shape &shape) {
  std::string result;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (shape[i].is(1))
      continue;
    result = result.empty() ? indices[i]
                            : "(" + result + " * " + shape[i].text() + " + " +
                                  indices[i] + ")";
  }
  return result.empty() ? "0" : result;
}

//===----------------------------------------------------------------------===//
// Reading values
//===----------------------------------------------------------------------===//

const Value *Importer::find(const std::string &name) const {
  auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

/// Its elements become a parameter of the spec, where they are first read.
std::string Importer::parameterOf(const Value &value) {
  const void *key = value.stored ? static_cast<const void *>(value.stored)
                                 : value.known.get();
  std::string &name = parameters[key];
  if (!name.empty())
    return name;
  // No other contents may come to lie where these did.
  kept.push_back(value.known);
  name = nameFor(value.name.empty() ? "constant" : value.name);
  runtime::Tensor &tensor = model.weights.tensors[name];
  std::vector<std::string> sizes;
  std::vector<int64_t> shape;
  for (const Size &size : value.shape) {
    sizes.push_back(size.text());
    shape.push_back(size.value().value_or(1));
  }
  if (value.stored) {
    Status status = readTensor(*value.stored, path, tensor);
    if (status.failed())
      fail(status.text());
  } else if (value.kind() == Kind::Real) {
    tensor =
        runtime::Tensor::of(runtime::DType::F64, shape, value.known->reals);
  } else {
    std::vector<double> numbers;
    for (const Size &size : value.known->whole)
      numbers.push_back(static_cast<double>(size.value().value_or(0)));
    tensor = runtime::Tensor::of(runtime::DType::F64, shape, numbers);
  }
  params += "param " + name + " : tensor(" + joined(sizes, ", ") + ")\n";
  return name;
}

/// Of what is known: a number, a choice among a few, or a parameter.
std::string Importer::readKnown(const Value &value, const Indices &indices) {
  auto element = [&](size_t i) {
    if (value.kind() == Kind::Real)
      return literal(value.known->reals[i]);
    const Size &size = value.known->whole[i];
    if (value.kind() == Kind::Bit)
      return std::string(size.is(0) ? "false" : "true");
    std::string text = size.text();
    return text[0] == '-' ? "(" + text + ")" : text;
  };
  if (value.known) {
    size_t count = value.kind() == Kind::Real ? value.known->reals.size()
                                              : value.known->whole.size();
    bool isEqual = count > 0;
    bool hasLengths = false;
    for (size_t i = 0; i < count; ++i) {
      isEqual &= element(i) == element(0);
      hasLengths |=
          value.kind() != Kind::Real && !value.known->whole[i].value();
    }
    // Of what has no elements nothing is read; who declares it says so.
    if (count == 0)
      return converted("0", Kind::Int, value.kind());
    if (isEqual)
      return element(0);
    if ((hasLengths || (value.rank() == 1 && count <= 8)) &&
        count <= longestChain) {
      std::string flat = flatIndex(indices, value.shape);
      std::string chain;
      for (size_t i = 0; i + 1 < count; ++i)
        chain += fmt::format("if {} == {} then {} else ", flat, i, element(i));
      return "(" + chain + element(count - 1) + ")";
    }
  }
  std::string text = parameterOf(value) + "[" + joined(indices, ", ") + "]";
  return converted(text, Kind::Real, value.kind());
}

std::string Importer::read(const Value &value, const Indices &indices) {
  if (value.array.empty())
    return readKnown(value, indices);
  Indices all;
  for (size_t i = 0; i < value.depth; ++i)
    all.push_back(loops[i].index);
  all.insert(all.end(), indices.begin(), indices.end());
  return all.empty() ? value.array
                     : value.array + "[" + joined(all, ", ") + "]";
}

std::string Importer::readAligned(const Value &value, const Indices &indices) {
  Indices own;
  size_t skipped = indices.size() - value.rank();
  for (size_t i = 0; i < value.rank(); ++i)
    own.push_back(value.shape[i].is(1) ? "0" : indices[skipped + i]);
  return read(value, own);
}

std::string Importer::readAs(const Value &value, const Indices &indices,
                             Kind kind) {
  return converted(read(value, indices), value.kind(), kind);
}

std::string Importer::alignedAs(const Value &value, const Indices &indices,
                                Kind kind) {
  return converted(readAligned(value, indices), value.kind(), kind);
}

//===----------------------------------------------------------------------===//
// Writing equations
//===----------------------------------------------------------------------===//

/// `y[t0 < T, i0 < 3]`, and the indices of the node.
std::string Importer::leftOf(const Value &value, Indices &indices) {
  std::vector<std::string> places;
  for (const Loop &loop : loops)
    places.push_back(loop.index + " < " + loop.count.text());
  for (size_t i = 0; i < value.rank(); ++i) {
    indices.push_back("i" + std::to_string(i));
    places.push_back(indices.back() + " < " + value.shape[i].text());
  }
  return places.empty() ? value.array
                        : value.array + "[" + joined(places, ", ") + "]";
}

Value Importer::declare(const Node &node, const std::string &hint,
                        ElementType type, const Shape &shape) {
  Value value;
  value.type = type;
  value.shape = shape;
  value.name = hint;
  value.array = nameFor(hint);
  value.depth = static_cast<unsigned>(loops.size());
  for (const Size &size : shape)
    if (size.value().value_or(1) < 1)
      refuse(node, "'" + hint + "' has the shape " + shapeText(shape) +
                       ", and there are no arrays without elements");
  return value;
}

void Importer::define(const Value &value, const Body &body) {
  Indices indices;
  std::string left = leftOf(value, indices);
  equations += left + " = " + body(indices) + "\n";
}

static std::string outputName(const Node &node, size_t output) {
  return node.schema().output(static_cast<int>(output));
}

bool Importer::give(const Node &node, size_t output, ElementType type,
                    const Shape &shape, const Body &body) {
  if (!node.gives(output))
    return true;
  if (!kindOf(type))
    return refuse(node, "gives " + typeName(type) + ", which is not supported");
  Value value = declare(node, outputName(node, output), type, shape);
  define(value, body);
  values[outputName(node, output)] = value;
  return error.empty();
}

Value Importer::helper(const Node &node, ElementType type, const Shape &shape,
                       const Body &body) {
  std::string hint;
  for (size_t i = 0; i < node.numOutputs() && hint.empty(); ++i)
    hint = outputName(node, i);
  Value value = declare(node, hint + "_of_" + node.op(), type, shape);
  define(value, body);
  return value;
}

void Importer::giveKnown(const Node &node, size_t output, ElementType type,
                         const Shape &shape, Contents contents) {
  Value value;
  value.type = type;
  value.shape = shape;
  value.name = outputName(node, output);
  value.known = std::make_shared<Contents>(std::move(contents));
  values[value.name] = value;
}

void Importer::giveSame(const Node &node, size_t output, const Value &value) {
  if (node.gives(output))
    values[outputName(node, output)] = value;
}
