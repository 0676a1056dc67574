//===- EvalCommand.cpp - fovea eval ---------------------------------------===//
//
// Reads hypotheses and references, line by line, and prints scores. metrics/
// computes them.
//
//===----------------------------------------------------------------------===//

#include "app/data/TextData.h"
#include "app/show/Metrics.h"
#include "metrics/Significance.h"
#include "runtime/data/Printable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

using Systems = std::vector<std::unique_ptr<metrics::Metric>>;

static metrics::MetricOptions optionsOf(const Arguments &arguments) {
  metrics::MetricOptions options;
  if (!arguments.tokenise.empty())
    options.tokeniser =
        arguments.tokenise == "13a"      ? metrics::Tokeniser::V13a
        : arguments.tokenise == "intl"   ? metrics::Tokeniser::International
        : arguments.tokenise == "char"   ? metrics::Tokeniser::Chars
        : arguments.tokenise == "meteor" ? metrics::Tokeniser::Meteor
                                         : metrics::Tokeniser::None;
  options.isLower = arguments.isLower;
  options.smoothing = arguments.smooth == "floor"   ? metrics::Smoothing::Floor
                      : arguments.smooth == "add-k" ? metrics::Smoothing::AddK
                      : arguments.smooth == "none"  ? metrics::Smoothing::None
                                                    : metrics::Smoothing::Exp;
  options.smoothingValue = arguments.smoothValue;
  return options;
}

