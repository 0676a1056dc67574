//===- Files.cpp - a page has no files ------------------------------------===//
//
// Replaces runtime/data/OpenFile.cpp: `use` reads the texts of the request.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/OpenFile.h"

using namespace fovea;

bool runtime::readWhole(const std::string &, std::string &, std::string &why) {
  why = "a page has no files";
  return false;
}

bool runtime::findBeside(const std::string &, const std::string &,
                         std::string &, std::string &) {
  return false;
}
