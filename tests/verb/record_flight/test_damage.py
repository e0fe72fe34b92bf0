#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A flight recorder's file after a power cut: cut short, and with pages of zeros, of random bytes, or of an earlier
time. `hodo recover` makes a trace from it that we and babeltrace2 can read, or says in one line why it cannot."""
import os
import random
import shutil

from flights import TARGET, Case
from hodo_test import hodo, main

PAGE = 4096
SEED = int(os.environ.get("SEED", "1"))


class Damage(Case):
    @classmethod
    def setUpClass(cls):
        print("seed", SEED, flush=True)

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.fly(TARGET, self.path("shared"), 2, 20000, 0, 1, HODO_FLIGHT_SIZE="64K")
        self.file = os.path.join(self.flights, self.files()[0])
        self.size = os.stat(self.file).st_size
        self.copy = self.path("copy.flight")
        self.recover()
        self.whole = len(self.events())

    def fresh(self):
        shutil.copyfile(self.file, self.copy)  # sparse where the original is

    def write(self, at, data):
        with open(self.copy, "r+b") as f:
            f.seek(at)
            f.write(data)

    def check(self, what, events=False):
        """How many events were recovered; 0: refused, with the reason."""
        done = hodo("recover", "-o", self.out, self.copy)
        self.assertIn(done.returncode, (0, 1), (what, done.stderr))
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^hodo: ", what)
        if done.returncode == 1:
            self.assertFalse(events, (what, done.stderr))
            return 0
        found = self.events()
        for e in found:
            self.assertTrue(e["name"])  # a bit of the name itself may have changed
        return len(found)

    def interesting(self):
        """Pages that are not all zeros."""
        with open(self.file, "rb") as f:
            return [n for n, page in enumerate(iter(lambda: f.read(PAGE), b"")) if page.strip(b"\0")]

    def test_cut(self):
        pages = self.interesting()
        places = [0, 1, 100, 2047, 2048, 2559, 2560, PAGE, PAGE + 1, self.size - 1, self.size + PAGE]
        places += [n * PAGE + self.random.randrange(PAGE) for n in self.random.sample(pages, min(25, len(pages)))]
        for size in places:
            self.fresh()
            os.truncate(self.copy, size)
            with self.subTest(size=size):
                got = self.check(size)
                if size >= self.size:
                    self.assertEqual(got, self.whole)

    def test_each_page_zeroed(self):
        pages = self.interesting()
        for page in pages if len(pages) < 50 else self.random.sample(pages, 50):
            self.fresh()
            self.write(page * PAGE, bytes(PAGE))
            with self.subTest(page=page):
                self.check(page)

    def test_pages_garbled(self):
        pages = self.interesting()
        for i in range(12):
            self.fresh()
            for page in self.random.sample(pages, self.random.choice((1, 1, 1, 3))):
                self.write(page * PAGE, self.random.randbytes(PAGE))
            with self.subTest(i=i):
                self.check(i)

    def test_bits(self):
        pages = self.interesting()
        for i in range(12):
            self.fresh()
            with open(self.copy, "r+b") as f:
                for _ in range(self.random.choice((1, 8, 64))):
                    at = self.random.choice(pages) * PAGE + self.random.randrange(PAGE)
                    f.seek(at)
                    old = f.read(1)
                    f.seek(at)
                    f.write(bytes([old[0] ^ 1 << self.random.randrange(8)]))
            with self.subTest(i=i):
                self.check(i)

    def test_rings_positions_lost(self):
        """The pages with the rings' positions are lost: the packets themselves show how far the rings had come."""
        self.fresh()
        rings = [n for n in self.interesting() if self.is_ring(n)]
        self.assertTrue(rings)
        for page in rings:
            self.write(page * PAGE, bytes(PAGE))
        got = self.check("positions", events=True)
        # The oldest packet is left out only while another begins; the newest ends with its last whole event.
        self.assertGreaterEqual(got, self.whole * 9 // 10)

    def test_rings_positions_of_an_earlier_time(self):
        self.fresh()
        for page in filter(self.is_ring, self.interesting()):
            self.write(page * PAGE, (600 << 20 | 20).to_bytes(8, "little"))
        self.assertGreaterEqual(self.check("earlier", events=True), self.whole * 9 // 10)

    def is_ring(self, page):
        rings = 4096 + 12 * 65536 + 24 * 65536 + (16 << 20)
        with open(self.file, "rb") as f:
            f.seek(12)
            count = int.from_bytes(f.read(4), "little")
        return rings <= page * PAGE < rings + count * PAGE


main()
