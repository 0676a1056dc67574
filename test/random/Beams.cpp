//===- Beams.cpp - compiled searches against the interpreter's ------------===//
//
// Searches a ragged batch with compiled code: greedily, with beams of several
// widths, with draws and with an ensemble. The oracle is the interpreter on the
// scheduled program, which Decoding.cpp compares with `@training`.
//
//===----------------------------------------------------------------------===//

#include "app/interpret/LaunchedDecoder.h"
#include "test/random/Checks.h"
#include "test/random/Data.h"
#include "test/random/Mistakes.h"

#include <cmath>

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::cli::CompiledDecoder;
using fovea::cli::LaunchedDecoder;
using fovea::runtime::Status;

namespace {

class BeamCheck {
public:
  BeamCheck(const Subject &subject, mlir::Operation *decoder,
            Failures &failures, Statistics &statistics)
      : subject(subject), decoder(decoder), failures(failures),
        statistics(statistics) {}

  void run(mlir::ModuleOp original, bool launches);

private:
  void drawExamples();
  bool lower(mlir::ModuleOp original);
  void judgeCompiled(std::vector<Arrays> members);
  void judgeLaunches(const std::vector<Arrays> &members);
  void leaveOutLaunches(const std::vector<Arrays> &members);
  void compare(CompiledDecoder &compiled, const std::vector<Arrays> &members,
               const SearchOptions &options);
  /// What differs between two lists of hypotheses; empty: nothing.
  std::string difference(const std::vector<runtime::Generated> &got,
                         const std::vector<Hypothesis> &want) const;

