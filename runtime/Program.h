//===- Program.h - what compiled code needs of memory ---------------------===//
//
// Describes compiled code: its lengths, its arrays, and the frame slots that
// hold their addresses. Plain data: this is the runtime's complete knowledge of
// a model.
//
// A frame is an array of 64-bit slots. The first ones hold the thread pool, the
// number of examples, and the keys and counters of random numbers: the seed
// (-1: nothing is random), the number of the update and the address of the
// example ids. The description defines the other slots.
//
// Arrays are packed: an array of one example is dense and row-major, with the
// extents of that example, and the examples of a batch are consecutive. An axis
// with a nested length is as long as the largest of its lengths in that
// example.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_PROGRAM_H
#define FOVEA_RUNTIME_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::runtime {

struct Program {
  static constexpr int poolSlot = 0, batchSlot = 1, seedSlot = 2,
                       updateSlot = 3, examplesSlot = 4, firstFreeSlot = 5;

  struct Term {
    enum Kind {
      Number,
      Length,
      Add,
      Multiply,
      FloorDivide,
      CeilDivide,
      Modulo
    };
    Kind kind = Number;
    int64_t value = 0; // the number, or which length
  };

  /// A length: int64 [batch] at `slot`, the extent in each example (for a
  /// nested length, the largest).
  struct Length {
    std::string name;
    std::string parent; // nested: the length that it varies along
    /// Its formula over earlier lengths, in postfix order; empty: it is given.
    /// Negative results become 0.
    std::vector<Term> formula;
    int slot = 0;
    /// For a nested length: the values, int64, one per index of the parent.
    /// Those of an example begin at the parent's offset in its single-length
    /// layout, or, if the parent is a number, at a multiple of it.
    int valuesSlot = 0;
    int parentLayout = -1;
    int64_t parentExtent = 0;
    /// The largest in the batch.
    int maximumSlot = 0;
  };

  /// A list of lengths. int64 [batch + 1] at `slot`: the number of places
  /// before each example, one place per combination of indices. The first
  /// layout is packed, has no lengths, one place per example, and no table.
  ///
  /// In a step of a search (runtime/Decoder.h) a row is a hypothesis. Arrays
  /// that are not packed are elsewhere, as the table states: with the example
  /// that a row belongs to, or in a row's buffer.
  struct Layout {
    enum Kind { Packed, OfExample, InBuffer };
    std::vector<int> lengths;
    int slot = 0;
    Kind kind = Packed;
  };

  /// The examples sorted by decreasing length, ties in batch order: int64
  /// [batch] at `orderSlot`. At `activeSlot`, int64 [maximum]: how many
  /// examples have more than t places.
  struct Order {
    int length = 0;
    int orderSlot = 0, activeSlot = 0;
  };

  /// Packed: `prepare` computes it from parameters, and it persists between
  /// runs.
  enum class Role { Data, Parameter, Output, Temporary, Packed };
  enum class Element { F32, F64, I64, Bit, BF16 };

  /// An array: its address is at `slot`. `layout` < 0: one for the whole batch,
  /// otherwise one per example; `count` elements for each place, and
  /// `extra` at the end.
  struct Array {
    std::string name;
    Role role = Role::Temporary;
    Element element = Element::F64;
    int layout = -1;
    int64_t count = 1;
    int slot = 0;
    /// The first and last step of the program that uses it.
    int firstUse = 0, lastUse = 0;
    /// The extents of one example, for the caller: a number, or -1-id of a
    /// length.
    std::vector<int64_t> shape;
    /// Not empty: each pool thread has its own part of the array,
    /// consecutively. A part has this many elements, in postfix order, for the
    /// largest lengths of the batch. The number is stored in `partSlot`.
    std::vector<Term> part;
    int partSlot = 0;
    /// If not 0, the number of parts, instead of one per thread. A part of
    /// `onChip` bytes or fewer needs no memory here: a device keeps it in its
    /// on-chip memory.
    int64_t parts = 0, onChip = 0;
    int64_t extra = 0;
  };

  std::vector<Length> lengths;
  std::vector<Layout> layouts;
  std::vector<Order> orders;
  std::vector<Array> arrays;
  int numSlots = firstFreeSlot;
  /// The number of the step, if the program is part of a search; 0: none.
  int stepSlot = 0;
  /// The same for the number of a loop inside a step.
  int insideSlot = 0;

  /// The distance from a table as kernels read it to the same table of the
  /// host, in bytes; 0: the program has no device.
  int hostSlot = 0;

  /// The name of the function that runs the program: void(void *frame).
  std::string entry;
  /// The function to run once per set of parameters, before the first run;
  /// empty: none.
  std::string prepare;
};

/// The bytes of one element.
inline int64_t sizeOf(Program::Element element) {
  switch (element) {
  case Program::Element::F32:
    return 4;
  case Program::Element::F64:
  case Program::Element::I64:
    return 8;
  case Program::Element::Bit:
    return 1;
  case Program::Element::BF16:
    return 2;
  }
  return 0;
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_PROGRAM_H
