"""page.py node|browser PAGE PROGRAM LINES [ANSWERS]: a page beside the program.
page.py refused PAGE QUESTION..: what the module says of questions that are none.
page.py recorded PAGE FROM TO: writes the samples of a WAV file as the page writes what it records.

Both answer the same lines. They have to give the same words in the same order,
and log p that differs by a ten-thousandth at most. `node` runs the module by the
page's own script, `browser` types into the page, in a headless Chromium.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 1e-4

NODE = """
const { readFileSync } = require('fs');
const [text, module, engine, questions] = readFileSync(0, 'utf8').split('\\0');
(async () => {
  const start = new Function(engine + '; return startEngine;')();
  const model = await start(Buffer.from(module, 'base64'));
  console.log(JSON.stringify(model.about));
  for (const question of JSON.parse(questions)) {
    if (question.paths) question.files = question.paths.map((path) => path && readFileSync(path));
    const beam = Math.max(question.nbest, model.about.beam);
    console.log(JSON.stringify(model.answer(question.nbest ? { beam, ...question } : question)));
  }
})();
"""


def parts(page):
    text = open(page).read()
    return [re.search(f'<script[^>]* id="{name}">(.*?)</script>', text, re.S)[1] for name in ("module", "engine")]


def by_node(page, questions):
    """What the model says of itself, and its answers."""
    given = "\0".join(["", *parts(page), json.dumps(questions)])
    result = subprocess.run(["node", "-e", NODE], input=given, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    about, *answers = [json.loads(line) for line in result.stdout.splitlines()]
    return about, answers


def by_browser(page, questions):
    sys.path.insert(0, HERE)
    from chromium import Chromium

    answers = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Chromium(folder) as browser:
        browser.open(page)
        browser.wait("typeof model === 'object' && model && !document.getElementById('ask').disabled")
        about = browser.evaluate("model.about")
        nbest = questions[0]["nbest"]
        browser.evaluate(f"find('nbest').value = '{nbest}'")
        for question in questions:
            for number, text in enumerate(question["line"].split("\t")):
                browser.evaluate("shown = null")
                browser.type(f"inputs()[{number}]", text)
            browser.wait("shown && !isBusy")
            if browser.evaluate("shown.length") == 0:
                answers.append({"error": browser.evaluate("find('mistake').textContent")})
                continue
            # The table has the answers of the model.
            rows = browser.evaluate(
                "[...find('answers').tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
            answers.append({"hypotheses": browser.evaluate("shown")})
            assert [row[0] for row in rows] == [one["text"] or "(nothing)" for one in answers[-1]["hypotheses"]], rows
        outside = [url for url in browser.requests if not url.startswith(("file:", "blob:", "about:"))]
        print("asked elsewhere:", len(outside), "mistakes of the page:", len(browser.logged))
    return about, answers


RECORDED = """
const { readFileSync, writeFileSync } = require('fs');
const [script, from, to] = readFileSync(0, 'utf8').split('\\0'), file = readFileSync(from);
const bytes = new Uint8Array(file), wav = new DataView(bytes.buffer);
const [wavOf, rateOf] = new Function(script + '; return [wavOf, rateOf];')();
const samples = new Float32Array((bytes.length - 44) / 2).map((_, i) => wav.getInt16(44 + 2 * i, true) / 32768);
writeFileSync(to, wavOf(samples, rateOf(bytes)));
"""


def recorded(page, wav, to):
    with open(page) as file:
        script = re.search(r"(// Files as a model takes them.*?)\nconst find", file.read(), re.S)[1]
    subprocess.run(["node", "-e", RECORDED], input="\0".join((script, wav, to)), text=True, check=True)


def refused(page, *questions):
    for answer in by_node(page, [json.loads(question) for question in questions])[1]:
        print(answer["error"])


def main():
    how, page, program, lines, *rest = sys.argv[1:]
    nbest = int(rest[0]) if rest else 1
    lines = open(lines).read().splitlines()
    questions = [{"line": line, "nbest": nbest} for line in lines]
    for question, line in zip(questions, lines):
        paths = [column if os.path.isfile(column) else None for column in line.split("\t")]
        question.update({"paths": paths} if any(paths) else {})
    about, answers = {"node": by_node, "browser": by_browser}[how](page, questions)
    print("model:", about["model"], "inputs:", *about["inputs"], "drawn:", *about["shows"])
    if about["files"]:
        print("files:", *(word for pair in about["files"].items() for word in pair))
    worst, count, others = 0, 0, 0
    for line, answer in zip(lines, answers):
        wanted = subprocess.run(
            [program, "--scores", "--nbest", str(nbest), "--threads", "1"] +
            (["--beam", str(nbest)] if nbest > about["beam"] else []),
            input=line + "\n", capture_output=True, text=True)
        if wanted.returncode:
            said = wanted.stderr.split("error: ", 1)[1].strip()
            assert answer == {"error": said}, (answer, said)
            print("refused as well:", said)
            continue
        wanted = [row.split("\t", 3)[1:] for row in wanted.stdout.splitlines()]
        assert "error" not in answer, (line, answer)
        given = answer["hypotheses"]
        assert [one["text"] for one in given] == [text for *_, text in wanted], (given, wanted)
        for one, (logp, *_) in zip(given, wanted):
            worst = max(worst, abs(one["logp"] - float(logp)))
            count += 1
            others += f"{one['logp']:.10g}" != logp
    assert worst <= TOLERANCE, worst
    print(f"the same: {count} answers, {others} with other digits of log p", f"(log p within {worst:.1e})" if os.environ.get("SHOW") else "")


if __name__ == "__main__":
    if sys.argv[1] in ("refused", "recorded"):
        {"refused": refused, "recorded": recorded}[sys.argv[1]](*sys.argv[2:])
    else:
        main()
