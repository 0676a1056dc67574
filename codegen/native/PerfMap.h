//===- PerfMap.h - names kernels for perf ---------------------*- C++ -*-===//
//
// perf reads /tmp/perf-PID.map for code that no file contains: one line of
// address, size and name per function.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_PERFMAP_H
#define FOVEA_CODEGEN_NATIVE_PERFMAP_H

#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"

namespace fovea::codegen {

/// Appends each function to the map when it is linked. Without a writable
/// place, writes nothing.
class PerfMap : public llvm::orc::ObjectLinkingLayer::Plugin {
public:
  void modifyPassConfig(llvm::orc::MaterializationResponsibility &,
                        llvm::jitlink::LinkGraph &,
                        llvm::jitlink::PassConfiguration &config) override;
  llvm::Error
  notifyFailed(llvm::orc::MaterializationResponsibility &) override {
    return llvm::Error::success();
  }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib &,
                                      llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib &,
                                   llvm::orc::ResourceKey,
                                   llvm::orc::ResourceKey) override {}
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_PERFMAP_H
