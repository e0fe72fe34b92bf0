#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_sqlite - usage: check_example_sqlite.py HODO PROGRAM COMPARE_BT2"""
import re

import recorded
from recorded import expect

THREADS = 3


def said(output):
    """What the program counted: {"threads": 4, "statements": …}."""
    line, = output.splitlines()
    expect("its verdict", line.startswith("sqlite-bank: ") and line.endswith(": verified"), True)
    return {what: int(number) for number, what in re.findall(r"(\d+) (\w+)", line)}


def check_counts(bank, counts):
    expect("statements", bank.counts["sqlite:statement"], counts["statements"])
    expect("rows", sum(e["fields"]["rows"] for e in bank.named("sqlite:statement")), counts["rows"])
    expect("reads", bank.counts["vfs:read"], counts["reads"])
    expect("writes", bank.counts["vfs:write"], counts["writes"])
    expect("syncs", (bank.counts["vfs:sync.begin"], bank.counts["vfs:sync.end"]), (counts["syncs"],) * 2)
    expect("transfers", (bank.counts["bank:transfer.begin"], bank.counts["bank:transfer.end"]),
           (counts["transfers"],) * 2)
    expect("checkpoints", bank.counts["bank:checkpoint"], counts["checkpoints"])
    expect("checkpoints seen", counts["checkpoints"] > 0, True)


def check_statements(bank):
    texts = {event["fields"]["sql"].split(None, 1)[0] for event in bank.named("sqlite:statement")}
    for verb in ("BEGIN", "COMMIT", "INSERT", "UPDATE", "SELECT", "DELETE", "CREATE", "PRAGMA"):
        expect(f"{verb} statements seen", verb in texts, True)
    commits = sum(e["fields"]["sql"] == "COMMIT" for e in bank.named("sqlite:statement"))
    # One statement for the creation, and one for each transfer.
    expect("commits", commits, bank.counts["bank:transfer.begin"] + 1)
    for event in bank.named("sqlite:statement"):
        expect("a duration", event["fields"]["duration_ns"] > 0, True)


def check_files(bank):
    names = {event["fields"]["file"] for event in bank.named("vfs:write")}
    expect("database and log written", {"bank.db", "bank.db-wal"} <= names, True)
    for event in bank.named("vfs:write"):
        fields = event["fields"]
        expect("a write", (fields["offset"] >= 0, fields["bytes"] > 0, fields["result"]), (True, True, 0))


def check_threads(bank):
    tids = {event["tid"] for event in bank.named("bank:transfer.begin")}
    expect("threads that transfer", len(tids), THREADS)
    expect("names of threads", {event["comm"] for event in bank.named("bank:transfer.begin")}, {"client"})
    # In each thread, spans of transfers are properly nested, each around its four statements.
    for tid in tids:
        inside = 0
        for event in (e for e in bank.events if e["tid"] == tid):
            inside += {"bank:transfer.begin": 1, "bank:transfer.end": -1}.get(event["name"], 0)
            expect("depth of transfers", inside in (0, 1), True)
            sql = event["fields"].get("sql", "")
            if sql.startswith(("UPDATE", "INSERT INTO entry")):
                expect("an update inside a transfer", inside, 1)


def main():
    bank = recorded.Recording("-t", THREADS, "-n", 3000, options=["-m", "16M"])
    recorded.expect_complete(bank)
    counts = said(bank.output)
    expect("threads and operations", (counts["threads"], counts["operations"]), (THREADS, 3000))
    check_counts(bank, counts)
    check_statements(bank)
    check_files(bank)
    check_threads(bank)
    for event in bank.named("bank:checkpoint"):
        fields = event["fields"]
        text = f"{fields['written_back']} of {fields['in_log']} pages written back"
        expect("text of a mark", event["text"], text)
    expect("files left behind", bank.left_behind, [])

    # Without hodo it runs the same.
    said(recorded.run(recorded.PROGRAM, "-t", 2, "-n", 200))


main()
