# SPDX-License-Identifier: MIT
"""Debian's kernels to test with: headers for building modules, and the image to boot.

What is installed is used; the rest is downloaded from Debian's archive and unpacked, without being installed, below
$XDG_CACHE_HOME/hodo/kernels. An installed image would write a boot loader's menu and an initramfs that nobody needs."""
import contextlib
import fcntl
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile


class Unavailable(Exception):
    """Something is not available here: the tests are skipped with this message."""


def _output(*command):
    """Returns what a command prints; "" where it fails or does not exist."""
    try:
        return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = pathlib.Path(base) / "hodo" / "kernels"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def locked(path):
    """Lets one of several simultaneous runs make what all of them use."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Kernel:
    """version; headers: KDIR for modules; image: vmlinuz; modules: folder with kernel/ and modules.dep."""

    def __init__(self, version):
        self.version = version
        self.headers = self._headers()
        self.image, self.modules, self.symbols = self._image()
        self._order = None

    def _headers(self):
        installed = pathlib.Path(f"/usr/src/linux-headers-{self.version}")
        if (installed / "Makefile").exists():
            return installed
        name = f"linux-headers-{self.version}"
        root = _unpacked(name, lambda: [name] + [
            other for other in re.findall(r"^ *\|?Depends: ([^\s<>]+)$", _output("apt-cache", "depends", name), re.M)
            if other.startswith(("linux-headers-", "linux-kbuild-"))], _relocate_headers)
        return root / "usr" / "src" / name

    def _image(self):
        boot, modules = pathlib.Path("/boot"), pathlib.Path("/lib/modules") / self.version
        vmlinuz = boot / f"vmlinuz-{self.version}"
        if not (os.access(vmlinuz, os.R_OK) and (modules / "modules.dep").exists()):
            name = f"linux-image-{self.version}"
            root = _unpacked(name, lambda: [name], lambda root: _depmod(root, self.version))
            boot, modules = root / "boot", root / "lib" / "modules" / self.version
        return boot / f"vmlinuz-{self.version}", modules, boot / f"System.map-{self.version}"

    def unpacked_image(self):
        """The image as an ELF file, which this machine unpacks once: the emulator takes longer for that than for the
        boot. It runs at its link address, since only the unpacking code moves it to a random place. Returns the image
        itself if it cannot be unpacked here."""
        stat = self.image.stat()
        final = cache() / f"vmlinux-{self.version}-{stat.st_size}-{stat.st_mtime_ns}"
        with locked(cache() / f".vmlinux-{self.version}.lock"):
            if final.exists():
                return final
            data = _unpacked_image(self.image.read_bytes())
            if data is None:
                return self.image
            for old in cache().glob(f"vmlinux-{self.version}-*"):
                old.unlink()
            temporary = final.with_name(f".{final.name}")
            temporary.write_bytes(data)
            temporary.rename(final)
        return final

    def config(self, name):
        """The value of an option of the kernel's configuration: "y", "m", or ""."""
        found = re.search(rf"^{name}=(\w+)$", (self.headers / ".config").read_text(), re.M)
        return found.group(1) if found else ""

    def order(self, name):
        """Files of the module and of those it needs, in the order of loading; [] if it is built in."""
        if self._order is None:
            self._order = {}
            for line in (self.modules / "modules.dep").read_text().splitlines():
                file, _, needs = line.partition(":")
                self._order[_module_name(file)] = [*reversed(needs.split()), file]
            builtin = (self.modules / "modules.builtin").read_text().splitlines()
            self._order.update((_module_name(file), []) for file in builtin)
        if _module_name(name) not in self._order:
            raise KeyError(f"kernel {self.version} has no module {name}")
        return [self.modules / file for file in self._order[_module_name(name)]]


def _module_name(file):
    return os.path.basename(file).split(".ko")[0].replace("-", "_")


