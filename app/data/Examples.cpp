//===- Examples.cpp - the examples that a command is given ----------------===//

#include "app/data/Examples.h"
#include "app/data/ArrayData.h"
#include "app/data/Column.h"
#include "app/data/Corpora.h"
#include "app/data/FileData.h"
#include "app/data/Inputs.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/FileSystem.h"

#include <deque>
#include <fmt/format.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The given data
//===----------------------------------------------------------------------===//

std::vector<GivenData>
fovea::cli::givenData(const Arguments &arguments, const Model &model,
                      const std::vector<runtime::DataSpec> &needed) {
  if (!arguments.data.empty() || arguments.stored.empty())
    return splitData(arguments.data);
  std::vector<GivenData> result;
  for (const DataInfo &data : model.data)
    if (llvm::any_of(needed, [&](const runtime::DataSpec &spec) {
          return spec.name == data.name;
        }))
      result.push_back({data.name, "-"});
  for (size_t i = 0; result.size() > 1 && i < result.size(); ++i)
    result[i].path += fmt::format(":{}", i + 1);
  return result;
}

static const DataInfo *infoOf(const Model &model, StringRef name) {
  auto found = llvm::find_if(
      model.data, [&](const DataInfo &data) { return data.name == name; });
  return found == model.data.end() ? nullptr : &*found;
}

/// Returns whether text is given as a folder, which only pictures, sounds and
/// arrays can be.
static bool isFolderOfText(const GivenData &given, const DataInfo &data) {
  return given.form() == GivenData::Files &&
         llvm::sys::fs::is_directory(given.path) && !data.vocabulary.empty();
}

static bool refuseFolder(Session &session, const GivenData &given) {
  session.error("'" + given.path + "' is a folder, but '" + given.name +
                "' is text; help: name a file with one example per line");
  return false;
}

bool fovea::cli::haveData(Session &session, const std::vector<GivenData> &given,
                          const Model &model) {
  std::vector<StringRef> names;
  for (const DataInfo &data : model.data)
    names.push_back(data.name);
  bool good = true;
  for (const GivenData &data : given)
    if (!data.name.empty() && !llvm::is_contained(names, data.name)) {
      session.error("there is no data '" + data.name + "'" +
                    existing(data.name, names));
      good = false;
    }
  for (const GivenData &data : given)
    if (const DataInfo *info = infoOf(model, data.name);
        info && isFolderOfText(data, *info))
      good = refuseFolder(session, data);
  return good;
}

GivenData::Form GivenData::form() const {
  StringRef file = path;
  if (file.ends_with(".safetensors"))
    return Tensors;
  if (isArrayFile(file))
    return Arrays;
  if (name.empty())
    return Tensors;
  bool isFolder = llvm::sys::fs::is_directory(file) && !isCorpus(path);
  return isDataFile(file) || isFolder ? Files : Text;
}

