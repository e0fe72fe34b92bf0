#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""early - events of a thread before libc has registered its restartable sequences: the thread's area then says CPU 0,
or the CPU of an earlier thread, and the kernel would restart no sequence. So these events go to the fallback ring,
and later ones to the ring of their CPU."""
import os

from hodo_test import Case, main, run

EARLY, THREADS = os.environ["EARLY"], 400
BEFORE = "probe:libc.so.6!__ctype_init"  # libc initialises a thread's pointers into the locale first
OPTIONS = "--wait", "-e", BEFORE, "-e", "probe:work"


class Early(Case):
    def test_rings(self):
        """Each thread has one event of each kind, on any CPU."""
        events = self.recorded(EARLY, THREADS, options=OPTIONS)
        first = [e for e in events if e["name"] == "probe:__ctype_init" and e["tid"] != e["pid"]]
        later = [e for e in events if e["name"] == "probe:work"]
        self.assertEqual((len(first), len(later)), (THREADS, THREADS))
        self.assertEqual({e["cpu"] for e in first}, {-1})
        self.assertGreaterEqual(min(e["cpu"] for e in later), 0)
        self.assertEqual(len({e["tid"] for e in first}), len({e["tid"] for e in later}))

    def test_without_sequences(self):
        """If libc does not register restartable sequences, all events are early."""
        events = self.recorded(EARLY, THREADS, options=OPTIONS, env={"GLIBC_TUNABLES": "glibc.pthread.rseq=0"})
        events = [e for e in events if e["tid"] != e["pid"]]
        self.assertEqual({e["cpu"] for e in events}, {-1})
        self.assertEqual(len(events), 2 * THREADS)

    def test_all_functions(self):
        """All functions of libc, in recordings that come and go: nothing is damaged, and each can end."""
        for _ in range(3):
            done = run(os.environ["HODO"], "record", "-q", "-o", "all", "--functions=libc.so.6!*", "-m", "1M",
                       EARLY, THREADS, **self.how({}))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.ok("stat", "all")


if __name__ == "__main__":
    main()
