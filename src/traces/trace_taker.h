/* SPDX-License-Identifier: MIT */
/*
 * Who takes the frames of traces while they come about, in place of a file. There may be several
 * traces at a time, one for each process and program; the frames of each come in their order. All
 * calls are made by one thread.
 */
#pragma once

#include "traces/trace_description.h"
#include "traces/trace_frame.h"

typedef struct {
	/*
	 * A trace begins, with its first frame; gives what the others get, NULL with an error. The
	 * description is of the trace as far as the frames that were taken, mappings before the
	 * frames in which they come about; it is borrowed as long as all of them come.
	 */
	void *(*begin)(const LodeTraceDescription *description, void *user_data, GError **error);
	/* Borrows the frame. False with an error, after which no trace is given any more. */
	bool (*take)(void *trace, const LodeTraceFrame *frame, GError **error);
	/* Nothing more of it will come; its description is whole. */
	bool (*end)(void *trace, GError **error);
	void *user_data;
} LodeTraceTaker;
