/* SPDX-License-Identifier: MIT */
/* hosts.h - the hosts of a recording. */
#pragma once

#include "metadata_line.h"

struct hodo_read;
struct hodo_trace;

/* A directory with such a name and no metadata is the recording of one host (hodo merge). */
#define HODO_HOST_FOLDER "host-"

/* Lines of a folder's metadata. 0, or a negative errno. */
int hodo_hosts_machine(struct hodo_trace *t, struct hodo_line *l);
int hodo_hosts_wall(struct hodo_trace *t, struct hodo_line *l);
int hodo_hosts_merge(struct hodo_trace *t, struct hodo_line *l);

/* Takes the host's name from a line of the metadata, if it is the one that has it; the line changes. */
void hodo_read_hostname(struct hodo_trace *t, char *line, char *eol);

/* Once all folders are known: finds out which hosts there are. 0 or -ENOMEM. */
int hodo_hosts_settle(struct hodo_read *r);
