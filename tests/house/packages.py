#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages.py SOURCE [--keep FOLDER] - Debian's packages, as dpkg-buildpackage makes them of a copy of the tree:
lintian finds no error and no warning, libhodo calls no more than from any build, and in a bare Debian (bare_root.py)
they are installed, used by debian/tests/installed, and taken out again. There DKMS builds all modules, for Debian's own
kernel, with a few of its events. The packages with debug symbols are left out, which only takes time.

What ccache knows of the last time, if it is installed, is in the cache of bare_root.py. 77: skipped, since it may not
be done here, or Debian's mirror cannot be reached."""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bare_root  # pylint: disable=wrong-import-position
from bare_root import CACHE, Skip, output, run  # pylint: disable=wrong-import-position

PACKAGES = {"hodo", "libhodo0", "libhodo-read0", "libhodo-dev", "python3-hodo", "hodo-dkms", "hodo-doc"}
TOOLS = {"dpkg-buildpackage": "dpkg-dev", "dh": "debhelper", "dh_dkms": "dh-dkms", "dh_python3": "dh-python",
         "lintian": "lintian"}
MODULES = {"hodo", "hodo_sunrpc", "hodo_target"}
EXAMPLES = "/usr/share/doc/hodo-doc/examples"


def build(source, folder):
    """Builds the packages in that folder, from sources in its folder hodoscope."""
    missing = sorted(package for tool, package in TOOLS.items() if not shutil.which(tool))
    if missing:
        raise Skip(f"{' '.join(missing)} missing: scripts/deps root")
    tree = folder / "hodoscope"
    bare_root.clone(source, tree)
    environment = dict(os.environ, DEB_BUILD_OPTIONS=f"noautodbgsym parallel={os.cpu_count() or 1}")
    environment.setdefault("npm_config_cache", os.path.expanduser("~/.npm"))  # debhelper sets another home
    if shutil.which("ccache"):
        environment.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache",
                           CCACHE_DIR=str(CACHE / "compiled"), CCACHE_UMASK="000", CCACHE_NOHASHDIR="1",
                           CCACHE_BASEDIR=str(tree), CCACHE_MAXSIZE="1G")
        (CACHE / "compiled").mkdir(parents=True, exist_ok=True)
    done = run("dpkg-buildpackage", "-us", "-uc", cwd=tree, env=environment)
    print(done.stdout, done.stderr, sep="\n", flush=True)
    if done.returncode != 0:
        raise AssertionError("dpkg-buildpackage fails")
    return tree


def check_packages(root, folder, tree):
    made = {file.name.split("_")[0] for file in folder.glob("*.deb")}
    root.expect(f"these packages are made: {' '.join(sorted(made))}", made == PACKAGES)
    changes = list(folder.glob("*.changes"))
    done = run("lintian", "--fail-on", "error,warning", *changes)
    print(done.stdout, done.stderr, flush=True)
    root.expect("lintian finds nothing", done.returncode == 0 and not re.search("(?m)^[EW]: ", done.stdout))
    # Built with other compiler options than ours, some of which call more of libc.
    libraries = [part for library in tree.glob("debian/libhodo0/usr/lib/*/libhodo*.so.0.1.0")
                 for part in ("--library", library)]
    done = run(tree / "scripts/check-arrows", *libraries)
    root.expect(f"check-arrows finds nothing: {done.stdout}{done.stderr}", len(libraries) == 4 and done.returncode == 0)


def install(root, what):
    root.need("root", f"DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install {what} >/dev/null",
              "/")


def check_used(root):
    install(root, "gcc libc6-dev make pkg-config $(ls /debs/*.deb | grep -v dkms)")
    done = root.run("user", "/debs/installed", "/")
    root.expect("what is installed can be used", done.returncode == 0)
    done = root.run("root", "hodo record -k true", "/")
    root.expect(f"the package of the kernel's module is named: {done.stderr}",
                done.returncode != 0 and "hodo-dkms" in done.stderr)


def check_modules(root):
    """EVENTS, as in tests/world/kernel/dkms.sh: all of the kernel's events take minutes."""
    root.environment["EVENTS"] = "sched irq sunrpc"
    install(root, "linux-headers-amd64 /debs/hodo-dkms_*.deb")
    done = root.need("root", "dkms status hodo; find /lib/modules/ -name 'hodo*.ko*'", "/")
    root.expect("DKMS has installed hodo", re.search(r"hodo/0\.1\.0, .*: installed", done.stdout))
    built = set(re.findall(r"/updates/dkms/(hodo\w*)\.ko", done.stdout))
    root.expect(f"DKMS has built {' '.join(sorted(built))}", built == MODULES)


def check_removed(root):
    root.need("user", f"cp -r {EXAMPLES}/builds ~/builds && make -C ~/builds", "/")
    root.need("root", f"apt-get -qq -y purge {' '.join(PACKAGES)} >/dev/null", "/")
    root.expect("a program with events and slots runs where hodo is not installed",
                root.run("user", "~/builds/worker", "/").stdout == "sum 55\n")
    root.expect("one that is linked with libhodo does not", root.run("user", "~/builds/monitor", "/").returncode == 127)
    left = root.need("root", "find /etc /usr /var/lib -name '*hodo*'", "/").stdout
    root.expect(f"nothing is left: {left}", not left)


def check(source, folder, top):
    tree = build(source, folder)
    packages = CACHE / "installed"
    packages.mkdir(exist_ok=True)
    root = bare_root.Root(top, packages)
    check_packages(root, folder, tree)
    debs = top / "debs"
    debs.mkdir()
    for file in [*folder.glob("*.deb"), source / "debian/tests/installed"]:
        shutil.copy(file, debs)
    debs.chmod(0o755)
    root.need("root", "apt-get -q update && useradd -m -s /bin/bash user", "/")
    check_used(root)
    check_modules(root)
    check_removed(root)
    return root.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path, help="make the root and the packages there")
    args = parser.parse_args()
    try:
        bare_root.check_place()
        with contextlib.ExitStack() as stack:
            folder = args.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hodo-debs.")))
            for name in ("packages", "root"):
                (folder / name).mkdir(parents=True)
            (folder / "root").chmod(0o755)
            stack.enter_context(bare_root.locked("installed"))
            failed = check(args.source.resolve(), folder / "packages", folder / "root")
    except Skip as why:
        print(f"skipped: {why}")
        return 77
    for what in failed:
        print(f"packages: not so: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
