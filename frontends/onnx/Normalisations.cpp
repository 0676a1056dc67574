//===- Normalisations.cpp - softmax, and means taken out ------------------===//

#include "frontends/onnx/Importer.h"

#include <fmt/format.h>

using namespace fovea::onnx;

/// Over one axis; before version 13 over all axes from it on.
static bool giveSoftmax(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  bool isOld = importer.opset() < 13;
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", isOld ? 1 : -1), x.rank());
  if (!axis)
    return false;
  size_t end = isOld ? x.rank() : *axis + 1;
  auto over = [&](const std::string &reducer, const Indices &indices) {
    Indices own = indices;
    std::vector<std::string> binders;
    for (size_t i = *axis; i < end; ++i) {
      own[i] = fmt::format("k{}", i);
      binders.push_back(own[i] + " < " + x.shape[i].text());
    }
    return fmt::format("{}[{}]({})", reducer, joined(binders, ", "),
                       importer.read(x, own));
  };
  if (node.op() == "Hardmax") {
    if (end != *axis + 1)
      return importer.refuse(node, "over several axes is not supported");
    return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
      return fmt::format("if {} == {} then 1.0 else 0.0",
                         over("argmax", indices), indices[*axis]);
    });
  }
  if (end == *axis + 1) {
    // A normaliser of an index of the equation yields its component there.
    Shape shape = x.shape;
    shape[*axis] = shape[*axis].withoutParts();
    return importer.give(node, 0, x.type, shape, [&](const Indices &indices) {
      return fmt::format("{}[{}]({})",
                         node.op() == "Softmax" ? "softmax" : "log_softmax",
                         indices[*axis], importer.read(x, indices));
    });
  }
  Shape outer(x.shape.begin(), x.shape.begin() + static_cast<int64_t>(*axis));
  Value sum = importer.helper(node, x.type, outer, [&](const Indices &indices) {
    Indices own = indices;
    own.resize(x.rank());
    return over("logsumexp", own);
  });
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    Indices own(indices.begin(), indices.begin() + static_cast<int64_t>(*axis));
    std::string logarithm =
        importer.read(x, indices) + " - " + importer.read(sum, own);
    return node.op() == "Softmax" ? "exp(" + logarithm + ")" : logarithm;
  });
}

namespace {
/// The mean over some axes, and the inverse of the deviation.
struct Moments {
  Value mean, scale;
};
} // namespace

static std::string
overAxes(Importer &importer, const Value &x, const std::vector<bool> &isOver,
         const Indices &indices,
         const std::function<std::string(const std::string &)> &body) {
  Indices own;
  std::vector<std::string> binders;
  for (size_t i = 0; i < x.rank(); ++i) {
    own.push_back(isOver[i] ? fmt::format("k{}", i) : indices[i]);
    if (isOver[i])
      binders.push_back(own[i] + " < " + x.shape[i].text());
  }
  return fmt::format("mean[{}]({})", joined(binders, ", "),
                     body(importer.read(x, own)));
}

/// Over the axes of `isOver`, which have one element in both.
static Moments momentsOf(Importer &importer, const Node &node, const Value &x,
                         const std::vector<bool> &isOver, double epsilon,
                         bool isCentred = true) {
  Shape shape = x.shape;
  for (size_t i = 0; i < x.rank(); ++i)
    if (isOver[i])
      shape[i] = Size(1);
  Moments moments;
  auto same = [](const std::string &element) { return element; };
  if (isCentred)
    moments.mean =
        importer.helper(node, x.type, shape, [&](const Indices &indices) {
          return overAxes(importer, x, isOver, indices, same);
        });
  moments.scale =
      importer.helper(node, x.type, shape, [&](const Indices &indices) {
        std::string mean =
            isCentred ? importer.read(moments.mean, indices) : "";
        std::string square = overAxes(
            importer, x, isOver, indices, [&](const std::string &element) {
              std::string e =
                  mean.empty() ? element : "(" + element + " - " + mean + ")";
              return e + " * " + e;
            });
        return fmt::format("1.0 / sqrt({} + {})", square, literal(epsilon));
      });
  return moments;
}

