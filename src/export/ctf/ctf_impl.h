/* SPDX-License-Identifier: MIT */
/* ctf_impl.h - what the files of the format ctf share. */
#pragma once

#include <export/export.h>

#include <base/intern.h>

/* A CPU's events, of all processes; a file. */
struct ctf_stream {
	uint64_t key;
	int32_t cpu;             /* -1: of threads on the fallback path */
	struct hodo_text body;   /* of the current packet */
	uint64_t begin, last;    /* ticks of its first and last event */
	uint64_t packets, discarded;
	uint32_t next_loss;      /* of ctf.losses */
};

struct ctf_loss {
	int32_t cpu;
	int64_t from_ns, until_ns;
	uint64_t events;
};

struct ctf {
	struct hodo_export *e;
	int64_t base_s; /* ticks are ns since then */
	uint8_t uuid[16];
	struct hodo_map streams;           /* struct ctf_stream by CPU */
	struct hodo_map classes;           /* struct ctf_class: ids by address */
	struct hodo_strings descriptions;  /* of events, without their ids */
	struct hodo_text text;             /* of one */
	struct ctf_loss *losses;           /* in order of time, once there are events */
	uint32_t nlosses, losses_room;
	bool ready;                        /* losses are in order */
	const struct hodo_read_event *at;  /* the current event */
};

struct ctf_class {
	uint64_t address; /* of the class */
	uint32_t id;
};

/* The first two descriptions are those of calls. */
enum { CTF_FUNC_ENTRY, CTF_FUNC_EXIT, CTF_EVENTS };

/* ctf_types.c: what an event is, in TSDL; its number, UINT32_MAX: no memory */
int ctf_describe_calls(struct ctf *c);
uint32_t ctf_describe(struct ctf *c, const struct hodo_read_class *cls);
void ctf_metadata(struct ctf *c, struct hodo_text *to);
/* ctf_types.c: an event's values, after its header */
void ctf_values(struct hodo_text *to, const struct hodo_read_event *e);

/* ctf_stream.c */
struct ctf_event {
	int32_t cpu;
	int64_t ts_ns;
	uint32_t id, pid, tid;
	const char *comm;
};
/* Begins an event in its CPU's packet. Returns where its values go. NULL: error is set in *err. */
struct hodo_text *ctf_begin(struct ctf *c, const struct ctf_event *event, int *err);
int ctf_finish(struct ctf *c); /* writes what there is */
int ctf_lost(struct ctf *c, const struct hodo_read_loss *loss);
void ctf_streams_free(struct ctf *c);
