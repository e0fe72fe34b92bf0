/* SPDX-License-Identifier: MIT */
/* overview.c - what hodo PROGRAM shows at the end. */
#include <cli/recording_tables.h>

#include <string.h>

#define ROWS_MAX 20 /* a screen */

/* The recording's contents, and what its program could have had. */
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

static void advise(struct hodo_text *to, bool color, const char *command, const char *program, const char *does)
{
	int pad = 32 - (int)(strlen(command) + strlen(program));

	hodo_text_printf(to, "  %s%s", hodo_style(color, HODO_NAME), command);
	hodo_add_plain(to, program);
	hodo_text_printf(to, "%s%*s%s\n", hodo_style(color, HODO_PLAIN), pad > 2 ? pad : 2, "", does);
}

static void put_advice(struct hodo_text *to, const struct hodo_read *r, char **command, bool color)
{
	struct contents c = { 0 };

	look(&c, r);
	if (c.others || c.calls) {
		advise(to, color, "hodo print", "", "the events, one per line");
		advise(to, color, "hodo report", "", "how long things took, and the distribution");
		advise(to, color, "hodo view", "", "a page for the browser");
	} else if (c.events) {
		advise(to, color, "hodo list ", hodo_read_process(r, 0)->exe, "its events");
	} else {
		advise(to, color, "man hodo-trace", "", "how to add events to a program: this one has none");
	}
	if (c.functions && !c.calls)
		advise(to, color, "hodo record --functions ", command[0], "its functions too");
}

void hodo_overview(FILE *f, const char *dir, char **command)
{
	struct hodo_read *r = hodo_open(dir, true);
	bool color = hodo_use_color(HODO_COLOR_AUTO, fileno(f));
	const struct hodo_show look = { .limit = ROWS_MAX };
	struct hodo_text text = { 0 };
	struct hodo_stat s = { 0 };

	if (!r)
		return;
	if (hodo_stat_count(&s, r, &look) == 0) {
		s.table.more[0] = "... ";
		s.table.more[1] = " more: 'hodo stat' shows all";
		if (s.totals.events) {
			hodo_text_char(&text, '\n');
			hodo_stat_put_table(&text, &s, color);
		}
		hodo_text_char(&text, '\n');
		put_advice(&text, r, command, color);
	}
	fputs(hodo_text_string(&text), f);
	fflush(f);
	hodo_text_free(&text);
	hodo_stat_free(&s);
	hodo_read_close(r);
}
