/* SPDX-License-Identifier: MIT */
/* overview.c - what hodo PROGRAM shows at the end. */
#define _GNU_SOURCE
#include "overview.h"

#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "stat_table.h"

#define ROWS_MAX 20 /* a screen */

/* What the recording has, and what its program could have had. */
struct contents {
	bool calls, others;
	uint32_t events, functions; /* of the first process's program */
};

static void look(struct contents *c, const struct hodo_read *r)
{
	struct hodo_read_options o = { .size = sizeof(o) };
	const struct hodo_read_function *functions;
	struct hodo_read_elf *elf;

	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);

		for (uint32_t k = 0; k < p->nclasses; k++) {
			bool function = p->classes[k]->kind == HODO_KIND_FUNCTION;

			c->calls |= p->classes[k]->count > 0 && function;
			c->others |= p->classes[k]->count > 0 && !function;
		}
	}
	if (!hodo_read_nprocesses(r) || hodo_read_elf_open(&elf, hodo_read_process(r, 0)->exe, &o) < 0)
		return;
	c->events = hodo_read_elf_nclasses(elf);
	if (hodo_read_elf_functions(elf, &functions, &c->functions) < 0)
		c->functions = 0;
	hodo_read_elf_close(elf);
}

static void advise(FILE *f, bool color, const char *command, const char *program, const char *does)
{
	int pad = 32 - (int)(strlen(command) + strlen(program));

	fprintf(f, "  %s%s", hodo_style(color, HODO_NAME), command);
	hodo_put_plain(f, program);
	fprintf(f, "%s%*s%s\n", hodo_style(color, HODO_PLAIN), pad > 2 ? pad : 2, "", does);
}

static void put_advice(FILE *f, const struct hodo_read *r, char **command, bool color)
{
	struct contents c = { 0 };

	look(&c, r);
	if (c.others || c.calls) {
		advise(f, color, "hodo print", "", "the events, one a line");
		advise(f, color, "hodo report", "", "how long what took, and how that is distributed");
		if (hodo_is_verb("view"))
			advise(f, color, "hodo view", "", "a page for the browser");
	} else if (c.events) {
		advise(f, color, "hodo list ", hodo_read_process(r, 0)->exe, "the events that it has");
	} else {
		advise(f, color, "man hodo-trace", "", "how a program gets events: this one has none");
	}
	if (c.functions && !c.calls)
		advise(f, color, "hodo record --functions ", command[0], "its functions as well");
}

void hodo_overview(FILE *f, const char *dir, char **command)
{
	struct hodo_read *r = hodo_open(dir, true);
	bool color = hodo_use_color(HODO_COLOR_AUTO, fileno(f));
	struct hodo_stat s = { 0 };

	if (!r)
		return;
	if (hodo_stat_count(&s, r) == 0) {
		if (s.totals.events) {
			fputc('\n', f);
			hodo_stat_put_table(f, &s, ROWS_MAX, color);
		}
		fputc('\n', f);
		put_advice(f, r, command, color);
	}
	fflush(f);
	hodo_stat_free(&s);
	hodo_read_close(r);
}
