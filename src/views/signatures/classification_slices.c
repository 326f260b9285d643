/* SPDX-License-Identifier: MIT */
#include "views/signatures/classification_view.h"

#include "base/text/number_format.h"
#include "ingest/time_slices.h"
#include "model/index.h"
#include "views/form/declared_columns.h"

#include <math.h>

typedef struct {
	const GPtrArray *signatures;
	const GArray *slices;
	const GPtrArray *found;
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
static char *shares_text(const Slices *self, const LodeClassification *found)
{
	GString *out = g_string_new(NULL);
	double last = 2;

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
			return g_string_free(out, FALSE);
		g_string_append_printf(out, "%s%s %s", out->len > 0 ? ", " : "",
			signature_at(self, largest->signature)->name,
			LODE_SHARE_TEXT(largest->share));
		last = largest->share;
	}
}

typedef struct {
	const LodeClassification *found; /* NULL: too few samples */
	double begin_s, end_s;
	uint64_t n_samples;
	const char *verdict;
	double rest, rest_share, rest_placed;
	LodeStyle style;
	char *text;
	double shares[]; /* of the signatures */
} Row;

static void put_shares(LodeJsonStream *json, const void *row, const void *user_data)
{
	const Row *self = row;
	const Slices *slices = user_data;

	if (self->found == NULL)
		return;
	lode_json_member_begin(json, "shares", '{');
	for (guint i = 0; i < slices->signatures->len; i++)
		lode_json_member_number(json, signature_at(slices, i)->name, self->shares[i]);
	lode_json_end(json, '}');
}

static const LodeColumn columns[] = {
	{"begin", LODE_CELL_NUMBER(Row, begin_s), .title = "from s", .at = 1, .decimals = 2},
	{"end", LODE_CELL_NUMBER(Row, end_s)},
	{"samples", LODE_CELL_COUNT(Row, n_samples), .at = 2, .dropped = 1},
	{"verdict", LODE_CELL_TEXT(Row, verdict), .only = LODE_IN_JSON},
	{"rest", LODE_CELL_NUMBER(Row, rest), .only = LODE_IN_JSON, .is_optional = true},
	{"rest_share", LODE_CELL_NUMBER(Row, rest_share), .only = LODE_IN_JSON,
		.is_optional = true},
	{"rest_placed", LODE_CELL_SHARE(Row, rest_placed), .only = LODE_IN_JSON,
		.is_optional = true, .title = "in none", .at = 3},
	{.put = put_shares},
	{"rest", LODE_CELL_NUMBER(Row, rest_placed), .only = LODE_IN_CSV},
	{"SIGNATURE", LODE_CELL_NUMBER(Row, shares[0]), .only = LODE_IN_CSV, .is_repeated = true},
	{NULL, LODE_CELL_TEXT(Row, text), .title = "shares of the executions", .at = 4,
		.missing = "(too few samples)", .styled = offsetof(Row, style)},
};
const LodeColumns lode_classification_slices_columns = LODE_COLUMNS("slices", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const Slices *self = user_data;
	guint i = (guint)number;
	const LodeClassification *found = g_ptr_array_index(self->found, i);
	Row *row = out;

	row->found = found;
	row->begin_s = seconds_from_begin(self, i, false);
	row->end_s = seconds_from_begin(self, i, true);
	row->n_samples = g_array_index(self->slices, LodeTimeSlice, i).n_samples;
	row->verdict = found != NULL ? lode_classification_verdict(found) : NULL;
	row->rest = found != NULL ? found->rest : (double)NAN;
	row->rest_share = found != NULL ? found->rest_share : (double)NAN;
	row->rest_placed = found != NULL ? found->rest_placed : (double)NAN;
	row->style = found != NULL ? LODE_STYLE_PLAIN : LODE_STYLE_FAINT;
	row->text = found != NULL ? shares_text(self, found) : NULL;
	for (guint k = 0; k < self->signatures->len; k++)
		row->shares[k] = found != NULL ? lode_classification_match(found, k)->share
		                               : (double)NAN;
}

static void write_json(const LodeListing *listing, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_listing_put_json(listing, &json);
	lode_json_end(&json, '}');
}

bool lode_classification_slices_write(const GPtrArray *signatures, const GArray *slices,
	const GPtrArray *found, const LodeClassificationViewOptions *options, FILE *out,
	GError **error)
{
	const Slices self = {signatures, slices, found};
	g_autofree const char **names = g_new(const char *, signatures->len);
	LodeColumns own;
	const LodeListing listing = {&own, slices->len, .fill = fill_row, .user_data = &self};

	for (guint i = 0; i < signatures->len; i++)
		names[i] = signature_at(&self, i)->name;
	lode_columns_repeat(&lode_classification_slices_columns, names, signatures->len, &own);
	if (options->format == LODE_VIEW_JSON)
		write_json(&listing, out);
	else if (options->format == LODE_VIEW_CSV)
		lode_listing_write_csv(&listing, out);
	else
		lode_listing_write_text(&listing, &options->terminal, out);
	g_free((void *)own.columns);
	return lode_view_flush(out, error);
}
