#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hazards.py CASE - programs that listen and do what an additional thread makes dangerous (hazards.c)."""
import mmap
import os
import random
import socket
import struct
import subprocess
import tempfile
import time

from hodo_test import LIMIT_S, end, environment, program, scenes, wait_for

MAGIC, VERSION, CONFIG, CONTROL = 0x4F444F48, 3, 2, 4
STATUS, RECORD, LEAVE = 1, 2, 7


class Target:
    def __init__(self, case, **more):
        self.dir = tempfile.TemporaryDirectory(prefix="hodo-hazards.")
        env = environment(self.dir.name, **{"HODO_LISTEN": "1", "FLIGHT": self.dir.name, **more})
        self.p = subprocess.Popen([program("LIVE_HAZARDS"), case], env=env, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.path = f"{env['XDG_RUNTIME_DIR']}/hodo/{self.p.pid}"
        self.expect("ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.p)
        self.dir.cleanup()

    def expect(self, word):
        line = self.p.stdout.readline().split()
        assert line and line[0] == word, f"{line}, not {word}"
        return int(line[1])

    def step(self):
        self.p.stdin.write("\n")
        self.p.stdin.flush()

    def connect(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            s.connect(self.path)
        except (FileNotFoundError, ConnectionRefusedError):
            s.close()
            return None
        s.settimeout(LIMIT_S)
        return s

    def client(self):
        return wait_for(f"somebody who listens at {self.path}", self.connect)


def ask(s, op, text=b""):
    s.send(struct.pack("<IHHIIII1024s", MAGIC, VERSION, CONTROL, op, 0, 0, 0, text))


def answer(s):
    data = s.recv(4096)
    assert len(data) == 800, data
    result, _, by = struct.unpack_from("<iII", data, 8)
    return result, by


def ask_record(s):
    ask(s, RECORD)
    result, _ = answer(s)
    assert result == 0, result
    return s.recv(4096)


def configure(s, hello, mode=0, conditions=b"", n=0, functions=b"", clock=0):
    """Answers as a recorder; returns the memfd, or None."""
    cpus = struct.unpack_from("<I", hello, 16)[0]
    tsc = struct.unpack_from("<I", hello, 24)[0]
    head = struct.pack("<IHH16sIIQIIQQQIIIIIIII", MAGIC, VERSION, CONFIG, b"0123456789abcdef", cpus + 1, 4096, 65536,
                       mode, clock or (1 if tsc else 2), 1 << 50, 0, 0, 0, 0, 0, len(functions), n,
                       len(conditions), 0, 0)
    try:
        s.send(head + functions + conditions)
        fds = socket.recv_fds(s, 4096, 1)[1]
    except (BrokenPipeError, ConnectionResetError):
        fds = []
    return fds[0] if fds else None


def record(s, *how):
    memfd = configure(s, ask_record(s), *how)
    assert memfd is not None
    return memfd


def check_leader_leaves(_):
    with Target("leader_leaves") as t:
        t.step()
        assert t.p.wait(timeout=LIMIT_S) == 0
        assert not os.path.exists(t.path), f"{t.path} is left behind"


def check_bare_child_exits(_):
    with Target("bare_child_exits") as t:
        t.client()
        t.step()
        assert t.expect("child") == 7, "hodo_listen() in the child"
        s = t.client()
        ask(s, STATUS)
        assert answer(s)[0] == 0


def check_no_descriptors(_):
    with Target("no_descriptors") as t:
        t.client().close()
        t.step()
        before = t.expect("limited")
        waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(3)]
        for s in waiting:
            s.connect(t.path)
        time.sleep(2)
        for s in waiting:
            s.close()
        t.step()
        cpu = t.expect("cpu_ms") - before
        assert cpu < 700, f"{cpu} ms of processor time"


def check_own_recording(_):
    with Target("own_recording") as t:
        s = t.client()
        memfd = record(s)
        t.step()
        assert t.expect("stop") == 0
        assert t.expect("start") == 0
        time.sleep(0.3)
        s.close()
        time.sleep(0.5)
        t.step()
        assert t.expect("recorded") == 1, "its own recording was ended"
        os.close(memfd)


def check_silent_client(_):
    # If fork() or setuid() waited for us, the process would give up waiting for the recorder's answer first.
    with Target("silent_client") as t:
        for _ in range(5): # on a very busy machine it gives up, too
            s = t.client()
            hello = ask_record(s)
            t.step()
            t.expect("forked")
            memfd = configure(s, hello)
            s.close()
            if memfd is not None:
                os.close(memfd)
                return
        raise AssertionError("fork() or setuid() waits for a client that says nothing")


def check_handler_forks(_):
    # Triggers that each event meets, and a rate that most events exceed.
    pattern = b"hazard:*\0"
    trigger = struct.pack("<IIQQII", 3, 1 << 31, 0, 0, len(pattern), 0) + pattern
    rate = struct.pack("<IIQQII", 1, 0, 1 << 20, 1 << 21, len(pattern), 0) + pattern
    with Target("handler_forks") as t:
        s = t.client()
        memfd = record(s, 1, trigger * 8 + rate, 9)
        t.step()
        good, bad = t.expect("good"), t.expect("bad")
        assert bad == 0, f"{bad} of {good + bad} children ended badly"
        os.close(memfd)


def leave_and_listen(t, step_first):
    s, other = t.client(), t.client()
    memfd = record(s)
    if step_first:
        t.step()
    ask(other, LEAVE)
    if not step_first:
        assert answer(other)[0] == 0
        t.step()
    assert t.expect("listen") == 0
    os.close(memfd)
    s.close()
    other.close()
    time.sleep(0.01)
    again = t.client()
    ask(again, STATUS)
    assert answer(again)[0] == 0


def check_handler_forks_in_profile(_):
    profile = struct.pack("<IIIIQQIIII", 48, 1 << 2, 0, 0, 0, 2000000000, 0, 0, 0, 0)
    with Target("handler_forks") as t:
        s = t.client()
        memfd = record(s, 0, b"", 0, profile)
        t.step()
        good, bad = t.expect("good"), t.expect("bad")
        assert bad == 0, f"{bad} of {good + bad} children ended badly"
        os.close(memfd)


def hostile(clock):
    on, rings = 4096, 4096 + (4 + 8 + 24) * 65536 + (16 << 20) # HODO_SHM_ON, HODO_SHM_RINGS
    with Target("runs_on") as t:
        s = t.client()
        memfd = record(s, 1, b"", 0, b"", clock)
        with mmap.mmap(memfd, os.fstat(memfd).st_size) as shm:
            nrings = (len(shm) - rings) // (4096 + 65536)
            t.step()
            until = time.monotonic() + 2.5
            while time.monotonic() < until:
                for _ in range(2000):
                    word = random.choice((80, 65536 - 1, 65536 - 40, 4096 - 40, 120, random.getrandbits(44)))
                    at = rings + random.choice((nrings - 1, random.randrange(nrings))) * 4096
                    struct.pack_into("<Q", shm, at, word << 20)
                struct.pack_into("<3I", shm, on + 4, *random.choices((1, 1, 1, 2, 3, 8, 9, 11, 16, 17, 31), k=3))
            t.expect("alive")
            assert t.p.wait(timeout=LIMIT_S) == 0
        os.close(memfd)


def check_hostile_recorder(_):
    seed = int(os.environ.get("SEED", "1"))
    print("seed", seed, flush=True)
    random.seed(seed)
    for clock in 0, 2: # with restartable sequences, if there are any; through the lock
        hostile(clock)


def check_listens_again(_):
    with Target("listens_again", HODO_LISTEN="0") as t:
        for _ in range(300):
            leave_and_listen(t, False)
    # The program's own request holds, whenever it was made.
    for i in range(40):
        with Target("listens_again", HODO_LISTEN="0", BY_ITSELF="1") as t:
            leave_and_listen(t, i % 2 == 0)


scenes(globals())
