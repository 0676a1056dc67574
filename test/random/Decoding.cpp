//===- Decoding.cpp - the derived decoder against full evaluation ---------===//
//
// The oracle is `@training`: whatever the decoder says of a sequence, log p of
// the whole model with this sequence observed has to say too.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "dialect/reference/Compare.h"
#include "test/random/Checks.h"
#include "test/random/Data.h"

#include <algorithm>
#include <cmath>

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::runtime::Status;

namespace {

class DecoderCheck {
public:
  DecoderCheck(const Subject &subject, mlir::ModuleOp scheduled,
               Failures &failures, Statistics &statistics)
      : subject(subject), spec(*subject.spec),
        decoder(findContainer(scheduled, "decode")), example(subject.example),
        failures(failures), statistics(statistics) {
    example.seed.reset(); // no dropout
    given = withoutGenerated(spec, example);
    for (const SpecData &data : spec.data)
      if (data.generated)
        generated.push_back(&data);
  }

  void run();

private:
  void greedySteps(const Hypothesis &greedy);
  void beam();
  void states();

  /// log p of the whole model when the first `steps` values of `outputs` are
  /// observed. NaN when it cannot be evaluated.
  double fullLogp(const Arrays &outputs, int64_t steps);
  bool search(const SearchOptions &options, std::vector<Hypothesis> &found);
  void fail(const std::string &text) { failures.push_back("decoder: " + text); }

  /// The number of values of a name, the one that ends it included.
  int64_t choicesOf(const SpecData &data) const {
    if (data.kind == SpecData::Position)
      return example.lengths.at(data.boundLength).values[0] + 1;
    return data.kind == SpecData::Bit ? 2 : data.bound;
  }
  double endOf(const SpecData &data) const {
    return data.kind == SpecData::Position ? choicesOf(data) - 1 : 1;
  }
  attn::SearchOp searchOp() {
    attn::SearchOp op;
    decoder->walk([&](attn::SearchOp search) { op = search; });
    return op;
  }
  /// The steps are known from the given data: 0 when the search finds them.
  int64_t knownSteps() const {
    if (generated[0]->extents.empty())
      return 1;
    auto length = given.lengths.find(generated[0]->extents[0]);
    return length == given.lengths.end() ? 0 : length->second.values[0];
  }

  const Subject &subject;
  const Spec &spec;
  mlir::Operation *decoder;
  Inputs example, given;
  Failures &failures;
  Statistics &statistics;
  std::vector<const SpecData *> generated;
};

} // namespace

double DecoderCheck::fullLogp(const Arrays &outputs, int64_t steps) {
  Inputs inputs = example;
  for (const SpecData *data : generated) {
    Array array = outputs.at(data->name);
    array.integer = data->kind != SpecData::Real;
    if (!array.shape.empty() && !data->extents.empty()) {
      int64_t row = array.shape[0] ? array.values.size() / array.shape[0] : 0;
      array.shape[0] = steps;
      array.values.resize(steps * row);
    }
    inputs.data[data->name] = std::move(array);
    if (!data->extents.empty() && !given.lengths.count(data->extents[0]))
      inputs.lengths[data->extents[0]] = Length::of(steps);
  }
  Arrays result;
  Status status = objective(*subject.oracle, inputs, result, false);
  return status.failed() ? std::nan("") : result["logp"].values[0];
}

bool DecoderCheck::search(const SearchOptions &options,
                          std::vector<Hypothesis> &found) {
  Status status = decode(decoder, given, options, found);
  if (status.failed())
    fail(status.text());
  else if (found.empty())
    fail("the search gives no hypothesis");
  return status.succeeded() && !found.empty();
}

static bool near(double a, double b) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

void DecoderCheck::greedySteps(const Hypothesis &greedy) {
  bool stepwise = !generated[0]->extents.empty();
  int64_t steps = stepwise ? greedy.outputs.at(generated[0]->name).shape[0] : 1;
  bool known = knownSteps() != 0;
  if (known && stepwise && steps != knownSteps())
    return fail("the length is given, but the search took " +
                std::to_string(steps) + " steps");
  int64_t perStep = generated.size();
  if (static_cast<int64_t>(greedy.stepLogp.size()) != steps * perStep)
    return fail("a log p per choice is missing");

  double sum = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    ++statistics.steps;
    for (int64_t k = 0; k < perStep; ++k)
      sum += greedy.stepLogp[(step - 1) * perStep + k];
    if (known && step < steps)
      continue;
    double full = fullLogp(greedy.outputs, step);
    if (!near(sum, full))
      return fail("log p after step " + std::to_string(step) + " is " +
                  std::to_string(sum) + ", the whole model gives " +
                  std::to_string(full));
  }
  if (!near(greedy.logp, sum))
    fail("log p is not the sum of its steps");

  // Greedy: no other value of a step has a larger log p.
  if (perStep > 1)
    return;
  for (int64_t step = 1; step <= steps; ++step) {
    Arrays changed = greedy.outputs;
    Array &array = changed.at(generated[0]->name);
    double best = greedy.stepLogp[step - 1];
    double before = 0;
    for (int64_t k = 0; k + 1 < step; ++k)
      before += greedy.stepLogp[k];
    double own = array.values[step - 1], total = 0;
    for (int64_t value = 0; value < choicesOf(*generated[0]); ++value) {
      array.values[step - 1] = value;
      if (known && stepwise && step < steps)
        continue; // later steps would count as well
      double logp = fullLogp(changed, step) - before;
      total += std::exp(logp);
      if (!(logp <= best + tolerance) && value != own)
        return fail("step " + std::to_string(step) + " is not greedy");
    }
    if (!(known && stepwise && step < steps) && !(std::fabs(total - 1) < 1e-9))
      return fail("the probabilities of step " + std::to_string(step) +
                  " sum to " + std::to_string(total));
  }
}

