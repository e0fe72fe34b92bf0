/* SPDX-License-Identifier: MIT */
/* flight.c - a flight recorder in a file, without a recorder beside the program. */
#include <hodo/control.h>
#include "sys.h"
#include "user.h"

void hodo_flight_init(char *const *envp)
{
}

int hodo_flight_begin(enum hodo_start start)
{
	return -ENOTCONN;
}

int hodo_flight_copy(const char *why)
{
	return -EOPNOTSUPP;
}

const char *hodo_flight_path(void)
{
	return "";
}

void hodo_flight_moment(void)
{
}

void hodo_flight_ended(void)
{
}

HODO_PUBLIC int hodo_flight_start(const struct hodo_flight_options *options)
{
	return -ENOSYS;
}
