/* SPDX-License-Identifier: MIT */
#include "views/findings/diagnosis_lines.h"

#include "base/text/number_format.h"
#include "model/code.h"
#include "model/findings.h"
#include "views/figures/inlined_lines.h"
#include "views/findings/finding_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"

#include <math.h>
#include <string.h>

enum { INDENT = 4, LEAST_CLAUSE = 24, PAGE_PLACES = 10 };

/* --- text --- */

/* An interval whose ends differ by a greater factor tells no more than its upper end. */
static const double WIDE = 5;

/* An upper end that is next to all tells nothing. */
static const double NEARLY_ALL = 0.985;

static const double MOST_SAVED = 0.99;

static void append_range(GString *out, double low, double high)
{
	/* Something is always left. */
	high = MIN(high, MOST_SAVED);
	low = isnan(low) ? low : MIN(low, MOST_SAVED);
	if (isnan(low) || low < 0.005 || high > WIDE * low)
		g_string_append_printf(out, "up to %.0f %%", 100 * high);
	else if (round(100 * low) == round(100 * high))
		g_string_append_printf(out, "%.0f %%", 100 * high);
	else if (high >= NEARLY_ALL)
		g_string_append_printf(out, "%.0f %% or more", 100 * low);
	else
		g_string_append_printf(out, "%.0f–%.0f %%", 100 * low, 100 * high);
}

/* "saves 20–35 %", "saves up to 35 %"; where diagnoses are in the order of the clock, and that
 * differs, "saves 2–3 % by the clock". Without a remedy "takes 36 %". */
static void append_saves(GString *out, const LodeDiagnosis *self, bool is_by_clock)
{
	if (!lode_diagnosis_saves(self)) {
		g_string_append_printf(out, "takes %.0f %%", 100 * self->time);
		return;
	}
	g_string_append(out, "saves ");
	if (self->scope == LODE_SCOPE_WAIT) {
		append_range(out, self->clock_low, self->clock_high);
		g_string_append(out, " by the clock");
	} else if (is_by_clock && self->high - self->clock_high >= 0.01) {
		append_range(out, self->low * self->clock_high / self->high, self->clock_high);
		g_string_append(out, " by the clock");
	} else {
		append_range(out, self->low, self->high);
	}
}

static size_t width_of(const LodeTerminal *terminal)
{
	return terminal->width != 0 ? terminal->width : LODE_SCREEN_WIDTH;
}

/* The library of a function that is only known by its address; NULL: none. The caller frees it. */
static char *library_of(const LodeDiagnosis *self, const LodeProfile *profile)
{
	if (self->site.instruction == LODE_NONE)
		return NULL;
	const LodeFunction *function = lode_profile_function(
		profile, lode_profile_instruction(profile, self->site.instruction)->function);
	return g_strcmp0(function->name, self->site.function) == 0
	               ? lode_function_library(profile, function)
	               : NULL;
}

/* What an inlined function is in is told where that is no longer. */
enum { SHORT_NAME = 30 };

/* "hash_step (table.c:41) and 39 more functions", of which the name is shortened to fit a line; of
 * inlined code "hash_step (table.c:41), in main". */
static void append_place(GString *out, const LodeDiagnosis *self, const LodeProfile *profile,
	const LodeTerminal *terminal)
{
	g_autofree char *base = self->site.file != NULL ? g_path_get_basename(self->site.file)
	                                                : NULL;
	g_autofree char *library = library_of(self, profile);
	g_autoptr(GString) rest = g_string_new(NULL);

	if (self->site.function != NULL)
		lode_function_name_append(out,
			self->site.inlined != NULL ? self->site.inlined : self->site.function,
			terminal);
	if (base != NULL && self->site.line > 0)
		g_string_append_printf(rest, "%s%s:%u%s", self->site.function != NULL ? " (" : "",
			base, self->site.line, self->site.function != NULL ? ")" : "");
	else if (library != NULL)
		g_string_append_printf(rest, " in %s", library);
	if (self->site.inlined != NULL && strlen(self->site.function) <= SHORT_NAME)
		g_string_append_printf(rest, ", in %s", self->site.function);
	/* Titles of waits have it. */
	if (self->object != NULL && self->scope != LODE_SCOPE_WAIT)
		g_string_append_printf(
			rest, "%s%s", out->len + rest->len > 0 ? ": " : "", self->object);
	/* Without a name there are no others. */
	if (self->functions > 1 && out->len + rest->len > 0)
		g_string_append_printf(rest, " and %u more function%s", self->functions - 1,
			self->functions == 2 ? "" : "s");
	size_t used = INDENT + lode_display_width(rest->str);
	if (!terminal->has_full_names)
		lode_display_shorten(out, MAX(width_of(terminal), used + LEAST_CLAUSE) - used,
			terminal->is_ascii);
	g_string_append(out, rest->str);
}

