# SPDX-License-Identifier: MIT
"""hodo_test - what tests in Python share. A test in ten lines, say verb/record/test_count.py:

    from hodo_test import Case, main, program

    COUNT = program("COUNT")

    class Count(Case):
        def test_none_is_lost(self):
            events = self.recorded(COUNT, 100)                      # hodo record -q -o trace -- count 100, then print
            self.assertEqual([e["fields"]["n"] for e in events], list(range(100)))

    main()

and in its CMakeLists.txt (HodoTests.cmake says what else is possible):

    hodo_program(count count.c PLAIN)
    hodo_test(NAME count PYTHON test_count.py PROGRAMS COUNT=count)      # the test verb.record.count

Each test has a private folder, in which its commands run, and an environment without the user's settings for hodo. What
a test starts ends with it. LIMIT_S is against hanging for ever; no test passes or fails by the time that it takes.

A script of scenes, one scene a test, has functions check_SCENE(folder) with asserts and ends with scenes(globals()).
Reasons why a test cannot run on a machine: place.py. What programs draw on a terminal: terminal.py.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LIMIT_S = 600
SKIPPED = 77
HODO, LIBHODO = os.environ["HODO"], os.environ["LIBHODO"]
SOURCE, COMPARE = pathlib.Path(os.environ["SOURCE"]), os.environ["COMPARE"]

# The user's preferences are not under test; TERM=dumb: nothing is drawn unless a test wants that.
OTHERS = re.compile(r"(?!HODO_(?:LIBRARY|CLOCK)$)HODO_.*|LC_.*|LANG|LD_PRELOAD|NO_COLOR|CLICOLOR_FORCE|PAGER|LESS|COLUMNS|LINES|TMUX")


def program(name):
    """The path of a program that CMakeLists.txt gives under that name; empty if it gives none."""
    return os.environ.get(name, "")


def skip(why):
    """Ends the script: it cannot test anything here."""
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def wait_for(what, condition, every_s=0.01):
    """Waits until the condition holds, and returns its value. `what` may be a function, too."""
    end = time.monotonic() + LIMIT_S
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what() if callable(what) else what}")
        time.sleep(every_s)


# ------------------------------------------------------------------------ commands

def environment(folder=None, **more):
    """For commands; with a folder, only programs that are started with it listen there and are found."""
    env = {k: v for k, v in os.environ.items() if not OTHERS.fullmatch(k)}
    env.update(TERM="dumb", TZ="UTC", LC_ALL="C.UTF-8")
    if folder:
        env["XDG_RUNTIME_DIR"] = os.path.join(folder, "run")
        os.makedirs(env["XDG_RUNTIME_DIR"], mode=0o700, exist_ok=True)
    return {**env, **{k: str(v) for k, v in more.items()}}


class Done(subprocess.CompletedProcess):
    """A command that has ended: returncode, stdout, stderr; and, for hodo record, what it said at the end."""

    def lines(self):
        return [line for line in self.stderr.splitlines() if line.startswith("hodo: ")]

    def number(self, pattern):
        """The sum of the numbers that the pattern finds."""
        return sum(int(n) for n in re.findall(pattern, self.stderr))

    def lost(self):
        """Lost events, with any cause."""
        return self.number(r"hodo: (\d+) events? lost: ")

    def events(self):
        """Events and processes of the summary."""
        found = re.search(r"hodo: ([\d,]+) events? of (\d+) process", self.stderr)
        return (int(found[1].replace(",", "")), int(found[2])) if found else None


def _ended(done, status):
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, done.args))}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def run(*command, status=None, **how):
    """Runs a command to its end, with empty input. status: the exit status that it must have."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": LIMIT_S, **how}
    if how["text"]:
        how.setdefault("errors", "replace")
    if "input" not in how:
        how.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([str(c) for c in command], check=False, **how)
    return _ended(Done(done.args, done.returncode, done.stdout, done.stderr), status)


