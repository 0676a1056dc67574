//===- Compare.cpp - what a schedule gives is what its program gives ------===//

#include "dialect/launch-reference/Executor.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;
using reference::Array;
using reference::Arrays;
using reference::Inputs;

static Status compareArrays(const std::string &name, const Array &got,
                            const Array &wanted) {
  for (size_t i = 0; i < wanted.values.size(); ++i)
    if (got.shape != wanted.shape ||
        (std::memcmp(&got.values[i], &wanted.values[i], sizeof(double)) != 0 &&
         !(std::isnan(got.values[i]) && std::isnan(wanted.values[i])) &&
         got.values[i] != wanted.values[i]))
      return Status::error(fmt::format(
          "the launches give {:.17g} as element {} of '{}', but the program "
          "gives {:.17g}",
          got.shape != wanted.shape ? NAN : got.values[i], i, name,
          wanted.values[i]));
  return Status::success();
}

Arrays launch::sumsOf(attn::ProgramOp program,
                      const std::vector<Arrays> &outputs) {
  Arrays sums = outputs.front();
  for (auto output : program.getOps<attn::OutputOp>()) {
    if (!isPerExample(output.getValue()))
      continue;
    std::string name = output.getTarget().str();
    for (const Arrays &next : ArrayRef(outputs).drop_front())
      for (auto [sum, value] :
           llvm::zip(sums[name].values, next.at(name).values))
        sum += value;
  }
  return sums;
}

Status launch::compareWithProgram(attn::ProgramOp program,
                                  ArrayRef<Inputs> inputs,
                                  const std::vector<Arrays> &outputs) {
  std::vector<Arrays> wanted;
  if (Status status = reference::evaluateEach(program, inputs, wanted);
      status.failed())
    return status;
  for (auto output : program.getOps<attn::OutputOp>()) {
    std::string name = output.getTarget().str();
    // What a batch has once is the same in each example.
    size_t count = isPerExample(output.getValue()) ? outputs.size() : 1;
    for (size_t example = 0; example < count; ++example)
      if (Status status = compareArrays(name, outputs[example].at(name),
                                        wanted[example].at(name));
          status.failed())
        return status;
  }
  return Status::success();
}
