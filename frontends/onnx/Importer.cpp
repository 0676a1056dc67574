//===- Importer.cpp - nodes to equations ----------------------------------===//
//
// Reads a file, declares what it is given, and writes an equation for each node
// that is not known when the model is compiled. What an operator means is in
// the files beside this one.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/onnx.pb.h"

#include <cmath>
#include <fmt/format.h>
#include <sstream>

using namespace fovea;
using namespace fovea::onnx;
using runtime::Status;

/// Words that no equation may be called, and those of functions and modules,
/// which it would hide.
static const char *const words[] = {"model",
                                    "dim",
                                    "const",
                                    "vocab",
                                    "data",
                                    "length",
                                    "param",
                                    "def",
                                    "return",
                                    "use",
                                    "from",
                                    "frozen",
                                    "guide",
                                    "penalty",
                                    "train",
                                    "decode",
                                    "metric",
                                    "set",
                                    "where",
                                    "in",
                                    "if",
                                    "then",
                                    "else",
                                    "and",
                                    "or",
                                    "not",
                                    "mod",
                                    "true",
                                    "false",
                                    "inf",
                                    "sum",
                                    "mean",
                                    "prod",
                                    "max",
                                    "min",
                                    "argmax",
                                    "argmin",
                                    "any",
                                    "all",
                                    "logsumexp",
                                    "concat",
                                    "stack",
                                    "softmax",
                                    "cumsum",
                                    "mixture",
                                    "log_softmax",
                                    "categorical",
                                    "tanh",
                                    "sigmoid",
                                    "exp",
                                    "log",
                                    "sqrt",
                                    "abs",
                                    "sin",
                                    "cos",
                                    "relu",
                                    "softplus",
                                    "erf",
                                    "round",
                                    "floor",
                                    "int",
                                    "stop",
                                    "clamp",
                                    "dot",
                                    "fold",
                                    "cut",
                                    "zeros",
                                    "ones",
                                    "onehot",
                                    "dropout",
                                    "scalar",
                                    "linear",
                                    "embedding",
                                    "rnn",
                                    "gru",
                                    "gru_cho",
                                    "lstm",
                                    "gelu",
                                    "maxout",
                                    "cosine",
                                    "conv1d",
                                    "conv2d",
                                    "conv3d",
                                    "token",
                                    "sentence",
                                    "real",
                                    "bit",
                                    "class",
                                    "position",
                                    "loss",
                                    "logp",
                                    "grads",
                                    "additive",
                                    "bilinear",
                                    "scaled_dot",
                                    "linear_unbiased",
                                    "linear_scalar",
                                    "linear_scalar_unbiased",
                                    "layer_norm",
                                    "arctangent",
                                    "lstm_peephole",
                                    "max_pool2d",
                                    "max_pool3d",
                                    "nll",
                                    "choices"};

/// The arc tangent, which the language does not have: twice half the angle, and
/// twice half of that, then a series; to 1e-9.
static constexpr const char *arctangent =
    "def arctangent(x) {\n"
    "  y = x / (1.0 + sqrt(1.0 + x * x))\n"
    "  z = y / (1.0 + sqrt(1.0 + y * y))\n"
    "  w = z * z\n"
    "  return 4.0 * z * (1.0 - w * (1.0 / 3.0 - w * (0.2 - w * (1.0 / 7.0 - w "
    "/ "
    "9.0))))\n"
    "}\n";

/// The largest tensor whose elements are looked at when a model is compiled.
static constexpr int64_t mostKnown = 4096;
/// Expressions nest less deep than 256.
static constexpr size_t longestChain = 200;

const Handlers &fovea::onnx::handlers() {
  static const Handlers all = [] {
    Handlers result;
    addElementwise(result);
    addViews(result);
    addIndexing(result);
    addReductions(result);
    addNormalisations(result);
    addProducts(result);
    addConvolutions(result);
    addAttention(result);
    return result;
  }();
  return all;
}

std::vector<std::string> fovea::onnx::operatorNames() {
  std::vector<std::string> names;
  for (const auto &[name, handler] : handlers())
    names.push_back(name);
  return names;
}

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
// Nodes
//===----------------------------------------------------------------------===//

const std::string &Node::op() const { return proto.op_type(); }
size_t Node::numInputs() const { return proto.input_size(); }
size_t Node::numOutputs() const { return proto.output_size(); }

