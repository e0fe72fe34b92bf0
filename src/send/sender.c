/* SPDX-License-Identifier: MIT */
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/quantity.h>
#include <base/scope.h>

#include "leftover.h"
#include "send_link.h"

#define WAIT_MIN_NS  1000000000ll
#define WAIT_MAX_NS  300000000000ll
#define WAIT_END_NS  2000000000ll /* at most, once no more parts come */
#define NICER        10

/* In memory that both have. */
struct shared {
	_Atomic uint32_t complete; /* parts up to this one are */
	_Atomic bool ending, stop;
	struct hodo_sender_totals totals; /* the sender's */
	uint32_t taken; /* the sender's: parts up to this one have left the recording, or never will */
};

struct hodo_sender {
	struct hodo_sender_config config;
	struct hodo_spool spool; /* the sender's */
	struct shared *shared;
	char host[65], recording[65];
	int wake_fd; /* an eventfd */
	int done_fd; /* of a pipe: the sender has the other end */
	pid_t pid;
	uint32_t sending;      /* 1: the oldest in the spool is on its way, and stays */
	bool full;             /* no room to pack a part: said once */
	bool dropping;         /* said once */
	struct hodo_link *link;
	int64_t retry_ns, wait_ns; /* when to try again; the last wait */
	struct hodo_why why;   /* what was said of the link */
};

/* -------------------------------------------------------------------------------- names */

void hodo_send_host(char host[65])
{
	char name[256] = "";

	if (gethostname(name, sizeof(name) - 1) < 0 || !*name)
		snprintf(name, sizeof(name), "unknown");
	hodo_send_word(host, name);
}

/* Its begin comes first: so names are in the order of time. */
void hodo_send_recording(char name[65], const char *path, int64_t begin_ns, uint64_t number)
{
	const char *base = strrchr(path, '/') && strrchr(path, '/')[1] ? strrchr(path, '/') + 1 : path;
	size_t len = strcspn(base, "./");
	time_t seconds = begin_ns / 1000000000;
	char text[128], when[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(text, sizeof(text), "%s-%.*s-%" PRIx64, when, len > 24 ? 24 : (int)len, base, number);
	hodo_send_word(name, text);
}

static void name_where(const struct hodo_sender *s, char *to, size_t size)
{
	snprintf(to, size, "%s/%s", s->host, s->recording);
}

/* ------------------------------------------------------------------------- into the spool */

static void remove_part(const struct hodo_sender *s, uint32_t number)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(AT_FDCWD, s->config.recording);
	char name[32];

	hodo_out_dir_part(name, number);
	hodo_out_dir_remove_at(fd, name);
}

static void say_dropped(struct hodo_sender *s, const char *why, const char *limit)
{
	if (!s->dropping)
		hodo_report(&s->config.reporter, "%s: the oldest unsent parts give way to new ones: %s%s", s->spool.path,
			    why, limit);
	s->dropping = true;
}

static void drop_oldest(struct hodo_sender *s, uint32_t i, bool full)
{
	char size[32];

	s->shared->totals.dropped++;
	s->shared->totals.dropped_bytes += hodo_spool_at(&s->spool, i)->bytes;
	hodo_spool_remove(&s->spool, i);
	say_dropped(s, full ? "the disk is full" : "the link is down, or slower than the recording, and --backlog keeps ",
		    full ? "" : hodo_size_text(s->config.backlog, size));
}

/*
 * There is no room to pack a part, and nothing that is packed can give way: the part itself does. Otherwise the disk
 * would stay full, and all that is recorded from now on would be lost. At the end, it can as well stay.
 */
static void drop_unpacked(struct hodo_sender *s)
{
	s->shared->totals.dropped++;
	remove_part(s, ++s->shared->taken);
	say_dropped(s, "the disk is full", "");
}

