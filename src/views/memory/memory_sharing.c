/* SPDX-License-Identifier: MIT */
/* Each shared line, and below it what each thread does to its bytes. */
#include "views/memory/memory_sharing.h"

#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"

#include <math.h>
#include <string.h>

enum { ACCESSES_SHOWN = 8, STORES_SHOWN = 2 }; /* of each line, and of each access, on a screen */

/* A line changes its thread seldom where it does less than half as often as in a random order, if
 * that is often enough to tell. */
enum { MANY_TURNS = 8 };
#define SELDOM 0.5

enum {
	COLUMN_WEIGHT,
	COLUMN_SAMPLES,
	COLUMN_LOADS,
	COLUMN_STORES,
	COLUMN_MODIFIED,
	COLUMN_KIND,
	COLUMN_PLACE,
	COLUMN_WHAT,
	N_COLUMNS,
};

/* A line of a screen: a cache line, one of its accesses, a store that took the line away from it,
 * or how many more accesses there are. */
typedef struct {
	const LodeSharedLine *line;
	const LodeSharingAccess *access; /* NULL: the line itself, unless there are `n_others` */
	const LodeSharingStore *store;   /* of the access; NULL: itself */
	uint32_t n_others;
	LodeAccessTotals others;
} Row;

typedef struct {
	const LodeProfile *profile;
	const LodeLineSharing *sharing;
	const LodeMemorySharingOptions *options;
	GArray *rows;                /* Row */
	unsigned columns[N_COLUMNS]; /* that are shown */
} Table;

static const LodeSharedLine *line_at(const LodeLineSharing *self, guint i)
{
	return &LODE_AT(self->lines, LodeSharedLine, i);
}

static const LodeSharingAccess *access_at(
	const LodeLineSharing *self, const LodeSharedLine *line, uint32_t i)
{
	return &LODE_AT(self->accesses, LodeSharingAccess, line->first_access + i);
}

static const LodeSharingStore *store_at(
	const LodeLineSharing *self, const LodeSharingAccess *access, uint32_t i)
{
	return &LODE_AT(self->stores, LodeSharingStore, access->first_store + i);
}

static const char *object_of(const LodeProfile *profile, const LodeSharingAccess *access)
{
	const GArray *objects = profile->memory->objects;

	return access->object < objects->len ? LODE_AT(objects, LodeDataObject, access->object).name
	                                     : NULL;
}

static const char *mapping_of(const LodeProfile *profile, const LodeSharingAccess *access)
{
	const GArray *mappings = profile->memory->mappings;

	return access->mapping < mappings->len
	               ? LODE_AT(mappings, LodeMemoryMapping, access->mapping).name
	               : NULL;
}

/* The share of the conflicting weight that was to other bytes. */
static double false_share(double true_weight, double false_weight)
{
	return lode_share_of(false_weight, true_weight + false_weight);
}

/* --- text --- */

static double weight_of(const Row *row)
{
	if (row->n_others > 0)
		return row->others.weight;
	return row->access != NULL ? row->access->totals.weight : row->line->totals.weight;
}

static const LodeAccessTotals *totals_of(const Row *row)
{
	if (row->n_others > 0)
		return &row->others;
	return row->access != NULL ? &row->access->totals : &row->line->totals;
}

static void append_share(const Table *self, double weight, GString *out)
{
	char text[LODE_NUMBER_SIZE];

	g_string_append(out,
		lode_number_format_share(lode_share_of(weight, self->sharing->total.weight), text));
}

/* " ±0.4", in percent. */
static void append_error(const Table *self, double error, GString *out)
{
	if (self->sharing->is_of_misses)
		return;
	char text[LODE_NUMBER_SIZE];
	double percent = 100 * lode_share_of(error, self->sharing->total.weight);

	g_string_append_printf(out, " %s%s", self->options->terminal.is_ascii ? "+-" : "±",
		g_ascii_formatd(text, sizeof(text), "%.1f", percent));
}

