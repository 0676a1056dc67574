//===- FoveaEval.cpp - evaluates a system or program of a file ------------===//
//
// A developer's tool for tests of IR: runs the reference interpreter on one
// container of an .mlir file. With --compiled it runs compiled code, with
// --launches the interpreter of launches, on a program with its schedule.
// Prints every output as a line
//
//   NAME [EXTENTS]: VALUE VALUE ..
//
// Arrays are given as JSON: --input 'x=[[1, 2], [3, 4]]' for data and
// parameters, --length S=4, --length 'W=[2, 3]'. With --pipeline it names the
// first pass that changes what the container gives. With --same-as it proves
// that the container of a second file gives the same.
//
//===----------------------------------------------------------------------===//

#include "app/model/CompiledDecoder.h"
#include "compiler/Compiler.h"
#include "compiler/proof/Prover.h"
#include "dialect/launch-reference/Interpreter.h"
#include "dialect/reference/Compare.h"
#include "dialect/reference/Search.h"
#include "passes/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("FILE.mlir"));
static cl::opt<std::string> entry("entry", cl::Required,
                                  cl::desc("the system or program to run"));
static cl::list<std::string> given("input",
                                   cl::desc("NAME=ARRAY, data or parameter"));
static cl::list<std::string> lengths("length", cl::desc("NAME=NUMBER(S)"));
static cl::list<std::string> equations("equation",
                                       cl::desc("an equation to print, too"));
static cl::opt<bool> objective("objective",
                               cl::desc("print nll, logp, choices, penalty"));
static cl::opt<bool>
    isLaunched("launches", cl::desc("interpret the launches of the program"));
static cl::opt<bool>
    isChecked("checked", cl::desc("run the program as checked code, in f64"));
static cl::opt<uint64_t> order("order",
                               cl::desc("seed of the order of launches"));
static cl::opt<unsigned>
    copies("copies", cl::init(1),
           cl::desc("with --launches: the examples in the batch"));
static cl::opt<int64_t> seed("seed", cl::desc("seed of dropout and draws"));
static cl::opt<int64_t> update("update", cl::desc("number of the update"));
static cl::opt<int64_t> example("example", cl::desc("id of the example"));
static cl::opt<int64_t> step("step", cl::desc("number of the search's step"));
static cl::opt<int64_t> inside("inside",
                               cl::desc("the same of a loop inside it"));

static cl::opt<std::string>
    pipeline("pipeline",
             cl::desc("passes to run, as of fovea-opt; the entry is evaluated "
                      "after each, and the first that changes a result named"));
static cl::opt<std::string>
    plant("plant", cl::desc("a pass of these that gets a mistake, to try "
                            "that: a product becomes a sum"));

static cl::opt<std::string>
    sameAs("same-as",
           cl::desc("FILE.mlir: prove that its entry, after --phase, "
                    "gives the same, and compare numbers"));
static cl::opt<attn::Phase> phase("phase", cl::desc("the phase of both files"),
                                  cl::init(attn::Phase::fuse),
                                  attn::phaseValues());

static cl::opt<bool> decodes("decode", cl::desc("search instead of evaluate"));
static cl::opt<int64_t> beam("beam", cl::init(1));
static cl::opt<int64_t> nbest("nbest", cl::init(1));
static cl::opt<int64_t> longest("longest");
static cl::opt<int64_t> shortest("shortest");
static cl::opt<std::string> normalise("normalise",
                                      cl::desc("per_symbol or gnmt"));
static cl::opt<bool> sample("sample");
static cl::opt<double> temperature("temperature", cl::init(1.0));
static cl::opt<int64_t> topK("top-k");
static cl::opt<double> topP("top-p", cl::init(1.0));
static cl::opt<bool> isCompiled("compiled",
                                cl::desc("search a program by compiled code"));
