#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""golden.py FILE - runs the commands of FILE, and compares what they print with the lines below them.

    # text                      not looked at
    $ COMMAND                   run by sh in a private directory, see prepare()
    root$ COMMAND               only if root runs the tests, with a full disk at disk/ that others do not see
    view$ COMMAND               only if hodo view has its page
    | LINE                      of its standard output
    ! LINE                      of its standard error
    [STATUS]                    if it is not 0

plain() first replaces process IDs, times and the like by fixed text. After a wanted change:
UPDATE_GOLDEN=1 golden.py FILE, then read the difference. Without FILE: checks that each verb has a file.

Each line of standard error that begins with "hodo:" must have the form of all messages: what went wrong, and
what to do.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import place
from hodo_test import HODO, LIMIT_S, verbs

# Words of notes, which are not errors: the user need not do anything.
NEWS = re.compile(r"hodo: (warning: )?(\d[\d,]* (event|part|snapshot)s?\b|no event|trigger |process \d+ (is|was|now)|"
                  r"\S+ (itself )?(has|had) |SIZE in \S+$)")


PLAIN = """struct node { int n; };
__attribute__((noinline, noclone)) int getter(struct node *node) { return node->n; }
int main(int argc, char **argv) { struct node node = { argc }; return getter(&node) - argc; }
"""


def prepare(where, plain):
    """Makes the files that the commands find in their directory; plain: also a program without events."""
    def hodo(*args):
        subprocess.run([HODO, *args], cwd=where, check=True, capture_output=True)
    def generate(scenario, name):
        subprocess.run([os.environ["GEN_TRACE"], scenario, str(where / name), "0"], check=True)
    generate("all", "good.data")
    generate("lost", "lost.data")
    hodo("record", "-q", "-o", "empty.data", "true")
    (where / "folder").mkdir()
    (where / "folder/notes").write_text("mine\n", encoding="ascii")
    (where / "file.txt").write_text("no recording\n", encoding="ascii")
    shutil.copytree(where / "good.data", where / "broken.data")
    process = next(p for p in sorted((where / "broken.data").iterdir()) if p.is_dir())
    metadata = (process / "metadata").read_bytes()
    (process / "metadata").write_bytes(metadata.replace(b"/*@hodo", b"/*@odoh", 1))
    shutil.copytree(process, where / "one.data")
    hodo("record", "-q", "-o", "real.data", os.environ["APP"], "9")
    shutil.copytree(where / "real.data", where / "ruin.data")
    for metadata in (where / "ruin.data").glob("*/metadata"):
        metadata.write_bytes(b"/* CTF 1.8 */\n/*@hodo none of ours\n")
    shutil.copytree(where / "good.data", where / "cut.data")
    stream = next(p for p in sorted((where / "cut.data").glob("*/*")) if p.name != "metadata")
    stream.write_bytes(stream.read_bytes()[:-7])
    shutil.copy(os.environ["LIST_TARGET"], where / "app")
    (where / "script").write_text("not a program\n", encoding="ascii")
    (where / "disk").mkdir()
    if plain:
        subprocess.run(["cc", "-g", "-O1", "-x", "c", "-", "-o", where / "plain"], input=PLAIN, check=True, text=True)


def plain(text, where):
    text = text.replace(str(where), "DIR").replace(HODO, "hodo")
    text = re.sub(r"(\bprocess |-p )\d+\b", r"\1N", text)
    text = re.sub(r"\b([a-z_]+)-\d{2,}\b", r"\1-N", text)
    text = re.sub(r"\b(\w[\w.-]*)\[\d+\]", r"\1[N]", text)
    text = re.sub(r"\bhodo \((process )?\d+\)", "hodo (N)", text)
    text = re.sub(r"\d+(\.\d)? (B|KiB|MiB|GiB)\b", "SIZE", text)
    return text


