/* SPDX-License-Identifier: MIT */
#include "record/programs/packed_frames.h"

#include "base/files/write_at.h"

#include <errno.h>
#include <glib.h>

bool lode_packed_frames_init(LodePackedFrames *self, int descriptor, uint64_t end)
{
	*self = (LodePackedFrames){
		.descriptor = descriptor,
		.end = end,
		.input = g_malloc(LODE_PACKED_BLOCK_BYTES),
		.output = g_malloc(LODE_PACKED_BLOCK_BYTES),
		.context = ZSTD_createCCtx(),
	};
	if (self->context != NULL)
		ZSTD_CCtx_setParameter(self->context, ZSTD_c_checksumFlag, 1);
	else
		errno = ENOMEM;
	return self->context != NULL;
}

void lode_packed_frames_clear(LodePackedFrames *self)
{
	ZSTD_freeCCtx(self->context);
	g_free(self->input);
	g_free(self->output);
}

bool lode_packed_frames_add(LodePackedFrames *self, size_t size, bool is_last)
{
	ZSTD_inBuffer input = {self->input, size, 0};
	size_t left = 1;

	while (is_last ? left != 0 : input.pos < size) {
		ZSTD_outBuffer output = {self->output, LODE_PACKED_BLOCK_BYTES, 0};
		left = ZSTD_compressStream2(
			self->context, &output, &input, is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return false;
		}
		if (!lode_write_at(self->descriptor, self->output, output.pos, self->end))
			return false;
		self->end += output.pos;
	}
	return true;
}
