"""Which mistakes can be planted in C++ sources, and the choice of some of them."""

import random
import re
from typing import NamedTuple

OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
             " && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " * ": " + "}
OPERATOR = re.compile("|".join(re.escape(one) for one in OPERATORS))
BOUND = re.compile(r"(?<=[=<>(] )\d+(?=[;) ])|(?<= [-+<>] )\d+\b")
CONDITION = re.compile(r"\bif \((?!auto |.*;)(.*)\)(?= return| continue|$| \{$)")
STATEMENT = re.compile(r"( +)[a-z]\w*(\.|->|\()[^{}]*\);")
# Assertions and messages decide nothing; a template's brackets are no operators.
SKIPPED = re.compile(r'^\s*(//|#|assert\(|template|using |static_assert)|"|llvm_unreachable|operator')
HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL)


class Mistake(NamedTuple):
    """Another text for what a file has between two offsets."""

    path: str  # from the root of the sources
    line: int  # the first is 1
    kind: str  # operator, bound, condition or order
    begin: int
    end: int
    instead: str
    text: str  # the changed line, or both lines

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}: {self.text}"


def mistakes(path, content):
    """All mistakes for a file of this content."""
    lines, start = content.split("\n"), 0
    for at, line in enumerate(lines):
        if not SKIPPED.search(line):
            changes = [("operator", *found.span(), OPERATORS[found.group()]) for found in OPERATOR.finditer(line)]
            changes += [("bound", *found.span(), str(int(found.group()) + 1)) for found in BOUND.finditer(line)]
            changes += [("condition", *found.span(1), f"!({found[1]})") for found in CONDITION.finditer(line)]
            for kind, begin, end, instead in changes:
                text = (line[:begin] + instead + line[end:]).strip()
                yield Mistake(path, at + 1, kind, start + begin, start + end, instead, text)
            after = lines[at + 1] if at + 1 < len(lines) else ""
            one, two = STATEMENT.fullmatch(line), STATEMENT.fullmatch(after)
            if one and two and one[1] == two[1] and line != after:
                end = start + len(line) + 1 + len(after)
                yield Mistake(path, at + 1, "order", start, end, f"{after}\n{line}", f"{after.strip()} {line.strip()}")
        start += len(line) + 1


def blanked(content, hides):
    """`content` with spaces for the comments, or for what `hides` accepts, at the same offsets."""
    return HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if hides(found[0]) else found[0], content)


def is_bracket(code, at):
    """Whether `<` or `>` belongs to a template: the formatter puts spaces around operators."""
    return code[at - 1] not in " -<>" and code[at + 1:at + 2] not in ("<", "=")


def expression_around(code, begin, end):
    """The offsets of the largest expression around an operator: up to a bracket that
    encloses it, a comma, a semicolon, an assignment, `?`, `:` or `return`.

    `code` has neither comments nor strings.
    """
    first, depth = begin, 0
    while first > 0:
        sign = code[first - 1]
        if sign in ")]" or (sign == ">" and is_bracket(code, first - 1)):
            depth += 1
        elif sign in "([" or (sign == "<" and is_bracket(code, first - 1)):
            depth -= 1
        elif sign == "}":
            if depth == 0 and code[first:].lstrip(" ")[0] == "\n":
                break
            depth += 1
        elif sign == "{":
            depth -= 1
        elif depth == 0 and (sign in ",;?" or re.search(r"( [-+*/|&]?= | : |\breturn )$", code[max(0, first - 8):first])):
            break
        if depth < 0:
            break
        first -= 1
    last, depth = end, 0
    while last < len(code):
        sign = code[last]
        if sign in "([{" or (sign == "<" and is_bracket(code, last)):
            depth += 1
        elif sign in ")]}" or (sign == ">" and is_bracket(code, last)):
            depth -= 1
        elif depth == 0 and (sign in ",;?" or code[last:last + 3] in (" : ", " = ")):
            break
        if depth < 0:
            break
        last += 1
    first += len(code[first:last]) - len(code[first:last].lstrip())
    last -= len(code[first:last]) - len(code[first:last].rstrip())
    return first, last


def choice(content, mistake, number):
    """The text between two offsets that is wrong where `planted(number)` holds: (begin, end, text).

    It has as many lines as before.
    """
    begin, end, instead = mistake.begin, mistake.end, mistake.instead
    if mistake.kind == "bound":
        return begin, end, f"(planted({number}) ? {instead} : {content[begin:end]})"
    if mistake.kind == "condition":
        return begin, end, f"planted({number}) != static_cast<bool>({content[begin:end]})"
    if mistake.kind == "order":
        wrong = " ".join(instead.split("\n"))
        return begin, end, f"if (planted({number})) {{ {wrong} }} else {{ {content[begin:end]} }}"
    first, last = expression_around(blanked(content, bool), begin, end)
    plain = blanked(content, lambda hidden: hidden.startswith("/"))
    wrong = " ".join((plain[first:begin] + instead + plain[end:last]).split("\n"))
    return first, last, f"(planted({number}) ? ({wrong}) : ({content[first:last]}))"


def sample(contents, number, seed):
    """Mistakes in different files as long as there are files, of all kinds alike.

    `contents` has the text of each path. No two choices overlap in a file.
    """
    chance = random.Random(seed)
    paths = sorted(contents)
    chance.shuffle(paths)
    left = {path: {} for path in paths}
    for path in paths:
        for mistake in mistakes(path, contents[path]):
            left[path].setdefault(mistake.kind, []).append(mistake)
    chosen, taken = [], {path: [] for path in paths}
    while len(chosen) < number and paths:
        for path in list(paths):
            kinds = left[path]
            while kinds:
                kind = chance.choice(sorted(kinds))
                mistake = kinds[kind].pop(chance.randrange(len(kinds[kind])))
                if not kinds[kind]:
                    del kinds[kind]
                begin, end, _ = choice(contents[path], mistake, 0)
                if all(end <= one or two <= begin for one, two in taken[path]):
                    break
            else:
                paths.remove(path)
                continue
            if len(chosen) < number:
                chosen.append(mistake)
                taken[path].append((begin, end))
    return chosen
