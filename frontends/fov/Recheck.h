//===- Recheck.h - a checked spec after an edit -----------------*- C++ -*-===//
//
// While someone types, one equation changes at a time. If what the others need
// of it stays, only that equation is elaborated, inferred, checked and proved
// again, among the results of the others. Whatever may be different elsewhere
// is left to a check of the whole text:
//
//   * another statement than an equation, another left side, or an error
//   * another shape, kind or range of what the equation defines, or one that
//     no longer follows from anything but itself
//   * the first or last read of a parameter, or a size that no call gives now
//   * ranges that this equation demands from others, or that its reads give in
//     more than one way
//
// So the messages are those of a whole check (test/unit/RecheckTest.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_RECHECK_H
#define FOVEA_FRONTENDS_FOV_RECHECK_H

#include "frontends/fov/CheckSpec.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

namespace fovea::fov {

class Recheck {
public:
  /// `text` is the one of `spec`, without an error, as `diagnostics` owns it.
  Recheck(CheckedSpec &spec, StringRef text, Diagnostics &diagnostics);

  /// Checks `newText` if an edit of equations leads to it. Returns false if the
  /// whole text must be checked; then the spec cannot be checked again.
  /// Warnings of what has changed go to `diagnostics`, and those of warnOfAll()
  /// to `listener`.
  bool amend(StringRef newText, Diagnostics::Listener listener);

  /// The present text, whose lines are those of `newText`.
  StringRef text() const { return present; }
  /// Where a place of any text so far is in the present one; invalid if it is
  /// gone. Other places stay.
  SMLoc placeOf(SMLoc loc) const;
  /// Adds what inference found about what has changed, and drops what it found
  /// before.
  void updateFacts(SpecFacts &facts) const;

private:
  /// Lines with a statement of the file.
  struct Record {
    size_t begin, end;                    // in the present text
    ast::Statement **statement = nullptr; // null: the head of the model
    bool isAmendable = false;
  };
  /// An equation that replaces another.
  struct Change {
    Record *record;
    const ast::Statement *was;
    ast::Statement *now;
  };

  /// What others need of an array.
  struct Interface {
    std::optional<Shape> shape;
    std::optional<Kind> kind;
    const Vocabulary *vocabulary;
    std::string text; // of the shape

    explicit Interface(const Array &array);
    bool operator==(const Interface &) const = default;
  };

  bool findRecords();
  bool canAmend(const ast::Statement &statement) const;
  bool findChanges(StringRef newText, size_t &begin, size_t &end,
                   size_t &newEnd, std::vector<Change> &changes);
  bool elaborate(ArrayRef<Change> changes, ModelPart &part);
  bool isSame(ArrayRef<Change> changes, const ModelPart &part);
  void remove(const ModelPart &begin, const ModelPart &end);
  void count(const Term &term, int change);
  void findReads();
  void addReads(const Array &array);
  void addBinding(size_t number);
  void findDependents(const std::vector<Array *> &defined);
  enum class Fact { shape, kind };
  using Visited = llvm::SmallPtrSet<const Array *, 8>;
  bool isOwn(const Array &array, Fact fact, Visited &visited) const;
  bool hasOwnRange(const Array &array, unsigned axis, unsigned steps = 0) const;
  bool haveOneRange(const ModelPart &part) const;
  bool keepSizes(const ModelPart &oldBegin, const ModelPart &oldEnd,
                 const ModelPart &part) const;
  void replaceText(StringRef newText, size_t begin, size_t end, size_t newEnd,
                   StringRef chunk);

  CheckedSpec &spec;
  Diagnostics &diagnostics;
  bool isPossible = false;
  StringRef present;
  std::vector<Record> records; // by place
  /// The parts of the present text, in the texts that they were first in.
  std::vector<StringRef> stretches;
  std::vector<StringRef> texts;                  // all so far
  std::vector<std::unique_ptr<ast::File>> files; // of what was typed
  unsigned numAmended = 0;
  size_t numRemoved = 0; // terms

  // Of what has changed last.
  std::vector<Array *> defined;  // with arrays of its calls
  std::vector<Array *> names;    // the first of them: of the model
  std::vector<Interface> needed; // of these, before
  ModelPart last;
  std::vector<llvm::SMRange> gone; // texts
  llvm::StringSet<> goneNames;     // of arrays of calls

  // Found when first needed.
  bool hasReads = false;
  llvm::DenseMap<const Array *, int> numReads;     // by terms
  llvm::DenseMap<const Array *, int> changedReads; // the numbers before
  /// What the equations of an array read; the calls that bind a size.
  llvm::DenseMap<const Array *, SmallVector<const Array *, 4>> reads;
  llvm::DenseMap<const Atom *, SmallVector<size_t, 1>> bound;
  /// The arrays that depend on what has changed, and this itself.
  llvm::DenseSet<const Array *> dependents;
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_RECHECK_H
