//===- Inputs.cpp - weights and data of a command -------------------------===//

#include "driver/data/Inputs.h"
#include "dialect/reference/Batch.h"
#include "driver/data/FileData.h"
#include "runtime/data/OpenFile.h"
#include "runtime/train/Initialise.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <fmt/format.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

bool fovea::cli::splitPair(const std::string &text, std::string &name,
                           std::string &value) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return false;
  name = text.substr(0, equals);
  value = text.substr(equals + 1);
  return true;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

bool fovea::cli::readWeightsFile(Session &session, const std::string &path,
                                 runtime::TensorFile &file) {
  if (path.empty())
    return true;
  std::vector<std::pair<std::string, std::string>> sets = session.givenSets();
  runtime::Status status = readModel(path, sets, file);
  if (status.failed())
    session.error(status.text());
  return status.succeeded();
}

/// The parameter names of a model, for "did you mean".
static std::string meant(StringRef name, const Model &model) {
  std::vector<StringRef> names;
  for (const ParameterInfo &parameter : model.parameters)
    names.push_back(parameter.path);
  StringRef found = nearest(name, names);
  return found.empty() ? "" : "; did you mean '" + found.str() + "'?";
}

/// `v [8], w [8, 4] and 5 more`.
static std::string firstOf(llvm::ArrayRef<std::string> all) {
  constexpr size_t most = 3;
  std::string text = llvm::join(all.take_front(most), ", ");
  return all.size() <= most
             ? text
             : text + fmt::format(" and {} more", all.size() - most);
}

/// Element `flat` of a dense array, as an index for each axis.
static std::vector<int64_t> indicesOf(int64_t flat,
                                      const std::vector<int64_t> &shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
    indices[axis] = flat % shape[axis];
  return indices;
}

/// How weights that carry their spec are of another model, in one sentence;
/// empty where it is the same, or nobody knows.
static std::string differenceOf(const Session &session, const Model &model,
                                const runtime::TensorFile &file,
                                const std::string &path) {
  StoredSpec theirs;
  if (!theirs.take(file.metadata))
    return "";
  std::string hint = "; '" + path + "' in the place of the spec takes theirs";
  auto name = file.metadata.find("model");
  if (name != file.metadata.end() && name->second != model.name)
    return fmt::format("these are weights of '{}', and not of '{}'{}",
                       name->second, model.name, hint);
  std::vector<std::string> have, need;
  for (const auto &[dim, size] : session.source().dims) {
    auto other = theirs.dims.find(dim);
    if (other == theirs.dims.end() || other->second == size)
      continue;
    have.push_back(fmt::format("{} = {}", dim, other->second));
    need.push_back(fmt::format("{} = {}", dim, size));
  }
  if (have.empty())
    return "";
  return fmt::format("these weights have {}, but '{}' has {}{}",
                     llvm::join(have, ", "), model.name, llvm::join(need, ", "),
                     hint);
}

/// Whether every parameter of the model is there, with its extents, and no
/// other.
static bool fits(const Model &model, const runtime::TensorFile &file) {
  return file.tensors.size() == model.parameters.size() &&
         llvm::all_of(model.parameters, [&](const ParameterInfo &parameter) {
           auto found = file.tensors.find(parameter.path);
           return found != file.tensors.end() &&
                  llvm::equal(found->second.shape, parameter.shape);
         });
}

