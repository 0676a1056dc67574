"""Says what is in a picture: that it is whole, its texts and its tips.

  picture.py FILE     an .svg, .html or .png
"""

import html.parser
import struct
import sys
import xml.etree.ElementTree
import zlib

SVG = "{http://www.w3.org/2000/svg}"


def print_svg(root):
    print("size", root.get("width"), root.get("height"))
    for element in root.iter():
        title = element.find(SVG + "title")
        if element.tag == SVG + "text":
            text = "".join(element.itertext()) if title is None else title.tail
            print("text", text, "=", title.text if title is not None else text)
        elif title is not None:
            print("tip", title.text, element.get("fill"))


class Page(html.parser.HTMLParser):
    """Checks that tags are closed, and prints texts."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if data.strip() and self.open[-1] not in ("style", "script"):
            print(self.open[-1], data.strip())


def print_png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            print("png", *struct.unpack(">II", body[:8]))
        if kind == b"IDAT":
            pixels += body
        at += size + 12
    assert kind == b"IEND"
    print("more than one colour:", len(set(zlib.decompress(pixels))) > 8)


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    if sys.argv[1].endswith(".svg"):
        print_svg(xml.etree.ElementTree.fromstring(data))
    elif sys.argv[1].endswith(".html"):
        page = Page()
        page.feed(data.decode())
        assert not page.open, page.open
    else:
        print_png(data)


main()
