/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - recordings of several hosts for tools that know one: numbers of processes and threads that differ, and
 * names that say whose they are.
 */
#pragma once

#include <hodo/read.h>
#include <stdio.h>

#define HODO_PID_BITS 22u /* of the kernel's PID_MAX_LIMIT */
#define HODO_HOSTS_APART 500u /* beyond, numbers may be the same: those tools have 31 bits for them */

/* Of the first host, numbers stay as they are. */
static inline uint32_t hodo_number_apart(const struct hodo_read_process *of, uint32_t number)
{
	return number + (of->host % HODO_HOSTS_APART << HODO_PID_BITS);
}

/* "web1: kvd", if there are several hosts; else the name. */
static inline const char *hodo_name_apart(const struct hodo_read *reader, const struct hodo_read_process *of,
					  const char *name, char buf[160])
{
	if (hodo_read_nhosts(reader) < 2 || !of->hostname || !*of->hostname)
		return name;
	snprintf(buf, 160, "%.80s: %.70s", of->hostname, name);
	return buf;
}
