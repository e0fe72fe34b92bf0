#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in bash, zsh and fish: the test presses the key, and looks at the line."""
import os
import pathlib
import shutil
import termios

from habits import APP, Case
from hodo_test import HODO, SOURCE, main, run, verbs
from terminal import Terminal

COMPLETIONS = SOURCE / "completions"
DUMP = b"\x18\x04"  # Ctrl-X Ctrl-D: writes the line to a file
# Folders of recordings: what is typed of their names, and the names, as unpacking an archive may create them.
NAMES = {"rec": "rec$(touch pwned)", "tick": "tick`touch pwned`", "my": "my rec", "semi": "semi;touch pwned;",
         "@c": "@command x[$(touch pwned)]", "@d": "@dirs", "q": "q'\"$HOME"}


class Shell(Case):
    """An interactive shell on a separate terminal. It has $HODO's directory in PATH, and the program ./app."""

    def setUp(self):
        super().setUp()
        if not shutil.which(self.SHELL):
            self.skipTest(f"{self.SHELL} is not installed")
        shutil.copy(APP, self.path("app"))
        self.ok("record", "-q", "./app")
        os.mkdir(self.path("bin"))
        os.symlink(HODO, self.path("bin/hodo"))
        self.env.update(PATH=self.path("bin") + ":" + self.env["PATH"], HOME=self.dir, ZDOTDIR=self.dir,
                        OUT=self.path("out"), LC_ALL="C.UTF-8", COLUMNS="500", LINES="50")

    def open(self, args):
        self.terminal = Terminal(self, *args, size=(50, 500))

    def ready(self):
        """Waits until the shell reads keys: while it runs a command, the terminal takes DUMP's Ctrl-D for the end."""
        self.terminal.until("the shell's turn", lambda: not termios.tcgetattr(self.terminal.fd)[3] & termios.ICANON)

    def dump(self):
        """The contents of the line."""
        out = self.path("out")
        self.terminal.press(DUMP)
        def whole():
            return os.path.exists(out) and pathlib.Path(out).read_text(encoding="utf-8").endswith("\n")
        self.terminal.until("the line", whole)
        line = pathlib.Path(out).read_text(encoding="utf-8")
        os.unlink(out)
        return line[:-1]

    def press(self, line, back=0):
        """The line after pressing the completion key, with the cursor `back` letters before its end."""
        self.ready()
        self.terminal.press(b"\x05\x15" + line.encode() + b"\x02" * back + b"\t")
        return self.dump()

    def check_line(self):
        """Words that have only one completion."""
        for line, result in (("hodo pri", "hodo print "), ("hodo record --buf", "hodo record --buffer "),
                             ("hodo print --color=al", "hodo print --color=always "),
                             ("hodo export --to spee", "hodo export --to speedscope "),
                             ("hodo record --tracer graph,lat", "hodo record --tracer graph,latency "),
                             ("hodo stat hod", "hodo stat hodo.data"),
                             ("hodo help dis", "hodo help disable ")):
            with self.subTest(line):
                self.assertEqual(self.press(line).rstrip("/ "), result.rstrip())
        for start in ("hodo record -e ", "hodo record --event=", "hodo record -q -e app:done,"):
            with self.subTest(start):
                self.assertEqual(self.press(start + "app:ti ./app", back=6).replace("  ", " "),
                                 start + "app:tick ./app")

    def check_command(self):
        """What follows the program belongs to the program; programs are found."""
        self.assertEqual(self.press("hodo record ./ap").rstrip(), "hodo record ./app")
        self.assertEqual(self.press("hodo ./ap").rstrip(), "hodo ./app")
        self.assertEqual(self.press("hodo record hodo pri").rstrip(), "hodo record hodo print")
        self.assertEqual(self.press("hodo record -q -- hodo record --buf").rstrip(),
                         "hodo record -q -- hodo record --buffer")
        self.assertEqual(self.press("hodo ./app ap").rstrip(), "hodo ./app app")


    def make_names(self):
        for name in NAMES.values():
            os.mkdir(self.path(name))
            with open(self.path(f"{name}/metadata"), "wb"):
                pass

    def words_of(self, line, quote=""):
        """The words of the command that the shell makes of a line after completing and entering it."""
        end = "" if self.press(line).rstrip("/ ").endswith(quote) else quote
        self.terminal.press(b"\x05" + end.encode() + b"\x01printf '%s\\n' >said \x05; echo >>said end\r")
        said = pathlib.Path(self.path("said"))
        self.terminal.until("the words", lambda: said.exists() and said.read_text(encoding="utf-8").endswith("end\n"))
        words = said.read_text(encoding="utf-8").splitlines()[:-1]
        said.unlink()
        self.ready()
        return [w.rstrip("/") for w in words if w]

    def check_names(self):
        """A name that the shell would interpret is quoted, or not offered: it never runs."""
        self.make_names()
        for typed, name in NAMES.items():
            for quote in ("", '"', "'"):
                with self.subTest((typed, quote)):
                    self.assertEqual(self.words_of(f"hodo stat {quote}{typed}", quote), ["hodo", "stat", name])
        self.assertFalse(os.path.exists(self.path("pwned")))