bool fovea::cli::takeParameters(Session &session, const std::string &path,
                                const Model &model,
                                const runtime::TensorFile &file,
                                reference::Arrays &parameters) {
  if (path.empty() && !model.parameters.empty()) {
    session.error(fmt::format("'{}' has {} parameters; give '--weights FILE' "
                              "('fovea init' writes one)",
                              model.name, model.parameters.size()));
    return false;
  }
  bool good = true;
  auto report = [&](const std::string &text,
                    std::vector<Diagnostics::Note> notes = {}) {
    session.diagnostics().error({}, path + ": " + text, std::move(notes));
    good = false;
  };
  if (!path.empty() && !fits(model, file))
    if (std::string text = differenceOf(session, model, file, path);
        !text.empty()) {
      report(text);
      return false;
    }
  if (!path.empty() && !file.tensors.empty() && !model.parameters.empty() &&
      llvm::none_of(model.parameters, [&](const ParameterInfo &parameter) {
        return file.tensors.contains(parameter.path);
      })) {
    std::vector<std::string> theirs, ours;
    for (const auto &[name, tensor] : file.tensors)
      theirs.push_back(name + " " + runtime::shapeText(tensor.shape));
    for (const ParameterInfo &parameter : model.parameters)
      ours.push_back(
          parameter.path + " " +
          runtime::shapeText({parameter.shape.begin(), parameter.shape.end()}));
    auto known = file.metadata.find("model");
    report(fmt::format("these are weights of {}: it has {}, but '{}' has {}",
                       known == file.metadata.end() ? "another model"
                                                    : "'" + known->second + "'",
                       firstOf(theirs), model.name, firstOf(ours)));
    return false;
  }
  bool hasHint = false;
  for (const ParameterInfo &parameter : model.parameters) {
    auto found = file.tensors.find(parameter.path);
    if (found == file.tensors.end()) {
      report("'" + parameter.path + "' is missing");
      continue;
    }
    const runtime::Tensor &tensor = found->second;
    std::vector<int64_t> shape(parameter.shape.begin(), parameter.shape.end());
    if (tensor.shape != shape) {
      std::vector<Diagnostics::Note> notes;
      if (!file.metadata.contains("spec") && !std::exchange(hasHint, true))
        notes.push_back({{},
                         "weights do not know the '--set' of their training; "
                         "it has to be given again"});
      report(fmt::format("'{}' has extents {} but the model needs {}",
                         parameter.path, runtime::shapeText(tensor.shape),
                         runtime::shapeText(shape)),
             std::move(notes));
      continue;
    }
    if (!tensor.isReal()) {
      report(fmt::format("'{}' is {} but a parameter is F32 or F64",
                         parameter.path, runtime::nameOf(tensor.type)));
      continue;
    }
    reference::Array values{shape, tensor.toDoubles(), false};
    auto wrong = llvm::find_if_not(
        values.values, [](double value) { return std::isfinite(value); });
    if (wrong != values.values.end())
      report(fmt::format(
          "'{}' has the value {} at {}", parameter.path, *wrong,
          runtime::shapeText(indicesOf(wrong - values.values.begin(), shape))));
    parameters[parameter.path] = std::move(values);
  }
  for (const auto &[name, tensor] : file.tensors)
    if (llvm::none_of(model.parameters, [&](const ParameterInfo &parameter) {
          return parameter.path == name;
        }))
      report("'" + name + "' is no parameter of the model" +
             meant(name, model));
  return good;
}

/// `train { init = .. }`, empty where the spec says nothing.
static std::string schemeOf(Model &model) {
  if (!model.module)
    return "";
  auto train =
      (*model.module)->getAttrOfType<mlir::DictionaryAttr>("attn.train");
  auto scheme = train ? train.getAs<mlir::StringAttr>("init") : nullptr;
  return scheme ? scheme.str() : "";
}