const Value *Node::input(size_t i) const {
  if (i >= numInputs() || proto.input(static_cast<int>(i)).empty())
    return nullptr;
  return importer.find(proto.input(static_cast<int>(i)));
}

bool Node::gives(size_t i) const {
  return i < numOutputs() && !proto.output(static_cast<int>(i)).empty();
}

const schema::AttributeProto *Node::attribute(const std::string &name) const {
  for (const schema::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t Node::integer(const std::string &name, int64_t otherwise) const {
  const schema::AttributeProto *found = attribute(name);
  return found ? found->i() : otherwise;
}

double Node::real(const std::string &name, double otherwise) const {
  const schema::AttributeProto *found = attribute(name);
  return found ? double(found->f()) : otherwise;
}

std::string Node::text(const std::string &name,
                       const std::string &otherwise) const {
  const schema::AttributeProto *found = attribute(name);
  return found ? found->s() : otherwise;
}

std::vector<int64_t> Node::integers(const std::string &name) const {
  const schema::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->ints().begin(), found->ints().end()};
}

std::string Importer::pathOf(const Node &node) const {
  const std::string &name = node.schema().name();
  std::string first;
  for (const std::string &output : node.schema().output())
    if (first.empty())
      first = output;
  return fmt::format("{} of node '{}'", node.op(), name.empty() ? first : name);
}

bool Importer::fail(const std::string &why) {
  if (error.empty())
    error = path + ": " + why;
  return false;
}

bool Importer::refuse(const Node &node, const std::string &why) {
  return fail(pathOf(node) + ": " + why);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// A name of the language like one of the file: other characters are `_`, and
/// what is taken gets a `_` behind.
std::string Importer::nameFor(const std::string &name) {
  std::string result;
  for (char letter : name)
    result += std::isalnum(static_cast<unsigned char>(letter)) != 0 &&
                      static_cast<unsigned char>(letter) < 128
                  ? letter
                  : '_';
  // Names begin with a letter; indices are a letter and a number.
  if (result.empty() ||
      std::isalpha(static_cast<unsigned char>(result[0])) == 0)
    result = "v" + result;
  bool isIndex = result.size() > 1 &&
                 std::string("iktq").find(result[0]) != std::string::npos &&
                 result.find_first_not_of("0123456789", 1) == std::string::npos;
  if (isIndex)
    result += "_";
  while (!taken.insert(result).second)
    result += "_";
  return result;
}

const std::string *Importer::setOf(const std::string &name) {
  const std::string *found = nullptr;
  for (const auto &[key, text] : sets)
    if (key == name)
      found = &text;
  if (found)
    model.usedSets.push_back(name);
  return found;
}

/// A length that the file names: data bring it, unless `--set` gives it.
Size Importer::lengthOf(const std::string &name) {
  auto known = lengths.find(name);
  if (known != lengths.end())
    return Size::of(known->second);
  std::string own = nameFor(name);
  if (const std::string *text = setOf(own)) {
    int64_t number = 0;
    std::istringstream in(*text);
    if (in >> number && in.eof() && number >= 1)
      return number;
    fail(fmt::format("'--set {}={}': a length is a number of at least 1", own,
                     *text));
  }
  lengths[name] = own;
  return Size::of(own);
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

//===----------------------------------------------------------------------===//
// What operators ask
//===----------------------------------------------------------------------===//

const Contents *Importer::knownInput(const Node &node, size_t i) {
  const Value *value = node.input(i);
  if (value && value->known)
    return value->known.get();
  std::string name = value ? value->name : "input " + std::to_string(i);
  // An input of the whole model can be given with `--set`.
  std::string advice;
  if (value && !value->array.empty() && value->stored == nullptr)
    advice = fmt::format("; if it is an input, give it: --set {}=[..]",
                         value->array);
  refuse(node,
         "'" + name + "' has to be known when the model is compiled" + advice);
  return nullptr;
}

std::optional<std::vector<int64_t>> Importer::knownNumbers(const Node &node,
                                                           size_t i) {
  const Contents *contents = knownInput(node, i);
  if (!contents)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Size &size : contents->whole) {
    std::optional<int64_t> number = size.value();
    if (!number) {
      refuse(node, "'" + node.at(i).name + "' depends on the length " +
                       size.text() + ", and has to be a number");
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<Shape>
Importer::broadcast(const Node &node, const std::vector<const Value *> &given) {
  size_t rank = 0;
  for (const Value *value : given)
    rank = std::max(rank, value->rank());
  Shape result(rank, Size(1));
  for (const Value *value : given)
    for (size_t i = 0; i < value->rank(); ++i) {
      Size &size = result[rank - value->rank() + i];
      const Size &own = value->shape[i];
      if (size.is(1))
        size = own;
      else if (!own.is(1) && !(own == size)) {
        refuse(node, fmt::format("'{}' {} and '{}' {} do not fit together",
                                 given[0]->name, shapeText(given[0]->shape),
                                 value->name, shapeText(value->shape)));
        return std::nullopt;
      }
    }
  return result;
}

std::optional<size_t> Importer::axisOf(const Node &node, int64_t axis,
                                       size_t rank) {
  int64_t own = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  if (own >= 0 && own < static_cast<int64_t>(rank))
    return static_cast<size_t>(own);
  refuse(node, fmt::format("axis {} of a value with {} axes", axis, rank));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool Importer::addTensor(const schema::TensorProto &tensor,
                         const std::string &name, Value &value) {
  value.type = tensor.data_type();
  value.name = name;
  value.stored = &tensor;
  int64_t count = 1;
  for (int64_t size : tensor.dims()) {
    value.shape.emplace_back(size);
    count = size < 0 || size > (int64_t(1) << 40) ? -1 : count * size;
    if (count < 0 || count > (int64_t(1) << 40))
      return fail(fmt::format("'{}' has the extent {}", name, size));
  }
  if (!kindOf(value.type))
    return fail(fmt::format("'{}' holds {}, which is not supported", name,
                            typeName(value.type)));
  if (count > mostKnown)
    return true;
  Contents contents;
  if (value.kind() == Kind::Real) {
    runtime::Tensor read;
    Status status = readTensor(tensor, path, read);
    if (status.failed())
      return fail(status.text());
    contents.reals = read.toDoubles();
  } else {
    std::vector<int64_t> numbers;
    Status status = readWhole(tensor, path, numbers);
    if (status.failed())
      return fail(status.text());
    contents.whole.assign(numbers.begin(), numbers.end());
  }
  value.known = std::make_shared<Contents>(std::move(contents));
  return true;
}

/// `--set shape=[2, 3]`: the input is known.
bool Importer::fixInput(const std::string &name, ElementType type,
                        const Shape &shape, const std::string &text) {
  Value value;
  value.type = type;
  value.name = name;
  Contents contents;
  std::string inner = text;
  for (char &letter : inner)
    if (letter == '[' || letter == ']' || letter == ',')
      letter = ' ';
  std::istringstream in(inner);
  size_t count = 0;
  for (std::string word; in >> word; ++count) {
    char *end = nullptr;
    double number = std::strtod(word.c_str(), &end);
    if (*end != 0 ||
        (value.kind() != Kind::Real &&
         (!(std::fabs(number) <= 0x1p63) || number != std::floor(number))))
      return fail(
          fmt::format("'--set {}={}' gives numbers: [2, 3]", name, text));
    if (value.kind() == Kind::Real)
      contents.reals.push_back(number);
    else
      contents.whole.emplace_back(
          number >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(number));
  }
  value.shape = shape;
  if (value.rank() == 1 && !shape[0].value())
    value.shape[0] = Size(static_cast<int64_t>(count));
  if (!productOf(value.shape).is(static_cast<int64_t>(count)))
    return fail(fmt::format("'--set {}={}' has {} numbers, but '{}' is {}",
                            name, text, count, name, shapeText(shape)));
  value.known = std::make_shared<Contents>(std::move(contents));
  values[name] = value;
  return true;
}

bool Importer::addInput(const std::string &name, ElementType type,
                        Shape shape) {
  std::optional<Kind> kind = kindOf(type);
  if (!kind)
    return fail(fmt::format("input '{}' is {}, which is not supported", name,
                            typeName(type)));
  std::string own = nameFor(name);
  if (const std::string *text = setOf(own))
    return fixInput(name, type, shape, *text);
  Value value;
  value.type = type;
  value.shape = std::move(shape);
  value.name = name;
  value.array = own;
  std::vector<std::string> sizes;
  for (const Size &size : value.shape) {
    if (size.value().value_or(1) < 1)
      return fail(fmt::format("input '{}' has the shape {}, and there are no "
                              "arrays without elements",
                              name, shapeText(value.shape)));
    sizes.push_back(size.text());
  }
  data += "data " + value.array;
  if (!sizes.empty())
    data += "[" + joined(sizes, ", ") + "]";
  data += *kind == Kind::Real  ? " : real"
          : *kind == Kind::Int ? " : int"
                               : " : bit";
  // An input that no node reads is as the file has it.
  data += "  # as meant: '" + name + "'\n";
  values[name] = value;
  return true;
}

bool Importer::runNode(const schema::NodeProto &proto) {
  Node node(*this, proto);
  for (size_t i = 0; i < node.numInputs(); ++i)
    if (const std::string &name = proto.input(static_cast<int>(i));
        !name.empty() && !find(name))
      return refuse(node, "reads '" + name + "', which nothing before gives");
  bool isOurs = proto.domain().empty() || proto.domain() == "ai.onnx" ||
                proto.domain() == "com.microsoft" ||
                proto.domain() == "ai.onnx.ml";
  auto handler = handlers().find(node.op());
  if (!isOurs || handler == handlers().end())
    return refuse(node, "this operator is not supported");
  if (fold(*this, node))
    return error.empty();
  if (!error.empty())
    return false;
  equations += "# " + pathOf(node) + "\n";
  bool isGiven = handler->second(*this, node);
  assert((isGiven || !error.empty()) && "a node that is refused says why");
  return isGiven && error.empty();
}

bool Importer::runGraph(const schema::GraphProto &graph) {
  for (const schema::TensorProto &tensor : graph.initializer())
    if (!addTensor(tensor, tensor.name(), values[tensor.name()] = Value()))
      return false;
  // Inputs keep their names, whatever else is called so.
  for (const schema::ValueInfoProto &input : graph.input()) {
    if (find(input.name()))
      continue;
    if (!input.type().has_tensor_type())
      return fail("input '" + input.name() + "' is no tensor");
    const auto &tensor = input.type().tensor_type();
    Shape shape;
    for (const auto &size : tensor.shape().dim()) {
      std::string name = size.dim_param();
      if (size.value_case() != size.kDimValue && name.empty())
        name = fmt::format("{}_{}", input.name(), shape.size());
      shape.push_back(size.value_case() == size.kDimValue
                          ? Size(size.dim_value())
                          : lengthOf(name));
    }
    if (!tensor.has_shape())
      return fail("input '" + input.name() + "' has no shape");
    if (!addInput(input.name(), tensor.elem_type(), shape))
      return false;
  }
  for (const schema::NodeProto &node : graph.node())
    if (!runNode(node))
      return false;
  for (const schema::ValueInfoProto &output : graph.output()) {
    const Value *value = find(output.name());
    if (!value)
      return fail("no node gives the output '" + output.name() + "'");
    // Every output is an equation of its own name.
    if (!value->array.empty() && value->name == output.name() &&
        data.find("data " + value->array) == std::string::npos)
      continue;
    schema::NodeProto proto;
    proto.set_op_type("Identity");
    proto.add_output(output.name());
    Node node(*this, proto);
    Value copied = *value;
    values.erase(output.name());
    if (!give(node, 0, copied.type, copied.shape,
              [&](const Indices &indices) { return read(copied, indices); }))
      return false;
  }
  return true;
}

Status Importer::run() {
  std::string bytes;
  if (Status status = readFile(path, bytes); status.failed())
    return status;
  schema::ModelProto proto;
  if (!proto.ParseFromString(bytes) ||
      proto.graph().node_size() + proto.graph().output_size() == 0)
    return Status::error("'" + path + "' is no ONNX model, or it is damaged");
  for (const schema::OperatorSetIdProto &set : proto.opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx")
      opsetVersion = set.version();
  if (opsetVersion < 7)
    return Status::error(fmt::format("{}: its operators are of version {}, and "
                                     "those from 7 on are supported",
                                     path, opsetVersion));
  taken.insert(std::begin(words), std::end(words));
  std::string name = nameFor(proto.graph().name());
  if (!runGraph(proto.graph()))
    return Status::error(error);
  std::string from = path.substr(path.rfind('/') + 1);
  if (equations.find("arctangent(") != std::string::npos)
    params += arctangent;
  model.text = fmt::format("# From {}, opset {}\nmodel {}\n\n{}{}\n{}", from,
                           opsetVersion, name, data, params, equations);
  return Status::success();
}

Status fovea::onnx::importModel(
    const std::string &path,
    const std::vector<std::pair<std::string, std::string>> &sets,
    ImportedModel &model) {
  return Importer(path, sets, model).run();
}
