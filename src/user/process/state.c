/* SPDX-License-Identifier: MIT */
/* state.c - the state that all of libhodo reads, and what any part stores in the recording's memory. */
#include <user/objects/extension.h>
#include <user/objects/objects.h>
#include <user/user.h>

struct hodo_recording hodo_recording;
uint32_t hodo_zero_on;
bool hodo_loader_blind;
const struct hodo_extension *hodo_func = &hodo_extension;

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
