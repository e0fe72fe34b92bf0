/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* hodo/abi_records.h - part of <hodo/abi.h>: a packet's header, and the records after it. */
#ifndef HODO_ABI_RECORDS_H
#define HODO_ABI_RECORDS_H

#ifndef HODO_ABI_H
#error "include <hodo/abi.h> instead"
#endif

#define HODO_CTF_MAGIC 0xC1FC1FC1u
#define HODO_FORMAT_VERSION 2 /* of recordings: "version" in their metadata */

/*
 * CTF packet header and context, in place at the start of every packet.
 * Packets are 2^n bytes; events follow, packed, and never straddle packets.
 */
struct hodo_packet {
	uint32_t magic; /* HODO_CTF_MAGIC */
	uint8_t uuid[16];
	uint32_t stream_id;        /* 0 */
	uint64_t timestamp_begin;  /* clock ticks */
	uint64_t timestamp_end;    /* clock ticks; 0 while open */
	uint64_t content_size;     /* bits, header included; 0 while open */
	uint64_t packet_size;      /* bits */
	uint64_t packet_seq_num;   /* in the ring: the n-th packet since its start */
	uint64_t events_discarded; /* in the ring: refused before this packet's start; on disk: all that are
				    * missing before this packet's end, including overwritten ones */
	uint32_t cpu_id;           /* HODO_CPU_ANY in the fallback ring */
	uint32_t events;           /* in this packet; 0 while open */
	uint64_t events_before;    /* committed to this ring before this packet */
};
HODO_ASSERT_SIZE_(struct hodo_packet, 88);
#define HODO_CPU_ANY 0xffffffffu

/*
 * Records, little-endian and unaligned. The two low bits of the first byte give the form of each:
 *
 *	HODO_FORM_CALL    form 2 | time 27 | frame 10 | function 25             8 bytes
 *	HODO_FORM_RETURN  the same
 *	HODO_FORM_EVENT   form 2 | time 27 | 0 3 | id 16, then the payload      6 bytes and that
 *	HODO_FORM_ANCHOR  form 2 | time 62, then tid 24 | window 40            16 bytes
 *
 * time: bits 2 to 28 of the clock's ticks, or 2 to 63, in place: the two lowest bits are not recorded. An
 * anchor says which thread the records after it belong to, and in which epoch (ticks >> HODO_EPOCH_SHIFT)
 * they are. Each packet that is not empty begins with an anchor; the next one comes when either changes, or
 * when a call's frame is not in the window. Anchors are not events: no count includes them. A first word of 0
 * is not a record.
 *
 * A call is an event "func:entry", and a return "func:exit", whose object the catalogue calls short (struct
 * hodo_record_object), and whose frame is 8 above a multiple of 16, as in the x86-64 ABI: all others are
 * events of these names. frame: bits 4 to 13 of the address of the function's return address, which is in
 * [window << 8, (window << 8) + HODO_WINDOW). function: bits 2 to 26 of an address in the function.
 */
enum hodo_form { HODO_FORM_CALL = 0, HODO_FORM_RETURN = 1, HODO_FORM_EVENT = 2, HODO_FORM_ANCHOR = 3 };
#define HODO_FORM_MASK 3u
#define HODO_EVENT_HEADER 6u  /* bytes */
#define HODO_CALL_BYTES 8u
#define HODO_ANCHOR_BYTES 16u
#define HODO_TIME_MASK 0x1ffffffcu /* of a record's first word: the time */
#define HODO_EPOCH_SHIFT 29
#define HODO_ID_SHIFT 32
#define HODO_EVENT_UNUSED (7ull << 29)
#define HODO_FRAME_SHIFT 25    /* address bit 4 to bit 29 of the word */
#define HODO_FRAME_MASK 0x3ff0u
#define HODO_FUNCTION_SHIFT 37 /* address bit 2 to bit 39 of the word */
#define HODO_SHORT_SPAN (1ull << 27) /* bytes of addresses that a call's function distinguishes */
#define HODO_WINDOW 16384u     /* bytes of stack that a call's frame distinguishes */
#define HODO_TID_BITS 24       /* of an anchor; Linux assigns numbers below 2^22 */
#define HODO_WINDOW_SHIFT 8

#endif
