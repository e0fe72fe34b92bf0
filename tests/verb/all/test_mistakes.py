#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mistakes that people type: each gets one line, which says what is wrong and what to do."""
import os
import re
import shutil

from habits import APP, Case
from hodo_test import main, run

NOBODY = "2147483647"  # no process has that number: PID_MAX_LIMIT is 4194304

# What is typed after hodo; the exit status; what the one line says, as a regular expression.
WORDS = (
    ("", 2, r"no verb and no program given: 'hodo --help' lists the verbs"),
    ("recrod ./app", 2, r"no verb 'recrod': did you mean 'hodo record'\?"),
    ("reprot", 2, r"no verb 'reprot': did you mean 'hodo report'\?"),
    ("nothing-like-it", 2, r"no verb 'nothing-like-it', and no program in PATH: 'hodo --help' lists the verbs"),
    ("app", 2, r"no verb 'app', and no program in PATH: 'hodo \./app' records the one that is here"),
    ("help reprot", 2, r"no verb 'reprot': did you mean 'hodo report'\?"),
    ("-x", 2, r"unknown option '-x': options come after the verb"),
    ("print --colour", 2, r"unknown option '--colour': did you mean --color\?"),
    ("print --limt=5", 2, r"unknown option '--limt=5': did you mean --limit\?"),
    ("record --mode ring ./app", 2, r"unknown option '--mode'"),
    ("print --limit", 2, r"option '--limit' needs a value"),
    ("print --json=yes", 2, r"option '--json=yes' takes no value"),
    ("print a b", 2, r"one recording at a time \('hodo merge' makes one of several, 'hodo query' reads them all\), not 'b' too"),
)
RECORDINGS = (
    ("print nothing-here", 1, r"nothing-here: no such recording: make one with 'hodo record', or name its directory"),
    ("print notes.txt", 1, r"notes\.txt: not a directory: give the recording's directory"),
    ("report empty", 1, r"empty: no recording in this directory: give one that 'hodo record' wrote"),
    ("report --diff nothing-here real", 1, r"nothing-here: no such recording"),
    ("unpack notes.txt", 1, r"notes\.txt: .*give a file that 'hodo pack' made"),
    ("pack -o - real", 2, r"-o must be a file, not standard output"),
    ("recover notes.txt", 1, r"notes\.txt: too short to be a flight recorder's file: give one that HODO_FLIGHT made"),
    ("recover nothing-here", 1, r"nothing-here: No such file or directory: check the path"),
    ("export real", 2, r"--to FORMAT is missing"),
    ("export --to jsom real", 2, r"no format 'jsom': the formats are callgrind, chrome, .*speedscope"),
    ("export --to chrome -o missing/x real", 1, r"missing/x: cannot be written: No such file or directory: name another"),
    ("view -o missing/x real", 1, r"missing/x: cannot be written: No such file or directory: name another file with -o"),
)
SELECTIONS = (
    ("print -n x real", 2, r"-n is a number of events, not 'x'"),
    ("print --since yesterday real", 2, r"--since is a time such as 10, 0\.5, 100ms or 2m \(.*\), not 'yesterday'"),
    ("print --since 5x real", 2, r"--since is a time .* not '5x'"),
    ("print --around 99 real", 0, r"warning: real: there are no events at that time: 'hodo info real' says when the recording was made"),
    ("print --around 1 --since 1 real", 2, r"--around replaces --since and --until"),
    ("print --color=sometimes real", 2, r"--color is auto, always or never, not 'sometimes'"),
    ("print --filter n> real", 2, r"--filter: expected a value at column 3"),
    ("print --filter i=3 real", 2, r"--filter: '=' \(write '==' for equal\) at column 2"),
    ("print --filter nothing==1 real", 0, r"warning: --filter: no event has a field or label 'nothing'"),
    ("print --filter duration>5 real", 0, r"warning: --filter: no event has a field or label 'duration' \(near: \$duration\)"),
    ("print -e app:tik real", 0, r"warning: no event matches 'app:tik' \(near: app:tick\)"),
    ("print -e tick real", 0, r"warning: no event matches 'tick:\*'"),
    ("print -e app:tick,, real", 2, r"an event pattern is empty"),
    ("print --thread nobody real", 0, r"warning: real: no event matches the options: 'hodo stat real' lists"),
    ("print --thread main nothing", 0, r"warning: nothing: the recording has no events"),
    ("stat --columns colour real", 2, r"there is no column 'colour': --columns=help lists them"),
    ("report --sort latency real", 2, r"--sort is the name of a column, not 'latency': --columns=help lists them"),
    ("report --fail-if p99>+10% real", 2, r"--fail-if compares two recordings: give the other with --diff"),
    ("report --diff real --fail-if p98 real", 2, r"--fail-if is a column and how much it may change, such as"),
    ("report --diff real --fail-if name>+1% real", 2, r"--fail-if: 'name' is not a figure that --diff compares"),
    ("report -q --diff real --fail-if self>+1% real", 1, r"--fail-if 'self>\+1%' compared nothing: neither recording has"),
    ("graph --limit x real", 2, r"-n is a number of lines, not 'x'"),
    ("graph real", 0, r"warning: real has no calls of functions: record with --functions"),
)
PROGRAMS = (
    ("record", 2, r"nothing to record: give a command, -p PID, or -k"),
    ("record nosuchprogram", 127, r"nosuchprogram: command not found: give its path, or check PATH"),
    ("record ./nosuch", 127, r"\./nosuch: no such program, or its interpreter is missing: check the path"),
    ("record ./empty", 126, r"\./empty is a directory: give a program"),
    ("record ./notes.txt", 126, r"\./notes\.txt cannot be run: permission denied: 'chmod \+x' if it is a program"),
    ("record --functions * true", 127, r"\*: command not found"),
    ("record -o notes.txt ./app", 1, r"notes\.txt exists and is not a recording: choose another directory with -o"),
    ("record -o missing/x ./app", 0, r"missing/x cannot be made: No such file or directory: choose another directory"),
    ("record --duration ten ./app", 2, r"--duration is a time such as .*, not 'ten'"),
    ("record -m 5q ./app", 2, r"-m is a size .*, not '5q'"),
    ("record -m 100T ./app", 2, r"-m is a size from .* to .*, not '100T'"),
    ("record --packet-size 1 ./app", 2, r"--packet-size is a size from .*, not '1'"),
    ("record -e , ./app", 2, r"an event pattern is empty"),
    ("record --context everything ./app", 2, r"--context is comm, pid, .*, not 'everything'"),
    ("record --trigger app:tick->snapshot ./app", 2, r"a trigger for snapshots needs a flight recorder: add --overwrite"),
    ("record --rate app:tick ./app", 2, r"--rate.*: expected EVENT=N/s"),
    ("record --filter i> ./app", 2, r"--filter: expected a value at column 3"),
    ("list notes.txt", 1, r"notes\.txt: .*: give a program, a library or a recording's directory"),
    ("list plain", 0, r"warning: plain has no events: nothing in it uses <hodo/trace\.h>"),
    ("list --functions plain", 0, r"warning: plain has no slots for tracing functions: 'hodo record "
     "--functions' patches functions, see 'hodo doctor'; the flags of"),
    ("probe show plain gett", 1, r"there is no function gett: did you mean getter\?"),
    ("probe show plain getter(nod)", 1, r"getter\(nod\): there is no variable nod here: did you mean node\?"),
    ("probe show notes.txt main", 1, r"notes\.txt"),
    ("probe add plain", 2, r"'add' also takes probes, such as 'main\(argc\)'"),
)
PROCESSES = (
    (f"record -p {NOBODY}", 1, rf"there is no process {NOBODY}: 'ps' lists those that you can see"),
    ("record -p app", 2, r"'app' is not a process ID"),
    ("record -p 0", 2, r"'0' is not a process ID"),
    (f"list -p {NOBODY}", 1, rf"there is no process {NOBODY}"),
    (f"top -p {NOBODY}", 1, rf"there is no process {NOBODY}"),
    ("top ./app", 2, r"'\./app' is not a process ID: put -- in front of a command"),
    ("top", 2, r"give a process ID, -- and a command, or -k"),
    ("top -d 0 1", 2, r"-d is a time .*, not '0'"),
    ("snapshot", 2, r"give a process ID"),
    (f"snapshot {NOBODY}", 1, rf"there is no process {NOBODY}"),
    ("detach", 2, r"give a process ID"),
    ("detach -p app", 2, r"'app' is not a process ID"),
    ("enable app:tick", 2, r"'app:tick' is not a process ID"),
    (f"disable {NOBODY}", 2, r"no events given: '\*:\*' is all of them"),
    (f"enable {NOBODY} app:tick", 1, rf"there is no process {NOBODY}"),
    (f"probe list -p {NOBODY}", 1, rf"there is no process {NOBODY}"),
)

