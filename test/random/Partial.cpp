//===- Partial.cpp - functions that have no value everywhere --------------===//
//
// Quotients, logarithms and roots under conditions that keep them where they
// have a value, choices that are impossible, and numbers through which no
// gradient flows. Conditions read data alone, so that none has a jump.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

string Templates::smooth(Context &context) { return squash(num(context, 1)); }

/// A function of `x` that has a value where `guard` holds.
string Templates::guarded(Context &context, const string &x, const string &flag,
                          string &guard) {
  string value = smooth(context);
  bool isSigned = random.chance(0.5);
  static const char *nonzero[] = {" != 0", " < 0 or 0 < "};
  bool isSplit = isSigned && random.chance(0.3);
  guard = !isSigned ? x + " > 0"
          : isSplit ? x + nonzero[1] + x
                    : x + nonzero[0];
  if (random.chance(0.25))
    guard = flag + " and (" + guard + ")";
  if (isSigned)
    switch (random.below(4)) {
    case 0:
      return "log(" + x + "^2 * (0.5 + " + value + "^2))";
    case 1:
      return "(log(abs(" + x + ")) * " + value + ")";
    case 2:
      return "(0.3 * " + value + " / " + x + "^2)";
    default:
      return "(" + value + " / " + x + ")";
    }
  switch (random.below(4)) {
  case 0:
    return "sqrt(" + x + " * (0.5 + " + value + "^2))";
  case 1:
    return "log(" + x + " * (0.5 + " + value + "^2))";
  case 2:
    return "(sqrt(" + x + ") * " + value + ")";
  default:
    return "(" + x + "^" + value + ")";
  }
}

void Templates::underGuards(Place place, const string &data,
                            const string &flags) {
  begin("guards");
  Context context = at(place);
  context.indices[0].hasRange = true; // by what is read of the data
  const string i = context.indices[0].name, x = data + "[" + i + "]",
               flag = flags + "[" + i + "]";
  string guard, value = guarded(context, x, flag, guard);
  string g = fresh("g"), gi = g + "[" + i + "]";
  auto penalty = [&](const string &term) {
    say("penalty 0.2 * sum[" + i + " < " + place.extent + "](" + term + ")");
  };
  switch (random.below(8)) {
  case 0:
    say(gi + " = if " + guard + " then " + value + " else " + smooth(context));
    return penalty(gi);
  case 1:
    // The equation is infinite, and nobody looks. It may be asked for, so that
    // it is never less than a number.
    value = smooth(context);
    say(gi + " = " +
        (random.chance(0.5) ? "(1.5 + " + value + "^2) / " + x
                            : "log(" + x + "^2 * (0.5 + " + value + "^2))"));
    return say("penalty 0.2 * sum[" + i + " where " + x + " != 0](" + gi + ")");
  case 2: {
    string ok = fresh("ok"), oki = ok + "[" + i + "]";
    say(oki + " = " + guard);
    say(gi + " = if " + oki + " then " + value + " else 0");
    return penalty(gi + " * " + smooth(context));
  }
  case 3:
    say(gi + " = if " + flag + " then (if " + guard + " then " + value +
        " else " + smooth(context) + ") else " + smooth(context));
    return penalty(gi);
  case 4: {
    string f = fresh("f"), a = fresh("p"), b = fresh("q"), r = fresh("r");
    declarations.push_back("def " + f + "(" + a + ", " + b + ") { " + r +
                           " = " + b + " / " + a + "; return tanh(" + r +
                           ") }");
    say(gi + " = if " + x + " == 0 then 0 else " + f + "(" + x + ", " +
        smooth(context) + ")");
    return penalty(gi);
  }
  case 5: {
    // Infinite where no place of the index looks.
    string s = fresh("s");
    say(s + " = (0.5 + " + module("vector(1)") + "[0]^2) * sum[" + i +
        "](max(" + x + ", 0))");
    return say("penalty 0.2 * sum[" + i + " where " + x + " > 0](log(" + s +
               ") * " + smooth(context) + ")");
  }
  case 6: {
    static const char *reducers[] = {"max", "min", "mean", "logsumexp"};
    return say("penalty 0.2 * " + string(reducers[random.below(4)]) + "[" + i +
               " where " + guard + "](" + value + ")");
  }
  default:
    say(gi + " = softmax[" + i + " where " + guard + "](" + value + ")");
    return penalty(gi + " * " + smooth(context));
  }
}

