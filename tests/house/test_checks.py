#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_checks.py - the house's checks find what they should: small trees with one fault each."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIT = "/* SPDX-License-Identifier: MIT */\n"
DUAL = "/* SPDX-License-Identifier: MIT OR GPL-2.0-only */\n"
LONG_BODY = "".join(f"\tx += {i};\n" for i in range(80))

GOOD = {
    "docs/design/modules.md": (ROOT / "docs/design/modules.md").read_text(),
    "include/hodo/abi.h": DUAL + "#include <stdint.h>\n",
    "include/hodo/trace.h": MIT + "#include <hodo/abi.h>\n",
    "src/core/ring.h": DUAL + "#include <hodo/abi.h>\n",
    "src/core/ring.c": DUAL + '#include "ring.h"\n#include <string.h>\n',
    "src/arch/x86_64/writer.c": MIT + '#include <core/ring.h>\n',
    "src/user/event/emit.c": MIT + "#include <errno.h>\n#include <core/ring.h>\n",
    "src/read/file/open.c": MIT + "#include <stdio.h>\n#include <hodo/abi.h>\n",
    "src/record/record.h": MIT + "#include <hodo/abi.h>\n",
    "src/cli/main.c": MIT + '#include <stdio.h>\n#include <record/record.h>\n\nint main(void)\n{\n\treturn 0;\n}\n',
}

# name, check, files laid over GOOD, what must be reported
BAD = [
    ("core includes user", "arrows", {"src/user/u.h": MIT, "src/core/a.c": DUAL + '#include "user/u.h"\n'},
     "src/core/a.c:2: core may not include user"),
    ("core includes cli without a folder", "arrows",
     {"src/cli/cli.h": MIT, "src/core/a.c": DUAL + '#include "cli.h"\n'},
     "core may not include cli"),
    ("read includes record", "arrows", {"src/read/a.c": MIT + '#include <record/record.h>\n'},
     "read may not include record"),
    ("cli includes a header within record", "arrows",
     {"src/record/write/stream.h": MIT, "src/cli/a.c": MIT + "#include <record/write/stream.h>\n"},
     "src/record/write/stream.h is internal: others include <record/record.h> alone"),
    ("user includes read by a way round", "arrows",
     {"src/read/r.h": MIT, "src/user/a.c": MIT + '#include "../read/r.h"\n'}, "user may not include read"),
    ("a header of another module in quotes", "arrows", {"src/user/a.c": MIT + '#include "core/ring.h"\n'},
     "what is not of the same folder is <core/ring.h>"),
    ("abi includes trace", "arrows", {"include/hodo/abi.h": DUAL + "#include <hodo/trace.h>\n"},
     "include/hodo/abi.h:2: abi may not include trace"),
    ("core uses stdio", "arrows", {"src/core/a.c": DUAL + "\n#  include <stdio.h>\n"},
     "src/core/a.c:3: core is free-standing"),
    ("user uses stdio", "arrows", {"src/user/a.c": MIT + "#include <stdio.h>\n"}, "may not include <stdio.h>"),
    ("a module without a rule", "arrows", {"src/new/a.c": MIT}, "module new has no rule"),
    ("a header of ours that is nowhere", "arrows", {"src/cli/a.c": MIT + '#include "hodo_gone.h"\n'}, "is nowhere"),
    ("two structs of one name", "arrows",
     {name: MIT + "struct hodo_part {\n\tint n;\n};\n" for name in ("src/read/a.h", "src/cli/b.c")},
     "hodo_part is the name of several structs: in src/cli/b.c, src/read/a.h"),
    ("a folder that nobody finds anything in", "arrows", {f"src/cli/f{n}.h": MIT for n in range(45)},
     "src/cli: 46 files, more than 45"),
    ("long function", "style", {"src/cli/a.c": MIT + "\nstatic int f(int x)\n{\n" + LONG_BODY + "\treturn x;\n}\n"},
     "src/cli/a.c:3: f() has 84 lines"),
    ("long function, brace on its line, after a struct", "style",
     {"src/cli/a.c": MIT + "struct s {\n\tint a;\n};\n#define M(x) { x\nint g(\n\tint x) {\n" + LONG_BODY + "}\n"},
     "src/cli/a.c:6: g() has 83 lines"),
    ("long file", "style", {"src/cli/a.c": MIT + "int x;\n" * 800}, "801 lines, more than 800"),
    ("wide line", "style", {"src/cli/a.c": MIT + "\t" * 14 + "int xyzxyz;\n"}, "columns, more than 120"),
    ("no licence", "style", {"src/cli/a.c": "int x;\n"}, "licence line is not"),
    ("no licence in a script", "style", {"scripts/x": "#!/bin/sh\ntrue\n"}, "scripts/x:1: the licence line"),
    ("core without its second licence", "style", {"src/core/a.c": MIT}, "MIT OR GPL-2.0-only"),
    ("spaces", "style", {"src/cli/a.c": MIT + "int f(void)\n{\n        return 0;\n}\n"}, "indented with spaces"),
    ("blanks at the end", "style", {"src/cli/a.c": MIT + "int x; \n"}, "blanks at the end"),
    ("no newline at the end", "style", {"src/cli/a.c": MIT + "int x;"}, "does not end with a newline"),
]


