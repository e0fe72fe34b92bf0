/* SPDX-License-Identifier: MIT */
/* flight_memory.c - reads the file of a flight recorder into our own memory. */
#include "flight_memory.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>

#include <record/catalog.h>
#include <record/write/snapshot.h>

#define STEP (256u << 10)
#define RING_TRIES 8 /* for a ring whose writers wrap while it is read */
#define REPAIR_SLOTS_MAX (1u << 22) /* packets examined to find lost positions */
#define HEADER ((uint32_t)sizeof(struct hodo_packet))
/* No packet is open for longer while events come (user/flight/flight_clock.c): what looks like a later anchor is not
 * one. */
#define OPEN_TICKS_MAX (1ull << 44)

/* -------------------------------------------------------------------- reading */

static bool is_zero(const uint8_t *p, size_t len)
{
	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

/* Zeros are there already. */
static int read_range(struct hodo_flight_memory *m, int fd, uint64_t from, uint64_t to)
{
	static uint8_t buffer[STEP];

	while (from < to) {
		ssize_t n;

		from = hodo_file_data_at(fd, from, to);
		if (from >= to)
			return 0;
		n = hodo_file_read_at(fd, buffer, to - from < STEP ? to - from : STEP, from);
		if (n <= 0)
			return (int)n;
		if (m->alive || !is_zero(buffer, (size_t)n)) /* of a living process's, something else may be there */
			memcpy(m->shm + from, buffer, (size_t)n);
		from += (uint64_t)n;
	}
	return 0;
}

/* ----------------------------------------------------------------------- rings */

static struct hodo_ring *ring_of(const struct hodo_flight_memory *m, uint32_t i)
{
	return (struct hodo_ring *)(m->shm + hodo_layout_ring(i));
}

static struct hodo_packet *slot_of(const struct hodo_flight_memory *m, uint32_t ring, uint64_t slot)
{
	return (struct hodo_packet *)(void *)(m->shm + m->layout.data + ring * m->layout.ring_size +
					      slot * m->layout.packet_size);
}

static uint64_t slots(const struct hodo_flight_memory *m)
{
	return m->layout.ring_size / m->layout.packet_size;
}

static uint64_t number_of(const struct hodo_flight_memory *m, uint64_t word)
{
	return (word >> HODO_WORD_COUNT_BITS) / m->layout.packet_size;
}

/* A live process's: the packets lie between the words before and after reading, as in a snapshot. */
static int read_living(struct hodo_flight_memory *m, int fd, uint32_t i)
{
	uint64_t data = m->layout.data + i * m->layout.ring_size;
	struct hodo_ring *ring = ring_of(m, i), after;
	int err = 0;

	for (int tries = 0; tries < RING_TRIES && !err; tries++) {
		if (hodo_file_read_at(fd, ring, sizeof(*ring), hodo_layout_ring(i)) != sizeof(*ring))
			return 0;
		if (ring->word == 0)
			return 0;
		err = read_range(m, fd, data, data + m->layout.ring_size);
		if (hodo_file_read_at(fd, &after, sizeof(after), hodo_layout_ring(i)) != sizeof(after))
			return 0;
		ring->word_before = ring->word;
		ring->word = after.word;
		if (number_of(m, after.word) - number_of(m, ring->word_before) + 2 < slots(m))
			break;
	}
	return err;
}

/* Whether the slot holds the header of a packet that belongs there. */
static bool is_packet(const struct hodo_flight_memory *m, const struct hodo_packet *h, uint64_t slot)
{
	return h->magic == HODO_CTF_MAGIC && memcmp(h->uuid, m->flight.uuid, sizeof(h->uuid)) == 0 &&
	       h->packet_seq_num % slots(m) == slot && h->packet_seq_num < 1ull << 56;
}

/* The newest packet, judged only by headers; false: none. */
static bool find_newest(const struct hodo_flight_memory *m, uint32_t ring, uint64_t *newest)
{
	bool found = false;

	for (uint64_t slot = 0; slot < slots(m); slot++) {
		const struct hodo_packet *h = slot_of(m, ring, slot);

		if (is_packet(m, h, slot) && (!found || h->packet_seq_num > *newest)) {
			*newest = h->packet_seq_num;
			found = true;
		}
	}
	return found;
}

/* Whether the ring's word agrees with its newest packet. A packet one ahead is an unfinished switch. */
static bool is_sound(const struct hodo_flight_memory *m, uint32_t i, uint64_t newest)
{
	uint64_t word = ring_of(m, i)->word, slot = number_of(m, word) % slots(m);
	const struct hodo_packet *open = slot_of(m, i, slot);
	uint64_t offset = (word >> HODO_WORD_COUNT_BITS) & (m->layout.packet_size - 1);

	return word != 0 && offset >= HEADER && is_packet(m, open, slot) && newest <= open->packet_seq_num + 1 &&
	       ((open->packet_seq_num * m->layout.packet_size) & ((1ull << (64 - HODO_WORD_COUNT_BITS)) - 1)) ==
		       (word >> HODO_WORD_COUNT_BITS) - offset;
}

/* Whether nothing follows that many bytes of records, except for what a writer may write past them
 * (hodo_ring_need()). */
static bool is_unwritten(const struct hodo_flight_memory *m, const struct hodo_packet *h, size_t records)
{
	size_t from = HEADER + records + 7, to = m->layout.packet_size;

	return from >= to || is_zero((const uint8_t *)h + from, to - from);
}

/*
 * A power failure leaves pages of different ages: packets newer than the word that should count them, or no
 * word. Then the newest packet's header, and its events as long as their times increase, must do.
 */
static void repair(struct hodo_flight_memory *m, uint32_t i, const struct hodo_read_layouts *table)
{
	struct hodo_ring *ring = ring_of(m, i);
	struct hodo_packet *h;
	struct hodo_walked w;
	uint64_t newest = 0, position;

	if (!find_newest(m, i, &newest)) {
		if (ring->word && !is_sound(m, i, 0))
			ring->word = 0;
		return;
	}
	/* A ring that was never written counts as unused. */
	if (is_sound(m, i, newest) || (ring->word == 0 && newest == 0 && slot_of(m, i, 0)->content_size == 0))
		return;
	h = slot_of(m, i, newest % slots(m));
	hodo_layouts_walk(table, (const uint8_t *)(h + 1), m->layout.packet_size - HEADER, h->timestamp_begin,
			  h->content_size ? UINT64_MAX : h->timestamp_begin + OPEN_TICKS_MAX,
			  h->content_size ? h->events : HODO_WORD_COUNT_MASK, &w);
	/* After its last anchor, an open packet's events cannot be told from those of an earlier lap, if any. */
	if (!h->content_size && (newest >= slots(m) || !is_unwritten(m, h, w.walk.bytes))) {
		w.walk.bytes = w.anchor_bytes;
		w.walk.events = w.anchor_events;
	}
	if (HEADER + w.walk.bytes >= m->layout.packet_size)
		w.walk.bytes = w.walk.events = 0;
	position = newest * m->layout.packet_size + HEADER + w.walk.bytes;
	ring->word = position << HODO_WORD_COUNT_BITS | w.walk.events;
	if (ring->lost_full >= 1ull << 56 || ring->lost_too_large >= 1ull << 56 || ring->lost_busy >= 1ull << 56)
		ring->lost_full = ring->lost_too_large = ring->lost_busy = 0;
	m->repaired++;
}

static int mend_rings(struct hodo_flight_memory *m)
{
	struct hodo_catalog catalog = { 0 };
	const struct hodo_shm *shm = (const struct hodo_shm *)m->shm;
	int err = hodo_catalog_read(&catalog, m->shm + HODO_SHM_CATALOG, shm->catalog_used);

	for (uint32_t i = 0; i < m->layout.rings && err != -ENOMEM; i++) {
		struct hodo_ring *ring = ring_of(m, i);

		if (m->layout.rings * slots(m) <= REPAIR_SLOTS_MAX)
			repair(m, i, &catalog.walk);
		if (ring->word)
			ring->word_before = ring->word;
	}
	hodo_catalog_free(&catalog);
	return err == -ENOMEM ? err : 0;
}

/* ------------------------------------------------------------------------ file */

static const char *head_flaw(const struct hodo_shm *h)
{
	if (memcmp(h->magic, HODO_SHM_MAGIC, sizeof(h->magic)) != 0)
		return "not a flight recorder's file, or its first page is damaged";
	if (h->version != HODO_ABI_VERSION)
		return "another version of Hodoscope wrote it: recover it with that version";
	if (!(h->flags & HODO_SHM_FLIGHT))
		return "not a flight recorder's file";
	return NULL;
}

/* Its process has it locked; or, if it could not lock it, its pid must do. */
static bool is_alive(int fd, const struct hodo_shm *h)
{
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return true;
	return !(h->flags & (HODO_SHM_LOCKED | HODO_SHM_SNAPSHOT)) && h->pid > 0 &&
	       (kill((pid_t)h->pid, 0) == 0 || errno == EPERM);
}

static int find_layout(struct hodo_flight_memory *m, int fd, const struct hodo_shm *h, struct hodo_why *why)
{
	struct hodo_layout l;
	struct stat st;

	if (hodo_file_read_at(fd, &m->flight, sizeof(m->flight), HODO_SHM_FLIGHT_HEAD) != sizeof(m->flight) ||
	    hodo_layout_init(&l, h->rings, m->flight.packet_size, m->flight.ring_size) < 0 ||
	    hodo_snapshot_layout(&m->flight, h->rings, l.total, &m->layout) < 0)
		return hodo_why(why, -EBADMSG, "its first page is damaged: nothing of it can be recovered");
	m->cut = fstat(fd, &st) == 0 && (uint64_t)st.st_size < m->layout.total;
	m->shm = mmap(NULL, m->layout.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		      0);
	if (m->shm != MAP_FAILED)
		return 0;
	m->shm = NULL;
	return hodo_why(why, -ENOMEM, "it needs %llu MiB of memory: recover it on a larger machine",
			(unsigned long long)(m->layout.total >> 20));
}

static int read_all(struct hodo_flight_memory *m, int fd, bool snapshot)
{
	int err = 0;

	if (!m->alive) {
		err = read_range(m, fd, 0, m->layout.total);
		return err || snapshot ? err : mend_rings(m);
	}
	for (uint32_t i = 0; i < m->layout.rings && !err; i++)
		err = read_living(m, fd, i);
	/* After the rings: the catalogue then has everything in them. Of these parts the first page comes
	 * first: it says how much of the others is complete. */
	if (!err)
		err = read_range(m, fd, 0, HODO_SHM_ON);
	return err ? err : read_range(m, fd, HODO_SHM_ON, HODO_SHM_RINGS);
}

int hodo_flight_memory_read(struct hodo_flight_memory *m, int fd, struct hodo_why *why)
{
	struct hodo_shm h = { .version = 0 }, *copy;
	struct stat st;
	const char *flaw = "too short to be a flight recorder's file: give one that HODO_FLIGHT made, or a "
			   "recording";
	int err;

	memset(m, 0, sizeof(*m));
	if (hodo_file_read_at(fd, &h, sizeof(h), 0) == sizeof(h))
		flaw = head_flaw(&h);
	/* A process writes the magic last. */
	if (is_zero((const uint8_t *)h.magic, sizeof(h.magic)) ||
	    memcmp(h.magic, HODO_SHM_MAKING, sizeof(h.magic)) == 0)
		return hodo_why(why, -ENODATA, "it is empty: its process was killed before it recorded anything, or "
				"the first page is lost");
	if (flaw)
		return hodo_why(why, -EBADMSG, "%s", flaw);
	err = find_layout(m, fd, &h, why);
	if (err)
		return err;
	m->pid = h.pid;
	m->alive = is_alive(fd, &h);
	err = read_all(m, fd, h.flags & HODO_SHM_SNAPSHOT);
	if (err) {
		hodo_flight_memory_free(m);
		return hodo_why(why, err, "cannot be read: %s", strerror(-err));
	}
	copy = (struct hodo_shm *)m->shm;
	if (h.flags & HODO_SHM_SNAPSHOT) {
		m->number = copy->snapshots ? copy->snapshots : 1;
		memcpy(m->why, copy->why, sizeof(m->why) - 1);
	}
	copy->flags |= HODO_SHM_SNAPSHOT;
	memcpy(&m->flight, m->shm + HODO_SHM_FLIGHT_HEAD, sizeof(m->flight));
	/* The file's owner is its author. */
	if (fstat(fd, &st) == 0 && st.st_uid != 0)
		m->flight.uid = st.st_uid;
	if (hodo_snapshot_layout(&m->flight, h.rings, m->layout.total, &m->layout) == 0)
		return 0;
	hodo_flight_memory_free(m);
	return hodo_why(why, -EBADMSG, "its first page changes while it is read");
}

void hodo_flight_memory_free(struct hodo_flight_memory *m)
{
	if (m->shm)
		munmap(m->shm, m->layout.total);
	m->shm = NULL;
}
