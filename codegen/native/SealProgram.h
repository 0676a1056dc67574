//===- SealProgram.h - a program that knows whether it is whole -----------===//
//
// The last step of a program (runtime/model/ProgramSeal.h): what is needed to
// start is moved to the first pages of the file, and its size and checksum are
// written into it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_SEALPROGRAM_H
#define FOVEA_CODEGEN_NATIVE_SEALPROGRAM_H

#include <string>

namespace fovea::codegen {

/// Seals the bytes of an executable. What is no ELF file of 64 bits in little
/// endian, or has no seal, stays as it is.
void sealProgram(std::string &file);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_SEALPROGRAM_H
