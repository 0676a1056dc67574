//===- Metrics.h - a metric that a user names -----------------------------===//

#ifndef FOVEA_DRIVER_SHOW_METRICS_H
#define FOVEA_DRIVER_SHOW_METRICS_H

#include "metrics/Metric.h"

namespace fovea::cli {

/// The metric that is called `name`; null, and `problem` says why, where there
/// is none. Underscores are dashes, as in specs: `rouge_l`.
std::unique_ptr<metrics::Metric>
createMetric(const std::string &name, const metrics::MetricOptions &options,
             std::string &problem);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_SHOW_METRICS_H
