//===- Epilogue.cpp - kernels that compute column by column ---------------===//

#include "codegen/cpu/loops/Epilogue.h"
#include "passes/analysis/Product.h"
#include "passes/memory/Locations.h"

#include <numeric>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

int64_t Epilogue::placesAtOnce(const GemmTile &tile) const {
  int64_t vectors = 1;
  for (const Product &product : products)
    vectors =
        std::lcm(vectors, tile.vectors / std::gcd(tile.vectors, product.parts));
  return vectors * tile.lanes;
}

Epilogue fovea::codegen::epilogueOf(KernelOp kernel) {
  Epilogue result;
  result.kernel = kernel;
  for (ComputeOp op : kernel.getMembers()) {
    if (productOf(op))
      result.products.push_back({op, partsOf(op, kernel)});
    else
      result.members.push_back(op);
  }
  ComputeOp first = result.members.front();
  result.width = cast<IntegerAttr>(first.getExtents()[0]).getInt();
  return result;
}
