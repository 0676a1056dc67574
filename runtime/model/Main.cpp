//===- Main.cpp - a model as a program ------------------------------------===//
//
// Reads lines and prints lines: decodes, as `fovea decode` does, or prints log
// p, as `fovea score` does. Processes all available lines together; a line's
// result does not depend on the others.
//
// Uses CLI11, whose exceptions do not leave this file.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/OpenFile.h"
#include "runtime/data/Printable.h"
#include "runtime/model/CommandLine.h"
#include "runtime/model/LineText.h"
#include "runtime/model/Lines.h"
#include "runtime/model/LoadData.h"
#include "runtime/model/Model.h"
#include "runtime/model/OwnFile.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>
#include <unistd.h>

using namespace fovea::runtime;

namespace {

int exitCodeOf(const Status &status) {
  return status.isOfMachine() ? badMachine : badInput;
}

/// Returns whether a message names the place of the error.
bool hasPlace(const std::string &text) {
  return text.find(": error: ") != text.npos;
}

/// How many examples run together at most.
constexpr size_t batchSize = 16;

/// One run of the program.
class Runner {
public:
  Runner(const FoveaImage &image, const Flags &flags, Description description)
      : image(image), flags(flags), description(std::move(description)) {}
  int run();

private:
  int fail(const std::string &text, int code = badInput) const;
  /// Reports an error in the current file and line, if the message has no
  /// place.
  int failAt(const std::string &text, int code = badInput) const {
    return fail(hasPlace(text)
                    ? text
                    : fmt::format("{}:{}: error: {}", file, lineNumber, text),
                code);
  }
  bool isScoring() const { return flags.score || !description.hasDecoder; }
  int readPrefixes();
  Status addPrefixes(Example &example) const;
  int checkPrefixes() const;
  int readShows();
  int writeShows();
  int runAll();
  int runFile(const std::string &path);
  int runLines(int descriptor);
  bool isExample(int descriptor) const;
  int runExample();
  Status readExample(const std::string &line, std::vector<Example> &examples);
  int runTensors(const std::string &path);
  int runBatch(std::vector<Example> &examples);
  Status print(const std::vector<Example> &examples);
  void printExample(int64_t number, const Example &example,
                    const std::vector<Generated> &best);
  int flush();

  const FoveaImage &image;
  const Flags &flags;
  Description description;
  std::unique_ptr<Model> model;
  SearchOptions options;
  std::optional<LineText> text;
  std::string file;                      // that is read
  int64_t lineNumber = 0, firstLine = 0; // in it; of the batch
  int64_t numExamples = 0;               // that are done
  std::string output;

  /// A stored equation: its file, and its value in each example.
  struct Show {
    const ShownEquation &equation;
    std::string path;
    std::vector<ShownValues> examples;
  };
  std::vector<Show> shows;

  /// The prefixes of a generated name, a line per example.
  struct Prefix {
    std::string name, path;
    std::vector<std::string> lines;
  };
  std::vector<Prefix> prefixes;
};

} // namespace

int Runner::fail(const std::string &text, int code) const {
  std::fprintf(stderr, "%s%s\n",
               hasPlace(text) ? "" : "error: ", printable(text).c_str());
  return code;
}

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

