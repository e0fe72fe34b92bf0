#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_output - the directory that hodo merge makes, and what happens where it cannot."""
import hashlib
import os
import pathlib
import shutil
import signal
import uuid

from hodo_test import compare, events, main, wait_for
from hosts import Hosts, edit, new_uuid


def state(folder):
    """Everything there: names, contents, and what a write would change."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            s = path.stat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(folder))] = digest, s.st_mtime_ns, s.st_size
    return found


class Output(Hosts):
    REQUESTS, PAUSE_US = 20, 100

    def test_recordings_stay_as_they_are(self):
        web, _ = self.host("client", "web", 10**9)
        db, _ = self.host("server", "db")
        before = state(web), state(db)
        self.merged(web, db)
        self.assertEqual((state(web), state(db)), before)
        # Streams are the same files; metadata are others.
        for folder, host in ((web, "web"), (db, "db")):
            for path in pathlib.Path(folder).rglob("*"):
                merged = pathlib.Path(self.path("merged"), "host-" + host, path.relative_to(folder))
                if path.is_file():
                    self.assertEqual(os.path.samefile(path, merged), path.name != "metadata", path)
        # What is written to the new ones later does not reach the old.
        compare(self.path("merged"), **self.how({}))

    def test_copies_share_nothing(self):
        web, _ = self.host("client", "web2")
        _, done = self.merged("--copy", web, out="merged2")
        for path in pathlib.Path(self.path("merged2")).rglob("*"):
            if path.is_file():
                self.assertEqual(path.stat().st_nlink, 1, path)
        self.assertEqual(self.ok("print", "-q", self.path("merged2")), self.ok("print", "-q", web))

    def test_each_host_is_a_recording(self):
        web, _ = self.host("client", "web3")
        db, _ = self.host("server", "db3")
        self.merged(web, db, out="merged3")
        alone = self.info(self.path("merged3", "host-db3"))
        self.assertEqual([p["host"] for p in alone["processes"]], ["db3"])
        self.assertEqual(alone["hosts"][0]["by"], "messages")
        # Merged once more, it has one line about it.
        found, _ = self.merged(self.path("merged3", "host-db3"), web, out="merged3b")
        self.assertEqual(found["db3"]["by"], "reference")
        text = "".join(p.read_text("utf-8") for p in pathlib.Path(self.path("merged3b", "host-db3")).rglob("metadata"))
        self.assertEqual(text.count("/*@merge "), 1)
        self.fails(1, "merged already", "merge", "-o", self.path("none"), self.path("merged3"))

    def test_hostile_names(self):
        names = ["../../up", "a/b", "..", "x" * 300, "dot\\x1b[31m", ".hidden", "-o", "web\\ntwo"]
        folders = []
        for i, name in enumerate(names):
            folder, _ = self.host("client", "plain", to=f"hostile{i}")
            edit(folder, lambda text, name=name: text.replace('hostname = "plain"', f'hostname = "{name}"'))
            new_uuid(folder)
            folders.append(folder)
        before = set(os.listdir(self.dir)) | {"hostile-merged"}
        self.merged(*folders, out="hostile-merged")
        self.assertEqual(set(os.listdir(self.dir)), before)
        made = os.listdir(self.path("hostile-merged"))
        self.assertEqual(len(made), len(names))
        for name in made:
            self.assertRegex(name, r"\Ahost-[A-Za-z0-9._+-]{1,70}\Z")
        text = self.ok("info", self.path("hostile-merged"))
        self.assertNotIn("\x1b", text)

    def test_hosts_of_one_name(self):
        one, _ = self.host("client", "same", to="same1")
        two, _ = self.host("server", "same", to="same2")
        found, _ = self.merged(one, two, out="merged4")
        self.assertEqual(sorted(found), ["same", "same-2"])
        found, _ = self.merged(f"first={one}", f"same={two}", out="merged4b")
        self.assertEqual(sorted(found), ["first", "same"])
        # One boot: one host, of which there are two recordings.
        three, _ = self.host("client", "one", boot="b", wall=(False, 0), to="one1")
        four, _ = self.host("server", "one", boot="b", wall=(False, 0), to="one2")
        found, _ = self.merged(three, four, out="merged4c")
        self.assertEqual([(name, h["processes"]) for name, h in found.items()], [("one", 2)])
        self.assertEqual(sorted(os.listdir(self.path("merged4c"))), ["host-one", "host-one-2"])

    def test_the_same_twice(self):
        web, _ = self.host("client", "web5")
        self.fails(1, "are the same recording", "merge", "-o", self.path("none"), web, web)
        again, _ = self.host("client", "again5")
        self.fails(1, "are the same recording", "merge", "-o", self.path("none"), web, again)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_what_cannot_be_merged(self):
        web, _ = self.host("client", "web6")
        os.mkdir(self.path("empty"))
        self.fails(2, "give the recordings", "merge")
        self.fails(1, "no recording in this directory", "merge", "-o", self.path("none"), web, self.path("empty"))
        self.fails(1, "no such recording", "merge", "-o", self.path("none"), self.path("nowhere"))
        self.fails(1, "exists: name another", "merge", "-o", self.path("empty"), web)
        self.fails(1, "cannot be made", "merge", "-o", self.path("nowhere", "deep"), web)
        self.fails(2, "--pair is EVENT.FIELD=EVENT.FIELD", "merge", "--pair", "a=b", web)
        old, _ = self.host("client", "old6")
        edit(old, lambda text: text.replace("/*@hodo version=2", "/*@hodo version=1"))
        self.fails(1, "another version", "merge", "-q", "-o", self.path("none"), web, old)
        self.assertFalse(os.path.exists(self.path("none")))
        self.assertEqual(os.listdir(self.path("empty")), [])

    def test_inside_of_a_recording(self):
        web, _ = self.host("client", "web11")
        db, _ = self.host("server", "db11")
        os.symlink(db, self.path("link11"))
        os.symlink("/", self.path("root11"))
        os.makedirs(self.path("near11", "db11"))  # a name as one of them, elsewhere
        before = state(web), state(db), sorted(os.listdir(web)), sorted(os.listdir(db))
        [folder] = os.listdir(db)
        for out, given in ((f"{db}/in", db), (f"{db}/{folder}/in", db), (f"{db}/{folder}/../in/", db),
                           ("link11/in", db), ("db11//in", db), (f"root11/{db}/in", db), (f"{db}/in", "link11"),
                           (f"{db}/in", f"one={db}")):
            with self.subTest((out, given)):
                self.fails(1, f"{out}: it would be in {given.replace('one=', '')}, which is to stay as it is: name "
                           "another directory with -o", "merge", "-o", out, web, given)
        # The default is beside the user, who may be in one.
        self.fails(1, "hodo.merged: it would be in .,", "merge", ".", web, cwd=db)
        self.fails(1, "exists: name another", "merge", "-o", db, web, db)
        self.assertEqual((state(web), state(db), sorted(os.listdir(web)), sorted(os.listdir(db))), before)
        self.merged(web, db, out="near11/db11/in")

    def test_old_recordings_say_less(self):
        # Neither boot nor clock is noted, as before there was hodo merge.
        def older(text):
            lines = (line for line in text.splitlines(True) if not line.startswith(("/*@machine ", "/*@wall ")))
            return "".join(lines).replace("span_id", "span_no")
        web, _ = self.host("client", "web7")
        db, _ = self.host("server", "db7")
        for folder in (web, db):
            edit(folder, older)
        found, _ = self.merged(web, db, out="merged7")
        self.assertEqual((found["db7"]["by"], found["db7"]["error_ns"], found["db7"]["offset_ns"]),
                         ("wall clock", None, 0))

    def test_packed_and_in_parts(self):
        web, _ = self.host("client", "web8")
        self.ok("pack", "-q", web)
        os.mkdir(self.path("parts"))
        db, _ = self.host("server", "db8", to="parts/part-0001")
        del db
        self.merged(web + ".hodo", self.path("parts"), out="merged8")
        one = self.ok("print", "-q", "--json", web) + self.ok("print", "-q", "--json", self.path("parts"))
        both = self.ok("print", "-q", "--json", self.path("merged8"))
        self.assertEqual(len(both.splitlines()), len(one.splitlines()))
        self.assertEqual(self.info(self.path("merged8"))["parts"][0]["name"], "host-db8/part-0001")
        # And all of that in one file.
        self.ok("pack", "-q", self.path("merged8"))
        self.assertEqual(self.ok("print", "-q", "--json", self.path("merged8.hodo")), both)

    def test_parts_as_collected(self):
        """A directory whose parts are packed, as 'hodo send' leaves them."""
        web, _ = self.host("client", "web12")
        os.mkdir(self.path("collected"))
        boot = str(uuid.uuid4())
        for i, part in enumerate(("part-00000001", "part-00000002")):
            folder, _ = self.host("server", "db12", 10**9 * i, boot=boot, to=f"collected/{part}")
            self.ok("pack", "-q", "-o", folder + ".hodo", folder)
            shutil.rmtree(folder)
        for copy in (), ("--copy",):
            out = self.path("merged12" + "".join(copy))
            self.ok("merge", "-q", *copy, "-o", out, web, self.path("collected"))
            for host, source in ("web12", web), ("db12", self.path("collected")):
                alone, merged = ([event["fields"] for event in events(*of, **self.how({}))]
                                 for of in ((source,), (out, "--host", host)))
                self.assertGreater(len(alone), 10)
                self.assertEqual(merged, alone)

    def test_full_disk(self):
        web, _ = self.host("client", "web9")
        disk = self.disk("64k")
        pathlib.Path(disk, "filler").write_bytes(b"x" * 57344)
        out = os.path.join(disk, "out")
        for options in ((), ("--copy",)):
            self.fails(1, f"hodo: {out}: No space left on device: make room, or name a directory on another disk",
                       "merge", *options, "-o", out, web)
        self.assertEqual(os.listdir(disk), ["filler"])

    def test_interrupted(self):
        # Many streams to copy: it is interrupted somewhere among them, or if it is faster than us, too late.
        web, slow = self.host("client", "web10")[0], self.host("server", "slow10")[0]
        for metadata in pathlib.Path(slow).rglob("metadata"):
            stream = next(p for p in metadata.parent.iterdir() if p != metadata)
            for n in range(400):
                os.link(stream, metadata.parent / f"cpu{1000 + n}")
        process = self.start(os.environ["HODO"], "merge", "-q", "--copy", "-o", self.path("cut"), web, slow)
        wait_for("the beginning", lambda: process.poll() is not None or
                 any(".part" in name for name in os.listdir(self.dir)))
        process.send_signal(signal.SIGTERM)
        process.wait()
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith("cut.")], [])
        if process.returncode != 0:
            self.assertEqual(process.returncode, -signal.SIGTERM)
            self.assertFalse(os.path.exists(self.path("cut")))


main()
