/* SPDX-License-Identifier: MIT */
/* why_unrecorded.c - examines a program's file for why libhodo is not in it. Paths and files are hostile. */
#include "why_unrecorded.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <base/file.h>
#include <base/rights.h>
#include <base/scope.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif
#define TRIES 10
#define PHDRS_MAX 64
#define SHOWN_MAX 60 /* bytes of a path */

/*
 * Opens what is found without asking a file system, which may not answer if a user serves it: the kernel has
 * the path cached, since it has just been there. Not through /proc/PID, where the path may lead elsewhere
 * than for the process.
 */
static int open_place(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS };
	int fd = -1;

	/* A rename or mount at the same time makes it fail. */
	for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EAGAIN); i++)
		fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0 && errno == EINVAL) { /* before Linux 5.12 */
		how.resolve = RESOLVE_NO_MAGICLINKS;
		fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	}
	return fd;
}

/* The type of the file system that contains the file. */
static bool find_type(int fd, char *type, size_t size)
{
	HODO_AUTO_FCLOSE FILE *info = NULL, *mounts = NULL;
	HODO_AUTO_FREE char *line = NULL;
	char path[48];
	int id = -1, other;
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	while (info && id < 0 && getline(&line, &room, info) > 0)
		sscanf(line, "mnt_id: %d", &id);
	mounts = id < 0 ? NULL : fopen("/proc/self/mountinfo", "re");
	while (mounts && getline(&line, &room, mounts) > 0) {
		const char *at = strstr(line, " - ");

		if (at && sscanf(line, "%d", &other) == 1 && other == id)
			return snprintf(type, size, "%.*s", (int)strcspn(at + 3, " "), at + 3) > 0;
	}
	return false;
}

/*
 * Checks the file before opening it: merely opening a device may have effects. A file that cannot be run is
 * not a program.
 */
static int open_program(const char *path, struct stat *st)
{
	HODO_AUTO_CLOSE int place = open_place(path);
	char again[32], type[64];

	if (place < 0 || !find_type(place, type, sizeof(type)) || strcmp(type, "fuse") == 0 ||
	    strncmp(type, "fuse.", 5) == 0)
		return -1;
	if (fstat(place, st) < 0 || !S_ISREG(st->st_mode) || !(st->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	return open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static bool gives_rights(int fd, const struct stat *st)
{
	return st->st_mode & S_ISUID || (st->st_mode & S_ISGID && st->st_mode & S_IXGRP) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* 1: it has one, 0: it has none, -1: it is damaged. */
static int has_interpreter(int fd, const Elf64_Ehdr *head)
{
	Elf64_Phdr p[PHDRS_MAX];
	size_t n = head->e_phnum < PHDRS_MAX ? head->e_phnum : PHDRS_MAX;
	ssize_t len = head->e_phentsize == sizeof(*p) ? hodo_file_read_at(fd, p, n * sizeof(*p), head->e_phoff) : -1;

	for (size_t i = 0; len > 0 && i < (size_t)len / sizeof(*p); i++)
		if (p[i].p_type == PT_INTERP)
			return 1;
	return len == (ssize_t)(head->e_phnum * sizeof(*p)) ? 0 : -1;
}

/* What an ELF file tells; NULL: nothing. */
static const char *elf_says(int fd, const Elf64_Ehdr *head)
{
	Elf64_Ehdr own;
	HODO_AUTO_CLOSE int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (head->e_ident[EI_CLASS] == ELFCLASS32)
		return "is a 32-bit program";
	if (hodo_file_read_at(self, &own, sizeof(own), 0) == (ssize_t)sizeof(own) && own.e_machine != head->e_machine)
		return "is a program of another architecture";
	return has_interpreter(fd, head) == 0 ? "is static" : NULL;
}

/* The interpreter of a script, from its first line: true if it has one whose place is known. */
static bool script_runs(const char *text, size_t len, char *to, size_t size)
{
	const char *at = text + 2, *end = memchr(text, '\n', len);

	if (len < 3 || text[0] != '#' || text[1] != '!')
		return false;
	end = end ? end : text + len;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	len = 0;
	while (at + len < end && at[len] != ' ' && at[len] != '\t')
		len++;
	return len > 0 && *at == '/' && snprintf(to, size, "%.*s", (int)len, at) < (int)size;
}

/* Of an absolute path, or a script's interpreter, which replaces the path. NULL: nothing. */
static const char *file_says(char path[PATH_MAX])
{
	for (int i = 0; i < 2; i++) {
		union {
			char text[256];
			Elf64_Ehdr elf;
		} head = { { 0 } };
		struct stat st;
		HODO_AUTO_CLOSE int fd = open_program(path, &st);
		ssize_t len = fd < 0 ? -1 : hodo_file_read_at(fd, &head, sizeof(head), 0);

		if (len >= (ssize_t)sizeof(head.elf) && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
			return gives_rights(fd, &st) ? "is set-user-ID, or has capabilities" :
						      elf_says(fd, &head.elf);
		if (len <= 0 || !script_runs(head.text, (size_t)len, path, PATH_MAX))
			return NULL;
	}
	return NULL;
}

/*
 * Where execvp() would find it, by our own PATH, which the command inherited. False: not known.
 */
static bool find(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	path[0] = 0;
	if (name[0] == '/')
		snprintf(path, PATH_MAX, "%s", name);
	for (size_t len; !path[0] && !strchr(name, '/') && dirs && *dirs; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)len, dirs, name) >= PATH_MAX || path[0] != '/' ||
		    access(path, X_OK) != 0)
			path[0] = 0;
	}
	return path[0];
}

bool hodo_why_unrecorded(const char *name, uid_t uid, bool look, struct hodo_why *why)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	char path[PATH_MAX] = "", shown[PATH_MAX * 4];
	const char *says = NULL, *at = shown;
	bool cut;

	if (look && strncmp(name, "...", 3) != 0 && hodo_rights_of(&rights, uid) == 0 && find(name, path))
		says = file_says(path);
	hodo_printable(shown, sizeof(shown), says ? path : name);
	cut = strlen(shown) > SHOWN_MAX;
	if (cut)
		at += strlen(shown) - SHOWN_MAX;
	if (says)
		hodo_why(why, 0, "%s%s %s", cut ? "..." : "", at, says);
	else
		hodo_why(why, 0, "libhodo was not loaded in %s%s, or did not reach the recorder", cut ? "..." : "",
			 at);
	return says;
}
