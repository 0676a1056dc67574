//===- Lengths.cpp - where the lengths of an example come from ------------===//
//
// Determines every extent before the evaluation: inconsistent lengths are an
// error here, and never appear later.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Lengths.h"
#include "dialect/AttnDialect.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

/// Longer than any example, and far from overflow of sums of extents.
static constexpr int64_t longestLength = int64_t(1) << 31;
/// The maximum number of elements of one array: 4 GiB.
static constexpr int64_t mostElements = int64_t(1) << 29;

std::string reference::placeOf(Operation *op) {
  std::string place;
  op->getLoc()->walk([&](Location loc) {
    auto file = dyn_cast<FileLineColLoc>(loc);
    if (!file)
      return WalkResult::advance();
    place = fmt::format("{}:{}:{}", file.getFilename().str(), file.getLine(),
                        file.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

std::string reference::labelOf(Operation *op) {
  for (StringRef name : {"label", "source", "path", "target", "length"})
    if (auto text = op->getAttrOfType<StringAttr>(name))
      return text.str();
  return op->getName().getStringRef().str();
}

int LengthTable::find(StringRef name) const {
  auto found = ids.find(name);
  return found == ids.end() ? -1 : found->second;
}

int64_t LengthTable::value(int id, int64_t parent) const {
  const Length &length = entries[id].value;
  if (!length.nested)
    return entries[id].largest;
  if (parent < 0 || parent >= static_cast<int64_t>(length.values.size()))
    return 0;
  return length.values[parent];
}

void LengthTable::finish(Entry &entry) {
  entry.largest = 0;
  for (int64_t value : entry.value.values)
    entry.largest = std::max(entry.largest, value);
}

/// A free length: from the caller, or from the first data that has it.
Status LengthTable::take(Entry &entry, const Inputs &inputs,
                         Operation *container) {
  auto given = inputs.lengths.find(entry.name);
  if (given != inputs.lengths.end()) {
    if (given->second.nested != !entry.parent.empty())
      return Status::error(fmt::format(
          "length '{}' is {} but is given {}", entry.name,
          entry.parent.empty() ? "one number"
                               : "nested in '" + entry.parent + "'",
          given->second.nested ? "one for each index" : "as one number"));
    entry.value = given->second;
    if (!entry.value.nested && entry.value.values.size() != 1)
      return Status::error(fmt::format("length '{}' is given {} values",
                                       entry.name, entry.value.values.size()));
  } else if (!entry.parent.empty()) {
    return Status::error(
        fmt::format("length '{}', one for each index of '{}', is not given",
                    entry.name, entry.parent));
  } else {
    bool known = false;
    for (auto data : container->getRegion(0).getOps<attn::DataOp>()) {
      auto array = inputs.data.find(data.getSource().str());
      ArrayRef<Attribute> extents =
          data.getResult().getType().getShape().getValue();
      if (array == inputs.data.end() ||
          array->second.shape.size() != extents.size())
        continue;
      for (auto [extent, size] : llvm::zip_equal(extents, array->second.shape))
        if (auto name = dyn_cast<StringAttr>(extent);
            !known && name && name.getValue() == entry.name) {
          entry.value = Length::of(size);
          known = true;
        }
    }
    if (!known)
      return Status::error(fmt::format(
          "length '{}' is not given, and no given data has it", entry.name));
  }
  for (int64_t value : entry.value.values)
    if (value < 0 || value > longestLength)
      return Status::error(fmt::format("length '{}' is {}, outside 0..{}",
                                       entry.name, value, longestLength));
  return Status::success();
}

/// A length that is an affine expression of others; below 0 it is 0.
Status LengthTable::compute(Entry &entry) {
  size_t count = 1;
  entry.value.nested = false;
  for (int id : entry.from)
    if (isNested(id)) {
      entry.value.nested = true;
      entry.parent = entries[id].parent;
      count = entries[id].value.values.size();
    }
  entry.value.values.assign(count, 0);
  Builder builder(entry.map.getContext());
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Attribute> operands, results;
    for (int id : entry.from)
      operands.push_back(builder.getIndexAttr(value(id, i)));
    if (failed(entry.map.constantFold(operands, results)) ||
        results.size() != 1 || !isa<IntegerAttr>(results[0]))
      return Status::error(
          fmt::format("length '{}' cannot be computed", entry.name));
    entry.value.values[i] =
        std::max<int64_t>(0, cast<IntegerAttr>(results[0]).getInt());
  }
  finish(entry);
  return Status::success();
}

Status LengthTable::build(Operation *container, const Inputs &inputs) {
  entries.clear();
  ids.clear();
  // What runs between the choices of a search knows how far it is.
  bool isPart = isa<attn::ProgramOp>(container) &&
                container->getRegion(0).getOps<attn::SearchOp>().empty();
  for (auto op : container->getRegion(0).getOps<attn::LengthOp>()) {
    if (!ids.try_emplace(op.getLength(), entries.size()).second)
      return Status::error(
          fmt::format("length '{}' is declared twice", op.getLength().str()),
          placeOf(op));
    Entry entry;
    entry.name = op.getLength().str();
    entry.parent = op.getParent().value_or("").str();
    entry.open = op.getOpen();
    entry.value = Length::of(0);
    if (std::optional<AffineMap> map = op.getMap()) {
      entry.map = *map;
      for (StringRef name : op.getOf()->getAsValueRange<StringAttr>()) {
        int id = find(name);
        if (id < 0 || id == static_cast<int>(entries.size()))
          return Status::error(
              fmt::format("length '{}' is computed from '{}', which does not "
                          "stand before it",
                          entry.name, name.str()),
              placeOf(op));
        entry.from.push_back(id);
      }
      if (Status status = compute(entry); status.failed())
        return status;
    } else if (!entry.open || (isPart && inputs.lengths.contains(entry.name))) {
      if (Status status = take(entry, inputs, container); status.failed())
        return status;
      finish(entry);
    }
    entries.push_back(std::move(entry));
  }
  // A nested length has as many values as its parent has indices.
  for (const Entry &entry : entries) {
    if (!entry.value.nested)
      continue;
    int parent = find(entry.parent);
    int64_t size = 0;
    if (parent >= 0 && isNested(parent))
      return Status::error(fmt::format(
          "length '{}' is nested in '{}', which is itself nested in '{}'",
          entry.name, entry.parent, entries[parent].parent));
    if (parent >= 0)
      size = value(parent);
    else if (StringRef(entry.parent).getAsInteger(10, size))
      return Status::error(fmt::format("length '{}' is nested in '{}', which "
                                       "is no length",
                                       entry.name, entry.parent));
    if (size != static_cast<int64_t>(entry.value.values.size()))
      return Status::error(fmt::format(
          "length '{}' has {} values but its parent '{}' is {}", entry.name,
          entry.value.values.size(), entry.parent, size));
  }
  return Status::success();
}

void LengthTable::set(int id, int64_t value) {
  entries[id].value = Length::of(value);
  finish(entries[id]);
  for (Entry &entry : entries)
    if (entry.map)
      // It was computed before, so it can be computed again.
      (void)compute(entry).succeeded();
}

int64_t LengthTable::largestGiven() const {
  int64_t largest = 0;
  for (const Entry &entry : entries)
    if (!entry.open && !entry.map)
      largest = std::max(largest, entry.largest);
  return largest;
}

int64_t LengthTable::sizeOf(Attribute extent) const {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return number.getInt();
  int id = find(cast<StringAttr>(extent).getValue());
  return id < 0 ? 0 : value(id);
}

std::vector<int64_t> LengthTable::shapeOf(attn::ArrayType type) const {
  std::vector<int64_t> shape;
  for (Attribute extent : type.getShape())
    shape.push_back(sizeOf(extent));
  return shape;
}

Status LengthTable::checkedShape(attn::ArrayType type,
                                 std::vector<int64_t> &shape) const {
  shape.clear();
  int64_t count = 1;
  for (Attribute extent : type.getShape()) {
    if (auto name = dyn_cast<StringAttr>(extent);
        name && find(name.getValue()) < 0)
      return Status::error(fmt::format("extent '{}' is no length of the model",
                                       name.getValue().str()));
    shape.push_back(sizeOf(extent));
    if (shape.back() != 0 && count > mostElements / shape.back())
      return Status::error(fmt::format("an array of {} does not fit in memory",
                                       runtime::shapeText(shapeOf(type))));
    count *= shape.back();
  }
  return Status::success();
}

bool LengthTable::isInside(
    attn::ArrayType type, ArrayRef<int64_t> indices,
    llvm::function_ref<int64_t(StringRef)> loopIndex) const {
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    auto name = dyn_cast<StringAttr>(type.getExtent(axis));
    int id = name ? find(name.getValue()) : -1;
    if (id < 0 || !isNested(id))
      continue;
    std::optional<int64_t> parent;
    for (size_t i = 0; i < axis; ++i)
      if (attn::extentText(type.getExtent(i)) == parentOf(id))
        parent = indices[i];
    if (indices[axis] >= value(id, parent ? *parent : loopIndex(parentOf(id))))
      return false;
  }
  return true;
}
