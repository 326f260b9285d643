/* SPDX-License-Identifier: MIT */
/*
 * The places of one sequence: finds them, then writes the form asked for. JSON is nested by place,
 * CSV has a row for each line of code, text a table for each place:
 *
 *   1. deflate_fast  /usr/bin/gzip  trees.c:123
 *      3.2 % of cycles, 1,234,567 executions
 *
 *        executions  cycles  l1d-miss  address  code
 *                                               trees.c:123  x = table[i];
 *   ▶ 1   1,234,567  45,678       123     4a10  mov eax, [rdi+rcx*4]
 */
#include "views/annotate.h"

#include "analyses/mine/occurrences.h"
#include "base/error.h"
#include "base/number_format.h"
#include "model/causes.h"
#include "views/code_lines.h"
#include "views/csv.h"
#include "views/display_text.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"
#include "views/profile_lines.h"
#include "views/report_values.h"
#include "views/shell_word.h"
#include "views/source_text.h"
#include "views/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything the forms of the view need. */
typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeAnnotateOptions *options;
	uint32_t sequence; /* index in the run */
	uint32_t weight_event;
	LodeFlowGraph *graph;
	LodeOccurrences *occurrences;
	GArray *places;         /* Place, by falling cost */
	GHashTable *code_lines; /* function → LodeCodeLines */
} Annotation;

typedef struct {
	uint32_t place;       /* index in occurrences->places */
	uint32_t function;    /* of the profile */
	uint32_t instruction; /* the first one matched */
	double executions;
	double share; /* of the profile's weight */
} Place;

typedef struct {
	uint32_t line;     /* of the function's code lines */
	uint32_t elements; /* LodeCoveredVertex.elements; 0: context only */
	double count;      /* executions that belong to the place's occurrences */
	bool follows_gap;  /* lines before it are left out */
} Line;

static uint32_t function_of_vertex(const LodeFlowGraph *graph, uint32_t vertex)
{
	return graph->graph_functions[graph->vertex_graphs[vertex]];
}

/* The end of the vertex's range of instructions. */
static uint32_t end_of_vertex(const Annotation *self, uint32_t vertex)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t graph_id = graph->vertex_graphs[vertex];

	if (vertex + 1 < graph->graph_starts[graph_id + 1])
		return graph->vertex_instructions[vertex + 1];
	const LodeFunction *function = lode_profile_function(
		self->profile, graph->graph_functions[graph_id]);
	return function->first_instruction + function->n_instructions;
}

static const LodeCoveredVertex *matched_of(
	const Annotation *self, const LodeOccurrencePlace *place, uint32_t i)
{
	return &g_array_index(
		self->occurrences->matched, LodeCoveredVertex, place->first_matched + i);
}

static double place_weight(const Annotation *self, const LodeOccurrencePlace *place)
{
	double weight = 0;

	for (uint32_t i = 0; i < place->n_matched; i++) {
		const LodeCoveredVertex *covered = matched_of(self, place, i);
		double executions = self->graph->count[covered->vertex];
		if (executions > 0)
			weight += self->graph->weight[covered->vertex] *
			          fmin(1, covered->count / executions);
	}
	return weight;
}

