/* SPDX-License-Identifier: MIT */
#include "views/findings/diagnosis_lines.h"

#include "base/text/number_format.h"
#include "model/findings.h"
#include "model/profile.h"
#include "views/code/inlined_lines.h"
#include "views/findings/finding_figures.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/row_stream.h"

#include <math.h>
#include <string.h>

enum { INDENT = 4, LEAST_CLAUSE = 24, PAGE_PLACES = 10 };

/* --- text --- */

/* "saves 20–35 %", "saves up to 35 %". */
static void append_saves(GString *out, const LodeDiagnosis *self)
{
	if (isnan(self->low))
		g_string_append_printf(out, "saves up to %.0f %%", 100 * self->high);
	else
		g_string_append_printf(
			out, "saves %.0f–%.0f %%", 100 * self->low, 100 * self->high);
}

static size_t width_of(const LodeTerminal *terminal)
{
	return terminal->width != 0 ? terminal->width : LODE_SCREEN_WIDTH;
}

/* The library of a function that is only known by its address; NULL: none. The caller frees it. */
static char *library_of(const LodeDiagnosis *self, const LodeProfile *profile)
{
	if (self->instruction == LODE_NONE)
		return NULL;
	const LodeFunction *function = lode_profile_function(
		profile, lode_profile_instruction(profile, self->instruction)->function);
	return g_strcmp0(function->name, self->function) == 0
	               ? lode_function_library(profile, function)
	               : NULL;
}

/* "hash_step (table.c:41) and 39 more functions", of which the name is shortened to fit a line. */
static void append_place(GString *out, const LodeDiagnosis *self, const LodeProfile *profile,
	const LodeTerminal *terminal)
{
	g_autofree char *base = self->file != NULL ? g_path_get_basename(self->file) : NULL;
	g_autofree char *library = library_of(self, profile);
	g_autoptr(GString) rest = g_string_new(NULL);

	if (self->function != NULL)
		lode_function_name_append(out, self->function, terminal);
	if (base != NULL && self->line > 0)
		g_string_append_printf(rest, "%s%s:%u%s", self->function != NULL ? " (" : "", base,
			self->line, self->function != NULL ? ")" : "");
	else if (library != NULL)
		g_string_append_printf(rest, " in %s", library);
	if (self->object != NULL)
		g_string_append_printf(
			rest, "%s%s", out->len + rest->len > 0 ? ": " : "", self->object);
	if (self->functions > 1)
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
		lode_display_shorten(line, width_of(terminal), terminal->is_ascii);
	fprintf(out, "%s\n", line->str);
}

static void put_line(const LodeTerminal *terminal, const char *begin, const char *text, FILE *out)
{
	g_autofree char *line = g_strdup_printf("%s%s", begin, text);

	lode_diagnosis_lines_put(terminal, line, out);
}

static void put_title(
	const LodeDiagnosis *self, guint number, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *begin = g_strdup_printf("D%-3u", number);

	append_saves(text, self);
	g_string_append_printf(text, "  %s", self->title);
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
static void put_remedy(const char *remedy, const LodeTerminal *terminal, FILE *out)
{
	static const char begin[] = "  → ";
	size_t width = width_of(terminal) - lode_display_width(begin), n = 0;

	for (size_t i = 0; remedy[i] != '\0' && i <= width && !terminal->has_full_names; i++)
		if (strchr(";:.", remedy[i]) != NULL &&
			(remedy[i + 1] == ' ' || remedy[i + 1] == '\0'))
			n = i;
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

	put_title(one, index + 1, terminal, out);
	append_place(place, one, profile, terminal);
	if (place->len > 0)
		put_line(terminal, "    ", place->str, out);
	if (one->evidence->len > 0)
		put_line(terminal, "    ", g_array_index(one->evidence, LodeEvidence, 0).text, out);
	if (one->remedy != NULL)
		put_remedy(one->remedy, terminal, out);
}

void lode_diagnosis_lines_explain(const LodeDiagnoses *self, const LodeProfile *profile,
	guint index, const LodeTerminal *terminal, FILE *out)
{
	const LodeDiagnosis *one = lode_diagnoses_at(self, index);
	g_autoptr(GString) place = g_string_new(NULL);

	put_title(one, index + 1, terminal, out);
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
	lode_display_print_indented(terminal, INDENT, out, "What people do: %s", one->remedy);
	if (one->source != NULL)
		lode_display_print_indented(terminal, INDENT, out, "Source: %s.", one->source);
	lode_display_print_indented(
		terminal, INDENT, out, "Name: %s%s", one->name, one->is_muted ? ", muted" : "");
}

/* --- for programs --- */

static void put_scope(const LodeDiagnosis *self, const LodeOwnLines *own, LodeRowStream *rows)
{
	lode_row_begin_group(rows, "scope", "scope:");
	lode_row_text(rows, "kind", lode_scope_kind_to_text(self->scope));
	lode_function_name_row(rows, "function", self->function);
	lode_row_text(rows, "file", self->file);
	lode_row_number(rows, "line", self->line);
	if (rows->json != NULL) {
		g_autoptr(GArray)
			chain = self->instruction != LODE_NONE
		                        ? lode_own_lines_chain(own, self->instruction)
		                        : g_array_new(FALSE, FALSE, sizeof(LodeInlinedLine));
		lode_inlined_lines_json(rows->json, "inlined", chain, false);
	}
	lode_row_text(rows, "object", self->object);
	lode_row_text(rows, "service", self->service);
	lode_row_end_group(rows);
}

/* The costliest first. */
static void put_places(const LodeDiagnosis *self, const LodeOwnLines *own, const LodeProfile *shown,
	LodeJsonStream *json)
{
	lode_json_member_begin(json, "at", '[');
	for (guint i = 0; i < MIN(self->at->len, PAGE_PLACES); i++)
		lode_finding_place_json(
			&g_array_index(self->at, LodeFindingPlace, i), shown, own, true, json);
	lode_json_end(json, ']');
}

/* A list in JSON, its text in CSV. */
static void put_texts(LodeRowStream *rows, const char *name, const GPtrArray *texts)
{
	g_autoptr(GString) cell = g_string_new(NULL);
	LodeJsonStream of_cell, *json = rows->json;

	if (json != NULL) {
		lode_json_key(json, name);
	} else {
		lode_json_stream_init_text(&of_cell, cell);
		json = &of_cell;
	}
	lode_json_begin(json, '[');
	for (guint i = 0; i < texts->len; i++)
		lode_json_string(json, texts->pdata[i]);
	lode_json_end(json, ']');
	lode_row_csv_text(rows, name, cell->str);
}

static void put_evidence(const LodeDiagnosis *self, LodeRowStream *rows)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new();

	for (guint i = 0; i < self->evidence->len; i++)
		g_ptr_array_add(texts, g_array_index(self->evidence, LodeEvidence, i).text);
	if (rows->json == NULL) {
		put_texts(rows, "evidence", texts);
		return;
	}
	lode_json_member_begin(rows->json, "evidence", '[');
	for (guint i = 0; i < self->evidence->len; i++) {
		const LodeEvidence *one = &g_array_index(self->evidence, LodeEvidence, i);
		lode_json_begin(rows->json, '{');
		lode_json_member_string(rows->json, "text", one->text);
		lode_json_member_number(rows->json, "value", one->value);
		lode_json_member_string(rows->json, "unit", one->unit);
		lode_json_end(rows->json, '}');
	}
	lode_json_end(rows->json, ']');
}

