"""links.py SHARE: prints each link of an installed page to a file that is not
there, beside links to folders of the source."""
import pathlib
import re
import sys

share = pathlib.Path(sys.argv[1])
for page in sorted(share.rglob("*.md")):
    for link in re.findall(r"\]\(([\w./+-]+)[^)]*\)", page.read_text()):
        target = page.parent / link
        if target.suffix and not target.exists():
            print(f"{page.relative_to(share)}: {link}")
