//===- Expressions.h - random expressions in a context --------------------===//
//
// The lower half of the generator: names, parameters, and expressions of a
// wanted shape over the indices that a statement has bound.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_EXPRESSIONS_H
#define FOVEA_TEST_RANDOM_EXPRESSIONS_H

#include "test/random/Generator.h"
#include "test/random/Rng.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace fovea::random {

struct Extent {
  int64_t number = 0; // a dim's size; 0 for a length
  bool mayBeEmpty = false;
  std::string parent; // nested: the extent of the index that selects it
};

/// An array that statements can read.
struct Array {
  enum Kind { Real, Token, Bit, Int, Class };
  std::string name;
  Kind kind;
  std::vector<std::string> axes{}; // extents of the equation's indices
  std::string dim{};               // the value axis; empty for a number
  bool causal = false;             // axis 0 is the step; [t] knows output < t
  bool generated = false;          // an output: [t] is only known after step t
  std::string vocab{};             // tokens: which vocabulary

  /// Whether its elements are vectors along one extent.
  bool isVectors() const {
    return kind == Real && axes.size() == 1 && !dim.empty();
  }
};

struct Index {
  /// Step is the step of the decoder; Past (u <= t) and StrictPast (u < t)
  /// are indices whose condition the statement states.
  enum Role { Free, Step, Past, StrictPast };
  std::string name, extent;
  Role role = Free;
  std::string parent;    // nested: the index that selects the length
  bool hasRange = false; // some read gives the index its range
};

struct Context {
  std::vector<Index> indices;
  const Index *step() const {
    for (const Index &index : indices)
      if (index.role == Index::Step)
        return &index;
    return nullptr;
  }
};

/// Counters of fresh names, and what was declared so far.
class Expressions {
protected:
  Expressions(uint64_t seed, Naming naming) : random(seed), naming(naming) {}

  std::string fresh(const std::string &role);
  std::string freshIndex();
  /// `tanh(x)`, `0.5 * x`, ..: a value that is small when x is moderate.
  std::string squash(const std::string &x);
  std::string literal();

  /// An expression of shape [dim], atomic (a call, a name or in parentheses).
  std::string vec(Context &context, const std::string &dim, int depth);
  /// An expression that is a number.
  std::string num(Context &context, int depth);
  std::string cond(Context &context, int depth);
  /// A vector of some width: `width` names it for the input of a module.
  std::string anyVec(Context &context, std::string &width, int depth);
  /// `array` at indices of the context; empty when some axis has no index.
  std::string read(Context &context, const Array &array);
  /// Some array in the wanted shape (a number when `dim` is empty): missing
  /// axes are reduced.
  std::string leaf(Context &context, const std::string &dim);
  /// The latest array for which `is` holds; null when there is none.
  const Array *latest(llvm::function_ref<bool(const Array &)> is) const;
  /// Whether the context may read an array.
  static bool isUsable(const Context &context, const Array &array) {
    return !array.causal || context.step();
  }
  /// An array of the wanted kinds, from those the context may read.
  const Array *pickArray(const Context &context);
  std::string asVec(const Array &array, const std::string &place,
                    const std::string &dim);
  std::string asNum(const Array &array, const std::string &place);
  /// Condition of a reduction index of the past, and some other one at random:
  /// a window, a part, or none at all.
  std::string where(Context inner, const Index &index, bool allowExtra);
  std::string window(Context &inner, const Index &index);

  /// The parameter of a module call, declared on demand.
  std::string linear(const std::string &out, const std::string &in,
                     bool bias = true);
  std::string embedding(const std::string &dim, const std::string &vocab);
  std::string module(const std::string &type);
  /// A def of the spec that squashes and mixes: declared once, used often.
  std::string defined(const std::string &dim, const std::string &a,
                      const std::string &b);
  std::string definedModule(const std::string &dim, const std::string &width,
                            const std::string &argument);

  Rng random;
  Naming naming;
  Spec spec;
  std::map<std::string, Extent> extents;
  std::vector<std::string> dims; // names of value axes
  std::vector<Array> arrays;
  std::vector<std::string> declarations, statements;
  std::map<std::string, int64_t> counters;
  std::map<std::string, std::string> modules; // type and input -> instance
  int64_t ordinal = 0, indexCount = 0;
};

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_EXPRESSIONS_H
