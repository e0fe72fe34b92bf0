/* SPDX-License-Identifier: MIT */
/* out.h - what an export writes goes through one buffer to one place. */
#ifndef HODO_EXPORT_OUT_H
#define HODO_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hodo_export_out {
	/* All len bytes, or a negative errno. */
	int (*write)(void *data, const void *bytes, size_t len);
	void *data;
	char *buffer; /* made at the first put */
	size_t len, room;
	uint64_t written; /* bytes in all, the buffer's included */
	int error;        /* negative errno of the first failure: nothing is written after it */
};

void hodo_export_out_init(struct hodo_export_out *out, int (*write)(void *data, const void *bytes, size_t len),
			  void *data);
/* These return nothing: the error is kept, and told by flush. */
void hodo_export_put(struct hodo_export_out *out, const void *bytes, size_t len);
void hodo_export_puts(struct hodo_export_out *out, const char *text);
void hodo_export_printf(struct hodo_export_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hodo_export_put_u64(struct hodo_export_out *out, uint64_t value); /* decimal */
void hodo_export_put_i64(struct hodo_export_out *out, int64_t value);
/* A JSON string with its quotes; what is not UTF-8 becomes \u00XX. */
void hodo_export_put_json(struct hodo_export_out *out, const char *text, size_t len);
/* Room for len bytes at the end, to be filled; then hodo_export_took(). NULL: out->error is set. */
char *hodo_export_room(struct hodo_export_out *out, size_t len);
void hodo_export_took(struct hodo_export_out *out, size_t len);
/* 0, or the error. */
int hodo_export_flush(struct hodo_export_out *out);
void hodo_export_out_free(struct hodo_export_out *out);

#endif