/* Packs a part. 0, also if there is none; or a negative errno. */
static int take_part(struct hodo_sender *s, uint32_t number)
{
	char name[32], dir[PATH_MAX], where[160];

	hodo_out_dir_part(name, number);
	if (snprintf(dir, sizeof(dir), "%s/%s", s->config.recording, name) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	if (access(dir, F_OK) < 0) /* the last part may have been empty */
		return errno == ENOENT ? 0 : -errno;
	if (s->config.prepare)
		s->config.prepare(s->config.prepare_arg, dir);
	name_where(s, where, sizeof(where));
	return hodo_spool_add_part(&s->spool, dir, where, number, s->config.level);
}

/* Takes what the recorder has finished, and keeps the spool within its bound. */
static void take_parts(struct hodo_sender *s)
{
	uint32_t complete = atomic_load(&s->shared->complete), keep = s->config.keep;

	while (s->shared->taken < complete) {
		int err = take_part(s, s->shared->taken + 1);
		bool full = err == -ENOSPC || err == -EDQUOT;

		if (full && hodo_spool_at(&s->spool, s->sending)) {
			drop_oldest(s, s->sending, true);
			continue;
		}
		if (full && !atomic_load(&s->shared->ending)) {
			drop_unpacked(s);
			continue;
		}
		s->shared->taken++;
		if (err && !s->full)
			hodo_report(&s->config.reporter, "%s/" HODO_OUT_PART "%04" PRIu32 " stays there, as it "
				    "cannot be packed to be sent: %s",
				    s->config.recording, s->shared->taken, strerror(-err));
		s->full |= err != 0;
		s->shared->totals.unpacked += err != 0;
		if (!err && s->shared->taken > keep)
			remove_part(s, s->shared->taken - keep);
		while (s->spool.bytes > s->config.backlog && hodo_spool_at(&s->spool, s->sending + 1))
			drop_oldest(s, s->sending, false);
	}
}

/* While the link makes us wait. */
static bool idle(void *sender)
{
	struct hodo_sender *s = sender;
	uint64_t woken;

	if (read(s->wake_fd, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
		return false;
	take_parts(s);
	return !atomic_load(&s->shared->stop);
}

/* ------------------------------------------------------------------------------- the link */

static void close_link(struct hodo_sender *s)
{
	hodo_link_close(s->link);
	s->link = NULL;
}

/* Tries again later: not all recorders of a fleet at the same time. */
static void failed(struct hodo_sender *s, const char *why)
{
	uint32_t chance = 0;
	int64_t wait = s->wait_ns * 2;

	close_link(s);
	if (atomic_load(&s->shared->stop))
		return;
	if (wait < WAIT_MIN_NS)
		wait = WAIT_MIN_NS;
	if (wait > WAIT_MAX_NS)
		wait = WAIT_MAX_NS;
	if (atomic_load(&s->shared->ending) && wait > WAIT_END_NS)
		wait = WAIT_END_NS;
	s->wait_ns = wait;
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = (uint32_t)hodo_now_ns();
	s->retry_ns = hodo_now_ns() + wait / 2 + wait / 2 * (chance % 1024) / 1024;
	/* The same reason again is not reported: it says nothing new. */
	if (strcmp(s->why.text, why) != 0)
		hodo_report(&s->config.reporter, "%s: %s: parts wait in %s, and are sent once that works",
			    s->config.target.text, why, s->spool.path);
	hodo_why(&s->why, 0, "%s", why);
}

static void worked(struct hodo_sender *s)
{
	if (*s->why.text)
		hodo_report(&s->config.reporter, "%s: takes parts again", s->config.target.text);
	s->why.text[0] = 0;
	s->wait_ns = 0;
}

/* Or it is what an earlier recorder left. */
static bool is_own(const struct hodo_sender *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	char where[sizeof(s->shared->totals.where)];

	name_where(s, where, sizeof(where));
	return slash && strlen(where) == (size_t)(slash - path) && strncmp(path, where, (size_t)(slash - path)) == 0;
}

/* The oldest one, which this moves to the receiver. */
static void send_one(struct hodo_sender *s)
{
	const struct hodo_link_idle waiting = { s->wake_fd, idle, s };
	struct hodo_why why = { "" };
	char path[PATH_MAX];
	HODO_AUTO_CLOSE int fd = -1;
	uint64_t bytes;
	int err = 0;

	if (!s->link)
		err = hodo_link_open(&s->link, &s->config.target, &waiting, &why);
	if (err) {
		failed(s, why.text);
		return;
	}
	if (!hodo_spool_at(&s->spool, 0)) /* it had to give way meanwhile */
		return;
	snprintf(path, sizeof(path), "%s", hodo_spool_at(&s->spool, 0)->path);
	bytes = hodo_spool_at(&s->spool, 0)->bytes;
	fd = hodo_spool_file(&s->spool, hodo_spool_at(&s->spool, 0));
	if (fd < 0) { /* somebody has removed it */
		hodo_spool_remove(&s->spool, 0);
		return;
	}
	s->sending = 1;
	err = hodo_link_send(s->link, fd, path, &why);
	s->sending = 0;
	if (err < 0) {
		failed(s, why.text);
		return;
	}
	worked(s);
	s->shared->totals.sent++;
	s->shared->totals.sent_own += is_own(s, path);
	s->shared->totals.sent_bytes += bytes;
	hodo_spool_remove(&s->spool, 0);
	if ((s->config.keep_bytes || s->config.keep_minutes) &&
	    hodo_link_prune(s->link, s->host, s->config.keep_bytes, s->config.keep_minutes, path, &why) < 0)
		failed(s, why.text);
}

/* ---------------------------------------------------------------------------- the sender */

static void wait_for_more(struct hodo_sender *s, int64_t ns)
{
	struct pollfd fd = { .fd = s->wake_fd, .events = POLLIN };
	struct timespec timeout = { ns / 1000000000, ns % 1000000000 };
	uint64_t woken;

	if (ppoll(&fd, 1, ns < 0 ? NULL : &timeout, NULL) == 1 && read(s->wake_fd, &woken, sizeof(woken)) < 0)
		return;
}

static void run(struct hodo_sender *s)
{
	while (!atomic_load(&s->shared->stop)) {
		bool ending = atomic_load(&s->shared->ending); /* before `complete`, which is final then */
		int64_t now = hodo_now_ns();

		take_parts(s);
		if (!hodo_spool_at(&s->spool, 0)) {
			close_link(s);
			if (ending)
				break;
			wait_for_more(s, -1);
		} else if (ending && s->retry_ns > now + WAIT_END_NS) {
			s->retry_ns = now;
		} else if (s->retry_ns > now) {
			wait_for_more(s, s->retry_ns - now);
		} else {
			send_one(s);
		}
	}
	close_link(s);
	/* What is not sent is kept as what can be. */
	take_parts(s);
	hodo_spool_close(&s->spool);
}

/* In the child: the recorder has precedence over others, this has not, and signals are the recorder's. */
static void be_sender(struct hodo_sender *s, pid_t recorder)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "hodo-send");
	/* The next recorder goes on with the spool. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != recorder)
		_exit(1);
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
	close(s->done_fd);
	run(s);
	_exit(0);
}

/* -------------------------------------------------------------------------- the recorder */

static int fork_sender(struct hodo_sender *s)
{
	pid_t recorder = getpid();
	int done[2];

	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->shared == MAP_FAILED)
		return -errno;
	if (pipe2(done, O_CLOEXEC) < 0)
		return -errno;
	s->done_fd = done[0];
	s->pid = fork();
	if (s->pid == 0)
		be_sender(s, recorder);
	close(done[1]);
	return s->pid < 0 ? -errno : 0;
}

static void drop(struct hodo_sender *s)
{
	hodo_spool_let_go(&s->spool);
	if (s->shared && s->shared != MAP_FAILED)
		munmap(s->shared, sizeof(*s->shared));
	hodo_close(s->wake_fd);
	hodo_close(s->done_fd);
	free(s);
}

/* What an earlier recorder of the same directory had not finished when it was killed goes into the spool, too. */
static void take_leftover(struct hodo_sender *s)
{
	const struct hodo_sender_config *c = &s->config;
	struct hodo_why why;
	int n = hodo_leftover_take(&s->spool, c->recording, c->level, c->prepare, c->prepare_arg, &why);

	if (n < 0)
		hodo_report(&c->reporter, "%s", why.text);
	else if (n > 0)
		hodo_report(&c->reporter, "%s: %d part%s of a recorder that was killed %s sent, too", c->recording, n,
			    n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

int hodo_sender_begin(struct hodo_sender **out, const struct hodo_sender_config *config, struct hodo_why *why)
{
	struct hodo_sender *s = calloc(1, sizeof(*s));
	char path[PATH_MAX], where[160];
	int err;

	if (!s)
		return hodo_why_memory(why);
	s->config = *config;
	s->done_fd = -1;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	hodo_send_host(s->host);
	hodo_send_recording(s->recording, config->recording, hodo_clock_ns(CLOCK_REALTIME), (uint64_t)getpid());
	snprintf(path, sizeof(path), "%s" HODO_SPOOL_SUFFIX, config->recording);
	err = hodo_spool_open(&s->spool, path, true, why);
	if (!err) {
		take_leftover(s);
		name_where(s, where, sizeof(where));
		err = hodo_spool_note(&s->spool, where);
		if (err)
			hodo_why_errno(why, err, "%s", path);
	}
	if (!err && (err = s->wake_fd < 0 ? -EMFILE : fork_sender(s)) < 0)
		hodo_why_errno(why, err, "the process that sends cannot be started");
	if (err) {
		drop(s);
		return err;
	}
	hodo_spool_let_go(&s->spool);
	*out = s;
	return 0;
}

void hodo_sender_part(struct hodo_sender *s, uint32_t number)
{
	atomic_store(&s->shared->complete, number);
	eventfd_write(s->wake_fd, 1);
}

void hodo_sender_finish(struct hodo_sender *s, uint32_t last)
{
	hodo_sender_part(s, last);
	atomic_store(&s->shared->ending, true);
	eventfd_write(s->wake_fd, 1);
}

int hodo_sender_fd(const struct hodo_sender *s)
{
	return s->done_fd;
}

void hodo_sender_stop(struct hodo_sender *s)
{
	atomic_store(&s->shared->stop, true);
	eventfd_write(s->wake_fd, 1);
}

void hodo_sender_end(struct hodo_sender *s, struct hodo_sender_totals *totals)
{
	struct hodo_spool left;

	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*totals = s->shared->totals;
	/* Somebody may have killed it. */
	totals->unpacked += atomic_load(&s->shared->complete) - s->shared->taken;
	name_where(s, totals->where, sizeof(totals->where));
	snprintf(totals->spool, sizeof(totals->spool), "%s" HODO_SPOOL_SUFFIX, s->config.recording);
	if (hodo_spool_is(totals->spool) && hodo_spool_open(&left, totals->spool, false, NULL) == 0) {
		totals->unsent = left.n;
		totals->unsent_bytes = left.bytes;
		hodo_spool_close(&left);
	}
	drop(s);
}
