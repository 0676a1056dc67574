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
/// * (F1) the output is printable UTF-8, and a refusal prints an error;
/// * (F2) a formatted text has the same meaning and the same comments;
/// * (F3) formatting it again changes nothing;
/// * (F4) the compiled IR verifies;
/// * (F5) the IR verifies after each pass, unless the pass reports an error;
/// * (F6) no message has an internal word of the compiler. An error is in a
///   file of the user, and is reported once for the same names.
/// `use` searches `includeDir`. Messages are added to `messages` if it is
/// given, and then the caller checks (F6).
Outcome tryText(llvm::StringRef text, mlir::MLIRContext *context = nullptr,
                llvm::StringRef includeDir = {},
                std::string *messages = nullptr);

/// Returns the violation of (F6) in the printed text, or nothing.
std::string wordingMistake(llvm::StringRef printed);

} // namespace fovea::fuzz

#endif // FOVEA_TOOLS_FUZZ_TARGET_H
