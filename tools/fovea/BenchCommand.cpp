//===- BenchCommand.cpp - fovea bench -------------------------------------===//
//
// Times compiled code on random data of given lengths: the median, the
// smallest and the spread of repeated runs. Of `loss` and `grad` what is timed
// is one call of the program; laying out the batch is not part of it. Of
// `encode` and `decode` it is, and `step` is a step of the search on average.
//
// For a GPU architecture nothing is timed: one dry run gives a lower bound of
// the time.
//
//===----------------------------------------------------------------------===//

#include "app/data/Files.h"
#include "app/model/Execution.h"
#include "app/model/Programs.h"
#include "app/model/QuantisedWeights.h"
#include "app/open/ChooseTarget.h"
#include "app/profile/BenchData.h"
#include "app/profile/BenchMemory.h"
#include "app/profile/KernelModel.h"
#include "app/profile/KernelProfile.h"
#include "app/profile/Trace.h"
#include "app/train/TrainBlock.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "dialect/reference/Search.h"
#include "runtime/ThreadPool.h"
#include "runtime/train/Learner.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds since this process was started, to 10 ms, including its loading.
static double secondsSinceStart() {
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/self/stat");
  llvm::SmallVector<llvm::StringRef> fields;
  if (file)
    (*file)->getBuffer().rsplit(')').second.split(fields, ' ', -1,
                                                  /*KeepEmpty=*/false);
  double ticks = 0;
  timespec now{};
  if (fields.size() < 20 || fields[19].getAsDouble(ticks) ||
      clock_gettime(CLOCK_BOOTTIME, &now) != 0)
    return 0;
  return static_cast<double>(now.tv_sec) + double(now.tv_nsec) * 1e-9 -
         ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

static int64_t mostResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) << 10;
}

namespace {
struct Timing {
  double first = 0, median = 0, smallest = 0, spread = 0;
  double started = 0; // from the start of the process to the end of the first
  int64_t runs = 0;
};
} // namespace

static Timing timeRuns(llvm::function_ref<void()> run,
                       const Arguments &arguments) {
  Timing timing;
  auto timed = [&] {
    Clock::time_point start = Clock::now();
    run();
    return secondsSince(start);
  };
  timing.first = timed();
  timing.started = secondsSinceStart();
  std::vector<double> runs;
  Clock::time_point start = Clock::now();
  while (static_cast<int64_t>(runs.size()) < arguments.runs ||
         secondsSince(start) < arguments.seconds)
    runs.push_back(timed());
  std::sort(runs.begin(), runs.end());
  size_t count = runs.size();
  timing.runs = count;
  timing.median = runs[count / 2];
  timing.smallest = runs.front();
  timing.spread = runs[count * 3 / 4] - runs[count / 4];
  return timing;
}

namespace {

/// The entries of one command, and its report.
class Bench {
public:
  Bench(Session &session, const Arguments &arguments, const Request &wanted)
      : session(session), arguments(arguments), wanted(wanted),
        trace(arguments.trace.empty() ? nullptr : new Trace) {}

