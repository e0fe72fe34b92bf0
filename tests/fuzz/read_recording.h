/* SPDX-License-Identifier: MIT */
/* read_recording.h - an input of a fuzzer as a recording. */
#ifndef HODO_TESTS_READ_FUZZ_RECORDING_H
#define HODO_TESTS_READ_FUZZ_RECORDING_H

#include <string.h>

#include <hodo/read.h>
#include <lib/folder.h>
#include <lib/fuzz.h>

/* An input that is a recording of one process: 32 bits of length, that many bytes of metadata, the rest is a stream. */
struct fuzz_recording {
	const uint8_t *metadata, *stream;
	size_t metadata_len, stream_len;
};

static inline struct fuzz_recording fuzz_recording(const uint8_t *data, size_t len)
{
	uint32_t metadata_len = 0;

	if (len >= 4) {
		memcpy(&metadata_len, data, 4);
		data += 4;
		len -= 4;
	}
	if (metadata_len > len)
		metadata_len = (uint32_t)len;
	return (struct fuzz_recording){ data, data + metadata_len, metadata_len, len - metadata_len };
}

/* Writes the input's files into folder(), as the only recording there. */
static inline void fuzz_recording_write(const uint8_t *data, size_t len)
{
	struct fuzz_recording in = fuzz_recording(data, len);

	folder_write(folder_path("metadata"), in.metadata, in.metadata_len);
	folder_write(folder_path("cpu0"), in.stream, in.stream_len);
}

#endif
