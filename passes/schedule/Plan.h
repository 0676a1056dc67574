//===- Plan.h - in which order and in which loops -------------------------===//
//
// The schedule as data: the ops of a system in order, recurrences in loops.
// Plan.cpp finds the loops of equations, Search.cpp those of generated names;
// Emit.cpp writes the program. Explain.cpp prints a plan.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_SCHEDULE_PLAN_H
#define FOVEA_PASSES_SCHEDULE_PLAN_H

#include "passes/analysis/Graph.h"

namespace fovea::attn::schedule {

struct Loop;

/// One item of a plan: an op over all its remaining indices, or a loop.
struct Step {
  mlir::Operation *op = nullptr;
  std::unique_ptr<Loop> loop;
};

struct Loop {
  mlir::Attribute extent;
  bool reverse = false;
  /// A loop of generated names: an attn.search.
  bool search = false;
  /// The index of each op in the loop that the loop runs, in source order.
  llvm::MapVector<mlir::Operation *, unsigned> time;
  std::vector<Step> body;

  bool contains(mlir::Operation *op) const { return time.contains(op); }
  unsigned getTime(mlir::Operation *op) const { return time.lookup(op); }
  /// The distance of a read between ops of the loop, in steps.
  Distance distance(const Edge &edge) const {
    return distanceOf(*edge.access, getTime(edge.reader), getTime(edge.target));
  }
  bool carries(const Edge &edge) const {
    return contains(edge.reader) && contains(edge.target) &&
           distance(edge).carried(reverse);
  }
};

struct Plan {
  std::vector<Step> steps;
  /// The ops that depend on a generated name.
  llvm::DenseSet<mlir::Operation *> generated;
};

/// The choices of a system that a search makes.
llvm::SmallVector<ChoiceOp> generatedNames(SystemOp system);

/// Rewrites recurrences over n and n + 1 places (`x[k+1] = f(x[k])`) so that a
/// loop over n steps computes them. Runs before the graph is built.
void alignRanges(SystemOp system);

/// Replaces axes over the blocks of a generated length, T//B, by axes over that
/// length. Only the last place of each block counts.
void expandBlocks(SystemOp system);

/// A length that a search reaches from another place than 0: M+T, or T+4.
struct PrefixedLength {
  mlir::StringAttr whole;
  mlir::Attribute given;
  mlir::StringAttr rest; // the length of the search
};
/// Returns `extent` as such a length, if it is one.
std::optional<PrefixedLength> prefixedLength(const Graph &graph,
                                             mlir::Attribute extent,
                                             mlir::Attribute generated);

/// Cuts what is computed over such a length into a part before the search and
/// one over the steps.
void splitPrefixes(SystemOp system);

/// Restates in the equations of a graph with generated names up to which place
/// they are read, so that a step computes no more. The graph is then out of
/// date.
void restrictToDemand(const Graph &graph);

/// The plan of a graph; fails with a diagnostic.
mlir::FailureOr<Plan> makePlan(const Graph &graph);

/// Rewrites reads of every place so far, inside of a search, that need less
/// than every place: running sums and windows. Returns true if the system
/// behind
/// `graph` has changed; graph and plan are then out of date.
bool narrowStates(const Graph &graph, const Plan &plan);

/// All of the above: rewrites a system and plans it.
mlir::FailureOr<std::pair<std::unique_ptr<Graph>, Plan>>
planSystem(SystemOp system);

//===----------------------------------------------------------------------===//
// Between Plan.cpp, Search.cpp and MoveMarks.cpp
//===----------------------------------------------------------------------===//

/// Finds one index of `extent` per op such that no read looks ahead in a loop
/// of that direction. `fixed` has the indices taken already. Ops in `first` are
/// assigned first, the others in the order in which they are read. On failure
/// `conflict` is a read that no choice satisfies.
class TimeAxes {
public:
  TimeAxes(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<Edge> edges,
           llvm::ArrayRef<const Loop *> enclosing);

  /// A read for a loop to carry: along an index of the reader and an axis of
  /// the read array.
  struct Carried {
    const Edge *edge;
    unsigned time, axis;
  };
  bool find(Loop &loop, llvm::ArrayRef<mlir::Operation *> first,
            const Carried *carried = nullptr);
  /// Every read that a loop like this one could carry.
  llvm::SmallVector<Carried> carriable(const Loop &loop) const;
  /// The candidates of an op for the extent of a loop, taken ones left out.
  llvm::SmallVector<unsigned> candidates(mlir::Operation *op,
                                         mlir::Attribute extent) const;

  std::optional<Edge> conflict;

private:
  using Domains =
      llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>>;
  bool narrow(Domains &domains, bool reverse);
  unsigned best(mlir::Operation *op, Domains &domains) const;

  llvm::ArrayRef<mlir::Operation *> ops;
  llvm::ArrayRef<Edge> edges;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<const Edge *>> edgesOf;
  llvm::ArrayRef<const Loop *> enclosing;
};

/// The reads among `ops` that no enclosing loop carries.
llvm::SmallVector<Edge> edgesWithin(const Graph &graph,
                                    llvm::ArrayRef<mlir::Operation *> ops,
                                    llvm::ArrayRef<const Loop *> enclosing);

/// Plans ops that share the loops `enclosing`. Silent if `report` is false.
mlir::FailureOr<std::vector<Step>>
planOps(const Graph &graph, llvm::ArrayRef<mlir::Operation *> ops,
        llvm::ArrayRef<const Loop *> enclosing, bool report);

/// The same for one strongly connected component.
mlir::FailureOr<Step> planComponent(const Graph &graph,
                                    llvm::ArrayRef<mlir::Operation *> ops,
                                    llvm::ArrayRef<const Loop *> enclosing,
                                    bool report);

/// Reports why no loop computes `ops`.
void reportCycle(const Graph &graph, llvm::ArrayRef<mlir::Operation *> ops,
                 llvm::ArrayRef<const Loop *> enclosing);

/// The ops on a shortest path of reads from `from` to `to`, both included.
llvm::SmallVector<mlir::Operation *> shortestPath(llvm::ArrayRef<Edge> edges,
                                                  mlir::Operation *from,
                                                  mlir::Operation *to);

/// Makes a mark `valid` that has all indices of a choice judge each place at
/// the choice: `steps` are those of `search`.
void moveMarks(const Graph &graph, const Loop &search,
               std::vector<Step> &steps);

/// Plans a graph with generated names.
mlir::FailureOr<Plan> planDecoder(const Graph &graph,
                                  llvm::ArrayRef<ChoiceOp> choices);

} // namespace fovea::attn::schedule

#endif // FOVEA_PASSES_SCHEDULE_PLAN_H
