//===- NotFinite.cpp - where a loss stops being a number ------------------===//

#include "app/train/NotFinite.h"
#include "app/model/Compiled.h"
#include "compiler/Contents.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;

/// Values of this size in a model are a fault more often than not.
static constexpr double suspicious = 1e6;

void fovea::cli::explainNotFinite(Session &session, const Arguments &arguments,
                                  const Training &training,
                                  runtime::Learner &learner,
                                  const Position &position,
                                  const TrainEnd &end) {
  std::unique_ptr<Model> again = session.openToExecute();
  dropSystem(*again, "decoding");
  Request request;
  request.gets = equationsOf(*again, "training");
  request.stopAfter = attn::Phase::batch;
  std::map<std::string, mlir::Location> places;
  for (const compiler::Equation &equation :
       compiler::equationsIn(*again->module, "training"))
    places.insert({equation.name, equation.place});
  std::unique_ptr<CompiledProgram> program;
  CompiledOptions options = compiledOptionsOf(arguments);
  if (!session.lower(*again, request) ||
      CompiledProgram::create(*again->module, "loss", options, program)
          .failed())
    return;
  LoadedBatch loaded;
  if (loaded.load(training.data.examples, end.batch).failed())
    return;
  const runtime::Batch &batch = loaded.batch();
  runtime::OwnedMemory weights =
      learner.weightsToLearn(position.seed, position.update + 1);
  runtime::Binding binding =
      training.bindingOf(weights, position.seed, position.update);
  if (program->run(batch, binding).failed())
    return;
  std::vector<std::string> order;
  for (std::string &name : compiler::outputsAsComputed(
           compiler::findProgram(*again->module, "loss")))
    if (places.count(name))
      order.push_back(std::move(name));
  for (bool wantsNan : {true, false})
    for (const std::string &name : order)
      for (size_t example = 0; example < batch.size(); ++example)
        for (double value : program->workspace().output(name, example).values)
          if (wantsNan ? std::isnan(value) : !std::isfinite(value)) {
            mlir::emitError(places.at(name))
                << end.text << ": '" << name
                << "' is the first equation that has "
                << (std::isnan(value) ? "nan"
                    : value > 0       ? "inf"
                                      : "-inf")
                << " (example " << batch[example]->id + 1 << ")";
            return;
          }
  // Only the gradient is not finite.
  double largest = 0;
  std::string at;
  int64_t of = 0;
  for (const std::string &name : order)
    for (size_t example = 0; example < batch.size(); ++example)
      for (double value : program->workspace().output(name, example).values)
        if (std::abs(value) > largest) {
          largest = std::abs(value);
          at = name;
          of = batch[example]->id + 1;
        }
  if (largest >= suspicious)
    mlir::emitError(places.at(at))
        << end.text
        << fmt::format(": '{}' has the largest value of all equations, {:.2g} "
                       "(example {}); help: {}",
                       at, largest, of, end.help);
}
