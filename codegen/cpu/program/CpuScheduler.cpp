//===- CpuScheduler.cpp - the launches that only a CPU needs --------------===//

#include "codegen/cpu/program/CpuScheduler.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

void CpuScheduler::addPrepare() {
  bool packs = llvm::any_of(storage.description().arrays,
                            [](const Program::Array &array) {
                              return array.role == Program::Role::Packed;
                            });
  if (!packs)
    return;
  OpBuilder::InsertionGuard guard(b);
  auto prepare = b.create<launch::PrepareOp>();
  b.setInsertionPointToStart(&prepare.getBody().emplaceBlock());
  program.walk([&](ComputeOp op) {
    const Storage *room = storage.packedOf(op);
    if (room && storage.isKept(*room) && packed.insert(room->slot).second)
      addPack(op, *rowsProductOf(op));
  });
}

void CpuScheduler::addPacks(Operation &op) {
  op.walk([&](ComputeOp compute) {
    const Storage *room = storage.packedOf(compute);
    if (room && packed.insert(room->slot).second)
      addPack(compute, *rowsProductOf(compute));
  });
}

void CpuScheduler::addPack(ComputeOp op, const RowsProduct &product) {
  Uses uses;
  ReadOp right = product.right;
  read(right.getArray(), uses);
  uses.writes.insert(storage.packedOf(op)->slot);
  add({.work = Work::pack,
       .op = op,
       .label = op.getLabel().value_or("").str(),
       .units = Units::panels,
       .scalars = {termsOf(product)}},
      uses);
}

/// A product that packs its right side piece by piece has no rows of its own.
void CpuScheduler::addProduct(ComputeOp op, const RowsProduct &product) {
  if (product.packsAhead())
    return Scheduler::addProduct(op, product);
  addRunList(op);
  add({.work = Work::compute,
       .op = op,
       .label = op.getLabel().value_or("").str(),
       .units = Units::tiles,
       .scalars = {termsOf(product)}},
      usesOf(op));
}
