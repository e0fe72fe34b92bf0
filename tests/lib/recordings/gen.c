/* SPDX-License-Identifier: MIT */
/* gen.c - writes metadata and streams of recordings. */
#define _GNU_SOURCE
#include "gen.h"

#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void *check(void *p)
{
	if (!p)
		err(1, "gen");
	return p;
}

static void encode(FILE *f, const char *text)
{
	for (; *text; text++) {
		if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
		    (*text >= '0' && *text <= '9') || strchr("._:,/+-[]", *text))
			fputc(*text, f);
		else
			fprintf(f, "%%%02X", (unsigned char)*text);
	}
}

static void put_uuid(FILE *f, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		fprintf(f, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static const char head[] =
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 8; align = 8; signed = true; } := i8;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := i16;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"typealias integer { size = 8; align = 8; signed = false; base = 16; } := hex8;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64;\n"
	"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text8;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n";

static const char stream[] =
	"typealias integer { size = 2; align = 1; signed = false; } := low;\n"
	"typealias integer { size = 27; align = 1; signed = false; map = clock.hodo.value; } := time27;\n"
	"typealias integer { size = 62; align = 1; signed = false; map = clock.hodo.value; } := time62;\n"
	"stream {\n\tid = 0;\n\tpacket.context := struct {\n"
	"\t\tlow low_begin; time62 timestamp_begin; low low_end; time62 timestamp_end; u64 content_size; u64 packet_size;\n"
	"\t\tu64 packet_seq_num; u64 events_discarded; u32 cpu_id; u32 events; u64 events_before;\n\t};\n"
	"\tevent.header := struct {\n"
	"\t\tenum : integer { size = 2; align = 1; } { C = 0, R = 1, E = 2, A = 3 } id;\n"
	"\t\tvariant <id> {\n"
	"\t\t\tstruct { time27 timestamp; } C; struct { time27 timestamp; } R;\n"
	"\t\t\tstruct { time27 timestamp; integer { size = 19; align = 1; } id; } E; struct { time62 timestamp; } A;\n"
	"\t\t} form;\n\t} align(8);\n};\n"
	"event { name = \"func:entry\"; id = 0; stream_id = 0; fields := struct {\n"
	"\tinteger { size = 10; align = 1; } frame; integer { size = 25; align = 1; } function; }; };\n"
	"event { name = \"func:exit\"; id = 1; stream_id = 0; fields := struct {\n"
	"\tinteger { size = 10; align = 1; } frame; integer { size = 25; align = 1; } function; }; };\n"
	"event { name = \"hodo:anchor\"; id = 3; stream_id = 0; fields := struct {\n"
	"\tinteger { size = 24; align = 1; } vtid; integer { size = 40; align = 1; } window; }; };\n";

void gen_trace_start(struct gen_trace *t, const char *top, const char *folder, const char *comm, unsigned pid,
		     const char *mode, uint64_t freq, int64_t offset_s, int64_t offset)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->dir, sizeof(t->dir), "%s/%s", top, folder);
	if ((mkdir(top, 0777) < 0 && errno != EEXIST) || (mkdir(t->dir, 0777) < 0 && errno != EEXIST))
		err(1, "gen: %s", t->dir);
	for (unsigned i = 0; i < 16; i++)
		t->uuid[i] = (uint8_t)(i * 17 + pid * 31 + (i == 15 ? (unsigned)strlen(folder) : 0));
	t->freq = freq;
	t->offset_s = offset_s;
	t->offset = offset;
	t->comments = check(open_memstream(&t->comments_data, &t->comments_len));
	t->tsdl = check(open_memstream(&t->tsdl_data, &t->tsdl_len));
	fputs("/*@hodo version=2 uuid=", t->comments);
	put_uuid(t->comments, t->uuid);
	fputs(" byte_order=le*/\n", t->comments);
	fprintf(t->comments, "/*@process pid=%u ppid=1 uid=1000 comm=", pid);
	encode(t->comments, comm);
	fprintf(t->comments, " exe=/usr/bin/");
	encode(t->comments, comm);
	fprintf(t->comments, " start=exec mode=%s ring_size=4194304 packet_size=262144*/\n", mode);
	gen_comment(t, "clock kind=%s freq=%llu offset_s=%lld offset=%lld",
		    freq == 1000000000 ? "monotonic" : "tsc", (unsigned long long)freq * GEN_TICK, (long long)offset_s,
		    (long long)offset * GEN_TICK);
	fputs(head, t->tsdl);
	fputs("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"", t->tsdl);
	put_uuid(t->tsdl, t->uuid);
	fputs("\";\n\tbyte_order = le;\n"
	      "\tpacket.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; };\n};\n",
	      t->tsdl);
	fprintf(t->tsdl,
		"clock { name = hodo; freq = %llu; offset_s = %lld; offset = %lld; absolute = true; };\n",
		(unsigned long long)freq, (long long)offset_s, (long long)offset);
	fputs(stream, t->tsdl);
}

