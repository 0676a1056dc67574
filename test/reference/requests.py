"""What is asked for beside the objective leaves every bit of it as it is.

    requests.py WORK_DIRECTORY WHAT[,WHAT..] [MODEL..]

WHAT is what `fovea run --get` takes: it is computed alone, with all equations of the model and with
half of them. Models and sizes are those of bits.py.
"""

import random
import re
import subprocess
import sys

from bits import count, end, every, prepared, read


def equations(spec, *sets):
    text = subprocess.run(["fovea", "compile", spec, *sets, "--emit", "attn"], capture_output=True, text=True,
                          check=True).stdout
    training = text[text.index("@training"):].split("attn.system", 1)[0]
    return re.findall(r'attn\.equation "([^"]+)"', training)


def main(work, gets, *models):
    differing = compared = 0
    for model in models or every():
        model, arguments, out = prepared(model, work)

        def run(names):
            subprocess.run(["fovea", "run", *arguments, "--get", *gets.split(","), *names], check=True)
            return read(out)

        labels, draw = equations(*arguments[:arguments.index("--weights")]), random.Random(model)
        expected = run([])
        total = sum(len(tensor.values) for tensor in expected.values())
        for names in labels, [name for name in labels if draw.random() < 0.5]:
            found = run(names)
            wrong = sum(count(expected[name], found[name]) for name in expected)
            compared += 1
            differing += bool(wrong)
            print(f"{model}: {wrong} of {total} numbers differ beside {len(names)} equations", flush=True)
    end(differing, compared)


if __name__ == "__main__":
    main(*sys.argv[1:])
