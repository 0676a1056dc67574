//===- Reach.cpp - which arrays a gradient goes through -------------------===//

#include "frontends/fov/lower/Reach.h"
#include "llvm/ADT/SetVector.h"

using namespace fovea;
using namespace fovea::fov;

bool fovea::fov::isPlaceTerm(const Term &term) {
  switch (term.kind) {
  case TermKind::Number:
  case TermKind::Index:
  case TermKind::Size:
    return true;
  case TermKind::Map:
    return llvm::all_of(term.args,
                        [](const Term *arg) { return isPlaceTerm(*arg); });
  default:
    return false;
  }
}

Reach::Reach(const GradientTarget &target) : target(target) {
  for (auto [axis, place] : llvm::enumerate(target.places))
    if (auto affine = place ? affineIndex(*place) : std::nullopt)
      clocks.push_back(
          {static_cast<int>(axis), affine->first, affine->second, {}});
  if (target.array)
    for (auto [k, var] : llvm::enumerate(target.array->context))
      clocks.push_back({-1 - static_cast<int>(k), var, 0, {}});
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The arrays that the equations of `array` read.
SmallVector<const Array *> Reach::readsOf(const Array *array) {
  auto [it, isNew] = reads.try_emplace(array);
  if (!isNew)
    return it->second;
  llvm::SetVector<const Array *> found;
  for (const Piece &piece : array->pieces)
    forEachPart(
        piece.value,
        [&](const Term *part) {
          if (part->array)
            found.insert(part->array);
          if (part == target.value)
            forced.insert(array);
        },
        /*throughStops=*/false);
  return reads[array] = found.takeVector();
}

bool Reach::reaches(const Array *array) {
  auto it = known.find(array);
  if (it != known.end())
    return it->second;
  llvm::SetVector<const Array *> below;
  below.insert(array);
  bool result = false;
  for (size_t i = 0; i < below.size() && !result; ++i) {
    for (const Array *read : readsOf(below[i]))
      below.insert(read);
    result = below[i] == target.array || forced.contains(below[i]);
  }
  return known[array] = result;
}

bool Reach::isRecurrent(const Array *array) {
  auto it = recurrent.find(array);
  if (it != recurrent.end())
    return it->second;
  llvm::SetVector<const Array *> below;
  auto add = [&](const Array *reader) {
    for (const Array *read : readsOf(reader))
      below.insert(read);
  };
  add(array);
  for (size_t i = 0; i < below.size() && !below.contains(array); ++i)
    add(below[i]);
  return recurrent[array] = below.contains(array);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

SmallVector<Reach::Step> Reach::stepsFrom(Axis axis) {
  auto [array, number] = axis;
  SmallVector<Step> steps;
  for (const Piece &piece : array->pieces) {
    IndexVar *var =
        number < 0 ? array->context[-1 - number] : piece.places[number].var;
    int64_t own = number < 0 ? 0 : piece.places[number].shift;
    forEachPart(
        piece.value,
        [&](const Term *part) {
          if (part->kind != TermKind::Read || !reaches(part->array))
            return;
          Step step{part->array, std::nullopt, 0};
          for (auto [k, arg] : llvm::enumerate(part->args)) {
            auto affine = affineIndex(*arg);
            if (!var || !affine || affine->first != var ||
                k >= part->array->numPlaces || step.axis)
              continue;
            step.axis = static_cast<int>(k);
            step.shift = affine->second - own;
          }
          for (auto [k, context] : llvm::enumerate(part->array->context))
            if (var && context == var && !step.axis) {
              step.axis = -1 - static_cast<int>(k);
              step.shift = -own;
            }
          steps.push_back(step);
        },
        /*throughStops=*/false);
  }
  return steps;
}

/// The latest way to the target, over all arrays between.
Reach::Latest Reach::latestFrom(Clock &clock, Axis from) {
  std::map<Axis, Latest> &latest = clock.latest;
  auto it = latest.find(from);
  if (it != latest.end())
    return it->second;
  // All axes on the ways, and the steps between them.
  llvm::SetVector<Axis> axes;
  axes.insert(from);
  std::map<Axis, SmallVector<Step>> steps;
  Latest unknown;
  unknown.isKnown = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis axis = axes[i];
    if (forced.contains(axis.first))
      return latest[from] = unknown;
    for (const Step &step : steps[axis] = stepsFrom(axis)) {
      if (!step.axis ||
          (step.array == target.array && *step.axis != clock.axis))
        return latest[from] = unknown;
      axes.insert({step.array, *step.axis});
    }
  }
  std::map<Axis, Latest> found;
  found[{target.array, clock.axis}] = {true, 0};
  // A bound that still changes after as many rounds as axes has none.
  bool isChanged = true;
  for (size_t round = 0; isChanged; ++round) {
    if (round > axes.size())
      return latest[from] = unknown;
    isChanged = false;
    for (Axis axis : axes)
      for (const Step &step : steps[axis]) {
        Latest next = found[{step.array, *step.axis}];
        Latest &own = found[axis];
        if (!next.shift)
          continue;
        if (!own.shift || *own.shift < *next.shift + step.shift) {
          own.shift = *next.shift + step.shift;
          isChanged = true;
        }
      }
  }
  return latest[from] = found[from];
}

bool Reach::isFollowed(const Array *array, unsigned axis, const Term &place) {
  auto affine = affineIndex(place);
  return affine && llvm::any_of(clocks, [&](Clock &clock) {
           return affine->first == clock.index &&
                  latestFrom(clock, {array, static_cast<int>(axis)}).isKnown;
         });
}

/// Whether the elements of an array at `place` of an axis may be computed from
/// the target.
bool Reach::mayReach(Axis axis, const Term *place) {
  auto affine = affineIndex(*place);
  return !affine || llvm::all_of(clocks, [&](Clock &clock) {
    if (affine->first != clock.index)
      return true;
    Latest to = latestFrom(clock, axis);
    return !to.isKnown ||
           (to.shift && affine->second + *to.shift >= clock.wanted);
  });
}

bool Reach::reaches(const Array *array, ArrayRef<Term *> places,
                    ArrayRef<Term *> contexts) {
  if (!reaches(array))
    return false;
  for (auto [k, place] : llvm::enumerate(places))
    if (k < array->numPlaces && !mayReach({array, static_cast<int>(k)}, place))
      return false;
  for (auto [k, context] : llvm::enumerate(contexts))
    if (!mayReach({array, -1 - static_cast<int>(k)}, context))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Other elements of the target's array
//===----------------------------------------------------------------------===//

/// The latest way from an element of the target's array to another.
Reach::Latest Reach::latestAgain(Clock &clock) {
  Latest result;
  for (const Step &step : stepsFrom({target.array, clock.axis})) {
    Latest next;
    next.isKnown = step.axis.has_value();
    if (step.axis)
      next = latestFrom(clock, {step.array, *step.axis});
    result.isKnown &= next.isKnown;
    if (next.shift)
      result.shift = std::max(result.shift.value_or(step.shift + *next.shift),
                              step.shift + *next.shift);
  }
  return result;
}

bool Reach::areIndependent() {
  return !isRecurrent(target.array) || llvm::any_of(clocks, [&](Clock &clock) {
    Latest again = latestAgain(clock);
    return again.isKnown && again.shift.value_or(-1) < 0;
  });
}

bool Reach::reachesOther(ArrayRef<Term *> places, ArrayRef<Term *> contexts) {
  if (!isRecurrent(target.array))
    return false;
  return llvm::all_of(clocks, [&](Clock &clock) {
    unsigned number = clock.axis < 0 ? -1 - clock.axis : clock.axis;
    ArrayRef<Term *> at = clock.axis < 0 ? contexts : places;
    auto affine = number < at.size() ? affineIndex(*at[number]) : std::nullopt;
    if (!affine || affine->first != clock.index)
      return true;
    Latest again = latestAgain(clock);
    return !again.isKnown ||
           (again.shift && affine->second + *again.shift >= clock.wanted);
  });
}
