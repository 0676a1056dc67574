//===- Server.cpp - the language server of .fov files ---------------------===//
//
// Keeps the files that an editor has open, checks them when it pauses, and
// hands each question to the function that answers it (Answers.h). Training is
// checked at once. Then decoding is checked, and the model is lowered, in a
// process of its own. The next key ends either; a thread of its own reads it
// (Inbox.h).
//
//===----------------------------------------------------------------------===//

#include "server/Server.h"
#include "frontends/fov/syntax/Parser.h"
#include "server/Answers.h"
#include "server/Background.h"
#include "server/Inbox.h"

#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/Path.h"

#include <malloc.h>
#include <set>

using namespace fovea;
using namespace fovea::editors;
using llvm::StringRef;
namespace json = llvm::json;
namespace lsp = llvm::lsp;

namespace {

/// Freed memory of a process that is not returned to the system.
constexpr int mostKept = 1 << 28;

/// What LLVM's library does not have.
struct RenameParams : lsp::TextDocumentPositionParams {
  std::string newName;
};
/// All that some questions say: which file.
struct FileParams {
  lsp::TextDocumentIdentifier textDocument;
};

bool fromJSON(const json::Value &value, RenameParams &result, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("textDocument", result.textDocument) &&
         map.map("position", result.position) &&
         map.map("newName", result.newName);
}

bool fromJSON(const json::Value &value, FileParams &result, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("textDocument", result.textDocument);
}

/// Of a question about all files.
struct SymbolsParams {
  std::string query;
};

bool fromJSON(const json::Value &value, SymbolsParams &result,
              json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("query", result.query);
}

/// The reply to a request that the editor has withdrawn.
llvm::Error cancelled() {
  return llvm::make_error<lsp::LSPError>("the request was cancelled",
                                         lsp::ErrorCode::RequestCancelled);
}

class Server {
public:
  Server(int input, llvm::raw_ostream &output)
      : Server(std::make_unique<Inbox>(
                   input,
                   Inbox::Owner{[this] { return workAside(); },
                                [this](int code, const std::string &why) {
                                  transport.reply(
                                      nullptr, llvm::make_error<lsp::LSPError>(
                                                   why, lsp::ErrorCode(code)));
                                },
                                [this](const Inbox::Id &id) {
                                  transport.reply(id, cancelled());
                                },
                                [this](const Inbox::Id &id) { onCancel(id); }}),
               output) {}

  bool run();

private:
  template <typename T> using Reply = lsp::Callback<T>;

  Server(std::unique_ptr<Inbox> messages, llvm::raw_ostream &output)
      : inbox(*messages), transport(std::move(messages), output),
        handler(transport) {}

  /// A request for all problems of a file.
  struct Asked {
    Inbox::Id id;
    Reply<json::Value> reply;
  };
  struct Document {
    lsp::URIForFile uri;
    int64_t version = 0;
    std::string text;
    std::unique_ptr<Analysis> analysis;
    bool isWaiting = true; // the text has changed since it was checked
    bool isTried = false;  // lowering has said what it can say
    std::vector<Asked> asked;
  };

  void onCancel(const Inbox::Id &id);

  // Files.
  void onOpen(const lsp::DidOpenTextDocumentParams &params);
  void onChange(const lsp::DidChangeTextDocumentParams &params);
  void onClose(const lsp::DidCloseTextDocumentParams &params);
  void markReaders(StringRef path);
  /// Both return whether all has been checked: the work may be in vain.
  bool checkWaiting();
  bool check(Document &document);
  int workAside();
  void startTrial();
  void finishTrial();
  void publish(const Document &document, llvm::ArrayRef<Problem> problems);
  void answerAsked(Document &document);
  Document *find(const lsp::URIForFile &uri);
  /// What is known of a file as it is now; null, and the reply has been given,
  /// where it is not open.
  template <typename T>
  const Analysis *analysisOf(const lsp::URIForFile &uri, Reply<T> &reply);