static int compare_places(const void *a, const void *b)
{
	const Place *left = a, *right = b;

	if (left->share != right->share)
		return left->share > right->share ? -1 : 1;
	if (left->executions != right->executions)
		return left->executions > right->executions ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static void order_places(Annotation *self)
{
	const GArray *places = self->occurrences->places;

	for (uint32_t i = 0; i < places->len; i++) {
		const LodeOccurrencePlace *place = &g_array_index(places, LodeOccurrencePlace, i);
		Place row = {
			.place = i,
			.function = function_of_vertex(self->graph, place->first_vertex),
			.instruction = self->graph->vertex_instructions[place->first_vertex],
			.executions = place->executions,
			.share = lode_share_of(
				place_weight(self, place), self->graph->total_weight),
		};
		g_array_append_val(self->places, row);
	}
	/* An empty GArray has no memory, and qsort() must not be given NULL. */
	if (self->places->len > 0)
		qsort(self->places->data, self->places->len, sizeof(Place), compare_places);
}

static bool find_occurrences(Annotation *self, GError **error)
{
	const LodeMiningParameters *parameters = &self->run->parameters;
	const LodeSequence *sequence = &g_array_index(
		self->run->sequences, LodeSequence, self->sequence);

	self->graph = lode_flow_graph_build(self->profile, parameters, error);
	if (self->graph == NULL)
		return false;
	g_autofree uint32_t *items = lode_occurrences_map_items(
		self->graph, self->run, self->sequence);
	if (items == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"sequence %u has an attribute that the profile lacks; mine again",
			self->sequence + 1);
		return false;
	}
	self->occurrences = lode_occurrences_find(
		self->graph, items, sequence->n_items, parameters, error);
	return self->occurrences != NULL;
}

static void free_code_lines(void *lines)
{
	lode_code_lines_free(lines);
}

/* Finds the occurrences and orders them. Cleared also after a failure. */
static bool annotation_init(Annotation *self, const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, GError **error)
{
	size_t index;

	*self = (Annotation){.profile = profile, .run = run, .options = options};
	self->places = g_array_new(FALSE, FALSE, sizeof(Place));
	self->code_lines = g_hash_table_new_full(NULL, NULL, NULL, free_code_lines);
	self->weight_event = lode_profile_weight_of(profile, run);
	if (!lode_report_find_sequence(run, options->id, &index, error))
		return false;
	self->sequence = (uint32_t)index;
	if (!find_occurrences(self, error))
		return false;
	order_places(self);
	uint32_t limit = options->limit;
	if (limit == 0 && options->format == LODE_VIEW_TEXT)
		limit = 10;
	if (limit != 0 && self->places->len > limit)
		g_array_set_size(self->places, limit);
	return true;
}

static void annotation_clear(Annotation *self)
{
	lode_occurrences_free(self->occurrences);
	lode_flow_graph_free(self->graph);
	g_clear_pointer(&self->places, g_array_unref);
	g_clear_pointer(&self->code_lines, g_hash_table_unref);
}

static const LodeCodeLines *code_of(Annotation *self, uint32_t function)
{
	void *key = GUINT_TO_POINTER(function);
	LodeCodeLines *lines = g_hash_table_lookup(self->code_lines, key);

	if (lines == NULL) {
		lines = lode_code_lines_new(self->profile, function);
		g_hash_table_insert(self->code_lines, key, lines);
	}
	return lines;
}

static int compare_lines(const void *a, const void *b)
{
	uint32_t left = ((const Line *)a)->line;
	uint32_t right = ((const Line *)b)->line;

	return (left > right) - (left < right);
}

/* The matched lines, by line; a line is there once. Across calls, of the function in which the
 * place begins. */
static GArray *matched_lines(Annotation *self, const Place *place)
{
	const LodeOccurrencePlace *occurrence = &g_array_index(
		self->occurrences->places, LodeOccurrencePlace, place->place);
	const LodeCodeLines *code = code_of(self, place->function);
	uint32_t first = lode_profile_function(self->profile, place->function)->first_instruction;
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(Line));

	for (uint32_t i = 0; i < occurrence->n_matched; i++) {
		const LodeCoveredVertex *covered = matched_of(self, occurrence, i);
		uint32_t end = end_of_vertex(self, covered->vertex);
		if (function_of_vertex(self->graph, covered->vertex) != place->function)
			continue;
		for (uint32_t at = self->graph->vertex_instructions[covered->vertex]; at < end;
			at++) {
			Line line = {
				.line = code->line_of[at - first],
				.elements = covered->elements,
				.count = covered->count,
			};
			g_array_append_val(lines, line);
		}
	}
	if (lines->len > 1)
		qsort(lines->data, lines->len, sizeof(Line), compare_lines);
	return lines;
}