std::vector<GivenData>
fovea::cli::splitData(const std::vector<std::string> &texts) {
  std::vector<GivenData> result;
  for (const std::string &text : texts) {
    // A comma separates pairs if a name and an equals sign follow.
    llvm::SmallVector<StringRef> parts;
    StringRef(text).split(parts, ',');
    std::string whole;
    auto finish = [&] {
      GivenData &data = result.emplace_back();
      if (!splitPair(whole, data.name, data.path))
        data = {"", whole};
    };
    for (auto [number, part] : llvm::enumerate(parts)) {
      bool begins = part.contains('=');
      if (number > 0 && begins) {
        finish();
        whole.clear();
      }
      whole += (number > 0 && !begins ? "," : "") + part.str();
    }
    finish();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// One name
//===----------------------------------------------------------------------===//

namespace {

static TextSource sourceOf(const GivenData &given) {
  TextSource source = cli::sourceOf(given.path, given.name);
  source.text = given.text;
  return source;
}

/// Lines of text.
class TextColumn : public Column {
public:
  TextColumn(Session &session, const GivenData &given, const DataInfo &data,
             const runtime::DataSpec &spec, const Vocabularies &vocabularies)
      : Column(given.path),
        reader(session, sourceOf(given), data, spec, vocabularies) {}

  TextLines::Kind next(LoadedValues &values,
                       std::vector<std::string> *words) override {
    return reader.next(values, words);
  }
  int64_t countRest() override { return reader.countRest(); }

private:
  TextReader reader;
};

/// Files with one example each.
class FileColumn : public Column {
public:
  FileColumn(Session &session, const std::string &path, const DataInfo &data,
             const runtime::DataSpec &spec, std::vector<std::string> files)
      : Column(path), session(session), data(data), spec(spec),
        files(std::move(files)) {}

  TextLines::Kind next(LoadedValues &values,
                       std::vector<std::string> *) override {
    if (number == files.size())
      return TextLines::End;
    runtime::Status status = loadFile(files[number++], data, spec, values);
    if (status.succeeded())
      return TextLines::Good;
    session.error(status.text());
    return TextLines::Failed;
  }
  int64_t countRest() override { return files.size() - number; }

private:
  Session &session;
  const DataInfo &data;
  const runtime::DataSpec &spec;
  std::vector<std::string> files;
  size_t number = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// All names
//===----------------------------------------------------------------------===//

namespace {

/// Joins the examples of one command.
class ExampleReader {
public:
  ExampleReader(Session &session, const std::vector<GivenData> &given,
                const Model &model, const WantedData &wanted,
                const Vocabularies &vocabularies,
                llvm::function_ref<bool(runtime::Example)> take)
      : session(session), given(given), model(model), wanted(wanted),
        vocabularies(vocabularies), take(take) {}

  bool run();

private:
  /// A name that comes as text or as files, and its column.
  struct Named {
    const runtime::DataSpec *spec;
    std::unique_ptr<Column> column;
    int64_t count = 0;
    bool isOver = false;
  };

  bool fail(const std::string &text) {
    session.error(text);
    return false;
  }
  bool readTensors(const std::string &path, const std::string &only);
  bool openArrays(const std::string &path, const std::string &name);
  bool openNamed(const GivenData &data);
  void beginArrays(bool isAlone);
  bool checkNeeded();
  bool nextOfArrays(runtime::Example &example);
  bool nextOf(Named &named, runtime::Example &example);
  bool join(runtime::Example &example);
  bool compareCounts();
  bool checkLimits(const runtime::Example &example);

  const runtime::DataSpec *specOf(StringRef name) {
    for (const auto *list : {&wanted.needed, &wanted.known})
      for (const runtime::DataSpec &spec : *list)
        if (spec.name == name)
          return &spec;
    return nullptr;
  }
  std::vector<StringRef> dataNames() const {
    std::vector<StringRef> names;
    for (const DataInfo &data : model.data)
      names.push_back(data.name);
    return names;
  }

  Session &session;
  const std::vector<GivenData> &given;
  const Model &model;
  const WantedData &wanted;
  const Vocabularies &vocabularies;
  llvm::function_ref<bool(runtime::Example)> take;
  /// The source that starts an example: arrays, if there are any.
  ArrayData arrays;
  std::string arrayPath; // of the last one; empty: there are none
  std::deque<runtime::Example> fromArrays;
  std::vector<runtime::Example> part;
  int64_t numFromArrays = 0;
  bool areArraysOver = false;
  std::vector<Named> columns;
  int64_t number = 0; // examples that are done
  bool isBroken = false;
};

} // namespace

/// Returns whether a file, or a column of one, contains lines of text.
static bool isText(const std::string &path) {
  std::string file = sourceOf(path).path, why;
  if (StringRef(file).ends_with(".safetensors"))
    return false;
  int descriptor = runtime::openToRead(file, why);
  if (descriptor < 0)
    return false;
  char bytes[512];
  ssize_t count = read(descriptor, bytes, sizeof(bytes));
  close(descriptor);
  return count > 0 && StringRef(bytes, count).find('\0') == StringRef::npos;
}

/// Takes the tensors of a batch file, or those of one data name if `only` is
/// set.
bool ExampleReader::readTensors(const std::string &path,
                                const std::string &only) {
  runtime::TensorFile file;
  if (runtime::Status status = runtime::readSafeTensors(path, file);
      status.failed()) {
    if (!only.empty() || !isText(path))
      return fail(status.text());
    std::vector<StringRef> names = dataNames();
    session.misuse(fmt::format(
        "'{}' is text, and text data needs a name; help: use '--data {}={}'{}",
        path, names.empty() ? "NAME" : names.front().str(), path,
        existing("", std::move(names))));
    return false;
  }
  for (auto &[name, tensor] : file.tensors)
    if (only.empty() || name == only || name == "example" ||
        StringRef(name).starts_with(only + ".length"))
      arrays.add(name, std::move(tensor));
  if (!only.empty() && !arrays.contains(only))
    return fail(path + ": '" + only + "' is missing");
  arrayPath = path;
  return true;
}

/// Opens the arrays of a numpy file: all of them, or those of one data name.
bool ExampleReader::openArrays(const std::string &path,
                               const std::string &name) {
  const DataInfo *info = name.empty() ? nullptr : infoOf(model, name);
  if (!name.empty() && !info)
    return fail("there is no data '" + name + "'" +
                existing(name, dataNames()));
  runtime::Status status = runtime::Status::success();
  if (info) {
    if (const runtime::DataSpec *spec = specOf(name))
      status = arrays.add(path, *info, *spec);
  } else {
    status = arrays.addAll(path, model, wanted.known);
  }
  if (status.failed())
    return fail(status.text());
  arrayPath = path;
  return true;
}

/// Opens one data name that comes as text or as files.
bool ExampleReader::openNamed(const GivenData &data) {
  const std::string &name = data.name, &path = data.path;
  const DataInfo *info = infoOf(model, name);
  if (!info)
    return fail("there is no data '" + name + "'" +
                existing(name, dataNames()));
  const runtime::DataSpec *spec = specOf(name);
  // Data that are generated or not read may be given, without effect.
  if (!spec) {
    std::string file = sourceOf(data).path;
    return file == "-" || StringRef(file).contains('*') ||
           llvm::sys::fs::exists(file) ||
           fail("cannot read '" + file + "': No such file or directory");
  }
  if (isFolderOfText(data, *info))
    return refuseFolder(session, data);
  if (data.form() != GivenData::Files) {
    std::unique_ptr<Column> column =
        openArchive(session, sourceOf(data), *info, *spec);
    if (!column)
      column = std::make_unique<TextColumn>(session, data, *info, *spec,
                                            vocabularies);
    columns.push_back({spec, std::move(column)});
    return true;
  }
  std::vector<std::string> files;
  if (runtime::Status status = listFiles(path, files); status.failed())
    return fail(status.text());
  columns.push_back({spec, std::make_unique<FileColumn>(
                               session, path, *info, *spec, std::move(files))});
  return true;
}

/// Determines the data in the arrays. A batch file without other sources must
/// contain everything needed.
void ExampleReader::beginArrays(bool isAlone) {
  std::vector<runtime::DataSpec> specs;
  for (const runtime::DataSpec &spec : wanted.needed)
    if (isAlone || arrays.contains(spec.name))
      specs.push_back(spec);
  for (const runtime::DataSpec &spec : wanted.known)
    if (arrays.contains(spec.name) &&
        llvm::none_of(specs, [&](const runtime::DataSpec &other) {
          return other.name == spec.name;
        }))
      specs.push_back(spec);
  arrays.begin(std::move(specs));
}

bool ExampleReader::checkNeeded() {
  bool good = true;
  for (const runtime::DataSpec &spec : wanted.needed)
    if (!arrays.contains(spec.name) &&
        llvm::none_of(columns, [&](const Named &named) {
          return named.spec->name == spec.name;
        }))
      good = fail("data '" + spec.name + "' is not given; help: add '" +
                  wanted.option + " " + spec.name + "=FILE'");
  return good;
}

/// Starts the next example from the arrays. Returns false at their end.
bool ExampleReader::nextOfArrays(runtime::Example &example) {
  if (fromArrays.empty() && !areArraysOver) {
    runtime::Status status = arrays.read(arrayPath, part);
    if (status.failed()) {
      isBroken = true;
      fail(status.text());
    }
    areArraysOver = part.empty();
    fromArrays.assign(std::make_move_iterator(part.begin()),
                      std::make_move_iterator(part.end()));
  }
  if (fromArrays.empty())
    return false;
  example = std::move(fromArrays.front());
  fromArrays.pop_front();
  ++numFromArrays;
  return true;
}

/// Adds one name's data to the next example. Returns false on an error.
bool ExampleReader::nextOf(Named &named, runtime::Example &example) {
  LoadedValues values;
  bool hasWords = named.spec->name == wanted.words;
  switch (named.column->next(values, hasWords ? &example.words : nullptr)) {
  case TextLines::End:
    named.isOver = true;
    return false;
  case TextLines::Failed:
    isBroken = true;
    return false;
  case TextLines::Wrong:
    ++named.count;
    return false;
  case TextLines::Good:
    break;
  }
  ++named.count;
  if (std::string mistake =
          addLengths(named.spec->name, values.lengths, example);
      !mistake.empty())
    return fail(fmt::format("example {} of '{}': {}", number + 1,
                            named.column->path, mistake));
  example.data[named.spec->name] = std::move(values.values);
  return true;
}

/// Joins the next example. Returns false at the end, or on an error.
bool ExampleReader::join(runtime::Example &example) {
  bool good = true;
  example.id = number;
  if (!arrayPath.empty())
    good = nextOfArrays(example);
  for (Named &named : columns)
    if (!isBroken)
      good &= nextOf(named, example);
  return good;
}

/// Checks, after the last example of one source, that all sources have the same
/// number.
bool ExampleReader::compareCounts() {
  for (runtime::Example unused; !arrayPath.empty() && nextOfArrays(unused);) {
  }
  std::string firstPath = arrayPath;
  int64_t first = numFromArrays;
  bool good = !isBroken;
  for (Named &named : columns) {
    int64_t count = named.count + named.column->countRest();
    if (firstPath.empty()) {
      firstPath = named.column->path;
      first = count;
    }
    if (count != first)
      good = fail(fmt::format("'{}' has {} examples but '{}' has {}", firstPath,
                              first, named.column->path, count));
  }
  return good;
}

/// Places of an array, which cannot be checked line by line.
bool ExampleReader::checkLimits(const runtime::Example &example) {
  for (const runtime::DataSpec &spec : wanted.needed)
    if (runtime::Status status = checkLimit(spec, example, number + 1);
        status.failed())
      return fail(status.text());
  return true;
}

bool ExampleReader::run() {
  bool good = true;
  std::vector<GivenData> named;
  for (const GivenData &data : given)
    switch (data.form()) {
    case GivenData::Tensors:
      good &= readTensors(data.path, data.name);
      break;
    case GivenData::Arrays:
      good &= openArrays(data.path, data.name);
      break;
    default:
      named.push_back(data);
    }
  if (!good)
    return false;
  for (const GivenData &data : named)
    good &= openNamed(data);
  bool isAlone = named.empty() && !arrayPath.empty();
  beginArrays(isAlone);
  if (good && !isAlone)
    good = checkNeeded();
  if (!good)
    return false;
  // Without data there is one example.
  if (arrayPath.empty() && columns.empty())
    return take(runtime::Example());
  for (;; ++number) {
    runtime::Example example;
    bool isGood = join(example);
    if (isBroken)
      return false;
    bool isOver = !arrayPath.empty() && numFromArrays == number;
    for (const Named &one : columns)
      isOver |= one.isOver;
    if (isOver)
      return compareCounts() && good;
    good &= isGood;
    if (good && !named.empty())
      good = checkLimits(example);
    if (good && !take(std::move(example)))
      return false;
  }
}

bool fovea::cli::forExamples(Session &session,
                             const std::vector<GivenData> &given,
                             const Model &model, const WantedData &wanted,
                             const Vocabularies &vocabularies,
                             llvm::function_ref<bool(runtime::Example)> take) {
  return ExampleReader(session, given, model, wanted, vocabularies, take).run();
}

bool fovea::cli::readExamples(Session &session,
                              const std::vector<GivenData> &given,
                              const Model &model, const WantedData &wanted,
                              const Vocabularies &vocabularies,
                              std::vector<runtime::Example> &examples) {
  return forExamples(session, given, model, wanted, vocabularies,
                     [&](runtime::Example example) {
                       examples.push_back(std::move(example));
                       return true;
                     });
}
