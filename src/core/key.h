/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * key.h - what distinguishes values of a field: the id of a span, the group of an event.
 *
 * The key of a value is a run of bytes that tells where it ends. Two values are equal if and only if their
 * keys are:
 * - integers, among them bool, char and pointers, if they are the same number, whatever their width and
 *   signedness: an int 5 equals a uint64_t 5, and -1 equals no unsigned number;
 * - texts if they have the same bytes up to the first NUL; a NULL text equals only another NULL text;
 * - floats, bytes and arrays if they have the same type and the same bytes.
 */
#pragma once

#include <hodo/abi.h>

#define HODO_KEY_INTEGER_BYTES 9u /* of an integer's key */
#define HODO_KEY_MORE_BYTES    5u /* in the key of a text, bytes or an array, besides their own */

/*
 * Writes the key of a value to `to` and returns its size; if that exceeds room, nothing is written. type:
 * enum hodo_type; data: as recorded; of texts, bytes and arrays without the length, which is `bytes`. Any
 * thread and any signal handler may call it.
 */
size_t hodo_key_put(uint8_t *to, size_t room, uint8_t type, const void *data, uint32_t bytes);
