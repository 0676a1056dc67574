//===- BestSymbols.h - the best of many symbols, by a device ----*- C++ -*-===//
//
// A search needs only a few of the log p of all symbols, which are on a device:
// they are found there, and only they are copied.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_BESTSYMBOLS_H
#define FOVEA_RUNTIME_SEARCH_BESTSYMBOLS_H

#include "runtime/Program.h"

#include <cstddef>
#include <vector>

namespace fovea::runtime {

/// The result for one row.
struct BestSymbols {
  struct Symbol {
    int64_t number = 0;
    double logp = 0;
  };
  /// By symbol.
  std::vector<Symbol> symbols;
  /// Whether other symbols are possible, and an upper bound of their log p.
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
