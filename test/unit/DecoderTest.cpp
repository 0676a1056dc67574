//===- DecoderTest.cpp - derived decoders of published models -------------===//
//
// For small instances of the models of models/: log p that the derived decoder
// gives to an output, choice by choice, is log p of the whole model with that
// output observed; and each state that the decoder keeps is needed, because
// leaving it out changes log p. Constants that `decode { set .. }` replaces
// have its value in training, too.
//
//===----------------------------------------------------------------------===//

#include "compiler/Compiler.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Batch.h"
#include "dialect/reference/Compare.h"
#include "dialect/reference/Search.h"
#include "runtime/Philox.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>

using namespace fovea;
using namespace fovea::reference;

namespace {
struct Published {
  const char *name;
  std::vector<std::pair<std::string, std::string>> sets;
  const char *folder = FOVEA_MODELS;
};

std::ostream &operator<<(std::ostream &out, const Published &model) {
  return out << model.name;
}

/// Numbers in [-1, 1), the same on every machine.
class Numbers {
public:
  double next() {
    return runtime::philox({count++, 0, 0, 0}, {3, 4})[0] / 2147483648.0 - 1;
  }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>((next() + 1) / 2 * bound);
  }

private:
  uint32_t count = 0;
};

class DecoderTest : public testing::TestWithParam<Published> {
protected:
  void SetUp() override {
    FrontendOptions options;
    options.sets = GetParam().sets;
    Diagnostics diagnostics(llvm::errs());
    model = compiler::open(GetParam().folder + std::string("/") +
                               GetParam().name + ".fov",
                           options, context, diagnostics);
    diagnostics.finish();
    ASSERT_TRUE(model && model->module);
    training = mlir::OwningOpRef<mlir::ModuleOp>(
        mlir::cast<mlir::ModuleOp>(model->module->clone()));
    attn::PipelineOptions pipeline;
    pipeline.gradients = false;
    ASSERT_TRUE(mlir::succeeded(compiler::lower(*model->module, pipeline)));
    decoder = findContainer(*model->module, "decode");
    ASSERT_TRUE(decoder);
    makeInputs();
  }

  /// Data of every name: 5 places of the given name, 4 of the generated one.
  void makeInputs() {
    mlir::Operation *system = findContainer(*training, "training");
    for (const auto &[path, shape] : describeParameters(system)) {
      Array &array = parameters[path] = Array::zeros(shape);
      for (double &value : array.values)
        value = numbers.next();
    }
    inputs.parameters = &parameters;
    for (const DataInfo &data : model->data)
      for (const std::string &extent : data.extents)
        if (llvm::is_contained(model->lengths, extent) &&
            !inputs.lengths.count(extent))
          inputs.lengths[extent] = Length::of(data.isChosen ? 4 : 5);
    for (const runtime::DataSpec &spec : describeData(system)) {
      const DataInfo &info =
          *llvm::find_if(model->data, [&](const DataInfo &data) {
            return data.name == spec.name;
          });
      std::vector<int64_t> shape;
      for (const runtime::DataAxis &axis : spec.axes)
        shape.push_back(axis.length.empty()
                            ? axis.size
                            : inputs.lengths[axis.length].values[0]);
      Array &array = inputs.data[spec.name] = Array::zeros(shape);
      // No value is the one that ends the sequence before the last; bits
      // alternate, so that no state of them stays as it begins.
      double bit = 1;
      for (double &value : array.values)
        value = info.kind == DataInfo::Real  ? numbers.next()
                : info.kind == DataInfo::Bit ? (bit = 1 - bit)
                : info.kind == DataInfo::Position
                    ? numbers.below(5)
                    : 2 + numbers.below(info.vocabularySize - 2);
      if (info.isSentence)
        array.values.back() = 1;
      if (info.isChosen)
        outputs[spec.name] = array;
    }
  }

