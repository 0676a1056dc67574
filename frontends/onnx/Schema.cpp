//===- Schema.cpp - nodes against their operators' signatures -------------===//
//
// Checks a node against Operators.def before other code reads it: the number of
// inputs and outputs, their types and axes, and its attributes. The operator
// files rely on that, and check only what the table cannot express.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>
#include <string_view>

using namespace fovea::onnx;

namespace {

struct Version {
  int64_t since;
  std::string_view inputs;
  size_t leastOutputs, mostOutputs;
  std::string_view required;
};

struct Operator {
  std::string_view attributes;
  std::vector<Version> versions;
};

/// One word of a signature, `T:ri/3..?`.
struct Input {
  std::string_view type, kinds, axes;
  char repeat = 0;

  bool mayBeMissing() const { return repeat == '?' || repeat == '*'; }
  bool repeats() const { return repeat == '*' || repeat == '+'; }
};

} // namespace

static const std::map<std::string, Operator> &operators() {
  constexpr size_t many = SIZE_MAX;
  static const std::map<std::string, Operator> all = [] {
    std::map<std::string, Operator> result;
    Operator *last = nullptr;
#define OPERATOR(name, words)                                                  \
  last = &result[#name];                                                       \
  last->attributes = words;
#define VERSION(since, inputs, least, most, required)                          \
  last->versions.push_back({since, inputs, least, most, required});
#include "frontends/onnx/Operators.def"
    return result;
  }();
  return all;
}

static std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

static Input inputOf(std::string_view word) {
  Input input;
  if (std::string_view("?+*").find(word.back()) != std::string_view::npos) {
    input.repeat = word.back();
    word.remove_suffix(1);
  }
  if (size_t slash = word.find('/'); slash != std::string_view::npos) {
    input.axes = word.substr(slash + 1);
    word = word.substr(0, slash);
  }
  if (size_t colon = word.find(':'); colon != std::string_view::npos) {
    input.kinds = word.substr(colon + 1);
    word = word.substr(0, colon);
  }
  input.type = word;
  return input;
}

/// `1 input`, `2 to 4 inputs`, `at least 1 output`
static std::string counted(size_t least, size_t most, const char *noun) {
  std::string text = most == SIZE_MAX ? fmt::format("at least {}", least)
                     : least == most  ? fmt::format("{}", least)
                     : least == 0     ? fmt::format("at most {}", most)
                                      : fmt::format("{} to {}", least, most);
  bool isOne = (most == SIZE_MAX ? least : most) == 1;
  return fmt::format("{} {}{}", text, noun, isOne ? "" : "s");
}

static bool checkOutputs(Importer &importer, const Node &node,
                         const Version &version) {
  size_t count = node.numOutputs();
  return (count >= version.leastOutputs && count <= version.mostOutputs) ||
         importer.refuse(node,
                         fmt::format("expected {}, found {}",
                                     counted(version.leastOutputs,
                                             version.mostOutputs, "output"),
                                     count));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::string_view nameOf(schema::AttributeProto::Type type) {
  switch (type) {
  case schema::AttributeProto::FLOAT:
    return "float";
  case schema::AttributeProto::INT:
    return "int";
  case schema::AttributeProto::STRING:
    return "string";
  case schema::AttributeProto::TENSOR:
    return "tensor";
  case schema::AttributeProto::GRAPH:
    return "graph";
  case schema::AttributeProto::FLOATS:
    return "floats";
  case schema::AttributeProto::INTS:
    return "ints";
  case schema::AttributeProto::STRINGS:
    return "strings";
  default:
    return "value of another type";
  }
}

static bool checkAttribute(Importer &importer, const Node &node,
                           const Operator &op,
                           const schema::AttributeProto &attribute) {
  std::string_view type;
  for (std::string_view word : wordsOf(op.attributes))
    if (word.substr(0, word.find(':')) == attribute.name())
      type = word.substr(word.find(':') + 1);
  if (type.empty())
    return importer.refuse(
        node, fmt::format("unknown attribute '{}'", attribute.name()));
  bool isWide = type.ends_with("64");
  if (isWide)
    type.remove_suffix(2);
  // Files of the first versions omit the type.
  std::string_view given = nameOf(attribute.type());
  if (attribute.type() != schema::AttributeProto::UNDEFINED && given != type)
    return importer.refuse(
        node, fmt::format("attribute '{}' must be of type {}, got {}",
                          attribute.name(), type, given));
  std::vector<int64_t> numbers(attribute.ints().begin(),
                               attribute.ints().end());
  numbers.push_back(attribute.i());
  for (int64_t number : numbers)
    if (!isWide && (number < INT32_MIN || number > INT32_MAX))
      return importer.refuse(
          node, fmt::format("attribute '{}' has the value {}, and only numbers "
                            "of 32 bits are supported",
                            attribute.name(), number));
  return true;
}

static bool checkAttributes(Importer &importer, const Node &node,
                            const Operator &op, const Version &version) {
  for (const schema::AttributeProto &attribute : node.schema().attribute())
    if (!checkAttribute(importer, node, op, attribute))
      return false;
  for (std::string_view name : wordsOf(version.required))
    if (!node.attribute(std::string(name)))
      return importer.refuse(node,
                             fmt::format("attribute '{}' is missing", name));
  return true;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static bool hasAxes(const Value &value, std::string_view axes,
                    const Value *first) {
  if (axes.empty())
    return true;
  if (axes == "one")
    return productOf(value.shape).is(1);
  if (axes == "=" || axes == "<")
    return axes == "=" ? value.rank() == first->rank()
                       : value.rank() <= first->rank();
  size_t dots = axes.find("..");
  auto number = [](std::string_view text, size_t otherwise) {
    return text.empty() ? otherwise : size_t(text[0] - '0');
  };
  if (dots == std::string_view::npos)
    return value.rank() == number(axes, 0);
  return value.rank() >= number(axes.substr(0, dots), 0) &&
         value.rank() <= number(axes.substr(dots + 2), SIZE_MAX);
}

static std::string axesText(std::string_view axes) {
  if (axes == "one")
    return "one element";
  if (axes == "=")
    return "as many axes as input 1";
  if (axes == "<")
    return "no more axes than input 1";
  size_t dots = axes.find("..");
  std::string least(axes.substr(0, dots)),
      most(
          axes.substr(dots == std::string_view::npos ? axes.size() : dots + 2));
  std::string text = dots == std::string_view::npos ? least
                     : least.empty()                ? "at most " + most
                     : most.empty()                 ? "at least " + least
                                                    : least + " to " + most;
  return text + (text.ends_with("1") ? " axis" : " axes");
}

static bool isOfKinds(Kind kind, std::string_view kinds) {
  char letter = kind == Kind::Real ? 'r' : kind == Kind::Int ? 'i' : 'b';
  return kinds.empty() || kinds.find(letter) != std::string_view::npos;
}

static std::string kindsText(std::string_view kinds) {
  std::vector<std::string> words;
  for (char letter : kinds)
    words.push_back(letter == 'r'   ? "floats"
                    : letter == 'i' ? "integers"
                                    : "booleans");
  return joined(words, " or ");
}

static bool checkInputs(Importer &importer, const Node &node,
                        const Version &version) {
  std::vector<Input> signature;
  size_t least = 0;
  for (std::string_view word : wordsOf(version.inputs)) {
    signature.push_back(inputOf(word));
    if (!signature.back().mayBeMissing())
      least = signature.size();
  }
  bool isOpen = !signature.empty() && signature.back().repeats();
  size_t most = isOpen ? SIZE_MAX : signature.size();
  if (node.numInputs() < least || node.numInputs() > most)
    return importer.refuse(node, fmt::format("expected {}, found {}",
                                             counted(least, most, "input"),
                                             node.numInputs()));
  std::map<std::string_view, size_t> firstOf; // of each type
  for (size_t i = 0; i < node.numInputs(); ++i) {
    const Input &input = signature[std::min(i, signature.size() - 1)];
    const Value *value = node.input(i);
    if (!value && !input.mayBeMissing())
      return importer.refuse(node, fmt::format("input {} is missing", i + 1));
    if (!value)
      continue;
    if (!isOfKinds(value->kind(), input.kinds))
      return importer.refuse(
          node, fmt::format("input {} must hold {}, but '{}' is {}", i + 1,
                            kindsText(input.kinds), value->name,
                            typeName(value->type)));
    size_t first = input.type == "_"
                       ? i
                       : firstOf.try_emplace(input.type, i).first->second;
    if (node.at(first).kind() != value->kind())
      return importer.refuse(
          node, fmt::format("inputs {} and {} must have the same type, but "
                            "'{}' is {} and '{}' is {}",
                            first + 1, i + 1, node.at(first).name,
                            typeName(node.at(first).type), value->name,
                            typeName(value->type)));
    if (!hasAxes(*value, input.axes, node.input(0)))
      return importer.refuse(
          node, fmt::format("input {} must have {}, but '{}' is {}", i + 1,
                            axesText(input.axes), value->name,
                            shapeText(value->shape)));
  }
  return true;
}

bool fovea::onnx::checkNode(Importer &importer, const Node &node) {
  const Operator &op = operators().at(node.op());
  // Operators of other domains have no version here, so the newest signature
  // applies. Optimisers write operators into files that are older than these.
  const Version *version = &op.versions.front();
  const std::string &domain = node.schema().domain();
  bool isForeign = !domain.empty() && domain != "ai.onnx";
  for (const Version &other : op.versions)
    if (isForeign || other.since <= importer.opset())
      version = &other;
  return checkOutputs(importer, node, *version) &&
         checkAttributes(importer, node, op, *version) &&
         checkInputs(importer, node, *version);
}

bool fovea::onnx::hasSchema(const std::string &name) {
  return operators().count(name) != 0;
}
