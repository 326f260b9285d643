/* SPDX-License-Identifier: MIT */
#include "ingest/time_slices.h"

#include "base/error.h"
#include "sources/perf_data/perf_data.h"

/* Calls `visit` with the time of each sample that has one. */
static bool visit_times(LodePerfData *data, void (*visit)(uint64_t time_ns, void *user_data),
	void *user_data, const LodeProgress *progress, GError **error)
{
	LodePerfRecord record;
	LodePerfNext next;

	lode_perf_data_rewind(data);
	while ((next = lode_perf_data_next(data, &record, error)) == LODE_PERF_NEXT_RECORD) {
		if (record.kind == LODE_PERF_SAMPLE && record.time_ns > 0)
			visit(record.time_ns, user_data);
		if (lode_progress_is_cancelled(progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
	}
	return next == LODE_PERF_NEXT_END;
}

typedef struct {
	uint64_t first, last;
} Span;

static void widen(uint64_t time_ns, void *user_data)
{
	Span *span = user_data;

	span->first = MIN(span->first, time_ns);
	span->last = MAX(span->last, time_ns);
}

static void count(uint64_t time_ns, void *user_data)
{
	GArray *slices = user_data;

	for (guint i = 0; i < slices->len; i++) {
		LodeTimeSlice *slice = &g_array_index(slices, LodeTimeSlice, i);
		if (time_ns >= slice->begin_ns && time_ns < slice->end_ns)
			slice->n_samples++;
	}
}

GArray *lode_time_slices_of(
	const char *path, unsigned n, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodePerfData) data = lode_perf_data_open(path, error);
	Span span = {UINT64_MAX, 0};

	if (data == NULL || !visit_times(data, widen, &span, progress, error))
		return NULL;
	if (span.last == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s: no sample with a time; lode record and perf record -T write them",
			path);
		return NULL;
	}
	/* Times that lie may be far apart: no sum here may overflow. */
	uint64_t length = (span.last - span.first) / n + 1;
	g_autoptr(GArray) slices = g_array_new(FALSE, FALSE, sizeof(LodeTimeSlice));
	for (uint64_t i = 0, begin = span.first; i < n && begin <= span.last; i++) {
		uint64_t end = span.last - begin < length ? span.last : begin + length - 1;
		LodeTimeSlice slice = {begin, end == UINT64_MAX ? end : end + 1, 0};
		g_array_append_val(slices, slice);
		if (end == span.last)
			break;
		begin = slice.end_ns;
	}
	if (!visit_times(data, count, slices, progress, error))
		return NULL;
	return g_steal_pointer(&slices);
}
