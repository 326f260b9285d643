/* SPDX-License-Identifier: MIT */
/*
 * Places of code (annotated_places.h) in the form asked for. JSON is nested by place, CSV has a row
 * for each line of code, text a table for each place:
 *
 *   1. deflate_fast  /usr/bin/gzip  trees.c:123
 *      3.2 % of cycles, 1,234,567 executions
 *
 *        executions  cycles  l1d-miss  address  code
 *                                               trees.c:123  x = table[i];
 *   ▶ 1   1,234,567  45,678       123     4a10  mov eax, [rdi+rcx*4]
 */
#include "views/annotate.h"

#include "analyses/memory/instruction_data.h"
#include "base/error.h"
#include "base/number_format.h"
#include "base/number_order.h"
#include "model/causes.h"
#include "views/annotated_places.h"
#include "views/code_lines.h"
#include "views/csv.h"
#include "views/display_text.h"
#include "views/finding_figures.h"
#include "views/memory_names.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"
#include "views/profile_lines.h"
#include "views/shell_word.h"
#include "views/source_text.h"
#include "views/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef LodeAnnotatedPlace Place;

/* Everything the forms of the view need. */
typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeAnnotateOptions *options;
	LodeAnnotatedPlaces found;
	const LodeFinding *finding; /* NULL: another subject */
	GHashTable *code_lines;     /* function → LodeCodeLines */
	LodeInstructionData *data;  /* NULL: no data addresses were recorded */
} Annotation;

typedef struct {
	uint32_t line;     /* of the function's code lines */
	uint32_t elements; /* LodeAnnotatedMatch.elements; 0: context only */
	double count;      /* likewise */
	bool follows_gap;  /* lines before it are left out */
} Line;

static void free_code_lines(void *lines)
{
	lode_code_lines_free(lines);
}

/* Finds what is to be shown. Cleared also after a failure. */
static bool annotation_init(Annotation *self, const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, GError **error)
{
	*self = (Annotation){.profile = profile, .run = run, .options = options};
	self->code_lines = g_hash_table_new_full(NULL, NULL, NULL, free_code_lines);
	if (profile->memory != NULL && profile->memory->samples->len > 0)
		self->data = lode_instruction_data_new(profile);
	if (!lode_annotated_places_init(&self->found, profile, run, options, error))
		return false;
	if (options->subject == LODE_ANNOTATE_FINDING)
		self->finding = lode_findings_at(run->findings, self->found.index);
	return true;
}

static void annotation_clear(Annotation *self)
{
	lode_annotated_places_clear(&self->found);
	g_clear_pointer(&self->code_lines, g_hash_table_unref);
	g_clear_pointer(&self->data, lode_instruction_data_free);
}

