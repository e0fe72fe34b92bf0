/* SPDX-License-Identifier: MIT */
/* build_file.c - collects the parts of a plan, and writes them as a file. */
#include "build_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <base/scope.h>

#include <probe/code/slot_frames.h>

/* The file in memory. */
struct file {
	struct hodo_plan *head;
	uint64_t bytes, descs, unwinding, code; /* where descriptors, what unwinders need, and pages begin */
	struct hodo_slot_frames frames;
	const struct hodo_probe_space *space;
};

static uint64_t put_table(struct hodo_plan_table *t, uint64_t at, uint64_t n, size_t size)
{
	*t = (struct hodo_plan_table){ .offset = at, .n = (uint32_t)n };
	return at + n * size;
}

static void *table(const struct file *f, const struct hodo_plan_table *t)
{
	return (char *)f->head + t->offset;
}

/* Where in the file the byte of a slot is. */
static uint8_t *byte_of(const struct file *f, uint64_t addr)
{
	uint32_t page = hodo_probe_space_page(f->space, addr);

	return (uint8_t *)f->head + f->code + (uint64_t)page * HODO_PROBE_PAGE_BYTES +
	       (addr - f->space->pages[page].addr);
}

static uint32_t count_traps(const struct hodo_plan_parts *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nitems; i++)
		n += 1 + (uint32_t)__builtin_popcount(p->items[i]->window.boundaries & 0x1e);
	return n;
}

static uint32_t count_events(const struct hodo_plan_parts *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nitems; i++)
		for (const struct hodo_plan_hook *h = p->items[i]->hooks; h; h = h->next)
			n += h->event != NULL;
	return n;
}

static uint32_t count_replacements(const struct hodo_plan_parts *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nitems; i++)
		for (const struct hodo_plan_hook *h = p->items[i]->hooks; h; h = h->next)
			n += h->kind >= HODO_HOOK_REPLACE;
	return n;
}

static uint64_t desc_bytes(const struct hodo_probe_event *e)
{
	uint64_t bytes = sizeof(struct hodo_desc) + e->nfields + strlen(e->provider) + strlen(e->name) + 6;

	for (unsigned i = 0; i < e->nfields; i++)
		bytes += strlen(e->fields[i].name) + 2;
	return (bytes + 7) / 8 * 8;
}

/* Each once, however many hooks it has. Returns where they end. */
static uint64_t place_descs(const struct hodo_plan_parts *p, uint64_t at)
{
	for (uint32_t i = 0; i < p->nitems; i++)
		for (const struct hodo_plan_hook *h = p->items[i]->hooks; h; h = h->next)
			if (h->event)
				h->event->desc = 0; /* of an earlier file */
	for (uint32_t i = 0; i < p->nitems; i++)
		for (const struct hodo_plan_hook *h = p->items[i]->hooks; h; h = h->next) {
			if (!h->event || h->event->desc)
				continue;
			h->event->desc = at;
			at += desc_bytes(h->event);
		}
	return at;
}

static int make(struct file *f, const struct hodo_plan_parts *p)
{
	struct hodo_plan head = { .magic = HODO_PLAN_MAGIC, .version = HODO_ABI_VERSION };
	uint64_t at = sizeof(head);

	at = put_table(&head.pages, at, f->space->npages, sizeof(struct hodo_plan_pages));
	at = put_table(&head.windows, at, p->nitems, sizeof(struct hodo_plan_window));
	at = put_table(&head.traps, at, count_traps(p), sizeof(struct hodo_plan_trap));
	at = put_table(&head.fixes, at, (uint64_t)p->ndata * HODO_PLAN_IMPORTS, sizeof(struct hodo_plan_fix));
	at = put_table(&head.functions, at, p->nfunctions, sizeof(struct hodo_plan_function));
	at = put_table(&head.events, at, count_events(p), sizeof(struct hodo_plan_event));
	at = put_table(&head.frames, at, f->frames.nlist, sizeof(struct hodo_plan_frame));
	at = put_table(&head.replacements, at, count_replacements(p), sizeof(struct hodo_plan_replacement));
	f->descs = at;
	at = place_descs(p, at);
	f->unwinding = at;
	at += f->frames.n;
	f->code = (at + HODO_PAGE - 1) / HODO_PAGE * HODO_PAGE;
	f->bytes = head.bytes = f->code + (uint64_t)f->space->npages * HODO_PROBE_PAGE_BYTES;
	f->head = f->bytes <= HODO_PLAN_BYTES_MAX ? calloc(1, f->bytes) : NULL;
	if (!f->head)
		return -ENOMEM;
	*f->head = head;
	return 0;
}

