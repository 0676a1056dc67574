//===- Link.h - objects become libraries and programs ---------*- C++ -*-===//
//
// The last step of ahead-of-time compilation. The system's compiler driver
// links, because it knows the place of libc; clang with lld if both are
// installed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_LINK_H
#define FOVEA_CODEGEN_NATIVE_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace fovea::codegen {

struct LinkOptions {
  /// Objects and archives, by their paths.
  std::vector<std::string> files;
  /// The exported functions of a library; empty: all. Those of a WebAssembly
  /// module.
  std::vector<std::string> exports;
  /// Files need the C++ library, which is linked statically.
  bool isCxx = false;
  /// The machine that the output is for, if it is not this one.
  std::string triple;
};

/// Returns the program that links for this machine, or for the machine of
/// `triple`. An error if none is installed.
llvm::Expected<std::string> findLinker(const std::string &triple);

/// Writes a file. An error unless it is complete afterwards.
llvm::Error writeFile(const std::string &path, llvm::StringRef text);

/// Returns the target of an output name: the file that a symbolic link leads
/// to. An error if it is not a file, such as a device, or its folder does not
/// exist.
llvm::Expected<std::string> outputFile(llvm::StringRef output);

/// The same for a folder, which may or may not exist.
llvm::Expected<std::string> outputFolder(llvm::StringRef output);

/// Links objects and files into a shared library at `output`. It may depend
/// only on those, libc and libm. An older file of that name stays if linking
/// fails. The error contains the linker's output.
llvm::Error linkShared(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                       llvm::StringRef output, const LinkOptions &options = {});

/// The same as one object, with a symbol for each function of `exports`, and no
/// other that could clash with its users' names. The user adds libm when
/// linking it, and the C++ library if a file needs it.
llvm::Error linkObject(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                       llvm::StringRef output, const LinkOptions &options = {});

/// The same for a program; one of the objects or files defines `main`.
llvm::Error linkExecutable(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                           llvm::StringRef output,
                           const LinkOptions &options = {});

/// The same for a WebAssembly module. It has no `main`; its host calls
/// `exports`.
llvm::Error linkModule(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                       llvm::StringRef output, const LinkOptions &options);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_LINK_H
