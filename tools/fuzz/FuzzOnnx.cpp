//===- FuzzOnnx.cpp - libFuzzer's way into the import of ONNX -------------===//
//
// `fovea-fuzz-onnx CORPUS`; libFuzzer's options apply, and a file as the
// argument is replayed. What is imported must parse as a spec.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Onnx.h"
#include "tools/fuzz/Target.h"

#include "llvm/Support/ErrorHandling.h"

using namespace fovea;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  onnx::ImportedModel model;
  std::string bytes(reinterpret_cast<const char *>(data), size);
  runtime::Status status = onnx::importBytes(bytes, "fuzz.onnx", {}, model);
  if (status.failed()) {
    if (status.text().empty())
      llvm::report_fatal_error("a model is refused without an error");
    return 0;
  }
  if (fuzz::tryText(model.text) == fuzz::Outcome::Refused)
    llvm::report_fatal_error("an imported model does not parse");
  return 0;
}
