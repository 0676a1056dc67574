//===- Metrics.cpp - a metric that a user names ---------------------------===//

#include "driver/show/Metrics.h"
#include "frontends/fov/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

std::unique_ptr<metrics::Metric>
fovea::cli::createMetric(const std::string &name,
                         const metrics::MetricOptions &options,
                         std::string &problem) {
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  std::unique_ptr<metrics::Metric> metric =
      metrics::Metric::create(dashed, options);
  if (metric)
    return metric;
  const auto &names = metrics::Metric::names();
  std::vector<StringRef> candidates(names.begin(), names.end());
  std::string meant = nearest(dashed, candidates).str();
  problem =
      fmt::format("'{}' is no metric; {}", name,
                  meant.empty() ? "there are " + llvm::join(candidates, ", ")
                                : "did you mean '" + meant + "'?");
  return nullptr;
}
