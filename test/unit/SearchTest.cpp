//===- SearchTest.cpp - a wide beam is brute force ------------------------===//
//
// A recurrent decoder over four symbols whose state is a real number. A beam
// that holds every sequence gives all of them in the order of their log p. The
// log p equals the log p of the same sequence as input.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Search.h"

#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace fovea::reference;

// s[t] = tanh(0.7 s[t-1] + y[t-1] - 1), logits[v] = s[t] * (v - 1.5) + v / 4.
static const char *const model = R"mlir(
attn.system @decode {
  attn.length "T" open
  %one = arith.constant 1 : index
  %s = attn.compute "s" (%t: "T") {
    %none = arith.constant 0.0 : f64
    %start = arith.constant 0 : i64
    %a = arith.constant 0.7 : f64
    %unit = arith.constant 1.0 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %s[%before] default %none : f64 : !attn.array<["T"], f64>
    %1 = attn.read %y[%before] default %start : i64 : !attn.array<["T"], i64>
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.mulf %0, %a : f64
    %4 = arith.addf %3, %2 : f64
    %5 = arith.subf %4, %unit : f64
    %6 = math.tanh %5 : f64
    attn.yield %6 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %middle = arith.constant 1.5 : f64
    %quarter = arith.constant 0.25 : f64
    %0 = attn.read %s[%t] : !attn.array<["T"], f64>
    %1 = arith.index_cast %v : index to i64
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.subf %2, %middle : f64
    %4 = arith.mulf %0, %3 : f64
    %5 = arith.mulf %2, %quarter : f64
    %6 = arith.addf %4, %5 : f64
    attn.yield %6 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 0 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}
)mlir";

/// The same model, written out.
static double logpOf(const std::vector<int> &sequence) {
  double state = 0, total = 0;
  int before = 0;
  for (int symbol : sequence) {
    state = std::tanh(0.7 * state + before - 1);
    double sum = 0;
    for (int v = 0; v < 4; ++v)
      sum += std::exp(state * (v - 1.5) + v / 4.0);
    total += state * (symbol - 1.5) + symbol / 4.0 - std::log(sum);
    before = symbol;
  }
  return total;
}

/// Every sequence that ends with 0 within `longest` symbols.
static std::vector<std::vector<int>> allSequences(int longest) {
  std::vector<std::vector<int>> open = {{}}, ended;
  for (int length = 0; length < longest; ++length) {
    std::vector<std::vector<int>> next;
    for (const std::vector<int> &sequence : open)
      for (int v = 0; v < 4; ++v) {
        std::vector<int> longer = sequence;
        longer.push_back(v);
        (v == 0 ? ended : next).push_back(longer);
      }
    open = next;
  }
  return ended;
}

class SearchTest : public testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<fovea::attn::AttnDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(model, &context);
    ASSERT_TRUE(module);
    system = findContainer(*module, "decode");
  }
  std::vector<Hypothesis> run(const SearchOptions &options) {
    std::vector<Hypothesis> hypotheses;
    Status status = decode(system, Inputs(), options, hypotheses);
    EXPECT_TRUE(status.succeeded()) << status.text();
    return hypotheses;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *system = nullptr;
};

TEST_F(SearchTest, AWideBeamIsBruteForce) {
  std::vector<std::pair<double, std::vector<int>>> expected;
  for (const std::vector<int> &sequence : allSequences(4))
    expected.push_back({-logpOf(sequence), sequence});
  std::sort(expected.begin(), expected.end());
  SearchOptions options;
  options.beam = 1000;
  options.nbest = static_cast<int64_t>(expected.size());
  options.longest = 4;
  std::vector<Hypothesis> found = run(options);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].ended);
    EXPECT_NEAR(found[i].logp, -expected[i].first, 1e-12);
    std::vector<double> sequence(expected[i].second.begin(),
                                 expected[i].second.end());
    EXPECT_EQ(found[i].outputs["y"].values, sequence);
  }
}

