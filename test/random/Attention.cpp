//===- Attention.cpp - statements that attend -----------------------------===//
//
// The templates with a softmax over an index: to given arrays, to the past, in
// a recurrence, by heads.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

const Array *Templates::memory(const Place &place) {
  std::vector<const Array *> found;
  for (const Array &array : arrays)
    if (array.isVectors() && !array.generated && (place.step || !array.causal))
      found.push_back(&array);
  return found.empty() ? nullptr : random.pick(found);
}

string Templates::score(Context &inner, const string &query,
                        const string &queryDim, const string &key,
                        const string &keyDim) {
  switch (random.below(7)) {
  case 0:
    if (queryDim == keyDim) {
      static const char *products[] = {"dot", "scaled_dot", "cosine"};
      return string(products[random.below(3)]) + "(" + query + ", " + key + ")";
    }
    [[fallthrough]];
  case 1:
    return "dot(" + query + ", " + linear(queryDim, keyDim, false) + "(" + key +
           "))";
  case 2:
    spec.features.insert("random score");
    return num(inner, 2) + " + " + linear("1", keyDim) + "(" + key + ") - " +
           linear("1", queryDim) + "(" + query + ")";
  case 5:
    spec.features.insert("additive");
    return module("additive(" + random.pick(dims) + ")") + "(" + query + ", " +
           key + ")";
  case 6:
    spec.features.insert("bilinear");
    return module("bilinear") + "(" + query + ", " + key + ")";
  default: {
    string dim = random.pick(dims);
    return "dot(" + module("vector(" + dim + ")") + ", tanh(" +
           linear(dim, queryDim, false) + "(" + query + ") + " +
           linear(dim, keyDim) + "(" + key + ")))";
  }
  }
}

string Templates::maybeWhere(const Index &index, const Context &context) {
  return where(context, index, true);
}

void Templates::attention(Place place) {
  const Array *found = memory(place);
  if (!found)
    return;
  const Array over = *found;
  begin(over.causal ? "attention to the past" : "attention");
  Context context = at(place);
  string queryDim = random.pick(dims);
  string query = fresh("q");
  string queryValue = vec(context, queryDim, 1);
  say(left(query, context) + " = " + squash(queryValue));
  Context inner = context;
  for (Index &index : inner.indices)
    index.hasRange = true;
  Index look{freshIndex(), over.axes[0], Index::Free, "", true};
  if (over.causal)
    look.role = random.chance(0.7) ? Index::Past : Index::StrictPast;
  inner.indices.push_back(look);
  string at =
      context.indices.empty() ? "" : "[" + context.indices[0].name + "]";
  string e = score(inner, query + at, queryDim,
                   over.name + "[" + look.name + "]", over.dim);
  string condition = maybeWhere(look, inner);
  string a = fresh("a"), z = fresh("z");
  bool named = random.chance(0.5);
  Context rows = context;
  for (Index &index : rows.indices)
    index.hasRange = true;
  if (named && !over.causal) {
    string energy = fresh("e");
    say(left(energy, inner) + " = " + e);
    e = energy + "[" + (at.empty() ? "" : context.indices[0].name + ",") +
        look.name + "]";
  }
  const char *normaliser = random.chance(0.9) ? "softmax" : "log_softmax";
  // The index may stand on the left, or leave its axis to the value.
  bool leftIndex = random.chance(0.5);
  Context leftContext = leftIndex ? inner : rows;
  say(left(a, leftContext) + " = " + normaliser + "[" + look.name + condition +
      "](" + e + ")");
  string weight = a + "[" + (at.empty() ? "" : context.indices[0].name + ",") +
                  look.name + "]";
  // What the softmax leaves out stays out of what it multiplies.
  bool inherits = string(normaliser) == "softmax" && random.chance(0.6);
  if (inherits && !condition.empty())
    spec.features.insert("inherited support");
  say(left(z, rows) + " = sum[" + look.name + (inherits ? "" : condition) +
      "](" + weight + " * " + over.name + "[" + look.name + "])");
  add(z, rows, over.dim, place.step);
  if (!over.causal && !place.extent.empty())
    add(a, inner, "", place.step);
}

