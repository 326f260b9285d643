/* SPDX-License-Identifier: MIT */
/* What is in a packed trace: rows of facts as text or CSV, and a JSON document. */
#include "views/trace_info.h"

#include "base/json_stream.h"
#include "views/trace_info_rows.h"

#include <math.h>

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

/* Numbers of JSON are doubles: an address has more bits than they hold. */
static void put_hex(LodeJsonStream *json, const char *name, uint64_t value)
{
	g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", value);

	lode_json_member_string(json, name, text);
}

static void begin_list(LodeJsonStream *json, const char *name)
{
	lode_json_line(json);
	lode_json_key(json, name);
	lode_json_begin(json, '[');
}

static void begin_item(LodeJsonStream *json)
{
	lode_json_line(json);
	lode_json_begin(json, '{');
}

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

static void put_json_streams(LodeJsonStream *json, const LodeTraceSummary *summary)
{
	begin_list(json, "classes");
	for (guint i = 0; i < summary->classes->len; i++) {
		const LodeSlotClassCount *count = &g_array_index(
			summary->classes, LodeSlotClassCount, i);
		begin_item(json);
		lode_json_member_string(json, "name", count->name);
		lode_json_member_number(json, "slots", (double)count->n_slots);
		lode_json_member_number(json, "references", (double)count->n_references);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	begin_list(json, "streams");
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		if (summary->stream_packed_bytes[i] == 0)
			continue;
		begin_item(json);
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

	begin_list(json, "threads_by_number");
	for (guint i = 0; i < n; i++) {
		const LodeTraceThread *thread = i < description->threads->len
		                                        ? &g_array_index(description->threads,
								  LodeTraceThread, i)
		                                        : NULL;
		begin_item(json);
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

static void put_json_mappings(LodeJsonStream *json, const LodeTraceDescription *description)
{
	begin_list(json, "mappings");
	for (guint i = 0; i < description->mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(
			description->mappings, LodeTraceMapping, i);
		g_autofree char *protection = lode_trace_info_protection(mapping->protection);
		begin_item(json);
		lode_json_member_string(json, "path", mapping->path);
		put_hex(json, "start", mapping->start);
		put_hex(json, "end", mapping->end);
		put_hex(json, "offset", mapping->offset);
		lode_json_member_string(json, "protection", protection);
		lode_json_member_number(json, "first_reference", (double)mapping->first_reference);
		lode_json_member_string(json, "build_id", mapping->build_id);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	begin_list(json, "totals");
	for (guint i = 0; i < description->totals->len; i++) {
		const LodeTraceTotal *total = &g_array_index(
			description->totals, LodeTraceTotal, i);
		begin_item(json);
		lode_json_member_string(json, "name", total->name);
		lode_json_member_number(json, "value", (double)total->value);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void write_json(const LodeTraceSummary *summary, const LodeTraceDescription *description,
	const char *path, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	put_json_head(&json, summary, description, path);
	put_json_streams(&json, summary);
	put_json_threads(&json, summary, description);
	put_json_mappings(&json, description);
	lode_json_end(&json, '}');
}

bool lode_trace_info_write(const LodeTraceSummary *summary, const LodeTraceDescription *description,
	const LodeTraceInfoOptions *options, FILE *out, GError **error)
{
	g_autoptr(GArray) rows = lode_trace_info_rows(summary, description);

	switch (options->format) {
	case LODE_VIEW_TEXT:
		lode_fact_rows_write_text(rows, titles, &options->terminal, out);
		break;
	case LODE_VIEW_JSON:
		write_json(summary, description, options->path, out);
		break;
	case LODE_VIEW_CSV:
		lode_fact_rows_write_csv(rows, true, out);
		break;
	}
	return lode_view_flush(out, error);
}