static bool is_data(const struct hodo_plan_parts *p, uint64_t addr)
{
	for (unsigned i = 0; i < p->ndata; i++)
		if (addr - p->data[i].addr < (uint64_t)p->data[i].pages * HODO_PROBE_PAGE_BYTES)
			return true;
	return false;
}

/* Adjacent pages of one kind form one range. */
static void put_pages(const struct file *f, const struct hodo_plan_parts *p)
{
	struct hodo_plan_pages *list = table(f, &f->head->pages);
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->space->npages; i++) {
		uint64_t addr = f->space->pages[i].addr;
		uint32_t flags = is_data(p, addr) ? HODO_PLAN_DATA : 0;

		if (n && list[n - 1].addr + list[n - 1].bytes == addr && list[n - 1].flags == flags)
			list[n - 1].bytes += HODO_PROBE_PAGE_BYTES;
		else
			list[n++] = (struct hodo_plan_pages){ addr, f->code + (uint64_t)i * HODO_PROBE_PAGE_BYTES,
							      HODO_PROBE_PAGE_BYTES, flags, 0 };
	}
	f->head->pages.n = n;
}

/* Where the program is when the event happens: an unwinder looks up the byte before. */
static void put_state(const struct file *f, const struct hodo_plan_item *x, const struct hodo_plan_hook *h)
{
	struct hodo_plan_state state = { .state = { .outline = HODO_OUTLINE_PLANNED }, .stack = h->stack };
	const uint8_t *bytes = (const uint8_t *)&state;

	state.ip = x->recipe.addr + x->recipe.from[h->instruction] + 1;
	for (unsigned i = 0; i < sizeof(state); i++)
		*byte_of(f, h->state + i) = bytes[i];
}

/* Returns how many bytes it is. */
static uint64_t put_desc(const struct hodo_probe_event *e, uint8_t *to)
{
	struct hodo_desc *desc = (struct hodo_desc *)to;
	char *text = (char *)(desc + 1) + e->nfields;

	*desc = (struct hodo_desc){ .size = sizeof(*desc), .version = HODO_ABI_VERSION, .kind = HODO_KIND_EVENT,
				    .nfields = (uint16_t)e->nfields, .labels = HODO_DESC_DIFFERS,
				    .strings = (uint32_t)(text - (char *)to) };
	for (unsigned i = 0; i < e->nfields; i++) {
		to[sizeof(*desc) + i] = e->fields[i].type;
		if (e->fields[i].type == HODO_TYPE_STR)
			desc->nlabels |= (uint16_t)(1u << i);
	}
	text = stpcpy(text, e->provider) + 1;
	text = stpcpy(text, e->name) + 1;
	for (unsigned i = 0; i < e->nfields; i++) {
		text = stpcpy(text, i ? ", " : "");
		text = stpcpy(text, e->fields[i].name);
	}
	text += 4; /* format, file and function are empty */
	desc->total = (uint32_t)(text - (char *)to);
	return desc_bytes(e);
}

static void put_events(const struct file *f, const struct hodo_plan_parts *p)
{
	struct hodo_plan_event *list = table(f, &f->head->events);

	for (uint32_t i = 0; i < p->nitems; i++)
		for (const struct hodo_plan_hook *h = p->items[i]->hooks; h; h = h->next) {
			if (!h->event)
				continue;
			put_state(f, p->items[i], h);
			*list = (struct hodo_plan_event){ .desc = h->event->desc, .state = h->state, .window = i };
			if (h->event->semaphore)
				list->semaphore = h->event->semaphore + p->items[i]->bias;
			list->bytes = (uint32_t)put_desc(h->event, (uint8_t *)f->head + list->desc);
			list++;
		}
}

static void put_replacements(const struct file *f, const struct hodo_plan_parts *p)
{
	struct hodo_plan_replacement *list = table(f, &f->head->replacements);

	for (uint32_t i = 0; i < p->nitems; i++)
		for (const struct hodo_plan_hook *h = p->items[i]->hooks; h; h = h->next) {
			if (h->kind < HODO_HOOK_REPLACE)
				continue;
			*list = (struct hodo_plan_replacement){ .first = h->first, .window = i };
			for (unsigned k = 0; h->replacement && k < sizeof(h->replacement->to); k++)
				*byte_of(f, h->state + k) = (uint8_t)(h->replacement->to >> 8 * k);
			list++->original = h->replacement ? h->replacement->original : 0;
		}
}

