//===- Checks.cpp - what must hold of every random spec -------------------===//
//
// Compiles the spec, runs the pipeline, and evaluates after every pass.
//
//===----------------------------------------------------------------------===//

#include "test/random/Checks.h"
#include "dialect/reference/Compare.h"
#include "frontends/fov/syntax/Parser.h"
#include "passes/Passes.h"
#include "test/random/Data.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using namespace mlir;
using fovea::runtime::Status;

std::unique_ptr<Model> fovea::random::compileText(const std::string &text,
                                                  const Spec &spec,
                                                  compiler::Context &context,
                                                  Failures &failures) {
  SmallString<128> folder;
  if (!spec.included.empty() &&
      llvm::sys::fs::createUniqueDirectory("random", folder)) {
    failures.push_back("no temporary folder can be written");
    return nullptr;
  }
  for (const auto &[name, included] : spec.included) {
    std::error_code error;
    llvm::raw_fd_ostream(folder.str().str() + "/" + name + ".fov", error)
        << included;
  }
  std::string messages;
  llvm::raw_string_ostream out(messages);
  Diagnostics diagnostics(out);
  FrontendOptions options;
  options.sets = spec.sets;
  options.includeDir = folder.str();
  std::unique_ptr<Model> model =
      compiler::open(text, "random.fov", options, context, diagnostics);
  diagnostics.finish();
  if (!folder.empty())
    llvm::sys::fs::remove_directories(folder);
  if (!model || !model->module || diagnostics.failed()) {
    failures.push_back("the front end refuses it: " + messages);
    return nullptr;
  }
  if (!model->refusals.empty()) {
    failures.push_back("not executable: " + model->refusals.front());
    return nullptr;
  }
  return model;
}

Operation *fovea::random::systemOf(ModuleOp module) {
  Operation *loss = findContainer(module, "loss");
  return loss ? loss : findContainer(module, "training");
}

Status fovea::random::objective(ModuleOp module, const Inputs &inputs,
                                Arrays &outputs, bool equations) {
  Operation *system = systemOf(module);
  EvaluateOptions options;
  options.objective = findContainer(module, "training") == system;
  options.everyEquation = equations;
  return evaluate(system, inputs, outputs, options);
}

static Inputs withSeeds(const Inputs &inputs) {
  Inputs result = inputs;
  result.data["seed.nll"] = Array::scalar(nllSeed);
  result.data["seed.penalty"] = Array::scalar(penaltySeed);
  return result;
}

/// The names that both have agree; `what` says where they were computed.
static void compareCommon(const Arrays &want, const Arrays &got,
                          const std::string &what, Failures &failures) {
  Arrays left, right;
  for (const auto &[name, array] : got)
    if (auto found = want.find(name); found != want.end()) {
      left[name] = found->second;
      right[name] = array;
    }
  std::string difference = explainDifference(left, right, tolerance);
  if (!difference.empty())
    failures.push_back(what + ": " + difference);
}

namespace {
/// What was first seen of it, and is what later passes have to keep.
struct Observed {
  Arrays gradients;
  std::vector<Hypothesis> hypotheses;
};

/// Evaluates the module after every pass.
class Evaluation : public PassInstrumentation {
public:
  Evaluation(const Subject &subject, const Arrays &want, Observed &observed,
             Failures &failures, Statistics &statistics)
      : subject(subject), want(want), observed(observed), failures(failures),
        statistics(statistics) {}

