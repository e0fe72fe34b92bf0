# SPDX-License-Identifier: MIT
"""Only images that libhodo is not loaded in are counted, with their path and the reason."""
import os
import shutil
import sys

from hodo_test import Case, main, program
from load import busy

IMAGES = program("IMAGES")
TRUE = os.path.realpath(shutil.which("true"))


TOO_MANY = "or fewer: more programs ran at once than can be followed"


def missing(path):
    return f"libhodo was not loaded in {path}, or did not reach the recorder"


class Images(Case):
    def setUp(self):
        super().setUp()
        self.nothing = shutil.copy(program("NOTHING"), self.path("nothing"))
        self.static = f"{self.nothing} is static"

    def counted(self, reasons, *command, wrote=None, **how):
        """The images of a command that are not recorded; the summary, the metadata, stat and info agree on them."""
        done = self.record(*command, **how)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        said = [line.removeprefix("hodo: ") for line in done.lines() if "not recorded: " in line]
        want = [f"{n} process image{' was' if n == 1 else 's were'} not recorded: {why}" for why, n in reasons.items()]
        self.assertEqual(sorted(said), sorted(want), done.stderr)
        for found in (self.stat(), self.info()):
            self.assertEqual({r["why"]: r["images"] for r in found.get("unrecorded", [])}, reasons)
        for verb in ("stat", "info"):
            text = self.ok(verb, self.data)
            for line in want:
                self.assertIn(line, text)
        if wrote is not None:
            self.assertEqual(done.events()[0], wrote, done.stderr)

    def test_each_function(self):
        self.counted({self.static: 9}, IMAGES, "each", self.nothing, wrote=1)

    def test_vfork(self):
        self.counted({self.static: 1}, IMAGES, "vfork", self.nothing, wrote=1)
        self.counted({missing(TRUE): 1}, IMAGES, "vfork", TRUE, wrote=1)

    def test_spawn(self):
        """One of three has no environment."""
        self.counted({missing(TRUE): 1}, IMAGES, "spawn", TRUE, wrote=1)
        self.counted({self.static: 3}, IMAGES, "spawn", self.nothing, wrote=1)

    def test_thread(self):
        self.counted({self.static: 1}, IMAGES, "thread", self.nothing, wrote=1)
        self.counted({}, IMAGES, "thread", TRUE, wrote=1)

    def test_failing(self):
        """The calls return the same result and errno as without hodo, and no image is counted."""
        self.counted({}, IMAGES, "failing", "it", wrote=1)

    def test_environment_replaced(self):
        script = f"env -i {TRUE}; env -u LD_PRELOAD {TRUE}; LD_PRELOAD= {TRUE}; {TRUE}"
        for shell in ("dash", "bash"):
            self.counted({missing(TRUE): 3}, shell, "-c", script)
        self.counted({missing(TRUE): 1}, sys.executable, "-c",
                     f"import subprocess as s\ns.run(['{TRUE}'], env={{}})\ns.run(['{TRUE}'])")

    def test_many_of_one(self):
        """One line however many there are, as in a build with a static helper."""
        self.counted({self.static: 40}, "sh", "-c", f"seq 40 | xargs -n 1 -P 4 {self.nothing}; /no/such; no-such; :")

    def test_names(self):
        """A name found by PATH, or relative; a script's interpreter; a name that must not reach a terminal."""
        script, odd = self.path("script"), "odd\x1b[31m"
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#! {self.nothing} -x\n")
        os.chmod(script, 0o755)
        shutil.copy(self.nothing, self.path(odd))
        path = f"{self.dir}:{os.environ['PATH']}"
        self.counted({self.static: 3}, "bash", "-c", f"nothing; ./nothing; {script}", env={"PATH": path})
        self.counted({self.path("odd\\x1b[31m") + " is static": 1}, "bash", "-c", "./odd*; :")

    def elsewhere(self, *names):
        """The static program in another folder; the recorder's own folder has a dynamic one of that name."""
        there = self.path(*names)
        os.makedirs(there)
        os.rename(self.nothing, os.path.join(there, "nothing"))
        shutil.copy(TRUE, self.nothing)
        return there

    def test_relative(self):
        """A path begins in the folder in which the process is at that moment."""
        there = self.elsewhere("there")
        self.counted({f"{there}/nothing is static": 16}, IMAGES, "relative", there, "nothing", wrote=1)
        self.counted({missing(".../nothing"): 1}, IMAGES, "action", there, "./nothing", wrote=1)

    def test_relative_in_a_deep_folder(self):
        """The path is too long for its room: the name is left if exec was given one, and nothing is guessed."""
        there = self.elsewhere(*["d" * 100] * 3)
        self.counted({missing(".../nothing"): 14, missing("..."): 2}, IMAGES, "relative", there, "nothing", wrote=1)

    def test_more_than_can_be_followed(self):
        """256 at one time; those above are counted as well. Calls that failed are not counted."""
        self.counted({self.static: 256, TOO_MANY: 45}, IMAGES, "full", 300, self.nothing, wrote=1)

    def test_set_user_id(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a program of another user's")
        other = shutil.copy(TRUE, self.path("other"))
        os.chown(other, 65534, 65534)
        os.chmod(other, 0o4755)
        self.counted({f"{other} is set-user-ID, or has capabilities": 1}, "sh", "-c", f"{other}; :")

    def test_alive_at_the_end(self):
        ours, theirs = os.pipe()
        with os.fdopen(ours), os.fdopen(theirs, "w"):
            self.counted({self.static: 1}, sys.executable, "-c",
                         f"import os, subprocess as s\ns.Popen(['{self.nothing}', 'wait'])\nos._exit(0)", stdin=ours)

    def test_chains(self):
        """25 processes of 20 images each, all recorded, beside busy loops."""
        with busy(3):
            self.counted({}, IMAGES, "chains", 25, 20, "it", wrote=25 * 19 + 1)


main()
