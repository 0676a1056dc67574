//===- Generator.cpp - random specs that are well typed -------------------===//
//
// Chooses an encoder over the given data, a decoder over the generated data,
// choices and options; Given.cpp has the data, Templates.cpp the statements.
//
//===----------------------------------------------------------------------===//

#include "test/random/Writer.h"

#include <optional>

using namespace fovea::random;
using std::string;

void Writer::planeOfData(Place place) {
  plane(place, random.pick(lengths) == place.extent ? random.pick(dims)
                                                    : random.pick(lengths));
}

void Writer::neighbours(Place place) {
  switch (random.below(3)) {
  case 0:
    return convolution(place);
  case 1:
    return pyramid(place);
  default:
    return pairs(place);
  }
}

void Writer::grow(const Place &place, llvm::ArrayRef<Choice> choices) {
  auto count = static_cast<int64_t>(choices.size());
  const Choice &choice = choices[random.below(count)];
  bool isFirst = !choice.second || random.chance(choice.probability);
  (this->*(isFirst ? choice.first : choice.second))(place);
}

void Writer::encoder() {
  static const Choice choices[] = {
      {&Writer::recurrence},
      {&Writer::recurrence},
      {&Writer::secondOrder, &Writer::mutual},
      {&Writer::shifted},
      {&Writer::planeOfData},
      {&Writer::family, &Writer::labels, 0.7},
      {&Writer::attention},
      {&Writer::attention},
      {&Writer::attendingRecurrence, &Writer::hops},
      {&Writer::heads},
      {&Writer::running},
      {&Writer::neighbours},
      {&Writer::cuts, &Writer::wholeArray},
      {&Writer::poolOfAll},
  };
  for (size_t i = 0; i < inner.size(); ++i)
    nested(outer[i], inner[i]);
  map({random.pick(lengths)});
  int64_t count = random.between(1, 3);
  for (int64_t i = 0; i < count; ++i)
    grow({random.pick(lengths)}, choices);
}

string Writer::stepFeatures(Context &context, string &width) {
  // The newest causal array is certainly read, so that the decoder is alive.
  const Array *newest = latest([](const Array &array) {
    return array.causal && array.isVectors() && !array.generated;
  });
  string first = anyVec(context, width, 1);
  if (!newest)
    return first;
  context.indices[0].hasRange = true;
  width += "+" + newest->dim;
  return first + " ++ " + newest->name + "[" + context.indices[0].name + "]";
}

bool Writer::pointer() {
  const Array *target = nullptr, *notes = nullptr;
  for (const Array &source : arrays)
    for (const Array &array : arrays)
      if (source.kind == Array::Token && source.axes.size() == 1 &&
          array.kind == Array::Real && array.axes == source.axes &&
          !array.dim.empty()) {
        target = &source;
        notes = &array;
      }
  if (!target)
    return false;
  const Array to = *target, memory = *notes;
  begin("pointer");
  string S = to.axes[0], name = fresh("ptr"), note = fresh("x"), y = fresh("y"),
         i = freshIndex(), t = freshIndex();
  stepExtent = newLength();
  SpecData &data = declareChosen(name, "position(" + to.name + ") ends",
                                 SpecData::Position, {stepExtent});
  data.boundLength = S;
  data.ends = true;
  say(note + "[" + i + "] = " + memory.name + "[" + i + "]");
  say(note + "[" + S + "] = " + module("vector(" + memory.dim + ")"));
  say(y + "[" + t + "] = " + memory.name + "[" + name + "[" + t + "-1]]");
  say(y + "[0] = " + module("vector(" + memory.dim + ")"));
  arrays.push_back({y, Array::Real, {stepExtent}, memory.dim, true});
  Place place{stepExtent, true};
  random.chance(0.5) ? recurrence(place) : attention(place);

  begin("pointer");
  Context context = at(place);
  string width, features = stepFeatures(context, width);
  string q = fresh("q"), e = fresh("e"), look = freshIndex(),
         dim = random.pick(dims);
  string step = context.indices[0].name;
  say(left(q, context) + " = " + linear(dim, width) + "(" + features + ")");
  say(e + "[" + step + ", " + look + " < " + S + "+1] = dot(" +
      module("vector(" + dim + ")") + ", tanh(" + q + "[" + step + "] + " +
      linear(dim, memory.dim) + "(" + note + "[" + look + "])))");
  say(name + "[" + step + "] ~ categorical[" + look + "](" + e + "[" + step +
      "," + look + "])");
  spec.decodable = true;
  decodeOptions.push_back("longest = 4");
  return true;
}

