#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_page.py [--write] PREFIX SOURCE PAGE...: runs the marked commands of pages, and compares what they print.

PREFIX is where hodo is installed, SOURCE the top of the source tree ($SOURCE in commands that are not shown). With
--write the pages get what the commands print now.
"""
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import console  # noqa: E402 (after what keeps the tree clean)


def run_page(path, environment, write):
    blocks, lines = console.blocks_of(path)
    shell = console.Shell(environment)
    wrong, skipped, written = [], [], {}
    try:
        for block in blocks:
            absent = console.missing(block, environment)
            if absent:
                skipped.append(f"{path}:{block.first}: skipped: no {absent}")
                continue
            failed = len(wrong)
            for command in block.commands:
                printed, status = shell.run(command.text())
                place = f"{path}:{block.first}: {command.text()}"
                expected = int(block.option("status", "0")) if command is block.commands[-1] else 0
                if status != expected:
                    wrong.append(f"{place}: exit status {status}, not {expected}:\n" + "\n".join(printed[-20:]))
                elif not block.hidden and not write:
                    difference = console.compare(block, command, printed)
                    if difference:
                        wrong.append(f"{place}: prints something else:\n{difference}")
                command.output = console.kept(block, printed)
            if not block.hidden and len(wrong) == failed:
                written[block.first] = block
    finally:
        shell.close()
    if write:
        for block in sorted(written.values(), key=lambda b: -b.first):
            lines[block.first:block.last] = [line for c in block.commands for line in c.lines + c.output]
        Path(path).write_text("\n".join(lines), encoding="utf-8")
    return wrong, skipped, sum(len(block.commands) for block in blocks)


def main():
    args = sys.argv[1:]
    write = args[:1] == ["--write"]
    prefix, source = (os.path.abspath(arg) for arg in args[write:][:2])
    pages = args[write:][2:]
    environment = console.environment_of(prefix, source)
    failed = False
    for page in pages:
        wrong, skipped, count = run_page(page, environment, write)
        print("\n".join(skipped + wrong + [f"{page}: {count} commands, {len(wrong)} wrong"]))
        failed = failed or bool(wrong)
    sys.exit(failed)


main()
