# SPDX-License-Identifier: MIT
"""hosts - recordings as if other hosts had made them: copies whose metadata has another name, boot and clock.

A client and a server on this machine are recorded at the same time, each by its own recorder: so what their clocks
really differ by is known.
"""
import json
import pathlib
import re
import shutil
import uuid

from hodo_test import Case, program

PEER = program("PEER")
NS = 10**9


def clock_of(metadata):
    """Frequency, and seconds and ticks of the offset."""
    found = re.search(r"/\*@clock kind=\S+ freq=(\d+) offset_s=(-?\d+) offset=(-?\d+)\*/", metadata)
    return tuple(int(n) for n in found.groups())


def moved(clock, at_ns, offset_ns, drift):
    """The clock, if it is ahead by offset_ns at at_ns, and gains drift seconds in a second. Its frequency is rounded to
    multiples of 4, so the drift it really has is returned, too."""
    freq, seconds, ticks = clock
    new = round(freq / (1 + drift) / 4) * 4
    # The tick at that time, and the time at which it is now.
    tick = (at_ns - seconds * NS) * freq // NS - ticks
    total = (at_ns + offset_ns) * new // NS - tick
    total -= total % 4
    return (new, total // new, total % new), freq / new - 1


def wall_line(at, synchronised, error_ns, mono_ns=0, real_ns=0):
    return (f"/*@wall at={at} mono={mono_ns} real={real_ns} synchronised={int(synchronised)} error={error_ns} "
            f"max_error={error_ns} drift=0 tai=0*/\n")


def edit(folder, change):
    """Each metadata file below."""
    for path in pathlib.Path(folder).rglob("metadata"):
        path.write_text(change(path.read_text(encoding="utf-8", errors="surrogateescape")), encoding="utf-8",
                        errors="surrogateescape")


def new_uuid(folder):
    """Gives the recording an identity of its own: in metadata and packets."""
    for path in pathlib.Path(folder).rglob("metadata"):
        old = uuid.UUID(re.search(r"/\*@hodo version=2 uuid=(\S+)", path.read_text("utf-8", "replace"))[1])
        new = uuid.uuid4()
        for file in path.parent.iterdir():
            data = file.read_bytes()
            file.write_bytes(data.replace(old.bytes, new.bytes).replace(str(old).encode(), str(new).encode()))


class Hosts(Case):
    """With client and server recorded once, in self.path("client") and self.path("server")."""
    SHARED = True
    REQUESTS, PAUSE_US = 300, 1000

    def setUp(self):
        super().setUp()
        if pathlib.Path(self.path("client")).exists():
            return
        server = self.recorder("-q", "--", PEER, "server", self.path("socket"), data=self.path("server"))
        client = self.recorder("-q", "--", PEER, "client", self.path("socket"), self.REQUESTS, self.PAUSE_US,
                               data=self.path("client"))
        for recorder in (client, server):
            done = recorder.done()
            self.assertEqual(done.returncode, 0, done.stderr)

    def host(self, recording, name, offset_ns=0, drift=0, boot=None, wall=None, to=None):
        """A copy of the recording, as a host of that name would have made it, whose clock is ahead by offset_ns at the
        recording's begin and drifts. boot: its own unless given. wall: (whether it is synchronised, by how much it may
        be wrong), or NULL: nothing is noted. The copy's folder, and the drift that it has."""
        begin_ns = self.info(self.path(recording))["begin_ns"]
        folder = self.path(to or name)
        real = [0.0]
        shutil.copytree(self.path(recording), folder)

        def change(text):
            clock, real[0] = moved(clock_of(text), begin_ns, offset_ns, drift)
            freq, seconds, ticks = clock
            text = re.sub(r"(/\*@clock kind=\S+) [^*]*\*/", rf"\1 freq={freq} offset_s={seconds} offset={ticks}*/", text)
            text = re.sub(r"clock \{ name = hodo;[^\n]*", f"clock {{ name = hodo; freq = {freq // 4}; offset_s = {seconds}; "
                          f"offset = {ticks // 4}; absolute = true; }};", text)
            text = re.sub(r"hostname = \"[^\n]*\";", lambda _: f'hostname = "{name}";', text)
            text = re.sub(r"(/\*@machine boot)=\S+\*/", rf"\1={boot or uuid.uuid4()}*/", text)
            text = re.sub(r"/\*@wall [^\n]*\n", "", text)
            if wall:
                text += "".join(wall_line(at, *wall) for at in ("begin", "end"))
            return text

        edit(folder, change)
        return folder, real[0]

    def merged(self, *args, out="merged", **how):
        """What hodo merge says of each host."""
        shutil.rmtree(self.path(out), ignore_errors=True)
        done = self.hodo("merge", "--json", "-o", self.path(out), *args, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {h["host"]: h for h in json.loads(done.stdout)["hosts"]}, done