static void append_kind(const LodeSharedLine *line, GString *out)
{
	char share[LODE_NUMBER_SIZE];

	g_string_append(out, lode_sharing_kind_to_text(line->kind));
	if (line->kind == LODE_SHARING_MIXED)
		g_string_append_printf(out, ", %s false",
			lode_number_format_share(
				false_share(line->true_weight, line->false_weight), share));
}

static void append_bytes(uint64_t offset, uint32_t size, GString *out)
{
	if (size > 1)
		g_string_append_printf(out, "bytes %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
			offset, offset + size - 1);
	else
		g_string_append_printf(out, "byte %" G_GUINT64_FORMAT, offset);
}

/* If a line is shorter than those of the cache, bytes outside of it have no number. */
static void append_stored(const Table *self, const Row *row, GString *out)
{
	const LodeSharingStore *store = row->store;
	char address[LODE_NUMBER_SIZE];

	if (store->offset >= 0 && store->offset < (int64_t)self->sharing->line_bytes)
		append_bytes((uint64_t)store->offset, store->size, out);
	else
		g_string_append(
			out, lode_number_format_address(
				     row->line->address + (uint64_t)store->offset, address));
}

static void append_place(const Table *self, const Row *row, GString *out)
{
	char address[LODE_NUMBER_SIZE];

	if (row->n_others > 0)
		return;
	if (row->access == NULL)
		g_string_append(out, lode_number_format_address(row->line->address, address));
	else if (row->store != NULL)
		append_stored(self, row, g_string_append(out, "    "));
	else
		append_bytes(row->access->offset, row->access->size, g_string_append(out, "  "));
}

/* "2 threads, both store, on 2 CPUs; in [heap]" */
static void append_line(const Table *self, const LodeSharedLine *line, GString *out)
{
	const char *mapping = mapping_of(self->profile, access_at(self->sharing, line, 0));

	g_string_append_printf(
		out, "%u thread%s", line->n_threads, line->n_threads == 1 ? "" : "s");
	if (!self->sharing->is_of_misses)
		g_string_append(out, ", ");
	if (self->sharing->is_of_misses)
		g_string_append(out, line->n_threads == 1 ? " misses" : " miss");
	else if (line->n_storing < line->n_threads)
		g_string_append_printf(out, "%u of them store%s", line->n_storing,
			line->n_storing == 1 ? "s" : "");
	else
		g_string_append(out, line->n_threads == 2 ? "both store" : "all store");
	if (line->n_cpus > 0)
		g_string_append_printf(
			out, ", on %u CPU%s", line->n_cpus, line->n_cpus == 1 ? "" : "s");
	if (line->expected_turns >= MANY_TURNS &&
		(double)line->turns < SELDOM * line->expected_turns)
		g_string_append_printf(out, ", seldom at once: %" G_GUINT64_FORMAT " of %.0f turns",
			line->turns, line->expected_turns);
	if (mapping != NULL) {
		g_string_append(out, "; in ");
		lode_display_append(out, mapping, self->options->terminal.is_ascii);
	}
}

/* "main, a.c:5", or the address. */
static void append_code(
	const Table *self, uint32_t function, uint32_t location, uint64_t pc, GString *out)
{
	g_autofree char *place = lode_memory_place_text(self->profile, function, location);
	char address[LODE_NUMBER_SIZE];

	if (strcmp(place, "?") == 0)
		g_string_append(out, lode_number_format_address(pc, address));
	else
		lode_function_name_append(out, place, &self->options->terminal);
}

static void append_store(const Table *self, const LodeSharingStore *store, GString *out)
{
	g_autofree char *label = lode_memory_thread_label(self->profile, store->thread);

	g_string_append_printf(out, "  due to thread %s, ", label);
	append_code(self, store->function, store->location, store->pc, out);
}

