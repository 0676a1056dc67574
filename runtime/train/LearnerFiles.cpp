//===- LearnerFiles.cpp - weights and state in files ----------------------===//

#include "runtime/train/LearnerOf.h"

#include <cstring>
#include <fmt/format.h>

using namespace fovea::runtime;

template <typename T>
void LearnerOf<T>::storeArray(TensorFile &file, const std::string &prefix,
                              const T *array) const {
  for (const Span &span : spans) {
    Tensor &tensor = file.tensors[prefix + span.path];
    tensor.type = typeOf(T());
    tensor.shape = span.shape;
    tensor.bytes.resize(span.count * sizeof(T));
    if (span.count > 0)
      std::memcpy(tensor.bytes.data(), array + span.begin, tensor.bytes.size());
  }
}

template <typename T>
void LearnerOf<T>::compare(const TensorFile &file, const std::string &prefix,
                           const std::string &what,
                           std::vector<std::string> &mistakes) const {
  for (const Span &span : spans) {
    auto found = file.tensors.find(prefix + span.path);
    bool isMissing = found == file.tensors.end();
    if (!isMissing && found->second.shape == span.shape &&
        found->second.type == typeOf(T()))
      continue;
    mistakes.push_back(
        fmt::format("{}'{}' is {} {} in the model but {} in the resumed run",
                    what, span.path, nameOf(typeOf(T())), shapeText(span.shape),
                    isMissing ? "missing"
                              : fmt::format("{} {}", nameOf(found->second.type),
                                            shapeText(found->second.shape))));
  }
  for (const auto &[name, tensor] : file.tensors) {
    if (!name.starts_with(prefix))
      continue;
    std::string path = name.substr(prefix.size());
    if (std::none_of(spans.begin(), spans.end(),
                     [&](const Span &span) { return span.path == path; }))
      mistakes.push_back(fmt::format(
          "{}'{}' of the resumed run is not a parameter of the model", what,
          path));
  }
}

/// Reads the values from .. to-1 into `array`.
template <typename T>
void LearnerOf<T>::loadArray(const TensorFile &file, const std::string &prefix,
                             T *array, int64_t from, int64_t to) {
  forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
    const Tensor &tensor = file.tensors.at(prefix + span.path);
    std::memcpy(array + (first - from),
                tensor.bytes.data() + (first - span.begin) * sizeof(T),
                (last - first) * sizeof(T));
  });
}

/// Stores values that bf16 has in two bytes each.
static void narrow(TensorFile &file, const std::string &prefix) {
  for (auto &[name, tensor] : file.tensors)
    if (name.starts_with(prefix))
      tensor = Tensor::of(DType::BF16, tensor.shape, tensor.toDoubles());
}

/// Sharded state must be gathered while it is stored.
template <typename T>
void LearnerOf<T>::storeState(TensorFile &file, const std::string &prefix,
                              const State &state) {
  if (!state)
    return;
  state.read([&](const T *values) {
    if (isDivided)
      gatherState(file, prefix, values);
    else if (team.isFirst())
      storeArray(file, prefix, values);
  });
  // What is read from a file has at most the type of the weights.
  if (state.brains && team.isFirst() && typeOf(T()) == DType::F32)
    narrow(file, prefix);
}

template <typename T>
void LearnerOf<T>::gatherState(TensorFile &file, const std::string &prefix,
                               const T *state) {
  Memory all = team.isFirst() ? allocateArray<T>(total) : nullptr;
  Parts in = sums->lines(), out = in;
  int64_t own = in.counts[team.rank()];
  out.counts.assign(team.size(), 0);
  out.places.assign(team.size(), 0);
  out.counts[0] = own;
  if (!team.isFirst())
    in.counts.assign(team.size(), 0);
  team.finish(team.beginExchange(state, out, all.get(), in, lineBytes));
  if (all)
    storeArray(file, prefix, all.get());
}

template <typename T> void LearnerOf<T>::store(TensorFile &file) {
  if (team.isFirst())
    storeArray(file, "weights/", current.get());
  if (team.isFirst() && average)
    storeArray(file, "average/", average.get());
  storeState(file, "first/", first);
  storeState(file, "second/", second);
}

template <typename T>
std::vector<std::string> LearnerOf<T>::load(const TensorFile &file,
                                            bool isSameRule) {
  std::vector<std::string> mistakes;
  compare(file, "weights/", "", mistakes);
  if (!isSameRule)
    return mistakes;
  // The state need not repeat errors that the weights report.
  if (mistakes.empty() && first)
    compare(file, "first/", "the first state of ", mistakes);
  if (mistakes.empty() && second)
    compare(file, "second/", "the second state of ", mistakes);
  // An average that begins now begins with the weights.
  bool hasAverage = false;
  for (const Span &span : spans)
    hasAverage |= file.tensors.contains("average/" + span.path);
  if (mistakes.empty() && average && hasAverage)
    compare(file, "average/", "the average of ", mistakes);
  if (!mistakes.empty())
    return mistakes;
  loadArray(file, "weights/", current.get(), 0, total);
  if (average)
    loadArray(file, hasAverage ? "average/" : "weights/", average.get(), 0,
              total);
  if (first)
    first.write(
        [&](T *values) { loadArray(file, "first/", values, from, to); });
  if (second)
    second.write(
        [&](T *values) { loadArray(file, "second/", values, from, to); });
  return mistakes;
}

namespace fovea::runtime {
template void LearnerOf<float>::storeArray(TensorFile &, const std::string &,
                                           const float *) const;
template void LearnerOf<double>::storeArray(TensorFile &, const std::string &,
                                            const double *) const;
template void LearnerOf<float>::store(TensorFile &);
template void LearnerOf<double>::store(TensorFile &);
template std::vector<std::string> LearnerOf<float>::load(const TensorFile &,
                                                         bool);
template std::vector<std::string> LearnerOf<double>::load(const TensorFile &,
                                                          bool);
} // namespace fovea::runtime
