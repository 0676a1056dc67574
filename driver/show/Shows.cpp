//===- Shows.cpp - equations that a decoder is asked to show --------------===//

#include "driver/show/Shows.h"
#include "driver/data/Files.h"
#include "driver/show/Pictures.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

static std::vector<std::string> extentsOf(attn::EquationOp equation) {
  std::vector<std::string> extents;
  auto type = cast<attn::ArrayType>(equation.getOperand().getType());
  for (mlir::Attribute extent : type.getShape()) {
    auto length = dyn_cast<mlir::StringAttr>(extent);
    extents.push_back(
        length ? length.str()
               : std::to_string(cast<mlir::IntegerAttr>(extent).getInt()));
  }
  return extents;
}

/// The extents of an equation of `@decoding`.
static std::vector<std::string> extentsOf(mlir::ModuleOp module,
                                          StringRef name) {
  auto system = module.lookupSymbol<attn::SystemOp>("decoding");
  for (auto equation : system.getOps<attn::EquationOp>())
    if (equation.getTarget() == name)
      return extentsOf(equation);
  return {};
}

/// Whether the elements of an equation along its last axis are weights.
static bool isNormalised(attn::EquationOp equation) {
  auto compute = equation.getOperand().getDefiningOp<attn::ComputeOp>();
  return compute && compute.getReducer() == attn::Reducer::softmax;
}

std::string fovea::cli::alignmentOf(const Model &model) {
  auto isAlong = [&](const std::string &extent, bool isChosen) {
    return llvm::any_of(model.data, [&](const DataInfo &data) {
      return data.isChosen == isChosen && !data.extents.empty() &&
             data.extents.front() == extent;
    });
  };
  // Between what is generated and what is given; weights; computed last.
  using Rank = std::pair<bool, bool>;
  std::string best;
  Rank bestRank;
  mlir::ModuleOp module = model.module.get();
  auto system = module.lookupSymbol<attn::SystemOp>("decoding");
  for (auto equation : system.getOps<attn::EquationOp>()) {
    std::vector<std::string> extents = extentsOf(equation);
    if (extents.size() < 2)
      continue;
    const std::string &row = extents[extents.size() - 2];
    const std::string &column = extents.back();
    bool isOfChosen = isAlong(row, true), isOverGiven = isAlong(column, false);
    if ((!isOfChosen && !isAlong(row, false)) ||
        (!isOverGiven && !isAlong(column, true)))
      continue;
    Rank rank = {isOfChosen && isOverGiven, isNormalised(equation)};
    if (best.empty() || rank >= bestRank) {
      best = equation.getTarget().str();
      bestRank = rank;
    }
  }
  return best;
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
  for (size_t numIndices : {1, 2})
    for (const DataInfo &data : model.data)
      if (data.numIndices == numIndices && data.extents.size() == numIndices &&
          (data.kind == DataInfo::Token || data.kind == DataInfo::Class))
        symbols.push_back({data.extents.front(), fieldOf(data), data.isChosen,
                           numIndices == 2 ? data.extents.back() : ""});
  return symbols;
}

/// What goes to a file; several `--show` may share one.
Shows::Show &Shows::showOf(const std::string &path) {
  for (Show &show : shows)
    if (show.path == path)
      return show;
  shows.push_back({path, {}});
  return shows.back();
}

bool Shows::read(Session &session, const Arguments &arguments, Model &model) {
  title = model.name;
  symbols = axisSymbolsOf(model);
  Underlays underlays(model);
  for (const std::string &text : arguments.shows) {
    std::string name, path;
    [[maybe_unused]] bool isPair = splitPair(text, name, path);
    assert(isPair && "the command line has been checked");
    Show &show = showOf(path);
    auto data = llvm::find_if(model.data, [&](const DataInfo &one) {
      return one.isChosen && one.name == name;
    });
    if (data != model.data.end()) {
      runtime::ShownEquation about{name, data->extents};
      show.equations.push_back({about,
                                name,
                                /*isGenerated=*/true,
                                underlays.under(about),
                                {},
                                {},
                                {}});
      continue;
    }
    for (runtime::ShownEquation &equation :
         shownEquations(session, model, name)) {
      Underlay underlay = underlays.under(equation);
      show.equations.push_back(
          {std::move(equation), name, false, std::move(underlay), {}, {}, {}});
    }
  }
  return !session.diagnostics().failed();
}