static void append_access(const Table *self, const LodeSharingAccess *access, GString *out)
{
	const char *object = object_of(self->profile, access);
	g_autofree char *label = lode_memory_thread_label(self->profile, access->thread);

	g_string_append_printf(out, "thread %s: ", label);
	lode_function_name_append(out, object != NULL ? object : "?", &self->options->terminal);
	g_string_append(out, ", by ");
	append_code(self, access->function, access->location, access->pc, out);
}

static void append_what(const Table *self, const Row *row, GString *out)
{
	if (row->n_others > 0)
		g_string_append_printf(out, "(%u more: JSON and CSV have all)", row->n_others);
	else if (row->access == NULL)
		append_line(self, row->line, out);
	else if (row->store != NULL)
		append_store(self, row->store, out);
	else
		append_access(self, row->access, out);
}

static LodeStyle store_cell(const Table *self, const Row *row, unsigned column, GString *out)
{
	char text[LODE_NUMBER_SIZE];

	switch (self->columns[column]) {
	case COLUMN_SAMPLES:
		g_string_append(out, lode_number_format_count((double)row->store->n_misses, text));
		break;
	case COLUMN_PLACE:
		append_place(self, row, out);
		break;
	case COLUMN_WHAT:
		append_what(self, row, out);
		break;
	default:
		break;
	}
	return LODE_STYLE_FAINT;
}

static void append_count(const LodeAccessTotals *totals, unsigned column, GString *out)
{
	uint64_t count = column == COLUMN_SAMPLES ? totals->n_samples
	                 : column == COLUMN_LOADS ? totals->n_loads
	                                          : totals->n_stores;
	char text[LODE_NUMBER_SIZE];

	g_string_append(out, lode_number_format_count((double)count, text));
}

static LodeStyle sharing_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const Row *row = &LODE_AT(self->rows, Row, number);
	bool is_line = row->access == NULL && row->n_others == 0;
	char text[LODE_NUMBER_SIZE];

	if (row->store != NULL)
		return store_cell(self, row, column, out);
	switch (self->columns[column]) {
	case COLUMN_WEIGHT:
		append_share(self, weight_of(row), out);
		if (is_line)
			append_error(self, row->line->weight_error, out);
		return is_line ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	case COLUMN_MODIFIED:
		if (row->n_others == 0)
			g_string_append(out, lode_number_format_count(
						     (double)(is_line ? row->line->n_modified
								      : row->access->n_modified),
						     text));
		break;
	case COLUMN_KIND:
		if (!is_line)
			break;
		append_kind(row->line, out);
		return row->line->kind == LODE_SHARING_TRUE ? LODE_STYLE_PLAIN : LODE_STYLE_ALARM;
	case COLUMN_PLACE:
		append_place(self, row, out);
		return is_line ? LODE_STYLE_NAME : LODE_STYLE_FAINT;
	case COLUMN_WHAT:
		append_what(self, row, out);
		return is_line || row->n_others > 0 ? LODE_STYLE_FAINT : LODE_STYLE_NAME;
	default:
		append_count(totals_of(row), self->columns[column], out);
	}
	return LODE_STYLE_PLAIN;
}

static void add_rows(Table *self, const LodeSharedLine *line)
{
	uint32_t shown = MIN(line->n_accesses, ACCESSES_SHOWN);
	Row row = {.line = line};

	g_array_append_val(self->rows, row);
	for (uint32_t i = 0; i < shown; i++) {
		row.access = access_at(self->sharing, line, i);
		g_array_append_val(self->rows, row);
		for (uint32_t j = 0; j < MIN(row.access->n_stores, STORES_SHOWN); j++) {
			row.store = store_at(self->sharing, row.access, j);
			g_array_append_val(self->rows, row);
		}
		row.store = NULL;
	}
	row.access = NULL;
	row.n_others = line->n_accesses - shown;
	for (uint32_t i = shown; i < line->n_accesses; i++)
		lode_access_totals_join(&row.others, &access_at(self->sharing, line, i)->totals);
	if (row.n_others > 0)
		g_array_append_val(self->rows, row);
}

