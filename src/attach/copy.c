/* SPDX-License-Identifier: MIT */
/*
 * copy.c - a copy of libraries where a process with another root directory can load them.
 *
 * It lies in a new directory with a name that nobody can know before, made in the process's own root directory with the
 * process's rights: no link in there leads out of it, and nothing can be written that the process could not write.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <base/file.h>
#include <base/rights.h>
#include <base/scope.h>
#include <elf/file.h>
#include <hodo/abi.h>

#include "attach.h"

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "riscv64"
#endif
#define NAMES_MAX 4096u /* of versions in a file */
#define FILES_MAX (64 << 20)

/* In the root directory, whatever links are on the way. A descriptor or negative errno. */
static int open_in(int root, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int open_elf_in(int root, const char *path, struct hodo_elf *e)
{
	HODO_AUTO_CLOSE int fd = open_in(root, path, 0);
	char name[32];

	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return hodo_elf_open(e, name);
}

/* ------------------------------------------------------------------- the C library */

static Elf_Data *find_versions(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return elf_getdata(section, NULL);
	return NULL;
}

static bool defines(Elf *elf, const char *version)
{
	GElf_Shdr header;
	Elf_Data *data = find_versions(elf, SHT_GNU_verdef, &header);
	GElf_Verdaux name;
	GElf_Verdef def;
	size_t at = 0;

	for (unsigned n = 0; data && n < NAMES_MAX && gelf_getverdef(data, (int)at, &def); n++) {
		const char *text = gelf_getverdaux(data, (int)(at + def.vd_aux), &name)
			? elf_strptr(elf, header.sh_link, name.vda_name) : NULL;

		if (text && strcmp(text, version) == 0)
			return true;
		if (!def.vd_next)
			break;
		at += def.vd_next;
	}
	return false;
}

/* The name of a version that the library needs of libc and this libc does not have; NULL: there is none. */
static const char *find_missing(Elf *library, Elf *libc)
{
	GElf_Shdr header;
	Elf_Data *data = find_versions(library, SHT_GNU_verneed, &header);
	GElf_Verneed need;
	size_t at = 0;

	for (unsigned n = 0; data && n < NAMES_MAX && gelf_getverneed(data, (int)at, &need); n++) {
		const char *file = elf_strptr(library, header.sh_link, need.vn_file);
		size_t aux = at + need.vn_aux;
		GElf_Vernaux name;

		for (unsigned i = 0; file && strcmp(file, "libc.so.6") == 0 && i < need.vn_cnt &&
				     gelf_getvernaux(data, (int)aux, &name); i++) {
			const char *text = elf_strptr(library, header.sh_link, name.vna_name);

			if (text && !(name.vna_flags & VER_FLG_WEAK) && !defines(libc, text))
				return text;
			aux += name.vna_next;
		}
		if (!need.vn_next)
			break;
		at += need.vn_next;
	}
	return NULL;
}

static bool is_same_machine(Elf *a, Elf *b)
{
	GElf_Ehdr x, y;

	return gelf_getehdr(a, &x) && gelf_getehdr(b, &y) && x.e_machine == y.e_machine &&
	       x.e_ident[EI_CLASS] == y.e_ident[EI_CLASS];
}

/*
 * A library that needs a newer C library than there is would keep programs from starting: none of those that are there
 * may be too old. musl does not look at versions.
 */
static int check_libc(int root, const char *library, struct hodo_why *why)
{
	static const char *const paths[] = {
		"lib/" MACHINE "-linux-gnu/libc.so.6", "usr/lib/" MACHINE "-linux-gnu/libc.so.6", "lib64/libc.so.6",
		"usr/lib64/libc.so.6", "lib/libc.so.6", "usr/lib/libc.so.6",
	};
	HODO_AUTO(hodo_elf_close) struct hodo_elf ours = HODO_ELF_CLOSED;
	bool found = false;
	int error;

	elf_version(EV_CURRENT);
	error = hodo_elf_open(&ours, library);
	if (error)
		return hodo_why(why, error, "%s: %s", library, strerror(-error));
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		HODO_AUTO(hodo_elf_close) struct hodo_elf libc = HODO_ELF_CLOSED;
		const char *missing;

		if (open_elf_in(root, paths[i], &libc) < 0 || !is_same_machine(ours.elf, libc.elf))
			continue;
		found = true;
		missing = find_missing(ours.elf, libc.elf);
		if (missing)
			return hodo_why(why, -ENOEXEC, "its C library (/%s) is too old: it has no %s", paths[i],
					missing);
	}
	if (!found) {
		HODO_AUTO_CLOSE int musl = open_in(root, "lib/ld-musl-" MACHINE ".so.1", 0);

		found = musl >= 0;
	}
	return found ? 0 : hodo_why(why, -ENOEXEC, "no C library was found there");
}

/* ---------------------------------------------------------------------- the copy */

