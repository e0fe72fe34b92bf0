/* SPDX-License-Identifier: MIT */
/*
 * images.c - a table of announced images, and a program's file, with any contents.
 *
 * Input: one byte n, and n bytes of the file; then the places in order, each a byte of choices, 4 bytes of pid, a
 * byte with the path's length, and the path. A path that contains a byte 1 is that of the file. In the end, no more
 * images may be counted than were announced, and all that was counted must be fit to be shown.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/fuzz.h>
#include <record/join/images.h>
#include <record/process_impl.h>

#define OWN 77u

struct input {
	const uint8_t *data;
	size_t len;
};

static size_t take(struct input *in, void *to, size_t n)
{
	if (n > in->len)
		n = in->len;
	memcpy(to, in->data, n);
	in->data += n;
	in->len -= n;
	return n;
}

static void make_program(struct input *in, const char *path)
{
	uint8_t n = 0, bytes[256];

	take(in, &n, 1);
	folder_write(path, bytes, take(in, bytes, n));
	fuzz_check(chmod(path, 0755) == 0, "the program's file cannot be made");
}

/* False if the input has ended. */
static bool make_place(struct input *in, const char *program, struct hodo_image *image, uint8_t *choices)
{
	uint8_t len = 0, path[256];
	uint32_t pid = 0;

	if (take(in, choices, 1) != 1)
		return false;
	take(in, &pid, sizeof(pid));
	take(in, &len, 1);
	len = (uint8_t)take(in, path, len);
	if (len > sizeof(image->path))
		len = sizeof(image->path);
	if (*choices & 8)
		memset(image->path, 'x', sizeof(image->path)); /* unterminated */
	memcpy(image->path, path, len);
	if (memchr(path, 1, len))
		snprintf(image->path, sizeof(image->path), "%s", program);
	/* A pid that no process has, so that no real process matters. */
	image->who = *choices & 1 ? (uint64_t)(pid | 1u << 30) << 32 | *choices :
		     *choices & 2 ? (uint64_t)OWN << 32 | pid : pid % 4;
	return true;
}

static void check_counted(const struct hodo_recorder *s, uint64_t announced)
{
	uint64_t images = 0;

	for (uint32_t i = 0; i < s->total.reasons; i++) {
		const struct hodo_unrecorded *u = &s->total.unrecorded[i];

		images += u->images;
		fuzz_check(u->images > 0 && u->why[0], "a reason without images");
		for (const char *c = u->why; *c; c++)
			fuzz_check(*c >= ' ' && *c < 127, "a reason that cannot be shown");
	}
	fuzz_check(images <= announced, "more images than were announced");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t memory[HODO_SHM_RINGS] __attribute__((aligned(4096)));
	struct hodo_images *head = (struct hodo_images *)(memory + HODO_SHM_IMAGES_HEAD);
	struct hodo_image *place = (struct hodo_image *)(memory + HODO_SHM_IMAGES);
	struct hodo_recorder s = { .command = 1, .cpus = 1, .joining.answers_fd = -1, .second_socket.watched = true };
	struct hodo_process p = { .recorder = &s, .shm = memory, .pidfd = -1,
				  .id = { .pid = 1 << 30, .vpid = OWN, .flight.uid = geteuid() } };
	struct input in = { data, len };
	const char *program = folder_path("program");
	uint64_t announced = 1;
	uint8_t choices;

	memset(place, 0, HODO_IMAGES_SIZE);
	memset(head, 0, sizeof(*head));
	hodo_images_begin(&s);
	make_program(&in, program);
	for (uint32_t i = 0; make_place(&in, program, &place[i % HODO_IMAGES_MAX], &choices); i++) {
		announced++;
		head->used = choices & 16 ? UINT32_MAX : i + 1;
		head->announced++;
		if (choices & 32)
			hodo_image_came(&s, (pid_t)(place[i % HODO_IMAGES_MAX].who >> 32));
		if (choices & 64)
			hodo_images_look(&p, choices & 4);
		if (choices & 128)
			hodo_images_check(&s, (int64_t)i * 1000000000 + 1000000000);
	}
	hodo_images_take(&p, false);
	fuzz_check(s.images.awaited.n <= announced, "more are awaited than were announced");
	hodo_images_end(&s);
	fuzz_check(s.images.awaited.n == 0, "some are left");
	check_counted(&s, announced);
	return 0;
}
