//===- Trial.cpp - what lowering finds in a file --------------------------===//
//
// The front end checks decoding, too. The passes find the order of the
// equations, whether the decoder is possible, and how it treats each equation.
// What they found goes from one process to another as JSON.
//
//===----------------------------------------------------------------------===//

#include "app/open/Session.h"
#include "compiler/Contents.h"
#include "server/Analysis.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace fovea;
using namespace fovea::editors;
using llvm::SMLoc;
using llvm::SourceMgr;
using llvm::StringRef;
namespace json = llvm::json;
namespace lsp = llvm::lsp;

/// When a decoder computes an equation, as people read it.
static std::string textOf(const compiler::InDecoder &step) {
  if (step.kind.empty())
    return step.isInStep ? "temporary: computed in each step"
                         : "once per input";
  if (step.kind == "growing")
    return "growing: every step adds a place to a cache";
  if (step.kind != "carried" && step.kind != "window")
    return "carried: a sum over the steps so far";
  return "carried: the last " +
         (step.window == 1 ? "value is kept"
                           : std::to_string(step.window) + " values are kept");
}

//===----------------------------------------------------------------------===//
// From one process to another
//===----------------------------------------------------------------------===//

std::string Analysis::tryLowering() const {
  cli::Arguments arguments;
  arguments.specs = {path};
  cli::Session session(arguments, llvm::nulls(), mostProblems);
  SourceMgr &sources = session.diagnostics().sources();
  std::vector<Message> messages;
  listenTo(session.diagnostics(), messages);
  FrontendOptions options;
  options.includeDir = llvm::sys::path::parent_path(path).str();
  // The texts of the check, so that places are the same.
  options.readUsed =
      [&](const std::string &used) -> std::optional<std::string> {
    for (auto [name, lines] : llvm::zip_equal(paths, allLines))
      if (name == used)
        return lines.text().str();
    return std::nullopt;
  };
  std::unique_ptr<Model> model =
      session.openText(lines().text(), path, options);
  bool isLowered = model && session.check(*model);
  session.diagnostics().listen(nullptr);
  json::Array said;
  for (const Message &message : messages) {
    unsigned buffer = message.loc.isValid()
                          ? sources.FindBufferContainingLoc(message.loc)
                          : 0;
    int64_t offset = 0;
    if (buffer)
      offset = message.loc.getPointer() -
               sources.getMemoryBuffer(buffer)->getBufferStart();
    said.push_back(json::Object{{"kind", int(message.kind)},
                                {"code", int(message.code)},
                                {"buffer", buffer},
                                {"offset", offset},
                                {"text", json::fixUTF8(message.text)}});
  }
  json::Object result{{"said", std::move(said)}};
  if (isLowered && model->module) {
    json::Object steps;
    for (const auto &[name, step] : compiler::stepsIn(*model->module))
      steps[name] = textOf(step);
    result["steps"] = std::move(steps);
  }
  return llvm::formatv("{0}", json::Value(std::move(result)));
}

void Analysis::addTrial(const std::optional<std::string> &found) {
  dropProblemsOfTrial();
  size_t before = this->found.size();
  SourceMgr &sources = diagnostics->sources();
  std::vector<Message> messages;
  json::Value value = found ? llvm::cantFail(json::parse(*found)) : nullptr;
  if (const json::Object *object = value.getAsObject()) {
    for (const json::Value &said : *object->getArray("said")) {
      const json::Object &message = *said.getAsObject();
      SMLoc loc;
      // The second text is the file itself, which may have been amended.
      constexpr int64_t own = 2;
      if (int64_t buffer = *message.getInteger("buffer"))
        loc = SMLoc::getFromPointer(
            (buffer == own
                 ? lines().text().begin()
                 : sources.getMemoryBuffer(buffer)->getBufferStart()) +
            *message.getInteger("offset"));
      messages.push_back({SourceMgr::DiagKind(*message.getInteger("kind")),
                          Code(*message.getInteger("code")), loc,
                          message.getString("text")->str()});
    }
    if (const json::Object *given = object->getObject("steps")) {
      steps.clear();
      for (auto &[name, step] : *given)
        steps[name.str()] = step.getAsString()->str();
    }
  } else {
    messages.push_back({SourceMgr::DK_Error, Code::none, SMLoc(),
                        "internal compiler error, not a fault of this file; "
                        "please report it with this file"});
  }
  addMessages(messages);
  for (Problem &problem : llvm::drop_begin(this->found, before))
    problem.isOfTrial = true;
}

//===----------------------------------------------------------------------===//
// From one text to the next
//===----------------------------------------------------------------------===//

void Analysis::dropProblemsOfTrial() {
  llvm::erase_if(found,
                 [](const Problem &problem) { return problem.isOfTrial; });
}

/// Until lowering has been tried again, what it said of a line that is there
/// unchanged, before or after what was edited, holds.
void Analysis::keepTrial(llvm::ArrayRef<Problem> problems,
                         const Lines &before) {
  if (!canBeTried())
    return;
  int moved = int(lines().count()) - int(before.count());
  for (Problem problem : problems) {
    lsp::Range &range = problem.diagnostic.range;
    StringRef line = before.line(range.start.line);
    if (!problem.isOfTrial || range.start.line != range.end.line)
      continue;
    int down = line == lines().line(range.start.line) ? 0 : moved;
    if (range.start.line + down < 0 ||
        line != lines().line(range.start.line + down))
      continue;
    auto move = [down](lsp::Range &range) {
      range.start.line += down;
      range.end.line += down;
    };
    move(range);
    for (Fix &fix : problem.fixes)
      move(fix.edit.range);
    found.push_back(std::move(problem));
  }
}