  /// Returns an error in them, or nothing.
  std::string readArguments() {
    // An available device was opened before.
    if (!runtime::Device::current())
      paper = KernelModel::open(arguments.cpu);
    if (paper && trace)
      return "'--trace' needs a machine that runs the model, and '" +
             arguments.cpu + "' is only estimated";
    return readLengths(arguments.lengths, lengths);
  }
  bool isTimed() const { return !paper; }
  /// Loss, gradients or a training step. Returns false after a reported error.
  bool timeProgram(const std::string &entry);
  /// Entries of generation: encode, step and decode.
  bool timeDecoder(const std::vector<std::string> &entries);
  nlohmann::json reports = nlohmann::json::array();
  /// Writes the recorded runs, if the command line asks for them. Returns an
  /// exit code.
  int writeTrace() const {
    return trace ? writeText(arguments.trace,
                             trace->text("fovea bench " + arguments.spec()))
                 : done;
  }

private:
  std::unique_ptr<Model> open(llvm::StringRef dropped);
  std::unique_ptr<Programs> programsOf(Model &model, bool gradients,
                                       CompiledOptions options);
  bool readOptions(Model &model, runtime::TrainOptions &train);
  void makeLearner(Model &model, const runtime::TrainOptions &train,
                   FoveaPool *pool, std::unique_ptr<runtime::Learner> &learner);
  runtime::BatchSize batchSize(int threads) const {
    return {arguments.batch.value_or(1), threads, lengths};
  }
  CompiledOptions options() const;
  /// The inputs of a measurement besides the programs.
  BenchMemory memoryFor(const Model &model,
                        const std::vector<runtime::DataSpec> &data,
                        int threads) const;
  bool failWith(const std::string &text) {
    session.error(text);
    return false;
  }
  bool failWith(const runtime::Status &status) {
    session.fail(status);
    return false;
  }
  /// Kernels made with these options are visible to the explanation.
  void attach(KernelProfile &profile, CompiledOptions &options) const {
    if (paper)
      paper->attach(options);
    else if (arguments.explain)
      profile.attach(options);
    else if (trace)
      trace->attach(options);
  }
  /// Records some runs of an entry whose kernels have names.
  void record(const std::string &entry, llvm::function_ref<void()> run);
  nlohmann::json head(const Model &model, const std::string &entry) const;
  void report(const Model &model, const std::string &entry,
              const Timing &timing, int threads, double ready, int64_t bytes);
  bool reportPaper(const Model &model, const std::string &entry,
                   const std::vector<ProfiledProgram> &programs);

  Session &session;
  const Arguments &arguments;
  const Request &wanted; // its passes
  std::map<std::string, int64_t> lengths;
  bool isKept = false; // the program was in the cache
  std::unique_ptr<KernelModel> paper;
  std::unique_ptr<Trace> trace; // null: nothing is recorded
};

} // namespace

void Bench::record(const std::string &entry, llvm::function_ref<void()> run) {
  constexpr int64_t runs = 5;
  trace->start();
  for (int64_t number = 1; number <= runs; ++number) {
    Trace::Span span(trace.get(), entry + " run", number);
    run();
  }
  trace->stop();
}

CompiledOptions Bench::options() const {
  CompiledOptions result = compiledOptionsOf(arguments);
  result.perf = arguments.perf;
  if (arguments.maxActivationMb)
    result.memory = codegen::MemoryLimit{
        .bytes = *arguments.maxActivationMb << 20,
        .batch = arguments.batch.value_or(1),
        .threads = arguments.threads > 0
                       ? arguments.threads
                       : int64_t(std::thread::hardware_concurrency()),
        .lengths = lengths};
  return result;
}

BenchMemory Bench::memoryFor(const Model &model,
                             const std::vector<runtime::DataSpec> &data,
                             int threads) const {
  BenchMemory memory(batchSize(threads));
  memory.addParameters(model, arguments.dtype == "f64");
  memory.addData(data);
  return memory;
}

std::unique_ptr<Model> Bench::open(llvm::StringRef dropped) {
  std::unique_ptr<Model> model = session.openToExecute();
  if (!model)
    return model;
  dropSystem(*model, dropped);
  if (arguments.lengths.empty() && lengths.empty() && !model->lengths.empty()) {
    for (const std::string &name : model->lengths)
      lengths[name] = usualLength;
    llvm::errs() << "note: each of " << llvm::join(model->lengths, ", ")
                 << " is " << usualLength << "; change them with '--lengths'\n";
  }
  return model;
}

std::unique_ptr<Programs> Bench::programsOf(Model &model, bool gradients,
                                            CompiledOptions options) {
  Request request = wanted;
  request.gradients = gradients;
  return std::make_unique<Programs>(session, model, request,
                                    std::move(options));
}

nlohmann::json Bench::head(const Model &model, const std::string &entry) const {
  return {{"model", model.name},
          {"entry", entry},
          {"batch", arguments.batch.value_or(1)},
          {"dtype", arguments.dtype},
          {"precision", arguments.precision.empty() ? arguments.dtype
                                                    : arguments.precision}};
}

