#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inject.py SCENE [COUNT] - bringing libhodo into running processes. INJECT, TARGET, TARGET_STATIC and LIBRARY
are in the environment. Ends with 77 where the scene cannot run."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from hodo_test import skip
from place import AS_NOBODY

INJECT, TARGET, STATIC, LIBRARY = (os.environ[n] for n in ("INJECT", "TARGET", "TARGET_STATIC", "LIBRARY"))
LIBM = "libm.so.6"


ALL = []


class Process:
    """A program that runs until its standard input ends."""

    def __init__(self, *command, wait=True, **how):
        self.popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **how)
        self.pid = self.popen.pid
        ALL.append(self)
        if wait:
            line = self.popen.stdout.readline()
            assert line == "ready\n", line
            time.sleep(0.05)

    def end(self, status=0):
        """Ends the program; returns what it printed."""
        text = self.popen.communicate(timeout=600)[0]
        assert self.popen.returncode == status, f"ended with {self.popen.returncode}: {text}"
        return text

    def kill(self):
        if self.popen.stdin.closed:
            return
        with contextlib.suppress(ProcessLookupError):
            self.popen.kill()
        self.popen.communicate()


def target(*args, program=TARGET, **how):
    return Process(program, *args, **how)


def inject(pid, **how):
    run = subprocess.run([INJECT, LIBRARY, str(pid)], capture_output=True, text=True, timeout=100, **how)
    return run.stdout.strip()


def socket_of(pid):
    return pathlib.Path(os.environ["XDG_RUNTIME_DIR"], "hodo", str(pid))


def listens(pid):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(str(socket_of(pid)))


def must_inject(pid, loaded=None):
    answer = inject(pid)
    assert answer.startswith("ok "), answer
    if loaded is not None:
        assert answer.split()[1] == str(loaded), answer
    listens(pid)
    return [int(n) for n in answer.split()[1:]]


def must_refuse(pid, *texts, run=inject):
    answer = run(pid)
    assert answer.startswith("refused "), answer
    for text in texts:
        assert text in answer, answer
    print(answer)
    return answer


def mapped(pid):
    return "libhodo" in pathlib.Path(f"/proc/{pid}/maps").read_text()


# ------------------------------------------------------------------- states

STATES = ("poll", "poll_timeout", "select", "epoll", "epoll_timeout", "epoll_pwait", "read", "recv_timeout", "semop",
          "sigtimedwait", "futex", "handler", "altstack", "busy", "registers", "setuid", "threads", "signals")


def state(name, *args):
    """Attaches once, which loads the library, and twice more, which only asks."""
    p = target(name, *args)
    try:
        must_inject(p.pid, 1)
        must_inject(p.pid, 0)
        must_inject(p.pid, 0)
        print(p.end().strip())
    finally:
        p.kill()


def nanosleep(*_):
    """Its time runs on while it is stopped, and does not begin anew."""
    for _ in range(3):
        p = target("nanosleep")
        time.sleep(1)
        must_inject(p.pid, 1)
        must_inject(p.pid, 0)
        slept = float(p.end().split()[1])
        if slept < 8.9:
            return
    raise AssertionError(f"slept {slept} s of 8")


def malloc(*_):
    for threads in (1, 4):
        state("malloc", str(threads))
    state("malloc_alone")


def dlopen(*_):
    """The process is always in the loader: either it leaves it now and then, or the refusal says so."""
    for _ in range(3):
        p = target("dlopen", LIBM)
        answer = inject(p.pid)
        assert answer.startswith("ok ") or "always inside" in answer, answer
        print(answer)
        p.end()


def eintr(*_):
    """The program's own signals end its waits as usual."""
    p = target("eintr")
    for _ in range(50):
        os.kill(p.pid, signal.SIGUSR1)
        must_inject(p.pid)
    print(p.end().strip())


