# SPDX-License-Identifier: MIT
"""A guest: an initramfs with hodo and the tests' needs, and Debian's kernel, which runs it in qemu."""
import ctypes
import functools
import lzma
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time

LIB = pathlib.Path(__file__).resolve().parent
ROOT = LIB.parents[3]
BOOT_SECONDS = 180  # time for booting, on a machine that also does other things
RESULTS_BYTES = 4 << 30  # size of a sparse file

# Lines that the log of a healthy kernel does not have.
BAD_LOG = re.compile(
    r"WARNING:|BUG:|BUG at|Oops|Call Trace|detected stall|detected expedited stall|soft lockup|hard LOCKUP|"
    r"blocked for more than|general protection|unable to handle|double fault|stack guard|refcount_t|"
    r"suspicious RCU|inconsistent lock|possible .*(deadlock|recursive locking)|circular locking|scheduling while atomic|"
    r"sleeping function called|UBSAN|KASAN|KFENCE|kmemleak: \d+ new|list_(add|del) corruption|Bad page|"
    r"already present|Kernel panic|Out of memory|invoked oom-killer|disabling lockdep|leaked|"
    r"Objects remaining|slab .* corrupted|percpu.*(leak|warning)", re.I)


def bad_lines(log):
    return [line for line in log.splitlines() if BAD_LOG.search(line)]


class BuildError(Exception):
    pass


