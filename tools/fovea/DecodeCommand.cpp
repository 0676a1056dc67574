//===- DecodeCommand.cpp - fovea decode -----------------------------------===//
//
// The options of the search, the lines that it prints and the equations that
// it stores. The search itself is runtime/Search.cpp, or the interpreter's.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Batch.h"
#include "dialect/reference/Search.h"
#include "tools/fovea/CompiledDecoder.h"
#include "tools/fovea/Execution.h"
#include "tools/fovea/Files.h"
#include "tools/fovea/TextData.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace {

/// `--show NAME=FILE`: the equations of one name, and the best hypothesis's
/// value of each, one per example.
struct Show {
  std::string name, path;
  std::vector<std::string> equations;
  std::map<std::string, std::vector<runtime::DataValues>> values;
};

} // namespace

static bool readShows(Session &session, const Arguments &arguments,
                      Model &model, std::vector<Show> &shows) {
  for (const std::string &text : arguments.shows) {
    Show &show = shows.emplace_back();
    if (!splitPair(text, show.name, show.path)) {
      session.error("'--show' takes NAME=FILE, not '" + text + "'");
      continue;
    }
    if (!StringRef(show.path).ends_with(".safetensors")) {
      session.error("'" + show.path +
                    "' has to end in .safetensors: nothing is drawn yet");
      continue;
    }
    show.equations = equationsNamed(session, model, "decoding", show.name);
  }
  return !session.diagnostics().failed();
}

/// Stores what is shown as a batch file: padded arrays with their lengths.
static int writeShow(const Show &show) {
  runtime::TensorFile file;
  for (const auto &[name, values] : show.values) {
    file.tensors[name] = runtime::joinPadded(runtime::DType::F64, values);
    size_t rank = values.empty() ? 0 : values.front().shape.size();
    for (size_t axis = 0; axis < rank; ++axis) {
      std::vector<double> lengths;
      for (const runtime::DataValues &value : values)
        lengths.push_back(static_cast<double>(value.shape[axis]));
      std::string suffix = axis == 0 ? "" : "." + std::to_string(axis + 1);
      file.tensors[name + ".length" + suffix] = runtime::Tensor::of(
          runtime::DType::I64, {static_cast<int64_t>(values.size())}, lengths);
    }
  }
  return writeTensors(show.path, file);
}

namespace {
/// Prints hypotheses as they come, example after example, and keeps what is
/// shown of the best of each.
class Printer {
public:
  Printer(const Arguments &arguments, const Execution &execution,
          std::vector<Show> &shows)
      : arguments(arguments), execution(execution), shows(shows) {}

  void print(size_t example, const std::vector<reference::Hypothesis> &best);

private:
  std::string lineOf(const reference::Hypothesis &hypothesis) const;

  const Arguments &arguments;
  const Execution &execution;
  std::vector<Show> &shows;
};
} // namespace

/// The generated names, in file order, with tabs between.
std::string Printer::lineOf(const reference::Hypothesis &hypothesis) const {
  std::string line;
  for (const DataInfo &data : execution.model->data) {
    auto found = hypothesis.outputs.find(data.name);
    if (!data.isChosen || found == hypothesis.outputs.end())
      continue;
    if (!line.empty())
      line += '\t';
    line +=
        textOf(data, found->second, hypothesis.ended, execution.vocabularies);
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
    llvm::outs() << lineOf(hypothesis) << '\n';
  }
  for (Show &show : shows)
    for (const std::string &name : show.equations) {
      const reference::Array &array = best.front().outputs.at(name);
      show.values[name].push_back({array.shape, array.values});
    }
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
  for (auto [number, example] : llvm::enumerate(execution.examples)) {
    std::vector<reference::Hypothesis> hypotheses;
    runtime::Status status = reference::decode(
        decoder, reference::inputsOf(example, execution.parameters), options,
        hypotheses);
    if (status.failed())
      return inExample(number, status);
    printer.print(number, hypotheses);
  }
  return runtime::Status::success();
}

/// How many examples are decoded together.
static constexpr size_t batchSize = 16;

static runtime::Status runCompiled(const Arguments &arguments,
                                   const Execution &execution,
                                   const reference::SearchOptions &options,
                                   Printer &printer) {
  CompiledOptions compiledOptions;
  compiledOptions.isDouble = arguments.dtype == "f64";
  compiledOptions.threads = arguments.threads;
  compiledOptions.cpu = arguments.cpu;
  runtime::ParameterValues parameters;
  for (const auto &[path, array] : execution.parameters)
    parameters[path] = array.values;
  std::unique_ptr<CompiledDecoder> decoder;
  if (runtime::Status status = CompiledDecoder::create(
          *execution.model->module, parameters, compiledOptions, decoder);
      status.failed())
    return status;
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
  if (!readPhase(arguments.stopAfter, request.stopAfter))
    return badUsage;
  // A phase before the last is one that only the interpreter executes.
  bool isReference = arguments.reference || !arguments.stopAfter.empty();
  if (!isReference)
    request.stopAfter = attn::Phase::fuse;
  Session session(arguments);
  Execution execution;
  std::vector<Show> shows;
  if (!openExecution(session, arguments, "decoding", execution) ||
      !readShows(session, arguments, *execution.model, shows))
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
  for (const Show &show : shows)
    llvm::append_range(request.shows, show.equations);
  if (!lowerAndRead(session, arguments, request,
                    isReference ? "decode" : "encode", execution))
    return session.finish();

  Printer printer(arguments, execution, shows);
  runtime::Status status =
      isReference ? interpret(execution, options, printer)
                  : runCompiled(arguments, execution, options, printer);
  if (status.failed()) {
    session.error(status.text());
    return session.finish();
  }
  int code = session.finish();
  for (const Show &show : shows)
    code = std::max(code, writeShow(show));
  return code;
}
