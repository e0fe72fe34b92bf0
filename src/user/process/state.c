/* SPDX-License-Identifier: MIT */
/* state.c - the state that all of libhodo reads, and what any part stores in the recording's memory. */
#include <user/objects/extension.h>
#include <user/objects/objects.h>
#include <user/user.h>

struct hodo_recording hodo_recording;
uint32_t hodo_zero_on;
bool hodo_loader_blind;
const struct hodo_extension *hodo_func = &hodo_extension;

void hodo_thread_add(uint32_t tid, const char *comm)
{
	uint32_t n = hodo_add(&hodo_shm()->threads, 1);
	struct hodo_thread *entry = (struct hodo_thread *)(hodo_recording.shm + HODO_SHM_THREADS) + n;

	if (n >= HODO_THREADS_MAX)
		return;
	__builtin_memcpy(entry->comm, comm, strnlen(comm, sizeof(entry->comm) - 1));
	/* The name before the tid: the recorder treats an entry with a tid as complete. */
	hodo_store_release(&entry->tid, tid);
}

/* In a section: the consumer sees the count, and takes the text as it is by then. */
uint32_t hodo_snapshot_want(const char *why)
{
	struct hodo_shm *shm = hodo_shm();
	size_t n = 0;

	if (!shm) /* a handler has forked in between */
		return 0;
	for (; why && why[n] && n < sizeof(shm->why) - 1; n++)
		hodo_store(&shm->why[n], why[n]);
	hodo_store(&shm->why[n], (char)0);
	return hodo_add_seq(&shm->snapshots, 1) + 1;
}
