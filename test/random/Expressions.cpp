//===- Expressions.cpp - random expressions in a context ------------------===//
//
// Every function returns an atom: a call, a name, a literal or something in
// parentheses, so that callers compose text without minding precedence. What
// is drawn never depends on a name, so both namings draw the same spec.
//
//===----------------------------------------------------------------------===//

#include "test/random/Expressions.h"

using namespace fovea::random;
using std::string;

//===----------------------------------------------------------------------===//
// Names and small pieces
//===----------------------------------------------------------------------===//

string Expressions::fresh(const string &role) {
  int64_t number = counters[role]++;
  int64_t id = ordinal++;
  if (naming == Naming::Plain)
    return role + std::to_string(number);
  // Letters of a scrambled order, so that nothing is sorted as before.
  uint64_t scrambled = Rng(id, 77).next();
  string name;
  for (int i = 0; i < 3; ++i, scrambled /= 26)
    name += static_cast<char>('a' + scrambled % 26);
  return name + "_" + std::to_string(id);
}

string Expressions::freshIndex() {
  static const char letters[] = "ijkmnpqrvwgabcdefhloyzsx";
  int64_t id = indexCount++;
  bool plain = naming == Naming::Plain;
  string name(1 + id / 24, letters[plain ? id % 24 : 23 - id % 24]);
  return plain ? name : "z" + name + "z";
}

string Expressions::literal() {
  static const char *values[] = {"0.5", "0.25", "1.5", "2", "1", "0.1", "3e-1"};
  return values[random.below(7)];
}

string Expressions::squash(const string &x) {
  switch (random.below(7)) {
  case 0:
    return "sigmoid(" + x + ")";
  case 1:
    return "(0.5 * " + x + ")";
  case 2:
    return "sin(" + x + ")";
  case 3:
    return "(" + x + " / (1 + " + x + "^2))";
  default:
    return "tanh(" + x + ")";
  }
}

//===----------------------------------------------------------------------===//
// Parameters and defs
//===----------------------------------------------------------------------===//

string Expressions::module(const string &type) {
  string name = fresh("m");
  declarations.push_back("param " + name + " : " + type);
  return name;
}

string Expressions::linear(const string &out, const string &in, bool bias) {
  string key = "linear " + out + " " + in + (bias ? "" : " nobias");
  // Some calls share an instance: a tied parameter.
  bool shares = random.chance(0.3);
  auto found = modules.find(key);
  if (shares && found != modules.end()) {
    spec.features.insert("shared module");
    return found->second;
  }
  string name = module("linear(" + out + (bias ? ")" : ", bias = false)"));
  modules[key] = name;
  return name;
}

string Expressions::embedding(const string &dim, const string &vocab) {
  string key = "embedding " + dim + " " + vocab;
  bool shares = random.chance(0.6);
  auto found = modules.find(key);
  if (shares && found != modules.end())
    return found->second;
  return modules[key] = module("embedding(" + dim + ")");
}

string Expressions::defined(const string &dim, const string &a,
                            const string &b) {
  spec.features.insert("def");
  string key = "def " + dim;
  if (!modules.count(key)) {
    string f = fresh("f"), size = fresh("n"), p = fresh("p"), q = fresh("q");
    string inner = fresh("r");
    string body;
    switch (random.below(3)) {
    case 0:
      body = " = sigmoid(" + p + ") * " + q;
      break;
    case 1: {
      string d = freshIndex();
      body = " { " + inner + "[" + d + "] = tanh(" + p + "[" + d +
             "] + 0.5 * " + q + "[" + d + "]); return " + inner + " }";
      break;
    }
    default: {
      string d = freshIndex();
      body = " = stack[" + d + " < " + size + "](" + p + "[" + d + "] * (" + d +
             " + 1) / " + size + ") - 0.3 * " + q;
      break;
    }
    }
    declarations.push_back("def " + f + "(" + p + "[" + size + "], " + q + "[" +
                           size + "])" + body);
    modules[key] = f;
  }
  return modules[key] + "(" + a + ", " + b + ")";
}

