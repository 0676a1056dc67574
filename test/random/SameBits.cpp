//===- SameBits.cpp - what is generated has the bits of what is scored ----===//
//
// Searches and draws with compiled code in f32, and scores what comes of it
// with compiled `@loss`, together and alone. Log p of every choice has the same
// bits. The loss has them whether log p of each choice is asked for or not, and
// with gradients. Where nothing is generated, random examples are scored.
// The interpreter gives all of it in f32 with the same bits, after each phase.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "dialect/reference/Batch.h"
#include "test/random/Data.h"
#include "test/random/PhaseBits.h"

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
  bool lower(llvm::StringRef other, attn::PipelineOptions &pipeline,
             PhaseModules &phases);
  std::unique_ptr<CompiledProgram> compile(llvm::StringRef entry, bool each,
                                           PhaseModules &phases);
  runtime::Example exampleOf(const Inputs &inputs, int64_t id) const;
  bool generate();
  void drawExamples();
  bool keep(const runtime::Example &given, const Generated &found);
  bool compute(CompiledProgram &program, const runtime::Batch &batch,
               std::optional<uint64_t> seed = {});
  void compareLogps(CompiledProgram &program, const runtime::Batch &batch,
                    size_t first, const std::string &company);
  void compareInterpreted(CompiledProgram &program, llvm::StringRef entry,
                          const PhaseModules &phases,
                          const runtime::Batch &batch,
                          std::optional<uint64_t> seed = {});
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
bool BitsCheck::lower(llvm::StringRef other, attn::PipelineOptions &pipeline,
                      PhaseModules &phases) {
  if (mlir::succeeded(phases.lower(original, other, pipeline)))
    return true;
  fail("the pipeline fails without '" + other.str() + "'");
  return false;
}

/// A program, and its module after each phase.
std::unique_ptr<CompiledProgram>
BitsCheck::compile(llvm::StringRef entry, bool each, PhaseModules &phases) {
  attn::PipelineOptions pipeline;
  pipeline.each = each;
  pipeline.gradients = entry == "grad";
  std::unique_ptr<CompiledProgram> program;
  if (!lower("decoding", pipeline, phases))
    return program;
  if (Status status = CompiledProgram::create(*phases.fused(), entry,
                                              singlePrecision(), program);
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
  PhaseModules phases;
  std::unique_ptr<CompiledDecoder> compiled;
  if (!lower("training", pipeline, phases))
    return false;
  if (phases.at(attn::Phase::fuse).getOps<attn::DecoderOp>().empty()) {
    fail("nothing is generated");
    return false;
  }
  if (Status status = CompiledDecoder::create(*phases.fused(), {parameters},
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
  std::vector<Searched> searches = {{beam, {}}, {draws, {}}};
  if (isThorough)
    searches.push_back({greedy, {}});
  for (auto &[options, found] : searches) {
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
  compareWithPhases(searches, *subject.spec, phases, batch, weights, failures,
                    statistics);
  return failures.empty();
}

/// Random examples, with what nothing generates.
void BitsCheck::drawExamples() {
  for (int64_t longest : {4, 19}) {
    Rng random(subject.seed, 50 + longest);
    Inputs one = randomExample(*subject.spec, random, longest);
    examples.push_back(exampleOf(one, longest));
  }
}

bool BitsCheck::compute(CompiledProgram &program, const runtime::Batch &batch,
                        std::optional<uint64_t> seed) {
  runtime::Binding binding;
  binding.values = &parameters;
  binding.numbers = {{"seed.nll", nllSeed}, {"seed.penalty", penaltySeed}};
  binding.seed = seed;
  binding.update = subject.example.update;
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

/// The results of the last run.
void BitsCheck::compareInterpreted(CompiledProgram &program,
                                   llvm::StringRef entry,
                                   const PhaseModules &phases,
                                   const runtime::Batch &batch,
                                   std::optional<uint64_t> seed) {
  std::vector<Inputs> examples;
  for (const runtime::Example *example : batch) {
    Inputs &inputs = examples.emplace_back(inputsOf(*example, weights));
    inputs.seed = seed;
    inputs.update = subject.example.update;
  }
  compareWithPhases(program, entry, phases, std::move(examples), failures,
                    statistics);
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
  PhaseModules scoring, alone, both;
  std::unique_ptr<CompiledProgram> score =
      compile("loss", /*each=*/true, scoring);
  if (!score)
    return;
  runtime::Batch batch = wholeBatch(examples);
  size_t numAlone = !isGenerated ? 0 : isThorough ? batch.size() : 1;
  for (size_t number = 0; number < numAlone && failures.empty(); ++number)
    compareLogps(*score, {batch[number]}, number, "alone");
  if (isGenerated && failures.empty())
    compareLogps(*score, batch, 0, "in a batch");
  if (!failures.empty() || (!isGenerated && !compute(*score, batch)))
    return;
  compareInterpreted(*score, "loss", scoring, batch);
  std::unique_ptr<CompiledProgram> grad = compile("grad", /*each=*/false, both);
  if (!grad)
    return;
  compareLoss(*score, *grad, batch, "whether gradients are computed");
  if (failures.empty())
    compareInterpreted(*grad, "grad", both, batch);
  // With dropout, if the spec has any.
  std::optional<uint64_t> seed = subject.example.seed;
  if (seed && failures.empty() && compute(*grad, batch, seed))
    compareInterpreted(*grad, "grad", both, batch, seed);
  if (!failures.empty())
    return;
  if (auto other = compile("loss", /*each=*/false, alone))
    compareLoss(*score, *other, batch,
                "whether log p of each choice is computed");
}

void fovea::random::checkBits(const Subject &subject, mlir::ModuleOp original,
                              bool isThorough, Failures &failures,
                              Statistics &statistics) {
  BitsCheck(subject, original, isThorough, failures, statistics).run();
}
