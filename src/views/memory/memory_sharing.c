/* SPDX-License-Identifier: MIT */
/* Each shared line, and below it what each thread does to its bytes. */
#include "views/memory/memory_sharing.h"

#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_json.h"

#include <math.h>
#include <string.h>

enum { ACCESSES_SHOWN = 8, STORES_SHOWN = 2 }; /* of each line, and of each access, on a screen */

/* A line changes its thread seldom where it does less than half as often as in a random order, if
 * that is often enough to tell. */
enum { MANY_TURNS = 8 };
#define SELDOM 0.5

/* Columns that not every result has. */
enum { OF_MISSES = 1, HAS_DATA_SOURCES = 2 };

typedef struct {
	const LodeProfile *profile;
	const LodeLineSharing *sharing;
	const LodeMemorySharingOptions *options;
} View;

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

/* The share of the conflicting weight that was to other bytes. */
static double false_share(double true_weight, double false_weight)
{
	return lode_share_of(false_weight, true_weight + false_weight);
}

/* --- text --- */

/* A line of a screen: a cache line, one of its accesses, a store that took the line away from it,
 * or how many more accesses there are. */
typedef struct {
	const LodeSharedLine *line;
	const LodeSharingAccess *access; /* NULL: the line itself, unless there are `n_others` */
	const LodeSharingStore *store;   /* of the access; NULL: itself */
	uint32_t n_others;
	double weight, samples, loads, stores, modified; /* no number: not of this kind of line */
	LodeStyle style;                                 /* of the numbers */
} Row;

static bool is_line(const Row *row)
{
	return row->access == NULL && row->n_others == 0;
}

static void append_share(const View *self, double weight, GString *out)
{
	g_string_append(out, LODE_SHARE_TEXT(lode_share_of(weight, self->sharing->total.weight)));
}

/* " ±0.4", in percent. */
static void append_error(const View *self, double error, GString *out)
{
	if (self->sharing->is_of_misses)
		return;
	char text[LODE_NUMBER_SIZE];
	double percent = 100 * lode_share_of(error, self->sharing->total.weight);

	g_string_append_printf(out, " %s%s", self->options->terminal.is_ascii ? "+-" : "±",
		g_ascii_formatd(text, sizeof(text), "%.1f", percent));
}

static LodeStyle append_weight(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Row *of = row;

	(void)terminal;
	if (of->store == NULL)
		append_share(user_data, of->weight, out);
	if (!is_line(of))
		return LODE_STYLE_PLAIN;
	append_error(user_data, of->line->weight_error, out);
	return LODE_STYLE_STRONG;
}

