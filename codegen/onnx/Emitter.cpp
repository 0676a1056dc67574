//===- Emitter.cpp - tensors over the batch and the axes of arrays --------===//
//
// The arithmetic that equations and loops share: axes, extents, lengths, and
// elements at computed places. Everything is total: a place is clipped to its
// axis, and what is read there in vain is not used.
//
//===----------------------------------------------------------------------===//

#include "codegen/onnx/Emitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen::onnx;

Element Emitter::elementOf(Type type) const {
  return type.isInteger(1) ? Element::Bit
         : type.isF64()    ? real()
                           : Element::I64;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Tensor Emitter::apply(const std::string &op, ArrayRef<Tensor> inputs,
                      Element type, ArrayRef<NodeAttribute> attributes) {
  Tensor result;
  std::vector<std::string> names;
  for (const Tensor &input : inputs) {
    names.push_back(input.name);
    result.rank = std::max(result.rank, input.rank);
    result.wide |= input.wide;
  }
  result.type = type;
  result.name = graph.add(op, names, attributes);
  return result;
}

Tensor Emitter::where(const Tensor &condition, const Tensor &a,
                      const Tensor &b) {
  if (a.type != Element::Bit)
    return apply("Where", {condition, a, b}, a.type);
  // ONNX Runtime has no Where of bits.
  return apply("Or", {both(condition, a), both(apply("Not", {condition}), b)});
}

Tensor Emitter::both(const Tensor &a, const Tensor &b) {
  return apply("And", {a, b}, Element::Bit);
}

Tensor Emitter::cast(const Tensor &tensor, Element type) {
  if (tensor.type == type)
    return tensor;
  return apply("Cast", {tensor}, type, {NodeAttribute{"to", int64_t(type)}});
}

Tensor Emitter::zero(Element type) {
  if (type == Element::I64)
    return whole(0);
  if (type == Element::Bit)
    return {graph.bit(false), 0, 0, Element::Bit};
  return realNumber(0);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

std::string Emitter::extentVector(mlir::Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return graph.vector({number.getInt()});
  return lengths.find(cast<StringAttr>(extent).getValue())->second.extent;
}

std::string Emitter::extentNumber(mlir::Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return graph.number(number.getInt());
  return graph.add("Squeeze", {extentVector(extent), graph.vector({0})});
}

/// The axes of `rank` besides one.
static SmallVector<int64_t> othersThan(unsigned axis, unsigned rank) {
  SmallVector<int64_t> others;
  for (unsigned i = 0; i < rank; ++i)
    if (i != axis)
      others.push_back(i);
  return others;
}

static Tensor spread(Graph &graph, const std::string &range, unsigned axis,
                     unsigned rank) {
  std::string name = range;
  if (SmallVector<int64_t> others = othersThan(axis, rank); !others.empty())
    name = graph.add("Unsqueeze", {range, graph.vector(others)});
  return {name, rank, uint64_t(1) << axis, Element::I64};
}

Tensor Emitter::places(mlir::Attribute extent, unsigned axis, unsigned rank) {
  std::string range =
      graph.add("Range", {graph.number(int64_t(0)), extentNumber(extent),
                          graph.number(int64_t(1))});
  return spread(graph, range, axis, rank);
}

Tensor Emitter::examples(unsigned rank) {
  std::string count = graph.add("Squeeze", {batch, graph.vector({0})});
  std::string range = graph.add(
      "Range", {graph.number(int64_t(0)), count, graph.number(int64_t(1))});
  return spread(graph, range, 0, rank);
}

Tensor Emitter::widen(const Tensor &tensor, uint64_t axes, Extents extents) {
  uint64_t missing = axes & ~tensor.wide;
  if (missing == 0)
    return tensor;
  std::vector<std::string> sizes;
  for (unsigned axis = 0; axis <= extents.size(); ++axis)
    sizes.push_back(!(missing >> axis & 1) ? graph.vector({1})
                    : axis == 0            ? batch
                                           : extentVector(extents[axis - 1]));
  Tensor result = tensor;
  std::string shape =
      sizes.size() == 1
          ? sizes.front()
          : graph.add("Concat", sizes, {NodeAttribute{"axis", int64_t(0)}});
  result.name = graph.add("Expand", {tensor.name, shape});
  result.rank = extents.size() + 1;
  result.wide |= missing;
  return result;
}

/// Without the axes of one place in `axes`.
static Tensor squeeze(Graph &graph, const Tensor &tensor, uint64_t axes) {
  SmallVector<int64_t> gone;
  Tensor result = tensor;
  result.wide = 0;
  result.rank = 0;
  for (unsigned axis = 0; axis < tensor.rank; ++axis) {
    if (axes >> axis & 1) {
      gone.push_back(axis);
      continue;
    }
    if (tensor.isWide(axis))
      result.wide |= uint64_t(1) << result.rank;
    ++result.rank;
  }
  if (!gone.empty())
    result.name = graph.add("Squeeze", {tensor.name, graph.vector(gone)});
  return result;
}

static uint64_t lowBits(unsigned count) { return (uint64_t(1) << count) - 1; }

Tensor Emitter::place(const Tensor &tensor, ArrayRef<int> axes, unsigned rank) {
  bool isSame = tensor.rank == rank;
  for (unsigned axis = 0; axis < tensor.rank && isSame; ++axis)
    isSame = !tensor.isWide(axis) || axes[axis] == int(axis);
  if (isSame || tensor.rank == 0)
    return tensor;
  SmallVector<int> targets;
  for (unsigned axis = 0; axis < tensor.rank; ++axis)
    if (tensor.isWide(axis))
      targets.push_back(axes[axis]);
  Tensor result = squeeze(graph, tensor, ~tensor.wide & lowBits(tensor.rank));
  if (result.rank == 0)
    return result;
  std::vector<int64_t> order(targets.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return targets[a] < targets[b]; });
  if (!llvm::is_sorted(order))
    result.name =
        graph.add("Transpose", {result.name}, {NodeAttribute{"perm", order}});
  result.wide = 0;
  for (int target : targets)
    result.wide |= uint64_t(1) << target;
  SmallVector<int64_t> added;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!result.isWide(axis))
      added.push_back(axis);
  if (!added.empty())
    result.name = graph.add("Unsqueeze", {result.name, graph.vector(added)});
  result.rank = rank;
  return result;
}

