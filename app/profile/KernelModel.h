//===- KernelModel.h - how long kernels take at least -----------*- C++ -*-===//
//
// For `fovea bench --target cuda:ARCHITECTURE`, which needs no GPU. Combines
// the recorded launches (PaperDevice.h) with the operations and bytes of the
// equations, the resources of the kernels, and the peak rates of the
// architecture.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_KERNELMODEL_H
#define FOVEA_APP_PROFILE_KERNELMODEL_H

#include "app/model/Compiled.h"
#include "app/profile/KernelWork.h"
#include "app/profile/PaperDevice.h"

#include <nlohmann/json_fwd.hpp>

namespace fovea::cli {

/// For the programs of one entry, which are dry-run once.
class KernelModel {
public:
  /// Opens a mock device for a target `cuda:..` as the process's device. Null
  /// if there are no figures for it.
  static std::unique_ptr<KernelModel> open(const std::string &target);

  /// Programs and decoders created with these options, one at a time, are
  /// recorded.
  void attach(CompiledOptions &options) {
    notes.clear();
    options.notes = &notes;
  }
  /// Starts counting launches.
  void begin() { device.clear(); }

  /// Prints the kernels by time, all or the most expensive ones: launches,
  /// blocks, threads, registers, shared memory, blocks per processor,
  /// operations, bytes, and the lower bound of the time with its reason.
  /// `title` names the subject; `report` gets the same data.
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

#endif // FOVEA_APP_PROFILE_KERNELMODEL_H
