/* SPDX-License-Identifier: MIT */
#include "sample_profile.h"

#include "made_profile.h"
#include "model/findings.h"
#include "model/run/unresolved.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint64_t address;
	double count, misses, next_count;
	const char *attributes;
	uint32_t size;
} SampleInstruction;

static void add_function(LodeProfile *profile, const char *name, GBytes *code,
	const SampleInstruction *rows, uint32_t n)
{
	made_function(profile, (LodeFunction){.name = (char *)name,
				       .address = rows[0].address,
				       .size = g_bytes_get_size(code),
				       .calls = rows[0].count,
				       .code = code});
	for (uint32_t i = 0; i < n; i++) {
		const SampleInstruction *row = &rows[i];
		uint32_t added = made_instruction(profile,
			(LodeInstruction){
				.address = row->address, .count = row->count, .size = row->size},
			row->attributes, 0);
		made_fall(profile, added, row->next_count);
		made_line(profile, "/nowhere/sample.c", (uint32_t)(row->address & 0xff) + 1, NULL);
		if (row->misses != 0)
			made_cost(
				profile, lode_profile_find_event(profile, "l1d-miss"), row->misses);
	}
}

static void add_events(LodeProfile *profile)
{
	uint32_t count = lode_profile_add_event(
		profile, "executions", NULL, LODE_EVENT_COUNT, NULL, 0);
	uint32_t miss = lode_profile_add_event(
		profile, "l1d-miss", "first-level misses", LODE_EVENT_RECORDED, NULL, 0);
	LodeEventTerm terms[] = {{count, 1}, {miss, 10}};

	profile->code.weight_event = lode_profile_add_event(
		profile, "cycles", "estimated", LODE_EVENT_DERIVED, terms, 2);
	lode_profile_event(profile, count)->total = 350;
	lode_profile_event(profile, miss)->total = 40;
	lode_profile_event(profile, miss)->is_attribute = true;
	lode_profile_event(profile, profile->code.weight_event)->total = 750;
}

LodeProfile *sample_profile(void)
{
	static const uint8_t hot[] = {0x8b, 0x07, 0x83, 0xc0, 0x01, 0xc3};
	static const uint8_t cold[] = {0x8b, 0x07, 0x83, 0xc0, 0x01, 0x90, 0xc3};
	static const SampleInstruction hot_rows[] = {
		{0x1000, 100, 40, 100, "op:mov kind:load", 2},
		{0x1002, 100, 0, 100, "op:add", 3},
		{0x1005, 100, 0, -1, "op:ret kind:ret", 1},
	};
	static const SampleInstruction cold_rows[] = {
		{0x2000, 10, 0, 10, "op:mov kind:load", 2},
		{0x2002, 10, 0, 10, "op:add", 3},
		{0x2006, 10, 0, -1, "op:ret kind:ret", 1},
	};
	LodeProfile *profile = lode_profile_new();

	profile->run.program = lode_profile_intern(profile, "./sample --fast");
	profile->run.creator = lode_profile_intern(profile, "hand");
	profile->run.frequency = LODE_FREQUENCY_EXACT;
	profile->run.total_count = 350;
	profile->run.inflow_checked = 220;
	profile->run.inflow_equal = 110;
	add_events(profile);
	made_image(profile, "/bin/sample");
	lode_profile_image(profile, 0)->build_id = lode_profile_intern(profile, "abcd");
	add_function(profile, "hot", g_bytes_new_static(hot, sizeof(hot)), hot_rows, 3);
	add_function(profile, "cold", g_bytes_new_static(cold, sizeof(cold)), cold_rows, 3);
	lode_profile_add_unresolved(profile, "no image file", "0x7f00", 20, 20);
	return profile;
}

static uint32_t attribute_id(LodeMiningRun *run, const char *name)
{
	for (guint i = 0; i < run->attributes->len; i++)
		if (strcmp(g_ptr_array_index(run->attributes, i), name) == 0)
			return i;
	g_ptr_array_add(run->attributes, g_strdup(name));
	return run->attributes->len - 1;
}

void sample_add_sequence(
	LodeMiningRun *run, const char *text, double weight, double frequency, uint32_t places)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	LodeSequence sequence = {
		.first_item = run->items->len,
		.places = places,
		.functions = places,
		.weight = weight,
		.frequency = frequency,
		.executions = places * 10,
	};
	bool is_start = true;

	for (guint i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], ">") == 0) {
			is_start = true;
			continue;
		}
		uint32_t item = attribute_id(run, words[i]) | (is_start ? LODE_ITEM_START : 0);
		g_array_append_val(run->items, item);
		sequence.n_items++;
		is_start = false;
	}
	g_array_append_val(run->sequences, sequence);
	for (guint i = 0; i < run->events->len; i++)
		g_array_append_val(run->event_supports, weight);
}