void Bench::report(const Model &model, const std::string &entry,
                   const Timing &timing, int threads, double ready,
                   int64_t bytes) {
  nlohmann::json own = head(model, entry);
  fmt::print("{} {}, batch {}, {}, {} threads: median {:.3f} ms, smallest "
             "{:.3f} ms, spread {:.3f} ms, {} runs; ready in {:.2f} s, {} MB\n",
             model.name, entry, arguments.batch.value_or(1),
             own["precision"].get<std::string>(), threads, timing.median * 1e3,
             timing.smallest * 1e3, timing.spread * 1e3, timing.runs, ready,
             bytes >> 20);
  own.update({{"threads", threads},
              {"median_ms", timing.median * 1e3},
              {"smallest_ms", timing.smallest * 1e3},
              {"spread_ms", timing.spread * 1e3},
              {"first_ms", timing.first * 1e3},
              {"runs", timing.runs},
              {"ready_s", ready},
              {"cached", isKept},
              {"started_s", timing.started},
              {"max_rss_bytes", mostResidentBytes()},
              {"arena_bytes", bytes}});
  reports.push_back(own);
}

/// For a dry run.
bool Bench::reportPaper(const Model &model, const std::string &entry,
                        const std::vector<ProfiledProgram> &programs) {
  nlohmann::json own = head(model, entry);
  own["target"] = arguments.cpu;
  runtime::Status status =
      paper->print(fmt::format("{} {}, batch {}, {}", model.name, entry,
                               arguments.batch.value_or(1),
                               own["precision"].get<std::string>()),
                   programs, arguments.dtype == "f64", arguments.explain, own);
  reports.push_back(own);
  return status.succeeded() || failWith(status);
}

/// The optimiser of the spec, with these weights.
bool Bench::readOptions(Model &model, runtime::TrainOptions &train) {
  if (runtime::Status status = runtime::readTrainOptions(
          readTrainBlock(model).entries, model.dims, train);
      status.failed())
    return failWith(arguments.spec() + ": " + status.text());
  const runtime::StorageFormat *format = weightFormat(arguments);
  train.roundsWeights = format && format->isTrained;
  return true;
}

void Bench::makeLearner(Model &model, const runtime::TrainOptions &train,
                        FoveaPool *pool,
                        std::unique_ptr<runtime::Learner> &learner) {
  runtime::TensorFile initial;
  uint32_t number = 0;
  for (const ParameterInfo &parameter : model.parameters) {
    std::vector<float> values;
    drawNumbers(++number, sizeOf(parameter), values);
    runtime::Tensor &tensor = initial.tensors[parameter.path];
    tensor.type = runtime::DType::F32;
    tensor.shape.assign(parameter.shape.begin(), parameter.shape.end());
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  }
  learner = runtime::Learner::create(std::move(initial), train,
                                     arguments.dtype == "f64", pool);
}

