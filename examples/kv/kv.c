/* SPDX-License-Identifier: MIT */
/*
 * kv.c - a key-value store in memory, under the load of some clients. docs/tutorial.md finds out why
 * its slowest requests are slow.
 *
 *	cc -O2 -g kv.c -o kv -pthread $(pkg-config --cflags --libs hodo-functions)
 *	./kv [-n REQUESTS] [-t CLIENTS] [-s SHARDS] [-i] [-d SECONDS] [-x REQUEST]
 *
 * Each client is a thread that asks for keys that it has put, and puts new ones. Keys are spread over shards,
 * each of which is a hash table with a lock. A full table doubles: at once, while all requests of the shard
 * wait, or with -i a little at each request. -d runs for this time, however many requests that makes (after
 * -n requests, keys repeat). -x makes one request malformed: the store aborts itself when it sees it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hodo/trace.h>

#define CLIENTS_MAX 64
#define SHARDS_MAX 64
#define KEY_BYTES 40
#define VALUE_BYTES 100
#define BUCKETS_MIN 256
#define STEP_BUCKETS 8 /* moved at a time, with -i */

enum op { GET, PUT };

struct entry {
	struct entry *next;
	char key[KEY_BYTES];
	char value[VALUE_BYTES];
};

struct table {
	struct entry **buckets;
	size_t nbuckets; /* a power of two; 0: no table */
};

struct shard {
	pthread_mutex_t lock;
	int number;
	struct table table, old; /* old: what is not moved yet, from bucket "moved" on */
	size_t moved, entries;
};

static struct shard shards[SHARDS_MAX];
static int nshards = 1, nclients = 2;
static long nrequests = 400000, bad_request = -1;
static double seconds;
static bool gradual;

static void *allocate(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	if (!p) {
		fprintf(stderr, "kv: no memory\n");
		exit(1);
	}
	return p;
}

static uint64_t hash(const char *key)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3;
	return h ^ h >> 32;
}

static struct entry **bucket(const struct table *table, const char *key)
{
	return &table->buckets[hash(key) & (table->nbuckets - 1)];
}

static void insert(const struct table *table, struct entry *entry)
{
	struct entry **at = bucket(table, entry->key);

	entry->next = *at;
	*at = entry;
}

/* Moves the entries of this many buckets of the old table to the new one. */
static void move(struct shard *shard, size_t nbuckets)
{
	struct entry *entry, *next;

	for (; nbuckets && shard->moved < shard->old.nbuckets; nbuckets--, shard->moved++) {
		for (entry = shard->old.buckets[shard->moved]; entry; entry = next) {
			next = entry->next;
			insert(&shard->table, entry);
		}
	}
	if (shard->old.nbuckets && shard->moved == shard->old.nbuckets) {
		free(shard->old.buckets);
		shard->old = (struct table){ 0 };
	}
}

static void grow(struct shard *shard)
{
	size_t from = shard->table.nbuckets, to = from ? from * 2 : BUCKETS_MIN;

	HODO_EVENT(kv, grow, HODO_F(shard, shard->number), from, to, HODO_F(entries, shard->entries));
	move(shard, shard->old.nbuckets); /* what is left from the last time */
	shard->old = shard->table;
	shard->moved = 0;
	shard->table.buckets = allocate(to, sizeof(*shard->table.buckets));
	shard->table.nbuckets = to;
	if (!gradual)
		move(shard, from);
}

static struct entry *find_in(const struct table *table, const char *key)
{
	struct entry *entry = table->nbuckets ? *bucket(table, key) : NULL;

	while (entry && strcmp(entry->key, key) != 0)
		entry = entry->next;
	return entry;
}

static struct entry *find(const struct shard *shard, const char *key)
{
	struct entry *entry = find_in(&shard->table, key);

	return entry ? entry : find_in(&shard->old, key);
}

static void put(struct shard *shard, const char *key, size_t bytes)
{
	struct entry *entry = find(shard, key);

	if (!entry) {
		if (shard->entries >= shard->table.nbuckets)
			grow(shard);
		entry = allocate(1, sizeof(*entry));
		snprintf(entry->key, sizeof(entry->key), "%s", key);
		insert(&shard->table, entry);
		shard->entries++;
		HODO_COUNTER(kv, entries, shard->entries);
	}
	memset(entry->value, key[0], bytes);
	move(shard, STEP_BUCKETS);
}

