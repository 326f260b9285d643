/* SPDX-License-Identifier: MIT */
/* References from a form of another tool into a packed trace, and back. */
#pragma once

#include "base/progress.h"
#include "sources/references/reference_file.h"
#include "traces/trace_reader.h"
#include "traces/trace_stream.h"

/*
 * Adds everything that `in` gives to `out`, which is the caller's to finish. `size_bytes` of the
 * input is for the progress; 0: unknown. Errors: those of both; _CANCELLED.
 */
bool lode_trace_conversion_pack(LodeReferenceReader *in, uint64_t size_bytes, LodeTraceStream *out,
	const LodeProgress *progress, GError **error);

/*
 * Writes what `in` reads and finishes `out`. If the trace is damaged, the part before the damage is
 * written, and *out_damage describes it: it is the caller's, and NULL before. Errors: those of both
 * but _CORRUPT; _CANCELLED.
 */
bool lode_trace_conversion_unpack(LodeTraceReader *in, LodeReferenceWriter *out,
	const LodeProgress *progress, GError **out_damage, GError **error);

/* The same into a packed trace, with the mappings and names of the whole one; its references are
 * numbered anew. */
bool lode_trace_conversion_cut(LodeTraceReader *in, LodeTraceStream *out,
	const LodeProgress *progress, GError **out_damage, GError **error);
