//===- Target.cpp - what must hold for any text whatever ------------------===//

#include "tools/fuzz/Target.h"

#include "dialect/AttnDialect.h"
#include "frontends/fov/Frontend.h"
#include "frontends/fov/syntax/Lexer.h"
#include "frontends/fov/syntax/Parser.h"
#include "passes/Pipeline.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Regex.h"

#include <set>

using namespace fovea;
using namespace llvm;

/// Not an assertion: it must hold in every build.
static void require(bool holds, const char *what) {
  if (!holds)
    report_fatal_error(what);
}

/// (F1)
static void checkPrinted(StringRef printed, bool refused) {
  auto *bytes = reinterpret_cast<const UTF8 *>(printed.begin());
  require(
      isLegalUTF8String(&bytes, reinterpret_cast<const UTF8 *>(printed.end())),
      "a diagnostic is not UTF-8");
  require(none_of(printed,
                  [](char c) {
                    return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f';
                  }),
          "a diagnostic holds a control character");
  require(!refused || printed.contains("error: "),
          "a text is refused without an error");
}

/// Parses all models of a text, and returns what they print.
static std::string astOf(StringRef source, Diagnostics &diagnostics) {
  std::string text;
  raw_string_ostream out(text);
  std::unique_ptr<ast::File> file;
  for (StringRef rest = source; !file || !rest.empty(); rest = file->rest) {
    file = parse(rest, diagnostics);
    printAst(*file, out);
  }
  return text;
}

static std::vector<StringRef> commentsOf(StringRef text,
                                         Diagnostics &diagnostics) {
  std::vector<StringRef> comments;
  Lexer lexer(text, diagnostics, /*keepComments=*/true);
  for (Token token = lexer.next(); !token.is(Token::EndOfFile);
       token = lexer.next())
    if (token.is(Token::Comment))
      comments.push_back(token.text.rtrim());
  return comments;
}

static void checkLayout(StringRef text, StringRef ast) {
  std::string printed;
  raw_string_ostream out(printed);
  Diagnostics diagnostics(out);
  std::string formatted = formatSource(text, diagnostics);
  std::string again = astOf(formatted, diagnostics);
  require(!diagnostics.failed(), "a layout does not parse");
  require(ast == again, "a layout changes the meaning");
  require(commentsOf(text, diagnostics) == commentsOf(formatted, diagnostics),
          "a layout changes the comments");
  require(formatSource(formatted, diagnostics) == formatted,
          "a layout is laid out once more");
}

std::string fuzz::wordingMistake(StringRef printed) {
  // Internal indices, ops, adjoints `d x`, and verifiers.
  static const Regex inside(
      "(^|[^A-Za-z0-9_.])[dp][0-9]+([^A-Za-z0-9_.]|$)|adjoint|attn\\.|scf\\.|"
      "arith\\.|'d [a-z_]|[ (]d [a-z_]+[],.0-9)']|' op |internal error");
  std::set<StringRef> said;
  for (StringRef line : split(printed, '\n')) {
    // `file:line:col: error: text`, or no place.
    SmallVector<StringRef> parts;
    static const Regex message(
        "^([^ ]+:[0-9]+:[0-9]+: )?(error|warning|note): (.*)$");
    if (!message.match(line, &parts))
      continue;
    // An undefined name is one that the spec contains.
    if (!parts[3].contains("' is not defined") && inside.match(parts[3]))
      return "a message speaks of the inside: " + line.str();
    if (parts[2] == "note")
      continue;
    if (parts[1].starts_with("prelude.fov"))
      return "an error stands in the prelude: " + line.str();
    static const Regex code(" \\[[EW][0-9]+\\]$");
    StringRef text = parts[3];
    SmallVector<StringRef, 1> found;
    if (code.match(text, &found))
      text = text.drop_back(found[0].size());
    bool hasName = text.find_first_of("'[") != StringRef::npos;
    if (hasName && !said.insert(text).second)
      return "an error is said twice: " + line.str();
  }
  return "";
}

/// (F5)
static bool runPasses(mlir::ModuleOp module, std::string &refusal) {
  mlir::MLIRContext &context = *module.getContext();
  raw_string_ostream out(refusal);
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return;
        out << "error: " << diagnostic << '\n';
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          out << "note: " << note << '\n';
      });
  mlir::PassManager manager(&context, mlir::ModuleOp::getOperationName());
  attn::buildPipeline(manager, attn::PipelineOptions());
  bool good = succeeded(manager.run(module));
  checkPrinted(refusal, !good);
  // The verifier's own messages: `'attn.read' op reads ..`.
  require(good || !StringRef(refusal).contains("' op "),
          "a pass makes IR that is not verified");
  return good;
}

/// (F6)
static void checkWording(StringRef printed, std::string *messages) {
  if (messages) {
    messages->append(printed.begin(), printed.end());
    return;
  }
  std::string mistake = fuzz::wordingMistake(printed);
  require(mistake.empty(), mistake.c_str());
}

fuzz::Outcome fuzz::tryText(StringRef text, mlir::MLIRContext *context,
                            StringRef includeDir, std::string *messages) {
  std::string printed;
  raw_string_ostream out(printed);
  Diagnostics diagnostics(out);
  StringRef source = diagnostics.addSource("fuzz.fov", text.str());
  std::string ast = astOf(source, diagnostics);
  diagnostics.finish();
  checkPrinted(printed, diagnostics.failed());
  if (diagnostics.failed())
    return Outcome::Refused;
  checkLayout(source, ast);
  if (!context)
    return Outcome::Parsed;
  // With the settings of every user of the compiler.
  context->printOpOnDiagnostic(false);

  printed.clear();
  Diagnostics meaning(out);
  FrontendOptions options;
  options.includeDir = includeDir.str();
  std::unique_ptr<Model> model =
      compileText(text, "fuzz.fov", options, *context, meaning);
  meaning.finish();
  checkPrinted(printed, !model);
  checkWording(printed, messages);
  require(!model || !meaning.failed(), "a model compiles in spite of an error");
  if (!model)
    return Outcome::Parsed;
  require(!model->module || succeeded(mlir::verify(*model->module)),
          "a model compiles to IR that is not verified");
  if (!model->module || !model->refusals.empty())
    return Outcome::Compiled;
  // A dimension with one more digit can mean a hundred layers: correct, but
  // slow.
  constexpr int64_t mostEquations = 2000;
  int64_t equations = 0;
  model->module->walk([&](attn::ComputeOp) { ++equations; });
  if (equations > mostEquations)
    return Outcome::Compiled;
  std::string refusal;
  bool good = runPasses(*model->module, refusal);
  checkWording(refusal, messages);
  return good ? Outcome::Scheduled : Outcome::Compiled;
}