def lay(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(check, root):
    return subprocess.run([ROOT / "scripts" / f"check-{check}", root], capture_output=True, text=True)


# C source, link flags, and what check-arrows must say about it as a library to be injected
BAD_LIBRARIES = [
    ("int puts(const char *); void f(void) { puts(\"\"); }", [], "calls puts"),
    ("void exit(int); void f(void) { exit(1); }", [], "calls exit"),
    ("double cos(double); double f(double x) { return cos(x); }", ["-lm"], "needs libm.so.6"),
]


def check_libraries(top, good):
    failed = 0
    for number, (source, flags, want) in enumerate(BAD_LIBRARIES):
        library = top / f"bad{number}.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-xc", "-", "-o", library, *flags],
                       input=source, text=True, check=True)
        result = subprocess.run([ROOT / "scripts" / "check-arrows", "--library", library, good],
                                capture_output=True, text=True)
        if result.returncode != 1 or want not in result.stdout:
            failed += 1
            print(f"library that {want}: {result.returncode}:\n{result.stdout}{result.stderr}")
    return failed


def check_core(top, good):
    source, core = top / "core.o", top / "core.a"
    subprocess.run(["cc", "-c", "-fno-builtin", "-xc", "-", "-o", source], text=True, check=True,
                   input="void *memcpy(), *malloc(); void g(void) { memcpy(); } void f(void) { g(); malloc(); }")
    subprocess.run(["ar", "rc", core, source], check=True)
    result = subprocess.run([ROOT / "scripts" / "check-arrows", "--core", core, good], capture_output=True, text=True)
    if result.returncode != 1 or result.stdout.count("\n") != 1 or "the core calls malloc" not in result.stdout:
        print(f"a core that calls malloc: {result.returncode}:\n{result.stdout}{result.stderr}")
        return 1
    return 0


