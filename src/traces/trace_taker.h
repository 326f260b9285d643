/* SPDX-License-Identifier: MIT */
/*
 * The receiver of the frames that streams make of references (trace_stream.h): a file, or an
 * analysis of a trace during its recording. There may be several traces at a time, one for each
 * process and program; the frames of each come in their order. One thread begins traces and gives
 * frames; the end of a trace may come from a different one.
 */
#pragma once

#include "traces/blocks/code_pieces.h"
#include "traces/frames/trace_frame.h"
#include "traces/trace_description.h"
#include "traces/trace_range.h"

typedef struct {
	/*
	 * Begins a trace; gives the argument of the other functions, NULL with an error. The
	 * description grows with the frames: it has a mapping before the frame in which the mapping
	 * is made. It is borrowed until the last frame. NULL: it is given at the end.
	 */
	void *(*begin)(const LodeTraceDescription *description, void *user_data, GError **error);
	/* Borrows the frame, or takes ownership: then it sets *frame to NULL. May close the
	 * dictionary, so that later frames get a new one. False with an error, and for each later
	 * frame. */
	bool (*take)(void *trace, LodeTraceFrame **frame, GError **error);
	/* Takes all words of one thread instead, in their order among the frames; adds to `taken`.
	 * Takes none, and is not asked again, where it needs frames. False with an error. NULL: it
	 * always needs them. */
	bool (*take_words)(void *trace, LodeCodePieces *pieces, const uint64_t *words, size_t n,
		LodeWordsTaken *taken, GError **error);
	/* Ends a trace; the description is complete. NULL: that of begin() is. */
	bool (*end)(void *trace, const LodeTraceDescription *description, GError **error);
	uint64_t (*n_bytes)(void *trace); /* bytes written so far; NULL: none */
	void (*free)(void *trace);        /* after the end, or without one; NULL: not needed */
	void *user_data;

	const LodeTraceRange *range; /* the part of each trace that it gets, borrowed; NULL: all */
	uint64_t frame_references;   /* a frame has at most so many; 0: as memory allows */
	bool has_small_frames; /* that stay in the processor's caches, at the cost of repeated data
	                          on blocks */
} LodeTraceTaker;
