//===- Reads.cpp - arrays as parts of random expressions ------------------===//
//
// Which array an expression reads, at which places, and as what: a number or a
// vector, over its own indices or reduced. Atoms, as in Expressions.cpp.
//
//===----------------------------------------------------------------------===//

#include "test/random/Expressions.h"

using namespace fovea::random;
using std::string;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

const Array *
Expressions::latest(llvm::function_ref<bool(const Array &)> is) const {
  const Array *found = nullptr;
  for (const Array &array : arrays)
    if (is(array))
      found = &array;
  return found;
}

const Array *Expressions::pickArray(const Context &context) {
  std::vector<const Array *> candidates;
  for (const Array &array : arrays)
    if (isUsable(context, array))
      candidates.push_back(&array);
  if (candidates.empty())
    return nullptr;
  // Late arrays twice as often: chains get long.
  if (random.chance(0.5)) {
    size_t from = candidates.size() / 2;
    return candidates[from + random.below(candidates.size() - from)];
  }
  return random.pick(candidates);
}

string Expressions::read(Context &context, const Array &array) {
  string text, fallback, before; // `before`: the place on the axis before
  // A read with a default gives no index its range.
  std::vector<Index *> ranged;
  for (size_t axis = 0; axis < array.axes.size(); ++axis) {
    const string &wanted = array.axes[axis];
    bool isStep = array.causal && axis == 0;
    std::vector<Index *> fitting;
    for (Index &index : context.indices) {
      bool nestedRight = index.parent.empty() || before == index.parent;
      if (index.extent == wanted && nestedRight &&
          (!isStep || index.role != Index::Free))
        fitting.push_back(&index);
    }
    const Extent &extent = extents[wanted];
    string place;
    if (!fitting.empty()) {
      Index &index = *fitting[random.below(fitting.size())];
      bool canShift = array.kind == Array::Real && fallback.empty() &&
                      extent.parent.empty();
      if (array.generated && isStep && index.role != Index::StrictPast) {
        place = index.name + "-1"; // its own boundary: `<s>`, or given
        ranged.push_back(&index);
      } else if (canShift && random.chance(0.15)) {
        spec.features.insert("default");
        bool down = isStep || random.chance(0.5);
        place = index.name + (down ? "-" : "+") +
                std::to_string(random.between(1, 2));
        fallback = " ?? 0";
      } else if (!isStep && extent.number == 0 && !extent.mayBeEmpty &&
                 index.role == Index::Free && random.chance(0.08)) {
        spec.features.insert("reversed");
        place = wanted + "-1-" + index.name;
      } else {
        ranged.push_back(&index);
        place = index.name;
      }
    } else if (!isStep && extent.parent.empty() && !extent.mayBeEmpty &&
               random.chance(0.25)) {
      spec.features.insert("constant place");
      place = random.chance(0.5) ? "0" : wanted + "-1";
    } else {
      return "";
    }
    text += (axis ? "," : "") + place;
    before = place;
  }
  string read = array.name + (text.empty() ? "" : "[" + text + "]");
  if (!fallback.empty())
    return "(" + read + fallback + ")";
  for (Index *index : ranged)
    index->hasRange = true;
  return read;
}

string Expressions::asVec(const Array &array, const string &place,
                          const string &dim) {
  switch (array.kind) {
  case Array::Token:
    return embedding(dim, array.vocab) + "(" + place + ")";
  case Array::Real:
    if (array.dim == dim && random.chance(0.7))
      return place;
    return linear(dim, array.dim.empty() ? "1" : array.dim,
                  random.chance(0.5)) +
           "(" + place + ")";
  case Array::Bit:
  case Array::Int:
    return "(" + place + " * " + module("vector(" + dim + ")") + ")";
  case Array::Class:
    return "(if " + place + " == 0 then zeros(" + dim + ") else " +
           module("vector(" + dim + ")") + ")";
  }
  return "";
}

string Expressions::asNum(const Array &array, const string &place) {
  switch (array.kind) {
  case Array::Token:
    return linear("1", array.vocab + "#") + "(onehot(" + place + "))";
  case Array::Real:
    if (array.dim.empty())
      return place;
    switch (random.below(3)) {
    case 0: {
      // A value axis is indexed like any other.
      if (place.front() == '(' || array.axes.empty())
        break;
      string last = random.chance(0.5) ? "0" : array.dim + "-1";
      return place.substr(0, place.size() - 1) + "," + last + "]";
    }
    case 1:
      return linear("1", array.dim) + "(" + place + ")";
    default:
      break;
    }
    return "dot(" + module("vector(" + array.dim + ")") + ", " + place + ")";
  case Array::Bit:
    return place;
  case Array::Int:
    return "(" + place + " / 4)";
  case Array::Class:
    return "(if " + place + " == 1 then 0.5 else -0.5)";
  }
  return "";
}

