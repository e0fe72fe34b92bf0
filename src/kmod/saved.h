/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* saved.h - the offsets of structs for saved.S; writer.c asserts them. Only constants. */
#pragma once

#define HODO_WRITER_AT 0
#define HODO_WRITER_RING 16
#define HODO_WRITER_CPU 28
#define HODO_WRITER_TID 32
#define HODO_WRITER_EPOCH 36
#define HODO_EVENT_HEAD 0
#define HODO_EVENT_RULES 8
/* As <hodo/abi.h> has them. */
#define HODO_SAVED_ANCHOR 3
#define HODO_SAVED_ANCHOR_BYTES 16
#define HODO_SAVED_TIME_MASK 0x1ffffffc
#define HODO_SAVED_EPOCH_SHIFT 29
#define HODO_SAVED_COUNT_BITS 20
