/* SPDX-License-Identifier: MIT */
/* parse.c - the texts of probes in the kernel, and a list of them; compile.c resolves the names. */
#include "kernel_impl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

#define PREFIX "kprobe:"

bool hodo_kprobe_is(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

int hodo_kprobe_parse(struct hodo_kprobe_text *t, const char *text, struct hodo_why *why)
{
	struct hodo_spec *s = &t->spec;
	char offset[24] = "";
	int err;

	memset(t, 0, sizeof(*t));
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c >= 127 || ((unsigned char)*c < ' ' && !isspace((unsigned char)*c)))
			return hodo_why(why, -EINVAL, "a probe has ASCII characters only, and no control characters");
	err = hodo_spec_parse_kernel(s, text + strlen(PREFIX), why);
	if (s->number)
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, s->number);
	if (err)
		hodo_why(why, err, "%s", err == -ENOMEM ? "out of memory" : why->text);
	else if ((size_t)snprintf(t->event, sizeof(t->event), PREFIX "%s%s%s", s->name, offset,
				  s->place == HODO_SPEC_RETURN ? "%return" : "") >= sizeof(t->event))
		err = hodo_why(why, -EINVAL, "the function's name is too long");
	if (err)
		hodo_kprobe_text_free(t);
	return err;
}

void hodo_kprobe_text_free(struct hodo_kprobe_text *t)
{
	hodo_spec_free(&t->spec);
}

int hodo_kprobe_list_add(struct hodo_kprobe_list *list, const char *text, struct hodo_why *why)
{
	struct hodo_kprobe_text t;
	int err = hodo_kprobe_parse(&t, text, why);

	if (err)
		return err;
	for (uint32_t i = 0; i < list->n && !err; i++)
		if (strcmp(list->probe[i].event, t.event) == 0)
			err = hodo_why(why, -EEXIST, "there are two probes %s: give all values in one", t.event);
	if (!err && list->n == HODO_KPROBES_MAX)
		err = hodo_why(why, -E2BIG, "more than %u probes", HODO_KPROBES_MAX);
	if (!err && hodo_vec_push(list->probe, list->n, t) < 0)
		err = hodo_why(why, -ENOMEM, "out of memory");
	if (err)
		hodo_kprobe_text_free(&t);
	return err;
}

void hodo_kprobe_list_free(struct hodo_kprobe_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		hodo_kprobe_text_free(&list->probe[i]);
	free(list->probe);
	*list = (struct hodo_kprobe_list){ 0 };
}