string Expressions::window(Context &inner, const Index &index) {
  // Best one over the same extent, else any: it is arithmetic of places.
  std::vector<string> same, others;
  for (const Index &candidate : inner.indices)
    if (candidate.name != index.name)
      (candidate.extent == index.extent ? same : others)
          .push_back(candidate.name);
  if (same.empty())
    same = others;
  const string &u = index.name, by = std::to_string(random.between(0, 3));
  if (random.chance(0.08)) {
    spec.features.insert("excluded");
    static const char *never[] = {" < 0", " > 90", " + 1 <= 0"};
    return u + never[random.below(3)];
  }
  if (same.empty() || random.chance(0.4))
    return random.chance(0.5) ? "(" + u + " + 1) mod 2 == 0"
                              : "not " + cond(inner, 0);
  const string t = random.pick(same);
  if (random.chance(0.15))
    return u + " != " + t;
  spec.features.insert("window");
  switch (random.below(6)) {
  case 0:
    return "abs(" + u + " - " + t + ") <= " + by;
  case 1:
    return "-" + by + " <= " + t + " - " + u + " <= 2";
  case 2:
    return t + " - " + by + " <= " + u + " <= " + t;
  case 3:
    return u + " <= " + t;
  case 4: // the first places see nothing
    return u + " < " + t + " - " + by;
  default:
    return u + " >= " + t + " + " + by;
  }
}

string Expressions::where(Context inner, const Index &index, bool allowExtra) {
  std::vector<string> parts;
  const Index *step = inner.step();
  if (index.role == Index::Past)
    parts.push_back(index.name + " <= " + step->name);
  if (index.role == Index::StrictPast)
    parts.push_back(random.chance(0.5)
                        ? index.name + " < " + step->name
                        : index.name + " <= " + step->name + " - 1");
  if (allowExtra && random.chance(0.35)) {
    spec.features.insert("where");
    parts.push_back(window(inner, index));
  }
  if (parts.empty())
    return "";
  string text = " where " + parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    text += " and " + parts[i];
  return text;
}

//===----------------------------------------------------------------------===//
// Leaves: an array in a shape, with missing axes reduced
//===----------------------------------------------------------------------===//

namespace {
/// Which index of a context reads each axis of an array, and which of those
/// were missing and are now bound by a reduction.
struct Binding {
  std::vector<size_t> perAxis, bound;
};
} // namespace

static Binding bindMissing(Context &inner, const Array &array, Rng &random,
                           const std::map<string, Extent> &extents,
                           llvm::function_ref<string()> freshIndex) {
  Binding binding;
  string before; // the index that reads the axis before
  for (size_t axis = 0; axis < array.axes.size(); ++axis) {
    const string &wanted = array.axes[axis];
    bool isStep = array.causal && axis == 0;
    // Sometimes a reduction over the past although the step itself is there.
    bool skips = isStep && random.chance(0.3);
    size_t chosen = inner.indices.size();
    for (size_t i = 0; i < inner.indices.size() && !skips; ++i) {
      const Index &index = inner.indices[i];
      if (index.extent == wanted && !(isStep && index.role == Index::Free) &&
          (index.parent.empty() || index.parent == before))
        chosen = i;
    }
    if (chosen == inner.indices.size()) {
      Index index{freshIndex(), wanted, Index::Free, "", false};
      if (!extents.at(wanted).parent.empty())
        index.parent = before;
      if (isStep)
        index.role = random.chance(0.6) ? Index::Past : Index::StrictPast;
      binding.bound.push_back(chosen);
      inner.indices.push_back(index);
    }
    binding.perAxis.push_back(chosen);
    before = inner.indices[chosen].name;
  }
  return binding;
}

/// The read itself, plain: the bound indices take their range from it.
static string readBound(const Array &array, Context &inner,
                        const Binding &binding) {
  string text;
  for (size_t axis = 0; axis < array.axes.size(); ++axis) {
    Index &index = inner.indices[binding.perAxis[axis]];
    bool shifted =
        array.generated && axis == 0 && index.role != Index::StrictPast;
    index.hasRange = true;
    text += (axis ? "," : "") + index.name + (shifted ? "-1" : "");
  }
  return array.name + (text.empty() ? "" : "[" + text + "]");
}

string Expressions::leaf(Context &context, const string &dim) {
  const Array *array = pickArray(context);
  if (!array)
    return dim.empty() ? literal() : module("vector(" + dim + ")");
  string place = read(context, *array);
  if (!place.empty())
    return dim.empty() ? asNum(*array, place) : asVec(*array, place, dim);

  Context inner = context;
  Binding binding =
      bindMissing(inner, *array, random, extents, [&] { return freshIndex(); });
  place = readBound(*array, inner, binding);
  if (binding.bound.empty()) { // what `read` drew did not work out
    context = inner;
    return dim.empty() ? asNum(*array, place) : asVec(*array, place, dim);
  }
  string body = dim.empty() ? asNum(*array, place) : asVec(*array, place, dim);
  if (random.chance(0.3))
    body = num(inner, 0) + " * " + body;
  string head, conditions;
  for (size_t i : binding.bound) {
    const Index index = inner.indices[i];
    head +=
        (head.empty() ? "" : ", ") + index.name +
        (index.hasRange || !index.parent.empty() ? "" : " < " + index.extent);
    string condition = where(inner, index, i == binding.bound.back());
    if (!condition.empty())
      conditions +=
          conditions.empty() ? condition : " and " + condition.substr(7);
  }
  static const char *reducers[] = {"sum", "mean", "sum",       "max",
                                   "min", "prod", "logsumexp", "mean"};
  string reducer = reducers[random.below(8)];
  spec.features.insert(reducer);
  string opening = reducer + "[" + head + conditions + "](";
  if (reducer == "sum")
    return "(0.5 * " + opening + body + "))";
  if (reducer == "prod")
    return opening + "(1.2 - sigmoid(" + body + ")))";
  return opening + body + ")";
}
