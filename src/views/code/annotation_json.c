/* SPDX-License-Identifier: MIT */
#include "views/code/annotation_json.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/code/inlined_lines.h"
#include "views/code/source_text.h"
#include "views/findings/finding_figures.h"
#include "views/form/function_name.h"
#include "views/observed/loop_facts.h"
#include "views/observed/observed_facts.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef LodeAnnotatedPlace Place;

static char *hex(uint64_t address)
{
	return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address);
}

/* The line that names an instruction, the innermost function, and where there is one, the chain. */
static void put_location(const LodeAnnotation *self, LodeJsonStream *json, uint32_t instruction)
{
	const LodeLocation *location = lode_annotation_location(self, instruction);
	uint32_t innermost =
		instruction != LODE_NONE
			? lode_profile_instruction(self->profile, instruction)->location
			: LODE_NONE;

	lode_json_member_string(json, "file", location != NULL ? location->file : NULL);
	lode_json_member_number(json, "line", location != NULL ? location->line : 0);
	lode_function_name_json(json, "inlined",
		innermost != LODE_NONE
			? LODE_AT(self->profile->locations, LodeLocation, innermost).inlined
			: NULL);
	if (instruction == LODE_NONE ||
		lode_profile_inlining_of(self->profile, instruction) == LODE_NONE)
		return;
	g_autoptr(GArray) chain = lode_own_lines_chain(self->own, instruction);
	lode_json_key(json, "chain");
	lode_inlined_lines_json(json, chain, self->options->is_page);
}

static void put_events(LodeJsonStream *json, const LodeProfile *profile, uint32_t instruction)
{
	lode_json_member_begin(json, "events", '{');
	for (uint32_t i = 0; i < profile->events->len && instruction != LODE_NONE; i++) {
		double value = lode_profile_event_value(profile, i, instruction);
		if (value != 0)
			lode_json_member_number(json, lode_profile_event(profile, i)->name, value);
	}
	lode_json_end(json, '}');
}

static void put_elements(LodeJsonStream *json, uint32_t elements)
{
	lode_json_member_begin(json, "elements", '[');
	for (uint32_t i = 0; i < 32; i++)
		if ((elements >> i & 1) != 0)
			lode_json_number(json, i + 1);
	lode_json_end(json, ']');
}

/* [{"id":"F1","time":0.012}]: what findings explain of an instruction. */
static void put_marks(const LodeAnnotation *self, LodeJsonStream *json, uint32_t instruction)
{
	uint32_t n;
	const LodeFindingMark *marks = lode_annotated_places_marks(&self->found, instruction, &n);

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

static void put_json_datum(const LodeAnnotation *self, LodeJsonStream *json, uint32_t instruction)
{
	const LodeInstructionDatum *datum = lode_annotation_datum(self, instruction);
	char address[LODE_NUMBER_SIZE];

	if (self->data == NULL)
		return;
	lode_json_key(json, "memory");
	if (datum == NULL) {
		lode_json_string(json, NULL);
		return;
	}
	lode_json_begin(json, '{');
	lode_json_member_bool(json, "is_of_windows", self->data->is_of_windows);
	lode_json_member_number(json, "samples", (double)datum->totals.n_samples);
	lode_json_member_number(json, "loads", (double)datum->totals.n_loads);
	lode_json_member_number(json, "stores", (double)datum->totals.n_stores);
	lode_json_member_number(json, "weight", datum->totals.weight);
	lode_json_member_number(json, "share", lode_annotation_datum_share(self, datum));
	lode_json_member_number(json, "unresolved_weight", datum->unresolved_weight);
	lode_json_member_string(json, "first_address",
		lode_annotation_has_address(datum)
			? lode_number_format_address(datum->least, address)
			: NULL);
	lode_json_member_string(json, "last_address",
		lode_annotation_has_address(datum)
			? lode_number_format_address(datum->most, address)
			: NULL);
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

static void put_attributes(
	LodeJsonStream *json, const LodeProfile *profile, const LodeInstruction *instruction)
{
	lode_json_member_begin(json, "attributes", '[');
	if (instruction != NULL) {
		const LodeAttributeSet *set = &LODE_AT(
			profile->attribute_sets, LodeAttributeSet, instruction->attribute_set);

		for (uint32_t i = set->first; i < set->first + set->n; i++)
			lode_json_string(json, g_ptr_array_index(profile->attributes,
						       LODE_AT(profile->set_members, uint32_t, i)));
	}
	lode_json_end(json, ']');
}

static void put_json_line(const LodeAnnotation *self, LodeJsonStream *json,
	const LodeCodeLines *code, const LodeAnnotationLine *line)
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
	lode_json_line_begin(json, '{');
	lode_json_member_string(json, "address", address);
	lode_json_member_string(json, "text", text->str);
	lode_json_member_string(json, "name", row != NULL ? row->name : NULL);
	put_elements(json, line->elements);
	put_marks(self, json, instruction);
	lode_json_member_number(json, "matched", line->count);
	lode_json_member_number(json, "executions", row != NULL ? row->count : 0);
	put_location(self, json, instruction);
	put_attributes(json, profile, row);
	put_events(json, profile, instruction);
	put_json_datum(self, json, instruction);
	if (profile->windows != NULL)
		lode_observed_facts_json(profile, instruction, json);
	lode_loop_facts_json(profile, instruction, json);
	lode_json_end(json, '}');
}

static void put_json_place(LodeAnnotation *self, LodeJsonStream *json, const Place *place)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeImage *image = lode_profile_image(profile, function->image);
	g_autofree char *address = hex(
		place->instruction != LODE_NONE
			? lode_profile_instruction(profile, place->instruction)->address
			: function->address);
	g_autoptr(GArray) lines = lode_annotation_lines(self, place);
	const LodeCodeLines *code = lode_annotation_code(self, place->function);

	lode_json_line_begin(json, '{');
	lode_function_name_json(json, "function", function->name);
	if (self->options->is_page)
		lode_json_member_number(json, "function_number", place->function);
	lode_json_member_string(json, "image", image->path);
	lode_json_member_string(json, "build_id", image->build_id);
	lode_json_member_string(json, "address", address);
	put_location(self, json, place->instruction);
	lode_json_member_number(json, "executions", place->executions);
	lode_json_member_number(json, "share", place->share);
	if (self->finding != NULL)
		lode_json_member_number(json, "time", place->time);
	lode_json_member_begin(json, "instructions", '[');
	for (guint i = 0; i < lines->len; i++)
		put_json_line(self, json, code, &g_array_index(lines, LodeAnnotationLine, i));
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

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
		findings->is_counted ? lode_finding_unit(self->profile, self->found.weight_event)
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
	LodeJsonStream json;

	lode_profile_json_begin(&json, out, self->profile, self->run);
	put_json_subject(self, &json);
	lode_json_line(&json);
	if (self->options->is_page)
		put_sources(self, &json);
	lode_json_member_begin(&json, "places", '[');
	for (guint i = 0; i < self->found.n_shown; i++)
		put_json_place(self, &json, lode_annotated_places_at(&self->found, i));
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}
