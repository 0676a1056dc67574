"""Makes gdb show operations, values, types and attributes as MLIR prints them.

    gdb -x scripts/debugger.py --args build/bin/fovea compile model.fov
    (gdb) print op
    $1 = %y = attn.compute "y" (%t: "T", %i: 4) {...} : !attn.array<["T", 4], f64>

The build needs debug information: `cmake -DCMAKE_BUILD_TYPE=Debug`. The program itself prints
(fovea_debug_text of dialect/AttnDialect.cpp), so it has to run: there is no text for a core file.
"""

import re

import gdb

OPERATION, VALUE, TYPE, ATTRIBUTE = range(4)
# The classes of dialects, and the field that points to what they refer to.
CLASSES = [
    (re.compile(r"(fovea|mlir)::(\w+::)*\w+Op"), OPERATION, "state"),
    (re.compile(r"mlir::(Value|OpResult|BlockArgument|detail::TypedValue<.*>)"), VALUE, "impl"),
    (re.compile(r"mlir::Type|(fovea|mlir)::(\w+::)*\w+Type"), TYPE, "impl"),
    (re.compile(r"mlir::Attribute|(fovea|mlir)::(\w+::)*\w+Attr"), ATTRIBUTE, "impl"),
]


class Text:
    """What stands at an address, as the program prints it."""

    def __init__(self, kind, address):
        self.kind, self.address = kind, int(address)

    def to_string(self):
        if self.address == 0:
            return "null"
        call = f"((const char *(*)(int, void *))fovea_debug_text)({self.kind}, (void *){self.address})"
        try:
            return gdb.parse_and_eval(call).string()
        except gdb.error:
            return hex(self.address)


def printer_of(value):
    plain = value.type.strip_typedefs()
    if plain.code == gdb.TYPE_CODE_PTR and str(plain.target().unqualified()) == "mlir::Operation":
        return Text(OPERATION, value)
    for name, kind, field in CLASSES:
        if name.fullmatch(str(plain.unqualified())):
            return Text(kind, value[field])
    return None


gdb.pretty_printers.append(printer_of)