//===----------------------------------------------------------------------===//
// Elements at computed places
//===----------------------------------------------------------------------===//

Tensor Emitter::gather(const Tensor &array, Extents extents,
                       ArrayRef<Tensor> indices, ArrayRef<int> plain,
                       Extents axes) {
  unsigned rank = axes.size() + 1;
  if (array.rank == 0)
    return array;
  // Where each axis that is left goes; -1 of one at computed places.
  SmallVector<int> targets(array.rank, 0);
  for (size_t k = 0; k < extents.size(); ++k)
    targets[k + 1] = plain[k];
  Tensor source = squeeze(graph, array, ~array.wide & lowBits(array.rank));
  SmallVector<int> left;    // targets of the axes of `source`
  SmallVector<int> numbers; // of the index of each, or -1 of the batch
  for (unsigned axis = 0; axis < array.rank; ++axis)
    if (array.isWide(axis)) {
      left.push_back(targets[axis]);
      numbers.push_back(int(axis) - 1);
    }
  // Places that are the same for all elements.
  for (size_t axis = 0; axis < left.size();) {
    if (left[axis] >= 0 || indices[numbers[axis]].wide != 0) {
      ++axis;
      continue;
    }
    const Tensor &at = indices[numbers[axis]];
    Tensor number = squeeze(graph, at, lowBits(at.rank));
    source.name = graph.add("Gather", {source.name, number.name},
                            {NodeAttribute{"axis", int64_t(axis)}});
    left.erase(left.begin() + axis);
    numbers.erase(numbers.begin() + axis);
  }
  // Axes at computed places, and others that such places depend on.
  uint64_t used = 0, taken = 0;
  for (size_t axis = 0; axis < left.size(); ++axis) {
    if (left[axis] < 0)
      used |= indices[numbers[axis]].wide;
    else if (taken >> left[axis] & 1)
      used |= uint64_t(1) << left[axis];
    else
      taken |= uint64_t(1) << left[axis];
  }
  for (size_t axis = 0; axis < left.size(); ++axis)
    if (numbers[axis] >= 0 && left[axis] >= 0 && (used >> left[axis] & 1))
      left[axis] = -1;
  bool hasBatch = !left.empty() && numbers[0] < 0;
  bool readsBatch = hasBatch && (used & 1);
  SmallVector<int64_t> computed, order;
  for (size_t axis = 0; axis < left.size(); ++axis)
    if (left[axis] < 0 || (readsBatch && axis == 0))
      computed.push_back(axis);
  SmallVector<int> result; // the targets of the axes of the result
  for (unsigned axis = 0; axis < rank; ++axis)
    if (used >> axis & 1)
      result.push_back(axis);
  auto compact = [&](const Tensor &index) {
    return squeeze(graph, index, ~used & lowBits(index.rank));
  };
  Tensor value;
  value.type = array.type;
  if (computed.empty()) {
    value.name = source.name;
    result.assign(left.begin(), left.end());
  } else if (computed.size() == 1) {
    size_t axis = computed.front();
    value.name =
        graph.add("Gather", {source.name, compact(indices[numbers[axis]]).name},
                  {NodeAttribute{"axis", int64_t(axis)}});
    result.insert(result.begin(), left.begin(), left.begin() + axis);
    result.append(left.begin() + axis + 1, left.end());
  } else {
    std::vector<int64_t> turned(computed.begin(), computed.end());
    for (size_t axis = 0; axis < left.size(); ++axis)
      if (!llvm::is_contained(computed, axis)) {
        turned.push_back(axis);
        result.push_back(left[axis]);
      }
    if (!llvm::is_sorted(turned))
      source.name = graph.add("Transpose", {source.name},
                              {NodeAttribute{"perm", turned}});
    std::vector<std::string> columns;
    for (int64_t axis : computed) {
      Tensor index =
          numbers[axis] < 0 ? examples(rank) : indices[numbers[axis]];
      index = compact(widen(index, used, axes));
      columns.push_back(
          graph.add("Unsqueeze", {index.name, graph.vector({-1})}));
    }
    std::string all =
        graph.add("Concat", columns, {NodeAttribute{"axis", int64_t(-1)}});
    value.name = graph.add("GatherND", {source.name, all});
  }
  value.rank = result.size();
  value.wide = lowBits(value.rank);
  return place(value, result, rank);
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

mlir::Attribute Emitter::parentOf(mlir::Attribute length) const {
  auto name = dyn_cast<StringAttr>(length);
  return name ? lengths.find(name.getValue())->second.parent : nullptr;
}

Tensor Emitter::lengthAt(mlir::Attribute length, unsigned rank,
                         const Tensor *parent) {
  const Length &entry =
      lengths.find(cast<StringAttr>(length).getValue())->second;
  if (!entry.parent)
    return place(entry.values, {0}, rank);
  const Tensor &at = parent ? *parent : *loopOver(entry.parent);
  // The parent's own places need no reading.
  for (unsigned axis = 1; axis < rank; ++axis)
    if (at.name == places(entry.parent, axis, rank).name)
      return place(entry.values, {0, int(axis)}, rank);
  Tensor last =
      apply("Sub",
            {Tensor{extentNumber(entry.parent), 0, 0, Element::I64}, whole(1)});
  Tensor clipped = apply("Min", {apply("Max", {at, whole(0)}), last});
  SmallVector<mlir::Attribute> none(rank - 1, entry.parent);
  return gather(entry.values, {entry.parent}, {clipped}, {-1}, none);
}

Tensor Emitter::largestLength(mlir::Attribute length, unsigned rank) {
  const Length &entry =
      lengths.find(cast<StringAttr>(length).getValue())->second;
  if (!entry.parent)
    return place(entry.values, {0}, rank);
  Tensor values = entry.values;
  if (isLength(entry.parent))
    values = where(
        apply("Less",
              {places(entry.parent, 1, 2), lengthAt(entry.parent, 2, nullptr)},
              Element::Bit),
        values, whole(0));
  Tensor largest{graph.add("ReduceMax", {values.name, graph.vector({1})},
                           {NodeAttribute{"keepdims", int64_t(0)}}),
                 1, 1, Element::I64};
  return place(largest, {0}, rank);
}

const Tensor *Emitter::loopOver(mlir::Attribute extent) const {
  for (const Loop &loop : llvm::reverse(loops))
    if (loop.extent == extent)
      return &loop.index;
  return nullptr;
}

const Tensor *Emitter::outerIndex(Value value) const {
  auto found = outerIndices.find(value);
  return found == outerIndices.end() ? nullptr : &found->second;
}
