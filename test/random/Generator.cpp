//===- Generator.cpp - random specs that are well typed -------------------===//
//
// Chooses the data, an encoder over what is given, a decoder over what is
// generated, choices and options; Templates.cpp writes the statements.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

#include <optional>

using namespace fovea::random;
using std::string;

namespace {

class Writer : public Templates {
public:
  Writer(uint64_t seed, Naming naming, Scale scale)
      : Templates(seed, naming), seed(seed), scale(scale) {}
  Spec write();

private:
  /// A statement to write at a place, or sometimes another one.
  struct Choice {
    void (Writer::*first)(Place);
    void (Writer::*second)(Place) = nullptr;
    double probability = 0.5; // of the first
  };
  /// Writes one of the choices.
  void grow(const Place &place, llvm::ArrayRef<Choice> choices);
  void planeOfData(Place place);
  void planeOfDims(Place place) { plane(place, random.pick(dims)); }
  void neighbours(Place place);
  void poolOfAll(Place) { pool(); }

  void declareDims();
  void declareGiven();
  void encoder();
  void decoder();
  void label();
  void penalty();
  void partial();
  void severalFactors();
  void unobserved();
  bool hidden();
  void options();
  /// Outputs that are places in a source: false when there is none.
  bool pointer();
  string stepFeatures(Context &context, string &width);
  string newLength(const string &parent = "");
  /// Declares data whose brackets are the extents `axes`, unless `written` says
  /// them otherwise.
  SpecData &declare(const string &name, const string &type, SpecData::Kind kind,
                    std::vector<string> axes,
                    std::optional<string> written = std::nullopt);
  /// What is declared for the decoder to generate.
  SpecData &declareChosen(const string &name, const string &type,
                          SpecData::Kind kind, std::vector<string> axes) {
    SpecData &data = declare(name, type, kind, std::move(axes));
    data.generated = true;
    return data;
  }
  /// A vocabulary of so many symbols, by `--set`.
  void setVocabulary(const string &name, int64_t size) {
    string key = name + ".vocab";
    if (spec.sets.empty() || spec.sets.back().first != key)
      spec.sets.push_back({key, std::to_string(size)});
  }
  /// A file of its own for what was said so far, which the spec includes.
  void include(const string &name);
  void print(string &text, const string &name);

  uint64_t seed;
  Scale scale;
  int64_t vocabularySize = 3;       // of given tokens
  std::vector<string> lengths;      // of given data, not nested
  std::vector<string> outer, inner; // nested pairs
  string stepExtent;                // empty: nothing is generated in steps
  std::vector<string> decodeOptions, trainOptions;
};

} // namespace

void Writer::declareDims() {
  int64_t count = random.between(2, 3);
  for (int64_t i = 0; i < count; ++i) {
    string name = fresh("D");
    int64_t size = i == 0 ? random.between(3, 4) : random.between(1, 3);
    if (scale == Scale::Large)
      size *= 8;
    string value = std::to_string(size);
    if (i > 0 && random.chance(0.3)) {
      value = random.chance(0.5) ? dims[0] + " + 1" : dims[0] + " - 1";
      size =
          extents[dims[0]].number + (value.find('+') != string::npos ? 1 : -1);
    } else if (random.chance(0.2)) {
      spec.features.insert("--set of a dim");
      spec.sets.push_back({name, value});
      value = std::to_string(size + 2);
    }
    declarations.push_back("dim " + name + " = " + value);
    extents[name].number = spec.sizes[name] = size;
    dims.push_back(name);
  }
}

string Writer::newLength(const string &parent) {
  string name = fresh(parent.empty() ? "S" : "W");
  extents[name].parent = parent;
  extents[name].mayBeEmpty = !parent.empty();
  spec.lengths.push_back({name, parent});
  return name;
}

SpecData &Writer::declare(const string &name, const string &type,
                          SpecData::Kind kind, std::vector<string> axes,
                          std::optional<string> written) {
  string brackets;
  for (const string &axis : axes)
    brackets += (brackets.empty() ? "[" : ", ") + axis;
  brackets += brackets.empty() ? "" : "]";
  declarations.push_back("data " + name + written.value_or(brackets) + " : " +
                         type);
  spec.data.push_back({name, kind, std::move(axes)});
  return spec.data.back();
}