static void write_table(Table *self, FILE *out)
{
	static const LodeTableColumn known[N_COLUMNS] = {
		[COLUMN_WEIGHT] = {"weight", .is_text = true},
		[COLUMN_SAMPLES] = {"samples", .dropped = 3},
		[COLUMN_LOADS] = {"loads", .dropped = 1},
		[COLUMN_STORES] = {"stores", .dropped = 2},
		[COLUMN_MODIFIED] = {"HITM", .dropped = 4},
		[COLUMN_KIND] = {"sharing", .is_text = true},
		[COLUMN_PLACE] = {"line, bytes", .is_text = true},
		[COLUMN_WHAT] = {"threads, object, code", .is_text = true},
	};
	const LodeTerminal *terminal = &self->options->terminal;
	uint32_t limit = self->options->limit;
	guint n_lines = self->sharing->lines->len;
	guint shown = limit == 0 ? n_lines : MIN(limit, n_lines);
	LodeTableColumn columns[N_COLUMNS];
	unsigned n = 0;

	for (unsigned i = 0; i < N_COLUMNS; i++) {
		if (i == COLUMN_MODIFIED && !self->sharing->has_data_sources)
			continue;
		columns[n] = known[i];
		if (i == COLUMN_SAMPLES && self->sharing->is_of_misses)
			columns[n].title = "misses";
		self->columns[n++] = i;
	}
	for (guint i = 0; i < shown; i++)
		add_rows(self, line_at(self->sharing, i));
	LodeTable table = {columns, n, self->rows->len, sharing_cell, self};
	lode_table_write(&table, terminal, out);
	if (shown == n_lines)
		return;
	double weight = 0;
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = shown; i < n_lines; i++)
		weight += line_at(self->sharing, i)->totals.weight;
	g_string_append_printf(text, "%u more, ", n_lines - shown);
	append_share(self, weight, text);
	g_string_append(text, " of weight: --top 0 shows all.");
	lode_display_print(terminal, out, "%s", text->str);
}

/* "1 shared line: 99.9 % ±0.1 of weight; false 99.9 %". */
static void put_summary(const Table *self, FILE *out)
{
	const LodeLineSharing *sharing = self->sharing;
	g_autoptr(GString) text = g_string_new(NULL);
	double by_kind[LODE_N_SHARING_KINDS] = {0};
	char number[LODE_NUMBER_SIZE];

	g_string_append(text, lode_number_format_count(sharing->lines->len, number));
	g_string_append_printf(text, " shared line%s: ", sharing->lines->len == 1 ? "" : "s");
	append_share(self, sharing->shared.weight, text);
	append_error(self, sharing->shared_error, text);
	g_string_append(text, " of weight");
	for (guint i = 0; i < sharing->lines->len; i++)
		by_kind[line_at(sharing, i)->kind] += line_at(sharing, i)->totals.weight;
	for (int i = 0; i < LODE_N_SHARING_KINDS; i++) {
		if (by_kind[i] <= 0)
			continue;
		g_string_append_printf(
			text, " · %s ", lode_sharing_kind_to_text((LodeSharingKind)i));
		append_share(self, by_kind[i], text);
	}
	lode_display_print(&self->options->terminal, out, "%s", text->str);
}

static void put_nothing(const Table *self, FILE *out)
{
	char number[LODE_NUMBER_SIZE];
	uint64_t n = self->sharing->total.n_samples - self->sharing->unresolved.n_samples;

	if (self->options->are_misses_classified) {
		lode_display_print(&self->options->terminal, out,
			"No shared line: no core missed what another core's store took away.");
		return;
	}
	lode_display_print(&self->options->terminal, out,
		"No shared line: of %s sample%s with an address, none are of a line that two "
		"threads used at the same time and one stored to.",
		lode_number_format_count((double)n, number), n == 1 ? "" : "s");
}

