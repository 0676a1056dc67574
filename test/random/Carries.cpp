//===- Carries.cpp - random decoders that carry states of every kind ------===//
//
// A step has vectors, each an equation over the places so far. Each template
// adds one, which reads earlier ones along a kind of carry. Choices read the
// last vector, so that no carry is dead.
//
//===----------------------------------------------------------------------===//

#include "test/random/Carries.h"
#include "test/random/Rng.h"

using namespace fovea::random;
using std::string;

namespace {

class CarryWriter {
public:
  CarryWriter(uint64_t seed, bool nearly)
      : random(seed, nearly ? 31 : 30), nearly(nearly) {}
  Spec write();

private:
  using Template = void (CarryWriter::*)();

  void say(const string &line) { lines += line + "\n"; }
  string fresh(const string &prefix) {
    return prefix + std::to_string(count++);
  }
  string param(const string &kind) {
    string name = fresh("w");
    params += (params.empty() ? "" : ", ") + name + " : " + kind;
    return name;
  }
  /// A vector of the present step; the newest is read more often.
  string now() { return pick() + "[t]"; }
  string pick() {
    return random.chance(0.5) ? vectors.back() : random.pick(vectors);
  }
  string start(const string &feature, const string &prefix) {
    spec.features.insert(feature);
    return fresh(prefix);
  }
  void add(const string &name, const string &value) {
    say(name + "[t < " + T + "] = " + value);
    vectors.push_back(name);
  }

  string time(int64_t back) const;
  string past(const string &u, bool strict = false);
  string before(const string &name);

  void fixed();
  void window();
  void counter();
  void growing();
  void symbols();
  void bits();
  void resized();
  void pairs();
  void coverage();
  void grid();
  void turned();
  void running();
  void largest();
  void heads();
  void sparse();
  void named();
  void blocks();
  void prefix();
  void layers();
  void attendingLayers();
  void carries(int64_t number);
  void writeRows();
  void writeSteps();
  void declareToken(const string &name, const string &type,
                    std::vector<string> extents, bool ends);

