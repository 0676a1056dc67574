//===- DecodeCommand.cpp - fovea decode -----------------------------------===//
//
// The options of the search, the lines that it prints and the equations that
// it stores. The search itself is runtime/search/Search.cpp, or the
// interpreter's.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Batch.h"
#include "dialect/reference/Search.h"
#include "driver/data/Prefixes.h"
#include "driver/data/Unknown.h"
#include "driver/model/Execution.h"
#include "driver/model/Programs.h"
#include "driver/show/Shows.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;

namespace {
/// Prints hypotheses as they come, example after example, and keeps what is
/// shown of the best of each.
class Printer {
public:
  Printer(const Arguments &arguments, const Execution &execution,
          const runtime::UnknownWords &unknown, Shows &shows)
      : arguments(arguments), execution(execution), unknown(unknown),
        shows(shows) {}

  void print(size_t example, const std::vector<reference::Hypothesis> &best);

private:
  std::string lineOf(const runtime::Example &example,
                     const reference::Hypothesis &hypothesis) const;

  const Arguments &arguments;
  const Execution &execution;
  const runtime::UnknownWords &unknown;
  Shows &shows;
};
} // namespace

/// The generated names, in file order, with tabs between.
std::string Printer::lineOf(const runtime::Example &example,
                            const reference::Hypothesis &hypothesis) const {
  std::string line;
  bool isFirst = true;
  for (const DataInfo &data : execution.model->data) {
    auto found = hypothesis.outputs.find(data.name);
    if (!data.isChosen || found == hypothesis.outputs.end())
      continue;
    if (!isFirst)
      line += '\t';
    isFirst = false;
    runtime::Replacement replacement;
    if (data.name == unknown.generated)
      replacement = [&](size_t place) {
        const reference::Array &weights =
            hypothesis.outputs.at(unknown.weights);
        return unknown.wordAt(place, {weights.shape, weights.values},
                              example.words);
      };
    line += textOf(data, found->second, hypothesis.hasEnd,
                   execution.vocabularies, replacement);
  }
  return line;
}

void Printer::print(size_t example,
                    const std::vector<reference::Hypothesis> &best) {
  for (const reference::Hypothesis &hypothesis : best) {
    if (arguments.search.nbest)
      llvm::outs() << example + 1 << '\t';
    if (arguments.search.scores)
      llvm::outs() << fmt::format("{:.10g}\t", hypothesis.logp);
    llvm::outs() << lineOf(execution.examples[example], hypothesis) << '\n';
  }
  shows.add(execution, execution.examples[example], best.front());
}

static runtime::Status inExample(size_t example, runtime::Status status) {
  return status.failed() ? runtime::Status::error(fmt::format(
                               "example {}: {}", example + 1, status.text()))
                         : status;
}

static runtime::Status interpret(const Execution &execution,
                                 const reference::SearchOptions &options,
                                 Printer &printer) {
  mlir::Operation *decoder =
      reference::findContainer(*execution.model->module, "decode");
  reference::SearchOptions own = options;
  for (auto [number, example] : llvm::enumerate(execution.examples)) {
    own.prefix = example.prefix;
    std::vector<reference::Inputs> members = {
        reference::inputsOf(example, execution.parameters)};
    for (const reference::Arrays &parameters : execution.more)
      members.push_back(reference::inputsOf(example, parameters));
    std::vector<reference::Hypothesis> hypotheses;
    runtime::Status status =
        reference::decode(decoder, members, own, hypotheses);
    if (status.failed())
      return inExample(number, status);
    printer.print(number, hypotheses);
  }
  return runtime::Status::success();
}

/// How many examples are decoded together.
static constexpr size_t batchSize = 16;