static bool get(const struct shard *shard, const char *key)
{
	const struct entry *entry = find(shard, key);

	return entry && entry->value[0] == key[0];
}

static void lock(struct shard *shard)
{
	if (pthread_mutex_trylock(&shard->lock) == 0)
		return;
	HODO_SPAN(kv, lock_wait, HODO_F(shard, shard->number));
	pthread_mutex_lock(&shard->lock);
}

static bool serve(enum op op, const char *key, size_t bytes)
{
	struct shard *shard = &shards[hash(key) / BUCKETS_MIN % (unsigned)nshards];
	bool done = true;

	HODO_SPAN(kv, request, op, key, HODO_F(shard, shard->number), bytes);
	if (bytes > VALUE_BYTES) {
		HODO_MARK(kv, malformed, "%s: %zu bytes, but %d is the most", key, bytes, VALUE_BYTES);
		abort();
	}
	lock(shard);
	if (op == PUT)
		put(shard, key, bytes);
	else
		done = get(shard, key);
	pthread_mutex_unlock(&shard->lock);
	return done;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct client {
	pthread_t thread;
	int number;
	long served, failed;
	uint64_t slowest_ns;
};

static void *run_client(void *data)
{
	struct client *client = data;
	long share = nrequests / nclients;
	uint64_t begin = now_ns(), before = begin, after, until = begin + (uint64_t)(seconds * 1e9);
	char key[KEY_BYTES];

	for (long i = 0; i < share || before < until; i++) {
		long n = i % share, of = n & 1 ? n * 7 / 11 & ~1L : n; /* odd ones ask for an even one before them */
		bool bad = bad_request >= 0 && i == bad_request && client->number == 0;

		snprintf(key, sizeof(key), "user:%d:%ld", client->number, of);
		before = now_ns();
		if (!serve(n & 1 ? GET : PUT, key, bad ? 1000000 : n & 1 ? 0 : 20 + (size_t)n % 80))
			client->failed++;
		after = now_ns();
		if (after - before > client->slowest_ns)
			client->slowest_ns = after - before;
		client->served++;
	}
	return NULL;
}

static long number(const char *text, long min, long max)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < min || value > max) {
		fprintf(stderr, "kv: %s: not a number from %ld to %ld\n", text, min, max);
		exit(2);
	}
	return value;
}

static void read_options(int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "n:t:s:d:x:i")) != -1;) {
		if (c == 'n')
			nrequests = number(optarg, CLIENTS_MAX, 1000000000);
		else if (c == 't')
			nclients = (int)number(optarg, 1, CLIENTS_MAX);
		else if (c == 's')
			nshards = (int)number(optarg, 1, SHARDS_MAX);
		else if (c == 'd')
			seconds = strtod(optarg, NULL);
		else if (c == 'x')
			bad_request = number(optarg, 0, 1000000000);
		else if (c == 'i')
			gradual = true;
		else
			exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct client clients[CLIENTS_MAX];
	uint64_t begin, slowest_ns = 0;
	long served = 0, failed = 0;
	size_t keys = 0;
	double took;

	HODO_LABELS(kv, op, GET, PUT);
	read_options(argc, argv);
	for (int i = 0; i < nshards; i++) {
		shards[i].number = i;
		pthread_mutex_init(&shards[i].lock, NULL);
	}
	begin = now_ns();
	for (int i = 0; i < nclients; i++) {
		clients[i].number = i;
		errno = pthread_create(&clients[i].thread, NULL, run_client, &clients[i]);
		if (errno) {
			perror("kv: pthread_create");
			return 1;
		}
	}
	for (int i = 0; i < nclients; i++) {
		pthread_join(clients[i].thread, NULL);
		served += clients[i].served;
		failed += clients[i].failed;
		if (clients[i].slowest_ns > slowest_ns)
			slowest_ns = clients[i].slowest_ns;
	}
	took = (double)(now_ns() - begin) / 1e9;
	for (int i = 0; i < nshards; i++)
		keys += shards[i].entries;
	printf("kv: %ld requests in %.2f s, %.0f a second; %zu keys; the slowest took %.1f ms; %ld failed\n", served,
	       took, (double)served / took, keys, (double)slowest_ns / 1e6, failed);
	return failed != 0;
}
