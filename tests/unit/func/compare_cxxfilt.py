#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_cxxfilt.py SHORT_NAMES - short names of the functions of real libraries and programs, compared with c++filt's
full names without the parts that a short name leaves out."""
import glob
import re
import shutil
import subprocess
import sys

SKIP = 77
LIMIT = 15000  # symbols of one file, spread over all of its symbols
# Not function names, or shown unchanged.
SPECIAL = re.compile(r"_Z(T|G)")


def symbols(path):
    names = set()
    for option in (["-D"], []):
        done = subprocess.run(["nm", *option, "--defined-only", "-P", path], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) >= 2 and words[0].startswith("_Z") and words[1] in "tTwWiuV":
                names.add(words[0].split("@")[0])
    names = sorted(n for n in names if not SPECIAL.match(n))
    return names[::len(names) // LIMIT + 1]


def closing(text, at):
    """Index after the bracket that closes the one at `at`; the word operator marks < and > that are no brackets."""
    pairs = {"(": ")", "<": ">", "{": "}", "[": "]"}
    stack = []
    while at < len(text):
        if text.startswith("operator", at):
            at += len(re.match(r"operator(<=>|<<=|>>=|->\*|->|<<|>>|<=|>=|<|>|\(\))?", text[at:]).group())
            continue
        c = text[at]
        if c in pairs:
            stack.append(pairs[c])
        elif text.startswith("->", at):
            at += 1
        elif stack and c == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1
        at += 1
    return at


def short(full):
    """c++filt's name without return type, template arguments, parameters, tags and numbers."""
    out, at = "", 0
    full = re.sub(r"\[abi:\w+\]", "", full)
    full = re.sub(r"( \[clone [^\]]*\])+$", "", full)
    while at < len(full):
        rest = full[at:]
        if rest.startswith("(anonymous namespace)"):
            out += "(anonymous~namespace)"
            at += len("(anonymous namespace)")
            continue
        op = re.match(r"operator( new\[\]| delete\[\]| new| delete| co_await|\"\" ?\w+|<=>|<<=|>>=|->\*|->|<<|>>|<=|>=|"
                      r"<|>|\(\)|\[\]|,|[-+*/%^&|!=~]+)(?!\w)", rest)
        if op and not re.search(r"\w$", out):
            out += op.group().replace('"" ', '""').replace(" ", "~")
            at += op.end()
            continue
        cast = re.match(r"operator ", rest)
        if cast and not re.search(r"\w$", out):
            out += "operator"
            at += cast.end()
            # Up to the parameters: brackets that something follows belong to the type.
            while at < len(full) and not (full[at] == "(" and closing(full, at) in (len(full), ) or
                                          re.match(r"\(\)( const)?( ?&&?)?($|::)", full[at:])):
                at = closing(full, at) if full[at] in "<({[" and not full.startswith("(anon", at) else at + 1
            continue
        if rest.startswith("{lambda"):
            out += "{lambda}"
            at = closing(full, at)
            continue
        if rest.startswith("{unnamed"):
            out += "{unnamed}"
            at = closing(full, at)
            continue
        if rest.startswith("{default arg"):
            out += "{default~arg}"
            at = closing(full, at)
            continue
        if full[at] in "<([":
            at = closing(full, at)
            if full[at - 1] == ")":
                # After the parameters, only a local entity continues the name.
                tail = re.match(r"( const| volatile)*( ?&&?)?::", full[at:])
                if tail:
                    out += "::"
                    at += tail.end()
                elif full[at:at + 2] not in ("", ) and re.match(r"[\w ]*\(", full[at:]) and "decltype" in out[-10:]:
                    continue
                elif "decltype" in out.split(" ")[-1]:
                    continue
                else:
                    break
            continue
        out += full[at]
        at += 1
    return out.strip().split(" ")[-1].replace("~namespace", " namespace").replace("~arg", " arg").replace(
        "operator~", "operator ")


def main():
    tool = sys.argv[1]
    for program in ("nm", "c++filt"):
        if not shutil.which(program):
            print(f"skipped: no {program}")
            return SKIP
    patterns = ("/usr/lib/*/libstdc++.so.6", "/usr/lib/*/libLLVM*.so*", "/usr/lib/llvm-*/lib/libLLVM*.so*",
                "/usr/lib/*/libclang-cpp.so*", "/usr/bin/gdb", "/usr/bin/cmake")
    files = [f for pattern in patterns for f in sorted(glob.glob(pattern))[:1]] + sys.argv[2:]
    names = sorted({n for f in files for n in symbols(f)})
    if not names:
        print("skipped: no C++ symbols in", files)
        return SKIP
    text = "\n".join(names) + "\n"
    full = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    mine = subprocess.run([tool], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(full) == len(mine) == len(names)
    bad = compared = 0
    for name, f, m in zip(names, full, mine):
        if f == name or "(*" in f.split("::")[0]:
            continue
        compared += 1
        if short(f) != m:
            bad += 1
            if bad <= 40:
                print(f"{name}\n  c++filt: {f}\n  cut:     {short(f)}\n  short:   {m}")
    print(f"{compared} names of {len(files)} files compared, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
