//===- SumTree.h - the order in which micro-batches are added -------------===//
//
// A sum over the numbers 0 .. count-1 is a binary tree that depends only on
// `count`. At level l, node i covers the numbers from i 2^l to (i + 1) 2^l. It
// is the sum of the nodes 2i and 2i + 1 below it, or its left half if it has no
// right half. So every process with consecutive numbers computes the same
// nodes, and every process with the nodes computes the same sum.
//
// For 5 numbers: ((0 + 1) + (2 + 3)) + 4.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_SUMTREE_H
#define FOVEA_RUNTIME_TRAIN_SUMTREE_H

#include <cstdint>
#include <vector>

namespace fovea::runtime {

/// A node, and the address of its values.
template <typename Values> struct SumNode {
  int64_t from = 0, to = 0; // the numbers that it covers
  Values values{};
};

/// Adds a node after `nodes`, which are in ascending order, and
/// merges nodes as far as possible. `add(a, b)` adds the values b to
/// a.
template <typename Values, typename Add>
void addToTree(std::vector<SumNode<Values>> &nodes, SumNode<Values> next,
               int64_t count, const Add &add) {
  nodes.push_back(std::move(next));
  while (nodes.size() > 1) {
    SumNode<Values> &left = nodes[nodes.size() - 2], &right = nodes.back();
    int64_t width = left.to - left.from;
    // Both are halves of one node: equally wide, except for the last of all.
    bool isPair = left.to == right.from && left.from % (2 * width) == 0 &&
                  (right.to - right.from == width || right.to == count);
    if (!isPair)
      return;
    add(left.values, right.values);
    left.to = right.to;
    nodes.pop_back();
  }
}

/// Returns the nodes that cover the numbers from .. to-1 of 0 .. count-1.
inline std::vector<SumNode<int>> nodesOf(int64_t from, int64_t to,
                                         int64_t count) {
  std::vector<SumNode<int>> nodes;
  for (int64_t number = from; number < to; ++number)
    addToTree(nodes, {number, number + 1, 0}, count, [](int &, int &) {});
  return nodes;
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_SUMTREE_H