static int copy_bytes(int from, int to)
{
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > FILES_MAX)
		return -EFBIG;
	while (at < st.st_size) {
		ssize_t n = sendfile(to, from, &at, (size_t)(st.st_size - at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	/* Whatever the umask: who loads it later may be another user. */
	return fchmod(to, 0755) < 0 ? -errno : 0;
}

/* The process may not be able to read it where it is: it is open already. */
static int copy_file(struct hodo_attach_copy *c, int from, const char *name)
{
	HODO_AUTO_CLOSE int to = -1;

	if (c->n == HODO_ATTACH_COPY_FILES || strlen(name) >= sizeof(c->file[0]))
		return -ENAMETOOLONG;
	to = openat(c->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (to < 0)
		return -errno;
	strcpy(c->file[c->n++], name);
	return copy_bytes(from, to);
}

static int make_dir(struct hodo_attach_copy *c, int root, const char *below)
{
	struct statvfs fs;
	uint64_t number;
	int fd = open_in(root, below[0] ? below : ".", O_DIRECTORY);

	if (fd < 0)
		return fd;
	c->parent = fd;
	if (fstatvfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_flag & (ST_NOEXEC | ST_RDONLY))
		return -EACCES;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(c->name, sizeof(c->name), HODO_COPY_PREFIX "%016llx", (unsigned long long)number);
	if (mkdirat(fd, c->name, 0755) < 0)
		return -errno;
	c->dirfd = openat(fd, c->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->dirfd < 0 || fchmod(c->dirfd, 0755) < 0)
		return -errno;
	snprintf(c->dir, sizeof(c->dir), "%s%s/%s", below[0] ? "/" : "", below, c->name);
	return 0;
}

static void remove_files(struct hodo_attach_copy *c)
{
	for (unsigned i = 0; i < c->n; i++)
		unlinkat(c->dirfd, c->file[i], 0);
	if (c->dir[0])
		unlinkat(c->parent, c->name, AT_REMOVEDIR);
	hodo_close(c->dirfd);
	hodo_close(c->parent);
	*c = HODO_ATTACH_NO_COPY;
}

static int make_in(struct hodo_attach_copy *c, int root, const char *below, const int *from, char *const *name,
		   unsigned n)
{
	int error = make_dir(c, root, below);

	for (unsigned i = 0; !error && i < n; i++)
		error = copy_file(c, from[i], name[i]);
	if (error)
		remove_files(c);
	return error;
}

static int make_somewhere(struct hodo_attach_copy *c, pid_t pid, int root, const int *from, char *const *name,
			  unsigned n, struct hodo_why *why)
{
	static const char *const dirs[] = { "tmp", "var/tmp", "dev/shm", "run", "" };
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	int error = hodo_rights_of_process(&rights, pid), first = 0;
	struct stat st;

	if (error)
		return hodo_why(why, error, "process %d: %s", (int)pid, strerror(-error));
	fstat(root, &st);
	c->root_dev = st.st_dev;
	c->root_ino = st.st_ino;
	c->uid = (uid_t)setfsuid((uid_t)-1);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		struct hodo_attach_copy made = *c;

		error = make_in(&made, root, dirs[i], from, name, n);
		if (!error) {
			*c = made;
			return 0;
		}
		first = first && first != -ENOENT ? first : error;
	}
	return hodo_why(why, first, "no directory there (/tmp, /var/tmp, /dev/shm, /run, /) can be written and has "
			"room for programs: %s", strerror(-first));
}

int hodo_attach_copy_make(struct hodo_attach_copy *c, pid_t pid, const char *libraries, bool starts,
			  struct hodo_why *why)
{
	char path[32], text[2 * 4096], *name[HODO_ATTACH_COPY_FILES];
	int from[HODO_ATTACH_COPY_FILES], error = 0;
	HODO_AUTO_CLOSE int root = -1;
	unsigned n = 0;

	*c = HODO_ATTACH_NO_COPY;
	if (snprintf(text, sizeof(text), "%s", libraries) >= (int)sizeof(text))
		return hodo_why(why, -ENAMETOOLONG, "%s: path too long", libraries);
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return hodo_why(why, -errno, "%s: %s", path, strerror(errno));
	for (char *rest = text, *one; !error && n < HODO_ATTACH_COPY_FILES && (one = strsep(&rest, ":"));) {
		char *slash = strrchr(one, '/');

		if (starts)
			error = check_libc(root, one, why);
		name[n] = slash ? slash + 1 : one;
		from[n] = error ? -1 : open(one, O_RDONLY | O_CLOEXEC);
		if (from[n] >= 0)
			n++;
		else if (!error)
			error = hodo_why(why, -errno, "%s: %s", one, strerror(errno));
	}
	if (!error)
		error = make_somewhere(c, pid, root, from, name, n, why);
	while (n > 0)
		close(from[--n]);
	return error;
}

/* Its maker may be root, and the directory another's: nothing there is reached but by what we have open. */
void hodo_attach_copy_remove(struct hodo_attach_copy *c)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };

	if (c->dir[0] && hodo_rights_of(&rights, c->uid) == 0)
		remove_files(c);
}

static bool is_root_of(const struct hodo_attach_copy *c, pid_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return stat(path, &st) == 0 && st.st_dev == c->root_dev && st.st_ino == c->root_ino;
}

bool hodo_attach_copy_serves(const struct hodo_attach_copy *c, pid_t pid)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };

	return is_root_of(c, pid) && hodo_rights_of_process(&rights, pid) == 0 && (uid_t)setfsuid((uid_t)-1) == c->uid;
}

pid_t hodo_attach_copy_user(const struct hodo_attach_copy *c)
{
	HODO_AUTO_CLOSEDIR DIR *dir = hodo_dir_list(AT_FDCWD, "/proc");

	for (const char *name; (name = hodo_dir_next(dir));) {
		pid_t pid = (pid_t)strtol(name, NULL, 10);

		if (pid > 0 && pid != getpid() && is_root_of(c, pid))
			return pid;
	}
	return 0;
}
