//===- Licences.cpp - of the software inside of a program -----------------===//

#include "runtime/model/Licences.h"

#include <cstdio>

namespace {

struct EmbeddedFile {
  const char *name;
  const unsigned char *bytes;
  size_t size;
};

#include "runtime/Licences.inc"

} // namespace

void fovea::runtime::printLicences() {
  std::puts("This program contains Fovea's runtime, {fmt}, JSON for Modern C++ "
            "and CLI11. The GNU C++ library in it is used under the GCC "
            "Runtime Library Exception. Their licences follow.");
  for (const EmbeddedFile &file : embeddedFiles) {
    std::printf("\n=== %s\n\n", file.name);
    std::fwrite(file.bytes, 1, file.size, stdout);
  }
}
