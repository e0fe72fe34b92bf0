/* SPDX-License-Identifier: MIT */
/*
 * join.h - sockets at which children of adopted processes join that cannot reach the recording's own.
 */
#ifndef HODO_RECORD_JOIN_H
#define HODO_RECORD_JOIN_H

#include "session.h"

void hodo_join_close(struct hodo_session *s);

#endif
