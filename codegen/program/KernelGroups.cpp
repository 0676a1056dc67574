//===- KernelGroups.cpp - runs that launch one kernel ---------------------===//

#include "codegen/program/KernelGroups.h"
#include "passes/memory/Locations.h"

#include <map>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

KernelGroups::KernelGroups(launch::ProgramOp schedule,
                           ArrayRef<Operation *> ops, StorageMap &storage)
    : schedule(schedule), storage(storage) {
  std::map<KernelKey, size_t> known;
  schedule.walk<WalkOrder::PreOrder>([&](launch::RunOp run) {
    int64_t number = run.getNumber();
    auto [own, isNew] = places.try_emplace(number);
    if (isNew)
      own->second = constantPlaces(ops[number]);
    given[number].resize(own->second.size());
    auto key = keyOf(run, ops[number], own->second, storage);
    if (!key)
      return;
    auto [group, isFirst] = known.try_emplace(std::move(*key), groups.size());
    if (isFirst)
      groups.emplace_back();
    groups[group->second].push_back(run);
    numbers[run] = group->second;
  });
}

/// Gives all runs of a kernel the places that one of them gets. Returns whether
/// that changes anything.
bool KernelGroups::spread(MutableArrayRef<launch::RunOp> group) {
  ArrayRef<ConstantPlace> first = places.at(group.front().getNumber());
  llvm::SmallBitVector all(first.size());
  for (launch::RunOp &run : group) {
    all |= given.at(run.getNumber());
    for (auto [number, place] : llvm::enumerate(places.at(run.getNumber())))
      if (place.value != first[number].value)
        all.set(number);
  }
  bool changes = false;
  for (launch::RunOp &run : group) {
    llvm::SmallBitVector &own = given[run.getNumber()];
    changes |= own != all;
    own = all;
  }
  return changes;
}

void KernelGroups::givePlaces() {
  // An op has several runs, which belong to several groups.
  while (llvm::count_if(groups, [&](auto &group) { return spread(group); }))
    ;
  llvm::DenseMap<int64_t, SmallVector<int64_t>> slots;
  schedule.walk<WalkOrder::PreOrder>([&](launch::RunOp run) {
    int64_t number = run.getNumber();
    SmallVector<int64_t> values;
    auto [own, isNew] = slots.try_emplace(number);
    for (unsigned each : given.at(number).set_bits()) {
      ConstantPlace &place = places[number][each];
      values.push_back(place.value);
      if (!isNew)
        continue;
      own->second.push_back(storage.newSlot());
      auto type = IntegerType::get(run.getContext(), 64);
      for (arith::ConstantOp constant : place.constants)
        constant->setAttr(placeSlotName,
                          IntegerAttr::get(type, own->second.back()));
    }
    run.setPlaces(values);
    run.setPlaceSlots(own->second);
  });
}