static LodeStyle append_kind(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const LodeSharedLine *line = ((const Row *)row)->line;

	(void)terminal, (void)user_data;
	if (!is_line(row))
		return LODE_STYLE_PLAIN;
	g_string_append(out, lode_sharing_kind_to_text(line->kind));
	if (line->kind == LODE_SHARING_MIXED)
		g_string_append_printf(out, ", %s false",
			LODE_SHARE_TEXT(false_share(line->true_weight, line->false_weight)));
	return line->kind == LODE_SHARING_TRUE ? LODE_STYLE_PLAIN : LODE_STYLE_ALARM;
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
static void append_stored(const View *self, const Row *row, GString *out)
{
	const LodeSharingStore *store = row->store;

	if (store->offset >= 0 && store->offset < (int64_t)self->sharing->line_bytes)
		append_bytes((uint64_t)store->offset, store->size, out);
	else
		g_string_append(
			out, LODE_ADDRESS_TEXT(row->line->address + (uint64_t)store->offset));
}

static LodeStyle append_place(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Row *of = row;

	(void)terminal;
	if (is_line(of))
		g_string_append(out, LODE_ADDRESS_TEXT(of->line->address));
	else if (of->store != NULL)
		append_stored(user_data, of, g_string_append(out, "    "));
	else if (of->access != NULL)
		append_bytes(of->access->offset, of->access->size, g_string_append(out, "  "));
	return is_line(of) ? LODE_STYLE_NAME : LODE_STYLE_FAINT;
}

/* "2 threads, both store, on 2 CPUs; in [heap]" */
static void append_line(const View *self, const LodeSharedLine *line, GString *out)
{
	const char *mapping = lode_memory_mapping_name(
		self->profile->memory, access_at(self->sharing, line, 0)->mapping);

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
	const View *self, uint32_t function, uint32_t location, uint64_t pc, GString *out)
{
	g_autofree char *place = lode_memory_place_text(self->profile, function, location);

	if (strcmp(place, "?") == 0)
		g_string_append(out, LODE_ADDRESS_TEXT(pc));
	else
		lode_function_name_append(out, place, &self->options->terminal);
}

static void append_store(const View *self, const LodeSharingStore *store, GString *out)
{
	g_autofree char *label = lode_memory_thread_label(self->profile, store->thread);

	g_string_append_printf(out, "  due to thread %s, ", label);
	append_code(self, store->function, store->location, store->pc, out);
}

static void append_access(const View *self, const LodeSharingAccess *access, GString *out)
{
	const char *object = lode_memory_object_name(self->profile->memory, access->object);
	g_autofree char *label = lode_memory_thread_label(self->profile, access->thread);

	g_string_append_printf(out, "thread %s: ", label);
	lode_function_name_append(out, object != NULL ? object : "?", &self->options->terminal);
	g_string_append(out, ", by ");
	append_code(self, access->function, access->location, access->pc, out);
}

static LodeStyle append_what(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Row *of = row;

	(void)terminal;
	if (of->n_others > 0)
		g_string_append_printf(out, "(%u more: JSON and CSV have all)", of->n_others);
	else if (of->access == NULL)
		append_line(user_data, of->line, out);
	else if (of->store != NULL)
		append_store(user_data, of->store, out);
	else
		append_access(user_data, of->access, out);
	return of->access != NULL && of->store == NULL ? LODE_STYLE_NAME : LODE_STYLE_FAINT;
}

static const LodeColumn row_columns[] = {
	{.title = "weight", .append = append_weight, .at = 1},
	{NULL, LODE_CELL_COUNT(Row, samples), .titled = 1, .at = 2, .dropped = 3,
		.styled = offsetof(Row, style)},
	{NULL, LODE_CELL_COUNT(Row, loads), .title = "loads", .at = 3, .dropped = 1},
	{NULL, LODE_CELL_COUNT(Row, stores), .title = "stores", .at = 4, .dropped = 2},
	{NULL, LODE_CELL_COUNT(Row, modified), .title = "HITM", .at = 5, .dropped = 4,
		.when = HAS_DATA_SOURCES},
	{.title = "sharing", .append = append_kind, .at = 6},
	{.title = "line, bytes", .append = append_place, .at = 7},
	{.title = "threads, object, code", .append = append_what, .at = 8},
};
const LodeColumns lode_sharing_row_columns = LODE_COLUMNS("rows", row_columns, Row);

/* A row for a line, for an access, or for the accesses that are not shown. */
static void add_row(GArray *rows, Row row, const LodeAccessTotals *totals)
{
	row.weight = totals->weight;
	row.samples = (double)totals->n_samples;
	row.loads = (double)totals->n_loads;
	row.stores = (double)totals->n_stores;
	g_array_append_val(rows, row);
}

static void add_rows(const View *self, const LodeSharedLine *line, GArray *rows)
{
	uint32_t shown = MIN(line->n_accesses, ACCESSES_SHOWN);
	LodeAccessTotals others = {0};

	add_row(rows, (Row){line, .modified = (double)line->n_modified}, &line->totals);
	for (uint32_t i = 0; i < shown; i++) {
		const LodeSharingAccess *access = access_at(self->sharing, line, i);
		add_row(rows, (Row){line, access, .modified = (double)access->n_modified},
			&access->totals);
		for (uint32_t j = 0; j < MIN(access->n_stores, STORES_SHOWN); j++) {
			const LodeSharingStore *store = store_at(self->sharing, access, j);
			const Row row = {line, access, store, .samples = (double)store->n_misses,
				.loads = (double)NAN, .stores = (double)NAN,
				.modified = (double)NAN, .style = LODE_STYLE_FAINT};
			g_array_append_val(rows, row);
		}
	}
	for (uint32_t i = shown; i < line->n_accesses; i++)
		lode_access_totals_join(&others, &access_at(self->sharing, line, i)->totals);
	if (line->n_accesses > shown)
		add_row(rows,
			(Row){line, .n_others = line->n_accesses - shown, .modified = (double)NAN},
			&others);
}

static uint32_t columns_of(const View *self)
{
	return (self->options->are_misses_classified ? OF_MISSES : 0) |
	       (self->sharing->has_data_sources ? HAS_DATA_SOURCES : 0);
}

static guint n_shown(const View *self)
{
	uint32_t limit = self->options->limit;
	guint n = self->sharing->lines->len;

	return limit == 0 ? n : MIN(limit, n);
}

static void write_table(const View *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	guint n_lines = self->sharing->lines->len, shown = n_shown(self);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));

	for (guint i = 0; i < shown; i++)
		add_rows(self, line_at(self->sharing, i), rows);
	const LodeListing listing = {&lode_sharing_row_columns, rows->len, rows->data,
		.user_data = self, .what = columns_of(self),
		.titles = {self->sharing->is_of_misses ? "misses" : "samples"}};
	lode_listing_write_text(&listing, terminal, out);
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
static void put_summary(const View *self, FILE *out)
{
	const LodeLineSharing *sharing = self->sharing;
	g_autoptr(GString) text = g_string_new(NULL);
	double by_kind[LODE_N_SHARING_KINDS] = {0};

	g_string_append(text, LODE_COUNT_TEXT(sharing->lines->len));
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

static void put_nothing(const View *self, FILE *out)
{
	uint64_t n = self->sharing->total.n_samples - self->sharing->unresolved.n_samples;

	if (self->options->are_misses_classified) {
		lode_display_print(&self->options->terminal, out,
			"No shared line: no core missed what another core's store took away.");
		return;
	}
	lode_display_print(&self->options->terminal, out,
		"No shared line: of %s sample%s with an address, none are of a line that two "
		"threads used at the same time and one stored to.",
		LODE_COUNT_TEXT(n), n == 1 ? "" : "s");
}

/* Writes the basis of the figures. */
static void put_evidence(const View *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeLineSharing *sharing = self->sharing;
	g_autoptr(GString) text = g_string_new(NULL);

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
			LODE_COUNT_TEXT(sharing->n_consecutive),
			sharing->n_consecutive == 1 ? "" : "s");
		append_share(self, sharing->consecutive.weight, text);
		g_string_append(text, " of weight) that threads used one after the other.");
		lode_display_print(terminal, out, "%s", text->str);
	}
}

