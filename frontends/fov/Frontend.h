//===- Frontend.h - a spec to a module of the attn dialect ----------------===//
//
// The whole front end as one call, and what is known of a model besides its
// equations.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_FRONTEND_H
#define FOVEA_FRONTENDS_FOV_FRONTEND_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/FileLoader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <optional>

namespace fovea {

/// What inference found, by the places of names: what an editor shows. Of a
/// model with mistakes as much as is known.
struct Facts {
  /// Data, a parameter, or the first equation of a name. There is one for each
  /// member of a family, and for each parameter of a module.
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
  /// Where `use m` looks for `m.fov`; empty: beside the spec.
  std::string includeDir;
  /// The text of a file that `use` names, in the place of what lies on the
  /// disk; nothing where that counts. May be empty.
  std::function<std::optional<std::string>(const std::string &path)> readUsed;
  /// Is filled where it is not null.
  Facts *facts = nullptr;
};

/// One parameter, under its stable path.
struct ParameterInfo {
  std::string path; // `cell.2.weight_ih`
  /// The extents; -1 where a vocabulary has no size yet.
  llvm::SmallVector<int64_t> shape;
  /// The extents as text: `512`, `src.vocab`.
  std::vector<std::string> extents;
  /// What it is for, by the def that declares it and its name in there:
  /// `linear:weight`, `embedding:weight`; `:v` of a model's own parameter.
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
  /// Whether decoding is given such data, and generates a further row.
  bool isContinued = false;
  std::string positionOf;      // the extent of what it is a place in
  std::string vocabulary;      // the name that declares it; of tokens
  int64_t vocabularySize = -1; // -1: not known yet; also of classes
  /// words, chars, sentencepiece or ids; `--set NAME.vocab` makes it ids.
  std::string vocabularyKind;
  int64_t vocabularyLimit = 0;     // the most symbols; 0: any number
  std::string vocabularyFile;      // of sentencepiece, as the spec names it
  std::vector<std::string> labels; // of class("a", "b")
  FileLoader loader;               // what follows `from`
};

/// One `use` with trained weights, or with parameters that training leaves.
struct UseInfo {
  std::string prefix; // of its parameters: `lm.`; empty when it is included
  std::string from;   // the file, as the spec names it; empty: none
  bool frozen = false;
  /// Its data that are ours, by the names there.
  std::map<std::string, std::string> bindings;
};

struct Model {
  std::string name;
  /// `@training` and `@decoding` (docs/IR.md), with the options of the spec.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ParameterInfo> parameters; // in file order
  std::vector<DataInfo> data;            // in file order
  std::vector<UseInfo> uses;             // in file order, inner ones first
  std::vector<std::string> latents;
  std::vector<std::string> lengths;    // that come with the data, in file order
  std::map<std::string, int64_t> dims; // of the spec, by name
  /// What `metric` names, `bleu(tgt)`, in file order; of what is included where
  /// the spec itself names none.
  std::vector<std::string> metrics;
  /// Vocabularies that neither the spec nor `--set` gives a size: what they
  /// have here is a guess.
  std::vector<std::string> assumedVocabularies;
  /// One sentence for each equation that `use` included and a later one
  /// replaced.
  std::vector<std::string> replacements;
  /// Why nothing is generated although there are choices, in one sentence;
  /// empty: there is `@decoding`, or no choice.
  std::string undecoded;
  /// One sentence for each thing of the spec that cannot be executed yet.
  std::vector<std::string> refusals;
};

/// Reads, parses, checks and lowers the spec at `path`. Null when something is
/// wrong with it (diagnosed). `module` is null when the spec has latent
/// choices of a kind that cannot be executed yet.
std::unique_ptr<Model> compileSpec(llvm::StringRef path,
                                   const FrontendOptions &options,
                                   mlir::MLIRContext &context,
                                   Diagnostics &diagnostics);

/// The same for a text; `name` is what messages call it.
std::unique_ptr<Model> compileText(llvm::StringRef text, llvm::StringRef name,
                                   const FrontendOptions &options,
                                   mlir::MLIRContext &context,
                                   Diagnostics &diagnostics);

/// The text of the prelude, which is written in the language.
llvm::StringRef preludeText();

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_FRONTEND_H
