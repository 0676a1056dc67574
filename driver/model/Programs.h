//===- Programs.h - the programs of a model, kept or compiled -*- C++ -*-===//
//
// What a model was compiled to is kept in the cache of objects, under one key
// of everything that it follows from: so a warm start neither derives nor
// emits anything. What is not there is lowered and compiled as ever.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_PROGRAMS_H
#define FOVEA_DRIVER_MODEL_PROGRAMS_H

#include "driver/data/Inputs.h"
#include "driver/model/CompiledDecoder.h"

#include <memory>

namespace fovea::codegen {
class ObjectCache;
} // namespace fovea::codegen

namespace fovea::cli {

/// The programs of one model that was opened and not lowered yet, by entry:
/// `loss`, `grad`, `choices` (of `@loss`, what counts choices), `decode`.
class Programs {
public:
  /// `model` is what the session opened last. `request` is for all entries, and
  /// a system that none of them needs is dropped already.
  Programs(Session &session, Model &model, Request request,
           CompiledOptions options);
  ~Programs();

  /// How much the arrays of programs that are created from now on may take,
  /// where the options have a limit.
  void limitMemory(codegen::MemoryLimit limit) { options.memory = limit; }

  /// Finds the entries in the cache, or lowers the model. False when something
  /// is wrong with it (reported). Before all others.
  bool open(const std::vector<std::string> &entries);
  /// Whether all were in the cache.
  bool areKept() const { return !isLowered; }
  /// Whether there is such a program.
  bool has(const std::string &entry) const;

  /// The data that an entry reads, with the limits that the model gives.
  std::vector<runtime::DataSpec> dataOf(const std::string &entry) const;

  /// An entry that was opened, once.
  runtime::Status create(const std::string &entry,
                         std::unique_ptr<CompiledProgram> &result);
  runtime::Status create(std::unique_ptr<CompiledDecoder> &result);

private:
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
  bool isLowered = false;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_PROGRAMS_H