def measured(*command, status=None, **how):
    """As run(); and the largest amount of memory that it had, in KiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        args = [str(c) for c in command]
        with subprocess.Popen(args, **{"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **how}) as process:
            _, ended, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(ended)
        out.seek(0)
        err.seek(0)
        return _ended(Done(args, process.returncode, out.read(), err.read()), status), usage.ru_maxrss


def hodo(*args, **how):
    return run(HODO, *args, **how)


def ok(*args, **how):
    """Standard output of a hodo command that must succeed."""
    return run(HODO, *args, status=0, **how).stdout


def compare(recording, **how):
    """babeltrace2 reads the recording, and sees the same as hodo print."""
    return run(sys.executable, "-B", "-S", COMPARE, HODO, recording, status=0, **how).stdout


def readable(recording, **how):
    """babeltrace2 reads it; compare() takes too long for some recordings."""
    return run("babeltrace2", recording, "--component", "sink.utils.dummy", status=0, **how)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def events(recording, *options, **how):
    """The events as hodo print shows them."""
    return json_lines(ok("print", "-q", "--json", *options, recording, **how))


def recorded(recording, *command, options=(), check=True, status=0, **how):
    """The events of a command that hodo record runs; babeltrace2 reads them, too, unless check is false."""
    hodo("record", "-q", "-o", recording, *options, "--", *command, status=status, **how)
    if not os.listdir(recording):
        return []  # no process has recorded anything
    if check:
        compare(recording)
    return events(recording)


def stat(recording, **how):
    return json.loads(ok("stat", "-q", "--json", recording, **how))


def info(recording, **how):
    return json.loads(ok("info", "-q", "--json", recording, **how))


def verbs():
    lines = re.findall(r"(?m)^  ([a-z]+)  +\S.*?(?:; '([a-z]+)' [a-z ]+)?$", ok("--help").split("\n\n")[2])
    return [verb for line in lines for verb in line if verb]


# ----------------------------------------------------------------------- processes

def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid):
    return [int(n) for n in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def end(process):
    """Ends a process that was started, and closes its pipes."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for file in (process.stdin, process.stdout, process.stderr):
        if file:
            with contextlib.suppress(BrokenPipeError):
                file.close()


