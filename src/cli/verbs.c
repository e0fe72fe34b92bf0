/* SPDX-License-Identifier: MIT */
/* verbs.c - all verbs, in the order of --help. */
#include "cli.h"

#include <string.h>

const struct hodo_verb *const hodo_verbs[] = {
	&hodo_verb_record, &hodo_verb_detach, &hodo_verb_print, &hodo_verb_graph, &hodo_verb_report,
	&hodo_verb_query, &hodo_verb_export, &hodo_verb_view, &hodo_verb_stat, &hodo_verb_top, &hodo_verb_list,
	&hodo_verb_enable, &hodo_verb_disable, &hodo_verb_snapshot, &hodo_verb_info, &hodo_verb_pack,
	&hodo_verb_unpack, &hodo_verb_recover, &hodo_verb_merge, &hodo_verb_send, &hodo_verb_prune, &hodo_verb_symbols,
	&hodo_verb_probe, &hodo_verb_doctor, NULL,
};

const struct hodo_verb *hodo_verb_find(const char *name)
{
	const struct hodo_verb *const *v = hodo_verbs;

	while (*v && strcmp(name, (*v)->name) != 0)
		v++;
	return *v;
}
