//===- Distance.cpp - how far one sequence is from another ----------------===//

#include "metrics/Distance.h"

#include <algorithm>

using namespace fovea::metrics;

int64_t fovea::metrics::editDistance(const Tokens &a, const Tokens &b) {
  // row[j] is d[i,j] for the present i.
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = static_cast<int64_t>(j);
  for (const std::u32string &token : a) {
    int64_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      int64_t above = row[j];
      row[j] = std::min(
          {above + 1, row[j - 1] + 1, diagonal + (token == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

int64_t fovea::metrics::commonSubsequence(const Tokens &a, const Tokens &b) {
  std::vector<int64_t> row(b.size() + 1);
  for (const std::u32string &token : a) {
    int64_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      int64_t above = row[j];
      row[j] = token == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

int64_t fovea::metrics::equalPlaces(const Tokens &a, const Tokens &b) {
  int64_t count = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    count += a[i] == b[i] ? 1 : 0;
  return count;
}
