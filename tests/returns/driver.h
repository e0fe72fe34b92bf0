/* SPDX-License-Identifier: MIT */
/* driver.h - what stands in for dispatch: counts of replaced return addresses and of exits. */
#ifndef DRIVER_H
#define DRIVER_H

#ifdef __cplusplus
extern "C" {
#endif

extern unsigned long driver_entries; /* replaced; not those that a tail jump entered */
extern unsigned long driver_jumped;  /* entered by a tail jump */
extern unsigned long driver_refused;
extern unsigned long driver_exits;
extern int driver_off; /* do not replace */
const char *driver_why_not(void); /* NULL: possible */
int driver_replace(unsigned long *at);
extern const char driver_return[] __asm__("hodo_x86_return");

#ifdef __cplusplus
}
#endif
#endif
