"""files.py PAGE FILE..: what a page answers to each file that it is given, in a headless Chromium."""

import os
import sys
import tempfile

from chromium import Chromium

page, *files = sys.argv[1:]
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Chromium(folder) as browser:
    browser.open(page)
    browser.wait("typeof model === 'object' && model && !document.getElementById('ask').disabled")
    browser.call("DOM.enable")
    for file in files:
        browser.evaluate("shown = null")
        field = browser.call("Runtime.evaluate", expression="inputs().find((input) => input.type === 'file')")
        browser.call("DOM.setFileInputFiles", files=[os.path.abspath(file)], objectId=field["result"]["objectId"])
        browser.wait("shown && !isBusy")
        print(browser.evaluate("shown.length ? shown[0].text : find('mistake').textContent"))
