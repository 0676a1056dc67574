//===- OptimiserTest.cpp - updates against values by hand -----------------===//
//
// Two updates of each rule from w = 1 with the gradients 0.5 and -0.25, worked
// out from the formulas of the papers (runtime/train/TrainOptions.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/Functions.h"
#include "runtime/Philox.h"
#include "runtime/data/DataOrder.h"
#include "runtime/train/Learner.h"
#include "runtime/train/RowGradients.h"
#include "runtime/train/WeightNoise.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace fovea::runtime;

namespace {

TrainOptions optionsOf(std::map<std::string, std::string> entries) {
  TrainOptions options;
  Status status = readTrainOptions(entries, {{"D", 16}}, options);
  EXPECT_TRUE(status.succeeded()) << status.text();
  return options;
}

std::string mistakeIn(std::map<std::string, std::string> entries) {
  TrainOptions options;
  return readTrainOptions(entries, {{"D", 16}}, options).text();
}

/// The weight after each of the two updates.
std::pair<double, double> updates(std::map<std::string, std::string> entries) {
  TrainOptions options = optionsOf(entries);
  double weight = 1, first = 0, second = 0, gradient = 0.5;
  step(options.optimiser, 1, rateAt(options.rate, 1), &weight, &gradient,
       &first, &second, 1, nullptr);
  double once = weight;
  gradient = -0.25;
  step(options.optimiser, 2, rateAt(options.rate, 2), &weight, &gradient,
       &first, &second, 1, nullptr);
  return {once, weight};
}

void expectUpdates(std::map<std::string, std::string> entries, double once,
                   double twice) {
  auto [first, second] = updates(entries);
  EXPECT_NEAR(first, once, 1e-12);
  EXPECT_NEAR(second, twice, 1e-12);
}

} // namespace

TEST(Optimiser, Sgd) {
  expectUpdates({{"optimiser", "sgd(0.1)"}}, 0.95, 0.975);
  // 0.5 + 0.2 * 1; then -0.25 + 0.2 * 0.93.
  expectUpdates({{"optimiser", "sgd"}, {"rate", "0.1"}, {"decay", "0.2"}}, 0.93,
                0.9364);
}

// Polyak (1964): v = 0.5, then 0.9 * 0.5 - 0.25 = 0.2.
TEST(Optimiser, Momentum) {
  expectUpdates({{"optimiser", "momentum(0.9)"}, {"rate", "0.1"}}, 0.95, 0.93);
}

// Tieleman and Hinton (2012): r = 0.1 * 0.25, then 0.9 r + 0.1 * 0.0625.
TEST(Optimiser, RmsProp) {
  double r1 = 0.025, r2 = 0.9 * 0.025 + 0.00625;
  double once = 1 - 0.01 * 0.5 / std::sqrt(r1);
  expectUpdates({{"optimiser", "rmsprop(0.9, 0)"}, {"rate", "0.01"}}, once,
                once + 0.01 * 0.25 / std::sqrt(r2));
  double v1 = 0.5 / std::sqrt(r1);
  double v2 = 0.5 * v1 - 0.25 / std::sqrt(r2);
  expectUpdates(
      {{"optimiser", "rmsprop(0.9, 0, momentum = 0.5)"}, {"rate", "0.01"}},
      1 - 0.01 * v1, 1 - 0.01 * v1 - 0.01 * v2);
}

// Duchi, Hazan and Singer (2011): r = 0.25, then 0.3125.
TEST(Optimiser, Adagrad) {
  double once = 1 - 0.01 * (0.5 / 0.6);
  expectUpdates({{"optimiser", "adagrad(0.1)"}}, once,
                once + 0.01 * 0.25 / (std::sqrt(0.3125) + 0.1));
}

