//===- Executor.h - executes a schedule, run by run -------------*- C++ -*-===//
//
// Private to the interpreter of launches.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_LAUNCH_REFERENCE_EXECUTOR_H
#define FOVEA_DIALECT_LAUNCH_REFERENCE_EXECUTOR_H

#include "dialect/ArrayLocations.h"
#include "dialect/launch-reference/Interpreter.h"
#include "dialect/launch-reference/Memory.h"
#include "dialect/launch/NumberedOps.h"
#include "dialect/reference/Element.h"
#include "dialect/reference/Program.h"

#include <random>

namespace fovea::launch {

/// Another memory of an equation: what it has packed, its list, ..; or null.
attn::ArrayLocationAttr memoryIn(mlir::Operation *op, llvm::StringRef name);

/// The loops around `op`, outermost first.
llvm::SmallVector<attn::ScanOp> loopsAround(mlir::Operation *op);
/// Whether each example has what `op` computes, or a batch once.
bool isOfEach(mlir::Operation *op);
/// Whether the rows of a loop are the examples by decreasing length.
bool isByRank(attn::ScanOp loop);

/// The factors of a product.
attn::ReadOp leftOf(attn::ComputeOp op);
attn::ReadOp rightOf(attn::ComputeOp op);

/// What the list of a scatter says.
constexpr double listedTerms = 1, linkedTerms = 2;

class Executor final : public reference::ElementSource {
public:
  Executor(ProgramOp schedule, attn::ProgramOp program,
           llvm::ArrayRef<reference::Inputs> inputs,
           const InterpretOptions &options);

  Status execute();
  Status outputs(std::vector<reference::Arrays> &results);

  State read(const reference::ReadPlan &plan, unsigned array, int64_t offset,
             reference::Traced &number, Status &error) override;

private:
  //===--------------------------------------------------------------------===//
  // The schedule (Executor.cpp)
  //===--------------------------------------------------------------------===//

  Status executeBlock(mlir::Block &block);
  Status executeItem(mlir::Operation &item);
  Status executeFor(ForOp loop);
  Status executePhases(mlir::Block &block);
  Status executeRun(RunOp run, Accesses::Phase phase = {});
  Status executeWork(RunOp run, mlir::Operation *op);
  Status checkComplete(RunOp run, mlir::Operation *op);
  void report(RunOp run);
  int64_t number(mlir::Value value);
  /// The run's scalar `index`, or -1.
  int64_t scalar(RunOp run, unsigned index);

  //===--------------------------------------------------------------------===//
  // Arrays (Arrays.cpp)
  //===--------------------------------------------------------------------===//

  Status allocate(MemoryOp op);
  Status giveInputs(MemoryState &memory);
  void findFactors();
  void findRanks();
  /// Never fails: a site without elements says so.
  Site siteOf(mlir::Value array, size_t example);
  Site siteIn(attn::ArrayLocationAttr location, size_t example,
              std::vector<int64_t> shape);
  Site rowOf(mlir::Operation *where, attn::ArrayLocationAttr location,
             int64_t index, size_t example, std::vector<int64_t> shape);
  /// The step that the array of a carry is of; nothing: before the first.
  std::optional<int64_t> stepBefore(attn::ScanOp loop, size_t example);
  std::vector<int64_t> shapeOf(mlir::Value array, size_t example);
  int64_t extentOf(mlir::Attribute extent, size_t example);
  /// Whether a step of each loop around `op` is one of the example's.
  bool takesPart(mlir::Operation *op, size_t example, bool byRankToo = true);
  /// Whether a place is in the array, and no padding.
  bool isInside(mlir::Value array, llvm::ArrayRef<int64_t> indices,
                size_t example);
  /// How many places of an array of `shape` are inside.
  int64_t countInside(mlir::Value array, llvm::ArrayRef<int64_t> shape,
                      size_t example);
  /// The examples in the order of the rows around `op`.
  std::vector<size_t> examplesAround(mlir::Operation *op);

  //===--------------------------------------------------------------------===//
  // Equations (Equations.cpp)
  //===--------------------------------------------------------------------===//

  /// What an equation reads and writes in one example.
  struct Binding {
    size_t example = 0;
    Site result;
    std::optional<Site> copy; // where the equation stores one
    std::vector<Site> sites;  // by the array's number in the code
    llvm::DenseMap<mlir::Operation *, Site> factors; // by their reads
    std::vector<reference::Array> shapes;
    reference::RunContext context;
    std::vector<reference::Slot> registers;
  };
  using Choose = llvm::function_ref<bool(llvm::ArrayRef<int64_t>)>;

