//===- SameBits.cpp - what is generated has the bits of what is scored ----===//
//
// Searches and draws with compiled code in f32, and scores what comes of it
// with compiled `@loss`, together and alone. Log p of every choice has the same
// bits, and the loss has them whether log p of each choice is asked for or not.
// Where nothing is generated, random examples are scored. The interpreter gives
// each score in f32 with the same bits.
//
//===----------------------------------------------------------------------===//

#include "app/model/CompiledDecoder.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Batch.h"
#include "test/random/Checks.h"
#include "test/random/Data.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::cli::CompiledDecoder;
using fovea::cli::CompiledProgram;
using fovea::runtime::Generated;
using fovea::runtime::Status;

namespace {

class BitsCheck {
public:
  BitsCheck(const Subject &subject, mlir::ModuleOp original, bool isThorough,
            Failures &failures, Statistics &statistics)
      : subject(subject), original(original), isThorough(isThorough),
        failures(failures), statistics(statistics) {
    for (const SpecData &data : subject.spec->data)
      if (data.generated)
        generated.push_back(&data);
    weights = subject.parameters;
    for (auto &[path, array] : weights) {
      for (double &value : array.values)
        value = static_cast<float>(value);
      parameters[path] = array.values;
    }
  }

  void run();

private:
  mlir::OwningOpRef<mlir::ModuleOp> lower(llvm::StringRef other,
                                          attn::PipelineOptions &pipeline);
  std::unique_ptr<CompiledProgram>
  compile(llvm::StringRef entry, bool each,
          mlir::OwningOpRef<mlir::ModuleOp> &module);
  runtime::Example exampleOf(const Inputs &inputs, int64_t id) const;
  bool generate();
  void drawExamples();
  bool keep(const runtime::Example &given, const Generated &found);
  bool compute(CompiledProgram &program, const runtime::Batch &batch);
  void compareLogps(CompiledProgram &program, const runtime::Batch &batch,
                    size_t first, const std::string &company);
  void compareInterpreted(CompiledProgram &program, mlir::ModuleOp module,
                          const runtime::Batch &batch);
  void compareLoss(CompiledProgram &program, CompiledProgram &other,
                   const runtime::Batch &batch, const std::string &what);
  void fail(const std::string &text) { failures.push_back("bits: " + text); }

  const Subject &subject;
  mlir::ModuleOp original;
  bool isThorough;
  Failures &failures;
  Statistics &statistics;
  std::vector<const SpecData *> generated;
  runtime::ParameterValues parameters;
  Arrays weights; // the same for the interpreter
  /// Examples with what was generated, and log p of each of its choices.
  std::vector<runtime::Example> examples;
  std::vector<std::vector<double>> wanted;
};

} // namespace

static cli::CompiledOptions singlePrecision() {
  cli::CompiledOptions how;
  how.optimisation = how.codegen = 0;
  how.isCached = false;
  return how;
}

/// The programs of the system that is not `other`.
mlir::OwningOpRef<mlir::ModuleOp>
BitsCheck::lower(llvm::StringRef other, attn::PipelineOptions &pipeline) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::cast<mlir::ModuleOp>(original->clone());
  module->lookupSymbol(other)->erase();
  pipeline.stopAfter = attn::Phase::fuse;
  if (mlir::succeeded(compiler::lower(*module, pipeline)))
    return module;
  fail("the pipeline fails without '" + other.str() + "'");
  return nullptr;
}

/// A program, and its module.
std::unique_ptr<CompiledProgram>
BitsCheck::compile(llvm::StringRef entry, bool each,
                   mlir::OwningOpRef<mlir::ModuleOp> &module) {
  attn::PipelineOptions pipeline;
  pipeline.each = each;
  pipeline.gradients = entry == "grad";
  module = lower("decoding", pipeline);
  std::unique_ptr<CompiledProgram> program;
  if (!module)
    return program;
  if (Status status =
          CompiledProgram::create(*module, entry, singlePrecision(), program);
      status.failed())
    fail(status.text());
  return program;
}

/// The example with what was generated as data. The shrinker also leaves out
/// what chooses a name.
bool BitsCheck::keep(const runtime::Example &given, const Generated &found) {
  runtime::Example &example = examples.emplace_back(given);
  for (const SpecData *data : generated) {
    auto output = found.outputs.find(data->name);
    if (output == found.outputs.end()) {
      fail("nothing generates '" + data->name + "'");
      return false;
    }
    runtime::DataValues values = output->second;
    if (!data->extents.empty() && !given.lengths.count(data->extents[0]))
      example.lengths[data->extents[0]] = Length::of(values.shape.front());
    example.data[data->name] = std::move(values);
  }
  wanted.push_back(found.stepLogp);
  return true;
}

/// Real numbers as code in f32 has them.
runtime::Example BitsCheck::exampleOf(const Inputs &inputs, int64_t id) const {
  runtime::Example example;
  example.id = id;
  example.lengths = inputs.lengths;
  for (const auto &[name, array] : inputs.data) {
    std::vector<double> values = array.values;
    for (double &value : values)
      value = static_cast<float>(value);
    example.data[name] = {array.shape, std::move(values)};
  }
  return example;
}

