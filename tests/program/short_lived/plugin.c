/* SPDX-License-Identifier: MIT */
/* plugin.c - a library that an image opens: its events count as the image's. */
#include <hodo/trace.h>

#include "census.h"

void plugin_work(struct ledger_image *image, int id, int n)
{
	for (int i = 0; i < n; i++) {
		ledger_begin(image);
		HODO_EVENT(census, plugin, HODO_F(image, id), HODO_F(i, i));
		ledger_end(image);
	}
}
