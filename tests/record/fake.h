/* SPDX-License-Identifier: MIT */
/* fake.h - what the parts of the fake process share. */
#ifndef HODO_TESTS_FAKE_H
#define HODO_TESTS_FAKE_H

#include <stdint.h>

extern uint8_t *shm;
extern uint64_t seed;
extern const char *argument; /* as it was given */

void die(const char *what);
/* Joins the recording, honestly. */
void join(void);

/* fake_images.c: n is the argument's number. */
void images_garbage(uint64_t n);
void images_changing(uint64_t n);
void images_path(uint64_t n);
void images_drop(uint64_t n);
void images_pid(uint64_t n);
void images_lost(uint64_t n);
void images_many(uint64_t n);

#endif