class Bash(Shell):
    SHELL = "bash"

    def begin(self, library=True):
        with open(self.path("rc"), "w", encoding="ascii") as f:
            f.write("PS1='ready> '; set -o emacs\nbind 'set bell-style none'\nbind 'set enable-bracketed-paste off'\n"
                    "bind 'set completion-query-items 0'\nbind 'set page-completions off'\n"
                    'dump() { printf "%s\\n" "$READLINE_LINE" >"$OUT"; }\nbind -x \'"\\C-x\\C-d": dump\'\n')
            if library:
                f.write("[ -r /usr/share/bash-completion/bash_completion ] && . "
                        "/usr/share/bash-completion/bash_completion\n")
            f.write(f". '{COMPLETIONS}/hodo.bash'\n")
        self.open(["bash", "--noprofile", "--rcfile", self.path("rc"), "-i"])
        self.terminal.until("the prompt", lambda: b"ready> " in self.terminal.shown)

    def test_line(self):
        if not os.path.exists("/usr/share/bash-completion/bash_completion"):
            self.skipTest("bash-completion is not installed")
        self.begin()
        self.check_line()
        self.check_command()

    def test_without_the_library(self):
        """bash-completion is not necessary."""
        self.begin(library=False)
        self.check_line()
        self.assertEqual(self.press("hodo ./app ap").rstrip(), "hodo ./app app")
        self.assertEqual(self.press("hodo record -e 'app:ti"), "hodo record -e 'app:tick' ")
        self.assertEqual(self.press("hodo record -e other:n"), "hodo record -e other:never ")

    def test_names(self):
        self.begin(library=False)
        self.check_names()

    def listed(self, *words):
        """COMPREPLY for a line, with bash's words divided as readline does."""
        script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE=$LINE_; COMP_POINT=${#LINE_}; '
                  '_hodo hodo; printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "--norc", "-c", script, "bash", COMPLETIONS / "hodo.bash", *words, status=0,
                   **self.how({"env": {"LINE_": self.line(words)}})).stdout.split()

    @staticmethod
    def line(words):
        line = words[0]
        for before, word in zip(words, words[1:]):
            parted = word in (":", "=") or before in (":", "=")
            line += word if parted else " " + word
        return line

    def test_lists(self):
        self.assertEqual(self.listed("hodo", ""), [*verbs(), "help"])
        self.assertEqual(self.listed("hodo", "print", "--color", "="), ["auto", "always", "never"])
        self.assertEqual(self.listed("hodo", "record", "-e", "app", ":"), ["\\*", "done", "tick"])
        self.assertEqual(self.listed("hodo", "record", "-e", ""),
                         ["app:\\*", "app:done", "app:tick", "other:\\*", "other:never"])