static cl::list<std::string> forced("forced", cl::desc("NAME=ARRAY"));
static cl::opt<std::string> dropState("drop-state",
                                      cl::desc("a state to leave out"));

static int fail(const std::string &text) {
  llvm::errs() << "error: " << text << "\n";
  return 1;
}

/// The extents of nested lists, the longest of each depth; false if depths
/// differ or an element is not a number.
static bool findShape(const nlohmann::json &value, size_t depth,
                      std::vector<int64_t> &shape, int64_t &rank) {
  if (!value.is_array()) {
    if (rank >= 0 && rank != static_cast<int64_t>(depth))
      return false;
    rank = static_cast<int64_t>(depth);
    return value.is_number() || value.is_boolean();
  }
  if (depth == 16)
    return false;
  shape.resize(std::max(shape.size(), depth + 1));
  shape[depth] = std::max<int64_t>(shape[depth], value.size());
  for (const nlohmann::json &element : value)
    if (!findShape(element, depth + 1, shape, rank))
      return false;
  return true;
}

static void fill(const nlohmann::json &value, size_t depth, int64_t offset,
                 Array &array) {
  if (!value.is_array()) {
    array.values[offset] = value.is_boolean()
                               ? static_cast<double>(value.get<bool>())
                               : value.get<double>();
    return;
  }
  for (size_t i = 0; i < value.size(); ++i)
    fill(value[i], depth + 1,
         offset * array.shape[depth] + static_cast<int64_t>(i), array);
}

/// `NAME=JSON`; rows that are shorter than others end in zeros.
static bool parseArray(StringRef text, std::string &name, Array &array) {
  auto [left, right] = text.split('=');
  name = left.str();
  nlohmann::json value =
      nlohmann::json::parse(right.begin(), right.end(), nullptr, false);
  std::vector<int64_t> shape;
  int64_t rank = -1;
  if (value.is_discarded() || !findShape(value, 0, shape, rank) ||
      (rank >= 0 && rank != static_cast<int64_t>(shape.size())))
    return false;
  array = Array::zeros(shape);
  if (!array.values.empty())
    fill(value, 0, 0, array);
  return true;
}

static void print(const Arrays &outputs) {
  for (const auto &[name, array] : outputs) {
    llvm::outs() << name << " " << runtime::shapeText(array.shape) << ":";
    // Zeros and NaNs have no sign here: tests do not depend on it.
    for (double value : array.values)
      if (std::isnan(value))
        llvm::outs() << " nan";
      else
        llvm::outs() << llvm::format(" %.10g", value == 0 ? 0.0 : value);
    llvm::outs() << "\n";
  }
}

/// The inputs as compiled code takes them.
static runtime::Example exampleOf(const Inputs &inputs,
                                  runtime::ParameterValues &parameters) {
  runtime::Example own;
  own.id = inputs.example;
  for (const auto &[name, array] : inputs.data) {
    parameters[name] = array.values;
    own.data[name] = {array.shape, array.values};
  }
  for (const auto &[name, length] : inputs.lengths)
    own.lengths[name] = {length.nested, length.values};
  return own;
}

