/* SPDX-License-Identifier: MIT */
/* Any bytes as a packed trace; frames that come out must hold what their head says. */
#include "fuzz_target.h"
#include "traces/trace_reader.h"

static void check_frame(const LodeTraceFrame *frame)
{
	LodeReference some[64];
	LodeTraceReferences walk;
	uint64_t n_references = 0;
	size_t n;

	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, G_N_ELEMENTS(some))) > 0)
		n_references += n;
	if (n_references != frame->n_references)
		g_error("a frame of other references than announced");
}

static void check_info(LodeTraceReader *reader)
{
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(LodeSlotClassCount));
	uint64_t n = lode_trace_reader_n_frames(reader);

	for (uint64_t i = 0; i < n; i++) {
		g_autoptr(GError) error = NULL;
		LodeTraceFrameInfo info;

		if (lode_trace_reader_frame_info(reader, i, &info, &error) == (error != NULL))
			g_error("a result and an error");
		g_clear_error(&error);
		if (lode_trace_reader_count_classes(reader, i, counts, &error) == (error != NULL))
			g_error("a result and an error");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LodeTraceReaderOptions options = {.threads = 1};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader)
		reader = lode_trace_reader_open(fuzz_file(data, size), &options, &error);
	const LodeTraceFrame *frame;
	int result;

	if ((reader == NULL) != (error != NULL))
		g_error("a result and an error");
	if (reader == NULL)
		return 0;
	while ((result = lode_trace_reader_next(reader, &frame, &error)) > 0)
		check_frame(frame);
	if ((result < 0) != (error != NULL))
		g_error("an end and an error");
	check_info(reader);
	return 0;
}
