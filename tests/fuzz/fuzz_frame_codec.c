/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the streams of a frame: an error, or a frame that is what its head says and that
 * comes out the same when it is coded and decoded again.
 *
 *   head: six numbers (LEB128); then for each stream its length and its bytes, while there are any
 */
#include "fuzz_target.h"
#include "traces/frames/frame_codec.h"
#include "traces/rps/varint.h"

enum { MAX_COUNT = 100000 }; /* of a fuzzed frame: larger ones only take longer */

static LodeFrameHead read_head(LodeByteCursor *in)
{
	LodeFrameHead head = {0};

	head.n_references = lode_varint_read(in);
	head.n_instructions = lode_varint_read(in);
	head.n_blocks = (uint32_t)lode_varint_read(in);
	head.n_invocations = (uint32_t)lode_varint_read(in) % MAX_COUNT;
	head.n_addresses = (uint32_t)lode_varint_read(in);
	head.n_switches = (uint32_t)lode_varint_read(in);
	return head;
}

static void read_streams(LodeByteCursor *in, LodeFrameStreams *out)
{
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		uint64_t length = lode_varint_read(in);
		const uint8_t *bytes = lode_byte_cursor_bytes(
			in, MIN(length, lode_byte_cursor_left(in)));

		if (bytes != NULL)
			g_byte_array_append(out->streams[i], bytes, (guint)(in->at - bytes));
	}
}

static void check_frame(const LodeTraceFrame *frame, const LodeFrameHead *head)
{
	LodeTraceReferences walk;
	LodeReference some[64];
	uint64_t n_references = 0;
	size_t n;

	if (frame->n_addresses != head->n_addresses || frame->n_invocations != head->n_invocations)
		g_error("another frame than the head says");
	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, G_N_ELEMENTS(some))) > 0)
		n_references += n;
	if (n_references != head->n_references)
		g_error("another number of references than the head says");
}

static void check_again(const LodeTraceFrame *frame, const LodeFrameHead *head)
{
	g_auto(LodeFrameStreams) streams = {0};
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	g_autoptr(LodeTraceFrame) again = NULL;

	lode_frame_streams_init(&streams);
	lode_frame_codec_encode(frame, LODE_CODEC_QUICK, &streams);
	if (!lode_frame_codec_decode_blocks(&streams, head, dictionary, NULL))
		g_error("its blocks are not decoded again");
	again = lode_frame_codec_decode(&streams, head, dictionary, NULL);
	if (again == NULL)
		g_error("it is not decoded again");
	for (size_t i = 0; i < frame->n_addresses; i++)
		if (frame->addresses[i] != again->addresses[i])
			g_error("another address when decoded again");
	for (size_t i = 0; i < frame->n_invocations; i++)
		if (frame->blocks[i] != again->blocks[i])
			g_error("another block when decoded again");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_auto(LodeFrameStreams) streams = {0};
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	g_autoptr(LodeTraceFrame) frame = NULL;
	g_autoptr(GError) error = NULL;
	LodeFrameHead head;
	LodeByteCursor in;

	lode_byte_cursor_init(&in, data, size, false);
	head = read_head(&in);
	lode_frame_streams_init(&streams);
	read_streams(&in, &streams);
	if (lode_frame_codec_decode_blocks(&streams, &head, dictionary, &error))
		frame = lode_frame_codec_decode(&streams, &head, dictionary, &error);
	if ((frame == NULL) != (error != NULL))
		g_error("a result and an error");
	if (frame == NULL)
		return 0;
	check_frame(frame, &head);
	check_again(frame, &head);
	return 0;
}
