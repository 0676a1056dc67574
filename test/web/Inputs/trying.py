"""trying.py SITE: what the models of the page try.html answer, inside of it."""

import functools
import http.server
import sys
import tempfile
import threading

from chromium import Chromium


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1]))
threading.Thread(target=server.serve_forever, daemon=True).start()
here = f"http://127.0.0.1:{server.server_port}/"
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Chromium(profile) as browser:
    browser.call("Page.navigate", url=here + "try.html")
    browser.wait("document.readyState !== 'loading' && document.querySelectorAll('iframe').length > 0")
    count = browser.evaluate("document.querySelectorAll('iframe').length")
    print(f"in the page: {count} models")
    for number in range(count):
        frame = f"document.querySelectorAll('iframe')[{number}]"
        row = frame + ".contentDocument.querySelector('#answers tbody tr')"
        # Names of a script are none of its window: what is shown is looked at.
        browser.evaluate(frame + ".scrollIntoView()")
        browser.wait(f"{frame}.contentDocument && {row} && {row}.textContent.trim()")
        name = browser.evaluate(frame + ".title").split(",")[0]
        print(f"{name}: {browser.evaluate(row + '.querySelector(`button`).textContent')}")
    elsewhere = [url for url in browser.requests if not url.startswith((here, "data:", "blob:", "about:"))]
    print("asked elsewhere:", len(elsewhere), *elsewhere)
server.shutdown()