def debian(*_):
    """Programs that were not made for this test."""
    tried = 0
    for command in (["sleep", "60"], ["cat"], ["python3", "-c", "import sys; sys.stdin.read()"], ["sh", "-c", "read x"],
                    ["perl", "-e", "<STDIN>"], ["bash", "-c", "read x"], ["tail", "-f", "/dev/null"]):
        if not shutil.which(command[0]):
            continue
        p = Process(*command, wait=False)
        try:
            time.sleep(0.3)
            must_inject(p.pid, 1)
            must_inject(p.pid, 0)
            assert p.popen.poll() is None
            tried += 1
            if command[0] not in ("sleep", "tail"):
                text, _ = p.popen.communicate("", timeout=20)
                assert text == "" and p.popen.returncode in (0, 1), (command, text, p.popen.returncode)
        finally:
            p.kill()
    assert tried >= 3


def wrappers(*_):
    """Scripts that call exec several times before the program runs."""
    again = 'if [ $1 -gt 0 ]; then exec "$BASH" -c "$0" "$0" $(($1 - 1)); fi; exec sleep 60'
    for _ in range(5):
        p = Process("bash", "-c", again, again, "30", wait=False)
        answer = inject(p.pid)
        assert answer.startswith("ok "), answer
        p.kill()


# ------------------------------------------------------------------ refusals

def refuse_seccomp(*_):
    p = target("seccomp")
    must_refuse(p.pid, "seccomp")
    assert not mapped(p.pid)
    p.end()


def static(*_):
    """A static program that contains libhodo: nothing is loaded, but it listens."""
    for name in ("read", "registers", "epoll"):
        p = target(name, program=os.environ["TARGET_WITH"])
        must_inject(p.pid, 0)
        must_inject(p.pid, 0)
        p.end()


def refuse_static(*_):
    p = target("read", program=STATIC)
    must_refuse(p.pid, "static program", "libhodo.a")
    p.end()


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def refuse_stopped(*_):
    p = target("poll")
    os.kill(p.pid, signal.SIGSTOP)
    for _ in range(6000):
        if state_of(p.pid) == "T":
            break
        time.sleep(0.01)
    must_refuse(p.pid, "is stopped", "kill -CONT")
    assert state_of(p.pid) == "T"
    os.kill(p.pid, signal.SIGCONT)
    must_inject(p.pid)
    p.end()


def refuse_handler_in_malloc(*_):
    p = target("handler_in_malloc", "0x10000000000")
    try:
        must_refuse(p.pid, "free")
        assert not mapped(p.pid)
    finally:
        p.kill()


def refuse_loader_held(*_):
    """A thread inside the loader waits for the thread that could be stopped."""
    p = target("loader_held")
    must_refuse(p.pid, "inside the dynamic loader")
    assert not mapped(p.pid)
    p.end()


def refuse_others(*_):
    """Another user's process, a kernel thread, a zombie, a process that does not exist."""
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    must_refuse(zombie.pid, "has ended")
    zombie.wait()
    must_refuse(zombie.pid)
    if os.getuid() == 0:
        with contextlib.suppress(OSError):
            if int(pathlib.Path("/proc/2/stat").read_text().rsplit(")")[1].split()[6]) & 0x200000:
                must_refuse(2, "kernel")
    else:
        must_refuse(1)