def run(command, where_only, where, env):
    """The command's output, as lines of such a file."""
    args = ["sh", "-c", command]
    if where_only == "root":
        script = 'mount -t tmpfs -o size=64k none disk && { cat /dev/zero >disk/full 2>&-; exec sh -c "$0"; }'
        args = ["unshare", "-m", "sh", "-c", script, command]
    done = subprocess.run(args, cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S,
                          check=False)
    out, err = (plain(t.decode(errors="replace"), where) for t in (done.stdout, done.stderr))
    lines = ["| " + line for line in out.splitlines()] + ["! " + line for line in err.splitlines()]
    lines = [line.rstrip() for line in lines]
    return lines + ([f"[{done.returncode}]"] if done.returncode else [])


def flaws(command, lines):
    """What breaks the rules of messages."""
    errors = [line[2:] for line in lines if line.startswith("! ")]
    status = int(lines[-1][1:-1]) if lines and lines[-1].startswith("[") else 0
    for line in errors:
        if not line.startswith("hodo: "):
            continue
        if not NEWS.match(line) and not re.fullmatch(r"hodo: [^:].*: \S.*", line):
            yield f"'{line}' does not say what to do"
        if len(line) > 400 or re.search(r"[\x00-\x1f\x7f]", line):
            yield f"'{line}' is no line"
    if status and not errors and "exit" not in command:
        yield "it fails without a word"
    if status == 2 and len(errors) != 1:
        yield "wrong usage is one line"
    if status not in (0, 1, 2, 126, 127) and "kill" not in command and "exit" not in command:
        yield f"exit status {status}"


def check(file):
    """Prints the faults; returns 0 or 1."""
    update, bad, said = os.environ.get("UPDATE_GOLDEN"), 0, []
    cases, lines = [], pathlib.Path(file).read_text(encoding="utf-8").splitlines()
    for line in lines:
        command = re.fullmatch(r"(root|view)?\$ (.*)", line)
        if command:
            cases.append((command[2], command[1], line, []))
        elif line.startswith("#") or not line:
            cases.append((None, None, line, []))
        else:
            cases[-1][3].append(line)
    with tempfile.TemporaryDirectory(prefix="hodo-golden-") as name:
        where = pathlib.Path(name)
        prepare(where, any(" plain" in (case[0] or "") for case in cases))
        bin_dir = where / "bin"
        bin_dir.mkdir()
        (bin_dir / "hodo").symlink_to(HODO)
        left_out = ("PAGER", "HODO_PAGER", "NO_COLOR", "CLICOLOR_FORCE", "HODO_LISTEN", "HODO_FLIGHT")
        env = {k: v for k, v in os.environ.items() if k not in left_out}
        env.update(PATH=f"{bin_dir}:/usr/bin:/bin:/usr/sbin:/sbin", TZ="UTC", LC_ALL="C.UTF-8", TERM="dumb",
                   XDG_RUNTIME_DIR=str(where / "run"))
        (where / "run").mkdir(mode=0o700)
        for command, where_only, head, wanted in cases:
            said.append(head)
            if command is None:
                continue
            why = {"root": place.no_mounts, "view": lambda: place.no_page(HODO)}.get(where_only, lambda: None)()
            if why:
                print(f"{file}: skipped: $ {command}: {why}")
                said += wanted
                continue
            got = run(command, where_only, where, env)
            said += got
            for flaw in flaws(command, got):
                print(f"{file}: $ {command}\n  {flaw}")
                bad = 1
            if got != wanted and not update:
                print("\n".join([f"{file}: $ {command}", *("- " + w for w in wanted), *("+ " + g for g in got)]))
                bad = 1
    if update:
        pathlib.Path(file).write_text("\n".join(said) + "\n", encoding="utf-8")
    return bad


def check_all():
    here, bad = pathlib.Path(__file__).parent, 0
    for verb in verbs():
        file = here / f"{verb}.txt"
        cases = file.read_text(encoding="utf-8").count("\n$ ") if file.exists() else 0
        if cases < 4:
            print(f"{verb}: {cases} cases in {file}: each verb has its messages there")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(check(sys.argv[1]) if len(sys.argv) > 1 else check_all())
