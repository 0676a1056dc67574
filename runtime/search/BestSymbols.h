//===- BestSymbols.h - the best of many symbols, by a device ----*- C++ -*-===//
//
// Of log p of all symbols, which lie on a device, a search needs a few: they
// are found there, and the others stay.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_BESTSYMBOLS_H
#define FOVEA_RUNTIME_SEARCH_BESTSYMBOLS_H

#include "runtime/Program.h"

#include <cstddef>
#include <vector>

namespace fovea::runtime {

/// Of one row.
struct BestSymbols {
  struct Symbol {
    int64_t number = 0;
    double logp = 0;
  };
  /// By their numbers.
  std::vector<Symbol> symbols;
  /// Whether others are possible, and what their log p is at most.
  bool hasOthers = false;
  double limit = 0;
};

/// The best `most` symbols, of equals the lower ones, of each of `rows` rows of
/// `count` log p, which are consecutive at `memory`. None: no device has them,
/// or one of them is not a number.
std::vector<BestSymbols> findBest(const std::byte *memory,
                                  Program::Element element, int64_t rows,
                                  int64_t count, int64_t most);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_BESTSYMBOLS_H
