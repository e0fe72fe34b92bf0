#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hodo view as a command: options, files, errors, thinning and its figures, memory. The test takes the file apart,
without a browser. HODO, TEMPLATE and MAKE_RECORDING are in the environment."""
import math
import os
import pathlib

from hodo_test import HODO, Case, hodo, main, measured, program, skip
from view_page import Page

TEMPLATE = pathlib.Path(program("TEMPLATE"))


class View(Case):
    def setUp(self):
        super().setUp()
        self.dir = pathlib.Path(self.dir)

    def make(self, what, events=10000):
        return self.dir / self.generate("MAKE_RECORDING", what, events, name=what)

    def hodo(self, *args, status=0):
        return super().hodo("view", *args, status=status).stderr

    def page(self, recording, *options):
        out = self.dir / "page.html"
        self.hodo("-q", "-f", "-o", out, *options, recording)
        return Page(out)


class Files(View):
    def test_where_it_is_written(self):
        self.make("requests", 1000)
        told = self.hodo("requests")
        self.assertRegex(told, r"^hodo: [0-9.]+ KiB in requests\.html\n$")
        first = (self.dir / "requests.html").read_bytes()
        self.assertEqual(self.hodo("-q", "requests"), "")
        self.assertIn("exists: give --force", self.hodo("-o", "requests.html", "requests", status=1))
        self.assertEqual(self.hodo("-q", "--force", "-o", "requests.html", "requests"), "")
        self.assertEqual((self.dir / "requests.html").read_bytes(), first)
        with open(self.dir / "out", "wb") as f:
            hodo("view", "-q", "-o", "-", "requests", stdout=f, status=0, cwd=self.dir)
        self.assertEqual((self.dir / "out").read_bytes(), first)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["out", "requests", "requests.html"])

    def test_link_beside_the_recording(self):
        """A link from an archive: hodo view does not follow it."""
        self.make("requests", 1000)
        (self.dir / "precious").write_text("precious", encoding="ascii")
        (self.dir / "requests.html").symlink_to("precious")
        self.assertIn("symbolic link: give --force", self.hodo("requests", status=1))
        self.hodo("--force", "requests")
        self.assertFalse((self.dir / "requests.html").is_symlink())
        self.assertEqual((self.dir / "precious").read_text(encoding="ascii"), "precious")

    def test_file_beside_the_recording(self):
        """A page is replaced without asking; what somebody else put under its name is not."""
        self.make("requests", 1000)
        page = self.dir / "requests.html"
        for mine in ("", "<!DOCTYPE html>\n<title>mine</title>\n"):
            page.write_text(mine, encoding="ascii")
            self.assertRegex(self.hodo("requests", status=1), r"^hodo: requests\.html exists, and 'hodo view' did not make "
                                                              r"it: give --force to replace it, .* with -o\n$")
            self.assertEqual(page.read_text(encoding="ascii"), mine)
        self.hodo("-q", "--force", "--title", "one", "requests")
        one = page.read_bytes()
        self.assertEqual(self.hodo("-q", "--title", "x" * 400, "requests"), "")
        self.assertEqual(self.hodo("-q", "requests"), "")
        self.assertNotEqual(page.read_bytes(), one)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["requests", "requests.html"])

    def test_what_cannot_be(self):
        self.make("requests", 1000)
        self.assertRegex(self.hodo("nowhere", status=1), r"^hodo: nowhere: .*\n$")
        self.assertRegex(self.hodo("-o", "no/x.html", "requests", status=1), r"^hodo: no/x\.html: cannot be written: .*-o\n$")
        self.assertRegex(self.hodo("-o", "/dev/full", "requests", status=1), r"^hodo: /dev/full: cannot be written: ")
        for bad in (["--limit", "0"], ["--limit", "many"], ["--since", "x"], ["a", "b"], ["-o", ""], ["--nonsense"]):
            self.assertRegex(self.hodo(*bad, *(["requests"] if bad[0] != "a" else []), status=2), r"^hodo: view: .*\n$")
        self.assertEqual([p.name for p in self.dir.iterdir()], ["requests"])

    def test_diff(self):
        """The page has both recordings, each as it is alone."""
        before, after = self.make("requests", 4000), self.make("sizes", 3000)
        alone = [self.page(dir, "--limit", "1000") for dir in (before, after)]
        both = self.page(before, "--limit", "1000", "--diff", after)
        for one, names in zip(alone, (("hodo-main", "hodo-text"), ("hodo-after", "hodo-after-text"))):
            both.take(*names)
            self.assertEqual((both.header, both.tables, both.text), (one.header, one.tables, one.text))
        self.assertNotIn('id="hodo-after"', alone[0].html)
        self.assertIn("nowhere", self.hodo("-q", "-f", "--diff", "nowhere", "-o", "x.html", before, status=1))
        self.assertFalse((self.dir / "x.html").exists())
        # A selection applies to both, to each in its own time.
        some = self.page(before, "--diff", after, "-e", "kv:parse", "--until", "0.00001")
        for names in (("hodo-main", "hodo-text"), ("hodo-after", "hodo-after-text")):
            page = some.take(*names)
            self.assertGreater(len(page.rows("slices")), 0)
            self.assertEqual({page.name(s) for s in page.rows("slices")}, {"kv:parse"})
            self.assertLess(max(s["begin"] for s in page.rows("slices")), 10000)

    def test_title_is_text(self):
        page = self.page(self.make("requests", 100), "--title", "</title><b>&amp;\x1b\"")
        self.assertIn("<title>&#60;/title&#62;&#60;b&#62;&#38;amp;", page.html)
        self.assertEqual(page.header["title"], "</title><b>&amp;\x1b\"")
        self.assertEqual(self.page(self.dir / "requests").header["title"], "kvd[412]")


class Content(View):
    def test_everything(self):
        page = self.page(self.make("requests", 10000))
        totals, slices = page.header["totals"], page.rows("slices")
        self.assertEqual(totals["events"], 10000)
        self.assertEqual((totals["slices"], totals["shown_slices"]), (len(slices), len(slices)))
        self.assertNotIn("aggregates", page.tables)
        self.assertNotIn("omitted", page.tables)
        keys = [(s["track"], s["begin"], s["depth"]) for s in slices]
        self.assertEqual(keys, sorted(keys))
        # The slices of a thread nest; overlapping slices of requests have rows of their own.
        for track, about in enumerate(page.header["tracks"]):
            ends = {}
            for s in (s for s in slices if s["track"] == track):
                end = s["begin"] + s["duration"]
                self.assertLess(s["depth"], about["depth"])
                self.assertGreaterEqual(s["begin"], ends.get(s["depth"], -1))
                if about["kind"] == "thread" and s["depth"]:
                    self.assertLessEqual(end, ends[s["depth"] - 1])
                ends[s["depth"]] = end
        inner = [s for s in slices if page.name(s) == "kv:request"]
        self.assertEqual({s["kind"] for s in inner}, {0})
        self.assertTrue(all(0 < s["self"] < s["duration"] for s in inner))
        texts = page.texts()
        self.assertRegex(texts[inner[5]["text"]], r'^key="user:\d+" shard=\d$')
        marks = [i for i in page.rows("instants") if page.name(i) == "kv:mark"]
        self.assertRegex(texts[marks[0]["text"]], r"^took \d+ bytes$")
        self.assertEqual(sorted(page.header["strings"][t["name"]] for t in page.header["tracks"]),
                         ["kv:entries", "kv:flow", "worker 0", "worker 1", "worker 2", "worker 3"])

    def test_off_cpu(self):
        """A span says how long its thread did not run, where that is known; tests/verb/graph tests the same as lines."""
        page = self.page(self.dir / self.generate("GEN_CALLS", "spans_off", name="spans_off"))
        texts = page.texts()
        slices = [s for s in page.rows("slices") if s["kind"] < 3]
        said = [(page.name(s), texts[s["text"]] if s["text"] >= 0 else "") for s in slices]
        self.assertEqual(sorted(said), [
            ("0x401000", ""), ("0x401100", ""), ("0x401200", ""),
            ("kv:flush", "off_cpu=0.280us waits=0 preempted=1"),
            ("kv:job", "id=5 off_cpu=0.050us waits=1 preempted=0"), ("kv:job", "id=6"),
            ("kv:put", 'key="user:7" shard=7 off_cpu=0.320us waits=1 preempted=1'),
            ("kv:put", 'key="user:8" shard=8')])

    def test_losses(self):
        page = self.page(self.make("losses"))
        begin = int(page.header["begin_ns"]) - 1795000000 * 10**9
        got = [(page.header["processes"][x["process"]]["comm"], x["cpu"], begin + x["begin"], begin + x["end"],
                x["count"], page.header["strings"][x["cause"]]) for x in page.rows("losses")]
        self.assertEqual(got, [("over", 0, 2000, 7000, 40, "newer events overwrote them"),
                               ("full", 0, 3200, 4000, 70, "the buffer was full"),
                               ("full", 1, 3500, 4500, 2, "larger than a packet"),
                               ("full", 0, 6000, 9000, 5, "the buffer was full")])
        self.assertEqual(page.header["totals"]["lost"], 117)

    def test_parts_of_it(self):
        recording = self.make("requests", 10000)
        whole = self.page(recording)
        page = self.page(recording, "--thread", "worker 2")
        self.assertEqual([t["tid"] for t in page.header["tracks"] if t["kind"] == "thread"], [502])
        tid = [i for i, t in enumerate(whole.header["tracks"]) if t["tid"] == 502][0]
        self.assertEqual(sum(s["kind"] == 0 for s in page.rows("slices")),
                         sum(s["track"] == tid for s in whole.rows("slices")))
        self.assertEqual(self.page(recording, "--thread", "502").header["totals"], page.header["totals"])
        late = self.page(recording, "--since", "0.0005", "--until", "0.001")
        self.assertEqual(int(late.header["begin_ns"]), int(whole.header["begin_ns"]) + 500000)
        self.assertLessEqual(late.header["duration_ns"], 500000)
        self.assertLess(late.header["totals"]["events"], whole.header["totals"]["events"])
        self.assertTrue(all(0 <= s["begin"] <= 500000 for s in late.rows("slices")))
        self.assertEqual(self.page(recording, "--since", "1000").header["totals"]["events"], 0)

    def test_full_names(self):
        """Names of C++ functions are short, and whole with --full-names."""
        if not program("NAMES"):
            self.skipTest("functions cannot be traced here")
        self.record("-q", "--functions=shop::*", "--", program("NAMES"))
        text = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
        short, full = "shop::Store<string>::put", f"shop::Store<{text} >::put(int, {text} const&)"
        for options, shown, hidden in (((), short, full), (["--full-names"], full, short)):
            strings = self.page(self.data, *options).header["strings"]
            self.assertIn(shown, strings)
            self.assertNotIn(hidden, strings)

    def test_damaged(self):
        recording = self.make("requests", 10000)
        stream = recording / "kvd-412/cpu0"
        stream.write_bytes(stream.read_bytes()[:-1000])
        page = self.page(recording)
        self.assertTrue(any("cut short" in w for w in page.header["warnings"]), page.header["warnings"])
        self.assertLess(page.header["totals"]["events"], 10000)


class Thinned(View):
    def figures(self, page):
        """{name: (count, total, min, max, {bucket: count})} of the page's figures over all."""
        out = {}
        places, counts = page.tables["buckets"]["log2x8"], page.tables["buckets"]["count"]
        for a in page.rows("aggregates"):
            rows = range(a["histogram"], a["histogram"] + a["buckets"])
            out[page.name(a)] = (a["count"], a["total"], a["min"], a["max"],
                                 {places[i]: counts[i] for i in rows if counts[i]})
        return out

    def test_longest_slices_stay(self):
        recording = self.make("sizes", 100000)
        page = self.page(recording, "--limit", "10000")
        totals, slices = page.header["totals"], page.rows("slices")
        self.assertEqual((totals["slices"], totals["shown_slices"]), (50000, len(slices)))
        self.assertLessEqual(len(slices), 10000)
        self.assertGreater(len(slices), 7000)
        self.assertTrue(page.header["tracks"][0]["coarse"])
        # All outer slices, and the longest of the inner ones.
        self.assertEqual(sum(s["depth"] == 0 for s in slices), 5000)
        least = min(s["duration"] for s in slices)
        self.assertEqual(sum(s["duration"] > least for s in slices), 5000 * (10 - least))
        # The figures cover all slices: 5000 of each length from 1 to 9 ns.
        figures = self.figures(page)
        self.assertEqual(figures["kv:request"], (5000, 5e6, 1000, 1000, {8 * 9 + 7: 5000}))
        self.assertEqual(figures["kv:parse"][:4], (45000, 225000, 1, 9))
        wanted = {}
        for ns in range(1, 10):
            power = int(math.log2(ns))
            bucket = 8 * power + (ns - 2**power) * 8 // 2**power
            wanted[bucket] = wanted.get(bucket, 0) + 5000
        self.assertEqual(figures["kv:parse"][4], wanted)
        self.assertEqual(len(page.texts()), sum(s["text"] >= 0 for s in slices))
        self.assertIn("are shown, the longest", self.hodo("-f", "--limit", "10000", recording))

    def test_pieces_count_once(self):
        page = self.page(self.make("overlaps", 4000), "--limit", "100")
        figures = self.figures(page)
        bucket = 8 * 7 + (200 - 128) * 8 // 128
        for name in "kv:lookup", "kv:parse":
            self.assertEqual(figures[name], (1000, 200000, 200, 200, {bucket: 1000}), name)
        times = {page.name(a): a["self"] for a in page.rows("aggregates")}
        self.assertEqual(times, {"kv:lookup": 100000, "kv:parse": 200000})

    def test_points_and_values(self):
        events = 1000000
        page = self.page(self.make("points", events), "--limit", "10000")
        totals = page.header["totals"]
        self.assertEqual((totals["instants"], totals["values"]), (events / 2, events / 2))
        for table in ("instants", "values"):
            times = page.tables[table]["time"]
            # Cells are powers of two: at least half of the share; all four values of a cell may be the same one.
            self.assertTrue(1250 <= len(times) <= 5000, (table, len(times)))
            self.assertEqual(list(times), sorted(times))
            # Evenly over the whole time: 100 ns each, in cells of 2^15 or 2^16 ns.
            self.assertLess(times[0], 1000)
            self.assertGreater(times[-1], events / 2 * 100 * 0.99)
            self.assertLess(max(b - a for a, b in zip(times, times[1:])), 2**17)
        # The one value that stands out stays.
        self.assertEqual(max(page.tables["values"]["value"]), 1000000)

    def test_values_that_are_no_number(self):
        """The value that stands out among them stays."""
        events = 200000
        page = self.page(self.make("numbers", events), "--limit", "4000")
        values = page.tables["values"]["value"]
        self.assertLessEqual(len(values), 4000)
        self.assertEqual([v for v in values if v >= 1e6], [1e6 + i for i in range(3500, events, 7000)])

    def test_shares(self):
        """A track with few slices stays whole beside one with many."""
        recording = self.make("requests", 20000)
        page = self.page(recording, "--limit", "4000")
        totals = page.header["totals"]
        self.assertLessEqual(totals["shown_slices"] + totals["shown_instants"] + totals["shown_values"], 4000)
        for i, track in enumerate(page.header["tracks"]):
            rows = [t for table in ("slices", "instants", "values") for t in page.rows(table) if t["track"] == i]
            self.assertGreater(len(rows), 100, track)

    def test_where_something_is_left_out(self):
        """For each stretch of a track, the page says how many more a page with all of them has there."""
        recordings = [self.make(what, 40000) for what in ("requests", "sizes", "points")]
        for recording in recordings:
            whole = self.page(recording)
            page = self.page(recording, "--limit", "3000")
            count = 0
            for i in range(len(page.header["tracks"])):
                times, stay = ([t.get("begin", t.get("time")) for table in ("slices", "instants", "values")
                                for t in p.rows(table) if t["track"] == i] for p in (whole, page))
                stretches = [o for o in page.rows("omitted") if o["track"] == i]
                self.assertLessEqual(len(stretches), 512)
                for o in stretches:
                    last = o["end"] == whole.header["duration_ns"]
                    there = [sum(o["begin"] <= t < o["end"] or (last and t == o["end"]) for t in of)
                             for of in (times, stay)]
                    self.assertEqual(there[0] - there[1], o["count"], (recording.name, o))
                    count += o["count"]
                self.assertTrue(all(a["end"] <= b["begin"] for a, b in zip(stretches, stretches[1:])))
            self.assertEqual(count, sum(page.header["totals"][k] - page.header["totals"][f"shown_{k}"]
                                        for k in ("slices", "instants", "values")))
            self.assertGreater(count, 10000)

    def test_longest_waits_stay(self):
        recording = self.dir / self.generate("GEN_REPORT", "both", 4000, 7, name="both")
        whole = self.page(recording)
        page = self.page(recording, "--limit", "300")
        waits, left = ([(w["duration"], w["thread"], w["begin"]) for w in p.rows("waits")] for p in (whole, page))
        self.assertGreater(len(waits), 500)
        self.assertEqual(whole.header["totals"]["waits"], len(waits))
        totals = page.header["totals"]
        self.assertEqual((totals["waits"], totals["shown_waits"]), (len(waits), len(left)))
        self.assertLess(len(left), 300)
        self.assertLessEqual(set(left), set(waits))
        # The longest of each CPU: none that is left out is longer than all that stay.
        self.assertEqual(max(waits)[0], max(left)[0])
        self.assertGreater(min(left)[0], sorted(waits)[len(waits) // 2][0])

    def test_limit_of_one(self):
        page = self.page(self.make("requests", 1000), "--limit", "1")
        self.assertEqual(page.header["totals"]["events"], 1000)

    def test_memory(self):
        """The memory depends on the limit, not on the recording."""
        peaks = []
        for events in (200000, 800000):
            recording = self.make("sizes", events)
            # With a sanitizer, freed memory must be used again.
            env = {**self.env, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0"}
            _, peak_kib = measured(HODO, "view", "-q", "-f", "-o", self.dir / "x.html", "--limit", 20000, recording,
                                   status=0, env=env)
            peaks.append(peak_kib)
        self.assertLess(peaks[1], peaks[0] + 2048, peaks)


if __name__ == "__main__":
    if TEMPLATE.stat().st_size == 0:
        skip("hodo is built without its page")
    main()