void gen_comment(struct gen_trace *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("/*@", t->comments);
	vfprintf(t->comments, fmt, ap);
	fputs("*/\n", t->comments);
	va_end(ap);
}

void gen_labels(struct gen_trace *t, const char *provider, const char *field, const char *names,
		const char *values)
{
	char *n = check(strdup(names)), *v = check(strdup(values)), *np = n, *vp = v, *name;
	size_t len = 0;

	gen_comment(t, "labels provider=%s field=%s names=%s values=%s", provider, field, names, values);
	t->labels_provider = provider;
	t->labels_field = field;
	while ((name = strsep(&np, ",")) != NULL) {
		const char *value = strsep(&vp, ",");

		len += (size_t)snprintf(t->labels_enum + len, sizeof(t->labels_enum) - len, "%s\"%s\" = %s",
					len ? ", " : "", name, value);
	}
	free(n);
	free(v);
}

static const char *const types[] = {
	[HODO_TYPE_I8] = "i8",     [HODO_TYPE_U8] = "u8",   [HODO_TYPE_I16] = "i16",
	[HODO_TYPE_U16] = "u16",   [HODO_TYPE_I32] = "i32", [HODO_TYPE_U32] = "u32",
	[HODO_TYPE_I64] = "i64",   [HODO_TYPE_U64] = "u64", [HODO_TYPE_BOOL] = "bool",
	[HODO_TYPE_CHAR] = "char", [HODO_TYPE_F32] = "f32", [HODO_TYPE_F64] = "f64",
	[HODO_TYPE_PTR] = "ptr",   [HODO_TYPE_STR] = "str", [HODO_TYPE_BYTES] = "bytes",
};

static const char *tsdl_type(uint8_t type)
{
	switch (type) {
	case HODO_TYPE_BOOL:
		return "u8";
	case HODO_TYPE_CHAR:
		return "i8";
	case HODO_TYPE_PTR:
		return "hex64";
	case HODO_TYPE_STR:
		return "text8";
	case HODO_TYPE_BYTES:
		return "hex8";
	default:
		return types[type];
	}
}

void gen_class(struct gen_trace *t, unsigned id, const char *name, const char *kind, const char *format,
	       const struct gen_field *fields, unsigned nfields)
{
	size_t provider_len = strcspn(name, ":");

	fprintf(t->comments,
		"/*@event id=%u name=%s kind=%s file=src/gen.c line=%u func=gen object=/usr/bin/gen format=",
		id, name, kind, 100 + id);
	encode(t->comments, format);
	fputs(" fields=", t->comments);
	fprintf(t->tsdl, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n",
		name, 8 * id);
	for (unsigned i = 0; i < nfields; i++) {
		uint8_t type = fields[i].type & (uint8_t)~HODO_TYPE_ARRAY;
		bool array = fields[i].type & HODO_TYPE_ARRAY;
		const char *field = fields[i].name;

		fprintf(t->comments, "%s%s:%s%s", i ? "," : "", field, types[type], array ? "[]" : "");
		if (array || type == HODO_TYPE_STR || type == HODO_TYPE_BYTES)
			fprintf(t->tsdl, "\t\t%s __%s_length;\n\t\t%s _%s[__%s_length];\n",
				type == HODO_TYPE_STR ? "u16" : "u32", field, tsdl_type(type), field, field);
		else if (t->labels_field && strcmp(field, t->labels_field) == 0 &&
			 strlen(t->labels_provider) == provider_len &&
			 strncmp(name, t->labels_provider, provider_len) == 0 && type <= HODO_TYPE_U64)
			fprintf(t->tsdl, "\t\tenum : %s { %s } _%s;\n", tsdl_type(type), t->labels_enum,
				field);
		else
			fprintf(t->tsdl, "\t\t%s _%s;\n", tsdl_type(type), field);
	}
	fputs("*/\n", t->comments);
	fputs("\t};\n};\n", t->tsdl);
}

void gen_trace_end(struct gen_trace *t)
{
	char path[4096 + 16];
	FILE *f;

	fclose(t->comments);
	fclose(t->tsdl);
	snprintf(path, sizeof(path), "%s/metadata", t->dir);
	f = fopen(path, "w");
	if (!f || fputs("/* CTF 1.8 */\n", f) < 0 || fwrite(t->tsdl_data, 1, t->tsdl_len, f) != t->tsdl_len ||
	    fwrite(t->comments_data, 1, t->comments_len, f) != t->comments_len || fclose(f) != 0)
		err(1, "gen: %s", path);
	free(t->comments_data);
	free(t->tsdl_data);
}

/* ---------------------------------------------------------------------- streams */

