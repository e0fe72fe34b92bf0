#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of a kernel's system calls, from its own headers.

	generate.py KDIR OUT

KDIR is where the kernel's modules are built (linux-headers-…), OUT the C header that is written if it changed. Which
numbers there are, and which function each of them is, stands in asm/syscalls_64.h (else asm/unistd_64.h); what that
function takes, in linux/syscalls.h. No call is known here by name.
"""
import os
import re
import shutil
import subprocess
import sys

# What a buffer's size is called where it follows the buffer. Not "length": that is a file's, in truncate().
LENGTH = re.compile(r"(len|size|siz|count)$")
# What a text is called that is not declared const, as those of mount() are.
TEXT = re.compile(r"(name|path|type)$")
ARGUMENTS_MAX = 6
QUALIFIERS = ("const", "volatile", "struct", "union", "enum")
KEYWORDS = ("int", "long", "short", "char", "unsigned", "signed", "void", "const")


def die(what, do):
	sys.exit(f"hodo: {what}: {do}")


def read(path):
	with open(path, encoding="utf-8", errors="replace") as f:
		return f.read()


def source_tree(kdir):
	"""Where the headers are that are the same for all flavours of the kernel."""
	places = [kdir, os.path.join(kdir, "source")]
	for line in read(os.path.join(kdir, "Makefile")).splitlines():
		match = re.match(r"include\s+(/\S+)/Makefile$", line)
		if match:
			places.append(match.group(1))
	for place in places:
		if os.path.exists(os.path.join(place, "include/linux/syscalls.h")):
			return place
	return die(f"no include/linux/syscalls.h for {kdir}", "install the kernel's headers")


def compiler(kdir):
	"""$CC, else the one that the kernel was built with, else any: all it has to do is to preprocess."""
	if os.environ.get("CC"):
		return os.environ["CC"].split()
	config = read(os.path.join(kdir, "include/generated/autoconf.h"))
	built = re.findall(r'^#define CONFIG_CC_VERSION_TEXT "(\S+)', config, re.M)
	for name in [*built, "gcc", "cc", "clang"]:
		if shutil.which(name):
			return [name]
	return die("there is no C compiler", "apt install gcc")


def preprocess(text, kdir):
	"""What is left of a header by the kernel's configuration. Nothing that it includes is looked at, and no macro
	but conditions is used: types stay as they are written."""
	wanted = sorted(set(re.findall(r"\b__ARCH_WANT_\w+", text)))
	config = os.path.join(kdir, "include/generated/autoconf.h")
	head = [f'#include "{config}"', "#undef CONFIG_ARCH_HAS_SYSCALL_WRAPPER",
		"#ifdef CONFIG_64BIT", "#define BITS_PER_LONG 64", "#else", "#define BITS_PER_LONG 32", "#endif"]
	# The table of numbers says which of the old calls there are; a prototype more does no harm.
	head += [f"#define {name}" for name in wanted]
	body = re.sub(r"^\s*#\s*include\b.*$", "", text, flags=re.M)
	command = [*compiler(kdir), "-E", "-P", "-undef", "-w", "-x", "c", "-"]
	done = subprocess.run(command, input="\n".join(head) + "\n" + body, capture_output=True, text=True)
	if done.returncode:
		die(f"linux/syscalls.h does not go through {command[0]}: {done.stderr.strip()[:200]}",
		    "set CC to the kernel's compiler")
	return done.stdout


def numbers(kdir):
	"""{number: name of the function without sys_}, and the highest number."""
	base = os.path.join(kdir, "arch/x86/include/generated")
	calls = {}
	table = os.path.join(base, "asm/syscalls_64.h")
	if os.path.exists(table):
		for number, function in re.findall(r"^__SYSCALL\w*\(\s*(\d+),\s*(\w+)", read(table), re.M):
			calls[int(number)] = function
	else:
		for name, number in re.findall(r"^#define __NR_(\w+)\s+(\d+)$",
					       read(os.path.join(base, "uapi/asm/unistd_64.h")), re.M):
			calls[int(number)] = "sys_" + name
	if not calls:
		die(f"no numbers of system calls in {base}/asm", "install the kernel's headers")
	known = {n: f[4:] for n, f in calls.items() if f.startswith("sys_") and f != "sys_ni_syscall"}
	return known, max(calls)


class Argument:
	def __init__(self, text):
		words = re.findall(r"\w+|\*", text)
		words = [word for word in words if word not in ("__user", "__force")]
		# The last word is the name, unless it is part of the type: "unsigned", "struct pollfd *", "size_t".
		self.name = None
		before = [word for word in words[:-1] if word not in QUALIFIERS]
		tagged = len(words) > 2 and words[-3] in ("struct", "union", "enum")
		if words[-1] != "*" and words[-1] not in KEYWORDS and (before or tagged):
			self.name = words.pop()
		self.words = words
		self.ctype = " ".join(words)
		self.pointer = words[-1] == "*"

	def is_length(self):
		return (not self.pointer and self.ctype == "size_t") or bool(self.name and LENGTH.search(self.name))

	def is_text(self, following):
		if following and following.is_length():
			return False
		if self.words == ["const", "char", "*"]:
			return True
		return self.words == ["char", "*"] and bool(self.name and TEXT.search(self.name))


def prototypes(text):
	"""{name: [Argument]} of all functions sys_NAME that are declared."""
	found = {}
	for name, inside in re.findall(r"\basmlinkage\s+long\s+sys_(\w+)\s*\(([^;{]*?)\)\s*;", text):
		inside = " ".join(inside.split())
		parts = [] if inside in ("", "void") else inside.split(",")
		if len(parts) <= ARGUMENTS_MAX:
			found[name] = [Argument(part) for part in parts]
	return found


def type_of(argument, following):
	if argument.is_text(following):
		return "HODO_TYPE_STR"
	if argument.pointer:
		return "HODO_TYPE_PTR"
	if argument.words[0] == "enum": # which the header only announces
		return "HODO_TYPE_U32"
	return f"HODO_TYPE_OF({argument.ctype})"


def identifier(name):
	return name if name and re.fullmatch(r"[A-Za-z_]\w*", name) else None


def table(kdir):
	tree = source_tree(kdir)
	known, last = numbers(kdir)
	header = re.sub(r"/\*.*?\*/", " ", read(os.path.join(tree, "include/linux/syscalls.h")), flags=re.S)
	declared = prototypes(preprocess(header, kdir))
	arguments, calls, texts_max = [], [], 0
	for number in sorted(known):
		name = known[number]
		has = declared.get(name, [Argument("unsigned long")] * ARGUMENTS_MAX)
		first = len(arguments)
		texts = 0
		for i, argument in enumerate(has):
			kind = type_of(argument, has[i + 1] if i + 1 < len(has) else None)
			texts += kind == "HODO_TYPE_STR"
			arguments.append(f'\t{{ "{identifier(argument.name) or f"arg{i}"}", "{argument.ctype}", {kind} }},')
		texts_max = max(texts_max, texts)
		calls.append(f'\t{{ {number}, {first}, {len(has)}, "{name}" }},')
	return "\n".join([
		"/* SPDX-License-Identifier: MIT OR GPL-2.0-only */",
		f"/* Made by syscalls/generate.py from the headers of {os.path.basename(os.path.normpath(kdir))}. */",
		f"#define HODO_CALLS_END {last + 1}", f"#define HODO_CALL_TEXTS {max(texts_max, 1)}", "",
		"static const struct hodo_call_arg hodo_call_args[] = {", *arguments, "};", "",
		"static const struct hodo_syscall hodo_calls[] = {", *calls, "};", ""])


def main():
	if len(sys.argv) != 3:
		die("usage: generate.py KDIR OUT", "see the comment in the file")
	out = table(sys.argv[1])
	if os.path.exists(sys.argv[2]) and read(sys.argv[2]) == out:
		return
	with open(sys.argv[2] + ".new", "w", encoding="utf-8") as f:
		f.write(out)
	os.rename(sys.argv[2] + ".new", sys.argv[2])


if __name__ == "__main__":
	main()
