/* SPDX-License-Identifier: MIT */
/*
 * images.c - process images that recorded processes have announced.
 *
 * Two facts decide, and neither depends on time: once nobody waits in the sockets, we know who has connected,
 * and a process that has ended does not connect any more. A reused pid can hide an image, but never invents
 * one.
 *
 * The tables are in the processes' memory, and may contain anything: of a place, we use only its two numbers
 * and a copy of its path. The work done at a time is bounded, and so is what is kept: what we have no room
 * for stays in the process's table.
 */
#include "images.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <base/map.h>

#include "why_unrecorded.h"
#include <record/process_impl.h>
#include <proc/process.h>
#include <record/recorder.h>
#include <record/ring/shm.h>
#include <record/recorder.h>
#include <read/file/metadata_line.h>

#define CHECK_NS 50000000ll
#define AWAITED_MAX 65536u /* half of it for children of processes that have ended */
#define CHECKED_MAX 4096u  /* at a time */
#define COUNTED_MAX 256u   /* at a time, since their files are examined */
#define COUNTED_AT_END_MAX 8192u
#define START_NS 10000ull /* at least, on one CPU */
#define TOO_MANY "or fewer: more programs ran at once than can be followed"
#define OTHERS "libhodo was not loaded in other programs, or they did not reach the recorder"

struct hodo_awaited {
	struct {
		uint64_t after; /* it must come later than this number */
		uint64_t pid;
	} key;
	uid_t uid;
	bool ended;
	bool elsewhere; /* its path is in another root directory */
	char path[sizeof(((struct hodo_image *)0)->path)];
};

void hodo_images_begin(struct hodo_recorder *s)
{
	s->images.came = (struct hodo_map)HODO_MAP(struct hodo_image_came, pid);
	s->images.awaited = (struct hodo_map)HODO_MAP(struct hodo_awaited, key);
}

/* ----------------------------------------------------------------- reasons */

static uint32_t find_reason(const struct hodo_recorder_stats *t, const char *why)
{
	uint32_t i = 0;

	while (i < t->reasons && strcmp(t->unrecorded[i].why, why) != 0)
		i++;
	return i;
}

/* Adds that many images to the reason. other: replaces it once half of the reasons are in use; NULL: it may use any. */
static const struct hodo_unrecorded *count_reason(struct hodo_recorder *s, const char *why, const char *other,
						  uint64_t images)
{
	struct hodo_recorder_stats *t = &s->total;
	uint32_t i = find_reason(t, why);

	if (i == t->reasons && other && i >= HODO_UNRECORDED_REASONS / 2) {
		why = other;
		i = find_reason(t, why);
	}
	if (i == HODO_UNRECORDED_REASONS)
		i--;
	else if (i == t->reasons)
		snprintf(t->unrecorded[t->reasons++].why, sizeof(t->unrecorded[i].why), "%s",
			 i == HODO_UNRECORDED_REASONS - 1 ? "other reasons" : why);
	t->unrecorded[i].images += images;
	return &t->unrecorded[i];
}

/* ---------------------------------------------------------------- who came */

uint64_t hodo_image_came(struct hodo_recorder *s, pid_t pid)
{
	struct hodo_images_awaited *a = &s->images;
	uint32_t key = (uint32_t)pid;
	struct hodo_image_came *c = hodo_map_add(&a->came, &key, NULL);

	a->number++;
	if (c)
		c->number = a->number;
	return a->number;
}

static bool has_come(const struct hodo_images_awaited *a, pid_t pid, uint64_t after)
{
	uint32_t key = (uint32_t)pid;
	const struct hodo_image_came *c = hodo_map_find(&a->came, &key);

	return c && c->number > after;
}

