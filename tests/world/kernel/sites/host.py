#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py DIR: the machine code of idle sites, and the guest's recordings: each event of sites_all with its
values, events of modules that share or refuse them; babeltrace2 reads the same."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

DIR = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(os.environ["ROOT"])
HODO = os.environ["HODO"]
NOPS = {"6690": 2, "0f1f440000": 5}
failures = 0


def say(good, name, why=""):
    global failures
    failures += not good
    print(f"ok {name}" if good else f"not ok {name} {why}")


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


# ------------------------------------------------------------------ machine code

def section_bytes(module, name):
    """The bytes of a section that holds code."""
    file = DIR / "section"
    subprocess.run(["objcopy", "-O", "binary", "--set-section-flags", f"{name}=alloc", "-j", name, module, file],
                   check=True)
    return file.read_bytes()


def sites(module):
    """(section, offset) of each place that a static key switches: the first word of each 16 bytes of __jump_table."""
    for line in output("objdump", "-r", "-j", "__jump_table", str(module)).splitlines():
        found = re.match(r"([0-9a-f]+) R_X86_64_PC32 +(\S+?)\+0x([0-9a-f]+)$", line)
        if found and int(found[1], 16) % 16 == 0:
            yield found[2], int(found[3], 16)


def machine_code():
    module = DIR / "sites_all.ko"
    texts = {}
    count = bad = 0
    for section, at in sites(module):
        if section not in texts:
            texts[section] = section_bytes(module, section)
        code = texts[section][at:at + 5].hex()
        count += 1
        bad += not any(code.startswith(nop) for nop in NOPS)
    say(count >= 25 and bad == 0, "idle_sites_are_nops", f"{bad} of {count} are not")

    body = re.search(r"<sites_idle>:\n(.*?)\n\n", output("objdump", "-d", str(module)) + "\n\n", re.S)
    found = re.findall(r"^ +[0-9a-f]+:\t(?:[0-9a-f]{2} )+\s*(\S+)", body[1] if body else "", re.M)
    # The call is ftrace's; there is an endbr64 where the kernel wants it; the return may be a jump to the kernel's own.
    rest = [word for word in found if word not in ("endbr64", "call", "mov", "ret", "int3")]
    while rest and rest[-1] in ("jmp", "nop"):
        rest.pop()
    say(rest in (["nopl"], ["xchg"]) and found.count("mov") == 1, "idle_path", f"the function is: {' '.join(found)}")

    symbols = output("nm", str(DIR / "sites_off.ko"))
    say("hodo_" not in symbols and "__tracepoints_ptrs" not in output("objdump", "-h", str(DIR / "sites_off.ko")),
        "disabled_leaves_nothing", symbols)


# ------------------------------------------------------------------------ values

EXPECTED = {
    "nothing": [{}],
    "ints": [{"i8": -8, "u8": 200, "i16": -300, "u16": 65000, "n": "N", "u32": 4000000000, "i64": -5000000000000,
              "u64": 18000000000000000000}],
    "longs": [{"l": -6000000000, "ul": 6000000000, "size": 24}],
    "others": [{"yes": True, "c": ord("x"), "state": 7, "flags": 5, "p": 0xffff888012345678}],
    "sixteen": [{"n": "N", **{f"n_{i}": "N" for i in range(2, 17)}}],
    "depth": [{"value": "N"}],
    "texts": [{"req_key": "key of it", "buf": "buffer", "lit": "literal", "null": None, "buf_5": "buf"}],
    "mixed": [{"n": "N", "buf": b"buff".hex(), "shorts": [1, -2, 3], "mid": "N+1", "quads": [1, 18446744073709551615],
               "bools": [True, False], "last": 9}],
    "bad": [{"user": "(efault)", "error": "(efault)", "low": "(efault)", "str": "(efa", "bytes": "", "n": "N"}],
    "empty": [{"text": "", "bytes": "", "array": []}],
    "comm": [{"comm": "sh", "pid": "PID"}],
    "mark": [{"req_key": "key of it", "req_shard": 3, "_12u": 12}],
    "request.begin": [{"id": "N", "req_key": "key of it"}],
    "request.end": [{"id": "N"}],
    "scope.begin": [{"n": "N"}],
    "inside": [{"n": "N"}],
    "scope.end": [{}],
    "evict": [{"key": "key of it", "age": "N"}],
    "tick": [{}],
    "inlined": [{"v": "N"}, {"v": "N+100"}],
    "once": [{"times": 1}],
    "evaluated": [{"evaluated": 1}],
}
MARKS = {"mark": "key key of it shard 3 of    12", "cut": "cut cut", "plain": "plain"}


