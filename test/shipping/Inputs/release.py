"""release.py FOLDER PROGRAM: the list of software and the licences of a release
name every library that the program links."""

import json
import pathlib
import subprocess
import sys

folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
[listed] = folder.glob("*.spdx.json")
document = json.loads(listed.read_text())
packages = {package["SPDXID"]: package for package in document["packages"]}
related = {relation["relatedSpdxElement"] for relation in document["relationships"]}
assert document["spdxVersion"] == "SPDX-2.3" and related == set(packages)
names = {package["name"]: package["versionInfo"] for package in packages.values()}

[licences] = folder.glob("*-licences.txt")
text = licences.read_text()
for name, version in names.items():
    assert (f"Fovea {version}" if name == "fovea" else f"{name} {version}") in text, name
assert "Apache License" in text and "LLVM Exceptions" in text

linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
for library, package in {"libfmt": "libfmt", "libz.so": "zlib1g", "libpng": "libpng"}.items():
    assert (library in linked) == any(name.startswith(package) for name in names), library
assert {"llvm-22-dev", "libmlir-22-dev", "libprotobuf-dev"} <= set(names)

sums = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
assert sums == {file.name for file in folder.iterdir()} - {"SHA256SUMS"}