/// LayerNormalization and RMSNormalization: over the last axes.
static bool giveLayer(Importer &importer, const Node &node) {
  const Value x = node.at(0), scale = node.at(1);
  bool isCentred = node.op() == "LayerNormalization";
  const Value *bias = isCentred ? node.input(2) : nullptr;
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", -1), x.rank());
  if (!axis)
    return false;
  std::vector<bool> isOver(x.rank());
  for (size_t i = *axis; i < x.rank(); ++i)
    isOver[i] = true;
  if (!importer.broadcastsTo(node, scale, x.shape) ||
      (bias && !importer.broadcastsTo(node, *bias, x.shape)))
    return false;
  Moments moments = momentsOf(importer, node, x, isOver,
                              node.real("epsilon", 1e-5), isCentred);
  auto copy = [&](size_t output, const Value &value) {
    return importer.give(
        node, output, value.type, value.shape,
        [&](const Indices &indices) { return importer.read(value, indices); });
  };
  if (isCentred && (!copy(1, moments.mean) || !copy(2, moments.scale)))
    return false;
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    std::string text = importer.read(x, indices);
    if (isCentred)
      text = "(" + text + " - " + importer.readAligned(moments.mean, indices) +
             ")";
    text += " * " + importer.readAligned(moments.scale, indices) + " * " +
            importer.readAligned(scale, indices);
    return bias ? text + " + " + importer.readAligned(*bias, indices) : text;
  });
}

/// One number for each channel, the second axis.
static std::string ofChannel(Importer &importer, const Value &value,
                             const Indices &indices) {
  return importer.read(value, {indices[1]});
}

static bool giveBatch(Importer &importer, const Node &node) {
  const Value x = node.at(0), scale = node.at(1), bias = node.at(2),
              mean = node.at(3), variance = node.at(4);
  if (node.integer("training_mode", 0) != 0 || node.gives(1))
    return importer.refuse(node, "is for training");
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    return fmt::format(
        "({} - {}) * ({} / sqrt({} + {})) + {}", importer.read(x, indices),
        ofChannel(importer, mean, indices), ofChannel(importer, scale, indices),
        ofChannel(importer, variance, indices),
        literal(node.real("epsilon", 1e-5)),
        ofChannel(importer, bias, indices));
  });
}

static bool giveInstance(Importer &importer, const Node &node) {
  const Value x = node.at(0), scale = node.at(1), bias = node.at(2);
  std::vector<bool> isOver(x.rank(), true);
  isOver[0] = isOver[1] = false;
  Moments moments =
      momentsOf(importer, node, x, isOver, node.real("epsilon", 1e-5));
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    return fmt::format("({} - {}) * {} * {} + {}", importer.read(x, indices),
                       importer.readAligned(moments.mean, indices),
                       importer.readAligned(moments.scale, indices),
                       ofChannel(importer, scale, indices),
                       ofChannel(importer, bias, indices));
  });
}

/// For channels in groups, each with all places.
static bool giveGroup(Importer &importer, const Node &node) {
  const Value x = node.at(0), scale = node.at(1), bias = node.at(2);
  int64_t groups = node.integer("num_groups", 1);
  std::optional<int64_t> channels = x.shape[1].value();
  if (!channels || groups < 1 || *channels % groups != 0)
    return importer.refuse(node, "has channels that groups do not divide");
  int64_t size = *channels / groups;
  Shape folded = {x.shape[0], Size(groups), Size(size)};
  folded.insert(folded.end(), x.shape.begin() + 2, x.shape.end());
  Value grouped =
      importer.helper(node, x.type, folded, [&](const Indices &indices) {
        Indices own = {indices[0], fmt::format("{} * {} + {}", indices[1], size,
                                               indices[2])};
        own.insert(own.end(), indices.begin() + 3, indices.end());
        return importer.read(x, own);
      });
  std::vector<bool> isOver(folded.size(), true);
  isOver[0] = isOver[1] = false;
  Moments moments =
      momentsOf(importer, node, grouped, isOver, node.real("epsilon", 1e-5));
  bool isOfGroups = scale.shape[0].is(groups) && groups != *channels;
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    Indices own(folded.size(), "0");
    own[0] = indices[0];
    own[1] = fmt::format("{} // {}", indices[1], size);
    std::string place = isOfGroups ? own[1] : indices[1];
    return fmt::format("({} - {}) * {} * {} + {}", importer.read(x, indices),
                       importer.readAligned(moments.mean, own),
                       importer.readAligned(moments.scale, own),
                       importer.read(scale, {place}),
                       importer.read(bias, {place}));
  });
}

