"""peak.py COMMAND ..: runs a command, as one of the ranks that mpirun starts,
and says at its end how many MB of memory its processes had at most."""

import os
import resource
import subprocess
import sys

code = subprocess.run(sys.argv[1:]).returncode
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK"))
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
with open(f"peak.{rank}", "w") as file:
    file.write(f"{peak}\n")
sys.exit(code)