/* Writes the basis of the figures. */
static void put_evidence(const Table *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeLineSharing *sharing = self->sharing;
	g_autoptr(GString) text = g_string_new(NULL);
	char number[LODE_NUMBER_SIZE];

	if (self->options->are_misses_classified) {
		lode_display_print(terminal, out,
			"Misses of the first level of data, counted: another core's store had "
			"taken the line away. false: it wrote other bytes than were needed; true: "
			"the same. The threads are those that missed%s; how often depends on the "
			"interleaving of the threads in the trace (--quantum).",
			sharing->stores->len > 0
				? ", and below each those whose stores were the reason (of true "
				  "sharing, the last to store to these bytes)"
				: "");
		return;
	}
	if (sharing->lines->len > 0)
		lode_display_print(terminal, out,
			"false: threads use different bytes of the line; true: the same bytes. "
			"Weight is that of all samples of accesses to the line by these threads, "
			"not what sharing costs; ± is one standard error.");
	lode_display_print(terminal, out,
		"The evidence is samples alone: a thread whose accesses to a line were not sampled "
		"is not seen there.");
	if (sharing->n_consecutive > 0) {
		g_string_append_printf(text, "Not in here: %s line%s (",
			lode_number_format_count((double)sharing->n_consecutive, number),
			sharing->n_consecutive == 1 ? "" : "s");
		append_share(self, sharing->consecutive.weight, text);
		g_string_append(text, " of weight) that threads used one after the other.");
		lode_display_print(terminal, out, "%s", text->str);
	}
}

static void write_text(Table *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const char *program = self->profile->program;

	lode_display_print(terminal, out,
		"%s · cache lines of %u B that threads share · weight: %s",
		program != NULL ? program : "?", (unsigned)self->sharing->line_bytes,
		self->options->are_misses_classified
			? "misses due to sharing"
			: lode_totals_weight_text(self->options->notes));
	if (!self->options->are_misses_classified)
		lode_memory_notes_losses(self->options->notes, terminal, out);
	fputc('\n', out);
	if (self->sharing->lines->len > 0) {
		put_summary(self, out);
		fputc('\n', out);
		write_table(self, out);
	} else {
		put_nothing(self, out);
	}
	fputc('\n', out);
	put_evidence(self, out);
	if (!self->options->are_misses_classified)
		lode_memory_notes_text(self->options->notes, terminal, out);
}

/* --- JSON and CSV --- */

static void put_totals(const LodeAccessTotals *totals, double whole, LodeRowStream *rows)
{
	LodeTotalsCells cells = lode_totals_cells(totals, whole);

	lode_row_number(rows, "samples", (double)totals->n_samples);
	lode_row_number(rows, "loads", (double)totals->n_loads);
	lode_row_number(rows, "stores", (double)totals->n_stores);
	lode_row_number(rows, "weight", totals->weight);
	lode_row_number(rows, "share", cells.share);
	lode_row_number(rows, "mean_latency", cells.mean_latency);
}

static void put_conflicts(
	LodeRowStream *rows, double true_weight, double false_weight, uint64_t n_modified, bool has)
{
	lode_row_number(rows, "true_weight", true_weight);
	lode_row_number(rows, "false_weight", false_weight);
	lode_row_number(rows, "hitm", has ? (double)n_modified : (double)NAN);
}

static void put_line(const Table *self, const LodeSharedLine *line, LodeRowStream *rows)
{
	char address[LODE_NUMBER_SIZE];
	double whole = self->sharing->total.weight;

	lode_row_text(rows, "address", lode_number_format_address(line->address, address));
	lode_row_number(rows, "pid", line->pid);
	lode_row_text(rows, "sharing", lode_sharing_kind_to_text(line->kind));
	lode_row_number(rows, "threads", line->n_threads);
	lode_row_number(rows, "storing", line->n_storing);
	lode_row_number(rows, "cpus", line->n_cpus > 0 ? line->n_cpus : (double)NAN);
	put_totals(&line->totals, whole, rows);
	lode_row_number(rows, "share_error", lode_share_of(line->weight_error, whole));
	lode_row_number(
		rows, "turns", line->expected_turns > 0 ? (double)line->turns : (double)NAN);
	lode_row_number(rows, "expected_turns",
		line->expected_turns > 0 ? line->expected_turns : (double)NAN);
	put_conflicts(rows, line->true_weight, line->false_weight, line->n_modified,
		self->sharing->has_data_sources);
}