std::vector<std::string> Shows::equations() const {
  std::vector<std::string> names;
  for (const Show &show : shows)
    for (const Equation &equation : show.equations)
      if (!equation.isGenerated)
        names.push_back(equation.about.name);
  return names;
}

void Shows::add(const Execution &execution, const runtime::Example &example,
                const reference::Hypothesis &best) {
  logps.push_back(best.logp);
  using Values = std::map<std::string, runtime::DataValues>;
  Values generated;
  if (!shows.empty())
    for (const auto &[name, array] : best.outputs)
      generated[name] = {array.shape, array.values};
  // What was generated, or else what is given.
  auto valuesOf = [&](const std::string &name) {
    for (const Values *values :
         std::initializer_list<const Values *>{&generated, &example.data})
      if (auto found = values->find(name); found != values->end())
        return found->second;
    return runtime::DataValues();
  };
  for (Show &show : shows)
    for (Equation &equation : show.equations) {
      equation.examples.push_back(
          runtime::shownIn(equation.about, symbols, example, generated,
                           execution.vocabularies.words()));
      equation.unders.push_back(valuesOf(equation.underlay.data.name));
      equation.lifts.push_back(valuesOf(equation.underlay.lift.name));
    }
}

int Shows::store(const Show &show) const {
  runtime::TensorFile file;
  for (const Equation &equation : show.equations)
    runtime::storeShown(equation.about.name, equation.examples, file);
  return writeTensors(show.path, file);
}

/// The end of the members of a family that begin at `first` and have one axis
/// alike, as the hops of a memory network: they are the rows of one matrix.
size_t Shows::membersFrom(const Show &show, size_t first,
                          size_t example) const {
  const Equation &one = show.equations[first];
  size_t end = first + 1;
  while (end < show.equations.size() && one.about.extents.size() == 1 &&
         one.about.name != one.asked &&
         show.equations[end].asked == one.asked &&
         show.equations[end].about.extents == one.about.extents &&
         show.equations[end].examples[example].values.shape ==
             one.examples[example].values.shape)
    ++end;
  return end;
}

Drawn Shows::drawnOf(const Show &show, size_t first, size_t end,
                     size_t example) const {
  const Equation &equation = show.equations[first];
  const runtime::ShownValues &shown = equation.examples[example];
  Drawn drawn;
  drawn.group = end > first + 1 ? equation.asked : equation.about.name;
  drawn.title = fmt::format("{}: {}  (log p {:.4g})", example + 1, drawn.group,
                            logps[example]);
  drawn.values = shown.values;
  drawn.under = equation.unders[example];
  drawn.lifts = equation.lifts[example];
  for (const runtime::ShownAxis &axis : shown.axes)
    drawn.axes.push_back({axis.name, axis.labels});
  if (end == first + 1)
    return drawn;
  pictures::Axis members;
  drawn.values.values.clear();
  drawn.values.shape.insert(drawn.values.shape.begin(), end - first);
  for (size_t number = first; number < end; ++number) {
    const Equation &member = show.equations[number];
    members.labels.push_back(member.about.name.substr(member.asked.size() + 1));
    llvm::append_range(drawn.values.values,
                       member.examples[example].values.values);
  }
  drawn.axes.insert(drawn.axes.begin(), members);
  return drawn;
}

int Shows::draw(const Show &show) const {
  pictures::Page page;
  page.title = title;
  for (size_t example = 0; example < logps.size(); ++example)
    for (size_t first = 0, end = 0; first < show.equations.size();
         first = end) {
      end = membersFrom(show, first, example);
      Drawn drawn = drawnOf(show, first, end, example);
      if (!addOver(page, show.equations[first].underlay, drawn))
        addPanels(page, drawn.title, drawn.group, drawn.values.shape,
                  drawn.values.values, drawn.axes);
    }
  return writePicture(show.path, page);
}

int Shows::write() const {
  int code = done;
  for (const Show &show : shows)
    code = std::max(code, isPicture(show.path) ? draw(show) : store(show));
  return code;
}
