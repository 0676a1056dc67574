//===- Options.h - options that all measurements have ---------*- C++ -*-===//

#ifndef FOVEA_BENCH_OPTIONS_H
#define FOVEA_BENCH_OPTIONS_H

#include "llvm/Support/CommandLine.h"

inline llvm::cl::opt<std::string>
    targetName("target", llvm::cl::desc("native, x86-64-v3 or x86-64-v4"),
               llvm::cl::init("native"));

#endif // FOVEA_BENCH_OPTIONS_H