void Writer::declareGiven() {
  string vocab;
  bool shared = random.chance(0.3);
  vocabularySize = random.between(3, 5);
  auto tokens = [&](const string &name, const std::vector<string> &axes,
                    bool sentence,
                    std::optional<string> written = std::nullopt) {
    if (shared && vocab.empty()) {
      spec.features.insert("shared vocabulary");
      vocab = fresh("v");
      declarations.push_back("vocab " + vocab);
    }
    const string &own = vocab.empty() ? name : vocab;
    setVocabulary(own, vocabularySize);
    string type = sentence ? "sentence" : "token";
    declare(name, type + (vocab.empty() ? "" : " of " + vocab), SpecData::Token,
            axes, written)
        .bound = vocabularySize;
    arrays.push_back(
        {name, Array::Token, axes, "", false, false, own + ".vocab"});
  };

  int64_t sources = random.between(1, 2);
  for (int64_t i = 0; i < sources; ++i) {
    switch (random.below(5)) {
    case 0:
    case 1: {
      string name = fresh("src"), S = newLength();
      tokens(name, {S}, random.chance(0.7));
      lengths.push_back(S);
      break;
    }
    case 2: {
      spec.features.insert("real data");
      string name = fresh("x"), S = newLength(), dim = random.pick(dims);
      declare(name, "real(" + dim + ")", SpecData::Real, {S, dim},
              "[" + S + "]");
      arrays.push_back({name, Array::Real, {S}, dim});
      lengths.push_back(S);
      break;
    }
    case 3: {
      spec.features.insert("nested data");
      string name = fresh("story"), M = newLength(), W = newLength(M);
      string m = freshIndex();
      string written = "[" + m + " < " + M + ", " + W + "[" + m + "]]";
      if (random.chance(0.7)) {
        tokens(name, {M, W}, false, written);
      } else {
        declare(name, "real", SpecData::Real, {M, W}, written);
        arrays.push_back({name, Array::Real, {M, W}});
      }
      lengths.push_back(M);
      outer.push_back(M);
      inner.push_back(W);
      break;
    }
    default: {
      spec.features.insert("grid data");
      string name = fresh("image"), Y = newLength(), X = newLength();
      declare(name, "real", SpecData::Real, {Y, X});
      arrays.push_back({name, Array::Real, {Y, X}});
      lengths.push_back(Y);
      lengths.push_back(X);
    }
    }
  }
  if (random.chance(0.25)) {
    spec.features.insert("bit data");
    string name = fresh("flag"), S = random.pick(lengths);
    declare(name, "bit", SpecData::Bit, {S});
    arrays.push_back({name, Array::Bit, {S}});
  }
  if (random.chance(0.2)) {
    spec.features.insert("int data");
    string name = fresh("count"), S = random.pick(lengths);
    declare(name, "int", SpecData::Int, {S}).bound = 4;
    arrays.push_back({name, Array::Int, {S}});
  }
  if (random.chance(0.15)) {
    spec.features.insert("class data");
    string name = fresh("kind");
    declare(name, "class(3)", SpecData::Class, {}).bound = 3;
    arrays.push_back({name, Array::Class});
  }
  if (random.chance(0.2)) {
    // Gathers by data: positions in an array that is given.
    const Array *target = latest([](const Array &array) {
      return array.axes.size() == 1 && array.kind == Array::Token;
    });
    if (target) {
      begin("gather");
      Array to = *target;
      string name = fresh("ptr"), K = newLength(), dim = random.pick(dims);
      declare(name, "position(" + to.name + ")", SpecData::Position, {K})
          .boundLength = to.axes[0];
      string i = freshIndex(), x = fresh("x");
      say(x + "[" + i + "] = " + embedding(dim, to.vocab) + "(" + to.name +
          "[" + name + "[" + i + "]])");
      arrays.push_back({x, Array::Real, {K}, dim});
      lengths.push_back(K);
    }
  }
}

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
  if (hidden())
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
  // Equations stand in any order; a def stands before its uses for people.
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
