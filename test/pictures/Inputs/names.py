"""Runs a command with `--name k0 --name k1 ..`: names.py COUNT COMMAND.."""

import subprocess
import sys

names = [word for i in range(int(sys.argv[1])) for word in ("--name", f"k{i}")]
sys.exit(subprocess.run(sys.argv[2:] + names).returncode)
