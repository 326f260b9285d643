/* SPDX-License-Identifier: MIT */
/* The coverage of data addresses and data objects, as rows that all three forms share. */
#include "views/memory/memory_coverage.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/profile.h"
#include "views/form/display_text.h"
#include "views/form/table.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

/* --- what is lost, in words --- */

/* Less is not worth a line; a thread that lost so much has one of its own, if it has so much of all
 * weight and threads differ by so much. */
#define WORTH_A_LINE 0.05
#define WORTH_ADVICE 0.5
#define MUCH_OF_A_THREAD 0.2
#define LEAST_THREAD 0.01

enum { THREADS_SHOWN = 4, REASONS_SHOWN = 3, OBJECTS_SHOWN = 3 };

static void append_reasons(const LodeAddressLoss *loss, GString *line)
{
	LodeAddressLoss left = *loss;
	char share[LODE_NUMBER_SIZE];

	for (int i = 0; i < REASONS_SHOWN; i++) {
		LodeAddressReason reason = lode_address_loss_reason(&left);
		double part = lode_share_of(left.reason_weight[reason], loss->total.weight);
		if (!(part > 0))
			return;
		g_string_append_printf(line, "%s%s %s", i > 0 ? ", " : "",
			lode_address_reason_to_text(reason), lode_number_format_share(part, share));
		left.reason_weight[reason] = 0;
	}
}

static char *line_of_all(const LodeAddressLoss *all)
{
	GString *line = g_string_new(NULL);
	double share = lode_address_loss_share(all);
	double named = lode_share_of(all->lost_named.weight, all->total.weight);
	char number[LODE_NUMBER_SIZE];

	if (all->lost.n_samples == all->total.n_samples)
		g_string_append(line, "No load or store sample has an address (");
	else
		g_string_append_printf(line, "%s of load and store samples have no address (",
			lode_number_format_share(share, number));
	append_reasons(all, line);
	g_string_append(line, "): pages and lines lack them");
	if (named >= WORTH_A_LINE)
		g_string_append_printf(line,
			"; the object of %s is known, and views by object have these",
			lode_number_format_share(named, number));
	g_string_append(line, ".");
	return g_string_free(line, FALSE);
}

/* Where the lost ones lie, as far as that is known; NULL: too few to say. */
static char *line_of_ranges(const LodeProfile *profile, const LodeAddressLosses *losses)
{
	double all = losses->all.total.weight;
	char number[LODE_NUMBER_SIZE], pages[LODE_NUMBER_SIZE];
	GString *line;

	if (lode_share_of(losses->all.lost_ranged.weight, all) < WORTH_A_LINE)
		return NULL;
	line = g_string_new(NULL);
	g_string_append_printf(line, "%s are only known to be in the pages of an object:",
		lode_number_format_share(
			lode_share_of(losses->all.lost_ranged.weight, all), number));
	for (guint i = 0; i < MIN(losses->objects->len, OBJECTS_SHOWN); i++) {
		const LodeLostObject *lost = &LODE_AT(losses->objects, LodeLostObject, i);
		const char *name = lost->object != LODE_NONE ? LODE_AT(profile->memory->objects,
								       LodeDataObject, lost->object)
		                                                       .name
		                                             : "?";
		g_string_append_printf(line, "%s %s in %s %s of %s", i > 0 ? "," : "",
			lode_number_format_share(lode_share_of(lost->weight, all), number),
			lode_number_format_count((double)lost->n_pages, pages),
			lost->n_pages == 1 ? "page" : "pages", name);
	}
	if (losses->objects->len > OBJECTS_SHOWN)
		g_string_append_printf(
			line, ", and of %u more", losses->objects->len - OBJECTS_SHOWN);
	g_string_append(line, ".");
	return g_string_free(line, FALSE);
}

LODE_ORDER(compare_lost, LodeAddressLoss, LODE_DESCENDING(lost.weight), LODE_ASCENDING(thread))

