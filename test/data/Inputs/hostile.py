"""Reads files that promise more than they hold, or are no files at all. Each has
to be one error within a minute that is printed as plain text, without more
memory than the program takes anyway.

  hostile.py SPECS    the folder of the specs sound, picture, array and text
"""

import gzip
import io
import os
import struct
import subprocess
import sys
import tarfile
import threading
import zlib

os.chdir(sys.argv[1])
escape = "\x1b]0;owned\x07\x1b[31m"


def flac(count):
    info = struct.pack(">HH", 4096, 4096) + bytes(6)
    info += (8000 << 44 | 15 << 36 | count).to_bytes(8, "big") + bytes(16)
    return b"fLaC\x80" + len(info).to_bytes(3, "big") + info + bytes(16)


def wav(size):
    header = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    return b"RIFF" + struct.pack("<I", size + 36) + b"WAVEfmt \x10\0\0\0" + header + b"data" + struct.pack("<I", size)


def png(side):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""))


def jpeg(height, width):
    with open("colour.jpg", "rb") as file:
        data = file.read()
    place = data.index(b"\xff\xc0") + 5
    return data[:place] + struct.pack(">HH", height, width) + data[place + 4:]


def npy(kind, shape, values=b""):
    text = b"{'descr': '" + kind + b"', 'fortran_order': False, 'shape': " + shape + b", }"
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + values


def tar():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        for number in range(50):
            file.addfile(tarfile.TarInfo(f"part{number}"), io.BytesIO())
    return data.getvalue()


def safetensors(header):
    return len(header).to_bytes(8, "little") + header


files = {
    "much.flac": flac(1 << 28),
    "much.wav": wav(0x7FFFFFF0),
    "much.png": png(16000),
    "much.jpg": jpeg(16000, 16000),
    "much.npy": npy(b"<f4", b"(268435456, 4, 4)"),
    "raw.npy": npy(escape.encode() + b"\xff<f4", b"(2, 4, 4)"),
    "raw.flac": b"fLaC" + escape.encode(),
    "raw.safetensors": safetensors(b'{"x":{"dtype":"' + b"\\u001b[31m\\u0007" + b'","shape":[1],"data_offsets":[0,0]}}'),
    "raw.txt": (escape + "\n").encode(),
    "lines.jsonl": b'{"text": "a b c"}\n' * 50,
    "lines.json.gz": gzip.compress(b'{"text": "a b c"}\n' * 50),
    "archive.tar": tar(),
    "archive.txt": tar(),
    "packed.txt.gz": gzip.compress(tar()),
    "utf16.txt": "1 2 3 4\n".encode("utf-16"),
    "endless.txt.gz": gzip.compress(b"1\n" + b"1" * 200_000_000, 1),
    "endless.txt": b"1 " * 3_000_000,
    escape + ".npy": b"no array",
}
for name, data in files.items():
    with open(name, "wb") as file:
        file.write(data)
kinds = {".wav": "sound", ".flac": "sound", ".png": "picture", ".jpg": "picture"}
cases = [(kinds.get(os.path.splitext(name)[1], "array"), name) for name in files]
# Neither a pipe nor a device is read, whatever its name says.
for ending in ".wav", ".flac", ".png", ".jpg", ".npy", ".npz", ".safetensors", ".txt", ".txt.gz":
    os.mkfifo("pipe" + ending)
    os.symlink("/dev/zero", "zero" + ending)
    cases += [(kinds.get(ending, "array"), name + ending) for name in ("pipe", "zero")]

own = subprocess.Popen(["fovea", "--version"], stdout=subprocess.DEVNULL)
least = os.wait4(own.pid, 0)[2].ru_maxrss
wrong = 0
for spec, name in cases:
    process = subprocess.Popen(["fovea", "run", spec + ".fov", "--data", "x=" + name, "--get", "v", "-o", "out", "--quiet"],
                               stderr=subprocess.PIPE)
    # A loaded machine needs several seconds for a file that ends at once alone.
    limit = threading.Timer(60, process.kill)
    limit.start()
    said = process.stderr.read()
    limit.cancel()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = said.decode("utf-8", "backslashreplace")
    mistakes = []
    if process.returncode != 1 or "error: " not in text:
        mistakes.append(f"exit code {process.returncode}")
    if any((ord(letter) < 32 and letter != "\n") or ord(letter) == 127 for letter in text) or "\\x" in text:
        mistakes.append("raw bytes")
    if used.ru_maxrss - least > 150_000:
        mistakes.append(f"{used.ru_maxrss >> 10} MB")
    wrong += bool(mistakes)
    if mistakes or "--all" in sys.argv:
        print(f"{name!r}: {', '.join(mistakes)}: {text[:200]!r}")
print(f"{len(cases)} files, {wrong} wrong")
