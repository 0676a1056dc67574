//===- Graph.h - who reads whom, and how far away -------------------------===//
//
// The dependence graph of a system: its live ops in source order, their reads,
// and the distance of a read along an index. Also has names and lines for
// diagnostics, which all mention equations.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_GRAPH_H
#define FOVEA_PASSES_ANALYSIS_GRAPH_H

#include "passes/analysis/Access.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace fovea::attn::schedule {

/// The possible distances between the reader's time and the read array's time.
struct Distance {
  static constexpr int64_t infinity = int64_t(1) << 40;
  int64_t min = -infinity, max = infinity;

  bool isConstant() const { return min == max; }
  bool isZero() const { return min == 0 && max == 0; }
  /// Never ahead of the reader: legal in a loop of that direction.
  bool allowed(bool reverse) const { return reverse ? min >= 0 : max <= 0; }
  /// Always from an earlier step of the loop.
  bool carried(bool reverse) const { return reverse ? min > 0 : max < 0; }
};

/// One read of one op by another.
struct Edge {
  mlir::Operation *reader, *target;
  const Access *access;
};

/// The strongly connected components of a graph over 0 .. n-1, members in
/// ascending order. A component follows all that it reads; among the
/// candidates, the one with the smallest member comes first.
llvm::SmallVector<llvm::SmallVector<unsigned>>
orderedComponents(llvm::ArrayRef<llvm::SmallVector<unsigned>> reads);

/// The spec's spelling of a name in the IR: `y[0]` for `y.0`, and `y` for its
/// adjoint.
std::string writtenName(llvm::StringRef name);

class Graph {
public:
  explicit Graph(SystemOp system);

  SystemOp getSystem() const { return system; }

  /// The ops that reach an op without results (an output, a mark), in source
  /// order; lengths are not nodes.
  llvm::ArrayRef<mlir::Operation *> getNodes() const { return nodes; }
  /// The dead ops, in source order.
  llvm::ArrayRef<mlir::Operation *> getDead() const { return dead; }

  bool isLive(mlir::Operation *op) const { return position.contains(op); }
  /// Place of a live op in the source order.
  unsigned getPosition(mlir::Operation *op) const {
    return position.lookup(op);
  }

  /// The possible reads of an op: a boundary counts only if the read can leave
  /// the array on that side.
  llvm::ArrayRef<Edge> getReads(mlir::Operation *op) const;
  /// The reads of an op's result.
  llvm::ArrayRef<Edge> getReaders(mlir::Operation *op) const;
  /// All accesses of an op, and those of one read in the order array,
  /// alternatives.
  llvm::ArrayRef<Access> getAccesses(mlir::Operation *op) const;

  /// The length that `length` varies with, or null.
  mlir::StringAttr getParent(mlir::Attribute length) const;
  /// Returns whether a search finds the length.
  bool isOpen(mlir::Attribute length) const;
  /// Whether a length is `base` or is computed from it.
  bool derivesFrom(mlir::Attribute length, mlir::Attribute base) const;
  /// The distance of `place` from the end of an axis of `extent`: 0 for the
  /// extent itself; nothing if unknown.
  std::optional<int64_t> pastEnd(mlir::Attribute place,
                                 mlir::Attribute extent) const;
  /// Whether an index of `reader` can be `place` of an axis of `extent`.
  bool canReach(mlir::Operation *reader, const AccessIndex &index,
                mlir::Attribute extent, mlir::Attribute place) const;

  /// The name of the equation that an op belongs to: its label, what
  /// `attn.part` says, or the label of the op that it was made for.
  llvm::StringRef getName(mlir::Operation *op) const;
  /// That name in the spec's spelling, for messages.
  std::string getText(mlir::Operation *op) const {
    return writtenName(getName(op));
  }
  /// The source location of that equation.
  mlir::Location getPlace(mlir::Operation *op) const;
  /// The location of `inner`, a part of `op`, in the equation's file; the
  /// equation's location if `inner` is elsewhere (in the prelude).
  mlir::Location getPlace(mlir::Operation *op, mlir::Operation *inner) const;
  /// Returns the equation that an unnamed op is marked as a part of, or
  /// nothing.
  static llvm::StringRef wholeOf(mlir::Operation *op);
  /// The name that the op itself has, or nothing.
  static llvm::StringRef ownName(mlir::Operation *op);

private:
  llvm::SmallVector<Edge> findReads(mlir::Operation *op) const;
  void findNames();

  SystemOp system;
  llvm::SmallVector<mlir::Operation *> nodes, dead;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Access, 0>> accesses;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Edge>> reads, readers;
  /// The named op that an op belongs to.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> owners;
  llvm::StringMap<mlir::Operation *> named;
  llvm::DenseMap<mlir::Operation *, EquationOp> equations;
  llvm::DenseMap<mlir::Attribute, LengthOp> lengths;
};

/// The indices of an op that a loop can run: (number, extent). Index number k
/// is axis k of the result.
llvm::SmallVector<std::pair<unsigned, mlir::Attribute>>
loopIndices(mlir::Operation *op);

/// The distance of a read, along index `time` of the reader and axis `axis` of
/// the array.
Distance distanceOf(const Access &access, unsigned time, unsigned axis);

/// The largest value of index `a` minus index `b`, both counted from their
/// ends, that the condition of `op` allows; for a compute, also at a read.
/// Distance::infinity if there is none.
int64_t largestDifference(ComputeOp op, unsigned a, unsigned b,
                          int64_t size = 1);
int64_t largestDifference(const Access &access, unsigned a, unsigned b);

/// In blocks of `size` places, two indices of an op: number `index` is at most
/// number `of` plus `offset`.
struct Bound {
  unsigned index, of;
  int64_t size, offset;
};

/// The largest value of axis `a` minus axis `b` of the array at a read, both in
/// blocks of `size` places, or Distance::infinity. `known` holds for the
/// reader's indices.
int64_t largestBetween(const Access &access, unsigned a, unsigned b,
                       int64_t size, llvm::ArrayRef<Bound> known);

/// What a condition inside of `op` is for all values of the indices, if that is
/// certain.
std::optional<bool> valueOfCondition(mlir::Value condition, ComputeOp op);

/// The name of an op's index: `t`.
std::string indexName(mlir::Operation *op, unsigned index);
/// Returns whether the name of an index is not from a spec: it belongs to a
/// value axis, d0, or a pass invented it.
bool isMadeUp(llvm::StringRef index);
/// Whether an equation is one of the gradient.
bool isOfGradient(llvm::StringRef name);
/// A read up to and including axis `axis`, as people write it: `s[t-1]`. Unless
/// `asWritten`, names are those of the IR.
std::string readText(const Graph &graph, const Edge &edge, unsigned axis,
                     bool asWritten = true);
/// The line of a place; 0 when unknown.
unsigned lineOf(mlir::Location place);
/// `'b'`; of what differentiation has made for it, `the gradient of 'b'`.
std::string quotedName(const Graph &graph, mlir::Operation *op);
/// `b (line 12)`, or `b`.
std::string nameAndLine(const Graph &graph, mlir::Operation *op,
                        bool asWritten = true);

} // namespace fovea::attn::schedule

#endif // FOVEA_PASSES_ANALYSIS_GRAPH_H
