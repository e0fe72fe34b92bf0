#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_tutorial.py PREFIX SOURCE: the tutorial leads to its answer on a busy machine, too.

Its commands run on one CPU, which they share with busy loops: these make many requests and calls slow that have done
nothing. The output of each command must stay short, and show first the function and the requests that are to blame.
"""
import os
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))
import console  # noqa: E402 (after where it lies)
from load import busy  # noqa: E402

LOOPS = 3
LINES_MAX = 30
PREEMPTED_MIN = 10      # requests and waits that a loop made slow: with fewer, the run shows nothing
LEFT_OUT = ("hodo view", "hodo export")     # for other programs to read
UNITS_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
TIME = r"([\d.]+) ?(ns|us|ms|s)\b"


def ns(match):
    return float(match[1]) * UNITS_NS[match[2]]


def time_of(line, name):
    match = re.search(rf"\b{name}={TIME}", line)
    return ns(match) if match else 0


def check_slow_requests(lines):
    """Requests that worked for long come right after the table has grown, in the same thread; above all the last."""
    events = [(line.split()[2], line) for line in lines]        # with their threads
    grows = [i for i, (_, line) in enumerate(events) if " kv:grow " in line]
    guilty = [i + 1 for i in grows if i + 1 < len(events) and events[i + 1][0] == events[i][0]
              and " kv:request.end " in events[i + 1][1]]
    innocent = len(events) - len(grows) - len(guilty)
    assert len(grows) == 11, f"{len(grows)} kv:grow"
    assert grows[-1] + 1 in guilty, "no slow request after the last kv:grow"
    assert innocent < len(guilty), f"{innocent} requests that did nothing, {len(guilty)} that moved entries"
    worked = {i: time_of(events[i][1], "duration") - time_of(events[i][1], "off_cpu") for i in guilty}
    assert max(worked, key=worked.get) == guilty[-1], "another one than the last moved for longer"


def check_graph(lines):
    """The longest call in put is move."""
    calls = {match[3]: ns(match) for match in (re.match(rf" *{TIME} +\d+ kv +\|   (?:\}} /\* )?(\w+)", line)
                                               for line in lines) if match}
    assert calls and max(calls, key=calls.get) == "move", calls


def check_functions(lines):
    """move is first; then what it calls, as often as there are entries, and once more for the new one."""
    first, second = (line.split() for line in lines[1:3])
    assert first[-1] == "move", first
    assert (second[0], second[-1]) == ("131,073", "insert"), second


def check_repaired(lines):
    """With -i, (nearly) no request works for long; a hypervisor may still take the CPU away without a trace."""
    counts = re.findall(r"^ +(\d+) +(\d+) .*kv:request\.end$", "\n".join(lines), re.M)
    assert len(counts) == 1, "no row with the number of kv:request.end"
    before, after = map(int, counts[0])
    assert after < before, f"{before} before, {after} after"


CHECKS = {
    "hodo print --filter 'has(from)": check_slow_requests,
    "hodo graph ": check_graph,
    "hodo report -q calls.data": check_functions,
    "hodo report --filter": check_repaired,
}


def run(shell, command, checked):
    """Runs the command, and returns what is wrong with its output."""
    lines, status = shell.run(command)
    wrong = [f"exit status {status}"] if status else []
    if len(lines) > LINES_MAX:
        wrong.append(f"{len(lines)} lines")
    for begin, check in CHECKS.items():
        if command.startswith(begin):
            checked.append(begin)
            try:
                check(lines)
            except (AssertionError, ValueError) as e:
                wrong.append(f"{check.__name__}: {e}")
    return [f"{command}: {', '.join(wrong)}", *lines[:2 * LINES_MAX]] if wrong else []


def main():
    prefix, source = (os.path.abspath(arg) for arg in sys.argv[1:])
    blocks, _ = console.blocks_of(f"{source}/docs/tutorial.md")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    shell = console.Shell(console.environment_of(prefix, source))
    wrong, checked = [], []
    with busy(LOOPS, sessions=True):
        try:
            for block in blocks:
                if not block.commands[0].text().startswith(LEFT_OUT):
                    for command in block.commands:
                        wrong += run(shell, command.text(), checked)
            preempted, _ = shell.run("hodo print -q --filter '$off_cpu > 1ms' before.data")
        finally:
            shell.close()
    wrong += [f"the tutorial has not one command '{begin}…'" for begin in CHECKS if checked.count(begin) != 1]
    if len(preempted) < PREEMPTED_MIN:
        wrong.append(f"the loops did not disturb: {len(preempted)} slow ends")
    print("\n".join(wrong + [f"{len(preempted)} requests and waits were off the CPU for more than 1 ms"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