void lode_diagnosis_lines_put(const LodeTerminal *terminal, const char *text, FILE *out)
{
	g_autoptr(GString) line = g_string_new(NULL);

	lode_display_append(line, text, terminal->is_ascii);
	if (!terminal->has_full_names)
		lode_display_shorten_words(line, width_of(terminal), terminal->is_ascii);
	fprintf(out, "%s\n", line->str);
}

static void put_line(const LodeTerminal *terminal, const char *begin, const char *text, FILE *out)
{
	g_autofree char *line = g_strdup_printf("%s%s", begin, text);

	lode_diagnosis_lines_put(terminal, line, out);
}

static void put_title(
	const LodeDiagnoses *self, guint index, const LodeTerminal *terminal, FILE *out)
{
	const LodeDiagnosis *one = lode_diagnoses_at(self, index);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *begin = g_strdup_printf("D%-3u", index + 1);

	append_saves(text, one, self->is_by_clock);
	g_string_append_printf(text, "  %s", one->title);
	put_line(terminal, begin, text->str, out);
}

/* The bytes of a text, of which `width` have room, up to the end of a clause. */
static size_t whole_clauses(const char *text, size_t width)
{
	size_t n = 0;
	int depth = 0;

	for (size_t i = 0; text[i] != '\0' && i <= width; i++) {
		bool is_end = text[i + 1] == ' ' || text[i + 1] == '\0';
		if (depth == 0 && ((is_end && strchr(";:.,", text[i]) != NULL) ||
					  g_str_has_prefix(text + i, " (")))
			n = i;
		depth += (text[i] == '(') - (text[i] == ')');
	}
	return n;
}

/* The sentences of it that have room on a line, or the clauses of the first. */
static void put_remedy(const LodeDiagnosis *self, const LodeTerminal *terminal, FILE *out)
{
	const char *remedy = self->remedy;
	g_autofree char *begin = self->authors != NULL
	                                 ? g_strdup_printf(
						   "  → for the authors of %s: ", self->authors)
	                                 : g_strdup("  → ");
	size_t used = lode_display_width(begin), n = 0;
	size_t width = MAX(width_of(terminal), used + LEAST_CLAUSE) - used;
	int depth = 0;

	for (size_t i = 0; remedy[i] != '\0' && i <= width && !terminal->has_full_names; i++) {
		if (depth == 0 && strchr(";:.", remedy[i]) != NULL &&
			(remedy[i + 1] == ' ' || remedy[i + 1] == '\0'))
			n = i;
		depth += (remedy[i] == '(') - (remedy[i] == ')');
	}
	if (n < LEAST_CLAUSE && strlen(remedy) > width && !terminal->has_full_names)
		n = whole_clauses(remedy, width);
	g_autofree char *brief = n >= LEAST_CLAUSE ? g_strndup(remedy, n) : g_strdup(remedy);
	put_line(terminal, begin, brief, out);
}

void lode_diagnosis_lines_write(const LodeDiagnoses *self, const LodeProfile *profile, guint index,
	const LodeTerminal *terminal, FILE *out)
{
	const LodeDiagnosis *one = lode_diagnoses_at(self, index);
	g_autoptr(GString) place = g_string_new(NULL);

	put_title(self, index, terminal, out);
	append_place(place, one, profile, terminal);
	if (place->len > 0)
		put_line(terminal, "    ", place->str, out);
	if (one->evidence->len > 0)
		put_line(terminal, "    ", g_array_index(one->evidence, LodeEvidence, 0).text, out);
	if (one->remedy != NULL)
		put_remedy(one, terminal, out);
}

