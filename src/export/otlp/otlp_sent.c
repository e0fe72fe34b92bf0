/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "otlp_sent.h"

#include "otlp_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <base/file.h>
#include <base/map.h>

#define FILE_MAX  (64u << 20) /* bytes: of a thousand million spans */
#define KEY_CHARS 16u

struct hodo_otlp_sent {
	struct hodo_map keys; /* of their own bytes alone */
	char *path;
	int fd; /* -1: not open yet */
	uint64_t bytes; /* of the file, once it is open */
};

/* "0123456789abcdef 512": the number is for people. 1; 0: the line was cut off, and does not count; -EBADMSG: it is
 * not ours; -ENOMEM. */
static int read_line(struct hodo_otlp_sent *s, const char *line, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	uint64_t key = 0;

	/* What a file has whose last block was never written. */
	while (len > 0 && !line[len - 1])
		len--;
	for (size_t i = 0; i < len; i++) {
		const char *digit = line[i] ? strchr(hex, line[i]) : NULL;

		if (i == KEY_CHARS ? line[i] != ' ' : !digit || (i > KEY_CHARS && digit - hex > 9))
			return -EBADMSG;
		if (i < KEY_CHARS)
			key = key << 4 | (uint64_t)(digit - hex);
	}
	if (len < KEY_CHARS + 2)
		return 0;
	return hodo_map_add_u64(&s->keys, key, NULL) ? 1 : -ENOMEM;
}

/* Lines that a crash cut off may be the last one, or stand before those of a later run. */
static int read_lines(struct hodo_otlp_sent *s, const struct hodo_text *text)
{
	const char *line = text->data, *behind = line + text->len, *end;
	uint32_t lines = 0, whole = 0;
	int n;

	for (; line < behind; line = end + 1, lines++) {
		end = memchr(line, '\n', (size_t)(behind - line));
		end = end ? end : behind;
		n = read_line(s, line, (size_t)(end - line));
		if (n < 0)
			return n;
		whole += end < behind && n > 0;
	}
	return lines > 1 && !whole ? -EBADMSG : 0;
}

static int read_all(struct hodo_otlp_sent *s)
{
	struct hodo_text text = { 0 };
	int fd = hodo_file_open(AT_FDCWD, s->path), err;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd == -ELOOP ? -ESTALE : fd;
	err = hodo_file_read(fd, FILE_MAX, &text);
	close(fd);
	if (!err && text.len > 0)
		err = read_lines(s, &text);
	hodo_text_free(&text);
	return err;
}

int hodo_otlp_sent_open(struct hodo_otlp_sent **sent, const char *path, bool forget)
{
	struct hodo_otlp_sent *s = calloc(1, sizeof(*s));
	int err;

	*sent = s;
	if (!s)
		return -ENOMEM;
	hodo_hash_seed();
	s->keys = (struct hodo_map){ .entry_bytes = sizeof(uint64_t), .key_bytes = sizeof(uint64_t) };
	s->fd = -1;
	s->path = strdup(path);
	err = s->path ? read_all(s) : -ENOMEM;
	if (!err && forget) {
		hodo_map_clear(&s->keys);
		if (truncate(path, 0) < 0 && errno != ENOENT)
			err = -errno;
	}
	if (err) {
		hodo_otlp_sent_close(s);
		*sent = NULL;
	}
	return err;
}

void hodo_otlp_sent_close(struct hodo_otlp_sent *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	hodo_map_free(&s->keys);
	free(s->path);
	free(s);
}

uint64_t hodo_otlp_sent_to(const char *url, bool metrics)
{
	return otlp_fold(metrics, url, strlen(url));
}

uint64_t hodo_otlp_sent_key(uint64_t to, const void *bytes, size_t len)
{
	return otlp_fold(to, bytes, len);
}

bool hodo_otlp_sent_has(const struct hodo_otlp_sent *s, uint64_t key)
{
	return hodo_map_find_u64(&s->keys, key);
}

/* Behind whatever is there: a line that was cut off is ended first. */
static int open_file(struct hodo_otlp_sent *s)
{
	char last = '\n';
	off_t end;

	s->fd = open(s->path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (s->fd < 0)
		return -errno;
	end = lseek(s->fd, 0, SEEK_END);
	s->bytes = end > 0 ? (uint64_t)end : 0;
	if (end > 0 && pread(s->fd, &last, 1, end - 1) == 1 && last != '\n')
		return hodo_file_write(s->fd, "\n", 1);
	return 0;
}

int hodo_otlp_sent_write(struct hodo_otlp_sent *s, uint64_t to, const uint64_t *keys, uint32_t n)
{
	struct hodo_text lines = { 0 };
	int err = s->fd < 0 ? open_file(s) : 0;

	for (uint32_t i = 0; i < n; i++)
		hodo_text_printf(&lines, "%016llx 1\n", (unsigned long long)otlp_fold(to, &keys[i], sizeof(keys[i])));
	err = err ? err : lines.error;
	/* More could not be read again. */
	if (!err && s->bytes + lines.len > FILE_MAX)
		err = -EFBIG;
	if (!err)
		err = hodo_file_write(s->fd, lines.data, lines.len);
	s->bytes += lines.len;
	hodo_text_free(&lines);
	return err;
}

int hodo_otlp_sent_add(struct hodo_otlp_sent *s, uint64_t key, uint32_t items)
{
	char line[KEY_CHARS + 16];
	int err = s->fd < 0 ? open_file(s) : 0;
	int len = snprintf(line, sizeof(line), "%016llx %u\n", (unsigned long long)key, items);

	if (err)
		return err;
	if (!hodo_map_add_u64(&s->keys, key, NULL))
		return -ENOMEM;
	return hodo_file_write(s->fd, line, (size_t)len);
}
