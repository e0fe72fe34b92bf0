/* SPDX-License-Identifier: MIT */
/* symbols_place.c - a directory or a server that files by build-id are copied from or to: see symbols.h. */
#include <cli/on_signal.h>
#include "symbols.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/quantity.h>
#include <http/url.h>

#define COPY_BYTES  (256u << 10)
#define PROGRESS_NS 500000000

static void show_progress(void *place, uint64_t done, uint64_t all)
{
	struct symbols_place *p = place;
	int64_t now = hodo_now_ns();
	char size[32], of[32];

	if (now - p->shown_ns < PROGRESS_NS)
		return;
	p->shown_ns = now;
	p->shown = true;
	/* The next message begins where this line does. */
	fprintf(stderr, "hodo: %s%s%s, %s\033[K\r", hodo_human_bytes(done, size), all ? " of " : "",
		all ? hodo_human_bytes(all, of) : "", p->name);
	fflush(stderr);
}

static int transferred(struct symbols_place *p, int err)
{
	if (p->shown)
		fputs("\033[K", stderr);
	p->shown = false;
	return err;
}

int symbols_place_open(struct symbols_place *p, const char *word, bool quiet)
{
	const struct hodo_http_options options = {
		.stop = &hodo_stopped,
		.progress = !quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
		.data = p,
	};
	int err;

	*p = (struct symbols_place){ .name = word, .shown_ns = hodo_now_ns() };
	if (!*word)
		return hodo_usage("symbols", "a directory or address cannot be empty");
	if (!hodo_http_is(word))
		return 0;
	err = hodo_http_open(&p->server, word, &options);
	if (err == -EPROTONOSUPPORT)
		return hodo_usage("symbols", "'%s' is no address with http:// or https://", word);
	if (err == -ENOSYS)
		return hodo_error("symbols: libcurl.so.4 cannot be loaded: install it (Debian: the libcurl4 package)");
	if (err)
		return hodo_no_memory();
	p->name = hodo_http_shown(p->server);
	return 0;
}

void symbols_place_close(struct symbols_place *p)
{
	hodo_http_close(p->server);
	p->server = NULL;
}

/* From the beginning of one to the offset of the other. */
static int copy(int from, int to, uint64_t max)
{
	HODO_AUTO_FREE char *bytes = malloc(COPY_BYTES);
	uint64_t at = 0;
	ssize_t n;
	int err;

	if (!bytes)
		return -ENOMEM;
	while ((n = hodo_file_read_at(from, bytes, COPY_BYTES, at)) > 0) {
		at += (uint64_t)n;
		err = hodo_stopped ? -EINTR : at > max ? -EFBIG : hodo_file_write(to, bytes, (size_t)n);
		if (err)
			return err;
	}
	return (int)n;
}

static int get_file(const char *folder, const struct symbols_object *o, enum hodo_store_kind kind, int fd, uint64_t max)
{
	HODO_AUTO_FREE char *path = NULL;
	struct hodo_elf e;
	int err = hodo_store_look(folder, o->build_id, o->build_id_len, kind, &path);

	if (!err)
		err = hodo_elf_open(&e, path);
	if (!err) {
		err = copy(e.fd, fd, max);
		hodo_elf_close(&e);
	}
	return err;
}

int symbols_place_get(struct symbols_place *p, const struct symbols_object *o, enum hodo_store_kind kind, int fd,
		      uint64_t max)
{
	char name[HODO_STORE_NAME_MAX];

	if (!p->server)
		return get_file(p->name, o, kind, fd, max);
	hodo_store_name(name, o->build_id, o->build_id_len, kind);
	return transferred(p, hodo_http_get(p->server, name, fd, max));
}

static int put_file(const char *folder, const struct symbols_object *o, enum hodo_store_kind kind, int fd)
{
	struct hodo_store_file f;
	int err = hodo_store_begin(&f, folder, o->build_id, o->build_id_len, kind);

	if (err)
		return err;
	err = copy(fd, f.fd, UINT64_MAX);
	if (err)
		hodo_store_drop(&f);
	return err ? err : hodo_store_end(&f);
}

int symbols_place_put(struct symbols_place *p, const struct symbols_object *o, enum hodo_store_kind kind, int fd,
		      uint64_t bytes)
{
	char name[HODO_STORE_NAME_MAX];
	int err;

	if (!p->server)
		return put_file(p->name, o, kind, fd);
	hodo_store_name(name, o->build_id, o->build_id_len, kind);
	err = hodo_http_has(p->server, name);
	if (!err)
		return 1;
	return transferred(p, err == -ENOENT ? hodo_http_put(p->server, name, fd, bytes) : err);
}

const char *symbols_place_why(const struct symbols_place *p, int err, const char *local, char buf[512])
{
	const char *why = p->server ? hodo_http_why(p->server) : NULL;

	if (err == -EINTR)
		return "interrupted";
	if (why && err == -EACCES)
		snprintf(buf, 512, "%s: %s: give it a name and password in ~/.netrc", p->name, why);
	else if (why && err == -EOPNOTSUPP)
		snprintf(buf, 512, "%s: %s: it takes no files by PUT", p->name, why);
	else
		snprintf(buf, 512, "%s: %s", why ? p->name : local, why ? why : strerror(-err));
	return buf;
}