bool Bench::timeProgram(const std::string &entry) {
  Clock::time_point start = Clock::now();
  bool learns = entry == "train_step";
  std::unique_ptr<Model> model = open("decoding");
  if (!model)
    return false;
  std::string name = learns ? "grad" : entry;
  KernelProfile profile;
  CompiledOptions options = this->options();
  options.prepares = compiler::packsOnce(
      *model->module, /*learns=*/compiler::hasObjective(*model->module),
      options);
  attach(profile, options);
  std::unique_ptr<Programs> programs =
      programsOf(*model, /*gradients=*/entry != "loss", options);
  runtime::TrainOptions train;
  if (learns && !readOptions(*model, train))
    return false;
  if (learns && train.takesRows())
    programs->listRows();
  if (!programs->open({name}))
    return false;
  isKept = programs->areKept();
  if (!programs->has(name))
    return failWith("'" + model->name + "' has no '" + name + "'");
  std::vector<runtime::Example> examples;
  std::vector<runtime::DataSpec> data = programs->dataOf(name);
  std::unique_ptr<CompiledProgram> compiled;
  if (runtime::Status status = programs->create(name, compiled);
      status.failed())
    return failWith(status);
  double ready = secondsSince(start);
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool(
      fovea_pool_create(arguments.threads), &fovea_pool_destroy);
  BenchMemory memory = memoryFor(*model, data, fovea_pool_threads(pool.get()));
  memory.addProgram(compiled->program());
  if (runtime::Status status = memory.check(); status.failed())
    return failWith(status);
  if (!drawExamples(session, data, lengths, arguments.batch.value_or(1),
                    examples))
    return false;
  runtime::ParameterValues parameters;
  runtime::Binding binding;
  binding.values = &parameters;
  binding.numbers = {{"seed.nll", 1}, {"seed.penalty", 1}};
  binding.pool = pool.get();
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  std::unique_ptr<runtime::Learner> learner;
  runtime::OwnedMemory weights;
  if (learns) {
    makeLearner(*model, train, pool.get(), learner);
    learner->findRows(compiled->workspace());
    weights = learner->weightsToLearn(0, 1);
    binding.memory = &weights;
  } else {
    parameters = drawParameters(*model);
    if (runtime::Status status =
            addQuantised({compiled->program()}, parameters);
        status.failed())
      return failWith(status);
  }
  if (runtime::Status status = compiled->bind(batch, binding); status.failed())
    return failWith(status);
  // They are copied unless a learner's memory holds them.
  parameters.clear();
  compiled->prepare();
  int64_t update = 0;
  auto run = [&] {
    if (!learner)
      return compiled->compute();
    learner->weightsToLearn(0, ++update);
    learner->beginGradients();
    compiled->compute();
    learner->addGradients(compiled->workspace());
    learner->sumGradients();
    learner->learn(update);
  };
  int threads = fovea_pool_threads(pool.get());
  if (paper) {
    paper->begin();
    run();
    return reportPaper(*model, entry,
                       {{compiled->program(), batchSize(threads)}});
  }
  Timing timing = timeRuns(run, arguments);
  report(*model, entry, timing, threads, ready,
         compiled->workspace().arenaBytes());
  if (trace) {
    trace->nameKernels(name, [&](const std::string &symbol) {
      return compiled->addressOf(symbol);
    });
    record(entry, run);
    trace->forgetKernels();
  }
  if (arguments.explain) {
    profile.clear();
    Clock::time_point start = Clock::now();
    constexpr int64_t runs = 5;
    for (int64_t i = 0; i < runs; ++i)
      run();
    profile.print(
        {{compiled->program(), batchSize(threads)}},
        [&](const std::string &symbol) { return compiled->addressOf(symbol); },
        runs, secondsSince(start) / runs, threads, options.isDouble,
        "between kernels");
  }
  return true;
}

/// As many steps as `--lengths` says, whatever is generated.
static bool fixSteps(const runtime::Decoder &decoder,
                     const std::map<std::string, int64_t> &lengths,
                     runtime::SearchOptions &search, std::string &missing) {
  if (!decoder.isSearch || decoder.known || decoder.extent >= 0)
    return true;
  missing = decoder.lengths[-1 - decoder.extent];
  auto given = lengths.find(missing);
  if (given == lengths.end())
    return false;
  search.longest = search.shortest = given->second;
  return true;
}

/// The number of steps; 1 without a search.
static int64_t numSteps(const runtime::Decoder &decoder,
                        const std::map<std::string, int64_t> &lengths,
                        const runtime::SearchOptions &search) {
  int64_t steps = 1;
  if (decoder.isSearch && !decoder.known)
    steps = search.longest.value_or(1);
  else if (decoder.isSearch && decoder.extent >= 0)
    steps = decoder.extent;
  else if (decoder.isSearch)
    if (auto given = lengths.find(decoder.lengths[-1 - decoder.extent]);
        given != lengths.end())
      steps = given->second;
  return std::max<int64_t>(1, steps);
}

