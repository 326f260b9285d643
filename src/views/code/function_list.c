/* SPDX-License-Identifier: MIT */
#include "views/code/function_list.h"

#include "base/arrays/sort_order.h"
#include "base/text/words.h"
#include "views/code/function_name.h"
#include "views/form/row_stream.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint32_t function;
	double weight, executions, calls;
	const char *name, *image;
} Row;

static const char *const order_words[LODE_N_FUNCTION_ORDERS] = {
	"weight", "executions", "calls", "name", "image"};

int lode_function_order_from_text(const char *text)
{
	return lode_word_find(order_words, G_N_ELEMENTS(order_words), text);
}

static int compare_rows(const void *a, const void *b, void *user_data)
{
	const Row *left = a, *right = b;
	const LodeFunctionListOptions *options = user_data;
	int order = 0;

	switch (options->order) {
	case LODE_FUNCTION_BY_EXECUTIONS:
		order = LODE_DESCENDING(executions);
		break;
	case LODE_FUNCTION_BY_CALLS:
		order = LODE_DESCENDING(calls);
		break;
	case LODE_FUNCTION_BY_NAME:
		order = strcmp(left->name, right->name);
		break;
	case LODE_FUNCTION_BY_IMAGE:
		order = strcmp(left->image, right->image);
		break;
	case LODE_FUNCTION_BY_WEIGHT:
	case LODE_N_FUNCTION_ORDERS:
		break;
	}
	if (options->is_reversed)
		order = -order;
	if (order == 0) {
		order = LODE_DESCENDING(weight);
		if (options->is_reversed && options->order == LODE_FUNCTION_BY_WEIGHT)
			order = -order;
	}
	return order != 0 ? order : lode_number_order(left->function, right->function);
}

/* ASCII letters in any case; NULL is in everything. */
static bool contains(const char *text, const char *part)
{
	return part == NULL || strcasestr(text, part) != NULL;
}

static GArray *choose_rows(
	const LodeProfile *profile, uint32_t weight_event, const LodeFunctionListOptions *options)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));

	for (uint32_t i = 0; i < profile->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		Row row = {.function = i,
			.calls = function->calls,
			.name = function->name,
			.image = lode_profile_image(profile, function->image)->path};
		if (!contains(row.name, options->text) || !contains(row.image, options->image))
			continue;
		for (uint32_t j = 0; j < function->n_instructions; j++) {
			uint32_t instruction = function->first_instruction + j;
			row.executions += lode_profile_instruction(profile, instruction)->count;
			if (weight_event != LODE_NONE)
				row.weight += lode_profile_event_value(
					profile, weight_event, instruction);
		}
		g_array_append_val(rows, row);
	}
	if (rows->len > 0)
		qsort_r(rows->data, rows->len, sizeof(Row), compare_rows, (void *)options);
	return rows;
}

static void put_events(const LodeProfile *profile, const Row *row, LodeRowStream *rows)
{
	const LodeFunction *function = lode_profile_function(profile, row->function);

	lode_row_begin_group(rows, "events", "event:");
	for (uint32_t event = 0; event < profile->events->len; event++) {
		double value = 0;
		for (uint32_t i = 0; i < function->n_instructions; i++)
			value += lode_profile_event_value(
				profile, event, function->first_instruction + i);
		lode_row_number(rows, lode_profile_event(profile, event)->name, value);
	}
	lode_row_end_group(rows);
}

static void put_row(const LodeProfile *profile, double total, const Row *row, LodeRowStream *rows)
{
	const LodeFunction *function = lode_profile_function(profile, row->function);
	g_autofree char *address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", function->address);

	lode_row_begin(rows);
	lode_row_number(rows, "number", row->function);
	lode_function_name_row(rows, "name", row->name);
	lode_row_text(rows, "image", row->image);
	lode_row_text(rows, "address", address);
	lode_row_number(rows, "bytes", (double)function->size);
	lode_row_number(rows, "instructions", function->n_instructions);
	lode_row_number(rows, "weight", row->weight);
	lode_row_number(rows, "share", lode_share_of(row->weight, total));
	lode_row_number(rows, "executions", row->executions);
	lode_row_number(rows, "calls", row->calls);
	put_events(profile, row, rows);
	lode_row_end(rows);
}

bool lode_function_list_write(const LodeProfile *profile, uint32_t weight_event,
	const LodeFunctionListOptions *options, FILE *out, GError **error)
{
	g_autoptr(GArray) chosen = choose_rows(profile, weight_event, options);
	double total = lode_profile_event_total(profile, weight_event);
	guint first = MIN(options->offset, chosen->len);
	guint end = options->limit != 0 ? first + MIN(options->limit, chosen->len - first)
	                                : chosen->len;
	LodeJsonStream json;
	LodeRowStream rows;

	if (options->format == LODE_VIEW_CSV) {
		lode_row_stream_init_csv(&rows, out);
		/* The titles; with no function there is no row to take them from. */
		for (guint i = first; i < end; i++) {
			if (i == first)
				put_row(profile, total, &g_array_index(chosen, Row, i), &rows);
			put_row(profile, total, &g_array_index(chosen, Row, i), &rows);
		}
		return lode_view_flush(out, error);
	}
	lode_profile_json_begin(&json, out, profile, NULL);
	lode_row_stream_init_json(&rows, &json);
	lode_json_member_number(&json, "passed", chosen->len);
	lode_json_member_number(&json, "offset", first);
	lode_json_key(&json, "functions");
	lode_json_begin(&json, '[');
	for (guint i = first; i < end; i++)
		put_row(profile, total, &g_array_index(chosen, Row, i), &rows);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
