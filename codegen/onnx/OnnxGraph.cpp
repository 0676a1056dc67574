//===- OnnxGraph.cpp - nodes of an ONNX model -----------------------------===//

#include "codegen/onnx/OnnxGraph.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>

using namespace fovea::codegen::onnx;
using llvm::ArrayRef;

static std::string textOf(const NodeAttribute &attribute) {
  if (auto *number = std::get_if<int64_t>(&attribute.value))
    return std::to_string(*number);
  if (auto *text = std::get_if<std::string>(&attribute.value))
    return *text;
  std::string text;
  for (int64_t number : std::get<std::vector<int64_t>>(attribute.value))
    text += std::to_string(number) + ",";
  return text;
}

void Graph::write(schema::GraphProto &graph, const std::string &op,
                  ArrayRef<std::string> inputs, ArrayRef<std::string> outputs,
                  ArrayRef<NodeAttribute> attributes,
                  const schema::GraphProto *body) {
  using schema::AttributeProto;
  schema::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(
      fmt::format("{}:{}", label.empty() ? "model" : label, ++numNodes));
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &output : outputs)
    node.add_output(output);
  for (const NodeAttribute &attribute : attributes) {
    AttributeProto &proto = *node.add_attribute();
    proto.set_name(attribute.name);
    if (auto *number = std::get_if<int64_t>(&attribute.value)) {
      proto.set_type(AttributeProto::INT);
      proto.set_i(*number);
    } else if (auto *text = std::get_if<std::string>(&attribute.value)) {
      proto.set_type(AttributeProto::STRING);
      proto.set_s(*text);
    } else {
      proto.set_type(AttributeProto::INTS);
      for (int64_t each : std::get<std::vector<int64_t>>(attribute.value))
        proto.add_ints(each);
    }
  }
  if (!body)
    return;
  AttributeProto &proto = *node.add_attribute();
  proto.set_name("body");
  proto.set_type(AttributeProto::GRAPH);
  *proto.mutable_g() = *body;
}

std::string Graph::add(const std::string &op, ArrayRef<std::string> inputs,
                       ArrayRef<NodeAttribute> attributes) {
  size_t depth = 0;
  std::string key = op;
  for (const std::string &input : inputs) {
    key += '\n' + input;
    depth = std::max(depth, depths.lookup(input));
  }
  for (const NodeAttribute &attribute : attributes)
    key += '\n' + attribute.name + '=' + textOf(attribute);
  auto [place, isNew] = scopes[depth].known.try_emplace(key);
  if (!isNew)
    return place->second;
  std::string name = fresh();
  place->second = name;
  depths[name] = depth;
  write(*scopes[depth].graph, op, inputs, {name}, attributes, nullptr);
  return name;
}

void Graph::addNode(const std::string &op, ArrayRef<std::string> inputs,
                    ArrayRef<std::string> outputs,
                    ArrayRef<NodeAttribute> attributes,
                    const schema::GraphProto *body) {
  for (const std::string &output : outputs)
    declare(output);
  write(*scopes.back().graph, op, inputs, outputs, attributes, body);
}

std::string Graph::constant(Element type, ArrayRef<int64_t> shape,
                            const void *bytes, size_t size) {
  std::string raw(static_cast<const char *>(bytes), size);
  std::string key = fmt::format("{} {} ", int(type), shape.size()) + raw;
  auto [place, isNew] = constants.try_emplace(key);
  if (!isNew)
    return place->second;
  place->second = fmt::format("#constant.{}", constants.size());
  schema::TensorProto &tensor = *scopes.front().graph->add_initializer();
  tensor.set_name(place->second);
  tensor.set_data_type(int(type));
  for (int64_t extent : shape)
    tensor.add_dims(extent);
  tensor.set_raw_data(std::move(raw));
  return place->second;
}

std::string Graph::number(int64_t value) {
  return constant(Element::I64, {}, &value, sizeof(value));
}

std::string Graph::number(double value, Element type) {
  float single = static_cast<float>(value);
  return type == Element::F64 ? constant(type, {}, &value, sizeof(value))
                              : constant(type, {}, &single, sizeof(single));
}

std::string Graph::bit(bool value) {
  return constant(Element::Bit, {}, &value, sizeof(value));
}

std::string Graph::vector(ArrayRef<int64_t> values) {
  return constant(Element::I64, {int64_t(values.size())}, values.data(),
                  values.size() * sizeof(int64_t));
}
