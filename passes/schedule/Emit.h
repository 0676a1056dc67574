//===- Emit.h - from a plan to a program ----------------------------------===//
//
// Emit.cpp writes ops and loops. EmitReads.cpp locates each read element inside
// the loops: in this step's row, in a carry, in a growing array, or in an array
// of an outer scope.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_SCHEDULE_EMIT_H
#define FOVEA_PASSES_SCHEDULE_EMIT_H

#include "passes/schedule/Plan.h"

namespace fovea::attn::schedule {

/// Where a read finds an array, given the loops around reader and array.
struct Route {
  enum Kind {
    Row,     // what stands in scope `scope` without the axes of its loops
    Window,  // the row `back` steps ago of the loop of scope `scope`
    Growing, // all rows so far of that loop, this step's included or not
  } kind = Row;
  unsigned scope = 0;
  unsigned axis = 0; // Window, Growing: the axis that the loop runs
  int64_t back = 0;
  bool before = false;              // Growing: without this step's row
  llvm::SmallVector<unsigned> axes; // the axes of the array that are left
};

class Emitter {
public:
  Emitter(const Graph &graph, const Plan &plan, ProgramOp program);
  void run();

private:
  /// A carry of a loop: a row `back` steps ago, or the rows so far.
  struct Carry {
    mlir::Operation *target;
    bool growing;
    unsigned axis; // where the loop's axis stands in a growing array
    int64_t back;  // 0 when growing
    int previous;  // the carry one step less back, or -1
    mlir::Value init, argument;
    mlir::Value appended; // with this step's row
  };
  /// A block under construction: the program, or the body of a loop.
  struct Scope {
    const Loop *loop = nullptr;
    mlir::Block *block = nullptr;
    mlir::Value index;
    /// The counterpart of a system's op in this block.
    llvm::DenseMap<mlir::Operation *, mlir::Value> arrays;
    std::vector<Carry> carries;
    llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, mlir::Value> fills;
    /// Slices by array, remaining axes, and positions of the others.
    std::map<std::pair<void *, std::vector<int64_t>>, mlir::Value> slices;
  };
  using Path = llvm::SmallVector<const Loop *>;

  //===--- Emit.cpp -------------------------------------------------------===//
  void findPaths(llvm::ArrayRef<Step> steps, Path &path);
  void emitSteps(llvm::ArrayRef<Step> steps);
  void emitOp(mlir::Operation *op);
  mlir::Value emitCompute(ComputeOp op);
  mlir::Value maskBelow(ComputeOp op, mlir::Value array);
  mlir::Operation *emitWhole(mlir::Operation *op);
  void emitLoop(const Loop &loop);
  mlir::Operation *createLoop(const Scope &scope, mlir::Location loc,
                              llvm::ArrayRef<mlir::Value> inits,
                              llvm::ArrayRef<mlir::Type> types,
                              llvm::ArrayRef<int64_t> axes);
  bool escapes(const Loop &loop, mlir::Operation *op);
  /// Returns whether the loops around a compute run an index below its lower
  /// bound.
  bool hasRunLower(ComputeOp op) const;
  mlir::Value atLeastLower(mlir::OpBuilder &builder, ComputeOp op);
  void cloneBlock(mlir::Block &from, mlir::OpBuilder &builder,
                  mlir::IRMapping &mapping);
  void mapOutside(ComputeOp op, mlir::Block &from, mlir::Block &to,
                  mlir::IRMapping &mapping);

  /// A builder before the op that is being emitted, or at the end of an outer
  /// scope.
  mlir::OpBuilder builderOf(unsigned scope);
  const Path &pathOf(mlir::Operation *op) { return paths[op]; }
  /// The indices of an op that the current loops run, outermost first.
  llvm::SmallVector<unsigned> runIndices(mlir::Operation *op) const;
  /// An array of one value; in scope `scope`.
  mlir::Value fill(unsigned scope, ArrayType type, mlir::TypedAttr value);
  mlir::Value zeros(unsigned scope, ArrayType type);

  //===--- EmitReads.cpp --------------------------------------------------===//
  /// One reachable boundary of a read.
  struct Case {
    const Access *access;
    /// Where the alternative's axes stand in the array of the read.
    llvm::SmallVector<unsigned> axes;
    bool places(unsigned axis) const;
    mlir::Attribute placeOf(unsigned axis) const;
  };
  void emitRead(ReadOp read, mlir::OpBuilder &builder,
                mlir::IRMapping &mapping);
  mlir::Value emitBranches(ReadOp read, const Access &access,
                           llvm::ArrayRef<Case> cases, mlir::OpBuilder &builder,
                           mlir::IRMapping &mapping);
  /// A read without cases.
  mlir::Value readElement(mlir::OpBuilder &builder, mlir::Location loc,
                          const Access &access,
                          llvm::ArrayRef<mlir::Value> indices,
                          mlir::Value otherwise);
  static mlir::Value placeValue(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Attribute place);
  /// Returns whether a growing array of a route has a row that a loop around
  /// both reader and array is still computing.
  bool isPartial(const Access &access, const Route &route);
  llvm::SmallVector<Case> reachableCases(const Access &main);
  /// The number of steps back at which a case of the windowed axis applies.
  std::optional<int64_t> stepsBack(const Route &route, const Access &main,
                                   mlir::Attribute place);

  Route routeOf(const Access &access, unsigned limit = ~0u);
  /// Returns whether `materialise` can provide the axes `wanted` of an access.
  bool canMaterialise(const Access &access, llvm::ArrayRef<unsigned> wanted,
                      unsigned limit = ~0u);
  mlir::Value materialise(const Access &access, llvm::ArrayRef<unsigned> wanted,
                          unsigned limit = ~0u);
  /// The array at the end of a route. `inits` are the initial rows of a window,
  /// one per step back; none means zeros.
  mlir::Value follow(const Access &access, const Route &route,
                     llvm::ArrayRef<mlir::Value> inits = {});
  mlir::Value windowOf(const Access &access, const Route &route,
                       llvm::ArrayRef<mlir::Value> inits);
  mlir::Value growingOf(const Access &access, const Route &route);
  mlir::Value appendedOf(Scope &scope, Carry &carry);
  ArrayType typeOf(mlir::Value array, llvm::ArrayRef<unsigned> axes) const;

  const Graph &graph;
  const Plan &plan;
  ProgramOp program;
  std::vector<Scope> scopes;
  llvm::DenseMap<mlir::Operation *, Path> paths;
  mlir::Operation *current = nullptr; // the op being emitted
};

} // namespace fovea::attn::schedule

#endif // FOVEA_PASSES_SCHEDULE_EMIT_H
