// Starts `fovea lsp` and connects it with Visual Studio Code.
//
// A client of the Language Server Protocol for what the server answers, and
// nothing else: the extension needs no package of npm's registry.

"use strict";

const childProcess = require("child_process");
const path = require("path");
const { fileURLToPath } = require("url");
const vscode = require("vscode");

/** JSON-RPC over the standard input and output of a program. */
class Connection {
  constructor(program, args, onNotification, onEnd) {
    this.waiting = new Map();
    this.nextId = 1;
    this.buffer = Buffer.alloc(0);
    this.onNotification = onNotification;
    this.process = childProcess.spawn(program, args, {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.process.stdout.on("data", (chunk) => this.receive(chunk));
    this.process.stdin.on("error", () => {});
    const end = (why) => {
      for (const { reject } of this.waiting.values()) reject(new Error(why));
      this.waiting.clear();
      onEnd(why);
    };
    this.process.on("error", (error) => end(error.message));
    this.process.on("exit", (code) => end(`it ended with ${code}`));
  }

  send(message) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    );
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  receive(chunk) {
    this.buffer = Buffer.concat([this.buffer, chunk]);
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const header = this.buffer.toString("ascii", 0, end);
      const length = Number(/Content-Length: *(\d+)/i.exec(header)[1]);
      if (this.buffer.length < end + 4 + length) return;
      const body = this.buffer.toString("utf8", end + 4, end + 4 + length);
      this.buffer = this.buffer.subarray(end + 4 + length);
      this.dispatch(JSON.parse(body));
    }
  }

  dispatch(message) {
    if (message.method !== undefined) {
      this.onNotification(message.method, message.params);
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }
}

const toPosition = (p) => new vscode.Position(p.line, p.character);
const toRange = (r) => new vscode.Range(toPosition(r.start), toPosition(r.end));
const fromPosition = (p) => ({ line: p.line, character: p.character });
const fromRange = (r) => ({
  start: fromPosition(r.start),
  end: fromPosition(r.end),
});
const toLocation = (l) =>
  new vscode.Location(vscode.Uri.parse(l.uri), toRange(l.range));

/** Files by path: editors and the server may write one URI in two ways. */
const pathOf = (uri) => path.normalize(fileURLToPath(uri));

function toDiagnostic(d) {
  const result = new vscode.Diagnostic(
    toRange(d.range),
    d.message,
    d.severity - 1
  );
  result.source = d.source;
  result.tags = d.tags;
  result.relatedInformation = (d.relatedInformation || []).map(
    (r) =>
      new vscode.DiagnosticRelatedInformation(toLocation(r.location), r.message)
  );
  return result;
}

function toEdit(workspaceEdit) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(workspaceEdit.changes || {}))
    for (const edit of edits)
      result.replace(vscode.Uri.parse(uri), toRange(edit.range), edit.newText);
  return result;
}

function toSymbol(s) {
  const result = new vscode.DocumentSymbol(
    s.name,
    s.detail || "",
    s.kind - 1,
    toRange(s.range),
    toRange(s.selectionRange)
  );
  result.children = (s.children || []).map(toSymbol);
  return result;
}

function toSignatureHelp(help) {
  const result = new vscode.SignatureHelp();
  result.activeSignature = help.activeSignature;
  result.activeParameter = help.activeParameter;
  result.signatures = help.signatures.map((s) => {
    const signature = new vscode.SignatureInformation(s.label);
    signature.parameters = s.parameters.map(
      (p) => new vscode.ParameterInformation(p.label)
    );
    return signature;
  });
  return result;
}