string Expressions::definedModule(const string &dim, const string &width,
                                  const string &argument) {
  spec.features.insert("def with param");
  string key = "feed " + dim;
  if (!modules.count(key)) {
    string f = fresh("f"), size = fresh("n"), x = fresh("p"), w1 = fresh("q"),
           w2 = fresh("q");
    declarations.push_back("def " + f + "(" + size + ")(" + x +
                           ") {\n  param " + w1 + " : linear(" + size + "), " +
                           w2 + " : linear(" + size +
                           ", bias = false)\n  return " + w2 + "(tanh(" + w1 +
                           "(" + x + "))) + 0.1\n}");
    modules[key] = f;
  }
  string instance = "instance " + dim + " " + width;
  bool shares = random.chance(0.5);
  if (!(shares && modules.count(instance)))
    modules[instance] = module(modules[key] + "(" + dim + ")");
  return modules[instance] + "(" + argument + ")";
}

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

static bool usable(const Context &context, const Array &array) {
  return !array.causal || context.step();
}

const Array *Expressions::pickArray(const Context &context) {
  std::vector<const Array *> candidates;
  for (const Array &array : arrays)
    if (usable(context, array))
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

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

string Expressions::anyVec(Context &context, string &width, int depth) {
  string dim = random.pick(dims);
  string first = vec(context, dim, depth);
  width = dim;
  if (!random.chance(0.35))
    return first;
  spec.features.insert("++");
  if (random.chance(0.2)) {
    width += "+1";
    return "(" + first + " ++ " + num(context, 0) + ")";
  }
  string other = random.pick(dims);
  width += "+" + other;
  return "(" + first + " ++ " + vec(context, other, 0) + ")";
}

string Expressions::vec(Context &context, const string &dim, int depth) {
  if (depth <= 0)
    return leaf(context, dim);
  switch (random.below(17)) {
  case 14:
    spec.features.insert("dropout");
    return "dropout(" + vec(context, dim, depth - 1) + ", 0.2)";
  case 15:
    return "exp(-" + vec(context, dim, depth - 1) + "^2)";
  case 0:
  case 1:
  case 2: {
    string width, argument = anyVec(context, width, depth - 1);
    return linear(dim, width, random.chance(0.7)) + "(" + argument + ")";
  }
  case 3:
    return "(" + vec(context, dim, depth - 1) + " + " + leaf(context, dim) +
           ")";
  case 4:
    return "(" + vec(context, dim, depth - 1) + " * " + leaf(context, dim) +
           ")";
  case 5:
    return "(" + num(context, depth - 1) + " * " + leaf(context, dim) + ")";
  case 6:
    return squash(vec(context, dim, depth - 1));
  case 7: {
    spec.features.insert("stack");
    Index index{freshIndex(), dim, Index::Free, "", false};
    Context inner = context;
    inner.indices.push_back(index);
    return "stack[" + index.name + " < " + dim + "](" + num(inner, depth - 1) +
           ")";
  }
  case 8:
    spec.features.insert("if");
    return "(if " + cond(context, depth - 1) + " then " + leaf(context, dim) +
           " else " + leaf(context, dim) + ")";
  case 9: {
    spec.features.insert("@");
    string width = random.pick(dims);
    return "(" + module("matrix(" + dim + ", " + width + ")") + " @ " +
           vec(context, width, depth - 1) + ")";
  }
  case 10: {
    if (extents[dim].number < 3)
      return leaf(context, dim);
    spec.features.insert("layer_norm");
    // A distinct shift in every column keeps the variance away from zero.
    return module("layer_norm") + "(" + vec(context, dim, depth - 1) + " + " +
           module("vector(" + dim + ")") + ")";
  }
  case 11:
    return defined(dim, vec(context, dim, depth - 1), leaf(context, dim));
  case 12: {
    string width, argument = anyVec(context, width, depth - 1);
    return definedModule(dim, width, argument);
  }
  case 13: {
    spec.features.insert("maxout");
    string width, argument = anyVec(context, width, depth - 1);
    return module("maxout(" + dim + ")") + "(" + argument + ")";
  }
  default:
    spec.features.insert("softmax of a vector");
    return "softmax(" + vec(context, dim, depth - 1) + ")";
  }
}

string Expressions::num(Context &context, int depth) {
  if (depth <= 0)
    return random.chance(0.1) ? literal() : leaf(context, "");
  switch (random.below(14)) {
  case 12: {
    static const char *functions[] = {"max", "min"};
    return string(functions[random.below(2)]) + "(" + num(context, depth - 1) +
           ", " + num(context, 0) + ")";
  }
  case 13: {
    static const char *functions[] = {"relu", "abs", "erf"};
    return string(functions[random.below(3)]) + "(" + num(context, depth - 1) +
           ")";
  }
  case 0:
  case 1: {
    string dim = random.pick(dims);
    return "dot(" + vec(context, dim, depth - 1) + ", " + leaf(context, dim) +
           ")";
  }
  case 2: {
    string width, argument = anyVec(context, width, depth - 1);
    return linear("1", width, random.chance(0.6)) + "(" + argument + ")";
  }
  case 3:
    return "(" + num(context, depth - 1) + " + " + num(context, depth - 1) +
           ")";
  case 4:
    return "(" + num(context, depth - 1) + " * " + num(context, 0) + ")";
  case 5:
    return "(" + num(context, depth - 1) + " - " + num(context, 0) + ")";
  case 6:
    return "sqrt(1 + " + num(context, depth - 1) + "^2)";
  case 7:
    return "log(1.5 + " + num(context, depth - 1) + "^2)";
  case 8:
    spec.features.insert("if");
    return "(if " + cond(context, depth - 1) + " then " + num(context, 0) +
           " else " + num(context, depth - 1) + ")";
  case 9:
    if (!context.indices.empty()) {
      spec.features.insert("index as a number");
      const Index &index = random.pick(context.indices);
      return random.chance(0.5) ? "(" + index.name + " / 4)"
                                : "((" + index.name + " + 1) / 5)";
    }
    return "softplus(" + num(context, depth - 1) + ")";
  case 10: {
    static const char *functions[] = {"tanh",     "sigmoid", "gelu",
                                      "softplus", "cos",     "sin"};
    return string(functions[random.below(6)]) + "(" + num(context, depth - 1) +
           ")";
  }
  default:
    return squash(num(context, depth - 1));
  }
}

string Expressions::cond(Context &context, int depth) {
  // Comparisons of reals have kinks, but nowhere near by chance.
  std::vector<const Index *> parallel;
  for (const Index &index : context.indices)
    parallel.push_back(&index);
  switch (random.below(depth > 0 ? 6 : 4)) {
  case 0:
    if (!parallel.empty())
      return "(" + random.pick(parallel)->name + " mod 2 == 0)";
    break;
  case 1:
    if (!parallel.empty())
      return "(" + random.pick(parallel)->name + " > 0)";
    break;
  case 2: {
    std::vector<const Array *> discrete;
    for (const Array &array : arrays)
      if (usable(context, array) &&
          (array.kind == Array::Bit || array.kind == Array::Class))
        discrete.push_back(&array);
    if (discrete.empty())
      break;
    const Array &array = *random.pick(discrete);
    string place = read(context, array);
    if (!place.empty()) {
      spec.features.insert("condition on data");
      return array.kind == Array::Bit ? place : "(" + place + " == 1)";
    }
    break;
  }
  case 4:
    return "(" + cond(context, 0) + " or " + cond(context, 0) + ")";
  case 5:
    return "(not " + cond(context, 0) + ")";
  default:
    break;
  }
  return "(" + num(context, 0) + " < " + literal() + ")";
}