// Zeiler (2012), algorithm 1, with rho = 0.9 and eps = 0.01.
TEST(Optimiser, Adadelta) {
  double r = 0.1 * 0.25, d = std::sqrt(0.01) / std::sqrt(r + 0.01) * 0.5;
  double once = 1 - d, u = 0.1 * d * d;
  r = 0.9 * r + 0.1 * 0.0625;
  d = std::sqrt(u + 0.01) / std::sqrt(r + 0.01) * -0.25;
  expectUpdates({{"optimiser", "adadelta(0.9, 0.01)"}}, once, once - d);
}

// Kingma and Ba (2015), algorithm 1: the first step is the rate itself.
TEST(Optimiser, Adam) {
  double m = 0.9 * 0.05 - 0.025, v = 0.999 * 0.00025 + 0.0000625;
  double hat = m / 0.19 / std::sqrt(v / (1 - 0.999 * 0.999));
  expectUpdates({{"optimiser", "adam(eps = 0)"}, {"rate", "0.01"}}, 0.99,
                0.99 - 0.01 * hat);
}

// Loshchilov and Hutter (2019), algorithm 2: the decay is of the weights.
TEST(Optimiser, AdamW) {
  double m = 0.9 * 0.05 - 0.025, v = 0.999 * 0.00025 + 0.0000625;
  double hat = m / 0.19 / std::sqrt(v / (1 - 0.999 * 0.999));
  double once = 1 - 0.01 * (1 + 0.1);
  expectUpdates({{"optimiser", "adamw(0.9, 0.999, 0, 0.1)"}, {"rate", "0.01"}},
                once, once - 0.01 * (hat + 0.1 * once));
}

// What is done to an array does not depend on the number of threads.
TEST(Optimiser, ThreadsChangeNothing) {
  constexpr int64_t count = 100003;
  std::vector<float> gradients(count);
  for (int64_t i = 0; i < count; ++i)
    gradients[i] = float(i % 1013) / 1013 - 0.3f;
  FoveaPool *pool = fovea_pool_create(3);
  EXPECT_EQ(sumOfSquares(gradients.data(), count, pool),
            sumOfSquares(gradients.data(), count, nullptr));
  TrainOptions options = optionsOf({{"optimiser", "adam"}});
  std::vector<float> results[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<float> weights(count, 1), first(count), second(count);
    step(options.optimiser, 1, 0.01, weights.data(), gradients.data(),
         first.data(), second.data(), count, i == 0 ? nullptr : pool);
    results[i] = weights;
  }
  fovea_pool_destroy(pool);
  EXPECT_EQ(results[0], results[1]);
}

TEST(Optimiser, RowsAreLimited) {
  double weights[] = {3, 4, 0.3, 0.4};
  limitRows(weights, 2, 2, 1.0);
  EXPECT_NEAR(weights[0], 0.6, 1e-15);
  EXPECT_NEAR(weights[1], 0.8, 1e-15);
  EXPECT_EQ(weights[2], 0.3);
}

//===----------------------------------------------------------------------===//
// Rates and options
//===----------------------------------------------------------------------===//

TEST(TrainOptions, Rates) {
  auto rate = [](const char *text, int64_t t, const char *warmup = "0") {
    return rateAt(optionsOf({{"rate", text}, {"warmup", warmup}}).rate, t);
  };
  EXPECT_DOUBLE_EQ(rate("0.3", 77), 0.3);
  EXPECT_DOUBLE_EQ(rate("0.3", 5, "10"), 0.15);
  EXPECT_DOUBLE_EQ(rate("0.3", 15, "10"), 0.3);
  // Vaswani et al. (2017), equation 3.
  EXPECT_DOUBLE_EQ(rate("noam(D, 100)", 50), 0.25 * 50 / 1000);
  EXPECT_DOUBLE_EQ(rate("noam(D, 100)", 400), 0.25 / 20);
  EXPECT_DOUBLE_EQ(rate("inverse_sqrt(100, 0.2)", 50), 0.1);
  EXPECT_DOUBLE_EQ(rate("inverse_sqrt(100, 0.2)", 400), 0.1);
  EXPECT_DOUBLE_EQ(rate("cosine(100, 0.2, 0.1)", 1), 0.2);
  EXPECT_NEAR(rate("cosine(100, 0.2, 0.1)", 51), 0.15, 1e-12);
  EXPECT_DOUBLE_EQ(rate("cosine(100, 0.2, 0.1)", 1000), 0.1);
  EXPECT_DOUBLE_EQ(rate("step(10, 0.5, 0.8)", 10), 0.8);
  EXPECT_DOUBLE_EQ(rate("step(10, 0.5, peak = 0.8)", 21), 0.2);
}

