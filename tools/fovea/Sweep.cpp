//===- Sweep.cpp - one training per combination of settings ---------------===//
//
// Every combination is checked before the first one trains. Each is an ordinary
// training in its own folder, so it resumes on its own, and the figures of the
// table come from its log.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Sweep.h"
#include "app/data/Examples.h"
#include "app/data/Files.h"
#include "app/machines/Agreement.h"
#include "app/open/Errors.h"
#include "app/train/Interrupts.h"
#include "app/train/Progress.h"
#include "app/train/TrainBlock.h"
#include "frontends/fov/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>
#include <map>
#include <set>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

/// More combinations than this are a mistake of the command line.
static constexpr size_t mostRuns = 1000;

namespace {

/// What a log says of a training.
struct Figures {
  int64_t update = 0;
  /// In the order of the log. Of the best validation, or else of the last
  /// report.
  std::vector<std::pair<std::string, double>> values;

  std::optional<double> find(StringRef name) const {
    for (const auto &[key, value] : values)
      if (key == name)
        return value;
    return std::nullopt;
  }
};

/// One combination.
struct Run {
  std::vector<std::string> values; // one per axis
  std::string name;                // of its folder
  Arguments arguments;
  Figures figures;
  bool isDone = false;
};

/// One `fovea train --sweep`. Functions that return false have reported the
/// error.
class Sweep {
public:
  explicit Sweep(const Arguments &arguments)
      : arguments(arguments), progress(arguments.quiet) {}
  int run();

private:
  bool fail(const std::string &text, Code code = Code::argumentValue) {
    failureCode = wrongUsage(text, code);
    return false;
  }
  bool readAxes();
  bool checkInputs();
  bool resolveKeys();
  bool opens(const SweepAxis &axis, const std::string &key);
  bool makeRuns();
  bool checkRuns();
  int trainAll();
  std::vector<std::string> names() const;
  std::vector<std::string> head() const;
  std::vector<std::vector<std::string>> rows() const;
  std::vector<std::vector<std::string>> rowsOverSeeds() const;
  int writeResults();

  const Arguments &arguments;
  Progress progress;
  std::vector<SweepAxis> axes;
  std::vector<std::string> keys; // of the axes, as --set has them; or seed
  std::vector<Run> runs;
  int failureCode = badUsage;
};

} // namespace

//===----------------------------------------------------------------------===//
// The combinations
//===----------------------------------------------------------------------===//

/// Splits at commas outside of parentheses: `noam(512, 4000),0.1`.
static std::vector<StringRef> splitValues(StringRef text) {
  std::vector<StringRef> result;
  size_t begin = 0;
  int depth = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    bool isEnd = at == text.size();
    if (!isEnd && text[at] == '(')
      ++depth;
    if (!isEnd && text[at] == ')')
      --depth;
    if (isEnd || (text[at] == ',' && depth <= 0)) {
      result.push_back(text.slice(begin, at).trim());
      begin = at + 1;
    }
  }
  return result;
}

/// Adds `1..3` as 1, 2 and 3. False if the text is not such a range.
static bool addRange(StringRef text, std::vector<std::string> &values) {
  auto [first, last] = text.split("..");
  uint64_t begin = 0, end = 0;
  if (first.getAsInteger(10, begin) || last.getAsInteger(10, end) ||
      begin > end || end - begin >= mostRuns)
    return false;
  for (uint64_t value = begin; value <= end; ++value)
    values.push_back(std::to_string(value));
  return true;
}

std::string fovea::cli::readAxis(const std::string &text, SweepAxis &axis) {
  auto [key, values] = StringRef(text).split('=');
  axis.key = key.trim().str();
  if (axis.key.empty() || values.empty())
    return "'--sweep' takes KEY=VALUES, not '" + text + "'";
  for (StringRef value : splitValues(values)) {
    if (value.empty())
      return "'--sweep " + text + "' has an empty value";
    if (!value.contains(".."))
      axis.values.push_back(value.str());
    else if (!addRange(value, axis.values))
      return fmt::format("'--sweep {}': '{}' is not a range of up to {} whole "
                         "numbers, such as 1..3",
                         text, value.str(), mostRuns);
  }
  std::set<StringRef> seen;
  for (const std::string &value : axis.values)
    if (!seen.insert(value).second)
      return "'--sweep " + text + "' has " + value + " twice";
  return "";
}

