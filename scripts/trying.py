"""Models that a page of the site runs, beside their equations.

Two have no weights; the third one learns what it does in seconds. What makes them
is in examples/try.
"""

import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "try"
LETTERS = " abcdefghijklmnopqrstuvwxyz"
MONTHS = ("January February March April May June July August September October "
          "November December").split()

#: Each model, what it is asked first, and what the page says of it.
MODELS = {
    "dates": ("3 May 1997", "It has learnt from 4,000 dates, in a few seconds of one "
              "thread. Try `October 22, 1909` or `1964/10/7`, and what it has not seen: "
              "a month with a mistake in it."),
    "backwards": ("attention", "Nothing is learnt: the equation `align` says where it "
                  "looks. Change the word, and the picture follows."),
    "sorted": ("alignment", "Nothing is learnt here either: `before` counts for each "
               "letter how many stand before it."),
}


def dates(count, seed):
    """Dates as people write them, and as they are written by machines."""
    draw = random.Random(seed)
    for _ in range(count):
        year, month, day = draw.randint(1900, 2099), draw.randint(1, 12), draw.randint(1, 28)
        name = MONTHS[month - 1]
        text = draw.choice((f"{day} {name} {year}", f"{name} {day}, {year}",
                            f"{day}.{month}.{year}", f"{day} {name[:3].lower()} {year}",
                            f"{year}/{month}/{day}"))
        yield text, f"{year}-{month:02}-{day:02}"


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def weights_of(fovea, name, work):
    """What `fovea compile` needs besides the spec."""
    if name != "dates":
        letters = write_lines(work / "letters", ["<s>", "</s>", "<unk>", *LETTERS])
        return ["--vocab", f"letter={letters}"]
    given, wanted = zip(*dates(4000, seed=1))
    src, tgt = write_lines(work / "src", given), write_lines(work / "tgt", wanted)
    subprocess.run([fovea, "train", FOLDER / "dates.fov", "--data", f"src={src},tgt={tgt}",
                    "--batch", "32", "--steps", "1000", "--seed", "1", "--quiet",
                    "--out", work / "dates"], check=True)
    return ["--weights", work / "dates" / "model.safetensors"]


def make_pages(fovea, work, output):
    """A folder with index.html for each model."""
    for name in MODELS:
        subprocess.run([fovea, "compile", FOLDER / f"{name}.fov",
                        *weights_of(fovea, name, work), "--show", "align",
                        "--emit", "web", "-o", output / name], check=True)


def page():
    """The page that has them, in Markdown."""
    text = ["# Try it\n",
            "Each of these models runs in this page, on your machine: "
            "[what `fovea compile --emit web` makes](docs/SHIPPING.md#a-page-for-a-browser) "
            "of the equations beside it.\n"]
    for name, (question, what) in MODELS.items():
        spec = (FOLDER / f"{name}.fov").read_text(encoding="utf-8")
        asked = question.replace(" ", "+")
        text.append(f'## {name.capitalize()}\n\n{what}\n\n<div class="try" markdown>\n'
                    f'<div markdown>\n\n```fov\n{spec}```\n\n</div>\n'
                    f'<iframe loading="lazy" src="try/{name}/index.html#src={asked}&amp;answers=2" '
                    f'title="{name}, to try"></iframe>\n</div>\n\n'
                    f"[The page alone](try/{name}/index.html)\n")
    return "\n".join(text)
