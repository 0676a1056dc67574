"""Programs with the libraries that they link beside them, for other machines."""

import os
import pathlib
import re
import shutil
import subprocess

# What any Linux has: glibc, and what its loader always maps.
OF_EVERY_MACHINE = re.compile(
    r"(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libutil|libresolv)\.so")


# The plug-in that draws PNG and PDF. It links librsvg.
PICTURES = "libfovea_pictures.so"

# Debian's packages whose headers and archives are parts of the program.
INSIDE = ["libcli11-dev", "libmlir-22-dev", "libprotobuf-dev", "llvm-22-dev",
          "nlohmann-json3-dev"]

# ICU's own way to do without its data (its stubdata): a table without entries.
# libxml2, which reads our pictures, asks ICU only for encodings other than UTF-8.
EMPTY_ICU_DATA = """
#include <stdint.h>
struct {
  uint16_t size; uint8_t magic[2]; uint16_t info, reserved;
  uint8_t little, charset, unit, padding, format[4], version[4], data[4], rest[8];
  uint32_t count, end;
} const icudt%s_dat = {32, {0xda, 0x27}, 20, 0, 0, 0, 2, 0, {'T', 'o', 'C', 'P'}, {1}};
"""


class Missing(Exception):
    """A program or a library that is not on this machine."""


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=True, capture_output=True,
                          text=True, **options).stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"'{program}' is not installed; scripts/setup installs it")


def libraries_of(program):
    """The files that the loader finds, by the names that are asked for."""
    found = {}
    for line in run("ldd", program).splitlines():
        match = re.match(r"\s*(\S+) => (\S+) \(", line)
        if match and not OF_EVERY_MACHINE.match(match[1]):
            found[match[1]] = match[2]
        elif "not found" in line:
            raise Missing(f"{program}: {line.strip()}")
    return found


def glibc_of(file):
    """The newest version of glibc that a file asks for."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", file))
    return max(((int(major), int(minor)) for major, minor in versions), default=(2, 5))


def packages_of(libraries):
    """Which of Debian's packages each file is from, by the names of the files."""
    origins = {}
    for name, path in sorted(libraries.items()):
        for candidate in (path, os.path.realpath(path)):
            done = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True)
            if done.returncode == 0:
                origins[name] = done.stdout.split(":")[0]
                break
        else:
            # /lib is a link to /usr/lib.
            found = run("dpkg", "-S", "*/" + os.path.basename(os.path.realpath(path)))
            origins[name] = found.split(":")[0]
    return origins


def version_of(package):
    return run("dpkg-query", "-W", "-f", "${Version}", package)


def terms_of(package):
    """The licence of a package, as Debian has it; empty if it is not installed."""
    terms = pathlib.Path("/usr/share/doc", package, "copyright")
    return terms.read_text(errors="replace") if terms.exists() else ""


def empty_icu_data(library):
    """Makes `library` (libicudata.so.VERSION, 31 MB) one without data."""
    need("clang-22")
    version = re.search(r"\d+$", library.name)[0]
    source = library.with_suffix(".c")
    source.write_text(EMPTY_ICU_DATA % version)
    run("clang-22", "-shared", "-O1", f"-Wl,-soname,{library.name}", source, "-o", library)
    source.unlink()


def bundle(folder, plugins=()):
    """Puts what `folder`/bin/fovea and the named plug-ins link into
    `folder`/lib/bundled, where they and the libraries find it. Other plug-ins use
    the machine's libraries. Returns the version of glibc that all of it needs, and
    the files that were copied, by name."""
    folder = pathlib.Path(folder)
    program = folder / "bin" / "fovea"
    plugins = [folder / "lib" / name for name in plugins]
    inside = folder / "lib" / "bundled"
    inside.mkdir(parents=True)
    found = libraries_of(program)
    for plugin in plugins:
        found |= libraries_of(plugin)
        run("patchelf", "--set-rpath", "$ORIGIN/bundled", plugin)
    for name, path in found.items():
        shutil.copy(path, inside / name)
        os.chmod(inside / name, 0o755)
        if name.startswith("libicudata.so."):
            empty_icu_data(inside / name)
        run("patchelf", "--set-rpath", "$ORIGIN", inside / name)
        run("strip", "--strip-unneeded", inside / name)
    run("strip", program)
    run("patchelf", "--set-rpath", "$ORIGIN/../lib/bundled", program)
    glibc = max(glibc_of(file)
                for file in [program, *folder.glob("lib/*.so"), *inside.iterdir()])
    return glibc, found
