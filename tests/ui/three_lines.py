"""Prints three lines as a measurement does, and the beginning of a fourth; with an argument it then fails."""

import os
import sys

for n in range(3):
    print(f'{{"share": {n / 3}, "process": {os.getpid()}}}', flush=True)
sys.stdout.write('{"share": ')
sys.exit(len(sys.argv) - 1)