  Status codeOf(attn::ComputeOp op, const reference::Code *&code);
  /// The arrays that `code` reads; the caller sets the captures.
  void bindArrays(const reference::Code &code, size_t example,
                  Binding &binding);
  Status bind(attn::ComputeOp op, size_t example, Binding &binding);
  /// Computes the elements at chosen places.
  Status evaluate(attn::ComputeOp op, llvm::ArrayRef<size_t> examples,
                  Choose isChosen);
  Status evaluateAt(attn::ComputeOp op, std::vector<Binding> &bindings,
                    llvm::ArrayRef<int64_t> places, int64_t offset,
                    bool isExcluded);
  Status store(const Binding &binding, int64_t offset, reference::Traced number,
               bool isDefined);
  Status equation(RunOp run, attn::ComputeOp op);
  Status product(RunOp run, attn::ComputeOp op);
  Status checkProductSizes(RunOp run, attn::ComputeOp op);
  Status checkList(attn::ComputeOp op, size_t example, double wanted);
  /// What the list of an equation has to say.
  double listOf(attn::ComputeOp op, size_t example);
  /// Of a product: whether its condition excludes whole rows, at this step.
  bool hasRowCondition(attn::ComputeOp op);
  /// Whether the condition, which involves `places` alone, does not hold.
  Status excludes(attn::ComputeOp op, llvm::ArrayRef<int64_t> places,
                  size_t example, bool &result);
  /// Whether it holds for no term of the element.
  Status excludesAll(attn::ComputeOp op, llvm::ArrayRef<Binding> bindings,
                     llvm::ArrayRef<int64_t> places, bool &result);
  Status scalarIn(mlir::Value value, llvm::ArrayRef<int64_t> indices,
                  size_t example, int64_t &result);

  //===--------------------------------------------------------------------===//
  // Kernels (Kernels.cpp)
  //===--------------------------------------------------------------------===//

  Status kernel(RunOp run, attn::KernelOp op);
  Status rows(RunOp run, attn::KernelOp op);
  Status places(RunOp run, attn::KernelOp op);
  Status columns(RunOp run, attn::KernelOp op);
  Status strips(RunOp run, attn::KernelOp op);
  Status placeOfStrips(attn::KernelOp op, size_t example, int64_t &unit,
                       llvm::ArrayRef<int64_t> outer);
  Status computeStrip(attn::KernelOp op, size_t example, int64_t unit,
                      llvm::ArrayRef<int64_t> outer,
                      std::optional<std::pair<int64_t, int64_t>> strip);
  Status enterWorkspace(attn::KernelOp op, size_t example);
  std::vector<std::pair<int64_t, int64_t>> cut(int64_t extent);

  //===--------------------------------------------------------------------===//
  // Copies (Copies.cpp)
  //===--------------------------------------------------------------------===//

  Status pack(RunOp run, bool isExact);
  Status packFactor(attn::ReadOp factor, MemoryState &memory, size_t example,
                    bool isExact);
  Status list(RunOp run, attn::ComputeOp op);
  Status clear(RunOp run, attn::ComputeOp op);
  Status scatterLists(RunOp run, attn::ComputeOp op);
  Status where(RunOp run, attn::ComputeOp op);
  Status start(RunOp run, attn::ScanOp op);
  Status commit(RunOp run, attn::ScanOp op);
  Status end(RunOp run, attn::ScanOp op);
  Status concat(attn::ConcatOp op, size_t example);
  Status append(attn::AppendOp op, size_t example);
  Status copy(const Site &to, const Site &from, int64_t toFirst = 0,
              int64_t fromFirst = 0, int64_t count = -1);
  Status copyRow(const Site &to, int64_t axis, int64_t at, const Site &from);
  /// Calls `body` for the examples of a run, or for what the batch has once.
  Status forExamples(RunOp run, mlir::Operation *op,
                     llvm::function_ref<Status(size_t)> body);

  Status failure(const Status &status) const;
  Status noSuchWork(mlir::Operation *op) const;
  Status wrongUnits(RunOp run) const;
  Status tooMany(int64_t count) const;
  template <typename List> void shuffle(List &list) {
    std::shuffle(list.begin(), list.end(), random);
  }
  int64_t upTo(int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  }

  ProgramOp schedule;
  attn::ProgramOp program;
  llvm::ArrayRef<reference::Inputs> inputs;
  const InterpretOptions &options;
  std::mt19937_64 random;

  llvm::SmallVector<mlir::Operation *> ops; // by number
  std::vector<reference::Environment> examples;
  llvm::DenseMap<const void *, std::unique_ptr<reference::Code>> codes;

  Accesses accesses;
  std::map<const void *, std::unique_ptr<MemoryState>> memories;
  /// By the number in locations.
  llvm::DenseMap<int64_t, MemoryState *> byNumber;
  /// The factor that a packed memory holds, and the product with a list.
  llvm::DenseMap<int64_t, attn::ReadOp> factorOf;
  llvm::DenseSet<int64_t> lists;
  /// Of the loops by rank: the examples in the order of their rows.
  llvm::DenseMap<mlir::Operation *, std::vector<size_t>> ranks;
  /// The loops whose rows a memory has, by its number.
  llvm::DenseMap<int64_t, attn::ScanOp> rankedBy;
  /// The rows of the present step, by the loop's step.
  llvm::DenseMap<mlir::Value, int64_t> rowsOf;
  /// What the unit of a kernel has in its workspace.
  llvm::DenseMap<mlir::Value, Cells> workspace;
  bool hasWorkspace = false;

  Binding *bound = nullptr;
  RunOp current;
  int64_t numPhases = 0;
};

} // namespace fovea::launch

#endif // FOVEA_DIALECT_LAUNCH_REFERENCE_EXECUTOR_H