static void put_access(const Table *self, const LodeSharingAccess *access, LodeRowStream *rows)
{
	const LodeProfile *profile = self->profile;
	const GArray *threads = profile->memory->threads;
	bool has_thread = access->thread < threads->len;
	g_autofree char *label = has_thread ? lode_memory_thread_label(profile, access->thread)
	                                    : NULL;
	const LodeLocation *location = access->location < profile->locations->len
	                                       ? &LODE_AT(profile->locations, LodeLocation,
							 access->location)
	                                       : NULL;
	char pc[LODE_NUMBER_SIZE];

	lode_row_number(rows, "offset", access->offset);
	lode_row_number(rows, "bytes", access->size);
	lode_row_text(rows, "thread", label);
	lode_row_number(rows, "tid",
		has_thread ? LODE_AT(threads, LodeThread, access->thread).tid : (double)NAN);
	lode_function_name_row(rows, "object", object_of(profile, access));
	lode_row_text(rows, "mapping", mapping_of(profile, access));
	lode_function_name_row(rows, "function",
		access->function < profile->functions->len
			? lode_profile_function(profile, access->function)->name
			: NULL);
	lode_row_text(rows, "file", location != NULL ? location->file : NULL);
	lode_row_number(rows, "line", location != NULL ? location->line : (double)NAN);
	lode_row_text(rows, "pc", lode_number_format_address(access->pc, pc));
	put_totals(&access->totals, self->sharing->total.weight, rows);
	put_conflicts(rows, access->true_weight, access->false_weight, access->n_modified,
		self->sharing->has_data_sources);
}

/* `store` NULL: none is known. */
static void put_store(const Table *self, const LodeSharingStore *store, LodeRowStream *rows)
{
	static const LodeSharingStore no_store = {
		.thread = LODE_NONE, .function = LODE_NONE, .location = LODE_NONE};
	const LodeSharingStore *it = store != NULL ? store : &no_store;
	const LodeProfile *profile = self->profile;
	const GArray *threads = profile->memory->threads;
	bool has_thread = it->thread < threads->len;
	g_autofree char *label = has_thread ? lode_memory_thread_label(profile, it->thread) : NULL;
	const LodeLocation *location = it->location < profile->locations->len
	                                       ? &LODE_AT(profile->locations, LodeLocation,
							 it->location)
	                                       : NULL;
	char pc[LODE_NUMBER_SIZE];

	lode_row_number(rows, "offset", store != NULL ? (double)it->offset : (double)NAN);
	lode_row_number(rows, "bytes", store != NULL ? it->size : (double)NAN);
	lode_row_text(rows, "thread", label);
	lode_row_number(rows, "tid",
		has_thread ? LODE_AT(threads, LodeThread, it->thread).tid : (double)NAN);
	lode_function_name_row(rows, "function",
		it->function < profile->functions->len
			? lode_profile_function(profile, it->function)->name
			: NULL);
	lode_row_text(rows, "file", location != NULL ? location->file : NULL);
	lode_row_number(rows, "line", location != NULL ? location->line : (double)NAN);
	lode_row_text(rows, "pc", store != NULL ? lode_number_format_address(it->pc, pc) : NULL);
	lode_row_number(rows, "misses", store != NULL ? (double)it->n_misses : (double)NAN);
}

/* In CSV the columns of the line come first, under names of their own. */
static void put_csv_row(const Table *self, const LodeSharedLine *line,
	const LodeSharingAccess *access, LodeRowStream *rows)
{
	lode_row_begin(rows);
	lode_row_begin_group(rows, "line", "line_");
	put_line(self, line, rows);
	lode_row_end_group(rows);
	put_access(self, access, rows);
	if (self->options->are_misses_classified) {
		lode_row_begin_group(rows, "due_to", "due_to_");
		put_store(self, access->n_stores > 0 ? store_at(self->sharing, access, 0) : NULL,
			rows);
		lode_row_end_group(rows);
	}
	lode_row_end(rows);
}

