#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_promises.py SOURCE BUILD CTEST: every promise of docs/promises.md names what proves it, and that exists.

It names tests of BUILD, whole or by their beginning (up to a dot or an underscore), and rows of bench/run."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

source, build, ctest = sys.argv[1:]
PARTS = ("Promised", "Conditions", "Not promised", "Shown by")


def existing():
    # Not in the build's own folder: there, listing replaces the log of the run that this test is a part of.
    with tempfile.TemporaryDirectory(prefix="hodo-test-") as folder:
        Path(folder, "CTestTestfile.cmake").write_text(f"subdirs({json.dumps(build)})\n")
        listing = subprocess.run([ctest, "--test-dir", folder, "-N"], check=True, capture_output=True, text=True).stdout
    tests = re.findall(r"^ *Test +#\d+: (\S+)", listing, re.M)
    usage = subprocess.run([f"{source}/bench/run", "--help"], check=True, capture_output=True, text=True).stdout
    rows = set(re.findall(r"\w+", usage.split("only these:")[1].split("--build")[0]))
    return tests, rows


def main():
    tests, rows = existing()
    wrong = []
    promises = re.split(r"^## ", Path(source, "docs/promises.md").read_text(), flags=re.M)[1:]
    for promise in promises:
        title = promise.split("\n")[0]
        wrong += [f"{title}: no paragraph **{p}**" for p in PARTS if f"**{p}" not in promise]
        shown, _, measured = promise.partition("**Shown by**")[2].partition("; row")
        for name in re.findall(r"`([^`]+)`", shown):
            if not any(t == name or (name[-1] in "._" and t.startswith(name)) for t in tests):
                wrong.append(f"{title}: there is no test {name}")
        wrong += [f"{title}: bench/run has no row {r}" for r in re.findall(r"`([^`]+)`", measured) if r not in rows]
    if len(promises) != 5:
        wrong.append(f"{len(promises)} promises, not five")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
