#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rules.py [TEST] - filters, triggers and rates of real recordings (rules.c), counted exactly.

HODO, RULES (the program), PLUGIN and COMPARE (tests/lib/compare_bt2.py) are in the environment."""
import os
import random
import re
import shutil
import tempfile
import unittest

from hodo_test import LIMIT_S, compare, events, hodo, main, program

RULES, PLUGIN = program("RULES"), program("PLUGIN")


class Recording:
    """The result of one recording."""

    def __init__(self, directory, options, program):
        self.data = os.path.join(directory, "trace")
        self.done = hodo("record", "-o", self.data, *options, "--", RULES, *program, timeout=3 * LIMIT_S)
        self.err, self.out = self.done.stderr, self.done.stdout

    def events(self, name=None, *options):
        return [event for event in events(self.data, *options) if name in (None, event["name"])]

    def ns(self, name="g:tick"):
        return [event["fields"]["n"] for event in self.events(name)]

    def limited(self):
        return self.done.number(r"(\d+) events? not recorded: over the rate")

    def lost(self):
        return self.done.lost()

    def met(self):
        return [int(n) for n in re.findall(r"' was met (\d+) time", self.err)]


class Case(unittest.TestCase):
    def record(self, options, program, check=True, status=0):
        directory = tempfile.mkdtemp(prefix="hodo-rules-")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        result = Recording(directory, options, program)
        self.assertEqual(result.done.returncode, status, result.err)
        if check:
            compare(result.data)
        return result


class Triggers(Case):
    def test_start(self):
        r = self.record(["--trigger", "g:tick if n == 500 -> start"], ["sequence", 1000])
        self.assertEqual(r.ns(), list(range(500, 1000)))
        self.assertEqual(r.ns("g:other"), list(range(500, 1000)))
        self.assertEqual(r.met(), [1])

    def test_start_of_another(self):
        r = self.record(["-e", "g:tick", "--trigger", "g:other if n == 500 -> start"], ["sequence", 1000])
        self.assertEqual(r.ns(), list(range(501, 1000)))
        self.assertEqual(r.ns("g:other"), [])

    def test_stop(self):
        r = self.record(["--trigger", "g:tick if n == 500 -> stop"], ["sequence", 1000])
        self.assertEqual(r.ns(), list(range(501)))
        self.assertEqual(r.ns("g:other"), list(range(500)))
        self.assertEqual(r.met(), [1])

    def test_exit(self):
        r = self.record(["--trigger", "g:other if n == 500 -> exit"], ["sequence", 1000])
        self.assertEqual(r.ns(), list(range(501)))
        self.assertEqual(r.ns("g:other"), list(range(501)))

    def test_start_stop_after(self):
        r = self.record(["--trigger", "g:tick if n % 100 == 0 -> start after 3",
                         "--trigger", 'g:tick if key =~ "user*" -> stop after 100'], ["sequence", 1000])
        # The third is 200; before it, only the start is checked. The hundredth odd number from there is 399.
        self.assertEqual(r.ns(), list(range(200, 400)))
        self.assertEqual(r.met(), [4, 100])

    def test_never(self):
        r = self.record(["--trigger", "g:tick if n > 5000 -> start"], ["sequence", 1000], check=False)
        self.assertEqual(r.events(), [])
        self.assertIn("was never met", r.err)

    def test_with_filter(self):
        r = self.record(["--filter", "n % 2 == 1", "--trigger", "g:tick if n == 500 -> start",
                         "--trigger", "g:tick if n == 700 -> stop"], ["sequence", 1000])
        self.assertEqual(r.ns(), list(range(501, 700, 2)))

    def test_threads(self):
        """Counted over all threads, exactly, whatever signal handlers trace in the meantime."""
        r = self.record(["-e", "g:tick", "--trigger", "g:tick if n % 100 == 0 -> start after 1000000",
                         "--trigger", "g:signal -> start after 1000000",
                         "--trigger", 'g:tick if key == "admin" && thread == 3 -> start after 1000000'],
                        ["threads", 8, 20000], check=False)
        self.assertEqual(r.events(), [])
        signals = int(re.search(r"signals (\d+)", r.out)[1])
        self.assertEqual(r.met(), [8 * 200] + ([signals] if signals else []) + [10000])

    def test_threads_stop(self):
        """Many threads, and handlers, fire start and stop at once: no event before start, few after stop."""
        for i in range(5):
            r = self.record(["-m", "32M", "--trigger", "g:tick if n == 2000 -> start",
                             "--trigger", "g:signal if n % 3 == 0 -> start after 2",
                             "--trigger", "g:tick if n == 15000 -> stop after 2"], ["threads", 8, 20000], check=i == 0)
            ticks = r.events("g:tick")
            for thread in range(8):
                mine = [e["fields"]["n"] for e in ticks if e["fields"]["thread"] == thread]
                # From start to stop, no event of a thread is missing.
                self.assertEqual(mine, list(range(mine[0], mine[0] + len(mine))) if mine else [])
                self.assertTrue(not mine or mine[0] <= 2000)
            self.assertGreaterEqual(sum(e["fields"]["n"] == 15000 for e in ticks), 2)

    def test_snapshots(self):
        r = self.record(["--overwrite", "-m", "1M", "--trigger", "g:tick if n % 400 == 399"], ["sequence", 1000],
                        check=False)
        self.assertEqual(r.met(), [2])

    def test_fork(self):
        """Each process has its own rules."""
        r = self.record(["-m", "1M", "--trigger", "g:tick if n == 50 -> start"], ["fork", 100])
        self.assertEqual(sorted(r.ns()), sorted(3 * list(range(50, 100))))
        self.assertEqual(r.met(), [3])


class Rates(Case):
    def check(self, rate, burst, options, program, sent):
        r = self.record(["-m", "32M", "-e", "g:tick", "--rate", f"g:tick={rate}/s", *options], program)
        events = r.events("g:tick")
        self.assertEqual(len(events) + r.limited() + r.lost(), sent, r.err)
        self.assertGreater(len(events), 0)
        by_time = (events[-1]["ts"] - events[0]["ts"]) / 1e9 * rate
        # The recorder knows the clock's frequency to within some per cent.
        self.assertLessEqual(len(events), 1.1 * by_time + burst + 1)

    def test_one(self):
        self.check(1000, 100, [], ["sequence", 200000], 200000)

    def test_low(self):
        self.check(5, 1, [], ["sequence", 50000], 50000)

    def test_threads(self):
        self.check(10000, 1000, [], ["threads", 8, 50000], 400000)

    def test_no_rseq(self):
        os.environ["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
        try:
            self.check(1000, 100, [], ["sequence", 50000], 50000)
        finally:
            del os.environ["GLIBC_TUNABLES"]

    def test_burst(self):
        r = self.record(["--rate", "g:tick=1/h:7", "--rate", "g:other=1/h"], ["sequence", 1000])
        self.assertEqual(r.ns(), list(range(7)))
        self.assertEqual(r.ns("g:other"), [0])
        self.assertEqual(r.limited(), 1992)

    def test_spans(self):
        """The end of a span is recorded if its begin is: it is the end of no other."""
        for rates, more in ((["rated:scope=1/h:5", "rated:number=1/h:3", "rated:request=1/h:4"], []),
                            (["rated:scope.begin=1/h:5", "rated:number.begin=1/h:3", "rated:request.begin=1/h:4"],
                             ["--trigger", "rated:* if $duration > 1h -> stop"])):
            options = [word for rate in rates for word in ("--rate", rate)]
            r = self.record([*options, *more], ["limited", 1000])
            found = {}
            for event in r.events():
                found.setdefault(event["name"], []).append(event)
            ids = {name: [e["fields"].get("id", e["fields"].get("n")) for e in found[name]] for name in found}
            self.assertEqual({name: len(values) for name, values in found.items()}, {
                "g:outer.begin": 1000, "g:outer.end": 1000, "rated:scope.begin": 5, "rated:scope.end": 5,
                # Ids that vary in length are not looked up: each end is recorded.
                "rated:number.begin": 3, "rated:number.end": 3, "rated:request.begin": 4, "rated:request.end": 1000})
            self.assertEqual((ids["rated:scope.begin"], ids["rated:number.begin"], ids["rated:number.end"]),
                             ([0, 1, 2, 3, 4], [0, 1, 2], [0, 1, 2]))
            times = sorted(found["rated:scope.begin"] + found["rated:scope.end"], key=lambda e: e["ts"])
            self.assertEqual([e["name"] for e in times], 5 * ["rated:scope.begin", "rated:scope.end"])
            self.assertEqual(r.limited(), 995 + 997 + 996)

    def test_behind_filter(self):
        """Events that the filter refuses do not count."""
        r = self.record(["--filter", "n >= 900", "--rate", "g:*=1/h:3"], ["sequence", 1000])
        self.assertEqual(r.ns(), [900, 901, 902])
        self.assertEqual(r.limited(), 2 * 97)


class Filters(Case):
    def names(self, expr, program, name, field):
        r = self.record(["--filter", expr], program, check=False)
        return [e["fields"][field] for e in r.events(name)]

    def test_labels(self):
        for expr, expected in [("state == RUNNING", [1]), ('state == "RUNNING"', [1]), ("DONE == state", [2]),
                               ("state != RUNNING", [0, 2, 3]), ('"IDLE" < state', [1, 2, 3]),
                               ("state == NOWHERE", []), ('name == "RUNNING"', [1]), ("state == state", [0, 1, 2, 3]),
                               ("state == DONE || state == i", [0, 1, 2, 3]),
                               ("state < DONE && !(state == IDLE)", [1, 3])]:
            with self.subTest(expr):
                self.assertEqual(self.names(expr, ["labels"], "g:state", "i"), expected)

    def test_elements(self):
        for expr, expected in [("data[2] == 200", [2, 3]), ("len(data) == 2", [1]), ("len(list) > 1", [2, 3]),
                               ("list[0] == -1", [1, 2, 3]), ("list[i - 1] == 300", [3]), ("data[-1] == 0", []),
                               ("has(list) && !(len(list) > 0)", [0])]:
            with self.subTest(expr):
                self.assertEqual(self.names(expr, ["labels"], "g:blob", "i"), expected)
        self.assertEqual(self.names("name[0] == 'R' && len(name) == 7", ["labels"], "g:state", "i"), [1])

    def test_variables(self):
        r = self.record([], ["named"])
        self.assertEqual(len(r.events()), 3)
        r = self.record(["--filter", '$comm == "writer" && $pid != $tid && $cpu >= 0'], ["named"])
        self.assertEqual([e["comm"] for e in r.events()], ["writer"])
        r = self.record(["--filter", '$comm =~ "re*er" && !has($duration)'], ["named"])
        self.assertEqual([e["comm"] for e in r.events()], ["reader", "reaper"])
        r = self.record(["--filter", "$tid == $pid"], ["sequence", 10])
        self.assertEqual(r.ns(), list(range(10)))

    def test_durations(self):
        """Ends of spans that surely took longer are recorded, and ends of those that surely took less are not."""
        limit = 30_000_000
        r = self.record(["--filter", "$duration >= 30ms"], ["spans", 0, 60, 0, 60, 80, 0])
        seen = {(e["name"], e["fields"].get("n")) for e in r.events()}
        took = [(kind, int(n), int(inside), int(outside))
                for kind, n, inside, outside in re.findall(r"(\w+) (\d+) (\d+) (\d+)", r.out)]
        self.assertEqual(len(took), 15)
        for n, inside, outside in [(n, i, o) for kind, n, i, o in took if kind == "pair"]:
            for name in ("g:request.end", "g:number.end"):
                if inside >= limit:
                    self.assertIn((name, n), seen)
                elif outside < limit:
                    self.assertNotIn((name, n), seen)
        scopes = [(i, o) for kind, _, i, o in took if kind == "scope"]
        count = sum(name == "g:scope.end" for name in [e["name"] for e in r.events()])
        self.assertGreaterEqual(count, sum(i >= limit for i, _ in scopes))
        self.assertLessEqual(count, sum(o >= limit for _, o in scopes))
        self.assertFalse([name for name, _ in seen if name.endswith(".begin")])

    def test_duration_ids(self):
        """Recorder and readers distinguish spans by the whole id; the recorder has none with ids over 64 bytes."""
        whole = self.record([], ["ids", 40])
        recorded = self.record(["--filter", "$duration > 0"], ["ids", 40])
        long_ones = self.record(["--filter", "$duration >= 80ms"], ["ids", 40])
        read = whole.events(None, "--filter", "$duration > 0")
        self.assertEqual([(e["name"], e["fields"]["n"]) for e in read],
                         [(f"near:{name}.end", n) for n in range(2) for name in
                          ("text", "bytes", "width", "longest", "longer")])
        self.assertEqual([(e["name"], e["fields"]["n"]) for e in recorded.events()],
                         [(e["name"], e["fields"]["n"]) for e in read if e["name"] != "near:longer.end"])
        first = [(f"near:{name}.end", 0) for name in ("text", "bytes", "width", "longest")]
        self.assertEqual([(e["name"], e["fields"]["n"]) for e in long_ones.events()][:4], first)

    def test_duration_trigger(self):
        r = self.record(["--trigger", "g:request if $duration > 50ms -> stop"], ["spans", 0, 0, 100, 0])
        slow = [int(n) for n, inside in re.findall(r"pair (\d+) (\d+)", r.out) if int(inside) > 50_000_000]
        ends = [e["fields"]["n"] for e in r.events("g:request.end")]
        self.assertLessEqual(ends[-1], slow[0])
        self.assertEqual(r.events()[-1]["name"], "g:request.end")

    def test_fork(self):
        r = self.record(["--filter", "n >= 90 && thread < 2"], ["fork", 100])
        self.assertEqual(sorted(r.ns()), sorted(3 * list(range(90, 100))))

    def test_plugin(self):
        r = self.record(["--filter", "n > half + 47"], ["plugin", PLUGIN, 100])
        self.assertEqual(r.ns("plugin:event"), 3 * [n for n in range(100) if n > n // 2 + 47])
        r = self.record(["--rate", "plugin:*=1/h:5", "--trigger", "plugin:event if n == 50 -> start"],
                        ["plugin", PLUGIN, 100])
        self.assertEqual(r.ns("plugin:event"), list(range(50, 55)))
        self.assertEqual(r.limited() + 5 + 50, 300)

    def test_threads(self):
        """The same decision in all threads and handlers, by sequences as well as by the machine."""
        for expr, condition in [("n % 1000 == 7", lambda n: n % 1000 == 7),
                                ("n >= 500 && n < 600", lambda n: 500 <= n < 600),
                                ('key == "admin" && n < 30', lambda n: n % 2 == 0 and n < 30)]:
            r = self.record(["-m", "32M", "-e", "g:tick", "--filter", expr], ["threads", 8, 20000])
            self.assertEqual(sorted(r.ns()), sorted(8 * [n for n in range(20000) if condition(n)]), expr)


class Printed(Case):
    """print --filter: the same language, applied to recordings."""

    def check(self, program, expressions, name=None, **rest):
        whole = self.record(["-m", "32M"], program, check=False)
        for expr, condition in expressions:
            with self.subTest(expr):
                self.assertEqual(whole.events(name, "--filter", expr),
                                 [e for e in whole.events(name) if condition(e)])

    def test_fields(self):
        self.check(["sequence", 1000], [
            ("n % 10 == 3", lambda e: e["fields"]["n"] % 10 == 3),
            ('key =~ "user*" && n < 50', lambda e: e["fields"].get("key") == "user:1" and e["fields"]["n"] < 50),
            ("has(key) ? n == 4 : n == 5", lambda e: e["fields"]["n"] == (4 if "key" in e["fields"] else 5)),
            ("nobody == 3", lambda e: False), ("1", lambda e: True)])

    def test_variables(self):
        self.check(["named"], [
            ('$comm =~ "re*er"', lambda e: e["comm"].startswith("re")), ("$cpu >= 0", lambda e: e["cpu"] >= 0),
            ("$pid < $tid", lambda e: True), ("has($duration)", lambda e: False)])

    def test_labels(self):
        state = {"IDLE": 0, "RUNNING": 1, "DONE": 7}
        self.check(["labels"], [
            ("state == RUNNING", lambda e: e["fields"].get("state") == state["RUNNING"]),
            ('state != "IDLE" && state < DONE', lambda e: e["fields"].get("state") in (1, 3)),
            ("len(list) == 2 && list[1] == 5 && data[2] == 200", lambda e: len(e["fields"].get("list", "")) == 2),
            ("name == 'x' || len(name) == 5", lambda e: e["fields"].get("name") == "other")])

    def test_durations(self):
        begins, took = {}, {}
        whole = self.record([], ["spans", 0, 20, 5, 40, 1])
        for i, e in enumerate(whole.events()):
            name, key = e["name"].rsplit(".", 1)[0], e["fields"].get("id")
            if e["name"].endswith(".begin"):
                begins.setdefault((name, key), []).append(e["ts"])
            else:
                took[i] = e["ts"] - begins[name, key].pop()
        self.assertEqual(len(took), 5 * 3 + 2)
        for limit in (0, 1_000_000, 10_000_000, 30_000_000):
            self.assertEqual(whole.events(None, "--filter", f"$duration >= {limit}"),
                             [e for i, e in enumerate(whole.events()) if took.get(i, -1) >= limit])
        self.assertEqual(whole.events(None, "--filter", "!has($duration)"),
                         [e for i, e in enumerate(whole.events()) if i not in took])

    def test_limit(self):
        whole = self.record([], ["sequence", 1000])
        self.assertEqual([e["fields"]["n"] for e in whole.events(None, "--filter", "n >= 40 && has(key)", "-n", "3")],
                         [40, 41, 42])

    def test_mistakes(self):
        for args, message in [(["--filter", "n =="], "expected a value at column 5"),
                              (["--filter", "1", "--filter", "2"], "only one --filter"),
                              (["--filter", "$x == 1"], "there is no '$x'")]:
            done = hodo("print", *args)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


class Both(Case):
    """The same decision in the process, by sequences or by the machine, and when the recording is read."""

    NUMBERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "yes", "real"]
    CONSTANTS = ["0", "1", "-1", "3", "127", "-128", "255", "32767", "65535", "2147483647", "-2147483648", "4294967295",
                 "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615", "0.25",
                 "-1.5", "1e300"]
    TEXTS = ['"user:1"', '"use"', '""', '"(null)"', '"zz"']
    GLOBS = ['"user*"', '"*:1"', '"*"', '"u*1"', '"use"', '"?"', '"(*"', '"*)"', '"*ser*"']

    def leaf(self, pick):
        kind = pick.randrange(10)
        number = pick.choice(self.NUMBERS)
        if kind < 5:
            return f"{number} {pick.choice(['==', '!=', '<', '<=', '>', '>='])} {pick.choice(self.CONSTANTS)}"
        if kind == 5:
            return f"{pick.choice(self.CONSTANTS)} {pick.choice(['==', '<', '>='])} {number}"
        if kind == 6:
            bits = pick.choice([n for n in self.NUMBERS if n != "real"])
            return f"({bits} & {pick.choice(['1', '0x80', '-2', '0xffffffff'])}) {pick.choice(['== 0', '!= 0', '> 3'])}"
        if kind == 7:
            return f"{pick.choice(['key', 'again'])} {pick.choice(['=~', '!~'])} {pick.choice(self.GLOBS)}"
        if kind == 8:
            return f"{pick.choice(['key', 'again'])} {pick.choice(['==', '!=', '<'])} {pick.choice(self.TEXTS)}"
        return pick.choice([number, "has(key)", "key", "i16 % 3 == 1", "u8 > i8", "len(key) > 3", "nobody"])

    def tree(self, pick, height):
        if height == 0 or pick.randrange(4) == 0:
            return self.leaf(pick)
        if pick.randrange(4) == 0:
            return f"!({self.tree(pick, height - 1)})"
        return f"({self.tree(pick, height - 1)}) {pick.choice(['&&', '||'])} ({self.tree(pick, height - 1)})"

    def check(self, rounds, options=(), environment=()):
        seed = int(os.environ.get("HODO_TEST_SEED", "20091"))
        pick = random.Random(seed)
        os.environ.update(environment)
        whole = self.record([*options], ["types", 500])
        self.assertEqual(len(whole.events()), 1000)
        some = 0
        for _ in range(rounds):
            expr = self.tree(pick, pick.randrange(4))
            one = self.record(["--filter", expr, *options], ["types", 500], check=False)
            printed = [(e["name"], e["fields"]) for e in whole.events(None, "--filter", expr)]
            self.assertEqual([(e["name"], e["fields"]) for e in one.events()], printed, expr)
            some += 0 < len(printed) < 1000
        self.assertGreater(some, rounds / 4)

    def test_random(self):
        self.check(60)

    def test_no_rseq(self):
        try:
            self.check(6, environment={"GLIBC_TUNABLES": "glibc.pthread.rseq=0"})
        finally:
            del os.environ["GLIBC_TUNABLES"]

    def test_context(self):
        self.check(6, options=["--context", "pid"])


class Usage(Case):
    def test_mistakes(self):
        for options, message in [
                (["--trigger", "g:tick -> snapshot"], "--overwrite"),
                (["--trigger", "g:tick"], "--overwrite"),
                (["--trigger", "g:tick if n == -> stop"], "expected a value at column 16"),
                (["--trigger", "g:tick when n == 3 -> stop"], "expected 'if EXPR', '-> ACTION' or 'after N' at column 8"),
                (["--trigger", "g:tick -> halt"], "expected snapshot, start, stop or exit at column 11"),
                (["--trigger", "g:tick -> stop after 0"], "expected a number from 1 on at column 22"),
                (["--trigger", "g:tick if n == 3 after x -> stop"], "expected an operator before 'after' at column 18"),
                (["--trigger", "g:a,g:b -> stop"], "give one event, or one pattern at column 1"),
                (["--trigger", "func:main -> stop"], "functions take no conditions"),
                (["--trigger", ""], "expected an event"),
                (["--rate", "g:tick"], "expected EVENT=N/s"),
                (["--rate", "g:tick=/s"], "expected a number of events from 1 to 1000000000 at column 8"),
                (["--rate", "g:tick=0/s"], "expected a number of events"),
                (["--rate", "g:tick=5/y"], "expected ns, us, ms, s, m, h or d at column 10"),
                (["--rate", "g:tick=5"], "expected '/s' (or /ms, /m, /h) at column 9"),
                (["--rate", "g:tick=5/s:0"], "expected how many events may come at once at column 12"),
                (["--rate", "=5/s"], "expected an event at column 1"),
                (["--rate", "g:scope.end=5/s"], "the end of a span follows its begin: give the span's name at column 8"),
                (65 * ["--rate", "g:tick=5/s"], "more than 64 triggers and rates")]:
            r = self.record(options, ["sequence", 1], check=False, status=2)
            self.assertIn(message, r.err)
            self.assertEqual(r.err.count("\n"), 1, r.err)

    def test_unknown(self):
        r = self.record(["--trigger", "g:tock if x == 3 -> stop"], ["sequence", 10])
        self.assertIn("no event matches 'g:tock' (near: g:tick", r.err)
        self.assertIn("--trigger: no event has a field or label 'x'", r.err)

    def test_unknown_label(self):
        """A name that is like a label is not called a field, neither when recording nor when reading."""
        r = self.record(["--filter", "state == RUNNIGN"], ["labels"], check=False)
        said = "--filter: no event has a field or label 'RUNNIGN' (near: RUNNING)"
        self.assertIn(said, r.err)
        whole = self.record([], ["labels"], check=False)
        self.assertIn(said, hodo("print", "--filter", "state == RUNNIGN", whole.data).stderr)

    def test_quoted(self):
        r = self.record(["--trigger", 'g:tick if key == "-> stop after 3" || n == 4 -> stop'], ["sequence", 10])
        self.assertEqual(r.ns(), list(range(5)))
        r = self.record(["--trigger", "g:tick if n >= 2 after 3", "--overwrite"], ["sequence", 10], check=False)
        self.assertEqual(r.met(), [8])


main()
