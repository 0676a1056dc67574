//===- Data.cpp - random examples and weights of a random spec ------------===//
//
// Draws in the order of the spec's lists, so that both namings of a spec get
// the same numbers.
//
//===----------------------------------------------------------------------===//

#include "test/random/Data.h"

using namespace fovea::random;
using namespace fovea::reference;

/// Index `flat` of an array, as one index per axis.
static std::vector<int64_t> unflatten(int64_t flat,
                                      llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    indices[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return indices;
}

static double randomElement(const SpecData &data, bool last, int64_t limit,
                            Rng &random) {
  switch (data.kind) {
  case SpecData::Real:
    if (data.hasZeros)
      return random.chance(0.4)
                 ? 0
                 : random.uniform(0.4, 1) * (random.chance(0.5) ? 1 : -1);
    return random.uniform(-1, 1);
  case SpecData::Bit:
    return random.below(2);
  case SpecData::Token:
    if (!data.ends)
      return random.below(data.bound);
    // A sentence: symbol 1 at its end and nowhere else.
    if (last)
      return 1;
    return data.bound > 2 ? random.between(2, data.bound - 1) : 0;
  case SpecData::Int:
  case SpecData::Class:
    return random.below(data.bound);
  case SpecData::Position:
    return data.ends && last ? limit : random.below(limit);
  }
  return 0;
}

Inputs fovea::random::randomExample(const Spec &spec, Rng &random,
                                    int64_t longest) {
  Inputs inputs;
  for (const LengthInfo &length : spec.lengths) {
    if (length.parent.empty()) {
      inputs.lengths[length.name] = Length::of(random.between(1, longest));
      continue;
    }
    std::vector<int64_t> values(inputs.lengths[length.parent].values[0]);
    for (int64_t &value : values)
      value = random.between(0, 3);
    inputs.lengths[length.name] = Length::perParent(std::move(values));
  }

  for (const SpecData &data : spec.data) {
    Array array;
    array.integer = data.kind != SpecData::Real;
    const Length *nested = nullptr;
    for (const std::string &extent : data.extents) {
      auto size = spec.sizes.find(extent);
      if (size != spec.sizes.end()) {
        array.shape.push_back(size->second);
        continue;
      }
      const Length &length = inputs.lengths[extent];
      if (length.nested)
        nested = &length;
      array.shape.push_back(
          *std::max_element(length.values.begin(), length.values.end()));
    }
    array = Array::zeros(array.shape, array.integer);
    int64_t limit = data.boundLength.empty()
                        ? 0
                        : inputs.lengths[data.boundLength].values[0];
    for (size_t i = 0; i < array.values.size(); ++i) {
      std::vector<int64_t> indices = unflatten(i, array.shape);
      bool last = !indices.empty() && indices[0] == array.shape[0] - 1;
      double value = randomElement(data, last, limit, random);
      if (!nested || indices[1] < nested->values[indices[0]])
        array.values[i] = value;
    }
    inputs.data[data.name] = std::move(array);
  }
  if (spec.features.count("policy"))
    inputs.data[policyName] = Array::scalar(random.uniform(-1, 1));
  return inputs;
}

Inputs fovea::random::withoutGenerated(const Spec &spec,
                                       const Inputs &example) {
  Inputs inputs = example;
  std::set<std::string> given;
  for (const SpecData &data : spec.data)
    if (!data.generated)
      given.insert(data.extents.begin(), data.extents.end());
  for (const SpecData &data : spec.data) {
    if (!data.generated)
      continue;
    inputs.data.erase(data.name);
    for (const std::string &extent : data.extents)
      if (!given.count(extent))
        inputs.lengths.erase(extent);
  }
  return inputs;
}

Array fovea::random::randomWeights(std::vector<int64_t> shape, Rng &random) {
  Array array = Array::zeros(std::move(shape));
  for (double &value : array.values)
    value = random.uniform(-0.7, 0.7);
  return array;
}
