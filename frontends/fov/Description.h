//===- Description.h - what is known of a model besides its equations -----===//
//
// The input of the front end, and its description of a checked model. Needs no
// MLIR, so a web page can check specs as well (frontends/browser).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_DESCRIPTION_H
#define FOVEA_FRONTENDS_FOV_DESCRIPTION_H

#include "frontends/fov/FileLoader.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SMLoc.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

/// The results of inference by the places of names, for editors. For a model
/// with errors, as much as is known.
struct SpecFacts {
  /// Data, a parameter, or the first equation of a name. One entry per member
  /// of a family, and per parameter of a module.
  struct ArrayFact {
    llvm::SMLoc loc;
    std::string name;                 // `h[0]`, `cell.2.weight_ih`
    std::vector<std::string> extents; // of all axes: `T`, `2*H`
    std::string shape;                // with values: `[T, 2*H = 1024]`
    std::string kind;                 // `real`, `token`; empty: not known
  };
  struct IndexFact {
    llvm::SMLoc loc;
    std::string name, extent;
    std::string origin; // what gives the extent: `src[i]`; may be empty
  };
  std::vector<ArrayFact> arrays;
  std::vector<IndexFact> indices;
};

struct FrontendOptions {
  /// `--set K=V`, in order; the last of a key counts.
  std::vector<std::pair<std::string, std::string>> sets;
  /// Sizes of vocabularies, `src.vocab`, for a spec that has these; they follow
  /// `sets`.
  std::vector<std::pair<std::string, std::string>> sizes;
  /// The folder in which `use m` finds `m.fov`; empty: the spec's folder.
  std::string includeDir;
  /// Returns the text of a file that `use` names, overriding the disk; nothing
  /// to use the disk. May be empty.
  std::function<std::optional<std::string>(const std::string &path)> readUsed;
  /// Filled in if it is not null.
  SpecFacts *facts = nullptr;
};

/// One parameter or state, under its stable path.
struct ParameterInfo {
  /// How a training changes it: by its gradient, by the mean over the examples
  /// of its update, or by an update that no example changes.
  enum Change { gradient, mean, once } change = gradient;
  std::string path; // `cell.2.weight_ih`
  /// The extents; -1 for a vocabulary without a size yet.
  llvm::SmallVector<int64_t> shape;
  /// The extents as text: `512`, `src.vocab`.
  std::vector<std::string> extents;
  /// Its role: the def that declares it and its name in that def:
  /// `linear:weight`, `embedding:weight`; `:v` of a model's own parameter. Of a
  /// state also `= 0`, or `as PATH`: it begins as that parameter.
  std::string role;
};

/// One `data` name.
struct DataInfo {
  enum Kind { Real, Int, Bit, Token, Class, Position };
  std::string name;
  Kind kind = Real;
  /// Ended by `</s>` (a sentence), or by a place after the last (`ends`).
  bool isSentence = false;
  bool ends = false;
  /// All extents as text, index axes first.
  std::vector<std::string> extents;
  std::vector<int64_t> sizes;       // of the same; -1 of a length
  std::vector<std::string> parents; // of the same: what it is nested in, or ""
  unsigned numIndices = 0;
  /// Whether it has a `~`: observed in training, generated in decoding.
  bool isChosen = false;
  /// Whether decoding receives such data and generates a further row.
  bool isContinued = false;
  std::string positionOf;      // the extent of what it is a place in
  std::string vocabulary;      // the name that declares it; of tokens
  int64_t vocabularySize = -1; // -1: not known yet; also of classes
  /// words, chars, sentencepiece, tokeniser or ids; `--set NAME.vocab` makes it
  /// ids.
  std::string vocabularyKind;
  int64_t vocabularyLimit = 0;     // the most symbols; 0: any number
  std::string vocabularyFile;      // as the spec names it
  std::vector<std::string> labels; // of class("a", "b")
  FileLoader loader;               // what follows `from`
};

/// One `use` with trained weights, or with parameters frozen in training.
struct UseInfo {
  std::string prefix; // of its parameters: `lm.`; empty when it is included
  std::string from;   // the file, as the spec names it; empty: none
  bool frozen = false;
  /// Its data bound to ours, by their names there.
  std::map<std::string, std::string> bindings;
};

/// A checked model besides its equations.
struct Description {
  std::string name;
  std::vector<ParameterInfo> parameters; // in file order
  std::vector<DataInfo> data;            // in file order
  std::vector<UseInfo> uses;             // in file order, inner ones first
  std::vector<std::string> latents;
  std::vector<std::string> lengths; // that come with the data, in file order
  /// Lengths that follow from values, in file order, and the most of each.
  std::vector<std::pair<std::string, std::string>> valueLengths;
  std::map<std::string, int64_t> dims; // of the spec, by name
  /// The metrics of the spec, `bleu(tgt)`, in file order; those of included
  /// models if the spec has none.
  std::vector<std::string> metrics;
  /// The places of the values in `train { }`, by entry. Values of `--set` have
  /// none.
  std::map<std::string, llvm::SMLoc> trainPlaces;
  /// Vocabularies without a size in the spec or `--set`: their size here is a
  /// guess.
  std::vector<std::string> assumedVocabularies;
  /// One sentence for each included equation that a later one
  /// replaced.
  std::vector<std::string> replacements;
  /// Why nothing is generated although there are choices, in one sentence, and
  /// the place; empty: decoding is possible, or there is no choice.
  std::string undecoded;
  llvm::SMLoc undecodedAt;
  /// One sentence for each part of the spec that cannot be executed yet.
  std::vector<std::string> refusals;
};

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_DESCRIPTION_H