def refuse_user(*_):
    """Another user's process."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        skip("needs root and setpriv")
    p = target("read")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = pathlib.Path(folder, "inject")
        shutil.copy(INJECT, copy)
        library = shutil.copy(os.path.realpath(LIBRARY), folder)

        def as_nobody(pid):
            return subprocess.run([*AS_NOBODY, copy, library, str(pid)], capture_output=True, text=True,
                                  timeout=600).stdout.strip()
        must_refuse(p.pid, "another user's", run=as_nobody)
        assert not mapped(p.pid)
        # Root may attach to user nobody's process, and so may user nobody.
        q = Process(*AS_NOBODY, "sh", "-c", "echo ready; read x",
                    env={k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"})
        answer = subprocess.run([copy, library, str(q.pid)], capture_output=True, text=True, timeout=600).stdout.strip()
        assert answer.startswith("ok 1"), answer
        answer = as_nobody(q.pid)
        assert answer.startswith("ok 0"), answer
        q.kill()
        for name in pathlib.Path("/tmp/hodo-65534").glob(str(q.pid)):
            name.unlink()
    p.end()


def refuse_traced(*_):
    tracer = next((t for t in ("strace", "gdb") if shutil.which(t)), None)
    if not tracer:
        skip("neither strace nor gdb")
    p = target("read")
    command = {"strace": ["strace", "-qq", "-o", "/dev/null", "-p", str(p.pid)],
               "gdb": ["gdb", "-q", "-nx", "-p", str(p.pid)]}[tracer]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as t:
        status = pathlib.Path(f"/proc/{p.pid}/status")
        for _ in range(400):
            if f"TracerPid:\t{t.pid}\n" in status.read_text():
                break
            time.sleep(0.05)
        must_refuse(p.pid, "traced by", tracer)
        t.terminate()
        t.stdin.close()
    must_inject(p.pid)
    p.end()


def broken_library(folder):
    """A library that dlopen() rejects: it needs another library, whose name was changed to one that does not exist."""
    broken = pathlib.Path(folder, "libhodo.so.0")
    data = bytearray(pathlib.Path(LIBRARY).read_bytes())
    at = data.index(b"libc.so.6\0")
    data[at:at + 9] = b"libq.so.6"
    broken.write_bytes(data)
    return broken


def refuse_file(*_):
    """A library that is not one, and a library that the process's dlopen() rejects."""
    with tempfile.TemporaryDirectory() as folder:
        broken = broken_library(folder)
        p = target("read")
        answer = subprocess.run([INJECT, LIBM + ".none", str(p.pid)], capture_output=True, text=True).stdout
        assert answer.startswith("refused 2 "), answer
        answer = subprocess.run([INJECT, broken, str(p.pid)], capture_output=True, text=True).stdout
        assert answer.startswith("refused ") and "libq.so.6" in answer, answer
        print(answer)
        assert not mapped(p.pid)
        must_inject(p.pid, 1)
        p.end()


# -------------------------------------------------------------------- stress

def many(count="1000"):
    """Attaches to new processes, each in a random state; some of them end meanwhile."""
    pauses, refused = [], 0
    for i in range(int(count)):
        name, *args = random.choice((["read"], ["poll"], ["epoll"], ["busy"], ["futex"], ["malloc", "2"], ["registers"],
                                     ["signals"], ["handler"], ["altstack"], ["short", str(random.randrange(30000))]))
        p = target(name, *args)
        if name == "short":
            time.sleep(random.random() * 0.02)
        answer = inject(p.pid)
        if answer.startswith("ok "):
            pauses.append(int(answer.split()[4]))
        else:
            assert name == "short" and ("ended" in answer or "No such process" in answer), (name, answer)
            refused += 1
        p.end()
    pauses.sort()
    print(f"{len(pauses)} attached, {refused} had ended; longest stops: median {pauses[len(pauses) // 2] / 1e6:.2f} ms, "
          f"p99 {pauses[len(pauses) * 99 // 100] / 1e6:.2f} ms, all below {pauses[-1] / 1e6:.2f} ms")


def pause(count="300"):
    """How long threads are stopped where other work on the machine does not take their processor; to run by hand."""
    if os.getuid() != 0 or not shutil.which("chrt"):
        skip("needs root and chrt")
    for name, *args in (["read"], ["epoll"], ["futex"], ["busy"], ["malloc", "2"], ["registers"]):
        pauses = []
        for _ in range(int(count)):
            p = Process("chrt", "-r", "1", TARGET, name, *args)
            pauses.append(must_inject(p.pid, 1)[3])
            p.end()
        pauses.sort()
        print(f"{name}: median {pauses[len(pauses) // 2] / 1e6:.2f} ms, p99 {pauses[len(pauses) * 99 // 100] / 1e6:.2f} ms, "
              f"longest {pauses[-1] / 1e6:.2f} ms", flush=True)


def recorded(count="60"):
    """Stops the process over and over while all threads write events in restartable sequences: none is torn or lost."""
    hodo = os.environ["HODO"]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        p = Process(hodo, "record", "-q", "-o", out, "--", os.environ["EMITTER"], "3",
                    env={**os.environ, "HODO_LIBRARY": LIBRARY})
        children = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split()
        pid = next(int(c) for c in children if pathlib.Path(f"/proc/{c}/comm").read_text().strip().endswith("emitter"))
        for _ in range(int(count)):
            must_inject(pid, 0)
        emitted = int(p.end().split()[1])
        stat = json.loads(subprocess.run([hodo, "stat", "--json", out], capture_output=True, check=True).stdout)
        count = next(e["count"] for e in stat["events"] if e["name"] == "attach:tick")
        print(f"{emitted} emitted, {count} recorded, {stat['discarded']} lost")
        assert count + stat["discarded"] == emitted and count > 0


