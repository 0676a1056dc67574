//===- Inputs.cpp - weights and data of a command -------------------------===//

#include "tools/fovea/Inputs.h"
#include "tools/fovea/TextData.h"

#include <fmt/format.h>

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

bool fovea::cli::readWeightsFile(Session &session, const Arguments &arguments,
                                 runtime::TensorFile &file) {
  if (arguments.weights.empty())
    return true;
  runtime::Status status = runtime::readSafeTensors(arguments.weights, file);
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

bool fovea::cli::takeParameters(Session &session, const Arguments &arguments,
                                const Model &model,
                                const runtime::TensorFile &file,
                                reference::Arrays &parameters) {
  if (arguments.weights.empty() && !model.parameters.empty()) {
    session.error(fmt::format("'{}' has {} parameters; give '--weights FILE' "
                              "('fovea init' writes one)",
                              model.name, model.parameters.size()));
    return false;
  }
  bool good = true;
  auto report = [&](const std::string &text) {
    session.error(arguments.weights + ": " + text);
    good = false;
  };
  for (const ParameterInfo &parameter : model.parameters) {
    auto found = file.tensors.find(parameter.path);
    if (found == file.tensors.end()) {
      report("'" + parameter.path + "' is missing");
      continue;
    }
    const runtime::Tensor &tensor = found->second;
    std::vector<int64_t> shape(parameter.shape.begin(), parameter.shape.end());
    if (tensor.shape != shape) {
      report(fmt::format("'{}' has extents {} but the model needs {}",
                         parameter.path, runtime::shapeText(tensor.shape),
                         runtime::shapeText(shape)));
      continue;
    }
    if (!tensor.isReal()) {
      report(fmt::format("'{}' is {} but a parameter is F32 or F64",
                         parameter.path, runtime::nameOf(tensor.type)));
      continue;
    }
    parameters[parameter.path] = {shape, tensor.toDoubles(), false};
  }
  for (const auto &[name, tensor] : file.tensors)
    if (llvm::none_of(model.parameters, [&](const ParameterInfo &parameter) {
          return parameter.path == name;
        }))
      report("'" + name + "' is no parameter of the model" +
             meant(name, model));
  return good;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

namespace {

/// Gathers the examples of one command.
class ExampleReader {
public:
  ExampleReader(Session &session, const Arguments &arguments,
                const Model &model, const WantedData &wanted,
                std::vector<runtime::Example> &examples)
      : session(session), arguments(arguments), model(model), wanted(wanted),
        examples(examples) {}

  bool run();

private:
  bool fail(const std::string &text) {
    session.error(text);
    return false;
  }
  bool readTensors(const std::string &path, const std::string &only);
  bool addText(const std::string &name, const std::string &path);
  bool addValues(const std::string &path, const runtime::DataSpec &spec,
                 std::vector<runtime::DataValues> values);
  bool checkNeeded();

  const runtime::DataSpec *specOf(StringRef name) {
    for (const auto *list : {&wanted.needed, &wanted.known})
      for (const runtime::DataSpec &spec : *list)
        if (spec.name == name)
          return &spec;
    return nullptr;
  }
  const DataInfo *infoOf(StringRef name) {
    for (const DataInfo &data : model.data)
      if (data.name == name)
        return &data;
    return nullptr;
  }

  Session &session;
  const Arguments &arguments;
  const Model &model;
  const WantedData &wanted;
  std::vector<runtime::Example> &examples;
  Vocabularies vocabularies;
  runtime::TensorFile tensors;
  std::string firstPath; // that gave the number of examples
};

} // namespace

/// Takes the tensors of a batch file; of one data name when `only` is given.
bool ExampleReader::readTensors(const std::string &path,
                                const std::string &only) {
  runtime::TensorFile file;
  if (runtime::Status status = runtime::readSafeTensors(path, file);
      status.failed())
    return fail(status.text());
  for (auto &[name, tensor] : file.tensors)
    if (only.empty() || name == only || name == "example" ||
        StringRef(name).starts_with(only + ".length"))
      tensors.tensors[name] = std::move(tensor);
  if (!only.empty() && !tensors.tensors.contains(only))
    return fail(path + ": '" + only + "' is missing");
  firstPath = path;
  return true;
}

bool ExampleReader::addText(const std::string &name, const std::string &path) {
  const DataInfo *info = infoOf(name);
  if (!info) {
    std::vector<StringRef> names;
    for (const DataInfo &data : model.data)
      names.push_back(data.name);
    StringRef found = nearest(name, names);
    return fail("no data is called '" + name + "'" +
                (found.empty() ? "" : "; did you mean '" + found.str() + "'?"));
  }
  const runtime::DataSpec *spec = specOf(name);
  // What is generated or not read may be given, and changes nothing.
  if (!spec)
    return true;
  std::vector<runtime::DataValues> values;
  return readText(session, path, *info, *spec, vocabularies, values) &&
         addValues(path, *spec, std::move(values));
}

bool ExampleReader::addValues(const std::string &path,
                              const runtime::DataSpec &spec,
                              std::vector<runtime::DataValues> values) {
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
    if (!spec.axes.empty() && !spec.axes[0].length.empty()) {
      const std::string &length = spec.axes[0].length;
      runtime::LengthValues given{false, {value.shape[0]}};
      auto [found, isNew] = example.lengths.try_emplace(length, given);
      if (!isNew && found->second.values != given.values)
        good = fail(fmt::format(
            "example {} of '{}': '{}' has length {} = {} but other data has {}",
            number + 1, path, spec.name, length, given.values.front(),
            found->second.values.front()));
    }
    example.data[spec.name] = std::move(value);
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
  if (!vocabularies.read(session, arguments, model))
    return false;
  std::vector<std::pair<std::string, std::string>> texts;
  bool good = true;
  for (const std::string &text : arguments.data) {
    std::string name, path;
    if (!splitPair(text, name, path))
      good &= readTensors(text, /*only=*/"");
    else if (StringRef(path).ends_with(".safetensors"))
      good &= readTensors(path, name);
    else
      texts.push_back({name, path});
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
  for (const auto &[name, path] : texts)
    good &= addText(name, path);
  return good && checkNeeded();
}

bool fovea::cli::readExamples(Session &session, const Arguments &arguments,
                              const Model &model, const WantedData &wanted,
                              std::vector<runtime::Example> &examples) {
  return ExampleReader(session, arguments, model, wanted, examples).run();
}
