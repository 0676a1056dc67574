//===- Epilogue.cpp - kernels that compute column by column ---------------===//

#include "codegen/cpu/loops/Epilogue.h"
#include "passes/analysis/Product.h"

#include <numeric>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

SmallVector<Operation *> Epilogue::ops() const {
  SmallVector<Operation *> result;
  for (const Product &product : products)
    result.push_back(product.op);
  llvm::append_range(result, views);
  result.append(members.begin(), members.end());
  return result;
}

int64_t Epilogue::placesAtOnce(const GemmTile &tile) const {
  int64_t vectors = 1;
  for (const Product &product : products)
    vectors =
        std::lcm(vectors, tile.vectors / std::gcd(tile.vectors, product.parts));
  return vectors * tile.lanes;
}

/// A view in a kernel is one of a product.
static Epilogue epilogueOf(KernelOp kernel) {
  Epilogue result;
  for (Operation &op : kernel.getBody().front()) {
    auto compute = dyn_cast<ComputeOp>(op);
    if (isa<ReshapeOp>(op))
      result.views.push_back(&op);
    else if (compute && productOf(compute))
      result.products.push_back({compute});
    else if (compute)
      result.members.push_back(compute);
  }
  auto widthOf = [](ComputeOp op) {
    return cast<IntegerAttr>(op.getExtents()[0]).getInt();
  };
  result.width = widthOf(result.members.front());
  for (Epilogue::Product &product : result.products)
    product.parts = widthOf(product.op) / result.width;
  return result;
}

std::vector<Epilogue> fovea::codegen::epiloguesOf(ProgramOp program) {
  std::vector<Epilogue> epilogues;
  program.walk([&](KernelOp kernel) {
    if (kernel.getSchedule() == Schedule::columns)
      epilogues.push_back(epilogueOf(kernel));
  });
  return epilogues;
}
