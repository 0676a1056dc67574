"""docs/RESULTS.md shows the tables of docs/figures/results.json."""

import json
import re

from literature.training import ROOT, TABLES, table_lines

PAGE, RECORD = ROOT / "docs/RESULTS.md", ROOT / "docs/figures/results.json"
TABLE = re.compile(r"^\|.*\n(?:\|.*\n)+", re.MULTILINE)


def linked(cell):
    """`name` of a model becomes a link to its spec."""
    return re.sub(r"`(\w+)`", lambda found: f"[{found[0]}](../models/{found[1]}.fov)"
                  if (ROOT / f"models/{found[1]}.fov").exists() else found[0], str(cell))


def shown(page, record):
    """The page with the tables of the record: that of a task is the first one after its name in bold."""
    for task, found in record.items():
        own = TABLE.search(page, page.index(f"**`{task}`**: "))
        page = page[:own.start()] + "\n".join([*table_lines(found["heads"], found["rows"]), ""]) + page[own.end():]
    return page


def record(task):
    """Writes the table that the task printed into both files."""
    found = json.loads(RECORD.read_text(encoding="utf-8"))
    heads, rows = TABLES[-1]
    found[task] = {"heads": heads, "rows": [list(map(linked, row)) for row in rows]}
    RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(shown(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


def is_current():
    page = PAGE.read_text(encoding="utf-8")
    return shown(page, json.loads(RECORD.read_text(encoding="utf-8"))) == page