def check_build(top, good):
    """Symbols: arch may not use user, two files of user must not need each other, nor five with their headers, names
    say who may use them, and none may need libgcc."""
    tree, failed = top / "symbols", 0
    lay(tree, GOOD | {
        "src/arch/x86_64/writer.c": MIT + "void hodo_emit(void);\nvoid hodo_write(void)\n{\n\thodo_emit();\n}\n",
        "src/user/event/emit.c": MIT + "void wait_for(void);\nvoid hodo_emit(void)\n{\n\twait_for();\n}\n",
        "src/user/ring/wait.c": MIT + "void hodo_emit(void);\nvoid wait_for(void)\n{\n\thodo_emit();\n}\n",
        **{f"src/read/{name}.h": MIT + f'#include "{next_name}.h"\n' for name, next_name in zip("abcde", "bcdea")},
        "src/record/ring/give_back.c": MIT + "void wake(void)\n{\n}\nvoid give_back(void)\n{\n}\n",
        "src/user/ring/clock.c": MIT + "unsigned __int128 clock_ticks, clock_hz;\nvoid clock_scale(void)\n{\n\tclock_ticks /= clock_hz;\n}\n",
    })
    commands = []
    for source in ("src/arch/x86_64/writer.c", "src/user/event/emit.c", "src/user/ring/wait.c",
                   "src/user/ring/clock.c", "src/record/ring/give_back.c"):
        made = source.replace("/", "-") + ".o"
        subprocess.run(["cc", "-c", tree / source, "-o", tree / made], check=True)
        commands.append({"directory": str(tree), "file": str(tree / source), "command": f"cc -c {source} -o {made}"})
    (tree / "compile_commands.json").write_text(json.dumps(commands))
    wanted = ["arch may not use user (hodo_emit of src/user/event/emit.c)", "src/user/event: 2 files need each other: emit.c needs",
              "5 files with their headers need each other: src/read/a, src/read/b, src/read/c, src/read/d, src/read/e",
              "src/record/ring/give_back.c: wake begins neither with hodo_ nor",
              "src/user/ring/clock.c: calls __udivti3 of libgcc"]
    result = subprocess.run([ROOT / "scripts" / "check-arrows", "--build", tree, tree], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    if result.returncode != 1 or len(lines) != len(wanted) or any(w not in t for w, t in zip(wanted, lines)):
        failed += 1
        print(f"symbols: {result.returncode}:\n{result.stdout}{result.stderr}")
    return failed


def check_commits(top):
    """A history with two faults, and one that does not reach back far enough."""
    tree, failed = top / "commits", 0
    tree.mkdir()

    def git(*args):
        return subprocess.run(["git", "-C", tree, "-c", "user.name=x", "-c", "user.email=x", *args], check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(*messages):
        git("commit", "-q", "--allow-empty", *(word for m in messages for word in ("-m", m)))
        return git("rev-parse", "--short", "HEAD")

    git("init", "-q")
    first = commit("without a body, before it was the rule")
    commit("s" * 72, "Why.")
    bad = [f"{commit('s' * 73, 'Why.')}: the subject has 73 characters", f"{commit('no body')}: no body that says why"]
    for since, status, wanted in ((first, 1, bad[::-1]), ("0" * 40, 77, ["skipped: the history does not reach back"]),
                                  ("HEAD", 0, [])):
        result = subprocess.run([ROOT / "scripts" / "check-commits", "--since", since, tree], capture_output=True,
                                text=True)
        lines = result.stdout.splitlines()
        if result.returncode != status or len(lines) != len(wanted) or any(w not in t for w, t in zip(wanted, lines)):
            failed += 1
            print(f"commits since {since}: {result.returncode}:\n{result.stdout}{result.stderr}")
    return failed


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="hodo-checks.") as top:
        good = pathlib.Path(top) / "good"
        lay(good, GOOD)
        for check in ("arrows", "style"):
            result = run(check, good)
            if result.returncode != 0 or result.stdout or result.stderr:
                failed += 1
                print(f"a good tree fails check-{check}:\n{result.stdout}{result.stderr}")
        failed += check_libraries(pathlib.Path(top), good)
        failed += check_core(pathlib.Path(top), good)
        failed += check_build(pathlib.Path(top), good)
        failed += check_commits(pathlib.Path(top))
        for number, (name, check, files, want) in enumerate(BAD):
            tree = pathlib.Path(top) / str(number)
            lay(tree, GOOD | files)
            result = run(check, tree)
            lines = result.stdout.splitlines()
            if result.returncode != 1 or len(lines) != 1 or want not in lines[0]:
                failed += 1
                print(f"{name}: wanted one line with '{want}' and status 1, got {result.returncode}:\n"
                      f"{result.stdout}{result.stderr}")
    print(f"{len(BAD) + len(BAD_LIBRARIES) + 8 - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
