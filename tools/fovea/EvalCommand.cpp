//===- EvalCommand.cpp - fovea eval ---------------------------------------===//
//
// Reads hypotheses and references, line by line; what they are worth is
// decided in metrics/.
//
//===----------------------------------------------------------------------===//

#include "driver/data/TextData.h"
#include "driver/show/Metrics.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

static metrics::MetricOptions optionsOf(const Arguments &arguments) {
  metrics::MetricOptions options;
  if (!arguments.tokenise.empty())
    options.tokeniser =
        arguments.tokenise == "13a"      ? metrics::Tokeniser::V13a
        : arguments.tokenise == "char"   ? metrics::Tokeniser::Chars
        : arguments.tokenise == "meteor" ? metrics::Tokeniser::Meteor
                                         : metrics::Tokeniser::None;
  options.smoothing = arguments.smooth == "floor"   ? metrics::Smoothing::Floor
                      : arguments.smooth == "add-k" ? metrics::Smoothing::AddK
                      : arguments.smooth == "none"  ? metrics::Smoothing::None
                                                    : metrics::Smoothing::Exp;
  options.smoothingValue = arguments.smoothValue;
  return options;
}

/// Says of options what they do not do for this metric.
static void explainIdle(const Arguments &arguments) {
  auto say = [](const std::string &text) {
    llvm::errs() << "warning: " << text << '\n';
  };
  if (arguments.smooth != "exp" && arguments.metric != "bleu")
    say("'--smooth' changes nothing of '" + arguments.metric + "'");
  if (arguments.smoothValue && arguments.smooth != "floor" &&
      arguments.smooth != "add-k")
    say("'--smooth-value' changes nothing of '--smooth " + arguments.smooth +
        "'");
  if (!arguments.tokenise.empty() &&
      llvm::is_contained({"chrf", "cer", "bracket-f1", "bracket_f1"},
                         arguments.metric))
    say("'--tokenise' changes nothing of '" + arguments.metric + "'");
  for (auto [option, value] :
       {std::pair("--wordnet", &arguments.wordnet),
        std::pair("--paraphrases", &arguments.paraphrases)})
    if (!value->empty() && arguments.metric != "meteor")
      say(fmt::format("'{}' changes nothing of '{}'", option,
                      arguments.metric));
}

/// Reads what METEOR is given beside its texts. False, and said why.
static bool readSynonyms(const Arguments &arguments,
                         metrics::MetricOptions &options) {
  if (arguments.metric != "meteor")
    return true;
  auto synonyms = std::make_shared<metrics::Synonyms>();
  std::string problem;
  if ((arguments.wordnet.empty() ||
       synonyms->readWordNet(arguments.wordnet, problem)) &&
      (arguments.paraphrases.empty() ||
       synonyms->readParaphrases(arguments.paraphrases, problem))) {
    options.synonyms = std::move(synonyms);
    return true;
  }
  bool hasPlace = StringRef(problem).contains(": error: ");
  llvm::errs() << (hasPlace ? "" : "error: ") << problem << '\n';
  return false;
}

int fovea::cli::runEval(const Arguments &arguments) {
  std::string problem;
  metrics::MetricOptions options = optionsOf(arguments);
  if (!readSynonyms(arguments, options))
    return badInput;
  std::unique_ptr<metrics::Metric> metric =
      createMetric(arguments.metric, options, problem);
  if (!metric)
    return wrongUsage(problem);
  explainIdle(arguments);
  Session session(arguments);
  std::vector<std::vector<StringRef>> files;
  std::vector<std::string> paths = {arguments.hypotheses};
  llvm::append_range(paths, arguments.references);
  for (const std::string &path : paths) {
    std::vector<StringRef> &lines = files.emplace_back();
    forLines(session, sourceOf(path), [&](StringRef line) {
      lines.push_back(line);
      return true;
    });
    if (!session.diagnostics().failed() && lines.size() != files[0].size())
      session.error(fmt::format("'{}' has {} lines but '{}' has {}", path,
                                lines.size(), paths[0], files[0].size()));
  }
  if (session.diagnostics().failed())
    return session.finish();
  std::vector<std::string_view> references(files.size() - 1);
  for (size_t line = 0; line < files[0].size(); ++line) {
    for (size_t i = 1; i < files.size(); ++i)
      references[i - 1] = files[i][line];
    metric->add(files[0][line], references);
  }
  std::string text = metric->text(static_cast<int>(arguments.digits));
  if (arguments.asJson)
    llvm::outs() << llvm::formatv(
                        "{0:2}",
                        llvm::json::Value(llvm::json::Object{
                            {"metric", arguments.metric},
                            {"signature", StringRef(text).split(" = ").first},
                            {"value", metric->value()},
                            {"higher_is_better", metric->isHigherBetter()},
                            {"lines", int64_t(files[0].size())}}))
                 << '\n';
  else
    llvm::outs() << text << '\n';
  return session.finish();
}
