/* SPDX-License-Identifier: MIT */
/* reader.c - counts the events of a trace by name, with libhodo-read. */
#include <inttypes.h>
#include <stdio.h>
#include <hodo/read.h>

int main(int argc, char **argv)
{
	char error[256] = "";
	struct hodo_read_options options = { .size = sizeof(options), .error = error, .error_bytes = sizeof(error) };
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	struct hodo_read *reader;

	if (argc != 2 || hodo_read_open(&reader, argv[1], &options) != 0) {
		fprintf(stderr, "reader: %s\n", error);
		return 1;
	}
	if (hodo_read_count(reader, &totals) != 0)
		return 1;
	for (uint32_t p = 0; p < hodo_read_nprocesses(reader); p++) {
		const struct hodo_read_process *process = hodo_read_process(reader, p);

		for (uint32_t c = 0; c < process->nclasses; c++) {
			if (process->classes[c]->count > 0)
				printf("%s %" PRIu64 "\n", process->classes[c]->name, process->classes[c]->count);
		}
	}
	hodo_read_close(reader);
	return 0;
}
