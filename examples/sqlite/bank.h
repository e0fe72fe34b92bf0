/* SPDX-License-Identifier: MIT */
/* bank.h - the workload: accounts, transfers between them, and a ledger of entries. */
#ifndef BANK_H
#define BANK_H

#include <stdint.h>

enum {
	BANK_ACCOUNTS = 1000,
	BANK_OPENING_CENTS = 100000, /* in each account at first */
};

/* What one client did; the sums of these must agree with the database at the end. */
struct bank_counts {
	unsigned long operations;
	unsigned long transfers;
	unsigned long entries_added;
	unsigned long entries_removed;
	unsigned long rows_read;
	unsigned long checkpoints;
};

/* All return 0, or -1 after a message on standard error. */

/* Creates the tables and accounts in a new database file. */
int bank_create(const char *path);

/* One client, on its own connection: operations drawn from seed. Call it in one thread for each client. */
int bank_client(const char *path, unsigned long operations, uint64_t seed, struct bank_counts *counts);

/* Checkpoints, then checks SQLite's own integrity, the money, and the ledger against total. */
int bank_verify(const char *path, const struct bank_counts *total);

#endif
