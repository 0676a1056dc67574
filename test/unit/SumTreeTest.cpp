//===- SumTreeTest.cpp - the order in which micro-batches are added -------===//

#include "runtime/train/SumTree.h"

#include <gtest/gtest.h>
#include <string>

using namespace fovea::runtime;

using Nodes = std::vector<SumNode<std::string>>;

static void join(std::string &left, std::string &right) {
  left = "(" + left + right + ")";
}

/// What the numbers from .. to-1 of `count` make, as text.
static Nodes make(int64_t from, int64_t to, int64_t count) {
  Nodes nodes;
  for (int64_t number = from; number < to; ++number)
    addToTree(nodes, {number, number + 1, std::string(1, char('a' + number))},
              count, join);
  return nodes;
}

// By hand, from the definition at the head of SumTree.h.
TEST(SumTree, IsThatOfTheDefinition) {
  const char *texts[] = {"a",
                         "(ab)",
                         "((ab)c)",
                         "((ab)(cd))",
                         "(((ab)(cd))e)",
                         "(((ab)(cd))(ef))",
                         "(((ab)(cd))((ef)g))"};
  for (int64_t count = 1; count <= 7; ++count) {
    Nodes nodes = make(0, count, count);
    ASSERT_EQ(nodes.size(), 1u);
    EXPECT_EQ(nodes.front().values, texts[count - 1]);
  }
}

TEST(SumTree, DoesNotDependOnWhoAdds) {
  for (int64_t count = 1; count <= 20; ++count)
    for (int64_t ranks = 1; ranks <= 9; ++ranks) {
      Nodes together;
      for (int64_t rank = 0; rank < ranks; ++rank)
        for (auto &node :
             make(count * rank / ranks, count * (rank + 1) / ranks, count))
          addToTree(together, std::move(node), count, join);
      ASSERT_EQ(together.size(), 1u);
      EXPECT_EQ(together.front().values, make(0, count, count).front().values)
          << count << " numbers, " << ranks << " ranks";
    }
}

// A power of two for each process is one node: nothing is sent twice.
TEST(SumTree, MakesFewNodes) {
  EXPECT_EQ(nodesOf(4, 8, 16).size(), 1u);
  EXPECT_EQ(nodesOf(5, 8, 16).size(), 2u);
  EXPECT_EQ(nodesOf(4, 7, 7).size(), 1u);
  EXPECT_EQ(nodesOf(3, 3, 16).size(), 0u);
}
