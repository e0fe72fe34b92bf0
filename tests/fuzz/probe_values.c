/* SPDX-License-Identifier: MIT */
/* probe_values.c - values of probes in ELF files of any bytes: the debug information is damaged. */
#include <lib/folder.h>
#include <lib/fuzz.h>
#include <probe/value/resolve.h>
#include <unistd.h>

static const char *const probes[] = {
	"*($args, $locals)", "*%return", "*%return(*$retval, $retval.x)",
	"get(node->next->name, node->text[1], *node, &node->low)",
	"get((node->text, len), node->pair.x, this->n, total)", "s.c:9($args, $locals)", "square(v)",
};

static void check(const struct hodo_fetch *f)
{
	fuzz_check(f->n <= HODO_FETCH_STEPS_MAX, "a program is bounded");
	for (unsigned i = 0; i < f->n; i++) {
		const struct hodo_fetch_step *s = &f->step[i];

		fuzz_check((i == 0) == (s->op <= HODO_FETCH_ADDRESS), "it begins once");
		fuzz_check(s->op != HODO_FETCH_REGISTER || s->reg < HODO_FETCH_REGISTERS, "registers are");
		fuzz_check(s->op != HODO_FETCH_LOAD || s->bytes == 1 || s->bytes == 2 || s->bytes == 4 || s->bytes == 8,
			   "loads are");
		fuzz_check(s->op != HODO_FETCH_BITS || (s->bits && s->at + s->bits <= 64), "bits are");
		fuzz_check(s->op != HODO_FETCH_SHIFT || (uint64_t)s->number < 64, "shifts are");
	}
}

static void resolve(const struct hodo_probe_image *i, const char *text)
{
	struct hodo_why why;
	struct hodo_probe_points p = { 0 };
	struct hodo_spec s;

	fuzz_check(hodo_spec_parse(&s, text, &why) == 0, "the text is one");
	if (hodo_probe_resolve(&p, i, &s, &why) == 0)
		for (uint32_t k = 0; k < p.n; k++)
			for (uint32_t n = 0; n < p.list[k].nfields; n++) {
				const struct hodo_probe_field *f = &p.list[k].fields[n];

				fuzz_check(f->missing ? f->fetch.n == 0 : f->fetch.n > 0, "a value has a program");
				check(&f->fetch);
				check(&f->length);
			}
	hodo_probe_points_free(&p);
	hodo_spec_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_probe_image i;
	char path[32];
	int fd = folder_memory(path, data, len);

	if (hodo_probe_image_open(&i, path, "/nonexistent") == 0) {
		for (unsigned k = 0; k < sizeof(probes) / sizeof(probes[0]); k++)
			resolve(&i, probes[k]);
		hodo_probe_image_close(&i);
	}
	close(fd);
	return 0;
}
