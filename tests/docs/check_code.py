#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_code.py SOURCE CC: pieces of C in the documentation are what they say.

    <!-- from: FILE -->                 each line of the block below is in that file
    <!-- compiles in: DECLARATION -->   the block below compiles as the body of that function, without a warning
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

source, cc = Path(sys.argv[1]), sys.argv[2]
MARK = re.compile(r"<!-- (from|compiles in): (.*?) -->\n```c\n(.*?)```", re.S)


def plain(line):
    return " ".join(re.sub(r"/\*.*?\*/", "", line).split())


def check_from(page, name, code):
    there = {plain(line) for line in (source / name).read_text(encoding="utf-8").split("\n")}
    return [f"{page}: not in {name}: {line}" for line in code.split("\n") if plain(line) and plain(line) not in there]


def check_compiles(page, declaration, code):
    lines = code.split("\n")
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "piece.c"
        text = includes + [declaration + ";", declaration, "{"] + body + ["}", ""]
        path.write_text("\n".join(text), encoding="utf-8")
        done = subprocess.run([cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{source}/include", "-c",
                               path, "-o", f"{folder}/piece.o"], capture_output=True, text=True)
    return [f"{page}: does not compile: {done.stderr}"] if done.returncode else []


wrong, checked = [], 0
for page in [source / "README.md", *sorted((source / "docs").rglob("*.md"))]:
    for how, what, code in MARK.findall(page.read_text(encoding="utf-8")):
        wrong += (check_from if how == "from" else check_compiles)(page, what, code)
        checked += 1
print("\n".join(wrong) or f"{checked} pieces of code are good")
sys.exit(bool(wrong) or not checked)
