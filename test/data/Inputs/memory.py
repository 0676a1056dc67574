"""memory.py MB COMMAND ..: says whether a command takes at most MB more than the
largest program that only says its version."""

import resource
import subprocess
import sys

subprocess.run(["fovea", "--version"], stdout=subprocess.DEVNULL, check=True)
least = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
code = subprocess.run(sys.argv[2:]).returncode
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print("memory stays:", most - least <= int(sys.argv[1]) << 10, flush=True)
sys.exit(code)