GArray *lode_memory_loss_threads(const LodeAddressLosses *losses)
{
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(LodeAddressLoss));
	double least = 1, most = 0;

	for (guint i = 0; i < losses->threads->len; i++) {
		const LodeAddressLoss *loss = &LODE_AT(losses->threads, LodeAddressLoss, i);
		double share = lode_address_loss_share(loss);
		if (loss->total.weight < LEAST_THREAD * losses->all.total.weight)
			continue;
		least = MIN(least, share);
		most = MAX(most, share);
		if (share > MUCH_OF_A_THREAD)
			g_array_append_val(chosen, *loss);
	}
	if (most - least < MUCH_OF_A_THREAD)
		g_array_set_size(chosen, 0);
	g_array_sort(chosen, compare_lost);
	return chosen;
}

static char *end_of_pages(const LodeAddressLoss *loss, const void *user_data)
{
	(void)user_data;
	return g_strdup(loss->lost.n_samples == loss->total.n_samples
				? "pages and lines show nothing of it"
				: "pages and lines show only the rest");
}

GPtrArray *lode_memory_loss_lines(const LodeProfile *profile, const LodeAddressLosses *losses,
	LodeMemoryLossEnd end, const void *user_data)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) threads = lode_memory_loss_threads(losses);
	char number[LODE_NUMBER_SIZE];

	if (lode_address_loss_share(&losses->all) >= WORTH_A_LINE)
		g_ptr_array_add(lines, line_of_all(&losses->all));
	char *ranges = line_of_ranges(profile, losses);
	if (ranges != NULL)
		g_ptr_array_add(lines, ranges);
	if (lode_address_loss_share(&losses->all) >= WORTH_ADVICE)
		g_ptr_array_add(lines, g_strdup_printf("To lose less: %s.",
					       lode_address_loss_advice(&losses->all, profile)));
	double next = lode_share_of(
		losses->all.next_round.weight, losses->all.total.weight - losses->all.lost.weight);
	if (next >= WORTH_A_LINE)
		g_ptr_array_add(lines,
			g_strdup_printf("%s of the addresses are of the next round of the same "
					"load.",
				lode_number_format_share(next, number)));
	for (guint i = 0; i < MIN(threads->len, THREADS_SHOWN); i++) {
		const LodeAddressLoss *loss = &LODE_AT(threads, LodeAddressLoss, i);
		g_autofree char *name = lode_memory_thread_name(profile, loss->thread);
		g_autofree char *ending = (end != NULL ? end : end_of_pages)(loss, user_data);
		*name = g_ascii_toupper(*name);
		g_ptr_array_add(lines,
			g_strdup_printf("%s: %s of its load and store samples have no address; %s.",
				name,
				lode_number_format_share(lode_address_loss_share(loss), number),
				ending));
	}
	if (threads->len > THREADS_SHOWN)
		g_ptr_array_add(lines, g_strdup_printf("And %u more threads lost more than %s.",
					       threads->len - THREADS_SHOWN,
					       lode_number_format_share(MUCH_OF_A_THREAD, number)));
	return lines;
}

static void put_loss(const LodeAddressLoss *loss, LodeJsonStream *json)
{
	lode_json_member_number(json, "weight", loss->total.weight);
	lode_json_member_number(json, "lost", loss->lost.weight);
	lode_json_member_number(json, "lost_named", loss->lost_named.weight);
	lode_json_member_number(json, "lost_ranged", loss->lost_ranged.weight);
	lode_json_member_number(json, "next_round", loss->next_round.weight);
	lode_json_member_number(json, "share", lode_address_loss_share(loss));
}

