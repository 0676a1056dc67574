//===- Causality.cpp - whether data depend on earlier choices alone -------===//
//
// Follows the dependences of a choice from array to array. Each array has an
// axis for the place, and may read others at its own place and at earlier ones.
//
//===----------------------------------------------------------------------===//

#include "passes/derive/Causality.h"
#include "passes/analysis/Access.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace {

class Follower {
public:
  Follower(ChoiceOp latent, unsigned axis, ChoiceOp data)
      : system(latent->getParentOfType<SystemOp>()) {
    need(data);
    places[latent.getObserved()] = axis;
    extent = cast<ArrayType>(latent.getObserved().getType()).getExtent(axis);
  }

  /// Returns whether all arrays between the choice and the data are
  /// causal.
  bool run();
  std::optional<unsigned> placeOf(Value array) {
    auto it = places.find(array);
    return it == places.end() ? std::nullopt : std::optional(it->second);
  }

private:
  void need(Operation *last);
  bool follow(Value array, Operation *user);
  bool add(Value array, unsigned place) {
    auto [it, isNew] = places.insert({array, place});
    return isNew || it->second == place;
  }

  SystemOp system;
  Attribute extent;
  llvm::SetVector<Operation *> needed; // by the data
  llvm::MapVector<Value, unsigned> places;
};

} // namespace

void Follower::need(Operation *last) {
  needed.insert(last);
  for (unsigned number = 0; number < needed.size(); ++number)
    forArrays(*needed[number], [&](Operation *, Value array) {
      if (Operation *given = array.getDefiningOp())
        needed.insert(given);
    });
}

bool Follower::follow(Value array, Operation *user) {
  unsigned place = places.lookup(array);
  while (user->getParentOp() != system)
    user = user->getParentOp();
  // The caller checks what ends here.
  if (!needed.contains(user) || user->getNumResults() != 1)
    return true;
  for (const Access &access : accessesOf(user)) {
    if (access.array != array)
      continue;
    const AccessIndex &index = access.indices[place];
    auto op = dyn_cast<ComputeOp>(user);
    bool isKept = index.kind == AccessIndex::Iterator && index.offset <= 0 &&
                  (!op || (index.iterator < op.getNumParallel() &&
                           op.getExtents()[index.iterator] == extent));
    if (!isKept || access.places || !add(user->getResult(0), index.iterator))
      return false;
  }
  return true;
}

bool Follower::run() {
  for (unsigned number = 0; number < places.size(); ++number) {
    Value array = places.getArrayRef()[number].first;
    for (Operation *user : array.getUsers())
      if (!follow(array, user))
        return false;
  }
  return true;
}

std::optional<Causal> fovea::attn::dependsOnEarlier(ChoiceOp latent,
                                                    ChoiceOp data) {
  auto type = cast<ArrayType>(latent.getObserved().getType());
  auto shape = cast<ArrayType>(data.getObserved().getType());
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    Follower follower(latent, axis, data);
    if (!follower.run())
      continue;
    std::optional<unsigned> found;
    bool isKnown = true;
    for (Value parameter : data.getParameters())
      if (std::optional<unsigned> place = follower.placeOf(parameter)) {
        isKnown &= !found || *found == *place;
        found = place;
      }
    if (found && isKnown && *found < shape.getRank() &&
        shape.getExtent(*found) == type.getExtent(axis))
      return Causal{axis, *found};
  }
  return std::nullopt;
}
