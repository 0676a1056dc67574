//===- DecodeCommand.cpp - fovea decode -----------------------------------===//
//
// The options of the search, its output lines and the stored
// equations. runtime/search/Search.cpp or the interpreter
// searches.
//
//===----------------------------------------------------------------------===//

#include "app/interpret/InterpretedDecoder.h"
#include "app/interpret/LaunchedDecoder.h"
#include "app/machines/Agreement.h"
#include "app/machines/Turns.h"
#include "app/model/Execution.h"
#include "app/model/Prefixes.h"
#include "app/model/Programs.h"
#include "app/model/QuantisedWeights.h"
#include "app/model/Unknown.h"
#include "app/show/Shows.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "dialect/reference/Search.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;

namespace {
/// Prints hypotheses as they come, example by example, and keeps the shown
/// equations of the best of each.
class Printer {
public:
  Printer(const Arguments &arguments, const Execution &execution,
          const runtime::UnknownWords &unknown, Shows &shows)
      : arguments(arguments), execution(execution), unknown(unknown),
        shows(shows) {}

  void print(size_t example, const std::vector<reference::Hypothesis> &best);

private:
  using Texts = std::vector<std::pair<std::string, std::string>>;
  Texts textsOf(const runtime::Example &example,
                const reference::Hypothesis &hypothesis) const;
  void printLines(size_t example,
                  const std::vector<reference::Hypothesis> &best) const;
  void printJson(size_t example,
                 const std::vector<reference::Hypothesis> &best) const;

  const Arguments &arguments;
  const Execution &execution;
  const runtime::UnknownWords &unknown;
  Shows &shows;
};
} // namespace

/// The generated names, in file order, with their text.
Printer::Texts Printer::textsOf(const runtime::Example &example,
                                const reference::Hypothesis &hypothesis) const {
  Texts texts;
  for (const DataInfo &data : execution.model->data) {
    auto found = hypothesis.outputs.find(data.name);
    if (!data.isChosen || found == hypothesis.outputs.end())
      continue;
    runtime::Replacement replacement;
    if (data.name == unknown.generated)
      replacement = [&](size_t place) {
        const reference::Array &weights =
            hypothesis.outputs.at(unknown.weights);
        return unknown.wordAt(place, {weights.shape, weights.values},
                              example.words);
      };
    texts.emplace_back(data.name, textOf(data, found->second, example.lengths,
                                         hypothesis.hasEnd,
                                         execution.vocabularies, replacement));
  }
  return texts;
}

/// A line for each hypothesis, with tabs between the names.
void Printer::printLines(size_t example,
                         const std::vector<reference::Hypothesis> &best) const {
  for (const reference::Hypothesis &hypothesis : best) {
    if (arguments.search.nbest)
      llvm::outs() << example + 1 << '\t';
    if (arguments.search.scores)
      llvm::outs() << fmt::format("{:.10g}\t", hypothesis.logp);
    if (arguments.search.scores && arguments.search.nbest)
      llvm::outs() << fmt::format("{:.10g}\t", hypothesis.score);
    llvm::ListSeparator tab("\t");
    for (const auto &[name, text] :
         textsOf(execution.examples[example], hypothesis))
      llvm::outs() << tab << text;
    llvm::outs() << '\n';
  }
}

/// An object for each example. Non-finite numbers become null: log 0 is one.
void Printer::printJson(size_t example,
                        const std::vector<reference::Hypothesis> &best) const {
  namespace json = llvm::json;
  auto number = [](double value) {
    return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
  };
  json::Array hypotheses;
  for (const reference::Hypothesis &hypothesis : best) {
    json::Object outputs;
    for (const auto &[name, text] :
         textsOf(execution.examples[example], hypothesis))
      outputs[name] = json::isUTF8(text) ? text : json::fixUTF8(text);
    hypotheses.push_back(json::Object{{"logp", number(hypothesis.logp)},
                                      {"score", number(hypothesis.score)},
                                      {"ended", hypothesis.ended},
                                      {"outputs", std::move(outputs)}});
  }
  llvm::outs() << json::Value(json::Object{
                      {"example", static_cast<int64_t>(example + 1)},
                      {"hypotheses", std::move(hypotheses)}})
               << '\n';
}

void Printer::print(size_t example,
                    const std::vector<reference::Hypothesis> &best) {
  if (arguments.asJson)
    printJson(example, best);
  else
    printLines(example, best);
  shows.add(execution, execution.examples[example], best.front());
}

static runtime::Status inExample(size_t example, runtime::Status status) {
  return status.failed() ? runtime::Status::error(fmt::format(
                               "example {}: {}", example + 1, status.text()))
                         : status;
}

static runtime::Status interpretExample(const Execution &execution,
                                        reference::SearchOptions options,
                                        size_t number, bool isSingle,
                                        BatchResult &result) {
  const runtime::Example &example = execution.examples[number];
  options.prefix = example.prefix;
  std::vector<reference::Inputs> members = {
      reference::inputsOf(example, execution.parameters)};
  for (const reference::Arrays &parameters : execution.more)
    members.push_back(reference::inputsOf(example, parameters));
  for (reference::Inputs &member : members)
    member.single = isSingle;
  return inExample(
      number, reference::decode(
                  reference::findContainer(*execution.model->module, "decode"),
                  members, options, result.emplace_back()));
}

