/* SPDX-License-Identifier: MIT */
/*
 * root.c - LD_PRELOAD of an image in a root directory where its libraries are not, as after chroot(2).
 *
 * The recorder is asked to put copies there (abi_live.h). Where that cannot be, our libraries are taken out of the
 * image's LD_PRELOAD: they could not be loaded, and the loader would say so on the program's standard error.
 *
 * Called by the exec functions, hence in signal handlers and in vfork children: nothing is written but the caller's
 * stack, and what is read was set in the constructor.
 */
#include <fcntl.h>
#include "images.h"
#include "root.h"
#include <user/libc/sys.h>
#include <user/talk/talk.h>
#include "process.h"

#define PRELOAD "LD_PRELOAD="
#define ENTRIES_MAX 8192u /* of an environment; 64 KiB of a stack */

static char library[512]; /* as this process was told to preload it, up to $LIB; "": it was not */

/* The first entry at or behind `at`, where glibc's loader takes the text apart; its length, 0: there is none. */
static size_t entry(const char **at)
{
	size_t len = 0;

	while (**at == ':' || **at == ' ')
		++*at;
	while ((*at)[len] && (*at)[len] != ':' && (*at)[len] != ' ')
		len++;
	return len;
}

static bool begins(const char *text, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && strncmp(text, with, n) == 0;
}

static bool is_ours(const char *path, size_t len)
{
	size_t at = len;

	while (at > 0 && path[at - 1] != '/')
		at--;
	return begins(path + at, len - at, "libhodo.so") || begins(path + at, len - at, "libhodo-func.so");
}

void hodo_root_init(char *const *envp)
{
	const char *at = hodo_environment(envp, "LD_PRELOAD");

	for (size_t len; at && (len = entry(&at)) > 0; at += len) {
		size_t n = 0;

		if (!is_ours(at, len) || at[0] != '/')
			continue;
		while (n < len && n < sizeof(library) && at[n] != '$')
			n++;
		if (n < sizeof(library)) {
			memcpy(library, at, n);
			library[n] = 0;
		}
		return;
	}
}

bool hodo_root_has_library(void)
{
	long fd = library[0] ? hodo_sys4(SYS_openat, AT_FDCWD, library, O_RDONLY | O_CLOEXEC, 0) : -EMFILE;

	if (fd >= 0)
		hodo_sys1(SYS_close, fd);
	return fd != -ENOENT && fd != -ENOTDIR && fd != -EACCES && fd != -ELOOP;
}

/* With signals blocked. What cannot be read is for execve() to refuse. -1: there is none. */
static long find_readable(char *const *envp, size_t *n)
{
	long found = -1;

	for (*n = 0; *n < ENTRIES_MAX; ++*n) {
		const char *text;

		if (!hodo_image_readable((const char *)&envp[*n]))
			return -1;
		text = envp[*n];
		if (!text)
			return found;
		if (!hodo_image_readable(text) || !hodo_image_readable(text + sizeof(PRELOAD) - 1))
			return -1;
		if (found < 0 && strncmp(text, PRELOAD, sizeof(PRELOAD) - 1) == 0)
			found = (long)*n;
	}
	return -1;
}

static long find_preload(char *const *envp, size_t *n)
{
	uint64_t mask = hodo_signals_block();
	long found = envp ? find_readable(envp, n) : -1;

	hodo_signals_restore(mask);
	return found;
}

static bool add(struct hodo_root *root, const char *path, size_t len)
{
	size_t at = strlen(root->preload);

	if (at + len + 2 > sizeof(root->preload))
		return false;
	if (at >= sizeof(PRELOAD))
		root->preload[at++] = ':';
	memcpy(root->preload + at, path, len);
	root->preload[at + len] = 0;
	return true;
}

size_t hodo_root_change(struct hodo_root *root, char *const *envp)
{
	struct hodo_msg_libraries answer;
	const char *at;
	size_t n, len;
	bool ours = false, fits = true;
	long found = find_preload(envp, &n);

	if (found < 0)
		return 0;
	for (at = envp[found] + sizeof(PRELOAD) - 1; !ours && (len = entry(&at)) > 0; at += len)
		ours = is_ours(at, len);
	if (!ours)
		return 0;
	if (hodo_session_libraries(&answer) < 0)
		answer.paths[0] = 0;
	memcpy(root->preload, PRELOAD, sizeof(PRELOAD));
	if (answer.paths[0])
		fits = add(root, answer.paths, strlen(answer.paths));
	for (at = envp[found] + sizeof(PRELOAD) - 1; fits && (len = entry(&at)) > 0; at += len)
		fits = is_ours(at, len) || add(root, at, len);
	if (!root->preload[sizeof(PRELOAD) - 1])
		root->preload[0] = 0;
	root->at = (size_t)found;
	return fits ? n + 1 : 0;
}

void hodo_root_environment(struct hodo_root *root, char *const *envp, char **changed)
{
	for (size_t i = 0; envp[i]; i++) {
		if (i != root->at)
			*changed++ = envp[i];
		else if (root->preload[0])
			*changed++ = root->preload;
	}
	*changed = 0;
}
