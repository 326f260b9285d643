/* SPDX-License-Identifier: MIT */
/* Private to record/: writes frames of zstd, with checksums, at the end of a file, in blocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

enum { LODE_PACKED_BLOCK_BYTES = 1 << 17 };

typedef struct {
	int descriptor;
	uint64_t end;            /* of the file; a caller may move it between frames */
	uint8_t *input, *output; /* LODE_PACKED_BLOCK_BYTES each; the caller fills `input` */
	ZSTD_CCtx *context;
} LodePackedFrames;

/* False, with errno: no memory. Clear it in either case. */
bool lode_packed_frames_init(LodePackedFrames *self, int descriptor, uint64_t end);
void lode_packed_frames_clear(LodePackedFrames *self);

/* Packs the first `size` bytes of the input, the last ones of their frame or not. False, with
 * errno: an error, after which a part may be written. */
bool lode_packed_frames_add(LodePackedFrames *self, size_t size, bool is_last);