void Writer::decoder() {
  static const Choice choices[] = {
      {&Writer::recurrence},
      {&Writer::recurrence},
      {&Writer::secondOrder, &Writer::mutual},
      {&Writer::family},
      {&Writer::attention},
      {&Writer::attention},
      {&Writer::attendingRecurrence},
      {&Writer::attendingRecurrence},
      {&Writer::heads, &Writer::hops},
      {&Writer::running, &Writer::cuts},
      {&Writer::planeOfDims},
      {&Writer::wholeArray},
  };
  if (random.chance(0.3) && pointer())
    return;
  bool known = random.chance(0.25);
  int64_t kind = known ? random.between(1, 4) : 0;
  string name = fresh("tgt");
  stepExtent = known ? random.pick(lengths) : newLength();
  string vocab = name + ".vocab", dim = random.pick(dims);
  int64_t size = random.between(3, 4);
  if (kind <= 1) {
    spec.features.insert(kind == 0 ? "sentence" : "tags");
    SpecData &data = declareChosen(name, kind == 0 ? "sentence" : "token",
                                   SpecData::Token, {stepExtent});
    data.ends = kind == 0;
    data.bound = size;
    setVocabulary(name, size);
    if (kind == 0)
      arrays.push_back(
          {name, Array::Token, {stepExtent}, "", true, true, vocab});
  } else if (kind == 2) {
    spec.features.insert("bits");
    declareChosen(name, "bit", SpecData::Bit, {stepExtent});
    arrays.push_back({name, Array::Bit, {stepExtent}, "", true, true});
    say(name + "[-1] = " + (random.chance(0.5) ? "1" : "0"));
  } else if (kind == 3) {
    spec.features.insert("real output");
    declare(name, "real(" + dim + ")", SpecData::Real, {stepExtent, dim},
            "[" + stepExtent + "]")
        .generated = true;
    arrays.push_back({name, Array::Real, {stepExtent}, dim, true, true});
    say(name + "[-1] = zeros(" + dim + ")");
  } else {
    spec.features.insert("classes");
    declareChosen(name, "class(3)", SpecData::Class, {stepExtent}).bound = 3;
  }
  bool hasSecond = kind == 0 && random.chance(0.2);
  string second;
  if (hasSecond) {
    spec.features.insert("two outputs a step");
    second = fresh("lift");
    declareChosen(second, "bit", SpecData::Bit, {stepExtent});
    say(second + "[-1] = 1");
    arrays.push_back({second, Array::Bit, {stepExtent}, "", true, true});
  }

  Place place{stepExtent, true};
  map(place);
  int64_t count = random.between(1, 3);
  for (int64_t i = 0; i < count; ++i)
    grow(place, choices);

  begin("output");
  Context context = at(place);
  const string t = context.indices[0].name;
  string width, features = stepFeatures(context, width);
  if (known) {
    // Decoding knows a length that an array gives which it reads.
    string given = fresh("given");
    declare(given, "real", SpecData::Real, {stepExtent});
    features = "(" + features + ") * " + given + "[" + t + "]";
  }
  string logits = fresh("logits");
  if (kind <= 1) {
    string value;
    if (kind == 0 && random.chance(0.3)) {
      spec.features.insert("tied output");
      value = embedding(dim, vocab) + ".weight @ " + linear(dim, width) + "(" +
              features + ")";
    } else {
      value = module("linear(" + vocab + ")") + "(" + features + ")";
    }
    string choice = name + "[" + t + "] ~ categorical(";
    switch (random.below(3)) {
    case 0:
      say(choice + value + ")");
      break;
    case 1:
      spec.features.insert("probs =");
      say(choice + "probs = softmax(" + value + "))");
      break;
    default:
      say(left(logits, context) + " = " + value);
      say(choice + logits + "[" + t + "])");
    }
    if (kind == 0)
      laterPlaces(name, t, value);
  } else if (kind == 2) {
    say(name + "[" + t + "] ~ bernoulli(logit = " + linear("1", width) + "(" +
        features + "))");
  } else if (kind == 3) {
    say(name + "[" + t + "] ~ normal(" + linear(dim, width) + "(" + features +
        "), " +
        (random.chance(0.5) ? "0.7"
                            : "softplus(" + leaf(context, dim) + ") + 0.3") +
        ")");
  } else {
    say(name + "[" + t + "] ~ categorical(" + linear("3", width) + "(" +
        features + "))");
  }
  if (hasSecond) {
    string token = embedding(dim, vocab) + "(" + name + "[" + t + "])";
    say(second + "[" + t +
        "] ~ bernoulli(logit = " + linear("1", dim + "+" + dim) + "(" + token +
        " ++ " + vec(context, dim, 1) + "))");
  }
  spec.decodable = kind != 3;
  if (!known)
    decodeOptions.push_back("longest = 4");
}

