/* SPDX-License-Identifier: MIT */
/* api.cc - <hodo/read.h> in C++, with the shared library: counts a recording's events in three ways. */
#include <hodo/read.h>

#include <cstdio>
#include <cstring>

static void warn(void *data, const char *)
{
	++*static_cast<int *>(data);
}

int main(int argc, char **argv)
{
	hodo_read_options options = {};
	hodo_read_totals totals = {};
	const hodo_read_event *event;
	char error[256] = "";
	hodo_read *reader;
	uint64_t n = 0, classes = 0;
	int warnings = 0;

	options.size = sizeof(options);
	options.warn = warn;
	options.data = &warnings;
	options.error = error;
	options.error_bytes = sizeof(error);
	totals.size = sizeof(totals);
	if (argc != 2 || hodo_read_open(&reader, argv[1], &options) < 0) {
		std::fprintf(stderr, "%s\n", error);
		return 1;
	}
	while (hodo_read_next(reader, &event) > 0)
		n += event->process->pid != 0 && std::strlen(event->cls->name) > 0;
	if (hodo_read_count(reader, &totals) < 0)
		return 1;
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *process = hodo_read_process(reader, i);

		for (uint32_t k = 0; k < process->nclasses; k++)
			classes += process->classes[k]->count;
	}
	hodo_read_close(reader);
	std::printf("%llu %llu %llu %d\n", static_cast<unsigned long long>(n),
		    static_cast<unsigned long long>(totals.events), static_cast<unsigned long long>(classes), warnings);
	return 0;
}