  Rng random;
  bool nearly, isReverse = false, hasBits = false;
  Spec spec;
  string lines, params, data, T = "T";
  std::vector<string> vectors; // of the step, each of H numbers
  int64_t count = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

string CarryWriter::time(int64_t back) const {
  return string("t") + (isReverse ? "+" : "-") + std::to_string(back);
}

/// The condition that `u` is a place so far.
string CarryWriter::past(const string &u, bool strict) {
  if (nearly && random.chance(0.3)) {
    spec.features.insert("changed condition");
    const std::vector<string> others = {
        u + " <= t+1",
        u + " >= t",
        u + " != t",
        u + " < " + T,
        u + " <= 2*t",
        u + " <= t//2",
        u + " > t - 2 and " + u + " <= t",
        "not (" + u + " > t)",
        u + " <= t or t == 0",
        u + " <= t and " + T + " > 2",
        u + " <= max(t - 1, 0)",
        u + " <= t and dot(" + vectors.front() + "[" + u + "], " +
            vectors.front() + "[t]) < 1",
        u + " <= min(t + 1, " + T + " - 1)",
    };
    return random.pick(others);
  }
  return u + (isReverse ? " >" : " <") + (strict ? "" : "=") + " t";
}

/// What `name` was one step earlier.
string CarryWriter::before(const string &name) {
  if (nearly && random.chance(0.25)) {
    spec.features.insert("changed place");
    const std::vector<string> others = {
        "t+1",    T + "-1-t",  "t//2", "max(t-2, 0)", "min(t+1," + T + "-1)",
        T + "-1", "min(t, 1)", "0",    "t",
    };
    return "(" + name + "[" + random.pick(others) + "] ?? zeros(H))";
  }
  return "(" + name + "[" + time(1) + "] ?? zeros(H))";
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

void CarryWriter::fixed() {
  string r = start("fixed", "r");
  string input = now();
  add(r, "tanh(" + param("linear(H)") + "(" + before(r) + ") + " + input + ")");
}

void CarryWriter::window() {
  string r = start("window", "r"), from = pick(), input = now();
  add(r, "tanh(" + before(from) + " - (" + from + "[" + time(2) +
             "] ?? ones(H)) + " + input + ")");
}

void CarryWriter::counter() {
  string n = start("counter", "n"), from = pick(), c = fresh("c");
  string inside = isReverse ? "t + 1 < " + T : "t > 0";
  say(n + "[t] = " + n + "[" + time(1) + "] + (if " + inside + " then (if y[" +
      time(1) + "] == 2 then 1 else 0) else 0)");
  say(n + "[" + (isReverse ? T : "-1") + "] = 0");
  string place = isReverse
                     ? "min(max(" + T + "-1-" + n + "[t], t), " + T + "-1)"
                     : "max(min(" + n + "[t], t), 0)";
  add(c, from + "[" + place + "] + 0.1 * " + now());
}

void CarryWriter::growing() {
  string a = start("growing", "a"), query = now(), key = pick(), c = fresh("c"),
         value = pick(), condition = past("u");
  say(a + "[t,u < " + T + "] = softmax[u where " + condition + "](dot(" +
      query + ", " + key + "[u]))");
  add(c, "sum[u where " + condition + "](" + a + "[t,u] * " + value + "[u])");
}

/// The search itself writes what it has chosen.
void CarryWriter::symbols() {
  string a = start("growing symbols", "a"), c = fresh("c"), query = now(),
         e = param("embedding(H)"), condition = past("u", /*strict=*/true);
  say(a + "[t,u < " + T + "] = softmax[u where " + condition + "](dot(" +
      query + ", " + e + "(y[u])))");
  add(c, query + " + sum[u where " + condition + "](" + a + "[t,u] * " + e +
             "(y[u]))");
}

void CarryWriter::bits() {
  if (!hasBits)
    return symbols();
  string c = start("growing bits", "c"), from = pick(), input = now(),
         condition = past("u", /*strict=*/true);
  add(c, "tanh(" + input + " + sum[u < " + T + " where " + condition +
             "](softmax[u where " + condition + "](dot(" + input + ", " + from +
             "[u]) + (if z[u] then 1 else 0)) * " + from + "[u]))");
}

void CarryWriter::resized() {
  string g = start("resized", "g"), c = fresh("c"), input = now(),
         from = pick();
  say(g + "[t,u < " + T + "] = if u == t then sigmoid(dot(" + input + ", " +
      param("vector(H)") + ")) else (if " + past("u", true) + " then " + g +
      "[" + time(1) + ",u] * sigmoid(dot(" + input + ", " + from +
      "[u])) else 0)");
  say(g + "[" + (isReverse ? T : "-1") + ",u] = 0");
  string condition = past("u");
  add(c,
      "tanh(sum[u where " + condition + "](" + g + "[t,u] * " + from + "[u]))");
}

/// Rows of rows: both axes grow.
void CarryWriter::pairs() {
  string p = start("pairs", "p"), c = fresh("c"), input = now(), from = pick();
  string between = isReverse ? "u >= v and v > t" : "u <= v and v < t";
  say(p + "[t,u < " + T + "] = if u == t then 1 else (if " + past("u", true) +
      " then 0.4 * sum[v < " + T + " where " + between + "](sigmoid(dot(" +
      input + ", " + from + "[v])) * " + p + "[v,u]) else 0)");
  string condition = past("u");
  add(c,
      "tanh(sum[u where " + condition + "](" + p + "[t,u] * " + from + "[u]))");
}

void CarryWriter::coverage() {
  string k = start("coverage", "k"), c = fresh("c"), input = now();
  say(k + "[t,i < S] = " + k + "[" + time(1) + ",i] + softmax[i](dot(" + input +
      ", src[i]) - " + k + "[" + time(1) + ",i])");
  say(k + "[" + (isReverse ? T : "-1") + ",i] = 0");
  add(c, "tanh(sum[i](" + k + "[t,i] * src[i]))");
}

void CarryWriter::grid() {
  string m = start("growing grids", "m"), c = fresh("c"), input = now(),
         from = pick(), condition = past("u");
  say(m + "[t,i < S] = tanh(" + input + " + src[i])");
  add(c, "tanh(sum[u < " + T + " where " + condition + "](sum[i](dot(" + m +
             "[u,i], " + m + "[t,i])) * " + from + "[u]))");
}

/// The axis that grows is not the first.
void CarryWriter::turned() {
  string m = start("growing columns", "m"), c = fresh("c"), input = now(),
         from = pick(), condition = past("u");
  say(m + "[i < S,t] = tanh(" + input + " * src[i])");
  add(c, "tanh(sum[u < " + T + " where " + condition + "](sum[i](dot(" + m +
             "[i,u], " + m + "[i,t])) * " + from + "[u]))");
}

void CarryWriter::running() {
  string c = start("running sum", "c"), from = pick();
  add(c, "tanh(0.3 * sum[u < " + T + " where " + past("u") + "](" + from +
             "[u]))");
}

void CarryWriter::largest() {
  string c = start("largest", "c"), from = pick(), input = now();
  add(c, input + " * max[u < " + T + " where " + past("u") + "](dot(" + from +
             "[u], " + param("vector(H)") + "))");
}

void CarryWriter::heads() {
  string q = start("heads", "q"), a = fresh("a"), c = fresh("c"),
         v = fresh("v"), condition = past("u");
  say(q + "[t] = fold(" + param("linear(2*H)") + "(" + now() + "), 2)");
  say(v + "[t] = fold(" + param("linear(2*H)") + "(" + now() + "), 2)");
  say(a + "[t,g < 2,u < " + T + "] = softmax[u where " + condition + "](dot(" +
      q + "[t,g], " + v + "[u,g]))");
  add(c, "mean[g < 2](sum[u < " + T + " where " + condition + "](" + a +
             "[t,g,u] * " + v + "[u,g]))");
}

/// Attention to the places with the largest scores.
void CarryWriter::sparse() {
  string score = start("sparse", "s"), above = fresh("n"), on = fresh("o"),
         c = fresh("c"), query = now(), key = pick(), value = pick();
  string scored = "dot(" + query + ", " + key + "[u])";
  if (hasBits || random.chance(0.5))
    scored = "if " + past("u") + " then " + scored + " else 0";
  say(score + "[t,u < " + T + "] = " + scored);
  say(above + "[t,u < " + T + "] = sum[v < " + T + " where " + past("v") +
      "](if " + score + "[t,v] > " + score + "[t,u] then 1 else 0)");
  say(on + "[t,u < " + T + "] = " + past("u") + " and " + above + "[t,u] < 2");
  string chosen = on + "[t,u]";
  if (random.chance(0.5))
    chosen = past("u") + " and " + chosen;
  add(c, query + " + sum[u < " + T + " where " + chosen + "](softmax[u where " +
             chosen + "](" + score + "[t,u]) * " + value + "[u])");
}

/// Scores and a condition with names, for all places. With two choices a step
/// reads the last one, and a training that is itself a recurrence needs the
/// conditions.
void CarryWriter::named() {
  if (hasBits)
    return sparse();
  string score = start("named", "s"), on = fresh("o"), c = fresh("c"),
         query = now(), key = pick(), value = pick();
  say(score + "[t,u < " + T + "] = dot(" + query + ", " + key + "[u])");
  say(on + "[t,u < " + T + "] = " + past("u") + " and " + score +
      "[t,u] > -0.2");
  add(c, "tanh(" + query + " + sum[u < " + T + " where " + on + "[t,u]](" +
             score + "[t,u] * " + value + "[u]))");
}

/// Blocks of places; only the complete ones count.
void CarryWriter::blocks() {
  if (isReverse || hasBits)
    return named();
  string b = start("blocks", "b"), d = fresh("d"), c = fresh("c"),
         query = now(), value = pick();
  string size = std::to_string(random.between(2, 3));
  say(b + "[m < " + T + "//" + size + "] = sum[j < " + size + "](" + value +
      "[" + size + "*m+j] * (j + 1))");
  say(d + "[m < " + T + "//" + size + "] = tanh(0.5 * " + d + "[m-1] + " + b +
      "[m]);  " + d + "[-1] = ones(H)");
  string complete = size + "*(m+1) <= t+1";
  if (nearly && random.chance(0.3))
    complete = size + "*m <= t";
  add(c, query + " + " + d + "[(t+1)//" + size + "-1] + sum[m where " +
             complete + "](softmax[m where " + complete + "](dot(" + query +
             ", " + d + "[m])) * " + b + "[m])");
}

/// One sequence of two given rows and those of the steps.
void CarryWriter::prefix() {
  if (isReverse || hasBits)
    return named();
  string x = start("prefix", "p"), c = fresh("c"), query = now(),
         value = pick(), whole = "2 + " + T;
  say(x + "[i < " + whole + "] = if i < 2 then ones(H) * (i - 0.3) else " +
      value + "[i-2]");
  string condition = "i <= t + 2";
  if (nearly && random.chance(0.3))
    condition = "i <= t + 3";
  add(c, query + " + sum[i < " + whole + " where " + condition +
             "](softmax[i < " + whole + " where " + condition + "](dot(" +
             query + ", " + x + "[i])) * " + x + "[i])");
}

void CarryWriter::layers() {
  string h = start("layers", "h"), x = fresh("x"), input = now(),
         cell = fresh("w");
  params += (params.empty() ? "" : ", ") + cell + "[l < L] : linear(H)";
  say(h + "[l,t] = tanh(" + cell + "[l](" + h + "[l-1,t]) + " + h + "[l," +
      time(1) + "])");
  say(h + "[-1,t] = " + input);
  say(h + "[l," + (isReverse ? T : "-1") + "] = zeros(H)");
  add(x, h + "[L-1,t]");
}

void CarryWriter::attendingLayers() {
  string h = start("layers of attention", "h"), x = fresh("x"), input = now(),
         cell = fresh("w"), condition = past("u");
  params += (params.empty() ? "" : ", ") + cell + "[l < L] : linear(H)";
  say(h + "[l,t] = " + h + "[l-1,t] + sum[u < " + T + " where " + condition +
      "](softmax[u where " + condition + "](dot(" + cell + "[l](" + h +
      "[l-1,t]), " + h + "[l-1,u])) * " + h + "[l-1,u])");
  say(h + "[-1,t] = " + input);
  add(x, h + "[L-1,t]");
}

void CarryWriter::carries(int64_t number) {
  static constexpr Template templates[] = {
      &CarryWriter::fixed,    &CarryWriter::window,
      &CarryWriter::counter,  &CarryWriter::growing,
      &CarryWriter::growing,  &CarryWriter::symbols,
      &CarryWriter::bits,     &CarryWriter::resized,
      &CarryWriter::resized,  &CarryWriter::pairs,
      &CarryWriter::coverage, &CarryWriter::grid,
      &CarryWriter::turned,   &CarryWriter::running,
      &CarryWriter::largest,  &CarryWriter::layers,
      &CarryWriter::heads,    &CarryWriter::sparse,
      &CarryWriter::named,    &CarryWriter::blocks,
      &CarryWriter::prefix,   &CarryWriter::attendingLayers,
  };
  for (; number > 0; --number)
    (this->*templates[random.below(std::size(templates))])();
}

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

void CarryWriter::declareToken(const string &name, const string &type,
                               std::vector<string> extents, bool ends) {
  spec.data.push_back({name, SpecData::Token, std::move(extents)});
  spec.data.back().bound = 4;
  spec.data.back().ends = ends;
  spec.data.back().generated = name == "y";
  spec.sets.push_back({name + ".vocab", "4"});
  data += ", " + type;
}

/// One choice or two in each step. The search finds the length, or the data
/// have it.
void CarryWriter::writeSteps() {
  bool isKnown = random.chance(0.3);
  // No search runs backwards: such a spec is refused.
  isReverse = isKnown && nearly && random.chance(0.3);
  hasBits = random.chance(0.45);
  T = isKnown ? "S" : "T";
  spec.features.insert(isReverse ? "backwards" : isKnown ? "known" : "found");
  spec.lengths.push_back({"S", ""});
  spec.data.push_back({"src", SpecData::Real, {"S", "H"}});
  data = "src[S] : real(H)";
  if (!isKnown)
    spec.lengths.push_back({"T", ""});
  declareToken("y", "y[" + T + "] : " + (isKnown ? "token" : "sentence"), {T},
               !isKnown);
  string e = param("embedding(H)"), back = fresh("f");
  string last = e + "(y[" + time(1) + "])";
  if (isKnown)
    last = string("(if ") + (isReverse ? "t + 1 < " + T : "t > 0") + " then " +
           last + " else zeros(H))";
  add(fresh("x"), "tanh(" + last + " + t / 5)");
  if (hasBits) {
    spec.features.insert("two choices");
    spec.data.push_back({"z", SpecData::Bit, {T}});
    spec.data.back().generated = true;
    data += ", z[" + T + "] : bit";
    say(string("z[") + (isReverse ? T : "-1") + "] = 1");
    vectors.push_back(back); // what the end of the last step gives
  }
  carries(random.between(1, 3));
  say("y[t] ~ categorical(" + param("linear(y.vocab)") + "(" + now() + " + " +
      vectors.back() + "[t]) + t * " + param("vector(y.vocab)") + " / 4)");
  if (!hasBits)
    return;
  // From here on the symbol of the step is known, too.
  string late = fresh("q");
  add(late, "tanh(" + param("embedding(H)") + "(y[t]) + " + now() + ")");
  carries(random.between(1, 2));
  say("z[t] ~ bernoulli(logit = dot(" + vectors.back() + "[t], " +
      param("vector(H)") + ") + (t + 1) / 7)");
  say(back + "[t] = (" + vectors.back() + "[" + time(1) +
      "] ?? ones(H)) + (if z[" + time(1) + "] then 0.3 else -0.2) * ones(H)");
}

/// Rows of choices: a loop inside the step, with states of its own.
void CarryWriter::writeRows() {
  spec.features.insert("rows");
  spec.lengths = {{"M", ""}, {"W", "M"}};
  declareToken("g", "g[m < M, W[m]] : token", {"M", "W"}, false);
  declareToken("y", "y[m < M, j < W[m]] : token", {"M", "W"}, false);
  data = data.substr(2);
  string e = param("embedding(H)"), f = param("embedding(H)"),
         w = param("linear(H)"), out = param("linear(y.vocab)");
  string place = random.chance(0.5) ? "c[m-1]" : "(c[m-1] + b[m])";
  say("s[m,j < W[m]] = tanh(" + w + "(s[m,j-1]) + " + e +
      "(g[m,j]) + (if j == "
      "0 then zeros(H) else " +
      f + "(y[m,j-1])) + j / 5 - m / 7)");
  say("s[m,-1] = " + place);
  say("b[m] = sum[n < M where n < m](softmax[n where n < m](dot(c[n], c[m-1]))"
      " * c[n])");
  say("c[m < M] = if W[m] > 0 then s[m,W[m]-1] ?? zeros(H) else c[m-1]");
  say("c[-1] = ones(H)");
  string features = "s[m,j]";
  if (random.chance(0.5)) {
    spec.features.insert("growing in rows");
    string condition = nearly && random.chance(0.3) ? "k <= j+1" : "k <= j";
    say("d[m,j < W[m]] = sum[k < W[m] where " + condition +
        "](softmax[k where " + condition + "](dot(s[m,j], s[m,k])) * s[m,k])");
    features = "d[m,j] + s[m,j]";
  }
  if (nearly && random.chance(0.3))
    features += " + (c[m] ?? zeros(H))";
  say("y[m,j] ~ categorical(" + out + "(" + features + "))");
}

Spec CarryWriter::write() {
  spec.sizes = {{"H", 2}, {"L", 2}};
  random.chance(0.15) ? writeRows() : writeSteps();
  spec.decodable = spec.features.count("rows") == 0;
  spec.text = "model carries\ndim H = 2, L = 2\ndata " + data + "\nparam " +
              params + "\n" + lines;
  if (spec.features.count("found") > 0)
    spec.text += "decode { longest = 4 }\n";
  return std::move(spec);
}

Spec fovea::random::generateCarries(uint64_t seed, bool nearly) {
  return CarryWriter(seed, nearly).write();
}