  /// log p of each choice of the given outputs; empty when there is an error.
  std::vector<double> logps(const std::string &dropped) {
    SearchOptions options;
    options.forced = outputs;
    options.dropState = dropped;
    Inputs given = inputs;
    for (const auto &[name, array] : outputs)
      given.data.erase(name);
    for (mlir::Operation &op : decoder->getRegion(0).getOps())
      if (auto length = mlir::dyn_cast<attn::LengthOp>(op);
          length && length.getOpen())
        given.lengths.erase(length.getLength().str());
    std::vector<Hypothesis> found;
    Status status = decode(decoder, given, options, found);
    if (dropped.empty())
      EXPECT_TRUE(status.succeeded()) << status.text();
    return found.empty() ? std::vector<double>() : found[0].stepLogp;
  }

  /// The one generated name that is a sentence, if that is all that is
  /// generated.
  const DataInfo *onlySentence() {
    const DataInfo *found = nullptr;
    for (const DataInfo &data : model->data)
      if (data.isChosen) {
        if (found || !data.isSentence)
          return nullptr;
        found = &data;
      }
    return found;
  }

  Inputs withoutOutputs() {
    Inputs given = inputs;
    for (const auto &[name, array] : outputs)
      given.data.erase(name);
    for (const DataInfo &data : model->data)
      if (data.isChosen)
        for (const std::string &extent : data.extents)
          given.lengths.erase(extent);
    return given;
  }

  /// log p of the whole model with these values observed.
  double wholeLogp(const DataInfo &data, const std::vector<double> &values) {
    Inputs observed = inputs;
    int64_t count = values.size();
    Array &array = observed.data[data.name] = Array::zeros({count}, true);
    array.values = values;
    observed.lengths[data.extents[0]] = Length::of(count);
    Arrays whole;
    EvaluateOptions options;
    options.objective = true;
    Status status = evaluate(findContainer(*training, "training"), observed,
                             whole, options);
    EXPECT_TRUE(status.succeeded()) << status.text();
    return status.succeeded() ? whole["logp"].values[0] : 0;
  }

  compiler::Context context;
  std::unique_ptr<Model> model;
  mlir::OwningOpRef<mlir::ModuleOp> training;
  mlir::Operation *decoder = nullptr;
  Numbers numbers;
  Arrays parameters, outputs;
  Inputs inputs;
};
} // namespace

TEST_P(DecoderTest, LogpIsThatOfTheWholeModel) {
  std::vector<double> steps = logps("");
  ASSERT_FALSE(steps.empty());
  Arrays whole;
  EvaluateOptions options;
  options.objective = true;
  Status status =
      evaluate(findContainer(*training, "training"), inputs, whole, options);
  ASSERT_TRUE(status.succeeded()) << status.text();
  EXPECT_EQ(whole["choices"].values[0], steps.size());
  double total = std::accumulate(steps.begin(), steps.end(), 0.0);
  EXPECT_TRUE(agree(Array::scalar(total), whole["logp"], 1e-10))
      << total << " but " << whole["logp"].values[0];
}

TEST_P(DecoderTest, EveryStateIsNeeded) {
  Array all{{}, logps(""), false};
  decoder->walk([&](attn::SearchOp search) {
    for (auto state : search.getStates().getAsRange<mlir::DictionaryAttr>()) {
      std::string name = state.getAs<mlir::StringAttr>("name").str();
      Array without{{}, logps(name), false};
      EXPECT_FALSE(agree(all, without, 1e-9)) << name;
    }
  });
}

/// A greedy output has the probability that the whole model gives it.
TEST_P(DecoderTest, GreedyIsTheWholeModelAgain) {
  const DataInfo *data = onlySentence();
  if (!data)
    GTEST_SKIP() << "generates more than one sentence";
  SearchOptions options;
  options.longest = 4;
  std::vector<Hypothesis> found;
  Status status = decode(decoder, withoutOutputs(), options, found);
  ASSERT_TRUE(status.succeeded()) << status.text();
  EXPECT_NEAR(found[0].logp,
              wholeLogp(*data, found[0].outputs.at(data->name).values), 1e-10);
}

