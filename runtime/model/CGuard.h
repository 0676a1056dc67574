//===- CGuard.h - the boundary to C ---------------------------------------===//
//
// Private to the functions of the C header: error codes, the message of this
// thread, the boundary that catches exceptions, and the checks before each
// call: exclusive use of the model, and enough stack.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_CGUARD_H
#define FOVEA_RUNTIME_MODEL_CGUARD_H

#include "runtime/model/CCalls.h"

#include <atomic>

struct FoveaModel {
  std::unique_ptr<fovea::runtime::Model> model;
  /// A thread is in a function of it.
  std::atomic<bool> isUsed = false;
  /// The decoding that is running has to end.
  std::atomic<bool> isCancelled = false;
  /// The latest result of `NAME_value`.
  fovea::runtime::DataValues value;
  /// What `fovea_model_about` returned.
  std::string about;
};

namespace fovea::runtime {

/// Stores the message, and returns the code.
int fail(FoveaCode code, std::string_view text);

/// Clears the message: the first step of each function that may set one.
void beginCall();

inline int missing(const char *what) {
  return fail(foveaBadCall, std::string(what) + " is null");
}

inline int codeOf(const Status &status, FoveaCode code = foveaBadInput) {
  if (status.succeeded())
    return foveaDone;
  return fail(status.isOfMachine() ? foveaBadMachine : code, status.text());
}

/// Runs `work`, which returns a code, and catches exceptions.
template <typename Work> int guarded(Work work) {
  try {
    return work();
  } catch (...) {
    // Only containers throw, when they run out of memory.
    return fail(foveaBadMachine, "out of memory");
  }
}

/// Runs only if this thread has the stack that compiled code needs; a stack
/// unknown to the system is trusted.
int checkStack();

/// Runs `work(model)`, which returns a code, while no other thread uses the
/// model.
template <typename Work> int withModel(FoveaModel *model, Work work) {
  if (!model)
    return missing("the model");
  if (model->isUsed.exchange(true, std::memory_order_acquire))
    return fail(foveaBusy, "another thread is using this model");
  int code = guarded([&] { return work(*model->model); });
  model->isUsed.store(false, std::memory_order_release);
  return code;
}

/// The data that a program reads.
std::vector<std::string> dataOf(const Program *program);

/// The same for computations: `work(model, examples)` gets the examples of a
/// batch, with the data that `programOf(model)` needs.
template <typename ProgramOf, typename Work>
int withBatch(FoveaModel *model, const GivenBatch &batch, ProgramOf programOf,
              Work work) {
  return withModel(model, [&](Model &own) -> int {
    if (batch.isMissing())
      return missing("the batch");
    if (int code = checkStack())
      return code;
    std::vector<Example> examples;
    if (Status status =
            readBatch(own.about(), batch, dataOf(programOf(own)), examples);
        status.failed())
      return codeOf(status);
    return work(own, examples);
  });
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_CGUARD_H
