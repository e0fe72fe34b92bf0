# SPDX-License-Identifier: MIT
"""load - what else a machine has to do while something is tested or measured."""
import contextlib
import subprocess
import sys

LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"  # ends with the process that started it


@contextlib.contextmanager
def busy(n):
    """Beside n programs that want a CPU each."""
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