bool Sweep::readAxes() {
  size_t count = 1;
  for (const std::string &text : arguments.sweeps) {
    SweepAxis axis;
    if (std::string mistake = readAxis(text, axis); !mistake.empty())
      return fail(mistake);
    for (const SweepAxis &other : axes)
      if (other.key == axis.key)
        return fail("'--sweep' has '" + axis.key + "' twice",
                    Code::argumentConflict);
    count = std::min(count * axis.values.size(), mostRuns + 1);
    axes.push_back(std::move(axis));
  }
  return count <= mostRuns ||
         fail(fmt::format("'--sweep' has more than {} combinations", mostRuns));
}

/// Every training reads the spec and the data again.
bool Sweep::checkInputs() {
  bool readsInput = arguments.spec() == "-";
  for (const auto *files : {&arguments.data, &arguments.valid})
    for (const GivenData &data : splitData(*files))
      readsInput |= data.path == "-";
  return !readsInput ||
         fail("'--sweep' reads its inputs several times, and '-' can be read "
              "once; help: write it to a file");
}

/// Returns whether the spec accepts the first value under `key`.
bool Sweep::opens(const SweepAxis &axis, const std::string &key) {
  Arguments own = arguments;
  own.sets.push_back({key, axis.values.front()});
  std::string unread;
  llvm::raw_string_ostream stream(unread);
  Session session(own, stream);
  return session.open() != nullptr;
}

/// `rate` is short for `train.rate` unless the spec itself has a `rate`.
bool Sweep::resolveKeys() {
  for (const SweepAxis &axis : axes) {
    bool isSeed = axis.key == "seed";
    if (isSeed && arguments.seed)
      return fail("'--sweep seed' excludes '--seed'", Code::argumentConflict);
    bool isEntry =
        llvm::is_contained(fov::optionNames("train"), StringRef(axis.key));
    std::string key = !isSeed && isEntry && !opens(axis, axis.key)
                          ? "train." + axis.key
                          : axis.key;
    for (const auto &[set, value] : arguments.sets)
      if (set == key)
        return fail("'--sweep " + axis.key + "' excludes '--set " + set + "'",
                    Code::argumentConflict);
    keys.push_back(key);
  }
  return true;
}

/// A name without characters that a shell or a file system interprets.
static std::string safeName(StringRef text) {
  std::string name = text.str();
  for (char &letter : name)
    if (!llvm::isAlnum(letter) && !StringRef("._-+=").contains(letter))
      letter = '_';
  return name;
}

bool Sweep::makeRuns() {
  size_t count = 1;
  for (const SweepAxis &axis : axes)
    count *= axis.values.size();
  std::set<std::string> known;
  for (size_t number = 0; number < count; ++number) {
    Run run;
    run.arguments = arguments;
    run.arguments.sweeps.clear();
    // The last axis varies fastest.
    size_t rest = count, place = number;
    for (auto [axis, key] : llvm::zip(axes, keys)) {
      rest /= axis.values.size();
      const std::string &value = axis.values[place / rest];
      place %= rest;
      run.values.push_back(value);
      run.name += (run.name.empty() ? "" : ",") + safeName(axis.key) + "=" +
                  safeName(value);
      uint64_t seed = 0;
      if (key != "seed")
        run.arguments.sets.push_back({key, value});
      else if (StringRef(value).getAsInteger(10, seed))
        return fail("'--sweep seed' takes whole numbers below 2^64, not '" +
                    value + "'");
      else
        run.arguments.seed = seed;
    }
    if (!known.insert(run.name).second)
      return fail("two combinations of '--sweep' have the folder '" + run.name +
                  "'");
    run.arguments.folder = arguments.folder + "/" + run.name;
    if (!arguments.eventFolder.empty())
      run.arguments.eventFolder = arguments.eventFolder + "/" + run.name;
    runs.push_back(std::move(run));
  }
  return true;
}

