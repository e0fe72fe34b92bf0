/* SPDX-License-Identifier: MIT */
/* no_buffers.c - why a joining process has no buffers to hand over. */
#include "no_buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <base/quantity.h>

/* Which limit the process has hit; HODO_LIMITS: none. */
static enum hodo_limit met(const struct hodo_msg_failed *m)
{
	switch (m->error) {
	case -EMFILE:
		return HODO_LIMIT_NOFILE;
	case -EFBIG:
		return HODO_LIMIT_FSIZE;
	case -EAGAIN: /* the program has called mlockall(2) */
		return m->step == HODO_FAILED_MAP ? HODO_LIMIT_MEMLOCK : HODO_LIMITS;
	case -ENOMEM:
		if (m->limit[HODO_LIMIT_AS] != UINT64_MAX)
			return HODO_LIMIT_AS;
		return m->limit[HODO_LIMIT_DATA] != UINT64_MAX && m->step == HODO_FAILED_MEMORY ? HODO_LIMIT_DATA :
												 HODO_LIMITS;
	}
	return HODO_LIMITS;
}

static const char *name_limit(const struct hodo_msg_failed *m, enum hodo_limit limit, struct hodo_why *why)
{
	static const char option[HODO_LIMITS] = { [HODO_LIMIT_FSIZE] = 'f', [HODO_LIMIT_AS] = 'v',
						  [HODO_LIMIT_DATA] = 'd', [HODO_LIMIT_MEMLOCK] = 'l' };
	char limited[32], needed[32];

	if (limit == HODO_LIMIT_NOFILE)
		hodo_why(why, 0, "it has as many open files as ulimit -n allows (%" PRIu64 "): raise it",
			 m->limit[limit]);
	else
		hodo_why(why, 0, "ulimit -%c (%s) is too low for its buffers of %s: raise it%s", option[limit],
			 hodo_human_bytes(m->limit[limit], limited), hodo_human_bytes(m->bytes, needed),
			 m->limit[limit] > HODO_SHM_RINGS ? ", or record with a smaller -m" : "");
	return why->text;
}

const char *hodo_no_buffers_why(const struct hodo_msg_failed *m, struct hodo_why *why)
{
	enum hodo_limit limit = met(m);
	int error = m->error < 0 && m->error > -4096 ? -m->error : EPROTO;
	char needed[32];

	if (limit != HODO_LIMITS)
		return name_limit(m, limit, why);
	if (m->step == HODO_FAILED_CONFIG)
		hodo_why(why, 0, "its libhodo cannot do that: record it with the libhodo that came with this hodo");
	else if (m->step == HODO_FAILED_FILE && (error == ENOSYS || error == EPERM || error == EACCES))
		hodo_why(why, 0, "its sandbox forbids memfd_create(2), which its buffers need: allow it");
	else if (error == ENOMEM)
		hodo_why(why, 0, "it has no memory for %s of buffers: record with a smaller -m",
			 hodo_human_bytes(m->bytes, needed));
	else if (error == ENFILE)
		hodo_why(why, 0, "the machine has too many open files: raise /proc/sys/fs/file-max");
	else
		hodo_why(why, 0, "its buffers cannot be made: %s", strerror(error));
	return why->text;
}
