"""docs/RESULTS.md shows the tables of docs/figures/results.json."""

import json
import re
import shlex

from literature.training import ROOT, TABLES, table_lines

PAGE, RECORD = ROOT / "docs/RESULTS.md", ROOT / "docs/figures/results.json"
TABLE = re.compile(r"^\|.*\n(?:\|.*\n)+", re.MULTILINE)
MEASURED = re.compile(r"^Measured: .*", re.MULTILINE)
SECTION = re.compile(r"^\*\*`(\w+)`\*\*: ", re.MULTILINE)

# The first table of the page: the section, a system, its measure, the head of a column, and the beginning of a row. Then the
# beginning of the baseline's row (or another column), or a known figure. The last entry is the aim, if there is one.
GLANCE = [
    ("speech", "Chorowski et al. (2015)", "PER, %", "PER, 1 to 3 digits, %", "`speech`", "CTC: 9.8", "at most 9.8"),
    ("phones", "Graves (2012)", "PER, %", "PER, %", "`transducer`", "`g2p`", ""),
    ("emoji", "Xu et al. (2015), soft", "BLEU-4", "BLEU-4", "`caption_soft`", "none", "60"),
    ("emoji", "Xu et al. (2015), hard", "BLEU-4", "BLEU-4", "`caption_hard`", "none", "within 10 % of soft"),
    ("people", "Xu et al. (2015), captions of people", "BLEU-4", "BLEU-4", "`caption_soft`", "none", "10"),
    ("films", "Yao et al. (2015)", "METEOR", "METEOR", "both", "none", ""),
    ("survey", "Bahdanau, Cho and Bengio (2015)", "BLEU", "BLEU", "attention", "encoder-decoder", "a gain"),
    ("attentions", "Luong, Pham and Manning (2015)", "exact words, %", "exact, %", "`attention_luong`", "`attention_simple`", ""),
    ("scan", "attention for commands", "exact, %", "exact, held out, %", "`rnnsearch`", "`seq2seq_start`", ""),
    ("lexicon", "Vogel, Ney and Tillmann (1996)", "perplexity", "perplexity", "`hmm_align`", "the same, all places alike", ""),
    ("replies", "sentences that match", "right, %", "right, %", "`match`", "shared words", ""),
    ("babi", "Sukhbaatar et al. (2015)", "wrong answers, %", "the best by validation", "mean", "n-grams, logistic regression", "at most 16"),
    ("supporting", "Weston, Chopra and Bordes (2015)", "wrong answers, %", "wrong answers, %", "the same, which", "n-grams", ""),
    ("tours", "Vinyals et al. (2015), tours", "length, 1 is the shortest", "5 to 10 points", "`pointer`", "the nearest place",
     "below the nearest place"),
    ("hulls", "Vinyals et al. (2015), hulls", "exact, %", "exact, 5 to 10 points, %", "the same, which sees", "`pointer`", "95"),
    ("triangles", "Vinyals et al. (2015), triangles", "exact, 5 points, %", "5 points, exact, %", "`pointer`", "the shortest edges", ""),
    ("sorting", "Vinyals et al. (2015), sorting", "exact, %", "5 to 10 numbers, exact, %", "`pointer`", "`blind`", ""),
    ("parsing", "Vinyals et al. (2015), parsing", "labelled F1", "labelled F1", "the same, trees", "a grammar", "70"),
    ("sentiment", "Lin et al. (2017), sentiment", "right, %", "right, %", "four hops", "words and pairs", "78.8"),
    ("entailment", "Lin et al. (2017), entailment", "right, %", "right, %", "the same, told", "words and which", "67"),
    ("language", "Mikolov et al. (2010), with 5-grams", "perplexity", "perplexity", "the same and", "5-grams", ""),
    ("dialogue", "Serban et al. (2017)", "perplexity", "perplexity", "`hred`", "5-grams", ""),
    ("copy", "Graves, Wayne and Danihelka (2014)", "nats per bit of 16 rows", "16 rows", "`ntm`, random", "an LSTM", ""),
    ("repeat", "the same, repeating rows", "nats per bit of 10 rows", "10 rows", "`ntm`", "`lstm`", ""),
    ("draw", "Gregor et al. (2015)", "nats per picture", "bound of -log p, nats", "`draw`", "one latent", ""),
    ("glimpses", "Mnih et al. (2014)", "wrong digits, %", "wrong digits, %", "`ram`, moved", "a perceptron", "below the perceptron"),
    ("handwriting", "Graves (2013)", "nats per point", "nats per point", "`graves`", "`blind`", ""),
    ("kanji", "Ha and Eck (2018)", "nats per point", "nats per point, at most", "`sketch_rnn`", "the same without", ""),
]

