"""The processes of a command that mpirun started: each rank is one that
watches and one that works."""

import os


def parent_and_words(pid):
    with open(f"/proc/{pid}/stat") as file:
        parent = int(file.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{pid}/cmdline") as file:
        return parent, file.read().split("\0")


def rank_of(pid):
    with open(f"/proc/{pid}/environ") as file:
        names = dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)
    return int(names.get("OMPI_COMM_WORLD_RANK", names.get("PMI_RANK", -1)))


def workers(word):
    """Of the commands `fovea .. word ..`, the parent of each process that
    works, by its id."""
    ours = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent, words = parent_and_words(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if os.path.basename(words[0]) == "fovea" and word in words:
            ours[int(pid)] = parent
    return {pid: parent for pid, parent in ours.items() if parent in ours}
