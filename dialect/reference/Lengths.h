//===- Lengths.h - the lengths of one example -----------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_LENGTHS_H
#define FOVEA_DIALECT_REFERENCE_LENGTHS_H

#include "dialect/reference/Interpreter.h"

namespace fovea::reference {

/// The value of every `attn.length` of a container. Lengths have numbers, so
/// that compiled bodies find them without a name.
class LengthTable {
public:
  /// Reads the declarations of `container`. Free lengths come from `inputs`,
  /// or from the data that has them as an axis; computed ones are computed; an
  /// open one is 0 until `set`.
  Status build(mlir::Operation *container, const Inputs &inputs);

  /// The number of the length `name`; -1 when there is none.
  int find(llvm::StringRef name) const;
  bool isNested(int id) const { return entries[id].value.nested; }
  llvm::StringRef nameOf(int id) const { return entries[id].name; }
  /// The length, or size, that a nested length has one value for each index of.
  llvm::StringRef parentOf(int id) const { return entries[id].parent; }
  bool isOpen(int id) const { return entries[id].open; }

  /// The value of a length; of a nested one the largest value.
  int64_t value(int id) const { return entries[id].largest; }
  /// The value of a nested length at an index of its parent; 0 outside.
  int64_t value(int id, int64_t parent) const;

  /// Gives an open length a value, and the lengths computed from it theirs.
  void set(int id, int64_t value);
  /// The largest of the lengths that came with the data; 0 without any.
  int64_t largestGiven() const;

  /// An extent as a number: of a nested length the largest.
  int64_t sizeOf(mlir::Attribute extent) const;
  /// How an array of `type` is stored.
  std::vector<int64_t> shapeOf(attn::ArrayType type) const;
  /// The same, or an error where the array would not fit in memory.
  Status checkedShape(attn::ArrayType type, std::vector<int64_t> &shape) const;
  /// Whether an array of `type` has an element at `indices`, which are inside
  /// the storage: what is past a nested length is not. `loopIndex` gives the
  /// index of the enclosing loop over an extent, for a row without that axis.
  bool isInside(attn::ArrayType type, llvm::ArrayRef<int64_t> indices,
                llvm::function_ref<int64_t(llvm::StringRef)> loopIndex) const;

private:
  struct Entry {
    std::string name, parent;
    Length value;
    int64_t largest = 0;
    bool open = false;
    mlir::AffineMap map;         // null unless computed
    llvm::SmallVector<int> from; // the lengths it is computed from
  };
  Status take(Entry &entry, const Inputs &inputs, mlir::Operation *container);
  Status compute(Entry &entry);
  static void finish(Entry &entry);

  std::vector<Entry> entries;
  llvm::StringMap<int> ids;
};

/// A place in the source, `model.fov:12:3`, or nothing.
std::string placeOf(mlir::Operation *op);

/// What people call the array that `op` gives: its label, or its name.
std::string labelOf(mlir::Operation *op);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_LENGTHS_H
