"""idioms.py FILE: whether each command line of FILE is answered as it says:

  COMMAND OPTIONS => fault => help [=> COMMAND OPTIONS that mean the same]

The spec is a file that does not exist, so that a command line that is understood
does not end with 2. Rewrites whose options differ share a command line.
"""

import concurrent.futures
import shlex
import subprocess
import sys

WITHOUT_SPEC = ["train", "decode", "score", "compile", "bench"]


def run(words):
    command, *options = words
    given = ["none.fov"] if command in WITHOUT_SPEC else []
    if command == "train":
        given += ["--data", "src=a", "--out", "b"]
    done = subprocess.run(["fovea", command, *given, *options], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stderr


def mistake(idiom):
    text, fault, help = idiom[:3]
    code, said = run(shlex.split(text))
    answered = code == 2 and fault in said and help in said
    return "" if answered else f"{text}: exits with {code}: {said}"


def grouped(rewrites):
    """Command lines that have all options of the rewrites."""
    groups = []
    for command, *options in map(shlex.split, rewrites):
        names = {word for word in options if word.startswith("--") and word != "--set"}
        for group in groups:
            if group["words"][0] == command and not names & group["names"]:
                break
        else:
            groups.append(group := {"words": [command], "names": {"--data", "--out"}
                                    if command == "train" else set()})
        group["words"] += options
        group["names"] |= names
    return [group["words"] for group in groups]


def refusal(words):
    code, said = run(words)
    return f"{shlex.join(words)}: exits with {code}: {said}" if code in (0, 2) else ""


lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
idioms = [[field.strip() for field in line.split(" => ")]
          for line in lines if line and not line.startswith("#")]
rewrites = [idiom[3] for idiom in idioms if len(idiom) > 3]
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    wrong = list(filter(None, [*pool.map(mistake, idioms),
                               *pool.map(refusal, grouped(rewrites))]))
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(idioms)} commands are answered, {len(rewrites)} rewrites are understood")
