//===- Attention.cpp - attention of opset 23 and later --------------------===//
//
// Scaled dot products with heads, masks, a cache before the keys, and soft
// caps. The scores are an equation, which the compiler fuses with its readers.
// A row whose scores are all -inf attends to nothing. RotaryEmbedding turns
// pairs of numbers by angles that depend on their place (Su et al. 2021).
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea::onnx;

namespace {

/// Queries, keys or values: with an axis of heads, or with heads side by side.
struct Heads {
  Value value;
  Size batch, count, length, size;

  std::string read(Importer &importer, const std::string &batchIndex,
                   const std::string &head, const std::string &place,
                   const std::string &k) const {
    if (value.rank() == 4)
      return importer.read(value, {batchIndex, head, place, k});
    return importer.read(
        value,
        {batchIndex, place, fmt::format("{} * {} + {}", head, size.text(), k)});
  }
};

} // namespace

static bool readHeads(Importer &importer, const Node &node, size_t input,
                      const char *attribute, Heads &heads) {
  const Value *value = node.input(input);
  int64_t count = node.integer(attribute, 0);
  if (value->rank() == 3 && (count < 1 || !value->shape[2].dividedBy(count)))
    return importer.refuse(node, "takes queries, keys and values of 4 axes, or "
                                 "of 3 with the numbers of heads");
  heads.value = *value;
  heads.batch = value->shape[0];
  bool isSplit = value->rank() == 4;
  heads.count = isSplit ? value->shape[1] : Size(count);
  heads.length = value->shape[isSplit ? 2 : 1].withoutParts();
  heads.size = isSplit ? value->shape[3] : *value->shape[2].dividedBy(count);
  return true;
}

/// The cached values, then the new ones; output `output` is both.
static bool extend(Importer &importer, const Node &node, size_t past,
                   size_t output, Heads &heads) {
  const Value *before = node.input(past);
  if (!before && !node.gives(output))
    return true;
  const Heads own = heads;
  Size offset = before ? before->shape[2] : Size(0);
  Value old = before ? *before : Value();
  Shape shape = {own.batch, own.count, own.length + offset, own.size};
  auto body = [&](const Indices &i) {
    if (!before)
      return own.read(importer, i[0], i[1], i[2], i[3]);
    return fmt::format(
        "if {} < {} then {} else {}", i[2], offset.text(),
        importer.read(old, i),
        own.read(importer, i[0], i[1], i[2] + " - " + offset.text(), i[3]));
  };
  heads.value = importer.helper(node, own.value.type, shape, body);
  heads.length = shape[2];
  const Value joined = heads.value;
  return importer.give(node, output, joined.type, shape, [&](const Indices &i) {
    return importer.read(joined, i);
  });
}

