/* SPDX-License-Identifier: MIT */
/*
 * otlp_json.c - messages as OpenTelemetry's JSON, of whatever type, by what protobuf-c knows of it. As protobuf's own
 * JSON, but that enumerators are numbers, and the bytes of identifiers hexadecimal.
 */
#define _GNU_SOURCE
#include "otlp_impl.h"

#include <base/escape.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

static void put_message(struct hodo_json *j, const char *key, const ProtobufCMessage *m);

/* trace_id is traceId. */
static const char *key_of(const char *name, char *to, size_t size)
{
	char *o = to;

	for (; *name && o < to + size - 1; name++) {
		if (*name == '_' && name[1])
			*o++ = (char)(*++name - 'a' + 'A');
		else
			*o++ = *name;
	}
	*o = 0;
	return to;
}

static void put_base64(struct hodo_text *to, const uint8_t *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *o = hodo_text_room(to, len / 3 * 4 + 6);

	if (!o)
		return;
	*o++ = '"';
	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)data[i] << 16 | (n > 1 ? data[i + 1] << 8 : 0) | (n > 2 ? data[i + 2] : 0);

		for (size_t k = 0; k < 4; k++)
			*o++ = k <= n ? digits[v >> (18 - 6 * k) & 63] : '=';
	}
	*o++ = '"';
	to->len = (size_t)(o - to->data);
}

static void put_bytes(struct hodo_json *j, const char *key, const ProtobufCFieldDescriptor *f,
		      const ProtobufCBinaryData *data)
{
	struct hodo_text *to = hodo_json_value(j, key);
	size_t name = strlen(f->name);
	char *o;

	if (name < 3 || strcmp(f->name + name - 3, "_id") != 0) {
		put_base64(to, data->data, data->len);
		return;
	}
	o = hodo_text_room(to, 2 * data->len + 2);
	if (!o)
		return;
	*o++ = '"';
	o = hodo_format_bytes(o, data->data, data->len);
	*o++ = '"';
	to->len = (size_t)(o - to->data);
}

static void put_double(struct hodo_json *j, const char *key, double v)
{
	if (isfinite(v))
		hodo_json_printf(j, key, "%.17g", v);
	else
		hodo_json_string(j, key, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
}

static void put_value(struct hodo_json *j, const char *key, const ProtobufCFieldDescriptor *f, const void *at)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		hodo_json_string(j, key, *(char *const *)at);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		put_bytes(j, key, f, at);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		put_message(j, key, *(const ProtobufCMessage *const *)at);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		hodo_json_bool(j, key, *(const protobuf_c_boolean *)at);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		put_double(j, key, *(const double *)at);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		hodo_json_printf(j, key, "\"%" PRId64 "\"", *(const int64_t *)at);
		break;
	case PROTOBUF_C_TYPE_FIXED64:
		hodo_json_printf(j, key, "\"%" PRIu64 "\"", *(const uint64_t *)at);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		hodo_json_i64(j, key, *(const int32_t *)at);
		break;
	default: /* uint32 and fixed32: there are no others in otlp.proto */
		hodo_json_u64(j, key, *(const uint32_t *)at);
	}
}

static size_t size_of(const ProtobufCFieldDescriptor *f)
{
	return f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE ? sizeof(void *) : 8;
}

/* Whether it was given. */
static bool is_there(const ProtobufCFieldDescriptor *f, const char *m)
{
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)(const void *)(m + f->quantifier_offset) == f->id;
	if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE)
		return *(void *const *)(const void *)(m + f->offset);
	return *(const protobuf_c_boolean *)(m + f->quantifier_offset);
}

static void put_message(struct hodo_json *j, const char *key, const ProtobufCMessage *message)
{
	const char *m = (const char *)message;
	char name[64];

	hodo_json_object(j, key);
	for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &message->descriptor->fields[i];
		const char *at = m + f->offset;

		key_of(f->name, name, sizeof(name));
		if (f->label != PROTOBUF_C_LABEL_REPEATED) {
			if (is_there(f, m))
				put_value(j, name, f, at);
			continue;
		}
		size_t n = *(const size_t *)(const void *)(m + f->quantifier_offset);

		if (n == 0)
			continue;
		hodo_json_array(j, name);
		for (size_t k = 0; k < n; k++)
			put_value(j, NULL, f, *(const char *const *)(const void *)at + k * size_of(f));
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

int otlp_json(struct hodo_text *to, const ProtobufCMessageDescriptor *type, const void *bytes, size_t len)
{
	struct hodo_json j = { .text = to };
	ProtobufCMessage *message = protobuf_c_message_unpack(type, NULL, len, bytes);

	if (!message)
		return -ENOMEM;
	put_message(&j, NULL, message);
	protobuf_c_message_free_unpacked(message, NULL);
	return to->error;
}
