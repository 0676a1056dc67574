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
    bool isSecond = !spec.features.insert("layer_norm").second;
    if (isSecond)
      spec.features.insert("rms_norm");
    // A distinct shift in every column keeps the variance away from zero.
    return module(isSecond ? "rms_norm(eps = 0.1)" : "layer_norm") + "(" +
           vec(context, dim, depth - 1) + " + " +
           module("vector(" + dim + ")") + ")";
  }
  case 11:
    return defined(dim, vec(context, dim, depth - 1), leaf(context, dim));
  case 12: {
    string width, argument = anyVec(context, width, depth - 1);
    return definedModule(dim, width, argument);
  }
  case 13: {
    bool isSecond = !spec.features.insert("maxout").second;
    string width, argument = anyVec(context, width, depth - 1);
    if (isSecond) {
      spec.features.insert("silu");
      return "silu(" + linear(dim, width, true) + "(" + argument + "))";
    }
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
      if (isUsable(context, array) &&
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
