"""Counts launches and graphs in what the emulator of a GPU logs: graphs.py FILE"""

import re
import sys

made = sent = inside = launches = most = 0
with open(sys.argv[1]) as log:
    for line in log:
        graph = re.fullmatch(r"graph of (\d+) launches( is made)?\n", line)
        if not graph:
            launches += 1
        elif graph[2]:
            made += 1
        else:
            sent += 1
            inside += int(graph[1])
            most = max(most, int(graph[1]))
print(f"graphs that are made: {made}")
print(f"graphs that are sent: {sent}")
print(f"most launches in one: {most}")
print(f"launches outside of graphs: {launches - inside} of {launches}")
