//===- CheckedRunTest.cpp - which accesses the checks refuse --------------===//
//
// Plays the part of compiled code: it asks for accesses to two arrays of a
// frame, next to each other in memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/CheckedRun.h"
#include "gtest/gtest.h"

#include <memory>

using namespace fovea::runtime;
using Role = Program::Role;

namespace {

/// Two arrays of 4 x 2 and 3 numbers in f32: "a" is made in step 1 and 2, "b"
/// is given.
struct CheckedRunTest : testing::Test {
  static constexpr int slotOfA = Program::firstFreeSlot, slotOfB = slotOfA + 1;

  CheckedRunTest() : checks({{"s", "model.fov:3:1"}}) {
    program.entry = "loss";
    program.numSlots = slotOfB + 1;
    Program::Array a;
    a.name = "a";
    a.element = Program::Element::F32;
    a.count = 8;
    a.slot = slotOfA;
    a.shape = {4, 2};
    a.firstUse = 1;
    a.lastUse = 2;
    Program::Array b = a;
    b.name = "b";
    b.role = Role::Data;
    b.count = 3;
    b.slot = slotOfB;
    b.shape = {3};
    program.arrays = {a, b};
    frame.resize(program.numSlots);
    frame[Program::batchSlot] = 1;
    frame[slotOfA] = reinterpret_cast<int64_t>(memory);
    frame[slotOfB] = reinterpret_cast<int64_t>(memory + 8);
    run = std::make_unique<CheckedRun>(checks, program, frame.data(),
                                       /*prepares=*/false);
    CheckedRun::step(frame.data(), 1);
  }

  /// Accesses element `index` of the array in `slot`. Returns whether that is
  /// where the access goes.
  bool access(int slot, int64_t index, bool isWrite, int64_t lanes = 1,
              int64_t alignment = 4) {
    auto *root = reinterpret_cast<float *>(frame[slot]);
    return fovea_check_access(root + index, root, slot, sizeof(float), lanes,
                              int64_t(isWrite) | alignment << 8,
                              /*site=*/0) == root + index;
  }
  bool reads(int slot, int64_t index, int64_t lanes = 1) {
    return access(slot, index, /*isWrite=*/false, lanes);
  }
  bool writes(int slot, int64_t index, int64_t lanes = 1) {
    return access(slot, index, /*isWrite=*/true, lanes);
  }
  /// The failure without the advice.
  std::string failure() {
    std::string text = checks.take().text();
    return text.substr(0, text.find("; help:"));
  }