class Recorder(subprocess.Popen):
    """hodo record, running. Its output goes to files: a process that outlives it may keep them open."""

    def __init__(self, case, *args, data=None, **how):
        self.files = [tempfile.NamedTemporaryFile("w+", dir=os.path.dirname(case.dir), encoding="utf-8",
                                                  errors="replace") for _ in ("out", "err")]
        super().__init__([HODO, "record", "-o", data or case.data, *map(str, args)],
                         **case.how({"stdin": subprocess.DEVNULL, "stdout": self.files[0], "stderr": self.files[1],
                                     **how}))
        case.addCleanup(self.end)

    def end(self):
        end(self)
        for file in self.files:
            file.close()

    def said(self, which="err"):
        """What it has printed so far; which: "err", or "out", which has its command's output, too."""
        with open(self.files[which == "err"].name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def done(self):
        """Waits for its end."""
        self.wait(timeout=LIMIT_S)
        return Done(self.args, self.returncode, self.said("out"), self.said())

    def stop(self, signum=signal.SIGINT):
        self.send_signal(signum)
        return self.done()


# --------------------------------------------------------------------------- cases

class Case(unittest.TestCase):
    """A test in a private folder, where its recording is `data`."""
    maxDiff = None
    SHARED = False  # all tests of the class share one folder, in which they find what the first of them has made

    def setUp(self):
        if not self.SHARED or "dir" not in vars(type(self)):
            base = tempfile.mkdtemp(prefix="hodo-test-")
            (self.addClassCleanup if self.SHARED else self.addCleanup)(shutil.rmtree, base, ignore_errors=True)
            (type(self) if self.SHARED else self).dir = os.path.join(base, "work")
            os.chmod(base, 0o711)  # a test may let other users into its folder
            os.mkdir(self.dir, mode=0o700)
        self.env = environment(os.path.dirname(self.dir))
        self.data = self.path("trace")

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def how(self, how):
        """Where and with which settings a command runs; env= adds to the common environment."""
        return {"cwd": self.dir, **how, "env": {**self.env, **(how.get("env") or {})}}

    def hodo(self, *args, **how):
        return hodo(*args, **self.how(how))

    def ok(self, *args, **how):
        """Standard output of a hodo command that must succeed."""
        return ok(*args, **self.how(how))

    def fails(self, status, words, *args, **how):
        """It prints only one line, which says what is wrong and what to do; these words are in it."""
        done = self.hodo(*args, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, r"\Ahodo: [^\n]+: [^\n]+\n\Z")
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")

    def generate(self, generator, scenario, *args, name=None):
        """The name of a recording of a generator (GEN_TRACE, GEN_CALLS, GEN_REPORT), which runs only once for it."""
        name = name or "-".join(map(str, (scenario, *args)))
        if not os.path.exists(self.path(name)):
            run(program(generator), scenario, self.path(name), *args, status=0)
        return name

    def start(self, *command, **how):
        """A program that runs beside the test, and ends with it."""
        process = subprocess.Popen([str(c) for c in command], **self.how({"text": True, **how}))
        self.addCleanup(end, process)
        return process

    def disk(self, size):
        """A file system of that size. Skips the test where mounting is not permitted."""
        path = self.path("disk")
        os.mkdir(path)
        done = run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path)
        if done.returncode:
            self.skipTest(f"no file system may be mounted here ({done.stderr.strip()})")
        self.addCleanup(run, "umount", path)
        return path

    def recorder(self, *args, **how):
        """hodo record, still running."""
        return Recorder(self, *args, **how)

    def record(self, *args, **how):
        return self.recorder(*args, **how).done()

    def recorded(self, *command, **how):
        """The events of a command that hodo record runs: options=, status= and the rest as for recorded()."""
        return recorded(self.data, *command, **self.how(how))

    def events(self, recording=None, *options):
        """The events of a recording that babeltrace2 reads, too."""
        compare(recording or self.data, **self.how({}))
        return events(recording or self.data, *options, **self.how({}))

    def stat(self, recording=None):
        return stat(recording or self.data, **self.how({}))

    def info(self, recording=None):
        return info(recording or self.data, **self.how({}))

    def folders(self, recording=None):
        """The folders of its processes, each with one process's files."""
        return sorted(os.listdir(recording or self.data))

    def metadata(self, folder, recording=None):
        return pathlib.Path(recording or self.data, folder, "metadata").read_text(encoding="ascii")

    def babeltrace(self, recording=None):
        """Events [(ns, name, vtid)] and the number of discarded ones, as babeltrace2 sees them."""
        done = run("babeltrace2", "--clock-seconds", "--no-delta", recording or self.data, status=0,
                   errors="surrogateescape")
        found, anchors = [], {}
        # Texts of a hostile process may hold characters that splitlines() takes for the end of a line.
        for line in done.stdout.split("\n")[:-1]:
            parts = re.match(r"\[(\d+)\.(\d{9})\] (\S*:.*?:\(\d+\)) (.*?): (\{ ticks_begin = .*? \})"
                             r"(?:, \{ vtid = (\d+), window = )?", line)
            self.assertTrue(parts, line)
            packet = parts[3], parts[5] # identifies a stream, which has no name here
            if parts[4] == "hodo:anchor":
                anchors[packet] = int(parts[6])
            else:
                found.append((int(parts[1]) * 10**9 + int(parts[2]), parts[4], anchors[packet]))
        self.assertNotIn("may have discarded", done.stderr)
        return found, sum(int(n) for n in re.findall(r"discarded (\d+) event", done.stderr))

    def check_trace(self, done=None, recording=None):
        """babeltrace2, our reader and the summary see the same, event by event. Returns babeltrace2's events."""
        found, discarded = self.babeltrace(recording)
        compare(recording or self.data)
        said = self.stat(recording)
        self.assertEqual(said["recorded"], len(found))
        self.assertEqual(said["discarded"] + said["overwritten"], discarded)
        if done:
            self.assertEqual(done.events()[0], len(found))
            self.assertEqual(done.lost(), discarded)
        return found


def main():
    """Runs the script's tests, or those that its arguments name. If all are skipped, so is the script."""
    result = unittest.main(module="__main__", exit=False, verbosity=1).result
    skipped = result.skipped and len(result.skipped) == result.testsRun
    sys.exit(not result.wasSuccessful() or (SKIPPED if skipped else 0))


def scenes(functions, prefix="check_"):
    """Runs the function check_SCENE(folder) in a private folder; SCENE is the first argument."""
    with tempfile.TemporaryDirectory(prefix="hodo-test-") as folder:
        functions[prefix + sys.argv[1]](folder)