guint lode_diagnosis_lines_brief(const LodeDiagnoses *self, const LodeProfile *profile, guint index,
	guint room, const LodeTerminal *terminal, FILE *out)
{
	const LodeDiagnosis *one = lode_diagnoses_at(self, index);
	g_autoptr(GString) place = g_string_new(NULL);
	guint n = 0;

	put_title(self, index, terminal, out);
	append_place(place, one, profile, terminal);
	if (place->len > 0 && n < room) {
		put_line(terminal, "    ", place->str, out);
		n++;
	}
	if (one->remedy != NULL && n < room) {
		put_remedy(one, terminal, out);
		n++;
	}
	return n;
}

void lode_diagnosis_lines_explain(const LodeDiagnoses *self, const LodeProfile *profile,
	guint index, const LodeTerminal *terminal, FILE *out)
{
	const LodeDiagnosis *one = lode_diagnoses_at(self, index);
	g_autoptr(GString) place = g_string_new(NULL);

	put_title(self, index, terminal, out);
	append_place(place, one, profile, terminal);
	if (place->len > 0)
		lode_display_print_indented(terminal, INDENT, out, "%s", place->str);
	lode_display_print_indented(terminal, INDENT, out, "%s", one->explanation);
	for (guint i = 0; i < one->evidence->len; i++)
		lode_display_print_indented(terminal, INDENT, out, "%s: %s.",
			i == 0 ? "Evidence" : "And",
			g_array_index(one->evidence, LodeEvidence, i).text);
	for (guint i = 0; i < one->ruled_out->len; i++)
		lode_display_print_indented(terminal, INDENT, out, "Ruled out: %s.",
			(const char *)g_ptr_array_index(one->ruled_out, i));
	lode_display_print_indented(terminal, INDENT, out, "What %s%s: %s",
		one->authors != NULL ? "its authors could do in " : "people do",
		one->authors != NULL ? one->authors : "", one->remedy);
	if (one->source != NULL)
		lode_display_print_indented(terminal, INDENT, out, "Source: %s.", one->source);
	lode_display_print_indented(
		terminal, INDENT, out, "Name: %s%s", one->name, one->is_muted ? ", muted" : "");
}

/* --- for programs --- */

enum { ON_PAGE = 1, HAS_CLOCK = 2 };

/* Some of a list of diagnoses, from the first on, whose number from 1 is `number`. */
typedef struct {
	LodeDiagnosis *const *first;
	guint number;
	const LodeOwnLines *own;
	const LodeProfile *shown; /* on the page; NULL: elsewhere */
} Some;

typedef struct {
	LodeDiagnosis of;
	char *id;
	const char *scope;
	const GPtrArray *ruled_out;
	GPtrArray *evidence, *findings;
} Row;

static void put_inlined(LodeJsonStream *json, const void *row, const void *user_data)
{
	uint32_t instruction = ((const Row *)row)->of.site.instruction;
	g_autoptr(GArray)
		chain = instruction != LODE_NONE
	                        ? lode_own_lines_chain(((const Some *)user_data)->own, instruction)
	                        : g_array_new(FALSE, FALSE, sizeof(LodeInlinedLine));

	lode_inlined_lines_json(json, chain, false);
}

