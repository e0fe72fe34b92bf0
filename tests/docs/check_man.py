#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the manual pages with the command, with the headers and with each other.

HODO, SOURCE (the tree), CC, LIBHODO, LIBHODO_READ and, where functions can be traced, LIBFUNCTIONS (the built
libraries) are in the environment.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import hodo_test
from hodo_test import HODO, LIBHODO, SOURCE, main, program

CC, LIBHODO_READ, LIBFUNCTIONS = program("CC"), program("LIBHODO_READ"), program("LIBFUNCTIONS")
PAGES = sorted((SOURCE / "docs/man").glob("*.[0-9]"))
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z])(?![\w-])")


def run(*args, **how):
    return hodo_test.run(*args, status=0, **how).stdout


def rendered(page):
    """The page's text as a reader sees it, without bold and italics."""
    text = run("mandoc", "-T", "utf8", "-O", "width=100", str(page))
    text = re.sub(".\b", "", text)
    for dash in "\u2010\u2011\u2212":
        text = text.replace(dash, "-")
    return text


def sections(page):
    """The page's sections, in order: their names and text."""
    parts = re.split(r"(?m)^([A-Z][A-Z ]+)$", rendered(page))
    return dict(zip(parts[1::2], parts[2::2]))


def verbs():
    lines = re.findall(r"(?m)^  ([a-z]+)  +\S.*?(?:; '([a-z]+)' [a-z ]+)?$", run(HODO, "--help").split("\n\n")[2])
    return [verb for line in lines for verb in line if verb]


def unroff(line):
    """A line of an example without roff's escapes."""
    return line.replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\(ti", "~").replace(r"\e", "\\")


def examples(page):
    """name -> source of the programs in a page."""
    found = re.findall(r'(?m)^\.\\" example (\S+)\n\.EX\n(.*?)^\.EE\n\.\\" end$', page.read_text(), re.S)
    return {name: "\n".join(map(unroff, body.split("\n"))) for name, body in found}


class Pages(unittest.TestCase):
    def test_each_verb_has_one(self):
        names = {p.name for p in PAGES}
        self.assertGreaterEqual(len(verbs()), 6)
        self.assertEqual(names, {f"hodo-{v}.1" for v in verbs()} | {
            "hodo.1", "hodo-trace.3", "hodo-tracer.3", "hodo-control.3", "hodo-read.3", "hodo-filter.7"})

    def test_lint(self):
        for page in PAGES:
            with self.subTest(page.name):
                done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", str(page)], capture_output=True,
                                      text=True)
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_title_and_order(self):
        for page in PAGES:
            with self.subTest(page.name):
                stem, section = page.name.split(".")
                self.assertRegex(rendered(page), rf"^{stem.upper()}\({section}\)")
                self.assertEqual(list(sections(page))[:3], ["NAME", "SYNOPSIS", "EXAMPLES"])
                self.assertRegex(sections(page)["NAME"], rf"^\s*{stem}\b")

    def test_references_lead_somewhere(self):
        names = {p.name for p in PAGES}
        for page in PAGES:
            for name, section in re.findall(r"\b(hodo[a-z-]*)\((\d)\)", rendered(page)):
                self.assertIn(f"{name}.{section}", names, page.name)

    def test_hodo_names_all_verbs(self):
        for verb in verbs():
            self.assertIn(f"hodo-{verb}(1)", sections(SOURCE / "docs/man/hodo.1")["DESCRIPTION"])


class Options(unittest.TestCase):
    def check(self, page, help_text):
        """Both sides have the same options at the beginning of lines."""
        heads = re.findall(r"(?m)^ {4,8}(-.*)$", sections(page)["OPTIONS"])
        in_page = {o for head in heads for o in OPTION.findall(head)}
        in_help = {o for line in re.findall(r"(?m)^(usage:.*| +-.*)$", help_text)
                   for o in OPTION.findall(re.split(r"(?<=\S) {2,}(?!-)", line)[0])}
        self.assertTrue(in_help)
        self.assertEqual(in_page, in_help | {"-h", "--help"})

    def test_of_each_verb(self):
        for verb in verbs():
            with self.subTest(verb):
                self.check(SOURCE / f"docs/man/hodo-{verb}.1", run(HODO, verb, "--help=all"))
                self.assertEqual(run(HODO, verb, "--help"), run(HODO, verb, "-h"))
                self.assertEqual(run(HODO, verb, "--help"), run(HODO, "help", verb))

    def test_heads_are_the_tables(self):
        """Each option of the verb's table is in the page, exactly as the table has it, and no other is."""
        run(str(SOURCE / "scripts/man-options"), "--check", HODO)

    def test_of_hodo(self):
        options = sections(SOURCE / "docs/man/hodo.1")["OPTIONS"]
        for option in ("--version", "-V", "--help", "-h"):
            self.assertRegex(options, rf"(?m)^ {{4,8}}(-.*)?{option}")
            run(HODO, option)

    def test_used_in_examples_exist(self):
        for page in PAGES:
            for line in re.findall(r"(?m)^\$ (.*)$", "\n".join(map(unroff, page.read_text().split("\n")))):
                for verb, rest in re.findall(r"\bhodo ([a-z]+)([^|&]*)", re.sub(r"'[^']*'", "''", line)):
                    self.assertIn(verb, verbs(), line)
                    helped = OPTION.findall(run(HODO, verb, "--help=all"))
                    for option in OPTION.findall(rest.split(" ./")[0]):
                        self.assertIn(option, helped, line)


