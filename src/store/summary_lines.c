/* SPDX-License-Identifier: MIT */
/* The summary of a run in the store: writing, reading, checking. */
#include "store/summary_lines.h"

#include "base/error.h"
#include "store/row_reader.h"
#include "store/row_source.h"

#include <math.h>

typedef struct {
	const LodeMiningRun *run;
	int64_t id;
} Rows;

static const LodeSummaryLine *line_at(const LodeMiningRun *run, size_t index)
{
	return &g_array_index(run->summary, LodeSummaryLine, index);
}

static bool is_amount(double value)
{
	return isfinite(value) && value >= 0;
}

/* What is wrong with a line below one of depth `above`; NULL: nothing. */
static const char *find_fault(const LodeMiningRun *run, const LodeSummaryLine *line, uint32_t above)
{
	if (line->sequence >= run->sequences->len)
		return "its sequence does not exist";
	if (line->depth > LODE_SUMMARY_DEPTH || line->depth > above + 1)
		return "its depth has no line above";
	if (!is_amount(line->new_weight) || !is_amount(line->cost_ratio) ||
		line->variants > G_MAXINT64)
		return "a figure is out of range";
	return NULL;
}

bool lode_summary_lines_check(const LodeMiningRun *run, GError **error)
{
	uint32_t above = UINT32_MAX; /* one more is 0: the first line has to be at depth 0 */
	uint32_t n_chosen = 0;

	for (guint i = 0; run->summary != NULL && i < run->summary->len; i++) {
		const LodeSummaryLine *line = line_at(run, i);
		const char *fault = find_fault(run, line, above);
		above = line->depth;
		n_chosen += line->depth == 0;
		if (fault == NULL && n_chosen > LODE_SUMMARY_LIMIT)
			fault = "it is one too many at depth 0";
		if (fault == NULL)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'summary_line', row %u: %s", i + 1, fault);
		return false;
	}
	return true;
}

static void give_line(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeSummaryLine *line = line_at(self->run, row);

	switch (column) {
	case 0:
		sqlite3_result_int64(out, self->id);
		break;
	case 1:
		lode_row_result_reference(out, (uint32_t)row);
		break;
	case 2:
		sqlite3_result_int64(out, line->depth);
		break;
	case 3:
		lode_row_result_reference(out, line->sequence);
		break;
	case 4:
		sqlite3_result_double(out, line->new_weight);
		break;
	case 5:
		sqlite3_result_int64(out, (sqlite3_int64)line->variants);
		break;
	default:
		sqlite3_result_double(out, line->cost_ratio);
	}
}

bool lode_summary_lines_insert(
	const LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	Rows rows = {run, id};
	const LodeRowSource source = {
		.table = "summary_line",
		.columns = "run,position,depth,sequence,new_weight,variants,cost_ratio",
		.n_rows = run->summary != NULL ? run->summary->len : 0,
		.column = give_line,
		.data = &rows,
	};

	return lode_row_source_insert(&source, database, error);
}

/* How many lines the run says it has; run->summary stays NULL when it has none. */
static bool read_length(LodeMiningRun *run, int64_t id, LodeDatabase *database,
	uint64_t *out_length, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT summary_lines FROM run WHERE id = %" G_GINT64_FORMAT, id);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "run", sql);
	if (lode_row_reader_next(&rows) && !lode_row_reader_is_null(&rows, 0)) {
		*out_length = lode_row_reader_integer(&rows, 0, UINT32_MAX);
		run->summary = g_array_new(FALSE, FALSE, sizeof(LodeSummaryLine));
	}
	return lode_row_reader_finish(&rows, error);
}

static bool read_lines(LodeDatabase *database, int64_t id, GArray *lines, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT position, depth, sequence, new_weight, variants, cost_ratio "
		"FROM summary_line WHERE run = %" G_GINT64_FORMAT " ORDER BY position",
		id);
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "summary_line", sql);
	while (lode_row_reader_next_numbered(&rows)) {
		LodeSummaryLine line = {
			.depth = (uint32_t)lode_row_reader_integer(&rows, 1, LODE_SUMMARY_DEPTH),
			.sequence = lode_row_reader_reference(&rows, 2),
			.new_weight = lode_row_reader_amount(&rows, 3),
			.variants = lode_row_reader_integer(&rows, 4, G_MAXINT64),
			.cost_ratio = lode_row_reader_amount(&rows, 5),
		};
		g_array_append_val(lines, line);
	}
	return lode_row_reader_finish(&rows, error);
}

bool lode_summary_lines_read(LodeMiningRun *run, int64_t id, LodeDatabase *database, GError **error)
{
	g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(LodeSummaryLine));
	uint64_t length = 0;

	if (!read_length(run, id, database, &length, error) ||
		!read_lines(database, id, lines, error))
		return false;
	if (lines->len != length) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'run', row '%s': %" G_GUINT64_FORMAT " lines of summary are %u",
			run->name, length, lines->len);
		return false;
	}
	if (run->summary != NULL)
		g_array_append_vals(run->summary, lines->data, lines->len);
	return lode_summary_lines_check(run, error);
}
