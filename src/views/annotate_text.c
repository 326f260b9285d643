/* SPDX-License-Identifier: MIT */
/*
 * The places of a sequence as text, a table each:
 *
 *   1. deflate_fast  /usr/bin/gzip  trees.c:123
 *      3.2 % of cycles, 1,234,567 executions
 *
 *        executions  cycles  l1d-miss  address  code
 *                                               trees.c:123  x = table[i];
 *   ▶ 1   1,234,567  45,678       123     4a10  mov eax, [rdi+rcx*4]
 */
#include "base/number_format.h"
#include "views/annotate_place.h"
#include "views/display_text.h"
#include "views/profile_figures.h"
#include "views/profile_lines.h"
#include "views/shell_word.h"
#include "views/source_text.h"
#include "views/table.h"

#include <string.h>

enum { FIRST_EVENT_COLUMN = 2, MAX_EVENT_COLUMNS = 8 };

typedef enum { ROW_GAP, ROW_SOURCE, ROW_CODE } RowKind;

typedef struct {
	RowKind kind;
	const LodeAnnotateLine *line;
	const LodeInstruction *instruction; /* NULL: never executed */
} Row;

typedef struct {
	const LodeAnnotation *annotation;
	const LodeCodeLines *code;
	LodeSourceText *sources;
	GArray *rows; /* Row */
	bool is_graph;
	uint32_t events[MAX_EVENT_COLUMNS];
	uint32_t n_events;
	LodeTableColumn columns[LODE_TABLE_MAX_COLUMNS];
	unsigned n_columns;
	GPtrArray *titles;
} PlaceTable;

static const LodeInstruction *instruction_of(
	const LodeAnnotation *annotation, const LodeCodeLines *code, uint32_t line)
{
	uint32_t instruction = LODE_AT(code->lines, LodeCodeLine, line).instruction;

	if (instruction == LODE_NONE)
		return NULL;
	return lode_profile_instruction(annotation->profile, instruction);
}

/* Puts source lines before the code that they were compiled to, as far as it is known. */
static void gather_rows(PlaceTable *self, const GArray *lines)
{
	uint32_t location = LODE_NONE;

	for (guint i = 0; i < lines->len; i++) {
		const LodeAnnotateLine *line = &g_array_index(lines, LodeAnnotateLine, i);
		Row row = {.line = line};
		row.instruction = instruction_of(self->annotation, self->code, line->line);
		if (line->follows_gap) {
			row.kind = ROW_GAP;
			g_array_append_val(self->rows, row);
		}
		if (row.instruction != NULL && row.instruction->location != LODE_NONE &&
			row.instruction->location != location) {
			location = row.instruction->location;
			row.kind = ROW_SOURCE;
			g_array_append_val(self->rows, row);
		}
		row.kind = ROW_CODE;
		g_array_append_val(self->rows, row);
	}
}

static double event_of_row(const PlaceTable *self, uint32_t event, const Row *row)
{
	uint32_t instruction =
		LODE_AT(self->code->lines, LodeCodeLine, row->line->line).instruction;

	if (instruction == LODE_NONE)
		return 0;
	return lode_profile_event_value(self->annotation->profile, event, instruction);
}

static bool does_happen(const PlaceTable *self, uint32_t event)
{
	for (guint i = 0; i < self->rows->len; i++)
		if (event_of_row(self, event, &g_array_index(self->rows, Row, i)) != 0)
			return true;
	return false;
}

/* The weight, and the events that make attributes where they happen here. */
static void choose_events(PlaceTable *self)
{
	const LodeProfile *profile = self->annotation->profile;
	uint32_t weight = self->annotation->weight_event;

	if (weight < profile->events->len)
		self->events[self->n_events++] = weight;
	for (uint32_t i = 0; i < profile->events->len; i++) {
		bool is_shown = i != weight && lode_profile_event(profile, i)->is_attribute &&
		                self->n_events < MAX_EVENT_COLUMNS;
		if (is_shown && does_happen(self, i))
			self->events[self->n_events++] = i;
	}
}

