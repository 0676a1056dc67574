//===- Given.cpp - dims and data of a random spec -------------------------===//

#include "test/random/Writer.h"

using namespace fovea::random;
using std::string;

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
