//===- CheckCommand.cpp - fovea check -------------------------------------===//
//
// Runs everything that can find a mistake of the user, and says what a spec
// has: parameters, lengths, and what is given, observed, generated, latent.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "driver/data/Files.h"
#include "driver/model/Session.h"
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
  // Saturating: nothing limits what --set asks for.
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
  printList("given", given, out);
  if (!chosen.empty() || continued.empty())
    printList("observed in training, generated in decoding", chosen, out);
  if (!continued.empty())
    printList("observed in training, continued by a row in decoding", continued,
              out);
  printList("latent", model.latents, out);
  for (const std::string &replacement : model.replacements)
    out << "replaced: " << replacement << '\n';
  if (!model.undecoded.empty())
    out << "not decoded: " << model.undecoded << '\n';
  for (const std::string &refusal : model.refusals)
    out << "not executed yet: " << refusal << '\n';
}

/// What a program asks about a model.
static void printJson(Model &model, llvm::raw_ostream &out) {
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
  if (auto training =
          model.module ? model.module->lookupSymbol<attn::SystemOp>("training")
                       : nullptr)
    for (auto equation : training.getOps<attn::EquationOp>()) {
      json::Array extents;
      for (mlir::Attribute extent :
           llvm::cast<attn::ArrayType>(equation.getOperand().getType())
               .getShape())
        extents.push_back(attn::extentText(extent));
      equations.push_back(json::Object{{"name", equation.getTarget()},
                                       {"extents", std::move(extents)}});
    }
  json::Object dims;
  for (const auto &[name, size] : model.dims)
    dims[name] = size;
  out << llvm::formatv("{0:2}", json::Value(json::Object{
                                    {"model", model.name},
                                    {"dims", std::move(dims)},
                                    {"lengths", json::Array(model.lengths)},
                                    {"parameters", std::move(parameters)},
                                    {"data", std::move(datas)},
                                    {"equations", std::move(equations)},
                                    {"objective", hasObjective(model)},
                                    {"generates",
                                     model.undecoded.empty() &&
                                         llvm::any_of(model.data,
                                                      [](const DataInfo &data) {
                                                        return data.isChosen;
                                                      })}}))
      << '\n';
}

static int checkSyntax(const std::string &path) {
  std::optional<std::string> input = readInput(path);
  if (!input)
    return badInput;
  Diagnostics diagnostics(llvm::errs());
  parse(diagnostics.addSource(sourceName(path), std::move(*input)),
        diagnostics);
  diagnostics.finish();
  return diagnostics.failed() ? badInput : done;
}

int fovea::cli::runCheck(const Arguments &arguments) {
  if (arguments.syntaxOnly)
    return checkSyntax(arguments.spec());
  Session session(arguments);
  std::unique_ptr<Model> model = session.open();
  if (!model)
    return session.finish();
  std::string json;
  if (arguments.asJson && model->module) {
    llvm::raw_string_ostream out(json);
    printJson(*model, out);
  }
  if (!session.check(*model))
    return session.finish();
  if (json.empty())
    printModel(*model, llvm::outs());
  else
    llvm::outs() << json;
  return session.finish();
}
