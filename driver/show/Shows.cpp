//===- Shows.cpp - equations that a decoder is asked to show --------------===//

#include "driver/show/Shows.h"
#include "driver/data/Files.h"
#include "driver/show/Pictures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using nlohmann::json;

/// The extents of the equations of `@decoding`, by name.
static std::map<std::string, std::vector<std::string>>
extentsOf(mlir::ModuleOp module) {
  std::map<std::string, std::vector<std::string>> result;
  auto system = module.lookupSymbol<attn::SystemOp>("decoding");
  for (auto equation : system.getOps<attn::EquationOp>()) {
    auto type = cast<attn::ArrayType>(equation.getOperand().getType());
    std::vector<std::string> &extents = result[equation.getTarget().str()];
    for (mlir::Attribute extent : type.getShape()) {
      auto name = dyn_cast<mlir::StringAttr>(extent);
      extents.push_back(
          name ? name.str()
               : std::to_string(cast<mlir::IntegerAttr>(extent).getInt()));
    }
  }
  return result;
}

bool Shows::read(Session &session, const Arguments &arguments, Model &model) {
  title = model.name;
  auto extents = extentsOf(*model.module);
  for (const std::string &text : arguments.shows) {
    Show &show = shows.emplace_back();
    std::string name;
    [[maybe_unused]] bool isPair = splitPair(text, name, show.path);
    assert(isPair && "the command line has been checked");
    for (const std::string &equation :
         equationsNamed(session, model, "decoding", name))
      show.equations.push_back({equation, extents[equation], {}, {}});
  }
  return !session.diagnostics().failed();
}

std::vector<std::string> Shows::equations() const {
  std::vector<std::string> names;
  for (const Show &show : shows)
    for (const Equation &equation : show.equations)
      names.push_back(equation.name);
  return names;
}

/// The axis of an extent: its labels are the symbols that lie along it, of what
/// is given or of what was generated.
static pictures::Axis axisOf(const std::string &extent,
                             const Execution &execution,
                             const runtime::Example &example,
                             const reference::Hypothesis &best) {
  pictures::Axis axis;
  axis.name =
      StringRef(extent).find_first_not_of("0123456789") == StringRef::npos
          ? ""
          : extent;
  for (const DataInfo &data : execution.model->data) {
    if (data.numIndices != 1 || data.extents.empty() ||
        data.extents.front() != extent ||
        (data.kind != DataInfo::Token && data.kind != DataInfo::Class))
      continue;
    const std::vector<double> *values = nullptr;
    if (auto given = example.data.find(data.name); given != example.data.end())
      values = &given->second.values;
    if (auto made = best.outputs.find(data.name);
        data.isChosen && made != best.outputs.end())
      values = &made->second.values;
    if (!values)
      continue;
    axis.name = data.name;
    runtime::TextField field = fieldOf(data);
    for (double value : *values)
      axis.labels.push_back(execution.vocabularies.words().wordOf(
          field, static_cast<int64_t>(value)));
    break;
  }
  axis.size = static_cast<int64_t>(axis.labels.size());
  return axis;
}

void Shows::add(const Execution &execution, const runtime::Example &example,
                const reference::Hypothesis &best) {
  logps.push_back(best.logp);
  for (Show &show : shows)
    for (Equation &equation : show.equations) {
      const reference::Array &array = best.outputs.at(equation.name);
      equation.values.push_back({array.shape, array.values});
      std::vector<pictures::Axis> &axes = equation.axes.emplace_back();
      for (const std::string &extent : equation.extents)
        axes.push_back(axisOf(extent, execution, example, best));
    }
}

/// A batch file: padded arrays with their lengths, and what stands along their
/// axes as metadata for `fovea plot`.
int Shows::store(const Show &show) const {
  runtime::TensorFile file;
  for (const Equation &equation : show.equations) {
    const auto &[name, extents, values, axes] = equation;
    file.tensors[name] = runtime::joinPadded(runtime::DType::F64, values);
    size_t rank = values.empty() ? 0 : values.front().shape.size();
    for (size_t axis = 0; axis < rank; ++axis) {
      std::vector<double> lengths;
      for (const runtime::DataValues &value : values)
        lengths.push_back(static_cast<double>(value.shape[axis]));
      std::string suffix = axis == 0 ? "" : "." + std::to_string(axis + 1);
      file.tensors[name + ".length" + suffix] = runtime::Tensor::of(
          runtime::DType::I64, {static_cast<int64_t>(values.size())}, lengths);
    }
    json stored = json::array();
    for (const std::vector<pictures::Axis> &example : axes) {
      json &row = stored.emplace_back(json::array());
      for (const pictures::Axis &axis : example)
        row.push_back({{"name", axis.name}, {"labels", axis.labels}});
    }
    file.metadata["axes." + name] =
        stored.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return writeTensors(show.path, file);
}

int Shows::draw(const Show &show) const {
  pictures::Page page;
  page.title = title;
  for (size_t example = 0; example < logps.size(); ++example)
    for (const Equation &equation : show.equations)
      addPanels(page,
                fmt::format("{}: {}  (log p {:.4g})", example + 1,
                            equation.name, logps[example]),
                equation.name, equation.values[example],
                equation.axes[example]);
  return writePicture(show.path, page);
}

int Shows::write() const {
  int code = done;
  for (const Show &show : shows)
    code = std::max(code, isPicture(show.path) ? draw(show) : store(show));
  return code;
}
