//===- Metrics.h - a metric that a user names -----------------------------===//

#ifndef FOVEA_APP_SHOW_METRICS_H
#define FOVEA_APP_SHOW_METRICS_H

#include "metrics/Metric.h"

namespace fovea::cli {

/// Returns the metric called `name`; null, with the reason in `problem`, if
/// there is none. Underscores are dashes, as in specs: `rouge_l`.
std::unique_ptr<metrics::Metric>
createMetric(const std::string &name, const metrics::MetricOptions &options,
             std::string &problem);

/// Reads METEOR's resources. An empty `wordnet` means the folder that
/// $WNSEARCHDIR names, or /usr/share/wordnet, if it holds WordNet; `none` means
/// no synonyms. Returns false and sets `problem` if a file cannot be read.
bool readSynonyms(const std::string &wordnet, const std::string &paraphrases,
                  metrics::MetricOptions &options, std::string &problem);

} // namespace fovea::cli

#endif // FOVEA_APP_SHOW_METRICS_H