void lode_memory_loss_json(
	const LodeProfile *profile, const LodeAddressLosses *losses, LodeJsonStream *json)
{
	g_autoptr(GPtrArray) lines = lode_memory_loss_lines(profile, losses, NULL, NULL);

	lode_json_key(json, "losses");
	lode_json_begin(json, '{');
	put_loss(&losses->all, json);
	lode_json_key(json, "threads");
	lode_json_begin(json, '[');
	for (guint i = 0; i < losses->threads->len; i++) {
		const LodeAddressLoss *loss = &LODE_AT(losses->threads, LodeAddressLoss, i);
		if (loss->lost.n_samples == 0)
			continue;
		lode_json_begin(json, '{');
		lode_memory_thread_json(json, profile, loss->thread);
		put_loss(loss, json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_key(json, "lines");
	lode_json_begin(json, '[');
	for (guint i = 0; i < lines->len; i++)
		lode_json_string(json, lines->pdata[i]);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

/* --- the view --- */

typedef struct {
	const char *section, *name;
	const LodeAccessTotals *totals;
	const char *label; /* for people */
} Row;

static void add(GArray *rows, const char *section, const char *name, const LodeAccessTotals *totals,
	const char *label)
{
	Row row = {section, name, totals, label};

	g_array_append_val(rows, row);
}

static void add_addresses(GArray *rows, const LodeMemoryCoverage *coverage)
{
	add(rows, "total", "samples", &coverage->total, "all samples");
	add(rows, "total", "resolved", &coverage->resolved, "with a data address");
	for (int i = LODE_RULE_NONE + 1; i < LODE_N_RULES; i++)
		add(rows, "rule", lode_address_rule_to_text((LodeAddressRule)i),
			&coverage->by_rule[i], "  by rule");
	add(rows, "total", "unverified", &coverage->unverified, "  of these in doubt");
	for (int i = LODE_REASON_NONE + 1; i < LODE_N_REASONS; i++)
		add(rows, "reason", lode_address_reason_to_text((LodeAddressReason)i),
			&coverage->by_reason[i], "without, by reason");
}

/* GArray of Row; the caller unrefs it. */
static GArray *make_rows(const LodeMemoryCoverage *coverage)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));

	add_addresses(rows, coverage);
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add(rows, "named", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->named[i], "named by layer");
	add(rows, "total", "unnamed", &coverage->unnamed, "named by no layer");
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add(rows, "known", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->known[i], "known to layer");
	add(rows, "total", "member", &coverage->members, "down to a member");
	return rows;
}

typedef struct {
	GArray *rows;
	double whole;
	const LodeTerminal *terminal;
} Table;

enum { COLUMN_WEIGHT, COLUMN_SAMPLES, COLUMN_LOADS, COLUMN_STORES, COLUMN_WHAT, N_COLUMNS };

static LodeStyle coverage_cell(size_t number, unsigned column, GString *out, const void *user_data)
{
	static const LodeTotalsColumn totals[] = {
		LODE_TOTALS_WEIGHT, LODE_TOTALS_SAMPLES, LODE_TOTALS_LOADS, LODE_TOTALS_STORES};
	const Table *self = user_data;
	const Row *row = &g_array_index(self->rows, Row, number);
	bool is_total = g_str_equal(row->section, "total");

	if (column < COLUMN_WHAT) {
		lode_totals_append(row->totals, totals[column], self->whole, out);
		return column == COLUMN_WEIGHT && is_total ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
	}
	g_string_append(out, row->label);
	if (!is_total)
		g_string_append_printf(out, " %s", row->name);
	return is_total ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
}

/* Rows that count nothing say nothing to a person, but for layers and the sums. */
static void drop_empty(GArray *rows)
{
	for (guint i = rows->len; i-- > 0;) {
		const Row *row = &g_array_index(rows, Row, i);
		bool may_go = g_str_equal(row->section, "rule") ||
		              g_str_equal(row->section, "reason") ||
		              g_str_equal(row->name, "unverified") ||
		              g_str_equal(row->name, "unnamed");
		if (may_go && row->totals->n_samples == 0)
			g_array_remove_index(rows, i);
	}
}

