/* SPDX-License-Identifier: MIT */
#include "views/code/annotation.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/findings.h"
#include "model/memory.h"
#include "model/mining_run.h"
#include "views/code/code_lines.h"
#include "views/figures/profile_figures.h"

#include <stdlib.h>

typedef LodeAnnotatedPlace Place;

bool lode_annotation_init(LodeAnnotation *self, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeAnnotateOptions *options, GError **error)
{
	*self = (LodeAnnotation){.profile = profile, .run = run, .options = options};
	self->code_lines = g_hash_table_new_full(
		NULL, NULL, NULL, (GDestroyNotify)lode_code_lines_free);
	self->own = lode_own_lines_new(profile, options->own);
	if (lode_memory_of(profile) != NULL && lode_memory_of(profile)->samples->len > 0)
		self->data = lode_instruction_data_new(profile);
	if (!lode_annotated_places_init(&self->found, profile, run, options, error))
		return false;
	if (options->subject == LODE_ANNOTATE_FINDING)
		self->finding = lode_findings_at(run->findings, self->found.index);
	if (options->subject == LODE_ANNOTATE_DIAGNOSIS)
		self->diagnosis = lode_diagnoses_at(options->diagnoses, self->found.index);
	return true;
}

void lode_annotation_clear(LodeAnnotation *self)
{
	lode_annotated_places_clear(&self->found);
	g_clear_pointer(&self->code_lines, g_hash_table_unref);
	g_clear_pointer(&self->own, lode_own_lines_free);
	g_clear_pointer(&self->data, lode_instruction_data_free);
}

const LodeCodeLines *lode_annotation_code(LodeAnnotation *self, uint32_t function)
{
	void *key = GUINT_TO_POINTER(function);
	LodeCodeLines *lines = g_hash_table_lookup(self->code_lines, key);

	if (lines == NULL) {
		lines = lode_code_lines_new(self->profile, function);
		g_hash_table_insert(self->code_lines, key, lines);
	}
	return lines;
}

LODE_ORDER(compare_lines, LodeAnnotationLine, LODE_ASCENDING(line))

/* The matched lines, by line; a line is there once. */
static GArray *matched_lines(LodeAnnotation *self, const Place *place)
{
	const LodeCodeLines *code = lode_annotation_code(self, place->function);
	uint32_t first = lode_profile_function(self->profile, place->function)->first_instruction;
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(LodeAnnotationLine));

	for (uint32_t i = 0; i < place->n_matches; i++) {
		const LodeAnnotatedMatch *match = &g_array_index(
			self->found.matches, LodeAnnotatedMatch, place->first_match + i);
		LodeAnnotationLine line = {
			.line = code->line_of[match->instruction - first],
			.elements = match->elements,
			.count = match->count,
		};
		g_array_append_val(lines, line);
	}
	if (lines->len > 1)
		qsort(lines->data, lines->len, sizeof(LodeAnnotationLine), compare_lines);
	return lines;
}

static bool has_run(const LodeAnnotation *self, const LodeCodeLines *code, uint32_t line)
{
	uint32_t instruction = LODE_AT(code->lines, LodeCodeLine, line).instruction;
	uint32_t weight = self->found.weight_event;

	return instruction != LODE_NONE &&
	       (lode_profile_instruction(self->profile, instruction)->count > 0 ||
		       (weight != LODE_NONE &&
			       lode_profile_event_value(self->profile, weight, instruction) > 0));
}

/* A function's lines; the text has those that ran, unless none did. One line alone is shown, as a
 * gap would take its place. */
static void gather_function(
	const LodeAnnotation *self, const LodeCodeLines *code, GArray *out_lines)
{
	bool is_whole = self->options->format != LODE_VIEW_TEXT || self->options->is_whole;
	uint32_t n = code->lines->len, n_unrun = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool is_left_out = !is_whole && !has_run(self, code, i) &&
		                   (n_unrun > 0 || (i + 1 < n && !has_run(self, code, i + 1)));
		n_unrun += is_left_out;
		if (is_left_out)
			continue;
		LodeAnnotationLine line = {
			.line = i, .follows_gap = n_unrun > 0, .n_unrun = n_unrun};
		g_array_append_val(out_lines, line);
		n_unrun = 0;
	}
	for (uint32_t i = 0; i < n && out_lines->len == 0; i++)
		g_array_append_val(out_lines, ((LodeAnnotationLine){.line = i}));
}

GArray *lode_annotation_lines(LodeAnnotation *self, const Place *place)
{
	const LodeCodeLines *code = lode_annotation_code(self, place->function);
	g_autoptr(GArray) matched = matched_lines(self, place);
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(LodeAnnotationLine));
	uint64_t context = self->options->context;
	uint64_t next = 0; /* the first line not yet shown */

	if (lode_annotated_place_is_whole(&self->found, place))
		gather_function(self, code, lines);
	/* In 64 bits: the context may be any number. The next match ends the context of this one,
	 * so that no line is shown twice. */
	for (guint i = 0; i < matched->len; i++) {
		const LodeAnnotationLine *match = &g_array_index(matched, LodeAnnotationLine, i);
		uint64_t start = match->line > context ? match->line - context : 0;
		uint64_t end = MIN(match->line + context + 1, code->lines->len);
		if (i + 1 < matched->len)
			end = MIN(end, match[1].line);
		bool is_gap = start > next && lines->len > 0;
		for (uint64_t at = MAX(start, next); at < end; at++) {
			LodeAnnotationLine line = {.line = (uint32_t)at};
			if (at == match->line)
				line = *match;
			line.follows_gap = is_gap && at == MAX(start, next);
			g_array_append_val(lines, line);
		}
		next = MAX(next, end);
	}
	return lines;
}

void lode_annotation_append_elements(uint32_t elements, GString *out)
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

void lode_annotation_append_marks(const LodeAnnotation *self, uint32_t instruction, GString *out)
{
	uint32_t n;
	const LodeFindingMark *marks = lode_annotated_places_marks(&self->found, instruction, &n);

	for (uint32_t i = 0; i < n; i++)
		g_string_append_printf(out, "%sF%u", i > 0 ? " " : "", marks[i].finding + 1);
}

const LodeLocation *lode_annotation_location(const LodeAnnotation *self, uint32_t instruction)
{
	uint32_t location = instruction != LODE_NONE ? lode_own_lines_find(self->own, instruction)
	                                             : LODE_NONE;

	return location != LODE_NONE
	               ? &LODE_AT(lode_code_of(self->profile)->locations, LodeLocation, location)
	               : NULL;
}

const LodeInstructionDatum *lode_annotation_datum(const LodeAnnotation *self, uint32_t instruction)
{
	if (self->data == NULL || instruction == LODE_NONE)
		return NULL;
	return lode_instruction_data_find(self->data, instruction);
}

const char *lode_annotation_object_name(
	const LodeAnnotation *self, const LodeInstructionObject *object)
{
	return lode_memory_object_name(lode_memory_of(self->profile), object->object);
}

const LodeInstructionObject *lode_annotation_object(
	const LodeAnnotation *self, const LodeInstructionDatum *datum, uint32_t i)
{
	return &LODE_AT(self->data->objects, LodeInstructionObject, datum->first_object + i);
}

double lode_annotation_datum_share(const LodeAnnotation *self, const LodeInstructionDatum *datum)
{
	const LodeInstruction *row = lode_profile_instruction(self->profile, datum->instruction);

	return lode_share_of(datum->totals.weight, self->data->functions[row->function].weight);
}
