/* SPDX-License-Identifier: MIT */
#include "views/code/annotation.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/code/code_lines.h"
#include "views/code/source_text.h"
#include "views/figures/event_values.h"
#include "views/figures/inlined_lines.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/function_name.h"
#include "views/observed/loop_facts.h"
#include "views/observed/observed_facts.h"
#include "views/profile/profile_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef LodeAnnotatedPlace Place;

typedef struct {
	LodeAnnotation *annotation;
	LodeColumns columns; /* of lines, with one for each event */
} View;

/* Columns that not every result has. */
enum { HAS_DATA = 1, HAS_WINDOWS = 2, IS_PAGE = 4 };

static uint32_t columns_of(const LodeAnnotation *self)
{
	return (self->data != NULL ? HAS_DATA : 0) |
	       (self->profile->windows != NULL ? HAS_WINDOWS : 0) |
	       (self->options->is_page ? IS_PAGE : 0);
}

#define INLINED_TYPE "inlined: string | null; short_inlined?: string; chain?: InlinedLine[]"

/* The innermost function, and where there is one, the chain. */
static void put_inlined(const LodeAnnotation *self, LodeJsonStream *json, uint32_t instruction)
{
	uint32_t innermost =
		instruction != LODE_NONE
			? lode_profile_instruction(self->profile, instruction)->location
			: LODE_NONE;

	lode_function_name_json(json, "inlined",
		innermost != LODE_NONE
			? LODE_AT(self->profile->code.locations, LodeLocation, innermost).inlined
			: NULL);
	if (instruction == LODE_NONE ||
		lode_profile_inlining_of(self->profile, instruction) == LODE_NONE)
		return;
	g_autoptr(GArray) chain = lode_own_lines_chain(self->own, instruction);
	lode_json_key(json, "chain");
	lode_inlined_lines_json(json, chain, self->options->is_page);
}

/* --- the data of an instruction --- */

typedef struct {
	LodeInstructionDatum of;
	double share;
	const char *object;
	char *first, *last;
	bool is_of_windows;
} Data;

static const LodeColumn data_columns[] = {
	{"is_of_windows", LODE_CELL_FLAG(Data, is_of_windows), .only = LODE_IN_JSON},
	{"memory", LODE_GROUP("memory_"), .only = LODE_IN_CSV},
	{"samples", LODE_CELL_NUMBER(Data, of.totals.n_samples)},
	{"loads", LODE_CELL_NUMBER(Data, of.totals.n_loads)},
	{"stores", LODE_CELL_NUMBER(Data, of.totals.n_stores)},
	{"weight", LODE_CELL_NUMBER(Data, of.totals.weight), .only = LODE_IN_JSON},
	{"share", LODE_CELL_SHARE(Data, share)},
	{.kind = LODE_COLUMN_GROUP_END, .only = LODE_IN_CSV},
	{"unresolved_weight", LODE_CELL_NUMBER(Data, of.unresolved_weight), .only = LODE_IN_JSON},
	{"object", LODE_CELL_TEXT(Data, object), .only = LODE_IN_CSV},
	{"first_address", LODE_CELL_TEXT(Data, first), .is_nullable = true},
	{"last_address", LODE_CELL_TEXT(Data, last), .is_nullable = true},
};
const LodeColumns lode_annotated_data_columns = LODE_COLUMNS("memory", data_columns, Data);

static Data data_of(const LodeAnnotation *self, const LodeInstructionDatum *datum)
{
	bool has_address = lode_annotation_has_address(datum);

	return (Data){
		.of = *datum,
		.share = lode_annotation_datum_share(self, datum),
		.object = datum->n_objects > 0 ? lode_annotation_object_name(self,
							 lode_annotation_object(self, datum, 0))
	                                       : NULL,
		.first = has_address ? g_strdup(LODE_ADDRESS_TEXT(datum->least)) : NULL,
		.last = has_address ? g_strdup(LODE_ADDRESS_TEXT(datum->most)) : NULL,
		.is_of_windows = self->data->is_of_windows,
	};
}

/* --- places --- */

