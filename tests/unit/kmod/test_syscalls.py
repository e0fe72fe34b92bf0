#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What src/kmod/syscalls/generate.py makes of headers: those of a fictitious kernel, and those that are installed."""
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GENERATE = os.environ["GENERATE"]

HEADER = r"""
#include <linux/nothing_that_is_there.h>
struct pollfd;
/* asmlinkage long sys_comment(int in_a_comment); */
#define UNRELATED(x, ...) x
#ifndef CONFIG_ARCH_HAS_SYSCALL_WRAPPER
asmlinkage long sys_write(unsigned int fd, const char __user *buf,
			  size_t count);
asmlinkage long sys_open(const char __user *filename, int flags, umode_t mode);
asmlinkage long sys_mount(char __user *dev_name, char __user *dir_name, char __user *type, unsigned long flags,
			  void __user *data);
asmlinkage long sys_shmat(int shmid, char __user *shmaddr, int shmflg);
asmlinkage long sys_truncate(const char __user *path, long length);
asmlinkage long sys_readlink(const char __user *path, char __user *buf, int bufsiz);
asmlinkage long sys_getsockopt(int fd, int level, int optname, char __user *optval, int __user *optlen);
asmlinkage long sys_unnamed(int, struct pollfd __user *, unsigned, const struct pollfd __user * __user *, size_t,
			    unsigned long);
asmlinkage long sys_getpid(void);
asmlinkage long sys_rule(int fd, enum some_type rule_type, const enum some_type *p);
#ifdef CONFIG_BACKWARDS
asmlinkage long sys_clone(unsigned long, int __user *, unsigned long tls);
#else
asmlinkage long sys_clone(unsigned long, int);
#endif
#if BITS_PER_LONG == 64
asmlinkage long sys_word(long word);
#else
asmlinkage long sys_word(int word);
#endif
#ifdef __ARCH_WANT_SYS_OLD
asmlinkage long sys_old(int old);
#endif
asmlinkage long sys_seven(int, int, int, int, int, int, int);
#endif
"""

NUMBERS = """__SYSCALL(0, sys_write)
__SYSCALL(1, sys_open)
__SYSCALL(2, sys_mount)
__SYSCALL(3, sys_ni_syscall)
__SYSCALL_NORETURN(4, sys_shmat)
__SYSCALL(5, sys_truncate)
__SYSCALL_WITH_COMPAT(6, sys_readlink, compat_sys_readlink)
__SYSCALL(7, sys_getsockopt)
__SYSCALL(8, sys_unnamed)
__SYSCALL(9, sys_getpid)
__SYSCALL(10, sys_rule)
__SYSCALL(11, sys_clone)
__SYSCALL(12, sys_word)
__SYSCALL(13, sys_old)
__SYSCALL(20, sys_of_this_architecture)
__SYSCALL(21, sys_seven)
"""


def generate(kdir, out, **env):
    return subprocess.run([sys.executable, GENERATE, kdir, out], capture_output=True, text=True, check=False,
                          env={**os.environ, **env})


def table(text):
    """{call: (number, [(name, C type, hodo's type)])}"""
    arguments = re.findall(r'^\t\{ "(\w+)", "([^"]+)", (\S+|HODO_TYPE_OF\([^)]*\)) \},$', text, re.M)
    calls = {}
    for number, first, count, name in re.findall(r'^\t\{ (\d+), (\d+), (\d+), "(\w+)" \},$', text, re.M):
        calls[name] = (int(number), arguments[int(first):int(first) + int(count)])
    return calls


