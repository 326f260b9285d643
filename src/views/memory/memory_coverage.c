/* SPDX-License-Identifier: MIT */
/* The coverage of data addresses and data objects, as rows that all three forms share. */
#include "views/memory/memory_coverage.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/memory.h"
#include "model/run/program_run.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_json.h"

#include <math.h>

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

	for (int i = 0; i < REASONS_SHOWN; i++) {
		LodeAddressReason reason = lode_address_loss_reason(&left);
		double part = lode_share_of(left.reason_weight[reason], loss->total.weight);
		if (!(part > 0))
			return;
		g_string_append_printf(line, "%s%s %s", i > 0 ? ", " : "",
			lode_address_reason_to_text(reason), LODE_SHARE_TEXT(part));
		left.reason_weight[reason] = 0;
	}
}

static char *line_of_all(const LodeAddressLoss *all)
{
	GString *line = g_string_new(NULL);
	double share = lode_address_loss_share(all);
	double named = lode_share_of(all->lost_named.weight, all->total.weight);

	if (all->lost.n_samples == all->total.n_samples)
		g_string_append(line, "No load or store sample has an address (");
	else
		g_string_append_printf(line, "%s of load and store samples have no address (",
			LODE_SHARE_TEXT(share));
	append_reasons(all, line);
	g_string_append(line, "): pages and lines lack them");
	if (named >= WORTH_A_LINE)
		g_string_append_printf(line,
			"; the object of %s is known, and views by object have these",
			LODE_SHARE_TEXT(named));
	g_string_append(line, ".");
	return g_string_free(line, FALSE);
}

/* Where the lost ones lie, as far as that is known; NULL: too few to say. */
static char *line_of_ranges(const LodeProfile *profile, const LodeAddressLosses *losses)
{
	const LodeMemory *memory = lode_memory_of(profile);
	double all = losses->all.total.weight;
	GString *line;

	if (lode_share_of(losses->all.lost_ranged.weight, all) < WORTH_A_LINE)
		return NULL;
	line = g_string_new(NULL);
	g_string_append_printf(line, "%s are only known to be in the pages of an object:",
		LODE_SHARE_TEXT(lode_share_of(losses->all.lost_ranged.weight, all)));
	for (guint i = 0; i < MIN(losses->objects->len, OBJECTS_SHOWN); i++) {
		const LodeLostObject *lost = &LODE_AT(losses->objects, LodeLostObject, i);
		const char *name =
			lost->object != LODE_NONE
				? LODE_AT(memory->objects, LodeDataObject, lost->object).name
				: "?";
		g_string_append_printf(line, "%s %s in %s %s of %s", i > 0 ? "," : "",
			LODE_SHARE_TEXT(lode_share_of(lost->weight, all)),
			LODE_COUNT_TEXT(lost->n_pages), lost->n_pages == 1 ? "page" : "pages",
			name);
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
				LODE_SHARE_TEXT(next)));
	for (guint i = 0; i < MIN(threads->len, THREADS_SHOWN); i++) {
		const LodeAddressLoss *loss = &LODE_AT(threads, LodeAddressLoss, i);
		g_autofree char *name = lode_memory_thread_name(profile, loss->thread);
		g_autofree char *ending = (end != NULL ? end : end_of_pages)(loss, user_data);
		*name = g_ascii_toupper(*name);
		g_ptr_array_add(lines,
			g_strdup_printf("%s: %s of its load and store samples have no address; %s.",
				name, LODE_SHARE_TEXT(lode_address_loss_share(loss)), ending));
	}
	if (threads->len > THREADS_SHOWN)
		g_ptr_array_add(lines,
			g_strdup_printf("And %u more threads lost more than %s.",
				threads->len - THREADS_SHOWN, LODE_SHARE_TEXT(MUCH_OF_A_THREAD)));
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

	lode_json_member_begin(json, "losses", '{');
	put_loss(&losses->all, json);
	lode_json_member_begin(json, "threads", '[');
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
	lode_json_strings(json, lines);
	lode_json_end(json, '}');
}

/* --- the view --- */

typedef struct {
	const char *event, *section, *name;
	const char *label; /* for people */
	LodeTotalsCells cells;
	LodeStyle style;
	char *owned; /* the name; NULL: it is borrowed */
} Row;

static LodeStyle append_what(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Row *self = row;

	(void)terminal, (void)user_data;
	g_string_append(out, self->label);
	if (self->style == LODE_STYLE_PLAIN)
		g_string_append_printf(out, " %s", self->name);
	return self->style == LODE_STYLE_PLAIN ? LODE_STYLE_PLAIN : LODE_STYLE_NAME;
}

static const LodeColumn columns[] = {
	/* In JSON the event stands before its rows. */
	{"event", LODE_CELL_TEXT(Row, event), .only = LODE_IN_CSV},
	{"section", LODE_CELL_TEXT(Row, section)},
	{"name", LODE_CELL_TEXT(Row, name)},
	LODE_TOTALS_COLUMNS(Row, cells, 1, 1, offsetof(Row, style), 0),
	{.title = "of what was sampled", .append = append_what, .at = 6},
};
const LodeColumns lode_memory_coverage_columns = LODE_COLUMNS("rows", columns, Row);

/* Rows of one event. */
typedef struct {
	GArray *rows; /* Row */
	const char *event;
	double whole;
} Table;

static void clear_row(void *row)
{
	g_free(((Row *)row)->owned);
}

