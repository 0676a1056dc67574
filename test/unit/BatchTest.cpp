//===- BatchTest.cpp - examples of a batch, losses and gradients ----------===//

#include "dialect/reference/Batch.h"
#include "dialect/reference/Compare.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace fovea::runtime;
using fovea::reference::Arrays;

static Tensor whole(std::vector<int64_t> shape, std::vector<double> values) {
  return Tensor::of(DType::I64, std::move(shape), values);
}

static const DataSpec src = {"src", DataKind::Whole, {{"S", 0, ""}}, 0};
static const DataSpec story = {
    "story", DataKind::Whole, {{"M", 0, ""}, {"W", 0, "M"}}, 0};

static std::string errorOf(const TensorFile &file,
                           const std::vector<DataSpec> &specs) {
  std::vector<Example> examples;
  Status status = splitBatch(file, specs, examples);
  EXPECT_TRUE(status.failed());
  EXPECT_TRUE(examples.empty());
  return status.getMessage();
}

// Values past a length are not in the examples.
TEST(Batch, CutsExamples) {
  TensorFile file;
  file.tensors["src"] = whole({2, 3}, {1, 2, 99, 4, 5, 6});
  file.tensors["src.length"] = whole({2}, {2, 3});
  std::vector<Example> examples;
  Status status = splitBatch(file, {src}, examples);
  ASSERT_TRUE(status.succeeded()) << status.text();
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].data["src"].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(examples[1].data["src"].values, (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(examples[0].lengths["S"].values, (std::vector<int64_t>{2}));
  EXPECT_EQ(examples[0].id, 0);
  EXPECT_EQ(examples[1].id, 1);
  file.tensors["example"] = whole({2}, {17, 4});
  ASSERT_TRUE(splitBatch(file, {src}, examples).succeeded());
  EXPECT_EQ(examples[0].id, 17);
}

// Example 0 has two sentences of 2 and 0 words, example 1 one of 1. The
// lengths past the number of sentences are padding, too.
TEST(Batch, CutsNestedLengths) {
  TensorFile file;
  file.tensors["story"] =
      whole({2, 2, 3}, {1, 2, 99, 99, 99, 99, 7, 99, 99, 99, 99, 99});
  file.tensors["story.length"] = whole({2}, {2, 1});
  file.tensors["story.length.2"] = whole({2, 2}, {2, 0, 1, 55});
  std::vector<Example> examples;
  Status status = splitBatch(file, {story}, examples);
  ASSERT_TRUE(status.succeeded()) << status.text();
  EXPECT_EQ(examples[0].data["story"].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(examples[0].data["story"].values,
            (std::vector<double>{1, 2, 0, 0}));
  EXPECT_EQ(examples[0].lengths["W"].values, (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(examples[1].data["story"].values, (std::vector<double>{7}));
  EXPECT_EQ(examples[1].lengths["W"].values, (std::vector<int64_t>{1}));
}

// Two names of one length: one of them may bring it, and if both do they agree.
TEST(Batch, SharesLengths) {
  DataSpec real = {"x", DataKind::Real, {{"S", 0, ""}, {"", 2, ""}}, 0};
  TensorFile file;
  file.tensors["src"] = whole({1, 2}, {1, 2});
  file.tensors["src.length"] = whole({1}, {1});
  file.tensors["x"] = Tensor::of(DType::F32, {1, 2, 2}, {1, 2, 3, 4});
  std::vector<Example> examples;
  Status status = splitBatch(file, {real, src}, examples);
  ASSERT_TRUE(status.succeeded()) << status.text();
  EXPECT_EQ(examples[0].data["x"].values, (std::vector<double>{1, 2}));
  file.tensors["x.length"] = whole({1}, {2});
  EXPECT_EQ(errorOf(file, {src, real}),
            "example 0 has the length S = 1 but 'x' has 2");
}

TEST(Batch, Refuses) {
  TensorFile file;
  EXPECT_EQ(errorOf(file, {src}), "the batch has no tensor 'src'");
  file.tensors["src"] = whole({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(errorOf(file, {src}), "the batch has no tensor 'src.length', the "
                                  "length S of each example");
  file.tensors["src.length"] = whole({2}, {1, 0});
  EXPECT_EQ(errorOf(file, {src}), "example 1 has no 'src': its length S is 0");
  file.tensors["src.length"] = whole({2}, {1, 3});
  EXPECT_EQ(
      errorOf(file, {src}),
      R"('src.length' of example 1 is 3, outside 0..2, the extent of 'src')");
  file.tensors["src.length"] = whole({3}, {1, 1, 1});
  EXPECT_EQ(errorOf(file, {src}),
            "'src.length' is I64 [3] but must be I64 [2]");
  file.tensors["src.length"] = whole({2}, {1, 2});
  file.tensors["scr.length"] = whole({2}, {1, 2});
  EXPECT_EQ(errorOf(file, {src}),
            "'scr.length' is a length, but there is no data 'scr'");
  file.tensors.erase("scr.length");
  file.tensors["example"] = whole({1}, {1});
  EXPECT_EQ(errorOf(file, {src}), "'example' is I64 [1] but must be I64 [2]");
  file.tensors.erase("example");
  DataSpec few = src;
  few.limit = 3;
  EXPECT_EQ(errorOf(file, {few}),
            "'src' of example 1 has the value 3, outside 0..2");
  file.tensors["src"] = Tensor::of(DType::F64, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(errorOf(file, {src}), "'src' is F64 but must be I64");
  file.tensors["src"] = whole({4}, {1, 2, 3, 4});
  EXPECT_EQ(errorOf(file, {src}),
            R"('src' has 2 axes including the batch, but the input has [4])");
  file.tensors["src"] = whole({0, 2}, {});
  EXPECT_EQ(errorOf(file, {src}), "the batch has no examples");
  file.tensors["src"] = whole({2, 2}, {1, 2, 3, 4});
  file.tensors["y"] = whole({3}, {1, 2, 3});
  DataSpec answer = {"y", DataKind::Bit, {}, 0};
  EXPECT_EQ(errorOf(file, {src, answer}), "'src' has 2 examples but 'y' has 3");
  file.tensors["y"] = Tensor::of(DType::F32, {2}, {0, 1});
  EXPECT_EQ(errorOf(file, {src, answer}),
            "'y' is F32 but must be BOOL or whole numbers");
  file.tensors["y"] = whole({2}, {0, 2});
  EXPECT_EQ(errorOf(file, {src, answer}),
            "'y' of example 1 has the value 2, outside 0..1");
  // `other` has no lengths of its own, and is too short for those of `src`.
  DataSpec other = {"other", DataKind::Whole, {{"S", 0, ""}}, 0};
  file.tensors["other"] = whole({2, 1}, {1, 2});
  EXPECT_EQ(errorOf(file, {src, other}),
            "example 1 has the length S = 2 but 'other' is [2, 1]");
  DataSpec wide = {"x", DataKind::Real, {{"", 3, ""}}, 0};
  file.tensors["x"] = Tensor::of(DType::F64, {1, 2}, {1, 2});
  EXPECT_EQ(errorOf(file, {wide}),
            "'x' has extent 3 at axis 1 but the input has [1, 2]");
}

TEST(Batch, JoinsWithZeros) {
  Tensor joined = joinPadded(DType::F64, {{{2, 1}, {1, 2}}, {{1, 2}, {3, 4}}});
  EXPECT_EQ(joined.shape, (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(joined.toDoubles(), (std::vector<double>{1, 0, 2, 0, 3, 4, 0, 0}));
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

// nll = w * sum(x), choices = S, penalty = w; d nll / d w = sum(x).
static const char *const model = R"mlir(
attn.system @loss {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %w = attn.param "w" : !attn.array<[], f64>
  %scaled = attn.compute "scaled" (%i: "S") {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = attn.read %w[] : !attn.array<[], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  %nll = attn.compute "nll" () sum (%i: "S") {
    %0 = attn.read %scaled[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %choices = attn.compute () sum (%i: "S") {
    %0 = arith.constant 1 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  attn.output "nll" %nll : !attn.array<[], f64>
  attn.output "choices" %choices : !attn.array<[], i64>
  attn.output "penalty" %w : !attn.array<[], f64>
  attn.equation "scaled" %scaled : !attn.array<["S"], f64>
}
attn.system @grad {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %nll = attn.data "seed.nll" : !attn.array<[], f64>
  %penalty = attn.data "seed.penalty" : !attn.array<[], f64>
  %sum = attn.compute () sum (%i: "S") {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %g = attn.compute () {
    %0 = attn.read %sum[] : !attn.array<[], f64>
    %1 = attn.read %nll[] : !attn.array<[], f64>
    %2 = attn.read %penalty[] : !attn.array<[], f64>
    %3 = arith.mulf %0, %1 : f64
    %4 = arith.addf %3, %2 : f64
    attn.yield %4 : f64
  } : !attn.array<[], f64>
  attn.output "grad/w" %g : !attn.array<[], f64>
}
)mlir";

class BatchRun : public testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<fovea::attn::AttnDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(model, &context);
    ASSERT_TRUE(module);
    // x = 1 2 3 and 4; w = 2: nll 12 and 8, choices 3 and 1, penalty 2 each.
    file.tensors["x"] = Tensor::of(DType::F64, {2, 3}, {1, 2, 3, 4, 99, 99});
    file.tensors["x.length"] = whole({2}, {3, 1});
    parameters["w"] = fovea::reference::Array::scalar(2);
  }
  std::map<std::string, Tensor> run(std::vector<std::string> gets) {
    std::map<std::string, Tensor> results;
    std::vector<Example> examples;
    auto specs = fovea::reference::describeData(
        fovea::reference::findContainer(*module, "grad"));
    Status status = splitBatch(file, specs, examples);
    EXPECT_TRUE(status.succeeded()) << status.text();
    status = fovea::reference::runBatch(*module, parameters, examples,
                                        {std::move(gets), {}, 0}, results);
    EXPECT_TRUE(status.succeeded()) << status.text();
    return results;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TensorFile file;
  Arrays parameters;
};

// By token: (12 + 8) / 4 + 2; the gradient is (6 + 4) / 4 + 1.
TEST_F(BatchRun, AveragesByToken) {
  auto results = run({"loss", "grads", "scaled"});
  EXPECT_EQ(results["loss"].toDoubles(), (std::vector<double>{7}));
  EXPECT_EQ(results["grad/w"].toDoubles(), (std::vector<double>{3.5}));
  EXPECT_EQ(results["scaled"].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(results["scaled"].toDoubles(),
            (std::vector<double>{2, 4, 6, 8, 0, 0}));
}

// By example: (12 + 8) / 2 + 2; the gradient is (6 + 4) / 2 + 1.
TEST_F(BatchRun, AveragesByExample) {
  mlir::Builder builder(&context);
  (*module)->setAttr("attn.train",
                     builder.getDictionaryAttr(builder.getNamedAttr(
                         "average", builder.getStringAttr("example"))));
  auto results = run({"loss", "grads"});
  EXPECT_EQ(results["loss"].toDoubles(), (std::vector<double>{12}));
  EXPECT_EQ(results["grad/w"].toDoubles(), (std::vector<double>{6}));
}

TEST_F(BatchRun, RefusesUnknownNames) {
  std::map<std::string, Tensor> results;
  std::vector<Example> examples;
  EXPECT_EQ(fovea::reference::runBatch(*module, parameters, examples,
                                       {{"loss"}, {}, 0}, results)
                .text(),
            "the batch has no examples");
  auto specs = fovea::reference::describeData(
      fovea::reference::findContainer(*module, "loss"));
  ASSERT_TRUE(splitBatch(file, specs, examples).succeeded());
  EXPECT_EQ(fovea::reference::runBatch(*module, parameters, examples,
                                       {{"scald"}, {}, 0}, results)
                .text(),
            "there is no equation 'scald'");
  fovea::reference::findContainer(*module, "grad")->erase();
  EXPECT_EQ(fovea::reference::runBatch(*module, parameters, examples,
                                       {{"grads"}, {}, 0}, results)
                .text(),
            "the module has no '@grad'");
  auto empty = mlir::parseSourceString<mlir::ModuleOp>("module {}", &context);
  EXPECT_EQ(fovea::reference::runBatch(*empty, parameters, examples,
                                       {{"loss"}, {}, 0}, results)
                .text(),
            "the module has no '@loss'");
  TensorFile weights;
  Arrays none;
  auto *loss = fovea::reference::findContainer(*module, "loss");
  EXPECT_EQ(fovea::reference::readWeights(loss, weights, none).text(),
            "the weights have no parameter 'w'");
  weights.tensors["w"] = Tensor::of(DType::F32, {1}, {1});
  EXPECT_EQ(fovea::reference::readWeights(loss, weights, none).text(),
            "parameter 'w' is [] but the weights have F32 [1]");
}
