//===- Link.h - objects become libraries and programs ---------*- C++ -*-===//
//
// Compilation ahead of time ends here. The system's compiler driver links,
// because it knows where libc lies; clang with lld where both are installed.
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
  /// The functions of a library that its users see; empty: all. Those of a
  /// module for WebAssembly.
  std::vector<std::string> exports;
  /// Files need the library of C++, which goes into the output.
  bool isCxx = false;
  /// The machine that the output is for, where it is another than this one.
  std::string triple;
};

/// The program that links for this machine, or for that of `triple`. An error
/// where none is installed.
llvm::Expected<std::string> findLinker(const std::string &triple);

/// Writes a file. An error where all of it is not there afterwards.
llvm::Error writeFile(const std::string &path, llvm::StringRef text);

/// Where an output of this name goes: the file that a symbolic link leads to.
/// An error where the name is that of something else than a file, as a device,
/// or its folder is not there.
llvm::Expected<std::string> outputFile(llvm::StringRef output);

/// The same of a folder, which may be there or not.
llvm::Expected<std::string> outputFolder(llvm::StringRef output);

/// Links objects and files into a shared library at `output`. It may need
/// nothing but those, libc and libm. What an older file of that name contained
/// stays if linking fails. The error holds what the linker said.
llvm::Error linkShared(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                       llvm::StringRef output, const LinkOptions &options = {});

/// The same as one object, which has a name of each function of `exports`, and
/// no other that could meet those of its users. Whoever links it adds libm, and
/// where a file needs it the library of C++.
llvm::Error linkObject(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                       llvm::StringRef output, const LinkOptions &options = {});

/// The same for a program; one of the objects or files defines `main`.
llvm::Error linkExecutable(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                           llvm::StringRef output,
                           const LinkOptions &options = {});

/// The same for a module for WebAssembly, which has no `main`: whoever
/// instantiates it calls `exports`.
llvm::Error linkModule(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                       llvm::StringRef output, const LinkOptions &options);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_LINK_H