static void add(Table *self, const char *section, const char *name, const LodeAccessTotals *totals,
	const char *label)
{
	const Row row = {self->event, section, name, label, lode_totals_cells(totals, self->whole),
		g_str_equal(section, "total") ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN, NULL};

	g_array_append_val(self->rows, row);
}

static void add_addresses(Table *rows, const LodeMemoryCoverage *coverage)
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

static void add_all(Table *rows, const LodeMemoryCoverage *coverage)
{
	add_addresses(rows, coverage);
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add(rows, "named", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->named[i], "named by layer");
	add(rows, "total", "unnamed", &coverage->unnamed, "named by no layer");
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add(rows, "known", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->known[i], "known to layer");
	add(rows, "total", "member", &coverage->members, "down to a member");
}

/* Rows that count nothing say nothing to a person, but for layers and the sums; latencies are not
 * of interest here. */
static void drop_empty(GArray *rows)
{
	for (guint i = rows->len; i-- > 0;) {
		Row *row = &g_array_index(rows, Row, i);
		bool may_go = g_str_equal(row->section, "rule") ||
		              g_str_equal(row->section, "reason") ||
		              g_str_equal(row->name, "unverified") ||
		              g_str_equal(row->name, "unnamed");
		row->cells.mean_latency = (double)NAN;
		if (may_go && row->cells.totals.n_samples == 0)
			g_array_remove_index(rows, i);
	}
}

static void add_losses(Table *self, char *name, const LodeAddressLoss *loss)
{
	self->whole = loss->total.weight;
	add(self, "access", name, &loss->total, NULL);
	add(self, "lost-access", name, &loss->lost, NULL);
	add(self, "ranged-access", name, &loss->lost_ranged, NULL);
	g_array_index(self->rows, Row, self->rows->len - 1).owned = name;
}

/* GArray of Row; the caller unrefs it. */
static GArray *rows_of(
	const LodeProfile *profile, const LodeMemoryCoverage *coverage, bool is_for_people)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));
	Table self = {
		rows, lode_profile_event(profile, coverage->event)->name, coverage->total.weight};

	g_array_set_clear_func(rows, clear_row);
	add_all(&self, coverage);
	if (is_for_people) {
		drop_empty(rows);
		return rows;
	}
	add_losses(&self, g_strdup("all"), &coverage->losses.all);
	for (guint i = 0; i < coverage->losses.threads->len; i++) {
		const LodeAddressLoss *loss = &LODE_AT(
			coverage->losses.threads, LodeAddressLoss, i);
		add_losses(&self, lode_memory_thread_name(profile, loss->thread), loss);
	}
	return rows;
}

static LodeListing listing_of(const GArray *rows)
{
	return (LodeListing){&lode_memory_coverage_columns, rows->len, .rows = rows->data};
}

static void write_table(const LodeProfile *profile, const LodeMemoryCoverage *coverage,
	const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GArray) rows = rows_of(profile, coverage, true);
	const LodeListing listing = listing_of(rows);

	fputc('\n', out);
	lode_display_print(
		terminal, out, "Event %s:", lode_profile_event(profile, coverage->event)->name);
	lode_listing_write_text(&listing, terminal, out);
}

static void write_text(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out)
{
	const LodeProgramRun *run = lode_program_run_of(profile);

	lode_display_print(&options->terminal, out,
		"%s · coverage of data addresses and data objects",
		run->program != NULL ? run->program : "?");
	lode_memory_notes_losses(options->notes, &options->terminal, out);
	if (coverage->len == 0)
		fputs("\nNo samples.\n", out);
	for (guint i = 0; i < coverage->len; i++)
		write_table(profile, &g_array_index(coverage, LodeMemoryCoverage, i),
			&options->terminal, out);
	fputc('\n', out);
	lode_memory_notes_text(options->notes, &options->terminal, out);
}

static void put_json_event(
	const LodeProfile *profile, const LodeMemoryCoverage *coverage, LodeJsonStream *json)
{
	g_autoptr(GArray) rows = rows_of(profile, coverage, false);
	const LodeListing listing = listing_of(rows);

	lode_json_line_begin(json, '{');
	lode_json_member_string(json, "event", lode_profile_event(profile, coverage->event)->name);
	lode_listing_put_json(&listing, json);
	lode_json_end(json, '}');
}

static void write_json(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out)
{
	LodeJsonStream json;

	lode_profile_json_open(&json, out, profile);
	lode_memory_notes_json(options->notes, &json);
	lode_json_line(&json);
	lode_json_member_begin(&json, "coverage", '[');
	for (guint i = 0; i < coverage->len; i++)
		put_json_event(profile, &g_array_index(coverage, LodeMemoryCoverage, i), &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(const LodeProfile *profile, const GArray *coverage, FILE *out)
{
	lode_listing_put_csv_titles(&(LodeListing){&lode_memory_coverage_columns}, out);
	for (guint i = 0; i < coverage->len; i++) {
		g_autoptr(GArray) rows = rows_of(
			profile, &g_array_index(coverage, LodeMemoryCoverage, i), false);
		const LodeListing listing = listing_of(rows);
		lode_listing_put_csv_rows(&listing, out);
	}
}

bool lode_memory_coverage_write(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	if (options->format == LODE_VIEW_TEXT)
		write_text(profile, coverage, options, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(profile, coverage, options, out);
	else
		write_csv(profile, coverage, out);
	return lode_view_flush(out, error);
}
