/* SPDX-License-Identifier: MIT */
/* lode memory: accesses by address, as a table and as a picture. */
#include "cli/memory_view_histogram.h"

#include "analyses/memory/address_histogram.h"
#include "cli/memory_view.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "views/memory_histogram.h"
#include "views/plot/memory_plot.h"

#include <string.h>

static struct {
	char *granularity, *plot, *plot_colour;
	gboolean by_thread, together;
} given;

const GOptionEntry lode_memory_histogram_options[] = {
	{"granularity", 0, 0, G_OPTION_ARG_STRING, &given.granularity,
		"count by page, cache line or word, or by a power of two such as 64K (default: "
		"page)",
		"page|line|word|BYTES"},
	{"by-thread", 0, 0, G_OPTION_ARG_NONE, &given.by_thread, "one histogram for each thread",
		NULL},
	{"together", 0, 0, G_OPTION_ARG_NONE, &given.together,
		"one histogram for all threads together", NULL},
	{"plot", 0, 0, G_OPTION_ARG_FILENAME, &given.plot,
		"also draw threads and time by addresses, as FILE.svg or FILE.png", "FILE"},
	{"plot-colour", 0, 0, G_OPTION_ARG_STRING, &given.plot_colour,
		"what the colours over time mean: loads and stores (the default), or the thread "
		"with most weight",
		"access|thread"},
	{NULL},
};

bool lode_memory_view_granularity(uint64_t *out_bytes, GError **error)
{
	if (given.granularity == NULL ||
		lode_address_granularity_from_text(given.granularity, out_bytes))
		return true;
	return lode_option_refuse(error,
		"--granularity '%s' is not page, line, word or a power of two up to 1024G",
		given.granularity);
}

static bool parse_options(
	const LodeMemoryViewInput *input, LodeMemoryHistogramOptions *histogram, GError **error)
{
	lode_memory_histogram_options_init(histogram);
	histogram->format = input->format;
	histogram->terminal = input->terminal;
	histogram->limit = input->top;
	histogram->has_limit = input->has_top;
	if (given.by_thread && given.together)
		return lode_option_refuse(error, "--by-thread and --together exclude each other");
	if (given.by_thread)
		histogram->scope = LODE_HISTOGRAM_BY_THREAD;
	if (given.together)
		histogram->scope = LODE_HISTOGRAM_TOGETHER;
	if (given.plot_colour != NULL &&
		(given.plot == NULL || (strcmp(given.plot_colour, "thread") != 0 &&
					       strcmp(given.plot_colour, "access") != 0)))
		return lode_option_refuse(error,
			given.plot == NULL ? "--plot-colour '%s' is for --plot, which is missing"
					   : "--plot-colour '%s' is not access or thread",
			given.plot_colour);
	if (input->sort != NULL && !lode_histogram_sort_from_text(input->sort, &histogram->sort))
		return lode_option_refuse(
			error, "--sort '%s' is not weight, loads, stores or address", input->sort);
	return lode_memory_view_granularity(&histogram->granularity, error);
}

/* The file appears under its name when it is whole. */
static bool write_plot(const LodeMemoryViewInput *input, uint64_t granularity, GError **error)
{
	LodeMemoryPlotOptions plot = {.granularity = granularity};

	plot.colours_threads = g_strcmp0(given.plot_colour, "thread") == 0;
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

	if (!parse_options(input, &histogram, error))
		return false;
	if (given.plot != NULL && !write_plot(input, histogram.granularity, error))
		return false;
	return lode_memory_histogram_write(
		input->profile, input->samples, input->n_samples, &histogram, out, error);
}

/* Those of its options that no other view heeds. */
static bool is_wanted(void)
{
	return given.plot != NULL || given.plot_colour != NULL || given.by_thread || given.together;
}

const LodeMemoryView lode_memory_view_histogram = {
	.option = "any of --plot, --by-thread and --together",
	.is_wanted = is_wanted,
	.write = write_view,
};
