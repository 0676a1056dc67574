//===- Products.cpp - matrix products and their kin -----------------------===//

#include "frontends/onnx/Importer.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

using namespace fovea::onnx;

/// Multiplies as numpy does: vectors are rows and columns, the axes before the
/// last two are broadcast.
bool fovea::onnx::multiply(Importer &importer, const Node &node, const Value &a,
                           const Value &b, ElementType type,
                           const Finish &finish) {
  const Size &inner = a.shape.back();
  bool isColumn = b.rank() == 1;
  if (!importer.areEqual(inner, b.shape[isColumn ? 0 : b.rank() - 2]))
    return importer.refuse(node, "'" + a.name + "' " + shapeText(a.shape) +
                                     " and '" + b.name + "' " +
                                     shapeText(b.shape) + " do not match");
  Value left = a, right = b;
  left.shape.resize(a.rank() < 2 ? 0 : a.rank() - 2);
  right.shape.resize(isColumn ? 0 : b.rank() - 2);
  std::optional<Shape> outer = importer.broadcast(node, {&left, &right});
  if (!outer)
    return false;
  Shape shape = *outer;
  if (a.rank() > 1)
    shape.push_back(a.shape[a.rank() - 2]);
  if (!isColumn)
    shape.push_back(b.shape.back());
  size_t rank = outer->size();
  return importer.give(node, 0, type, shape, [&](const Indices &indices) {
    // The outer indices of each, then its own two.
    auto place = [&](const Value &value, const Shape &own) {
      Indices result;
      for (size_t i = 0; i < own.size(); ++i)
        result.push_back(own[i].is(1) ? "0" : indices[rank - own.size() + i]);
      return result;
    };
    Indices first = place(a, left.shape), second = place(b, right.shape);
    if (a.rank() > 1)
      first.push_back(indices[rank]);
    // The language has no sum that does not use its index.
    std::string sum =
        inner.is(1) ? "" : fmt::format("sum[k0 < {}]", inner.text());
    first.emplace_back(inner.is(1) ? "0" : "k0");
    second.emplace_back(first.back());
    if (!isColumn)
      second.push_back(indices.back());
    return finish(fmt::format("{}({} * {})", sum, importer.read(a, first),
                              importer.read(b, second)),
                  indices);
  });
}

static bool giveMatMul(Importer &importer, const Node &node) {
  const Value a = node.at(0), b = node.at(1);
  return multiply(importer, node, a, b, a.type,
                  [](const std::string &sum, const Indices &) { return sum; });
}

static bool giveGemm(Importer &importer, const Node &node) {
  const Value a = node.at(0), b = node.at(1);
  bool turnsA = node.integer("transA", 0) != 0,
       turnsB = node.integer("transB", 0) != 0;
  if (!importer.areEqual(a.shape[turnsA ? 0 : 1], b.shape[turnsB ? 1 : 0]))
    return importer.refuse(node, "'" + a.name + "' " + shapeText(a.shape) +
                                     " and '" + b.name + "' " +
                                     shapeText(b.shape) + " do not match");
  double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  const Value *c = node.input(2);
  Shape shape = {a.shape[turnsA ? 1 : 0], b.shape[turnsB ? 0 : 1]};
  if (c && !importer.broadcastsTo(node, *c, shape))
    return false;
  return importer.give(node, 0, a.type, shape, [&](const Indices &i) {
    std::string text = fmt::format(
        "sum[k0 < {}]({} * {})", a.shape[turnsA ? 0 : 1].text(),
        importer.read(a, turnsA ? Indices{"k0", i[0]} : Indices{i[0], "k0"}),
        importer.read(b, turnsB ? Indices{i[1], "k0"} : Indices{"k0", i[1]}));
    if (alpha != 1)
      text = literal(alpha) + " * " + text;
    if (c) {
      text += " + ";
      if (beta != 1)
        text += literal(beta) + " * ";
      text += importer.readAligned(*c, i);
    }
    return text;
  });
}

/// Whether there are letters, whole ellipses and commas before the arrow at
/// `arrow`, and letters and an ellipsis after it.
static bool isEquation(const std::string &equation, size_t arrow) {
  for (size_t i = 0; i < equation.size(); ++i) {
    auto letter = static_cast<unsigned char>(equation[i]);
    if (i == arrow)
      ++i;
    else if (equation.compare(i, 3, "...") == 0)
      i += 2;
    else if (!(letter < 128 && std::isalpha(letter)) &&
             (letter != ',' || i > arrow))
      return false;
  }
  return true;
}

