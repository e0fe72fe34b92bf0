#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diet.py ROOT LIBRARY SOURCE... - what libhodo adds to a program that records events stays small: the lines of the
library's sources and of the headers below src that they include, its text, and its bss."""
import pathlib
import re
import subprocess
import sys

LIMITS = {"lines": 15794, "text": 146 * 1024, "bss": 2 * 1024 * 1024}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def with_headers(root, sources):
    """The sources, and the headers below src that they include, directly or not."""
    files, todo = set(), [pathlib.Path(s) for s in sources]
    while todo:
        path = todo.pop().resolve()
        if path in files:
            continue
        files.add(path)
        for mark, name in INCLUDE.findall(path.read_text()):
            beside = [path.parent / name] if mark == '"' else []
            found = [p for p in (*beside, root / "src" / name) if p.is_file()]
            if not found:
                if mark == "<":
                    continue  # the system's, or include/hodo
                sys.exit(f"diet: {path} includes {name}, which is nowhere")
            todo.append(found[0])
    return files


def measure(root, library, sources):
    files = with_headers(root, sources)
    words = subprocess.run(["size", library], check=True, capture_output=True, text=True).stdout.splitlines()[1].split()
    return {"lines": sum(len(f.read_text().splitlines()) for f in files), "text": int(words[0]), "bss": int(words[2])}


def main():
    root, library, sources = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if len(sources) < 20 or any("/src/func/" in s for s in sources):
        sys.exit(f"diet: {len(sources)} sources: these are not the library's, or functions' are among them")
    fat = False
    for what, size in measure(root, library, sources).items():
        print(f"{what}: {size}, at most {LIMITS[what]}")
        fat = fat or not 0 < size <= LIMITS[what]
    return 1 if fat else 0


if __name__ == "__main__":
    sys.exit(main())
