//===- CGuard.h - the boundary to C ---------------------------------------===//
//
// Private to the functions of a header: codes, the message of this thread, and
// the place where what is thrown ends.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_CGUARD_H
#define FOVEA_RUNTIME_MODEL_CGUARD_H

#include "runtime/model/CBatch.h"
#include "runtime/model/CInterface.h"

struct FoveaModel {
  std::unique_ptr<fovea::runtime::Model> model;
};

namespace fovea::runtime {

/// Keeps the message, and returns the code.
int fail(FoveaCode code, std::string_view text);

inline int missing(const char *what) {
  return fail(foveaBadCall, std::string(what) + " is null");
}

inline int codeOf(const Status &status, FoveaCode code = foveaBadInput) {
  return status.succeeded() ? foveaDone : fail(code, status.text());
}

/// Does `work`, which returns a code, and catches what is thrown.
template <typename Work> int guarded(Work work) {
  try {
    return work();
  } catch (...) {
    // Nothing else is thrown than what containers throw that find no memory.
    return fail(foveaBadMachine, "out of memory");
  }
}

/// The data that a program reads.
std::vector<std::string> dataOf(const Program *program);

/// Reads the batch for a program, and calls `work(model, examples)`. Null: the
/// model has no such program, and says so.
template <typename Work>
int withBatch(FoveaModel *model, const Program *program, const void *batch,
              Work work) {
  if (!batch)
    return missing("the batch");
  return guarded([&]() -> int {
    std::vector<Example> examples;
    if (Status status =
            readBatch(model->model->about(), batch, dataOf(program), examples);
        status.failed())
      return codeOf(status);
    return work(*model->model, examples);
  });
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_CGUARD_H
