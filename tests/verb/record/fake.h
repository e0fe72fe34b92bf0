/* SPDX-License-Identifier: MIT */
/* fake.h - what the parts of the fake process share. */
#ifndef HODO_TESTS_FAKE_H
#define HODO_TESTS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

extern uint8_t *shm;
extern uint64_t seed;
extern const char *argument; /* as it was given */

void die(const char *what);
int connect_recorder(void);
bool say_hello(int fd);    /* and takes the configuration; false if the recorder hung up */
void wait_hangup(int fd);  /* until the recorder hangs up, once it has decided */
/* Joins the recording, honestly. */
void join(void);

/* fake_images.c: n is the argument as a number. */
void images_garbage(uint64_t n);
void images_changing(uint64_t n);
void images_path(uint64_t n);
void images_drop(uint64_t n);
void images_pid(uint64_t n);
void images_lost(uint64_t n);
void images_many(uint64_t n);

/* fake_plan.c */
void plan_flood(uint64_t n);
void plan_unasked(uint64_t n);
void plan_again(uint64_t n);
void plan_still(uint64_t n);
void plan_short(uint64_t n);
void plan_descriptor(uint64_t n);
void plan_exec(uint64_t n);
void plan_leave(uint64_t n);

#endif
