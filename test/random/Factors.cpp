//===- Factors.cpp - statements that add up products of several factors ---===//
//
// What DRAW reads, what a memory gives, gated pairs: sums of three and four
// factors over several indices, with conditions between them, outside of loops
// and inside.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

static string list(const std::vector<string> &indices) {
  string text;
  for (const string &index : indices)
    text += (text.empty() ? "" : ",") + index;
  return text;
}

/// A sum over pairs of places and a part of a vector.
void Templates::gatedPairs(Place place, const string &data) {
  begin("gated pairs");
  string D = random.pick(dims), E = random.pick(dims);
  string a = freshIndex(), b = freshIndex(), i = freshIndex(), j = freshIndex();
  string q = fresh("q"), k = fresh("k"), o = fresh("o");
  string u = module("vector(" + D + ")"),
         v = module("matrix(" + D + ", " + E + ")");
  string sign = random.chance(0.4) ? "-" : "";
  say(q + "[" + i + "," + a + "] = " + sign + "tanh(" + u + "[" + a + "] * " +
      data + "[" + i + "])");
  say(k + "[" + i + "," + b + "] = tanh(" + data + "[" + i + "] * " +
      module("vector(" + E + ")") + "[" + b + "] - 0.3)");
  static const char *conditions[] = {"", " <= ", " < ", " != "};
  string condition = conditions[random.below(4)];
  if (!condition.empty())
    condition = " where " + j + condition + i;
  std::vector<string> factors = {q + "[" + i + "," + a + "]",
                                 q + "[" + j + "," + a + "]",
                                 k + "[" + j + "," + b + "]"};
  if (random.chance(0.5))
    factors.push_back(v + "[" + a + "," + b + "]");
  if (random.chance(0.3))
    factors.push_back("(" + data + "[" + j + "] ?? 0)");
  if (random.chance(0.3))
    factors[1] = "(0.5 - " + factors[1] + ")";
  bool isNext = random.chance(0.2);
  if (isNext)
    factors.push_back("(" + data + "[" + j + "+1] ?? 0.2)");
  random.shuffle(factors);
  string product;
  for (const string &factor : factors)
    product += (product.empty() ? "" : " * ") + factor;
  if (random.chance(0.3))
    product = "-(" + product + ")";
  // The columns are summed, or those of the result.
  bool isSummed = random.chance(0.5);
  say(o + "[" + i + (isSummed ? "" : "," + b) + "] = sum[" +
      list(isSummed ? std::vector<string>{j, a, b}
                    : std::vector<string>{j, a}) +
      condition + "](" + product + ")");
  say("penalty 0.1 * sum[" + i + " < " + place.extent +
      (isSummed ? "" : "," + b) + "](tanh(" + o + "[" + i +
      (isSummed ? "" : "," + b) + "])^2)");
}

/// Pairs of elements of two vectors, times weights of each output.
void Templates::bilinearForm(Place place, const string &data) {
  begin("bilinear form");
  string D = random.pick(dims), E = random.pick(dims), K = random.pick(dims);
  string i = freshIndex(), a = freshIndex(), b = freshIndex(), k = freshIndex();
  string q = fresh("q"), o = fresh("o");
  string w = module("tensor(" + K + ", " + D + ", " + E + ")"),
         u = module("matrix(" + D + ", " + E + ")");
  say(q + "[" + i + "," + a + "] = tanh(" + module("vector(" + D + ")") + "[" +
      a + "] * " + data + "[" + i + "])");
  string second = random.chance(0.5)
                      ? "sin(" + data + "[" + i + "] + " +
                            module("vector(" + E + ")") + "[" + b + "])"
                      : u + "[" + a + "," + b + "] * " + data + "[" + i + "]";
  string condition = random.chance(0.3) ? " where " + a + " != " + b : "";
  say(o + "[" + i + "," + k + "] = sum[" + a + "," + b + condition + "](" + q +
      "[" + i + "," + a + "] * " + w + "[" + k + "," + a + "," + b + "] * " +
      second + ")");
  say("penalty 0.1 * sum[" + i + " < " + place.extent + "," + k + "](tanh(" +
      o + "[" + i + "," + k + "])^2)");
}

/// An array that each step reads and writes through two filters.
void Templates::filteredState(Place place, const string &data) {
  begin("filters");
  string D = random.pick(dims), E = random.pick(dims);
  string t = freshIndex(), j = freshIndex(), i = freshIndex(), y = freshIndex(),
         x = freshIndex();
  string fy = fresh("f"), fx = fresh("f"), near = fresh("n"), s = fresh("s");
  string first = module("matrix(" + D + ", " + D + ")"),
         second = module("matrix(" + E + ", " + E + ")");
  say(fy + "[" + t + "," + j + "," + y + "] = tanh(" + first + "[" + j + "," +
      y + "] * " + data + "[" + t + "])");
  say(fx + "[" + t + "," + i + "," + x + "] = tanh(" + second + "[" + i + "," +
      x + "] + 0.3 * " + data + "[" + t + "])");
  static const char *relations[] = {"", " <= ", " != "};
  string relation = relations[random.below(3)];
  string condition = relation.empty() ? "" : " where " + y + relation + j;
  bool down = random.chance(0.3);
  string past = s + "[" + before(t, down);
  say(near + "[" + t + "," + j + "," + i + "] = sum[" + y + "," + x +
      condition + "](" + fy + "[" + t + "," + j + "," + y + "] * " + past +
      "," + y + "," + x + "] * " + fx + "[" + t + "," + i + "," + x + "])");
  string write = random.chance(0.5)
                     ? near + "[" + t + "," + y + "," + x + "]"
                     : "sum[" + j + "," + i + "](" + fy + "[" + t + "," + j +
                           "," + y + "] * " + near + "[" + t + "," + j + "," +
                           i + "] * " + fx + "[" + t + "," + i + "," + x + "])";
  say(s + "[" + t + "," + y + "," + x + "] = tanh(0.3 * " + past + "," + y +
      "," + x + "] + 0.1 * " + write + ")");
  say(s + "[" + outside(place.extent, down) + "," + y + " < " + D + "," + x +
      " < " + E + "] = 0.2");
  say("penalty 0.1 * sum[" + t + " < " + place.extent + "," + y + "," + x +
      "](" + s + "[" + t + "," + y + "," + x + "]^2)");
}
