# SPDX-License-Identifier: MIT
"""python_suite - CPython's own tests, for Debian's python3. They are its package libpython3-testsuite; if that
is not installed, this fetches it once, and keeps it in $HODO_TEST_CACHE (~/.cache/hodo-test)."""
import os
import pathlib
import shutil

from hodo_test import run, skip

PYTHON = "/usr/bin/python3"
SHORT = "json struct generators contextlib exceptions threadsignals".split()
LONG = SHORT + "math dict coroutines fork1 thread queue list set zlib pickle".split()
TESTS = """json re struct math dict exceptions generators coroutines signal threadsignals sys_settrace gc faulthandler
    hashlib fork1 wait3 contextlib zlib list set""".split()


def has_tests(env):
    return run(PYTHON, "-c", "import test.test_json", env=env).returncode == 0


def fetch(folder, version):
    """The tests, beside those modules of the package `test` that python3 has without them."""
    unpacked, part = folder / "unpacked", f"usr/lib/python{version}/test"
    shutil.rmtree(folder, ignore_errors=True)
    unpacked.mkdir(parents=True)
    package = f"libpython{version}-testsuite"
    done = run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package, cwd=folder)
    debs = sorted(folder.glob("*.deb"))
    if done.returncode or not debs:
        skip(f"CPython's tests are not installed, and cannot be fetched: libpython3-testsuite: {done.stderr.strip()}")
    run("dpkg-deb", "-x", debs[0], unpacked, status=0)
    shutil.copytree(f"/{part}", unpacked / part, dirs_exist_ok=True)
    shutil.move(unpacked / part, folder / "test")
    shutil.rmtree(unpacked)


def environment():
    """An environment in which `python3 -m test` finds tests."""
    env = dict(os.environ)
    if not os.path.exists(PYTHON):
        skip(f"no {PYTHON}")
    if has_tests(env):
        return env
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        skip("CPython's tests are not installed: libpython3-testsuite")
    version = run(PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])", status=0).stdout.strip()
    cache = pathlib.Path(env.get("HODO_TEST_CACHE") or pathlib.Path.home() / ".cache/hodo-test")
    folder = cache / f"python{version}-tests"
    if not (folder / "test/test_json").is_dir():
        fetch(folder, version)
    env["PYTHONPATH"] = str(folder)
    if not has_tests(env):
        skip("CPython's tests do not go with its python3: libpython3-testsuite")
    return env


def command(names, *options):
    return [PYTHON, "-m", "test", *options, *(f"test_{name}" for name in names)]