/// `ij,jk->ik`: a letter is an index; letters that the output lacks are summed.
static bool giveEinsum(Importer &importer, const Node &node) {
  std::string equation = node.text("equation", "");
  std::erase(equation, ' ');
  size_t arrow = equation.find("->");
  if (!isEquation(equation, arrow))
    return importer.refuse(node, "'" + equation + "' is not an equation");
  std::string inputs = equation.substr(0, arrow);
  std::vector<std::string> parts(1);
  for (char letter : inputs)
    if (letter == ',')
      parts.emplace_back();
    else
      parts.back() += letter;
  if (parts.size() != node.numInputs())
    return importer.refuse(node, "'" + equation +
                                     "' has another number of "
                                     "parts than there are inputs");
  // An ellipsis represents the axes without a letter, which get capital
  // letters.
  std::map<std::string, Size> sizes;
  std::vector<std::vector<std::string>> labels;
  size_t widest = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const Value &value = node.at(p);
    size_t letters = 0;
    for (char letter : parts[p])
      letters += letter != '.';
    size_t hidden = value.rank() < letters ? 0 : value.rank() - letters;
    std::vector<std::string> own;
    for (size_t i = 0; i < parts[p].size(); ++i) {
      if (parts[p][i] != '.') {
        own.emplace_back(1, parts[p][i]);
        continue;
      }
      for (size_t k = 0; k < hidden; ++k)
        own.push_back(fmt::format(".{}", hidden - k));
      widest = std::max(widest, hidden);
      i += 2;
    }
    if (own.size() != value.rank())
      return importer.refuse(node, "'" + parts[p] +
                                       "' does not name the axes "
                                       "of " +
                                       shapeText(value.shape));
    for (size_t i = 0; i < own.size(); ++i) {
      Size &size = sizes.try_emplace(own[i], value.shape[i]).first->second;
      if (size.is(1))
        size = value.shape[i];
      else if (!value.shape[i].is(1) &&
               !importer.areEqual(size, value.shape[i]))
        return importer.refuse(
            node,
            fmt::format("'{}' has the extents {} and {} for '{}'", equation,
                        size.text(), value.shape[i].text(), own[i]));
    }
    labels.push_back(own);
  }
  std::vector<std::string> output;
  auto addHidden = [&] {
    for (size_t k = widest; k > 0; --k)
      output.push_back(fmt::format(".{}", k));
  };
  if (arrow == std::string::npos) {
    addHidden();
    for (const auto &[label, size] : sizes)
      if (label[0] != '.' &&
          std::count(inputs.begin(), inputs.end(), label[0]) == 1)
        output.push_back(label);
  } else {
    for (size_t i = arrow + 2; i < equation.size(); ++i) {
      if (equation[i] != '.') {
        output.emplace_back(1, equation[i]);
        continue;
      }
      addHidden();
      i += 2;
    }
  }
  Shape shape;
  std::set<std::string> named;
  for (const std::string &label : output) {
    if (!sizes.count(label) || !named.insert(label).second)
      return importer.refuse(node,
                             fmt::format("'{}' gives '{}', which no input "
                                         "names, or names it twice",
                                         equation, label));
    shape.push_back(sizes[label]);
  }
  std::vector<Value> values;
  for (size_t p = 0; p < parts.size(); ++p)
    values.push_back(node.at(p));
  return importer.give(
      node, 0, values[0].type, shape, [&](const Indices &indices) {
        std::map<std::string, std::string> names;
        for (size_t i = 0; i < output.size(); ++i)
          names[output[i]] = indices[i];
        std::vector<std::string> binders, factors;
        for (const auto &[label, size] : sizes) {
          if (names.count(label))
            continue;
          names[label] = size.is(1) ? "0" : fmt::format("k{}", binders.size());
          if (!size.is(1))
            binders.push_back(names[label] + " < " + size.text());
        }
        for (size_t p = 0; p < values.size(); ++p) {
          Indices own;
          for (size_t i = 0; i < labels[p].size(); ++i)
            own.push_back(values[p].shape[i].is(1) ? "0" : names[labels[p][i]]);
          factors.push_back(importer.read(values[p], own));
        }
        std::string product = joined(factors, " * ");
        return binders.empty()
                   ? product
                   : fmt::format("sum[{}]({})", joined(binders, ", "), product);
      });
}

void fovea::onnx::addProducts(Handlers &handlers) {
  handlers["MatMul"] = giveMatMul;
  handlers["Gemm"] = giveGemm;
  handlers["Einsum"] = giveEinsum;
}
