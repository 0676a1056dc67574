//===- Programs.h - the programs of a model, kept or compiled -*- C++ -*-===//
//
// Caches compiled models in the object cache, under a key of everything that
// the result depends on. So a warm start derives and emits nothing. On a miss,
// the model is lowered and compiled as usual.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MODEL_PROGRAMS_H
#define FOVEA_APP_MODEL_PROGRAMS_H

#include "app/data/Inputs.h"
#include "app/model/CompiledDecoder.h"

#include <memory>

namespace fovea::codegen {
class ObjectCache;
} // namespace fovea::codegen

namespace fovea::cli {

/// The programs of one model that was opened but not lowered yet, by entry:
/// `loss`, `grad`, `choices` (of `@loss`, what counts choices), `decode`.
class Programs {
public:
  /// `model` is what the session opened last. `request` is for all entries, and
  /// a system that none of them needs is dropped already.
  Programs(Session &session, Model &model, Request request,
           CompiledOptions options);
  ~Programs();

  /// The memory limit for arrays of programs created from now on, if the
  /// options set one.
  void limitMemory(codegen::MemoryLimit limit) { options.memory = limit; }

  /// `grad` lists the rows of gradients that a batch reads (attn-list-rows).
  /// Call it before `open`.
  void listRows() { listsRows = true; }

  /// Finds the entries in the cache, or lowers the model. Returns false on an
  /// error in the model (reported). Call it first.
  bool open(const std::vector<std::string> &entries);
  /// Returns whether all entries were in the cache.
  bool areKept() const { return !isLowered; }
  /// Returns whether there is such a program.
  bool has(const std::string &entry) const;

  /// The data that an entry reads, with the model's limits.
  std::vector<runtime::DataSpec> dataOf(const std::string &entry) const;

  /// An opened entry, once.
  runtime::Status create(const std::string &entry,
                         std::unique_ptr<CompiledProgram> &result);
  runtime::Status create(std::unique_ptr<CompiledDecoder> &result);

private:
  bool lower();
  std::string partsOfKey() const;
  std::string keyOf(const std::string &entry) const;
  std::optional<codegen::Code> load(const std::string &entry);
  void store(const std::string &entry, const codegen::Code &code);
  runtime::Status take(const std::string &entry, codegen::Code &code);
  mlir::Operation *containerOf(const std::string &entry) const;

  Session &session;
  Model &model;
  Request request;
  CompiledOptions options;
  std::string identity; // of the model, and of how it is compiled
  std::unique_ptr<codegen::ObjectCache> cache; // null: nothing is kept
  std::map<std::string, codegen::Code> kept;
  bool isLowered = false, listsRows = false;
};

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_PROGRAMS_H