static bool has_ended(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

/* It was recorded before the process that claims to have started it: the claim is false. */
static bool is_recorded(struct hodo_recorder *s, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	const struct hodo_process *p = hodo_map_find(&s->images.came, &key) ? s->processes : NULL;

	while (p && p->id.pid != pid)
		p = p->next;
	return p && p->pidfd >= 0 && hodo_proc_lives(p->pidfd);
}

/* --------------------------------------------------------------- announced */

/* The user with whose rights its paths are opened: root may be another user by now. */
static uid_t user_of(const struct hodo_process *p)
{
	struct hodo_proc_status status;
	uid_t uid = p->id.flight.uid;

	/* Signal 0 only checks that the pid is still the process's. */
	if (uid == 0 && hodo_proc_status(p->id.pid, &status) == 0 &&
	    syscall(SYS_pidfd_send_signal, p->pidfd, 0, NULL, 0) == 0)
		uid = status.euid;
	return uid;
}

/* Makes different spellings of a path equal. */
static void squeeze(char *path)
{
	for (char *at; (at = strstr(path, "/./"));)
		memmove(at, at + 2, strlen(at + 2) + 1);
}

/* One image may be announced twice, if another library's exec function calls libc's. */
static void await(const struct hodo_process *p, pid_t pid, const struct hodo_image *image)
{
	struct hodo_images_awaited *a = &p->recorder->images;
	struct hodo_awaited new = { .key = { p->id.came, (uint64_t)pid } }, *w;
	bool is_new = false;

	if (hodo_map_find(&a->awaited, &new.key))
		return;
	w = a->awaited.n < AWAITED_MAX ? hodo_map_add(&a->awaited, &new.key, &is_new) : NULL;
	if (!w) {
		a->lost++;
		return;
	}
	w->uid = user_of(p);
	w->elsewhere = p->id.other_root;
	hodo_shm_copy(w->path, image->path, sizeof(w->path));
	w->path[sizeof(w->path) - 1] = 0;
	squeeze(w->path);
}

/* Frees a place. False: it is in use for another image by now. */
static bool release(struct hodo_image *image, uint64_t who)
{
	return __atomic_compare_exchange_n(&image->who, &who, HODO_IMAGE_FREE, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/*
 * A child; ending: its parent is about to be finished. A vfork child may withdraw the place as long as it
 * lives.
 */
static void look_at_child(struct hodo_process *p, struct hodo_image *image, uint64_t who, bool ending)
{
	struct hodo_recorder *s = p->recorder;
	pid_t pid = (pid_t)(who >> 32);

	/* A process in its own pid namespace has other pids for its children than we have. */
	if (pid > 0 && !p->id.nested && !has_come(&s->images, pid, p->id.came) && !is_recorded(s, pid)) {
		if (!ending && (!has_ended(pid) || s->images.awaited.n >= AWAITED_MAX / 2))
			return;
		if (hodo_shm_load64(&image->who) == who)
			await(p, pid, image);
	}
	release(image, who);
}

/* Whether there is anything to examine; how many places. */
static bool has_announced(struct hodo_process *p, uint32_t *used)
{
	const struct hodo_images *head = (const struct hodo_images *)(p->shm + HODO_SHM_IMAGES_HEAD);
	uint32_t announced;

	*used = 0;
	if (!p->recorder->command || p->kernel || p->adopted)
		return false;
	announced = hodo_shm_load32(&head->announced);
	*used = hodo_shm_load32(&head->used);
	if (*used > HODO_IMAGES_MAX)
		*used = HODO_IMAGES_MAX;
	if (announced == p->images_seen)
		return false;
	p->images_seen = announced;
	return true;
}

void hodo_images_look(struct hodo_process *p, bool all)
{
	struct hodo_image *image = (struct hodo_image *)(p->shm + HODO_SHM_IMAGES);
	uint32_t used;

	if (!has_announced(p, &used) && !all)
		return;
	for (uint32_t i = 0; i < used; i++) {
		uint64_t who = hodo_shm_load64(&image[i].who);

		if (who > HODO_IMAGE_TAKEN && who >> 32 != p->id.vpid)
			look_at_child(p, &image[i], who, false);
	}
}

/* Counts those that found no place. */
static void take_lost(const struct hodo_process *p)
{
	const struct hodo_images *head = (const struct hodo_images *)(p->shm + HODO_SHM_IMAGES_HEAD);
	struct hodo_recorder *s = p->recorder;
	uint64_t ns = (uint64_t)(hodo_clock_ns(CLOCK_MONOTONIC) - s->clock_first.mono_ns);
	uint32_t lost = hodo_shm_load32(&head->lost);

	if (lost > (ns / START_NS + 1) * s->cpus)
		hodo_process_report(p, "its count of started programs cannot be true, and is left out: look "
				    "for stray writes in it");
	else if (lost)
		count_reason(s, TOO_MANY, NULL, lost);
}

void hodo_images_take(struct hodo_process *p, bool alive)
{
	struct hodo_image *image = (struct hodo_image *)(p->shm + HODO_SHM_IMAGES);
	uint32_t used;

	has_announced(p, &used);
	for (uint32_t i = 0; i < used; i++) {
		uint64_t who = hodo_shm_load64(&image[i].who);

		if (who <= HODO_IMAGE_TAKEN)
			continue;
		if (who >> 32 != p->id.vpid)
			look_at_child(p, &image[i], who, true);
		else if (!alive || !p->recorder->server) /* otherwise only its recording ends, and it runs on */
			await(p, p->id.pid, &image[i]);
	}
	if (used)
		take_lost(p);
}

/* ----------------------------------------------------------------- decided */

/* Names that only the process itself supports leave room for other reasons. */
static void count(struct hodo_recorder *s, const struct hodo_awaited *w, bool look)
{
	struct hodo_why why;
	bool says = hodo_why_unrecorded(w->path, w->uid, look && !w->elsewhere, &why);

	count_reason(s, why.text, says ? NULL : OTHERS, 1);
}

static bool ended_before(struct hodo_recorder *s, const struct hodo_awaited *w)
{
	return w->ended;
}

/*
 * It is about to connect, or is still the image that announced another: then it has all that libhodo needs.
 */
static bool would_come(pid_t pid)
{
	char value[4096];

	return hodo_proc_environment(pid, HODO_RECORDER_ENV, value, sizeof(value)) &&
	       hodo_proc_environment(pid, "LD_PRELOAD", value, sizeof(value)) && strstr(value, "libhodo");
}

static bool is_another(struct hodo_recorder *s, const struct hodo_awaited *w)
{
	pid_t pid = (pid_t)w->key.pid;

	if (w->ended || has_ended(pid))
		return true;
	return !hodo_proc_older(pid) &&
	       (!would_come(pid) || hodo_why_unrecorded(w->path, w->uid, !w->elsewhere, NULL));
}

/*
 * Removes the decided ones from index `first` to before `last`: backwards, since the last one of all replaces
 * a removed one. most: how many files to examine; at the end all are decided, otherwise no more than these.
 */
static void decide(struct hodo_recorder *s, uint32_t first, uint32_t last, uint32_t most, bool end)
{
	struct hodo_images_awaited *a = &s->images;

	for (uint32_t i = last; i-- > first && (most > 0 || end);) {
		struct hodo_awaited *w = hodo_map_at(&a->awaited, i);

		if (!has_come(a, (pid_t)w->key.pid, w->key.after)) {
			if (!(end ? is_another : ended_before)(s, w))
				continue;
			count(s, w, most > 0);
			most -= most > 0;
		}
		hodo_map_remove(&a->awaited, w);
	}
}

/* The order matters: first which have ended, then whether a process that we have not seen waits. */
void hodo_images_check(struct hodo_recorder *s, int64_t now_ns)
{
	struct hodo_images_awaited *a = &s->images;
	struct pollfd waiting = { .fd = s->joining.answers_fd, .events = POLLIN };
	uint32_t first, last;

	if (!s->command || now_ns - a->looked_ns < CHECK_NS)
		return;
	a->looked_ns = now_ns;
	last = a->next > 0 && a->next < a->awaited.n ? a->next : a->awaited.n;
	if (last == 0)
		return;
	first = last > CHECKED_MAX ? last - CHECKED_MAX : 0;
	for (uint32_t i = first; i < last; i++) {
		struct hodo_awaited *w = hodo_map_at(&a->awaited, i);

		w->ended = w->ended || has_ended((pid_t)w->key.pid);
	}
	a->next = first;
	if (s->second_socket.watched && poll(&waiting, 1, 0) == 0)
		decide(s, first, last, COUNTED_MAX, false);
}

void hodo_images_end(struct hodo_recorder *s)
{
	struct hodo_images_awaited *a = &s->images;

	decide(s, 0, a->awaited.n, COUNTED_AT_END_MAX, true);
	if (a->lost)
		count_reason(s, TOO_MANY, NULL, a->lost);
	hodo_map_free(&a->came);
	hodo_map_free(&a->awaited);
	a->lost = 0;
}

/* ---------------------------------------------------------- those not recorded */

#define TOLD_MAX 20u

void hodo_unrecorded_add(struct hodo_recorder *s, pid_t pid, const char *why)
{
	struct hodo_recorder_stats *t = &s->total;
	const struct hodo_unrecorded *u = count_reason(s, why, NULL, 1);

	t->refused++;
	t->command_refused |= pid > 0 && pid == s->command;
	/* For each reason: one that others can cause at will must not hide the rest. */
	if (u->images <= TOLD_MAX)
		hodo_report(&s->config.reporter, "process %d is not recorded: %s", (int)pid, why);
	else if (u->images == TOLD_MAX + 1)
		hodo_report(&s->config.reporter, "more processes are not recorded: %s", u->why);
}

void hodo_unrecorded_text(const struct hodo_recorder *s, struct hodo_text *t)
{
	for (uint32_t i = 0; i < s->total.reasons; i++) {
		hodo_text_printf(t, "/*@unrecorded images=%llu", (unsigned long long)s->total.unrecorded[i].images);
		hodo_line_put_text(t, " why=", s->total.unrecorded[i].why);
		hodo_text_add(t, "*/\n");
	}
}
