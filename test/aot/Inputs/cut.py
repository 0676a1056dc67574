"""cut.py PROGRAM COPY: a program of which only a beginning is there says so and
ends with 1, if the beginning has what the system's loader needs and the function
that looks at the size, `fovea_check_size`. Of less the system can start nothing:
a signal ends it, or it is no program at all."""

import os
import struct
import subprocess
import sys


def border(data):
    """Where that function ends in the file, after all that is written to."""
    (sections, ) = struct.unpack_from("<Q", data, 40)
    headers, programs = [], []
    size, count, = struct.unpack_from("<HH", data, 58)
    for i in range(count):
        headers.append(struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size))
    size, count, = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        programs.append(struct.unpack_from("<IIQQQQQQ", data, 64 + i * size))
    place = lambda address: next(p[2] + address - p[3] for p in programs
                                 if p[0] == 1 and p[3] <= address < p[3] + p[5])
    begin = end = 0
    for header in headers:
        if header[1] == 2:  # names
            texts = headers[header[6]][4]
            for at in range(header[4], header[4] + header[5], 24):
                name, _, _, value, length = struct.unpack_from("<IBxHQQ", data, at)
                if data[texts + name:].startswith(b"fovea_check_size\0"):
                    begin, end = place(value), place(value) + length
    assert begin > 0 and all(p[2] + p[5] <= begin for p in programs if p[0] == 1 and p[1] & 2)
    return begin, end


def run(data, copy):
    with open(copy, "wb") as file:
        file.write(data)
    os.chmod(copy, 0o755)
    try:
        done = subprocess.run([copy], input="2\n", capture_output=True, text=True, timeout=60)
    except OSError as error:
        return "refused", error.strerror, ""
    return done.returncode, done.stderr, done.stdout


program, copy = sys.argv[1:]
data = open(program, "rb").read()
begin, end = border(data)
sizes = [end, end + 1, end + 4096, 128 << 10, len(data) - 1, len(data) - 4097]
sizes += [len(data) * share // 100 for share in (15, 20, 30, 40, 50, 60, 70, 80, 95)]
wrong = 0
for size in sizes:
    code, said, answer = run(data[:size], copy)
    if code != 1 or not said.startswith("error: this program is truncated") or answer:
        wrong += 1
        print(f"WRONG {size} bytes: {code} {said}")
print(f"{len(sizes)} cuts, {wrong} wrong")
for size in (begin, begin // 2, 4096):
    code, said, answer = run(data[:size], copy)
    print(f"{size} bytes:", "a signal" if isinstance(code, int) and code < 0 else f"WRONG {code}", said, answer)
print("64 bytes:", *run(data[:64], copy))
print("first code:", "within 128 KB" if end <= 128 << 10 else end)
