//===- Importer.cpp - nodes to equations ----------------------------------===//
//
// Reads a file, declares its inputs, and lets each node that cannot be folded
// write its equation (Equations.cpp). The files beside this one define the
// operators.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <sstream>

using namespace fovea;
using namespace fovea::onnx;
using runtime::Status;

/// Reserved words, which no equation may have as its name, and functions and
/// modules, which it would hide.
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

/// The largest tensor whose elements are examined at compile time.
static constexpr int64_t mostKnown = 4096;

/// The largest array of any kind. Products of two extents fit 64 bits.
static constexpr int64_t largestArray = int64_t(1) << 40;

const Handlers &fovea::onnx::handlers() {
  static const Handlers all = [] {
    Handlers result;
    addElementwise(result);
    addViews(result);
    addMade(result);
    addIndexing(result);
    addReductions(result);
    addNormalisations(result);
    addProducts(result);
    addQuantised(result);
    addConvolutions(result);
    addAttention(result);
    addControl(result);
    addLoops(result);
    addResize(result);
    addRecurrent(result);
    assert(std::all_of(result.begin(), result.end(), [](const auto &entry) {
      return hasSchema(entry.first);
    }));
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

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Converts a name of the file to one of the language: other characters become
/// `_`, and a taken name gets a `_` appended.
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

/// A length that the file names: data provide it, unless `--set` does.
Size Importer::lengthOf(const std::string &name, size_t axis) {
  auto known = lengths.find(name);
  if (known != lengths.end())
    return known->second;
  std::string own = nameFor(name);
  order.emplace_back(own, axis);
  auto same = equals.find(own);
  Size size = Size::of(same == equals.end() ? own : same->second);
  if (const std::string *text = setOf(own)) {
    int64_t number = 0;
    std::istringstream in(*text);
    if (in >> number && in.eof() && number >= 1)
      size = number;
    else
      fail(fmt::format("'--set {}={}': a length is a number of at least 1", own,
                       *text));
  }
  // All inputs with an axis of this name share it.
  return lengths[name] = size;
}

/// Returns the error in the shape of an array, or nothing.
std::string Importer::faultOf(const std::string &name,
                              const Shape &shape) const {
  Size numbers(1);
  for (const Size &size : shape) {
    if (size.value().value_or(1) < 1)
      return fmt::format("'{}' has the shape {}, and there are no arrays "
                         "without elements",
                         name, shapeText(shape));
    if (size.value() || size.isTooLarge())
      numbers = numbers * size;
  }
  for (const Size &size : storedAxes(shape))
    if (std::string length = size.multipliedLength(); !length.empty())
      return fmt::format("'{}' has the shape {}, an axis of which multiplies "
                         "lengths; help: give one of them, as --set {}=1",
                         name, shapeText(shape), length);
  if (numbers.value() && *numbers.value() <= largestArray)
    return "";
  return fmt::format("'{}' has the shape {}, which is too large", name,
                     shapeText(shape));
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool Importer::addTensor(const schema::TensorProto &tensor,
                         const std::string &name, Value &value) {
  value.type = tensor.data_type();
  value.name = name;
  value.stored = &tensor;
  for (int64_t size : tensor.dims()) {
    value.shape.emplace_back(size);
    if (size < 0)
      return fail(fmt::format("'{}' has the extent {}", name, size));
  }
  std::optional<int64_t> count = productOf(value.shape).value();
  if (!count || *count > largestArray)
    return fail(fmt::format("'{}' has the shape {}, which is too large", name,
                            shapeText(value.shape)));
  if (!kindOf(value.type))
    return fail(fmt::format("'{}' holds {}, which is not supported", name,
                            typeName(value.type)));
  if (*count > mostKnown)
    return true;
  Contents contents;
  if (value.kind() == Kind::Real) {
    runtime::Tensor read;
    Status status = reader.read(tensor, read);
    if (status.failed())
      return fail(status.text());
    contents.reals = read.toDoubles();
  } else {
    std::vector<int64_t> numbers;
    Status status = reader.readWhole(tensor, numbers);
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
  if (std::string fault = faultOf(name, value.shape); !fault.empty())
    return fail("input " + fault);
  for (const Size &size : value.shape)
    sizes.push_back(size.text());
  data += "data " + value.array;
  if (!sizes.empty())
    data += "[" + joined(sizes, ", ") + "]";
  data += *kind == Kind::Real  ? " : real"
          : *kind == Kind::Int ? " : int"
                               : " : bit";
  // An input that no node reads keeps the file's form.
  data += "  # as meant: '" + printable(name) + "'\n";
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
                proto.domain() == "ai.onnx.preview" ||
                proto.domain() == "com.microsoft" ||
                proto.domain() == "ai.onnx.ml";
  auto handler = handlers().find(node.op());
  if (!isOurs || handler == handlers().end())
    return refuse(node, "this operator is not supported");
  if (!checkNode(*this, node))
    return false;
  if (fold(*this, node))
    return error.empty();
  if (!error.empty())
    return false;
  equations += "# " + pathOf(node) + "\n";
  bool isGiven = handler->second(*this, node);
  assert((isGiven || !error.empty()) && "a node that is refused says why");
  return isGiven && error.empty();
}

bool Importer::runBranch(const schema::GraphProto &graph) {
  for (const schema::TensorProto &tensor : graph.initializer())
    if (!addTensor(tensor, tensor.name(), values[tensor.name()] = Value()))
      return false;
  for (const schema::NodeProto &node : graph.node())
    if (!runNode(node))
      return false;
  return true;
}

bool Importer::runGraph(const schema::GraphProto &graph) {
  for (const schema::TensorProto &tensor : graph.initializer())
    if (!addTensor(tensor, tensor.name(), values[tensor.name()] = Value()))
      return false;
  for (const schema::ValueInfoProto &output : graph.output())
    outputs.insert(output.name());
  // Inputs keep their names; other names give way.
  for (const schema::ValueInfoProto &input : graph.input()) {
    if (find(input.name()))
      continue;
    if (!input.type().has_tensor_type())
      return fail("input '" + input.name() + "' is not a tensor");
    const auto &tensor = input.type().tensor_type();
    Shape shape;
    for (const auto &size : tensor.shape().dim()) {
      // Some programs write -1, or '?', for an unknown axis.
      bool isNumber =
          size.value_case() == size.kDimValue && size.dim_value() != -1;
      std::string name = size.dim_param();
      if (std::none_of(name.begin(), name.end(), [](unsigned char letter) {
            return std::isalnum(letter) != 0;
          }))
        name = fmt::format("{}_{}", input.name(), shape.size());
      shape.push_back(isNumber ? Size(size.dim_value())
                               : lengthOf(name, shape.size()));
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
    if (productOf(value->shape).is(0))
      return fail("the output " + faultOf(output.name(), value->shape));
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

Status Importer::run(const std::string &bytes) {
  schema::ModelProto proto;
  // Errors are reported by this code.
  google::protobuf::SetLogHandler(nullptr);
  if (!proto.ParseFromString(bytes) ||
      proto.graph().node_size() + proto.graph().output_size() == 0)
    return Status::error("'" + path +
                         "' is not an ONNX model, or it is damaged");
  for (const schema::OperatorSetIdProto &set : proto.opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx")
      opsetVersion = set.version();
  if (opsetVersion < 7)
    return Status::error(
        fmt::format("{}: unsupported opset {}; only 7 and later are supported",
                    path, opsetVersion));
  taken.insert(std::begin(words), std::end(words));
  std::string name = nameFor(proto.graph().name());
  if (!runGraph(proto.graph()))
    return Status::error(error);
  std::string from = printable(path.substr(path.rfind('/') + 1));
  if (equations.find("arctangent(") != std::string::npos)
    params += arctangent;
  model.text = fmt::format("# From {}, opset {}\nmodel {}\n\n{}{}\n{}", from,
                           opsetVersion, name, data, params, equations);
  return Status::success();
}

Status fovea::onnx::importBytes(
    const std::string &bytes, const std::string &path,
    const std::vector<std::pair<std::string, std::string>> &sets,
    ImportedModel &model) {
  Importer::Equals equals;
  for (;;) {
    ImportedModel attempt;
    Importer importer(path, sets, equals, attempt);
    Status status = importer.run(bytes);
    if (status.failed() && importer.needed()) {
      // The second length is equal to none before it, so there is an end.
      equals.insert(*importer.needed());
      continue;
    }
    model = std::move(attempt);
    return status;
  }
}

Status fovea::onnx::importModel(
    const std::string &path,
    const std::vector<std::pair<std::string, std::string>> &sets,
    ImportedModel &model) {
  std::string bytes;
  if (Status status = readFile(path, bytes); status.failed())
    return status;
  return importBytes(bytes, path, sets, model);
}
