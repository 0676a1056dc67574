//===- Equations.cpp - how equations read and give values -----------------===//
//
// The text of a value's element, whether it is computed, a parameter or known,
// and the equations for others.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <cassert>
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
  // The language has no literal for NaN.
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

/// Its elements become a parameter of the spec at their first read.
std::string Importer::parameterOf(const Value &value) {
  const void *key = value.stored ? static_cast<const void *>(value.stored)
                                 : value.known.get();
  std::string &name = parameters[key];
  if (!name.empty())
    return name;
  // Their memory must not be reused.
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
    Status status = reader.read(*value.stored, tensor);
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

/// The text of a known value: a number, a choice among a few, or a parameter.
std::string Importer::readKnown(const Value &value, const Indices &indices,
                                bool orZero) {
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
    // A value without elements is never read; its declaration reports it.
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
  return converted(orZero ? "(" + text + " ?? 0.0)" : text, Kind::Real,
                   value.kind());
}

std::string Importer::read(const Value &value, const Indices &indices,
                           bool orZero) {
  if (value.array.empty())
    return readKnown(value, indices, orZero);
  Indices all;
  for (size_t i = 0; i < value.depth; ++i)
    all.push_back(loops[i].index);
  bool isExact = true;
  Indices places = storedPlaces(indices, value.shape, isExact);
  all.insert(all.end(), places.begin(), places.end());
  std::string text =
      all.empty() ? value.array : value.array + "[" + joined(all, ", ") + "]";
  if (isExact && !orZero)
    return text;
  const char *zero = value.kind() == Kind::Real  ? "0.0"
                     : value.kind() == Kind::Int ? "0"
                                                 : "false";
  return "(" + text + " ?? " + zero + ")";
}

Indices Importer::storedPlaces(const Indices &indices, const Shape &shape,
                               bool &isExact) const {
  Indices places;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::vector<Size> &parts = shape[i].parts();
    auto known = mergedIndices.find(indices[i]);
    if (parts.empty()) {
      places.push_back(indices[i]);
    } else if (known != mergedIndices.end() &&
               known->second.size() == parts.size() &&
               flatIndex(known->second, parts) == indices[i]) {
      places.insert(places.end(), known->second.begin(), known->second.end());
    } else if (indices[i] == "0") {
      places.insert(places.end(), parts.size(), "0");
    } else {
      isExact = false;
      for (size_t k = 0; k < parts.size(); ++k) {
        Size stride = productOf(parts, k + 1);
        std::string place = indices[i];
        if (!stride.is(1))
          place = fmt::format("(({}) // {})", place, stride.text());
        if (k > 0)
          place = fmt::format("(({}) mod {})", place, parts[k].text());
        places.push_back(place);
      }
    }
  }
  return places;
}

Indices Importer::mergedPlaces(const Indices &places, const Shape &shape) {
  Indices indices;
  size_t next = 0;
  for (const Size &size : shape) {
    if (size.parts().empty()) {
      indices.push_back(places[next++]);
      continue;
    }
    auto first = places.begin() + static_cast<int64_t>(next);
    next += size.parts().size();
    Indices own(first, places.begin() + static_cast<int64_t>(next));
    indices.push_back(flatIndex(own, size.parts()));
    mergedIndices[indices.back()] = own;
  }
  return indices;
}

std::string Importer::readAligned(const Value &value, const Indices &indices) {
  assert(value.rank() <= indices.size() && "it is not broadcast to these");
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
  Shape axes = storedAxes(value.shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    indices.push_back("i" + std::to_string(i));
    places.push_back(indices.back() + " < " + axes[i].text());
  }
  indices = mergedPlaces(indices, value.shape);
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
  if (std::string fault = faultOf(hint, shape); !fault.empty())
    refuse(node, fault);
  return value;
}

void Importer::define(const Value &value, const Body &body) {
  // A refused body may lack some of its inputs.
  if (!error.empty())
    return;
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
  // Exporters slice shapes, and concatenate nothing: nothing is known then.
  if (productOf(shape).is(0)) {
    giveKnown(node, output, type, shape, {});
    return error.empty();
  }
  Shape stored = shape;
  // The model's outputs have the axes of the file.
  if (loops.empty() && outputs.count(outputName(node, output)) != 0)
    for (Size &size : stored)
      size = size.withoutParts();
  Value value = declare(node, outputName(node, output), type, stored);
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
  if (!node.gives(output))
    return;
  for (const Size &size : contents.whole)
    if (size.isTooLarge()) {
      refuse(node, "gives a number that 64 bits do not hold");
      return;
    }
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
