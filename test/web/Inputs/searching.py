"""searching.py SITE WORD: what the search of a site finds, opened as a file."""

import sys
import tempfile

from chromium import Chromium

with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Chromium(profile) as browser:
    browser.open(sys.argv[1] + "/index.html")
    browser.wait("document.readyState === 'complete' && document.querySelector('[data-md-component=search-query]')")
    # The page listens some time after it is complete.
    for attempt in range(12):
        browser.type("document.querySelector('[data-md-component=search-query]')", sys.argv[2])
        try:
            browser.wait("document.querySelector('.md-search-result__link')", seconds=5)
            break
        except AssertionError:
            if attempt == 11:
                raise
    first = "document.querySelector('.md-search-result__link')"
    print("found:", browser.evaluate(first + ".href").split("/", 3)[3].split("/")[-1])
    elsewhere = [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:", "about:"))]
    print("asked elsewhere:", len(elsewhere), *elsewhere)