static void write_table(const LodeProfile *profile, const LodeMemoryCoverage *coverage,
	const LodeTerminal *terminal, FILE *out)
{
	static const LodeTableColumn columns[N_COLUMNS] = {
		{"weight"},
		{"samples", .dropped = 1},
		{"loads", .dropped = 2},
		{"stores", .dropped = 3},
		{"of what was sampled", .is_text = true},
	};
	g_autoptr(GArray) rows = make_rows(coverage);
	Table self = {rows, coverage->total.weight, terminal};

	drop_empty(rows);
	fputc('\n', out);
	lode_profile_lines_print(
		terminal, out, "Event %s:", lode_profile_event(profile, coverage->event)->name);
	LodeTable table = {columns, N_COLUMNS, rows->len, coverage_cell, &self};
	lode_table_write(&table, terminal, out);
}

static void write_text(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out)
{
	lode_profile_lines_print(&options->terminal, out,
		"%s · coverage of data addresses and data objects",
		profile->program != NULL ? profile->program : "?");
	lode_memory_notes_losses(options->notes, &options->terminal, out);
	if (coverage->len == 0)
		fputs("\nNo samples.\n", out);
	for (guint i = 0; i < coverage->len; i++)
		write_table(profile, &g_array_index(coverage, LodeMemoryCoverage, i),
			&options->terminal, out);
	fputc('\n', out);
	lode_memory_notes_text(options->notes, &options->terminal, out);
}

/* In JSON the event stands before its rows. */
static void put_row(
	const char *event, const Row *row, const LodeAccessTotals *total, LodeRowStream *rows)
{
	lode_row_begin(rows);
	lode_row_csv_text(rows, "event", event);
	lode_row_text(rows, "section", row->section);
	lode_row_text(rows, "name", row->name);
	lode_totals_put(row->totals, total->weight, rows);
	lode_row_end(rows);
}

static void put_losses(
	const char *event, const char *name, const LodeAddressLoss *loss, LodeRowStream *stream)
{
	const Row access = {"access", name, &loss->total, NULL};
	const Row lost = {"lost-access", name, &loss->lost, NULL};
	const Row ranged = {"ranged-access", name, &loss->lost_ranged, NULL};

	put_row(event, &access, &loss->total, stream);
	put_row(event, &lost, &loss->total, stream);
	put_row(event, &ranged, &loss->total, stream);
}

static void put_event(
	const LodeProfile *profile, const LodeMemoryCoverage *coverage, LodeRowStream *stream)
{
	const char *event = lode_profile_event(profile, coverage->event)->name;
	g_autoptr(GArray) rows = make_rows(coverage);

	for (guint i = 0; i < rows->len; i++)
		put_row(event, &g_array_index(rows, Row, i), &coverage->total, stream);
	put_losses(event, "all", &coverage->losses.all, stream);
	for (guint i = 0; i < coverage->losses.threads->len; i++) {
		const LodeAddressLoss *loss = &LODE_AT(
			coverage->losses.threads, LodeAddressLoss, i);
		g_autofree char *name = lode_memory_thread_name(profile, loss->thread);
		put_losses(event, name, loss, stream);
	}
}

static void put_json_event(
	const LodeProfile *profile, const LodeMemoryCoverage *coverage, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "event", lode_profile_event(profile, coverage->event)->name);
	lode_json_key(json, "rows");
	lode_json_begin(json, '[');
	put_event(profile, coverage, &rows);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, profile);
	lode_json_line(&json);
	lode_memory_notes_json(options->notes, &json);
	lode_json_line(&json);
	lode_json_key(&json, "coverage");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < coverage->len; i++)
		put_json_event(profile, &g_array_index(coverage, LodeMemoryCoverage, i), &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(const LodeProfile *profile, const GArray *coverage, FILE *out)
{
	const LodeAccessTotals no_totals = {0};
	const Row none = {.totals = &no_totals};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_row(NULL, &none, &no_totals, &rows);
	for (guint i = 0; i < coverage->len; i++)
		put_event(profile, &g_array_index(coverage, LodeMemoryCoverage, i), &rows);
}

bool lode_memory_coverage_write(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(profile, coverage, options, out);
		break;
	case LODE_VIEW_JSON:
		write_json(profile, coverage, options, out);
		break;
	case LODE_VIEW_CSV:
		write_csv(profile, coverage, out);
		break;
	}
	return lode_view_flush(out, error);
}