/* The lines to show for a place: GArray of Line, the caller unrefs it. */
static GArray *lines_of(Annotation *self, const Place *place)
{
	const LodeCodeLines *code = code_of(self, place->function);
	g_autoptr(GArray) matched = matched_lines(self, place);
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(Line));
	uint64_t context = self->options->context;
	uint64_t next = 0; /* the first line not yet shown */

	/* In 64 bits: the context may be any number. The next match ends the context of this one,
	 * so that no line is shown twice. */
	for (guint i = 0; i < matched->len; i++) {
		const Line *match = &g_array_index(matched, Line, i);
		uint64_t start = match->line > context ? match->line - context : 0;
		uint64_t end = MIN(match->line + context + 1, code->lines->len);
		if (i + 1 < matched->len)
			end = MIN(end, match[1].line);
		bool is_gap = start > next && lines->len > 0;
		for (uint64_t at = MAX(start, next); at < end; at++) {
			Line line = {.line = (uint32_t)at};
			if (at == match->line)
				line = *match;
			line.follows_gap = is_gap && at == MAX(start, next);
			g_array_append_val(lines, line);
		}
		next = MAX(next, end);
	}
	return lines;
}

/* "1", "1 2", "32+": the numbers of the elements. */
static void append_elements(uint32_t elements, GString *out)
{
	bool is_first = true;

	for (uint32_t i = 0; i < 32; i++) {
		if ((elements >> i & 1) == 0)
			continue;
		g_string_append_printf(
			out, "%s%u%s", is_first ? "" : " ", i + 1, i == 31 ? "+" : "");
		is_first = false;
	}
}

static char *hex(uint64_t address)
{
	return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address);
}

static const LodeLocation *location_of(const LodeProfile *profile, uint32_t instruction)
{
	if (instruction == LODE_NONE)
		return NULL;
	uint32_t location = lode_profile_instruction(profile, instruction)->location;
	return location != LODE_NONE ? &LODE_AT(profile->locations, LodeLocation, location) : NULL;
}

static void put_location(LodeJsonStream *json, const LodeLocation *location)
{
	lode_json_member_string(json, "file", location != NULL ? location->file : NULL);
	lode_json_member_number(json, "line", location != NULL ? location->line : 0);
	lode_json_member_string(json, "inlined", location != NULL ? location->inlined : NULL);
}

static void put_events(LodeJsonStream *json, const LodeProfile *profile, uint32_t instruction)
{
	lode_json_key(json, "events");
	lode_json_begin(json, '{');
	for (uint32_t i = 0; i < profile->events->len && instruction != LODE_NONE; i++) {
		double value = lode_profile_event_value(profile, i, instruction);
		if (value != 0)
			lode_json_member_number(json, lode_profile_event(profile, i)->name, value);
	}
	lode_json_end(json, '}');
}

static void put_elements(LodeJsonStream *json, uint32_t elements)
{
	lode_json_key(json, "elements");
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < 32; i++)
		if ((elements >> i & 1) != 0)
			lode_json_number(json, i + 1);
	lode_json_end(json, ']');
}

static void put_json_line(LodeJsonStream *json, const LodeProfile *profile,
	const LodeCodeLines *code, const Line *line)
{
	const LodeCodeLine *code_line = &LODE_AT(code->lines, LodeCodeLine, line->line);
	uint32_t instruction = code_line->instruction;
	g_autofree char *address = hex(code_line->address);
	g_autoptr(GString) text = g_string_new(NULL);
	const LodeInstruction *row = NULL;

	if (instruction != LODE_NONE)
		row = lode_profile_instruction(profile, instruction);
	lode_code_lines_text(code, line->line, text);
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "address", address);
	lode_json_member_string(json, "text", text->str);
	lode_json_member_string(json, "name", row != NULL ? row->name : NULL);
	put_elements(json, line->elements);
	lode_json_member_number(json, "matched", line->count);
	lode_json_member_number(json, "executions", row != NULL ? row->count : 0);
	put_location(json, location_of(profile, instruction));
	put_events(json, profile, instruction);
	lode_json_end(json, '}');
}