std::string fovea::cli::besideSpec(const Arguments &arguments, StringRef name) {
  if (llvm::sys::path::is_absolute(name))
    return name.str();
  llvm::SmallString<128> path = llvm::sys::path::parent_path(arguments.spec());
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// Puts the weights of `use .. from "FILE"` in the place of drawn ones.
static bool takeUsed(Session &session, const Arguments &arguments,
                     const UseInfo &use, runtime::TensorFile &file) {
  std::string path = besideSpec(arguments, use.from);
  runtime::TensorFile used;
  runtime::Status status = runtime::readSafeTensors(path, used);
  if (status.failed()) {
    session.error(status.text());
    return false;
  }
  bool good = true;
  auto report = [&](const std::string &text) {
    session.error(path + ": " + text);
    good = false;
  };
  for (auto &[name, tensor] : file.tensors) {
    StringRef own = name;
    if (!own.consume_front(use.prefix))
      continue;
    auto found = used.tensors.find(own.str());
    if (found == used.tensors.end()) {
      // What includes a model has parameters of its own.
      if (!use.prefix.empty())
        report("'" + own.str() + "' is missing");
    } else if (found->second.shape != tensor.shape || !found->second.isReal()) {
      report(fmt::format("'{}' is {} {} but '{}' needs {}", own.str(),
                         runtime::nameOf(found->second.type),
                         runtime::shapeText(found->second.shape), name,
                         runtime::shapeText(tensor.shape)));
    } else {
      tensor = runtime::Tensor::of(tensor.type, tensor.shape,
                                   found->second.toDoubles());
    }
  }
  return good;
}

bool fovea::cli::drawWeights(Session &session, const Arguments &arguments,
                             Model &model, uint64_t seed,
                             runtime::TensorFile &file) {
  std::vector<runtime::InitialParameter> parameters;
  for (const ParameterInfo &parameter : model.parameters)
    parameters.push_back({parameter.path,
                          {parameter.shape.begin(), parameter.shape.end()},
                          parameter.role});
  auto type =
      arguments.dtype == "f64" ? runtime::DType::F64 : runtime::DType::F32;
  runtime::Status status =
      runtime::initialise(parameters, schemeOf(model), seed, type, file);
  if (status.failed())
    session.error(arguments.spec() + ": " + status.text());
  bool good = status.succeeded();
  for (const UseInfo &use : model.uses)
    if (good && !use.from.empty())
      good = takeUsed(session, arguments, use, file);
  return good;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

std::vector<runtime::DataSpec>
fovea::cli::describeData(const Model &model, mlir::Operation *container) {
  std::vector<runtime::DataSpec> specs = reference::describeData(container);
  addLimits(model, specs);
  return specs;
}

std::vector<runtime::DataSpec> fovea::cli::describeAllData(const Model &model) {
  std::vector<runtime::DataSpec> specs;
  for (const DataInfo &data : model.data) {
    runtime::DataSpec &spec = specs.emplace_back();
    spec.name = data.name;
    spec.kind = data.kind == DataInfo::Real  ? runtime::DataKind::Real
                : data.kind == DataInfo::Bit ? runtime::DataKind::Bit
                                             : runtime::DataKind::Whole;
    for (auto [extent, size, parent] :
         llvm::zip_equal(data.extents, data.sizes, data.parents)) {
      runtime::DataAxis &axis = spec.axes.emplace_back();
      if (size >= 0)
        axis.size = size;
      else
        axis.length = extent;
      axis.parent = parent;
    }
  }
  addLimits(model, specs);
  return specs;
}

void fovea::cli::addLimits(const Model &model,
                           std::vector<runtime::DataSpec> &specs) {
  for (runtime::DataSpec &spec : specs)
    for (const DataInfo &info : model.data) {
      if (info.name != spec.name)
        continue;
      if (info.kind == DataInfo::Token || info.kind == DataInfo::Class)
        spec.limit = std::max<int64_t>(info.vocabularySize, 0);
      if (info.positionOf.empty())
        continue;
      spec.limit = info.ends ? 1 : 0;
      if (int64_t number = 0; llvm::to_integer(info.positionOf, number))
        spec.limit += number;
      else
        spec.limitLength = info.positionOf;
    }
}

namespace {

/// Gathers the examples of one command.
class ExampleReader {
public:
  ExampleReader(Session &session, const std::vector<GivenData> &given,
                const Model &model, const WantedData &wanted,
                const Vocabularies &vocabularies,
                std::vector<runtime::Example> &examples)
      : session(session), given(given), model(model), wanted(wanted),
        vocabularies(vocabularies), examples(examples) {}

  bool run();

private:
  bool fail(const std::string &text) {
    session.error(text);
    return false;
  }
  bool readTensors(const std::string &path, const std::string &only);
  bool readArrays(const std::string &path, const std::string &name);
  bool addNamed(const GivenData &data);
  bool addValues(const std::string &path, const runtime::DataSpec &spec,
                 std::vector<LoadedValues> values);
  bool checkNeeded();
  bool checkLimits();

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
  const DataInfo *infoOf(StringRef name) {
    for (const DataInfo &data : model.data)
      if (data.name == name)
        return &data;
    return nullptr;
  }

  Session &session;
  const std::vector<GivenData> &given;
  const Model &model;
  const WantedData &wanted;
  const Vocabularies &vocabularies;
  std::vector<runtime::Example> &examples;
  runtime::TensorFile tensors;
  std::string firstPath; // that gave the number of examples
};

} // namespace

/// Whether a file, or a column of one, has lines of text.
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

/// Takes the tensors of a batch file; of one data name when `only` is given.
bool ExampleReader::readTensors(const std::string &path,
                                const std::string &only) {
  runtime::TensorFile file;
  if (runtime::Status status = runtime::readSafeTensors(path, file);
      status.failed()) {
    if (!only.empty() || !isText(path))
      return fail(status.text());
    std::vector<StringRef> names = dataNames();
    session.misuse(
        fmt::format("'{}' is text, and text has a name: '--data {}={}'{}", path,
                    names.empty() ? "NAME" : names.front().str(), path,
                    existing("", std::move(names))));
    return false;
  }
  for (auto &[name, tensor] : file.tensors)
    if (only.empty() || name == only || name == "example" ||
        StringRef(name).starts_with(only + ".length"))
      tensors.tensors[name] = std::move(tensor);
  if (!only.empty() && !tensors.tensors.contains(only))
    return fail(path + ": '" + only + "' is missing");
  firstPath = path;
  return true;
}

/// Takes the arrays of a file of numpy: all of them, or those of one data name.
bool ExampleReader::readArrays(const std::string &path,
                               const std::string &name) {
  const DataInfo *info = name.empty() ? nullptr : infoOf(name);
  if (!name.empty() && !info)
    return fail("no data is called '" + name + "'" +
                existing(name, dataNames()));
  runtime::Status status = runtime::Status::success();
  if (info) {
    if (const runtime::DataSpec *spec = specOf(name))
      status = loadArrays(path, *info, *spec, tensors);
  } else {
    status = loadAllArrays(path, model, wanted.known, tensors);
  }
  if (status.failed())
    return fail(status.text());
  firstPath = path;
  return true;
}

/// Adds one data name that comes as text, or as files.
bool ExampleReader::addNamed(const GivenData &data) {
  const auto &[name, path] = data;
  const DataInfo *info = infoOf(name);
  if (!info)
    return fail("no data is called '" + name + "'" +
                existing(name, dataNames()));
  const runtime::DataSpec *spec = specOf(name);
  // What is generated or not read may be given, and changes nothing.
  if (!spec)
    return true;
  std::vector<LoadedValues> values;
  std::vector<std::vector<std::string>> words;
  if (data.form() == GivenData::Files) {
    std::vector<std::string> files;
    runtime::Status status = listFiles(path, files);
    for (const std::string &file : files)
      if (status.succeeded())
        status = loadFile(file, *info, *spec, values.emplace_back());
    if (status.failed())
      return fail(status.text());
  } else if (!readText(session, sourceOf(path), *info, *spec, vocabularies,
                       values, name == wanted.words ? &words : nullptr)) {
    return false;
  }
  if (!addValues(path, *spec, std::move(values)))
    return false;
  for (size_t i = 0; i < words.size(); ++i)
    examples[i].words = std::move(words[i]);
  return true;
}

bool ExampleReader::addValues(const std::string &path,
                              const runtime::DataSpec &spec,
                              std::vector<LoadedValues> values) {
  if (examples.empty() && firstPath.empty()) {
    examples.resize(values.size());
    for (auto [id, example] : llvm::enumerate(examples))
      example.id = id;
    firstPath = path;
  }
  if (examples.size() != values.size())
    return fail(fmt::format("'{}' has {} examples where '{}' has {}", firstPath,
                            examples.size(), path, values.size()));
  bool good = true;
  for (auto [number, example, value] : llvm::enumerate(examples, values)) {
    if (std::string mistake = addLengths(spec.name, value.lengths, example);
        !mistake.empty())
      good = fail(
          fmt::format("example {} of '{}': {}", number + 1, path, mistake));
    example.data[spec.name] = std::move(value.values);
  }
  return good;
}

bool ExampleReader::checkNeeded() {
  // What needs no data is one example.
  if (examples.empty() && (wanted.needed.empty() || firstPath.empty()))
    examples.resize(1);
  bool good = true;
  for (const runtime::DataSpec &spec : wanted.needed)
    if (!examples.empty() && !examples.front().data.contains(spec.name))
      good = fail("data '" + spec.name + "' is not given; add '--data " +
                  spec.name + "=FILE'");
  return good;
}

bool ExampleReader::run() {
  std::vector<GivenData> texts;
  bool good = true;
  for (const GivenData &data : given)
    switch (data.form()) {
    case GivenData::Tensors:
      good &= readTensors(data.path, data.name);
      break;
    case GivenData::Arrays:
      good &= readArrays(data.path, data.name);
      break;
    default:
      texts.push_back(data);
    }
  if (!good)
    return false;
  if (!firstPath.empty()) {
    // A batch file alone has to hold all that is needed.
    std::vector<runtime::DataSpec> specs;
    for (const runtime::DataSpec &spec : wanted.needed)
      if (texts.empty() || tensors.tensors.contains(spec.name))
        specs.push_back(spec);
    for (const runtime::DataSpec &spec : wanted.known)
      if (tensors.tensors.contains(spec.name) &&
          llvm::none_of(specs, [&](const runtime::DataSpec &other) {
            return other.name == spec.name;
          }))
        specs.push_back(spec);
    runtime::Status status = runtime::splitBatch(tensors, specs, examples);
    if (status.failed())
      return fail(firstPath + ": " + status.text());
  }
  for (const GivenData &data : texts)
    good &= addNamed(data);
  return good && checkNeeded() && (texts.empty() || checkLimits());
}

/// Places of an array, which a line alone does not judge.
bool ExampleReader::checkLimits() {
  for (const runtime::DataSpec &spec : wanted.needed)
    for (auto [number, example] : llvm::enumerate(examples))
      if (runtime::Status status = checkLimit(spec, example, number + 1);
          status.failed())
        return fail(status.text());
  return true;
}

std::vector<GivenData>
fovea::cli::givenData(const Arguments &arguments, const Model &model,
                      const std::vector<runtime::DataSpec> &needed) {
  if (!arguments.data.empty() || arguments.stored.empty() || isatty(0))
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

GivenData::Form GivenData::form() const {
  StringRef file = path;
  if (file.ends_with(".safetensors"))
    return Tensors;
  if (isArrayFile(file))
    return Arrays;
  if (name.empty())
    return Tensors;
  return isDataFile(file) || llvm::sys::fs::is_directory(file) ? Files : Text;
}

std::vector<GivenData>
fovea::cli::splitData(const std::vector<std::string> &texts) {
  std::vector<GivenData> result;
  for (const std::string &text : texts) {
    // A comma begins another pair where a name and an equals sign follow.
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

bool fovea::cli::readExamples(Session &session,
                              const std::vector<GivenData> &given,
                              const Model &model, const WantedData &wanted,
                              const Vocabularies &vocabularies,
                              std::vector<runtime::Example> &examples) {
  return ExampleReader(session, given, model, wanted, vocabularies, examples)
      .run();
}