/// The number of examples decoded together.
static constexpr size_t batchSize = 16;

static runtime::Status decodeBatch(CompiledDecoder &decoder,
                                   const Execution &execution,
                                   const reference::SearchOptions &options,
                                   size_t first, BatchResult &result) {
  const std::vector<runtime::Example> &examples = execution.examples;
  runtime::Batch batch;
  for (size_t i = first; i < std::min(examples.size(), first + batchSize); ++i)
    batch.push_back(&examples[i]);
  std::vector<std::vector<runtime::Generated>> results;
  if (runtime::Status status = decoder.search().decode(batch, options, results);
      status.failed()) {
    // Find the failing example.
    for (size_t i = 0; batch.size() > 1 && i < batch.size(); ++i)
      if (runtime::Status own =
              decoder.search().decode({batch[i]}, options, results);
          own.failed())
        return inExample(first + i, own);
    return inExample(first, status);
  }
  for (std::vector<runtime::Generated> &best : results) {
    std::vector<reference::Hypothesis> &hypotheses = result.emplace_back();
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
  }
  return runtime::Status::success();
}

/// Decodes the batch of examples that starts at `first`.
using DecodeFrom =
    llvm::function_ref<runtime::Status(size_t first, BatchResult &result)>;

/// Decodes all examples, `together` at once.
static runtime::Status decodeAll(const Execution &execution, size_t together,
                                 DecodeFrom decode, Printer &printer) {
  size_t batches = llvm::divideCeil(execution.examples.size(), together);
  return takeTurns(
      team(), batches,
      [&](size_t number, BatchResult &result) {
        return decode(number * together, result);
      },
      [&](size_t number, const BatchResult &result) {
        for (auto [i, best] : llvm::enumerate(result))
          printer.print(number * together + i, best);
      });
}

/// Returns whether a user types the examples and waits for each answer.
static bool isTyped(const Arguments &arguments, const Execution &execution) {
  return arguments.data.empty() && !arguments.stored.empty() &&
         arguments.prefixes.empty() && team().isAlone() &&
         !execution.data.needed.empty() && isatty(STDIN_FILENO);
}

/// Answers each line before it reads the next one. Reports a wrong line and
/// continues.
static void answerLines(Session &session, const Arguments &arguments,
                        Execution &execution,
                        const runtime::UnknownWords &unknown, DecodeFrom decode,
                        Printer &printer) {
  std::vector<GivenData> given =
      givenData(arguments, *execution.model, execution.data.needed);
  if (!arguments.quiet) {
    llvm::errs() << "note: type one example per line: ";
    llvm::ListSeparator tab(", a tab, ");
    for (const GivenData &data : given)
      llvm::errs() << tab << data.name;
    llvm::errs() << "; Ctrl-D ends\n";
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    line += '\n';
    for (GivenData &data : given)
      data.text = &line;
    size_t number = execution.examples.size();
    if (!readExamples(session, given, *execution.model, execution.data,
                      execution.vocabularies, execution.examples))
      continue;
    nameGivenWords(unknown, execution);
    BatchResult result;
    if (runtime::Status status = decode(number, result); status.failed())
      session.fail(status);
    else
      printer.print(number, result.front());
    llvm::outs().flush();
  }
}

namespace {
/// The search over compiled programs, over their launches, or over what the
/// interpreter makes of them after a phase.
struct Decoder {
  std::unique_ptr<CompiledDecoder> compiled;
  std::unique_ptr<LaunchedDecoder> launched;
  std::unique_ptr<InterpretedDecoder> interpreted;
  mlir::OwningOpRef<mlir::ModuleOp> phase; // null: there is none to interpret

  runtime::Status prepare(const Arguments &arguments, Programs &programs,
                          Execution &execution);
  runtime::Status decode(const Execution &execution,
                         const reference::SearchOptions &options, size_t first,
                         BatchResult &result);
};
} // namespace

runtime::Status Decoder::prepare(const Arguments &arguments, Programs &programs,
                                 Execution &execution) {
  bool isDouble = arguments.dtype == "f64";
  if (phase) {
    CompiledOptions options = compiledOptionsOf(arguments);
    options.isDouble = isDouble || !arguments.givesDtype;
    if (runtime::Status status = InterpretedDecoder::create(
            *execution.model->module, options, interpreted);
        status.failed())
      return status;
    interpreted->interpret(*phase);
    return interpreted->decoder().setWeights(std::move(execution.files),
                                             options.isDouble);
  }
  if (!arguments.launches) {
    if (runtime::Status status = programs.create(compiled); status.failed())
      return status;
    return compiled->setWeights(std::move(execution.files), isDouble);
  }
  // Compiled code has the interpreter's bits in f32.
  CompiledOptions options = compiledOptionsOf(arguments);
  options.isDouble = arguments.reference && (isDouble || !arguments.givesDtype);
  if (runtime::Status status = LaunchedDecoder::create(
          *execution.model->module, options, !arguments.reference, launched);
      status.failed())
    return status;
  return launched->decoder().setWeights(std::move(execution.files),
                                        options.isDouble);
}

