//===- Indexing.cpp - places that are data --------------------------------===//
//
// Elements selected by index tensors. A place below 0 counts from the end; one
// outside reads 0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::onnx;

/// The place that `index` selects in an axis of `extent`, counted from the
/// front.
static std::string wrapped(const std::string &index, const Size &extent) {
  return fmt::format("(if {0} < 0 then {0} + {1} else {0})", index,
                     extent.text());
}

static std::string zeroOf(const Value &value) {
  return converted("0", Kind::Int, value.kind()) == "0"
             ? "0"
             : (value.kind() == Kind::Real ? "0.0" : "false");
}

/// An array of places that may be out of range; reads check them.
static Value placesOf(Importer &importer, const Node &node, const Value &at,
                      const Size &extent) {
  return importer.helper(node, int64Type, at.shape, [&](const Indices &i) {
    return wrapped(importer.read(at, i), extent);
  });
}

static std::string readInside(const std::string &place, const Size &extent,
                              const std::string &element,
                              const std::string &zero) {
  return fmt::format("if 0 <= {0} and {0} < {1} then {2} else {3}", place,
                     extent.text(), element, zero);
}

static bool giveGather(Importer &importer, const Node &node) {
  const Value x = node.at(0), at = node.at(1);
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", 0), x.rank());
  if (!axis)
    return false;
  auto front = static_cast<int64_t>(*axis);
  Shape shape(x.shape.begin(), x.shape.begin() + front);
  shape.insert(shape.end(), at.shape.begin(), at.shape.end());
  shape.insert(shape.end(), x.shape.begin() + front + 1, x.shape.end());
  const Size &extent = x.shape[*axis];
  std::optional<int64_t> single = at.known && at.known->whole.size() == 1
                                      ? at.known->whole[0].value()
                                      : std::nullopt;
  if (single && extent.value() &&
      (*single < -*extent.value() || *single >= *extent.value()))
    return importer.refuse(
        node, fmt::format("reads place {} of {}", *single, *extent.value()));
  if (single && extent.value())
    return importer.give(node, 0, x.type, shape, [&](const Indices &i) {
      Indices own(i.begin(), i.begin() + front);
      own.push_back(
          std::to_string(*single < 0 ? *single + *extent.value() : *single));
      own.insert(own.end(), i.begin() + front + static_cast<int64_t>(at.rank()),
                 i.end());
      return importer.read(x, own);
    });
  Value places = placesOf(importer, node, at, extent);
  return importer.give(node, 0, x.type, shape, [&](const Indices &i) {
    auto end = front + static_cast<int64_t>(at.rank());
    std::string place =
        importer.read(places, Indices(i.begin() + front, i.begin() + end));
    Indices own(i.begin(), i.begin() + front);
    own.push_back(place);
    own.insert(own.end(), i.begin() + end, i.end());
    return readInside(place, extent, importer.read(x, own), zeroOf(x));
  });
}

static bool giveGatherElements(Importer &importer, const Node &node) {
  const Value x = node.at(0), at = node.at(1);
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", 0), x.rank());
  if (!axis)
    return false;
  const Size &extent = x.shape[*axis];
  Value places = placesOf(importer, node, at, extent);
  return importer.give(node, 0, x.type, at.shape, [&](const Indices &i) {
    Indices own = i;
    own[*axis] = importer.read(places, i);
    return readInside(own[*axis], extent, importer.read(x, own), zeroOf(x));
  });
}