/// Sometimes data of hidden values in the place of a label, drawn with numbers
/// of its own.
bool Writer::hidden() {
  Rng rest = random;
  random = Rng(seed, 14);
  bool isHidden = random.chance(0.4);
  if (isHidden) {
    Place place{newLength()};
    string x = fresh("x");
    declare(x, "real", SpecData::Real, {place.extent});
    hiddenChain(place, x);
  }
  random = rest;
  return isHidden;
}

void Writer::label() {
  if (hidden() || certain())
    return;
  begin("label");
  Context none;
  string width, features = anyVec(none, width, 2);
  if (random.chance(0.5)) {
    string name = fresh("label");
    const char *classes = random.chance(0.5) ? "3" : "\"a\", \"b\", \"c\"";
    declareChosen(name, string("class(") + classes + ")", SpecData::Class, {})
        .bound = 3;
    say(name + " ~ categorical(" + module("linear(" + name + ".classes)") +
        "(" + features + "))");
    spec.decodable = true;
    return;
  }
  string name = fresh("y"), dim = random.pick(dims);
  declare(name, "real(" + dim + ")", SpecData::Real, {dim}, "").generated =
      true;
  say(name + " ~ normal(" + linear(dim, width) + "(" + features + "), 0.8)");
}

void Writer::penalty() {
  begin("penalty");
  // Everything is known to a penalty: the past and the future.
  const Array &array = random.pick(arrays);
  if (array.kind != Array::Real || array.axes.empty()) {
    Context none;
    say("penalty 0.1 * " + num(none, 1) + "^2");
    return;
  }
  string indices;
  std::vector<string> names;
  for (size_t i = 0; i < array.axes.size(); ++i) {
    names.push_back(freshIndex());
    indices += (i ? "," : "") + names.back();
  }
  string value = array.name + "[" + indices + "]";
  if (!array.dim.empty())
    value = "dot(" + value + ", " + value + ")";
  string lambda = fresh("lambda");
  declarations.push_back("const " + lambda + " = 0.3");
  say("penalty " + lambda + " * " + (random.chance(0.5) ? "sum[" : "mean[") +
      indices + "]((1 - " + value + ")^2)");
}

/// Drawn with numbers of its own: the rest of a spec is as it is without.
void Writer::partial() {
  Rng rest = random;
  random = Rng(seed, 11);
  if (random.chance(0.6)) {
    Place place{newLength()};
    string x = fresh("x"), flags = fresh("flag");
    declare(x, "real", SpecData::Real, {place.extent}).hasZeros = true;
    declare(flags, "bit", SpecData::Bit, {place.extent});
    for (int64_t count = random.between(1, 3); count > 0; --count)
      partialFunction(place, x, flags);
  }
  random = rest;
}

/// The same, for sums of several factors.
void Writer::severalFactors() {
  Rng rest = random;
  random = Rng(seed, 12);
  if (random.chance(0.4)) {
    Place place{newLength()};
    string x = fresh("x");
    declare(x, "real", SpecData::Real, {place.extent});
    if (random.chance(0.4))
      gatedPairs(place, x);
    else if (random.chance(0.6))
      filteredState(place, x);
    else
      bilinearForm(place, x);
  }
  random = rest;
}

/// The same, for choices that nobody observes.
void Writer::unobserved() {
  Rng rest = random;
  random = Rng(seed, 13);
  if (random.chance(0.35)) {
    Place place{newLength()};
    string x = fresh("x");
    declare(x, "real", SpecData::Real, {place.extent});
    for (int64_t count = random.between(1, 2); count > 0; --count)
      latents(place, x);
  }
  trainOptions.insert(trainOptions.end(), estimators.begin(), estimators.end());
  random = rest;
}

/// The same, for states and gradients inside the model, and for experts.
void Writer::updatesAndGradients() {
  static void (Writer::*const kinds[])(Place, const string &) = {
      &Writer::movingAverage, &Writer::trackedModule, &Writer::teacher,
      &Writer::innerGradient, &Writer::innerGradient, &Writer::sparseExperts};
  Rng rest = random;
  random = Rng(seed, 15);
  if (random.chance(0.5)) {
    Place place{newLength()};
    string x = fresh("x");
    declare(x, "real", SpecData::Real, {place.extent});
    for (int64_t count = random.between(1, 2); count > 0; --count)
      (this->*kinds[random.below(std::size(kinds))])(place, x);
  }
  random = rest;
}

/// The same, for what values decide: which terms and places there are.
void Writer::valuesDecide() {
  static void (Writer::*const kinds[])(Place, const string &) = {
      &Writer::parts, &Writer::parts, &Writer::guardedOperands,
      &Writer::maskedWeights};
  Rng rest = random;
  random = Rng(seed, 17);
  if (random.chance(0.4)) {
    Place place{newLength()};
    string x = fresh("x");
    declare(x, "real", SpecData::Real, {place.extent});
    boundsLengths = Rng(seed, 20).chance(0.5);
    (this->*kinds[random.below(std::size(kinds))])(place, x);
    if (random.chance(0.3)) {
      string symbols = fresh("src");
      declare(symbols, "token", SpecData::Token, {place.extent}).bound = 4;
      setVocabulary(symbols, 4);
      symbolNumbers(place, x, symbols);
    }
  }
  random = rest;
}

