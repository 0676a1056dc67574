//===- ArrayLocations.cpp - where the phase `memory` has put arrays -------===//

#include "dialect/ArrayLocations.h"

using namespace mlir;
using namespace fovea::attn;

/// Entry `number` of a list of locations.
static ArrayLocationAttr entryOf(Operation *op, StringRef list,
                                 unsigned number) {
  auto locations = op->getAttrOfType<ArrayAttr>(list);
  return locations && number < locations.size()
             ? dyn_cast<ArrayLocationAttr>(locations[number])
             : ArrayLocationAttr();
}

ArrayLocationAttr fovea::attn::locationOf(Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array)) {
    unsigned number = argument.getArgNumber();
    return number == 0 ? ArrayLocationAttr()
                       : entryOf(argument.getOwner()->getParentOp(),
                                 carriesName, number - 1);
  }
  auto result = cast<OpResult>(array);
  if (auto kernel = dyn_cast<KernelOp>(result.getOwner()))
    return locationOf(kernel.getYielded(result));
  if (isa<ScanOp, SearchOp>(result.getOwner()))
    return entryOf(result.getOwner(), locationsName, result.getResultNumber());
  return result.getOwner()->getAttrOfType<ArrayLocationAttr>(locationName);
}