int Runner::runLines(int descriptor) {
  if (const DataDescription *data = text->unreadable())
    return fail(fmt::format("'{}' is numbers, which a line of text cannot "
                            "contain; help: pass a batch as FILE.safetensors",
                            data->spec.name));
  Lines lines(descriptor);
  lineNumber = 0;
  std::string line;
  std::vector<Example> examples;
  while (true) {
    Lines::Next next = lines.next(line);
    lineNumber += next == Lines::Line || next == Lines::TooLong;
    bool isGood = next == Lines::Line;
    if (isGood) {
      if (examples.empty())
        firstLine = lineNumber;
      Status status = readExample(line, examples);
      isGood = status.succeeded();
      if (!isGood)
        failAt(status.text());
    } else if (next == Lines::TooLong) {
      failAt(fmt::format("a line has more than {} bytes", longestLine));
    } else if (next == Lines::Failed) {
      fail(fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
    }
    // Lines before an error are answered.
    if (!isGood || examples.size() == batchSize || !lines.isReady())
      if (int code = runBatch(examples))
        return code;
    if (next == Lines::End)
      return done;
    if (!isGood)
      return badInput;
  }
}

/// Adds the example that a line holds or names.
Status Runner::readExample(const std::string &line,
                           std::vector<Example> &examples) {
  Example &example = examples.emplace_back();
  example.id = numExamples + static_cast<int64_t>(examples.size()) - 1;
  Status status = text->read(line, lineNumber, example);
  if (status.succeeded())
    status = addPrefixes(example);
  if (status.failed())
    examples.pop_back();
  return status;
}

/// Returns whether a file is a sound or a picture, or at least no list of them.
bool Runner::isExample(int descriptor) const {
  if (text->inputs().size() != 1 || !text->inputs().front()->isFile())
    return false;
  char head[512];
  ssize_t size =
      throughSignals([&] { return pread(descriptor, head, sizeof(head), 0); });
  std::string_view begin(head, std::max<ssize_t>(size, 0));
  // The last character may be cut.
  return begin.find('\0') != begin.npos || validUtf8(begin) + 4 < begin.size();
}

int Runner::runExample() {
  std::vector<Example> examples;
  lineNumber = firstLine = 1;
  if (Status status = readExample(file, examples); status.failed())
    return fail(status.text(), exitCodeOf(status));
  return runBatch(examples);
}

int Runner::runTensors(const std::string &path) {
  TensorFile tensors;
  std::vector<Example> examples;
  std::vector<DataSpec> specs;
  for (const DataDescription *data : text->inputs())
    specs.push_back(data->spec);
  Status status = readSafeTensors(path, tensors);
  if (status.succeeded())
    status = splitBatch(tensors, specs, examples);
  for (const DataDescription &data : description.data)
    for (Example &example : examples)
      if (data.spec.name == description.unknown.given)
        nameWords(example, data.text, model->words());
  if (status.failed())
    return fail(status.text(), exitCodeOf(status));
  for (size_t i = 0; i < examples.size(); ++i) {
    examples[i].id = numExamples + static_cast<int64_t>(i);
    if (status = addPrefixes(examples[i]); status.failed())
      return fail(status.text());
  }
  lineNumber = 0;
  for (size_t begin = 0; begin < examples.size(); begin += batchSize) {
    size_t end = std::min(examples.size(), begin + batchSize);
    std::vector<Example> part(examples.begin() + begin, examples.begin() + end);
    firstLine = static_cast<int64_t>(begin) + 1;
    if (int code = runBatch(part))
      return code;
  }
  return done;
}

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

int Runner::readPrefixes() {
  if (isScoring() && !flags.prefixes.empty())
    return fail(
        "'--prefix' has no effect with '--score', which generates nothing",
        badUsage);
  std::vector<std::string> names = text->generated();
  for (const std::string &given : flags.prefixes) {
    Prefix &prefix = prefixes.emplace_back();
    size_t equals = given.find('=');
    prefix.path = given.substr(equals == given.npos ? 0 : equals + 1);
    prefix.name = equals == given.npos ? names[0] : given.substr(0, equals);
    if (equals == given.npos && names.size() > 1)
      return fail(fmt::format("'{}' generates {}; help: name the one with this "
                              "prefix: '--prefix {}={}'",
                              description.model, fmt::join(names, ", "),
                              names[0], given),
                  badUsage);
    if (std::find(names.begin(), names.end(), prefix.name) == names.end())
      return fail(fmt::format("'{}' is not generated; there is {}", prefix.name,
                              fmt::join(names, ", ")),
                  badUsage);
    std::string why;
    int descriptor = openToRead(prefix.path, why);
    if (descriptor < 0)
      return fail(fmt::format("cannot read '{}': {}", prefix.path, why));
    Lines lines(descriptor);
    Lines::Next next;
    while ((next = lines.next(prefix.lines.emplace_back())) == Lines::Line) {
    }
    prefix.lines.pop_back();
    close(descriptor);
    if (next != Lines::End)
      return fail(fmt::format("{}:{}: error: this line cannot be read",
                              prefix.path, prefix.lines.size() + 1));
  }
  return done;
}

/// Sets the prefixes of an example's outputs.
Status Runner::addPrefixes(Example &example) const {
  for (const Prefix &prefix : prefixes) {
    auto number = static_cast<size_t>(example.id);
    if (number >= prefix.lines.size())
      return Status::error(
          fmt::format("'{}' has {} lines, but this is example {}", prefix.path,
                      prefix.lines.size(), number + 1));
    if (Status status =
            text->readPrefix(prefix.name, prefix.lines[number], example);
        status.failed())
      return Status::error(fmt::format("{}:{}: error: {}", prefix.path,
                                       number + 1, status.text()));
  }
  return Status::success();
}

/// Each line was one example.
int Runner::checkPrefixes() const {
  for (const Prefix &prefix : prefixes)
    if (prefix.lines.size() != static_cast<size_t>(numExamples))
      return fail(fmt::format("'{}' has {} lines but there are {} examples",
                              prefix.path, prefix.lines.size(), numExamples));
  return done;
}

int Runner::runFile(const std::string &path) {
  file = path == "-" ? "<stdin>" : path;
  if (path.ends_with(".safetensors"))
    return runTensors(path);
  if (path == "-")
    return runLines(STDIN_FILENO);
  std::string why;
  int descriptor = openToRead(path, why);
  if (descriptor < 0)
    return fail(fmt::format("cannot read '{}': {}", path, why));
  int code = isExample(descriptor) ? runExample() : runLines(descriptor);
  close(descriptor);
  return code;
}

//===----------------------------------------------------------------------===//
// What is printed
//===----------------------------------------------------------------------===//

void Runner::printExample(int64_t number, const Example &example,
                          const std::vector<Generated> &best) {
  for (const Generated &one : best) {
    if (flags.search.nbest)
      output += fmt::format("{}\t", number);
    if (flags.search.scores)
      output += fmt::format("{:.10g}\t", one.logp);
    if (flags.search.scores && flags.search.nbest)
      output += fmt::format("{:.10g}\t", one.score);
    output += text->textOf(example, one);
    output += '\n';
  }
}

/// Handles `--show`. Returns an exit code.
int Runner::readShows() {
  if (isScoring() && !flags.shows.empty())
    return fail(
        "'--show' needs generated output, but '--score' generates nothing",
        badUsage);
  for (const std::string &text : flags.shows) {
    size_t place = text.find('=');
    std::string name = text.substr(0, place);
    auto isIt = [&](const ShownEquation &equation) {
      return equation.name == name || equation.name.starts_with(name + ".");
    };
    size_t before = shows.size();
    for (const ShownEquation &equation : description.shows)
      if (isIt(equation))
        shows.push_back({equation, text.substr(place + 1), {}});
    if (shows.size() == before)
      return fail(fmt::format("this program does not show '{}'; it has {}",
                              name, shownNames(description)),
                  badUsage);
  }
  return done;
}

/// One file for each path, with all its equations.
int Runner::writeShows() {
  std::map<std::string, TensorFile> files;
  for (const Show &show : shows)
    storeShown(show.equation.name, show.examples, files[show.path]);
  for (const auto &[path, stored] : files)
    if (Status status = writeSafeTensors(path, stored); status.failed())
      return fail(status.text(), exitCodeOf(status));
  return done;
}

/// Adds the lines of some examples to the output.
Status Runner::print(const std::vector<Example> &examples) {
  if (isScoring()) {
    BatchResult result;
    Status status = model->loss(examples, result);
    for (double logp : result.logp)
      output += fmt::format("{:.10g}\n", logp);
    return status;
  }
  std::vector<std::vector<Generated>> results;
  Status status = model->decode(examples, options, results);
  for (size_t i = 0; i < results.size() && status.succeeded(); ++i) {
    printExample(numExamples + static_cast<int64_t>(i) + 1, examples[i],
                 results[i]);
    for (Show &show : shows)
      show.examples.push_back(shownIn(show.equation, description.axisSymbols,
                                      examples[i], results[i].front().outputs,
                                      model->words(),
                                      description.unknown.given));
  }
  return status;
}

int Runner::flush() {
  size_t count = std::fwrite(output.data(), 1, output.size(), stdout);
  bool good = count == output.size() && std::fflush(stdout) == 0;
  output.clear();
  return good ? static_cast<int>(done)
              : fail("cannot write to standard output", badMachine);
}

int Runner::runBatch(std::vector<Example> &examples) {
  if (examples.empty())
    return done;
  int64_t first = firstLine, last = lineNumber;
  Status status = print(examples);
  // Find the failing example; those before it are answered.
  for (size_t i = 0; status.failed() && i < examples.size(); ++i) {
    Status own = print({examples[i]});
    if (own.succeeded()) {
      ++numExamples;
      continue;
    }
    if (int code = flush())
      return code;
    lineNumber = first + static_cast<int64_t>(i);
    return failAt(own.text(), exitCodeOf(own));
  }
  if (status.succeeded())
    numExamples += static_cast<int64_t>(examples.size());
  lineNumber = last;
  examples.clear();
  return flush();
}

int Runner::run() {
  options = description.search;
  if (Status status = applyFlags(flags.search, options); status.failed())
    return fail(status.text(), badUsage);
  for (const std::string &idle : idleFlags(flags.search))
    std::fprintf(stderr, "warning: %s\n", idle.c_str());
  int threads = flags.threads;
  if (std::string said = limitThreads(threads); !said.empty())
    std::fprintf(stderr, "note: %s\n", said.c_str());
  Status status = Model::create(image, flags.weights, threads, model);
  if (status.failed())
    return fail(status.text(), exitCodeOf(status));
  if (isScoring() && model->numMembers() > 1)
    return fail(
        "'--score' accepts one model; help: use 'fovea score' for an ensemble",
        badUsage);
  if (int code = readShows())
    return code;
  const Program *program =
      isScoring()
          ? model->program("loss")
          : &model->about().decoder.programs[description.decoder.encode];
  assert(program && "there is no option for what is not compiled");
  text.emplace(description, model->words(), *program, loadData);
  if (int code = readPrefixes())
    return code;
  // Answers before an error are also stored.
  int code = runAll();
  return std::max(code, writeShows());
}

int Runner::runAll() {
  if (text->inputs().empty()) {
    if (!flags.files.empty())
      return fail(fmt::format("'{}' has no input", description.model),
                  badUsage);
    std::vector<Example> one(1);
    file = description.model;
    firstLine = 1;
    if (Status status = addPrefixes(one.front()); status.failed())
      return fail(status.text());
    int code = runBatch(one);
    return code ? code : checkPrefixes();
  }
  std::vector<std::string> files = flags.files;
  if (files.empty())
    files.push_back("-");
  for (const std::string &path : files)
    if (int code = runFile(path))
      return code;
  return checkPrefixes();
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

static void say(const char *text, size_t length) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, length);
}

static void onInterrupt(int) { _exit(130); }

static void onOutOfMemory() {
  constexpr char text[] = "error: out of memory\n";
  say(text, sizeof(text) - 1);
  _exit(badMachine);
}

/// The body of a program's `main`.
extern "C" int fovea_c_main(const FoveaImage *image, int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  std::set_new_handler(onOutOfMemory);
  if (Status status = checkOwnFile(); status.failed()) {
    std::fprintf(stderr, "error: %s\n", status.text().c_str());
    return badInput;
  }
  Description description;
  Status status = readDescription(
      {image->description, static_cast<size_t>(image->descriptionSize)},
      description);
  if (status.failed()) {
    std::fprintf(stderr, "error: %s\n", status.text().c_str());
    return badInput;
  }
  Flags flags;
  if (std::optional<int> code = readFlags(description, argc, argv, flags))
    return std::fflush(stdout) == 0 ? *code : static_cast<int>(badMachine);
  return Runner(*image, flags, std::move(description)).run();
}
