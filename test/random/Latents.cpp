//===- Latents.cpp - choices that nobody observes -------------------------===//
//
// Categories, bits and numbers that are drawn along a place or once, their
// readers, and an estimator of each kind. If they are in penalties, the data
// and the decoder do not change; a chain of hidden values has data of its own.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

/// An estimator of a value that is drawn, with some of its arguments. `mayBe`
/// names the latents without an estimator.
string Templates::estimator(llvm::ArrayRef<const char *> mayBe) {
  // A sum over all values cannot be combined with another one, or with
  // `reinforce`.
  bool isSum = spec.features.count("estimator enumerate");
  bool isScored = spec.features.count("estimator reinforce");
  std::vector<string> kinds;
  for (string kind : mayBe)
    if (!(kind == "enumerate" && (isSum || isScored)) &&
        !(kind == "reinforce" && isSum))
      kinds.push_back(kind);
  string kind = random.pick(kinds);
  spec.features.insert("estimator " + kind);
  std::vector<string> arguments;
  if (kind == "reinforce") {
    static const char *baselines[] = {"baseline = moving_average(0.9)",
                                      "baseline = -0.4", "baseline = 0.2"};
    if (random.chance(0.6))
      arguments.push_back(baselines[random.below(3)]);
    if (random.chance(0.3))
      arguments.push_back("entropy = 0.2");
    if (random.chance(0.2) && llvm::is_contained(mayBe, string("expected")))
      arguments.push_back("expected = 0.5");
    if (random.chance(0.2))
      arguments.push_back("credit = later");
  }
  if (kind == "gumbel")
    arguments.push_back(random.chance(0.5)
                            ? "temperature = 0.8"
                            : "temperature = max(0.5, 0.9^train.step)");
  if (kind != "expected" && kind != "enumerate" && random.chance(0.3))
    arguments.push_back("samples = " + std::to_string(random.between(2, 3)));
  return kind +
         (arguments.empty() ? "" : "(" + llvm::join(arguments, ", ") + ")");
}

/// A category at each place, by what was found at the place before or without;
/// an array is read at it.
void Templates::drawnCategories(Place place, const string &data) {
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name, k = freshIndex(),
               K = random.pick(dims);
  string z = fresh("z"), s = fresh("s"), a = fresh("a"), h = fresh("h");
  bool isChain = random.chance(0.5);
  say(a + "[" + k + "] = tanh(" + module("vector(" + K + ")") + "[" + k +
      "] + 0.3 * " + module("vector(" + K + ")") + "[" + k + "])");
  string found = random.chance(0.5) ? a : module("vector(" + K + ")");
  say(s + "[" + i + ", " + k + " < " + K + "] = " +
      module("vector(" + K + ")") + "[" + k + "] * " + data + "[" + i + "]" +
      (isChain ? " + " + module("vector(" + K + ")") + "[" + k + "] * " + h +
                     "[" + i + "-1]"
               : ""));
  bool isProbs = random.chance(0.3);
  string p = fresh("p");
  if (isProbs)
    say(p + "[" + i + "," + k + "] = softmax[" + k + "](" + s + "[" + i + "," +
        k + "])");
  say(z + "[" + i + "] ~ categorical[" + k + "](" +
      (isProbs ? "probs = " + p : s) + "[" + i + "," + k + "])");
  string read = found + "[" + z + "[" + i + "]]";
  if (isChain) {
    say(h + "[" + i + "] = tanh(0.5 * " + h + "[" + i + "-1] + " + read + ")");
    say(h + "[-1] = 0.2");
  } else {
    say(h + "[" + i + "] = " + read + " * " + squash(data + "[" + i + "]"));
  }
  say("penalty 0.3 * sum[" + i + " < " + place.extent + "](" + h + "[" + i +
      "] * (1 + " + h + "[" + i + "]))");
  estimators.push_back(z + " ~ " +
                       estimator({"reinforce", "reinforce", "straight_through",
                                  "gumbel", "expected", "no_gradient"}));
}

