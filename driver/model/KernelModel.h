//===- KernelModel.h - how long kernels take at least -----------*- C++ -*-===//
//
// For `fovea bench --target cuda:ARCHITECTURE`, which needs no GPU: what was
// launched on paper (PaperDevice.h), beside what the equations compute and
// move, what the kernels need of a processor, and what the architecture can do
// at most.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_KERNELMODEL_H
#define FOVEA_DRIVER_MODEL_KERNELMODEL_H

#include "driver/model/Compiled.h"
#include "driver/model/KernelWork.h"
#include "driver/model/PaperDevice.h"

#include <nlohmann/json_fwd.hpp>

namespace fovea::cli {

/// Of the programs of one entry, which are run once on paper.
class KernelModel {
public:
  /// Opens a device on paper for a target `cuda:..`, as the one of the process.
  /// Null: no such figures are known.
  static std::unique_ptr<KernelModel> open(const std::string &target);

  /// What is created with these options, one program or decoder at a time, is
  /// known.
  void attach(CompiledOptions &options) {
    notes.clear();
    options.notes = &notes;
  }
  /// Counts what is launched from here on.
  void begin() { device.clear(); }

  /// Prints the kernels by time, all or those that take most of it: launches,
  /// blocks, threads, registers, shared memory, blocks on a processor,
  /// operations, bytes, the least time of all launches and why. `title` says of
  /// what; `report` gets the same.
  runtime::Status print(const std::string &title,
                        const std::vector<ProfiledProgram> &programs,
                        bool isDouble, bool listsAll,
                        nlohmann::json &report) const;

private:
  struct Row;
  KernelModel(const codegen::DeviceFigures &figures, PaperDevice &device,
              std::string target)
      : figures(figures), device(device), target(std::move(target)) {}
  std::vector<Row> rowsOf(const std::vector<ProfiledProgram> &programs,
                          bool isDouble,
                          const codegen::NeedsOfKernels &needs) const;
  int64_t blocksOnProcessor(const codegen::KernelNeeds &needs,
                            int64_t threads) const;
  void findTime(Row &row, bool isDouble) const;

  const codegen::DeviceFigures &figures;
  PaperDevice &device;
  std::string target;
  std::vector<codegen::KernelNote> notes;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_KERNELMODEL_H
