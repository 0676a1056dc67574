"""Compares `fovea chat --print-prompt` with Jinja2, as transformers sets it up.

  prompts.py FOLDER FILE..     templates; prints how many prompts are equal
"""

import json
import os
import subprocess
import sys

from jinja2.sandbox import ImmutableSandboxedEnvironment

CONVERSATIONS = [["hello"], [" two\tspaces ", "an answer\u00e9 ", "{{ more }} 'quoted' \"twice\""],
                 ["a", "b", "c", "d", "e"]]
SYSTEMS = ["", "Be brief."]


def refuse(text):
    raise ValueError(text)


def main(folder, *files):
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = refuse
    environment.filters["tojson"] = lambda x, indent=None: json.dumps(x, ensure_ascii=False, indent=indent)
    symbols = {"bos_token": "<s>", "eos_token": "</s>"}
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
        json.dump(symbols, file)
    for name in files:
        with open(name) as file:
            template = environment.from_string(file.read())
        count = 0
        for lines in CONVERSATIONS:
            for system in SYSTEMS:
                messages = [{"role": "system", "content": system}] if system else []
                messages += [{"role": ("user", "assistant")[i % 2], "content": line} for i, line in enumerate(lines)]
                wanted = template.render(messages=messages, add_generation_prompt=True, **symbols)
                command = ["fovea", "chat", os.path.join(folder, "m.fov"), "--template", name, "--print-prompt"]
                done = subprocess.run(command + ["--system", system] * bool(system),
                                      input="".join(line + "\n" for line in lines), capture_output=True, text=True)
                assert done.returncode == 0, f"{name}: {done.stderr}"
                assert done.stdout == wanted, f"{name}:\n{done.stdout!r}\n{wanted!r}"
                count += 1
        print(f"{os.path.basename(name)}: {count} prompts are equal")


main(*sys.argv[1:])
