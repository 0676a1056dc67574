//===- Control.cpp - branches that are nodes ------------------------------===//
//
// Of an If whose condition is known when the model is compiled, as in files
// that are for several rates of sound, one branch is there. Of any other both
// are equations, of which the outputs take the one or the other: nothing in a
// branch has effects.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>

using namespace fovea::onnx;

/// The outputs of a branch, in their order. False where it is refused.
static bool runBranch(Importer &importer, const Node &node,
                      const std::string &name, std::vector<Value> &outputs) {
  const schema::AttributeProto *branch = node.attribute(name);
  if (!branch ||
      branch->g().output_size() != static_cast<int>(node.numOutputs()))
    return importer.refuse(node, "needs a '" + name + "' with its outputs");
  if (!importer.runBranch(branch->g()))
    return false;
  for (const schema::ValueInfoProto &output : branch->g().output()) {
    const Value *value = importer.find(output.name());
    if (!value)
      return importer.refuse(
          node, fmt::format("nothing in '{}' gives '{}'", name, output.name()));
    outputs.push_back(*value);
  }
  return true;
}

static bool importIf(Importer &importer, const Node &node) {
  const Value *condition = node.input(0);
  if (!condition || !productOf(condition->shape).is(1))
    return importer.refuse(node, "needs a condition of one element");
  const Value chosen = *condition;
  std::vector<Value> then, otherwise;
  std::optional<int64_t> known;
  if (chosen.known && chosen.kind() != Kind::Real)
    known = chosen.known->whole.front().value();
  if (known) {
    if (!runBranch(importer, node, *known ? "then_branch" : "else_branch",
                   then))
      return false;
    for (size_t i = 0; i < then.size(); ++i)
      importer.giveSame(node, i, then[i]);
    return true;
  }
  if (!runBranch(importer, node, "then_branch", then) ||
      !runBranch(importer, node, "else_branch", otherwise))
    return false;
  for (size_t i = 0; i < then.size(); ++i) {
    const Value &a = then[i], &b = otherwise[i];
    if (a.type != b.type || a.shape != b.shape)
      return importer.refuse(
          node, fmt::format("its branches give {} and {}, and the condition is "
                            "not known when the model is compiled",
                            shapeText(a.shape), shapeText(b.shape)));
    if (!importer.give(node, i, a.type, a.shape, [&](const Indices &indices) {
          return fmt::format(
              "if {} then {} else {}",
              importer.readAs(chosen, Indices(chosen.rank(), "0"), Kind::Bit),
              importer.read(a, indices), importer.read(b, indices));
        }))
      return false;
  }
  return true;
}

void fovea::onnx::addControl(Handlers &handlers) { handlers["If"] = importIf; }