/// Checks all combinations, so that the last one cannot fail hours later.
bool Sweep::checkRuns() {
  failureCode = badInput;
  for (const Run &run : runs) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    Session session(run.arguments, stream);
    std::unique_ptr<Model> model = session.openToExecute();
    runtime::TrainOptions options;
    if (model) {
      TrainBlock block = readTrainBlock(*model);
      if (runtime::Status status =
              runtime::readTrainOptions(block.entries, model->dims, options);
          status.failed())
        session.error(arguments.spec() + ": " + status.text());
    }
    if (session.diagnostics().failed()) {
      session.finish();
      llvm::errs() << text << "note: this is the combination " << run.name
                   << '\n';
      return false;
    }
    std::string state = run.arguments.folder + "/last/state.safetensors";
    if (!arguments.resume && llvm::sys::fs::exists(state)) {
      beginError() << "'" << run.arguments.folder
                   << "' already contains a training run; help: continue the "
                      "sweep with --resume, or choose another --out\n";
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The figures
//===----------------------------------------------------------------------===//

/// Entries of a log line that describe the run, and not the model.
static bool isFigure(StringRef key) {
  return key == "loss" || key == "perplexity" || key == "reward";
}

static Figures readFigures(const std::string &folder) {
  Figures best, last;
  auto file = llvm::MemoryBuffer::getFile(folder + "/log.jsonl");
  StringRef text = file ? (*file)->getBuffer() : "";
  for (StringRef row : llvm::split(text, '\n')) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(row);
    const llvm::json::Object *line = value ? value->getAsObject() : nullptr;
    if (!value)
      llvm::consumeError(value.takeError());
    if (!line)
      continue;
    Figures own;
    own.update = line->getInteger("step").value_or(0);
    bool isValid = line->get("valid_loss") != nullptr;
    for (const auto &[key, entry] : *line) {
      StringRef name = key;
      std::optional<double> number = entry.getAsNumber();
      bool isOf = isValid ? name.consume_front("valid_") : isFigure(name);
      if (number && isOf)
        own.values.push_back({name.str(), *number});
    }
    // The entries of an object have no order; the loss comes first.
    llvm::sort(own.values, [](const auto &a, const auto &b) {
      return std::pair(!isFigure(a.first), a.first) <
             std::pair(!isFigure(b.first), b.first);
    });
    if (!isValid)
      last = std::move(own);
    else if (line->getBoolean("best").value_or(false))
      best = std::move(own);
  }
  return best.values.empty() ? last : best;
}

/// The figures that any run has.
std::vector<std::string> Sweep::names() const {
  std::vector<std::string> result;
  for (const Run &run : runs)
    for (const auto &[name, value] : run.figures.values)
      if (!llvm::is_contained(result, name))
        result.push_back(name);
  return result;
}

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> Sweep::head() const {
  std::vector<std::string> result;
  for (const SweepAxis &axis : axes)
    result.push_back(axis.key);
  result.push_back("update");
  llvm::append_range(result, names());
  return result;
}

/// A row per run.
Rows Sweep::rows() const {
  Rows result = {head()};
  for (const Run &run : runs) {
    std::vector<std::string> row = run.values;
    row.push_back(run.isDone ? std::to_string(run.figures.update) : "failed");
    for (const std::string &name : names()) {
      std::optional<double> value = run.figures.find(name);
      row.push_back(value ? fmt::format("{:.6g}", *value) : "-");
    }
    result.push_back(std::move(row));
  }
  return result;
}

/// A row per combination of the other settings: mean and range over the seeds
/// that did not fail.
Rows Sweep::rowsOverSeeds() const {
  size_t seeds = llvm::find(keys, "seed") - keys.begin();
  if (seeds == keys.size() || axes[seeds].values.size() == 1)
    return {};
  // The order of the first run of each group.
  std::vector<std::vector<const Run *>> groups;
  std::map<std::vector<std::string>, size_t> numbers;
  for (const Run &run : runs) {
    std::vector<std::string> others = run.values;
    others.erase(others.begin() + seeds);
    auto [found, isNew] = numbers.try_emplace(others, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(&run);
  }
  std::vector<std::string> head;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (axis != seeds)
      head.push_back(axes[axis].key);
  head.push_back("seeds");
  for (const std::string &name : names())
    llvm::append_values(head, "mean " + name, std::string("from"),
                        std::string("to"));
  Rows result = {head};
  for (const std::vector<const Run *> &group : groups) {
    std::vector<std::string> row = group.front()->values;
    row.erase(row.begin() + seeds);
    row.push_back(std::to_string(
        llvm::count_if(group, [](const Run *run) { return run->isDone; })));
    for (const std::string &name : names()) {
      std::vector<double> values;
      for (const Run *run : group)
        if (std::optional<double> value = run->figures.find(name);
            value && run->isDone)
          values.push_back(*value);
      double sum = 0;
      for (double value : values)
        sum += value;
      if (values.empty())
        row.insert(row.end(), 3, "-");
      else
        for (double value :
             {sum / double(values.size()), *llvm::min_element(values),
              *llvm::max_element(values)})
          row.push_back(fmt::format("{:.6g}", value));
    }
    result.push_back(std::move(row));
  }
  return result;
}

/// Columns of equal width.
static std::string tableOf(const Rows &rows) {
  std::vector<size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (const auto &row : rows)
    for (auto [width, cell] : llvm::zip(widths, row))
      width = std::max(width, cell.size());
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (auto [width, cell] : llvm::zip(widths, row))
      line += fmt::format("{:<{}}", cell, width + 2);
    text += StringRef(line).rtrim().str() + "\n";
  }
  return text;
}

/// Prints the tables, and writes them and the curves to the folder.
int Sweep::writeResults() {
  Rows all = rows();
  Rows means = rowsOverSeeds();
  llvm::outs() << tableOf(all);
  if (!means.empty())
    llvm::outs() << '\n' << tableOf(means);
  std::string text;
  for (const std::vector<std::string> &row : all)
    text += llvm::join(row, "\t") + "\n";
  if (int code = writeText(arguments.folder + "/sweep.tsv", text); code != done)
    return code;
  Arguments plot;
  plot.command = "plot";
  for (const Run &run : runs)
    if (!run.figures.values.empty()) {
      plot.plots.push_back(run.arguments.folder);
      plot.plotLabels.push_back(run.name);
    }
  plot.output = arguments.folder + "/curves.html";
  return plot.plots.empty() ? done : runPlot(plot);
}

//===----------------------------------------------------------------------===//
// The trainings
//===----------------------------------------------------------------------===//

/// Trains one combination after the other. One that diverges does not end the
/// sweep; an interrupt, a full disk or a mistake in the data does.
int Sweep::trainAll() {
  int result = done;
  bool isNew = !llvm::sys::fs::exists(arguments.folder);
  for (auto [number, run] : llvm::enumerate(runs)) {
    progress.note(fmt::format("training {} of {}: {}", number + 1, runs.size(),
                              run.name));
    auto summary = [&](size_t complete) {
      return fmt::format(
          "{} of {} trainings are complete; help: continue with --resume",
          complete, runs.size());
    };
    bool hasBegun = false;
    int code = trainOnce(run.arguments, hasBegun, summary(number) + "\n");
    run.isDone = code == done;
    int signal = caughtSignal();
    if (code > 128 || signal != 0) {
      progress.note(summary(number + (code == done)));
      return signal != 0 ? 128 + signal : code;
    }
    if (code != done && (code != badInput || !hasBegun)) {
      // Only an empty folder can be removed.
      if (isNew)
        (void)llvm::sys::fs::remove(arguments.folder);
      return code;
    }
    if (code != done)
      result = code;
    run.figures = readFigures(run.arguments.folder);
  }
  int code = writeResults();
  return code == done ? result : code;
}

int Sweep::run() {
  if (!team().isAlone()) {
    if (team().isFirst())
      fail("'--sweep' runs in one process; help: start it without mpirun",
           Code::argumentConflict);
    return agree(badUsage);
  }
  if (!readAxes() || !checkInputs() || !resolveKeys() || !makeRuns() ||
      !checkRuns())
    return failureCode;
  return trainAll();
}

int fovea::cli::runSweep(const Arguments &arguments) {
  return Sweep(arguments).run();
}
