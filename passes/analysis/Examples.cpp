//===- Examples.cpp - which arrays differ between examples ----------------===//

#include "passes/analysis/Examples.h"
#include "passes/analysis/Access.h"

using namespace mlir;
using namespace fovea::attn;

Examples::Examples(SystemOp system) {
  llvm::DenseMap<Value, SmallVector<Operation *, 2>> readers;
  SmallVector<Value> list;
  for (Operation &op : system.getBody().front()) {
    bool differs = isa<DataOp, ChoiceOp>(op);
    op.walk(
        [&](Operation *inner) { differs |= isa<RandomOp, ExtentOp>(inner); });
    if (differs)
      llvm::append_range(list, op.getResults());
    forArrays(op,
              [&](Operation *, Value array) { readers[array].push_back(&op); });
  }
  while (!list.empty()) {
    Value array = list.pop_back_val();
    if (found.insert(array).second)
      for (Operation *reader : readers.lookup(array))
        llvm::append_range(list, reader->getResults());
  }
}