static void put_json_place(Annotation *self, LodeJsonStream *json, const Place *place)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeImage *image = lode_profile_image(profile, function->image);
	const LodeInstruction *first = lode_profile_instruction(profile, place->instruction);
	g_autofree char *address = hex(first->address);
	g_autoptr(GArray) lines = lines_of(self, place);
	const LodeCodeLines *code = code_of(self, place->function);

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "function", function->name);
	lode_json_member_string(json, "image", image->path);
	lode_json_member_string(json, "build_id", image->build_id);
	lode_json_member_string(json, "address", address);
	put_location(json, location_of(profile, place->instruction));
	lode_json_member_number(json, "executions", place->executions);
	lode_json_member_number(json, "share", place->share);
	lode_json_key(json, "instructions");
	lode_json_begin(json, '[');
	for (guint i = 0; i < lines->len; i++)
		put_json_line(json, profile, code, &g_array_index(lines, Line, i));
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(Annotation *self, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, self->profile);
	lode_json_line(&json);
	lode_profile_json_run(&json, self->run);
	lode_json_line(&json);
	lode_profile_json_unresolved(&json, self->profile);
	lode_json_line(&json);
	lode_json_member_number(&json, "id", self->sequence + 1);
	lode_json_key(&json, "sequence");
	lode_mining_run_sequence_json(self->run, self->sequence, &json);
	lode_json_member_number(&json, "weight", self->occurrences->weight);
	lode_json_member_number(&json, "frequency", self->occurrences->frequency);
	lode_json_member_number(&json, "executions", self->occurrences->executions);
	lode_json_member_number(&json, "functions", self->occurrences->functions);
	lode_json_line(&json);
	lode_json_key(&json, "places");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < self->places->len; i++)
		put_json_place(self, &json, &g_array_index(self->places, Place, i));
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void put_csv_titles(const Annotation *self, LodeCsv *csv)
{
	static const char *const titles[] = {"place", "function", "image", "place_executions",
		"place_share", "address", "text", "elements", "matched", "executions", "file",
		"line"};

	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(csv, titles[i]);
	for (guint i = 0; i < self->profile->events->len; i++) {
		g_autofree char *title = g_strconcat(
			"event:", lode_profile_event(self->profile, i)->name, NULL);
		lode_csv_text(csv, title);
	}
	lode_csv_text(csv, "counts");
	lode_csv_end_row(csv);
}

static void put_csv_code(
	const Annotation *self, LodeCsv *csv, const LodeCodeLines *code, const Line *line)
{
	const LodeProfile *profile = self->profile;
	const LodeCodeLine *code_line = &LODE_AT(code->lines, LodeCodeLine, line->line);
	uint32_t instruction = code_line->instruction;
	const LodeLocation *location = location_of(profile, instruction);
	g_autofree char *address = hex(code_line->address);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) elements = g_string_new(NULL);

	lode_code_lines_text(code, line->line, text);
	append_elements(line->elements, elements);
	lode_csv_text(csv, address);
	lode_csv_text(csv, text->str);
	lode_csv_text(csv, elements->str);
	lode_csv_number(csv, line->count);
	lode_csv_number(csv, instruction != LODE_NONE
				     ? lode_profile_instruction(profile, instruction)->count
				     : 0);
	lode_csv_text(csv, location != NULL ? location->file : NULL);
	lode_csv_number(csv, location != NULL ? location->line : 0);
	for (uint32_t i = 0; i < profile->events->len; i++)
		lode_csv_number(csv, instruction != LODE_NONE
					     ? lode_profile_event_value(profile, i, instruction)
					     : 0);
	lode_csv_text(csv, lode_frequency_to_text(profile->frequency));
	lode_csv_end_row(csv);
}