static bool giveMeanVariance(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::vector<int64_t> axes = node.integers("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  std::vector<bool> isOver(x.rank());
  for (int64_t axis : axes) {
    std::optional<size_t> own = importer.axisOf(node, axis, x.rank());
    if (!own)
      return false;
    isOver[*own] = true;
  }
  Moments moments = momentsOf(importer, node, x, isOver, 0);
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    return fmt::format("({} - {}) * {}", importer.read(x, indices),
                       importer.readAligned(moments.mean, indices),
                       importer.readAligned(moments.scale, indices));
  });
}

static bool giveNorm(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  std::optional<size_t> axis =
      importer.axisOf(node, node.integer("axis", -1), x.rank());
  if (!axis)
    return false;
  bool isFirst = node.integer("p", 2) == 1;
  Shape shape = x.shape;
  shape[*axis] = Size(1);
  Value norm =
      importer.helper(node, x.type, shape, [&](const Indices &indices) {
        Indices own = indices;
        own[*axis] = "k0";
        std::string element = importer.read(x, own);
        std::string what =
            isFirst ? "abs(" + element + ")" : element + " * " + element;
        std::string sum =
            fmt::format("sum[k0 < {}]({})", x.shape[*axis].text(), what);
        return isFirst ? sum : "sqrt(" + sum + ")";
      });
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    std::string by = importer.readAligned(norm, indices);
    return fmt::format("if {0} == 0.0 then 0.0 else {1} / {0}", by,
                       importer.read(x, indices));
  });
}

/// Krizhevsky et al. (2012): divides by the sum over neighbouring channels.
static bool giveLocal(Importer &importer, const Node &node) {
  const Value x = node.at(0);
  int64_t size = node.integer("size", 1);
  if (size < 1)
    return importer.refuse(node, "needs a size of at least 1");
  return importer.give(node, 0, x.type, x.shape, [&](const Indices &indices) {
    Indices own = indices;
    own[1] = "k0";
    std::string element = importer.read(x, own);
    return fmt::format(
        "{0} / ({1} + {2} * sum[k0 < {3} where {4} - {5} <= k0 and k0 <= {4} + "
        "{6}]({7} * {7})) ^ {8}",
        importer.read(x, indices), literal(node.real("bias", 1)),
        literal(node.real("alpha", 0.0001) / double(size)), x.shape[1].text(),
        indices[1], (size - 1) / 2, size / 2, element,
        literal(node.real("beta", 0.75)));
  });
}

void fovea::onnx::addNormalisations(Handlers &handlers) {
  handlers["Softmax"] = giveSoftmax;
  handlers["LogSoftmax"] = giveSoftmax;
  handlers["Hardmax"] = giveSoftmax;
  handlers["LayerNormalization"] = giveLayer;
  handlers["RMSNormalization"] = giveLayer;
  handlers["BatchNormalization"] = giveBatch;
  handlers["InstanceNormalization"] = giveInstance;
  handlers["GroupNormalization"] = giveGroup;
  handlers["MeanVarianceNormalization"] = giveMeanVariance;
  handlers["LpNormalization"] = giveNorm;
  handlers["LRN"] = giveLocal;
}
