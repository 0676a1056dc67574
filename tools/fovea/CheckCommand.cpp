//===- CheckCommand.cpp - fovea check -------------------------------------===//
//
// Runs all checks of a spec, and prints its contents: parameters, lengths, and
// given, observed, generated and latent names.
//
//===----------------------------------------------------------------------===//

#include "app/data/Files.h"
#include "app/open/Session.h"
#include "app/train/TrainBlock.h"
#include "compiler/Contents.h"
#include "frontends/fov/syntax/Parser.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

/// `12,345`
static std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(i, ",");
  return digits;
}

/// `[3*H = 3072, 512]`
static std::string extentsOf(const ParameterInfo &parameter) {
  std::vector<std::string> parts;
  for (auto [text, size] :
       llvm::zip_equal(parameter.extents, parameter.shape)) {
    std::string number = std::to_string(size);
    parts.push_back(text == number ? text : text + " = " + number);
  }
  return "[" + llvm::join(parts, ", ") + "]";
}

static void printParameters(const Model &model, llvm::raw_ostream &out) {
  // Saturates: --set can request any size.
  uint64_t count = 0;
  size_t width = 0;
  for (const ParameterInfo &parameter : model.parameters) {
    uint64_t size = 1;
    for (int64_t extent : parameter.shape)
      size = llvm::SaturatingMultiply<uint64_t>(size, extent);
    count = llvm::SaturatingAdd(count, size);
    width = std::max(width, parameter.path.size());
  }
  out << "parameters: " << model.parameters.size();
  if (!model.parameters.empty())
    out << ", " << grouped(count) << " values";
  out << '\n';
  for (const ParameterInfo &parameter : model.parameters)
    out << fmt::format("  {:<{}}  {}\n", parameter.path, width,
                       extentsOf(parameter));
}

/// `tgt[T] : sentence`
static std::string describe(const Model &model, const DataInfo &data) {
  static constexpr StringRef kinds[] = {"real",  "int",   "bit",
                                        "token", "class", "position"};
  StringRef kind = data.isSentence ? StringRef("sentence") : kinds[data.kind];
  std::string axes = llvm::join(data.extents, ", ");
  std::string text =
      data.name + (axes.empty() ? "" : "[" + axes + "]") + " : " + kind.str();
  if (data.vocabularySize >= 0)
    text += fmt::format(" of {}", data.vocabularySize);
  if (llvm::is_contained(model.assumedVocabularies, data.vocabulary))
    text += " (assumed)";
  return text;
}

static void printList(StringRef what, llvm::ArrayRef<std::string> items,
                      llvm::raw_ostream &out) {
  out << what << ": " << (items.empty() ? "none" : llvm::join(items, ", "))
      << '\n';
}

static void printModel(const Model &model, llvm::raw_ostream &out) {
  out << "model " << model.name << '\n';
  printParameters(model, out);
  std::vector<std::string> given, chosen, continued;
  for (const DataInfo &data : model.data)
    (data.isContinued ? continued
     : data.isChosen  ? chosen
                      : given)
        .push_back(describe(model, data));
  printList("free lengths", model.lengths, out);
  std::vector<std::string> byValues;
  for (const auto &[name, most] : model.valueLengths)
    byValues.push_back(name + " <= " + most);
  if (!byValues.empty())
    printList("lengths that follow from values", byValues, out);
  printList("given", given, out);
  bool isDecoded = model.undecoded.empty();
  if (!chosen.empty() || continued.empty())
    printList(isDecoded ? "observed in training, generated in decoding"
                        : "observed in training, not generated",
              chosen, out);
  if (!continued.empty())
    printList(isDecoded ? "observed in training, continued by a row in decoding"
                        : "observed in training, not continued",
              continued, out);
  printList("latent", model.latents, out);
  for (const std::string &replacement : model.replacements)
    out << "replaced: " << replacement << '\n';
  for (const std::string &refusal : model.refusals)
    out << "not executed yet: " << refusal << '\n';
}

