//===- Program.h - what compiled code needs of memory ---------------------===//
//
// The description that stands beside compiled code: its lengths, its arrays
// and where the addresses of both stand in the frame. Plain data: it is all
// that the runtime knows of a model.
//
// A frame is an array of 64-bit slots. The first hold the thread pool, the
// number of examples and what random numbers are keyed and counted by: the
// seed (-1: nothing is random), the number of the update and the address of
// the ids of the examples. The description says what the others hold.
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

  /// A length: int64 [batch] at `slot`, the extent of each example (of a
  /// nested length the largest).
  struct Length {
    std::string name;
    std::string parent; // nested: the length that it varies along
    /// How it follows from lengths before it, in postfix order; empty: it is
    /// given. Below 0 it is 0.
    std::vector<Term> formula;
    int slot = 0;
    /// Of a nested length: the values, int64, one for each index of the
    /// parent; those of an example begin at the offset that the layout of the
    /// parent alone has, or where the parent is a number, at a multiple of it.
    int valuesSlot = 0;
    int parentLayout = -1;
    int64_t parentExtent = 0;
    /// The largest of the batch.
    int maximumSlot = 0;
  };

  /// A list of lengths. int64 [batch + 1] at `slot`: the number of places
  /// before each example, a place for each combination of indices. The first
  /// layout, packed and without lengths, has a place per example and no table.
  ///
  /// In a step of a search (runtime/Decoder.h) a row is a hypothesis. Arrays
  /// that are not packed lie elsewhere, where the table says: with the example
  /// that a row belongs to, or in the buffer of a row.
  struct Layout {
    enum Kind { Packed, OfExample, InBuffer };
    std::vector<int> lengths;
    int slot = 0;
    Kind kind = Packed;
  };

  /// The examples by falling length, ties in the order of the batch: int64
  /// [batch] at `orderSlot`; at `activeSlot`, int64 [maximum], how many have
  /// more than t places.
  struct Order {
    int length = 0;
    int orderSlot = 0, activeSlot = 0;
  };

  /// Packed: made of parameters by `prepare`, and kept from run to run.
  enum class Role { Data, Parameter, Output, Temporary, Packed };
  enum class Element { F32, F64, I64, Bit };

  /// An array: its address stands at `slot`. `layout` < 0: one for the whole
  /// batch, otherwise one per example; `count` elements for each place, and
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
    /// Not empty: the threads of the pool have a part each, one after another,
    /// of this many elements, in postfix order, for the largest lengths of the
    /// batch. The number is in `partSlot`.
    std::vector<Term> part;
    int partSlot = 0;
    /// So many parts instead of one for each thread, where it is not 0; and no
    /// memory at all where one has `onChip` bytes or fewer: a device has it in
    /// memory of its own.
    int64_t parts = 0, onChip = 0;
    int64_t extra = 0;
  };

  std::vector<Length> lengths;
  std::vector<Layout> layouts;
  std::vector<Order> orders;
  std::vector<Array> arrays;
  int numSlots = firstFreeSlot;
  /// The number of the step, of a program that is part of a search; 0: none.
  int stepSlot = 0;
  /// The same of the number of a loop inside a step.
  int insideSlot = 0;

  /// The name of the function that runs the program: void(void *frame).
  std::string entry;
  /// The name of the function that has to run before, once for the parameters
  /// that there are; empty: there is none.
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
  }
  return 0;
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_PROGRAM_H