bool Bench::timeDecoder(const std::vector<std::string> &entries) {
  Clock::time_point start = Clock::now();
  std::unique_ptr<Model> model = open("training");
  if (!model)
    return false;
  if (!model->module->lookupSymbol("decoding"))
    return failWith("'" + model->name + "' generates nothing");
  KernelProfile profile;
  CompiledOptions options = this->options();
  attach(profile, options);
  std::unique_ptr<Programs> programs =
      programsOf(*model, /*gradients=*/false, options);
  if (!programs->open({"decode"}))
    return false;
  isKept = programs->areKept();
  std::vector<runtime::DataSpec> data = programs->dataOf("decode");
  std::unique_ptr<CompiledDecoder> compiled;
  if (runtime::Status status = programs->create(compiled); status.failed())
    return failWith(status);
  double ready = secondsSince(start);
  reference::SearchOptions search;
  if (runtime::Status status =
          reference::readSearchOptions(*model->module, search);
      status.failed())
    return failWith(status);
  std::string missing;
  if (!fixSteps(compiled->description(), lengths, search, missing))
    return failWith("'--lengths' lacks " + missing +
                    ", the number of decoding steps");
  BenchMemory memory = memoryFor(*model, data, compiled->threads());
  memory.addDecoder(compiled->description(), search.beam);
  if (runtime::Status status = memory.check(); status.failed())
    return failWith(status);
  if (runtime::Status status = compiled->setParameters(
          {drawParameters(*model)}, arguments.dtype == "f64");
      status.failed())
    return failWith(status);
  std::vector<runtime::Example> examples;
  if (!drawExamples(session, data, lengths, arguments.batch.value_or(1),
                    examples))
    return false;
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  runtime::Status status = runtime::Status::success();
  std::vector<std::vector<runtime::Generated>> results;
  auto keep = [&](runtime::Status next) {
    if (next.failed())
      status = next;
  };
  // The state that `step` continues from.
  if (entries != std::vector<std::string>{"decode"})
    keep(compiled->search().decode(batch, search, results));
  if (status.failed())
    return failWith(status);
  int64_t steps = numSteps(compiled->description(), lengths, search);
  if (trace)
    trace->nameKernels("", [&](const std::string &symbol) {
      return compiled->addressOf(symbol);
    });
  for (const std::string &entry : entries) {
    auto run = [&] {
      if (entry == "encode")
        keep(compiled->search().encode(batch));
      else if (entry == "step")
        keep(compiled->search().generate(batch, search, results));
      else
        keep(compiled->search().decode(batch, search, results));
    };
    if (paper) {
      paper->begin();
      run();
      if (status.failed() ||
          !reportPaper(*model, entry,
                       cli::programsOf(compiled->description(),
                                       batchSize(compiled->threads()),
                                       search.sample ? 1 : search.beam, steps)))
        break;
      continue;
    }
    Timing timing = timeRuns(run, arguments);
    int64_t parts = entry == "step" ? steps : 1;
    for (double *seconds :
         {&timing.first, &timing.median, &timing.smallest, &timing.spread})
      *seconds /= double(parts);
    report(*model, entry, timing, compiled->threads(), ready,
           compiled->search().memoryBytes());
    if (trace)
      record(entry, run);
    if (!arguments.explain)
      continue;
    profile.clear();
    Clock::time_point start = Clock::now();
    int64_t runs = 5;
    for (int64_t i = 0; i < runs; ++i)
      run();
    runs *= parts;
    profile.print(
        cli::programsOf(compiled->description(), batchSize(compiled->threads()),
                        search.sample ? 1 : search.beam, steps / parts),
        [&](const std::string &symbol) { return compiled->addressOf(symbol); },
        runs, secondsSince(start) / double(runs), compiled->threads(),
        options.isDouble, "search and time between kernels");
  }
  if (trace)
    trace->forgetKernels();
  return status.succeeded() || failWith(status);
}

int fovea::cli::runBench(const Arguments &arguments) {
  Request wanted;
  wanted.stopAfter = attn::Phase::fuse;
  if (!readLeaveOut(arguments, /*isReference=*/false, wanted))
    return badUsage;
  Session session(arguments);
  Bench bench(session, arguments, wanted);
  if (std::string mistake = bench.readArguments(); !mistake.empty())
    return wrongUsage(mistake);
  std::vector<std::string> ofDecoder;
  for (const std::string &entry : arguments.benchEntries) {
    if (entry == "encode" || entry == "step" || entry == "decode")
      ofDecoder.push_back(entry);
    else if (!bench.timeProgram(entry))
      return session.finish();
  }
  if (!ofDecoder.empty() && !bench.timeDecoder(ofDecoder))
    return session.finish();
  if (!arguments.json.empty()) {
    double peak = bench.isTimed()
                      ? measurePeak(session.context(), arguments.dtype == "f64")
                      : 0;
    for (nlohmann::json &report : bench.reports)
      if (bench.isTimed())
        report["peak_gflops"] = peak * 1e-9 * report["threads"].get<int>();
    // One entry is one report.
    const nlohmann::json &all = bench.reports;
    int code = writeText(arguments.json,
                         (all.size() == 1 ? all[0] : all).dump(2) + "\n");
    if (code != done)
      return code;
  }
  if (int code = bench.writeTrace(); code != done)
    return code;
  return session.finish();
}