static bool giveAttention(Importer &importer, const Node &node) {
  Heads queries, keys, values;
  if (!readHeads(importer, node, 0, "q_num_heads", queries) ||
      !readHeads(importer, node, 1, "kv_num_heads", keys) ||
      !readHeads(importer, node, 2, "kv_num_heads", values))
    return false;
  int64_t left = node.integer("left_window_size", -1),
          right = node.integer("right_window_size", -1);
  const Value *past = node.input(4), *valid = node.input(6);
  Value lengths = valid ? *valid : Value();
  Size offset = past ? past->shape[2] : Size(0);
  if (!extend(importer, node, 4, 1, keys) ||
      !extend(importer, node, 5, 2, values))
    return false;
  std::optional<int64_t> numQueries = queries.count.value(),
                         numKeys = keys.count.value();
  std::optional<int64_t> width = queries.size.value();
  if (!numQueries || !numKeys || !width || *numKeys < 1 ||
      *numQueries % *numKeys != 0)
    return importer.refuse(node, fmt::format("{} heads of queries cannot share "
                                             "{} of keys",
                                             queries.count.text(),
                                             keys.count.text()));
  int64_t sharing = *numQueries / *numKeys;
  auto keyHead = [&](const std::string &head) {
    return sharing == 1    ? head
           : *numKeys == 1 ? std::string("0")
                           : fmt::format("({} // {})", head, sharing);
  };
  double scale = node.real("scale", 1 / std::sqrt(double(*width)));
  double cap = node.real("softcap", 0);
  ElementType type = queries.value.type;
  Shape shape = {queries.batch, queries.count, queries.length, keys.length};
  Value scores = importer.helper(node, type, shape, [&](const Indices &i) {
    std::string score = fmt::format(
        "{} * sum[k0 < {}]({} * {})", literal(scale), queries.size.text(),
        queries.read(importer, i[0], i[1], i[2], "k0"),
        keys.read(importer, i[0], keyHead(i[1]), i[3], "k0"));
    return cap > 0 ? fmt::format("{0} * tanh({1} / {0})", literal(cap), score)
                   : score;
  });
  const Value *given = node.input(3);
  Value mask = given ? *given : Value();
  // A mask may be shorter than the keys; keys past it are ignored.
  bool isShort =
      given && !mask.shape.back().is(1) && !(mask.shape.back() == keys.length);
  Shape covered = shape;
  if (isShort)
    covered.back() = mask.shape.back();
  if (given && !importer.broadcastsTo(node, mask, covered))
    return false;
  Value masked = importer.helper(node, type, shape, [&](const Indices &i) {
    std::vector<std::string> allowed;
    if (isShort)
      allowed.push_back(i[3] + " < " + mask.shape.back().text());
    if (given && mask.kind() == Kind::Bit)
      allowed.push_back(importer.readAligned(mask, i));
    std::string reach =
        valid ? fmt::format("{} - {}", importer.read(lengths, {i[0]}),
                            queries.length.text())
              : offset.text();
    if (node.integer("is_causal", 0) != 0)
      allowed.push_back(fmt::format("{} <= {} + {}", i[3], i[2], reach));
    if (left >= 0)
      allowed.push_back(
          fmt::format("{} + {} >= {} + {}", i[3], left, i[2], reach));
    if (right >= 0)
      allowed.push_back(
          fmt::format("{} <= {} + {} + {}", i[3], i[2], reach, right));
    if (valid)
      allowed.push_back(i[3] + " < " + importer.read(lengths, {i[0]}));
    std::string score = importer.read(scores, i);
    if (given && mask.kind() != Kind::Bit)
      score += " + " + importer.readAligned(mask, i);
    return allowed.empty() ? score
                           : fmt::format("if {} then {} else -inf",
                                         joined(allowed, " and "), score);
  });
  Value weights = importer.helper(node, type, shape, [&](const Indices &i) {
    return fmt::format("softmax[{}]({})", i[3], importer.read(masked, i));
  });
  int64_t mode = node.integer("qk_matmul_output_mode", 0);
  const Value &shown = mode == 3 ? weights : mode == 2 ? masked : scores;
  if (!importer.give(node, 3, type, shape,
                     [&](const Indices &i) { return importer.read(shown, i); }))
    return false;
  auto element = [&](const std::string &batch, const std::string &head,
                     const std::string &place, const std::string &k) {
    return fmt::format("sum[k0 < {}]({} * {})", keys.length.text(),
                       importer.read(weights, {batch, head, place, "k0"}),
                       values.read(importer, batch, keyHead(head), "k0", k));
  };
  if (queries.value.rank() == 4)
    return importer.give(
        node, 0, type,
        {queries.batch, queries.count, queries.length, values.size},
        [&](const Indices &i) { return element(i[0], i[1], i[2], i[3]); });
  std::string size = values.size.text();
  return importer.give(
      node, 0, type,
      {queries.batch, queries.length, queries.count * values.size},
      [&](const Indices &i) {
        return element(i[0], fmt::format("({} // {})", i[2], size), i[1],
                       fmt::format("({} mod {})", i[2], size));
      });
}

/// What a graph of a node makes of its one input, an array of the same shape.
static bool modify(Importer &importer, const Node &node, const char *name,
                   Value &value) {
  const schema::AttributeProto *given = node.attribute(name);
  if (!given)
    return true;
  const schema::GraphProto &graph = given->g();
  if (graph.input_size() != 1 || graph.output_size() != 1)
    return importer.refuse(
        node, fmt::format("'{}' must have one input and one output", name));
  importer.values[graph.input(0).name()] = value;
  if (!importer.runBranch(graph))
    return false;
  const Value *made = importer.find(graph.output(0).name());
  if (!made || made->shape != value.shape)
    return importer.refuse(
        node, fmt::format("'{}' must give {}", name, shapeText(value.shape)));
  value = *made;
  return true;
}

