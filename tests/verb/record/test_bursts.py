# SPDX-License-Identifier: MIT
"""Many process images: each is recorded, or counted with the reason, in every place that reports losses."""

import json

from hodo_test import Case, main, program
from load import busy

BURSTS = program("BURSTS")
UNANSWERED = "it left before it was answered: the recorder was too busy"


class Bursts(Case):
    def counted(self, done):
        """The number of images that are not recorded; the summary, the metadata, stat and info agree on it."""
        said = done.number(r"hodo: (\d+) process images? w\w+ not recorded: ")
        for verb in ("stat", "info"):
            reasons = json.loads(self.ok(verb, "--json", self.data)).get("unrecorded", [])
            self.assertEqual(sum(r["images"] for r in reasons), said, done.stderr)
            self.assertLessEqual({r["why"] for r in reasons}, {UNANSWERED})
            text = self.ok(verb, self.data)
            for r in reasons:
                self.assertRegex(text, rf"{r['images']} process images? w\w+ not recorded: {UNANSWERED}")
        if said:
            self.assertIn(f"{said} process image", self.hodo("print", self.data).stderr)
            self.assertNotIn("no event was lost", self.ok("stat", self.data))
        return said

    def check(self, done, wrote):
        """Each image writes one event; the process that starts them writes none, and is recorded."""
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.lost(), 0)
        self.assertEqual(done.events()[0] + self.counted(done), wrote)

    def test_forks(self):
        with busy(4):
            self.check(self.record(BURSTS, "fork", 600), 600)

    def test_execs(self):
        """An image has ended before the recorder looks at it, and the next one speaks for the same process."""
        with busy(3):
            self.check(self.record(BURSTS, "exec", 10, 20), 210)

    def test_nobody_answers(self):
        """The recorder is stopped for longer than any process waits: those that start meanwhile are counted."""
        done = self.record(BURSTS, "unheard", 100)
        self.assertEqual(self.counted(done), 100, done.stderr)
        self.check(done, 100)


main()