static runtime::Status runCompiled(const Arguments &arguments,
                                   Programs &programs,
                                   const Execution &execution,
                                   const reference::SearchOptions &options,
                                   Printer &printer) {
  std::vector<runtime::ParameterValues> parameters = {
      valuesOf(execution.parameters)};
  for (const reference::Arrays &member : execution.more)
    parameters.push_back(valuesOf(member));
  std::unique_ptr<CompiledDecoder> decoder;
  if (runtime::Status status = programs.create(decoder); status.failed())
    return status;
  decoder->setParameters(parameters, arguments.dtype == "f64");
  const std::vector<runtime::Example> &examples = execution.examples;
  for (size_t first = 0; first < examples.size(); first += batchSize) {
    runtime::Batch batch;
    for (size_t i = first; i < std::min(examples.size(), first + batchSize);
         ++i)
      batch.push_back(&examples[i]);
    std::vector<std::vector<runtime::Generated>> results;
    if (runtime::Status status =
            decoder->search().decode(batch, options, results);
        status.failed()) {
      // Which example it was, alone.
      for (size_t i = 0; batch.size() > 1 && i < batch.size(); ++i)
        if (runtime::Status own =
                decoder->search().decode({batch[i]}, options, results);
            own.failed())
          return inExample(first + i, own);
      return inExample(first, status);
    }
    for (auto [i, best] : llvm::enumerate(results)) {
      std::vector<reference::Hypothesis> hypotheses;
      for (runtime::Generated &generated : best) {
        reference::Hypothesis &hypothesis = hypotheses.emplace_back();
        hypothesis.logp = generated.logp;
        hypothesis.score = generated.score;
        hypothesis.steps = generated.steps;
        hypothesis.ended = generated.ended;
        hypothesis.hasEnd = generated.hasEnd;
        for (auto &[name, values] : generated.outputs)
          hypothesis.outputs[name] = {values.shape, std::move(values.values),
                                      false};
      }
      printer.print(first + i, hypotheses);
    }
  }
  return runtime::Status::success();
}

int fovea::cli::runDecode(const Arguments &arguments) {
  Request request;
  bool isReference;
  if (!chooseExecutor(arguments, request, isReference))
    return badUsage;
  Session session(arguments);
  Execution execution;
  Shows shows;
  runtime::UnknownWords unknown;
  if (!openExecution(session, arguments, "decoding", execution) ||
      !shows.read(session, arguments, *execution.model) ||
      !readUnknown(session, arguments, *execution.model, unknown))
    return session.finish();
  mlir::ModuleOp module = *execution.model->module;
  reference::SearchOptions options;
  if (runtime::Status status = reference::readSearchOptions(module, options);
      status.failed()) {
    session.error(arguments.spec() + ": " + status.text());
    return session.finish();
  }
  if (runtime::Status status = applyFlags(arguments.search, options);
      status.failed())
    return wrongUsage(status.text());
  request.shows = shows.equations();
  if (!unknown.weights.empty() &&
      !llvm::is_contained(request.shows, unknown.weights))
    request.shows.push_back(unknown.weights);
  execution.data.words = unknown.given;
  CompiledOptions compiledOptions;
  compiledOptions.isDouble = arguments.dtype == "f64";
  compiledOptions.threads = arguments.threads;
  compiledOptions.target = arguments.cpu;
  Programs programs(session, *execution.model, request, compiledOptions);
  if (isReference) {
    if (!lowerAndRead(session, arguments, request, "decode", execution))
      return session.finish();
  } else {
    if (!programs.open({"decode"}))
      return session.finish();
    execution.data.needed = programs.dataOf("decode");
    if (!readExamples(
            session,
            givenData(arguments, *execution.model, execution.data.needed),
            *execution.model, execution.data, execution.vocabularies,
            execution.examples))
      return session.finish();
  }
  if (!readPrefixes(session, arguments, execution))
    return session.finish();
  nameGivenWords(unknown, execution);

  Printer printer(arguments, execution, unknown, shows);
  runtime::Status status =
      isReference
          ? interpret(execution, options, printer)
          : runCompiled(arguments, programs, execution, options, printer);
  if (status.failed()) {
    session.fail(status);
    return session.finish();
  }
  int code = session.finish();
  return std::max(code, shows.write());
}
