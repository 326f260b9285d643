/* SPDX-License-Identifier: MIT */
#include "traces/frames/frame_sample.h"

enum {
	FOLLOWED = 4, /* before a sampled one */
};

static void append_stretch(LodeFrameSample *self, const LodeFrameStretch *stretch)
{
	g_array_append_vals(self->stretches, stretch, 1);
}

static void take_all(
	LodeFrameSample *self, const LodeTraceFrame *frame, const LodeFrameLayout *layout)
{
	uint32_t address = 0;
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		const LodeFrameStretch stretch = {
			(uint32_t)run.first, (uint32_t)run.end, address, run.thread};
		append_stretch(self, &stretch);
		for (size_t i = run.first; i < run.end; i++)
			address += layout->blocks[frame->blocks[i]].n_slots;
	}
}

/* Goes on with the last stretch, or begins another, a little earlier. */
static void take(LodeFrameSample *self, const LodeTraceFrame *frame, const LodeFrameLayout *layout,
	const LodeThreadRun *run, LodeFrameStretch *open, uint32_t at, uint32_t address)
{
	uint32_t first = at;

	if (open->end < at) {
		if (open->end > open->first)
			append_stretch(self, open);
		uint32_t earliest = MAX(open->end, (uint32_t)run->first);
		while (first > earliest && at - first < FOLLOWED)
			address -= layout->blocks[frame->blocks[--first]].n_slots;
		*open = (LodeFrameStretch){first, at, address, run->thread};
	}
	open->end = at + 1;
	self->is_sampled[at] = 1;
}

static void take_some(LodeFrameSample *self, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, const LodeFrameSampleSize *size)
{
	g_autofree uint8_t *n_seen = g_new0(uint8_t, layout->n_blocks + 1U);
	uint32_t address = 0;
	LodeThreadRun run;

	self->is_sampled = g_new0(uint8_t, frame->n_invocations + 1);
	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		LodeFrameStretch open = {
			(uint32_t)run.first, (uint32_t)run.first, address, run.thread};
		for (uint32_t i = (uint32_t)run.first; i < run.end; i++) {
			uint32_t block = frame->blocks[i];
			bool is_first = n_seen[block] < size->first;
			n_seen[block] += is_first;
			if (is_first || i % LODE_FRAME_SAMPLE_EVERY < size->in_a_row)
				take(self, frame, layout, &run, &open, i, address);
			address += layout->blocks[block].n_slots;
		}
		if (open.end > open.first)
			append_stretch(self, &open);
	}
}

void lode_frame_sample_init(LodeFrameSample *self, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, const LodeFrameSampleSize *size)
{
	self->stretches = g_array_new(FALSE, FALSE, sizeof(LodeFrameStretch));
	self->is_sampled = NULL;
	if (size == NULL)
		take_all(self, frame, layout);
	else
		take_some(self, frame, layout, size);
}

void lode_frame_sample_clear(LodeFrameSample *self)
{
	if (self->stretches != NULL)
		g_array_unref(self->stretches);
	g_free(self->is_sampled);
	*self = (LodeFrameSample){0};
}