def _unpacked_image(image):
    """The ELF file in a bzImage, if it has the note (XEN_ELFNOTE_PHYS32_ENTRY) that lets the emulator boot it; else
    None."""
    notes = [struct.pack("<III", 4, size, 18) + b"Xen\0" for size in (4, 8)]
    for magic, unpack in ((b"\xfd7zXZ\0", lambda data: lzma.LZMADecompressor().decompress(data)),
                          (b"\x28\xb5\x2f\xfd", _unzstd)):
        at = image.find(magic)
        while at >= 0:
            try:
                data = unpack(image[at:])
            except (OSError, lzma.LZMAError):
                data = b""
            if data.startswith(b"\x7fELF") and any(note in data for note in notes):
                return data
            at = image.find(magic, at + 1)
    return None


def _unzstd(data):
    # Bytes after the packed kernel in the image are not an error.
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout


def _unpacked(name, packages, finish):
    """The root of the unpacked packages that packages() names."""
    final = cache() / name
    with locked(cache() / f".{name}.lock"):
        if final.exists():
            return final
        with tempfile.TemporaryDirectory(dir=cache(), prefix=f".{name}.") as work:
            work = pathlib.Path(work)
            work.chmod(0o755)
            (work / "deb").mkdir()
            for package in packages():
                _download(package, work / "deb")
            for deb in sorted((work / "deb").glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", deb, work / "root"], check=True)
            finish(work / "root")
            os.rename(work / "root", final)
    return final


def _download(package, folder):
    command = ["apt-get", "-q", "download", package]
    if os.geteuid() == 0:  # otherwise it says that user _apt cannot write there
        command[1:1] = ["-o", "APT::Sandbox::User=root"]
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as why:
        raise Unavailable(f"{package} cannot be downloaded: {why}") from why
    if done.returncode != 0:
        raise Unavailable(f"{package} cannot be downloaded: {done.stdout.strip().splitlines()[-1:]}")


def _relocate_headers(root):
    """Makes files of the headers' packages that name /usr/src name the unpacked folder instead."""
    for makefile in root.glob("usr/src/linux-headers-*/Makefile"):
        text = makefile.read_text()
        if text.startswith("include /usr/src/"):
            makefile.write_text(text.replace("include /usr/src/", f"include {cache() / makefile.parent.name}"
                                             f"/usr/src/", 1))


def _depmod(root, version):
    if not (depmod := shutil.which("depmod", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")):
        raise Unavailable("depmod is not installed: apt install kmod")
    subprocess.run([depmod, "-b", root, version], check=True)


def versions():
    """The versions of the kernels to test with: Debian's own first, then the newest other that it offers."""
    arch = _output("dpkg", "--print-architecture").strip()
    if arch != "amd64":
        raise Unavailable(f"architecture {arch or 'unknown'}: the kernel tests are for Debian on amd64")
    metas = [f"linux-headers-{arch}"]
    names = _output("apt-cache", "pkgnames", "linux-headers-").split()
    others = [n for n in names if re.fullmatch(rf"linux-headers-\d+\.\d+-{arch}", n)]
    if others:
        metas.append(max(others, key=lambda n: [int(x) for x in re.findall(r"\d+", n)[:2]]))
    found = []
    for meta in metas:
        version = _meta_version(meta, arch)
        if version and version not in found:
            found.append(version)
    if not found:  # use what is installed
        installed = pathlib.Path("/usr/src").glob(f"linux-headers-*-{arch}")
        found = sorted(path.name.removeprefix("linux-headers-") for path in installed)
    if not found:
        raise Unavailable(f"there are no kernel headers: apt install linux-headers-{arch}")
    return found


def _meta_version(meta, arch):
    for text in (_output("dpkg-query", "-W", "-f", "${Depends}", meta), _output("apt-cache", "depends", meta)):
        for name in re.findall(rf"linux-headers-\d\S*-{arch}\b", text):
            if name != meta: # apt-cache names that one first
                return name.removeprefix("linux-headers-")
    return None