typedef struct {
	LodeAnnotatedPlace of;
	uint32_t number, line; /* the place's, from 1; of the source */
	const char *function, *image, *build_id, *file;
	uint64_t address;
	double time; /* no number: of no finding */
} PlaceRow;

static void put_place_inlined(LodeJsonStream *json, const void *row, const void *user_data)
{
	put_inlined(((const View *)user_data)->annotation, json,
		((const PlaceRow *)row)->of.instruction);
}

static void put_instructions(LodeJsonStream *json, const void *row, const void *user_data);

static const LodeColumn place_columns[] = {
	{"place", LODE_CELL_NUMBER(PlaceRow, number), .only = LODE_IN_CSV},
	{"function", LODE_CELL_NAME(PlaceRow, function)},
	{"function_number", LODE_CELL_NUMBER(PlaceRow, of.function), .only = LODE_IN_JSON,
		.when = IS_PAGE},
	{"image", LODE_CELL_TEXT(PlaceRow, image)},
	{"build_id", LODE_CELL_TEXT(PlaceRow, build_id), .only = LODE_IN_JSON, .is_nullable = true},
	{"address", LODE_CELL_ADDRESS(PlaceRow, address), .only = LODE_IN_JSON},
	{"file", LODE_CELL_TEXT(PlaceRow, file), .only = LODE_IN_JSON, .is_nullable = true},
	{"line", LODE_CELL_NUMBER(PlaceRow, line), .only = LODE_IN_JSON},
	{.put = put_place_inlined, .type = INLINED_TYPE},
	{"costs", LODE_GROUP("place_"), .only = LODE_IN_CSV},
	{"executions", LODE_CELL_NUMBER(PlaceRow, of.executions)},
	{"share", LODE_CELL_SHARE(PlaceRow, of.share)},
	{"time", LODE_CELL_NUMBER(PlaceRow, time), .is_optional = true},
	{.kind = LODE_COLUMN_GROUP_END, .only = LODE_IN_CSV},
	{.put = put_instructions, .type = "instructions: CodeLine[]"},
};
const LodeColumns lode_annotated_place_columns = LODE_COLUMNS("places", place_columns, PlaceRow);

static void fill_place(size_t number, void *out, const void *user_data)
{
	const LodeAnnotation *self = ((const View *)user_data)->annotation;
	const LodeAnnotatedPlace *of = lode_annotated_places_at(&self->found, (uint32_t)number);
	const LodeFunction *function = lode_profile_function(self->profile, of->function);
	const LodeImage *image = lode_profile_image(self->profile, function->image);
	const LodeLocation *location = lode_annotation_location(self, of->instruction);

	*(PlaceRow *)out = (PlaceRow){
		.of = *of,
		.number = (uint32_t)number + 1,
		.line = location != NULL ? location->line : 0,
		.function = function->name,
		.image = image->path,
		.build_id = image->build_id,
		.file = location != NULL ? location->file : NULL,
		.address =
			of->instruction != LODE_NONE
				? lode_profile_instruction(self->profile, of->instruction)->address
				: function->address,
		.time = self->finding != NULL ? of->time : (double)NAN,
	};
}

/* --- lines of code --- */

typedef struct {
	PlaceRow place;
	LodeAnnotationLine of;
	uint32_t instruction, line;
	const char *name, *file, *counts;
	char *text, *elements, *findings;
	uint64_t address;
	double executions;
	Data data;
	LodeObservedCells observed;
	double events[];
} LineRow;

/* Those of a place. */
typedef struct {
	const View *view;
	size_t place;
	const LodeCodeLines *code;
	const GArray *lines; /* LodeAnnotationLine */
} Lines;

static const LodeAnnotation *annotation_of(const void *user_data)
{
	return ((const Lines *)user_data)->view->annotation;
}

