#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_pictures.py PREFIX SOURCE OUTPUT: makes the pictures of the documentation, in the folder OUTPUT.

A recording of examples/kv as in docs/tutorial.md: what commands print, by scripts/terminal-svg (python3-rich), and the
page of hodo view, by chromium. PREFIX is where hodo is installed. Prints what it cannot make; exit status 77 if
a missing program was the reason.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

prefix, source, output = (Path(arg).resolve() for arg in sys.argv[1:4])
LIMIT_S = 900
PNG_BYTES_MAX = 200000
missing = []


def environment(home):
    lib = next(prefix.glob("lib*/**/libhodo.so")).parent
    kept = {k: v for k, v in os.environ.items()
            if k == "HODO_CLOCK" or not k.startswith(("HODO_", "LD_")) and k != "XDG_RUNTIME_DIR"}
    return {**kept, "PATH": f"{prefix}/bin:{kept['PATH']}", "PKG_CONFIG_PATH": f"{lib}/pkgconfig", "HOME": home,
            "TMPDIR": home, "LC_ALL": "C.UTF-8"}


def run(*command, cwd, env, shell=False):
    done = subprocess.run(command[0] if shell else command, cwd=cwd, env=env, shell=shell, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
    if done.returncode:
        sys.exit(f"make_pictures: {' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


TERMINALS = {
    "record.svg": ("-w", "96", "--", "=hodo record ./kv", "hodo stat", "hodo print --limit 4"),
    "graph.svg": ("-w", "100", "-n", "30", "--", "-hodo record -q -o calls.data --functions"
                  " --trigger 'kv:entries if value == 131072 -> start'"
                  " --trigger 'kv:entries if value > 131072 -> stop' ./kv",
                  "hodo graph -q --function put --depth 2 calls.data"),
    "top.svg": ("-w", "100", "--", "hodo top --batch -d 1 -n 1 -- ./kv -t 4 -n 2000000 -d 2"),
    "report.svg": ("-w", "124", "--", "-hodo record -q -o request.data -e kv:request ./kv",
                   "hodo report --histogram request.data"),
}


def terminals(work, env):
    try:
        subprocess.run(["/usr/bin/python3", "-c", "import rich"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        missing.append("python3-rich")
        return
    for name, arguments in TERMINALS.items():
        run(source / "scripts/terminal-svg", "-o", output / name, *arguments, cwd=work, env=env)


def page(work, env):
    """The page in light and dark, at a size that a README shows."""
    if not any((Path(d) / "chromium").exists() for d in env["PATH"].split(":")):
        missing.append("chromium")
        return
    done = subprocess.run(["hodo", "view", "-o", "kv.html"], cwd=work, env=env, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    if done.returncode:
        missing.append(f"the page ({done.stderr.strip()})")
        return
    for scheme, option in (("light", "--blink-settings=preferredColorScheme=1"),
                           ("dark", "--blink-settings=preferredColorScheme=0")):
        png = output / f"view-{scheme}.png"
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", option,
            f"--user-data-dir={env['HOME']}/chromium", "--window-size=1200,680", "--virtual-time-budget=10000",
            f"--screenshot={png}", f"file://{work}/kv.html", cwd=work, env=env)
        if png.stat().st_size > PNG_BYTES_MAX:
            sys.exit(f"make_pictures: {png}: {png.stat().st_size} bytes, more than {PNG_BYTES_MAX}")


with tempfile.TemporaryDirectory(prefix="hodo-pictures.") as folder:
    env, work = environment(folder), f"{folder}/work"
    os.mkdir(work)
    output.mkdir(parents=True, exist_ok=True)
    run("cp", source / "examples/kv/kv.c", ".", cwd=work, env=env)
    run("cc -O2 -g -fno-inline kv.c -o kv -pthread $(pkg-config --cflags --libs hodo-functions)", cwd=work, env=env,
        shell=True)
    run("hodo", "record", "-q", "./kv", cwd=work, env=env)
    terminals(work, env)
    page(work, env)
for what in missing:
    print(f"make_pictures: skipped: no {what}")
sys.exit(77 if missing else 0)
