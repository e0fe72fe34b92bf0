/* SPDX-License-Identifier: MIT */
/*
 * images.c - announces in the recording's memory which image this process, or a child that it has spawned, is
 * about to run. If libhodo is not loaded in the image, nothing else would show that it existed.
 *
 * Called by exec's callers (exec.c): in any thread, in signal handlers, and in vfork children, which run in
 * their parent's memory with their own pid. No lock, and no system calls but those of the slow path,
 * getpid(), getppid(), and readlinkat() where a path is relative.
 *
 *               | announce | withdraw | the recorder
 *   announce    | beside: a place is taken by one compare-and-swap
 *   withdraw    | beside   | beside   | either frees the place, by its whole word: who comes second finds another
 *   the recorder| reads a place whose word is stored last, and the same afterwards
 *
 * Without the release of the word, the recorder could read the path of the place's former image.
 */
#include <fcntl.h>
#include <limits.h>
#include "images.h"
#include <user/libc/sys.h>
#include <user/event/event.h>
#include <user/libc/libc.h>
#include "process.h"

/* Asks the kernel to block the signals in these bytes while all are blocked. */
bool hodo_image_readable(const char *p)
{
	return hodo_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (uintptr_t)p & ~7ul, 0, 8) == 0;
}

/* Of a path, its NUL not counted; more than PATH_MAX: exec will fail, with EFAULT or ENAMETOOLONG. */
static size_t length(const char *path)
{
	for (size_t len = 0; len < PATH_MAX; len++) {
		if ((len == 0 || (uintptr_t)(path + len) % HODO_PAGE == 0) && !hodo_image_readable(path + len))
			break;
		if (!path[len])
			return len;
	}
	return PATH_MAX + 1;
}

/*
 * Where a relative path begins, which only the caller knows, and only before exec. Returns its length; 0: not
 * known, or too long.
 */
static size_t begin_of(char *to, size_t size, int dir)
{
	char link[32] = "/proc/self/cwd";
	long n;

	if (dir >= 0) {
		__builtin_memcpy(link + sizeof("/proc/self"), "fd/", 4);
		hodo_fixed_text_number(link, sizeof(link), (uint64_t)dir);
	}
	n = dir == HODO_IMAGE_ELSEWHERE ? 0 : hodo_sys4(SYS_readlinkat, AT_FDCWD, link, to, size);
	return n > 0 && (size_t)n < size && to[0] == '/' ? (size_t)n : 0;
}

/* As struct hodo_image has it. False: exec will fail. */
static bool copy_path(char *to, size_t size, int dir, const char *path)
{
	static const char cut[] = "...";
	size_t len = length(path), at = 0, skip = 0;
	bool whole;

	if (len > PATH_MAX || (len == 0 && dir < 0))
		return false;
	whole = path[0] == '/' || (dir == HODO_IMAGE_SEARCHED && !strchr(path, '/'));
	if (!whole) {
		at = begin_of(to, size, dir);
		whole = at;
		if (len)
			to[at++] = '/';
	}
	if (!whole || at + len >= size) {
		__builtin_memcpy(to, cut, sizeof(cut));
		at = sizeof(cut) - 1;
		if (len && path[0] != '/' && at + len + 1 < size)
			to[at++] = '/';
		skip = at + len < size ? 0 : at + len - (size - 1);
	}
	__builtin_memcpy(to + at, path + skip, len - skip);
	to[at + len - skip] = 0;
	return true;
}

static struct hodo_images *head(void) { return (struct hodo_images *)(hodo_recording.shm + HODO_SHM_IMAGES_HEAD); }
static struct hodo_image *places(void) { return (struct hodo_image *)(hodo_recording.shm + HODO_SHM_IMAGES); }

static void put(struct hodo_announced *a, uint32_t pid, int dir, const char *path)
{
	static uint32_t number;
	struct hodo_images *images = head();
	struct hodo_image *place = places();
	uint32_t i, used;

	for (i = 0; i < HODO_IMAGES_MAX; i++) {
		uint64_t who = HODO_IMAGE_FREE;

		if (hodo_load(&place[i].who) == who && hodo_cas_acquire(&place[i].who, &who, HODO_IMAGE_TAKEN))
			break;
	}
	if (i == HODO_IMAGES_MAX) {
		hodo_add(&images->lost, 1);
		*a = (struct hodo_announced){ i, HODO_IMAGE_TAKEN };
		return;
	}
	if (!copy_path(place[i].path, sizeof(place[i].path), dir, path)) {
		hodo_store_release(&place[i].who, HODO_IMAGE_FREE);
		return;
	}
	used = hodo_load(&images->used);
	while (used <= i && !hodo_cas_seq(&images->used, &used, i + 1))
		;
	*a = (struct hodo_announced){ i, (uint64_t)pid << 32 | (hodo_add(&number, 1) & ~0u) };
	hodo_store_release(&place[i].who, a->who);
	hodo_add_seq(&images->announced, 1); /* after the word: a reader that sees the count finds the place */
}

/*
 * The caller's pid: of the process, or its vfork child; 0: the recorder would not know it by that. A child
 * that does not see its parent is in its own pid namespace, and has a pid there.
 */
static uint32_t caller(void)
{
	uint32_t pid = (uint32_t)hodo_sys0(SYS_getpid);

	return pid == ((struct hodo_shm *)hodo_recording.shm)->pid || hodo_sys0(SYS_getppid) != 0 ? pid : 0;
}

static void leave(uint64_t mask, uint32_t token)
{
	hodo_section_leave(token);
	hodo_signals_restore(mask);
}

/* The memory to announce in. With signals blocked: a handler that comes in between might fork. */
static bool enter(uint64_t *mask, uint32_t *token)
{
	if (!hodo_load(&hodo_recording.on) || hodo_recording.by != HODO_BY_RECORDER)
		return false;
	*mask = hodo_signals_block();
	*token = hodo_section_enter();
	if (*token && !hodo_process_forked() && hodo_recording.on && hodo_recording.shm)
		return true;
	leave(*mask, *token);
	return false;
}

struct hodo_announced hodo_image_announce(uint32_t pid, int dir, const char *path)
{
	struct hodo_announced a = { 0, 0 };
	uint32_t token;
	uint64_t mask;

	if (!enter(&mask, &token))
		return a;
	if (pid == 0)
		pid = caller();
	if (pid)
		put(&a, pid, dir, path ? path : "");
	leave(mask, token);
	return a;
}

/* Another recording may have begun meanwhile; its place has another word then, and its count may be 0. */
void hodo_image_withdraw(struct hodo_announced a)
{
	uint32_t token;
	uint64_t mask;

	if (!a.who || !enter(&mask, &token))
		return;
	if (a.place == HODO_IMAGES_MAX)
		for (uint32_t lost = hodo_load(&head()->lost); lost && !hodo_cas_seq(&head()->lost, &lost, lost - 1);)
			;
	else
		hodo_cas_seq(&places()[a.place].who, &a.who, HODO_IMAGE_FREE);
	leave(mask, token);
}
