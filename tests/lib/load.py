# SPDX-License-Identifier: MIT
"""load - load on the machine while something is tested or measured."""
import contextlib
import subprocess
import sys

LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"  # ends with the process that started it


@contextlib.contextmanager
def busy(n, sessions=False):
    """Runs n programs that each keep a CPU busy. With sessions, each has a separate session: otherwise a kernel
    that groups by session (autogroup) gives all of them together no more than it gives another session."""
    loops = [subprocess.Popen([sys.executable, "-c", LOOP], start_new_session=sessions) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
