//===- CompileCommand.cpp - fovea compile ---------------------------------===//

#include "frontends/fov/Parser.h"
#include "passes/Explain.h"
#include "tools/fovea/Files.h"
#include "tools/fovea/Session.h"

using namespace fovea;
using namespace fovea::cli;

/// Which systems the entries need.
struct Wanted {
  bool loss = false, gradients = false, decode = false;
};

static std::optional<Wanted> readEntries(const Arguments &arguments) {
  if (arguments.entries.empty())
    return Wanted{true, true, true};
  Wanted wanted;
  for (const std::string &entry : arguments.entries) {
    if (entry == "loss") {
      wanted.loss = true;
    } else if (entry == "grad") {
      wanted.gradients = true;
    } else if (entry == "decode" || entry == "encode" || entry == "step") {
      wanted.decode = true;
    } else if (entry == "train_step") {
      wrongUsage("the entry 'train_step' does not exist yet");
      return std::nullopt;
    } else {
      wrongUsage("'" + entry +
                 "' is no entry; there are loss, grad, encode, step and "
                 "decode");
      return std::nullopt;
    }
  }
  return wanted;
}

static int printTree(const Arguments &arguments) {
  std::unique_ptr<llvm::MemoryBuffer> input = readInput(arguments.spec());
  if (!input)
    return badInput;
  Diagnostics diagnostics(llvm::errs());
  std::unique_ptr<ast::File> file =
      parse(diagnostics.addSource(arguments.spec(), input->getBuffer().str()),
            diagnostics);
  diagnostics.finish();
  if (diagnostics.failed())
    return badInput;
  std::string text;
  llvm::raw_string_ostream stream(text);
  printAst(*file, stream);
  return writeText(arguments.output, text);
}

static int checkEmit(const std::string &emit) {
  if (emit == "attn" || emit == "mlir")
    return done;
  for (llvm::StringRef later : {"llvm", "asm", "obj", "so", "exe"})
    if (emit == later)
      return wrongUsage("'--emit " + emit + "' does not exist yet");
  return wrongUsage("'" + emit +
                    "' cannot be emitted; there are ast, attn and mlir");
}

int fovea::cli::runCompile(const Arguments &arguments) {
  if (arguments.emit == "ast")
    return printTree(arguments);
  Request request;
  std::optional<Wanted> wanted = readEntries(arguments);
  if (!wanted || checkEmit(arguments.emit) != done ||
      !readPhase(arguments.stopAfter, request.stopAfter))
    return badUsage;
  request.gradients = wanted->gradients;
  Session session(arguments);
  std::unique_ptr<Model> model = session.openToExecute();
  if (!model)
    return session.finish();
  if (!wanted->loss && !wanted->gradients)
    dropSystem(*model, "training");
  if (!wanted->decode)
    dropSystem(*model, "decoding");

  for (auto [system, names, wantedNames] :
       {std::tuple("training", &arguments.gets, &request.gets),
        std::tuple("decoding", &arguments.shows, &request.shows)})
    for (const std::string &name : *names)
      llvm::append_range(*wantedNames,
                         equationsNamed(session, *model, system, name));
  if (session.diagnostics().failed())
    return session.finish();

  std::string text;
  llvm::raw_string_ostream stream(text);
  if (arguments.explain) {
    if (request.stopAfter == attn::Phase::schedule)
      request.stopAfter = attn::Phase::differentiate;
    std::vector<attn::UnreadEquation> unread =
        attn::findUnread(*model->module, request.gets, request.shows);
    if (!session.lower(*model, request))
      return session.finish();
    attn::explainSchedule(*model->module, unread, stream);
  } else {
    if (arguments.emit == "mlir") {
      if (!session.lower(*model, request))
        return session.finish();
      if (!wanted->loss && wanted->gradients)
        dropSystem(*model, "loss");
    }
    model->module->print(stream);
    stream << '\n';
  }
  int code = session.finish();
  return code == done ? writeText(arguments.output, text) : code;
}
