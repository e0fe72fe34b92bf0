/* SPDX-License-Identifier: MIT */
/*
 * images.c - process images that recorded processes have announced.
 *
 * Two facts decide, and neither is a time: who has connected is known once the sockets have nobody in them who waits,
 * and who has ended connects no more. A number that is given again to another process can hide an image, and never
 * makes one up.
 */
#include "images.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

#include "image_file.h"
#include "proc_status.h"
#include "process.h"
#include "server.h"
#include "shm.h"
#include "unrecorded.h"

#define CHECK_NS 50000000ll
#define AWAITED_MAX 65536u

struct hodo_awaited {
	pid_t pid;
	uid_t uid;
	bool ended;
	uint64_t after; /* it comes later than this number */
	char path[sizeof(((struct hodo_image *)0)->path)];
};

/* ---------------------------------------------------------------- who came */

void hodo_image_came(struct hodo_session *s, pid_t pid)
{
	struct hodo_images_awaited *a = &s->images;
	uint32_t key = (uint32_t)pid;
	struct hodo_image_came *c = hodo_map_add(&a->came, &key, NULL);

	a->number++;
	if (c)
		c->number = a->number;
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

/* --------------------------------------------------------------- announced */

/* One image may have been announced twice, where an exec function of another library's calls libc's in its turn. */
static void await(const struct hodo_process *p, pid_t pid, const struct hodo_image *image)
{
	struct hodo_images_awaited *a = &p->session->images;
	struct hodo_awaited *w;

	for (uint32_t i = 0; i < a->n; i++)
		if (a->image[i].pid == pid && a->image[i].after == p->id.came)
			return;
	w = a->n < AWAITED_MAX ? hodo_vec_add(a->image, a->n) : NULL;
	if (!w) {
		a->lost++;
		return;
	}
	*w = (struct hodo_awaited){ .pid = pid, .uid = p->id.flight.uid, .after = p->id.came };
	hodo_shm_copy(w->path, image->path, sizeof(w->path));
	w->path[sizeof(w->path) - 1] = 0;
}

/* Gives a place back. False: it is another one's by now. */
static bool release(struct hodo_image *image, uint64_t who)
{
	return __atomic_compare_exchange_n(&image->who, &who, HODO_IMAGE_FREE, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* A child; ending: its parent is about to be finished. A vfork child may take the place back as long as it lives. */
static void look_at_child(struct hodo_process *p, struct hodo_image *image, uint64_t who, bool ending)
{
	pid_t pid = (pid_t)(who >> 32);

	/* In a pid namespace of its own, a process has other numbers for its children than we have. */
	if (pid > 0 && !p->id.nested && !has_come(&p->session->images, pid, p->id.came)) {
		if (!ending && !has_ended(pid))
			return;
		if (hodo_shm_load64(&image->who) == who)
			await(p, pid, image);
	}
	release(image, who);
}

/* Whether there is anything to look at; how many places. */
static bool has_announced(struct hodo_process *p, uint32_t *used)
{
	const struct hodo_images *head = (const struct hodo_images *)(p->shm + HODO_SHM_IMAGES_HEAD);
	uint32_t announced;

	*used = 0;
	if (!p->session->command || p->kernel || p->adopted)
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

void hodo_images_take(struct hodo_process *p, bool alive)
{
	const struct hodo_images *head = (const struct hodo_images *)(p->shm + HODO_SHM_IMAGES_HEAD);
	struct hodo_image *image = (struct hodo_image *)(p->shm + HODO_SHM_IMAGES);
	uint32_t used, lost;

	has_announced(p, &used);
	lost = used ? hodo_shm_load32(&head->lost) : 0;
	for (uint32_t i = 0; i < used; i++) {
		uint64_t who = hodo_shm_load64(&image[i].who);

		if (who <= HODO_IMAGE_TAKEN)
			continue;
		if (who >> 32 != p->id.vpid)
			look_at_child(p, &image[i], who, true);
		else if (!alive || !p->session->server) /* otherwise its recording ends alone, and it runs on */
			await(p, p->id.pid, &image[i]);
	}
	if (lost)
		hodo_process_report(p, "it started %u programs too fast to be followed: which of them are not recorded is "
				    "not known", lost);
}

/* ----------------------------------------------------------------- decided */

static void count(struct hodo_session *s, const struct hodo_awaited *w)
{
	char why[sizeof(((struct hodo_unrecorded *)0)->why)];

	hodo_image_file_why(w->path, w->uid, why, sizeof(why));
	hodo_unrecorded_count(s, why);
}

/* Removes what is decided. */
static void decide(struct hodo_session *s, bool (*unrecorded)(struct hodo_session *s, const struct hodo_awaited *w))
{
	struct hodo_images_awaited *a = &s->images;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		const struct hodo_awaited *w = &a->image[i];

		if (has_come(a, w->pid, w->after))
			continue;
		if (unrecorded(s, w))
			count(s, w);
		else
			a->image[kept++] = *w;
	}
	a->n = kept;
}

static bool ended_before(struct hodo_session *s, const struct hodo_awaited *w)
{
	return w->ended;
}

/* The order is what it rests on: first who has ended, then whether anybody waits whom we have not seen. */
void hodo_images_check(struct hodo_session *s, int64_t now_ns)
{
	struct hodo_images_awaited *a = &s->images;
	struct pollfd waiting = { .fd = s->joining.answers_fd, .events = POLLIN };

	if (!s->command || now_ns - a->looked_ns < CHECK_NS)
		return;
	a->looked_ns = now_ns;
	if (a->n == 0)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		a->image[i].ended = a->image[i].ended || has_ended(a->image[i].pid);
	if (s->abstract.watched && poll(&waiting, 1, 0) == 0)
		decide(s, ended_before);
}

/* It is on its way, or is still the image that announced another: then it has all that libhodo needs. */
static bool would_come(pid_t pid)
{
	char value[4096];

	return hodo_proc_environment(pid, HODO_RECORDER_ENV, value, sizeof(value)) &&
	       hodo_proc_environment(pid, "LD_PRELOAD", value, sizeof(value)) && strstr(value, "libhodo");
}

static bool is_another(struct hodo_session *s, const struct hodo_awaited *w)
{
	char why[sizeof(((struct hodo_unrecorded *)0)->why)];

	return w->ended || has_ended(w->pid) || !would_come(w->pid) ||
	       hodo_image_file_why(w->path, w->uid, why, sizeof(why));
}

void hodo_images_end(struct hodo_session *s)
{
	struct hodo_images_awaited *a = &s->images;

	decide(s, is_another);
	if (a->lost)
		hodo_report(&s->config.reporter, "%llu programs more were started than can be followed: which of them are "
			    "not recorded is not known", (unsigned long long)a->lost);
	hodo_map_free(&a->came);
	free(a->image);
	*a = (struct hodo_images_awaited){ .n = 0 };
}
