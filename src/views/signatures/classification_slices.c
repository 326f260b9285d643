/* SPDX-License-Identifier: MIT */
#include "views/signatures/classification_slices.h"

#include "base/text/json_stream.h"
#include "base/text/number_format.h"
#include "ingest/time_slices.h"
#include "model/index.h"
#include "views/form/csv.h"
#include "views/form/display_text.h"
#include "views/form/table.h"

#include <math.h>

typedef struct {
	const GPtrArray *signatures;
	const GArray *slices;
	const GPtrArray *found;
	const LodeClassificationViewOptions *options;
	FILE *out;
} Slices;

static const LodeSignature *signature_at(const Slices *self, guint index)
{
	return g_ptr_array_index(self->signatures, index);
}

static double seconds_from_begin(const Slices *self, guint i, bool is_end)
{
	const LodeTimeSlice *slice = &g_array_index(self->slices, LodeTimeSlice, i);
	uint64_t time = is_end ? slice->end_ns : slice->begin_ns;

	return (double)(time - g_array_index(self->slices, LodeTimeSlice, 0).begin_ns) / 1e9;
}

/* "gzip 97 %, sort 2.1 %", the largest share first. */
static void append_shares(const Slices *self, const LodeClassification *found, GString *out)
{
	char share[LODE_NUMBER_SIZE];
	double last = 2;
	size_t begin = out->len;

	while (true) {
		const LodeSignatureMatch *largest = NULL;
		for (guint i = 0; i < found->matches->len; i++) {
			const LodeSignatureMatch *match = &LODE_AT(
				found->matches, LodeSignatureMatch, i);
			if (match->share > 0 && match->share < last &&
				(largest == NULL || match->share > largest->share))
				largest = match;
		}
		if (largest == NULL)
			return;
		g_string_append(out, out->len > begin ? ", " : "");
		lode_display_append(out, signature_at(self, largest->signature)->name,
			self->options->terminal.is_ascii);
		g_string_append_printf(out, " %s", lode_number_format_share(largest->share, share));
		last = largest->share;
	}
}

static LodeStyle slice_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Slices *self = user_data;
	const LodeTimeSlice *slice = &g_array_index(self->slices, LodeTimeSlice, (guint)row);
	const LodeClassification *found = g_ptr_array_index(self->found, row);
	char number[LODE_NUMBER_SIZE];

	if (column == 0)
		g_string_append_printf(out, "%.2f", seconds_from_begin(self, (guint)row, false));
	else if (column == 1)
		g_string_append(out, lode_number_format_count((double)slice->n_samples, number));
	else if (column == 2 && found != NULL)
		g_string_append(out, lode_number_format_share(found->rest_placed, number));
	else if (column == 3 && found != NULL)
		append_shares(self, found, out);
	else if (column == 3)
		g_string_append(out, "(too few samples)");
	return column == 3 && found == NULL ? LODE_STYLE_FAINT : LODE_STYLE_PLAIN;
}

static void write_slices_text(const Slices *self)
{
	static const LodeTableColumn columns[] = {
		{"from s", false, 0},
		{"samples", false, 1},
		{"in none", false, 0},
		{"shares of the executions", true, 0},
	};
	const LodeTable table = {columns, G_N_ELEMENTS(columns), self->slices->len, slice_cell,
		self, NULL, 0, false};

	lode_table_write(&table, &self->options->terminal, self->out);
}

static void put_slice(const Slices *self, guint i, LodeJsonStream *json)
{
	const LodeClassification *found = g_ptr_array_index(self->found, i);

	lode_json_line_begin(json, '{');
	lode_json_member_number(json, "begin", seconds_from_begin(self, i, false));
	lode_json_member_number(json, "end", seconds_from_begin(self, i, true));
	lode_json_member_number(
		json, "samples", (double)g_array_index(self->slices, LodeTimeSlice, i).n_samples);
	lode_json_member_string(
		json, "verdict", found != NULL ? lode_classification_verdict(found) : NULL);
	if (found != NULL) {
		lode_json_member_number(json, "rest", found->rest);
		lode_json_member_number(json, "rest_share", found->rest_share);
		lode_json_member_number(json, "rest_placed", found->rest_placed);
		lode_json_member_begin(json, "shares", '{');
		for (guint j = 0; j < self->signatures->len; j++) {
			const LodeSignature *signature = g_ptr_array_index(self->signatures, j);
			lode_json_member_number(
				json, signature->name, lode_classification_match(found, j)->share);
		}
		lode_json_end(json, '}');
	}
	lode_json_end(json, '}');
}

static void write_slices_json(const Slices *self)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, self->out);
	lode_json_begin(&json, '{');
	lode_json_member_begin(&json, "slices", '[');
	for (guint i = 0; i < self->slices->len; i++)
		put_slice(self, i, &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_slices_csv(const Slices *self)
{
	LodeCsv csv;

	lode_csv_init(&csv, self->out);
	for (const char *const *title =
			(const char *const[]){"begin", "end", "samples", "rest", NULL};
		*title != NULL; title++)
		lode_csv_text(&csv, *title);
	for (guint j = 0; j < self->signatures->len; j++)
		lode_csv_text(&csv,
			((const LodeSignature *)g_ptr_array_index(self->signatures, j))->name);
	lode_csv_end_row(&csv);
	for (guint i = 0; i < self->slices->len; i++) {
		const LodeClassification *found = g_ptr_array_index(self->found, i);
		lode_csv_number(&csv, seconds_from_begin(self, i, false));
		lode_csv_number(&csv, seconds_from_begin(self, i, true));
		lode_csv_number(
			&csv, (double)g_array_index(self->slices, LodeTimeSlice, i).n_samples);
		lode_csv_number(&csv, found != NULL ? found->rest_placed : NAN);
		for (guint j = 0; j < self->signatures->len; j++)
			lode_csv_number(&csv,
				found != NULL ? lode_classification_match(found, j)->share : NAN);
		lode_csv_end_row(&csv);
	}
}

bool lode_classification_slices_write(const GPtrArray *signatures, const GArray *slices,
	const GPtrArray *found, const LodeClassificationViewOptions *options, FILE *out,
	GError **error)
{
	const Slices self = {signatures, slices, found, options, out};

	if (options->format == LODE_VIEW_JSON)
		write_slices_json(&self);
	else if (options->format == LODE_VIEW_CSV)
		write_slices_csv(&self);
	else
		write_slices_text(&self);
	return lode_view_flush(out, error);
}