/// Splits, compiles and searches a program, in f64.
static Status decodeCompiled(Operation *container, const Inputs &inputs,
                             const SearchOptions &options,
                             std::vector<Hypothesis> &hypotheses) {
  auto module = container->getParentOfType<ModuleOp>();
  if (!isa<attn::ProgramOp>(container))
    return Status::error("only a program can be compiled");
  for (Operation &op : llvm::make_early_inc_range(module.getOps()))
    if (&op != container)
      op.erase();
  SymbolTable::setSymbolName(container, "decode");
  if (failed(attn::runPasses(module, [](OpPassManager &manager) {
        manager.addPass(attn::createBatch());
        manager.addPass(attn::createSplitDecoder());
        manager.addPass(attn::createFuseElementwise());
      })))
    return Status::error("the program cannot be compiled");
  runtime::ParameterValues parameters;
  runtime::Example own = exampleOf(inputs, parameters);
  cli::CompiledOptions how;
  how.isDouble = true;
  how.threads = 1;
  std::unique_ptr<cli::CompiledDecoder> decoder;
  if (Status status =
          cli::CompiledDecoder::create(module, {parameters}, how, decoder);
      status.failed())
    return status;
  std::vector<std::vector<runtime::Generated>> results;
  if (Status status = decoder->search().decode({&own}, options, results);
      status.failed())
    return status;
  for (runtime::Generated &generated : results.front()) {
    Hypothesis &hypothesis = hypotheses.emplace_back();
    hypothesis.logp = generated.logp;
    hypothesis.score = generated.score;
    hypothesis.steps = generated.steps;
    hypothesis.stepLogp = std::move(generated.stepLogp);
    hypothesis.ended = generated.ended;
    for (auto &[name, values] : generated.outputs)
      hypothesis.outputs[name] = {values.shape, values.values, false};
  }
  return Status::success();
}

static int runDecode(Operation *container, const Inputs &inputs) {
  SearchOptions options;
  options.beam = beam;
  options.nbest = nbest;
  if (longest.getNumOccurrences())
    options.longest = longest;
  options.shortest = shortest;
  if (normalise == "per_symbol")
    options.normalise = Normalise::PerSymbol;
  else if (normalise == "gnmt")
    options.normalise = Normalise::Gnmt;
  options.sample = sample;
  options.seed = seed;
  options.temperature = temperature;
  options.topK = topK;
  options.topP = topP;
  options.dropState = dropState;
  options.equations.assign(equations.begin(), equations.end());
  for (const std::string &text : forced) {
    std::string name;
    Array array;
    if (!parseArray(text, name, array))
      return fail("'" + text + "' is no NAME=ARRAY");
    options.forced[name] = std::move(array);
  }
  std::vector<Hypothesis> hypotheses;
  Status status =
      isCompiled ? decodeCompiled(container, inputs, options, hypotheses)
                 : reference::decode(container, inputs, options, hypotheses);
  if (status.failed())
    return fail(status.text());
  for (const Hypothesis &hypothesis : hypotheses) {
    llvm::outs() << llvm::format("logp %.10g score %.10g", hypothesis.logp,
                                 hypothesis.score)
                 << " steps " << hypothesis.steps
                 << (hypothesis.ended ? "\n" : " cut\n");
    if (!forced.empty()) {
      llvm::outs() << "step logp:";
      for (double logp : hypothesis.stepLogp)
        llvm::outs() << llvm::format(" %.10g", logp);
      llvm::outs() << "\n";
    }
    print(hypothesis.outputs);
  }
  return 0;
}

/// Runs a program of one example as checked code.
static int runChecked(Operation *container, const Inputs &inputs) {
  auto program = dyn_cast<attn::ProgramOp>(container);
  if (!program)
    return fail("only a program can be compiled");
  runtime::ParameterValues parameters;
  runtime::Example own = exampleOf(inputs, parameters);
  runtime::Binding binding;
  binding.values = &parameters;
  binding.seed = inputs.seed;
  binding.update = inputs.update;
  cli::CompiledOptions how;
  how.isDouble = how.isChecked = true;
  how.target = "x86-64-v3";
  std::unique_ptr<cli::CompiledProgram> compiled;
  Status status =
      cli::CompiledProgram::create(container->getParentOfType<ModuleOp>(),
                                   program.getSymName(), how, compiled);
  if (status.succeeded())
    status = compiled->run({&own}, binding);
  if (status.failed())
    return fail(status.text());
  Arrays outputs;
  for (const runtime::Program::Array &array : compiled->program().arrays)
    if (array.role == runtime::Program::Role::Output) {
      runtime::DataValues values = compiled->workspace().output(array.name, 0);
      outputs[array.name] = {values.shape, values.values, false};
    }
  print(outputs);
  return 0;
}