TEST(TrainOptions, Entries) {
  TrainOptions options =
      optionsOf({{"batch", "tokens(4000)"},
                 {"clip_value[cell]", "10"},
                 {"noise", "weight(0.075)"},
                 {"bucket", "S"},
                 {"accumulate", "4"},
                 {"early_stop", "perplexity(patience = 3)"}});
  EXPECT_EQ(options.batch, 4000);
  EXPECT_TRUE(options.countsTokens);
  EXPECT_EQ(options.clipValue.at("cell"), 10);
  EXPECT_EQ(options.noise, 0.075);
  EXPECT_EQ(options.bucketLength, "S");
  EXPECT_EQ(options.accumulate, 4);
  EXPECT_EQ(options.earlyStop.metric, "perplexity");
  EXPECT_EQ(options.earlyStop.patience, 3);
  EXPECT_TRUE(options.buckets);
  EXPECT_FALSE(optionsOf({}).buckets);
  EXPECT_FALSE(optionsOf({{"bucket", "none"}}).buckets);
  options = optionsOf({{"bucket", "all"}});
  EXPECT_TRUE(options.buckets);
  EXPECT_EQ(options.bucketLength, "");
  EXPECT_EQ(optionsOf({{"early_stop", "none"}}).earlyStop.metric, "");
  // The expected value of a metric.
  options = optionsOf({{"early_stop", "bleu(tgt, patience = 2)"}});
  EXPECT_EQ(options.earlyStop.metric, "bleu(tgt)");
  EXPECT_EQ(options.earlyStop.patience, 2);
  EXPECT_EQ(optionsOf({{"early_stop", "exact"}}).earlyStop.metric, "exact");
}

TEST(TrainOptions, Mistakes) {
  EXPECT_EQ(mistakeIn({{"optimiser", "lion"}}),
            "train { optimiser = .. }: unknown value 'lion' (expected adam, "
            "adamw, adadelta, rmsprop, adagrad, momentum or sgd)");
  EXPECT_EQ(mistakeIn({{"optimiser", "adam(0.9, 0.99, 1e-9, 4)"}}),
            "train { optimiser = .. }: 'adam' takes (b1, b2, eps), not '4'");
  EXPECT_EQ(mistakeIn({{"optimiser", "adam(beta = 4)"}}),
            "train { optimiser = .. }: 'adam' takes (b1, b2, eps), not 'beta'");
  EXPECT_EQ(
      mistakeIn({{"optimiser", "adam(1.5)"}}),
      "train { optimiser = .. }: 'b1' must be at least 0 and below 1, not 1.5");
  EXPECT_EQ(mistakeIn({{"rate", "noam(E, 4000)"}}),
            "train { rate = .. }: 'E' is neither a number nor a dim");
  EXPECT_EQ(mistakeIn({{"rate", "noam(D)"}}),
            "train { rate = .. }: 'noam' needs 'n'");
  EXPECT_EQ(mistakeIn({{"rate", "cosine(0)"}}),
            "train { rate = .. }: 'n' must be at least 1, not 0");
  EXPECT_EQ(mistakeIn({{"rate", "linear"}}),
            "train { rate = .. }: unknown value 'linear' (expected a number, "
            "noam, inverse_sqrt, cosine or step)");
  EXPECT_EQ(mistakeIn({{"rate", "-1"}}),
            "train { rate = .. }: a rate must be at least 0, not -1");
  EXPECT_EQ(
      mistakeIn({{"rate", "step(10, 5, 1)"}}),
      "train { rate = .. }: 'factor' must be at least 0 and below 1, not 5");
  EXPECT_EQ(mistakeIn({{"rate", "step(10, 0, 1)"}}),
            "train { rate = .. }: 'factor' must be above 0, not 0");
  EXPECT_EQ(mistakeIn({{"rate", "step(10, 0.5, 0)"}}),
            "train { rate = .. }: 'peak' must be above 0, not 0");
  EXPECT_EQ(mistakeIn({{"rate", "cosine(10, 0)"}}),
            "train { rate = .. }: 'peak' must be above 0, not 0");
  EXPECT_EQ(mistakeIn({{"clip", "none"}}),
            "train { clip = .. }: takes a number of at least 0, not 'none'");
  EXPECT_EQ(mistakeIn({{"batch", "2.5"}}),
            "train { batch = .. }: takes a whole number, not 2.5");
}

