/* SPDX-License-Identifier: MIT */
/* lode trace simulate: which pictures. */
#include "cli/output_file.h"
#include "cli/trace_simulate.h"
#include "views/plot/miss_ratio_plot.h"
#include "views/plot/reuse_plot.h"
#include "views/plot/times_plot.h"

static struct {
	char *curve, *reuse, *times;
} given;

const GOptionEntry lode_trace_plot_options[] = {
	{"plot-curve", 0, 0, G_OPTION_ARG_FILENAME, &given.curve,
		"draw miss ratio by cache size, as FILE.svg or FILE.png", "FILE"},
	{"plot-reuse", 0, 0, G_OPTION_ARG_FILENAME, &given.reuse,
		"draw the reuse-distance histogram", "FILE"},
	{"plot-times", 0, 0, G_OPTION_ARG_FILENAME, &given.times,
		"draw misses over time, with --over-time: of the caches, or by cache size", "FILE"},
	G_OPTION_ENTRY_NULL,
};

typedef struct {
	char **path;
	bool (*write)(
		const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);
} Picture;

static const Picture pictures[] = {
	{&given.curve, lode_miss_ratio_plot_write},
	{&given.reuse, lode_reuse_plot_write},
	{&given.times, lode_times_plot_write},
};

bool lode_trace_plots_need_curves(void)
{
	return given.curve != NULL || given.reuse != NULL;
}

bool lode_trace_plots_need_times(void)
{
	return given.times != NULL;
}

bool lode_trace_plots_check(GError **error)
{
	LodePlotFormat format;

	for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
		if (*pictures[i].path != NULL &&
			!lode_plot_format_from_path(*pictures[i].path, &format, error))
			return false;
	return true;
}

/* The file appears under its name when it is whole. */
static bool write_picture(const Picture *picture, const LodeCacheResults *results, GError **error)
{
	LodePlotFormat format;

	if (!lode_plot_format_from_path(*picture->path, &format, error))
		return false;
	g_autoptr(LodeOutputFile) file = lode_output_file_open(*picture->path, error);
	if (file == NULL)
		return false;
	if (!picture->write(results, format, lode_output_file_stream(file), error)) {
		g_prefix_error(error, "%s: ", *picture->path);
		return false;
	}
	return lode_output_file_commit(file, error);
}

bool lode_trace_plots_write(const LodeCacheResults *results, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
		if (*pictures[i].path != NULL && !write_picture(&pictures[i], results, error))
			return false;
	return true;
}