runtime::Status Decoder::decode(const Execution &execution,
                                const reference::SearchOptions &options,
                                size_t first, BatchResult &result) {
  CompiledDecoder &own = interpreted ? interpreted->decoder()
                         : launched  ? launched->decoder()
                                     : *compiled;
  runtime::Status status = decodeBatch(own, execution, options, first, result);
  if (interpreted && interpreted->status().failed())
    return interpreted->status();
  return launched && launched->status().failed() ? launched->status() : status;
}

/// Keeps the programs that a phase leaves. The programs of the model describe
/// the frames of a search.
static bool lowerTwice(Session &session, Model &model, Request request,
                       mlir::OwningOpRef<mlir::ModuleOp> &phase) {
  mlir::OwningOpRef<mlir::ModuleOp> original = model.module->clone();
  if (!session.lower(model, request))
    return false;
  phase = std::exchange(model.module, std::move(original));
  request.stopAfter = attn::Phase::fuse;
  return session.lower(model, request);
}

int fovea::cli::runDecode(const Arguments &arguments) {
  Request request;
  bool isReference;
  Session session(arguments);
  Execution execution;
  Shows shows;
  runtime::UnknownWords unknown;
  reference::SearchOptions options;
  std::unique_ptr<Programs> programs;
  Decoder decoder;
  // A collective call: all processes pass it, or none.
  auto prepare = [&]() -> int {
    if (!chooseExecutor(arguments, request, isReference))
      return badUsage;
    // Launches are those of compiled programs.
    isReference &= !arguments.launches;
    // From then on a decoder consists of several programs.
    bool isSplit = isReference && request.stopAfter >= attn::Phase::batch;
    isReference &= !isSplit;
    execution.keepsFiles = !isReference;
    if (!openExecution(session, arguments, "decoding", execution) ||
        !shows.read(session, arguments, *execution.model) ||
        !readUnknown(session, arguments, *execution.model, unknown))
      return session.finish();
    mlir::ModuleOp module = *execution.model->module;
    if (runtime::Status status = reference::readSearchOptions(module, options);
        status.failed()) {
      session.error(arguments.spec() + ": " + status.text());
      return session.finish();
    }
    if (runtime::Status status = applyFlags(arguments.search, options);
        status.failed())
      return wrongUsage(status.text());
    if (arguments.search.seed && !options.sample && !arguments.quiet &&
        !compiler::drawsLatents(module))
      session.diagnostics().warning(
          Code::none, {},
          "'--seed' has no effect without '--sample': nothing is drawn at "
          "random");
    request.shows = shows.equations();
    if (!unknown.weights.empty() &&
        !llvm::is_contained(request.shows, unknown.weights))
      request.shows.push_back(unknown.weights);
    execution.data.words =
        unknown.given.empty() ? shows.givenWords() : unknown.given;
    programs = std::make_unique<Programs>(session, *execution.model, request,
                                          compiledOptionsOf(arguments));
    bool isLowered = isReference || isSplit || arguments.launches;
    bool isOpen =
        isSplit ? lowerTwice(session, *execution.model, request, decoder.phase)
        : isLowered ? session.lower(*execution.model, request)
                    : programs->open({"decode"});
    if (!isOpen)
      return session.finish();
    module = *execution.model->module;
    if (isReference)
      if (runtime::Status status = addQuantised(module, execution.parameters);
          status.failed()) {
        session.fail(status);
        return session.finish();
      }
    execution.data.needed =
        isLowered ? describeData(*execution.model,
                                 reference::findContainer(
                                     module, isReference ? "decode" : "encode"))
                  : programs->dataOf("decode");
    if (!isTyped(arguments, execution) &&
        !readExamples(
            session,
            givenData(arguments, *execution.model, execution.data.needed),
            *execution.model, execution.data, execution.vocabularies,
            execution.examples))
      return session.finish();
    if (!readPrefixes(session, arguments, execution))
      return session.finish();
    nameGivenWords(unknown, execution);
    if (isReference)
      return done;
    runtime::Status status = decoder.prepare(arguments, *programs, execution);
    if (status.failed())
      session.fail(status);
    return status.failed() ? session.finish() : int(done);
  };
  if (int code = agree(prepare()); code != done)
    return code;

  Printer printer(arguments, execution, unknown, shows);
  bool isSingle = arguments.givesDtype && arguments.dtype == "f32";
  auto decode = [&](size_t first, BatchResult &result) {
    return isReference
               ? interpretExample(execution, options, first, isSingle, result)
               : decoder.decode(execution, options, first, result);
  };
  runtime::Status status = runtime::Status::success();
  if (isTyped(arguments, execution))
    answerLines(session, arguments, execution, unknown, decode, printer);
  else
    status = decodeAll(execution, isReference ? 1 : batchSize, decode, printer);
  if (status.failed())
    session.fail(status);
  int code = session.finish();
  if (status.succeeded() && team().isFirst())
    code = std::max(code, shows.write());
  return agree(code);
}
