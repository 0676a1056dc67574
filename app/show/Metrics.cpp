//===- Metrics.cpp - a metric that a user names ---------------------------===//

#include "app/show/Metrics.h"
#include "frontends/fov/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

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
  problem = fmt::format("unknown metric '{}'; {}", name,
                        meant.empty()
                            ? "the metrics are " + llvm::join(candidates, ", ")
                            : "did you mean '" + meant + "'?");
  return nullptr;
}

/// Returns the folder of WordNet that is read without `--wordnet`, or "".
static std::string installedWordNet() {
  const char *chosen = std::getenv("WNSEARCHDIR");
  std::string folder = chosen ? chosen : "/usr/share/wordnet";
  return llvm::sys::fs::exists(folder + "/index.noun") ? folder : "";
}

bool fovea::cli::readSynonyms(const std::string &wordnet,
                              const std::string &paraphrases,
                              metrics::MetricOptions &options,
                              std::string &problem) {
  std::string folder = wordnet.empty()     ? installedWordNet()
                       : wordnet == "none" ? ""
                                           : wordnet;
  auto synonyms = std::make_shared<metrics::Synonyms>();
  if ((!folder.empty() && !synonyms->readWordNet(folder, problem)) ||
      (!paraphrases.empty() &&
       !synonyms->readParaphrases(paraphrases, problem)))
    return false;
  options.synonyms = std::move(synonyms);
  return true;
}