/// Interprets the schedule of a program, on copies of one example.
static int runLaunches(Operation *container, const Inputs &inputs) {
  auto program = dyn_cast<attn::ProgramOp>(container);
  launch::InterpretOptions options;
  options.order = order;
  for (auto schedule :
       container->getParentOfType<ModuleOp>().getOps<launch::ProgramOp>()) {
    if (!program || schedule.getProgram() != program.getSymName())
      continue;
    std::vector<Arrays> outputs;
    std::vector<Inputs> batch(std::max(1U, copies.getValue()), inputs);
    Status status =
        launch::interpret(schedule, program, batch, options, outputs);
    if (status.succeeded())
      status = launch::compareWithProgram(program, batch, outputs);
    if (status.failed())
      return fail(status.text());
    print(outputs.front());
    return 0;
  }
  return fail("'" + file + "' has no schedule of '" + entry +
              "'; help: use 'fovea-opt --fovea-schedule-launches'");
}

//===----------------------------------------------------------------------===//
// Pass by pass
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates the entry after each pass, until a result differs.
class FirstDifference : public PassInstrumentation {
public:
  /// `first`: what the entry gives before all passes, if it is there.
  FirstDifference(const Inputs &inputs, Arrays first, std::string &found)
      : inputs(inputs), first(std::move(first)), found(found) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    Operation *container = findContainer(module, entry);
    std::string name = pass->getArgument().str();
    // What groups passes has no name of its own.
    if (!container || name.empty() || !found.empty())
      return;
    if (name == plant)
      plantMistake(container);
    Arrays now;
    if (Status status = evaluate(container, inputs, now); status.failed()) {
      found = "after '" + name + "': " + status.text();
      return;
    }
    // Later phases add outputs, and drop what nobody needs.
    Arrays before, after;
    for (const auto &[output, array] : now) {
      auto known = first.try_emplace(output, array).first;
      before[output] = known->second;
      after[output] = array;
    }
    constexpr double tolerance = 1e-9;
    if (std::string text = explainDifference(before, after, tolerance);
        !text.empty())
      found = "after '" + name + "': " + text;
  }

private:
  static void plantMistake(Operation *container) {
    container->walk([](arith::MulFOp product) {
      OpBuilder builder(product);
      Value sum = arith::AddFOp::create(builder, product.getLoc(),
                                        product.getLhs(), product.getRhs());
      product.replaceAllUsesWith(sum);
      product.erase();
      return WalkResult::interrupt();
    });
  }

  const Inputs &inputs;
  Arrays first;
  std::string &found;
};
} // namespace

/// Prints the first pass that changes what the entry gives.
static int checkPasses(ModuleOp module, const Inputs &inputs) {
  Arrays first;
  if (Operation *container = findContainer(module, entry))
    if (Status status = evaluate(container, inputs, first); status.failed())
      return fail(status.text());
  std::string found;
  bool isParsed = true;
  LogicalResult good = attn::runPasses(
      module,
      [&](OpPassManager &manager) {
        isParsed = succeeded(parsePassPipeline(pipeline, manager));
      },
      std::make_unique<FirstDifference>(inputs, std::move(first), found));
  if (!isParsed || failed(good))
    return fail("the passes fail");
  if (!found.empty())
    return fail("'" + entry + "' gives something else " + found);
  llvm::outs() << "no pass changes what '" << entry << "' gives\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// Two files
//===----------------------------------------------------------------------===//

/// The results of a container for a sample, in f64 or f32.
static Status evaluateSample(Operation *container, const proof::Sample &sample,
                             bool single, std::vector<Arrays> &outputs) {
  std::vector<Inputs> examples = sample.examples;
  for (Inputs &inputs : examples)
    inputs.single = single;
  if (phase >= attn::Phase::batch)
    return evaluateEach(container, examples, outputs);
  Status status = Status::success();
  outputs.assign(examples.size(), {});
  for (auto [inputs, own] : llvm::zip_equal(examples, outputs))
    if (status.succeeded())
      status = evaluate(container, inputs, own);
  return status;
}

/// Returns whether two containers give other numbers for one of several
/// samples: other bits in f32, or more than rounding in f64.
static bool haveOtherNumbers(Operation *before, Operation *after) {
  constexpr double tolerance = 1e-9;
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    proof::Sample sample;
    if (proof::drawSample(before, describeData(before), attempt, sample)
            .failed())
      continue;
    for (bool single : {false, true}) {
      std::vector<Arrays> expected, given;
      if (evaluateSample(before, sample, single, expected).failed())
        continue;
      if (evaluateSample(after, sample, single, given).failed())
        return true;
      for (auto [one, other] : llvm::zip_equal(expected, given))
        if (!explainDifference(one, other, single ? 0 : tolerance).empty())
          return true;
    }
  }
  return false;
}