/// Describes a model as JSON. Call it before `check`, which lowers the
/// equations.
static llvm::json::Object describeModel(Model &model) {
  namespace json = llvm::json;
  static constexpr StringRef kinds[] = {"real",  "int",   "bit",
                                        "token", "class", "position"};
  json::Array parameters, datas, equations;
  for (const ParameterInfo &parameter : model.parameters)
    parameters.push_back(
        json::Object{{"name", parameter.path},
                     {"shape", json::Array(parameter.shape)},
                     {"extents", json::Array(parameter.extents)}});
  for (const DataInfo &data : model.data)
    datas.push_back(json::Object{{"name", data.name},
                                 {"kind", kinds[data.kind]},
                                 {"extents", json::Array(data.extents)},
                                 {"sizes", json::Array(data.sizes)},
                                 {"parents", json::Array(data.parents)},
                                 {"sentence", data.isSentence},
                                 {"ends", data.ends},
                                 {"chosen", data.isChosen},
                                 {"vocabulary", data.vocabulary},
                                 {"symbols", data.vocabularySize},
                                 {"symbols_are", data.vocabularyKind},
                                 {"labels", json::Array(data.labels)}});
  if (model.module)
    for (compiler::Equation &equation :
         compiler::equationsIn(*model.module, "training"))
      equations.push_back(json::Object{
          {"name", equation.name}, {"extents", json::Array(equation.extents)}});
  json::Array valueLengths;
  for (const auto &[name, most] : model.valueLengths)
    valueLengths.push_back(json::Object{{"name", name}, {"most", most}});
  json::Object dims;
  for (const auto &[name, size] : model.dims)
    dims[name] = size;
  return json::Object{
      {"model", model.name},
      {"dims", std::move(dims)},
      {"lengths", json::Array(model.lengths)},
      {"value_lengths", std::move(valueLengths)},
      {"parameters", std::move(parameters)},
      {"data", std::move(datas)},
      {"equations", std::move(equations)},
      {"objective", model.module && compiler::hasObjective(*model.module)}};
}

namespace {

/// The errors and warnings of a check, as JSON.
class DiagnosticsList {
public:
  void listenTo(Diagnostics &diagnostics) {
    diagnostics.listen([&](llvm::SourceMgr::DiagKind kind, Code code,
                           llvm::SMLoc loc, const std::string &text) {
      llvm::json::Object entry = placeOf(diagnostics.sources(), loc);
      entry["message"] = text;
      if (kind == llvm::SourceMgr::DK_Note) {
        notes().push_back(std::move(entry));
        return;
      }
      entry["severity"] =
          kind == llvm::SourceMgr::DK_Error ? "error" : "warning";
      if (code != Code::none)
        entry["code"] = idOf(code);
      entry["notes"] = llvm::json::Array();
      entries.push_back(std::move(entry));
    });
  }

  llvm::json::Array take() { return std::move(entries); }

private:
  static llvm::json::Object placeOf(llvm::SourceMgr &sources, llvm::SMLoc loc) {
    unsigned id = loc.isValid() ? sources.FindBufferContainingLoc(loc) : 0;
    if (!id)
      return {};
    auto [line, column] = sources.getLineAndColumn(loc, id);
    return llvm::json::Object{
        {"file", sources.getMemoryBuffer(id)->getBufferIdentifier()},
        {"line", line},
        {"column", column}};
  }

  llvm::json::Array &notes() {
    return *entries.back().getAsObject()->getArray("notes");
  }

  llvm::json::Array entries;
};

} // namespace

/// Adds the results of `check`. `model` is null if it has errors.
static void printJson(const Model *model, llvm::json::Object description,
                      llvm::json::Array diagnostics, llvm::raw_ostream &out) {
  if (!model)
    description.clear();
  else if (!description.empty()) {
    description["generates"] =
        model->undecoded.empty() &&
        llvm::any_of(model->data,
                     [](const DataInfo &data) { return data.isChosen; });
    description["undecoded"] = model->undecoded;
  }
  description["diagnostics"] = std::move(diagnostics);
  out << llvm::formatv("{0:2}", llvm::json::Value(std::move(description)))
      << '\n';
}

static int checkSyntax(const std::string &path) {
  std::optional<std::string> input = readInput(path);
  if (!input)
    return badInput;
  Diagnostics diagnostics(llvm::errs());
  llvm::StringRef rest =
      diagnostics.addSource(sourceName(path), std::move(*input));
  do
    rest = parse(rest, diagnostics)->rest;
  while (!rest.empty());
  diagnostics.finish();
  return diagnostics.failed() ? badInput : done;
}

/// Whether training can read the train block (reported).
static bool checkTrainBlock(Session &session, const Arguments &arguments,
                            Model &model) {
  runtime::TrainOptions options;
  runtime::Status status =
      readTrainOptions(readTrainBlock(model).entries, model.dims, options);
  if (status.succeeded())
    return checkNames(session, arguments, model, options);
  session.error(arguments.spec() + ": " + status.text());
  return false;
}

int fovea::cli::runCheck(const Arguments &arguments) {
  if (arguments.syntaxOnly)
    return checkSyntax(arguments.spec());
  Session session(arguments);
  DiagnosticsList found;
  if (arguments.asJson)
    found.listenTo(session.diagnostics());
  std::unique_ptr<Model> model = session.open();
  llvm::json::Object description;
  if (arguments.asJson && model && model->module)
    description = describeModel(*model);
  bool isGood =
      model &&
      (!model->module || checkTrainBlock(session, arguments, *model)) &&
      session.check(*model);
  if (arguments.asJson)
    printJson(isGood ? model.get() : nullptr, std::move(description),
              found.take(), llvm::outs());
  else if (isGood)
    printModel(*model, llvm::outs());
  return session.finish();
}