/* [{"id":"F1","time":0.012}]: what findings explain of an instruction. */
static void put_marks(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LineRow *line = row;
	uint32_t n;
	const LodeFindingMark *marks = lode_annotated_places_marks(
		&annotation_of(user_data)->found, line->instruction, &n);

	lode_json_member_begin(json, "elements", '[');
	for (uint32_t i = 0; i < 32; i++)
		if ((line->of.elements >> i & 1) != 0)
			lode_json_number(json, i + 1);
	lode_json_end(json, ']');
	lode_json_member_begin(json, "findings", '[');
	for (uint32_t i = 0; i < n; i++) {
		g_autofree char *id = g_strdup_printf("F%u", marks[i].finding + 1);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "id", id);
		lode_json_member_number(json, "time", marks[i].time);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_attributes(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LineRow *line = row;
	const LodeAnnotation *self = annotation_of(user_data);
	const LodeProfile *profile = self->profile;

	put_inlined(self, json, line->instruction);
	lode_json_member_begin(json, "attributes", '[');
	if (line->instruction != LODE_NONE) {
		const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets,
			LodeAttributeSet,
			lode_profile_instruction(profile, line->instruction)->attribute_set);
		for (uint32_t i = set->first; i < set->first + set->n; i++)
			lode_json_string(
				json, g_ptr_array_index(profile->code.attributes,
					      LODE_AT(profile->code.set_members, uint32_t, i)));
	}
	lode_json_end(json, ']');
	lode_json_member_begin(json, "events", '{');
	for (uint32_t i = 0; i < profile->code.events->len; i++)
		if (line->events[i] != 0)
			lode_json_member_number(
				json, lode_profile_event(profile, i)->name, line->events[i]);
	lode_json_end(json, '}');
}

