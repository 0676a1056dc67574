"""A session of the client that pygls's own tests use: what an editor does in five minutes."""

import asyncio
import pathlib
import sys

from lsprotocol import types
from pygls.lsp.client import LanguageClient

folder = pathlib.Path(sys.argv[1]).resolve()
text = """model small
dim H = 4
data source[T] : real(H)
param cell : gru(H)
h[t] = cell(h[t-1], source[t]);  h[-1] = zeros(H)
y[t] = tanh(h[t]) + sorce[t]
"""
uri = (folder / "small.fov").as_uri()
document = types.TextDocumentIdentifier(uri)


def place(line, character):
    return types.Position(line, character)


async def main():
    client = LanguageClient("session", "1")
    published = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def diagnose(params):
        published.put_nowait(params)

    async def diagnostics(version):
        while (params := await published.get()).version != version:
            pass
        return params.diagnostics

    def at(kind, line, character, **more):
        return kind(text_document=document, position=place(line, character), **more)

    await client.start_io("fovea", "lsp")
    server = await client.initialize_async(types.InitializeParams(
        capabilities=types.ClientCapabilities(), root_uri=folder.as_uri()))
    client.initialized(types.InitializedParams())
    print("capabilities:", [name for name in (
        "completion_provider", "signature_help_provider", "semantic_tokens_provider",
        "document_highlight_provider", "workspace_symbol_provider", "code_action_provider",
        "hover_provider", "inlay_hint_provider", "rename_provider")
        if getattr(server.capabilities, name) is None])

    client.text_document_did_open(types.DidOpenTextDocumentParams(
        types.TextDocumentItem(uri, "fovea", 1, text)))
    [problem] = await diagnostics(1)
    print("problem:", problem.message, problem.code, problem.range)

    # What the server says about the wrong word, and what mends it.
    actions = await client.text_document_code_action_async(types.CodeActionParams(
        document, problem.range, types.CodeActionContext([problem])))
    print("actions:", [action.title for action in actions or []])
    change = types.TextDocumentContentChangePartial(range=problem.range, text="source")
    client.text_document_did_change(types.DidChangeTextDocumentParams(
        types.VersionedTextDocumentIdentifier(version=2, uri=uri), [change]))
    print("mended:", [problem.message for problem in await diagnostics(2)])

    hover = await client.text_document_hover_async(at(types.HoverParams, 5, 8))
    print("hover:", hover.contents.value.splitlines()[0])
    tokens = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(document))
    print("tokens:", len(tokens.data) // 5)
    marks = await client.text_document_document_highlight_async(
        at(types.DocumentHighlightParams, 4, 0))
    print("highlights:", [(mark.range.start.line, mark.range.start.character)
                          for mark in marks])
    symbols = await client.workspace_symbol_async(types.WorkspaceSymbolParams("cell"))
    print("symbols:", [symbol.name for symbol in symbols])
    items = await client.text_document_completion_async(at(types.CompletionParams, 5, 7))
    labels = {item.label for item in items.items}
    print("completes:", sorted(labels & {"h", "source", "softmax", "beam"}))
    call = await client.text_document_signature_help_async(
        at(types.SignatureHelpParams, 4, 12))
    print("signature:", call.signatures[0].label, call.active_parameter)

    # A request that is withdrawn.
    slow = "".join(f"h{i}[t] = tanh(h{i - 1}[t] + x[t])\n" for i in range(1, 9000))
    other = types.TextDocumentIdentifier((folder / "long.fov").as_uri())
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(
        other.uri, "fovea", 1,
        "model long\ndata x[T] : real(8)\nh0[t] = x[t]\n" + slow)))
    number = "withdrawn"
    future = client.protocol.send_request(
        types.TEXT_DOCUMENT_HOVER, types.HoverParams(other, place(1, 5)), msg_id=number)
    client.cancel_request(types.CancelParams(number))
    try:
        await asyncio.wrap_future(future)
        print("answered")
    except Exception as error:  # pygls has a class for each code
        print("withdrawn:", getattr(error, "code", error))

    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    print("ended")


asyncio.run(main())
