/* SPDX-License-Identifier: MIT */
/* remedy.h - what is to be done about an error of the system. */
#ifndef HODO_RECORD_REMEDY_H
#define HODO_RECORD_REMEDY_H

/*
 * For the end of a message, "what went wrong: strerror: remedy"; of an errno, whichever its sign.
 * What holds for any path, process or disk: where more is known, it should be said in place of this.
 */
const char *hodo_remedy(int err);

#endif