  // Questions.
  void onInitialize(const lsp::InitializeParams &params,
                    Reply<json::Value> reply);
  void onInitialized(const lsp::NoParams &) {}
  void onShutdown(const lsp::NoParams &, Reply<std::nullptr_t> reply);
  void onDiagnostic(const FileParams &params, Reply<json::Value> reply);
  void onHover(const lsp::TextDocumentPositionParams &params,
               Reply<std::optional<lsp::Hover>> reply);
  void onDefinition(const lsp::TextDocumentPositionParams &params,
                    Reply<std::vector<lsp::Location>> reply);
  void onReferences(const lsp::ReferenceParams &params,
                    Reply<std::vector<lsp::Location>> reply);
  void onPrepareRename(const lsp::TextDocumentPositionParams &params,
                       Reply<lsp::Range> reply);
  void onRename(const RenameParams &params, Reply<lsp::WorkspaceEdit> reply);
  void onCompletion(const lsp::CompletionParams &params,
                    Reply<lsp::CompletionList> reply);
  void onFormatting(const FileParams &params,
                    Reply<std::vector<lsp::TextEdit>> reply);
  void onSymbols(const lsp::DocumentSymbolParams &params,
                 Reply<std::vector<lsp::DocumentSymbol>> reply);
  void onSignature(const lsp::TextDocumentPositionParams &params,
                   Reply<std::optional<lsp::SignatureHelp>> reply);
  void onHighlight(const lsp::TextDocumentPositionParams &params,
                   Reply<json::Value> reply);
  void onWords(const FileParams &params, Reply<json::Value> reply);
  void onAllSymbols(const SymbolsParams &params, Reply<json::Value> reply);
  void onFolding(const FileParams &params, Reply<json::Value> reply);
  void onHints(const lsp::InlayHintsParams &params,
               Reply<std::vector<lsp::InlayHint>> reply);
  void onActions(const lsp::CodeActionParams &params,
                 Reply<std::vector<lsp::CodeAction>> reply);