  Program program;
  Checks checks;
  std::vector<int64_t> frame;
  alignas(64) float memory[16] = {};
  std::unique_ptr<CheckedRun> run;
};

TEST_F(CheckedRunTest, GoodAccessesPass) {
  EXPECT_TRUE(writes(slotOfA, 0, 0xff));
  EXPECT_TRUE(reads(slotOfA, 7));
  EXPECT_TRUE(reads(slotOfB, 0, 0x7));
  EXPECT_EQ(failure(), "");
}

TEST_F(CheckedRunTest, NeighboursAreOutside) {
  EXPECT_FALSE(writes(slotOfA, 8));
  EXPECT_EQ(failure(),
            "model.fov:3:1: equation 's' of '@loss' writes element 8 "
            "of 'a', which has 8 elements");
  EXPECT_FALSE(reads(slotOfB, -1));
  EXPECT_EQ(failure(), "model.fov:3:1: equation 's' of '@loss' reads element "
                       "-1 of 'b', which has 3 elements");
}

TEST_F(CheckedRunTest, OnlyLanesOfTheMaskCount) {
  EXPECT_TRUE(reads(slotOfB, 0, 0x7));
  EXPECT_TRUE(reads(slotOfB, -2, 0x4));
  EXPECT_FALSE(reads(slotOfB, 0, 0xf));
  EXPECT_EQ(failure(), "model.fov:3:1: equation 's' of '@loss' reads element 3 "
                       "of 'b', which has 3 elements");
}

TEST_F(CheckedRunTest, UnwrittenElementsAreNamed) {
  EXPECT_TRUE(writes(slotOfA, 0, 0xef));
  EXPECT_TRUE(reads(slotOfA, 0, 0xef));
  EXPECT_TRUE(reads(slotOfA, 0, 0xff));
  EXPECT_EQ(failure(), "model.fov:3:1: equation 's' of '@loss' reads element "
                       "[2, 0] of 'a', which was never written");
}

TEST_F(CheckedRunTest, ArraysEndWithTheirSteps) {
  EXPECT_TRUE(writes(slotOfA, 0));
  CheckedRun::step(frame.data(), 2);
  EXPECT_TRUE(reads(slotOfA, 0));
  CheckedRun::step(frame.data(), 3);
  EXPECT_FALSE(reads(slotOfA, 0));
  EXPECT_EQ(failure(), "model.fov:3:1: equation 's' of '@loss' reads element "
                       "[0, 0] of 'a', outside the steps that keep it");
}

TEST_F(CheckedRunTest, AlignmentIsThatOfTheInstruction) {
  EXPECT_TRUE(access(slotOfB, 0, /*isWrite=*/false, 1, /*alignment=*/32));
  EXPECT_FALSE(access(slotOfB, 1, /*isWrite=*/false, 1, /*alignment=*/32));
  EXPECT_EQ(failure(),
            "model.fov:3:1: equation 's' of '@loss' reads element [1] of 'b', "
            "at an address that is not a multiple of 32 bytes");
}

TEST_F(CheckedRunTest, PassedPointersKeepTheirArray) {
  // The end of one array is the beginning of the other.
  float *end = memory + 8;
  fovea_check_pointer(end, memory, slotOfA, 0);
  EXPECT_TRUE(writes(slotOfA, 7));
  EXPECT_EQ(fovea_check_access(end - 1, end, -1, 4, 1, 4 << 8, -1), end - 1);
  EXPECT_EQ(failure(), "");
}

TEST_F(CheckedRunTest, PointersOfNobodyAreRefused) {
  float other = 0;
  EXPECT_NE(fovea_check_access(&other, &other, -1, 4, 1, 4 << 8, 0), &other);
  EXPECT_EQ(failure(), "model.fov:3:1: equation 's' of '@loss' reads memory, "
                       "which belongs to no array");
}

TEST_F(CheckedRunTest, StackMemoryBeginsUnwritten) {
  float own[4];
  fovea_check_scratch(own, sizeof(own));
  EXPECT_NE(fovea_check_access(own, own, -1, 4, 1, 1 | 4 << 8, 0), nullptr);
  EXPECT_EQ(failure(), "");
  (void)fovea_check_access(own + 1, own, -1, 4, 1, 4 << 8, 0);
  EXPECT_NE(failure().find("of 'the stack', which was never written"),
            std::string::npos);
}

TEST_F(CheckedRunTest, CopiesCarryWhatWasWritten) {
  EXPECT_TRUE(writes(slotOfA, 0));
  // Element 1 was not written: it may be copied, but not read.
  EXPECT_EQ(fovea_check_copy(memory + 4, memory, slotOfA, memory, memory,
                             slotOfA, 8, 0),
            8);
  EXPECT_TRUE(reads(slotOfA, 4));
  EXPECT_EQ(failure(), "");
  EXPECT_TRUE(reads(slotOfA, 5));
  EXPECT_NE(failure().find("element [2, 1] of 'a', which was never written"),
            std::string::npos);
  EXPECT_EQ(fovea_check_copy(memory + 4, memory, slotOfA, memory + 8,
                             memory + 8, slotOfB, 16, 0),
            0);
  EXPECT_NE(failure().find("in a copy of 16 bytes, which is not inside 'b'"),
            std::string::npos);
}

TEST_F(CheckedRunTest, GathersCheckEachLane) {
  void *places[] = {memory + 8, memory + 12, memory + 9};
  fovea_check_gather(places, memory + 8, slotOfB, 4, 0x5, 0);
  EXPECT_EQ(failure(), "");
  fovea_check_gather(places, memory + 8, slotOfB, 4, 0x7, 0);
  EXPECT_NE(places[1], memory + 12);
  EXPECT_EQ(places[2], memory + 9);
  EXPECT_NE(failure().find("reads element 4 of 'b', which has 3 elements"),
            std::string::npos);
}

TEST_F(CheckedRunTest, NothingRunsAfterAFailure) {
  static int calls;
  calls = 0;
  FoveaWork work = [](void *, int64_t, int64_t) { ++calls; };
  CheckedRun::parallel(nullptr, work, frame.data(), 4, 1);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(reads(slotOfB, 3));
  CheckedRun::parallel(nullptr, work, frame.data(), 4, 1);
  EXPECT_EQ(calls, 1);
}

} // namespace
