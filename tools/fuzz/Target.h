//===- Target.h - what must hold for any text whatever --------------------===//
//
// The entry point of fuzzing, for fovea-mutate with mutated models and for
// libFuzzer (FuzzParse.cpp) with its own inputs.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FUZZ_TARGET_H
#define FOVEA_TOOLS_FUZZ_TARGET_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace fovea::fuzz {

/// The last stage that a text reached.
enum class Outcome { Refused, Parsed, Compiled, Scheduled };

/// Parses `text`, formats it, compiles it if there is a context, and runs
/// every pass on the result. Aborts with a message if a promise is
/// broken:
/// * (F1) what is printed is printable UTF-8, and a refusal prints an error;
/// * (F2) a layout means what the text meant, with the same comments;
/// * (F3) a layout is laid out already;
/// * (F4) what compiles is verified IR;
/// * (F5) what no pass refuses with an error is verified IR after each;
/// * (F6) no message has a word of the compiler's inside, an error stands in a
///   file of the user, and none is said twice of the same names.
/// `includeDir` is where `use` looks. What is printed is added to `messages`,
/// and then (F6) is for the caller to judge.
Outcome tryText(llvm::StringRef text, mlir::MLIRContext *context = nullptr,
                llvm::StringRef includeDir = {},
                std::string *messages = nullptr);

/// Returns the violation of (F6) in the printed text, or nothing.
std::string wordingMistake(llvm::StringRef printed);

} // namespace fovea::fuzz

#endif // FOVEA_TOOLS_FUZZ_TARGET_H
