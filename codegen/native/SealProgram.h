//===- SealProgram.h - a program that knows whether it is whole -----------===//
//
// The last step of a program (runtime/model/ProgramSeal.h): moves startup
// data to the first pages of the file, and writes its size and checksum into
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_SEALPROGRAM_H
#define FOVEA_CODEGEN_NATIVE_SEALPROGRAM_H

#include <string>

namespace fovea::codegen {

/// Seals the bytes of an executable. Anything but a little-endian 64-bit ELF
/// file with a seal stays unchanged.
void sealProgram(std::string &file);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_SEALPROGRAM_H