TEST_F(SearchTest, GivenValuesHaveTheirLogp) {
  for (const std::vector<int> &sequence : allSequences(3)) {
    SearchOptions options;
    options.forced["y"] = Array::zeros({int64_t(sequence.size())}, true);
    std::copy(sequence.begin(), sequence.end(),
              options.forced["y"].values.begin());
    std::vector<Hypothesis> found = run(options);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].logp, logpOf(sequence), 1e-12);
    EXPECT_EQ(found[0].stepLogp.size(), sequence.size());
  }
}

// Greedy is at each step the best symbol by the model written out.
TEST_F(SearchTest, GreedyTakesTheBestSymbol) {
  std::vector<int> sequence;
  while (sequence.size() < 6 && (sequence.empty() || sequence.back() != 0)) {
    double best = 0;
    int choice = -1;
    for (int v = 0; v < 4; ++v) {
      std::vector<int> longer = sequence;
      longer.push_back(v);
      double logp = logpOf(longer);
      if (choice < 0 || logp > best) {
        best = logp;
        choice = v;
      }
    }
    sequence.push_back(choice);
  }
  SearchOptions options;
  options.longest = 6;
  std::vector<Hypothesis> found = run(options);
  EXPECT_EQ(found[0].outputs["y"].values,
            std::vector<double>(sequence.begin(), sequence.end()));
}

// Over many draws each first symbol comes as often as it should: within five
// deviations of a share of 4000.
TEST_F(SearchTest, DrawsFollowTheModel) {
  SearchOptions options;
  options.sample = true;
  options.nbest = 4000;
  options.longest = 1;
  options.seed = 11;
  std::vector<Hypothesis> found = run(options);
  ASSERT_EQ(found.size(), 4000u);
  std::vector<double> count(4);
  for (Hypothesis &hypothesis : found)
    ++count[hypothesis.outputs["y"].values[0]];
  for (int v = 0; v < 4; ++v) {
    double p = std::exp(logpOf({v}));
    EXPECT_NEAR(count[v] / 4000, p, 5 * std::sqrt(p * (1 - p) / 4000));
  }
}

TEST_F(SearchTest, ReadsTheOptionsOfTheModel) {
  mlir::Builder builder(&context);
  auto set = [&](const char *normalise) {
    (*module)->setAttr(
        "attn.decode",
        builder.getDictionaryAttr(
            {builder.getNamedAttr("beam", builder.getI64IntegerAttr(12)),
             builder.getNamedAttr("normalise",
                                  builder.getStringAttr(normalise))}));
  };
  SearchOptions options;
  set("per_symbol");
  ASSERT_TRUE(readSearchOptions(*module, options).succeeded());
  EXPECT_EQ(options.beam, 12);
  EXPECT_EQ(options.normalise, Normalise::PerSymbol);
  set("gnmt(0.8)");
  ASSERT_TRUE(readSearchOptions(*module, options).succeeded());
  EXPECT_EQ(options.normalise, Normalise::Gnmt);
  EXPECT_EQ(options.gnmt, 0.8);
  set("gnmt");
  ASSERT_TRUE(readSearchOptions(*module, options).succeeded());
  EXPECT_EQ(options.normalise, Normalise::Gnmt);
  set("gnmt(x)");
  EXPECT_EQ(readSearchOptions(*module, options).text(),
            "'gnmt(x)' is not none, per_symbol or gnmt(A)");
}

/// Commands refuse such options before; callers of the library may pass them.
TEST(SearchOptionsTest, RefusesMoreThanASearchCanHold) {
  auto errorOf = [](auto change) {
    fovea::runtime::SearchOptions options;
    change(options);
    return fovea::runtime::check(options).text();
  };
  EXPECT_EQ(errorOf([](auto &options) { options.beam = 10'001; }),
            "a search keeps at most 10000 hypotheses, not 10001");
  EXPECT_EQ(errorOf([](auto &options) { options.longest = 1'000'001; }),
            "a search makes at most 1000000 steps, not 1000001");
  EXPECT_EQ(errorOf([](auto &options) { options.gnmt = INFINITY; }),
            "gnmt(A) takes a number, not inf");
  EXPECT_EQ(errorOf([](auto &options) {
              options.beam = 10'000;
              options.longest = 1'000'000;
            }),
            "");
}