def run_build(command, **more):
    """Runs a command quietly; raises BuildError with its output."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class Initramfs:
    """A folder that becomes the guest's root."""

    def __init__(self, folder, kernel):
        self.root = pathlib.Path(folder)
        self.kernel = kernel
        for name in ("bin", "sbin", "usr/bin", "usr/sbin", "proc", "sys", "dev", "etc", "root", "tests", "lib/order"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        busybox = shutil.which("busybox")
        shutil.copy(busybox, self.root / "bin" / "busybox")
        applets = subprocess.run([busybox, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        for applet in applets:
            if applet != "busybox":
                (self.root / "bin" / applet).symlink_to("busybox")
        (self.root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
        (self.root / "etc" / "group").write_text("root:x:0:\nnogroup:x:65534:\n")
        (self.root / "tests" / "network").write_text("no\n")
        self.add_file(LIB / "init", "init", 0o755)
        shutil.copy(LIB / "guest.sh", self.root / "lib" / "guest.sh")
        for module in ("virtio_pci", "virtio_blk"):
            self.add_module(module)

    def add_file(self, source, target, mode=None):
        to = self.root / target.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, to)
        if mode is not None:
            to.chmod(mode)

    def add_program(self, source, target=None):
        """Adds a program or a shared library of this machine, with the libraries that it needs, all in their places."""
        source = pathlib.Path(source)
        target = target or f"/usr/bin/{source.name}"
        self.add_file(source, target)
        subprocess.run(["strip", "-g", self.root / target.lstrip("/")], stderr=subprocess.DEVNULL, check=False)
        said = subprocess.run(["ldd", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout
        for library in re.findall(r"(?:=>|^)\s*(/\S+) \(0x", said, re.M):
            if not (self.root / library.lstrip("/")).exists():
                self.add_file(library, library)

    def add_hodo(self, build):
        """Adds the command and the library, from a build of this tree."""
        self.add_program(build / "src" / "cli" / "hodo")
        self.add_program(build / "src" / "user" / "libhodo.so.0", "/usr/lib/libhodo.so.0")

    def add_own_module(self, source, target):
        self.add_file(source, target)
        subprocess.run(["strip", "-g", self.root / target.lstrip("/")], check=True)

    def add_module(self, name):
        """Adds a module of the kernel, and those that it needs; the guest's `module NAME` loads them."""
        paths = []
        for file in self.kernel.order(name):
            target = self.root / "lib" / "kernel" / file.name.removesuffix(".xz")
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                data = file.read_bytes()
                target.write_bytes(lzma.decompress(data) if file.suffix == ".xz" else data)
            paths.append(f"/lib/kernel/{target.name}\n")
        (self.root / "lib" / "order" / name).write_text("".join(paths))

    def pack(self, file):
        names = b"\0".join(sorted(str(path.relative_to(self.root)).encode() for path in self.root.rglob("*")))
        with open(file, "wb") as out:
            subprocess.run(["cpio", "--null", "--create", "--format=newc", "--owner=0:0", "--quiet"], input=names,
                           stdout=out, cwd=self.root, check=True)


def die_with_parent():
    """Runs in the child: however this program ends, the virtual machine ends, too."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@functools.cache
def takes_turns():
    """Whether one thread of the host must run all CPUs of the guest, in turn. QEMU before 8.1 lets a CPU run code that
    another CPU is replacing, as static keys and ftrace do: it executes a breakpoint that is no longer there."""
    said = subprocess.run(["qemu-system-x86_64", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    found = re.search(r"version (\d+)\.(\d+)", said)
    return not found or (int(found.group(1)), int(found.group(2))) < (8, 1)


class Guest:
    """One boot. The output on its second serial port comes line by line; the kernel's log is in a file."""

    def __init__(self, kernel, initramfs, folder, memory=1024, cpus=2, network=False, disk_mb=0, append="", qemu=(),
                 turns=False, packed=False):
        self.folder = pathlib.Path(folder)
        self.console = self.folder / "console"
        self.results = self.folder / "results"
        self.command = [
            "qemu-system-x86_64", "-accel", "tcg,thread=single" if turns or takes_turns() else "tcg", "-m", str(memory),
            "-smp", str(cpus), "-kernel",
            str(kernel.image if packed else kernel.unpacked_image()), "-initrd", str(initramfs), "-append",
            # A guest that has to wait for the host must not look as if it hangs: its clock is the host's. One that
            # does hang ends with its test's time.
            "console=ttyS0 loglevel=5 panic=-1 oops=panic clocksource=tsc tsc=reliable no_timer_check nowatchdog "
            "rcupdate.rcu_cpu_stall_timeout=300 sysctl.kernel.hung_task_timeout_secs=0 log_buf_len=1M "
            f"{append}".strip(),
            "-display", "none", "-no-reboot", "-nodefaults", "-serial", f"file:{self.console}"]
        self.after = list(qemu)
        self._disk("results", self.results, RESULTS_BYTES)
        if disk_mb:
            self._disk("scratch", self.folder / "scratch", disk_mb << 20)
        if network:
            self.command += ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile="]
        self.process = None

    def _disk(self, name, file, size):
        with open(file, "wb") as out:
            out.truncate(size)
        self.command += ["-drive", f"if=none,id={name},format=raw,file={file}", "-device",
                         f"virtio-blk-pci,drive={name},serial={name}"]

    def run(self, line_came, limit):
        """Boots, and calls line_came(TEXT) for each line. Returns None, or why it ended too early. limit() returns
        the time, in seconds of time.monotonic(), when patience ends."""
        self.process = subprocess.Popen([*self.command, "-serial", "stdio", *self.after], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        timed_out = threading.Event()
        over = threading.Event()

        def watch():
            while not over.wait(0.5):
                if time.monotonic() > limit():
                    timed_out.set()
                    self.end()
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            for line in self.process.stdout:
                line_came(line.decode(errors="replace").rstrip("\r\n"))
            status = self.process.wait()
        finally:
            over.set()
            self.end()
        if timed_out.is_set():
            return "it took too long"
        return f"qemu ended with status {status}" if status != 0 else None

    def shell(self):
        """Interactive, on this terminal."""
        return subprocess.call([*self.command, "-serial", "mon:stdio", *self.after])

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def log(self):
        """The kernel's log, as far as its console shows it."""
        return self.console.read_text(errors="replace") if self.console.exists() else ""

    def take_results(self, offset_mb, folder):
        """Unpacks what the guest has written there."""
        with open(self.results, "rb") as disk:
            disk.seek(offset_mb << 20)
            with tarfile.open(fileobj=disk, mode="r|") as tar:
                for member in tar:
                    if member.isdir() or member.isreg() or member.issym():
                        tar.extract(member, folder, set_attrs=False)


def qemu_missing():
    """Names what must be installed first; "" if nothing."""
    tools = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "strip": "binutils",
             "make": "make", "gcc": "gcc"}
    missing = [package for tool, package in tools.items() if not shutil.which(tool)]
    return f"not installed: {' '.join(missing)}" if missing else ""


def clean_environment():
    """Keeps the caller's settings of hodo out of builds and tests."""
    for name in [name for name in os.environ if name.startswith("HODO_")]:
        del os.environ[name]
    sys.dont_write_bytecode = True
