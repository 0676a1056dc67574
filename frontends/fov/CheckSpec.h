//===- CheckSpec.h - everything that can be wrong with a spec -------------===//
//
// The front end without the IR: reads, elaborates, infers and proves.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECKSPEC_H
#define FOVEA_FRONTENDS_FOV_CHECKSPEC_H

#include "frontends/fov/Description.h"
#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Elaborate.h"

#include <variant>

namespace fovea::fov {

/// The value of an option: a number, or its text.
using OptionValue = std::variant<int64_t, double, std::string>;

struct Option {
  OptionValue value;
  llvm::SMLoc place; // of the value; invalid: it comes from `--set`
};
using OptionValues = std::map<std::string, Option>;

/// A spec that passed all checks, ready to be lowered.
struct CheckedSpec {
  Program prelude;
  std::unique_ptr<Program> program;
  std::unique_ptr<Elaborated> training;
  std::unique_ptr<Elaborated> decoding; // null: nothing is generated
  /// Whether both systems can be executed (Description::refusals).
  bool isLowered = true;
  OptionValues train, decode;
  /// Kept where only training is checked, to check edits (Recheck.h).
  std::unique_ptr<Elaborator> elaborator;
  Overrides overrides;
  /// The warnings before those of warnOfAll().
  unsigned numEarlier = 0;
};

/// Warns about what is right and probably unintended.
void warnOfAll(const CheckedSpec &spec, Diagnostics &diagnostics);

/// Which of the two systems are checked.
enum class Systems { both, training };

/// Reads, parses and checks a text; messages use `name` for it. Fills in
/// `result`. Null on an error, which is diagnosed, and once `stop` is true.
std::unique_ptr<CheckedSpec>
checkSpec(llvm::StringRef text, llvm::StringRef name,
          const FrontendOptions &options, Diagnostics &diagnostics,
          Description &result, Systems systems = Systems::both,
          const std::atomic<bool> *stop = nullptr);

/// The text of the prelude, which is written in the language itself.
llvm::StringRef preludeText();

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECKSPEC_H
