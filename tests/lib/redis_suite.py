# SPDX-License-Identifier: MIT
"""redis_suite - Redis's own tests, from Debian's source package, run against Debian's programs."""
import os
import pathlib
import shutil
import sys

from hodo_test import SKIPPED, SOURCE, run, skip

PROGRAMS = ("redis-server", "redis-cli", "redis-benchmark", "redis-check-aof", "redis-check-rdb")
SHORT = ("unit/type/hash", "unit/type/incr", "unit/bitops", "unit/bitfield", "unit/keyspace", "unit/multi")
# What needs no server of its own, and what does.
SHARED = SHORT + ("unit/sort", "unit/type/zset", "unit/type/string", "unit/expire", "unit/scan", "unit/scripting",
                  "unit/functions", "unit/type/stream-cgroups", "unit/pubsub")
OWN = SHARED + ("unit/type/list", "unit/type/set", "unit/geo", "unit/dump", "unit/aofrw", "unit/acl", "unit/other",
                "unit/introspection", "unit/protocol", "unit/maxmemory", "integration/rdb", "integration/aof",
                "integration/replication-2", "integration/replication-4", "integration/redis-cli")


def source(package):
    """The folder of the package's source, fetched once (real/source.sh)."""
    cache = os.environ.get("HODO_TEST_CACHE") or pathlib.Path.home() / ".cache/hodo-test"
    done = run("bash", SOURCE / "tests/real/source.sh", package, cache)
    if done.returncode:
        print(done.stderr, end="")
        sys.exit(done.returncode if done.returncode == SKIPPED else 1)
    return pathlib.Path(done.stdout.strip())


def prepare(folder, server=None):
    """Makes a folder in which ./runtest runs the suite; server: what is run as its redis-server."""
    if not shutil.which("tclsh"):
        skip("tclsh is not installed: tcl")
    if not shutil.which("redis-server"):
        skip("redis-server is not installed: scripts/deps servers")
    package = source("redis")
    (folder / "src").mkdir(parents=True)
    shutil.copytree(package / "tests", folder / "tests")
    for name in ("runtest", "redis.conf"):
        shutil.copy(package / name, folder)
    for name in PROGRAMS:
        program = server if server and name == "redis-server" else shutil.which(name)
        (folder / "src" / name).symlink_to(program)


def command(units, *options):
    """What runs them, in that folder."""
    return ["./runtest", "--no-latency", *options, *(word for unit in units for word in ("--single", unit))]