static void put_data(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeAnnotation *self = annotation_of(user_data);
	const LineRow *line = row;
	const LodeInstructionDatum *datum = lode_annotation_datum(self, line->instruction);

	lode_json_key(json, "memory");
	if (datum == NULL) {
		lode_json_string(json, NULL);
		return;
	}
	lode_json_begin(json, '{');
	lode_columns_put_json(&lode_annotated_data_columns, &line->data, json);
	lode_json_member_begin(json, "objects", '[');
	for (uint32_t i = 0; i < datum->n_objects; i++) {
		const LodeInstructionObject *object = lode_annotation_object(self, datum, i);
		lode_json_begin(json, '{');
		lode_function_name_json(json, "name", lode_annotation_object_name(self, object));
		lode_json_member_number(json, "weight", object->weight);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void put_facts(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeProfile *profile = annotation_of(user_data)->profile;
	uint32_t instruction = ((const LineRow *)row)->instruction;

	if (profile->windows != NULL)
		lode_observed_facts_json(profile, instruction, json);
	lode_loop_facts_json(profile, instruction, json);
}

static const LodeColumn line_columns[] = {
	{LODE_CELL_PART(LineRow, place, lode_annotated_place_columns), .only = LODE_IN_CSV},
	{"address", LODE_CELL_ADDRESS(LineRow, address)},
	{"text", LODE_CELL_TEXT(LineRow, text)},
	{"name", LODE_CELL_TEXT(LineRow, name), .only = LODE_IN_JSON, .is_nullable = true},
	{"elements", LODE_CELL_TEXT(LineRow, elements), .only = LODE_IN_CSV},
	{"findings", LODE_CELL_TEXT(LineRow, findings), .only = LODE_IN_CSV},
	{.put = put_marks, .type = "elements: number[]; findings: { id: string; time: number }[]"},
	{"matched", LODE_CELL_NUMBER(LineRow, of.count), .is_nullable = true},
	{"executions", LODE_CELL_NUMBER(LineRow, executions)},
	{"file", LODE_CELL_TEXT(LineRow, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(LineRow, line)},
	{.put = put_attributes,
		.type = INLINED_TYPE "; attributes: string[]; events: Record<string, number>"},
	{"events", LODE_GROUP("event:"), .only = LODE_IN_CSV},
	{"EVENT", LODE_CELL_NUMBER(LineRow, events[0]), .is_repeated = true, .only = LODE_IN_CSV},
	{.kind = LODE_COLUMN_GROUP_END, .only = LODE_IN_CSV},
	{"counts", LODE_CELL_TEXT(LineRow, counts), .only = LODE_IN_CSV},
	{LODE_CELL_PART(LineRow, data, lode_annotated_data_columns), .only = LODE_IN_CSV,
		.when = HAS_DATA},
	{.put = put_data,
		.when = HAS_DATA,
		.type = "memory?: (InstructionData & "
			"{ objects: { name: string | null; short_name?: string; weight: number }[] "
			"}) "
			"| null"},
	{LODE_CELL_PART(LineRow, observed, lode_observed_columns), .only = LODE_IN_CSV,
		.when = HAS_WINDOWS},
	{.put = put_facts,
		.type = "observed?: (Observed & { text: string; n_edges: number; edges: "
			"unknown[] }) | null; loop?: unknown"},
};
const LodeColumns lode_annotated_line_columns = LODE_COLUMNS("instructions", line_columns, LineRow);

static void fill_line(size_t number, void *out, const void *user_data)
{
	const Lines *lines = user_data;
	const LodeAnnotation *self = lines->view->annotation;
	const LodeProfile *profile = self->profile;
	const LodeAnnotationLine *of = &LODE_AT(lines->lines, LodeAnnotationLine, number);
	const LodeCodeLine *code = &LODE_AT(lines->code->lines, LodeCodeLine, of->line);
	uint32_t id = code->instruction;
	const LodeLocation *location = lode_annotation_location(self, id);
	const LodeInstructionDatum *datum = lode_annotation_datum(self, id);
	GString *text = g_string_new(NULL), *elements = g_string_new(NULL);
	GString *findings = g_string_new(NULL);
	LineRow *row = out;

	lode_code_lines_text(lines->code, of->line, text);
	lode_annotation_append_elements(of->elements, elements);
	lode_annotation_append_marks(self, id, findings);
	fill_place(lines->place, &row->place, lines->view);
	row->of = *of;
	row->instruction = id;
	row->address = code->address;
	row->text = g_string_free(text, FALSE);
	row->elements = g_string_free(elements, FALSE);
	row->findings = g_string_free(findings, FALSE);
	row->counts = lode_frequency_to_text(profile->run.frequency);
	if (location != NULL) {
		row->file = location->file;
		row->line = location->line;
	}
	if (datum != NULL)
		row->data = data_of(self, datum);
	if (profile->windows != NULL)
		row->observed = lode_observed_cells(profile, id);
	if (id == LODE_NONE)
		return;
	row->name = lode_profile_instruction(profile, id)->name;
	row->executions = lode_profile_instruction(profile, id)->count;
	for (uint32_t i = 0; i < profile->code.events->len; i++)
		row->events[i] = lode_profile_event_value(profile, i, id);
}

/* As a member of the open object, in CSV where that is NULL. */
static void put_lines(const View *self, size_t number, LodeJsonStream *json, FILE *out)
{
	LodeAnnotation *annotation = self->annotation;
	const LodeAnnotatedPlace *place = lode_annotated_places_at(
		&annotation->found, (uint32_t)number);
	g_autoptr(GArray) of_place = lode_annotation_lines(annotation, place);
	const Lines lines = {
		self, number, lode_annotation_code(annotation, place->function), of_place};
	const LodeListing listing = {&self->columns, of_place->len, .fill = fill_line,
		.user_data = &lines, .what = columns_of(annotation)};

	if (json != NULL)
		lode_listing_put_json(&listing, json);
	else
		lode_listing_put_csv_rows(&listing, out);
}

static void put_instructions(LodeJsonStream *json, const void *row, const void *user_data)
{
	put_lines(user_data, ((const PlaceRow *)row)->number - 1, json, NULL);
}

static void view_init(View *self, LodeAnnotation *annotation)
{
	const GArray *events = annotation->profile->code.events;
	g_autofree const char **names = g_new(const char *, MAX(events->len, 1));

	for (guint i = 0; i < events->len; i++)
		names[i] = lode_profile_event(annotation->profile, i)->name;
	self->annotation = annotation;
	lode_columns_repeat(&lode_annotated_line_columns, names, events->len, &self->columns);
}

void lode_annotation_write_csv(LodeAnnotation *self, FILE *out)
{
	View view;

	view_init(&view, self);
	lode_listing_put_csv_titles(&(LodeListing){&view.columns, .what = columns_of(self)}, out);
	for (uint32_t i = 0; i < self->found.n_shown; i++)
		put_lines(&view, i, NULL, out);
	g_free((void *)view.columns.columns);
}

/* --- JSON --- */

static void put_json_sequence(const LodeAnnotation *self, LodeJsonStream *json)
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

static void put_json_finding(const LodeAnnotation *self, LodeJsonStream *json)
{
	const LodeFinding *finding = self->finding;
	const LodeFindings *findings = self->run->findings;
	g_autofree char *id = g_strdup_printf("F%u", self->found.index + 1);
	g_autofree char *text = lode_finding_text(findings, finding);

	lode_json_member_string(json, "id", id);
	lode_json_member_string(json, "kind", lode_finding_kind_to_text(finding->kind));
	lode_json_key(json, "finding");
	lode_finding_json(findings, finding, json);
	lode_json_member_number(json, "focus", finding->focus + 1);
	lode_json_member_string(json, "pattern", text);
	lode_json_member_number(json, "time", finding->time);
	lode_json_member_number(json, "time_error", finding->time_error);
	lode_json_member_number(json, "each", finding->each);
	lode_json_member_number(json, "each_error", finding->each_error);
	lode_json_member_string(json, "each_unit",
		findings->is_counted
			? lode_event_value_unit(self->profile, self->found.weight_event)
			: "average instructions of the blocks");
	lode_json_member_number(json, "executed", finding->executed >= 0 ? finding->executed : NAN);
	lode_json_member_number(json, "functions", finding->functions);
}

static void put_json_diagnosis(const LodeAnnotation *self, LodeJsonStream *json)
{
	const LodeDiagnosis *diagnosis = self->diagnosis;
	g_autofree char *id = g_strdup_printf("D%u", self->found.index + 1);

	lode_json_member_string(json, "id", id);
	lode_json_member_string(json, "cause", diagnosis->cause);
	lode_json_member_string(json, "name", diagnosis->name);
	lode_json_member_string(json, "title", diagnosis->title);
	lode_json_member_number(json, "time", diagnosis->time);
	lode_json_member_number(json, "functions", diagnosis->functions);
}

/* Writes the subject: the members of a sequence, of a finding, of a diagnosis, or the name with the
 * findings that are here. */
static void put_json_subject(const LodeAnnotation *self, LodeJsonStream *json)
{
	bool is_line = self->options->subject == LODE_ANNOTATE_LINE;
	g_autoptr(GArray) explained = lode_annotated_places_explained(&self->found);

	if (self->options->subject == LODE_ANNOTATE_SEQUENCE) {
		put_json_sequence(self, json);
		return;
	}
	if (self->finding != NULL || self->diagnosis != NULL) {
		(self->finding != NULL ? put_json_finding : put_json_diagnosis)(self, json);
		return;
	}
	bool is_numbered = !is_line && self->options->function != LODE_NONE;
	lode_json_member_string(json, is_line ? "file" : "function",
		is_numbered ? lode_profile_function(self->profile, self->options->function)->name
			    : self->options->name);
	if (is_line)
		lode_json_member_number(json, "line", self->options->line);
	lode_json_member_begin(json, "findings", '[');
	for (guint i = 0; i < explained->len; i++) {
		const LodeFinding *finding = lode_findings_at(self->run->findings, i);
		g_autofree char *id = g_strdup_printf("F%u", i + 1);
		if (!(g_array_index(explained, double, i) > 0))
			continue;
		g_autofree char *text = lode_finding_text(self->run->findings, finding);
		lode_json_begin(json, '{');
		lode_json_member_string(json, "id", id);
		lode_json_key(json, "finding");
		lode_finding_json(self->run->findings, finding, json);
		lode_json_member_number(json, "focus", finding->focus + 1);
		lode_json_member_string(json, "pattern", text);
		lode_json_member_number(json, "time", g_array_index(explained, double, i));
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* Lines around those that code comes from; stretches nearer than this to each other are joined. */
enum { SOURCE_CONTEXT = 3, SOURCE_GAP = 12 };

/* The lines of a file. */
typedef struct {
	GArray *numbers;  /* uint32_t: lines that shown instructions come from, in any order */
	const char *path; /* NULL: it may not be shown */
} UsedLines;

static void free_used(void *data)
{
	UsedLines *self = data;

	g_array_unref(self->numbers);
	g_free(self);
}

/* By the names of the profile. */
static GHashTable *used_lines(LodeAnnotation *self, LodeSourceText *sources)
{
	GHashTable *all = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_used);

	for (guint i = 0; i < self->found.n_shown; i++) {
		const Place *place = lode_annotated_places_at(&self->found, i);
		const LodeCodeLines *code = lode_annotation_code(self, place->function);
		g_autoptr(GArray) lines = lode_annotation_lines(self, place);
		for (guint j = 0; j < lines->len; j++) {
			uint32_t line = g_array_index(lines, LodeAnnotationLine, j).line;
			uint32_t id = LODE_AT(code->lines, LodeCodeLine, line).instruction;
			const LodeLocation *location = lode_annotation_location(self, id);
			if (location == NULL || location->file == NULL || location->line == 0)
				continue;
			UsedLines *used = g_hash_table_lookup(all, location->file);
			if (used == NULL) {
				used = g_new0(UsedLines, 1);
				used->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
				g_hash_table_insert(all, location->file, used);
			}
			if (used->path == NULL)
				used->path = lode_source_text_admit(sources,
					lode_profile_instruction(self->profile, id),
					location->file);
			g_array_append_val(used->numbers, location->line);
		}
	}
	return all;
}

/* [[12, "x = table[i];"], …]: the lines and what is around them. */
static void put_source_lines(
	LodeJsonStream *json, LodeSourceText *sources, const char *path, GArray *numbers)
{
	uint64_t next = 1;

	g_array_sort(numbers, lode_compare_u32);
	for (guint i = 0; i < numbers->len; i++) {
		uint64_t line = g_array_index(numbers, uint32_t, i);
		uint64_t first = line > SOURCE_CONTEXT ? line - SOURCE_CONTEXT : 1;
		if (i > 0 && first <= next + SOURCE_GAP)
			first = next;
		for (uint64_t at = MAX(first, next); at <= line + SOURCE_CONTEXT; at++) {
			const char *text = at <= UINT32_MAX ? lode_source_text_line(
								      sources, path, (uint32_t)at)
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

static void put_sources(LodeAnnotation *self, LodeJsonStream *json)
{
	g_autoptr(LodeSourceText)
		sources = lode_source_text_new(self->profile, self->options->source);
	g_autoptr(GHashTable) used = used_lines(self, sources);
	guint n;
	g_autofree char **files = (char **)g_hash_table_get_keys_as_array(used, &n);

	if (n > 0)
		qsort(files, n, sizeof(*files), lode_compare_texts);
	lode_json_member_begin(json, "sources", '[');
	for (guint i = 0; i < n; i++) {
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "file", files[i]);
		lode_json_member_begin(json, "lines", '[');
		const UsedLines *lines = g_hash_table_lookup(used, files[i]);
		if (lines->path != NULL)
			put_source_lines(json, sources, lines->path, lines->numbers);
		lode_json_end(json, ']');
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_line(json);
}

void lode_annotation_write_json(LodeAnnotation *self, FILE *out)
{
	View view;
	const LodeListing places = {&lode_annotated_place_columns, self->found.n_shown,
		.fill = fill_place, .user_data = &view, .what = columns_of(self)};
	LodeJsonStream json;

	view_init(&view, self);
	lode_profile_json_begin(&json, out, self->profile, self->run);
	put_json_subject(self, &json);
	lode_json_line(&json);
	if (self->options->is_page)
		put_sources(self, &json);
	lode_listing_put_json(&places, &json);
	lode_json_end(&json, '}');
	g_free((void *)view.columns.columns);
}