def events(folder):
    done = subprocess.run([HODO, "print", "--json", str(DIR / folder)], stdout=subprocess.PIPE, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def same(value, wanted, n, event):
    if wanted == "PID":
        return value == event["tid"] == event["pid"] or value == event["tid"]
    if isinstance(wanted, str) and wanted.startswith("N"):
        return value == n + int(wanted[1:] or 0)
    if isinstance(wanted, dict):
        return len(value) == len(wanted) and list(value) == list(wanted) and all(
            same(value[key], wanted[key], n, event) for key in wanted)
    return value == wanted and type(value) is type(wanted)


def values():
    status, all_events = events("values")
    say(status == 0 and all_events, "print", f"status {status}")
    by_name = collections.defaultdict(list)
    for event in all_events:
        by_name[event["name"]].append(event)
    for name, wanted in EXPECTED.items():
        found = by_name[f"sall:{name}"]
        right = len(found) == 3 * len(wanted) and all(
            same(event["fields"], wanted[i % len(wanted)], i // len(wanted), event) for i, event in enumerate(found))
        say(right, f"values_{name}", json.dumps([event["fields"] for event in found]))
    for name, text in MARKS.items():
        found = [event.get("text") for event in by_name[f"sall:{name}"]]
        say(found == [text] * 3, f"text_{name}", str(found))
    say([event["fields"] for event in by_name["sall:init"]] == [{"when": 1}], "init", str(by_name["sall:init"]))
    say([event["fields"] for event in by_name["sall:exit"]] == [{"when": 2}], "exit", str(by_name["sall:exit"]))
    say(len(by_name["sall:idle"]) == 1, "nested_in_values", str(by_name["sall:idle"]))

    say({event["fields"]["n"] for event in by_name["sbroken:fine"]} == {1}, "init_that_fails",
        str(by_name["sbroken:fine"]))
    text = output(HODO, "print", str(DIR / "values"))
    say(text.count("state=SALL_BUSY") == 3, "labels", text)

    # A text over its limit, and bytes for which no packet has room: both are lost and counted, and nothing else is.
    counts = [len(by_name[f"sall:{name}"]) for name in ("too_large", "too_long", "behind")]
    say(counts == [0, 0, 1], "too_long", str(counts))
    stat = json.loads(subprocess.run([HODO, "stat", "--json", DIR / "values"], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, check=False).stdout)
    say(stat["discarded"] == 2 and stat["overwritten"] == 0, "too_long_counted", str(stat["discarded"]))

    who = [(event["name"], event["fields"].get("who")) for event in all_events if event["name"] == "sshared:put"]
    say(who == [("sshared:put", "sites_one")] * 2 + [("sshared:put", "sites_two")] * 3, "shared", str(who))
    steps = [event["fields"] for event in all_events if event["name"] == "sshared:step"]
    say(len(steps) == 5 and all(isinstance(fields["who"], str) for fields in steps), "shared_tracepoint", str(steps))
    said = [event.get("text") for event in all_events if event["name"] == "sshared:said"]
    say(said == [f"sites_{m} says {n}" for m, n in (("one", 0), ("one", 1), ("two", 0), ("two", 1), ("two", 0))],
        "shared_mark", str(said))
    say(len(by_name["sother:fine"]) == 2, "others_own", str(len(by_name["sother:fine"])))


def busy():
    status, all_events = events("busy")
    by_name = collections.Counter(event["name"] for event in all_events)
    say(status == 0 and all(by_name[f"sbusy:{name}"] for name in
                            ("fixed", "text", "point", "hard", "soft", "turn.begin", "turn.end")), "busy", str(by_name))
    wrong = [event for event in all_events
             if event["name"] == "sbusy:fixed" and event["fields"]["twice"] != 2 * event["fields"]["n"]
             or event["name"] == "sbusy:text" and
             event["fields"]["more"] != event["fields"]["n"].to_bytes(8, "little").hex()]
    say(not wrong, "busy_values", str(wrong[:3]))


def cycles():
    status, all_events = events("cycles")
    found = collections.Counter((event["name"], event["fields"].get("who")) for event in all_events
                                if event["name"] in ("sshared:put", "sshared:step"))
    wanted = {(f"sshared:{name}", f"sites_{module}"): 25 * n
              for name in ("put", "step") for module, n in (("one", 5), ("two", 10))}
    say(status == 0 and found == wanted, "cycles", str(found))
    said = sum(event["name"] == "sshared:said" for event in all_events)
    say(said == 25 * 15, "cycles_mark", str(said))
    for name in ("init", "exit", "ints", "mixed"):
        count = sum(event["name"] == f"sall:{name}" for event in all_events)
        say(count == 25, f"cycles_{name}", str(count))
    labelled = output(HODO, "print", str(DIR / "cycles")).count("state=SALL_BUSY")
    say(labelled == 25, "cycles_labels", str(labelled))
    declared = (DIR / "cycles" / "kernel" / "metadata").read_text().count('name = "sshared:put"')
    say(declared == 1, "cycles_one_id", str(declared))


def example():
    status, all_events = events("jobs")
    by_name = collections.defaultdict(list)
    for event in all_events:
        by_name[event["name"]].append(event)
    counts = {name: len(found) for name, found in by_name.items()}
    say(status == 0 and counts == {"jobs:life.begin": 5, "jobs:added": 5, "jobs:queue": 10, "jobs:run.begin": 5,
                                   "jobs:state": 10, "jobs:finished": 5, "jobs:run.end": 5, "jobs:life.end": 5},
        "example", str(counts))
    states = [(event["fields"]["id"], event["fields"]["state"]) for event in by_name["jobs:state"]]
    say(states == [(job, state) for job in range(1, 6) for state in (1, 2)], "example_states",
        str(states))


def babeltrace2(folder):
    done = subprocess.run([sys.executable, ROOT / "tests/lib/compare_bt2.py", HODO, DIR / folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    say(done.returncode == 0, f"babeltrace2_{folder}", done.stdout[-2000:])


machine_code()
if (DIR / "values").exists():
    values()
    busy()
    cycles()
    example()
    for recording in ("values", "busy", "cycles", "jobs"):
        babeltrace2(recording)
sys.exit(failures != 0)
