/* SPDX-License-Identifier: MIT */
/* control.h - what a recorder is asked at its own socket (hodo/abi_live.h), besides to record. */
#ifndef HODO_RECORD_CONTROL_H
#define HODO_RECORD_CONTROL_H

#include <hodo/abi.h>

#include "session.h"

/*
 * If a message on the connection fd asks for something, answers it and returns 1; else leaves it there: 0, or -EAGAIN
 * if there is none yet. Who it comes from has been checked.
 */
int hodo_control_serve(struct hodo_session *s, int fd);

#endif
