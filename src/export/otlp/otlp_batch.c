/* SPDX-License-Identifier: MIT */
/*
 * otlp_batch.c - spans and values of counters, gathered until they are a request.
 *
 * Each is packed by itself when it is known; around them come the fields of the messages that they are part of. Which
 * item is in which batch depends on the items alone, so that a second run makes the same requests.
 */
#define _GNU_SOURCE
#include "otlp_impl.h"

#include <base/escape.h>
#include <errno.h>
#include <stdlib.h>

#define SCOPE "hodo"

void otlp_put(struct hodo_text *to, const ProtobufCMessage *message)
{
	size_t len = protobuf_c_message_get_packed_size(message);
	char *at = hodo_text_room(to, len);

	if (at)
		to->len += protobuf_c_message_pack(message, (uint8_t *)at);
}

/* What stands before a field that is so many bytes. */
static void put_head(struct hodo_text *to, uint32_t field, uint64_t len)
{
	char *at = hodo_text_room(to, 16);

	if (!at)
		return;
	*at++ = (char)(field << 3 | 2);
	for (; len >= 0x80; len >>= 7)
		*at++ = (char)(len | 0x80);
	*at++ = (char)len;
	to->len = (size_t)(at - to->data);
}

void otlp_put_field(struct hodo_text *to, uint32_t field, const void *bytes, size_t len)
{
	put_head(to, field, len);
	hodo_text_bytes(to, bytes, len);
}

void otlp_put_message(struct hodo_text *to, uint32_t field, const ProtobufCMessage *message)
{
	put_head(to, field, protobuf_c_message_get_packed_size(message));
	otlp_put(to, message);
}

/* ---------------------------------------------------------------------- resources */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Who it was: of each process. */
static void put_resource(struct hodo_text *to, struct hodo_export *e, const struct hodo_read_process *p)
{
	const char *program = p->kernel ? "kernel" : last_part(p->exe), *service = e->otlp->service;
	struct otlp_attributes *a = calloc(1, sizeof(*a));
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	char id[33];

	if (!a) {
		hodo_text_fail(to, -ENOMEM);
		return;
	}
	otlp_attributes_begin(a, e);
	program = *program ? program : p->comm;
	service = service ? service : program;
	otlp_add_text(a, "service.name", service, strlen(service));
	*hodo_format_bytes(id, p->uuid, sizeof(p->uuid)) = 0;
	otlp_add_text(a, "service.instance.id", id, 32);
	if (p->hostname && *p->hostname)
		otlp_add_text(a, "host.name", p->hostname, strlen(p->hostname));
	otlp_add_text(a, "os.type", "linux", 5);
	if (p->kernel) {
		otlp_add_text(a, "os.version", p->kernel, strlen(p->kernel));
	} else {
		otlp_add_number(a, "process.pid", p->pid);
		otlp_add_number(a, "process.parent_pid", p->ppid);
		otlp_add_text(a, "process.executable.name", program, strlen(program));
		otlp_add_text(a, "process.executable.path", p->exe, strlen(p->exe));
	}
	resource.n_attributes = a->n;
	resource.attributes = a->list;
	otlp_put_message(to, 1, &resource.base);
	otlp_attributes_free(a);
	free(a);
}

static void put_scope(struct hodo_text *to, const struct hodo_export *e)
{
	Otlp__Scope scope = OTLP__SCOPE__INIT;

	scope.name = (char *)(uintptr_t)SCOPE;
	scope.version = (char *)(uintptr_t)e->otlp->version;
	otlp_put_message(to, 1, &scope.base);
}

/* ----------------------------------------------------------------------- requests */