LodeMiningRun *sample_run(void)
{
	static const char *const names[] = {"ev:l1d-miss", "kind:load", "op:add"};
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	LodeMiningRun *run = lode_mining_run_new("default", &parameters);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_ptr_array_add(run->attributes, g_strdup(names[i]));
	g_ptr_array_add(run->events, g_strdup("l1d-miss"));
	sample_add_sequence(run, "kind:load", 0.68, 110.0 / 350, 2);
	sample_add_sequence(run, "ev:l1d-miss kind:load", 0.60, 100.0 / 350, 1);
	sample_add_sequence(run, "kind:load > op:add", 0.82, 220.0 / 350, 2);
	sample_add_sequence(run, "ev:l1d-miss kind:load > op:add", 0.60, 100.0 / 350, 1);
	sample_add_sequence(run, "op:add", 0.14, 110.0 / 350, 2);
	return run;
}

static void add_element(LodeFindings *findings, const char *attribute)
{
	uint32_t id = findings->attributes->len;
	LodeFindingElement element = {findings->items->len, attribute != NULL};

	if (attribute != NULL) {
		g_ptr_array_add(findings->attributes, g_strdup(attribute));
		g_array_append_val(findings->items, id);
	}
	g_array_append_val(findings->elements, element);
}

LodeMiningRun *sample_run_with_findings(void)
{
	static const LodeFindingPlace places[] = {{1, 0.3}, {4, 0.1}, {0, 0.2}};
	LodeMiningRun *run = sample_run();
	LodeFindings *findings = run->findings = lode_findings_new();
	LodeFinding pattern = {LODE_FINDING_PATTERN, .n_elements = 3, .focus = 1, .time = 0.4,
		.time_error = 0.01, .each = 2, .executed = 0.3, .places = 2, .functions = 2,
		.spread = 1.6, .n_places = 2};
	LodeFinding place = {LODE_FINDING_PLACE, .first_element = 3, .n_elements = 1, .time = 0.2,
		.each = 4, .executed = 0.3, .places = 1, .functions = 1, .spread = 1,
		.first_place = 2, .n_places = 1};

	findings->is_counted = true;
	add_element(findings, "kind:load");
	add_element(findings, "op:add");
	add_element(findings, NULL);
	add_element(findings, "op:mov");
	g_array_append_val(findings->findings, pattern);
	g_array_append_val(findings->findings, place);
	g_array_append_vals(findings->places, places, G_N_ELEMENTS(places));
	return run;
}

FILE *sample_open(void)
{
	FILE *file = tmpfile();

	g_assert_nonnull(file);
	return file;
}

char *sample_close(FILE *file)
{
	long size = ftell(file);
	char *text = g_malloc0((size_t)size + 1);

	rewind(file);
	g_assert_cmpuint(fread(text, 1, (size_t)size, file), ==, (size_t)size);
	fclose(file);
	return text;
}

static const char *parse_cell(const char *at, GPtrArray *row)
{
	GString *cell = g_string_new(NULL);
	bool is_quoted = *at == '"';

	if (is_quoted)
		at++;
	while (*at != '\0') {
		if (is_quoted && at[0] == '"' && at[1] == '"')
			at++;
		else if (is_quoted && at[0] == '"')
			break;
		else if (!is_quoted && strchr(",\r\n", *at) != NULL)
			break;
		g_string_append_c(cell, *at++);
	}
	if (is_quoted) {
		g_assert_cmpint(*at, ==, '"');
		at++;
	}
	g_ptr_array_add(row, g_string_free(cell, FALSE));
	return at;
}

static void free_row(void *row)
{
	g_ptr_array_unref(row);
}

GPtrArray *sample_parse_csv(const char *text)
{
	GPtrArray *rows = g_ptr_array_new_with_free_func(free_row);

	while (*text != '\0') {
		GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
		text = parse_cell(text, row);
		while (*text == ',')
			text = parse_cell(text + 1, row);
		g_assert_cmpint(text[0], ==, '\r');
		g_assert_cmpint(text[1], ==, '\n');
		text += 2;
		g_ptr_array_add(rows, row);
		g_assert_cmpuint(row->len, ==, ((GPtrArray *)g_ptr_array_index(rows, 0))->len);
	}
	return rows;
}

const char *sample_cell(const GPtrArray *rows, guint row, const char *column)
{
	const GPtrArray *titles = g_ptr_array_index(rows, 0);

	g_assert_cmpuint(row, <, rows->len);
	for (guint i = 0; i < titles->len; i++)
		if (strcmp(g_ptr_array_index(titles, i), column) == 0)
			return g_ptr_array_index((GPtrArray *)g_ptr_array_index(rows, row), i);
	g_error("no column %s", column);
}
