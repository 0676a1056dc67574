"""Data that are larger than what may be in memory.

  stream.py same COUNT           writes the same examples in every form: x.txt, x.npy, x.npz, turned.npy and the
                                 folder x; and their labels
  stream.py rows NAME COUNT      writes NAME.txt, NAME.npy and NAME.labels, of 40,000 numbers each
  stream.py pictures NAME COUNT  a folder of pictures, a million pixels each, and NAME.labels
  stream.py peak SMALL LARGE LIMIT COMMAND ..
                                 runs the command with each in the place of DATA, and says by how many MB the
                                 memory that the second needs at most exceeds the first, if that is below LIMIT
"""

import os
import struct
import subprocess
import sys
import zlib

import numpy as np

WIDTH = 40_000


def labels(path, count):
    with open(path, "w") as file:
        file.writelines(f"{i % 2}\n" for i in range(count))


def same(count):
    rng = np.random.default_rng(1)
    x = (rng.integers(-8, 9, (count, WIDTH)) / 8 + np.arange(count)[:, None] % 2).astype("f4")
    np.savetxt("x.txt", x, fmt="%.9g")
    np.save("x.npy", x)
    np.save("turned.npy", np.asfortranarray(x))
    np.savez_compressed("x.npz", x=x)
    os.mkdir("x")
    for i, row in enumerate(x):
        np.save(f"x/{i:03}.npy", row)
    labels("labels", count)


def rows(name, count):
    x = np.random.default_rng(2).integers(0, 2, (count, WIDTH)).astype("u1")
    text = np.full((count, 2 * WIDTH), ord(" "), "u1")
    text[:, ::2] = x + ord("0")
    text[:, -1] = ord("\n")
    text.tofile(name + ".txt")
    np.save(name + ".npy", x)
    labels(name + ".labels", count)


def pictures(name, count):
    os.mkdir(name)
    labels(name + ".labels", count)
    for i in range(count):
        pixels = np.full((1000, 1001), 7 * i % 256, "u1")
        pixels[:, 0] = 0  # each row has no filter
        parts = ((b"IHDR", struct.pack(">IIBBBBB", 1000, 1000, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(pixels.tobytes(), 1)),
                 (b"IEND", b""))
        with open(f"{name}/{i:03}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
            for kind, data in parts:
                file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def peak(command):
    """In MB, of one command: a process of its own, as the peak is that of all that a process has had."""
    script = ("import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000); sys.exit(code)")
    done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return float(done.stdout.split()[-1])


def main():
    what, *rest = sys.argv[1:]
    if what == "same":
        same(int(rest[0]))
    elif what != "peak":
        {"rows": rows, "pictures": pictures}[what](rest[0], int(rest[1]))
    else:
        small, large, limit, *command = rest
        peaks = [peak([word.replace("DATA", name) for word in command]) for name in (small, large)]
        more = peaks[1] - peaks[0]
        print("bounded" if more < float(limit) else f"peaks {peaks[0]:.0f} and {peaks[1]:.0f} MB")


main()
