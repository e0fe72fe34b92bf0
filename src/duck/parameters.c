/* SPDX-License-Identifier: MIT */
#include "parameters.h"

#include <errno.h>
#include <strings.h>

/* name: $NAME of the statement; NULL: it has a number. */
static int bind_one(struct duck_parameters *p, duck_handle statement, uint64_t i, const char *name,
		    struct hodo_why *e)
{
	for (uint32_t k = 0; k < p->n && name; k++) {
		if (strcasecmp(p->given[k].name, name) != 0)
			continue;
		p->used[k] = true;
		return duck.bind_varchar(statement, i, p->given[k].value) ? hodo_why(e, -ENOMEM, "no memory") : 0;
	}
	return hodo_why(e, -EINVAL, "the statement has $%s: give it a value with --set %s=VALUE", name ? name : "?",
			name ? name : "PARAM");
}

int duck_parameters_bind(struct duck_parameters *p, duck_handle statement, struct hodo_why *e)
{
	int err = 0;

	for (uint64_t i = 1; i <= duck.nparams(statement) && !err; i++) {
		char *name = duck.parameter_name(statement, i);

		for (uint32_t k = 0; k < p->n && name; k++)
			hodo_near_look(&p->near[k], name);
		p->any = true;
		err = bind_one(p, statement, i, name, e);
		if (name)
			duck.free(name);
	}
	return err;
}

/* What is not given at all is not looked for: the one that is given under a wrong name says more. */
int duck_parameters_check(struct duck_parameters *p, struct hodo_why *e)
{
	for (uint32_t k = 0; k < p->n; k++)
		if (!p->used[k])
			return hodo_why(e, -EINVAL, "--set %s: the statement has no $%s%s", p->given[k].name,
					p->given[k].name, p->near[k].n ? hodo_near_text(&p->near[k]) :
					p->any ? ": write it as the statement does" : ", and no other: leave it out");
	return 0;
}

int duck_parameters_start(struct duck_parameters *p, const struct hodo_duck_parameter *given, uint32_t n)
{
	*p = (struct duck_parameters){ .given = given, .n = n };
	p->used = calloc(n + 1, sizeof(*p->used));
	p->near = calloc(n + 1, sizeof(*p->near));
	for (uint32_t k = 0; k < n && p->near; k++)
		p->near[k].wanted = given[k].name;
	return p->used && p->near ? 0 : -ENOMEM;
}

void duck_parameters_end(struct duck_parameters *p)
{
	free(p->used);
	free(p->near);
}
