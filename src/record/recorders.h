/* SPDX-License-Identifier: MIT */
/*
 * recorders.h - the recorders that run: where their sockets are.
 */
#ifndef HODO_RECORD_RECORDERS_H
#define HODO_RECORD_RECORDERS_H

#include <stdint.h>
#include <sys/types.h>

struct hodo_recorder {
	uint32_t pid; /* as its socket's name says */
	char path[108];
};

#define HODO_RECORDERS_MAX 256

/*
 * Sockets of recorders that may record the process pid, or be it: those in our directories, in its
 * user's, and the one in its environment, which comes first. Their number; nobody need be behind them.
 */
int hodo_recorders_find(pid_t pid, struct hodo_recorder *recorders);

#endif
