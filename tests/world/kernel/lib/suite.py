# SPDX-License-Identifier: MIT
"""The tests below tests/world/kernel: their needs, and how to build their programs and modules."""
import filecmp
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from guest import ROOT, BuildError, run_build, takes_turns
from kernels import cache, locked

TESTS = ROOT / "tests/world/kernel"
# Like src/kmod/Makefile, since the headers are unpacked without the packages that they need.
NO_BTF = [] if shutil.which("pahole") else ["CONFIG_DEBUG_INFO_BTF_MODULES="]
KEPT = 4  # builds of hodo.ko to keep for a kernel
CFLAGS = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-static", "-pthread", "-I", ROOT / "include"]


class Test:
    """A folder with run.sh, whose lines "# guest: WORD..." say what it needs (tests/world/kernel/README.md)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        self.alone = self.everywhere = self.last = self.network = self.long = self.turns = self.packed = False
        self.memory, self.seconds, self.disk_mb, self.append = 1024, 120, 0, ""
        self.modules, self.programs = [], []
        for line in re.findall(r"^# guest: (.*)$", (self.folder / "run.sh").read_text(), re.M):
            for word in line.split():
                self._say(word)

    def _say(self, word):
        name, _, value = word.partition("=")
        if name in ("alone", "everywhere", "last", "network", "long", "turns", "packed") and not value:
            setattr(self, name, True)
        elif name in ("modules", "programs") and value:
            getattr(self, name).extend(value.split(","))
        elif name == "append" and value:
            self.append += f" {value}"
            self.alone = True
        elif name in ("memory", "timeout", "disk") and value.isdigit():
            setattr(self, {"timeout": "seconds", "disk": "disk_mb"}.get(name, name), int(value))
        else:
            raise BuildError(f"{self.folder}/run.sh: no such word: # guest: {word}")

    def build(self, kernel, out, build):
        """Writes programs, modules and build.sh's results to the folder out/guest: the test's folder in the guest."""
        guest = out / "guest"
        shutil.rmtree(guest, ignore_errors=True)
        guest.mkdir(parents=True)
        for source in sorted((self.folder / "programs").glob("*.c")):
            run_build(["gcc", *CFLAGS, "-o", guest / source.stem, source])
            run_build(["strip", "-g", guest / source.stem])
        if (self.folder / "Kbuild").exists():
            self._build_modules(kernel, out / "modules", guest)
        if (self.folder / "build.sh").exists():
            run_build(["bash", self.folder / "build.sh", guest], cwd=out, env={
                **os.environ, "KVER": kernel.version, "KDIR": str(kernel.headers), "ROOT": str(ROOT),
                "BUILD": str(build), "MAKEFLAGS": " ".join(NO_BTF)})
        for file in self.folder.iterdir():
            if file.is_file() and file.name != "Kbuild" and file.suffix not in (".c", ".h", ".py"):
                shutil.copy(file, guest / file.name)
            elif file.is_dir() and file.name == "data":
                shutil.copytree(file, guest / "data")
        own = [module.stem for module in sorted(guest.glob("*.ko"))]
        (guest / "own_modules").write_text("".join(f"{name.replace('-', '_')}\n" for name in own))

    def _build_modules(self, kernel, folder, guest):
        """The kernel's build writes beside the sources, so the sources are linked into a separate folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.is_symlink():
                old.unlink()
        for source in self.folder.iterdir():
            if source.is_file() and (source.name == "Kbuild" or source.suffix in (".c", ".h", ".S")):
                (folder / source.name).symlink_to(source)
        run_build(["make", "-C", kernel.headers, f"M={folder}", f"HODO_ROOT={ROOT}", f"-j{os.cpu_count()}",
                   *NO_BTF, "modules"])
        for module in folder.glob("*.ko"):
            shutil.copy(module, guest)
            subprocess.run(["strip", "-g", guest / module.name], check=True)


def find(names):
    """The tests with these names; without names, all except the long ones."""
    known = {path.parent.name: path.parent for path in sorted(TESTS.glob("*/run.sh"))}
    for name in names:
        if name not in known:
            raise BuildError(f"there is no test {name}: there are {' '.join(known)}")
    if not known:
        raise BuildError(f"there are no tests below {TESTS}")
    tests = [Test(known[name]) for name in (names or known)]
    return tests if names else [test for test in tests if not test.long]


def build_hodo_ko(kernel, out, events):
    """hodo.ko and, where the build makes them, its companions. Finding a kernel's events takes minutes: a build of the
    same sources, with the same headers and compiler, is kept beside the kernels and used again."""
    folder = out / ("kmod" if events is None else "kmod-" + re.sub(r"\W+", "-", events))
    command = ["make", "-C", ROOT / "src" / "kmod", f"KVER={kernel.version}", f"KDIR={kernel.headers}", f"O={folder}",
               f"-j{os.cpu_count()}"]
    if events is not None:
        command.append(f"EVENTS={events}")
    kept = cache().parent / "kmod" / kernel.version / _made_of(kernel, events)
    with locked(out / ".kmod.lock"), locked(kept.parent / ".lock"):
        if not kept.exists():
            run_build(command)
            _keep(folder, kept)
        elif not _holds(folder, kept):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(kept, folder)
        os.utime(kept)
    return folder


def _made_of(kernel, events):
    """A digest of everything that decides what hodo.ko becomes."""
    settings = kernel.headers / ".kernelvariables"  # Debian's: the kernel's compiler
    compilers = {"gcc", *re.findall(r"\bgcc-\d+", settings.read_text() if settings.exists() else "")}
    versions = [run_build([name, "--version"]) for name in sorted(compilers) if shutil.which(name)]
    others = (events, str(kernel.headers), NO_BTF, os.environ.get("KCFLAGS"), versions)
    digest = hashlib.sha256(repr(others).encode())
    files = [kernel.headers / ".config", kernel.headers / "Module.symvers", settings]
    for name in ("src/kmod", "src/core", "include"):
        files += sorted((ROOT / name).rglob("*"))
    for file in filter(pathlib.Path.is_file, files):
        name = os.path.relpath(file, ROOT if file.is_relative_to(ROOT) else kernel.headers)
        digest.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:32]


def _keep(folder, kept):
    """Keeps the parts of a build that tests use; of older builds, only a few stay."""
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".keep.") as work:
        made = pathlib.Path(work) / "made"
        for file in [*folder.glob("*.ko"), folder / "events" / "events.skipped"]:
            to = made / file.relative_to(folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)
        made.rename(kept)
    for old in sorted(kept.parent.glob("[!.]*"), key=os.path.getmtime)[:-KEPT]:
        shutil.rmtree(old)


def _holds(folder, kept):
    """Whether the folder has the files that were kept, and no other modules."""
    pairs = [(file, folder / file.relative_to(kept)) for file in kept.rglob("*") if file.is_file()]
    return {file.name for file in folder.glob("*.ko")} == {file.name for file in kept.glob("*.ko")} and all(
        other.is_file() and filecmp.cmp(file, other, shallow=False) for file, other in pairs)


def groups(tests):
    """Lists of tests that share a boot."""
    together = {}
    for test in sorted(tests, key=lambda test: test.last):
        turns = test.turns or takes_turns()
        key = (test.name,) if test.alone else (test.network, test.memory, bool(test.disk_mb), turns)
        together.setdefault(key, []).append(test)
    return list(together.values())
