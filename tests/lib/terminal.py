# SPDX-License-Identifier: MIT
"""terminal - runs programs on a private terminal, for tests of what they draw there and of keys."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios

from hodo_test import LIMIT_S, wait_for


class Terminal:
    """A program on a terminal; `shown` is what it shows. For a stream that goes to a file instead: its path."""

    def __init__(self, case, *command, size=(24, 80), stdout=None, stderr=None, **how):
        how = case.how(how)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.alarm(LIMIT_S)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.chdir(how["cwd"])
            for path, number in ((stdout, 1), (stderr, 2)):
                if path:
                    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
            os.execvpe(command[0], [str(c) for c in command], how["env"])
        self.shown, self.status = b"", None
        case.addCleanup(self.end)

    def end(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def wait(self):
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)

    def press(self, keys):
        os.write(self.fd, keys)

    def _read(self):
        """Reads what there is. False: no process has the terminal open any more."""
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            return False
        self.shown += more
        return bool(more)

    def until(self, what, condition):
        """Reads until the condition holds."""
        def holds():
            return condition() or select.select([self.fd], [], [], 0.02)[0] and not self._read() or condition()
        wait_for(lambda: f"{what}: {self.shown[-2000:]!r}", holds, every_s=0)

    def whole(self):
        """Reads to the end; returns the exit status, and what was shown."""
        while self._read():
            pass
        self.wait()
        return self.status, self.shown.decode(errors="replace")


def on_terminal(case, *command, **how):
    """Runs a program to its end; returns the exit status, and what was shown."""
    return Terminal(case, *command, **how).whole()
