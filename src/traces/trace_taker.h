/* SPDX-License-Identifier: MIT */
/*
 * Who takes the frames that streams make of references (trace_stream.h): a file, or what works on a
 * trace while it comes about. There may be several traces at a time, one for each process and
 * program; the frames of each come in their order. One thread begins traces and gives frames; the
 * end of a trace may come from a different one.
 */
#pragma once

#include "traces/frames/trace_frame.h"
#include "traces/trace_description.h"
#include "traces/trace_range.h"

typedef struct {
	/*
	 * A trace begins; gives what the others get, NULL with an error. The description is of the
	 * trace as far as the frames that were taken, mappings before the frames in which they come
	 * about; it is borrowed as long as all of them come. NULL: it is known at the end.
	 */
	void *(*begin)(const LodeTraceDescription *description, void *user_data, GError **error);
	/* Borrows the frame, or takes it: then it leaves NULL. Where no later frame should have the
	 * same dictionary, it closes that. False with an error, as from then on each time. */
	bool (*take)(void *trace, LodeTraceFrame **frame, GError **error);
	/* Nothing more of it will come; its description is whole. NULL: as it was in the beginning.
	 */
	bool (*end)(void *trace, const LodeTraceDescription *description, GError **error);
	uint64_t (*n_bytes)(void *trace); /* that it wrote so far; NULL: none */
	void (*free)(void *trace);        /* whether it ended or not; NULL: not needed */
	void *user_data;

	const LodeTraceRange *range; /* what it gets of each trace, borrowed; NULL: all */
	uint64_t frame_references;   /* a frame has at most so many; 0: as memory allows */
	bool has_small_frames;       /* that stay in the processor's caches, where that is worth
	                                saying of the blocks what the one before said */
} LodeTraceTaker;
