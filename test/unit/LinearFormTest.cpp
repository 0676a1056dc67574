//===- LinearFormTest.cpp - index arithmetic is taken apart ---------------===//
//
// By hand: what an index adds up, what cancels, and what is not looked into.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/LinearForm.h"
#include "dialect/AttnDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fovea::attn;

namespace {

/// An equation over i, j and k that reads `x` at one index, and this index.
struct Equation {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ComputeOp op;
  Value index;

  /// `arithmetic`: ops; the last one gives %at.
  explicit Equation(const std::string &arithmetic) {
    context.loadDialect<AttnDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>("attn.program @p {\n"
                                         "  attn.length \"S\"\n"
                                         "  %x = attn.data \"x\" : "
                                         "!attn.array<[\"S\"], f64>\n"
                                         "  %y = attn.compute \"y\" (%i: 9, "
                                         "%j: 9, %k: 9) {\n" +
                                             arithmetic +
                                             "    %0 = attn.read %x[%at] : "
                                             "!attn.array<[\"S\"], f64>\n"
                                             "    attn.yield %0 : f64\n"
                                             "  } : "
                                             "!attn.array<[9, 9, 9], f64>\n"
                                             "}\n",
                                         &context);
    module->walk([&](ComputeOp compute) { op = compute; });
    module->walk([&](ReadOp read) { index = read.getIndices()[0]; });
  }

  int64_t factor(unsigned number) {
    return LinearForm::of(index)->factorOf(
        op.getBody().front().getArgument(number));
  }
  int64_t constant() const { return LinearForm::of(index)->constant; }
};

TEST(LinearForm, addsUpFactorsOfIndices) {
  // 3 * (2 * i - j + 4) + i
  Equation equation("%two = arith.constant 2 : index\n"
                    "%three = arith.constant 3 : index\n"
                    "%four = arith.constant 4 : index\n"
                    "%a = arith.muli %two, %i : index\n"
                    "%b = arith.subi %a, %j : index\n"
                    "%c = arith.addi %b, %four : index\n"
                    "%d = arith.muli %c, %three : index\n"
                    "%at = arith.addi %d, %i : index\n");
  EXPECT_EQ(equation.factor(0), 7);
  EXPECT_EQ(equation.factor(1), -3);
  EXPECT_EQ(equation.factor(2), 0);
  EXPECT_EQ(equation.constant(), 12);
  EXPECT_TRUE(LinearForm::ofIndices(equation.index, equation.op));
}

TEST(LinearForm, whatCancelsIsNoTerm) {
  Equation equation("%a = arith.addi %i, %j : index\n"
                    "%at = arith.subi %a, %i : index\n");
  EXPECT_EQ(LinearForm::of(equation.index)->terms.size(), 1u);
  EXPECT_EQ(equation.factor(1), 1);
}

TEST(LinearForm, looksThroughNumbersThatWereIndices) {
  Equation equation("%a = arith.index_cast %k : index to i64\n"
                    "%one = arith.constant 1 : i64\n"
                    "%b = arith.addi %a, %one : i64\n"
                    "%at = arith.index_cast %b : i64 to index\n");
  EXPECT_EQ(equation.factor(2), 1);
  EXPECT_EQ(equation.constant(), 1);
}

TEST(LinearForm, whatIsNotLinearIsATerm) {
  Equation equation("%a = arith.muli %i, %j : index\n"
                    "%at = arith.addi %a, %k : index\n");
  EXPECT_EQ(LinearForm::of(equation.index)->terms.size(), 2u);
  EXPECT_EQ(equation.factor(2), 1);
  EXPECT_FALSE(LinearForm::ofIndices(equation.index, equation.op));
}

TEST(LinearForm, refusesNumbersThatDoNotFit) {
  Equation equation("%large = arith.constant 4611686018427387904 : index\n"
                    "%a = arith.muli %i, %large : index\n"
                    "%at = arith.muli %a, %large : index\n");
  EXPECT_FALSE(LinearForm::of(equation.index));
}

TEST(LinearForm, refusesWhatIsTooLarge) {
  std::string text = "%a0 = arith.addi %i, %j : index\n";
  for (int n = 1; n < 12; ++n) {
    std::string from = "%a" + std::to_string(n - 1);
    text += "%a" + std::to_string(n) + " = arith.addi " + from + ", " + from +
            " : index\n";
  }
  Equation equation(text + "%at = arith.addi %a11, %k : index\n");
  EXPECT_FALSE(LinearForm::of(equation.index));
}

} // namespace