/* All values of one counter, from item i on; they are done then. */
static void put_metric(struct otlp_batch *b, uint32_t i, bool *done)
{
	const struct otlp_item *first = &b->items[i];
	struct hodo_text *points = &b->metric;
	Otlp__Metric metric = OTLP__METRIC__INIT;
	size_t head;

	points->len = 0;
	for (; i < b->n; i++) {
		const struct otlp_item *item = &b->items[i];

		if (done[i] || item->process != first->process || item->name != first->name)
			continue;
		otlp_put_field(points, 1, b->bytes.data + item->at, item->len);
		done[i] = true;
	}
	/* { name, gauge { data_points } } */
	metric.name = (char *)(uintptr_t)first->name;
	head = b->request.len;
	otlp_put(&b->request, &metric.base);
	otlp_put_field(&b->request, 5, points->data, points->len);
	if (b->request.error || points->error) {
		hodo_text_fail(&b->scope, -ENOMEM);
		return;
	}
	otlp_put_field(&b->scope, 2, b->request.data + head, b->request.len - head);
	b->request.len = head;
}

/* All items of one process, from item i on. */
static void put_process(struct otlp_batch *b, struct hodo_export *e, uint32_t i, bool *done)
{
	const struct hodo_read_process *process = b->items[i].process;

	b->scope.len = b->resource.len = 0;
	put_scope(&b->scope, e);
	for (; i < b->n; i++) {
		const struct otlp_item *item = &b->items[i];

		if (done[i] || item->process != process)
			continue;
		if (b->metrics) {
			put_metric(b, i, done);
			continue;
		}
		otlp_put_field(&b->scope, 2, b->bytes.data + item->at, item->len);
		done[i] = true;
	}
	put_resource(&b->resource, e, process);
	otlp_put_field(&b->resource, 2, b->scope.data, b->scope.len);
	otlp_put_field(&b->request, 1, b->resource.data, b->resource.len);
	hodo_text_fail(&b->request, b->scope.error ? b->scope.error : b->resource.error);
}

static int make_json(struct otlp_batch *b)
{
	b->json.len = 0;
	return otlp_json(&b->json, b->metrics ? &otlp__metrics__descriptor : &otlp__traces__descriptor, b->request.data,
			 b->request.len);
}

int otlp_batch_send(struct otlp_batch *b, struct hodo_export *e)
{
	const struct hodo_otlp *otlp = e->otlp;
	uint64_t keys[OTLP_BATCH_ITEMS];
	struct hodo_otlp_message message = { .metrics = b->metrics, .items = b->n, .keys = keys };
	bool done[OTLP_BATCH_ITEMS] = { false };
	int err = 0;

	b->request.len = 0;
	for (uint32_t i = 0; i < b->n; i++)
		if (!done[i])
			put_process(b, e, i, done);
	err = b->bytes.error ? b->bytes.error : b->request.error;
	if (!err && b->n > 0 && (otlp->json || !otlp->send))
		err = make_json(b);
	if (err || b->n == 0)
		return err;
	message.data = otlp->json || !otlp->send ? b->json.data : b->request.data;
	message.len = otlp->json || !otlp->send ? b->json.len : b->request.len;
	for (uint32_t i = 0; i < b->n; i++)
		keys[i] = b->items[i].key;
	b->n = 0;
	b->bytes.len = 0;
	if (otlp->send)
		return otlp->send(otlp->to, &message);
	hodo_text_bytes(e->out, message.data, message.len);
	hodo_text_char(e->out, '\n');
	return e->out->error;
}

int otlp_batch_add(struct otlp_batch *b, struct hodo_export *e, const struct otlp_item *item)
{
	if (b->bytes.error)
		return b->bytes.error;
	if (e->otlp->has && e->otlp->has(e->otlp->to, b->metrics, item->key)) {
		b->bytes.len = item->at;
		return 0;
	}
	b->items[b->n] = *item;
	b->items[b->n].len = b->bytes.len - item->at;
	b->n++;
	return b->n == OTLP_BATCH_ITEMS || b->bytes.len >= OTLP_BATCH_BYTES ? otlp_batch_send(b, e) : 0;
}

void otlp_batch_free(struct otlp_batch *b)
{
	struct hodo_text *texts[] = { &b->bytes, &b->metric, &b->scope, &b->resource, &b->request, &b->json };

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		hodo_text_free(texts[i]);
}
