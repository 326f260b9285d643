/* SPDX-License-Identifier: MIT */
/* The contents of a packed trace: references by kind, structure, and where its bytes are. */
#pragma once

#include "base/progress.h"
#include "traces/reference.h"
#include "traces/trace_reader.h"

typedef struct {
	uint64_t n_references, n_instructions, n_frames, n_plain_frames;
	uint64_t n_blocks;      /* of all dictionaries; a plain frame may have none there */
	uint64_t n_invocations; /* of all frames */
	uint64_t n_switches; /* from one thread to another, in frames; decoded, also between them */
	unsigned n_threads;
	uint64_t file_bytes;
	uint64_t stream_bytes[LODE_FRAME_MAX_STREAMS];        /* before compression */
	uint64_t stream_packed_bytes[LODE_FRAME_MAX_STREAMS]; /* in the file */
	GArray *classes;                                      /* LodeSlotClassCount */
	/* The decoded references; none if decoding was not requested. */
	uint64_t n_decoded, n_by_kind[LODE_N_REFERENCE_KINDS];
	GArray *n_by_thread;  /* uint64_t */
	uint16_t last_thread; /* of the last one */
	char *damage;         /* names the file; NULL: nothing wrong was found */
} LodeTraceSummary;

/*
 * Made from the index and the heads of the frames, and with `is_decoded` from their whole content,
 * which checks every byte. The reader reads `path`. Damage ends the part in which it is found, and
 * is not an error. Errors: _CANCELLED.
 */
LodeTraceSummary *lode_trace_summary_new(LodeTraceReader *reader, const char *path, bool is_decoded,
	const LodeProgress *progress, GError **error);
void lode_trace_summary_free(LodeTraceSummary *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceSummary, lode_trace_summary_free)
