//===- Lengths.cpp - lengths that follow from values, guarded operands ----===//
//
// Equations over as many places as values choose; conditions whose right
// operand may only be read where the left one lets it; weights and scores that
// exclude terms; numbers of symbols; data that decoding computes. Which terms
// there are depends on data alone: central differences find no step.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

/// Parts of a sequence, cut where its numbers change their sign.
void Templates::parts(Place place, const string &data) {
  begin("lengths by values");
  string D = random.pick(dims), i = freshIndex(), j = freshIndex(),
         n = freshIndex(), S = place.extent;
  string cut = fresh("cut"), at = fresh("at"), count = fresh("n"),
         part = fresh("x"), h = fresh("h"), y = fresh("y");
  string here = data + "[" + i + "]", before = data + "[" + i + "-1]";
  say(cut + "[" + i + "] = " +
      (random.chance(0.5) ? i + " == 0 or " + here + " * " + before + " < 0"
                          : here + " > 0.2"));
  say(at + "[" + i + "] = sum[" + j + " where " + j + " <= " + i + "](if " +
      cut + "[" + j + "] then 1 else 0) - 1");
  string number = "sum[" + i + "](if " + cut + "[" + i + "] then 1 else 0)";
  if (boundsLengths)
    spec.features.insert("lengths with a bound");
  string own = (random.chance(0.5) ? cut + "[" + i + "] and " : string()) + at +
               "[" + i + "] == " + n;
  string made = "tanh(sum[" + i + " where " + own + "](" + here + " * " +
                module("vector(" + D + ")") + "))";
  string step = "tanh(" + linear(D, D) + "(" + h + "[" + n + "-1]) + " + part +
                "[" + n + "])";
  string some =
      n + (boundsLengths ? " < " + count : " where " + n + " < " + count);
  if (boundsLengths) {
    declarations.push_back("length " + count + " <= " + S + " = " + number);
    say(part + "[" + n + " < " + count + "] = " + made);
    say(h + "[" + n + "] = " + step);
  } else {
    say(count + " = " + number);
    say(part + "[" + n + " < " + S + "] = " + made);
    say(h + "[" + n + "] = if " + n + " < " + count + " then " + step +
        " else " + h + "[" + n + "-1]");
  }
  say(h + "[-1] = zeros(" + D + ")");
  if (random.chance(0.5)) {
    say("penalty 0.1 * mean[" + some + "](dot(" + part + "[" + n + "], " + h +
        "[" + n + "]))");
    return;
  }
  string read = h + "[" + at + "[" + i + "]]";
  say(y + "[" + i + "] = " +
      (boundsLengths ? read + " ?? 0"
                     : "if 0 <= " + at + "[" + i + "] < " + S + " then " +
                           read + " else zeros(" + D + ")"));
  say("penalty 0.1 * sum[" + i + "](dot(" + y + "[" + i + "], " + y + "[" + i +
      "]))");
}

/// A read of a place that a number names, in a condition that is evaluated only
/// where there is such a place.
void Templates::guardedOperands(Place place, const string &data) {
  begin("guarded operands");
  string i = freshIndex(), at = fresh("at"), y = fresh("y"), S = place.extent;
  string v = module("vector(1)") + "[0]";
  say(at + "[" + i + " < " + S + "] = int(round(3 * " + data + "[" + i +
      "])) + " + i);
  string read = data + "[" + at + "[" + i + "]] > 0";
  string inside = "0 <= " + at + "[" + i + "] < " + S;
  string outside = at + "[" + i + "] < 0 or " + at + "[" + i + "] >= " + S;
  string condition =
      random.chance(0.5) ? inside + " and " + read : outside + " or " + read;
  string value = "tanh(" + v + " * " + data + "[" + i + "])";
  if (random.chance(0.5))
    return say("penalty 0.1 * sum[" + i + " where " + condition + "](" + value +
               ")");
  say(y + "[" + i + "] = if " + condition + " then " + value + " else 0.5");
  say("penalty 0.1 * sum[" + i + "](" + y + "[" + i + "])");
}

/// Scores that exclude places, and weights that do.
void Templates::maskedWeights(Place place, const string &data) {
  begin("masked weights");
  string i = freshIndex(), j = freshIndex(), s = fresh("e"), a = fresh("align"),
         y = fresh("y"), S = place.extent;
  string v = module("vector(2)");
  string past = random.chance(0.5) ? j + " <= " + i : i + " < " + j;
  string score =
      "tanh(" + v + "[0] * " + data + "[" + i + "] - " + data + "[" + j + "])";
  bool isSoft = random.chance(0.5);
  string none = isSoft ? "-inf" : "0";
  string chosen = "if " + past + " then " + score + " else " + none;
  if (isSoft && random.chance(0.5))
    chosen = score + " + (if " + past + " then 0 else -inf)";
  say(s + "[" + i + "," + j + "] = " + chosen);
  if (isSoft)
    say(a + "[" + i + "," + j + "] = softmax[" + j + "](" + s + "[" + i + "," +
        j + "])");
  say(y + "[" + i + " < " + S + "] = sum[" + j + " < " + S + "](" +
      (isSoft ? a : s) + "[" + i + "," + j + "] * " + data + "[" + j + "]) * " +
      v + "[1]");
  say("penalty 0.1 * sum[" + i + "](" + y + "[" + i + "]^2)");
}

/// Equations of the numbers of symbols.
void Templates::symbolNumbers(Place place, const string &data,
                              const string &symbols) {
  begin("numbers of symbols");
  string i = freshIndex(), y = fresh("y"), u = fresh("p");
  string vocab = symbols + ".vocab", number = "int(" + symbols + "[" + i + "])";
  declarations.push_back("param " + u + " : vector(" + vocab + " + 1)");
  string value = random.chance(0.5)
                     ? u + "[" + number + " + 1]"
                     : "(if " + number + " mod 2 == 1 then " + u + "[" +
                           number + "] else " + u + "[0])";
  say(y + "[" + i + " < " + place.extent + "] = tanh(" + value + " + " + data +
      "[" + i + "]) + 0.1 * " + number);
  say("penalty 0.1 * sum[" + i + "](" + y + "[" + i + "]^2)");
}

/// What decoding computes for data that have no choice.
string Templates::certainValue(Place place, const string &data,
                               const string &output) {
  begin("generate");
  string i = freshIndex(), y = fresh("y");
  string value =
      "tanh(" + module("vector(1)") + "[0] * " + data + "[" + i + "])";
  say(y + "[" + i + " < " + place.extent + "] = " + value);
  say("penalty 0.1 * sum[" + i + "]((" + output + "[" + i + "] - " + y + "[" +
      i + "])^2)");
  return "generate " + output + "[" + i + "] = " + y + "[" + i + "]";
}
