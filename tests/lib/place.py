# SPDX-License-Identifier: MIT
"""place.py - why a test cannot be made where it runs. Each function returns a reason to skip, or None."""
import functools
import os
import shutil
import subprocess

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


@functools.cache
def no_root():
    return None if os.geteuid() == 0 else "needs root"


def _refused(*command):
    """The last line of a command that fails; None if it does not."""
    if not shutil.which(command[0]):
        return f"no {command[0]}"
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode == 0:
        return None
    return ((done.stderr + done.stdout).strip() or f"status {done.returncode}").splitlines()[-1]


@functools.cache
def no_mounts():
    """A file system of the test's own, which nobody else sees."""
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
    """The page of hodo view, which is a part of hodo where npm was there when it was built."""
    done = subprocess.run([hodo, "view", os.devnull], capture_output=True, text=True, check=False)
    return "hodo is built without the page of hodo view" if "without the page" in done.stderr else None
