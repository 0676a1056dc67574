//===- Shown.cpp - equations of hypotheses as a file ----------------------===//

#include "runtime/data/Shown.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace fovea::runtime;
using nlohmann::json;

static ShownAxis axisOf(const std::string &extent, int64_t offset,
                        const std::vector<AxisSymbols> &symbols,
                        const Example &example,
                        const std::map<std::string, DataValues> &generated,
                        const Vocabularies &vocabularies,
                        const std::string &words) {
  ShownAxis axis;
  if (extent.find_first_not_of("0123456789") != extent.npos)
    axis.name = extent;
  for (const auto &[along, field, isChosen, within] : symbols) {
    if (along != extent)
      continue;
    const auto &values =
        isChosen && generated.count(field.name) ? generated : example.data;
    auto found = values.find(field.name);
    if (found == values.end())
      continue;
    axis.name = field.name;
    bool hasWords = !isChosen && field.name == words;
    auto wordAt = [&](int64_t place) {
      auto id = static_cast<int64_t>(found->second.values[place]);
      return hasWords && id == Symbol::unknown &&
                     place < int64_t(example.words.size())
                 ? example.words[place]
                 : vocabularies.wordOf(field, id);
    };
    const DataValues &all = found->second;
    int64_t count = all.shape.empty() ? 0 : all.shape.front();
    int64_t room = count == 0 ? 0 : int64_t(all.values.size()) / count;
    auto lengths = example.lengths.find(within);
    for (int64_t place = 0; place < count; ++place) {
      std::string &label = axis.labels.emplace_back();
      int64_t size = room;
      if (lengths != example.lengths.end() && lengths->second.nested &&
          place < int64_t(lengths->second.values.size()))
        size = std::min(room, lengths->second.values[place]);
      int64_t from = place + offset;
      if (from < 0 && field.isSentence)
        label = vocabularies.wordOf(field, Symbol::start);
      if (from < 0 || from >= count)
        continue;
      for (int64_t i = 0; i < size; ++i)
        label += (i == 0 ? "" : " ") + wordAt(from * room + i);
    }
    break;
  }
  return axis;
}

ShownValues fovea::runtime::shownIn(
    const ShownEquation &equation, const std::vector<AxisSymbols> &symbols,
    const Example &example, const std::map<std::string, DataValues> &generated,
    const Vocabularies &vocabularies, const std::string &words) {
  ShownValues result;
  result.values = generated.at(equation.name);
  for (size_t axis = 0; axis < equation.extents.size(); ++axis)
    result.axes.push_back(
        axisOf(equation.extents[axis],
               axis < equation.offsets.size() ? equation.offsets[axis] : 0,
               symbols, example, generated, vocabularies, words));
  return result;
}

void fovea::runtime::storeShown(const std::string &name,
                                const std::vector<ShownValues> &examples,
                                TensorFile &file) {
  std::vector<DataValues> values;
  json axes = json::array();
  for (const ShownValues &example : examples) {
    values.push_back(example.values);
    json &row = axes.emplace_back(json::array());
    for (const ShownAxis &axis : example.axes)
      row.push_back({{"name", axis.name}, {"labels", axis.labels}});
  }
  file.tensors[name] = joinPadded(DType::F64, values);
  size_t rank = values.empty() ? 0 : values.front().shape.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    std::vector<double> lengths;
    for (const DataValues &value : values)
      lengths.push_back(static_cast<double>(value.shape[axis]));
    std::string suffix = axis == 0 ? "" : "." + std::to_string(axis + 1);
    file.tensors[name + ".length" + suffix] =
        Tensor::of(DType::I64, {static_cast<int64_t>(values.size())}, lengths);
  }
  file.metadata["axes." + name] =
      axes.dump(-1, ' ', false, json::error_handler_t::replace);
}