/// The last axis of the indices has a place for each of the first axes.
static bool giveGatherND(Importer &importer, const Node &node) {
  const Value x = node.at(0), at = node.at(1);
  int64_t batches = node.integer("batch_dims", 0);
  std::optional<int64_t> depth = at.shape.back().value();
  auto most = static_cast<int64_t>(std::min(at.rank() - 1, x.rank()));
  if (batches < 0 || batches > most || !depth ||
      *depth > static_cast<int64_t>(x.rank()) - batches)
    return importer.refuse(node, "has indices of more axes than there are");
  auto batch = static_cast<size_t>(batches);
  size_t first = batch + size_t(*depth);
  Shape shape(at.shape.begin(), at.shape.end() - 1);
  shape.insert(shape.end(), x.shape.begin() + static_cast<int64_t>(first),
               x.shape.end());
  size_t outer = at.rank() - 1;
  std::vector<Value> places; // for each of these axes of the input
  for (int64_t k = 0; k < *depth; ++k)
    places.push_back(importer.helper(
        node, int64Type, Shape(at.shape.begin(), at.shape.end() - 1),
        [&](const Indices &i) {
          Indices place = i;
          place.push_back(std::to_string(k));
          return wrapped(importer.read(at, place), x.shape[batch + size_t(k)]);
        }));
  return importer.give(node, 0, x.type, shape, [&](const Indices &i) {
    Indices own(i.begin(), i.begin() + static_cast<int64_t>(batch));
    std::vector<std::string> inside;
    for (int64_t k = 0; k < *depth; ++k) {
      const Size &extent = x.shape[batch + size_t(k)];
      std::string index = importer.read(
          places[size_t(k)],
          Indices(i.begin(), i.begin() + static_cast<int64_t>(outer)));
      inside.push_back(
          fmt::format("0 <= {0} and {0} < {1}", index, extent.text()));
      own.push_back(index);
    }
    own.insert(own.end(), i.begin() + static_cast<int64_t>(outer), i.end());
    return fmt::format("if {} then {} else {}", joined(inside, " and "),
                       importer.read(x, own), zeroOf(x));
  });
}

static bool giveOneHot(Importer &importer, const Node &node) {
  const Value at = node.at(0), pair = node.at(2);
  const Contents *depth = importer.knownInput(node, 1);
  if (!depth)
    return false;
  double real = depth->reals.empty() ? 0 : depth->reals[0];
  if (!(real >= 0 && real < 0x1p40) || !pair.shape[0].is(2))
    return importer.refuse(node, "needs a depth, and two values");
  Size count =
      depth->reals.empty() ? depth->whole[0] : Size(static_cast<int64_t>(real));
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", -1), at.rank() + 1);
  if (!axis)
    return false;
  Shape shape = at.shape;
  shape.insert(shape.begin() + static_cast<int64_t>(*axis), count);
  return importer.give(node, 0, pair.type, shape, [&](const Indices &i) {
    Indices own = i;
    own.erase(own.begin() + static_cast<int64_t>(*axis));
    std::string index = wrapped(importer.readAs(at, own, Kind::Int), count);
    return fmt::format("if {} == {} then {} else {}", index, i[*axis],
                       importer.read(pair, {"1"}), importer.read(pair, {"0"}));
  });
}

/// The element selected by an update, or the input's. If several select the
/// same place, the last one counts, or all are combined.
static bool giveScatter(Importer &importer, const Node &node) {
  const Value x = node.at(0), at = node.at(1), updates = node.at(2);
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", 0), x.rank());
  if (!axis)
    return false;
  if (at.shape != updates.shape)
    return importer.refuse(node, fmt::format("has updates {} for indices {}",
                                             shapeText(updates.shape),
                                             shapeText(at.shape)));
  std::string how = node.text("reduction", "none");
  const Size &extent = x.shape[*axis];
  std::string count = at.shape[*axis].text();
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &i) {
    Indices own = i;
    own[*axis] = "k0";
    std::vector<std::string> inside;
    for (size_t k = 0; k < x.rank(); ++k)
      if (k != *axis && !(at.shape[k] == x.shape[k]))
        inside.push_back(i[k] + " < " + at.shape[k].text());
    inside.push_back(wrapped(importer.read(at, own), extent) +
                     " == " + i[*axis]);
    std::string where = joined(inside, " and ");
    std::string update = importer.read(updates, own), old = importer.read(x, i);
    auto combine = [&](const std::string &reducer) {
      return fmt::format("{}[k0 < {} where {}]({})", reducer, count, where,
                         update);
    };
    if (how == "add")
      return old + " + " + combine("sum");
    if (how == "mul")
      return old + " * " + combine("prod");
    std::string any = fmt::format("any[k0 < {} where {}](true)", count, where);
    if (how == "max" || how == "min")
      return fmt::format("if {0} then {1}({2}, {3}) else {2}", any, how, old,
                         combine(how));
    return fmt::format("if {} then {} else {}", any, combine("sum"), old);
  });
}