static void choose_columns(PlaceTable *self)
{
	const LodeProfile *profile = self->annotation->profile;
	unsigned n = 0;

	self->columns[n++] = (LodeTableColumn){"", .is_text = true};
	self->columns[n++] = (LodeTableColumn){"executions"};
	for (uint32_t i = 0; i < self->n_events; i++) {
		char *title = lode_display_text(lode_profile_event(profile, self->events[i])->name,
			self->annotation->options->terminal.is_ascii);
		g_ptr_array_add(self->titles, title);
		self->columns[n++] = (LodeTableColumn){title, .dropped = (uint8_t)i};
	}
	if (!self->is_graph)
		self->columns[n++] = (LodeTableColumn){"address"};
	self->columns[n++] = (LodeTableColumn){self->is_graph ? "vertex" : "code", .is_text = true};
	self->n_columns = n;
}

static LodeStyle put_source(const PlaceTable *self, const Row *row, GString *out)
{
	const LodeProfile *profile = self->annotation->profile;
	bool is_ascii = self->annotation->options->terminal.is_ascii;
	const LodeLocation *location = &LODE_AT(
		profile->locations, LodeLocation, row->instruction->location);

	if (location->file == NULL)
		return LODE_STYLE_FAINT;
	g_autofree char *base = g_path_get_basename(location->file);
	lode_display_append(out, base, is_ascii);
	g_string_append_printf(out, ":%u", location->line);
	const char *text = lode_source_text_line(self->sources, location->file, location->line);
	if (text != NULL) {
		g_string_append(out, "  ");
		lode_display_append(out, text, is_ascii);
	}
	if (location->inlined != NULL) {
		g_string_append(out, "  (inlined ");
		lode_display_append(out, location->inlined, is_ascii);
		g_string_append_c(out, ')');
	}
	return LODE_STYLE_FAINT;
}

static LodeStyle put_code(const PlaceTable *self, const Row *row, GString *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	lode_code_lines_text(self->code, row->line->line, text);
	lode_display_append(out, text->str, self->annotation->options->terminal.is_ascii);
	return row->line->elements != 0 ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
}

static void put_figure(const PlaceTable *self, const Row *row, unsigned column, GString *out)
{
	char text[LODE_NUMBER_SIZE];
	const LodeCodeLine *line = &LODE_AT(self->code->lines, LodeCodeLine, row->line->line);
	unsigned event = column - FIRST_EVENT_COLUMN;

	if (column == 1) {
		double count = row->instruction != NULL ? row->instruction->count : 0;
		g_string_append(out, lode_number_format_count(count, text));
		return;
	}
	if (event >= self->n_events) {
		g_string_append_printf(out, "%" G_GINT64_MODIFIER "x", line->address);
		return;
	}
	double value = event_of_row(self, self->events[event], row);
	if (value != 0)
		g_string_append(out, lode_number_format_count(value, text));
}

static LodeStyle place_cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const PlaceTable *self = user_data;
	const Row *row = &g_array_index(self->rows, Row, index);
	bool is_last = column + 1 == self->n_columns;
	bool is_ascii = self->annotation->options->terminal.is_ascii;

	if (row->kind == ROW_GAP && column == 0)
		lode_display_append(out, "⋮", is_ascii);
	if (row->kind == ROW_SOURCE && is_last)
		return put_source(self, row, out);
	if (row->kind != ROW_CODE)
		return LODE_STYLE_FAINT;
	if (is_last)
		return put_code(self, row, out);
	if (column > 0) {
		put_figure(self, row, column, out);
		return LODE_STYLE_PLAIN;
	}
	if (row->line->elements != 0) {
		lode_display_append(out, "▶ ", is_ascii);
		lode_annotate_elements_text(row->line->elements, out);
	}
	return LODE_STYLE_ALARM;
}

static void put_place_title(
	const LodeAnnotation *self, const LodeAnnotatePlace *place, guint number, FILE *out)
{
	const LodeProfile *profile = self->profile;
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeInstruction *first = lode_profile_instruction(profile, place->instruction);
	const char *event = lode_profile_event_name(profile, self->weight_event);
	char share[LODE_NUMBER_SIZE], executions[LODE_NUMBER_SIZE];
	g_autofree char *event_text = lode_display_text(
		event != NULL ? event : "weight", terminal->is_ascii);
	g_autofree char *name = lode_display_text(function->name, terminal->is_ascii);
	g_autoptr(GString) rest = g_string_new(NULL);

	lode_display_append(
		rest, lode_profile_image(profile, function->image)->path, terminal->is_ascii);
	if (first->location != LODE_NONE) {
		const LodeLocation *location = &LODE_AT(
			profile->locations, LodeLocation, first->location);
		g_string_append(rest, "  ");
		if (location->file != NULL)
			lode_display_append(rest, location->file, terminal->is_ascii);
		g_string_append_printf(rest, ":%u", location->line);
	}
	fprintf(out, "\n%u. ", number);
	lode_style_write(out, terminal, LODE_STYLE_STRONG, name);
	fprintf(out, "  %s\n   %s of %s, %s executions\n", rest->str,
		lode_number_format_share(place->share, share), event_text,
		lode_number_format_count(place->executions, executions));
}

