# SPDX-License-Identifier: MIT
"""kernel_lttng - LTTng-modules for the guest: Debian's source package, built privately."""
import os
import re
import shutil
import tarfile
from pathlib import Path

from kernel_boot import cache_dir, kernels, run
from peers import BenchError, babeltrace_counts

PROBES = ("sched", "irq", "net", "napi", "block", "x86-exceptions")
# The daemon loads each of the others for one of its kinds of channels and events.
MODULES = re.compile(r"lttng-(lib-ring-buffer|counter.*|wrapper|clock|tracer|statedump|ring-buffer-.*|kprobes|kretprobes"
                     r"|uprobes|probe-(%s|statedump))$" % "|".join(PROBES))
# Does not compile with 6.1's headers of Debian, which have a later kernel's hrtimer_start.
WITHOUT = "lttng-probe-timer.o"
PROGRAMS = ("/usr/bin/lttng", "/usr/bin/lttng-sessiond", "/usr/lib/x86_64-linux-gnu/lttng/libexec/lttng-consumerd")
SCHEMA = "/usr/share/xml/lttng/session.xsd"  # without it the daemon exits silently


def version():
    done = run(["apt-cache", "show", "--no-all-versions", "lttng-modules-dkms"])
    found = re.search(r"^Version: (\S+)", done, re.MULTILINE)
    if not found:
        raise BenchError("apt knows no lttng-modules-dkms: run apt-get update")
    return found.group(1).replace(":", "_")


def build(kernel):
    """The folder with LTTng's modules for this kernel; built once."""
    target = cache_dir() / f"lttng-modules-{version()}-{kernel.version}"
    with kernels.locked(target.with_suffix(".lock")):
        if (target / "built").exists():
            return target
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", "lttng-modules-dkms"], cwd=target)
        run(["dpkg-deb", "-x", next(target.glob("*.deb")), target / "unpacked"])
        source = next(target.glob("unpacked/usr/src/lttng-modules-*"))
        kbuild = source / "src/probes/Kbuild"
        lines = kbuild.read_text().splitlines(keepends=True)
        kbuild.write_text("".join(line for line in lines if WITHOUT not in line))
        run(["make", f"-j{len(os.sched_getaffinity(0))}", "-C", kernel.headers, f"M={source}", "modules",
             "CONFIG_LTTNG=m", "CONFIG_LTTNG_CLOCK_PLUGIN_TEST=m"])
        for path in source.rglob("*.ko"):
            shutil.copy(path, target)
        shutil.rmtree(target / "unpacked")
        (target / "built").touch()
    return target


def install(root):
    """The modules, the daemons and what they ask for, into the guest."""
    root.add_for_modprobe([path for path in sorted(build(root.kernel).glob("*.ko")) if MODULES.match(path.stem)])
    for path in PROGRAMS:
        if not Path(path).exists():
            raise BenchError(f"{path} is not there: run scripts/deps bench")
        root.add_program(path, path)
    root.add_file(SCHEMA, SCHEMA)


def read_kept(disk, work):
    """{name: (events, bytes)} written by each session in the guest, from the snapshots that it kept.

    A snapshot holds the last packets. Each packet's number says how many there were before it, all of one
    size; so many events as there are in the packets that were kept, on average, were in each.
    """
    folder = work / "kept"
    folder.mkdir()
    with tarfile.open(disk, ignore_zeros=False) as tar:
        tar.extractall(folder)
    result = {}
    for session in sorted(folder.iterdir()):
        packets, content, seq, packet_bytes = 0, 0, 0, 0
        for stream in session.rglob("ch_*"):
            for header in packet_headers(stream.read_bytes()):
                packets += 1
                content += header["content"]
                seq = max(seq, header["seq"])
                packet_bytes = max(packet_bytes, header["size"])
        if not packets:
            raise BenchError(f"LTTng's snapshot {session.name} is empty")
        events, _ = babeltrace_counts(session)
        written = seq * packet_bytes + content / packets
        result[session.name] = (events * written / content, written)
    return result


def packet_headers(data):
    """Of LTTng-modules 2.13's streams, as its metadata says: magic, uuid, stream id, instance; begin, end, content
    size, packet size, sequence number, events discarded, CPU."""
    at = 0
    while at < len(data):
        if data[at:at + 4] != b"\xc1\x1f\xfc\xc1":
            raise BenchError("LTTng's packets are not as expected")
        content, size, seq = (int.from_bytes(data[at + off:at + off + 8], "little") for off in (48, 56, 64))
        yield {"content": content // 8, "size": size // 8, "seq": seq}
        at += size // 8
