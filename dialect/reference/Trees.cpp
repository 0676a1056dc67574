//===- Trees.cpp - a table of trees, each of them once --------------------===//

#include "dialect/reference/Trees.h"
#include "dialect/reference/Lengths.h"
#include "dialect/reference/Residues.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// The value of a number that is not a constant: nobody reads it.
static constexpr double unread = std::numeric_limits<double>::quiet_NaN();

static bool isCommutative(uint32_t function) {
  return function == Trees::Add || function == Trees::Multiply ||
         function == Trees::Maximum || function == Trees::Minimum;
}

Trees::Trees(bool areExact)
    : areExact(areExact), nodes(1), buckets(1 << 16), known(1) {
  functionNames = {
      "constant",       "leaf",       "arith.addf", "arith.subf",
      "arith.mulf",     "arith.divf", "arith.negf", "arith.maximumf",
      "arith.minimumf", "math.fma",   "math.exp",   "math.log",
      "group",          "group.add",  "group.end",  "residue"};
  assert(functionNames.size() == NumKnown && "every function has a name");
  nodes.front().a = nodes.front().b = 1;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static size_t hashOf(uint32_t function, Tree a, Tree b, Tree c) {
  uint64_t hash = (uint64_t(function) << 32 | a) * 0x9e3779b97f4a7c15;
  hash ^= (uint64_t(b) << 32 | c) + 0x632be59bd9b4e019 + (hash >> 29);
  hash *= 0xbf58476d1ce4e5b9;
  return hash ^ (hash >> 32);
}

void Trees::grow() {
  std::vector<Tree> wider(buckets.size() * 2);
  for (Tree tree = 1; tree < nodes.size(); ++tree) {
    const Node &node = nodes[tree];
    size_t at = hashOf(node.function, node.a, node.b, node.c);
    while (wider[at &= wider.size() - 1])
      ++at;
    wider[at] = tree;
  }
  buckets = std::move(wider);
}

/// Most phases compute numbers in the order in which the phase before made
/// their nodes. So the node that follows the last one is tried first: a bucket
/// of a large table is far away in memory. Nodes that were made elsewhere come
/// between, so there are two such places. Node 0 holds them: no tree uses it.
Tree Trees::find(uint32_t function, Tree a, Tree b, Tree c) {
  auto isAt = [&](Tree tree) {
    const Node &node = nodes[tree];
    return node.function == function && node.a == a && node.b == b &&
           node.c == c;
  };
  Tree &expected = nodes.front().a, &other = nodes.front().b;
  if (expected < nodes.size() && isAt(expected))
    return expected++;
  if (other < nodes.size() && isAt(other)) {
    std::swap(expected, other);
    return expected++;
  }
  auto goOnAfter = [&](Tree tree) {
    other = expected;
    expected = tree + 1;
    return tree;
  };
  if (nodes.size() * 2 > buckets.size())
    grow();
  size_t at = hashOf(function, a, b, c);
  while (Tree tree = buckets[at &= buckets.size() - 1]) {
    if (isAt(tree))
      return goOnAfter(tree);
    ++at;
  }
  auto tree = static_cast<Tree>(nodes.size());
  if (isFull())
    return tree - 1;
  if (expected == tree)
    ++expected;
  nodes.push_back({function, a, b, c, equation, element});
  return buckets[at] = tree;
}

Tree Trees::constant(double value) {
  auto bits = llvm::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return find(Constant, static_cast<Tree>(bits), static_cast<Tree>(bits >> 32),
              0);
}

Tree Trees::leaf(StringRef name, int64_t offset) {
  auto [found, isNew] = leaves.try_emplace(name, leafNames.size());
  if (isNew)
    leafNames.push_back(name.str());
  return find(Leaf, found->second, static_cast<Tree>(offset),
              static_cast<Tree>(offset >> 32));
}

uint32_t Trees::functionOf(Operation *op) {
  auto [found, isNew] =
      functions.try_emplace(op->getName().getAsOpaquePointer(), 0);
  if (!isNew)
    return found->second;
  std::string name = op->getName().getStringRef().str();
  size_t number = llvm::find(functionNames, name) - functionNames.begin();
  if (number == functionNames.size())
    functionNames.push_back(name);
  return found->second = number;
}

void Trees::keepChoice(StringRef name, const std::vector<Traced> &numbers) {
  std::vector<std::pair<Tree, double>> own;
  for (Traced number : numbers)
    own.emplace_back(number.tree, number.tree ? 0 : number.value);
  choices.emplace(name.str(), std::move(own));
}

std::vector<std::vector<Traced>> Trees::takeChoices() {
  std::vector<std::vector<Traced>> result;
  for (const auto &[name, numbers] : choices) {
    std::vector<Traced> &own = result.emplace_back();
    for (auto [tree, value] : numbers)
      own.push_back({value, tree});
  }
  choices.clear();
  return result;
}

void Trees::enter(Operation *op, int64_t number) {
  auto [found, isNew] = equations.try_emplace(op, known.size());
  if (isNew)
    known.push_back({labelOf(op), placeOf(op)});
  equation = found->second;
  element = static_cast<uint32_t>(number);
}

//===----------------------------------------------------------------------===//
// One way to write a number
//===----------------------------------------------------------------------===//

std::optional<Tree> Trees::simplify(uint32_t function, Traced a, Traced b,
                                    Traced c) {
  auto isNegated = [&](Traced number) {
    return number.tree && nodes[number.tree].function == Negate;
  };
  auto negated = [&](Traced number) -> Traced {
    if (isNegated(number))
      return {unread, nodes[number.tree].a};
    return {-number.value, apply(Negate, -number.value, number)};
  };
  auto is = [&](Traced number, double value) {
    return number.tree == 0 && number.value == value;
  };
  switch (function) {
  case Add:
    if (is(a, 0))
      return b.tree;
    if (is(b, 0))
      return a.tree;
    if (isNegated(b))
      return apply(Subtract, unread, a, negated(b), {}, 2);
    if (isNegated(a))
      return apply(Subtract, unread, b, negated(a), {}, 2);
    break;
  case Subtract:
    if (is(b, 0))
      return a.tree;
    if (is(a, 0))
      return negated(b).tree;
    if (isNegated(b))
      return apply(Add, unread, a, negated(b), {}, 2);
    break;
  case Negate:
    if (isNegated(a))
      return nodes[a.tree].a;
    if (nodes[a.tree].function == Subtract)
      return find(Subtract, nodes[a.tree].b, nodes[a.tree].a, 0);
    break;
  case Multiply:
    if (b.tree == 0)
      std::swap(a, b);
    if (is(a, 0))
      return 0;
    if (is(a, 1))
      return b.tree;
    if (is(a, -1))
      return negated(b).tree;
    if ((a.tree == 0 && a.value < 0) || isNegated(a))
      return negated({unread, apply(Multiply, unread, negated(a), b, {}, 2)})
          .tree;
    if (isNegated(b))
      return negated({unread, apply(Multiply, unread, a, negated(b), {}, 2)})
          .tree;
    break;
  case Divide:
    if (is(a, 0))
      return 0;
    if (is(b, 1))
      return a.tree;
    if (isNegated(a) || (a.tree == 0 && a.value < 0))
      return negated({unread, apply(Divide, unread, negated(a), b, {}, 2)})
          .tree;
    if (isNegated(b) || (b.tree == 0 && b.value < 0))
      return negated({unread, apply(Divide, unread, a, negated(b), {}, 2)})
          .tree;
    break;
  case Maximum:
    if (a.tree == b.tree && a.tree)
      return a.tree;
    if (is(a, -infinity) || is(b, -infinity))
      return is(a, -infinity) ? b.tree : a.tree;
    break;
  case Minimum:
    if (a.tree == b.tree && a.tree)
      return a.tree;
    if (is(a, infinity) || is(b, infinity))
      return is(a, infinity) ? b.tree : a.tree;
    break;
  case Fma:
    if (b.tree == 0)
      std::swap(a, b);
    if (is(a, 0))
      return c.tree;
    if (is(a, 1))
      return apply(Add, unread, b, c, {}, 2);
    if (is(c, 0))
      return apply(Multiply, unread, a, b, {}, 2);
    break;
  case AddTerm:
    if (is(b, 0) || is(c, 0))
      return a.tree;
    break;
  default:
    break;
  }
  return std::nullopt;
}

uint64_t Trees::residue(Traced number) const {
  if (number.tree == 0)
    return residueOf(number.value);
  const Node &node = nodes[number.tree];
  if (node.function == Leaf)
    return drawnResidue(leafNames[node.a], uint64_t(node.c) << 32 | node.b);
  return uint64_t(node.b) << 32 | node.a;
}

bool Trees::areEqual(Traced a, Traced b) const {
  if (areExact)
    return residue(a) == residue(b);
  return a.tree == b.tree && (a.tree || a.value == b.value ||
                              (std::isnan(a.value) && std::isnan(b.value)));
}

Tree Trees::apply(uint32_t function, double value, Traced a, Traced b, Traced c,
                  unsigned arity) {
  if (areExact) {
    const Residue operands[] = {
        {residue(a), a.value}, {residue(b), b.value}, {residue(c), c.value}};
    uint64_t result = residueOf(functionNames[function],
                                ArrayRef(operands).take_front(arity));
    return find(Remainder, static_cast<Tree>(result),
                static_cast<Tree>(result >> 32), 0);
  }
  // The begin of a group counts, even of a constant sum.
  bool isGroup = function >= BeginGroup && function <= EndGroup;
  if (!isGroup && a.tree == 0 && (arity < 2 || b.tree == 0) &&
      (arity < 3 || c.tree == 0))
    return 0;
  if (std::optional<Tree> simple = simplify(function, a, b, c))
    return *simple;
  Tree operands[3] = {treeOf(a), arity > 1 ? treeOf(b) : 0,
                      arity > 2 ? treeOf(c) : 0};
  if ((isCommutative(function) || function == Fma) && operands[0] > operands[1])
    std::swap(operands[0], operands[1]);
  return find(function, operands[0], operands[1], operands[2]);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Trees::Difference Trees::firstDifference(Traced before, Traced after) const {
  Difference result{before, after, {}, {}, 0};
  Tree a = before.tree, b = after.tree;
  while (a && b && a != b) {
    Node x = nodes[a], y = nodes[b];
    result.before.tree = a;
    result.after.tree = b;
    result.equation = known[y.equation].label;
    result.where = known[y.equation].where;
    result.element = y.element;
    if (x.function != y.function || x.function == Constant ||
        x.function == Leaf || x.function == Remainder)
      break;
    if (isCommutative(x.function) || x.function == Fma)
      if (x.a == y.b || x.b == y.a)
        std::swap(y.a, y.b);
    // The last operand is the sum so far.
    std::tie(a, b) = x.c != y.c   ? std::pair(x.c, y.c)
                     : x.b != y.b ? std::pair(x.b, y.b)
                                  : std::pair(x.a, y.a);
  }
  return result;
}

std::string Trees::text(Traced number, unsigned depth) const {
  if (number.tree == 0)
    return fmt::format("{:.9g}", number.value);
  const Node &node = nodes[number.tree];
  if (node.function == Remainder)
    return fmt::format("{:.9g}", number.value);
  if (node.function == Constant)
    return fmt::format("{:.9g}",
                       llvm::bit_cast<double>(uint64_t(node.b) << 32 | node.a));
  if (node.function == Leaf) {
    auto [name, whose] = StringRef(leafNames[node.a]).split(" of ");
    return fmt::format("{}[{}]{}{}", name.str(),
                       uint64_t(node.c) << 32 | node.b,
                       whose.empty() ? "" : " of ", whose.str());
  }
  if (depth == 0)
    return "..";
  StringRef name = StringRef(functionNames[node.function]).rsplit('.').second;
  std::string result =
      (name.empty() ? functionNames[node.function] : name.str()) + "(";
  const char *comma = "";
  for (Tree operand : {node.a, node.b, node.c})
    if (operand) {
      result += comma + text({unread, operand}, depth - 1);
      comma = ", ";
    }
  return result + ")";
}