/// Prints whether the entry of a second file has the same trees as the entry of
/// the first, and whether it has the same numbers.
static int compareFiles(ModuleOp module, Operation *before) {
  OwningOpRef<ModuleOp> other =
      parseSourceFile<ModuleOp>(sameAs, module.getContext());
  Operation *after = other ? findContainer(*other, entry) : nullptr;
  if (!after)
    return fail("'" + sameAs + "' has no system or program '" + entry + "'");
  proof::Prover prover({});
  for (auto [file, container] :
       {std::pair(module, before), std::pair(*other, after)}) {
    for (Operation &op : llvm::make_early_inc_range(file.getOps()))
      if (&op != container &&
          findContainer(file, SymbolTable::getSymbolName(&op).getValue()) ==
              &op)
        op.erase();
    prover.checkPhase(file, phase);
  }
  prover.checkLaunches(*other, *other);
  llvm::outs() << "trees: "
               << (prover.status().failed() ? prover.status().text() : "equal")
               << "\nnumbers: "
               << (haveOtherNumbers(before, after) ? "differ" : "equal")
               << "\n";
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  attn::registerFoveaPasses();
  registerTransformsPasses();
  cl::ParseCommandLineOptions(argc, argv, "evaluates attn IR\n");
  compiler::Context context;
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  Operation *container = findContainer(*module, entry);
  // A pass may make it.
  if (!container && pipeline.empty())
    return fail("'" + file + "' has no system or program '" + entry + "'");
  Arrays parameters;
  Inputs inputs;
  inputs.parameters = &parameters;
  for (const std::string &text : given) {
    std::string name;
    Array array;
    if (!parseArray(text, name, array))
      return fail("'" + text + "' is no NAME=ARRAY");
    parameters[name] = array;
    inputs.data[name] = std::move(array);
  }
  for (const std::string &text : lengths) {
    std::string name;
    Array array;
    if (!parseArray(text, name, array) || array.rank() > 1)
      return fail("'" + text + "' is no NAME=NUMBER");
    Length &length = inputs.lengths[name];
    length.nested = array.rank() == 1;
    length.values.assign(array.values.begin(), array.values.end());
  }
  if (seed.getNumOccurrences())
    inputs.seed = seed;
  inputs.update = update;
  inputs.example = example;
  inputs.step = step;
  inputs.inside = inside;
  if (!pipeline.empty())
    return checkPasses(*module, inputs);
  if (!sameAs.empty())
    return compareFiles(*module, container);
  if (decodes)
    return runDecode(container, inputs);
  if (isLaunched)
    return runLaunches(container, inputs);
  if (isChecked)
    return runChecked(container, inputs);
  EvaluateOptions options;
  options.equations.assign(equations.begin(), equations.end());
  options.objective = objective;
  Arrays outputs;
  if (Status status = evaluate(container, inputs, outputs, options);
      status.failed())
    return fail(status.text());
  print(outputs);
  return 0;
}
