# SPDX-License-Identifier: MIT
"""A hostile process at the other end of the socket, or of the shared pages:
refused or recorded as far as it goes; the recorder and others are unharmed."""

import os

from hodo_test import Case, main, program

FAKE, TARGET = program("FAKE"), program("TARGET")

AT_THE_SOCKET = ("wrong-magic", "wrong-version", "short-hello", "long-hello", "hang", "hang-after-hello",
                 "leave-after-hello", "many-connections", "no-fd", "two-fds", "unsealed", "wrong-size",
                 "read-only", "pipe", "no-header")
ABOUT_A_PLAN = (("plan-flood", 0), ("plan-unasked", 0), ("plan-unasked", 1), ("plan-again", 0), ("plan-still", 0),
                ("plan-short", 0), ("plan-descriptor", 0), ("plan-leave", 0))
WHY = {"wrong-version": "its libhodo is another version: set HODO_LIBRARY to the one that came with this hodo"}
IN_MEMORY = (("garbage-words", 0), ("garbage-catalog", 0), ("garbage-catalog", 3000), ("absurd-catalog", 0),
             ("jump", 0), ("jump", 400000))


class Hostile(Case):
    def beside(self, how, *options, number=0):
        """Runs the hostile program beside an honest one, both children of one command."""
        script = f"{FAKE} {how} {number} & {TARGET} count 3000; wait $!"
        result = self.record("--clock", "monotonic", *options, "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("fake:", result.stderr)
        target = [f for f in self.folders() if f.startswith(os.path.basename(TARGET)[:15] + "-")]
        self.assertEqual(len(target), 1)
        events, discarded = self.babeltrace(os.path.join(self.data, target[0]))
        self.assertEqual((len(events), discarded), (3000, 0))
        return result

    def test_at_the_socket(self):
        for how in AT_THE_SOCKET:
            with self.subTest(how):
                result = self.beside(how)
                self.assertEqual(result.events()[0], 3000)
                self.assertIn("is not recorded: " + WHY.get(how, ""), result.stderr)
                self.check_trace(result)

    def test_about_a_plan(self):
        """Messages out of turn, repeated, or of a wrong size: the recorder refuses them, and says so once."""
        for how, number in ABOUT_A_PLAN:
            with self.subTest(how, number=number):
                result = self.beside(how, "--functions=no_such_function", number=number)
                self.assertEqual(result.events()[0], 3000)
                self.assertRegex(result.stderr, "hodo: process [0-9]+ is not recorded: ")
                self.assertLess(len(result.lines()), 12)
                self.check_trace(result)

    def test_exec_before_the_plan_is_taken(self):
        result = self.beside("plan-exec", "--functions=no_such_function")
        self.assertNotIn("does not speak", result.stderr)
        self.assertEqual(result.events()[0], 3000 + 11)

    def test_in_memory(self):
        """babeltrace2 reads even the hostile process's trace: only packets that are valid get into it."""
        for how, number in IN_MEMORY:
            for options in (("-m", "64K"), ("-m", "64K", "--overwrite")):
                with self.subTest(how, number=number, options=options):
                    self.beside(how, *options, number=number)
                    for folder in self.folders():
                        self.babeltrace(os.path.join(self.data, folder))

    def test_limited(self):
        """A count of rate-limited events that cannot be true is left out, with a message."""
        for number, options in ((2**62, ("--rate", "rt:*=1000000/s")), (5, ())):
            with self.subTest(number):
                result = self.beside("limited", *options, number=number)
                self.assertRegex(result.stderr, r"\]: its count of events over their rate limit cannot be true")
                self.assertNotIn("not recorded: over the rate", result.stderr)
                self.assertEqual(self.info()["limited"], 0)

    def test_lost(self):
        """Counts of lost events that cannot be true are left out, with a message; other counts are kept."""
        for number, lost in ((2**56, 0), (2**64 - 1, 0), (1000, 3000)):
            for options in ((), ("--overwrite",)):
                with self.subTest(number, options=options):
                    result = self.beside("lost", "-m", "64K", *options, number=number)
                    said = "]: its counts of lost events cannot be true, and are left out" in result.stderr
                    self.assertEqual((said, result.lost()), (lost == 0, lost))
                    self.check_trace(result)

    def test_in_the_profile(self):
        """Numbers may have any value; which functions they belong to, and how many there are, is checked."""
        for number in (0, 1):
            with self.subTest(number):
                result = self.beside("garbage-profile", "--tracer", "profile", "-m", "64K", number=number)
                self.assertIn("calls not in the profile", result.stderr)
                for folder in self.folders():
                    if not folder.startswith("."):  # the process beside it has functions, which have names
                        self.babeltrace(os.path.join(self.data, folder))
                if number:
                    fake = next(f for f in self.folders() if f.startswith("fake-"))
                    events, _ = self.babeltrace(os.path.join(self.data, fake))
                    self.assertGreaterEqual(len(events), 10)  # random ones

    def test_stray_write(self):
        """One packet is lost and counted; the packets around it are there."""
        result = self.record("--clock", "monotonic", "-m", "4M", "--packet-size", "4K", FAKE, "stray-write", 20000)
        self.assertEqual(result.returncode, 0)
        self.assertIn("its buffers are damaged", result.stderr)
        events = self.check_trace(result)
        self.assertEqual(len(events) + result.lost(), int(result.stdout))
        self.assertGreater(len(events), 19000)
        self.assertIn("the program damaged its buffers", result.stderr)


main()
