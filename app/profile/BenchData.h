//===- BenchData.h - random data of given lengths ---------------*- C++ -*-===//
//
// The data of `fovea bench`: the same numbers in every run.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_BENCHDATA_H
#define FOVEA_APP_PROFILE_BENCHDATA_H

#include "app/open/Session.h"
#include "runtime/memory/Workspace.h"

#include <map>

namespace fovea::cli {

/// The default of lengths.
constexpr int64_t usualLength = 25;

/// `S=25,T=25`. What is wrong with it, or nothing.
std::string readLengths(const std::string &text,
                        std::map<std::string, int64_t> &lengths);

/// Random data for every data name, with tokens from the whole vocabulary.
/// Returns false if a length is not given.
bool drawExamples(Session &session, const std::vector<runtime::DataSpec> &specs,
                  const std::map<std::string, int64_t> &lengths, int64_t batch,
                  std::vector<runtime::Example> &examples);

/// Returns numbers of [-0.08, 0.08) for parameter number `number`.
template <typename T>
void drawNumbers(uint32_t number, int64_t count, std::vector<T> &values);

/// Returns how many numbers a parameter has.
int64_t sizeOf(const ParameterInfo &parameter);

runtime::ParameterValues drawParameters(const Model &model);

} // namespace fovea::cli

#endif // FOVEA_APP_PROFILE_BENCHDATA_H
