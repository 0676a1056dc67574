//===- Chrf.h - n-grams of characters -------------------------------------===//
//
// chrF2 of Popovic (2015): precision P and recall R of n-grams of characters
// without spaces, averaged over the orders 1 .. 6 that both sides have, then
//
//   chrF2 = 100 (1 + 2^2) P R / (2^2 P + R)
//
// of the counts of a whole corpus. Of several references the best counts for
// each line. Equal to sacreBLEU's chrF2 to the last digit printed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_CHRF_H
#define FOVEA_METRICS_CHRF_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::metrics {

class Chrf {
public:
  /// Adds a line with one reference or more.
  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references);
  /// 0 .. 100.
  double score() const;

private:
  struct Order {
    int64_t hypothesis = 0, reference = 0, matches = 0;
  };
  using Orders = std::array<Order, 6>;
  static double scoreOf(const Orders &orders);

  Orders all = {};
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_CHRF_H
