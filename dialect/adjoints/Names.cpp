//===- Names.cpp - what arrays and their axes are called ------------------===//

#include "dialect/adjoints/Names.h"

using namespace mlir;
using namespace fovea::attn;

std::string fovea::attn::nameOf(Value array) {
  Operation *op = array.getDefiningOp();
  if (!op)
    return "";
  for (StringRef attribute : {"path", "source", "label"})
    if (auto name = op->getAttrOfType<StringAttr>(attribute))
      return name.getValue().str();
  return "";
}

std::string fovea::attn::labelFor(StringRef prefix, Value array) {
  std::string name = nameOf(array);
  return name.empty() ? "" : (prefix + name).str();
}

SmallVector<Attribute> fovea::attn::axisNames(Value array) {
  Builder builder(array.getContext());
  int64_t rank = cast<ArrayType>(array.getType()).getRank();
  SmallVector<Attribute> names;
  if (auto compute = array.getDefiningOp<ComputeOp>())
    names.append(compute.getIndices().begin(),
                 compute.getIndices().begin() + rank);
  for (int64_t axis = names.size(); axis < rank; ++axis)
    names.push_back(builder.getStringAttr("p" + llvm::Twine(axis)));
  return names;
}