//===----------------------------------------------------------------------===//
// Learner and order
//===----------------------------------------------------------------------===//

TEST(Learner, StateIsThatOfTheSameModel) {
  TensorFile initial;
  initial.tensors["a"] = Tensor::of(DType::F32, {2}, {1, 2});
  auto learner = Learner::create(initial, optionsOf({{"optimiser", "adam"}}),
                                 false, nullptr);
  TensorFile file;
  learner->store(file);
  EXPECT_EQ(file.tensors.size(), 3u);
  EXPECT_TRUE(learner->load(file, true).empty());
  // Without gradients nothing moves.
  learner->beginGradients();
  learner->sumGradients();
  EXPECT_EQ(learner->learn(1), 0);
  TensorFile after;
  learner->storeWeights(after);
  EXPECT_EQ(after.tensors.at("a").bytes, initial.tensors.at("a").bytes);

  auto other = Learner::create(initial, optionsOf({{"optimiser", "sgd"}}),
                               false, nullptr);
  EXPECT_TRUE(other->load(file, false).empty());
  initial.tensors["a"] = Tensor::of(DType::F32, {3}, {1, 2, 3});
  other = Learner::create(initial, optionsOf({}), false, nullptr);
  EXPECT_EQ(other->load(file, true),
            std::vector<std::string>{"'a' is F32 [3] in the model but F32 [2] "
                                     "in the resumed run"});
}

/// Some numbers of an array, and zeros elsewhere.
static std::vector<float> withSegments(std::vector<Segment<float>> &segments,
                                       std::vector<float> &own, int64_t count) {
  std::vector<float> whole(count);
  for (size_t i = 0; i < own.size(); ++i)
    own[i] = std::sin(float(i) * 1.7F) * 3;
  const float *next = own.data();
  for (Segment<float> &segment : segments) {
    segment.values = next;
    std::copy_n(next, segment.count, whole.begin() + segment.begin);
    next += segment.count;
  }
  return whole;
}

TEST(Optimiser, SquaresOfSegmentsHaveTheBitsOfAll) {
  constexpr int64_t count = 5 * valuesOfPart;
  std::vector<Segment<float>> segments = {{3, 10, nullptr},
                                          {13, 50, nullptr},
                                          {1000, 40000, nullptr},
                                          {3 * valuesOfPart - 5, 11, nullptr},
                                          {count - 7, 7, nullptr}};
  std::vector<float> own(10 + 50 + 40000 + 11 + 7);
  std::vector<float> whole = withSegments(segments, own, count);
  FoveaPool *pool = fovea_pool_create(2);
  double sum = sumOfSquares(whole.data(), count, nullptr);
  EXPECT_GT(sum, 0);
  for (FoveaPool *threads : {static_cast<FoveaPool *>(nullptr), pool})
    EXPECT_EQ(
        sumOfSquares(std::span<const Segment<float>>(segments), count, threads),
        sum);
  fovea_pool_destroy(pool);
}

