/* SPDX-License-Identifier: MIT */
/* lode memory: accesses by address, as a table and as a picture. */
#include "cli/memory_view_histogram.h"

#include "analyses/memory/address_histogram.h"
#include "base/error.h"
#include "cli/memory_view.h"
#include "cli/output_file.h"
#include "views/memory_histogram.h"
#include "views/plot/memory_plot.h"

#include <string.h>

static struct {
	char *granularity, *sort, *plot;
	gboolean by_thread, together;
	gint64 top;
} given = {.top = -1};

static const GOptionEntry options[] = {
	{"granularity", 0, 0, G_OPTION_ARG_STRING, &given.granularity,
		"count by page, line or word, or by a power of two such as 64K (default: page)",
		"page|line|word|BYTES"},
	{"by-thread", 0, 0, G_OPTION_ARG_NONE, &given.by_thread,
		"each thread by itself, all of them", NULL},
	{"together", 0, 0, G_OPTION_ARG_NONE, &given.together, "all threads together", NULL},
	{"sort", 0, 0, G_OPTION_ARG_STRING, &given.sort,
		"largest first, or by address (default: weight)", "weight|loads|stores|address"},
	{"top", 0, 0, G_OPTION_ARG_INT64, &given.top,
		"show at most N rows of each table; 0: all (default: a screen's worth; all in "
		"JSON and CSV)",
		"N"},
	{"plot", 0, 0, G_OPTION_ARG_FILENAME, &given.plot,
		"also draw threads and time by addresses, as FILE.svg or FILE.png", "FILE"},
	{NULL},
};

bool lode_memory_view_limit(uint32_t *out_limit, bool *out_is_given, GError **error)
{
	if (given.top == -1)
		return true;
	if (given.top < 0 || given.top > G_MAXINT32) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--top %" G_GINT64_FORMAT " is no number of rows; 0 shows all", given.top);
		return false;
	}
	*out_limit = (uint32_t)given.top;
	*out_is_given = true;
	return true;
}

bool lode_memory_view_granularity(uint64_t *out_bytes, GError **error)
{
	if (given.granularity == NULL ||
		lode_address_granularity_from_text(given.granularity, out_bytes))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"--granularity '%s' is none of page, line, word and the powers of two up to 1024G",
		given.granularity);
	return false;
}

bool lode_memory_view_is_by_address(void)
{
	return given.sort != NULL && strcmp(given.sort, "address") == 0;
}

static bool parse_options(LodeMemoryHistogramOptions *histogram, GError **error)
{
	lode_memory_histogram_options_init(histogram);
	if (given.by_thread && given.together) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--by-thread and --together exclude each other");
		return false;
	}
	if (given.by_thread)
		histogram->scope = LODE_HISTOGRAM_BY_THREAD;
	if (given.together)
		histogram->scope = LODE_HISTOGRAM_TOGETHER;
	if (given.sort != NULL && !lode_histogram_sort_from_text(given.sort, &histogram->sort)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--sort '%s' is none of weight, loads, stores and address", given.sort);
		return false;
	}
	return lode_memory_view_granularity(&histogram->granularity, error) &&
	       lode_memory_view_limit(&histogram->limit, &histogram->has_limit, error);
}

/* The file appears under its name when it is whole. */
static bool write_plot(const LodeMemoryViewInput *input, uint64_t granularity, GError **error)
{
	LodeMemoryPlotOptions plot = {.granularity = granularity};

	if (!lode_plot_format_from_path(given.plot, &plot.format, error))
		return false;
	g_autoptr(LodeOutputFile) file = lode_output_file_open(given.plot, error);
	if (file == NULL)
		return false;
	if (!lode_memory_plot_write(input->profile, input->samples, input->n_samples, &plot,
		    lode_output_file_stream(file), error)) {
		g_prefix_error(error, "%s: ", given.plot);
		return false;
	}
	return lode_output_file_commit(file, error);
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	LodeMemoryHistogramOptions histogram;

	if (!parse_options(&histogram, error))
		return false;
	histogram.format = input->format;
	histogram.terminal = input->terminal;
	if (given.plot != NULL && !write_plot(input, histogram.granularity, error))
		return false;
	return lode_memory_histogram_write(
		input->profile, input->samples, input->n_samples, &histogram, out, error);
}

/* Those of its options that no other view heeds. */
static bool is_wanted(void)
{
	return given.plot != NULL || given.by_thread || given.together;
}

const LodeMemoryView lode_memory_view_histogram = {
	.title = "Histogram",
	.options = options,
	.is_wanted = is_wanted,
	.write = write_view,
};