/// Sometimes data that decoding computes in the place of a label.
bool Writer::certain() {
  Rng rest = random;
  random = Rng(seed, 18);
  bool isCertain = random.chance(0.3);
  if (isCertain) {
    Place place{newLength()};
    string x = fresh("x"), y = fresh("tgt");
    declare(x, "real", SpecData::Real, {place.extent});
    declareChosen(y, "real", SpecData::Real, {place.extent});
    decodeOptions.push_back(certainValue(place, x, y));
  }
  random = rest;
  return isCertain;
}

/// Sometimes a second choice of the symbols, for the place after each.
void Writer::laterPlaces(const string &name, const string &step,
                         const string &logits) {
  Rng rest = random;
  random = Rng(seed, 16);
  if (random.chance(0.2)) {
    spec.features.insert("choices of later places");
    say(name + "[" + step + "+1] ~ categorical(" + logits + ")");
  }
  random = rest;
}

/// Sometimes a reward for what is generated, an equation of the spec. Log p of
/// all that is generated has to be exact.
void Writer::rewards() {
  Rng rest = random;
  random = Rng(seed, 19);
  auto chosen = llvm::find_if(
      spec.data, [](const SpecData &data) { return data.generated; });
  bool isExact = spec.decodable && !spec.features.count("latents") &&
                 !spec.features.count("choices of later places") &&
                 !spec.features.count("generate");
  if (isExact && chosen != spec.data.end() && random.chance(0.25)) {
    begin("policy");
    Context none;
    string gain = fresh("gain");
    say(gain + " = tanh(" + num(none, 1) + ")");
    static const char *baselines[] = {"none", "greedy", "others"};
    const char *baseline = baselines[random.below(3)];
    trainOptions.push_back(
        chosen->name + " ~ policy(reward = " + gain + ", samples = " +
        std::to_string(random.between(2, 4)) + ", baseline = " + baseline +
        (random.chance(0.5) ? ", likelihood = 0.1)" : ")"));
  }
  random = rest;
}

void Writer::options() {
  if (random.chance(0.6))
    trainOptions.push_back(random.chance(0.5) ? "average = token"
                                              : "average = example");
  if (random.chance(0.1) && spec.features.count("sentence")) {
    spec.features.insert("smooth");
    trainOptions.push_back("smooth = 0.1");
  }
  if (random.chance(0.3))
    decodeOptions.push_back("beam = " + std::to_string(random.between(1, 3)));
}

void Writer::print(string &text, const string &name) {
  // Equations may have any order; a def comes before its uses for the readers.
  if (random.chance(0.4)) {
    spec.features.insert("shuffled");
    random.shuffle(statements);
  }
  text = "model " + name + "\n\n";
  for (const string &declaration : declarations)
    text += declaration + "\n";
  text += "\n";
  for (const string &statement : statements)
    text += statement + "\n";
}

void Writer::include(const string &name) {
  spec.features.insert("use");
  // The includer replaces a boundary.
  string replaced;
  for (string &statement : statements)
    if (size_t at = statement.find("] = zeros(");
        at != string::npos && replaced.empty()) {
      replaced = statement;
      statement.replace(at, 10, "] = ones(");
      spec.features.insert("replaced equation");
    }
  print(spec.included[name], name);
  declarations = {"use " + name};
  statements.clear();
  if (!replaced.empty())
    statements.push_back(replaced);
}

Spec Writer::write() {
  string model = fresh("model");
  declareDims();
  declareGiven();
  encoder();
  if (random.chance(0.15))
    include(fresh("base"));
  if (random.chance(0.8))
    decoder();
  else
    label();
  if (random.chance(0.3))
    penalty();
  partial();
  severalFactors();
  unobserved();
  updatesAndGradients();
  valuesDecide();
  rewards();
  options();

  string &text = spec.text;
  print(text, model);
  auto block = [&](const char *name, const std::vector<string> &options) {
    if (options.empty())
      return;
    text += string("\n") + name + " { ";
    for (size_t i = 0; i < options.size(); ++i)
      text += (i ? ", " : "") + options[i];
    text += " }\n";
  };
  block("train", trainOptions);
  block("decode", decodeOptions);
  return std::move(spec);
}

Spec fovea::random::generate(uint64_t seed, Naming naming, Scale scale) {
  return Writer(seed, naming, scale).write();
}