def again(count="300"):
    """Stops processes that check themselves over and over, one process after the other."""
    for name, *args in (["registers"], ["signals"], ["malloc", "4"], ["epoll"], ["epoll_pwait"], ["threads"],
                        ["altstack"]):
        p = target(name, *args)
        for _ in range(int(count) // 6):
            must_inject(p.pid)
        print(name, p.end().strip())


def killed(count="200"):
    """All children of the tool are killed at a random moment: the process goes on as usual."""
    hit = late = 0
    for i in range(int(count)):
        name, *args = (["read"], ["poll"], ["registers"], ["select"], ["malloc", "3"], ["futex"])[i % 6]
        p = target(name, *args)
        with subprocess.Popen([INJECT, LIBRARY, str(p.pid)], stdout=subprocess.PIPE, text=True) as t:
            child = pathlib.Path(f"/proc/{t.pid}/task/{t.pid}/children")
            children = []
            while not children and t.poll() is None:
                children = child.read_text().split()
            # The tool touches the process only after most of its time: wait until it does.
            status = pathlib.Path(f"/proc/{p.pid}/status")
            until = time.monotonic() + 2
            while i % 4 and "TracerPid:\t0\n" in status.read_text() and time.monotonic() < until and t.poll() is None:
                pass
            begun = time.perf_counter()
            wait = random.random() * (0.003 if i % 4 else 0.03)
            while time.perf_counter() - begun < wait:
                pass
            for one in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(one), signal.SIGKILL)
            text = t.communicate()[0]
            hit += "was ended" in text
            late += text.startswith("ok ")
        # Another attach works, and the process finds itself unharmed.
        assert p.popen.poll() is None, (name, p.popen.returncode, p.popen.stdout.read(), text)
        answer = inject(p.pid)
        assert answer.startswith("ok "), (name, answer, text, p.popen.communicate()[0], p.popen.returncode)
        p.end()
    print(f"{hit} killed in the middle, {late} too late")
    assert hit > 0


def killed_before(scene, library, call, number):
    """Kills the tool when it is about to make that call for the number-th time. Returns whether it got that far."""
    p = target(*scene)
    run = subprocess.run(["strace", "-f", "-qq", "-o", os.devnull, "-e", f"inject={call}:signal=KILL:when={number}",
                          INJECT, library, str(p.pid)], stdout=subprocess.PIPE, text=True, timeout=600)
    what = (*scene, call, number, run.stdout)
    assert p.popen.poll() is None, (*what, p.popen.returncode)
    answer = inject(p.pid)
    assert answer.startswith("ok "), (*what, answer)
    p.end()
    return "was ended" in run.stdout or not run.stdout  # the tool, or its child


def killed_everywhere(*_):
    """Kills the tool at each step of what it does to the process, and before each wait for the process."""
    if not shutil.which("strace"):
        skip("no strace")
    with tempfile.TemporaryDirectory() as folder:
        for scene, library in ((["registers"], LIBRARY), (["malloc", "3"], LIBRARY),
                               (["read"], broken_library(folder))):
            steps = [next(n for n in range(1, 1000) if not killed_before(scene, library, call, n)) - 1
                     for call in ("ptrace", "process_vm_writev", "wait4")]
            print(*scene, steps)
            assert min(steps) > 3, steps


def exec_meanwhile(*_):
    """The process executes a new program again and again."""
    for _ in range(3):
        p = target("exec", "300")
        answers = [inject(p.pid) for _ in range(4)]
        print(answers)
        p.end()


def main():
    scene, args = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="hodo-inject-") as runtime:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        try:
            if scene in STATES:
                state(scene)
            else:
                globals()[scene](*args)
        finally:
            for p in ALL:
                p.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
