//===- DescriptionTest.cpp - descriptions that come back, or are refused --===//

#include "runtime/model/Description.h"

#include <gtest/gtest.h>

using namespace fovea::runtime;

/// A description with something in every field that is a list.
static Description full() {
  Description description;
  description.model = "m";
  description.parameters = {{"w", {2, 3}}};
  DataDescription &data = description.data.emplace_back();
  data.spec = {"x", DataKind::Whole, {{"S", 0, ""}, {"", 4, ""}}, 9};
  data.text.name = "x";
  data.text.labels = {"a", "b\n\"c"};
  Program &program = description.programs.emplace_back();
  program.numSlots = 20;
  program.lengths.resize(2);
  program.lengths[0] = {"S", "", {}, 5, 0, -1, 0, 6};
  program.lengths[1] = {"2S",
                        "",
                        {{Program::Term::Number, 2},
                         {Program::Term::Length, 0},
                         {Program::Term::Multiply, 0}},
                        7,
                        0,
                        -1,
                        0,
                        8};
  program.layouts = {{{}, 0}, {{0, 1}, 9}};
  program.orders = {{1, 10, 11}};
  program.arrays = {{"x",
                     Program::Role::Data,
                     Program::Element::I64,
                     1,
                     4,
                     12,
                     0,
                     3,
                     {-1, -2, 4},
                     {},
                     0}};
  program.entry = "loss";
  description.hasDecoder = true;
  Decoder &decoder = description.decoder;
  decoder.programs = {program, program};
  decoder.segments = {1, -1, -1, -1};
  decoder.lengths = {"S"};
  decoder.extent = -1;
  decoder.states = {
      {"h", "encode/h", "value/h", 0, Program::Element::F32, {-1, 3}}};
  decoder.choices = {{"y",
                      Decoder::Distribution::Categorical,
                      {{"logp", "value/l", {7}}},
                      {},
                      Program::Element::I64,
                      true,
                      1}};
  decoder.inner = {{"",
                    "encode/h",
                    "inner/0",
                    Decoder::State::replaced,
                    Program::Element::F64,
                    {}}};
  decoder.loops = {{0, 1, -1, false, 0, 1}};
  decoder.marks = {{Decoder::Mark::Stop, 1, "value/m"}};
  decoder.stacks = {{"choice/y", 0, Program::Element::I64, {2}}};
  decoder.outputs = {{"y", "stack/y"}};
  description.search.longest = 9;
  description.search.gnmt = 0.25;
  description.train = {{"optimiser", "adam"}};
  description.dims = {{"H", 5}};
  description.frozen = {"lm"};
  description.states = {{"code", false}, {"count", true}};
  description.vocabularies = {{"vocabulary.x", "words\n<s>\n"}};
  return description;
}

static bool isRead(const Description &description) {
  Description result;
  return readDescription(writeDescription(description), result).succeeded();
}

TEST(Description, ComesBack) {
  std::string text = writeDescription(full());
  Description result;
  ASSERT_TRUE(readDescription(text, result).succeeded());
  EXPECT_EQ(writeDescription(result), text);
  EXPECT_EQ(result.programs[0].arrays[0].shape[1], -2);
  EXPECT_EQ(result.data[0].text.labels[1], "b\n\"c");
  EXPECT_EQ(result.decoder.choices[0].parameters[0].value, "value/l");
  EXPECT_EQ(result.search.longest, 9);
  EXPECT_EQ(result.search.gnmt, 0.25);
}

TEST(Description, DamageIsRefused) {
  std::string text = writeDescription(full());
  Description result;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_TRUE(readDescription(damaged, result).failed()) << i;
    EXPECT_TRUE(result.programs.empty());
    EXPECT_TRUE(readDescription(text.substr(0, i), result).failed()) << i;
  }
  EXPECT_EQ(readDescription("x", result).text(), "not a compiled model");
  EXPECT_EQ(readDescription("fovea 0 0\n[]", result).text(),
            "the model and its runtime come from different versions of fovea");
  text.back() = ' ';
  EXPECT_EQ(readDescription(text, result).text(),
            "the description of the model is damaged");
}

