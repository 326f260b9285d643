/* SPDX-License-Identifier: MIT */
#include "views/trace_info_rows.h"

#include "base/number_format.h"

#include <math.h>
#include <sys/mman.h>

static LodeFactRow *add_number(GArray *rows, const char *section, const char *name, uint64_t number)
{
	return lode_fact_rows_add_number(rows, section, name, (double)number);
}

static char *counted(uint64_t n, const char *what)
{
	char text[LODE_NUMBER_SIZE];

	return g_strconcat(lode_number_format_count((double)n, text), " ", what, NULL);
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

static double bits(const LodeTraceSummary *summary, uint64_t bytes)
{
	return ratio(8 * (double)bytes, (double)summary->n_references);
}

char *lode_trace_info_protection(uint32_t protection)
{
	return g_strdup_printf("%c%c%c", protection & PROT_READ ? 'r' : '-',
		protection & PROT_WRITE ? 'w' : '-', protection & PROT_EXEC ? 'x' : '-');
}

static void add_trace(
	GArray *rows, const LodeTraceSummary *summary, const LodeTraceDescription *description)
{
	LodeFactRow *row;

	lode_fact_rows_add_text(rows, "trace", "program", description->command);
	lode_fact_rows_add_text(rows, "trace", "tool", description->tool);
	lode_fact_rows_add_text(rows, "trace", "packed by", description->build);
	if (description->is_partial)
		lode_fact_rows_add_text(rows, "trace", "recorded", "in part");
	lode_fact_rows_add_text(rows, "trace", "state",
		summary->damage != NULL                       ? "damaged"
		: summary->n_decoded == summary->n_references ? "whole"
							      : "not checked");
	if (summary->damage != NULL) {
		row = lode_fact_rows_add(rows, "trace", "damage");
		row->text = g_strdup(summary->damage);
		row->is_alarm = true;
	}
	row = add_number(rows, "trace", "bytes", summary->file_bytes);
	row->bits = bits(summary, summary->file_bytes);
	row = add_number(rows, "trace", "frames", summary->n_frames);
	if (summary->n_plain_frames > 0)
		row->detail = counted(summary->n_plain_frames, "plain, references as they are");
}

static void add_references(GArray *rows, const LodeTraceSummary *summary)
{
	add_number(rows, "reference", "all", summary->n_references);
	for (int i = 0; i < LODE_N_REFERENCE_KINDS && summary->n_decoded > 0; i++) {
		LodeFactRow *row = add_number(
			rows, "reference", lode_reference_kind_names[i], summary->n_by_kind[i]);
		row->share = ratio((double)summary->n_by_kind[i], (double)summary->n_decoded);
	}
}

static void add_structure(GArray *rows, const LodeTraceSummary *summary)
{
	add_number(rows, "structure", "instructions", summary->n_instructions);
	add_number(rows, "structure", "blocks", summary->n_blocks);
	add_number(rows, "structure", "invocations of blocks", summary->n_invocations);
	add_number(rows, "structure", "switches of threads", summary->n_switches);
	add_number(rows, "structure", "threads", summary->n_threads);
}

static void add_classes(GArray *rows, const LodeTraceSummary *summary)
{
	double n_references = 0;

	for (guint i = 0; i < summary->classes->len; i++)
		n_references +=
			(double)g_array_index(summary->classes, LodeSlotClassCount, i).n_references;
	for (guint i = 0; i < summary->classes->len; i++) {
		const LodeSlotClassCount *count = &g_array_index(
			summary->classes, LodeSlotClassCount, i);
		LodeFactRow *row = add_number(rows, "class", count->name, count->n_references);
		row->share = ratio((double)count->n_references, n_references);
		row->detail = counted(count->n_slots, "slots");
	}
}

static void add_streams(GArray *rows, const LodeTraceSummary *summary)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		uint64_t packed = summary->stream_packed_bytes[i];
		if (packed == 0)
			continue;
		LodeFactRow *row = add_number(
			rows, "stream", lode_frame_codec_stream_name(i), packed);
		row->share = ratio((double)packed, (double)summary->file_bytes);
		row->bits = bits(summary, packed);
		row->detail = counted(summary->stream_bytes[i], "bytes before compression");
		all += packed;
	}
	LodeFactRow *row = add_number(rows, "stream",
		summary->n_plain_frames > 0 ? "plain frames, heads, index" : "heads, index",
		summary->file_bytes - MIN(all, summary->file_bytes));
	row->share = ratio(row->number, (double)summary->file_bytes);
	row->bits = ratio(8 * row->number, (double)summary->n_references);
}

static void add_threads(
	GArray *rows, const LodeTraceSummary *summary, const LodeTraceDescription *description)
{
	guint n = MAX(summary->n_by_thread->len, description->threads->len);

	for (guint i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("%u", i);
		LodeFactRow *row = lode_fact_rows_add(rows, "thread", name);
		if (i < summary->n_by_thread->len) {
			row->number = (double)g_array_index(summary->n_by_thread, uint64_t, i);
			row->share = ratio(row->number, (double)summary->n_decoded);
		}
		if (i >= description->threads->len)
			continue;
		const LodeTraceThread *thread = &g_array_index(
			description->threads, LodeTraceThread, i);
		row->detail = g_strdup_printf("%s%stid %u",
			thread->name != NULL ? thread->name : "", thread->name != NULL ? ", " : "",
			thread->tid);
	}
}

static void add_mappings(GArray *rows, const LodeTraceDescription *description)
{
	for (guint i = 0; i < description->mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(
			description->mappings, LodeTraceMapping, i);
		g_autofree char *protection = lode_trace_info_protection(mapping->protection);
		LodeFactRow *row = lode_fact_rows_add(
			rows, "mapping", mapping->path != NULL ? mapping->path : "[anon]");
		row->text = g_strdup_printf("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %s",
			mapping->start, mapping->end, protection);
		row->detail = g_strdup_printf("from reference %" G_GUINT64_FORMAT "%s%s",
			mapping->first_reference, mapping->build_id != NULL ? ", build id " : "",
			mapping->build_id != NULL ? mapping->build_id : "");
	}
}

GArray *lode_trace_info_rows(
	const LodeTraceSummary *summary, const LodeTraceDescription *description)
{
	GArray *rows = lode_fact_rows_new();

	add_trace(rows, summary, description);
	add_references(rows, summary);
	add_structure(rows, summary);
	add_classes(rows, summary);
	add_streams(rows, summary);
	add_threads(rows, summary, description);
	add_mappings(rows, description);
	for (guint i = 0; i < description->totals->len; i++) {
		const LodeTraceTotal *total = &g_array_index(
			description->totals, LodeTraceTotal, i);
		add_number(rows, "total", total->name, total->value);
	}
	return rows;
}
