"""kills.py COUNT SEED COMMAND ..: starts a command COUNT times and kills it at
a random moment, then lets it end."""

import random
import subprocess
import sys
import time

numbers, command = random.Random(int(sys.argv[2])), sys.argv[3:]
for _ in range(int(sys.argv[1])):
    process = subprocess.Popen(command)
    time.sleep(numbers.uniform(0.05, 0.9))
    process.kill()
    process.wait()
sys.exit(subprocess.run(command).returncode)
