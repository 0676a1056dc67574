//===- Shows.cpp - equations that a decoder is asked to show --------------===//

#include "driver/show/Shows.h"
#include "driver/data/Files.h"
#include "driver/show/Pictures.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

/// The extents of an equation of `@decoding`.
static std::vector<std::string> extentsOf(mlir::ModuleOp module,
                                          StringRef name) {
  std::vector<std::string> extents;
  auto system = module.lookupSymbol<attn::SystemOp>("decoding");
  for (auto equation : system.getOps<attn::EquationOp>()) {
    if (equation.getTarget() != name)
      continue;
    auto type = cast<attn::ArrayType>(equation.getOperand().getType());
    for (mlir::Attribute extent : type.getShape()) {
      auto length = dyn_cast<mlir::StringAttr>(extent);
      extents.push_back(
          length ? length.str()
                 : std::to_string(cast<mlir::IntegerAttr>(extent).getInt()));
    }
    break;
  }
  return extents;
}

std::vector<runtime::ShownEquation>
fovea::cli::shownEquations(Session &session, Model &model,
                           const std::string &name) {
  std::vector<runtime::ShownEquation> result;
  for (const std::string &equation :
       equationsNamed(session, model, "decoding", name))
    result.push_back({equation, extentsOf(*model.module, equation)});
  return result;
}

std::vector<runtime::AxisSymbols>
fovea::cli::axisSymbolsOf(const Model &model) {
  std::vector<runtime::AxisSymbols> symbols;
  for (const DataInfo &data : model.data)
    if (data.numIndices == 1 && !data.extents.empty() &&
        (data.kind == DataInfo::Token || data.kind == DataInfo::Class))
      symbols.push_back({data.extents.front(), fieldOf(data), data.isChosen});
  return symbols;
}

bool Shows::read(Session &session, const Arguments &arguments, Model &model) {
  title = model.name;
  symbols = axisSymbolsOf(model);
  for (const std::string &text : arguments.shows) {
    Show &show = shows.emplace_back();
    std::string name;
    [[maybe_unused]] bool isPair = splitPair(text, name, show.path);
    assert(isPair && "the command line has been checked");
    for (runtime::ShownEquation &equation :
         shownEquations(session, model, name))
      show.equations.push_back({std::move(equation), {}});
  }
  return !session.diagnostics().failed();
}

std::vector<std::string> Shows::equations() const {
  std::vector<std::string> names;
  for (const Show &show : shows)
    for (const Equation &equation : show.equations)
      names.push_back(equation.about.name);
  return names;
}

void Shows::add(const Execution &execution, const runtime::Example &example,
                const reference::Hypothesis &best) {
  logps.push_back(best.logp);
  std::map<std::string, runtime::DataValues> generated;
  if (!shows.empty())
    for (const auto &[name, array] : best.outputs)
      generated[name] = {array.shape, array.values};
  for (Show &show : shows)
    for (Equation &equation : show.equations)
      equation.examples.push_back(
          runtime::shownIn(equation.about, symbols, example, generated,
                           execution.vocabularies.words()));
}

int Shows::store(const Show &show) const {
  runtime::TensorFile file;
  for (const Equation &equation : show.equations)
    runtime::storeShown(equation.about.name, equation.examples, file);
  return writeTensors(show.path, file);
}

int Shows::draw(const Show &show) const {
  pictures::Page page;
  page.title = title;
  for (size_t number = 0; number < logps.size(); ++number)
    for (const auto &[about, examples] : show.equations) {
      std::vector<pictures::Axis> axes;
      for (const runtime::ShownAxis &axis : examples[number].axes)
        axes.push_back({axis.name, axis.labels});
      addPanels(page,
                fmt::format("{}: {}  (log p {:.4g})", number + 1, about.name,
                            logps[number]),
                about.name, examples[number].values, axes);
    }
  return writePicture(show.path, page);
}

int Shows::write() const {
  int code = done;
  for (const Show &show : shows)
    code = std::max(code, isPicture(show.path) ? draw(show) : store(show));
  return code;
}
