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
  /// open one is 0 until `set`, unless `container` is a part of a decoder.
  Status build(mlir::Operation *container, const Inputs &inputs);

  /// The number of the length `name`, or -1.
  int find(llvm::StringRef name) const;
  bool isNested(int id) const { return entries[id].value.nested; }
  llvm::StringRef nameOf(int id) const { return entries[id].name; }
  /// The length, or size, for each index that has a nested length.
  llvm::StringRef parentOf(int id) const { return entries[id].parent; }
  bool isOpen(int id) const { return entries[id].open; }

  /// The value of a length; for a nested one the largest value.
  int64_t value(int id) const { return entries[id].largest; }
  /// The value of a nested length at an index of its parent; 0 outside.
  int64_t value(int id, int64_t parent) const;

  /// Sets an open length, and the lengths computed from it.
  void set(int id, int64_t value);
  /// The largest of the lengths that came with the data; 0 without any.
  int64_t largestGiven() const;

  /// An extent as a number: for a nested length the largest.
  int64_t sizeOf(mlir::Attribute extent) const;
  /// The storage shape of an array of `type`.
  std::vector<int64_t> shapeOf(attn::ArrayType type) const;
  /// The same, or an error if the array would not fit in memory.
  Status checkedShape(attn::ArrayType type, std::vector<int64_t> &shape) const;
  /// Returns whether an array of `type` has an element at `indices`, which are
  /// inside the storage: places past a nested length are not elements.
  /// `loopIndex` returns the index of the enclosing loop over an extent, for a
  /// row without that axis.
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

/// The name of the result of `op` for people: its label, or its name.
std::string labelOf(mlir::Operation *op);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_LENGTHS_H