class Zsh(Shell):
    SHELL = "zsh"

    def begin(self):
        os.mkdir(self.path("functions"))
        shutil.copy(COMPLETIONS / "_hodo", self.path("functions"))
        with open(self.path(".zshrc"), "w", encoding="ascii") as f:
            f.write("PS1='ready> '; unsetopt beep zle_bracketed_paste prompt_sp; bindkey -e; LISTMAX=1000\n"
                    "unset zle_bracketed_paste\n"
                    "fpath=($ZDOTDIR/functions $fpath); autoload -Uz compinit; compinit -u -D\n"
                    'dump() { print -r -- "$BUFFER" >$OUT }\nzle -N dump; bindkey "^X^D" dump\n'
                    # What is offered, as the line editor gets it.
                    "compadd() {\n  local -a got\n  builtin compadd -A got \"$@\"; print -lr -- $got >>$OUT.list\n"
                    '  builtin compadd "$@"\n}\n')
        self.open(["zsh", "-d", "-i"])
        self.terminal.until("the prompt", lambda: b"ready> " in self.terminal.shown)

    def listed(self, line):
        if os.path.exists(self.path("out.list")):
            os.unlink(self.path("out.list"))
        self.press(line)
        with open(self.path("out.list"), encoding="utf-8") as f:
            return f.read().split()

    def test_line(self):
        self.begin()
        self.check_line()
        self.check_command()
        self.assertEqual(self.listed("hodo "), [*verbs(), "help"])
        self.assertEqual(self.listed("hodo record -e app:"), ["app:\\*", "app:done", "app:tick"])
        self.assertEqual(self.listed("hodo record -e 'app:"), ["app:*", "app:done", "app:tick"])
        self.assertEqual(self.listed("hodo print --color="), ["--color=auto", "--color=always", "--color=never"])

    def test_names(self):
        self.begin()
        self.check_names()


class Fish(Shell):
    SHELL = "fish"

    def listed(self, line):
        """What fish offers for a line: its own engine, asked without a terminal."""
        self.env["XDG_CONFIG_HOME"] = self.env["XDG_DATA_HOME"] = self.dir
        done = run("fish", "--no-config", "-c", f"source '{COMPLETIONS}/hodo.fish'; complete -C $argv[1]", line, status=0,
                   **self.how({}))
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def words(self, line):
        return [entry.split("\t")[0] for entry in self.listed(line)]

    def test_lists(self):
        self.assertEqual(sorted(self.words("hodo ")), sorted([*verbs(), "help"]))
        self.assertIn("stat\tcount events: rates, bytes, losses and their causes", self.listed("hodo sta"))
        self.assertEqual(sorted(self.words("hodo record -e app:")), ["app:*", "app:done", "app:tick"])
        self.assertEqual(sorted(self.words("hodo record -e app:done,o")), ["app:done,other:*", "app:done,other:never"])
        self.assertEqual(self.words("hodo record --event=app:t"), ["--event=app:tick"])
        self.assertEqual(self.words("hodo print --color=al"), ["--color=always"])
        self.assertEqual(self.words("hodo export --to spee"), ["speedscope"])
        self.assertEqual([w.rstrip("/") for w in self.words("hodo stat ho")], ["hodo.data"])
        self.assertIn("--buffer", self.words("hodo record --b"))

    def test_command(self):
        self.assertIn("./app", self.words("hodo record ./ap"))
        self.assertEqual(self.words("hodo record hodo pri"), ["print"])
        self.assertEqual(self.words("hodo ./app ap"), ["app"])

    def test_names(self):
        """fish quotes what it inserts into the line, but what is offered must be the plain names."""
        self.make_names()
        for typed in ("rec", "tick", "semi", "@c", "@d"):
            with self.subTest(typed):
                self.assertEqual([w.rstrip("/") for w in self.words(f"hodo stat {typed}")], [NAMES[typed]])
        self.assertFalse(os.path.exists(self.path("pwned")))


main()