class Headers(unittest.TestCase):
    def test_every_macro_is_told(self):
        header = (SOURCE / "include/hodo/trace.h").read_text()
        public = set(re.findall(r"(?m)^#define (HODO_[A-Z]+)\(", header)) | set(
            re.findall(r"(?m)^#define (HODO_[A-Z]+)\(", (SOURCE / "include/hodo/trace_c.h").read_text()))
        self.assertGreaterEqual(len(public), 11)
        page = rendered(SOURCE / "docs/man/hodo-trace.3")
        for name in sorted(public | {"HODO_DISABLE", "HODO_STATIC_KEYS", "HODO_SPAN_CONTEXT", "hodo_span_traceparent"}):
            self.assertIn(name, page)
        self.assertEqual(set(re.findall(r"\bHODO_[A-Z]+\b", page)) - {"HODO_STATIC"} - public,
                         {"HODO_DISABLE", "HODO_SDT"})

    def check_functions(self, page, header):
        declared = set(re.findall(r"\b(hodo_[a-z_]+)\(", "".join(
            (SOURCE / "include/hodo" / name).read_text() for name in header.split())))
        named = set(re.findall(r"\b(hodo_[a-z_]+)\(", rendered(SOURCE / "docs/man" / page)))
        self.assertTrue(named)
        self.assertLessEqual(named, declared)
        return named, declared

    def test_functions(self):
        named, declared = self.check_functions("hodo-control.3", "control.h")
        self.assertEqual(named, declared)
        self.check_functions("hodo-trace.3", "control.h trace_context.h")
        self.check_functions("hodo-read.3", "read.h columns.h")
        named, declared = self.check_functions("hodo-tracer.3", "tracer.h roles.h")
        self.assertEqual(named, declared)


class Examples(unittest.TestCase):
    """The programs in the pages build without a warning, and do what the pages show."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="hodo-man-")
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def build(self, page, name, *libraries, options=()):
        path = os.path.join(self.dir, name)
        pathlib.Path(path).write_text(examples(SOURCE / "docs/man" / page)[name])
        rpath = [f"-Wl,--no-as-needed,-rpath,{os.path.dirname(lib)}" for lib in libraries]
        run(CC, "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", f"-I{SOURCE}/include",
            "-o", path[:-2], *options, path, *rpath, *libraries)
        return path[:-2]

    def test_kv_is_recorded_as_shown(self):
        self.build("hodo-trace.3", "kv.c")
        run(HODO, "record", "-q", "./kv", cwd=self.dir)
        def plain(line):
            return re.sub(r"^\[[0-9:.]+\] -?\d+ \d+ ", "", unroff(line))
        shown = re.search(r"(?ms)^\$ hodo print .*?\n(.*?)^\.EE",
                          (SOURCE / "docs/man/hodo-trace.3").read_text())[1].splitlines()
        got = run(HODO, "print", cwd=self.dir).splitlines()
        self.assertEqual([plain(line) for line in shown], [plain(line) for line in got[:len(shown)]])
        self.assertEqual(len(got), 23)

        requests = self.build("hodo-read.3", "requests.c", LIBHODO_READ)
        self.assertRegex(run(requests, cwd=self.dir), r"\A(?:1: \d+ ns\n)(?:2: \d+ ns\n)(?:3: \d+ ns\n)\Z")

        listed = run(HODO, "list", "./kv", cwd=self.dir).splitlines()
        def without_line(line):
            return re.sub(r"\S*kv\.c:\d+", "kv.c", line)
        for line in re.search(r"(?ms)^\$ hodo list \./kv\n(.*?)^\.EE",
                              (SOURCE / "docs/man/hodo-list.1").read_text())[1].splitlines():
            self.assertIn(without_line(unroff(line)), [without_line(other) for other in listed])

    def test_probe_prints_what_is_shown(self):
        probe = self.build("hodo-trace.3", "probe.c", LIBHODO)
        self.assertEqual(run(probe), "1 evicted within a minute\n")

    def test_tracers_see_what_is_shown(self):
        if not LIBFUNCTIONS:
            self.skipTest("functions are not traced on this machine")
        clang = "clang" in run(CC, "--version")
        options = ["-fxray-instrument", "-fxray-instruction-threshold=1"] if clang else [
            "-pg", "-mfentry", "-minstrument-return=call"]
        libraries = [] if clang else [LIBFUNCTIONS]
        steps = self.build("hodo-tracer.3", "steps.c", LIBHODO, *libraries, options=options)
        self.assertEqual(run(steps), "3 calls, the longest of step_long\n")

        self.build("hodo-tracer.3", "viewer.c", *libraries, "-lpthread", options=options)
        done = subprocess.run([HODO, "record", "--tracer", "thread", "./viewer"], capture_output=True, text=True,
                              cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        def without_numbers(text):
            return re.sub(r"\d+", "N", text)
        for page in ("hodo-tracer.3", "hodo-record.1"):
            line = re.search(r"(?m)^hodo: viewer.*$", (SOURCE / "docs/man" / page).read_text())[0]
            self.assertIn(without_numbers(unroff(line)), without_numbers(done.stderr).splitlines())

    def test_filters_in_the_pages_compile(self):
        filters = {f for page in PAGES
                   for f in re.findall(r"--filter '([^']*)'", "\n".join(map(unroff, page.read_text().split("\n"))))}
        self.assertGreaterEqual(len(filters), 3)
        for expr in filters:
            run(HODO, "record", "-q", "--filter", expr, "true", cwd=self.dir)


main()
