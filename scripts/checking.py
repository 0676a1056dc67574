"""A page of the site where a spec can be changed, and is checked as it is written.

The module is the compiler's front end (frontends/browser), and the script is
editors/browser/check.js. The page needs no server: it also works from a folder.
"""

import base64
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "editors" / "browser" / "check.js"

STYLE = """
#check-editor { display: grid; grid-template-columns: 3rem 1fr; height: 28rem; border: 1px solid #8888; }
#check-editor > * { font: 0.7rem/1.5 monospace; margin: 0; padding: 0.5rem; box-sizing: border-box; }
#check-lines { overflow: hidden; text-align: right; white-space: pre; opacity: 0.75; }
#check-text { border: 0; resize: none; white-space: pre; overflow: auto; background: none; color: inherit; }
#check-lines .error, #check-messages .error button { color: #c62828; font-weight: bold; }
#check-lines .warning, #check-messages .warning button { color: #8a5a00; }
[data-md-color-scheme="slate"] .error, [data-md-color-scheme="slate"] .error button { color: #ff8a80 !important; }
[data-md-color-scheme="slate"] .warning, [data-md-color-scheme="slate"] .warning button { color: #ffd180 !important; }
#check-messages button { text-align: left; cursor: pointer; font: inherit; }
"""

PAGE = """# Check a spec

Choose a model, change its equations, and see what the compiler says: errors, warnings, and the
shape of every name. The checks run in this page, on your machine. They are those of
[`fovea check`](docs/COMMANDS.md), except the options of training and whether decoding can be
derived.

<label>Spec <select id="check-spec"></select></label>
<span id="check-state" role="status">loading</span>

<div id="check-editor"><pre id="check-lines" aria-hidden="true"></pre>
<textarea id="check-text" aria-label="spec" spellcheck="false" autocapitalize="off"></textarea></div>

<ul id="check-messages" aria-label="messages"></ul>

<table><thead><tr><th>name</th><th>shape</th><th>kind</th></tr></thead>
<tbody id="check-names"></tbody></table>

<script src="checker.js"></script>
"""


def add_page(module, specs, folder):
    """Writes check.md and its script; `module` is the WebAssembly file."""
    texts = {spec.stem: spec.read_text(encoding="utf-8") for spec in sorted(specs)}
    bytes_of = base64.b64encode(module.read_bytes()).decode()
    script = SCRIPT.read_text(encoding="utf-8") + f"""
const specs = {json.dumps(texts)};
const module = Uint8Array.from(atob("{bytes_of}"), (letter) => letter.charCodeAt(0));
startChecker(module).then((check) => openEditor(check, specs));
"""
    (folder / "checker.js").write_text(script, encoding="utf-8")
    (folder / "check.md").write_text(PAGE, encoding="utf-8")
