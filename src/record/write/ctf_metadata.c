/* SPDX-License-Identifier: MIT */
/*
 * ctf_metadata.c - the metadata file of one process's trace.
 *
 * TSDL has no escapes that all readers agree on, so names become printable ASCII without quotes and
 * backslashes; the comment lines hold the exact ones, percent-encoded. Names of fields: read/file/tsdl.h.
 */
#include "ctf_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <core/fields.h>
#include <core/kind.h>
#include <read/file/metadata_line.h>
#include <read/file/tsdl.h>

#include "names.h"

/* Records are words whose low bits say what they are (hodo/abi.h). */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");
#define TSDL_BYTE_ORDER "le"

#define METADATA_MAX (1ull << 30) /* bytes of a file that is read back */

/* The variant or an event's id, whichever comes last, gives a record's kind: no event's id is below 8 (add_event()). */
static const char head_streams[] =
	"typealias integer { size = 2; align = 1; signed = false; } := ticks_t;\n"
	"typealias integer { size = 27; align = 1; signed = false; map = clock.hodo.value; } := timestamp27_t;\n"
	"typealias integer { size = 62; align = 1; signed = false; map = clock.hodo.value; } := timestamp62_t;\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\tticks_t ticks_begin; timestamp62_t timestamp_begin; ticks_t ticks_end; timestamp62_t timestamp_end;\n"
	"\t\tuint64_t content_size; uint64_t packet_size;\n"
	"\t\tuint64_t packet_seq_num; uint64_t events_discarded;\n"
	"\t\tuint32_t cpu_id; uint32_t events; uint64_t events_before;\n"
	"\t};\n"
	"\tevent.header := struct {\n"
	"\t\tenum : integer { size = 2; align = 1; } { entry = 0, exit = 1, record = 2, anchor = 3 } id;\n"
	"\t\tvariant <id> {\n"
	"\t\t\tstruct { timestamp27_t timestamp; } entry;\n"
	"\t\t\tstruct { timestamp27_t timestamp; } exit;\n"
	"\t\t\tstruct { timestamp27_t timestamp; integer { size = 19; align = 1; } id; } record;\n"
	"\t\t\tstruct { timestamp62_t timestamp; } anchor;\n"
	"\t\t} v;\n"
	"\t} align(8);\n"
	"};\n"
	"event {\n\tname = \"hodo:anchor\";\n\tid = 3;\n\tstream_id = 0;\n\tfields := struct {\n"
	"\t\tinteger { size = 24; align = 1; } vtid;\n"
	"\t\tinteger { size = 40; align = 1; base = 16; } window;\n\t};\n};\n";

static void add_quoted(struct hodo_text *t, const char *before, const char *name)
{
	hodo_text_add(t, before);
	hodo_name_quote(t, name);
}

static void add_comments(struct hodo_text *t, const struct hodo_ctf_metadata *m)
{
	const struct hodo_flight *f = m->flight;

	hodo_text_printf(t, "/*@hodo version=%u uuid=", HODO_FORMAT_VERSION);
	hodo_ctf_uuid(t, m->flight->uuid);
	hodo_text_printf(t, " byte_order=" TSDL_BYTE_ORDER "*/\n");
	hodo_text_printf(t, "/*@process pid=%u ppid=%u uid=%u", m->pid, f->ppid, f->uid);
	hodo_line_put_text(t, " comm=", f->comm);
	hodo_line_put_text(t, " exe=", f->exe);
	hodo_text_printf(t, " start=%s mode=%s ring_size=%" PRIu64 " packet_size=%u%s*/\n",
			 f->start == HODO_START_FORK ? "fork" : f->start == HODO_START_ATTACH ? "attach" : "exec",
			 f->mode == HODO_MODE_OVERWRITE ? "overwrite" : "discard", f->ring_size, f->packet_size,
			 m->nested ? " nested=1" : "");
	if (m->kernel) {
		hodo_line_put_text(t, "/*@kernel release=", m->kernel);
		hodo_text_add(t, "*/\n");
	}
	if (f->boot_id[0]) {
		hodo_line_put_text(t, "/*@machine boot=", f->boot_id);
		hodo_text_add(t, "*/\n");
	}
	hodo_line_put_clock(t, m->clock);
}

