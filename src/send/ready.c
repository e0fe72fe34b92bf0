/* SPDX-License-Identifier: MIT */
/* ready.c - tries a directory in the way in which a part would be sent: what stops a part stops this. */
#include "ready.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <base/clock.h>

#include "send_link.h"
#include "sender.h"

#define PATIENCE_NS 5000000000ll /* the program waits for this: of a network's disk, it is found out later */

static bool has_patience(void *until)
{
	return hodo_now_ns() < *(const int64_t *)until;
}

int hodo_send_ready(const struct hodo_send_target *target, struct hodo_why *why)
{
	struct hodo_send_target own = *target;
	int64_t until = hodo_now_ns() + PATIENCE_NS;
	const struct hodo_link_idle idle = { -1, has_patience, &until };
	struct hodo_link *link;
	char host[65];
	int err;

	if (target->ssh)
		return 0;
	hodo_send_host(host);
	if (snprintf(own.dir, sizeof(own.dir), "%s/%s", target->dir, host) >= (int)sizeof(own.dir))
		return hodo_why(why, -ENAMETOOLONG, "%s", strerror(ENAMETOOLONG));
	err = hodo_link_open(&link, &own, &idle, why);
	hodo_link_close(link);
	if (!err && access(own.dir, W_OK | X_OK) < 0) {
		err = -errno;
		hodo_why(why, 0, "%s", strerror(errno));
	}
	return err == -ECANCELED ? 0 : err;
}