void Templates::guardedRecurrence(Place place, const string &data,
                                  const string &flags) {
  begin("guarded recurrence");
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name, x = data + "[" + i + "]",
               flag = flags + "[" + i + "]";
  string h = fresh("h"), before = h + "[" + i + "-1]";
  string step = random.chance(0.5)
                    ? before + " / " + x
                    : before + " + " + smooth(context) + " / " + x;
  say(h + "[" + i + "] = if " + x + " != 0 then tanh(" + step +
      ") else 0.5 * " + before);
  say(h + "[-1] = 0.3");
  say("penalty 0.2 * " + h + "[" + place.extent + "-1]");
}

void Templates::impossible(Place place, const string &flags) {
  begin("impossible");
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name, flag = flags + "[" + i + "]";
  string score = "(if " + flag + " then " + smooth(context) + " else -inf)";
  string a = fresh("a"), ai = a + "[" + i + "]";
  switch (random.below(5)) {
  case 0:
    say(a + " = logsumexp[" + i + "]" + score);
    return say("penalty 0.3 * exp(" + a + ")");
  case 1:
    say(ai + " = softmax[" + i + "]" + score);
    return say("penalty 0.3 * sum[" + i + "](" + ai + " * " + smooth(context) +
               ")");
  case 2:
    say(ai + " = log_softmax[" + i + "]" + score);
    return say("penalty 0.3 * sum[" + i + " where " + flag + "](" + ai + ")");
  case 3: {
    // What a path weighs that may begin at the flags.
    string k = freshIndex(), before = a + "[" + i + "-1]";
    say(ai + " = logsumexp[" + k + " < 2](if " + k + " == 0 then " + before +
        " + " + smooth(context) + " else " + score + ")");
    say(a + "[-1] = -inf");
    return say("penalty 0.3 * exp(" + a + "[" + place.extent + "-1])");
  }
  default: {
    string j = freshIndex(), dim = random.pick(dims);
    context.indices.push_back({j, dim, Index::Free, "", true});
    say(a + "[" + i + ", " + j + "] = softmax[" + j + " < " + dim + "](if " +
        flag + " then " + smooth(context) + " + " +
        module("vector(" + dim + ")") + "[" + j + "] else -inf)");
    return say("penalty 0.3 * sum[" + i + ", " + j + "](" + a + "[" + i + "," +
               j + "] * " + smooth(context) + ")");
  }
  }
}

void Templates::stopped(Place place, const string &flags) {
  begin("stop");
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name;
  string q = fresh("q"), qi = q + "[" + i + "]", value = smooth(context);
  auto penalty = [&](const string &term) {
    say("penalty 0.3 * sum[" + i + " < " + place.extent + "](" + term + ")");
  };
  switch (random.below(3)) {
  case 0:
    return penalty("stop(" + value + " + " + flags + "[" + i + "]) * " + value);
  case 1:
    say(q + "[" + i + " < " + place.extent + "] = stop(" + value + ")");
    return penalty(qi + " * (" + value + " + " + smooth(context) + ")");
  default:
    say(qi + " = tanh(stop(" + q + "[" + i + "-1]) * " + value + " + 0.5 * " +
        q + "[" + i + "-1] + " + flags + "[" + i + "])");
    say(q + "[-1] = 0.2");
    return penalty(qi);
  }
}

void Templates::partialFunction(Place place, const string &data,
                                const string &flags) {
  switch (random.below(7)) {
  case 0:
    return guardedRecurrence(place, data, flags);
  case 1:
  case 2:
    return impossible(place, flags);
  case 3:
    return stopped(place, flags);
  default:
    return underGuards(place, data, flags);
  }
}
