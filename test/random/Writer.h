//===- Writer.h - chooses what a random spec says ---------------*- C++ -*-===//

#ifndef FOVEA_TEST_RANDOM_WRITER_H
#define FOVEA_TEST_RANDOM_WRITER_H

#include "test/random/Templates.h"

#include <optional>

namespace fovea::random {

class Writer : public Templates {
public:
  Writer(uint64_t seed, Naming naming, Scale scale)
      : Templates(seed, naming), seed(seed), scale(scale) {}
  Spec write();

private:
  /// A statement to write at a place, or sometimes another one.
  struct Choice {
    void (Writer::*first)(Place);
    void (Writer::*second)(Place) = nullptr;
    double probability = 0.5; // of the first
  };
  /// Writes one of the choices.
  void grow(const Place &place, llvm::ArrayRef<Choice> choices);
  void planeOfData(Place place);
  void planeOfDims(Place place) { plane(place, random.pick(dims)); }
  void neighbours(Place place);
  void poolOfAll(Place) { pool(); }

  void declareDims();
  void declareGiven();
  void encoder();
  void decoder();
  void label();
  void penalty();
  void partial();
  void severalFactors();
  void unobserved();
  void updatesAndGradients();
  void valuesDecide();
  bool certain();
  void laterPlaces(const std::string &name, const std::string &step,
                   const std::string &logits);
  bool hidden();
  void rewards();
  void options();
  /// Outputs that are places in a source: false when there is none.
  bool pointer();
  std::string stepFeatures(Context &context, std::string &width);
  std::string newLength(const std::string &parent = "");
  /// Declares data whose brackets are the extents `axes`, unless `written` says
  /// them otherwise.
  SpecData &declare(const std::string &name, const std::string &type,
                    SpecData::Kind kind, std::vector<std::string> axes,
                    std::optional<std::string> written = std::nullopt);
  /// What is declared for the decoder to generate.
  SpecData &declareChosen(const std::string &name, const std::string &type,
                          SpecData::Kind kind, std::vector<std::string> axes) {
    SpecData &data = declare(name, type, kind, std::move(axes));
    data.generated = true;
    return data;
  }
  /// A vocabulary of so many symbols, by `--set`.
  void setVocabulary(const std::string &name, int64_t size) {
    std::string key = name + ".vocab";
    if (spec.sets.empty() || spec.sets.back().first != key)
      spec.sets.push_back({key, std::to_string(size)});
  }
  /// A file of its own for what was said so far, which the spec includes.
  void include(const std::string &name);
  void print(std::string &text, const std::string &name);

  uint64_t seed;
  Scale scale;
  int64_t vocabularySize = 3;            // of given tokens
  std::vector<std::string> lengths;      // of given data, not nested
  std::vector<std::string> outer, inner; // nested pairs
  std::string stepExtent;                // empty: nothing is generated in steps
  std::vector<std::string> decodeOptions, trainOptions;
};

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_WRITER_H