# The second table: the task, its section, how a row begins, and the heads of its columns.
LINKS = "alignment error rate, %", "at most one place beside, %", "weight on the right places, %", "of an even one, %", ""
THINGS = "", "looks at what it names, %", "weight there, %", "of an even one, %", ""
FORWARD = *[""] * 4, "forward, 10 digits, %"
LOOKS = [("digits of dates", "alignments", "dates", LINKS), ("letters of words", "alignments", "misspellings", LINKS),
         ("actions of commands", "alignments", "commands", LINKS),
         ("things in pictures, soft", "captions", "`caption_soft`", THINGS),
         ("things in pictures, straight-through", "captions", "hard, `straight_through`", THINGS),
         ("phones of ten digits", "speech", "`speech`", FORWARD),
         ("the same, without the previous alignment", "speech", "the same without its previous", FORWARD)]


def linked(cell):
    """`name` of a model becomes a link to its spec."""
    return re.sub(r"`(\w+)`", lambda found: f"[{found[0]}](../models/{found[1]}.fov)"
                  if (ROOT / f"models/{found[1]}.fov").exists() else found[0], str(cell))


def plain(cell):
    """A cell without its links."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell)


def cell(record, task, row, head):
    """Of the table of a task, what is below the head in the row that begins so."""
    found = record[task]
    return next(cells for cells in found["rows"] if plain(cells[0]).startswith(row))[found["heads"].index(head)]


def glance(record):
    rows = []
    for task, system, measure, head, own, other, aim in GLANCE:
        heads = record[task]["heads"]
        if other in heads:
            beside = f"{other}: {cell(record, task, own, other)}"
        elif other and not re.search(r"\d$", other):
            row = next(cells for cells in record[task]["rows"] if plain(cells[0]).startswith(other))
            beside = f"{plain(row[0])}: {row[heads.index(head)]}"
        else:
            beside = other
        rows.append([system, f"`{task}`", measure, cell(record, task, own, head), beside, aim])
    return ["system", "section", "measure", "result", "alternative", "aim"], rows


def judged(record):
    """Where attention looks, of all tasks where the right places are known."""
    rows = [[f"{title}, `{task}`", *(head and cell(record, task, row, head) for head in heads)]
            for title, task, row, heads in LOOKS]
    return ["task", "alignment error rate, %", "largest weight is there or beside, %", "weight there, %", "even weights, %",
            "moves forward, %"], rows


def replaced(page, start, heads, rows):
    """The page with this table in place of the first one after its start."""
    own = TABLE.search(page, page.index(start))
    return page[:own.start()] + "\n".join([*table_lines(heads, rows), ""]) + page[own.end():]


def shown(page, record):
    """The page with the tables of the record: that of a task is the first one after its name in bold."""
    for task, found in record.items():
        page = replaced(page, f"**`{task}`**: ", found["heads"], found["rows"])
    page = replaced(page, "\n## At a glance\n", *glance(record))
    return replaced(page, "\n## Where attention looks\n", *judged(record))


def read():
    return json.loads(RECORD.read_text(encoding="utf-8"))


def write():
    """Writes all tables of the record into the page."""
    PAGE.write_text(shown(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")


def recorded(folder):
    """All tasks of the record, each with a folder of its own and the rows to measure; none are all of them."""
    return [(task, folder / task, found["only"]) for task, found in read().items()]


def record(task, only):
    """Writes the table that the task printed into both files."""
    found = read()
    heads, rows = TABLES[-1]
    found[task] = {"only": only, "heads": heads, "rows": [list(map(linked, row)) for row in rows]}
    RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write()


def faults():
    """What is wrong between the page and the record."""
    page, found = PAGE.read_text(encoding="utf-8"), read()
    missing = [f"section `{task}` has no table in docs/figures/results.json" for task in SECTION.findall(page)
               if task not in found]
    for task, own in found.items():
        command = " ".join([f"literature-results {task} FOLDER --data DATA",
                            *(f"--only {row if shlex.quote(row) == row else json.dumps(row)}" for row in own["only"])])
        if f"{command}`" not in MEASURED.search(page, page.index(f"**`{task}`**: "))[0]:
            missing.append(f"section `{task}` was not measured by {command}")
    return missing + ["docs/RESULTS.md differs from docs/figures/results.json; help: literature-results --page"] * (
        shown(page, found) != page)


def label(cells):
    """What names a row: its first cell and others that are no figures, such as how a model is decoded."""
    return [plain(cells[0]), *(plain(cell) for cell in cells[1:] if not re.match(r"-?\d", cell))]


def strays(task):
    """Cells of the task's last table that are outside of the range that was recorded, for the rows that it has."""
    found, (heads, rows) = read()[task], TABLES[-1]
    for row in rows:
        known = next(cells for cells in found["rows"] if label(cells) == label(row))
        for head, own, wide in zip(heads, row, known, strict=True):
            numbers = re.fullmatch(r"[-\d.]+ \(([-\d.]+) to ([-\d.]+)\)", wide)
            if numbers and not float(numbers[1]) <= float(own) <= float(numbers[2]):
                yield f"{row[0]}, {head}: {own} is outside of {wide}"
