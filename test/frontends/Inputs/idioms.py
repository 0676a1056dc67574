"""idioms.py FILE FOLDER: whether each idiom of FILE gets the answer that it
names, and whether what is suggested means the same. FOLDER gets the files; one
language server checks them.

FILE begins with the context of all specs. `:: TEMPLATE` says where the idioms
below it stand. A line is

  idiom => answer [=> rewrite [=> value]]

The answer is the whole message, or `none`. The rewrite follows the help, in the
place of the idiom or, after `|`, of the template; `fix`: it is what an editor
offers. The value is what both mean, in Python, for a number n.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys

from client import Client, start

NUMBERS = [-2.5, -0.75, -0.1, 0.3, 1.2, 4.0]
NAMES = {name: getattr(math, name)
         for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
                      "tanh", "erf", "erfc", "floor", "ceil")}


class Idiom:
    """idiom => answer [=> rewrite [=> value]], within a template."""

    def __init__(self, line, number, template):
        fields = [field.strip() for field in line.split(" => ")]
        assert 2 <= len(fields) <= 4, f"line {number}: {line}"
        self.text, self.answer, self.rewrite, self.value = (fields + ["", ""])[:4]
        self.number, self.template = number, template

    def within(self, text):
        # A rewrite that begins with '|' is all of the statements.
        text = text[1:] if text.startswith("|") else self.template.replace("{}", text, 1)
        return text.replace("\\n", "\n")


def read(path):
    """The context of all specs, and the idioms."""
    context, idioms, template = [], [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("::"):
            template = line[2:].strip()
        elif template is None:
            context.append(line)
        elif line and not line.startswith("##"):
            idioms.append(Idiom(line, number, template))
    return "\n".join(context) + "\n", idioms


class Checker:
    def __init__(self, folder, context):
        self.client = Client(folder)
        self.context, self.count = context, 0
        self.text = ""

    def check(self, statements, context=None):
        """The messages of a spec, errors and warnings apart."""
        self.count += 1
        self.name = f"{self.count}.fov"
        self.text = (self.context if context is None else context) + statements + "\n"
        self.client.open(self.name, self.text)
        found = self.client.diagnostics[self.name]
        return ([each["message"] for each in found if each["severity"] == 1],
                [each["message"] for each in found if each["severity"] == 2])

    def fixes(self):
        """The texts that the fixes of an editor make of the last spec."""
        actions = self.client.of("codeAction", self.name, context={"diagnostics": []},
                                 range={"start": start(0), "end": start(9999)})
        for action in actions:
            [[edit]] = action["edit"]["changes"].values()
            if edit["newText"].lstrip().startswith("# as meant"):
                continue
            lines = self.text.split("\n")
            first, last = edit["range"]["start"], edit["range"]["end"]
            assert first["line"] == last["line"]
            units = lines[first["line"]].encode("utf-16-le")
            lines[first["line"]] = (units[:2 * first["character"]].decode("utf-16-le")
                                    + edit["newText"]
                                    + units[2 * last["character"]:].decode("utf-16-le"))
            yield "\n".join(lines)


def valuesOf(folder, rewrites):
    """The numbers of each rewrite, by the interpreter."""
    spec = "model values\ndata n[S] : real\n"
    for number, rewrite in enumerate(rewrites):
        spec += f"e{number}[i] = {rewrite}\n"
    (folder / "values.fov").write_text(spec)
    entries = {"n": {"dtype": "F64", "shape": [1, len(NUMBERS)],
                     "data_offsets": [0, 8 * len(NUMBERS)]},
               "n.length": {"dtype": "I64", "shape": [1],
                            "data_offsets": [8 * len(NUMBERS), 8 * len(NUMBERS) + 8]}}
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    (folder / "n.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header
        + struct.pack(f"<{len(NUMBERS)}dq", *NUMBERS, len(NUMBERS)))
    gets = [word for number in range(len(rewrites)) for word in ("--get", f"e{number}")]
    subprocess.run(["fovea", "run", folder / "values.fov", "--data", folder / "n.safetensors",
                    "--reference", "-o", folder / "out.safetensors", *gets], check=True)
    data = (folder / "out.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    for number in range(len(rewrites)):
        entry = header[f"e{number}"]
        begin, end = entry["data_offsets"]
        code = {"F64": "d", "F32": "f", "I64": "q"}[entry["dtype"]]
        yield struct.unpack(f"<{len(NUMBERS)}{code}", body[begin:end])


def main():
    path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    context, idioms = read(path)
    checker = Checker(folder, context)
    assert checker.check("")[0] == [], "the context has mistakes"
    mistakes, suggestions = [], 0

    def wrong(idiom, what):
        mistakes.append(f"{path.name}:{idiom.number}: {idiom.text}: {what}")

    for idiom in idioms:
        errors, warnings = checker.check(idiom.within(idiom.text))
        fixed = list(checker.fixes())
        if idiom.answer == "none":
            if errors:
                wrong(idiom, f"does not check: {errors}")
            continue
        if idiom.answer not in errors + warnings:
            wrong(idiom, f"is answered by {errors + warnings}")
        if idiom.rewrite == "fix" and not fixed:
            wrong(idiom, "has no fix")
        for text in fixed:
            suggestions += 1
            left, _ = checker.check(text, context="")
            if len(errors) == 1 and left and idiom.rewrite == "fix":
                wrong(idiom, f"a fix does not check: {left}")
            elif any(each in left for each in errors):
                wrong(idiom, f"a fix leaves its mistake: {left}")
        if idiom.rewrite and idiom.rewrite != "fix":
            suggestions += 1
            left, _ = checker.check(idiom.within(idiom.rewrite))
            if left:
                wrong(idiom, f"its rewrite does not check: {left}")
    valued = [idiom for idiom in idioms if idiom.value]
    for idiom, values in zip(valued, valuesOf(folder, [each.rewrite for each in valued])):
        wanted = [float(eval(idiom.value, {**NAMES, "n": n})) for n in NUMBERS]
        if any(abs(a - b) > 1e-9 * (1 + abs(b)) for a, b in zip(values, wanted)):
            wrong(idiom, f"means {wanted}, but its rewrite gives {values}")
    checker.client.end()
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(f"{len(idioms)} idioms are answered, {suggestions} suggestions check, "
          f"{len(valued)} have the same values")


main()