static void write_csv(Annotation *self, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_csv_titles(self, &csv);
	for (guint i = 0; i < self->places->len; i++) {
		const Place *place = &g_array_index(self->places, Place, i);
		const LodeFunction *function = lode_profile_function(
			self->profile, place->function);
		const LodeCodeLines *code = code_of(self, place->function);
		g_autoptr(GArray) lines = lines_of(self, place);
		for (guint j = 0; j < lines->len; j++) {
			lode_csv_number(&csv, i + 1);
			lode_csv_text(&csv, function->name);
			lode_csv_text(
				&csv, lode_profile_image(self->profile, function->image)->path);
			lode_csv_number(&csv, place->executions);
			lode_csv_number(&csv, place->share);
			put_csv_code(self, &csv, code, &g_array_index(lines, Line, j));
		}
	}
}

enum { FIRST_EVENT_COLUMN = 2, MAX_EVENT_COLUMNS = 8 };

typedef enum { ROW_GAP, ROW_SOURCE, ROW_CODE } RowKind;

typedef struct {
	RowKind kind;
	const Line *line;
	const LodeInstruction *instruction; /* NULL: never executed */
} Row;

typedef struct {
	const Annotation *annotation;
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
	const Annotation *annotation, const LodeCodeLines *code, uint32_t line)
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
		const Line *line = &g_array_index(lines, Line, i);
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

/* The weight, where it was sampled if wanted, and the events that make attributes where they happen
 * here. */
static void choose_events(PlaceTable *self)
{
	const LodeProfile *profile = self->annotation->profile;
	uint32_t weight = self->annotation->weight_event;
	uint32_t sampled = lode_profile_event_as_sampled(profile, weight);

	if (weight < profile->events->len)
		self->events[self->n_events++] = weight;
	if (sampled != LODE_NONE && self->annotation->options->shows_sampled)
		self->events[self->n_events++] = sampled;
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
		append_elements(row->line->elements, out);
	}
	return LODE_STYLE_ALARM;
}

static void put_place_title(const Annotation *self, const Place *place, guint number, FILE *out)
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

static void put_place(Annotation *self, LodeSourceText *sources, guint index, FILE *out)
{
	const Place *place = &g_array_index(self->places, Place, index);
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	g_autoptr(GArray) lines = lines_of(self, place);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
	PlaceTable place_table = {
		.annotation = self,
		.code = code_of(self, place->function),
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

static void put_sequence_lines(const Annotation *self, FILE *out)
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
static void put_rest(const Annotation *self, FILE *out)
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

static void put_footer(const Annotation *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;

	fputc('\n', out);
	put_rest(self, out);
	lode_profile_lines_incomplete(self->run, terminal, out);
	lode_profile_lines_unresolved(self->profile, terminal, out);
}

static void write_text(Annotation *self, FILE *out)
{
	g_autoptr(LodeSourceText) sources = lode_source_text_new();

	lode_profile_lines_head(self->profile, self->weight_event, &self->options->terminal, out);
	put_sequence_lines(self, out);
	for (guint i = 0; i < self->places->len; i++)
		put_place(self, sources, i, out);
	put_footer(self, out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Annotation, annotation_clear)

enum { CONTEXT = 3 };

void lode_annotate_options_init(LodeAnnotateOptions *self)
{
	*self = (LodeAnnotateOptions){.context = CONTEXT};
}

bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out, GError **error)
{
	g_auto(Annotation) annotation = {0};

	lode_progress_report(progress, "finding occurrences", 0, 0, NULL);
	if (!annotation_init(&annotation, profile, run, options, error))
		return false;
	if (lode_progress_is_cancelled(progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	lode_progress_end(progress);
	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(&annotation, out);
		break;
	case LODE_VIEW_JSON:
		write_json(&annotation, out);
		break;
	case LODE_VIEW_CSV:
		write_csv(&annotation, out);
		break;
	}
	return lode_view_flush(out, error);
}