static void write_text(const View *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const char *program = self->profile->run.program;

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

/* The code of an access, and the thread that executed it. */
typedef struct {
	char *thread;
	double tid, line; /* no number: unknown */
	const char *function, *file;
} Code;

static Code code_of(
	const LodeProfile *profile, uint32_t thread, uint32_t function, uint32_t location)
{
	const GArray *threads = profile->memory->threads;
	Code code = {.tid = (double)NAN, .line = (double)NAN};

	if (thread < threads->len) {
		code.thread = lode_memory_thread_label(profile, thread);
		code.tid = LODE_AT(threads, LodeThread, thread).tid;
	}
	if (function < profile->code.functions->len)
		code.function = lode_profile_function(profile, function)->name;
	if (location < profile->code.locations->len) {
		code.file = LODE_AT(profile->code.locations, LodeLocation, location).file;
		code.line = LODE_AT(profile->code.locations, LodeLocation, location).line;
	}
	return code;
}

typedef struct {
	Code code;
	double offset, bytes, misses; /* no number: no store is known */
	char *pc;
} Store;

static const LodeColumn store_columns[] = {
	{"offset", LODE_CELL_NUMBER(Store, offset)},
	{"bytes", LODE_CELL_NUMBER(Store, bytes)},
	{"thread", LODE_CELL_TEXT(Store, code.thread)},
	{"tid", LODE_CELL_NUMBER(Store, code.tid), .is_nullable = true},
	{"function", LODE_CELL_NAME(Store, code.function), .is_nullable = true},
	{"file", LODE_CELL_TEXT(Store, code.file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Store, code.line), .is_nullable = true},
	{"pc", LODE_CELL_TEXT(Store, pc)},
	{"misses", LODE_CELL_NUMBER(Store, misses)},
};
const LodeColumns lode_sharing_store_columns = LODE_COLUMNS("due_to", store_columns, Store);

static Store store_of(const View *self, const LodeSharingStore *of)
{
	return (Store){code_of(self->profile, of->thread, of->function, of->location),
		(double)of->offset, of->size, (double)of->n_misses,
		g_strdup(LODE_ADDRESS_TEXT(of->pc))};
}

/* Lists in a list: the accesses of a line, the stores of an access. */
typedef struct {
	const View *view;
	const LodeSharedLine *line;
	const LodeSharingAccess *access;
} Part;

static void fill_store(size_t number, void *out, const void *user_data)
{
	const Part *self = user_data;

	*(Store *)out = store_of(
		self->view, store_at(self->view->sharing, self->access, (uint32_t)number));
}

typedef struct {
	LodeSharingAccess of;
	Code code;
	LodeTotalsCells cells;
	const char *object, *mapping;
	double hitm; /* no number: not recorded */
} Access;

static void put_stores(LodeJsonStream *json, const void *row, const void *user_data)
{
	const Part part = {((const Part *)user_data)->view, .access = &((const Access *)row)->of};
	const LodeListing listing = {&lode_sharing_store_columns, part.access->n_stores,
		.fill = fill_store, .user_data = &part};

	lode_listing_put_json(&listing, json);
}

static const LodeColumn access_columns[] = {
	{"offset", LODE_CELL_NUMBER(Access, of.offset)},
	{"bytes", LODE_CELL_NUMBER(Access, of.size)},
	{"thread", LODE_CELL_TEXT(Access, code.thread)},
	{"tid", LODE_CELL_NUMBER(Access, code.tid), .is_nullable = true},
	{"object", LODE_CELL_NAME(Access, object), .is_nullable = true},
	{"mapping", LODE_CELL_TEXT(Access, mapping), .is_nullable = true},
	{"function", LODE_CELL_NAME(Access, code.function), .is_nullable = true},
	{"file", LODE_CELL_TEXT(Access, code.file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Access, code.line), .is_nullable = true},
	{"pc", LODE_CELL_ADDRESS(Access, of.pc)},
	LODE_TOTALS_COLUMNS(Access, cells, 0, 0, 0, 0),
	{"true_weight", LODE_CELL_NUMBER(Access, of.true_weight)},
	{"false_weight", LODE_CELL_NUMBER(Access, of.false_weight)},
	{"hitm", LODE_CELL_NUMBER(Access, hitm), .is_nullable = true},
	{.put = put_stores, .when = OF_MISSES, .type = "due_to?: SharingStore[]"},
};
const LodeColumns lode_sharing_access_columns = LODE_COLUMNS("accesses", access_columns, Access);

static double modified_of(const View *self, uint64_t n_modified)
{
	return self->sharing->has_data_sources ? (double)n_modified : (double)NAN;
}

static Access access_of(const View *self, const LodeSharingAccess *of)
{
	return (Access){*of, code_of(self->profile, of->thread, of->function, of->location),
		lode_totals_cells(&of->totals, self->sharing->total.weight),
		lode_memory_object_name(self->profile->memory, of->object),
		lode_memory_mapping_name(self->profile->memory, of->mapping),
		modified_of(self, of->n_modified)};
}

static void fill_access(size_t number, void *out, const void *user_data)
{
	const Part *self = user_data;

	*(Access *)out = access_of(
		self->view, access_at(self->view->sharing, self->line, (uint32_t)number));
}

typedef struct {
	LodeSharedLine of;
	LodeTotalsCells cells;
	const char *sharing;
	double cpus, turns, expected_turns, hitm; /* no number: not recorded */
	double share_error;
} Line;

static void put_accesses(LodeJsonStream *json, const void *row, const void *user_data)
{
	const View *self = user_data;
	const Part part = {self, .line = &((const Line *)row)->of};
	const LodeListing listing = {&lode_sharing_access_columns, part.line->n_accesses,
		.fill = fill_access, .user_data = &part, .what = columns_of(self)};

	lode_listing_put_json(&listing, json);
}

static const LodeColumn line_columns[] = {
	{"address", LODE_CELL_ADDRESS(Line, of.address)},
	{"pid", LODE_CELL_NUMBER(Line, of.pid)},
	{"sharing", LODE_CELL_TEXT(Line, sharing)},
	{"threads", LODE_CELL_NUMBER(Line, of.n_threads)},
	{"storing", LODE_CELL_NUMBER(Line, of.n_storing)},
	{"cpus", LODE_CELL_NUMBER(Line, cpus), .is_nullable = true},
	LODE_TOTALS_COLUMNS(Line, cells, 0, 0, 0, 0),
	{"share_error", LODE_CELL_NUMBER(Line, share_error)},
	{"turns", LODE_CELL_NUMBER(Line, turns), .is_nullable = true},
	{"expected_turns", LODE_CELL_NUMBER(Line, expected_turns), .is_nullable = true},
	{"true_weight", LODE_CELL_NUMBER(Line, of.true_weight)},
	{"false_weight", LODE_CELL_NUMBER(Line, of.false_weight)},
	{"hitm", LODE_CELL_NUMBER(Line, hitm), .is_nullable = true},
	{.put = put_accesses, .type = "accesses: SharingAccess[]"},
};
const LodeColumns lode_shared_line_columns = LODE_COLUMNS("lines", line_columns, Line);

static Line line_of(const View *self, const LodeSharedLine *of)
{
	double whole = self->sharing->total.weight;
	bool has_turns = of->expected_turns > 0;

	return (Line){
		.of = *of,
		.cells = lode_totals_cells(&of->totals, whole),
		.sharing = lode_sharing_kind_to_text(of->kind),
		.cpus = of->n_cpus > 0 ? of->n_cpus : (double)NAN,
		.turns = has_turns ? (double)of->turns : (double)NAN,
		.expected_turns = has_turns ? of->expected_turns : (double)NAN,
		.hitm = modified_of(self, of->n_modified),
		.share_error = lode_share_of(of->weight_error, whole),
	};
}

static void fill_line(size_t number, void *out, const void *user_data)
{
	const View *self = user_data;

	*(Line *)out = line_of(self, line_at(self->sharing, (guint)number));
}

/* In CSV each access has the columns of its line before its own, and after them those of the store
 * that took the line away most often. */
typedef struct {
	Line line;
	Access access;
	Store store;
} Cells;

static const LodeColumn columns[] = {
	{"line", LODE_GROUP("line_")},
	{LODE_CELL_PART(Cells, line, lode_shared_line_columns), .only = LODE_IN_CSV},
	LODE_GROUP_END,
	{LODE_CELL_PART(Cells, access, lode_sharing_access_columns), .only = LODE_IN_CSV},
	{"due_to", LODE_GROUP("due_to_")},
	{LODE_CELL_PART(Cells, store, lode_sharing_store_columns), .when = OF_MISSES},
	LODE_GROUP_END,
};
const LodeColumns lode_memory_sharing_columns = LODE_COLUMNS("sharing", columns, Cells);

static void fill_cells(size_t number, void *out, const void *user_data)
{
	const Part *self = user_data;
	const LodeLineSharing *sharing = self->view->sharing;
	const LodeSharingAccess *access = access_at(sharing, self->line, (uint32_t)number);
	Cells *cells = out;

	cells->line = line_of(self->view, self->line);
	cells->access = access_of(self->view, access);
	cells->store = (Store){.offset = (double)NAN,
		.bytes = (double)NAN,
		.misses = (double)NAN,
		.code = {.tid = (double)NAN, .line = (double)NAN}};
	if (access->n_stores > 0)
		cells->store = store_of(self->view, store_at(sharing, access, 0));
}

static void write_csv(const View *self, FILE *out)
{
	LodeListing listing = {
		&lode_memory_sharing_columns, .fill = fill_cells, .what = columns_of(self)};

	lode_listing_put_csv_titles(&listing, out);
	for (guint i = 0; i < n_shown(self); i++) {
		const Part part = {self, .line = line_at(self->sharing, i)};
		listing.n_rows = part.line->n_accesses;
		listing.user_data = &part;
		lode_listing_put_csv_rows(&listing, out);
	}
}

static void put_json_totals(
	const View *self, LodeJsonStream *json, const char *name, const LodeAccessTotals *totals)
{
	lode_json_member_begin(json, name, '{');
	lode_totals_put(totals, self->sharing->total.weight, json);
	lode_json_end(json, '}');
	lode_json_line(json);
}

static void write_json(const View *self, FILE *out)
{
	const LodeLineSharing *sharing = self->sharing;
	const LodeListing lines = {
		&lode_shared_line_columns, n_shown(self), .fill = fill_line, .user_data = self};
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
	lode_listing_put_json(&lines, &json);
	lode_json_end(&json, '}');
}

bool lode_memory_sharing_write(const LodeProfile *profile, const LodeLineSharing *sharing,
	const LodeMemorySharingOptions *options, FILE *out, GError **error)
{
	const View self = {profile, sharing, options};

	if (options->format == LODE_VIEW_TEXT)
		write_text(&self, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&self, out);
	else
		write_csv(&self, out);
	return lode_view_flush(out, error);
}
