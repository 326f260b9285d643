/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a counts file; what comes out must refer to blocks that there are. As nearly all of
 * such a file is zeros, the input is what is not:
 *
 *   n │ kind, owner, sequence of each segment │ the header up to the segments │ segment 0, 1 …
 *     └ a byte each, as n                     └ 64 bytes, then the first name └ each 64 KiB or less
 */
#include "fuzz_target.h"
#include "sources/counts/count_file.h"

#include <string.h>

enum { MAX_SEGMENTS = 6, HEADER_START = 64, NAMES = 64 };

static const uint8_t *take(const uint8_t **at, size_t *left, size_t n)
{
	const uint8_t *bytes = *at;

	if (*left < n)
		return NULL;
	*at += n;
	*left -= n;
	return bytes;
}

/* NULL: the input is too short. */
static uint8_t *expand(const uint8_t *data, size_t size, size_t *out_size)
{
	const uint8_t *n = take(&data, &size, 1);
	size_t n_segments = n != NULL ? *n % (MAX_SEGMENTS + 1) : 0;
	const uint8_t *segments = take(&data, &size, n_segments * 3);
	const uint8_t *start = take(&data, &size, HEADER_START);
	const uint8_t *names = take(&data, &size, NAMES);

	if (names == NULL)
		return NULL;
	*out_size = COUNT_HEADER_BYTES + n_segments * COUNT_SEGMENT_BYTES;
	uint8_t *bytes = g_malloc0(*out_size);
	CountHeader *header = (CountHeader *)(void *)bytes;
	memcpy(header, start, MIN(HEADER_START, offsetof(CountHeader, event_names)));
	memcpy(header->event_names, names, NAMES);
	for (size_t i = 0; i < n_segments; i++) {
		header->segments[i].kind = segments[3 * i];
		header->segments[i].owner = segments[3 * i + 1];
		header->segments[i].sequence = segments[3 * i + 2];
		size_t length = MIN(size / (n_segments - i), COUNT_SEGMENT_BYTES);
		memcpy(bytes + COUNT_HEADER_BYTES + i * COUNT_SEGMENT_BYTES,
			take(&data, &size, length), length);
	}
	return bytes;
}

static void check_blocks(const LodeCountFile *file)
{
	uint32_t n_instructions = 0;

	for (guint i = 1; i < file->blocks->len; i++) {
		const LodeCountBlock *block = &g_array_index(file->blocks, LodeCountBlock, i);
		unsigned n_bytes = 0;
		if (block->first_instruction != n_instructions || block->n_instructions == 0)
			g_error("instructions are numbered otherwise");
		n_instructions += block->n_instructions;
		for (unsigned j = 0; j < block->n_instructions; j++)
			n_bytes += block->sizes[j];
		for (unsigned j = 0; j < n_bytes; j++)
			n_instructions += 0 * block->bytes[j]; /* may be read */
		if (n_bytes != block->n_bytes)
			g_error("a block of other bytes than its instructions'");
	}
	if (n_instructions != file->n_instructions)
		g_error("other instructions than those of the blocks");
}

static void check_exits(const LodeCountFile *file)
{
	for (guint i = 0; i < file->exits->len; i++) {
		const LodeCountExit *exit = &g_array_index(file->exits, LodeCountExit, i);
		if (exit->source >= file->blocks->len || exit->target >= file->blocks->len ||
			exit->target == 0 || exit->count == 0)
			g_error("an exit of no block");
		if (i > 0 && exit[-1].source == exit->source && exit[-1].target >= exit->target)
			g_error("exits out of order");
	}
	for (guint i = 0; i < file->interruptions->len; i++) {
		const LodeCountInterruption *row = &g_array_index(
			file->interruptions, LodeCountInterruption, i);
		if (row->source >= file->blocks->len || row->target >= file->blocks->len ||
			row->handler >= file->blocks->len)
			g_error("an interruption of no block");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_bytes;
	g_autofree uint8_t *bytes = expand(data, size, &n_bytes);
	g_autoptr(GError) error = NULL;

	if (bytes == NULL)
		return 0;
	g_autoptr(LodeCountFile) file = lode_count_file_read(fuzz_file(bytes, n_bytes), &error);
	if ((file == NULL) != (error != NULL))
		g_error("a result and an error");
	if (file == NULL)
		return 0;
	check_blocks(file);
	check_exits(file);
	return 0;
}
