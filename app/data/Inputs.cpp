//===- Inputs.cpp - weights and data of a command -------------------------===//

#include "app/data/Inputs.h"
#include "dialect/reference/Batch.h"
#include "runtime/data/OpenFile.h"
#include "runtime/train/Initialise.h"
#include "llvm/Support/Path.h"

#include <cmath>
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

std::string fovea::cli::otherSizes(const Session &session, const Model &model,
                                   const runtime::TensorFile &file) {
  StoredSpec theirs;
  std::vector<std::string> have, need;
  if (!theirs.take(file.metadata))
    return "";
  for (const auto &[dim, size] : session.source().dims) {
    auto other = theirs.dims.find(dim);
    if (other == theirs.dims.end() || other->second == size)
      continue;
    have.push_back(fmt::format("{} = {}", dim, other->second));
    need.push_back(fmt::format("{} = {}", dim, size));
  }
  return have.empty()
             ? ""
             : fmt::format("{}, but '{}' has {}", llvm::join(have, ", "),
                           model.name, llvm::join(need, ", "));
}

/// Describes how weights with a spec differ from the model, in one sentence;
/// empty if they match or have no spec.
static std::string differenceOf(const Session &session, const Model &model,
                                const runtime::TensorFile &file,
                                const std::string &path) {
  StoredSpec theirs;
  if (!theirs.take(file.metadata))
    return "";
  std::string hint = "; help: name '" + path + "' instead of the spec";
  auto name = file.metadata.find("model");
  if (name != file.metadata.end() && name->second != model.name)
    return fmt::format("these weights belong to '{}', not to '{}'{}",
                       name->second, model.name, hint);
  std::string sizes = otherSizes(session, model, file);
  return sizes.empty() ? "" : "these weights have " + sizes + hint;
}

/// Returns whether every parameter of the model is present, with its extents,
/// and no other.
static bool fits(const Model &model, const runtime::TensorFile &file) {
  return file.tensors.size() == model.parameters.size() &&
         llvm::all_of(model.parameters, [&](const ParameterInfo &parameter) {
           auto found = file.tensors.find(parameter.path);
           return found != file.tensors.end() &&
                  llvm::equal(found->second.shape, parameter.shape);
         });
}

bool fovea::cli::checkParameters(Session &session, const std::string &path,
                                 const Model &model,
                                 const runtime::TensorFile &file) {
  if (path.empty() && !model.parameters.empty()) {
    session.error(fmt::format(
        "'{}' has {} parameters, but no weights are given; help: add --weights "
        "FILE, or replace the spec with the folder written by 'fovea train'",
        model.name, model.parameters.size()));
    return false;
  }
  bool good = true;
  auto report = [&](const std::string &text,
                    std::vector<Diagnostics::Note> notes = {}) {
    session.diagnostics().error(Code::weightsMisfit, {}, path + ": " + text,
                                std::move(notes));
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
    report(fmt::format("these weights belong to {}: it has {}, but '{}' has {}",
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
                         "weights do not store the '--set' options of their "
                         "training; help: repeat them"});
      report(fmt::format("'{}' has extents {} but the model needs {}",
                         parameter.path, runtime::shapeText(tensor.shape),
                         runtime::shapeText(shape)),
             std::move(notes));
      continue;
    }
    if (!tensor.isReal()) {
      report(fmt::format("'{}' is {} but parameters are F32 or F64",
                         parameter.path, runtime::nameOf(tensor.type)));
      continue;
    }
    // -inf masks scores, as in a causal mask; nothing else that is not finite
    // has a use.
    int64_t count = tensor.numElements(), wrong = 0;
    while (wrong < count && tensor.at(wrong) < HUGE_VAL)
      ++wrong;
    if (wrong < count)
      report(fmt::format("'{}' has the value {} at {}", parameter.path,
                         tensor.at(wrong),
                         runtime::shapeText(indicesOf(wrong, shape))));
  }
  for (const auto &[name, tensor] : file.tensors)
    if (llvm::none_of(model.parameters, [&](const ParameterInfo &parameter) {
          return parameter.path == name;
        }))
      report("'" + name + "' is not a parameter of the model" +
             meant(name, model));
  return good;
}

reference::Arrays fovea::cli::arraysOf(runtime::TensorFile file) {
  reference::Arrays arrays;
  for (auto &[path, tensor] : file.tensors) {
    arrays[path] = {tensor.shape, tensor.toDoubles(), false};
    tensor = runtime::Tensor();
  }
  return arrays;
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

bool fovea::cli::findBesideSpec(Session &session, const Arguments &arguments,
                                StringRef name, std::string &path) {
  const std::string &spec =
      arguments.stored.empty() ? arguments.spec() : arguments.stored;
  std::string why;
  if (runtime::findBeside(llvm::sys::path::parent_path(spec).str(), name.str(),
                          path, why))
    return true;
  session.error(fmt::format("{}: cannot read '{}': {}", spec, name.str(), why));
  return false;
}

/// Replaces initial values with the weights of `use .. from "FILE"`.
static bool takeUsed(Session &session, const Arguments &arguments,
                     const UseInfo &use, runtime::TensorFile &file) {
  std::string path;
  runtime::TensorFile used;
  if (!findBesideSpec(session, arguments, use.from, path))
    return false;
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
      // A model that uses another one has parameters of its own.
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
