//===- Description.h - what a compiled model says of itself ---------------===//
//
// All that has to be known of a model besides its machine code and its
// weights. It travels in the object as a constant, with a version and a
// checksum; what is damaged, or is of another version, is refused.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_DESCRIPTION_H
#define FOVEA_RUNTIME_MODEL_DESCRIPTION_H

#include "runtime/Decoder.h"
#include "runtime/data/Shown.h"
#include "runtime/data/UnknownWords.h"
#include "runtime/search/SearchOptions.h"

namespace fovea::runtime {

struct ParameterDescription {
  std::string path;
  std::vector<int64_t> shape;
};

struct DataDescription {
  DataSpec spec;
  TextField text;
  /// Observed in training, generated in decoding.
  bool isChosen = false;
  /// Whether lines of text hold it; the compiler alone reads other files.
  bool isText = true;
};

struct Description {
  std::string model;
  std::string compiler; // its version
  /// The CPU as the user names it, and what it has to be able to.
  std::string cpu, features;
  bool isDouble = false;
  /// Whether the loss is a mean over examples; otherwise over choices.
  bool averagesExamples = false;
  std::vector<ParameterDescription> parameters; // in file order
  std::vector<DataDescription> data;            // in file order
  /// `loss`, `grad`.
  std::vector<Program> programs;
  bool hasDecoder = false;
  Decoder decoder;
  /// What the spec's decode block says.
  SearchOptions search;
  UnknownWords unknown;
  /// Equations that the decoder gives as well, and what may stand along their
  /// axes.
  std::vector<ShownEquation> shows;
  std::vector<AxisSymbols> axisSymbols;
  /// `train { .. }` and the dims that its entries name.
  std::map<std::string, std::string> train;
  std::map<std::string, int64_t> dims;
  std::vector<std::string> frozen; // that training leaves
  /// The vocabularies, as files of weights have them.
  std::map<std::string, std::string> vocabularies;
};

std::string writeDescription(const Description &description);

/// Reads what `writeDescription` wrote. Whatever `bytes` are, nothing that is
/// read leads out of memory: each number that is an index is one.
Status readDescription(std::string_view bytes, Description &description);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_DESCRIPTION_H