/// A category that is drawn once, or summed over.
void Templates::oneCategory(Place place, const string &data) {
  Context context = at(place);
  const string i = context.indices[0].name, k = freshIndex(),
               K = random.pick(dims);
  string z = fresh("z"), m = fresh("x"), v = module("vector(" + K + ")");
  say(m + " = mean[" + i + " < " + place.extent + "](" + data + "[" + i + "])");
  // Over the places of the data, or over a dim.
  bool isPlace = random.chance(0.5);
  if (isPlace)
    say(z + " ~ categorical[" + i + "](" + v + "[0] * " + data + "[" + i +
        "])");
  else
    say(z + " ~ categorical[" + k + " < " + K + "](" + v + "[" + k + "] * " +
        m + ")");
  string read = (isPlace ? data : module("vector(" + K + ")")) + "[" + z + "]";
  say("penalty 0.4 * " + squash(module("vector(" + K + ")") + "[0] * " + read));
  estimators.push_back(z + " ~ " +
                       estimator({"enumerate", "enumerate", "reinforce",
                                  "straight_through", "gumbel", "expected"}));
}

/// A bit at each place.
void Templates::drawnBits(Place place, const string &data) {
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name;
  string b = fresh("b"), f = fresh("f"), value = squash(data + "[" + i + "]");
  say(b + "[" + i + " < " + place.extent +
      "] ~ bernoulli(logit = " + module("vector(1)") + "[0] * " + data + "[" +
      i + "] + " + squash(num(context, 1)) + ")");
  say(f + "[" + i + "] = " + value + " * " + module("vector(1)") + "[0] * " +
      b + "[" + i + "]");
  say("penalty 0.3 * sum[" + i + " < " + place.extent + "](" + f + "[" + i +
      "] - " + f + "[" + i + "]^2)");
  estimators.push_back(b + " ~ " +
                       estimator({"reinforce", "straight_through", "gumbel",
                                  "expected", "no_gradient"}));
}

/// A number at each place, with a guide or without.
void Templates::drawnNumbers(Place place, const string &data) {
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name;
  string u = fresh("u"), f = fresh("f"), ui = u + "[" + i + "]";
  string mean = module("vector(1)") + "[0] * " + data + "[" + i + "]",
         deviation = "0.3 + softplus(" + squash(num(context, 1)) + ")";
  bool isGuided = random.chance(0.3),
       isUniform = !isGuided && random.chance(0.3);
  if (isGuided) {
    spec.features.insert("guide");
    // log p of a whole model is a bound, what a decoder says is not.
    spec.decodable = false;
    say("guide " + ui + " ~ normal(" + mean + ", " + deviation + ")");
    say(u + "[" + i + " < " + place.extent + "] ~ normal(" +
        squash(num(context, 1)) + ", 1)");
  } else if (isUniform) {
    say(u + "[" + i + " < " + place.extent + "] ~ uniform(" + mean + " - 1, " +
        mean + " + " + deviation + ")");
  } else {
    say(u + "[" + i + " < " + place.extent + "] ~ normal(" + mean + ", " +
        deviation + ")");
  }
  say(f + "[" + i + "] = sin(" + ui + ") + " + squash(num(context, 1)));
  say("penalty 0.3 * sum[" + i + " < " + place.extent + "](" + f + "[" + i +
      "]^2)");
  string how = isGuided || isUniform
                   ? estimator({"reparameterised"})
                   : estimator({"reparameterised", "reparameterised",
                                "reinforce", "no_gradient"});
  estimators.push_back(u + " ~ " + how);
}

/// Hidden values of places, each from the one before, that data depend on.
void Templates::hiddenChain(Place place, const string &data) {
  begin("latents");
  begin("hidden chain");
  string y = fresh("y"), z = fresh("z"), t = freshIndex(), k = freshIndex(),
         K = random.pick(dims);
  declarations.push_back("data " + y + "[" + place.extent + "] : bit");
  spec.data.push_back({y, SpecData::Bit, {place.extent}});
  spec.data.back().generated = true;
  string trans = module("matrix(" + K + ", " + K + ")"),
         emit = module("vector(" + K + ")");
  bool isChain = random.chance(0.7);
  say(z + "[" + t + "] ~ categorical[" + k + "](" + trans + "[" +
      (isChain ? z + "[" + t + "-1] ?? 0" : "0") + "," + k + "])");
  say(y + "[" + t + "] ~ bernoulli(logit = " + emit + "[" + z + "[" + t +
      "]] * " + data + "[" + t + "])");
  estimators.push_back(z + " ~ " +
                       estimator({"enumerate", "enumerate", "reinforce"}));
}

void Templates::latents(Place place, const string &data) {
  begin("latents");
  switch (random.below(5)) {
  case 0:
    return oneCategory(place, data);
  case 1:
    return drawnBits(place, data);
  case 2:
    return drawnNumbers(place, data);
  default:
    return drawnCategories(place, data);
  }
}