  static unsigned countEquations(Operation *op) {
    unsigned count = 0;
    op->walk([&](fovea::attn::ComputeOp) { ++count; });
    return count;
  }

  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "attn-order-factors")
      numEquations = countEquations(op);
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "attn-order-factors")
      statistics.ordered += countEquations(op) != numEquations;
    auto module = dyn_cast<ModuleOp>(op);
    // Of several draws the objective is the mean only from there on.
    isDerived |= pass->getArgument() == "attn-repeat-samples";
    if (!module || pass->getArgument() == "attn-check-phase" ||
        failures.size() > 3 || !isDerived)
      return;
    ++statistics.passes;
    std::string after = "after " + pass->getArgument().str();
    if (Operation *loss = findContainer(module, "loss")) {
      Arrays got;
      Status status = evaluate(loss, subject.example, got);
      if (status.failed())
        failures.push_back(after + ", @loss: " + status.text());
      else if (!got.count("nll") || !got.count("penalty"))
        failures.push_back(after + ", @loss has no nll or penalty");
      else
        compareCommon(want, got, after + ", @loss", failures);
    }
    if (Operation *grad = findContainer(module, "grad")) {
      Arrays got;
      Status status = evaluate(grad, withSeeds(subject.example), got);
      if (status.failed())
        failures.push_back(after + ", @grad: " + status.text());
      else if (observed.gradients.empty())
        observed.gradients = got; // judged by central differences
      else
        compareCommon(observed.gradients, got, after + ", @grad", failures);
    }
    // Until sums inherit the support of their weights, a decoder may read what
    // is only generated later; with scores for all places, until the schedule.
    bool isAhead =
        llvm::any_of(std::initializer_list<const char *>{"named", "sparse",
                                                         "blocks", "prefix"},
                     [&](const char *feature) {
                       return subject.spec->features.count(feature) > 0;
                     });
    inherited |= pass->getArgument() ==
                 (isAhead ? "attn-schedule" : "attn-inherit-support");
    Operation *decoder = findContainer(module, "decode");
    if (decoder && inherited)
      decodeBoth(decoder, module, after);
  }

  void decodeBoth(Operation *decoder, ModuleOp module,
                  const std::string &after) {
    SearchOptions options;
    Status status = readSearchOptions(module, options);
    if (!subject.spec->decodable) { // real numbers are drawn
      options.sample = true;
      options.seed = subject.seed;
      options.longest = 4;
    }
    Inputs inputs = withoutGenerated(*subject.spec, subject.example);
    // Decoding drops nothing, also before `attn-remove-dropout`.
    inputs.seed.reset();
    std::vector<Hypothesis> got;
    if (status.succeeded())
      status = decode(decoder, inputs, options, got);
    if (status.failed() || got.empty()) {
      failures.push_back(after + ", @decode: " +
                         (status.failed() ? status.text() : "no hypothesis"));
      return;
    }
    const std::vector<Hypothesis> &hypotheses = observed.hypotheses;
    if (hypotheses.empty()) {
      observed.hypotheses = got;
      return;
    }
    std::string difference = got.size() != hypotheses.size()
                                 ? "the number of hypotheses differs"
                                 : explainDifference(hypotheses[0].outputs,
                                                     got[0].outputs, tolerance);
    if (difference.empty() && !agree(Array::scalar(hypotheses[0].logp),
                                     Array::scalar(got[0].logp), tolerance))
      difference = "log p differs";
    if (!difference.empty())
      failures.push_back(after + ", @decode: " + difference);
  }

private:
  unsigned numEquations = 0;
  const Subject &subject;
  const Arrays &want;
  Observed &observed;
  Failures &failures;
  Statistics &statistics;
  bool isDerived = subject.spec->features.count("latents") == 0;
  bool inherited = false;
};
} // namespace

/// Weights in the order of declaration, so that both namings get the same.
static Arrays weightsFor(const Model &model, uint64_t seed) {
  Rng random(seed, 2);
  Arrays parameters;
  for (const ParameterInfo &info : model.parameters)
    parameters[info.path] = randomWeights(
        std::vector<int64_t>(info.shape.begin(), info.shape.end()), random);
  return parameters;
}

static std::vector<std::string> equationsOf(ModuleOp module) {
  std::vector<std::string> names;
  findContainer(module, "training")->walk([&](attn::EquationOp equation) {
    names.push_back(equation.getTarget().str());
  });
  return names;
}

