//===- Trees.h - how a number was computed ---------------------*- C++ -*-===//
//
// The interpreter in f32 can keep, beside each real number, the tree of rounded
// operations that gives it. Equal trees are one number of this table. So two
// programs that give equal trees give equal bits, for all values of their
// inputs that take the same branches.
//
// Whole numbers, indices and conditions are executed: they have no trees. A
// number that follows from none of the inputs is a constant, by its bits.
//
// Some trees differ though their bits are the same: `a * b` and `b * a`, or `x`
// and `x + 0`. The table writes them in one way. It supposes that numbers are
// finite, and does not tell zeros of different sign apart.
//
// A table may also keep residues (Residues.h) in place of trees. Then numbers
// are the same that are equal by the laws of arithmetic, without roundings.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_TREES_H
#define FOVEA_DIALECT_REFERENCE_TREES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fovea::reference {

/// The number of a tree in a table; 0: a constant, whose value is known.
using Tree = uint32_t;

/// A number of f32 and its tree.
struct Traced {
  double value = 0;
  Tree tree = 0;
};

class Trees {
public:
  /// The operations that the interpreter itself does.
  enum Function : uint32_t {
    Constant,
    Leaf,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Maximum,
    Minimum,
    Fma,
    Exp,
    Log,
    BeginGroup, // of sums in groups: begin(sum)
    AddTerm,    // (group, factor, factor)
    EndGroup,   // (group)
    Remainder,  // in place of a tree: a residue
    NumKnown
  };

  explicit Trees(bool areExact = false);

  /// An element of an input, named for people.
  Tree leaf(llvm::StringRef name, int64_t offset);
  /// The number of the function of an op.
  uint32_t functionOf(mlir::Operation *op);
  /// The tree of a function whose result is `value`.
  Tree apply(uint32_t function, double value, Traced a, Traced b = {},
             Traced c = {}, unsigned arity = 1);

  /// Keeps the numbers that the distribution of a choice has. An interpreter
  /// may take them several times.
  void keepChoice(llvm::StringRef name, const std::vector<Traced> &numbers);
  /// The distributions kept so far, each once, and forgets them.
  std::vector<std::vector<Traced>> takeChoices();

  /// What is computed from now on, for messages: an element of an equation.
  void enter(mlir::Operation *equation, int64_t element);
  /// Forgets the ops seen so far, which may be deleted.
  void endProgram() { equations.clear(); }

  /// How many trees there are.
  size_t size() const { return nodes.size(); }
  /// The most trees, which take a gigabyte: a full table is good for nothing.
  static constexpr size_t most = 30'000'000;
  bool isFull() const { return nodes.size() >= most; }
  /// Returns whether two numbers are one tree, or one constant.
  bool areEqual(Traced a, Traced b) const;

  /// The first place where two trees differ.
  struct Difference {
    Traced before, after;
    /// The equation of the second tree, its place in the source, the element.
    std::string equation, where;
    int64_t element = 0;
  };
  Difference firstDifference(Traced before, Traced after) const;
  /// A tree for people, with its upper levels alone.
  std::string text(Traced tree, unsigned depth = 3) const;

private:
  struct Node {
    uint32_t function;
    Tree a, b, c;
    uint32_t equation, element; // which made it first
  };
  struct Equation {
    std::string label, where;
  };

  Tree constant(double value);
  Tree treeOf(Traced number) {
    return number.tree ? number.tree : constant(number.value);
  }
  std::optional<Tree> simplify(uint32_t function, Traced a, Traced b, Traced c);
  Tree find(uint32_t function, Tree a, Tree b, Tree c);
  void grow();
  uint64_t residue(Traced number) const;

  bool areExact;

  std::vector<Node> nodes;
  std::vector<Tree> buckets; // open addressing; 0: free
  std::vector<std::string> functionNames, leafNames;
  std::set<std::pair<std::string, std::vector<std::pair<Tree, double>>>>
      choices;
  llvm::StringMap<uint32_t> leaves;
  llvm::DenseMap<const void *, uint32_t> functions;
  llvm::DenseMap<mlir::Operation *, uint32_t> equations;
  std::vector<Equation> known;
  uint32_t equation = 0, element = 0;
};

/// Arithmetic in f32 that keeps trees where there is a table: the operations of
/// reductions.
class Arithmetic {
public:
  explicit Arithmetic(Trees *trees) : trees(trees) {}

  Traced of(uint32_t function, float value, Traced a, Traced b = {},
            Traced c = {}, unsigned arity = 1) const {
    return {value, trees ? trees->apply(function, value, a, b, c, arity) : 0};
  }

private:
  Trees *trees;
};

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_TREES_H
