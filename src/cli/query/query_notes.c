/* SPDX-License-Identifier: MIT */
#include "query_notes.h"

#define LOST_SHOWN 20u /* recordings: the question `lost` has all */

/* With the mutex. Where there is no memory to know, rather twice than never. */
static bool is_new(struct query_notes *n, const char *text)
{
	uint32_t before = n->told.map.n;

	return !n->quiet && (hodo_strings_add(&n->told, text) == HODO_STRINGS_NONE || n->told.map.n > before);
}

void query_notes_warn(void *notes, const char *text)
{
	struct query_notes *n = notes;

	pthread_mutex_lock(&n->mutex);
	if (is_new(n, text))
		hodo_warning("%s", text);
	pthread_mutex_unlock(&n->mutex);
}

void query_notes_read(void *notes, const char *path, struct hodo_read *reader)
{
	struct query_notes *n = notes;

	pthread_mutex_lock(&n->mutex);
	if (is_new(n, path) && hodo_has_lost(reader) && n->nlost++ < LOST_SHOWN)
		hodo_tell_lost_of(path, reader);
	pthread_mutex_unlock(&n->mutex);
}

void query_notes_start(struct query_notes *notes, bool quiet)
{
	*notes = (struct query_notes){ .mutex = PTHREAD_MUTEX_INITIALIZER, .quiet = quiet };
}

void query_notes_end(struct query_notes *n)
{
	if (n->nlost > LOST_SHOWN)
		hodo_warning("%u more recording%s not whole: 'hodo query lost' lists them", n->nlost - LOST_SHOWN,
			     n->nlost == LOST_SHOWN + 1 ? " is" : "s are");
	hodo_strings_free(&n->told);
	pthread_mutex_destroy(&n->mutex);
}