function register(context, connection, capabilities) {
  const files = { language: "fovea", scheme: "file" };
  const of = (document) => ({ uri: document.uri.toString() });
  const at = (document, position) => ({
    textDocument: of(document),
    position: fromPosition(position),
  });
  const ask = (method, params) =>
    connection.request(`textDocument/${method}`, params);
  const languages = vscode.languages;
  context.subscriptions.push(
    languages.registerHoverProvider(files, {
      async provideHover(document, position) {
        const hover = await ask("hover", at(document, position));
        return (
          hover &&
          new vscode.Hover(
            new vscode.MarkdownString(hover.contents.value),
            toRange(hover.range)
          )
        );
      },
    }),
    languages.registerDefinitionProvider(files, {
      async provideDefinition(document, position) {
        return (await ask("definition", at(document, position))).map(
          toLocation
        );
      },
    }),
    languages.registerReferenceProvider(files, {
      async provideReferences(document, position, context) {
        const params = { ...at(document, position), context };
        return (await ask("references", params)).map(toLocation);
      },
    }),
    languages.registerDocumentHighlightProvider(files, {
      async provideDocumentHighlights(document, position) {
        const found = await ask("documentHighlight", at(document, position));
        return found.map(
          (h) => new vscode.DocumentHighlight(toRange(h.range), h.kind - 1)
        );
      },
    }),
    languages.registerSignatureHelpProvider(
      files,
      {
        async provideSignatureHelp(document, position) {
          const help = await ask("signatureHelp", at(document, position));
          return help && toSignatureHelp(help);
        },
      },
      "(",
      ","
    ),
    languages.registerDocumentSemanticTokensProvider(
      files,
      {
        async provideDocumentSemanticTokens(document) {
          const params = { textDocument: of(document) };
          const { data } = await ask("semanticTokens/full", params);
          return new vscode.SemanticTokens(new Uint32Array(data));
        },
      },
      new vscode.SemanticTokensLegend(
        capabilities.semanticTokensProvider.legend.tokenTypes,
        capabilities.semanticTokensProvider.legend.tokenModifiers
      )
    ),
    languages.registerWorkspaceSymbolProvider({
      async provideWorkspaceSymbols(query) {
        return (await connection.request("workspace/symbol", { query })).map(
          (s) =>
            new vscode.SymbolInformation(
              s.name,
              s.kind - 1,
              s.containerName,
              toLocation(s.location)
            )
        );
      },
    }),
    languages.registerRenameProvider(files, {
      async prepareRename(document, position) {
        return toRange(await ask("prepareRename", at(document, position)));
      },
      async provideRenameEdits(document, position, newName) {
        const params = { ...at(document, position), newName };
        return toEdit(await ask("rename", params));
      },
    }),
    languages.registerCompletionItemProvider(
      files,
      {
        async provideCompletionItems(document, position) {
          const list = await ask("completion", at(document, position));
          return list.items.map((i) => {
            const item = new vscode.CompletionItem(i.label, i.kind - 1);
            item.detail = i.detail;
            return item;
          });
        },
      },
      "."
    ),
    languages.registerDocumentFormattingEditProvider(files, {
      async provideDocumentFormattingEdits(document) {
        const params = { textDocument: of(document) };
        return (await ask("formatting", params)).map((e) =>
          vscode.TextEdit.replace(toRange(e.range), e.newText)
        );
      },
    }),
    languages.registerDocumentSymbolProvider(files, {
      async provideDocumentSymbols(document) {
        const params = { textDocument: of(document) };
        return (await ask("documentSymbol", params)).map(toSymbol);
      },
    }),
    languages.registerFoldingRangeProvider(files, {
      async provideFoldingRanges(document) {
        const params = { textDocument: of(document) };
        return (await ask("foldingRange", params)).map(
          (f) =>
            new vscode.FoldingRange(
              f.startLine,
              f.endLine,
              f.kind === "comment" ? 1 : 3
            )
        );
      },
    }),
    languages.registerInlayHintsProvider(files, {
      async provideInlayHints(document, range) {
        const params = { textDocument: of(document), range: fromRange(range) };
        return (await ask("inlayHint", params)).map(
          (h) => new vscode.InlayHint(toPosition(h.position), h.label, h.kind)
        );
      },
    }),
    languages.registerCodeActionsProvider(files, {
      async provideCodeActions(document, range) {
        const params = {
          textDocument: of(document),
          range: fromRange(range),
          context: { diagnostics: [] },
        };
        return (await ask("codeAction", params)).map((a) => {
          const action = new vscode.CodeAction(
            a.title,
            vscode.CodeActionKind.QuickFix
          );
          action.edit = toEdit(a.edit);
          action.isPreferred = a.isPreferred;
          return action;
        });
      },
    })
  );
}

/** Tells the server of each file that is open, and of what is typed. */
function follow(context, connection) {
  const isOurs = (document) =>
    document.languageId === "fovea" && document.uri.scheme === "file";
  const open = (document) => {
    if (isOurs(document))
      connection.notify("textDocument/didOpen", {
        textDocument: {
          uri: document.uri.toString(),
          languageId: "fovea",
          version: document.version,
          text: document.getText(),
        },
      });
  };
  const workspace = vscode.workspace;
  context.subscriptions.push(
    workspace.onDidOpenTextDocument(open),
    workspace.onDidChangeTextDocument((event) => {
      if (isOurs(event.document) && event.contentChanges.length > 0)
        connection.notify("textDocument/didChange", {
          textDocument: {
            uri: event.document.uri.toString(),
            version: event.document.version,
          },
          contentChanges: event.contentChanges.map((change) => ({
            range: fromRange(change.range),
            text: change.text,
          })),
        });
    }),
    workspace.onDidCloseTextDocument((document) => {
      if (isOurs(document))
        connection.notify("textDocument/didClose", {
          textDocument: { uri: document.uri.toString() },
        });
    })
  );
  workspace.textDocuments.forEach(open);
}

let connection;

async function activate(context) {
  const program = vscode.workspace
    .getConfiguration("fovea")
    .get("program", "fovea");
  const collection = vscode.languages.createDiagnosticCollection("fovea");
  context.subscriptions.push(collection);
  let isEnding = false;
  context.subscriptions.push({ dispose: () => (isEnding = true) });
  connection = new Connection(
    program,
    ["lsp"],
    (method, params) => {
      if (method === "textDocument/publishDiagnostics")
        collection.set(
          vscode.Uri.file(pathOf(params.uri)),
          params.diagnostics.map(toDiagnostic)
        );
    },
    (why) => {
      if (!isEnding)
        vscode.window.showErrorMessage(
          `'${program} lsp' does not run (${why}); the setting fovea.program names the program`
        );
    }
  );
  const { capabilities } = await connection.request("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  connection.notify("initialized", {});
  register(context, connection, capabilities);
  follow(context, connection);
}

async function deactivate() {
  if (!connection) return;
  try {
    await connection.request("shutdown", null);
    connection.notify("exit", null);
  } catch (error) {
    // It has ended already.
  }
}

module.exports = { activate, deactivate };
