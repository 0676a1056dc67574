//===- Kinds.h - where metrics are defined --------------------------------===//
//
// `Metric::create` asks each family of metrics for a name.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_KINDS_H
#define FOVEA_METRICS_KINDS_H

#include "metrics/Metric.h"

namespace fovea::metrics {

// Each returns null if the name is not one of its metrics.
std::unique_ptr<Metric> createTranslation(std::string_view name,
                                          const MetricOptions &options);
std::unique_ptr<Metric> createTokens(std::string_view name,
                                     const MetricOptions &options);
std::unique_ptr<Metric> createCaption(std::string_view name,
                                      const MetricOptions &options);
std::unique_ptr<Metric> createTrees(std::string_view name);

/// The name of a tokeniser in a signature.
const char *nameOf(Tokeniser tokeniser);
std::vector<Tokens> tokeniseAll(const std::vector<std::string_view> &lines,
                                Tokeniser tokeniser);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_KINDS_H