void DecoderCheck::beam() {
  // A beam that holds everything finds every sequence, best first.
  const SpecData &data = *generated[0];
  int64_t values = choicesOf(data), steps = knownSteps();
  int64_t longest = steps ? steps : 3;
  if (generated.size() > 1 || std::pow(values, longest) > 100)
    return;
  ++statistics.bruteForced;
  struct Candidate {
    double logp;
    std::vector<double> values;
  };
  std::vector<Candidate> all;
  std::vector<std::vector<double>> open{{}};
  for (int64_t step = 1; step <= longest; ++step) {
    std::vector<std::vector<double>> next;
    for (const auto &prefix : open)
      for (int64_t value = 0; value < values; ++value) {
        next.push_back(prefix);
        next.back().push_back(value);
      }
    open.clear();
    for (auto &sequence : next) {
      bool ends =
          steps ? step == steps : data.ends && sequence.back() == endOf(data);
      if (!ends) {
        open.push_back(sequence);
        continue;
      }
      Arrays outputs;
      Array array = Array::zeros({step}, true);
      array.values = sequence;
      if (data.extents.empty())
        array.shape.clear();
      outputs[data.name] = array;
      all.push_back({fullLogp(outputs, step), sequence});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto &a, const auto &b) { return a.logp > b.logp; });

  SearchOptions options;
  options.beam = options.nbest = 500;
  options.longest = longest;
  std::vector<Hypothesis> found;
  if (!search(options, found))
    return;
  llvm::erase_if(found, [](const Hypothesis &h) { return !h.ended; });
  if (found.size() != all.size())
    return fail("the widest beam finds " + std::to_string(found.size()) +
                " sequences of " + std::to_string(all.size()));
  for (size_t i = 0; i < all.size(); ++i)
    if (!near(found[i].logp, all[i].logp))
      return fail("sequence " + std::to_string(i) + " of the beam has log p " +
                  std::to_string(found[i].logp) + ", by brute force " +
                  std::to_string(all[i].logp));
  if (found[0].outputs.at(data.name).values != all[0].values)
    fail("the best sequence of the beam is not the best one");
}

void DecoderCheck::states() {
  attn::SearchOp op = searchOp();
  if (!op)
    return;
  std::set<std::string> needless;
  for (mlir::Attribute state : op.getStates())
    needless.insert(llvm::cast<mlir::DictionaryAttr>(state)
                        .getAs<mlir::StringAttr>("name")
                        .str());
  statistics.states += needless.size();
  // A state may well not matter for one example: others, and other weights.
  for (int64_t attempt = 0; attempt < 8 && !needless.empty(); ++attempt) {
    Rng random(subject.seed, 10 + attempt);
    Arrays weights;
    for (const auto &[path, array] : subject.parameters)
      weights[path] = randomWeights(array.shape, random);
    example = randomExample(spec, random);
    example.parameters = &weights;
    given = withoutGenerated(spec, example);
    int64_t known = knownSteps();
    SearchOptions options;
    for (const SpecData *data : generated) {
      Array array = Array::zeros({known ? known : 4}, true);
      for (double &value : array.values) {
        value = random.below(choicesOf(*data));
        if (data->ends && value == endOf(*data)) // never ends early
          value = 0;
      }
      options.forced[data->name] = array;
    }
    std::vector<Hypothesis> whole;
    if (!search(options, whole))
      return;
    for (const std::string &state :
         std::vector<std::string>(needless.begin(), needless.end())) {
      options.dropState = state;
      std::vector<Hypothesis> dropped;
      Status status = decode(decoder, given, options, dropped);
      if (status.failed() || dropped.empty() ||
          dropped[0].stepLogp != whole[0].stepLogp)
        needless.erase(state);
    }
  }
  // Algebra that no schedule knows of may make a state needless: what is added
  // to every score of a softmax, or a softmax over one place. So they are
  // counted, and the tests bound their number.
  statistics.unnecessary += needless.size();
}

void DecoderCheck::run() {
  if (!decoder || generated.empty() || !spec.decodable)
    return;
  SearchOptions options;
  options.longest = 4;
  std::vector<Hypothesis> greedy;
  if (!search(options, greedy))
    return;
  for (const SpecData *data : generated)
    if (!greedy[0].outputs.count(data->name))
      return fail("'" + data->name + "' is no output");
  size_t before = failures.size();
  greedySteps(greedy[0]);
  beam();
  if (failures.size() == before && !generated[0]->extents.empty())
    states();
}

void fovea::random::checkDecoder(const Subject &subject,
                                 mlir::ModuleOp scheduled, Failures &failures,
                                 Statistics &statistics) {
  DecoderCheck(subject, scheduled, failures, statistics).run();
}
