// Runs the extension beside a stand-in for the editor, and asks it about a file.

"use strict";

const fs = require("fs");
const Module = require("module");
const path = require("path");
const { pathToFileURL } = require("url");

const [extension, file] = process.argv.slice(2);
const providers = {};
const listeners = {};
const shown = new Map();
let onPublished;

const plain = (...names) =>
  class {
    constructor(...values) {
      names.forEach((name, i) => (this[name] = values[i]));
    }
  };
const register = (name) => (files, provider) => {
  providers[name] = provider;
  return { dispose() {} };
};
const listen = (name) => (listener) => {
  listeners[name] = listener;
  return { dispose() {} };
};
const uriOf = (text) => ({ scheme: "file", toString: () => text });

const document = {
  languageId: "fovea",
  uri: uriOf(pathToFileURL(file).toString()),
  version: 1,
  getText: () => fs.readFileSync(file, "utf8"),
};

class WorkspaceEdit {
  edits = [];
  replace(uri, range, text) {
    this.edits.push([range.start.line, range.start.character, text]);
  }
}

const vscode = {
  Position: plain("line", "character"),
  Range: plain("start", "end"),
  Location: plain("uri", "range"),
  Diagnostic: plain("range", "message", "severity"),
  DiagnosticRelatedInformation: plain("location", "message"),
  Hover: plain("contents", "range"),
  MarkdownString: plain("value"),
  CompletionItem: plain("label", "kind"),
  TextEdit: { replace: (range, text) => text },
  DocumentSymbol: plain("name", "detail", "kind", "range", "selectionRange"),
  FoldingRange: plain("start", "end", "kind"),
  InlayHint: plain("position", "label", "kind"),
  DocumentHighlight: plain("range", "kind"),
  SignatureHelp: plain(),
  SignatureInformation: plain("label"),
  ParameterInformation: plain("label"),
  SemanticTokens: plain("data"),
  SemanticTokensLegend: plain("types", "modifiers"),
  SymbolInformation: plain("name", "kind", "container", "location"),
  CodeAction: plain("title", "kind"),
  CodeActionKind: { QuickFix: "quickfix" },
  WorkspaceEdit,
  Uri: { parse: uriOf, file: (name) => uriOf(pathToFileURL(name).toString()) },
  languages: {
    createDiagnosticCollection: () => ({
      set(uri, diagnostics) {
        shown.set(path.basename(uri.toString()), diagnostics);
        if (onPublished) onPublished();
      },
      dispose() {},
    }),
    registerHoverProvider: register("hover"),
    registerDefinitionProvider: register("definition"),
    registerReferenceProvider: register("references"),
    registerDocumentHighlightProvider: register("highlights"),
    registerSignatureHelpProvider: register("signatures"),
    registerDocumentSemanticTokensProvider: register("words"),
    registerWorkspaceSymbolProvider: (provider) =>
      register("allSymbols")(null, provider),
    registerRenameProvider: register("rename"),
    registerCompletionItemProvider: register("completion"),
    registerDocumentFormattingEditProvider: register("formatting"),
    registerDocumentSymbolProvider: register("symbols"),
    registerFoldingRangeProvider: register("folding"),
    registerInlayHintsProvider: register("hints"),
    registerCodeActionsProvider: register("actions"),
  },
  workspace: {
    getConfiguration: () => ({ get: (name, otherwise) => otherwise }),
    onDidOpenTextDocument: listen("open"),
    onDidChangeTextDocument: listen("change"),
    onDidCloseTextDocument: listen("close"),
    textDocuments: [document],
  },
  window: { showErrorMessage: (text) => console.log("said:", text) },
};

const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : load(name, ...rest);

async function main() {
  const context = { subscriptions: [] };
  const { activate, deactivate } = require(path.resolve(extension));
  const published = () => new Promise((resolve) => (onPublished = resolve));
  let next = published();
  await activate(context);
  await next;
  const name = path.basename(file);
  console.log("mistakes", shown.get(name).map((d) => d.message));
  const at = new vscode.Position(2, 7);
  const range = new vscode.Range(at, at);
  const [action] = await providers.actions.provideCodeActions(document, range);
  console.log("fix", action.title, action.edit.edits);
  next = published();
  document.version = 2;
  listeners.change({
    document,
    contentChanges: [
      {
        range: new vscode.Range(
          new vscode.Position(2, 7),
          new vscode.Position(2, 10)
        ),
        text: "src",
      },
    ],
  });
  await next;
  console.log("mended", shown.get(name).map((d) => d.message));
  const hover = await providers.hover.provideHover(document, at);
  console.log(hover.contents.value.split("\n")[0]);
  const symbols = await providers.symbols.provideDocumentSymbols(document);
  console.log("symbols", symbols.map((s) => s.name));
  const highlights = await providers.highlights.provideDocumentHighlights(
    document,
    at
  );
  console.log("highlights", highlights.map((h) => [h.range.start.line, h.kind]));
  const { data } = await providers.words.provideDocumentSemanticTokens(document);
  console.log("words", data.length / 5);
  const found = await providers.allSymbols.provideWorkspaceSymbols("SR");
  console.log("found", found.map((s) => s.name));
  await providers.rename
    .prepareRename(document, new vscode.Position(0, 7))
    .catch((error) => console.log("refused:", error.message));
  await deactivate();
  context.subscriptions.forEach((item) => item.dispose());
  console.log("ended");
}

main();