static void add_head(struct hodo_text *t, const struct hodo_ctf_metadata *m)
{
	hodo_ctf_declare_types(t);
	hodo_text_add(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	hodo_ctf_uuid(t, m->flight->uuid);
	hodo_text_printf(t, "\";\n\tbyte_order = " TSDL_BYTE_ORDER ";\n"
		      "\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };\n};\n");
	add_quoted(t, "env {\n\thostname = \"", m->flight->hostname);
	add_quoted(t, "\";\n\tprocname = \"", m->flight->comm);
	hodo_text_printf(t, "\";\n\tvpid = %u;\n\ttracer_name = \"hodo\";\n", m->pid);
	if (m->kernel) {
		add_quoted(t, "\tdomain = \"kernel\";\n\tsysname = \"Linux\";\n\tkernel_release = \"", m->kernel);
		hodo_text_add(t, "\";\n");
	}
	hodo_text_add(t, "};\n");
	hodo_ctf_clock(t, m->clock);
	hodo_text_bytes(t, head_streams, sizeof(head_streams) - 1);
}

/* The labels that apply to a field of an event, or NULL. */
static const struct hodo_catalog_labels *labels_of(const struct hodo_catalog *c,
						   const struct hodo_catalog_event *e, unsigned int field)
{
	return hodo_ctf_has_labels(e->type[field]) ? hodo_catalog_labels_of(c, e, e->field[field]) : NULL;
}

/* A member of a TSDL structure; a variable one follows its length. labels: NULL, or those of an integer. */
static void add_member(struct hodo_text *t, const char *indent, uint8_t type, const char *name, const char *length,
		       const struct hodo_catalog_labels *labels)
{
	if (length[0]) {
		hodo_text_printf(t, "%s%s %s;\n", indent, type == HODO_TYPE_STR ? "uint16_t" : "uint32_t", length);
		hodo_text_printf(t, "%s%s %s[%s];\n", indent, hodo_ctf_type(type), name, length);
		return;
	}
	hodo_text_add(t, indent);
	if (labels)
		hodo_ctf_enum(t, type, labels->n, labels->label, labels->value);
	else
		hodo_text_add(t, hodo_ctf_type(type));
	hodo_text_printf(t, " %s;\n", name);
}

/* An entry in the list of fields of one of our lines. */
static void add_listed(struct hodo_text *t, unsigned int i, const char *name, uint8_t type)
{
	hodo_text_printf(t, "%s%s:%s", i ? "," : "", name, hodo_fields_type_name(type));
}

/* The fields of all events' context, as our line or as a structure of TSDL. */
static void add_context_line(struct hodo_text *t, const struct hodo_context_fields *f)
{
	hodo_text_add(t, "/*@context fields=");
	for (uint32_t i = 0; i < f->n; i++)
		add_listed(t, i, f->name[i], f->type[i]);
	hodo_text_add(t, "*/\n");
}

/* As the first of the event's fields: babeltrace2 2.0.4 aborts if an event's context contains a sequence. */
static void add_context(struct hodo_text *t, const struct hodo_context_fields *f, const char *own)
{
	const char *field[HODO_CONTEXT_FIELDS_MAX];
	struct hodo_ctf_names names;

	for (uint32_t i = 0; i < f->n; i++)
		field[i] = f->name[i];
	hodo_ctf_names(&names, "", field, f->type, f->n);
	hodo_text_add(t, "\t\tstruct {\n");
	for (uint32_t i = 0; i < f->n; i++)
		add_member(t, "\t\t\t", f->type[i], names.field[i].name, names.field[i].length, NULL);
	hodo_text_printf(t, "\t\t} %s;\n", own);
}

/* Calls or returns, as an event with that name. */
static void add_call(struct hodo_text *t, const char *name, enum hodo_form form)
{
	add_quoted(t, "event {\n\tname = \"", name);
	hodo_text_printf(t, "\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n"
			    "\t\tinteger { size = 10; align = 1; base = 16; } frame;\n"
			    "\t\tinteger { size = 25; align = 1; base = 16; } function;\n\t};\n};\n", form);
}

static void add_event(struct hodo_text *t, const struct hodo_catalog *c, const struct hodo_catalog_event *e)
{
	bool context = c->context.n && e->kind != HODO_KIND_FUNCTION;
	struct hodo_ctf_names names;

	hodo_text_printf(t, "/*@event id=%u", e->id);
	hodo_line_put_text(t, " name=", e->name);
	hodo_text_printf(t, " kind=%s", hodo_kind_name(e->kind));
	hodo_line_put_text(t, " file=", e->file);
	hodo_text_printf(t, " line=%u", e->line);
	hodo_line_put_text(t, " func=", e->function);
	hodo_line_put_text(t, " object=", e->object);
	hodo_line_put_text(t, " format=", e->format);
	hodo_text_add(t, " fields=");
	for (unsigned int i = 0; i < e->nfields; i++)
		add_listed(t, i, e->field[i], e->type[i]);
	add_quoted(t, "*/\nevent {\n\tname = \"", e->name);
	/* The bits between an event's time and its id are 0: to TSDL they are the id's lowest three. */
	hodo_text_printf(t, "\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", 8u * e->id);
	hodo_ctf_names(&names, context ? "context" : "", e->field, e->type, e->nfields);
	if (context)
		add_context(t, &c->context, names.own);
	for (unsigned int i = 0; i < e->nfields; i++)
		add_member(t, "\t\t", e->type[i], names.field[i].name, names.field[i].length, labels_of(c, e, i));
	hodo_text_add(t, "\t};\n};\n");
}

static void add_labels(struct hodo_text *t, const struct hodo_catalog_labels *l)
{
	hodo_line_put_text(t, "/*@labels provider=", l->provider);
	hodo_line_put_text(t, " field=", l->field);
	hodo_text_add(t, " names=");
	for (uint32_t i = 0; i < l->n; i++)
		hodo_line_put_text(t, i ? "," : "", l->label[i]);
	hodo_text_add(t, " values=");
	for (uint32_t i = 0; i < l->n; i++)
		hodo_text_printf(t, "%s%lld", i ? "," : "", (long long)l->value[i]);
	hodo_text_add(t, "*/\n");
}

static void add_object(struct hodo_text *t, const struct hodo_catalog_object *o)
{
	const struct hodo_record_object *r = &o->is;

	hodo_line_put_text(t, "/*@object path=", o->path);
	hodo_text_printf(t, " base=0x%" PRIx64 " start=0x%" PRIx64 " end=0x%" PRIx64, r->base, r->start, r->end);
	if (r->ticks)
		hodo_text_printf(t, " from=%" PRIu64, r->ticks);
	if (o->until != HODO_CATALOG_MAPPED)
		hodo_text_printf(t, " until=%" PRIu64, o->until);
	hodo_text_printf(t, " functions=%u", r->functions);
	if (r->short_end)
		hodo_text_printf(t, " short_start=0x%" PRIx64 " short_end=0x%" PRIx64, r->short_start, r->short_end);
	hodo_text_add(t, " build_id=");
	for (uint32_t i = 0; i < r->build_id_len; i++)
		hodo_text_printf(t, "%02x", r->build_id[i]);
	hodo_text_add(t, "*/\n");
}

static void add_tail(struct hodo_text *t, const struct hodo_ctf_metadata *m)
{
	const struct hodo_functions_seen *f = m->functions;

	for (uint32_t i = 0; i < m->catalog->objects; i++)
		add_object(t, &m->catalog->object[i]);
	for (uint32_t i = 0; i < m->threads; i++) {
		hodo_text_printf(t, "/*@thread tid=%u", m->thread[i].tid);
		hodo_line_put_text(t, " comm=", m->thread[i].comm);
		if (m->thread[i].pid)
			hodo_text_printf(t, " pid=%u", m->thread[i].pid);
		hodo_text_add(t, "*/\n");
	}
	if (m->lost) {
		hodo_text_bytes(t, m->lost->data, m->lost->len);
		hodo_text_fail(t, m->lost->error);
	}
	for (uint32_t i = 0; i < m->catalog->warnings; i++) {
		hodo_line_put_text(t, "/*@warning text=", m->catalog->warning[i]);
		hodo_text_add(t, "*/\n");
	}
	if (m->nameless)
		hodo_text_printf(t, "/*@warning text=threads%%20without%%20a%%20name:%%20%u:%%20there%%20were%%20too%%20many*/\n",
				 m->nameless);
	if (m->catalog->objects_dropped)
		hodo_text_printf(t, "/*@warning text=%u%%20libraries%%20too%%20many:%%20their%%20functions%%20have%%20no%%20names*/\n",
			      m->catalog->objects_dropped);
	if (f)
		hodo_text_printf(t, "/*@functions found=%" PRIu64 " on=%" PRIu64 " missed=%" PRIu64 " deep=%" PRIu64
				 " threads=%" PRIu64 " profile_lost=%" PRIu64 "*/\n",
				 f->found, f->on, f->missed, f->deep, f->threads, f->profile_lost);
	if (m->why) {
		hodo_text_printf(t, "/*@snapshot number=%u time=", m->number);
		hodo_line_put_time(t, m->real_ns);
		hodo_line_put_text(t, " why=", m->why);
		hodo_text_add(t, "*/\n");
	}
	if (m->ended) {
		hodo_text_add(t, "/*@end time=");
		hodo_line_put_time(t, m->real_ns);
		hodo_text_add(t, m->goes_on ? " part=1*/\n" : "*/\n");
	}
}

void hodo_ctf_add_lost(struct hodo_text *t, const char *stream, const struct hodo_lost *l, uint64_t room)
{
	if ((l->full | l->too_large | l->busy | l->overwritten | l->unwritten | l->damaged) == 0)
		return;
	hodo_text_printf(t, "/*@lost stream=%s full=%" PRIu64 " too_large=%" PRIu64 " busy=%" PRIu64
			 " overwritten=%" PRIu64 " unwritten=%" PRIu64 " damaged=%" PRIu64,
			 stream, l->full, l->too_large, l->busy, l->overwritten, l->unwritten, l->damaged);
	if (room && (l->full || l->overwritten))
		hodo_text_printf(t, " room=%" PRIu64, room);
	hodo_text_add(t, "*/\n");
}

void hodo_ctf_add_damaged(struct hodo_text *t, const char *stream, uint64_t n)
{
	if (n)
		hodo_text_printf(t, "/*@lost stream=%s damaged=%" PRIu64 "*/\n", stream, n);
}

void hodo_ctf_add_limited(struct hodo_text *t, uint16_t id, uint64_t n)
{
	if (n)
		hodo_text_printf(t, "/*@limited id=%u n=%" PRIu64 "*/\n", id, n);
}

void hodo_ctf_metadata_text(const struct hodo_ctf_metadata *m, struct hodo_text *out)
{
	hodo_text_add(out, "/* CTF 1.8 */\n");
	add_comments(out, m);
	add_head(out, m);
	for (uint32_t i = 0; i < m->catalog->labels_count; i++)
		add_labels(out, m->catalog->labels[i]);
	if (m->catalog->context.n)
		add_context_line(out, &m->catalog->context);
	for (uint32_t i = 0; i < m->catalog->events; i++)
		add_event(out, m->catalog, m->catalog->event[i]);
	for (enum hodo_form form = HODO_FORM_CALL; form <= HODO_FORM_RETURN; form++)
		if (m->catalog->walk.call[form])
			add_call(out, form == HODO_FORM_CALL ? "func:entry" : "func:exit", form);
	add_tail(out, m);
}

int hodo_ctf_metadata_write(int dirfd, const struct hodo_text *text, uid_t author)
{
	int err, fd;

	if (text->error)
		return text->error;
	fd = hodo_file_make(dirfd, ".metadata.new");
	if (fd == -EEXIST && unlinkat(dirfd, ".metadata.new", 0) == 0) /* left by a recorder that was killed */
		fd = hodo_file_make(dirfd, ".metadata.new");
	if (fd < 0)
		return fd;
	err = hodo_file_write(fd, text->data, text->len);
	if (!err && geteuid() == 0 && author != 0 && fchown(fd, author, (gid_t)-1) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err && renameat(dirfd, ".metadata.new", dirfd, "metadata") < 0)
		err = -errno;
	if (err)
		unlinkat(dirfd, ".metadata.new", 0);
	return err;
}

static int read_metadata(int dirfd, struct hodo_text *text, uid_t *author)
{
	HODO_AUTO_CLOSE int fd = openat(dirfd, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	*author = st.st_uid;
	return hodo_file_read(fd, METADATA_MAX, text);
}

int hodo_ctf_metadata_complete(int dirfd, const char *held, const struct hodo_read_clock *clock,
			       const struct hodo_text *more)
{
	HODO_AUTO(hodo_text_free) struct hodo_text old = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	uid_t author = geteuid();
	int err = held ? 0 : read_metadata(dirfd, &old, &author);
	const char *at = held ? held : old.data, *end = at + (held ? strlen(held) : old.len), *line;
	size_t len;

	while (!err && (line = hodo_line_next(&at, end, &len)) != NULL)
		if (!clock || !hodo_line_replace_clock(line, len, clock, &text))
			hodo_text_bytes(&text, line, len);
	if (more) {
		hodo_text_bytes(&text, more->data, more->len);
		hodo_text_fail(&text, more->error);
	}
	return err ? err : hodo_ctf_metadata_write(dirfd, &text, author);
}
