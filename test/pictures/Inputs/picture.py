"""Says what is in a picture: that it is whole, its texts and its tips.

  picture.py FILE [--curves]     an .svg, .html or .png
"""

import base64
import html.parser
import struct
import sys
import xml.etree.ElementTree
import zlib

SVG = "{http://www.w3.org/2000/svg}"


def pixels_of(uri):
    """Rows of pixels of an image without an alpha channel."""
    data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    width, height = struct.unpack(">II", data[16:24])
    channels = {0: 1, 2: 3}[data[25]]
    size = channels * width
    at, packed = 8, b""
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, line, rows = zlib.decompress(packed), bytearray(size), []
    for y in range(height):
        kind, own = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for i in range(size):
            before = i - channels
            left, up, corner = (own[before] if before >= 0 else 0), line[i], (line[before] if before >= 0 else 0)
            near = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            own[i] = (own[i] + (0, left, up, (left + up) // 2, near)[kind]) & 255
        line = own
        pixels = [tuple(own[x:x + channels]) for x in range(0, size, channels)]
        rows.append([3 * pixel if channels == 1 else pixel for pixel in pixels])
    return rows


def print_image(element):
    """Its place, and the pixels at the middles of a grid of four by four."""
    rows = pixels_of(element.get("href"))
    print("image", *(element.get(key) for key in ("x", "y", "width", "height")))
    for y in range(4):
        row = rows[(2 * y + 1) * len(rows) // 8]
        print("pixels", *("#%02x%02x%02x" % row[(2 * x + 1) * len(row) // 8] for x in range(4)))


def print_svg(root):
    print("size", root.get("width"), root.get("height"))
    for element in root.iter():
        title = element.find(SVG + "title")
        if element.tag == SVG + "image":
            print_image(element)
        if element.get("data-values"):
            print("values", *(element.get("data-" + key) for key in ("name", "rows", "columns", "values")))
        if element.tag == SVG + "path":
            print("area", element.get("d"))
        if element.tag == SVG + "polyline" and not element.get("stroke-dasharray") and "--curves" in sys.argv:
            print("curve", element.get("points"))
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
