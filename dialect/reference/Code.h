//===- Code.h - the body of a compute as a flat list ----------------------===//
//
// Compiles a body once into instructions over numbered registers; running it
// for an index is a loop over them. A read of a missing element stops the run
// at that instruction, and the run can resume later.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_CODE_H
#define FOVEA_DIALECT_REFERENCE_CODE_H

#include "dialect/AttnDialect.h"
#include "dialect/GroupedSums.h"
#include "dialect/reference/Lengths.h"
#include "dialect/reference/Philox.h"
#include "dialect/reference/Rounding.h"
#include "dialect/reference/Scalars.h"

namespace fovea::reference {

/// Whether an element of an array is computed.
enum ElementState : uint8_t { Unknown, Running, Standing };

/// An array that a body reads. Without `state` all of it is computed.
struct View {
  const Array *array = nullptr;
  const std::vector<uint8_t> *state = nullptr;
};

/// An extent or a place: a number, a length, or a nested length at the index
/// of its parent, which is in a register.
struct Bound {
  int64_t number = 0;
  int length = -1;
  int parent = -1;

  int64_t value(const Slot *registers, const LengthTable &lengths) const {
    if (length < 0)
      return number;
    if (parent < 0)
      return lengths.value(length);
    return lengths.value(length, registers[parent].whole);
  }
};

/// The operation of an `attn.read`.
struct ReadPlan {
  struct Case {
    unsigned array;
    llvm::SmallVector<std::pair<unsigned, Bound>> places; // axis, place
    llvm::SmallVector<unsigned> indices;                  // registers
    llvm::SmallVector<Bound> bounds;
  };
  unsigned array;
  llvm::SmallVector<unsigned> indices; // registers
  llvm::SmallVector<Bound> bounds;
  llvm::SmallVector<Case, 1> cases;
  int otherwise = -1; // a register
  bool whole = false;
  mlir::Operation *op = nullptr;
};

struct Instruction {
  enum Kind {
    Apply,      // dest = function(a, b, c)
    Copy,       // dest = a
    Read,       // dest = reads[a]
    Extent,     // dest = extents[a]
    Random,     // dest = the number at place a, of sample b
    Jump,       // to `a`
    JumpUnless, // to `a` unless register b
    Require,    // ends the run as Excluded unless register a
    Yield       // ends the run with register a, and b as its factor
  } kind;
  unsigned dest = 0, a = 0, b = 0, c = 0;
  ScalarFunction function = nullptr;
  mlir::Operation *op = nullptr;
  bool rounds = false; // of Apply: its result is no exact number
  bool single = false; // of Apply: it is rounded to f32
};

/// A compiled body. The first registers are the indices.
struct Code {
  mlir::Operation *op = nullptr;
  std::vector<Instruction> instructions;
  std::vector<Slot> registers; // as a run finds them: constants are set
  std::vector<ReadPlan> reads;
  std::vector<Bound> extents;      // of attn.extent
  std::vector<mlir::Value> arrays; // what the reads' numbers mean
  /// Indices of loops and steps from outside the body, and their registers.
  std::vector<std::pair<mlir::Value, unsigned>> captures;

  /// For an attn.compute: its indices.
  std::vector<Bound> bounds;
  std::vector<int64_t> lower;
  unsigned numParallel = 0;
  attn::Reducer reducer = attn::Reducer::none;
  bool wholeBody = false; // the body yields a whole number
  bool single = false;    // real numbers are f32
  // In f32: the index with partial results, or -1, and whether the product that
  // the body yields is added with one rounding.
  int lanes = -1;
  bool fused = false;
  /// The factors of this product are rounded to bf16.
  bool rounded = false;
  /// In f32: whether terms are added in groups, and whether the first term of
  /// each example begins one.
  std::optional<attn::GroupedSums> sums;
  bool groupsExamples = false;
};

/// Compiles condition and body of a compute.
Status compileCompute(attn::ComputeOp op, const LengthTable &lengths,
                      bool single, Code &code);
/// Compiles one scalar outside of any compute (the place of an
/// append).
Status compileScalar(mlir::Value value, const LengthTable &lengths, Code &code);

/// Whether a batch has the array as the sum over its examples.
bool isExampleSum(attn::ComputeOp op);

enum class Outcome { Done, Excluded, Missing, Failed };

/// Gives the elements that a body reads, where they are not those of arrays. It
/// knows which of them are undefined.
class ElementSource {
public:
  enum State { Defined, Undefined, Failed };

  virtual ~ElementSource() = default;
  /// Element `offset` of view `array`, which `plan` reads.
  virtual State read(const ReadPlan &plan, unsigned array, int64_t offset,
                     Traced &number, Status &error) = 0;
};

/// The inputs and the status of a run.
struct RunContext {
  const LengthTable *lengths = nullptr;
  RandomPlace random;           // but for the op and its place
  std::vector<View> views;      // one for each of code.arrays
  Rounding *rounding = nullptr; // null: exact
  Slot factor;                  // of a product that is added with one rounding
  // With a table: the trees of the registers, of the result and of its factor.
  Trees *trees = nullptr;
  std::vector<Tree> treesOf;
  Tree resultTree = 0, factorTree = 0;
  // With a source the views have shapes only, and undefined values propagate: a
  // run fails where an index or a condition is undefined.
  ElementSource *source = nullptr;
  std::vector<uint8_t> undefined; // of the registers
  bool isUndefined = false;       // whether the result is
  // For Missing: element `offset` of view `array`.
  unsigned array = 0;
  int64_t offset = 0;
  Status error = Status::success();
};

/// Runs from instruction `next` on. Missing leaves `next` at the read.
Outcome run(const Code &code, std::vector<Slot> &registers, unsigned &next,
            RunContext &context, Slot &result);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_CODE_H
