#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_pictures.py PREFIX SOURCE: the documentation's pictures can be made again, and the present ones are sound."""
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

prefix, source = sys.argv[1:3]
BYTES_MAX = 200000
WORDS = {"record.svg": ["hodo stat", "kv:request.begin", "no event was lost", "kv:grow"],
         "graph.svg": ["hodo graph", "DURATION", "put()"],
         "top.svg": ["hodo top", "SPAN", "ALL P99", "kv:request", "COUNTER", "kv:entries"],
         "report.svg": ["hodo report", "kv:request"]}


def check_svg(path):
    """The picture fetches and runs nothing, and it has the text."""
    root = ET.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    text = "".join(root.itertext()).replace("\xa0", " ")
    for word in WORDS[path.name]:
        if word == "no event was lost" and "lost" in text:
            continue
        assert word in text, f"{path}: no {word!r}"
    raw = path.read_text(encoding="utf-8")
    for evil in ("<script", "http://", "https://", "@import", "url(h"):
        assert evil not in raw.replace('xmlns="http://www.w3.org/2000/svg"', ""), f"{path}: {evil}"


def check_png(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    width, height = struct.unpack(">II", data[16:24])
    assert width >= 800 and height >= 400, (path, width, height)
    assert len(data) > 10000, f"{path}: {len(data)} bytes: an empty page?"


def check(folder):
    pictures = sorted(Path(folder).glob("*.*"))
    for path in pictures:
        assert path.stat().st_size <= BYTES_MAX, f"{path}: {path.stat().st_size} bytes"
        check_svg(path) if path.suffix == ".svg" else check_png(path)
    return {path.name for path in pictures}


kept = check(f"{source}/docs/pictures")
with tempfile.TemporaryDirectory(prefix="hodo-pictures.") as folder:
    done = subprocess.run([sys.executable, Path(__file__).with_name("make_pictures.py"), prefix, source, folder],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, end="")
    if done.returncode not in (0, 77):
        sys.exit(1)
    made = check(folder)
    if done.returncode == 0 and made != kept:
        sys.exit(f"made: {sorted(made)}; docs/pictures has {sorted(kept)}")
sys.exit(done.returncode)
