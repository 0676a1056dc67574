//===- Node.cpp - what a node has, and what it needs ----------------------===//
//
// Inputs and attributes of a node, and common requirements of operators: known
// values, matching shapes, existing axes.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::onnx;

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

std::vector<double> Node::reals(const std::string &name) const {
  const schema::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->floats().begin(), found->floats().end()};
}

std::vector<std::string> Node::texts(const std::string &name) const {
  const schema::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->strings().begin(), found->strings().end()};
}

std::string fovea::onnx::printable(std::string name) {
  for (char &letter : name)
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f')
      letter = '?';
  return name;
}

std::string Importer::pathOf(const Node &node) const {
  const std::string &name = node.schema().name();
  std::string first;
  for (const std::string &output : node.schema().output())
    if (first.empty())
      first = output;
  return printable(
      fmt::format("{} of node '{}'", node.op(), name.empty() ? first : name));
}

bool Importer::fail(const std::string &why) {
  if (error.empty())
    error = path + ": " + printable(why);
  return false;
}

void Importer::needEqual(const Size &a, const Size &b, const Holds &holds) {
  if (!error.empty() || neededEqual)
    return;
  auto place = [&](const std::string &length) {
    return std::find_if(order.begin(), order.end(), [&](const auto &entry) {
      return entry.first == length;
    });
  };
  bool isLikely = false; // a batch is more often first in both than elsewhere
  for (const std::string &one : a.lengths())
    for (const std::string &other : b.lengths()) {
      auto first = std::min(place(one), place(other)),
           second = std::max(place(one), place(other));
      if (one == other || second == order.end() || isLikely ||
          !holds(a.withLength(second->first, first->first),
                 b.withLength(second->first, first->first)))
        continue;
      isLikely = first->second == second->second;
      if (isLikely || !neededEqual)
        neededEqual = {second->first, first->first};
    }
}

bool Importer::areEqual(const Size &a, const Size &b) {
  if (a == b)
    return true;
  needEqual(a, b, std::equal_to<Size>());
  return false;
}

std::optional<Size> Importer::divided(const Size &a, const Size &b) {
  std::optional<Size> result = a.dividedBy(b);
  if (!result)
    needEqual(a, b, [](const Size &x, const Size &y) {
      return x.dividedBy(y).has_value();
    });
  return result;
}

bool Importer::refuse(const Node &node, const std::string &why) {
  return fail(pathOf(node) + ": " + why);
}

//===----------------------------------------------------------------------===//
// What operators ask
//===----------------------------------------------------------------------===//

const Contents *Importer::knownInput(const Node &node, size_t i) {
  const Value *value = node.input(i);
  if (value && value->known)
    return value->known.get();
  std::string name = value ? value->name : "input " + std::to_string(i);
  // An input of the whole model can be set with `--set`.
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

bool Importer::broadcastsTo(const Node &node, const Value &value,
                            const Shape &shape) {
  bool fits = value.rank() <= shape.size();
  for (size_t i = 0; fits && i < value.rank(); ++i)
    fits = value.shape[i].is(1) ||
           areEqual(value.shape[i], shape[shape.size() - value.rank() + i]);
  return fits ||
         refuse(node, fmt::format("'{}' {} does not match {}", value.name,
                                  shapeText(value.shape), shapeText(shape)));
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
      else if (!own.is(1) && !areEqual(size, own)) {
        refuse(node, fmt::format("'{}' {} and '{}' {} do not match",
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
