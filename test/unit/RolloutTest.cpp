//===- RolloutTest.cpp - one other bit ends a training on samples ---------===//

#include "app/train/Rollouts.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace fovea;

TEST(Rollout, LogpsHaveTheSameBits) {
  std::vector<double> searched = {-3.25, -0.5, -0.5, -0.125};
  std::vector<double> trained = {-0.5, -0.125, -3.25, -0.5};
  EXPECT_TRUE(cli::compareLogps(1, searched, trained).succeeded());

  trained[2] = std::nextafter(-3.25F, 0.0F);
  EXPECT_EQ(cli::compareLogps(7, searched, trained).text(),
            "internal error: log p of a sample differs between decoding and "
            "training (example 7: 4 choices with -3.25, and 4 with "
            "-3.2499997615814209)");

  trained = {-0.5, -0.125, -0.5};
  EXPECT_TRUE(cli::compareLogps(1, searched, trained).failed());
  trained = {std::nan(""), -0.125, -3.25, -0.5};
  EXPECT_TRUE(cli::compareLogps(1, searched, trained).failed());
}
