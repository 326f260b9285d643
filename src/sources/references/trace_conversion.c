/* SPDX-License-Identifier: MIT */
#include "sources/references/trace_conversion.h"

#include "base/error.h"

enum { BATCH = 1 << 14, REPORT_INTERVAL_US = 100000 };

typedef struct {
	const LodeProgress *progress;
	const char *stage;
	double total;
	gint64 reported_us;
} Reporting;

/* Reports at most ten times a second. False when the user cancelled. */
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

bool lode_trace_conversion_pack(LodeReferenceReader *in, uint64_t size_bytes, LodeTraceStream *out,
	const LodeProgress *progress, GError **error)
{
	Reporting reporting = {progress, "packing", (double)size_bytes, 0};
	g_autofree LodeReference *some = g_new(LodeReference, BATCH);
	ptrdiff_t n;

	while ((n = lode_reference_reader_next(in, some, BATCH, error)) > 0)
		if (!lode_trace_stream_add(out, some, (size_t)n, error) ||
			!report(&reporting, (double)lode_reference_reader_bytes(in), error))
			return false;
	return n == 0;
}

typedef bool (*AddFunc)(void *out, const LodeReference *references, size_t n, GError **error);

static bool add_frame(
	const LodeTraceFrame *frame, AddFunc add, void *out, Reporting *reporting, GError **error)
{
	g_autofree LodeReference *some = g_new(LodeReference, BATCH);
	uint64_t at = frame->first_reference;
	LodeTraceReferences walk;
	size_t n;

	lode_trace_references_init(&walk, frame);
	for (; (n = lode_trace_references_next(&walk, some, BATCH)) > 0; at += n)
		if (!add(out, some, n, error) || !report(reporting, (double)at, error))
			return false;
	return true;
}

/* The trace's damage goes to `out_damage`; the references before it were added. */
static bool add_trace(LodeTraceReader *in, AddFunc add, void *out, Reporting *reporting,
	GError **out_damage, GError **error)
{
	LodeTraceRange range = lode_trace_reader_range(in);
	const LodeTraceFrame *frame;
	g_autoptr(GError) damage = NULL;

	reporting->total = (double)(range.first + range.count);
	while (lode_trace_reader_next(in, &frame, &damage) > 0)
		if (!add_frame(frame, add, out, reporting, error))
			return false;
	if (damage == NULL && lode_trace_reader_is_whole(in, &damage))
		return true;
	bool is_damage = g_error_matches(damage, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_propagate_error(is_damage ? out_damage : error, g_steal_pointer(&damage));
	return is_damage;
}

static bool add_to_form(void *out, const LodeReference *references, size_t n, GError **error)
{
	return lode_reference_writer_add(out, references, n, error);
}

bool lode_trace_conversion_unpack(LodeTraceReader *in, LodeReferenceWriter *out,
	const LodeProgress *progress, GError **out_damage, GError **error)
{
	Reporting reporting = {.progress = progress, .stage = "unpacking"};

	return add_trace(in, add_to_form, out, &reporting, out_damage, error) &&
	       lode_reference_writer_finish(out, error);
}

static bool add_to_trace(void *out, const LodeReference *references, size_t n, GError **error)
{
	return lode_trace_stream_add(out, references, n, error);
}

/* The same, from the first reference that is kept on. */
static LodeTraceDescription *cut_description(const LodeTraceReader *in)
{
	const LodeTraceDescription *whole = lode_trace_reader_description(in);
	const LodeTraceRange range = lode_trace_reader_range(in);
	LodeTraceDescription *self = lode_trace_description_new();

	self->command = lode_trace_description_intern(self, whole->command);
	self->tool = lode_trace_description_intern(self, whole->tool);
	self->build = lode_trace_description_intern(self, whole->build);
	self->is_partial = true;
	for (guint i = 0; i < whole->mappings->len; i++) {
		LodeTraceMapping mapping = g_array_index(whole->mappings, LodeTraceMapping, i);

		if (mapping.first_reference >= range.first + range.count)
			continue;
		mapping.first_reference = lode_trace_reader_n_given_before(
			in, mapping.first_reference);
		mapping.path = lode_trace_description_intern(self, mapping.path);
		mapping.build_id = lode_trace_description_intern(self, mapping.build_id);
		g_array_append_val(self->mappings, mapping);
	}
	for (guint i = 0; i < whole->threads->len; i++) {
		LodeTraceThread thread = g_array_index(whole->threads, LodeTraceThread, i);

		thread.name = lode_trace_description_intern(self, thread.name);
		g_array_append_val(self->threads, thread);
	}
	return self;
}

bool lode_trace_conversion_cut(LodeTraceReader *in, LodeTraceStream *out,
	const LodeProgress *progress, GError **out_damage, GError **error)
{
	Reporting reporting = {.progress = progress, .stage = "copying"};

	if (!add_trace(in, add_to_trace, out, &reporting, out_damage, error))
		return false;
	g_autoptr(LodeTraceDescription) description = cut_description(in);
	return lode_trace_stream_finish(out, description, error);
}
