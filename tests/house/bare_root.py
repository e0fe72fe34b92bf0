#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bare_root.py SOURCE [--keep FOLDER] - the README's commands in a bare Debian, so that no package is forgotten.

Makes a root of Debian with git alone, clones the tree into it, and does what a newcomer does: as a plain user without
npm, who has root install exactly the packages that scripts/demo and scripts/test name; then as root, below a home
that nobody else may enter, with npm. scripts/demo runs whole; scripts/test, as the user, up to a list of its tests and
some quick ones, of which those that lack something there say so (--tests-as-root: as root, too).

What was compiled for the user is not compiled again for root, nor is what has not changed since the last time: of that,
ccache, which comes when the packages for building have been named, knows the outcome.

The bare root, Debian's packages and what ccache knows are kept in ${XDG_CACHE_HOME:-~/.cache}/hodo/bare-root. 77: skipped, since it may not be done here, or Debian's mirror cannot be reached."""
import argparse
import contextlib
import fcntl
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
RELEASE = "bookworm"
COMPILED = "/var/cache/hodo-ccache"  # in the root
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "hodo" / "bare-root"
# Quick tests of many suites; those of the first line need a place that not every machine has.
NAMED = ["verb.attach.other", "verb.attach.reuse", "docs.page.tutorial", "verb.golden.export", "verb.golden.record",
         "verb.record.unwritable",
         "docs.example.hello", "docs.example.sqlite", "docs.man", "house.arrows", "house.style",
         "program.processes.fork", "unit.arch.ring", "unit.core.fields", "unit.func.mangled", "unit.read.events",
         "unit.record.catalog", "unit.record.conditions", "unit.sym.recordings", "unit.user.counter", "verb.all.help",
         "verb.attach.verbs", "verb.graph.golden", "verb.print.golden", "verb.record_limits.options",
         "verb.report.Same"]
# Progress messages of the scripts; anything else on their standard error would surprise a newcomer.
SAID = re.compile(r"^(==> (installing|building|testing) .*|    left out: .*|hodo: .* events of .*"
                  r"|hodo: when its buffer is full, .*|.*test-kernel: skipped.*)$")
# Runs argv[1:] in the root, with private mounts and processes, which end with it.
ENTER = """set -e
root=$1 packages=$2 compiled=$3
shift 3
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mkdir -p "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
mount --bind "$packages" "$root/var/cache/apt/archives"
mkdir -p "$root/var/cache/hodo-ccache"
mount --bind "$compiled" "$root/var/cache/hodo-ccache"
exec chroot "$root" "$@"
"""


class Skip(Exception):
    """Why the test cannot run here."""


def run(*command, **how):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, **how)


def output(*command):
    done = run(*command)
    return done.stdout if done.returncode == 0 else ""


def mirrors():
    """This machine's mirrors, as lines of sources.list."""
    lines = [f"deb {line}" for line in output(
        "apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)",
        "Identifier: Packages").splitlines() if line.split()[1].startswith(RELEASE) and line.endswith(" Debian")]
    return [line.removesuffix(" Debian") for line in lines if line.split()[2] != f"{RELEASE}-backports"]