/// What the front end gave; where choices are not observed, with the estimates
/// of their gradients in place of them.
static OwningOpRef<ModuleOp> oracleOf(ModuleOp module, bool hasLatents) {
  OwningOpRef<ModuleOp> oracle(cast<ModuleOp>(module->clone()));
  if (!hasLatents)
    return oracle;
  attn::DeriveObjectiveOptions options;
  llvm::append_range(options.get, equationsOf(module));
  if (failed(attn::runPasses(*oracle, [&](OpPassManager &manager) {
        manager.addPass(attn::createDrawLatents());
        manager.addPass(attn::createDeriveObjective(options));
        manager.addPass(attn::createRepeatSamples());
      })))
    return nullptr;
  return oracle;
}

static std::unique_ptr<Subject> makeSubject(const Spec &spec, uint64_t seed,
                                            compiler::Context &context,
                                            Failures &failures) {
  auto subject = std::make_unique<Subject>();
  subject->spec = &spec;
  subject->seed = seed;
  subject->model = compileText(spec.text, spec, context, failures);
  if (!subject->model)
    return nullptr;
  subject->oracle =
      oracleOf(*subject->model->module, spec.features.count("latents") > 0);
  if (!subject->oracle) {
    failures.push_back("the choices cannot be drawn");
    return nullptr;
  }
  subject->parameters = weightsFor(*subject->model, seed);
  Rng random(seed, 3);
  subject->example = randomExample(spec, random);
  subject->example.parameters = &subject->parameters;
  if (seed % 3 == 0) { // with dropout: the same draws in every phase
    subject->example.seed = seed;
    subject->example.update = 5;
  }
  return subject;
}

/// The equations that the pipeline of a spec keeps as outputs. With every
/// equation nothing is dead; without, most is.
static std::vector<std::string> getsOf(ModuleOp module, uint64_t seed) {
  return seed % 2 == 0 ? equationsOf(module) : std::vector<std::string>();
}

