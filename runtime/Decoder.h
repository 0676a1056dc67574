//===- Decoder.h - a compiled decoder as plain data -----------------------===//
//
// Describes a generating model to the runtime: its programs, and how the search
// moves values between them. Plain data; the functions of the programs are
// passed separately.
//
// `encode` runs once over the examples of a batch. Every further program is a
// segment: it runs over hypotheses, a row each. A step runs the segments in
// order; after segment i choice i is made, after the last one none. Choices in
// a loop inside the step are made again and again: the loop begins with a
// segment of its own, and so does what comes after it.
// A value has a name, under which one segment gives it and others read it:
//
//   encode/K  an output of `encode`; in a segment either data of the row's
//             example, or a parameter (what a batch has once)
//   carry/K   the state K before the step
//   inner/K   the state K of a loop, before its present place; after the
//             loop, after the last one
//   choice/K  the value of choice K of this step, or of this place of a loop
//   value/K   an output of an earlier segment of this step
//   logp/K    log p of each symbol of choice K
//   stack/K   in `finish`, a result of the search: a row for each step
//   last/K    in `finish`, the state K after the last step
//
// A decoder without a search makes each of its choices once, independently.
//
// A model may make several searches, or choices beside them, in
// sequence. Each is a decoder. Its inputs from earlier ones are their
// outputs `given/K`, data of its own, and the lengths that they
// found.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DECODER_H
#define FOVEA_RUNTIME_DECODER_H

#include "runtime/Program.h"

namespace fovea::runtime {

struct Decoder {
  struct State {
    std::string name; // what the model calls it
    /// The output of `encode` that it starts with; empty: it starts empty. For
    /// replaced state, each step adds one place along each axis of the length
    /// that the search finds.
    std::string initial;
    /// The value after the step; for growing state, its new row.
    std::string next;
    /// For growing state, one row per step, in place: the segment that writes
    /// the row, or `bySearch`.
    static constexpr int bySearch = -1, replaced = -2;
    int written = replaced;
    Program::Element element = Program::Element::F64;
    /// As Program::Array::shape, with the lengths of `lengths`.
    std::vector<int64_t> shape;
  };

  enum class Distribution { Categorical, Bernoulli, Normal, Uniform, Mixture };

  struct Parameter {
    std::string name; // as the distribution calls it; `logp`: of each symbol
    std::string value;
    /// The extents of one element of the choice; nested ones as of a length.
    std::vector<int64_t> shape;
  };

  struct Choice {
    std::string name; // the name that is generated
    Distribution distribution = Distribution::Categorical;
    std::vector<Parameter> parameters;
    /// The extents of the chosen array, element by element; pairs have a last
    /// axis of 2.
    std::vector<int64_t> shape;
    Program::Element element = Program::Element::I64;
    /// The value that ends the sequence: a number, or a length (-1-id).
    bool hasEnd = false;
    int64_t end = 0;

    /// How many numbers one value has: 2 for bivariate distributions.
    int64_t valueSize() const {
      for (const Parameter &parameter : parameters)
        if (parameter.name == "correlation")
          return 2;
      return 1;
    }
  };

  /// A loop of the choices `firstChoice` .. `endChoice` - 1 inside the step.
  struct Loop {
    int firstChoice = 0, endChoice = 0;
    /// The number of places: a number, or -1-id of a length; the number of the
    /// step if the length is nested in the search's length.
    int64_t extent = 0;
    bool reverse = false;
    int firstState = 0, endState = 0; // of `inner`
  };

  struct Mark {
    enum Kind { Valid, Stop, Score } kind = Valid;
    int segment = 0; // after which it comes
    std::string value;
  };

  /// A result of the search: the rows of a value, one per step.
  struct Stack {
    std::string value;
    int64_t axis = 0; // where the steps stand
    Program::Element element = Program::Element::F64;
    std::vector<int64_t> shape; // of one row
  };

  struct Output {
    std::string name;
    /// `stack/K`, `choice/K`, `encode/K`, or empty: an output of `finish`.
    std::string value;
  };

  std::string model;
  std::vector<Program> programs;
  int encode = 0; // a program
  /// The program before each choice, and one after the last; -1: nothing to
  /// compute.
  std::vector<int> segments;
  int finish = -1; // the same after the search

  /// The names of the lengths that these shapes refer to.
  std::vector<std::string> lengths;

  bool isSearch = true;
  bool reverse = false;
  /// The number of steps: -1-id of a length, or a number; when it is not
  /// `known`, the search finds it, and the length is the steps so far.
  int64_t extent = 0;
  bool known = false;
  std::string longest; // an output of `encode`; empty: the mark is not there

  std::vector<State> states;
  std::vector<State> inner; // of the loops, one after another
  std::vector<Choice> choices;
  std::vector<Loop> loops;
  std::vector<Mark> marks;
  std::vector<Stack> stacks;
  std::vector<Output> outputs;

  /// The segment before a choice; for no choice, the last segment.
  int segmentBefore(int choice) const {
    int segment = choice;
    for (const Loop &loop : loops)
      segment += (choice >= loop.firstChoice) + (choice >= loop.endChoice);
    return segment;
  }
  /// The loop that contains a choice, or null.
  const Loop *loopAround(int choice) const {
    for (const Loop &loop : loops)
      if (choice >= loop.firstChoice && choice < loop.endChoice)
        return &loop;
    return nullptr;
  }

  /// The decoders that run after this one; they use the programs of the first.
  std::vector<Decoder> later;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DECODER_H
