//===- Description.h - what a compiled model says of itself ---------------===//
//
// Everything about a model besides its machine code and its weights. The object
// file contains it as a constant, with a version and a checksum. Damaged
// descriptions and other versions are refused.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_DESCRIPTION_H
#define FOVEA_RUNTIME_MODEL_DESCRIPTION_H

#include "runtime/Decoder.h"
#include "runtime/data/Picture.h"
#include "runtime/data/Shown.h"
#include "runtime/data/SoundFrames.h"
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
  /// Whether lines of text contain it.
  bool isText = true;
  /// Whether lines name WAV, FLAC or PNG files, and how the data are computed
  /// from them. Only the compiler reads JPEG.
  bool isSound = false, isPicture = false;
  SoundOptions sound;
  PixelOptions pixels;

  bool isFile() const { return isSound || isPicture; }
};

struct Description {
  std::string model;
  std::string compiler; // its version
  /// The CPU as the user names it, and its required features.
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
  /// The options of the spec's decode block.
  SearchOptions search;
  UnknownWords unknown;
  /// Equations that the decoder also returns, and the possible labels of their
  /// axes.
  std::vector<ShownEquation> shows;
  std::vector<AxisSymbols> axisSymbols;
  /// Whether `train_step` has what it needs:
  bool hasTraining = false;
  /// `train { .. }` and the dims that its entries name.
  std::map<std::string, std::string> train;
  std::map<std::string, int64_t> dims;
  std::vector<std::string> frozen;    // that training leaves
  std::map<std::string, bool> states; // TrainOptions.h
  /// The vocabularies, in the format of weights files.
  std::map<std::string, std::string> vocabularies;
};

std::string writeDescription(const Description &description);

/// Reads the output of `writeDescription`. Whatever `bytes` contain, every
/// number that serves as an index is checked, so no access leaves memory.
Status readDescription(std::string_view bytes, Description &description);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_DESCRIPTION_H
