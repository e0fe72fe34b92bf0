/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one process that joins a recording: its messages and their answers.
 */
#pragma once

#include "joining.h"

/* Handles what has arrived, if anything. May free the connection. */
void hodo_connection_take(struct hodo_connection *c);

/* Begins the recording of a process that is ready; frees the connection. */
void hodo_connection_start(struct hodo_connection *c);

/* Counts the image as not recorded, and says why, unless it is already recorded; frees the connection. */
void hodo_connection_refuse(struct hodo_connection *c, const char *why);
