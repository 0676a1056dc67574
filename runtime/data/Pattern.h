//===- Pattern.h - regular expressions of tokenisers ----------------------===//
//
// The regular expressions by which tokenizer.json splits text, in the syntax of
// Oniguruma as far as published tokenisers use it. Each search takes time and
// memory in proportion to the pattern times the text, whatever both are.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_PATTERN_H
#define FOVEA_RUNTIME_DATA_PATTERN_H

#include "runtime/Status.h"
#include "runtime/data/Unicode.h"

#include <functional>
#include <vector>

namespace fovea::runtime {

class Pattern {
public:
  /// Reads a regular expression.
  static Status read(std::string_view text, Pattern &result);
  /// The pattern that matches this text.
  static Pattern literal(std::string_view text);

  /// Calls `take(text, isMatch)` for each match and the text between them, in
  /// order. Empty matches do not count.
  void split(std::string_view text,
             const std::function<void(std::string_view, bool)> &take) const;

private:
  friend class PatternReader;
  friend class PatternSearch;

  /// One entry of a set of characters.
  struct Item {
    enum Kind { Range, InCategories, Space, Word } kind = Range;
    char32_t low = 0, high = 0;
    Categories categories = 0;
    bool isNegated = false;
  };
  struct Set {
    std::vector<Item> items;
    bool isNegated = false, ignoresCase = false;
    bool contains(char32_t c) const;
  };
  /// A place in the program; jumps are relative.
  struct Step {
    enum Kind {
      OneOf,     // takes a character of set `first`
      Fork,      // tries `first`, then `second`
      Jump,      // to `first`
      Look,      // what follows matches the next steps; goes on at `first`
      NotLook,   // .. does not match ..
      Atomic,    // takes the first match of the next steps alone
      LineStart, // ^ and $
      LineEnd,
      TextStart, // \A and \z
      TextEnd,
      Done,
    } kind;
    int first = 0, second = 0;
  };
  using Steps = std::vector<Step>;

  Steps steps;
  std::vector<Set> sets;
  std::vector<int> forkOf; // by step: the number of a fork
  int numForks = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_PATTERN_H
