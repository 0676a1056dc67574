//===- FirstFailure.h - the first program that fails ------------*- C++ -*-===//
//
// A search calls its programs through functions that report nothing. If one
// fails, the search goes on without running more, and its results do not count.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_INTERPRET_FIRSTFAILURE_H
#define FOVEA_APP_INTERPRET_FIRSTFAILURE_H

#include "runtime/Status.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace fovea::cli {

class FirstFailure {
public:
  /// Calls `run` unless a run has failed before, and returns whether it
  /// succeeds. An error begins with `name`, which is asked for only then.
  bool succeeds(llvm::function_ref<std::string()> name,
                llvm::function_ref<runtime::Status()> run) {
    if (first.failed())
      return false;
    runtime::Status status = run();
    if (status.failed())
      first = runtime::Status::error(name() + ": " + status.getMessage(),
                                     status.getWhere());
    return first.succeeded();
  }

  const runtime::Status &status() const { return first; }

private:
  runtime::Status first = runtime::Status::success();
};

} // namespace fovea::cli

#endif // FOVEA_APP_INTERPRET_FIRSTFAILURE_H