/// Attention whose scores and weights pass through graphs of the file.
static bool giveFlexAttention(Importer &importer, const Node &node) {
  const Value q = node.at(0), k = node.at(1), v = node.at(2);
  std::optional<int64_t> heads = q.shape[1].value(),
                         shared = k.shape[1].value(),
                         width = q.shape[3].value();
  if (!heads || !shared || !width || *shared < 1 || *heads % *shared != 0 ||
      !importer.areEqual(q.shape[0], k.shape[0]) ||
      !importer.areEqual(q.shape[3], k.shape[3]) ||
      !importer.areEqual(k.shape[2], v.shape[2]) || !(k.shape[1] == v.shape[1]))
    return importer.refuse(node,
                           fmt::format("queries {}, keys {} and values {} "
                                       "do not match",
                                       shapeText(q.shape), shapeText(k.shape),
                                       shapeText(v.shape)));
  auto headOf = [&](const std::string &head) {
    return *heads == *shared
               ? head
               : fmt::format("({} // {})", head, *heads / *shared);
  };
  double scale = node.real("scale", 1 / std::sqrt(static_cast<double>(*width)));
  Shape shape = {q.shape[0], q.shape[1], q.shape[2], k.shape[2]};
  Value scores = importer.helper(node, q.type, shape, [&](const Indices &i) {
    return fmt::format("{} * sum[k0 < {}]({} * {})", literal(scale), *width,
                       importer.read(q, {i[0], i[1], i[2], "k0"}),
                       importer.read(k, {i[0], headOf(i[1]), i[3], "k0"}));
  });
  if (!modify(importer, node, "score_mod", scores))
    return false;
  Value weights = importer.helper(node, q.type, shape, [&](const Indices &i) {
    return fmt::format("softmax[{}]({})", i[3], importer.read(scores, i));
  });
  if (!modify(importer, node, "prob_mod", weights))
    return false;
  return importer.give(
      node, 0, q.type, {q.shape[0], q.shape[1], q.shape[2], v.shape[3]},
      [&](const Indices &i) {
        return fmt::format("sum[k0 < {}]({} * {})", k.shape[2].text(),
                           importer.read(weights, {i[0], i[1], i[2], "k0"}),
                           importer.read(v, {i[0], headOf(i[1]), "k0", i[3]}));
      });
}

static bool giveRotated(Importer &importer, const Node &node) {
  const Value x = node.at(0), cosines = node.at(1), sines = node.at(2);
  const Value *given = node.input(3);
  Value positions = given ? *given : Value();
  bool isSplit = x.rank() == 4;
  int64_t heads = node.integer("num_heads", 0);
  std::optional<int64_t> all = x.shape.back().value();
  if (!all || (!isSplit && (heads < 1 || *all % heads != 0)))
    return importer.refuse(node, "takes a value of 4 axes, or of 3 with the "
                                 "number of heads; the last axis is known");
  int64_t size = isSplit ? *all : *all / heads;
  int64_t turned = node.integer("rotary_embedding_dim", 0);
  turned = turned == 0 ? size : turned;
  Size length = x.shape[isSplit ? 2 : 1];
  size_t rank = given ? 2 : 3;
  for (const Value *table : {&cosines, &sines})
    if (turned < 2 || turned > size || turned % 2 != 0 ||
        table->rank() != rank || !table->shape.back().is(turned / 2) ||
        (!given && !importer.areEqual(length, table->shape[1])))
      return importer.refuse(
          node, fmt::format("'{}' {} has no angle for each "
                            "place and each of {} pairs",
                            table->name, shapeText(table->shape), turned / 2));
  if (given && (!importer.areEqual(x.shape[0], positions.shape[0]) ||
                !importer.areEqual(length, positions.shape[1])))
    return importer.refuse(node, "'" + positions.name + "' " +
                                     shapeText(positions.shape) +
                                     " has no position for each place");
  bool isInterleaved = node.integer("interleaved", 0) != 0;
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &i) {
    std::string place = i[isSplit ? 2 : 1];
    // The place in a head.
    std::string k = isSplit ? i[3] : fmt::format("({} mod {})", i.back(), size);
    std::string pair = isInterleaved
                           ? fmt::format("({} // 2)", k)
                           : fmt::format("({} mod {})", k, turned / 2);
    auto angle = [&](const Value &table) {
      if (!given)
        return importer.read(table, {i[0], place, pair}, true);
      // A position outside of the table has no angle.
      return importer.read(
          table, {importer.readAligned(positions, {i[0], place}), pair}, true);
    };
    auto at = [&](const std::string &last) {
      Indices own = i;
      own.back() = last;
      return importer.read(x, own, true);
    };
    int64_t apart = isInterleaved ? 1 : turned / 2;
    std::string isFirst = isInterleaved ? fmt::format("{} mod 2 == 0", k)
                                        : fmt::format("{} < {}", k, turned / 2);
    std::string other =
        fmt::format("(if {} then -{} else {})", isFirst,
                    at(fmt::format("({} + {})", i.back(), apart)),
                    at(fmt::format("({} - {})", i.back(), apart)));
    std::string result = fmt::format("{} * {} + {} * {}", importer.read(x, i),
                                     angle(cosines), other, angle(sines));
    return turned == size ? result
                          : fmt::format("if {} < {} then {} else {}", k, turned,
                                        result, importer.read(x, i));
  });
}

void fovea::onnx::addAttention(Handlers &handlers) {
  handlers["RotaryEmbedding"] = giveRotated;
  handlers["Attention"] = giveAttention;
  handlers["FlexAttention"] = giveFlexAttention;
}
