//===- Server.h - the language server of .fov files -------------*- C++ -*-===//
//
// Speaks the Language Server Protocol, on LLVM's library for it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_SERVER_SERVER_H
#define FOVEA_SERVER_SERVER_H

#include "llvm/Support/raw_ostream.h"

namespace fovea::editors {

/// Answers what arrives at the descriptor `input` until the editor says `exit`
/// or goes away. Whether it has asked for a shutdown before, as it should.
bool serve(int input, llvm::raw_ostream &output);

} // namespace fovea::editors

#endif // FOVEA_SERVER_SERVER_H