class Tree(unittest.TestCase):
    """Headers as Debian has them: those of the flavour include the common ones."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)
        self.kdir, common = self.base / "kdir", self.base / "common"
        (self.kdir / "include/generated").mkdir(parents=True)
        (self.kdir / "include/generated/autoconf.h").write_text(
            "#define CONFIG_64BIT 1\n#define CONFIG_BACKWARDS 1\n#define CONFIG_ARCH_HAS_SYSCALL_WRAPPER 1\n")
        self.asm = self.kdir / "arch/x86/include/generated"
        (self.asm / "asm").mkdir(parents=True)
        (self.asm / "uapi/asm").mkdir(parents=True)
        (self.asm / "asm/syscalls_64.h").write_text(NUMBERS)
        (common / "include/linux").mkdir(parents=True)
        (common / "include/linux/syscalls.h").write_text(HEADER)
        (self.kdir / "Makefile").write_text(f"include {common}/Makefile\n")
        self.out = self.base / "out.h"

    def made(self):
        done = generate(self.kdir, self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.out.read_text()

    def test_arguments(self):
        text = self.made()
        calls = table(text)
        self.assertEqual(set(calls), {"write", "open", "mount", "shmat", "truncate", "readlink", "getsockopt",
                                      "unnamed", "getpid", "rule", "clone", "word", "old", "of_this_architecture",
                                      "seven"})
        self.assertEqual(calls["write"], (0, [("fd", "unsigned int", "HODO_TYPE_OF(unsigned int)"),
                                              ("buf", "const char *", "HODO_TYPE_PTR"),
                                              ("count", "size_t", "HODO_TYPE_OF(size_t)")]))
        self.assertEqual(calls["getpid"], (9, []))
        six = [(f"arg{i}", "unsigned long", "HODO_TYPE_OF(unsigned long)") for i in range(6)]
        self.assertEqual(calls["of_this_architecture"], (20, six))
        self.assertEqual(calls["seven"], (21, six)) # no call has seven arguments
        self.assertEqual(calls["rule"][1][1:], [("rule_type", "enum some_type", "HODO_TYPE_U32"),
                                               ("p", "const enum some_type *", "HODO_TYPE_PTR")])
        self.assertIn("#define HODO_CALLS_END 22\n", text)
        self.assertIn("#define HODO_CALL_TEXTS 3\n", text)

    def test_texts(self):
        calls = table(self.made())
        texts = {name: [argument[0] for argument in has if argument[2] == "HODO_TYPE_STR"]
                 for name, (_, has) in calls.items()}
        self.assertEqual({name: text for name, text in texts.items() if text}, {
            "open": ["filename"], "mount": ["dev_name", "dir_name", "type"], "truncate": ["path"],
            "readlink": ["path"]})

    def test_names_that_are_missing(self):
        self.assertEqual(table(self.made())["unnamed"][1], [
            ("arg0", "int", "HODO_TYPE_OF(int)"), ("arg1", "struct pollfd *", "HODO_TYPE_PTR"),
            ("arg2", "unsigned", "HODO_TYPE_OF(unsigned)"), ("arg3", "const struct pollfd * *", "HODO_TYPE_PTR"),
            ("arg4", "size_t", "HODO_TYPE_OF(size_t)"), ("arg5", "unsigned long", "HODO_TYPE_OF(unsigned long)")])

    def test_configuration(self):
        calls = table(self.made())
        self.assertEqual([argument[0] for argument in calls["clone"][1]], ["arg0", "arg1", "tls"])
        self.assertEqual(calls["word"][1][0][1], "long")
        self.assertEqual(calls["old"][1][0][0], "old")

    def test_numbers_of_user_space(self):
        (self.asm / "asm/syscalls_64.h").unlink()
        (self.asm / "uapi/asm/unistd_64.h").write_text("#define __NR_write 3\n#define __NR_other 5\n")
        self.assertEqual({name: number for name, (number, _) in table(self.made()).items()}, {"write": 3, "other": 5})

    def test_written_only_when_it_changes(self):
        self.made()
        os.utime(self.out, ns=(1, 1))
        self.made()
        self.assertEqual(self.out.stat().st_mtime_ns, 1)
        (self.asm / "asm/syscalls_64.h").write_text("__SYSCALL(0, sys_write)\n")
        self.made()
        self.assertNotEqual(self.out.stat().st_mtime_ns, 1)

    def refused(self, words):
        done = generate(self.kdir, self.out)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^hodo: [^\n]*{words}[^\n]*: [^\n]+\n$")
        self.assertFalse(self.out.exists())

    def test_compilers(self):
        """The kernel's own is used; if that fails, a message says so."""
        known = self.made()
        self.out.unlink()
        log = self.base / "log"
        own = self.base / "kernels-own-cc"
        own.write_text(f"#!/bin/sh\necho taken >>{log}\nexec cc \"$@\"\n")
        own.chmod(0o755)
        with open(self.kdir / "include/generated/autoconf.h", "a") as f:
            f.write('#define CONFIG_CC_VERSION_TEXT "kernels-own-cc (Debian) 12"\n')
        done = generate(self.kdir, self.out, CC="", PATH=f"{self.base}:{os.environ['PATH']}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.out.read_text(), known)
        self.assertEqual(log.read_text(), "taken\n")
        self.out.unlink()
        done = generate(self.kdir, self.out, CC="false")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^hodo: linux/syscalls.h does not go through false: [^\n]*set CC[^\n]*\n$")

    def test_headers_that_are_missing(self):
        (self.asm / "asm/syscalls_64.h").write_text("")
        self.refused("no numbers")
        (self.kdir / "Makefile").write_text("")
        self.refused("no include/linux/syscalls.h")


class Installed(unittest.TestCase):
    def test_all(self):
        """Each call from user space has its number, and nearly all are declared."""
        trees = [tree for tree in glob.glob("/usr/src/linux-headers-*")
                 if os.path.exists(tree + "/arch/x86/include/generated/uapi/asm/unistd_64.h")]
        if not trees:
            self.skipTest("no kernel headers are installed")
        for tree in trees:
            with self.subTest(tree), tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "out.h"
                done = generate(tree, out)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                calls = table(out.read_text())
                text = pathlib.Path(tree, "arch/x86/include/generated/uapi/asm/unistd_64.h").read_text()
                numbers = {int(number) for number in re.findall(r"^#define __NR_\w+ (\d+)$", text, re.M)}
                numbers -= {max(numbers)} if "__NR_syscalls" in text else set()
                has = {number for number, _ in calls.values()}
                self.assertLessEqual(has, numbers)
                self.assertGreater(len(has), 340)
                self.assertLess(len([1 for _, arguments in calls.values() if arguments is None]), 10)
                texts = [a for _, arguments in calls.values() for a in arguments or [] if a[2] == "HODO_TYPE_STR"]
                self.assertGreater(len(texts), 90)


if __name__ == "__main__":
    unittest.main()
