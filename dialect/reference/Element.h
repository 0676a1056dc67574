//===- Element.h - one element of a compute -------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_ELEMENT_H
#define FOVEA_DIALECT_REFERENCE_ELEMENT_H

#include "dialect/reference/Code.h"
#include "dialect/reference/Orders.h"

namespace fovea::reference {

/// Steps through the indices number `begin` to `end` of a compute, row-major,
/// within their bounds; the earlier ones are fixed. The index with partial
/// results is the innermost. The indices are the first registers.
class IndexRange {
public:
  IndexRange(const Code &code, const LengthTable &lengths, unsigned begin,
             unsigned end);

  /// Moves to the first place; returns false if there is none.
  bool start(std::vector<Slot> &registers) const;
  /// Moves to the next place; returns false after the last.
  bool advance(std::vector<Slot> &registers) const;

private:
  bool settle(std::vector<Slot> &registers, size_t from) const;

  const Code *code;
  const LengthTable *lengths;
  llvm::SmallVector<unsigned, 8> numbers; // the outermost first
};

/// The evaluation of one element of an attn.compute; for a softmax, of the
/// whole row, because no element exists before the others. It can stop at a
/// missing element and resume.
class ElementTask {
public:
  /// `registers` are code.registers with the captures set. `parallel` are the
  /// parallel indices, for cumsum followed by the place in the row.
  void start(const Code &code, const std::vector<Slot> &registers,
             llvm::ArrayRef<int64_t> parallel, const LengthTable &lengths);
  /// The same element of the next example: its terms follow those so far.
  void goOn(const std::vector<Slot> &registers,
            llvm::ArrayRef<int64_t> parallel, const LengthTable &lengths);
  /// Done, Missing or Failed (see RunContext).
  Outcome resume(RunContext &context);

  /// Whether the result is a row.
  static bool givesRow(const Code &code) {
    return code.reducer == attn::Reducer::softmax ||
           code.reducer == attn::Reducer::log_softmax;
  }
  /// The element, in storage form.
  Traced element() const { return value; }
  /// Whether a term of it is undefined.
  bool isUndefined() const { return undefined; }
  /// The row: places and values of the included elements.
  llvm::ArrayRef<int64_t> rowPlaces() const { return places; }
  llvm::ArrayRef<Traced> rowValues() const { return row; }

private:
  int64_t rowMajorPlace(const LengthTable &lengths) const;
  int64_t elementNumber(const LengthTable &lengths) const;
  void combine(Rounding *rounding, Trees *trees);
  void combineSingle(Trees *trees);
  Outcome goThrough(RunContext &context);
  void take(Slot term, const RunContext &context);

  const Code *code = nullptr;
  std::optional<IndexRange> range;
  std::vector<Slot> registers;
  std::vector<Tree> trees; // of the registers, while it waits
  unsigned next = 0;
  bool empty = false;
  bool undefined = false;
  int64_t lastPlace = -1;      // of cumsum
  int64_t number = 0;          // of the next term, with those excluded
  std::vector<Slot> terms;     // what is reduced
  std::vector<int64_t> places; // and, where it matters, their places
  std::vector<Term> singles;   // the same in f32, in the order of the sum
  std::vector<Traced> row;
  Traced value;
  Tree termTree = 0; // of what is not reduced
};

/// The terms combined by a reducer other than a normaliser of rows, as it is
/// stored. `places` are the row-major numbers of the terms. With `rounding`,
/// each step of it is rounded.
double reduce(attn::Reducer reducer, bool whole, llvm::ArrayRef<Slot> terms,
              llvm::ArrayRef<int64_t> places, Rounding *rounding = nullptr);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_ELEMENT_H
