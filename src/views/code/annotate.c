/* SPDX-License-Identifier: MIT */
/* The forms of the view (annotation.h); CSV, a row for each line of code, is here. */
#include "views/code/annotate.h"

#include "base/error.h"
#include "base/text/number_format.h"
#include "model/profile.h"
#include "views/code/annotation_json.h"
#include "views/code/annotation_text.h"
#include "views/form/csv.h"
#include "views/observed/observed_facts.h"
#include "views/profile/profile_figures.h"

#include <math.h>

typedef LodeAnnotatedPlace Place;

static void put_csv_datum(const LodeAnnotation *self, LodeCsv *csv, uint32_t instruction)
{
	const LodeInstructionDatum *datum = lode_annotation_datum(self, instruction);
	bool is_known = datum != NULL && lode_annotation_has_address(datum);
	char address[LODE_NUMBER_SIZE];

	if (self->data == NULL)
		return;
	lode_csv_number(csv, datum != NULL ? (double)datum->totals.n_samples : 0);
	lode_csv_number(csv, datum != NULL ? (double)datum->totals.n_loads : 0);
	lode_csv_number(csv, datum != NULL ? (double)datum->totals.n_stores : 0);
	lode_csv_number(csv, datum != NULL ? lode_annotation_datum_share(self, datum) : 0);
	lode_csv_text(csv,
		datum != NULL && datum->n_objects > 0
			? lode_annotation_object_name(self, lode_annotation_object(self, datum, 0))
			: NULL);
	lode_csv_text(csv, is_known ? lode_number_format_address(datum->least, address) : NULL);
	lode_csv_text(csv, is_known ? lode_number_format_address(datum->most, address) : NULL);
}

static void put_csv_titles(const LodeAnnotation *self, LodeCsv *csv)
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
	if (self->profile->windows != NULL)
		lode_observed_facts_csv_titles(csv);
	lode_csv_end_row(csv);
}

static void put_csv_code(const LodeAnnotation *self, LodeCsv *csv, const LodeCodeLines *code,
	const LodeAnnotationLine *line)
{
	const LodeProfile *profile = self->profile;
	const LodeCodeLine *code_line = &LODE_AT(code->lines, LodeCodeLine, line->line);
	uint32_t instruction = code_line->instruction;
	const LodeLocation *location = lode_annotation_location(self, instruction);
	g_autofree char *address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", code_line->address);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) elements = g_string_new(NULL);
	g_autoptr(GString) findings = g_string_new(NULL);

	lode_code_lines_text(code, line->line, text);
	lode_annotation_append_elements(line->elements, elements);
	lode_annotation_append_marks(self, instruction, findings);
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
	if (profile->windows != NULL)
		lode_observed_facts_csv(profile, instruction, csv);
	lode_csv_end_row(csv);
}

static void write_csv(LodeAnnotation *self, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_csv_titles(self, &csv);
	for (guint i = 0; i < self->found.n_shown; i++) {
		const Place *place = lode_annotated_places_at(&self->found, i);
		const LodeFunction *function = lode_profile_function(
			self->profile, place->function);
		const LodeCodeLines *code = lode_annotation_code(self, place->function);
		g_autoptr(GArray) lines = lode_annotation_lines(self, place);
		for (guint j = 0; j < lines->len; j++) {
			lode_csv_number(&csv, i + 1);
			lode_csv_text(&csv, function->name);
			lode_csv_text(
				&csv, lode_profile_image(self->profile, function->image)->path);
			lode_csv_number(&csv, place->executions);
			lode_csv_number(&csv, place->share);
			lode_csv_number(&csv, self->finding != NULL ? place->time : (double)NAN);
			put_csv_code(
				self, &csv, code, &g_array_index(lines, LodeAnnotationLine, j));
		}
	}
}

enum { CONTEXT = 3 };

void lode_annotate_options_init(LodeAnnotateOptions *self)
{
	*self = (LodeAnnotateOptions){.context = CONTEXT, .function = LODE_NONE};
}

bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out, GError **error)
{
	g_auto(LodeAnnotation) annotation = {0};

	lode_progress_report(progress, "finding places", 0, 0, NULL);
	if (!lode_annotation_init(&annotation, profile, run, options, error))
		return false;
	if (lode_progress_is_cancelled(progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	lode_progress_end(progress);
	if (options->format == LODE_VIEW_TEXT)
		lode_annotation_write_text(&annotation, out);
	else if (options->format == LODE_VIEW_JSON)
		lode_annotation_write_json(&annotation, out);
	else
		write_csv(&annotation, out);
	return lode_view_flush(out, error);
}
