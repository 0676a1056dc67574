//===- Control.cpp - branches that are nodes ------------------------------===//
//
// If the condition of an If is known at compile time, as in files for
// several sample rates, only one branch is imported. Otherwise both
// are equations, and the outputs select one: branches have no side
// effects.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>

using namespace fovea::onnx;

/// The outputs of a branch, in order. Returns false if it is refused.
static bool runBranch(Importer &importer, const Node &node,
                      const std::string &name, std::vector<Value> &outputs) {
  const schema::AttributeProto *branch = node.attribute(name);
  if (branch->g().output_size() != static_cast<int>(node.numOutputs()))
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
  const Value chosen = node.at(0);
  std::vector<Value> then, otherwise;
  std::optional<int64_t> known;
  if (chosen.known)
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
