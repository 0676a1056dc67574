//===- BenchCommand.cpp - fovea bench -------------------------------------===//
//
// Times compiled code on random data of given lengths: the median, the
// smallest and the spread of repeated runs. What is timed is one call of the
// program; laying out the batch is not part of it.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Batch.h"
#include "runtime/ThreadPool.h"
#include "tools/fovea/Compiled.h"
#include "tools/fovea/Files.h"
#include "tools/fovea/Session.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace fovea;
using namespace fovea::cli;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// `S=25,T=25`. False when it is something else.
static bool readLengths(const std::string &text,
                        std::map<std::string, int64_t> &lengths) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [name, number] = part.split('=');
    int64_t value;
    if (number.getAsInteger(10, value) || value < 1)
      return false;
    lengths[name.str()] = value;
  }
  return true;
}

/// Random data for every data name. False when a length is not given.
static bool drawExamples(Session &session, mlir::Operation *program,
                         const std::map<std::string, int64_t> &lengths,
                         int64_t batch,
                         std::vector<runtime::Example> &examples) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> real(-1, 1);
  std::vector<runtime::DataSpec> specs = reference::describeData(program);
  for (int64_t number = 0; number < batch; ++number) {
    runtime::Example &example = examples.emplace_back();
    example.id = number;
    for (const runtime::DataSpec &spec : specs) {
      runtime::DataValues &values = example.data[spec.name];
      int64_t count = 1;
      for (const runtime::DataAxis &axis : spec.axes) {
        int64_t extent = axis.size;
        if (!axis.length.empty()) {
          auto found = lengths.find(axis.length);
          if (found == lengths.end()) {
            session.error("'--lengths' gives no " + axis.length + ", which '" +
                          spec.name + "' has");
            return false;
          }
          extent = found->second;
          if (axis.parent.empty())
            example.lengths[axis.length] = runtime::LengthValues::of(extent);
          else
            example.lengths[axis.length] = runtime::LengthValues::perParent(
                std::vector<int64_t>(lengths.at(axis.parent), extent));
        }
        values.shape.push_back(extent);
        count *= extent;
      }
      for (int64_t i = 0; i < count; ++i) {
        if (spec.kind == runtime::DataKind::Real)
          values.values.push_back(real(random));
        else if (spec.kind == runtime::DataKind::Bit)
          values.values.push_back(random() % 2);
        else
          values.values.push_back(
              spec.limit > 3 ? 2 + random() % (spec.limit - 2) : 0);
      }
    }
  }
  return true;
}

static runtime::ParameterValues drawParameters(const Model &model) {
  std::mt19937_64 random(0);
  std::uniform_real_distribution<double> real(-0.08, 0.08);
  runtime::ParameterValues parameters;
  for (const ParameterInfo &parameter : model.parameters) {
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      count *= extent;
    std::vector<double> &values = parameters[parameter.path];
    values.reserve(count);
    for (int64_t i = 0; i < count; ++i)
      values.push_back(real(random));
  }
  return parameters;
}

namespace {
struct Timing {
  double first = 0, median = 0, smallest = 0, spread = 0;
  int64_t runs = 0;
};
} // namespace

static Timing timeRuns(CompiledProgram &program, double seconds) {
  Timing timing;
  auto timed = [&] {
    Clock::time_point start = Clock::now();
    program.compute();
    return secondsSince(start);
  };
  timing.first = timed();
  std::vector<double> runs;
  Clock::time_point start = Clock::now();
  while (runs.size() < 9 || secondsSince(start) < seconds)
    runs.push_back(timed());
  std::sort(runs.begin(), runs.end());
  size_t count = runs.size();
  timing.runs = count;
  timing.median = runs[count / 2];
  timing.smallest = runs.front();
  timing.spread = runs[count * 3 / 4] - runs[count / 4];
  return timing;
}

int fovea::cli::runBench(const Arguments &arguments) {
  std::map<std::string, int64_t> lengths;
  if (!readLengths(arguments.lengths, lengths))
    return wrongUsage("'--lengths' is a list such as S=25,T=25");
  Session session(arguments);
  std::unique_ptr<Model> model = session.openToExecute();
  if (!model)
    return session.finish();
  Clock::time_point start = Clock::now();
  Request request;
  request.gradients = arguments.benchEntry == "grad";
  request.stopAfter = attn::Phase::fuse;
  dropSystem(*model, "decoding");
  if (!session.lower(*model, request))
    return session.finish();
  auto op = model->module->lookupSymbol<attn::ProgramOp>(arguments.benchEntry);
  if (!op) {
    session.error("'" + model->name + "' has no '" + arguments.benchEntry +
                  "'");
    return session.finish();
  }
  CompiledOptions options;
  options.isDouble = arguments.dtype == "f64";
  options.cpu = arguments.cpu;
  options.perf = arguments.perf;
  std::unique_ptr<CompiledProgram> compiled;
  runtime::Status status = CompiledProgram::create(
      *model->module, arguments.benchEntry, options, compiled);
  if (status.failed()) {
    session.error(status.text());
    return session.finish();
  }
  double ready = secondsSince(start);
  std::vector<runtime::Example> examples;
  int64_t numExamples = arguments.batch.value_or(1);
  if (!drawExamples(session, op, lengths, numExamples, examples))
    return session.finish();
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool(
      fovea_pool_create(arguments.threads), &fovea_pool_destroy);
  runtime::ParameterValues parameters = drawParameters(*model);
  runtime::Binding binding;
  binding.values = &parameters;
  binding.numbers = {{"seed.nll", 1}, {"seed.penalty", 1}};
  binding.pool = pool.get();
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  status = compiled->bind(batch, binding);
  if (status.failed()) {
    session.error(status.text());
    return session.finish();
  }
  Timing timing = timeRuns(*compiled, arguments.seconds);
  int threads = fovea_pool_threads(pool.get());
  fmt::print("{} {}, batch {}, {}, {} threads: median {:.3f} ms, smallest "
             "{:.3f} ms, spread {:.3f} ms, {} runs; ready in {:.2f} s, {} MB\n",
             model->name, arguments.benchEntry, numExamples, arguments.dtype,
             threads, timing.median * 1e3, timing.smallest * 1e3,
             timing.spread * 1e3, timing.runs, ready,
             compiled->workspace().arenaBytes() >> 20);
  if (!arguments.json.empty()) {
    nlohmann::json report = {
        {"model", model->name},
        {"entry", arguments.benchEntry},
        {"batch", numExamples},
        {"dtype", arguments.dtype},
        {"threads", threads},
        {"median_ms", timing.median * 1e3},
        {"smallest_ms", timing.smallest * 1e3},
        {"spread_ms", timing.spread * 1e3},
        {"first_ms", timing.first * 1e3},
        {"runs", timing.runs},
        {"ready_s", ready},
        {"arena_bytes", compiled->workspace().arenaBytes()}};
    int code = writeText(arguments.json, report.dump(2) + "\n");
    if (code != done)
      return code;
  }
  return session.finish();
}