static void put_place(LodeAnnotation *self, LodeSourceText *sources, guint index, FILE *out)
{
	const LodeAnnotatePlace *place = &g_array_index(self->places, LodeAnnotatePlace, index);
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	g_autoptr(GArray) lines = lode_annotation_lines(self, place);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
	PlaceTable place_table = {
		.annotation = self,
		.code = lode_annotation_code(self, place->function),
		.sources = sources,
		.rows = rows,
		.titles = titles,
		.is_graph = lode_profile_image(self->profile, function->image)->kind ==
	                    LODE_IMAGE_GRAPHS,
	};

	gather_rows(&place_table, lines);
	choose_events(&place_table);
	choose_columns(&place_table);
	put_place_title(self, place, index + 1, out);
	LodeTable table = {
		.columns = place_table.columns,
		.n_columns = place_table.n_columns,
		.n_rows = rows->len,
		.cell = place_cell,
		.user_data = &place_table,
	};
	lode_table_write(&table, &self->options->terminal, out);
}

static void put_sequence_lines(const LodeAnnotation *self, FILE *out)
{
	const LodeSequence *sequence = &g_array_index(
		self->run->sequences, LodeSequence, self->sequence);
	const LodeTerminal *terminal = &self->options->terminal;
	const char *event = lode_profile_event_name(self->profile, self->weight_event);
	g_autofree char *text = lode_mining_run_sequence_text(self->run, self->sequence);
	char a[LODE_NUMBER_SIZE], b[LODE_NUMBER_SIZE], c[LODE_NUMBER_SIZE], d[LODE_NUMBER_SIZE];

	fputc('\n', out);
	lode_profile_lines_print(terminal, out, "Sequence %u of run '%s': %s", self->sequence + 1,
		self->run->name, text);
	if (self->run->parameters.is_instruction_mode)
		lode_profile_lines_print(terminal, out,
			"%s occurrences in the code; below are those that were executed inside "
			"one function: %s places.",
			lode_number_format_count(sequence->count, a),
			lode_number_format_count(self->occurrences->places->len, b));
	else
		lode_profile_lines_print(terminal, out,
			"%s of %s, %s of executions. Places: %s, functions: %s; costliest first:",
			lode_number_format_share(self->occurrences->weight, a),
			event != NULL ? event : "weight",
			lode_number_format_share(self->occurrences->frequency, b),
			lode_number_format_count(self->occurrences->places->len, c),
			lode_number_format_count(self->occurrences->functions, d));
}

/* The command that shows every place. */
static void put_rest(const LodeAnnotation *self, FILE *out)
{
	const LodeAnnotateOptions *options = self->options;
	char shown[LODE_NUMBER_SIZE], all[LODE_NUMBER_SIZE];
	guint n = self->occurrences->places->len;
	g_autofree char *path = lode_shell_word(
		options->profile_path != NULL ? options->profile_path : "PROFILE.lode");
	g_autofree char *run = lode_shell_word(self->run->name);

	if (self->places->len == n)
		return;
	lode_profile_lines_print(&options->terminal, out,
		"%s of %s places are shown; all of them: lode annotate %s %u%s%s --limit %u",
		lode_number_format_count(self->places->len, shown),
		lode_number_format_count(n, all), path, self->sequence + 1,
		options->names_run ? " --run " : "", options->names_run ? run : "", n);
}

static void put_footer(const LodeAnnotation *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;

	fputc('\n', out);
	put_rest(self, out);
	lode_profile_lines_incomplete(self->run, terminal, out);
	lode_profile_lines_unresolved(self->profile, terminal, out);
}

void lode_annotate_text(LodeAnnotation *self, FILE *out)
{
	g_autoptr(LodeSourceText) sources = lode_source_text_new();

	lode_profile_lines_head(self->profile, self->weight_event, &self->options->terminal, out);
	put_sequence_lines(self, out);
	for (guint i = 0; i < self->places->len; i++)
		put_place(self, sources, i, out);
	put_footer(self, out);
}