static void put_row(const LodeDiagnosis *self, guint number, const LodeOwnLines *own,
	const LodeProfile *shown, LodeRowStream *rows)
{
	g_autofree char *id = g_strdup_printf("D%u", number);
	g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < self->findings->len; i++)
		g_ptr_array_add(findings,
			g_strdup_printf("F%u", g_array_index(self->findings, uint32_t, i) + 1));
	lode_row_begin(rows);
	lode_row_text(rows, "id", id);
	lode_row_text(rows, "cause", self->cause);
	lode_row_text(rows, "name", self->name);
	lode_row_flag(rows, "muted", self->is_muted);
	lode_row_text(rows, "title", self->title);
	put_scope(self, own, rows);
	lode_row_number(rows, "time", self->time);
	lode_row_number(rows, "time_error", self->time_error);
	lode_row_begin_group(rows, "saves", "saves:");
	lode_row_number(rows, "low", self->low);
	lode_row_number(rows, "high", self->high);
	lode_row_end_group(rows);
	put_evidence(self, rows);
	put_texts(rows, "ruled_out", self->ruled_out);
	lode_row_text(rows, "explanation", self->explanation);
	lode_row_text(rows, "remedy", self->remedy);
	lode_row_text(rows, "source", self->source);
	put_texts(rows, "findings", findings);
	lode_row_number(rows, "places", self->places);
	lode_row_number(rows, "functions", self->functions);
	if (shown != NULL)
		put_places(self, own, shown, rows->json);
	lode_row_end(rows);
}

void lode_diagnosis_lines_json(const LodeDiagnoses *self, guint number, const LodeOwnLines *own,
	const LodeProfile *shown, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_member_begin(json, "diagnoses", '[');
	for (guint i = 0; i < self->diagnoses->len; i++)
		if (number == 0 || number == i + 1)
			put_row(lode_diagnoses_at(self, i), i + 1, own, shown, &rows);
	lode_json_end(json, ']');
	/* Their numbers follow. */
	guint n = self->diagnoses->len;
	lode_json_member_begin(json, "smaller_diagnoses", '[');
	for (guint i = 0; i < self->smaller->len && number == 0; i++)
		put_row(g_ptr_array_index(self->smaller, i), n + i + 1, own, shown, &rows);
	lode_json_end(json, ']');
}

char *lode_diagnosis_lines_smaller(const LodeDiagnoses *self)
{
	enum { N_NAMED = 4 };
	GString *text = g_string_new(NULL);
	guint n = 0;

	for (guint i = 0; i < self->smaller->len; i++) {
		const LodeDiagnosis *one = g_ptr_array_index(self->smaller, i);
		if (!one->is_muted && n++ < N_NAMED)
			g_string_append_printf(text, "%s%s %.0f %%", n > 1 ? ", " : "", one->cause,
				100 * one->time);
	}
	if (n > N_NAMED)
		g_string_append_printf(text, " and %u more", n - N_NAMED);
	return g_string_free(text, n == 0);
}

void lode_diagnosis_lines_csv(const LodeDiagnoses *self, guint number, uint32_t limit, FILE *out)
{
	g_autoptr(LodeDiagnosis) none = lode_diagnosis_new(NULL, LODE_SCOPE_FUNCTION);
	guint n = self->diagnoses->len;
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_row(none, 0, NULL, NULL, &rows);
	for (guint i = 0; i < (limit != 0 ? MIN(limit, n) : n); i++)
		if (number == 0 || number == i + 1)
			put_row(lode_diagnoses_at(self, i), i + 1, NULL, NULL, &rows);
}