/// A beam that holds every output finds the one that trying all of them finds.
TEST_P(DecoderTest, WideBeamIsBruteForce) {
  const DataInfo *data = onlySentence();
  if (!data)
    GTEST_SKIP() << "generates more than one sentence";
  SearchOptions options;
  options.longest = 2;
  options.beam = options.nbest = 100;
  std::vector<Hypothesis> found;
  Status status = decode(decoder, withoutOutputs(), options, found);
  ASSERT_TRUE(status.succeeded()) << status.text();

  constexpr int end = 1;
  std::vector<std::vector<double>> all = {{end}};
  for (int first = 0; first < data->vocabularySize; ++first)
    for (int second = 0; second < data->vocabularySize; ++second)
      if (first != end)
        all.push_back({double(first), double(second)});
  double best = -std::numeric_limits<double>::infinity();
  std::vector<double> likeliest;
  for (const std::vector<double> &values : all)
    if (double logp = wholeLogp(*data, values); logp > best) {
      best = logp;
      likeliest = values;
    }
  // What was cut at the largest length is ranked behind what has ended.
  const Hypothesis &top =
      *llvm::max_element(found, [](const Hypothesis &a, const Hypothesis &b) {
        return a.logp < b.logp;
      });
  EXPECT_EQ(found.size(), all.size());
  EXPECT_NEAR(top.logp, best, 1e-10);
  EXPECT_EQ(top.outputs.at(data->name).values, likeliest);
}

INSTANTIATE_TEST_SUITE_P(
    Models, DecoderTest,
    testing::Values(
        Published{"rnnsearch",
                  {{"E", "3"},
                   {"H", "4"},
                   {"A", "3"},
                   {"M", "3"},
                   {"src.vocab", "6"},
                   {"tgt.vocab", "7"}}},
        Published{"seq2seq",
                  {{"L", "2"},
                   {"E", "3"},
                   {"H", "4"},
                   {"src.vocab", "6"},
                   {"tgt.vocab", "7"}}},
        Published{"transformer",
                  {{"L", "2"},
                   {"D", "8"},
                   {"K", "2"},
                   {"F", "6"},
                   {"joint.vocab", "7"}}},
        Published{"luong_local_p",
                  {{"L", "2"},
                   {"E", "3"},
                   {"H", "4"},
                   {"D", "1"},
                   {"src.vocab", "6"},
                   {"tgt.vocab", "7"}}},
        Published{"speech",
                  {{"I", "3"},
                   {"H", "3"},
                   {"A", "3"},
                   {"E", "3"},
                   {"M", "3"},
                   {"K", "2"},
                   {"R", "5"},
                   {"sharp", "2"},
                   {"tgt.vocab", "7"}}},
        Published{"caption_soft",
                  {{"D", "4"},
                   {"E", "3"},
                   {"H", "4"},
                   {"A", "3"},
                   {"tgt.vocab", "7"}}},
        Published{"pointer", {{"H", "4"}}},
        Published{"decoder_lm",
                  {{"L", "2"},
                   {"D", "8"},
                   {"K", "2"},
                   {"N", "8"},
                   {"word.vocab", "7"}}},
        Published{"rnnlm",
                  {{"L", "2"}, {"E", "3"}, {"H", "4"}, {"word.vocab", "7"}}},
        Published{"graves",
                  {{"H", "4"},
                   {"K", "2"},
                   {"M", "2"},
                   {"text.vocab", "6"},
                   {"bias", "0.5"}}}),
    [](const auto &info) { return std::string(info.param.name); });

// The kinds of states that no published model here has: windows and
// accumulators.
INSTANTIATE_TEST_SUITE_P(
    States, DecoderTest,
    testing::Values(Published{"local", {{"x.vocab", "6"}}, FOVEA_INPUTS},
                    Published{"convolution", {{"x.vocab", "6"}}, FOVEA_INPUTS},
                    Published{"running", {{"x.vocab", "6"}}, FOVEA_INPUTS}),
    [](const auto &info) { return std::string(info.param.name); });
