/* SPDX-License-Identifier: MIT */
/* The contents of a packed trace: rows of facts as text or CSV, and a JSON document. */
#include "views/traces/trace_info.h"

#include "base/text/number_format.h"
#include "traces/trace_summary.h"
#include "views/form/fact_rows.h"
#include "views/form/listing.h"

#include <math.h>
#include <sys/mman.h>

static LodeFactRow *add_number(GArray *rows, const char *section, const char *name, uint64_t number)
{
	return lode_fact_rows_add_number(rows, section, name, (double)number);
}

static char *counted(uint64_t n, const char *what)
{
	return g_strconcat(LODE_COUNT_TEXT(n), " ", what, NULL);
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

static double bits(const LodeTraceSummary *summary, uint64_t bytes)
{
	return ratio(8 * (double)bytes, (double)summary->n_references);
}

/* "r-x" */
static char *protection_text(uint32_t protection)
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
	if (summary->n_decoded > 0 && summary->n_decoded < summary->n_references)
		add_number(rows, "reference", "of these, read", summary->n_decoded);
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
		g_autofree char *protection = protection_text(mapping->protection);
		LodeFactRow *row = lode_fact_rows_add(
			rows, "mapping", mapping->path != NULL ? mapping->path : "[anon]");
		row->text = g_strdup_printf("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %s",
			mapping->start, mapping->end, protection);
		row->detail = g_strdup_printf("from reference %" G_GUINT64_FORMAT "%s%s",
			mapping->first_reference, mapping->build_id != NULL ? ", build id " : "",
			mapping->build_id != NULL ? mapping->build_id : "");
	}
}