void gen_stream_start(struct gen_stream *s, struct gen_trace *t, const char *name, uint32_t cpu)
{
	memset(s, 0, sizeof(*s));
	s->trace = t;
	s->cpu = cpu;
	snprintf(s->path, sizeof(s->path), "%s/%s", t->dir, name);
	s->file = fopen(s->path, "w");
	if (!s->file)
		err(1, "gen: %s", s->path);
}

void gen_packet_start(struct gen_stream *s, uint64_t ticks)
{
	memset(&s->head, 0, sizeof(s->head));
	s->head.magic = HODO_CTF_MAGIC;
	memcpy(s->head.uuid, s->trace->uuid, 16);
	s->head.timestamp_begin = ticks * GEN_TICK;
	s->head.packet_seq_num = s->seq++;
	s->head.cpu_id = s->cpu;
	s->head.events_before = s->events_total;
	s->len = 0;
	s->anchor = (struct record_anchor){ 0 };
}

void gen_put(struct gen_stream *s, const void *data, size_t len)
{
	if (len == 0)
		return;
	if (s->len + len > s->room) {
		s->room = (s->len + len) * 2;
		s->body = check(realloc(s->body, s->room));
	}
	memcpy(s->body + s->len, data, len);
	s->len += len;
}

static void put_anchor(struct gen_stream *s, unsigned tid, uint64_t time, uint64_t frame)
{
	uint8_t record[RECORD_ANCHOR_BYTES];

	gen_put(s, record, record_anchor_for(record, &s->anchor, time, tid, frame));
}

void gen_event(struct gen_stream *s, unsigned id, unsigned tid, uint64_t ticks)
{
	uint8_t record[RECORD_EVENT_BYTES];

	put_anchor(s, tid, ticks * GEN_TICK, 0);
	gen_put(s, record, record_event(record, (uint16_t)id, ticks * GEN_TICK));
	s->head.events++;
}

void gen_call(struct gen_stream *s, enum record_form form, unsigned tid, uint64_t ticks, uint64_t function,
	      uint64_t frame)
{
	uint8_t record[RECORD_CALL_BYTES];

	put_anchor(s, tid, ticks * GEN_TICK, frame);
	gen_put(s, record, record_call(record, form, ticks * GEN_TICK, function, frame));
	s->head.events++;
}

void gen_u8(struct gen_stream *s, uint8_t v)
{
	gen_put(s, &v, sizeof(v));
}

void gen_u16(struct gen_stream *s, uint16_t v)
{
	gen_put(s, &v, sizeof(v));
}

void gen_u32(struct gen_stream *s, uint32_t v)
{
	gen_put(s, &v, sizeof(v));
}

void gen_u64(struct gen_stream *s, uint64_t v)
{
	gen_put(s, &v, sizeof(v));
}

void gen_f32(struct gen_stream *s, float v)
{
	gen_put(s, &v, sizeof(v));
}

void gen_f64(struct gen_stream *s, double v)
{
	gen_put(s, &v, sizeof(v));
}

void gen_str_n(struct gen_stream *s, const void *text, size_t len)
{
	gen_u16(s, (uint16_t)len);
	gen_put(s, text, len);
}

void gen_str(struct gen_stream *s, const char *text)
{
	if (text)
		gen_str_n(s, text, strlen(text));
	else
		gen_str_n(s, HODO_NULL_TEXT, HODO_NULL_TEXT_LEN);
}

void gen_array(struct gen_stream *s, const void *data, uint32_t n, size_t element_bytes)
{
	gen_u32(s, n);
	gen_put(s, data, n * element_bytes);
}

/* Readers compute counts from the difference of two packets, so they need one before any event is missing. */
static void write_origin(struct gen_stream *s)
{
	struct hodo_packet h = s->head;

	h.timestamp_end = h.timestamp_begin;
	h.content_size = h.packet_size = 8 * sizeof(h);
	h.events_discarded = h.events_before = h.events = 0;
	if (fwrite(&h, sizeof(h), 1, s->file) != 1)
		err(1, "gen: %s", s->path);
	s->head.packet_seq_num = s->seq++;
}

void gen_packet_end(struct gen_stream *s, uint64_t ticks, uint64_t lost)
{
	if (s->seq == 1 && lost > 0)
		write_origin(s);
	s->discarded += lost;
	s->head.timestamp_end = ticks * GEN_TICK;
	s->head.content_size = s->head.packet_size = 8 * (sizeof(s->head) + s->len);
	s->head.events_discarded = s->discarded;
	s->events_total += s->head.events;
	if (fwrite(&s->head, sizeof(s->head), 1, s->file) != 1 ||
	    (s->len && fwrite(s->body, s->len, 1, s->file) != 1))
		err(1, "gen: %s", s->path);
}

void gen_skip(struct gen_stream *s, uint64_t n)
{
	s->events_total += n;
}

void gen_stream_end(struct gen_stream *s)
{
	if (fclose(s->file) != 0)
		err(1, "gen: %s", s->path);
	free(s->body);
}