  std::map<std::string, Document> documents; // by path
  std::optional<Background> trial;
  std::string tried; // the path of its file
  Inbox &inbox;
  lsp::JSONTransport transport;
  lsp::MessageHandler handler;
  lsp::OutgoingNotification<json::Value> notify;
  bool isShutDown = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static llvm::Error notOpen(const lsp::URIForFile &uri) {
  return llvm::make_error<lsp::LSPError>(
      "'" + uri.file().str() + "' is not open", lsp::ErrorCode::InvalidParams);
}

void Server::onOpen(const lsp::DidOpenTextDocumentParams &params) {
  const lsp::TextDocumentItem &item = params.textDocument;
  Document &document = documents[item.uri.file().str()];
  document.uri = item.uri;
  document.version = item.version;
  document.text = item.text;
  markReaders(item.uri.file());
}

void Server::onChange(const lsp::DidChangeTextDocumentParams &params) {
  Document *document = find(params.textDocument.uri);
  if (!document)
    return;
  for (const lsp::TextDocumentContentChangeEvent &change :
       params.contentChanges)
    apply(change, document->text);
  document->version = params.textDocument.version;
  markReaders(params.textDocument.uri.file());
}

void Server::onClose(const lsp::DidCloseTextDocumentParams &params) {
  Document *document = find(params.textDocument.uri);
  if (!document)
    return;
  publish(*document, {});
  for (Asked &asked : document->asked)
    asked.reply(notOpen(params.textDocument.uri));
  if (tried == params.textDocument.uri.file())
    trial.reset();
  documents.erase(params.textDocument.uri.file().str());
  markReaders(params.textDocument.uri.file());
}

/// Files that use one that has changed are checked again.
void Server::markReaders(StringRef path) {
  for (auto &[own, document] : documents)
    document.isWaiting |=
        own == path || !document.analysis || document.analysis->reads(path);
}

bool Server::check(Document &document) {
  if (!document.isWaiting)
    return true;
  std::string path = document.uri.file().str();
  if (tried == path)
    trial.reset();
  auto readOpen = [&](const std::string &path) -> std::optional<std::string> {
    auto it = documents.find(path);
    if (it == documents.end())
      return std::nullopt;
    return it->second.text;
  };
  std::unique_ptr<Analysis> last;
  if (!document.analysis || !document.analysis->amend(document.text)) {
    auto analysis =
        std::make_unique<Analysis>(path, document.text, readOpen, inbox.stop());
    if (analysis->isStopped())
      return false;
    last = std::move(document.analysis);
    document.analysis = std::move(analysis);
  }
  document.isWaiting = false;
  if (last)
    document.analysis->keepTrialOf(*last);
  document.isTried = !document.analysis->canBeTried();
  publish(document, document.analysis->problems());
  // A text without mistakes has its own.
  if (last && !document.analysis->canBeTried())
    document.analysis->keepFactsOf(*last);
  if (document.isTried)
    answerAsked(document);
  return true;
}

bool Server::checkWaiting() {
  return llvm::all_of(documents,
                      [&](auto &entry) { return check(entry.second); });
}

/// Called when no message is waiting. Returns what to wait for besides them.
int Server::workAside() {
  if (!checkWaiting())
    return -1;
  do {
    if (trial && trial->isDone())
      finishTrial();
    if (!trial)
      startTrial();
  } while (trial && trial->file() < 0);
  return trial ? trial->file() : -1;
}

void Server::startTrial() {
  for (auto &[path, document] : documents) {
    if (document.isTried)
      continue;
    tried = path;
    Analysis &analysis = *document.analysis;
    trial.emplace([&] { return analysis.tryLowering(); });
    return;
  }
}

void Server::finishTrial() {
  Document &document = documents.at(tried);
  document.isTried = true;
  document.analysis->addTrial(trial->result());
  trial.reset();
  publish(document, document.analysis->problems());
  answerAsked(document);
}

static json::Array diagnosticsOf(llvm::ArrayRef<Problem> problems) {
  json::Array diagnostics;
  for (const Problem &problem : problems) {
    json::Value shown = toJSON(problem.diagnostic);
    // LLVM's structure has no code.
    if (problem.code != Code::none)
      (*shown.getAsObject())["code"] = idOf(problem.code);
    diagnostics.push_back(std::move(shown));
  }
  return diagnostics;
}

void Server::publish(const Document &document,
                     llvm::ArrayRef<Problem> problems) {
  notify(json::Object{{"uri", document.uri},
                      {"version", document.version},
                      {"diagnostics", diagnosticsOf(problems)}});
}

/// Replies to those who asked for all problems of a file.
void Server::answerAsked(Document &document) {
  for (Asked &asked : document.asked)
    asked.reply(
        json::Object{{"kind", "full"},
                     {"items", diagnosticsOf(document.analysis->problems())}});
  document.asked.clear();
}

/// Requests that wait for lowering.
void Server::onCancel(const Inbox::Id &id) {
  for (auto &[path, document] : documents)
    llvm::erase_if(document.asked, [&](Asked &asked) {
      if (asked.id != id)
        return false;
      asked.reply(cancelled());
      return true;
    });
}

Server::Document *Server::find(const lsp::URIForFile &uri) {
  auto it = documents.find(uri.file().str());
  return it == documents.end() ? nullptr : &it->second;
}

template <typename T>
const Analysis *Server::analysisOf(const lsp::URIForFile &uri,
                                   Reply<T> &reply) {
  Document *document = find(uri);
  if (!document) {
    reply(notOpen(uri));
    return nullptr;
  }
  if (!check(*document)) {
    reply(cancelled());
    return nullptr;
  }
  return document->analysis.get();
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

void Server::onInitialize(const lsp::InitializeParams &,
                          Reply<json::Value> reply) {
  json::Object capabilities{
      {"positionEncoding", "utf-16"},
      {"textDocumentSync",
       json::Object{{"openClose", true}, {"change", 2}, {"save", false}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"renameProvider", json::Object{{"prepareProvider", true}}},
      {"completionProvider",
       json::Object{{"triggerCharacters", json::Array{"."}}}},
      {"signatureHelpProvider",
       json::Object{{"triggerCharacters", json::Array{"(", ","}}}},
      {"documentHighlightProvider", true},
      {"semanticTokensProvider",
       json::Object{
           {"legend",
            json::Object{{"tokenTypes", json::Array(wordKinds())},
                         {"tokenModifiers", json::Array(wordMarks())}}},
           {"full", true}}},
      {"workspaceSymbolProvider", true},
      {"documentFormattingProvider", true},
      {"documentSymbolProvider", true},
      {"foldingRangeProvider", true},
      {"inlayHintProvider", true},
      {"codeActionProvider",
       json::Object{
           {"codeActionKinds", json::Array{lsp::CodeAction::kQuickFix}}}},
  };
  reply(json::Object{{"capabilities", std::move(capabilities)},
                     {"serverInfo", json::Object{{"name", "fovea"}}}});
}

void Server::onShutdown(const lsp::NoParams &, Reply<std::nullptr_t> reply) {
  isShutDown = true;
  reply(nullptr);
}

/// Replies when lowering has been tried, too. Not among the capabilities: an
/// editor would show each problem twice.
void Server::onDiagnostic(const FileParams &params, Reply<json::Value> reply) {
  if (!analysisOf(params.textDocument.uri, reply))
    return;
  Document &document = *find(params.textDocument.uri);
  document.asked.push_back({*inbox.current(), std::move(reply)});
  if (document.isTried)
    answerAsked(document);
}

void Server::onHover(const lsp::TextDocumentPositionParams &params,
                     Reply<std::optional<lsp::Hover>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(hoverAt(*analysis, params.position));
}

void Server::onDefinition(const lsp::TextDocumentPositionParams &params,
                          Reply<std::vector<lsp::Location>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(definitionsAt(*analysis, params.position));
}

void Server::onReferences(const lsp::ReferenceParams &params,
                          Reply<std::vector<lsp::Location>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(referencesAt(*analysis, params.position,
                       params.context.includeDeclaration));
}

void Server::onPrepareRename(const lsp::TextDocumentPositionParams &params,
                             Reply<lsp::Range> reply) {
  auto *analysis = analysisOf(params.textDocument.uri, reply);
  if (!analysis)
    return;
  llvm::Expected<Renaming> renaming = renamingAt(*analysis, params.position);
  if (renaming)
    reply(analysis->lines().rangeOf(renaming->written));
  else
    reply(renaming.takeError());
}

/// Edits every open file that reads the one that declares the name.
void Server::onRename(const RenameParams &params,
                      Reply<lsp::WorkspaceEdit> reply) {
  auto *analysis = analysisOf(params.textDocument.uri, reply);
  if (!analysis)
    return;
  llvm::Expected<Renaming> renaming = renamingAt(*analysis, params.position);
  if (!renaming)
    return reply(renaming.takeError());
  if (!checkWaiting())
    return reply(cancelled());
  lsp::WorkspaceEdit edit;
  for (auto &[path, document] : documents)
    if (document.analysis->reads(renaming->path))
      if (llvm::Error error =
              addRenames(*document.analysis, *renaming, params.newName, edit))
        return reply(std::move(error));
  reply(std::move(edit));
}

void Server::onCompletion(const lsp::CompletionParams &params,
                          Reply<lsp::CompletionList> reply) {
  auto *analysis = analysisOf(params.textDocument.uri, reply);
  if (!analysis)
    return;
  lsp::CompletionList list;
  list.items = completionsAt(*analysis, params.position);
  reply(std::move(list));
}

void Server::onFormatting(const FileParams &params,
                          Reply<std::vector<lsp::TextEdit>> reply) {
  auto *analysis = analysisOf(params.textDocument.uri, reply);
  if (!analysis)
    return;
  Diagnostics silent(llvm::nulls());
  StringRef text = silent.addSource("text", analysis->lines().text().str());
  std::string formatted = formatSource(text, silent);
  if (silent.failed())
    return reply(llvm::make_error<lsp::LSPError>(
        "a file with syntax errors cannot be formatted",
        lsp::ErrorCode::RequestFailed));
  std::vector<lsp::TextEdit> edits;
  if (formatted != text)
    edits.push_back(
        {analysis->lines().rangeOf(analysis->lines().text()), formatted});
  reply(std::move(edits));
}

void Server::onSymbols(const lsp::DocumentSymbolParams &params,
                       Reply<std::vector<lsp::DocumentSymbol>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(symbolsOf(*analysis));
}

void Server::onSignature(const lsp::TextDocumentPositionParams &params,
                         Reply<std::optional<lsp::SignatureHelp>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(signatureAt(*analysis, params.position));
}

void Server::onHighlight(const lsp::TextDocumentPositionParams &params,
                         Reply<json::Value> reply) {
  auto *analysis = analysisOf(params.textDocument.uri, reply);
  if (!analysis)
    return;
  enum Kind { Read = 2, Write };
  json::Array result;
  for (const Highlight &highlight : highlightsAt(*analysis, params.position))
    result.push_back(
        json::Object{{"range", highlight.range},
                     {"kind", int(highlight.declares ? Write : Read)}});
  reply(std::move(result));
}

void Server::onWords(const FileParams &params, Reply<json::Value> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(json::Object{{"data", json::Array(wordsOf(*analysis))}});
}

/// The symbols of the open files, and of the files that these use.
void Server::onAllSymbols(const SymbolsParams &params,
                          Reply<json::Value> reply) {
  if (!checkWaiting())
    return reply(cancelled());
  std::vector<FoundSymbol> symbols; // JSON refers to their texts
  std::set<std::string> files;      // whose symbols have been found
  for (auto &[path, document] : documents) {
    std::set<std::string> added;
    for (FoundSymbol &symbol : findSymbols(*document.analysis, params.query)) {
      std::string file = symbol.location.uri.file().str();
      if (files.count(file))
        continue;
      added.insert(file);
      symbols.push_back(std::move(symbol));
    }
    files.merge(added);
  }
  json::Array result;
  for (const FoundSymbol &symbol : symbols)
    result.push_back(json::Object{{"name", symbol.name},
                                  {"kind", int(symbol.kind)},
                                  {"location", symbol.location},
                                  {"containerName", symbol.model}});
  reply(std::move(result));
}

void Server::onFolding(const FileParams &params, Reply<json::Value> reply) {
  auto *analysis = analysisOf(params.textDocument.uri, reply);
  if (!analysis)
    return;
  json::Array result;
  for (const Folding &folding : foldingsOf(*analysis))
    result.push_back(json::Object{{"startLine", folding.first},
                                  {"endLine", folding.last},
                                  {"kind", folding.kind}});
  reply(std::move(result));
}

void Server::onHints(const lsp::InlayHintsParams &params,
                     Reply<std::vector<lsp::InlayHint>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(hintsOf(*analysis, params.range));
}

void Server::onActions(const lsp::CodeActionParams &params,
                       Reply<std::vector<lsp::CodeAction>> reply) {
  if (auto *analysis = analysisOf(params.textDocument.uri, reply))
    reply(actionsIn(*analysis, params.textDocument.uri, params.range));
}

bool Server::run() {
  // Each check takes as much memory as the one before.
  mallopt(M_TRIM_THRESHOLD, mostKept);
  mallopt(M_MMAP_THRESHOLD, mostKept);
  notify = handler.outgoingNotification<json::Value>(
      "textDocument/publishDiagnostics");
  handler.method("initialize", this, &Server::onInitialize);
  handler.notification("initialized", this, &Server::onInitialized);
  handler.method("shutdown", this, &Server::onShutdown);
  handler.notification("textDocument/didOpen", this, &Server::onOpen);
  handler.notification("textDocument/didChange", this, &Server::onChange);
  handler.notification("textDocument/didClose", this, &Server::onClose);
  handler.method("textDocument/diagnostic", this, &Server::onDiagnostic);
  handler.method("textDocument/hover", this, &Server::onHover);
  handler.method("textDocument/definition", this, &Server::onDefinition);
  handler.method("textDocument/references", this, &Server::onReferences);
  handler.method("textDocument/prepareRename", this, &Server::onPrepareRename);
  handler.method("textDocument/rename", this, &Server::onRename);
  handler.method("textDocument/completion", this, &Server::onCompletion);
  handler.method("textDocument/formatting", this, &Server::onFormatting);
  handler.method("textDocument/documentSymbol", this, &Server::onSymbols);
  handler.method("textDocument/signatureHelp", this, &Server::onSignature);
  handler.method("textDocument/documentHighlight", this, &Server::onHighlight);
  handler.method("textDocument/semanticTokens/full", this, &Server::onWords);
  handler.method("workspace/symbol", this, &Server::onAllSymbols);
  handler.method("textDocument/foldingRange", this, &Server::onFolding);
  handler.method("textDocument/inlayHint", this, &Server::onHints);
  handler.method("textDocument/codeAction", this, &Server::onActions);
  // The end of the input without `exit` is an error of the transport: the
  // client has gone away, and needs no message.
  if (llvm::Error error = transport.run(handler))
    llvm::consumeError(std::move(error));
  for (auto &[path, document] : documents)
    for (Asked &asked : document.asked)
      asked.reply(cancelled());
  return isShutDown;
}

bool fovea::editors::serve(int input, llvm::raw_ostream &output) {
  lsp::Logger::setLogLevel(lsp::Logger::Level::Error);
  return Server(input, output).run();
}
