/* SPDX-License-Identifier: MIT */
/*
 * ctf_types.c - the format ctf: events in TSDL, and their values. Byte for byte, without bit fields or variants.
 * Texts are preceded by their length, as in recordings: babeltrace2 2.0.4 shows an empty one with the content
 * of an older event, however it is written; the length tells that it is empty.
 */
#define _GNU_SOURCE
#include "ctf_impl.h"

#include <errno.h>
#include <string.h>

#include <core/fields.h>
#include <read/file/tsdl.h>

/* Names have a leading underscore, which readers remove, except Trace Compass, which expects it. */
static const char head_stream[] =
	"typealias integer { size = 64; align = 8; signed = false; map = clock.hodo.value; } := timestamp_t;\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\ttimestamp_t timestamp_begin; timestamp_t timestamp_end;\n"
	"\t\tuint64_t content_size; uint64_t packet_size;\n"
	"\t\tuint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id;\n"
	"\t};\n"
	"\tevent.header := struct { uint32_t id; timestamp_t timestamp; };\n"
	"\tevent.context := struct { uint32_t _vpid; uint32_t _vtid; string { encoding = UTF8; } _procname; };\n"
	"};\n";

static void add_member(struct hodo_text *t, const struct hodo_read_field *f, const char *name, const char *length)
{
	if (hodo_fields_element_size((uint8_t)f->type)) {
		hodo_text_printf(t, "uint32_t %s; %s %s[%s];\n", length, hodo_ctf_type((uint8_t)f->type), name, length);
	} else {
		if (f->labels && f->labels->n && hodo_ctf_has_labels((uint8_t)f->type))
			hodo_ctf_enum(t, (uint8_t)f->type, f->labels->n, f->labels->names, f->labels->values);
		else
			hodo_text_add(t, hodo_ctf_type((uint8_t)f->type));
		hodo_text_printf(t, " %s;\n", name);
	}
}

/* Fields as members; own: the name of a structure before them, "": none. */
static void name_fields(struct hodo_ctf_names *names, const char *own, const struct hodo_read_field *fields, uint32_t n)
{
	static const char identifier[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	char plain[HODO_FIELDS_MAX][HODO_NAME_MAX + 1];
	const char *name[HODO_FIELDS_MAX];
	uint8_t type[HODO_FIELDS_MAX];

	for (uint32_t i = 0; i < n; i++) {
		size_t len = strnlen(fields[i].name, HODO_NAME_MAX);

		/* A recording's names are not trusted. */
		for (size_t k = 0; k < len; k++)
			plain[i][k] = strchr(identifier, fields[i].name[k]) ? fields[i].name[k] : '_';
		plain[i][len] = '\0';
		name[i] = plain[i];
		type[i] = (uint8_t)fields[i].type;
	}
	hodo_ctf_names(names, own, name, type, n);
}

static void add_members(struct hodo_text *t, const struct hodo_ctf_names *names, const struct hodo_read_field *fields,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hodo_text_add(t, "\t\t");
		add_member(t, &fields[i], names->field[i].name, names->field[i].length);
	}
}

/* The context precedes the fields: babeltrace2 2.0.4 aborts if an event's context contains a sequence. */
static void describe(struct hodo_text *t, const struct hodo_read_class *cls)
{
	struct hodo_ctf_names names, context;

	hodo_text_add(t, "\tname = \"");
	hodo_name_quote(t, cls->name);
	hodo_text_add(t, "\";\n\tfields := struct {\n");
	name_fields(&names, cls->ncontext ? "context" : "", cls->fields, cls->nfields);
	if (cls->ncontext) {
		name_fields(&context, "", cls->context, cls->ncontext);
		hodo_text_add(t, "\t\tstruct {\n");
		add_members(t, &context, cls->context, cls->ncontext);
		hodo_text_printf(t, "\t\t} %s;\n", names.own);
	}
	add_members(t, &names, cls->fields, cls->nfields);
	hodo_text_add(t, "\t};\n");
}