static GArray *trace_info_rows(
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

static const LodeFactTitle titles[] = {
	{"trace", "Trace"},
	{"reference", "References"},
	{"structure", "Structure"},
	{"class", "Classes of slots, data references with their share"},
	{"stream", "Streams, bytes with their share of the file"},
	{"thread", "Threads, references with their share"},
	{"mapping", "Mappings"},
	{"total", "Counted by the tool"},
	{NULL, NULL},
};

static void put_json_head(LodeJsonStream *json, const LodeTraceSummary *summary,
	const LodeTraceDescription *description, const char *path)
{
	double n = (double)summary->n_references;

	lode_json_member_string(json, "path", path);
	lode_json_member_string(json, "program", description->command);
	lode_json_member_string(json, "tool", description->tool);
	lode_json_member_string(json, "packed_by", description->build);
	lode_json_member_bool(json, "is_partial", description->is_partial);
	lode_json_member_string(json, "damage", summary->damage);
	lode_json_line(json);
	lode_json_member_number(json, "bytes", (double)summary->file_bytes);
	lode_json_member_number(json, "bits_per_reference",
		n > 0 ? 8 * (double)summary->file_bytes / n : (double)NAN);
	lode_json_member_number(json, "frames", (double)summary->n_frames);
	lode_json_member_number(json, "plain_frames", (double)summary->n_plain_frames);
	lode_json_line(json);
	lode_json_member_number(json, "references", n);
	lode_json_member_number(json, "decoded", (double)summary->n_decoded);
	for (int i = 0; i < LODE_N_REFERENCE_KINDS && summary->n_decoded > 0; i++)
		lode_json_member_number(
			json, lode_reference_kind_names[i], (double)summary->n_by_kind[i]);
	lode_json_line(json);
	lode_json_member_number(json, "instructions", (double)summary->n_instructions);
	lode_json_member_number(json, "blocks", (double)summary->n_blocks);
	lode_json_member_number(json, "invocations", (double)summary->n_invocations);
	lode_json_member_number(json, "switches", (double)summary->n_switches);
	lode_json_member_number(json, "threads", summary->n_threads);
}

static const LodeColumn class_columns[] = {
	{"name", LODE_CELL_TEXT(LodeSlotClassCount, name)},
	{"slots", LODE_CELL_NUMBER(LodeSlotClassCount, n_slots)},
	{"references", LODE_CELL_NUMBER(LodeSlotClassCount, n_references)},
};
static const LodeColumns classes = LODE_COLUMNS("classes", class_columns, LodeSlotClassCount);

static void put_json_streams(LodeJsonStream *json, const LodeTraceSummary *summary)
{
	lode_json_line(json);
	lode_json_member_begin(json, "streams", '[');
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		if (summary->stream_packed_bytes[i] == 0)
			continue;
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "name", lode_frame_codec_stream_name(i));
		lode_json_member_number(json, "bytes", (double)summary->stream_packed_bytes[i]);
		lode_json_member_number(json, "coded_bytes", (double)summary->stream_bytes[i]);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_json_threads(LodeJsonStream *json, const LodeTraceSummary *summary,
	const LodeTraceDescription *description)
{
	guint n = MAX(summary->n_by_thread->len, description->threads->len);

	lode_json_line(json);
	lode_json_member_begin(json, "threads_by_number", '[');
	for (guint i = 0; i < n; i++) {
		const LodeTraceThread *thread = i < description->threads->len
		                                        ? &g_array_index(description->threads,
								  LodeTraceThread, i)
		                                        : NULL;
		lode_json_line_begin(json, '{');
		if (i < summary->n_by_thread->len)
			lode_json_member_number(json, "references",
				(double)g_array_index(summary->n_by_thread, uint64_t, i));
		if (thread != NULL && thread->tid != 0)
			lode_json_member_number(json, "tid", thread->tid);
		if (thread != NULL && thread->name != NULL)
			lode_json_member_string(json, "name", thread->name);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_protection(LodeJsonStream *json, const void *row, const void *user_data)
{
	g_autofree char *text = protection_text(((const LodeTraceMapping *)row)->protection);

	(void)user_data;
	lode_json_string(json, text);
}

static const LodeColumn mapping_columns[] = {
	{"path", LODE_CELL_TEXT(LodeTraceMapping, path)},
	{"start", LODE_CELL_ADDRESS(LodeTraceMapping, start)},
	{"end", LODE_CELL_ADDRESS(LodeTraceMapping, end)},
	{"offset", LODE_CELL_ADDRESS(LodeTraceMapping, offset)},
	{"protection", LODE_CELL_JSON(put_protection)},
	{"first_reference", LODE_CELL_NUMBER(LodeTraceMapping, first_reference)},
	{"build_id", LODE_CELL_TEXT(LodeTraceMapping, build_id)},
};
static const LodeColumns mappings = LODE_COLUMNS("mappings", mapping_columns, LodeTraceMapping);

static const LodeColumn total_columns[] = {
	{"name", LODE_CELL_TEXT(LodeTraceTotal, name)},
	{"value", LODE_CELL_NUMBER(LodeTraceTotal, value)},
};
static const LodeColumns totals = LODE_COLUMNS("totals", total_columns, LodeTraceTotal);

static void write_json(const LodeTraceSummary *summary, const LodeTraceDescription *description,
	const char *path, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	put_json_head(&json, summary, description, path);
	lode_json_line(&json);
	lode_columns_put_json_list(&classes, summary->classes, &json);
	put_json_streams(&json, summary);
	put_json_threads(&json, summary, description);
	lode_json_line(&json);
	lode_columns_put_json_list(&mappings, description->mappings, &json);
	lode_json_line(&json);
	lode_columns_put_json_list(&totals, description->totals, &json);
	lode_json_end(&json, '}');
}

bool lode_trace_info_write(const LodeTraceSummary *summary, const LodeTraceDescription *description,
	const LodeTraceInfoOptions *options, FILE *out, GError **error)
{
	g_autoptr(GArray) rows = trace_info_rows(summary, description);

	if (options->format == LODE_VIEW_TEXT)
		lode_fact_rows_write_text(rows, titles, &options->terminal, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(summary, description, options->path, out);
	else
		lode_fact_rows_write_csv(rows, true, out);
	return lode_view_flush(out, error);
}
