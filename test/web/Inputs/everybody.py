"""everybody.py PAGE FOLDER: how a page is used without a mouse, eyes or light."""

import re
import sys
import tempfile

from chromium import Chromium

page, folder = sys.argv[1:]


def luminance(color):
    red, green, blue = (int(part) for part in re.findall(r"\d+", color)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def tree(browser):
    """What a screen reader is told: role, name, and whether it is hidden."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Chromium(profile) as browser:
    browser.open(page)
    browser.wait("typeof model === 'object' && model && !find('ask').disabled")
    browser.evaluate("find('nbest').value = '3'")
    browser.type("inputs()[0]", "das Haus")
    browser.wait("find('answers').tBodies[0].rows.length && !isBusy")
    told = tree(browser)
    print("field:", *[name for role, name in told if role == "textbox"])
    print("said:", re.sub(r"\d+ ms", "N ms", browser.evaluate("find('state').textContent")))
    cells = browser.evaluate("[...document.querySelectorAll('#drawings [data-tip]')].map((cell) => cell.dataset.tip)")
    column, row = re.match("(.*) \u2192 (.*):", cells[0]).groups()
    labels = len({re.match("(.*) \u2192 ", cell)[1] for cell in cells})
    print(f"drawn: {browser.evaluate('shown[0].pictures[0].name')}, {len(cells) // labels} x {labels} cells,",
          f"of '{row}' over '{column}'")
    rows = browser.evaluate("[...document.querySelector('#tables table').rows].map((row) => "
                            "[...row.cells].map((cell) => cell.textContent))")
    print(f"table: {browser.evaluate('document.querySelector(`#tables caption`).textContent')}:", rows[0], rows[1])
    print("rows add up to 1:", all(abs(sum(map(float, row[1:])) - 1) < 2e-3 for row in rows[1:]))
    first = browser.evaluate("find('drawings').innerHTML")
    browser.evaluate("find('answers').querySelectorAll('button')[1].click()")
    print("another answer is drawn:", browser.evaluate("find('drawings').innerHTML") != first)
    roles = {role for role, _ in told}
    wanted = ("button", "combobox", "heading", "main", "status", "table", "textbox")
    print("roles: alert?", "alert" in roles, *[role for role in wanted if role in roles])

    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    print("a telephone scrolls sideways:", browser.evaluate("document.documentElement.scrollWidth > 360"))
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    look = "((one) => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor])"
    body = browser.evaluate(look + "(document.body)")[0]
    ink, paper = browser.evaluate(look + "(find('drawings'))")
    print("letters in the dark:", "light on dark;" if luminance(body) > 200 else "unreadable;", "of the drawing:",
          "dark on light" if luminance(ink) < 60 and luminance(paper) > 200 else "unreadable")

    browser.open(page, "#src=ein+Baum&answers=3")
    browser.wait("typeof shown === 'object' && shown.length === 3 && !isBusy")
    print("by an address:", browser.evaluate("shown[0].text"))
    browser.type("inputs()[0]", " ")
    browser.wait("shown.length === 0 && !isBusy")
    print("an empty field:", browser.evaluate("find('state').textContent"))
