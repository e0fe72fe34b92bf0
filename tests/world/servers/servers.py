#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""servers.py postgresql|nginx|redis - attaches to one of Debian's servers, as installed, again and again while its own
load tool (pgbench, wrk, redis-benchmark) runs. It must answer every request, and be unchanged afterwards."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from hodo_test import HODO, wait_for
from loads import PATIENCE_S, SECONDS, Nginx, Postgresql, Redis

ROUNDS = int(os.environ.get("ROUNDS", "8"))


def attach(server, number):
    """Records all of the server's processes for a moment; returns hodo's messages."""
    pids = ",".join(str(p) for p in server.pids())
    out = server.dir / f"rec{number}"
    done = subprocess.run([HODO, "record", "-p", pids, "--duration", "0.3", "-o", str(out)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode:
        sys.exit(f"round {number}: hodo record -p {pids}: {done.returncode}: {done.stderr}")
    for pid in server.pids():
        subprocess.run([HODO, "detach", str(pid)], capture_output=True, timeout=PATIENCE_S, check=False)
    return done.stderr


def listens(pid):
    """Whether libhodo's thread is there. The server's own may increase: jemalloc starts some at any time."""
    return any((task / "comm").read_text() == "hodo\n" for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def main():
    kinds = {"redis": Redis, "nginx": Nginx, "postgresql": Postgresql}
    with tempfile.TemporaryDirectory(prefix="hodo-servers.") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        os.environ["XDG_RUNTIME_DIR"] = str(directory / "run")
        (directory / "run").mkdir(mode=0o700)
        (directory / "server").mkdir()
        # Where the server's user can read it, even if that user cannot enter the source tree.
        os.environ["HODO_LIBRARY"] = shutil.copy(os.environ["HODO_LIBRARY"], directory)
        server = kinds[sys.argv[1]](directory / "server")
        load = None
        try:
            server.setup()
            with open(directory / "load", "wb") as text:
                load = subprocess.Popen(server.load(), stdin=subprocess.DEVNULL, stdout=text, stderr=subprocess.STDOUT)
                time.sleep(1)
                for i in range(ROUNDS):
                    if load.poll() is not None:
                        print(f"the load was over after {i} rounds")
                        break
                    attach(server, i)
                if sys.argv[1] == "redis":
                    load.send_signal(signal.SIGINT)
                load.wait(SECONDS + PATIENCE_S)
            said = (directory / "load").read_text(errors="replace")
            faults = server.faults(said, sys.argv[1] != "redis")
            if server.process.poll() is not None:
                faults.append(f"the server has ended: {server.process.returncode}")
            else:
                wait_for("the end of our thread", lambda: not listens(server.process.pid), 0.1)
            if sys.argv[1] != "redis" and load.returncode:
                faults.append(f"the load tool ended with {load.returncode}")
            print(said[-600:])
            if faults:
                sys.exit("\n".join(faults[:20]))
        finally:
            if load and load.poll() is None:
                load.kill()
                load.wait()
            server.stop()


if __name__ == "__main__":
    main()
