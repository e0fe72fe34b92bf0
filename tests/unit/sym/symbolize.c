/* SPDX-License-Identifier: MIT */
/*
 * symbolize.c - sym by hand: symbolize [-p PATH] [-b BUILD-ID] [-s SAVED] [-r DEBUG-ROOT] [-w FILE]
 * Reads hexadecimal addresses of the file from standard input and prints for each
 *
 *	ADDRESS \t NAME \t MANGLED \t START \t SIZE \t FILE \t LINE
 *
 * with "-" for what is not known. -w: writes the symbols as they are saved. Exits with the error number
 * if it cannot get the symbols.
 */
#define _GNU_SOURCE
#include <sym/sym.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t parse_hex(const char *s, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (; s[0] && s[1] && n < room; s += 2) {
		unsigned byte;

		sscanf(s, "%2x", &byte);
		out[n++] = (uint8_t)byte;
	}
	return n;
}

static void look_up(struct hodo_sym *sym, uint64_t address)
{
	struct hodo_symbol s;
	const char *file;
	uint32_t line;

	printf("%" PRIx64 "\t", address);
	if (hodo_sym_find(sym, address, &s))
		printf("%s\t%s\t%" PRIx64 "\t%" PRIu64, s.name, s.mangled, s.start, s.size);
	else
		printf("-\t-\t-\t-");
	if (hodo_sym_line(sym, address, &file, &line))
		printf("\t%s\t%u\n", file, line);
	else
		printf("\t-\t-\n");
}

int main(int argc, char **argv)
{
	struct hodo_sym_source source = { 0 };
	const char *write_to = NULL;
	uint8_t build_id[64];
	struct hodo_sym *sym;
	char text[64];
	int c, err;

	while ((c = getopt(argc, argv, "p:b:s:r:w:")) != -1) {
		if (c == 'p')
			source.path = optarg;
		else if (c == 'b')
			source.build_id_len = parse_hex(optarg, build_id, sizeof(build_id));
		else if (c == 's')
			source.saved = optarg;
		else if (c == 'r')
			source.debug_root = optarg;
		else if (c == 'w')
			write_to = optarg;
		else
			return 200;
	}
	if (source.build_id_len)
		source.build_id = build_id;
	err = hodo_sym_open(&sym, &source);
	if (err)
		return -err;
	if (write_to) {
		int fd = open(write_to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

		err = fd < 0 ? -1 : hodo_sym_save(sym, fd);
		if (fd >= 0)
			close(fd);
	}
	while (!err && fgets(text, sizeof(text), stdin))
		look_up(sym, strtoull(text, NULL, 16));
	hodo_sym_close(sym);
	return -err;
}
