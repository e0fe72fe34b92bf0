# SPDX-License-Identifier: MIT
"""console - the commands of a page of documentation, and what they print.

A marked block is run, and has the commands and their output as in a terminal:

    <!-- run [OPTION...] -->
    ```console
    $ hodo stat
    what it prints
    ```

    <!-- setup: COMMAND -->     a command that is run, too, but not shown

One shell runs all blocks of a page, in an empty directory, which the output shows as /home/me. "$ " begins a
command, "> " continues it; a line "…" of the output stands for any lines. Options:

    status=N    the last command's exit status is N, not 0
    needs=X     skipped without X (a command; "attach": ptrace; "page": that of hodo view; "switches": when threads run;
                "duckdb": its library; "python3:MODULE")
    shape=some  half of the output's lines, as here, are enough: order and choice vary from run to run
    shape=none  the output is not compared
    words=A,B   it is enough that the block's last command prints these words
    head=N, tail=N   with --write, keep only so many lines (default: 40 of the head)
    cut=N       with --write, cut lines at so many columns
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))
import place  # noqa: E402 (after where it lies)

LIMIT_S = 120
MARK = re.compile(r"<!-- (run|setup:)(.*?)-->\s*$")
ENDED = re.compile(r"bash: line \d+: +\d+ (\w+)(?: \(core dumped\))? {2,}\S")
DONE = "=== the command has ended, with "


def environment_of(prefix, source):
    """The environment for a page's commands: hodo as it is installed in prefix, and the sources."""
    lib = next(Path(prefix).glob("lib*/**/libhodo.so")).parent
    return {
        "PATH": f"{prefix}/bin:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": f"{lib}/pkgconfig",
        "SOURCE": source,
        "MANPATH": f"{prefix}/share/man",
        "PYTHONPATH": f"{prefix}/lib/python3/dist-packages",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Command:
    def __init__(self, line):
        self.lines = [line]       # as in the page, with "$ "
        self.output = []          # as in the page

    def text(self):
        return "\n".join(line[2:] for line in self.lines)


class Block:
    """The commands of one block, and its lines in the page."""

    def __init__(self, first, options):
        self.first, self.last, self.options, self.commands, self.hidden = first, first, options, [], False

    def option(self, name, default=None):
        for option in self.options:
            if option.startswith(name + "="):
                return option[len(name) + 1:]
        return default


def blocks_of(path):
    """The blocks of a page that are to be run, and the page's lines."""
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    blocks, i = [], 0
    while i < len(lines):
        mark = MARK.match(lines[i])
        i += 1
        if not mark:
            continue
        if mark[1] == "setup:":
            block = Block(i, [])
            block.hidden = True
            block.commands.append(Command("$ " + mark[2].strip()))
            blocks.append(block)
            continue
        if not lines[i].startswith("```"):
            raise SystemExit(f"{path}:{i + 1}: a mark, and no block below it")
        block = Block(i + 1, mark[2].split())
        i += 1
        while not lines[i].startswith("```"):
            if lines[i].startswith("$ "):
                block.commands.append(Command(lines[i]))
            elif not block.commands:
                raise SystemExit(f"{path}:{i + 1}: output without a command")
            elif lines[i].startswith("> ") and not block.commands[-1].output:
                block.commands[-1].lines.append(lines[i])
            else:
                block.commands[-1].output.append(lines[i])
            i += 1
        block.last = i
        blocks.append(block)
    return blocks, lines


class Shell:
    """One bash for a page, with a private directory; close() removes all of it."""

    def __init__(self, environment):
        self.directory = tempfile.TemporaryDirectory(prefix="hodo-docs.")
        kept = {k: v for k, v in os.environ.items() if k == "HODO_CLOCK" or not k.startswith(("HODO_", "LD_"))}
        home = self.directory.name + "/home"
        work = self.directory.name + "/work"
        os.mkdir(home)
        os.mkdir(work)
        kept.update(environment, HOME=home, TMPDIR=home, LC_ALL="C.UTF-8", TERM="dumb", COLUMNS="110")
        kept.pop("PAGER", None)
        kept.pop("XDG_RUNTIME_DIR", None)
        self.process = subprocess.Popen(["bash", "--norc", "--noprofile"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=work,
                                        env=kept, errors="replace", start_new_session=True)

    def run(self, command):
        """(lines, exit status)"""
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n%s%d\\n' '{DONE}' $?\n")
        self.process.stdin.flush()
        signal.alarm(LIMIT_S)
        lines = []
        for line in self.process.stdout:
            if line.startswith(DONE):
                break
            lines.append(self.as_seen(line.rstrip("\n")))
        else:
            raise SystemExit(f"the shell ended at: {command}")
        signal.alarm(0)
        if lines and not lines[-1]:
            lines.pop()  # from the printf
        return lines, int(line[len(DONE):])

    def as_seen(self, line):
        """The line as a user's shell would print it."""
        line = line.replace(self.directory.name + "/work", "/home/me").replace(self.directory.name, "/tmp")
        ended = ENDED.match(line)
        return ended[1] if ended else line

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()
        self.directory.cleanup()


class Timeout(SystemExit):
    pass


def on_alarm(_number, _frame):
    raise Timeout(f"a command took more than {LIMIT_S} s")


signal.signal(signal.SIGALRM, on_alarm)


def records_switches(path):
    """Whether the system lets hodo record when threads run."""
    with tempfile.TemporaryDirectory(prefix="hodo-docs.") as folder:
        return subprocess.run([shutil.which("hodo", path=path), "record", "--off-cpu=switches", "-o", f"{folder}/data",
                               "true"], capture_output=True, check=False).returncode == 0


def has_module(name):
    """Whether some Python has it: Debian's packages are for /usr/bin/python3."""
    return any(subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0
               for python in ("python3", "/usr/bin/python3") if shutil.which(python))


def missing(block, environment):
    """What a block needs and this machine does not have, or None."""
    for option in block.options:
        if option.startswith("needs="):
            for what in option[6:].split(","):
                if what == "attach":
                    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
                    if os.geteuid() != 0 and scope.exists() and scope.read_text().strip() != "0":
                        return "ptrace"
                elif what == "page":
                    if place.no_page(shutil.which("hodo", path=environment["PATH"])):
                        return "page of hodo view in this build"
                elif what == "switches":
                    if not records_switches(environment["PATH"]):
                        return "switches of threads for 'hodo record --off-cpu'"
                elif what.startswith("python3:"):
                    if not has_module(what[8:]):
                        return f"Python module {what[8:]}"
                elif what == "duckdb":
                    done = subprocess.run(["hodo", "query", "--shell", "/"], env=environment, capture_output=True,
                                          text=True, stdin=subprocess.DEVNULL, check=False)
                    if "DuckDB is not installed" in done.stderr:
                        return "libduckdb.so"
                elif not shutil.which(what):
                    return what
    return None


# What differs from run to run: numbers with their units, times of day, bars of a histogram, columns' widths.
NUMBER = re.compile(r"(?<![A-Za-z_])[-+]?(0x[0-9a-f]+|\d[\d.,:/]*)( ?(ns|us|ms|s|B|KiB|MiB|GiB|%|K|M|G|h|m)\b)?")
BARS = re.compile(r"[█▉▊▋▌▍▎▏░▒▓▁▂▃▄▅▆▇#*=]{1,}")


def shape(line):
    line = NUMBER.sub("N", line)
    line = re.sub(r"\bN stream\b", "N streams", line)  # as many as CPUs on which the program happened to run
    line = BARS.sub("|", line)
    return re.sub(r"[\s|]+", " ", line).strip()


# A busy machine may lose events: messages about losses are not part of the shape.
LOSSES = re.compile(r"\blost\b|^ +[\d,]+ +(full|overwritten) ")


def counts(line):
    return bool(line.strip()) and not LOSSES.search(line)


def compare(block, command, lines):
    """What is wrong with the lines that a command printed, or None."""
    how = block.option("shape", "all")
    if how == "none":
        return None
    words = block.option("words")
    if words:
        if command is not block.commands[-1]:
            return None
        absent = [word for word in words.split(",") if word not in "\n".join(lines)]
        return f"  it does not print: {', '.join(absent)}" if absent else None
    wanted = {shape(line) for line in command.output if counts(line) and line.strip() != "…"}
    cut = int(block.option("cut", "0"))
    got = {shape(line[:cut] if cut else line) for line in lines if counts(line)}
    absent, new = sorted(wanted - got), sorted(got - wanted)
    if how == "some":
        if len(absent) * 2 <= len(wanted):
            return None
        new = []
    if any(line.strip() == "…" for line in command.output):
        new = []
    if not absent and not new:
        return None
    text = [f"  the page has: {line}" for line in absent] + [f"  it prints:    {line}" for line in new]
    return "\n".join(text[:40])


def kept(block, lines):
    """The lines of an output that are to be written into the page."""
    head, tail = int(block.option("head", "0")), int(block.option("tail", "0"))
    cut = int(block.option("cut", "0"))
    if cut:
        lines = [line[:cut].rstrip() for line in lines]
    head = head or (0 if tail else 40)
    if len(lines) <= head + tail + 1:
        return lines
    return lines[:head] + ["…"] + (lines[-tail:] if tail else [])
