/* SPDX-License-Identifier: MIT */
#include "sources/trace_conversion.h"

#include "base/error.h"

enum { BATCH = 1 << 14, REPORT_INTERVAL_US = 100000 };

typedef struct {
	const LodeProgress *progress;
	const char *stage;
	double total;
	gint64 reported_us;
} Reporting;

/* At most ten times a second. False when the user asked to stop. */
static bool report(Reporting *self, double done, GError **error)
{
	gint64 now = g_get_monotonic_time();

	if (lode_progress_is_cancelled(self->progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped on request");
		return false;
	}
	if (now - self->reported_us < REPORT_INTERVAL_US)
		return true;
	self->reported_us = now;
	lode_progress_report(self->progress, self->stage, done, self->total, NULL);
	return true;
}

bool lode_trace_conversion_pack(LodeReferenceReader *in, uint64_t size_bytes, LodeTraceWriter *out,
	const LodeProgress *progress, GError **error)
{
	Reporting reporting = {progress, "packing", (double)size_bytes, 0};
	g_autofree LodeReference *some = g_new(LodeReference, BATCH);
	ptrdiff_t n;

	while ((n = lode_reference_reader_next(in, some, BATCH, error)) > 0)
		if (!lode_trace_writer_add(out, some, (size_t)n, error) ||
			!report(&reporting, (double)lode_reference_reader_bytes(in), error))
			return false;
	return n == 0;
}

/* The part of a frame that is in the range. */
static bool write_frame(const LodeTraceFrame *frame, LodeTraceRange range, LodeReferenceWriter *out,
	Reporting *reporting, GError **error)
{
	g_autofree LodeReference *some = g_new(LodeReference, BATCH);
	uint64_t at = frame->first_reference, end = range.first + range.count;
	LodeTraceReferences walk;
	size_t n;

	lode_trace_references_init(&walk, frame);
	for (; at < end && (n = lode_trace_references_next(&walk, some, BATCH)) > 0; at += n) {
		size_t skipped = at < range.first ? (size_t)MIN(range.first - at, n) : 0;
		size_t kept = (size_t)MIN(n, end - at);
		if (kept > skipped &&
			!lode_reference_writer_add(out, some + skipped, kept - skipped, error))
			return false;
		if (!report(reporting, (double)at, error))
			return false;
	}
	return true;
}

bool lode_trace_conversion_unpack(LodeTraceReader *in, LodeTraceRange range,
	LodeReferenceWriter *out, const LodeProgress *progress, GError **error)
{
	uint64_t n_references = lode_trace_reader_n_references(in);
	g_autoptr(GError) damage = NULL;
	const LodeTraceFrame *frame;
	int status = 1;

	range.count = MIN(range.count, UINT64_MAX - range.first);
	uint64_t end = MIN(range.first + range.count, n_references);
	Reporting reporting = {progress, "unpacking", (double)end, 0};
	while ((status = lode_trace_reader_next(in, &frame, &damage)) > 0) {
		if (frame->first_reference >= range.first + range.count)
			break;
		if (!write_frame(frame, range, out, &reporting, error))
			return false;
	}
	if (!lode_reference_writer_finish(out, error))
		return false;
	if (status < 0)
		g_propagate_error(error, g_steal_pointer(&damage));
	return status >= 0;
}