static void put_evidence(LodeJsonStream *json, const void *row, const void *user_data)
{
	const GArray *evidence = ((const Row *)row)->of.evidence;

	(void)user_data;
	lode_json_begin(json, '[');
	for (guint i = 0; i < evidence->len; i++) {
		const LodeEvidence *one = &g_array_index(evidence, LodeEvidence, i);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "text", one->text);
		lode_json_member_number(json, "value", one->value);
		lode_json_member_string(json, "unit", one->unit);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* The costliest first. */
static void put_places(LodeJsonStream *json, const void *row, const void *user_data)
{
	const GArray *at = ((const Row *)row)->of.at;
	const Some *self = user_data;

	lode_finding_places_json((const LodeFindingPlace *)(const void *)at->data,
		MIN(at->len, PAGE_PLACES), self->shown, self->own, true, json);
}

static const LodeColumn columns[] = {
	{"id", LODE_CELL_TEXT(Row, id)},
	{"cause", LODE_CELL_BORROWED(Row, of.cause)},
	{"name", LODE_CELL_BORROWED(Row, of.name)},
	{"muted", LODE_CELL_FLAG(Row, of.is_muted)},
	{"title", LODE_CELL_BORROWED(Row, of.title)},
	{"scope", LODE_GROUP("scope:")},
	{"kind", LODE_CELL_TEXT(Row, scope)},
	{"function", LODE_CELL_BORROWED_NAME(Row, of.site.function), .is_nullable = true},
	{"file", LODE_CELL_BORROWED(Row, of.site.file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Row, of.site.line)},
	{"inlined", LODE_CELL_JSON(put_inlined), .only = LODE_IN_JSON, .type = "InlinedLine[]"},
	{"object", LODE_CELL_BORROWED(Row, of.object), .is_nullable = true},
	{"service", LODE_CELL_BORROWED(Row, of.service), .is_nullable = true},
	LODE_GROUP_END,
	{"time", LODE_CELL_SHARE(Row, of.time)},
	{"time_error", LODE_CELL_SHARE(Row, of.time_error)},
	{"saves", LODE_GROUP("saves:")},
	{"low", LODE_CELL_SHARE(Row, of.low), .is_nullable = true},
	{"high", LODE_CELL_SHARE(Row, of.high)},
	LODE_GROUP_END,
	{"saves_clock", LODE_GROUP("saves_clock:"), .when = HAS_CLOCK},
	{"low", LODE_CELL_SHARE(Row, of.clock_low), .is_nullable = true, .when = HAS_CLOCK},
	{"high", LODE_CELL_SHARE(Row, of.clock_high), .is_nullable = true, .when = HAS_CLOCK},
	{.kind = LODE_COLUMN_GROUP_END, .when = HAS_CLOCK},
	{"clock", LODE_CELL_SHARE(Row, of.clock), .is_nullable = true, .when = HAS_CLOCK},
	{"evidence", LODE_CELL_JSON(put_evidence), .only = LODE_IN_JSON,
		.type = "{ text: string; value: number | null; unit: string | null }[]"},
	{"evidence", LODE_CELL_TEXTS(Row, evidence), .only = LODE_IN_CSV},
	{"ruled_out", LODE_CELL_TEXTS(Row, ruled_out)},
	{"explanation", LODE_CELL_BORROWED(Row, of.explanation), .is_nullable = true},
	{"remedy", LODE_CELL_BORROWED(Row, of.remedy), .is_nullable = true},
	{"authors", LODE_CELL_BORROWED(Row, of.authors), .is_nullable = true},
	{"source", LODE_CELL_BORROWED(Row, of.source), .is_nullable = true},
	{"findings", LODE_CELL_TEXTS(Row, findings)},
	{"places", LODE_CELL_NUMBER(Row, of.places)},
	{"functions", LODE_CELL_NUMBER(Row, of.functions)},
	{"at", LODE_CELL_JSON(put_places), .only = LODE_IN_JSON, .when = ON_PAGE,
		.type = "Place[]"},
};
const LodeColumns lode_diagnosis_columns = LODE_COLUMNS("diagnoses", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const Some *self = user_data;
	Row *row = out;

	row->of = *self->first[number];
	row->id = g_strdup_printf("D%u", self->number + (guint)number);
	row->scope = lode_scope_kind_to_text(row->of.scope);
	row->ruled_out = row->of.ruled_out;
	row->evidence = g_ptr_array_new();
	for (guint i = 0; i < row->of.evidence->len; i++)
		g_ptr_array_add(
			row->evidence, g_array_index(row->of.evidence, LodeEvidence, i).text);
	row->findings = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < row->of.findings->len; i++)
		g_ptr_array_add(row->findings,
			g_strdup_printf("F%u", g_array_index(row->of.findings, uint32_t, i) + 1));
}