void Templates::attendingRecurrence(Place place) {
  const Array *found = nullptr;
  for (int tries = 0; tries < 5 && (!found || found->causal); ++tries)
    found = memory(place);
  if (!found || found->causal)
    return;
  const Array over = *found;
  begin("attending recurrence");
  Context context = at(place);
  const string t = context.indices[0].name;
  string s = fresh("s"), a = fresh("a"), c = fresh("c"),
         dim = random.pick(dims);
  string input = vec(context, dim, 1);
  Context inner = context;
  inner.indices[0].hasRange = true;
  Index look{freshIndex(), over.axes[0], Index::Free, "", true};
  inner.indices.push_back(look);
  string e = score(inner, s + "[" + t + "-1]", dim,
                   over.name + "[" + look.name + "]", over.dim);
  bool location = random.chance(0.4), coverage = random.chance(0.3);
  string length = over.axes[0];
  if (location) {
    spec.features.insert("location");
    string r = freshIndex(), filter = module("vector(3)");
    e += " + sum[" + r + " < 3](" + filter + "[" + r + "] * (" + a + "[" + t +
         "-1, " + look.name + " + " + r + " - 1] ?? 0))";
    say(a + "[-1," + look.name +
        "] = " + (random.chance(0.5) ? "1 / " + length : "0"));
  }
  string cover = fresh("v");
  if (coverage) {
    spec.features.insert("coverage");
    e += " - 0.5 * " + cover + "[" + t + "-1," + look.name + "]";
  }
  bool named = random.chance(0.4);
  if (named) {
    string energy = fresh("e");
    say(energy + "[" + t + "," + look.name + "] = " + e);
    e = energy + "[" + t + "," + look.name + "]";
  }
  // Only conditions that do not read what is being defined.
  say(left(a, inner) + " = softmax[" + look.name + maybeWhere(look, inner) +
      "](" + e + ")");
  if (coverage) {
    say(cover + "[" + t + "," + look.name + "] = " + cover + "[" + t + "-1," +
        look.name + "] + " + a + "[" + t + "," + look.name + "]");
    say(cover + "[-1," + look.name + "] = 0");
  }
  Context rows = context;
  rows.indices[0].hasRange = true;
  say(left(c, rows) + " = sum[" + look.name + "](" + a + "[" + t + "," +
      look.name + "] * " + over.name + "[" + look.name + "])");
  string cell = module((random.chance(0.6) ? "gru(" : "rnn(") + dim + ")");
  say(left(s, context) + " = " + cell + "(" + s + "[" + t + "-1], " + input +
      " ++ " + c + "[" + t + "])");
  say(s + "[-1] = " + boundary({}, dim));
  add(s, context, dim, place.step);
  add(c, rows, over.dim, place.step);
  add(a, inner, "", place.step);
}

void Templates::heads(Place place) {
  begin("heads");
  Context context = at(place);
  const string i = context.indices[0].name;
  string K = fresh("K"), D = fresh("D"), h = freshIndex(), u = freshIndex();
  declarations.push_back("dim " + K + " = 2");
  declarations.push_back("dim " + D + " = " +
                         (random.chance(0.5) ? "4" : "2 * " + K));
  string width, input = anyVec(context, width, 1);
  string q = fresh("q"), k = fresh("k"), v = fresh("v"), a = fresh("a"),
         z = fresh("z"), dim = random.pick(dims);
  Context rows = context;
  string at = left("", context);
  say(q + at + ", " + k + at + ", " + v + at + " = fold(" +
      linear("3*" + D, width) + "(" + input + "), 3, " + K + ")");
  string past = place.step ? " where " + u + " <= " + i : "";
  if (!place.step && random.chance(0.4))
    past = " where abs(" + u + " - " + i + ") <= 1";
  say(a + "[" + h + "," + i + "] = softmax[" + u + past + "](dot(" + q + "[" +
      i + "," + h + "], " + k + "[" + u + "," + h + "]) / sqrt(" + D + "/" + K +
      "))");
  bool inherits = random.chance(0.5);
  say(z + "[" + i + "] = " + linear(dim, D) + "(concat[" + h + "](sum[" + u +
      (inherits ? "" : past) + "](" + a + "[" + h + "," + i + "," + u + "] * " +
      v + "[" + u + "," + h + "])))");
  add(z, rows, dim, place.step);
}