TEST(Optimiser, RowsHaveTheStepOfAll) {
  constexpr int64_t count = 300;
  std::vector<Segment<float>> rows = {{10, 30, nullptr}, {120, 30, nullptr}};
  std::vector<float> own(60);
  std::vector<float> gradients = withSegments(rows, own, count);
  TrainOptions options = optionsOf({{"optimiser", "adam"}, {"decay", "0.1"}});
  std::vector<float> weights(count, 0.5F), first(count, 0.25F),
      second(count, 0.125F);
  std::vector<uint16_t> firstBrains(count, 0x3E80), secondBrains(count, 0x3E00);
  std::vector<float> someWeights = weights, someFirst = first,
                     someSecond = second, someInBrains = weights,
                     allInBrains = weights;
  std::vector<uint16_t> someBrains = firstBrains, moreBrains = secondBrains;
  StepArrays<float> memory{someWeights.data(),
                           someFirst.data(),
                           someSecond.data(),
                           nullptr,
                           nullptr,
                           false,
                           0};
  step(options.optimiser, 3, 0.1, weights.data(), gradients.data(),
       first.data(), second.data(), count, nullptr);
  stepRows(options.optimiser, 3, 0.1, memory,
           std::span<const Segment<float>>(rows), nullptr);
  memory = {someInBrains.data(), nullptr, nullptr, someBrains.data(),
            moreBrains.data(),   true,    0};
  stepInBrains(options.optimiser, 3, 0.1, allInBrains.data(), gradients.data(),
               firstBrains.data(), secondBrains.data(), 0, count, nullptr);
  stepRows(options.optimiser, 3, 0.1, memory,
           std::span<const Segment<float>>(rows), nullptr);
  for (int64_t i = 0; i < count; ++i) {
    bool isInRow = gradients[i] != 0 || i == 10;
    EXPECT_EQ(someWeights[i], isInRow ? weights[i] : 0.5F);
    EXPECT_EQ(someFirst[i], isInRow ? first[i] : 0.25F);
    EXPECT_EQ(someSecond[i], isInRow ? second[i] : 0.125F);
    EXPECT_EQ(someInBrains[i], isInRow ? allInBrains[i] : 0.5F);
    EXPECT_EQ(someBrains[i], isInRow ? firstBrains[i] : 0x3E80);
    EXPECT_EQ(moreBrains[i], isInRow ? secondBrains[i] : 0x3E00);
  }
}

TEST(RowGradients, AddTheRowsOfBoth) {
  RowGradient<double> sum{{1, 4}, {1, 2, 3, 4}},
      other{{0, 4, 7}, {5, 6, 7, 8, 9, 10}};
  addRowsTo(sum, other, 2);
  EXPECT_EQ(sum.rows, (std::vector<int64_t>{0, 1, 4, 7}));
  EXPECT_EQ(sum.values, (std::vector<double>{5, 6, 1, 2, 10, 12, 9, 10}));
  RowGradient<double> none;
  addRowsTo(none, sum, 2);
  EXPECT_EQ(none.rows, sum.rows);
  addRowsTo(sum, {}, 2);
  EXPECT_EQ(none.values, sum.values);
}

/// What WeightNoise.h says, one weight at a time.
static double normalAt(int64_t place, const WeightNoise &noise) {
  auto block = static_cast<uint64_t>(place / 4);
  auto words = philox({uint32_t(block), uint32_t(block >> 32),
                       uint32_t(noise.update), uint32_t(noise.seed >> 32)},
                      {uint32_t(noise.seed), 0xFFFF0003});
  int64_t pair = place % 4 / 2 * 2;
  double radius = std::sqrt(-2 * logOf((words[pair] + 1.0) * 0x1p-32));
  double turns = words[pair + 1] * 0x1p-32;
  return radius * (place % 2 == 0 ? cosOfTurns(turns) : sinOfTurns(turns));
}

