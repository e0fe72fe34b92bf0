# SPDX-License-Identifier: MIT
"""redis_suite - Redis's own tests, from Debian's source package, run against Debian's programs."""
import os
import pathlib
import shutil
import sys

from hodo_test import SKIPPED, SOURCE, run, skip

CACHE = os.environ.get("HODO_TEST_CACHE") or pathlib.Path.home() / ".cache/hodo-test"
PROGRAMS = ("redis-server", "redis-cli", "redis-benchmark", "redis-check-aof", "redis-check-rdb")
SHORT = ("unit/type/hash", "unit/type/incr", "unit/bitops", "unit/bitfield", "unit/keyspace", "unit/multi")
# Tests that need no server of their own, and tests that do.
SHARED = SHORT + ("unit/sort", "unit/type/zset", "unit/type/string", "unit/expire", "unit/scripting",
                  "unit/functions", "unit/type/stream-cgroups", "unit/pubsub")
OWN = SHARED + ("unit/type/list", "unit/type/set", "unit/geo", "unit/dump", "unit/aofrw", "unit/acl", "unit/other",
                "unit/scan", "unit/introspection", "unit/protocol", "unit/maxmemory", "integration/rdb",
                "integration/aof", "integration/replication-2", "integration/replication-4", "integration/redis-cli")

# The suite takes the process that it started for the server; if that runs in a child, the log has the child's ID.
STARTS = """        set pid [exec /usr/bin/env ASAN_OPTIONS=allocator_may_return_null=1 {*}$cmd""" \
         """ >> $stdout 2>> $stderr &]
"""
STARTS_CHILD = """        set before 0
        catch {set before [llength [regexp -all -inline { PID: [0-9]+} [exec cat $stdout]]]}
""" + STARTS + """        for {set i 0} {$i < 1200} {incr i} {
            set servers [regexp -all -inline { PID: [0-9]+} [exec cat $stdout]]
            if {[llength $servers] > $before} {
                set pid [lindex [lindex $servers end] 1]
                break
            }
            after 100
        }
"""


def source(package):
    """The folder of the package's source, fetched once (real/source.sh)."""
    done = run("bash", SOURCE / "tests/world/programs/source.sh", package, CACHE)
    if done.returncode:
        print(done.stderr, end="")
        sys.exit(done.returncode if done.returncode == SKIPPED else 1)
    return pathlib.Path(done.stdout.strip())


def prepare(folder, server=None):
    """Makes a folder in which ./runtest runs the suite; server: the command that runs redis-server in a child."""
    if not shutil.which("tclsh"):
        skip("tclsh is not installed: tcl")
    if not shutil.which("redis-server"):
        skip("redis-server is not installed: scripts/deps servers")
    package = source("redis")
    (folder / "src").mkdir(parents=True)
    shutil.copytree(package / "tests", folder / "tests")
    for name in ("runtest", "redis.conf"):
        shutil.copy(package / name, folder)
    if server:
        script = folder / "tests/support/server.tcl"
        text = script.read_text()
        assert STARTS in text
        script.write_text(text.replace(STARTS, STARTS_CHILD))
    for name in PROGRAMS:
        program = server if server and name == "redis-server" else shutil.which(name)
        (folder / "src" / name).symlink_to(program)


def command(units, *options):
    """The command that runs these tests, in that folder; several may run at a time."""
    port = 22000 + os.getpid() % 30 * 1000  # the suite also takes the ports that are 10000 above these
    return ["./runtest", "--no-latency", "--baseport", str(port), "--portcount", "900", *options,
            *(word for unit in units for word in ("--single", unit))]