/// The checksum holds; an index leads out of its list.
TEST(Description, IndicesAreChecked) {
  ASSERT_TRUE(isRead(full()));
  auto refused = [](auto change) {
    Description description = full();
    change(description.programs[0]);
    return !isRead(description);
  };
  using P = Program;
  EXPECT_TRUE(refused([](P &p) { p.numSlots = 12; }));
  EXPECT_TRUE(refused([](P &p) { p.numSlots = 1 << 30; }));
  EXPECT_TRUE(refused([](P &p) { p.insideSlot = 2; }));
  EXPECT_TRUE(refused([](P &p) { p.hostSlot = 3; }));
  EXPECT_TRUE(refused([](P &p) { p.lengths[0].slot = 4; }));
  EXPECT_TRUE(refused([](P &p) { p.lengths[0].maximumSlot = 20; }));
  EXPECT_TRUE(refused([](P &p) { p.lengths[0].valuesSlot = 2; }));
  EXPECT_TRUE(refused([](P &p) { p.lengths[0].parentExtent = -1; }));
  EXPECT_TRUE(refused([](P &p) { p.lengths[1].formula[1].value = 1; }));
  EXPECT_TRUE(refused([](P &p) { p.lengths[1].formula.pop_back(); }));
  EXPECT_TRUE(refused(
      [](P &p) { p.lengths[1].formula.erase(p.lengths[1].formula.begin()); }));
  EXPECT_TRUE(refused([](P &p) { p.layouts[1].lengths[0] = 2; }));
  EXPECT_TRUE(refused([](P &p) { p.layouts[1].slot = -3; }));
  EXPECT_TRUE(refused([](P &p) { p.orders[0].length = -1; }));
  EXPECT_TRUE(refused([](P &p) { p.orders[0].activeSlot = 0; }));
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].layout = 2; }));
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].count = -1; }));
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].shape[0] = -3; }));
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].slot = 0; }));
  using Term = P::Term;
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].part = {{Term::Number, 1}}; }));
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].parts = -1; }));
  EXPECT_TRUE(refused([](P &p) { p.arrays[0].onChip = -1; }));
  EXPECT_TRUE(refused([](P &p) {
    p.arrays[0].part = {{Term::Length, 9}};
    p.arrays[0].partSlot = p.arrays[0].slot;
  }));
  auto wrong = [](auto change) {
    Description description = full();
    change(description.decoder);
    return !isRead(description);
  };
  using D = Decoder;
  EXPECT_TRUE(wrong([](D &d) { d.encode = 2; }));
  EXPECT_TRUE(wrong([](D &d) { d.finish = -2; }));
  EXPECT_TRUE(wrong([](D &d) { d.segments.pop_back(); }));
  EXPECT_TRUE(wrong([](D &d) { d.segments[0] = 2; }));
  EXPECT_TRUE(wrong([](D &d) { d.extent = -2; }));
  EXPECT_TRUE(wrong([](D &d) { d.states[0].shape[0] = -2; }));
  EXPECT_TRUE(wrong([](D &d) { d.states[0].written = 4; }));
  EXPECT_TRUE(wrong([](D &d) { d.loops[0].firstChoice = 1; }));
  EXPECT_TRUE(wrong([](D &d) { d.loops[0].endChoice = 2; }));
  EXPECT_TRUE(wrong([](D &d) { d.loops[0].endState = 2; }));
  EXPECT_TRUE(wrong([](D &d) { d.loops[0].extent = -2; }));
  EXPECT_TRUE(wrong([](D &d) { d.inner[0].shape = {-2}; }));
  EXPECT_TRUE(wrong([](D &d) { d.choices[0].end = -2; }));
  EXPECT_TRUE(wrong([](D &d) { d.choices[0].parameters[0].shape[0] = -9; }));
  EXPECT_TRUE(wrong([](D &d) { d.marks[0].segment = 4; }));
  EXPECT_TRUE(wrong([](D &d) { d.stacks[0].axis = 2; }));
  EXPECT_TRUE(wrong([](D &d) { d.programs[1].numSlots = 0; }));
  Description large = full();
  large.parameters[0].shape = {int64_t(1) << 30, int64_t(1) << 30};
  EXPECT_FALSE(isRead(large));
}