static bool giveScatterND(Importer &importer, const Node &node) {
  const Value x = node.at(0), at = node.at(1), updates = node.at(2);
  std::optional<int64_t> depth = at.shape.back().value();
  std::string how = node.text("reduction", "none");
  if (!depth || size_t(*depth) > x.rank())
    return importer.refuse(node, "has indices of more axes than there are");
  size_t outer = at.rank() - 1;
  if (updates.rank() != outer + x.rank() - size_t(*depth))
    return importer.refuse(node, fmt::format("has updates {} for indices {}",
                                             shapeText(updates.shape),
                                             shapeText(at.shape)));
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &i) {
    Indices rows;
    std::vector<std::string> binders, inside;
    for (size_t k = 0; k < outer; ++k) {
      rows.push_back(fmt::format("k{}", k));
      binders.push_back(rows.back() + " < " + at.shape[k].text());
    }
    for (int64_t k = 0; k < *depth; ++k) {
      Indices place = rows;
      place.push_back(std::to_string(k));
      inside.push_back(wrapped(importer.read(at, place), x.shape[size_t(k)]) +
                       " == " + i[size_t(k)]);
    }
    Indices own = rows;
    own.insert(own.end(), i.begin() + *depth, i.end());
    std::string over =
        joined(binders, ", ") + " where " + joined(inside, " and ");
    std::string update = importer.read(updates, own), old = importer.read(x, i);
    if (how == "add" || how == "mul")
      return fmt::format("{} {} {}[{}]({})", old, how == "add" ? "+" : "*",
                         how == "add" ? "sum" : "prod", over, update);
    std::string any = fmt::format("any[{}](true)", over);
    if (how == "max" || how == "min")
      return fmt::format("if {0} then {1}({2}, {1}[{3}]({4})) else {2}", any,
                         how, old, over, update);
    return fmt::format("if {} then sum[{}]({}) else {}", any, over, update,
                       old);
  });
}

static bool giveReverse(Importer &importer, const Node &node) {
  const Value x = node.at(0), lengths = node.at(1);
  auto time = static_cast<size_t>(node.integer("time_axis", 0));
  auto batch = static_cast<size_t>(node.integer("batch_axis", 1));
  if (time >= x.rank() || batch >= x.rank())
    return importer.refuse(node, "has axes that are not there");
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &i) {
    std::string length = importer.read(lengths, {i[batch]});
    Indices own = i;
    own[time] = fmt::format("{} - 1 - {}", length, i[time]);
    return fmt::format("if {0} < {1} and 0 <= {2} and {2} < {3} then {4} else "
                       "{5}",
                       i[time], length, own[time], x.shape[time].text(),
                       importer.read(x, own), importer.read(x, i));
  });
}

void fovea::onnx::addIndexing(Handlers &handlers) {
  handlers["Gather"] = giveGather;
  handlers["GatherElements"] = giveGatherElements;
  handlers["GatherND"] = giveGatherND;
  handlers["OneHot"] = giveOneHot;
  handlers["ScatterElements"] = giveScatter;
  handlers["Scatter"] = giveScatter;
  handlers["ScatterND"] = giveScatterND;
  handlers["ReverseSequence"] = giveReverse;
}