  const Subject &subject;
  mlir::Operation *decoder;
  Failures &failures;
  Statistics &statistics;
  std::vector<Inputs> inputs;
  std::vector<runtime::Example> examples;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

static constexpr double closeness = 1e-9;

static std::vector<runtime::ParameterValues>
valuesOf(const std::vector<Arrays> &members) {
  std::vector<runtime::ParameterValues> values(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    for (const auto &[path, array] : members[i])
      values[i][path] = array.values;
  return values;
}

void BeamCheck::drawExamples() {
  for (uint64_t number = 0; number < 3; ++number) {
    Rng random(subject.seed, 40 + number);
    Inputs one = withoutGenerated(*subject.spec,
                                  randomExample(*subject.spec, random, 5));
    one.example = 3 * number;
    runtime::Example &example = examples.emplace_back();
    example.id = static_cast<int64_t>(one.example);
    example.lengths = one.lengths;
    for (const auto &[name, array] : one.data)
      example.data[name] = {array.shape, array.values};
    inputs.push_back(std::move(one));
  }
}

bool BeamCheck::lower(mlir::ModuleOp original) {
  module = mlir::cast<mlir::ModuleOp>(original->clone());
  module->lookupSymbol("training")->erase();
  attn::PipelineOptions pipeline;
  pipeline.stopAfter = attn::Phase::fuse;
  if (mlir::succeeded(compiler::lower(*module, pipeline)))
    return true;
  failures.push_back("the pipeline of the decoder fails up to 'fuse'");
  return false;
}

static cli::CompiledOptions quickly(bool isDouble) {
  cli::CompiledOptions how;
  how.isDouble = isDouble;
  how.optimisation = how.codegen = 0;
  how.isCached = false;
  return how;
}

std::string BeamCheck::difference(const std::vector<runtime::Generated> &got,
                                  const std::vector<Hypothesis> &want) const {
  if (got.size() != want.size())
    return "finds " + std::to_string(got.size()) + " hypotheses, not " +
           std::to_string(want.size());
  auto isClose = [](double a, double b) {
    return std::fabs(a - b) <= closeness * std::max(1.0, std::fabs(b));
  };
  for (size_t i = 0; i < want.size(); ++i) {
    std::string which = "hypothesis " + std::to_string(i);
    if (!isClose(got[i].logp, want[i].logp))
      return which + " has log p " + std::to_string(got[i].logp) + ", not " +
             std::to_string(want[i].logp);
    // Rounding decides the order of equals.
    if ((i > 0 && isClose(want[i - 1].logp, want[i].logp)) ||
        (i + 1 < want.size() && isClose(want[i + 1].logp, want[i].logp)))
      continue;
    for (const auto &[name, array] : want[i].outputs) {
      auto found = got[i].outputs.find(name);
      if (found == got[i].outputs.end())
        return which + " lacks '" + name + "'";
      if (found->second.shape != array.shape ||
          found->second.values != array.values)
        return which + " differs in '" + name + "'";
    }
  }
  return "";
}

void BeamCheck::compare(CompiledDecoder &compiled,
                        const std::vector<Arrays> &members,
                        const SearchOptions &options) {
  std::string how = (options.sample ? "draws " : "beam ") +
                    std::to_string(std::max(options.beam, options.nbest)) +
                    (members.size() > 1 ? " of an ensemble" : "");
  runtime::Batch batch = wholeBatch(examples);
  std::vector<std::vector<runtime::Generated>> got;
  Status status = compiled.search().decode(batch, options, got);
  if (status.failed())
    return failures.push_back("compiled " + how + ": " + status.text());
  for (size_t number = 0; number < inputs.size(); ++number) {
    std::vector<Inputs> own(members.size(), inputs[number]);
    for (size_t i = 0; i < own.size(); ++i)
      own[i].parameters = &members[i];
    std::vector<Hypothesis> want;
    status = decode(decoder, own, options, want);
    if (status.failed())
      return failures.push_back(how + ": " + status.text());
    statistics.hypotheses += want.size();
    if (std::string text = difference(got[number], want); !text.empty())
      return failures.push_back("compiled " + how + ", example " +
                                std::to_string(number) + ": " + text);
  }
}

/// The launches of every run, for a CPU and a GPU, in any order.
void BeamCheck::judgeLaunches(const std::vector<Arrays> &members) {
  SearchOptions options;
  options.longest = 3;
  options.beam = options.nbest = 3;
  for (const char *target : {"x86-64-v3", "cuda", "cuda:sm_90a"}) {
    cli::CompiledOptions how = quickly(/*isDouble=*/true);
    how.target = target;
    std::unique_ptr<LaunchedDecoder> launched;
    Status status =
        LaunchedDecoder::create(*module, how, /*compares=*/false, launched);
    if (status.succeeded())
      status = launched->decoder().setParameters(valuesOf(members), true);
    if (status.succeeded()) {
      compare(launched->decoder(), members, options);
      status = launched->status();
    }
    if (status.failed())
      return failures.push_back("launches for " + std::string(target) + ": " +
                                status.text());
    ++statistics.compiled;
  }
  leaveOutLaunches(members);
}

/// Compiled code is compared after each launch. One that does nothing is named,
/// unless its memory has the right numbers already.
void BeamCheck::leaveOutLaunches(const std::vector<Arrays> &members) {
  SearchOptions options;
  options.longest = 2;
  runtime::Batch batch = wholeBatch(examples);
  auto compared = [&](decltype(&fovea_parallel) parallel) {
    cli::CompiledOptions how = quickly(/*isDouble=*/false);
    how.threads = 1;
    how.parallel = parallel;
    std::unique_ptr<LaunchedDecoder> launched;
    Status status =
        LaunchedDecoder::create(*module, how, /*compares=*/true, launched);
    if (status.succeeded())
      status = launched->decoder().setParameters(valuesOf(members), false);
    if (status.failed())
      return status;
    std::vector<std::vector<runtime::Generated>> results;
    status = launched->decoder().search().decode(batch, options, results);
    return launched->status().failed() ? launched->status() : status;
  };
  if (Status status = compared(&fovea_parallel); status.failed())
    return failures.push_back("compared launches: " + status.text());
  for (int64_t number : {1, 4, 9}) {
    Status status = compared(leavingOut(number));
    if (!wasLeftOut())
      break; // there are fewer
    ++statistics.leftOut;
    statistics.named += status.text().find("compiled code differs first in") !=
                        std::string::npos;
  }
}

void BeamCheck::judgeCompiled(std::vector<Arrays> members) {
  std::unique_ptr<CompiledDecoder> compiled;
  if (Status status = CompiledDecoder::create(
          *module, valuesOf(members), quickly(/*isDouble=*/true), compiled);
      status.failed())
    return failures.push_back("the compiled decoder: " + status.text());
  SearchOptions options;
  options.longest = 5;
  for (int64_t width : {1, 2, 5, 20}) {
    options.beam = options.nbest = width;
    compare(*compiled, members, options);
  }
  options.nbest = 3;
  options.sample = true;
  options.seed = subject.seed;
  compare(*compiled, members, options);
  // An ensemble makes one search.
  if (!compiled->description().later.empty())
    return;
  Rng random(subject.seed, 45);
  for (auto &[path, array] : members.emplace_back(subject.parameters))
    array = randomWeights(array.shape, random);
  (void)compiled->setParameters(valuesOf(members), /*isDouble=*/true);
  options.sample = false;
  options.beam = 4;
  compare(*compiled, members, options);
}

void BeamCheck::run(mlir::ModuleOp original, bool launches) {
  drawExamples();
  if (!lower(original))
    return;
  if (launches)
    judgeLaunches({subject.parameters});
  else
    judgeCompiled({subject.parameters});
}

void fovea::random::checkBeams(const Subject &subject, mlir::ModuleOp original,
                               mlir::ModuleOp scheduled, bool launches,
                               Failures &failures, Statistics &statistics) {
  if (mlir::Operation *decoder = findContainer(scheduled, "decode"))
    BeamCheck(subject, decoder, failures, statistics).run(original, launches);
}
