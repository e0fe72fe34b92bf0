# SPDX-License-Identifier: MIT
"""place.py - why a test cannot run on this machine. Each function returns a reason to skip, or None."""
import functools
import os
import shutil
import subprocess
import tempfile

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


@functools.cache
def no_root():
    return None if os.geteuid() == 0 else "needs root"


def _refused(*command):
    """The last line of output of a command that fails; None if it succeeds."""
    if not shutil.which(command[0]):
        return f"no {command[0]}"
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode == 0:
        return None
    return ((done.stderr + done.stdout).strip() or f"status {done.returncode}").splitlines()[-1]


@functools.cache
def no_mounts():
    """A file system that only the test sees."""
    if no_root():
        return "a file system needs root to be mounted"
    why = _refused("unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt")
    return why and f"no file system may be mounted here ({why})"


@functools.cache
def no_processes():
    """A namespace of processes."""
    if no_root():
        return "a namespace of processes needs root"
    why = _refused("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true")
    return why and f"no namespace of processes may be made here ({why})"


# A user who may not change the root directory may do so in a user namespace.
CHROOT = ["chroot"] if os.geteuid() == 0 else ["unshare", "-r", "chroot"]


@functools.cache
def no_chroot():
    """Another root directory."""
    why = _refused(*CHROOT, "/", "true")
    return why and f"no other root directory may be had here ({why})"


def read_only(root):
    """A command to put before another one, for which even root cannot write to that directory."""
    return ["unshare", "-r", "-m", "sh", "-c", f'mount --bind "{root}" "{root}" && mount -o remount,ro,bind "{root}" && exec "$@"',
            "sh"]


@functools.cache
def no_read_only():
    with tempfile.TemporaryDirectory() as root:
        why = _refused(*read_only(root), "true")
    return why and f"no user namespace with mounts of its own may be made here ({why})"


@functools.cache
def no_nobody(*files):
    """Another user, who can read and run these files."""
    if no_root():
        return "needs root, to be another user"
    for file in files:
        if _refused(*AS_NOBODY, "test", "-r", file):
            return f"other users cannot reach {file}"
    return None


@functools.cache
def no_page(hodo):
    """The page of hodo view, which hodo contains only if npm was installed when it was built."""
    done = subprocess.run([hodo, "view", os.devnull], capture_output=True, text=True, check=False)
    return "hodo is built without the page of hodo view" if "without the page" in done.stderr else None
