# SPDX-License-Identifier: MIT
"""kernel_boot - a machine in qemu that counts instructions: Debian's own kernel and a small initramfs."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from peers import BenchError

ROOT = Path(__file__).resolve().parent.parent
INSIDE = ROOT / "bench/kernel_guest"  # the files for the guest
sys.path.append(str(ROOT / "tests/world/kernel/lib"))
import guest  # noqa: E402
import kernels  # noqa: E402
import suite  # noqa: E402

TOOLS = ("qemu-system-x86_64", "busybox", "cpio", "depmod", "dpkg-deb", "gcc", "make", "strip")
PROGRAMS = ("dbench", "tbench", "tbench_srv", "tcc")  # which are run under the tracers
# One instruction is one nanosecond of the guest's clock and one tick of its time-stamp counter; nothing in
# it follows the host's time, so that the same guest does the same, instruction by instruction.
QEMU = ("qemu-system-x86_64 -accel tcg -m 1024 -smp 1 -icount shift=0,sleep=off -rtc base=2026-01-01,clock=vm "
        "-nographic -no-reboot -nodefaults -serial stdio").split()
COMMAND_LINE = "console=ttyS0 quiet panic=-1 clocksource=tsc tsc=reliable nokaslr"
KEPT_BYTES = 256 << 20  # of a sparse file: the disk on which the guest leaves what it kept
BIG_FUNCTIONS = 4000


def cache_dir():
    """Keeps what is downloaded and built for the benchmark."""
    path = kernels.cache().parent / "bench-kernel"
    path.mkdir(parents=True, exist_ok=True)
    return path


def run(cmd, **options):
    """Its output; BenchError with the end of it if it fails."""
    try:
        done = subprocess.run([str(c) for c in cmd], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", **options)
    except FileNotFoundError as error:
        raise BenchError(f"{cmd[0]} is not installed: run scripts/deps kernel bench") from error
    if done.returncode:
        raise BenchError(f"{' '.join(map(str, cmd))}: exit status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def check_tools(programs):
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [tool for tool in (*TOOLS, *(PROGRAMS if programs else ())) if not shutil.which(tool)]
    if missing:
        raise BenchError(f"not installed: {', '.join(missing)}: run scripts/deps kernel bench")


def find_kernel(version):
    """Debian's; without a version its own 6.1, which is what LTTng-modules 2.13 is made for."""
    try:
        return kernels.Kernel(version or kernels.versions()[0])
    except kernels.Unavailable as why:
        raise BenchError(str(why)) from why


def build_hodo(kernel):
    """hodo.ko with all its events."""
    try:
        return suite.build_hodo_ko(kernel, ROOT / "build/kernel" / kernel.version, None) / "hodo.ko"
    except guest.BuildError as why:
        raise BenchError(str(why)[-3000:]) from why


def big_source(path):
    """A C file as large as those of databases in one piece."""
    parts = ["struct item { int key; long sum; char name[24]; struct item *next; };\n"
             "static struct item items[64];\nextern int other(int, const char *);\n"]
    for n in range(BIG_FUNCTIONS):
        more = f"step_{n - 1}(item, key - 1, text)" if n else "0"
        parts.append(f"""
static long step_{n}(struct item *item, int key, const char *text)
{{
	long sum = {n % 17};
	int i;

	for (i = 0; i < key % {n % 7 + 2}; i++) {{
		switch ((item->key + i) & 7) {{
		case {n % 8}: sum += item->sum * {n}; break;
		case {(n + 3) % 8}: sum ^= (long)text[i] << {n % 13}; item = item->next ? item->next : items; break;
		default: sum -= item->name[i % 24] + other(i, "step {n}"); break;
		}}
	}}
	if (sum > {n * 31} && key != {n})
		return sum + {more};
	return sum ? sum : {n};
}}
""")
    parts.append(f"long all(int key) {{ return step_{BIG_FUNCTIONS - 1}(items, key, \"all\"); }}\n")
    path.write_text("".join(parts))


class Root(guest.Initramfs):
    """What every guest has."""

    def __init__(self, folder, kernel, programs):
        super().__init__(folder, kernel)
        for name in ("data", "ko", "run", "tmp"):
            (self.root / name).mkdir()
        self.add_file(INSIDE / "init", "init", 0o755)
        for script in INSIDE.glob("*.sh"):
            self.add_file(script, script.name)
        for name in ("micro", "count"):
            run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-static", "-pthread", f"-I{ROOT / 'include'}",
                 "-o", self.root / "bin" / name, INSIDE / f"{name}.c"])
        if programs:
            self.add_programs()

    def add_programs(self):
        for name in PROGRAMS:
            self.add_program(shutil.which(name))
        self.add_file("/usr/share/dbench/client.txt", "data/client.txt")
        big_source(self.root / "data/big.c")
        (self.root / "data/small.c").write_text("int f(int a) { return a * 3; }\n")

    def add_empty(self, folder):
        """The module of empty probes, built there."""
        folder.mkdir()
        shutil.copy(INSIDE / "empty.c", folder)
        (folder / "Kbuild").write_text("obj-m := empty.o\n")
        run(["make", "-C", self.kernel.headers, f"M={folder}", "modules"])
        self.add_own_module(folder / "empty.ko", "ko/empty.ko")

    def add_for_modprobe(self, paths):
        version = self.kernel.version
        for path in paths:
            self.add_own_module(path, f"lib/modules/{version}/extra/{path.name}")
        for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):  # what depmod reads
            self.add_file(self.kernel.modules / name, f"lib/modules/{version}/{name}")
        run(["depmod", "-b", self.root, version])


class Machine:
    """Boots with a plan, and returns the guest's output."""

    def __init__(self, work, kernel, initramfs, verbose=False):
        self.work = work
        self.kernel = kernel
        self.initramfs = initramfs
        self.verbose = verbose

    def boot(self, name, plan, timeout):
        """[[word…]] of the lines that the guest said, and the path of what it kept."""
        folder = self.work / name
        folder.mkdir()
        (folder / "plan.sh").write_text(plan)
        initramfs, disk = folder / "initramfs", folder / "disk"
        shutil.copy(self.initramfs, initramfs)
        with open(initramfs, "ab") as out:  # one archive after the other
            subprocess.run(["cpio", "--create", "--format=newc", "--owner=0:0", "--quiet"], input=b"plan.sh\n",
                           stdout=out, cwd=folder, check=True)
        with open(disk, "wb") as out:
            out.truncate(KEPT_BYTES)
        cmd = [*QEMU, "-kernel", self.kernel.unpacked_image(), "-initrd", initramfs, "-append", COMMAND_LINE,
               "-drive", f"file={disk},format=raw,if=virtio,cache=unsafe"]
        try:
            done = subprocess.run([str(c) for c in cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
                                  stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode("utf-8", "replace")
            raise BenchError(f"the guest ({name}) was not ready after {timeout} s:\n{said[-2000:]}") from error
        finally:
            initramfs.unlink()
        if self.verbose:
            print(done.stdout, file=sys.stderr)
        lines = [line.split()[1:] for line in re.findall(r"^@ .*$", done.stdout, re.M)]
        if done.returncode or ["done"] not in lines:
            raise BenchError(f"the guest ({name}) failed:\n{done.stdout[-3000:]}")
        return lines, disk
