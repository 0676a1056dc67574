//===- DistanceTest.cpp - distances beside their definitions --------------===//

#include "metrics/Distance.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace fovea::metrics;

namespace {

/// Wagner and Fischer's table.
int64_t tableOfEdits(const Tokens &a, const Tokens &b) {
  std::vector<std::vector<int64_t>> d(a.size() + 1,
                                      std::vector<int64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j)
      d[i][j] = i == 0   ? int64_t(j)
                : j == 0 ? int64_t(i)
                         : std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                                     d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
  return d[a.size()][b.size()];
}

int64_t tableOfCommon(const Tokens &a, const Tokens &b) {
  std::vector<std::vector<int64_t>> d(a.size() + 1,
                                      std::vector<int64_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j)
      d[i][j] = a[i - 1] == b[j - 1] ? d[i - 1][j - 1] + 1
                                     : std::max(d[i - 1][j], d[i][j - 1]);
  return d[a.size()][b.size()];
}

Tokens drawTokens(std::mt19937 &random, size_t most, unsigned symbols) {
  Tokens tokens(random() % (most + 1));
  for (std::u32string &token : tokens)
    token = {char32_t('a' + random() % symbols)};
  return tokens;
}

} // namespace

// Around 64 tokens, where a word ends, and beyond the first band of 64.
TEST(Distance, AgreesWithItsTable) {
  std::mt19937 random(1);
  for (size_t most : {3, 20, 63, 64, 65, 130, 300})
    for (unsigned symbols : {1, 2, 4, 200})
      for (int i = 0; i < 8; ++i) {
        Tokens a = drawTokens(random, most, symbols);
        Tokens b = drawTokens(random, most, symbols);
        EXPECT_EQ(editDistance(a, b), tableOfEdits(a, b));
        EXPECT_EQ(commonSubsequence(a, b), tableOfCommon(a, b));
      }
}

// A few edits of a long text, where a narrow band is enough.
TEST(Distance, AgreesForWhatIsAlike) {
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    Tokens a = drawTokens(random, 400, 5), b = a;
    for (unsigned edit = 0; edit < random() % 90 && !b.empty(); ++edit) {
      auto at = b.begin() + random() % b.size();
      if (edit % 3 == 0)
        b.erase(at);
      else if (edit % 3 == 1)
        b.insert(at, U"x");
      else
        *at = U"y";
    }
    EXPECT_EQ(editDistance(a, b), tableOfEdits(a, b));
    EXPECT_EQ(commonSubsequence(a, b), tableOfCommon(a, b));
  }
}

// Half a megabyte: a table would have 7e10 cells.
TEST(Distance, IsQuickForLongLines) {
  std::mt19937 random(3);
  Tokens a(250'000);
  for (std::u32string &token : a)
    token = {char32_t('a' + random() % 1000)};
  Tokens b = a;
  b.erase(b.begin() + 1000);
  b.insert(b.begin() + 100'000, U"new");
  b[200'000] = U"other";
  EXPECT_EQ(editDistance(a, b), 3);
}
