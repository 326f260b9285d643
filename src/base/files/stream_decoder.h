/* SPDX-License-Identifier: MIT */
/*
 * One decompressor of a library, with one table of functions: bytes in, bytes out, a step at a
 * time. A member is what one run of the compressor wrote; another may follow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory limit is the default of the zstd command. */
enum { LODE_STREAM_MAGIC_SIZE = 6, LODE_STREAM_MAX_MEMORY = 128 << 20 };

typedef struct {
	const uint8_t *in;
	size_t in_size;
	uint8_t *out;
	size_t out_size;
	bool is_last_input; /* nothing comes after `in` */
} LodeStreamStep;

typedef enum {
	LODE_STREAM_GOES_ON,
	LODE_STREAM_BETWEEN_MEMBERS, /* the input may end here */
	LODE_STREAM_BROKEN,
	LODE_STREAM_TOO_LARGE, /* needs more memory than allowed */
} LodeStreamOutcome;

typedef struct {
	const char *name;    /* "gzip" */
	const char *command; /* that decompresses a file of it */
	/* NULL: no memory. It may take at most `max_memory` bytes. */
	void *(*open)(uint64_t max_memory);
	/* Moves `in` and `out` along. A broken stream says why in *out_why, static. */
	LodeStreamOutcome (*step)(void *state, LodeStreamStep *step, const char **out_why);
	void (*close)(void *state);
} LodeStreamDecoder;

/* By the first bytes; NULL: plain. */
const LodeStreamDecoder *lode_stream_decoder_find(const uint8_t *data, size_t size);
