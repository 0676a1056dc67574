//===- BenchData.cpp - random data of given lengths -----------------------===//

#include "app/profile/BenchData.h"
#include "runtime/Philox.h"

#include <fmt/format.h>
#include <random>

using namespace fovea;
using namespace fovea::cli;

/// Longer than any example, and far from overflow of products.
static constexpr int64_t longestLength = int64_t(1) << 31;

std::string fovea::cli::readLengths(const std::string &text,
                                    std::map<std::string, int64_t> &lengths) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [name, number] = part.split('=');
    int64_t value;
    if (name.empty() || number.getAsInteger(10, value))
      return "'--lengths' expects a list such as S=25,T=25";
    if (value < 1 || value > longestLength)
      return fmt::format(
          "'--lengths' gives {} {}, but a length must be from 1 to 2^31",
          name.str(), value);
    auto [given, isNew] = lengths.try_emplace(name.str(), value);
    if (!isNew)
      return fmt::format("'--lengths' gives {} twice, {} and {}", name.str(),
                         given->second, value);
  }
  return "";
}

bool fovea::cli::drawExamples(Session &session,
                              const std::vector<runtime::DataSpec> &specs,
                              const std::map<std::string, int64_t> &lengths,
                              int64_t batch,
                              std::vector<runtime::Example> &examples) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> real(-1, 1);
  for (int64_t number = 0; number < batch; ++number) {
    runtime::Example &example = examples.emplace_back();
    example.id = number;
    for (const runtime::DataSpec &spec : specs) {
      runtime::DataValues &values = example.data[spec.name];
      int64_t count = 1;
      for (const runtime::DataAxis &axis : spec.axes) {
        int64_t extent = axis.size;
        if (!axis.length.empty()) {
          auto found = lengths.find(axis.length);
          if (found == lengths.end()) {
            session.error("'--lengths' lacks " + axis.length + ", which '" +
                          spec.name + "' has");
            return false;
          }
          extent = found->second;
          if (axis.parent.empty())
            example.lengths[axis.length] = runtime::LengthValues::of(extent);
          else
            example.lengths[axis.length] = runtime::LengthValues::perParent(
                std::vector<int64_t>(lengths.at(axis.parent), extent));
        }
        values.shape.push_back(extent);
        count *= extent;
      }
      values.values.resize(count);
    }
    for (const runtime::DataSpec &spec : specs) {
      // Never the symbol that ends a sentence.
      uint64_t limit = runtime::limitOf(spec, example).value_or(1);
      uint64_t least = limit > 3 && spec.limitLength.empty() ? 2 : 0;
      for (double &value : example.data[spec.name].values)
        value = spec.kind == runtime::DataKind::Real
                    ? real(random)
                    : static_cast<double>(least + random() % (limit - least));
    }
  }
  return true;
}

template <typename T>
void fovea::cli::drawNumbers(uint32_t number, int64_t count,
                             std::vector<T> &values) {
  values.resize(count);
  for (int64_t i = 0; i < count; i += 4) {
    auto words =
        runtime::philox({uint32_t(i), uint32_t(i >> 32), number, 0}, {0, 0});
    for (int64_t j = 0; j < std::min<int64_t>(4, count - i); ++j)
      values[i + j] =
          static_cast<T>((words[j] >> 8) * (0.16 / (1 << 24)) - 0.08);
  }
}

int64_t fovea::cli::sizeOf(const ParameterInfo &parameter) {
  int64_t count = 1;
  for (int64_t extent : parameter.shape)
    count *= extent;
  return count;
}

template void fovea::cli::drawNumbers(uint32_t, int64_t, std::vector<float> &);

runtime::ParameterValues fovea::cli::drawParameters(const Model &model) {
  runtime::ParameterValues parameters;
  uint32_t number = 0;
  for (const ParameterInfo &parameter : model.parameters)
    drawNumbers(++number, sizeOf(parameter), parameters[parameter.path]);
  return parameters;
}
