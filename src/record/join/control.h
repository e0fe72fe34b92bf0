/* SPDX-License-Identifier: MIT */
/* control.h - requests at a recorder's socket (hodo/abi_live.h), other than to record. */
#pragma once

#include <hodo/abi.h>

#include <record/recorder.h>

/*
 * If the message on the connection fd is a request, answers it and returns 1; else leaves it there: 0, or
 * -EAGAIN if there is none yet. The sender has been checked.
 */
int hodo_control_serve(struct hodo_recorder *s, int fd);
