/* SPDX-License-Identifier: MIT */
/* References from a form of another tool into a packed trace, and back. */
#pragma once

#include "base/progress.h"
#include "sources/reference_file.h"
#include "traces/trace_reader.h"
#include "traces/trace_writer.h"

/*
 * Adds everything that `in` gives to `out`, which is the caller's to finish. `size_bytes` of the
 * input is for the progress; 0: unknown. Errors: those of both; _CANCELLED.
 */
bool lode_trace_conversion_pack(LodeReferenceReader *in, uint64_t size_bytes, LodeTraceWriter *out,
	const LodeProgress *progress, GError **error);

typedef struct {
	uint64_t first, count; /* references of the trace; a count of UINT64_MAX: all from there */
} LodeTraceRange;

/*
 * Writes a range of a packed trace, which was opened at or before its first reference, and finishes
 * `out`. Where the trace is damaged, what stands in front of the damage is written nevertheless.
 * Errors: those of both; _CANCELLED.
 */
bool lode_trace_conversion_unpack(LodeTraceReader *in, LodeTraceRange range,
	LodeReferenceWriter *out, const LodeProgress *progress, GError **error);
