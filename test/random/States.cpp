//===- States.cpp - states, gradients inside a model, sparse experts ------===//
//
// Arrays that updates change, in the model and in modules; gradients that
// equations read; sums over members that a router selects. All of it is in
// penalties, so that the data and the decoder do not change.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

/// A state that equations read, with an update of some kind.
void Templates::movingAverage(Place place, const string &data) {
  begin("states");
  string D = random.pick(dims), i = freshIndex(), d = freshIndex();
  string s = fresh("s"), x = fresh("x"), v = module("vector(" + D + ")");
  declarations.push_back("state " + s + " : vector(" + D + ")" +
                         (random.chance(0.5) ? " = 0.5" : ""));
  say(x + "[" + i + "] = tanh(" + data + "[" + i + "] * " + v + " - " + s +
      ")");
  switch (random.below(5)) {
  case 0:
    say("update " + s + " = 0.5 * " + s + " + 0.5 * " + v);
    break;
  case 1:
    say("update " + s + " = " + s + " + ones(" + D + ")");
    break;
  case 2:
    say("update " + s + "[" + d + "] = max(" + s + "[" + d + "], max[" + i +
        "](" + x + "[" + i + "," + d + "]))");
    break;
  default:
    say("update " + s + "[" + d + "] = 0.75 * " + s + "[" + d + "] + 0.25 * " +
        (random.chance(0.5) ? "mean[" : "sum[") + i + "](" + x + "[" + i + "," +
        d + "])");
  }
  say("penalty 0.1 * sum[" + i + "](dot(" + x + "[" + i + "], " + x + "[" + i +
      "]))");
}

/// A module that keeps a state of its own, called once or twice.
void Templates::trackedModule(Place place, const string &data) {
  begin("states in modules");
  string D = random.pick(dims), i = freshIndex(), k = freshIndex();
  string f = fresh("f"), n = fresh("n"), u = fresh("p"), c = fresh("s"),
         w = fresh("q"), m = fresh("cell"), x = fresh("x");
  declarations.push_back(
      "def " + f + "(" + u + "[" + n + "]) {\n  param " + w + " : vector(" + n +
      ")\n  state " + c + " : vector(" + n + ") = 0.25\n  update " + c + "[" +
      k + "] = 0.5 * " + c + "[" + k + "] + 0.5 * " + u + "[" + k +
      "]\n  return (" + u + " - " + c + ") * " + w + "\n}");
  declarations.push_back("param " + m + " : " + f);
  string v = module("vector(" + D + ")");
  say(x + "[" + i + "] = tanh(" + m + "(" + data + "[" + i + "] * " + v + "))");
  string value = x + "[" + i + "]";
  if (random.chance(0.5))
    value = m + "(" + value + ")";
  say("penalty 0.1 * mean[" + i + "](sum(tanh(" + value + ")))");
  if (random.chance(0.3))
    say("penalty 0.1 * sum(tanh(" + m + "(" + v + ")))");
}

/// A module that follows another one.
void Templates::teacher(Place place, const string &data) {
  begin("teachers");
  string D = random.pick(dims), i = freshIndex();
  string student = fresh("cell"), slow = fresh("s"), x = fresh("x");
  string v = module("vector(" + D + ")");
  declarations.push_back("param " + student + " : linear(" + D + ")");
  declarations.push_back("state " + slow + " : linear(" + D + ")");
  say("update " + slow + " = 0.75 * " + slow + " + 0.25 * " + student);
  say(x + "[" + i + "] = tanh(" + data + "[" + i + "] * " + v + ")");
  say("penalty 0.1 * mean[" + i + "](sum((" + student + "(" + x + "[" + i +
      "]) - " + slow + "(" + x + "[" + i + "]))^2))");
}

/// A gradient that equations read: by the value of each place, by a
/// parameter, or by a state that it changes from place to place.
void Templates::innerGradient(Place place, const string &data) {
  begin("inner gradients");
  string D = random.pick(dims), i = freshIndex();
  string e = fresh("e"), g = fresh("g"), x = fresh("x"), h = fresh("h");
  string u = module("vector(" + D + ")"), v = module("vector(" + D + ")");
  say(x + "[" + i + "] = tanh(" + data + "[" + i + "] * " + v + ")");
  string value = x + "[" + i + "]";
  switch (random.below(4)) {
  case 0:
    say(e + "[" + i + "] = tanh(dot(" + u + ", sin(" + value + ")))^2");
    say(g + "[" + i + "] = grad(" + e + "[" + i + "], " + value + ")");
    break;
  case 1:
    say(e + " = mean[" + i + "](tanh(dot(" + u + ", " + value + ")))^2");
    say(g + "[" + i + "] = " + value + " * grad(" + e + ", " + u + ")");
    break;
  case 2: // through a recurrence
    say(h + "[-1] = zeros(" + D + ")");
    say(h + "[" + i + "] = tanh(" + module("matrix(" + D + ", " + D + ")") +
        " @ " + h + "[" + i + "-1] + " + value + ")");
    say(e + "[" + i + "] = dot(" + u + ", " + h + "[" + i + "])");
    say(g + "[" + i + "] = grad(" + e + "[" + i + "], " + h + "[" + i + "-1])");
    break;
  default: // a model that each place trains
    say(g + "[-1] = " + u);
    say(e + "[" + i + "] = (" + data + "[" + i + "] - dot(" + g + "[" + i +
        "-1], " + value + "))^2");
    say(g + "[" + i + "] = " + g + "[" + i + "-1] - 0.2 * grad(" + e + "[" + i +
        "], " + g + "[" + i + "-1])");
  }
  say("penalty 0.1 * sum[" + i + " < " + place.extent + "](dot(" + g + "[" + i +
      "], " + g + "[" + i + "]))");
}

/// A sum over the members that a router selects for each place.
void Templates::sparseExperts(Place place, const string &data) {
  begin("experts");
  string D = random.pick(dims), i = freshIndex(), k = freshIndex();
  string x = fresh("x"), g = fresh("g"), y = fresh("y"), m = fresh("cell"),
         router = fresh("cell");
  string count = std::to_string(random.between(2, 4));
  string best = std::to_string(random.between(1, 2));
  declarations.push_back("param " + m + "[" + k + " < " + count +
                         "] : linear(" + D + ")");
  declarations.push_back("param " + router + " : linear(" + count + ")");
  say(x + "[" + i + "] = tanh(" + data + "[" + i + "] * " +
      module("vector(" + D + ")") + " + " + module("vector(" + D + ")") + ")");
  say(g + "[" + i + "] = top_softmax(" + best + ")(" + router + "(" + x + "[" +
      i + "]))");
  string gate = g + "[" + i + "," + k + "]";
  say(y + "[" + i + "] = sum[" + k + " where " + gate + " > 0](" + gate +
      " * tanh(" + m + "[" + k + "](" + x + "[" + i + "])))");
  say("penalty 0.1 * sum[" + i + "](dot(" + y + "[" + i + "], " + y + "[" + i +
      "]))");
}