/// The whole pipeline, with an evaluation after every pass.
static bool runPipeline(const Subject &subject, const Arrays &want,
                        const std::vector<std::string> &gets, bool everyPass,
                        Observed &observed, Failures &failures,
                        Statistics &statistics) {
  ModuleOp module = *subject.model->module;
  attn::PipelineOptions options;
  for (const std::string &name : gets)
    options.get.push_back(name);
  std::unique_ptr<PassInstrumentation> watcher;
  if (everyPass)
    watcher = std::make_unique<Evaluation>(subject, want, observed, failures,
                                           statistics);
  return succeeded(compiler::lower(module, options, std::move(watcher)));
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

//===----------------------------------------------------------------------===//
// Renaming and formatting
//===----------------------------------------------------------------------===//

static void checkRenaming(const Subject &subject, const Spec &renamed,
                          const Arrays &want, const Observed &observed,
                          compiler::Context &context, Failures &failures) {
  Failures local;
  std::unique_ptr<Subject> other =
      makeSubject(renamed, subject.seed, context, local);
  Arrays got;
  Status status = Status::success();
  if (other)
    status = objective(*other->oracle, other->example, got, false);
  if (!other || status.failed()) {
    failures.push_back("renamed: " + (other ? status.text() : local.front()));
    return;
  }
  for (const char *name : {"nll", "logp", "choices", "penalty"})
    if (got.at(name).values != want.at(name).values)
      failures.push_back("renaming the identifiers changes " +
                         std::string(name));
  Observed otherwise;
  Statistics ignored;
  if (!runPipeline(*other, got, getsOf(*other->model->module, subject.seed),
                   /*everyPass=*/true, otherwise, local, ignored)) {
    failures.push_back("renamed: the pipeline fails");
    return;
  }
  // Gradients in the order of declaration.
  for (size_t i = 0; i < subject.model->parameters.size(); ++i) {
    const std::string &path = subject.model->parameters[i].path;
    auto a = observed.gradients.find("grad/" + path);
    auto b =
        otherwise.gradients.find("grad/" + other->model->parameters[i].path);
    bool hasA = a != observed.gradients.end();
    if (hasA != (b != otherwise.gradients.end()) ||
        (hasA && a->second.values != b->second.values))
      failures.push_back("renaming the identifiers changes the gradient of " +
                         path);
  }
}

static void checkFormatting(const Subject &subject, const std::string &module,
                            compiler::Context &context, Failures &failures) {
  std::string messages;
  llvm::raw_string_ostream out(messages);
  Diagnostics diagnostics(out);
  llvm::StringRef source =
      diagnostics.addSource("random.fov", subject.spec->text);
  std::string once = formatSource(source, diagnostics);
  std::string twice =
      formatSource(diagnostics.addSource("once.fov", once), diagnostics);
  if (once.empty() || once != twice) {
    failures.push_back("formatting is not idempotent: " + messages);
    return;
  }
  Failures local;
  std::unique_ptr<Model> model =
      compileText(once, *subject.spec, context, local);
  if (!model)
    failures.push_back("formatted: " + local.front());
  else if (printed(*model->module) != module)
    failures.push_back("formatting changes the module");
}

//===----------------------------------------------------------------------===//
// One spec
//===----------------------------------------------------------------------===//

Failures fovea::random::checkSpec(const Spec &spec, const Spec *renamed,
                                  uint64_t seed, const CheckOptions &options,
                                  Statistics &statistics) {
  ++statistics.specs;
  Failures failures;
  compiler::Context context;
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });

  auto refuse = [&] {
    ++statistics.refused;
    return Failures();
  };
  std::unique_ptr<Subject> subject = makeSubject(spec, seed, context, failures);
  if (!subject)
    return options.mayBeRefused ? refuse() : failures;
  ModuleOp module = *subject->model->module;
  OwningOpRef<ModuleOp> original(cast<ModuleOp>(module->clone()));
  std::string text = printed(module);

  Arrays want;
  Status status = objective(*subject->oracle, subject->example, want, true);
  if (status.failed() && options.mayBeRefused)
    return refuse(); // an equation that needs itself
  if (status.failed()) {
    failures.push_back("@training: " + status.text());
    return failures;
  }
  Observed observed;
  std::vector<std::string> gets = getsOf(module, seed);
  if (!runPipeline(*subject, want, gets, options.everyPass, observed, failures,
                   statistics)) {
    if (options.mayBeRefused && !messages.empty())
      return refuse();
    failures.push_back("the pipeline fails: " + messages);
    return failures;
  }
  if (!failures.empty())
    return failures;
  if (options.gradients) {
    checkGradients(*subject, observed.gradients, failures, statistics);
    checkUpdates(*subject, observed.gradients, failures);
  }
  if (options.decoding)
    checkDecoder(*subject, module, failures, statistics);
  if (options.beams && failures.empty())
    checkBeams(*subject, *original, module, options.launches, failures,
               statistics);
  if (options.bits && failures.empty())
    checkBits(*subject, *original, options.thoroughBits, failures, statistics);
  if (options.compiled)
    checkCompiled(*subject, *original, module, gets, options, failures,
                  statistics);
  if (options.renaming && renamed)
    checkRenaming(*subject, *renamed, want, observed, context, failures);
  if (options.formatting)
    checkFormatting(*subject, text, context, failures);
  return failures;
}

Failures fovea::random::checkSeed(uint64_t seed, const CheckOptions &options,
                                  Statistics &statistics) {
  Spec spec = generate(seed, Naming::Plain, options.scale);
  Spec renamed = generate(seed, Naming::Renamed, options.scale);
  return checkSpec(spec, &renamed, seed, options, statistics);
}