TEST(WeightNoise, DependsOnThePlaceAlone) {
  WeightNoise noise{0x123456789ABCDEF0, 7, 0.25};
  constexpr int64_t count = 20001;
  std::vector<double> weights(count, 1.5), noisy(count), expected(count);
  for (int64_t i = 0; i < count; ++i)
    expected[i] = 1.5 + 0.25 * normalAt(i, noise);
  FoveaPool *pool = fovea_pool_create(3);
  for (FoveaPool *threads : {static_cast<FoveaPool *>(nullptr), pool}) {
    std::fill(noisy.begin(), noisy.end(), 0);
    addNoise(noise, noisy.data(), weights.data(), 0, count, threads);
    EXPECT_EQ(noisy, expected);
  }
  fovea_pool_destroy(pool);
  // A part alone is that part of the whole, and what is around it stays.
  std::fill(noisy.begin(), noisy.end(), 0);
  addNoise(noise, noisy.data(), weights.data(), 4099, 4107, nullptr);
  for (int64_t i = 0; i < count; ++i)
    EXPECT_EQ(noisy[i], i < 4099 || i >= 4107 ? 0 : expected[i]);
  double sum = 0, squares = 0;
  for (double value : expected) {
    double normal = (value - 1.5) / 0.25;
    sum += normal;
    squares += normal * normal;
  }
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(squares / count, 1, 0.03);
}

TEST(DataOrder, EachExampleOnceInBatchesOfSimilarSize) {
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < 1000; ++i)
    sizes.push_back(1 + i * 7919 % 40);
  OrderOptions options;
  options.batch = 16;
  options.buckets = true;
  auto batches = batchesOf(0, sizes, options);
  std::set<int64_t> seen;
  int64_t spread = 0;
  for (const auto &batch : batches) {
    EXPECT_LE(batch.size(), 16u);
    int64_t least = 1000, most = 0;
    for (int64_t index : batch) {
      EXPECT_TRUE(seen.insert(index).second);
      least = std::min(least, sizes[index]);
      most = std::max(most, sizes[index]);
    }
    spread += most - least;
  }
  EXPECT_EQ(seen.size(), sizes.size());
  EXPECT_LE(spread, int64_t(2 * batches.size()));
  // The order depends on the seed and the epoch.
  EXPECT_EQ(batchesOf(0, sizes, options), batches);
  EXPECT_NE(batchesOf(1, sizes, options), batches);
  options.seed = 1;
  EXPECT_NE(batchesOf(0, sizes, options), batches);
}

TEST(DataOrder, ExamplesOfEqualSizeAreShuffled) {
  // In a file sorted by label, a batch in file order would hold one label.
  OrderOptions options;
  options.batch = 32;
  options.buckets = true;
  for (int64_t kinds : {1, 2}) {
    std::vector<int64_t> sizes(2048);
    for (size_t i = 0; i < sizes.size(); ++i)
      sizes[i] = int64_t(i) % kinds;
    for (const auto &batch : batchesOf(0, sizes, options)) {
      auto [first, last] = std::minmax_element(batch.begin(), batch.end());
      EXPECT_GT(*last - *first, 1024) << kinds;
      EXPECT_FALSE(std::is_sorted(batch.begin(), batch.end())) << kinds;
    }
  }
  // Validation always has the same order.
  EXPECT_EQ(batchesBySize({2, 1, 2, 1}, options),
            (std::vector<std::vector<int64_t>>{{1, 3, 0, 2}}));
}

TEST(DataOrder, BatchesOfTokens) {
  std::vector<int64_t> sizes(100, 10);
  sizes[3] = 500;
  OrderOptions options;
  options.batch = 64;
  options.countsTokens = true;
  for (bool buckets : {false, true}) {
    options.buckets = buckets;
    size_t examples = 0;
    for (const auto &batch : batchesOf(0, sizes, options)) {
      // An example larger than a batch is a batch of its own.
      EXPECT_LE(batch.size(), 6u);
      examples += batch.size();
    }
    EXPECT_EQ(examples, sizes.size());
  }
}
