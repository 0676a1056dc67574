//===- MutateOnnx.cpp - mutations that keep an ONNX file readable ---------===//
//
// Random bytes rarely get past the parser. These mutations change a file's
// meaning: the operators, their inputs, attributes, types, extents and numbers.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/onnx.pb.h"

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

using namespace fovea::onnx;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

struct Signature {
  std::string name;
  std::string_view attributes; // `axis:int keepdims:int`
};

class Mutation {
public:
  Mutation(schema::ModelProto &model, unsigned seed)
      : model(model), graph(*model.mutable_graph()), random(seed) {}

  void run();

private:
  size_t below(size_t count) { return random() % count; }
  int64_t number();
  std::string name();
  void changeNode(schema::NodeProto &node);
  void addAttribute(schema::NodeProto &node);
  void changeTensor(schema::TensorProto &tensor);
  void changeInput(schema::ValueInfoProto &input);

  schema::ModelProto &model;
  schema::GraphProto &graph;
  std::mt19937 random;
};

} // namespace

static const std::vector<Signature> &signatures() {
  static const std::vector<Signature> all = {
#define OPERATOR(name, attributes) {#name, attributes},
#define VERSION(since, inputs, least, most, required)
#include "frontends/onnx/Operators.def"
  };
  return all;
}

int64_t Mutation::number() {
  static constexpr int64_t numbers[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        -1,
                                        -2,
                                        100,
                                        INT64_MAX,
                                        INT64_MIN,
                                        INT32_MAX,
                                        INT32_MIN,
                                        int64_t(1) << 40,
                                        int64_t(1) << 62};
  // Most are small: a model of these is more than its first error.
  return below(3) == 0 ? numbers[below(std::size(numbers))]
                       : static_cast<int64_t>(below(5)) - 1;
}

/// One of a value of the graph, or none.
std::string Mutation::name() {
  std::vector<std::string> names = {""};
  for (const schema::TensorProto &tensor : graph.initializer())
    names.push_back(tensor.name());
  for (const schema::ValueInfoProto &input : graph.input())
    names.push_back(input.name());
  for (const schema::NodeProto &node : graph.node())
    names.insert(names.end(), node.output().begin(), node.output().end());
  return names[below(names.size())];
}

void Mutation::addAttribute(schema::NodeProto &node) {
  for (const Signature &signature : signatures()) {
    if (signature.name != node.op_type() || signature.attributes.empty())
      continue;
    std::vector<std::pair<std::string, char>> words;
    std::string_view rest = signature.attributes;
    while (!rest.empty()) {
      size_t end = std::min(rest.find(' '), rest.size());
      size_t colon = rest.find(':');
      std::string_view type = rest.substr(colon + 1, end - colon - 1);
      bool isList = type.find('s', 1) != type.npos;
      words.emplace_back(rest.substr(0, colon),
                         isList ? char(std::toupper(type[0])) : type[0]);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    auto [name, type] = words[below(words.size())];
    schema::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    if (type == 'i') {
      attribute.set_type(schema::AttributeProto::INT);
      attribute.set_i(number());
    } else if (type == 'I') {
      attribute.set_type(schema::AttributeProto::INTS);
      for (size_t i = below(5); i-- > 0;)
        attribute.add_ints(number());
    } else if (type == 'f') {
      attribute.set_type(schema::AttributeProto::FLOAT);
      attribute.set_f(static_cast<float>(number()));
    } else if (type == 't') {
      attribute.set_type(schema::AttributeProto::TENSOR);
      changeTensor(*attribute.mutable_t());
    } else if (type == 'g') {
      attribute.set_type(schema::AttributeProto::GRAPH);
      if (graph.ByteSizeLong() < 1000)
        *attribute.mutable_g() = graph;
    }
    return;
  }
}

void Mutation::changeNode(schema::NodeProto &node) {
  switch (below(8)) {
  case 0:
    node.set_op_type(signatures()[below(signatures().size())].name);
    break;
  case 1:
    node.add_input(name());
    break;
  case 2:
    if (node.input_size() > 0)
      node.mutable_input()->RemoveLast();
    break;
  case 3:
    if (node.input_size() > 0)
      node.set_input(static_cast<int>(below(node.input_size())), name());
    break;
  case 4:
    node.add_output("o" + std::to_string(below(100)));
    break;
  case 5:
    if (node.attribute_size() > 0)
      node.mutable_attribute()->RemoveLast();
    break;
  default:
    addAttribute(node);
  }
}

void Mutation::changeTensor(schema::TensorProto &tensor) {
  static constexpr int types[] = {1, 6, 7, 9, 11};
  tensor.clear_dims();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_raw_data();
  int type = types[below(std::size(types))];
  tensor.set_data_type(type);
  int64_t count = 1;
  for (size_t i = below(4); i-- > 0;) {
    int64_t size =
        below(4) == 0 ? number() : static_cast<int64_t>(1 + below(4));
    tensor.add_dims(size);
    count = size < 0 || size > 8 ? 0 : count * size;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (type == 1)
      tensor.add_float_data(static_cast<float>(number()));
    else if (type == 7)
      tensor.add_int64_data(number());
    else if (type == 11)
      tensor.add_double_data(static_cast<double>(number()));
    else
      tensor.add_int32_data(static_cast<int32_t>(number()));
  }
}

void Mutation::changeInput(schema::ValueInfoProto &input) {
  static constexpr int types[] = {1, 7, 9};
  auto &tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(types[below(std::size(types))]);
  tensor.mutable_shape()->clear_dim();
  for (size_t i = below(5); i-- > 0;) {
    auto &dim = *tensor.mutable_shape()->add_dim();
    if (below(3) == 0)
      dim.set_dim_param(below(2) == 0 ? "N" : "S");
    else
      dim.set_dim_value(below(5) == 0 ? number()
                                      : static_cast<int64_t>(1 + below(6)));
  }
}

void Mutation::run() {
  for (size_t times = 1 + below(3); times-- > 0;) {
    switch (below(6)) {
    case 0:
      if (graph.initializer_size() > 0)
        changeTensor(*graph.mutable_initializer(
            static_cast<int>(below(graph.initializer_size()))));
      break;
    case 1:
      if (graph.input_size() > 0)
        changeInput(
            *graph.mutable_input(static_cast<int>(below(graph.input_size()))));
      break;
    case 2:
      if (model.opset_import_size() > 0)
        model.mutable_opset_import(0)->set_version(
            static_cast<int64_t>(7 + below(20)));
      break;
    case 3:
      if (graph.node_size() > 0 && graph.node_size() < 20) {
        schema::NodeProto node =
            graph.node(static_cast<int>(below(graph.node_size())));
        for (std::string &output : *node.mutable_output())
          output += "_";
        if (graph.output_size() > 0 && node.output_size() > 0)
          graph.mutable_output(0)->set_name(node.output(0));
        *graph.add_node() = node;
      }
      break;
    default:
      if (graph.node_size() > 0)
        changeNode(
            *graph.mutable_node(static_cast<int>(below(graph.node_size()))));
    }
  }
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  schema::ModelProto model;
  if (seed % 4 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, most);
  Mutation(model, seed).run();
  std::string bytes = model.SerializeAsString();
  if (bytes.size() > most)
    return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
