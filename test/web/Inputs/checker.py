"""checker.py compare MODULE SPEC..: the module's diagnostics beside `fovea check`.
checker.py show MODULE SPEC: the diagnostics and names that the page shows.
checker.py page SITE: the page itself, in a headless Chromium.

`compare` allows what the module cannot know: it does not train, and does not
derive the decoder.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "editors" / "browser" / "check.js"
NODE = """
const { readFileSync } = require('fs');
const [module, script, ...requests] = readFileSync(0, 'utf8').split('\\0');
(async () => {
  const start = new Function(readFileSync(script, 'utf8') + '; return startChecker;')();
  const check = await start(readFileSync(module));
  for (const request of requests)
    console.log(JSON.stringify(await check(JSON.parse(request)).catch((error) => ({ printed: String(error) }))));
})();
"""
# Errors of training, and warnings about decoding.
BEYOND = re.compile(r"error: [^:\n]+: train \{|[^\n]*\[W0109\]\n")


def answers(module, specs):
    requests = [json.dumps({
        "name": spec.name, "text": spec.read_bytes().decode(errors="replace"),
        "files": {other.name: other.read_bytes().decode(errors="replace")
                  for other in spec.parent.glob("*.fov")}}) for spec in specs]
    result = subprocess.run(["node", "-e", NODE], input="\0".join([module, str(SCRIPT), *requests]),
                            capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def compare(module, *paths):
    specs = [pathlib.Path(path).resolve() for path in paths]
    equal = beyond = 0
    for spec, answer in zip(specs, answers(module, specs), strict=True):
        native = subprocess.run(["fovea", "check", spec.name], cwd=spec.parent, capture_output=True,
                                text=True, env={**os.environ, "NO_COLOR": "1"}).stderr
        if native == answer["printed"]:
            equal += 1
        elif not answer["printed"] and BEYOND.match(native):
            beyond += 1
        else:
            sys.exit(f"{spec.name}: fovea check prints\n{native}\nthe module\n{answer['printed']}")
    print(f"{equal} specs with the same diagnostics, {beyond} with one that only fovea check can find")


def show(module, path):
    answer, = answers(module, [pathlib.Path(path)])
    print(answer["printed"], end="")
    print(f"{answer['errors']} errors, {answer['warnings']} warnings")
    for array in answer["arrays"]:
        print(array["name"], array["shape"], array["kind"], f"line {array['line']}")


def page(site):
    from chromium import Chromium
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Chromium(profile) as browser:
        browser.open(os.path.join(site, "check.html"), "#spec=rnnsearch")
        state = "document.getElementById('check-state').textContent"
        field = "document.getElementById('check-text')"
        browser.wait(f"document.getElementById('check-state') && {state} !== 'loading'")
        print("at first:", browser.evaluate(state))
        names = browser.evaluate("[...document.querySelectorAll('#check-names tr')].map(row => row.innerText)")
        print("names:", next(name for name in names if name.startswith("align")))
        # The message leads to the place.
        browser.evaluate(f"{field}.value = {field}.value.replace('dot(v,', 'dot(w,');"
                         f"{field}.dispatchEvent(new Event('input'))")
        browser.wait(f"!{state}.startsWith('0')")
        print("changed:", browser.evaluate(state))
        button = "document.querySelector('#check-messages button')"
        print("message:", browser.evaluate(f"{button}.textContent"))
        browser.evaluate(f"{button}.click()")
        print("selected:", browser.evaluate(f"{field}.value.slice({field}.selectionStart, {field}.selectionEnd)"))
        print("marked:", browser.evaluate("document.querySelector('#check-lines .error').textContent").strip())
        elsewhere = [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:", "about:"))]
        print("asked elsewhere:", len(elsewhere), *elsewhere)


{"compare": compare, "show": show, "page": page}[sys.argv[1]](*sys.argv[2:])
