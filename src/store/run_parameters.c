/* SPDX-License-Identifier: MIT */
#include "store/run_parameters.h"

#include "base/error.h"
#include "base/text/json_stream.h"
#include "model/mining_run.h"
#include "store/json_text.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum {
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_COUNT,      /* uint32_t */
	FIELD_LONG_COUNT, /* uint64_t */
	FIELD_FLAG,
	FIELD_FLOW,
	FIELD_GRANULARITY,
} FieldType;

typedef struct {
	const char *name;
	FieldType type;
	size_t offset;
} Field;

#define FIELD(name, type)                                                                          \
	{                                                                                          \
#name, type, offsetof(LodeMiningParameters, name)                                  \
	}

static const Field fields[] = {
	FIELD(weight, FIELD_TEXT),
	FIELD(attributes, FIELD_TEXT),
	FIELD(exclude, FIELD_TEXT),
	FIELD(images, FIELD_TEXT),
	FIELD(functions, FIELD_TEXT),
	FIELD(origins, FIELD_TEXT),
	FIELD(event_rate, FIELD_NUMBER),
	FIELD(min_support, FIELD_NUMBER),
	FIELD(min_differential, FIELD_NUMBER),
	FIELD(min_functions, FIELD_COUNT),
	FIELD(gap, FIELD_COUNT),
	FIELD(window, FIELD_COUNT),
	FIELD(iterations, FIELD_COUNT),
	FIELD(flow, FIELD_FLOW),
	FIELD(granularity, FIELD_GRANULARITY),
	FIELD(only_closed, FIELD_FLAG),
	FIELD(only_maximal, FIELD_FLAG),
	FIELD(only_findings, FIELD_FLAG),
	FIELD(top, FIELD_COUNT),
	FIELD(max_sequences, FIELD_LONG_COUNT),
	FIELD(is_instruction_mode, FIELD_FLAG),
	FIELD(across_calls, FIELD_FLAG),
	FIELD(min_count, FIELD_NUMBER),
};

static void put_field(LodeJsonStream *json, const Field *field, const void *value)
{
	switch (field->type) {
	case FIELD_TEXT:
		lode_json_string(json, *(char *const *)value);
		break;
	case FIELD_NUMBER:
		lode_json_number(json, *(const double *)value);
		break;
	case FIELD_COUNT:
		lode_json_integer(json, *(const uint32_t *)value);
		break;
	case FIELD_LONG_COUNT:
		lode_json_integer(json, *(const uint64_t *)value);
		break;
	case FIELD_FLAG:
		lode_json_bool(json, *(const bool *)value);
		break;
	case FIELD_FLOW:
		lode_json_string(json, lode_flow_model_to_text(*(const LodeFlowModel *)value));
		break;
	case FIELD_GRANULARITY:
		lode_json_string(json, lode_granularity_to_text(*(const LodeGranularity *)value));
		break;
	}
}

char *lode_run_parameters_to_json(const LodeMiningParameters *parameters)
{
	GString *out = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, out);
	json.keeps_bytes = true;
	lode_json_begin(&json, '{');
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		lode_json_key(&json, fields[i].name);
		put_field(&json, &fields[i], (const char *)parameters + fields[i].offset);
	}
	lode_json_end(&json, '}');
	return g_string_free(out, FALSE);
}

static bool parse_number(const char *text, double *out_value)
{
	char *end;
	double value = g_ascii_strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(value))
		return false;
	*out_value = value;
	return true;
}

static bool parse_count(const char *text, uint64_t limit, uint64_t *out_value)
{
	return g_ascii_string_to_unsigned(text, 10, 0, limit, out_value, NULL);
}

static bool parse_word(const char *text, int (*from_text)(const char *), void *out_value)
{
	int word = from_text(text);

	if (word < 0)
		return false;
	/* Both enums are ints by the ABI, as any whose values fit. */
	*(unsigned *)out_value = (unsigned)word;
	return true;
}

static bool set_text(char **out_value, const char *text)
{
	g_free(*out_value);
	*out_value = g_strdup(text);
	return true;
}

static bool set_field(const Field *field, void *value, const char *text, bool is_string)
{
	uint64_t count;

	if (field->type == FIELD_TEXT)
		return (is_string || text == NULL) && set_text(value, text);
	if (text == NULL ||
		is_string != (field->type == FIELD_FLOW || field->type == FIELD_GRANULARITY))
		return false;
	switch (field->type) {
	case FIELD_NUMBER:
		return parse_number(text, value);
	case FIELD_COUNT:
		if (!parse_count(text, UINT32_MAX, &count))
			return false;
		*(uint32_t *)value = (uint32_t)count;
		return true;
	case FIELD_LONG_COUNT:
		return parse_count(text, UINT64_MAX, value);
	case FIELD_FLAG:
		*(bool *)value = strcmp(text, "true") == 0;
		return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
	case FIELD_FLOW:
		return parse_word(text, lode_flow_model_from_text, value);
	default:
		return parse_word(text, lode_granularity_from_text, value);
	}
}

/* An unknown name is passed over: a later lode may add parameters. */
static const Field *find_field(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

static bool read_member(LodeJsonCursor *cursor, LodeMiningParameters *parameters, GError **error)
{
	const char *name = lode_json_cursor_string(cursor);
	const Field *field = name != NULL ? find_field(name) : NULL;
	bool is_string = false;

	lode_json_cursor_expect(cursor, ':');
	const char *text = lode_json_cursor_scalar(cursor, &is_string);
	if (cursor->has_failed || field == NULL)
		return true;
	if (set_field(field, (char *)parameters + field->offset, text, is_string))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"its parameter '%s' has a value that makes no sense", field->name);
	return false;
}

bool lode_run_parameters_from_json(
	LodeMiningParameters *parameters, const char *text, GError **error)
{
	LodeJsonCursor cursor = {0};
	bool has_sense = true;

	lode_json_cursor_init(&cursor, text);
	lode_json_cursor_expect(&cursor, '{');
	if (!lode_json_cursor_accept(&cursor, '}')) {
		do
			has_sense = read_member(&cursor, parameters, error);
		while (has_sense && lode_json_cursor_accept(&cursor, ','));
		lode_json_cursor_expect(&cursor, '}');
	}
	bool is_done = lode_json_cursor_is_done(&cursor);
	lode_json_cursor_clear(&cursor);
	if (has_sense && !is_done)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"its parameters are not a flat JSON object");
	return has_sense && is_done;
}
