//===- PhiloxTest.cpp - the published values of Philox4x32-10 -------------===//

#include "dialect/reference/Philox.h"

#include <gtest/gtest.h>

using namespace fovea::reference;
using fovea::runtime::philox;
using Words = std::array<uint32_t, 4>;

// The known answers of Random123 (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Each part of the place matters, and the number is in [0, 1).
TEST(Philox, EveryPartOfThePlaceCounts) {
  RandomPlace place{1, 2, 3, 4, 5};
  double first = uniformAt(place);
  EXPECT_GE(first, 0);
  EXPECT_LT(first, 1);
  auto changed = [&](auto change) {
    RandomPlace other = place;
    change(other);
    return uniformAt(other);
  };
  EXPECT_NE(first, changed([](RandomPlace &p) { p.seed = 2; }));
  EXPECT_NE(first, changed([](RandomPlace &p) { p.ordinal = 3; }));
  EXPECT_NE(first, changed([](RandomPlace &p) { p.update = 4; }));
  EXPECT_NE(first, changed([](RandomPlace &p) { p.example = 5; }));
  EXPECT_NE(first, changed([](RandomPlace &p) { p.element = 6; }));
  EXPECT_NE(first,
            changed([](RandomPlace &p) { p.element = 5 + (1ull << 32); }));
}