/* As Trace Compass's view of LTTng's call stacks expects them; the text is for other readers. */
int ctf_describe_calls(struct ctf *c)
{
	uint32_t entry = hodo_strings_add(&c->descriptions,
					  "\tname = \"lttng_ust_cyg_profile:func_entry\";\n\tfields := struct {\n"
					  "\t\tpointer_t _addr;\n\t\tstring { encoding = UTF8; } _name;\n\t};\n");
	uint32_t exit = hodo_strings_add(&c->descriptions,
					 "\tname = \"lttng_ust_cyg_profile:func_exit\";\n\tfields := struct {\n"
					 "\t\tpointer_t _addr;\n\t\tstring { encoding = UTF8; } _name;\n"
					 "\t\tstring { encoding = UTF8; } _how;\n\t};\n");

	return entry == CTF_FUNC_ENTRY && exit == CTF_FUNC_EXIT ? 0 : -ENOMEM;
}

uint32_t ctf_describe(struct ctf *c, const struct hodo_read_class *cls)
{
	bool is_new;
	struct ctf_class *k = hodo_map_add_u64(&c->classes, (uintptr_t)cls, &is_new);

	if (!k || !is_new)
		return k ? k->id : UINT32_MAX;
	c->text.len = 0;
	describe(&c->text, cls);
	k->id = c->text.error ? UINT32_MAX : hodo_strings_add_bytes(&c->descriptions, c->text.data, c->text.len);
	return k->id;
}

/* Trace Compass recognises traces of programs by the domain. */
void ctf_metadata(struct ctf *c, struct hodo_text *t)
{
	hodo_text_add(t, "/* CTF 1.8 */\n");
	hodo_ctf_declare_types(t);
	hodo_text_add(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	hodo_ctf_uuid(t, c->uuid);
	hodo_text_printf(t, "\";\n\tbyte_order = %s;\n"
			    "\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };\n};\n",
			 __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "be" : "le");
	hodo_text_add(t, "env {\n\tdomain = \"ust\";\n\ttracer_name = \"hodo\";\n};\n");
	hodo_text_printf(t, "clock { name = hodo; freq = 1000000000; offset_s = %lld; absolute = true; };\n",
			 (long long)c->base_s);
	hodo_text_add(t, head_stream);
	for (uint32_t i = 0; i < c->descriptions.map.n; i++) {
		hodo_text_printf(t, "event {\n\tid = %u;\n\tstream_id = 0;\n", i);
		hodo_text_add(t, hodo_strings_at(&c->descriptions, i));
		hodo_text_add(t, "};\n");
	}
}

/* ----------------------------------------------------------------------- values */

static void put_value(struct hodo_text *to, const struct hodo_read_value *v)
{
	unsigned element = hodo_fields_element_size((uint8_t)v->type);
	float f = (float)v->f;

	if (element) {
		static const char null[] = "(null)"; /* with its NUL, as in recordings */
		bool is_null = v->type == HODO_TYPE_STR && v->null;
		uint32_t count = is_null ? sizeof(null) : v->count;

		hodo_text_bytes(to, &count, sizeof(count));
		hodo_text_bytes(to, is_null ? null : v->data, (size_t)count * element);
	} else if (v->type == HODO_TYPE_F32) {
		hodo_text_bytes(to, &f, sizeof(f));
	} else if (v->type == HODO_TYPE_F64) {
		hodo_text_bytes(to, &v->f, sizeof(v->f));
	} else {
		unsigned size = hodo_fields_fixed_size((uint8_t)v->type);
		bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

		hodo_text_bytes(to, (const char *)&v->u + (big ? sizeof(v->u) - size : 0), size);
	}
}

void ctf_values(struct hodo_text *to, const struct hodo_read_event *e)
{
	for (uint32_t i = 0; i < e->cls->ncontext; i++)
		put_value(to, &e->context[i]);
	for (uint32_t i = 0; i < e->cls->nfields; i++)
		put_value(to, &e->values[i]);
}
