//===- CheckerPch.h - the front end's headers for WebAssembly -------------===//
#ifndef FOVEA_CMAKE_CHECKERPCH_H
#define FOVEA_CMAKE_CHECKERPCH_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#endif // FOVEA_CMAKE_CHECKERPCH_H
