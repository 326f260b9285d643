/* SPDX-License-Identifier: MIT */
/* The places of a sequence for programs: JSON nested by place, CSV a row for each line of code. */
#include "views/annotate_place.h"
#include "views/csv.h"
#include "views/profile_figures.h"
#include "views/profile_json.h"

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
	const LodeCodeLines *code, const LodeAnnotateLine *line)
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

static void put_json_place(
	LodeAnnotation *self, LodeJsonStream *json, const LodeAnnotatePlace *place)
{
	const LodeProfile *profile = self->profile;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeImage *image = lode_profile_image(profile, function->image);
	const LodeInstruction *first = lode_profile_instruction(profile, place->instruction);
	g_autofree char *address = hex(first->address);
	g_autoptr(GArray) lines = lode_annotation_lines(self, place);
	const LodeCodeLines *code = lode_annotation_code(self, place->function);

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
		put_json_line(json, profile, code, &g_array_index(lines, LodeAnnotateLine, i));
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

void lode_annotate_json(LodeAnnotation *self, FILE *out)
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
		put_json_place(self, &json, &g_array_index(self->places, LodeAnnotatePlace, i));
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void put_csv_titles(const LodeAnnotation *self, LodeCsv *csv)
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

static void put_csv_code(const LodeAnnotation *self, LodeCsv *csv, const LodeCodeLines *code,
	const LodeAnnotateLine *line)
{
	const LodeProfile *profile = self->profile;
	const LodeCodeLine *code_line = &LODE_AT(code->lines, LodeCodeLine, line->line);
	uint32_t instruction = code_line->instruction;
	const LodeLocation *location = location_of(profile, instruction);
	g_autofree char *address = hex(code_line->address);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) elements = g_string_new(NULL);

	lode_code_lines_text(code, line->line, text);
	lode_annotate_elements_text(line->elements, elements);
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

void lode_annotate_csv(LodeAnnotation *self, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_csv_titles(self, &csv);
	for (guint i = 0; i < self->places->len; i++) {
		const LodeAnnotatePlace *place = &g_array_index(self->places, LodeAnnotatePlace, i);
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
			put_csv_code(self, &csv, code, &g_array_index(lines, LodeAnnotateLine, j));
		}
	}
}
