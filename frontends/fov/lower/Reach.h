//===- Reach.h - which arrays a gradient goes through ---------------------===//

#ifndef FOVEA_FRONTENDS_FOV_LOWER_REACH_H
#define FOVEA_FRONTENDS_FOV_LOWER_REACH_H

#include "frontends/fov/elaborate/Terms.h"

namespace fovea::fov {

/// The x of a gradient by x: an element of an array, or a value.
struct GradientTarget {
  /// The array, and the place on each axis that is fixed; null: any place.
  Array *array = nullptr;
  SmallVector<Term *, 2> places;
  /// Without an array: the value.
  Term *value = nullptr;
};

/// The reads of arrays from a target's point of view. Places are compared along
/// each axis where the target's is an index plus a number: `W[t-2]` is not
/// computed from `W[t-1]`, although its equation reads `W`.
class Reach {
public:
  explicit Reach(const GradientTarget &target);

  /// Whether some element of `array` may be computed from the target.
  bool reaches(const Array *array);
  /// The same of the element at `places`, the first axes. `contexts` are the
  /// values of the indices of the array's context.
  bool reaches(const Array *array, ArrayRef<Term *> places,
               ArrayRef<Term *> contexts);
  /// Whether other elements of the target's array, at these places, may be
  /// computed from the target.
  bool reachesOther(ArrayRef<Term *> places, ArrayRef<Term *> contexts);
  /// Whether no element at the target's fixed places is computed from another
  /// one there.
  bool areIndependent();
  /// Whether an array is computed from itself, at other places.
  bool isRecurrent(const Array *array);
  /// Whether places along an axis decide what is computed from the target: then
  /// the ways from one place to it are finite, through recurrences, too.
  bool isFollowed(const Array *array, unsigned axis, const Term &place);
  /// From now on the target can also be reached through `array`.
  void force(const Array *array) {
    forced.insert(array);
    known.clear();
  }

private:
  /// A read in the equations of an array. `shift`: how much later than the
  /// reader's place it is, if it follows the reader's axis.
  struct Step {
    const Array *array;
    std::optional<int> axis;
    int64_t shift = 0;
  };
  /// An axis of an array: a place's number, or -1 - k for index k of its
  /// context.
  using Axis = std::pair<const Array *, int>;
  /// How much later than an element the target may be that it is computed from.
  struct Latest {
    bool isKnown = true; // every way to the target follows the axis
    std::optional<int64_t> shift;
  };
  /// An axis along which places are compared. The target's is an index plus a
  /// number.
  struct Clock {
    int axis;
    IndexVar *index;
    int64_t wanted;
    std::map<Axis, Latest> latest;
  };

  SmallVector<const Array *> readsOf(const Array *array);
  SmallVector<Step> stepsFrom(Axis axis);
  Latest latestFrom(Clock &clock, Axis axis);
  Latest latestAgain(Clock &clock);
  bool mayReach(Axis axis, const Term *place);

  const GradientTarget &target;
  SmallVector<Clock, 1> clocks;
  llvm::DenseMap<const Array *, SmallVector<const Array *>> reads;
  llvm::DenseMap<const Array *, bool> known;
  llvm::DenseMap<const Array *, bool> recurrent;
  llvm::DenseSet<const Array *> forced;
};

/// Whether a term consists of indices, sizes and numbers.
bool isPlaceTerm(const Term &term);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_LOWER_REACH_H
