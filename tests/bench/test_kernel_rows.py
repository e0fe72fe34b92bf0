#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_kernel_rows - the table of bench/kernel, of what guests would say. usage: test_kernel_rows.py BENCH_DIR"""
import contextlib
import io
import sys
import unittest

BENCH = sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, BENCH)
import kernel_lttng  # noqa: E402
import kernel_rows as rows  # noqa: E402


def said(text, kept=None):
    return rows.Said([line.split() for line in text.splitlines()], kept or {})


def table(all_rows):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        rows.print_text(all_rows, {"kernel": "6.1", "rounds": 3, "quick": False})
    return out.getvalue()


class Micro(unittest.TestCase):
    def rows(self, hodo):
        found = rows.rows_of({"hodo": said(hodo), "ftrace": said(
            "micro off getppid 338.03\nmicro idle getppid 340.03\nmicro getppid getppid 1676.03\n")})
        return {row.id: row for row in found}

    def test_what_is_added_to_the_same_guest(self):
        found = self.rows("micro off getppid 300.00\nmicro idle getppid 300.00\nmicro getppid getppid 527.00\n")
        row = found["micro_getppid"]
        self.assertEqual((row.cells["hodo"], row.cells["ftrace"], row.target), ("+227", "+1338", "<= 250"))
        self.assertIs(row.reached, True)
        self.assertEqual(found["micro_idle"].cells, {"hodo": "+0", "ftrace": "+2"})
        self.assertNotIn("micro_write", found)

    def test_a_target_that_is_missed(self):
        row = self.rows("micro off getppid 300.00\nmicro getppid getppid 550.60\n")["micro_getppid"]
        self.assertIs(row.reached, False)
        self.assertIn("NO", table([row]))

    def test_without_hodo_no_target_is_judged(self):
        found = rows.rows_of({"empty": said("micro off switch 100.0\nmicro switch switch 117.0\n")})
        self.assertEqual([(r.id, r.cells, r.reached) for r in found], [("micro_switch", {"empty": "+17"}, None)])


class Work(unittest.TestCase):
    def rows(self, text, kept=None, tracer="hodo"):
        return {row.id: row for row in rows.rows_of({tracer: said(text, kept)})}

    def test_rates(self):
        """Each round is computed separately; the events share the rest of the time."""
        row = self.rows("work dbench-off-0 2000 0 0 0 0 310\nwork dbench-on-0 2000 5 100 15 400 248\n"
                        "work dbench-off-1 2000 0 0 0 0 300\nwork dbench-on-1 2000 5 100 15 400 150\n"
                        "work dbench-off-2 2000 0 0 0 0 330\nwork dbench-on-2 2000 5 100 15 400 320\n")["dbench"]
        self.assertAlmostEqual(row.values["hodo"]["slowdown"], 310 / 248 - 1)
        self.assertEqual((row.cells["hodo"], row.none), ("+25.0%", "310.0 MB/s"))
        self.assertIs(row.reached, False)
        self.assertAlmostEqual(row.values["hodo"]["instructions_per_event"], 2000 * 0.2 / 10)
        self.assertAlmostEqual(row.values["hodo"]["bytes_per_event"], 30)
        self.assertAlmostEqual(row.values["hodo"]["events_per_s"], 10 / 2000 * 1e9)

    def test_ticks(self):
        found = self.rows("work small-off-0 1000000 0 0 0 0\nwork small-on-0 1015000 0 0 150 4500\n")
        self.assertAlmostEqual(found["small"].values["hodo"]["slowdown"], 0.015)
        self.assertIs(found["small"].reached, True)
        self.assertEqual(found["small_instructions_per_event"].cells["hodo"], "100")
        self.assertEqual(found["small_bytes_per_event"].cells["hodo"], "30.0")

    def test_counts_from_what_was_kept(self):
        row = self.rows("work small-off-0 1000000 0 0 0 0\nwork small-on-0 1100000 0 0 0 0\n",
                        {"small-on-0": (1000.0, 32000.0)}, "lttng")["small"]
        self.assertEqual(row.values["lttng"]["bytes_per_event"], 32)
        self.assertEqual(row.values["lttng"]["instructions_per_event"], 100)
        self.assertIsNone(row.reached)

    def test_text(self):
        text = table(rows.rows_of({"hodo": said("work small-off-0 100 0 0 0 0\nwork small-on-0 101.5 0 0 150 4500\n")}))
        self.assertIn("tcc, 200 small files: slowdown", text)
        self.assertIn("+1.5%", text)
        self.assertNotIn("LTTng", text)


class Plan(unittest.TestCase):
    def test_nothing_is_loaded_before_it_is_measured(self):
        lines = rows.plan("hodo", ["micro", "tbench"], 2, 3).splitlines()
        self.assertEqual(lines[0], "use_tracer none")
        loaded = lines.index("use_tracer hodo")
        self.assertLess(lines.index("micro off getppid"), loaded)
        self.assertGreater(lines.index("micro idle getppid"), loaded)
        self.assertEqual(sum(line.startswith("work tbench-on-") for line in lines), 2)
        self.assertFalse([line for line in lines if line.startswith("work dbench")])

    def test_what_lttng_has_no_probe_for_is_left_out(self):
        plan = rows.plan("lttng", rows.GROUPS, 1, 3)
        self.assertNotIn("kmalloc", plan)
        self.assertNotIn("timer", plan)
        self.assertIn("micro off kmalloc", rows.plan("hodo", rows.GROUPS, 1, 3))


class Lttng(unittest.TestCase):
    def test_packets(self):
        def packet(seq, content):
            head = b"\xc1\x1f\xfc\xc1" + bytes(16) + bytes(4) + bytes(8) + bytes(16)
            head += (content * 8).to_bytes(8, "little") + (4096 * 8).to_bytes(8, "little")
            return (head + seq.to_bytes(8, "little")).ljust(4096, b"\0")

        found = list(kernel_lttng.packet_headers(packet(41, 4000) + packet(42, 17)))
        self.assertEqual([(p["seq"], p["content"], p["size"]) for p in found], [(41, 4000, 4096), (42, 17, 4096)])
        with self.assertRaises(kernel_lttng.BenchError):
            list(kernel_lttng.packet_headers(b"nothing of the kind"))


if __name__ == "__main__":
    unittest.main()
