//===- Metric.cpp - a metric by its name ----------------------------------===//

#include "metrics/Metric.h"
#include "metrics/Kinds.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

using namespace fovea::metrics;

void Metric::add(std::string_view hypothesis,
                 const std::vector<std::string_view> &references) {
  assert(!references.empty() && "every line has a reference");
  fewest = most == 0 ? references.size() : std::min(fewest, references.size());
  most = std::max(most, references.size());
  if (!isLower) {
    lines.push_back(count(hypothesis, references));
    return;
  }
  std::vector<std::string> lower;
  for (std::string_view reference : references)
    lower.push_back(lowerLine(reference));
  lines.push_back(count(lowerLine(hypothesis), {lower.begin(), lower.end()}));
}

Statistics Metric::sum() const {
  assert(!lines.empty() && "there is a line");
  Statistics result(lines.front().size());
  for (size_t line = 0; line < lines.size(); ++line) {
    Statistics own = statistics(line);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] += own[i];
  }
  return result;
}

double Metric::value() const { return lines.empty() ? 0 : valueOf(sum()); }

std::string Metric::text(int digits) const {
  Statistics all = sum();
  return fmt::format("{} = {:.{}f}{}", signature(), valueOf(all), digits,
                     details(all, digits));
}

std::string Metric::common() const {
  return fmt::format("nrefs:{}|case:{}",
                     fewest == most ? std::to_string(most) : "var",
                     ignoresCase() ? "lc" : "mixed");
}

const char *fovea::metrics::nameOf(Tokeniser tokeniser) {
  switch (tokeniser) {
  case Tokeniser::None:
    return "none";
  case Tokeniser::V13a:
    return "13a";
  case Tokeniser::International:
    return "intl";
  case Tokeniser::Meteor:
    return "meteor";
  case Tokeniser::Chars:
    return "char";
  case Tokeniser::CharsAndBlanks:
    return "char+blank";
  }
  return "";
}

std::vector<Tokens>
fovea::metrics::tokeniseAll(const std::vector<std::string_view> &lines,
                            Tokeniser tokeniser) {
  std::vector<Tokens> result;
  for (std::string_view line : lines)
    result.push_back(tokenise(line, tokeniser));
  return result;
}

const std::vector<std::string_view> &Metric::names() {
  static const std::vector<std::string_view> all = {
      "bleu",         "bleu-1", "bleu-2",  "bleu-3",     "bleu-4",   "chrf",
      "chrf++",       "ter",    "meteor",  "rouge-1",    "rouge-2",  "rouge-l",
      "rouge-l-coco", "cider",  "cider-d", "bracket-f1", "accuracy", "exact",
      "per",          "wer",    "cer",     "edit"};
  return all;
}

std::unique_ptr<Metric> Metric::create(std::string_view name,
                                       const MetricOptions &options) {
  for (auto family : {createTranslation, createTokens, createCaption})
    if (std::unique_ptr<Metric> metric = family(name, options))
      return metric;
  return createTrees(name);
}