def check_place():
    if os.geteuid() != 0:
        raise Skip("only root can make a root of Debian")
    for tool in ("debootstrap", "unshare", "chroot", "apt-config"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed: scripts/deps root")
    done = run("unshare", "--mount", "--pid", "--fork", "sh", "-c", "mount --make-rprivate / && mount -t tmpfs none /mnt")
    if done.returncode != 0:
        raise Skip(f"no mounts of its own here: {done.stderr.strip()}")
    if not mirrors():
        raise Skip(f"this machine knows no mirror of Debian {RELEASE}")


@contextlib.contextmanager
def locked(name):
    """Holds the lock of that name. Each test with a root has its apt cache, which has one user at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f".lock-{name}", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_bare():
    """The archive of the bare root; made if it does not exist."""
    archive = CACHE / f"{RELEASE}.tar"
    with locked("made"):
        if not archive.exists():
            debootstrap(archive)
    return archive


def debootstrap(archive):
    with tempfile.TemporaryDirectory(prefix="debootstrap.", dir=CACHE) as folder:
        mirror = next(line.split()[1] for line in mirrors() if line.split()[2] == RELEASE)
        done = run("debootstrap", "--variant=minbase", "--include=git", RELEASE, f"{folder}/root", mirror)
        if done.returncode != 0:
            raise Skip(f"debootstrap: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
        part = pathlib.Path(folder, "root.tar")
        subprocess.run(["tar", "-C", f"{folder}/root", "--numeric-owner", "-cf", part, "."], check=True)
        part.rename(archive)


class Root:
    """A private root, and what happens in it. The log has the commands and their output."""

    def __init__(self, folder, packages):
        self.folder, self.packages, self.failed = folder, packages, []
        (CACHE / "compiled").mkdir(exist_ok=True)
        (CACHE / "compiled").chmod(0o1777)
        subprocess.run(["tar", "-C", folder, "--numeric-owner", "-xf", make_bare()], check=True)
        (folder / "etc/apt/sources.list").write_text("\n".join(mirrors()) + "\n")
        # Settings of the machine, such as proxies.
        settings = [line for line in output("apt-config", "dump").splitlines() if re.match(r'Acquire::\S+ ".', line)]
        (folder / "etc/apt/apt.conf.d/90machine").write_text("\n".join(settings) + "\n")
        (folder / "etc/dpkg/dpkg.cfg.d/unsafe").write_text("force-unsafe-io\n")  # the root is thrown away
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", folder / "etc" / name)
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        for name, value in os.environ.items():
            if name.lower().endswith("_proxy") or name == "NODE_EXTRA_CA_CERTS":
                self.environment[name] = value
        # A machine behind a proxy has that proxy's authority among its own; npm knows only those that it comes with.
        authorities = self.environment.get("NODE_EXTRA_CA_CERTS", "/etc/ssl/certs/ca-certificates.crt")
        if os.path.exists(authorities): # beside the authorities of Debian's package, which is installed later
            shutil.copy(authorities, folder / "etc/machine-ca.pem")
            self.environment["NODE_EXTRA_CA_CERTS"] = "/etc/machine-ca.pem"

    def run(self, user, command, where="~/hodoscope"):
        """Runs a command with what a login of the user has: a small environment, no terminal."""
        home = "/root" if user == "root" else f"/home/{user}"
        environment = dict(self.environment, HOME=home, USER=user, CCACHE_BASEDIR=f"{home}/hodoscope")
        switch = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        done = run("setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
                   ENTER, "sh", self.folder, self.packages, CACHE / "compiled", *switch, "bash", "-c",
                   f"cd {where} && {command}", env=environment)
        print(f"\n##### {user}: {command}\n{done.stdout}{done.stderr}##### status {done.returncode}", flush=True)
        return done

    def compile_once(self):
        self.need("root", "DEBIAN_FRONTEND=noninteractive apt-get -qq -y install ccache >/dev/null", "/")
        self.environment.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache",
                                CCACHE_DIR=COMPILED, CCACHE_UMASK="000", CCACHE_NOHASHDIR="1", CCACHE_MAXSIZE="1G",
                                CCACHE_SLOPPINESS="include_file_mtime,include_file_ctime,time_macros,locale")

    def need(self, user, command, where="~/hodoscope"):
        done = self.run(user, command, where)
        if done.returncode != 0:
            raise AssertionError(f"{user}: {command}: status {done.returncode}")
        return done

    def expect(self, what, holds):
        if not holds:
            self.failed.append(what)
            print(f"##### NOT SO: {what}", flush=True)

    def check_said(self, what, text):
        for line in filter(None, text.splitlines()):
            self.expect(f"{what} says: {line}", SAID.match(line))


def clone(source, folder):
    """The present tree: what is committed, and what is changed."""
    git = ["git", "-c", "safe.directory=*"]
    if run(*git, "-C", source, "rev-parse").returncode != 0:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("build", ".git"), symlinks=True)
        return
    subprocess.run([*git, "clone", "-q", "--no-hardlinks", source, folder], check=True)
    changed = subprocess.run([*git, "-C", source, "diff", "--binary", "HEAD"], check=True, capture_output=True).stdout
    if changed:
        subprocess.run(["git", "-C", folder, "apply"], input=changed, check=True)
    for name in output(*git, "-C", source, "ls-files", "-o", "--exclude-standard").splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, folder / name)


def check_demo(root, user, page):
    done = root.need(user, "scripts/demo")
    root.check_said(f"{user}: scripts/demo", done.stderr)
    for text in ("hodo record sqlite-bank", "no event was lost", "bank:", "hodo graph", "hodo report", "FUNCTION"):
        root.expect(f"{user}: scripts/demo shows: {text}", text in done.stdout)
    # The page has more than 100 KB if npm was installed and got its libraries.
    size = pathlib.Path(root.folder, *(("root",) if user == "root" else ("home", user)),
                        "hodoscope/build/release/src/export/view.html").stat().st_size
    root.expect(f"{user}: the page of hodo view has {size} bytes", page is None or (size > 100000) == page)


def check_install(root, user):
    done = root.need(user, "scripts/install ~/installed")
    root.check_said(f"{user}: scripts/install", done.stderr)
    settings = "\n".join(re.findall(r"(?m)^export .*", done.stdout))
    examples = "~/hodoscope/examples"
    root.need(user, f"{settings}\nset -e; cc -O2 {examples}/hello/hello.c -o hello $(pkg-config --cflags hodo);"
              f" cc -O2 {examples}/builds/monitor.c -o monitor $(pkg-config --cflags --libs hodo); ./monitor;"
              " hodo record ./hello; hodo stat; hodo record --functions=main ./hello; hodo report", "~")


def check_tests(root, user):
    listed = re.findall(r"Test +#\d+: (\S+)", root.need(user, "scripts/test -N").stdout)
    root.expect(f"{user}: {len(listed)} tests", len(listed) > 400)
    for name in NAMED:
        root.expect(f"{user}: there is a test {name}", name in listed)
    names = "|".join(re.escape(name) for name in NAMED)
    done = root.run(user, f"scripts/test -V -R {shlex.quote(f'^({names})$')}")
    root.check_said(f"{user}: scripts/test", done.stderr)
    root.expect(f"{user}: the tests pass", done.returncode == 0)
    for number, name in re.findall(r"Test +#(\d+): (\S+) \.*\*\*\*Skipped", done.stdout):
        why = [line for line in re.findall(rf"(?m)^{number}: (.*)$", done.stdout) if re.search("(?i)skip", line)]
        print(f"##### {user}: {name} is skipped: {'; '.join(why)}")
        root.expect(f"{user}: {name} says why it is skipped", why)


def install_named(root, user, command):
    """The user runs the script and reads what is missing; root installs exactly that."""
    done = root.run(user, command)
    found = re.search(r"run as root: apt-get install ([^\n]+)", done.stderr)
    root.expect(f"{user}: {command} names what is missing", done.returncode == 1 and found)
    if not found:
        raise AssertionError(f"{user}: {command}")
    for name in ("npm", "nodejs"):
        root.expect(f"{user}: {command} does without {name}", name not in found.group(1).split())
    done = root.need("root", f"DEBIAN_FRONTEND=noninteractive apt-get -qq -y install {found.group(1)} >/dev/null", "/")


def check(root, source, tests_as_root):
    root.need("root", "apt-get -q update && useradd -m -s /bin/bash user && chmod 0700 /root", "/")
    clone(source, root.folder / "home/user/hodoscope")
    root.need("root", "chown -R user:user /home/user", "/")
    clone(source, root.folder / "root/hodoscope")

    install_named(root, "user", "scripts/demo")
    root.compile_once()
    check_demo(root, "user", False)
    check_install(root, "user")
    install_named(root, "user", "scripts/test -N")
    check_tests(root, "user")

    # With npm installed, but its registry may be out of reach.
    reachable = shutil.which("npm") and run("npm", "ping", "--fetch-retries=0", "--fetch-timeout=10000").returncode == 0
    check_demo(root, "root", True if reachable else None)
    if tests_as_root:
        check_tests(root, "root")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--keep", metavar="FOLDER", help="make the root there, and leave it")
    parser.add_argument("--tests-as-root", action="store_true", help="run scripts/test as root, too")
    args = parser.parse_args()
    try:
        check_place()
        with locked("packages"), contextlib.ExitStack() as stack:
            packages = CACHE / "packages"
            packages.mkdir(exist_ok=True)
            folder = args.keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="hodo-root."))
            pathlib.Path(folder).mkdir(exist_ok=True)
            os.chmod(folder, 0o755)
            root = Root(pathlib.Path(folder), packages)
            check(root, args.source.resolve(), args.tests_as_root)
    except Skip as why:
        print(f"skipped: {why}")
        return 77
    for what in root.failed:
        print(f"bare_root: not so: {what}")
    return 1 if root.failed else 0


if __name__ == "__main__":
    sys.exit(main())
