"""What a machine can check of the English in Markdown and in comments (docs/style.md)."""

import re

MOST_WORDS = 25
MOST_COLUMNS = 100
# Not natural English, or too vague for a reader to act on.
PHRASES = [
    "is said", "says what", "are told", "what is given", "those that", "that of",
    "as they are", "stands", "lies", "there is that of", "has to lose",
    "what it is worth", "by itself", "in the end", "one after the other",
    "is taken", "of which", "whoever", "nobody has said that",
    "(?<!there )(?<!here )is no(?! longer| more| slower| faster| larger)"]
PHRASE = re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b", re.I)
WORD = re.compile(r"[A-Za-z0-9][\w'./%+-]*")


def is_fence(line):
    return line.lstrip().startswith("```")


def is_prose(line):
    """Whether a line outside of code is text, and no heading, table, picture,
    HTML or note of where figures come from."""
    return not line.lstrip().startswith(("#", "|", "<", "![", "Measured:"))


def paragraphs(text):
    """Yields the first line's number and the text of each paragraph, list item
    and table cell, and whether it is a cell."""
    begin, lines, in_code = 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if is_fence(line):
            in_code = not in_code
        item = re.match(r"\s*(?:[-*]|\d+\.)\s+(.*)", line)
        continues = line.strip() and not in_code and not is_fence(line) and is_prose(line)
        if lines and (item or not continues):
            yield begin, " ".join(lines), False
            lines = []
        if not in_code and line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                yield number, cell.strip(), True
        if continues:
            begin = begin if lines else number
            lines.append(item[1] if item else line.strip())


def plain(text):
    """`text` without code and without the targets of links."""
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", text))


def faults_of(number, paragraph, is_cell=False):
    paragraph = plain(paragraph)
    for sentence in re.split(r"(?<=[.!?:;])\s+", paragraph):
        words = len(WORD.findall(sentence))
        if words > MOST_WORDS and not is_cell:
            yield number, f"a sentence has {words} words, over {MOST_WORDS}"
    for phrase in PHRASE.findall(paragraph):
        yield number, f"'{phrase}' is not natural English"


# Of C++, JavaScript and Python; what the preprocessor reads begins with `#`, too.
COMMENT = re.compile(r"\s*(?:///?<?|#(?!include|if|el|end|def|undef|pragma|err)) ?(.*)$")


def comments(text):
    """Yields the first line's number and the text of each paragraph of comments. Tables,
    formulas and other lines with columns are not sentences."""
    begin, lines = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        found = COMMENT.match(line)
        words = found[1].rstrip() if found else ""
        is_item = re.match(r"[*-] ", words)
        is_text = words and not re.match(r" |\||===|!|- `@", words) and "  " not in words
        if lines and (not is_text or is_item):
            yield begin, " ".join(lines)
            lines = []
        if is_text:
            begin = begin if lines else number
            lines.append(words)


def comment_faults(text):
    """Yields the line's number and what is wrong in a comment there."""
    for number, paragraph in comments(text):
        yield from faults_of(number, paragraph)


def faults(text):
    """Yields the line's number and what is wrong there. A cell of a table holds
    a phrase, whose words do not count."""
    for number, paragraph, is_cell in paragraphs(text):
        yield from faults_of(number, paragraph, is_cell)
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if is_fence(line):
            in_code = not in_code
        if not in_code and is_prose(line) and len(line) > MOST_COLUMNS:
            yield number, f"the line has {len(line)} columns, over {MOST_COLUMNS}"
