//===- Stopping.cpp - which weights are the best, and when to stop --------===//

#include "app/train/Stopping.h"
#include "app/show/Metrics.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

bool fovea::cli::readStopping(Session &session, const Arguments &arguments,
                              Training &training) {
  runtime::EarlyStop &stop = training.options.earlyStop;
  if (!stop.metric.empty())
    training.bestBy = stop.metric;
  if (!arguments.bestBy.empty())
    training.bestBy = arguments.bestBy;
  if (arguments.patience) {
    stop.patience = *arguments.patience;
    stop.metric = training.bestBy;
  }
  if (!arguments.valid.empty())
    return true;
  for (auto [option, isGiven] :
       {std::pair("--metric", !arguments.metrics.empty()),
        std::pair("--valid-ref", !arguments.validReferences.empty()),
        std::pair("--best-by", !arguments.bestBy.empty()),
        std::pair("--patience", arguments.patience.has_value())})
    if (isGiven) {
      session.error(fmt::format("'{}' needs a validation; help: add '--valid "
                                "NAME=FILE'",
                                option));
      return false;
    }
  return true;
}

std::vector<std::string> fovea::cli::wantedMetrics(const Arguments &arguments,
                                                   const Model &model,
                                                   Progress &progress) {
  if (arguments.metrics == std::vector<std::string>{"none"})
    return {};
  if (!arguments.metrics.empty())
    return arguments.metrics;
  std::vector<std::string> names;
  for (const std::string &text : model.metrics) {
    auto [name, of] = StringRef(text).split('(');
    of.consume_back(")");
    bool isGenerated = llvm::any_of(model.data, [&](const DataInfo &data) {
      return data.isChosen && (of.empty() || data.name == of);
    });
    std::string problem;
    if (isGenerated && createMetric(name.str(), {}, problem))
      names.push_back(text);
    else if (name != "perplexity" && name != "bound")
      progress.note(
          fmt::format("the metric '{}' of the spec is not measured", text));
  }
  return names;
}