/* Sets the first in `some`: the one with this number from 1, or all of the first `n` for 0. */
static LodeListing listing_of(const LodeDiagnoses *self, guint number, guint n, Some *some)
{
	guint first = number != 0 ? MIN(number - 1, n) : 0;

	some->first = (LodeDiagnosis *const *)self->diagnoses->pdata + first;
	some->number = first + 1;
	return (LodeListing){.columns = &lode_diagnosis_columns,
		.n_rows = number != 0 ? MIN(n - first, 1) : n,
		.fill = fill_row,
		.user_data = some,
		.what = some->shown != NULL ? ON_PAGE | HAS_CLOCK
	                : self->has_clock   ? HAS_CLOCK
	                                    : 0};
}

void lode_diagnosis_lines_json(const LodeDiagnoses *self, guint number, const LodeOwnLines *own,
	const LodeProfile *shown, LodeJsonStream *json)
{
	guint n = self->diagnoses->len;
	Some some = {.own = own, .shown = shown};
	LodeListing listing = listing_of(self, number, n, &some);

	lode_listing_put_json(&listing, json);
	/* Their numbers follow. */
	some.first = (LodeDiagnosis *const *)self->smaller->pdata;
	some.number = n + 1;
	listing.n_rows = number == 0 ? self->smaller->len : 0;
	lode_json_member_begin(json, "smaller_diagnoses", '[');
	lode_listing_put_json_rows(&listing, json);
	lode_json_end(json, ']');
}

/* The title without names, and without where it is called, in so many columns. The caller frees it.
 */
static char *short_title(const LodeDiagnosis *self, const LodeTerminal *terminal, size_t width)
{
	const char *called = strstr(self->title, ", called in"), *names = strstr(self->title, ": ");
	const char *end = names != NULL    ? names
	                  : called != NULL ? called
	                                   : self->title + strlen(self->title);

	GString *text = g_string_new_len(self->title, end - self->title);
	lode_display_shorten_words(text, width, terminal->is_ascii);
	return g_string_free(text, FALSE);
}

/* The time of those that have a cause. */
static double time_of_cause(const LodeDiagnoses *self, const char *cause)
{
	double time = 0;

	for (guint i = 0; i < self->smaller->len; i++) {
		const LodeDiagnosis *one = g_ptr_array_index(self->smaller, i);
		if (!one->is_muted && strcmp(one->cause, cause) == 0)
			time += one->time;
	}
	return time;
}

char *lode_diagnosis_lines_smaller(const LodeDiagnoses *self, const LodeTerminal *terminal)
{
	enum { ROOM = 50, SHARE = 6 }; /* columns; SHARE: " 12 %" and the blank before */
	GString *text = g_string_new(NULL);
	g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
	guint n_more = 0;

	/* Several of one cause are one entry, with the words of the first. */
	for (guint i = 0; i < self->smaller->len; i++) {
		const LodeDiagnosis *one = g_ptr_array_index(self->smaller, i);
		if (one->is_muted || lode_diagnoses_is_small_by_clock(self, one) ||
			!g_hash_table_add(told, one->cause))
			continue;
		g_autofree char *title = short_title(one, terminal, ROOM - SHARE);
		g_autofree char *entry = g_strdup_printf(
			"%s %.0f %%", title, 100 * time_of_cause(self, one->cause));
		if (text->len > 0 && (n_more > 0 || text->len + strlen(entry) > ROOM))
			n_more++;
		else
			g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", entry);
	}
	if (n_more > 0)
		g_string_append_printf(text, " and %u more", n_more);
	return g_string_free(text, text->len == 0);
}

void lode_diagnosis_lines_csv(const LodeDiagnoses *self, guint number, uint32_t limit, FILE *out)
{
	guint n = self->diagnoses->len;
	Some some = {0};
	const LodeListing listing = listing_of(self, number, limit != 0 ? MIN(limit, n) : n, &some);

	lode_listing_write_csv(&listing, out);
}