PLAIN = """struct node { int n; };
__attribute__((noinline, noclone)) int getter(struct node *node) { return node->n; }
int main(int argc, char **argv) { struct node node = { argc }; return getter(&node) - argc; }
"""


class Mistakes(Case):
    def setUp(self):
        super().setUp()
        shutil.copy(APP, self.path("app"))
        os.mkdir(self.path("empty"))
        for name, text in (("notes.txt", "bread, milk\n"), ("plain.c", PLAIN)):
            with open(self.path(name), "w", encoding="ascii") as f:
                f.write(text)
        run("cc", "-g", "-O1", "-o", self.path("plain"), self.path("plain.c"), status=0)
        self.ok("record", "-q", "-o", "real", "./app", 5)
        self.ok("record", "-q", "-o", "nothing", "true")

    def check(self, table):
        for typed, status, said in table:
            with self.subTest(typed):
                done = self.hodo(*typed.split())
                lines = done.stderr.splitlines()
                self.assertEqual((done.returncode, len(lines)), (status, 1), done.stderr)
                self.assertRegex(lines[0], "^hodo: (.*: )?" + said)
                self.assertLessEqual(len(lines[0]), 250)
                self.assertFalse(re.search(r"Aborted|Assertion|Segmentation", done.stderr))

    def test_words(self):
        self.check(WORDS)

    def test_recordings(self):
        self.check(RECORDINGS)

    def test_selections(self):
        self.check(SELECTIONS)

    def test_programs(self):
        self.check(PROGRAMS)

    def test_processes(self):
        self.check(PROCESSES)

    def test_how_many(self):
        self.assertGreaterEqual(sum(map(len, (WORDS, RECORDINGS, SELECTIONS, PROGRAMS, PROCESSES))), 60)


if __name__ == "__main__":
    main()