static guint n_written(const Table *self)
{
	uint32_t limit = self->options->limit;
	guint n = self->sharing->lines->len;

	return limit == 0 ? n : MIN(limit, n);
}

static void write_csv(const Table *self, FILE *out)
{
	const LodeSharedLine no_line = {0};
	const LodeSharingAccess no_access = {.thread = LODE_NONE,
		.object = LODE_NONE,
		.mapping = LODE_NONE,
		.function = LODE_NONE,
		.location = LODE_NONE};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_csv_row(self, &no_line, &no_access, &rows);
	for (guint i = 0; i < n_written(self); i++) {
		const LodeSharedLine *line = line_at(self->sharing, i);
		for (uint32_t j = 0; j < line->n_accesses; j++)
			put_csv_row(self, line, access_at(self->sharing, line, j), &rows);
	}
}

static void put_json_totals(
	const Table *self, LodeJsonStream *json, const char *name, const LodeAccessTotals *totals)
{
	lode_json_member_begin(json, name, '{');
	lode_totals_put(totals, self->sharing->total.weight, json);
	lode_json_end(json, '}');
	lode_json_line(json);
}

static void put_json_stores(
	const Table *self, const LodeSharingAccess *access, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_member_begin(json, "due_to", '[');
	for (uint32_t i = 0; i < access->n_stores; i++) {
		lode_row_begin(&rows);
		put_store(self, store_at(self->sharing, access, i), &rows);
		lode_row_end(&rows);
	}
	lode_json_end(json, ']');
}

static void put_json_line(const Table *self, const LodeSharedLine *line, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_line_begin(json, '{');
	put_line(self, line, &rows);
	lode_json_member_begin(json, "accesses", '[');
	for (uint32_t i = 0; i < line->n_accesses; i++) {
		lode_row_begin(&rows);
		put_access(self, access_at(self->sharing, line, i), &rows);
		if (self->options->are_misses_classified)
			put_json_stores(self, access_at(self->sharing, line, i), json);
		lode_row_end(&rows);
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const Table *self, FILE *out)
{
	const LodeLineSharing *sharing = self->sharing;
	LodeJsonStream json;

	lode_profile_json_open(&json, out, self->profile);
	lode_memory_notes_json(self->options->notes, &json);
	lode_json_line(&json);
	lode_json_member_bool(&json, "is_of_misses", sharing->is_of_misses);
	lode_json_member_number(&json, "line_bytes", (double)sharing->line_bytes);
	lode_json_member_number(&json, "n_lines", sharing->lines->len);
	lode_json_member_number(&json, "n_consecutive", (double)sharing->n_consecutive);
	lode_json_line(&json);
	put_json_totals(self, &json, "total", &sharing->total);
	put_json_totals(self, &json, "shared", &sharing->shared);
	put_json_totals(self, &json, "consecutive", &sharing->consecutive);
	put_json_totals(self, &json, "no_address", &sharing->unresolved);
	lode_json_member_number(
		&json, "shared_error", lode_share_of(sharing->shared_error, sharing->total.weight));
	lode_json_member_begin(&json, "lines", '[');
	for (guint i = 0; i < n_written(self); i++)
		put_json_line(self, line_at(sharing, i), &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

bool lode_memory_sharing_write(const LodeProfile *profile, const LodeLineSharing *sharing,
	const LodeMemorySharingOptions *options, FILE *out, GError **error)
{
	Table self = {.profile = profile, .sharing = sharing, .options = options};

	self.rows = g_array_new(FALSE, FALSE, sizeof(Row));
	if (options->format == LODE_VIEW_TEXT)
		write_text(&self, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&self, out);
	else
		write_csv(&self, out);
	g_array_unref(self.rows);
	return lode_view_flush(out, error);
}
