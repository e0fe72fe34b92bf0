#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_links.py SOURCE HODO: links of the documentation resolve, and what it names exists.

Files and headings that links name; pages of the manual; verbs and options of commands, also in blocks that do not run;
scripts, and rows of bench/run.
"""
import re
import subprocess
import sys
from pathlib import Path

source, hodo = Path(sys.argv[1]), sys.argv[2]
wrong = []
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
PICTURE = re.compile(r'(?:src|srcset)="([^"]+)"')
MANUAL = re.compile(r"`(hodo(?:-[a-z]+)?)\(([1-9])\)`")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
CODE = re.compile(r"`([^`]+)`")


def pages():
    yield from (source / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    for folder in ("docs", "examples", "bench", "tests"):
        yield from sorted((source / folder).rglob("*.md"))


def split(text):
    """(prose, code blocks)"""
    prose, code, block = [], [], None
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            block = [] if block is None else code.append((kind, block))
            kind = line.strip()[3:]
        elif block is not None:
            block.append(line)
        else:
            prose.append(line)
    return "\n".join(prose), code


def anchors(path):
    """The anchors that GitHub makes of headings."""
    found = set()
    for line in split(path.read_text(encoding="utf-8"))[0].split("\n"):
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            found.add(slug if slug not in found else f"{slug}-1")
    return found


def check_links(path, prose):
    for target in LINK.findall(prose) + PICTURE.findall(prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            wrong.append(f"{path}: {target}: no such file")
        elif anchor and anchor not in anchors(file):
            wrong.append(f"{path}: {target}: no such heading")
        else:
            linked.add(file)


def help_of(verb):
    if verb not in helps:
        text = "".join(subprocess.run([hodo, verb, option], capture_output=True, text=True).stdout
                       for option in ("--help", "--help=all"))
        manual = source / f"docs/man/hodo-{verb}.1"
        text += manual.read_text(encoding="utf-8").replace("\\-", "-") if manual.exists() else ""
        helps[verb] = text if "usage" in text else None
    return helps[verb]


def check_command(path, command):
    """Each "hodo VERB OPTIONS": the verb exists, and has these options."""
    for part in re.split(r"[;|&]+ ?|\$\(", command):
        words = re.match(r"(?:[A-Z_]+=\S* )*hodo ([a-z]+)\b(.*)", part.strip().lstrip("$# "))
        if not words:
            continue
        verb, rest = words[1], re.sub(r"'[^']*'", "''", words[2])
        if help_of(verb) is None:
            wrong.append(f"{path}: {part.strip()}: no such verb")
            continue
        rest = re.split(r" -- | \./| [A-Z]{3}\b", rest)[0]
        for option in OPTION.findall(rest):
            if not re.search(re.escape(option) + r"(?![\w-])", helps[verb]):
                wrong.append(f"{path}: {part.strip()}: {option} is no option of {verb}")


def check_scripts(path, code):
    for name in re.findall(r"(?<![\w/.-])((?:scripts|bench)/[a-z-]+)(?![\w/.-])", code):
        if not (source / name).exists():
            wrong.append(f"{path}: {name}: no such file")
    for row in re.findall(r"--row ([a-z_]+)", code):
        if row not in rows:
            wrong.append(f"{path}: bench/run has no row {row}")


rows = re.findall(r"[a-z_]+", subprocess.run([sys.executable, source / "bench/run", "--help"], capture_output=True,
                                             text=True).stdout.partition("only these:")[2].partition("--build")[0])
helps, linked = {}, set()
for page in pages():
    text = page.read_text(encoding="utf-8")
    prose, code = split(text)
    check_links(page, CODE.sub("", prose))
    for name, section in MANUAL.findall(prose):
        if not (source / f"docs/man/{name}.{section}").exists():
            wrong.append(f"{page}: {name}({section}): no such page of the manual")
    if page.name != "CHANGELOG.md" and "design" not in page.parts:
        for command in CODE.findall(prose):
            check_command(page, command.replace("\n", " "))
            check_scripts(page, command)
        for kind, block in code:
            if kind == "console":
                for line in block:
                    if line.startswith(("$ ", "# ")):
                        check_command(page, line)
for page in sorted((source / "docs").rglob("*.md")):
    if page not in linked:
        wrong.append(f"{page}: no page links to it")
for page in sorted((source / "docs/man").iterdir()):
    if page not in linked:
        wrong.append(f"{page}: docs/reference.md does not link to it")
print("\n".join(wrong) or "all links and names are good")
sys.exit(bool(wrong))
