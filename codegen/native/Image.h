//===- Image.h - a compiled model as data in an object --------*- C++ -*-===//
//
// The parts of a model's object besides its kernels: the description, the
// weights, the table of its functions (FoveaImage, runtime/model/Model.h), and
// the functions of its C header, each a jump into the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_IMAGE_H
#define FOVEA_CODEGEN_NATIVE_IMAGE_H

#include "codegen/native/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace fovea::codegen {

/// One function of the header: `PREFIX_name` calls `fovea_c_name`.
struct CFunction {
  llvm::StringLiteral name;
  /// The result, then the arguments: v void, i int, l int64_t, p an address. I
  /// is the image, which the header's function does not have.
  llvm::StringLiteral type;
};

/// All functions that a header can have.
llvm::ArrayRef<CFunction> cFunctions();

struct Image {
  /// The prefix of the functions' names.
  std::string prefix;
  std::string description;
  /// A safetensors file; empty: none.
  std::string weights;
  /// The names of the programs' functions, in the order of FoveaImage; empty:
  /// none.
  std::vector<std::string> functions;
  /// The functions of the header that exist.
  std::vector<std::string> exports;
  /// Adds `fovea_library`, by which fovea.h finds the model.
  bool isLibrary = false;
  /// Adds `main`, which calls `fovea_c_main`.
  bool hasMain = false;
  /// Adds `fovea_page_open`, which calls `fovea_web_open`.
  bool isPage = false;
};

/// The object of an image.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitImage(const Image &image, const Target &target);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_IMAGE_H