static const char *event_name(const Annotation *self)
{
	const char *name = lode_profile_event_name(self->profile, self->found.weight_event);

	return name != NULL ? name : "weight";
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

/* The matched lines, by line; a line is there once. */
static GArray *matched_lines(Annotation *self, const Place *place)
{
	const LodeCodeLines *code = code_of(self, place->function);
	uint32_t first = lode_profile_function(self->profile, place->function)->first_instruction;
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(Line));

	for (uint32_t i = 0; i < place->n_matches; i++) {
		const LodeAnnotatedMatch *match = &g_array_index(
			self->found.matches, LodeAnnotatedMatch, place->first_match + i);
		Line line = {
			.line = code->line_of[match->instruction - first],
			.elements = match->elements,
			.count = match->count,
		};
		g_array_append_val(lines, line);
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

	for (uint32_t i = 0;
		self->options->subject == LODE_ANNOTATE_FUNCTION && i < code->lines->len; i++) {
		Line line = {.line = i};
		g_array_append_val(lines, line);
	}
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

/* "F1 F7": the findings that explain weight of an instruction. */
static void append_marks(const Annotation *self, uint32_t instruction, GString *out)
{
	uint32_t n;
	const LodeFindingMark *marks = lode_annotated_places_marks(&self->found, instruction, &n);

	for (uint32_t i = 0; i < n; i++)
		g_string_append_printf(out, "%sF%u", i > 0 ? " " : "", marks[i].finding + 1);
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

/* [{"id":"F1","time":0.012}]: what findings explain of an instruction. */
static void put_marks(const Annotation *self, LodeJsonStream *json, uint32_t instruction)
{
	uint32_t n;
	const LodeFindingMark *marks = lode_annotated_places_marks(&self->found, instruction, &n);

	lode_json_key(json, "findings");
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < n; i++) {
		g_autofree char *id = g_strdup_printf("F%u", marks[i].finding + 1);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "id", id);
		lode_json_member_number(json, "time", marks[i].time);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* --- what an instruction accessed --- */

/* NULL: no sample is charged to it, or it never executed. */
static const LodeInstructionDatum *datum_of(const Annotation *self, uint32_t instruction)
{
	if (self->data == NULL || instruction == LODE_NONE)
		return NULL;
	return lode_instruction_data_find(self->data, instruction);
}

static const char *object_name(const Annotation *self, const LodeInstructionObject *object)
{
	const GArray *objects = self->profile->memory->objects;

	return object->object < objects->len ? LODE_AT(objects, LodeDataObject, object->object).name
	                                     : NULL;
}

static const LodeInstructionObject *object_at(
	const Annotation *self, const LodeInstructionDatum *datum, uint32_t i)
{
	return &LODE_AT(self->data->objects, LodeInstructionObject, datum->first_object + i);
}

static bool has_address(const LodeInstructionDatum *datum)
{
	return datum->least <= datum->most;
}

/* Of all that the function's samples weigh. */
static double datum_share(const Annotation *self, const LodeInstructionDatum *datum)
{
	const LodeInstruction *row = lode_profile_instruction(self->profile, datum->instruction);

	return lode_share_of(datum->totals.weight, self->data->functions[row->function].weight);
}

/* "struct node.next 96.0 %, 2 more, 64 KiB at 0x7f0012345000" */
static void append_data(const Annotation *self, const LodeInstructionDatum *datum, GString *out)
{
	char text[LODE_NUMBER_SIZE], address[LODE_ADDRESS_TEXT_SIZE], size[LODE_ADDRESS_TEXT_SIZE];

	if (datum->n_objects == 0) {
		g_string_append(out, "no address");
		return;
	}
	const LodeInstructionObject *first = object_at(self, datum, 0);
	const char *name = object_name(self, first);
	double named = 0;
	for (uint32_t i = 0; i < datum->n_objects; i++)
		named += object_at(self, datum, i)->weight;
	g_string_append(out, name != NULL ? name : "?");
	if (datum->n_objects > 1)
		g_string_append_printf(out, " %s, %u more",
			lode_number_format_share(lode_share_of(first->weight, named), text),
			datum->n_objects - 1);
	if (!has_address(datum)) {
		g_string_append(out, ", no address");
		return;
	}
	uint64_t bytes = datum->most - datum->least;
	g_string_append_printf(out, ", %s at %s",
		lode_memory_size_text(bytes < UINT64_MAX ? bytes + 1 : bytes, size),
		lode_memory_address_text(datum->least, address));
}

static void put_json_datum(const Annotation *self, LodeJsonStream *json, uint32_t instruction)
{
	const LodeInstructionDatum *datum = datum_of(self, instruction);
	char address[LODE_ADDRESS_TEXT_SIZE];

	if (self->data == NULL)
		return;
	lode_json_key(json, "memory");
	if (datum == NULL) {
		lode_json_string(json, NULL);
		return;
	}
	lode_json_begin(json, '{');
	lode_json_member_number(json, "samples", (double)datum->totals.n_samples);
	lode_json_member_number(json, "loads", (double)datum->totals.n_loads);
	lode_json_member_number(json, "stores", (double)datum->totals.n_stores);
	lode_json_member_number(json, "weight", datum->totals.weight);
	lode_json_member_number(json, "share", datum_share(self, datum));
	lode_json_member_number(json, "unresolved_weight", datum->unresolved_weight);
	lode_json_member_string(json, "first_address",
		has_address(datum) ? lode_memory_address_text(datum->least, address) : NULL);
	lode_json_member_string(json, "last_address",
		has_address(datum) ? lode_memory_address_text(datum->most, address) : NULL);
	lode_json_key(json, "objects");
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < datum->n_objects; i++) {
		const LodeInstructionObject *object = object_at(self, datum, i);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "name", object_name(self, object));
		lode_json_member_number(json, "weight", object->weight);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void put_csv_datum(const Annotation *self, LodeCsv *csv, uint32_t instruction)
{
	const LodeInstructionDatum *datum = datum_of(self, instruction);
	bool is_known = datum != NULL && has_address(datum);
	char address[LODE_ADDRESS_TEXT_SIZE];

	if (self->data == NULL)
		return;
	lode_csv_number(csv, datum != NULL ? (double)datum->totals.n_samples : 0);
	lode_csv_number(csv, datum != NULL ? (double)datum->totals.n_loads : 0);
	lode_csv_number(csv, datum != NULL ? (double)datum->totals.n_stores : 0);
	lode_csv_number(csv, datum != NULL ? datum_share(self, datum) : 0);
	lode_csv_text(csv, datum != NULL && datum->n_objects > 0
				   ? object_name(self, object_at(self, datum, 0))
				   : NULL);
	lode_csv_text(csv, is_known ? lode_memory_address_text(datum->least, address) : NULL);
	lode_csv_text(csv, is_known ? lode_memory_address_text(datum->most, address) : NULL);
}

static void put_json_line(
	const Annotation *self, LodeJsonStream *json, const LodeCodeLines *code, const Line *line)
{
	const LodeProfile *profile = self->profile;
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
	put_marks(self, json, instruction);
	lode_json_member_number(json, "matched", line->count);
	lode_json_member_number(json, "executions", row != NULL ? row->count : 0);
	put_location(json, location_of(profile, instruction));
	put_events(json, profile, instruction);
	put_json_datum(self, json, instruction);
	lode_json_end(json, '}');
}

static void put_json_place(Annotation *self, LodeJsonStream *json, const Place *place)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeImage *image = lode_profile_image(profile, function->image);
	g_autofree char *address = hex(
		place->instruction != LODE_NONE
			? lode_profile_instruction(profile, place->instruction)->address
			: function->address);
	g_autoptr(GArray) lines = lines_of(self, place);
	const LodeCodeLines *code = code_of(self, place->function);

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "function", function->name);
	if (self->options->is_page)
		lode_json_member_number(json, "function_number", place->function);
	lode_json_member_string(json, "image", image->path);
	lode_json_member_string(json, "build_id", image->build_id);
	lode_json_member_string(json, "address", address);
	put_location(json, location_of(profile, place->instruction));
	lode_json_member_number(json, "executions", place->executions);
	lode_json_member_number(json, "share", place->share);
	if (self->finding != NULL)
		lode_json_member_number(json, "time", place->time);
	lode_json_key(json, "instructions");
	lode_json_begin(json, '[');
	for (guint i = 0; i < lines->len; i++)
		put_json_line(self, json, code, &g_array_index(lines, Line, i));
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void put_json_sequence(const Annotation *self, LodeJsonStream *json)
{
	const LodeOccurrences *occurrences = self->found.occurrences;

	lode_json_member_number(json, "id", self->found.index + 1);
	lode_json_key(json, "sequence");
	lode_mining_run_sequence_json(self->run, self->found.index, json);
	lode_json_member_number(json, "weight", occurrences->weight);
	lode_json_member_number(json, "frequency", occurrences->frequency);
	lode_json_member_number(json, "executions", occurrences->executions);
	lode_json_member_number(json, "functions", occurrences->functions);
}

static void put_json_finding(const Annotation *self, LodeJsonStream *json)
{
	const LodeFinding *finding = self->finding;
	const LodeFindings *findings = self->run->findings;
	g_autofree char *id = g_strdup_printf("F%u", self->found.index + 1);

	lode_json_member_string(json, "id", id);
	lode_json_member_string(json, "kind", lode_finding_kind_to_text(finding->kind));
	lode_json_key(json, "finding");
	lode_finding_json(findings, finding, json);
	lode_json_member_number(json, "focus", finding->focus + 1);
	lode_json_member_number(json, "time", finding->time);
	lode_json_member_number(json, "time_error", finding->time_error);
	lode_json_member_number(json, "each", finding->each);
	lode_json_member_number(json, "each_error", finding->each_error);
	lode_json_member_string(json, "each_unit",
		findings->is_counted ? lode_finding_unit(self->profile, self->found.weight_event)
				     : "average instructions of the blocks");
	lode_json_member_number(json, "executed", finding->executed >= 0 ? finding->executed : NAN);
	lode_json_member_number(json, "functions", finding->functions);
}

/* What was asked for: the members of a sequence, of a finding, or the name with the findings that
 * are here. */
static void put_json_subject(const Annotation *self, LodeJsonStream *json)
{
	bool is_line = self->options->subject == LODE_ANNOTATE_LINE;
	g_autoptr(GArray) explained = lode_annotated_places_explained(&self->found);

	if (self->options->subject == LODE_ANNOTATE_SEQUENCE) {
		put_json_sequence(self, json);
		return;
	}
	if (self->finding != NULL) {
		put_json_finding(self, json);
		return;
	}
	bool is_numbered = !is_line && self->options->function != LODE_NONE;
	lode_json_member_string(json, is_line ? "file" : "function",
		is_numbered ? lode_profile_function(self->profile, self->options->function)->name
			    : self->options->name);
	if (is_line)
		lode_json_member_number(json, "line", self->options->line);
	lode_json_key(json, "findings");
	lode_json_begin(json, '[');
	for (guint i = 0; i < explained->len; i++) {
		const LodeFinding *finding = lode_findings_at(self->run->findings, i);
		g_autofree char *id = g_strdup_printf("F%u", i + 1);
		if (!(g_array_index(explained, double, i) > 0))
			continue;
		lode_json_begin(json, '{');
		lode_json_member_string(json, "id", id);
		lode_json_key(json, "finding");
		lode_finding_json(self->run->findings, finding, json);
		lode_json_member_number(json, "focus", finding->focus + 1);
		lode_json_member_number(json, "time", g_array_index(explained, double, i));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* --- source files --- */

/* Lines around those that code comes from; stretches nearer than this to each other are joined. */
enum { SOURCE_CONTEXT = 3, SOURCE_GAP = 12 };

static int compare_numbers(const void *a, const void *b)
{
	return lode_number_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* File → GArray of uint32_t: lines that shown instructions come from, in any order. */
static GHashTable *used_lines(Annotation *self)
{
	GHashTable *used = g_hash_table_new_full(
		g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);

	for (guint i = 0; i < self->found.n_shown; i++) {
		const Place *place = lode_annotated_places_at(&self->found, i);
		const LodeCodeLines *code = code_of(self, place->function);
		g_autoptr(GArray) lines = lines_of(self, place);
		for (guint j = 0; j < lines->len; j++) {
			uint32_t line = g_array_index(lines, Line, j).line;
			const LodeLocation *location = location_of(self->profile,
				LODE_AT(code->lines, LodeCodeLine, line).instruction);
			if (location == NULL || location->file == NULL || location->line == 0)
				continue;
			GArray *numbers = g_hash_table_lookup(used, location->file);
			if (numbers == NULL) {
				numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
				g_hash_table_insert(used, location->file, numbers);
			}
			g_array_append_val(numbers, location->line);
		}
	}
	return used;
}

/* [[12, "x = table[i];"], …]: the lines and what is around them. */
static void put_source_lines(
	LodeJsonStream *json, LodeSourceText *sources, const char *file, GArray *numbers)
{
	uint64_t next = 1;

	g_array_sort(numbers, compare_numbers);
	for (guint i = 0; i < numbers->len; i++) {
		uint64_t line = g_array_index(numbers, uint32_t, i);
		uint64_t first = line > SOURCE_CONTEXT ? line - SOURCE_CONTEXT : 1;
		if (i > 0 && first <= next + SOURCE_GAP)
			first = next;
		for (uint64_t at = MAX(first, next); at <= line + SOURCE_CONTEXT; at++) {
			const char *text = at <= UINT32_MAX ? lode_source_text_line(
								      sources, file, (uint32_t)at)
			                                    : NULL;
			if (text == NULL)
				break;
			lode_json_line(json);
			lode_json_begin(json, '[');
			lode_json_integer(json, at);
			lode_json_string(json, text);
			lode_json_end(json, ']');
		}
		next = MAX(next, line + SOURCE_CONTEXT + 1);
	}
}

static void put_sources(Annotation *self, LodeJsonStream *json)
{
	g_autoptr(GHashTable) used = used_lines(self);
	g_autoptr(LodeSourceText) sources = lode_source_text_new();
	guint n;
	g_autofree char **files = (char **)g_hash_table_get_keys_as_array(used, &n);

	if (n > 0)
		qsort(files, n, sizeof(*files), compare_texts);
	lode_json_key(json, "sources");
	lode_json_begin(json, '[');
	for (guint i = 0; i < n; i++) {
		lode_json_line(json);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "file", files[i]);
		lode_json_key(json, "lines");
		lode_json_begin(json, '[');
		put_source_lines(json, sources, files[i], g_hash_table_lookup(used, files[i]));
		lode_json_end(json, ']');
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_line(json);
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
	put_json_subject(self, &json);
	lode_json_line(&json);
	if (self->options->is_page)
		put_sources(self, &json);
	lode_json_key(&json, "places");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < self->found.n_shown; i++)
		put_json_place(self, &json, lode_annotated_places_at(&self->found, i));
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void put_csv_titles(const Annotation *self, LodeCsv *csv)
{
	static const char *const titles[] = {"place", "function", "image", "place_executions",
		"place_share", "place_time", "address", "text", "elements", "findings", "matched",
		"executions", "file", "line"};
	static const char *const data_titles[] = {"memory_samples", "memory_loads", "memory_stores",
		"memory_share", "object", "first_address", "last_address"};

	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(csv, titles[i]);
	for (guint i = 0; i < self->profile->events->len; i++) {
		g_autofree char *title = g_strconcat(
			"event:", lode_profile_event(self->profile, i)->name, NULL);
		lode_csv_text(csv, title);
	}
	lode_csv_text(csv, "counts");
	for (size_t i = 0; self->data != NULL && i < G_N_ELEMENTS(data_titles); i++)
		lode_csv_text(csv, data_titles[i]);
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
	g_autoptr(GString) findings = g_string_new(NULL);

	lode_code_lines_text(code, line->line, text);
	append_elements(line->elements, elements);
	append_marks(self, instruction, findings);
	lode_csv_text(csv, address);
	lode_csv_text(csv, text->str);
	lode_csv_text(csv, elements->str);
	lode_csv_text(csv, findings->str);
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
	put_csv_datum(self, csv, instruction);
	lode_csv_end_row(csv);
}

static void write_csv(Annotation *self, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_csv_titles(self, &csv);
	for (guint i = 0; i < self->found.n_shown; i++) {
		const Place *place = lode_annotated_places_at(&self->found, i);
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
			lode_csv_number(&csv, self->finding != NULL ? place->time : (double)NAN);
			put_csv_code(self, &csv, code, &g_array_index(lines, Line, j));
		}
	}
}

enum { FIRST_EVENT_COLUMN = 2, MAX_EVENT_COLUMNS = 8, DATA_WIDTH = 56 };

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
	unsigned data_column; /* the first of three; 0: none, no data is known here */
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

static uint32_t instruction_id(const PlaceTable *self, const Row *row)
{
	return LODE_AT(self->code->lines, LodeCodeLine, row->line->line).instruction;
}

static double event_of_row(const PlaceTable *self, uint32_t event, const Row *row)
{
	uint32_t instruction = instruction_id(self, row);

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
	uint32_t weight = self->annotation->found.weight_event;
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

static bool has_data(const PlaceTable *self)
{
	for (guint i = 0; i < self->rows->len; i++)
		if (datum_of(self->annotation,
			    instruction_id(self, &g_array_index(self->rows, Row, i))) != NULL)
			return true;
	return false;
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
	if (has_data(self)) {
		self->data_column = n;
		self->columns[n++] = (LodeTableColumn){"memory"};
		self->columns[n++] = (LodeTableColumn){"samples", .dropped = MAX_EVENT_COLUMNS};
		self->columns[n++] = (LodeTableColumn){"data", .is_text = true};
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

/* In a function, what the findings explain. */
static bool is_marked(const PlaceTable *self, const Row *row)
{
	uint32_t n = 0;

	if (self->annotation->options->subject == LODE_ANNOTATE_FUNCTION)
		lode_annotated_places_marks(
			&self->annotation->found, instruction_id(self, row), &n);
	return n > 0 || row->line->elements != 0;
}

/* "▶ 2": the element that a sequence or finding matches; of a finding only the focus has the sign.
 * Else "▶ F1 F7": a line that matches, and the findings. */
static void put_margin(const PlaceTable *self, const Row *row, GString *out)
{
	const Annotation *annotation = self->annotation;
	const LodeFinding *finding = annotation->finding;
	uint32_t elements = row->line->elements;
	bool has_number = annotation->options->subject == LODE_ANNOTATE_SEQUENCE ||
	                  (finding != NULL && finding->n_elements > 1);
	bool has_sign = finding != NULL ? (elements >> MIN(finding->focus, 31) & 1) != 0
	                                : elements != 0;

	if (has_sign)
		lode_display_append(
			out, has_number ? "▶ " : "▶", annotation->options->terminal.is_ascii);
	else if (elements != 0)
		g_string_append(out, "  ");
	if (has_number)
		append_elements(elements, out);
	if (annotation->options->subject < LODE_ANNOTATE_FUNCTION)
		return;
	gsize length = out->len;
	append_marks(annotation, instruction_id(self, row), out);
	if (out->len > length && has_sign)
		g_string_insert_c(out, (gssize)length, ' ');
}

static LodeStyle put_code(const PlaceTable *self, const Row *row, GString *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	lode_code_lines_text(self->code, row->line->line, text);
	lode_display_append(out, text->str, self->annotation->options->terminal.is_ascii);
	return is_marked(self, row) ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
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

/* The share of the function's memory time, samples, or objects and addresses. */
static LodeStyle put_datum(const PlaceTable *self, const Row *row, unsigned column, GString *out)
{
	const LodeInstructionDatum *datum = datum_of(self->annotation, instruction_id(self, row));
	bool is_ascii = self->annotation->options->terminal.is_ascii;
	char text[LODE_NUMBER_SIZE];

	if (datum == NULL)
		return LODE_STYLE_PLAIN;
	if (column == 0) {
		g_string_append(
			out, lode_number_format_share(datum_share(self->annotation, datum), text));
	} else if (column == 1) {
		g_string_append(
			out, lode_number_format_count((double)datum->totals.n_samples, text));
	} else {
		g_autoptr(GString) data = g_string_new(NULL), shown = g_string_new(NULL);
		append_data(self->annotation, datum, data);
		lode_display_append(shown, data->str, is_ascii);
		lode_display_shorten_middle(shown, DATA_WIDTH, is_ascii);
		g_string_append(out, shown->str);
	}
	return column == 2 ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
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
	if (self->data_column != 0 && column >= self->data_column && column < self->data_column + 3)
		return put_datum(self, row, column - self->data_column, out);
	if (column > 0) {
		put_figure(self, row, column, out);
		return LODE_STYLE_PLAIN;
	}
	put_margin(self, row, out);
	return LODE_STYLE_ALARM;
}

/* "3.2 % of cycles, 1,234 executions" */
static void put_place_figures(const Annotation *self, const Place *place, GString *out)
{
	const char *event = event_name(self);
	char share[LODE_NUMBER_SIZE], time[LODE_NUMBER_SIZE], executions[LODE_NUMBER_SIZE];

	lode_number_format_share(place->share, share);
	if (self->finding != NULL)
		g_string_append_printf(out, "F%u explains %s of %s, of the %s here",
			self->found.index + 1, lode_number_format_share(place->time, time), event,
			share);
	else
		g_string_append_printf(out, "%s of %s", share, event);
	if (place->executions > 0 || self->options->subject != LODE_ANNOTATE_FUNCTION)
		g_string_append_printf(out, ", %s %s",
			lode_number_format_count(place->executions, executions),
			self->options->subject == LODE_ANNOTATE_FUNCTION ? "calls" : "executions");
}

/* "; memory: 1,234 samples, 3.2 % without an address": what its shares are of. */
static void put_data_figures(const Annotation *self, uint32_t function, GString *out)
{
	char samples[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];

	if (self->data == NULL || self->data->functions[function].n_samples == 0)
		return;
	const LodeAccessTotals *totals = &self->data->functions[function];
	g_string_append_printf(out,
		"; memory: %s sample%s of loads and stores, %s without an address",
		lode_number_format_count((double)totals->n_samples, samples),
		totals->n_samples == 1 ? "" : "s",
		lode_number_format_share(
			lode_share_of(self->data->unresolved[function], totals->weight), share));
}

static void put_place_title(const Annotation *self, const Place *place, guint number, FILE *out)
{
	const LodeProfile *profile = self->profile;
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeLocation *location = location_of(profile, place->instruction);
	g_autofree char *name = lode_display_text(function->name, terminal->is_ascii);
	g_autoptr(GString) rest = g_string_new(NULL), figures = g_string_new(NULL);

	lode_display_append(
		rest, lode_profile_image(profile, function->image)->path, terminal->is_ascii);
	if (location != NULL) {
		g_string_append(rest, "  ");
		if (location->file != NULL)
			lode_display_append(rest, location->file, terminal->is_ascii);
		g_string_append_printf(rest, ":%u", location->line);
	}
	put_place_figures(self, place, figures);
	put_data_figures(self, place->function, figures);
	g_autofree char *shown = lode_display_text(figures->str, terminal->is_ascii);
	fprintf(out, "\n%u. ", number);
	lode_style_write(out, terminal, LODE_STYLE_STRONG, name);
	fprintf(out, "  %s\n   %s\n", rest->str, shown);
}

static void put_place(Annotation *self, LodeSourceText *sources, guint index, FILE *out)
{
	const Place *place = lode_annotated_places_at(&self->found, index);
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
		self->run->sequences, LodeSequence, self->found.index);
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeOccurrences *occurrences = self->found.occurrences;
	g_autofree char *text = lode_mining_run_sequence_text(self->run, self->found.index);
	char a[LODE_NUMBER_SIZE], b[LODE_NUMBER_SIZE], c[LODE_NUMBER_SIZE], d[LODE_NUMBER_SIZE];

	lode_profile_lines_print(terminal, out, "Sequence %u of run '%s': %s",
		self->found.index + 1, self->run->name, text);
	if (self->run->parameters.is_instruction_mode)
		lode_profile_lines_print(terminal, out,
			"%s occurrences in the code; below are those that were executed inside "
			"one function: %s places.",
			lode_number_format_count(sequence->count, a),
			lode_number_format_count(occurrences->places->len, b));
	else
		lode_profile_lines_print(terminal, out,
			"%s of %s, %s of executions. Places: %s, functions: %s; costliest first:",
			lode_number_format_share(occurrences->weight, a), event_name(self),
			lode_number_format_share(occurrences->frequency, b),
			lode_number_format_count(occurrences->places->len, c),
			lode_number_format_count(occurrences->functions, d));
}

static void put_finding_lines(const Annotation *self, FILE *out)
{
	const LodeFinding *finding = self->finding;
	const LodeFindings *findings = self->run->findings;
	const LodeTerminal *terminal = &self->options->terminal;
	g_autofree char *text = lode_finding_text(findings, finding);
	g_autoptr(GString) time = g_string_new(NULL), each = g_string_new(NULL);
	char executed[LODE_NUMBER_SIZE], places[LODE_NUMBER_SIZE], functions[LODE_NUMBER_SIZE];

	lode_finding_append_time(time, finding);
	lode_finding_append_each(each, findings, finding,
		lode_finding_unit(self->profile, self->found.weight_event),
		lode_finding_is_least(self->profile, self->found.weight_event, findings, finding));
	lode_profile_lines_print(terminal, out, "Finding F%u of run '%s': %s",
		self->found.index + 1, self->run->name, text);
	lode_profile_lines_print(terminal, out,
		"%s of %s, %s each%s%s%s. Places: %s, functions: %s; costliest first:", time->str,
		event_name(self), each->str, finding->executed >= 0 ? ", " : "",
		finding->executed >= 0 ? lode_number_format_share(finding->executed, executed) : "",
		finding->executed >= 0 ? " of executions" : "",
		lode_number_format_count(finding->places, places),
		lode_number_format_count(finding->functions, functions));
}

/* What the margin says: the findings that are here, and how much of the weight each explains. */
static void put_margin_lines(const Annotation *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFindings *findings = self->run->findings;
	g_autoptr(GArray) explained = lode_annotated_places_explained(&self->found);
	bool has_any = false;
	char share[LODE_NUMBER_SIZE];

	if (self->options->subject == LODE_ANNOTATE_LINE)
		lode_profile_lines_print(terminal, out, "Line %u of %s; functions: %u",
			self->options->line, self->options->name, self->found.places->len);
	for (guint i = 0; i < explained->len; i++) {
		double time = g_array_index(explained, double, i);
		g_autofree char *text = lode_finding_text(findings, lode_findings_at(findings, i));
		if (!(time > 0))
			continue;
		if (!has_any)
			lode_profile_lines_print(terminal, out,
				"Findings in the margin, with what they explain here of %s:",
				event_name(self));
		has_any = true;
		lode_profile_lines_print(terminal, out, "  F%u  %s  %s", i + 1,
			lode_number_format_share(time, share), text);
	}
	if (findings == NULL && self->options->has_no_run)
		lode_profile_lines_print(
			terminal, out, "Nothing was mined yet: 'lode mine' finds what costs.");
	else if (findings == NULL)
		lode_profile_lines_print(terminal, out,
			"Run '%s' has no findings to mark; 'lode mine' makes them.",
			self->run->name);
	else if (!has_any)
		lode_profile_lines_print(terminal, out, "No finding explains any of it.");
}

/* The words after PROFILE on the command line. */
static char *subject_words(const Annotation *self)
{
	const LodeAnnotateOptions *options = self->options;
	g_autofree char *line = NULL, *word = NULL;

	switch (options->subject) {
	case LODE_ANNOTATE_FINDING:
		return g_strdup_printf("F%u", self->found.index + 1);
	case LODE_ANNOTATE_FUNCTION:
		word = lode_shell_word(options->name);
		return g_strdup_printf("function %s", word);
	case LODE_ANNOTATE_LINE:
		line = g_strdup_printf("%s:%u", options->name, options->line);
		word = lode_shell_word(line);
		return g_strdup_printf("line %s", word);
	case LODE_ANNOTATE_SEQUENCE:
		break;
	}
	return g_strdup_printf("%u", self->found.index + 1);
}

/* The command that shows every place. */
static void put_rest(const Annotation *self, FILE *out)
{
	const LodeAnnotateOptions *options = self->options;
	char shown[LODE_NUMBER_SIZE], all[LODE_NUMBER_SIZE];
	guint n = self->found.places->len;
	g_autofree char *path = lode_shell_word(
		options->profile_path != NULL ? options->profile_path : "PROFILE.lode");
	g_autofree char *run = lode_shell_word(self->run->name);
	g_autofree char *words = subject_words(self);

	if (self->finding != NULL && n == LODE_FINDING_PLACES && self->finding->places > n)
		lode_profile_lines_print(&options->terminal, out,
			"A profile keeps the costliest %u places of a finding; this one has %s.", n,
			lode_number_format_count(self->finding->places, all));
	if (self->found.n_shown == n)
		return;
	lode_profile_lines_print(&options->terminal, out,
		"%s of %s places are shown; all of them: lode annotate %s %s%s%s --limit %u",
		lode_number_format_count(self->found.n_shown, shown),
		lode_number_format_count(n, all), path, words, options->names_run ? " --run " : "",
		options->names_run ? run : "", n);
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

	lode_profile_lines_head(
		self->profile, self->found.weight_event, &self->options->terminal, out);
	lode_profile_lines_inferred(self->profile, &self->options->terminal, out);
	fputc('\n', out);
	if (self->options->subject == LODE_ANNOTATE_SEQUENCE)
		put_sequence_lines(self, out);
	else if (self->finding != NULL)
		put_finding_lines(self, out);
	else
		put_margin_lines(self, out);
	for (guint i = 0; i < self->found.n_shown; i++)
		put_place(self, sources, i, out);
	put_footer(self, out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Annotation, annotation_clear)

enum { CONTEXT = 3 };

void lode_annotate_options_init(LodeAnnotateOptions *self)
{
	*self = (LodeAnnotateOptions){.context = CONTEXT, .function = LODE_NONE};
}

bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out, GError **error)
{
	g_auto(Annotation) annotation = {0};

	lode_progress_report(progress, "finding places", 0, 0, NULL);
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