bool BitsCheck::generate() {
  attn::PipelineOptions pipeline;
  mlir::OwningOpRef<mlir::ModuleOp> module = lower("training", pipeline);
  std::unique_ptr<CompiledDecoder> compiled;
  if (!module)
    return false;
  if (module->getOps<attn::DecoderOp>().empty()) {
    fail("nothing is generated");
    return false;
  }
  if (Status status = CompiledDecoder::create(*module, {parameters},
                                              singlePrecision(), compiled);
      status.failed()) {
    fail("the decoder: " + status.text());
    return false;
  }
  std::vector<runtime::Example> givens;
  const int64_t limits[] = {9, 4, 19};
  for (int64_t longest :
       llvm::ArrayRef(limits).take_front(isThorough ? 3 : 1)) {
    Rng random(subject.seed, 50 + longest);
    Inputs one = withoutGenerated(
        *subject.spec, randomExample(*subject.spec, random, longest));
    givens.push_back(exampleOf(one, longest));
  }
  runtime::Batch batch;
  for (const runtime::Example &given : givens)
    batch.push_back(&given);
  runtime::SearchOptions greedy, beam, draws;
  greedy.longest = beam.longest = draws.longest = 18;
  beam.beam = beam.nbest = 3;
  draws.sample = true;
  draws.nbest = 2;
  std::vector<runtime::SearchOptions> searches = {beam, draws};
  if (isThorough)
    searches.push_back(greedy);
  for (const runtime::SearchOptions &options : searches) {
    std::vector<std::vector<Generated>> found;
    if (Status status = compiled->search().decode(batch, options, found);
        status.failed()) {
      fail("the search: " + status.text());
      return false;
    }
    for (const auto &[given, hypotheses] : llvm::zip_equal(givens, found))
      for (const Generated &hypothesis : hypotheses)
        if (!keep(given, hypothesis))
          return false;
  }
  return true;
}

/// Random examples, with what nothing generates.
void BitsCheck::drawExamples() {
  for (int64_t longest : {4, 19}) {
    Rng random(subject.seed, 50 + longest);
    Inputs one = randomExample(*subject.spec, random, longest);
    examples.push_back(exampleOf(one, longest));
  }
}

bool BitsCheck::compute(CompiledProgram &program, const runtime::Batch &batch) {
  runtime::Binding binding;
  binding.values = &parameters;
  binding.numbers = {{"seed.nll", nllSeed}, {"seed.penalty", penaltySeed}};
  Status status = program.run(batch, binding);
  if (status.failed())
    fail(status.text());
  return status.succeeded();
}

void BitsCheck::compareLogps(CompiledProgram &program,
                             const runtime::Batch &batch, size_t first,
                             const std::string &company) {
  if (!compute(program, batch))
    return;
  for (size_t number = 0; number < batch.size(); ++number) {
    std::vector<double> got, want = wanted[first + number];
    for (const std::string &name : program.workspace().outputsOf("logp/"))
      llvm::append_range(got, program.workspace().output(name, number).values);
    // Of several names a step makes a choice each.
    llvm::sort(got);
    llvm::sort(want);
    if (got.size() != want.size())
      return fail("scores " + std::to_string(got.size()) + " choices of " +
                  std::to_string(want.size()));
    for (auto [scored, decoded] : llvm::zip_equal(got, want)) {
      ++statistics.logps;
      if (scored != decoded)
        return fail(fmt::format("log p of a choice is {:.9g}, but scored {} it "
                                "is {:.9g}",
                                decoded, company, scored));
    }
  }
}

/// The results of the last run, of each example.
void BitsCheck::compareInterpreted(CompiledProgram &program,
                                   mlir::ModuleOp module,
                                   const runtime::Batch &batch) {
  mlir::Operation *loss = findContainer(module, "loss");
  for (auto [number, example] : llvm::enumerate(batch)) {
    Inputs inputs = inputsOf(*example, weights);
    inputs.single = true;
    Arrays wanted;
    if (Status status = evaluate(loss, inputs, wanted); status.failed())
      return fail("interpreted in f32: " + status.text());
    for (const auto &[name, want] : wanted)
      for (auto [own, expected] : llvm::zip_equal(
               program.workspace().output(name, number).values, want.values)) {
        if (own != expected && !(std::isnan(own) && std::isnan(expected)))
          return fail(fmt::format("'{}' is {:a}, interpreted in f32 {:a}", name,
                                  own, expected));
      }
  }
}

void BitsCheck::compareLoss(CompiledProgram &program, CompiledProgram &other,
                            const runtime::Batch &batch,
                            const std::string &what) {
  if (!compute(program, batch) || !compute(other, batch))
    return;
  for (const char *name : {"nll", "logp", "penalty"})
    for (size_t number = 0; number < batch.size(); ++number)
      if (program.workspace().output(name, number).values !=
          other.workspace().output(name, number).values)
        return fail(std::string(name) + " depends on " + what);
}

void BitsCheck::run() {
  bool isGenerated = !generated.empty() && subject.spec->decodable;
  if (!isGenerated)
    drawExamples();
  else if (!generate())
    return;
  mlir::OwningOpRef<mlir::ModuleOp> scoring, others;
  std::unique_ptr<CompiledProgram> score =
      compile("loss", /*each=*/true, scoring);
  if (!score)
    return;
  runtime::Batch batch = wholeBatch(examples);
  size_t alone = !isGenerated ? 0 : isThorough ? batch.size() : 1;
  for (size_t number = 0; number < alone && failures.empty(); ++number)
    compareLogps(*score, {batch[number]}, number, "alone");
  if (isGenerated && failures.empty())
    compareLogps(*score, batch, 0, "in a batch");
  if (!failures.empty() || (!isGenerated && !compute(*score, batch)))
    return;
  compareInterpreted(*score, *scoring, batch);
  // One of them by turns.
  bool isGradient = subject.seed % 2 == 0;
  if (auto other =
          compile(isGradient ? "grad" : "loss", /*each=*/false, others))
    compareLoss(*score, *other, batch,
                isGradient ? "whether gradients are computed"
                           : "whether log p of each choice is computed");
}

void fovea::random::checkBits(const Subject &subject, mlir::ModuleOp original,
                              bool isThorough, Failures &failures,
                              Statistics &statistics) {
  BitsCheck(subject, original, isThorough, failures, statistics).run();
}
