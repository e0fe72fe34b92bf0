/* SPDX-License-Identifier: MIT */
/* driver.h - a replacement for dispatch, which counts replaced return addresses and exits. */
#ifndef DRIVER_H
#define DRIVER_H

#ifdef __cplusplus
extern "C" {
#endif

extern unsigned long driver_entries; /* replaced; without those that a tail jump entered */
extern unsigned long driver_jumped;  /* entered by a tail jump */
extern unsigned long driver_refused;
extern unsigned long driver_exits;
extern int driver_off; /* true: do not replace */
const char *driver_why_not(void); /* NULL: replacing is possible */
int driver_replace(unsigned long *at);
extern const char driver_return[] __asm__("hodo_x86_return");

#ifdef __cplusplus
}
#endif
#endif