/// Warns about options that do not affect this metric.
static void explainIdle(const Arguments &arguments) {
  auto warn = [](const std::string &text) {
    llvm::errs() << "warning: " << text << '\n';
  };
  StringRef metric = arguments.metric;
  bool isOfTrees = metric == "bracket-f1" || metric == "bracket_f1";
  if (arguments.smooth != "exp" && metric != "bleu")
    warn("'--smooth' has no effect on '" + arguments.metric + "'");
  if (arguments.smoothValue && arguments.smooth != "floor" &&
      arguments.smooth != "add-k")
    warn("'--smooth-value' has no effect on '--smooth " + arguments.smooth +
         "'");
  if (!arguments.tokenise.empty() &&
      (isOfTrees ||
       llvm::is_contained({"chrf", "chrf++", "ter", "cer"}, metric)))
    warn("'--tokenise' has no effect on '" + arguments.metric + "'");
  if (arguments.isLower && (isOfTrees || metric == "ter" || metric == "meteor"))
    warn("'--lowercase' has no effect on '" + arguments.metric + "'");
  if (arguments.keepsEmpty && arguments.references.size() == 1)
    warn("'--empty-references' has no effect with one file");
  for (auto [option, value] :
       {std::pair("--wordnet", &arguments.wordnet),
        std::pair("--paraphrases", &arguments.paraphrases)})
    if (!value->empty() && metric != "meteor")
      warn(fmt::format("'{}' has no effect on '{}'", option, arguments.metric));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads METEOR's resources. Returns false after a diagnostic.
static bool readResources(const Arguments &arguments,
                          metrics::MetricOptions &options) {
  std::string problem;
  if (arguments.metric != "meteor" ||
      readSynonyms(arguments.wordnet, arguments.paraphrases, options, problem))
    return true;
  bool hasPlace = StringRef(problem).contains(": error: ");
  llvm::errs() << (hasPlace ? "" : "error: ") << runtime::printable(problem)
               << '\n';
  return false;
}

/// Reads all files, which have as many lines as the first one.
static std::vector<std::vector<StringRef>>
readFiles(Session &session, const std::vector<std::string> &paths) {
  std::vector<std::vector<StringRef>> files;
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
  return files;
}

/// Adds each line of each system. Returns false after a diagnostic.
static bool addLines(Session &session, const Arguments &arguments,
                     const std::vector<std::vector<StringRef>> &files,
                     Systems &systems) {
  // A single reference file has a reference for each line, even if it is empty.
  // With several, lines may have fewer references than there are files.
  bool skipsEmpty = arguments.references.size() > 1 && !arguments.keepsEmpty;
  for (size_t line = 0; line < files[0].size(); ++line) {
    std::vector<std::string_view> references;
    for (size_t i = systems.size(); i < files.size(); ++i)
      if (!skipsEmpty || !files[i][line].trim().empty())
        references.push_back(files[i][line]);
    if (references.empty()) {
      session.error(fmt::format(
          "line {} has no reference: it is empty in all {} files; help: "
          "--empty-references accepts empty lines as references",
          line + 1, arguments.references.size()));
      return false;
    }
    for (auto [number, system] : llvm::enumerate(systems))
      system->add(files[number][line], references);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static llvm::json::Object describe(const Arguments &arguments,
                                   const metrics::Metric &metric) {
  llvm::json::Object object{{"metric", arguments.metric},
                            {"signature", arguments.perLine
                                              ? metric.lineSignature()
                                              : metric.signature()},
                            {"value", metric.value()},
                            {"higher_is_better", metric.isHigherBetter()},
                            {"lines", int64_t(metric.size())}};
  if (arguments.perLine) {
    llvm::json::Array values;
    for (size_t line = 0; line < metric.size(); ++line)
      values.push_back(metric.lineValue(line));
    object["values"] = std::move(values);
  }
  return object;
}

/// Prints one object, or a list of one per system.
static void printJson(const Arguments &arguments, const Systems &systems,
                      const std::vector<metrics::SystemResult> &results) {
  llvm::json::Array all;
  for (auto [number, system] : llvm::enumerate(systems)) {
    llvm::json::Object object = describe(arguments, *system);
    if (systems.size() > 1)
      object["hyp"] = arguments.hypotheses[number];
    if (!results.empty()) {
      object["mean"] = results[number].mean;
      object["interval"] = results[number].interval;
    }
    if (!results.empty() && number > 0) {
      object["p_bootstrap"] = results[number].bootstrap;
      object["p_randomisation"] = results[number].randomisation;
    }
    all.push_back(std::move(object));
  }
  llvm::outs() << llvm::formatv("{0:2}",
                                systems.size() == 1
                                    ? std::move(all.front())
                                    : llvm::json::Value(std::move(all)))
               << '\n';
}

/// Prints one row per line, with one column per system.
static void printLines(const Arguments &arguments, const Systems &systems) {
  for (size_t line = 0; line < systems.front()->size(); ++line) {
    std::vector<std::string> row;
    for (const auto &system : systems)
      row.push_back(
          fmt::format("{:.{}f}", system->lineValue(line), arguments.digits));
    llvm::outs() << llvm::join(row, "\t") << '\n';
  }
}

static void printPaired(const Arguments &arguments, const Systems &systems,
                        const std::vector<metrics::SystemResult> &results) {
  llvm::outs() << fmt::format(
      "{}|bs:{}|ar:{}|seed:{}\n", systems.front()->signature(),
      metrics::bootstrapDraws, metrics::randomisationDraws,
      metrics::significanceSeed);
  for (auto [number, result] : llvm::enumerate(results)) {
    std::string text = fmt::format(
        "{} = {:.{}f} (mean {:.{}f} +- {:.{}f})", arguments.hypotheses[number],
        result.value, arguments.digits, result.mean, arguments.digits,
        result.interval, arguments.digits);
    if (number > 0)
      text += fmt::format(" p = {:.4f} (bootstrap), {:.4f} (randomisation)",
                          result.bootstrap, result.randomisation);
    llvm::outs() << text << '\n';
  }
}

int fovea::cli::runEval(const Arguments &arguments) {
  std::string problem;
  metrics::MetricOptions options = optionsOf(arguments);
  if (!readResources(arguments, options))
    return badInput;
  Systems systems;
  for (size_t i = 0; i < arguments.hypotheses.size(); ++i) {
    systems.push_back(createMetric(arguments.metric, options, problem));
    if (!systems.back())
      return wrongUsage(problem);
  }
  if (arguments.isPaired && systems.size() == 1)
    return wrongUsage("'--paired' compares systems, but there is one --hyp; "
                      "help: give --hyp once per system");
  explainIdle(arguments);
  Session session(arguments);
  std::vector<std::string> paths = arguments.hypotheses;
  llvm::append_range(paths, arguments.references);
  std::vector<std::vector<StringRef>> files = readFiles(session, paths);
  if (session.diagnostics().failed() ||
      !addLines(session, arguments, files, systems))
    return session.finish();
  std::vector<metrics::SystemResult> results;
  if (arguments.isPaired) {
    std::vector<const metrics::Metric *> all;
    for (const auto &system : systems)
      all.push_back(system.get());
    results = metrics::comparePaired(all);
  }
  if (arguments.asJson)
    printJson(arguments, systems, results);
  else if (arguments.perLine)
    printLines(arguments, systems);
  else if (arguments.isPaired)
    printPaired(arguments, systems, results);
  else
    for (auto [number, system] : llvm::enumerate(systems))
      llvm::outs() << (systems.size() == 1
                           ? ""
                           : arguments.hypotheses[number] + ": ")
                   << system->text(static_cast<int>(arguments.digits)) << '\n';
  return session.finish();
}