static int put_item(const struct file *f, struct hodo_plan_item *x, hodo_probe_hook_fn hook,
		    struct hodo_plan_window *w, struct hodo_plan_trap **trap)
{
	uint8_t code[HODO_PROBE_SLOT_BYTES];
	int err = hodo_probe_recipe_emit(&x->recipe, x->slot, code, hook, x);

	if (err)
		return err;
	/* A slot may span two pages, which need not be adjacent in the file. */
	for (unsigned k = 0; k < x->recipe.bytes; k++)
		*byte_of(f, x->slot + k) = code[k];
	*w = (struct hodo_plan_window){ .addr = x->recipe.addr, .len = x->window.len, .flags = x->flags,
					.boundaries = x->window.boundaries & 0x1e };
	memcpy(w->bytes, x->window.bytes, x->window.len);
	err = hodo_probe_recipe_jump(&x->recipe, x->slot, w->jump);
	for (unsigned k = 0; k < x->recipe.n; k++) {
		unsigned from = x->recipe.from[k];

		if (from == 0 || (from < HODO_PROBE_JUMP_BYTES && w->boundaries >> from & 1))
			*(*trap)++ = (struct hodo_plan_trap){ w->addr + from, x->slot + x->recipe.at[k] };
	}
	return err;
}

static void put_frames(const struct file *f)
{
	struct hodo_plan_frame *list = table(f, &f->head->frames);

	for (uint32_t i = 0; i < f->frames.nlist; i++) {
		const struct hodo_slot_frame *x = &f->frames.list[i];

		list[i] = (struct hodo_plan_frame){ x->slot, f->unwinding + x->header, x->bytes, x->number };
	}
	if (f->frames.n)
		memcpy((char *)f->head + f->unwinding, f->frames.bytes, f->frames.n);
}

static int put_all(const struct file *f, const struct hodo_plan_parts *p)
{
	struct hodo_plan_trap *trap = table(f, &f->head->traps), *first = trap;
	struct hodo_plan_window *windows = table(f, &f->head->windows);
	struct hodo_plan_fix *fixes = table(f, &f->head->fixes);
	int err = 0;

	put_pages(f, p);
	for (uint32_t i = 0; i < p->nitems && !err; i++)
		err = put_item(f, p->items[i], p->hook, &windows[i], &trap);
	f->head->traps.n = (uint32_t)(trap - first);
	for (unsigned i = 0; i < p->ndata * HODO_PLAN_IMPORTS; i++)
		fixes[i] = (struct hodo_plan_fix){ .addr = p->data[i / HODO_PLAN_IMPORTS].addr +
							   sizeof(uint64_t) * (i % HODO_PLAN_IMPORTS),
						   .import = i % HODO_PLAN_IMPORTS };
	put_events(f, p);
	put_replacements(f, p);
	put_frames(f);
	if (p->nfunctions)
		memcpy(table(f, &f->head->functions), p->functions, p->nfunctions * sizeof(*p->functions));
	return err;
}

static int seal(const struct file *f)
{
	const char *from = (const char *)f->head;
	int fd = memfd_create("hodo-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	for (uint64_t n = 0; fd >= 0 && n < f->bytes;) {
		ssize_t wrote = write(fd, from + n, f->bytes - n);

		if (wrote < 0 && errno != EINTR) {
			int err = -errno;

			close(fd);
			return err;
		}
		n += wrote > 0 ? (uint64_t)wrote : 0;
	}
	if (fd >= 0)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd >= 0 ? fd : -errno;
}

/* Before the file is laid out: the size of a slot's description depends on its code. */
static int describe(struct file *f, const struct hodo_plan_parts *p)
{
	int err = 0;

	for (uint32_t i = 0; i < p->nitems && !err; i++) {
		struct hodo_plan_item *x = p->items[i];
		uint8_t code[HODO_PROBE_SLOT_BYTES];

		err = hodo_probe_recipe_emit(&x->recipe, x->slot, code, p->hook, x);
		if (!err)
			err = hodo_slot_frames_add(&f->frames, &x->recipe, x->slot, i, code);
	}
	hodo_slot_frames_sort(&f->frames);
	return err;
}

int hodo_plan_write(const struct hodo_plan_parts *parts, const struct hodo_probe_space *space)
{
	struct file f = { .space = space };
	int err = describe(&f, parts);

	if (!err)
		err = make(&f, parts);
	if (!err)
		err = put_all(&f, parts);
	if (!err)
		err = seal(&f);
	free(f.head);
	hodo_slot_frames_free(&f.frames);
	return err;
}
