/* SPDX-License-Identifier: MIT */
/* lode trace simulate: what is to be done, by all groups of options together. */
#include "cli/option_parser.h"
#include "cli/trace_range_options.h"
#include "cli/trace_simulate.h"
#include "views/display_text.h"

enum { MAX_TIMES = 10000, MAX_TIME_COUNTS = 1 << 19 };

static struct {
	char *over_time;
} given;

const GOptionEntry lode_trace_time_options[] = {
	{"over-time", 0, 0, G_OPTION_ARG_STRING, &given.over_time,
		"show misses over time too, of N stretches of equally many references; of a "
		"program, whose length is not known, N to 2 N",
		"N"},
	G_OPTION_ENTRY_NULL,
};

static bool read_curves(LodeTraceWork *self, GError **error)
{
	self->curves = lode_trace_curves_read(error);
	if (self->curves == NULL)
		return false;
	for (guint i = 0; i < self->curves->len; i++)
		g_array_index(self->curves, LodeStackDistancesOptions, i).by_thread =
			lode_trace_misses_are_curves_by_thread();
	self->replay.distances = (const LodeStackDistancesOptions *)(void *)self->curves->data;
	self->replay.n_distances = self->curves->len;
	return true;
}

static bool read_caches(LodeTraceWork *self, GError **error)
{
	g_autofree char *note = NULL;

	self->hierarchies = lode_trace_caches_read(&note, error);
	if (note != NULL)
		lode_display_line(stderr, "lode trace simulate: %s", note);
	if (self->hierarchies == NULL)
		return false;
	self->replay.hierarchies = (const LodeHierarchy *const *)self->hierarchies->pdata;
	self->replay.n_hierarchies = self->hierarchies->len;
	self->replay.classifies = lode_trace_caches_are_classified();
	return true;
}

/* Curves and branches only when they are asked for; caches too, or when nothing is. */
static bool read_replay(LodeTraceWork *self, GError **error)
{
	bool wants_curves = lode_trace_curves_are_wanted() || lode_trace_plots_need_curves();
	bool wants_others = wants_curves || lode_trace_misses_are_of_branches();

	if (wants_curves && !read_curves(self, error))
		return false;
	if (wants_others && !lode_trace_caches_are_wanted())
		return true;
	return read_caches(self, error);
}

/* A profile has the events of one hierarchy. */
static bool check_misses(LodeTraceWork *self, GError **error)
{
	if (self->curves != NULL)
		return lode_option_refuse(error,
			"--branches, --sharing, --plot-objects and --by, but for --by thread, "
			"exclude curves");
	self->misses.range = &self->range;
	self->misses.function = lode_trace_range_function();
	self->misses.quantum = self->replay.quantum;
	self->misses.threads = self->replay.threads;
	if (self->misses.predicts_branches && self->replay.n_hierarchies == 0)
		return true;
	if (self->replay.n_hierarchies != 1)
		return lode_option_refuse(error,
			"--by, --branches, --sharing and --plot-objects are of one hierarchy");
	self->misses.hierarchy = self->replay.hierarchies[0];
	if (self->misses.shares && self->misses.hierarchy->n_cores == 1)
		return lode_option_refuse(
			error, "--sharing needs several cores, as in --cache host,cores=4");
	self->misses.classifies = self->replay.classifies || self->misses.shares;
	return true;
}

/* Each stretch has counts of each cache. */
static bool read_times(LodeTraceWork *self, GError **error)
{
	uint64_t n = 0, n_caches = 0;

	if (!lode_option_positive("--over-time", given.over_time, MAX_TIMES, &n, error))
		return false;
	for (size_t i = 0; i < self->replay.n_hierarchies; i++)
		n_caches += self->replay.hierarchies[i]->caches->len;
	if (n == 0 && lode_trace_plots_need_times())
		return lode_option_refuse(error, "--plot-times needs --over-time N");
	if (n > 0 && self->range.every > 0)
		return lode_option_refuse(error, "--over-time and --every exclude each other");
	if (n > 0 && lode_trace_misses_are_wanted())
		return lode_option_refuse(error,
			"--over-time is of caches and curves, not of what --by, --branches, "
			"--sharing and --plot-objects show");
	if (n * n_caches > MAX_TIME_COUNTS)
		return lode_option_refuse(
			error, "--over-time: that many stretches of that many caches are too much");
	self->replay.n_times = (unsigned)n;
	return true;
}

bool lode_trace_work_read(LodeTraceWork *self, unsigned threads, GError **error)
{
	self->replay.threads = threads;
	if (!lode_trace_caches_quantum(&self->replay.quantum, error) ||
		!lode_trace_range_read(&self->range, error))
		return false;
	if (!lode_trace_plots_check(error) || !lode_trace_misses_read(&self->misses, error) ||
		!read_replay(self, error))
		return false;
	if (!read_times(self, error))
		return false;
	if (self->range.every > 0 && (self->curves != NULL || lode_trace_misses_are_wanted()))
		return lode_option_refuse(error,
			"--every samples misses of caches, not curves or what --by, "
			"--branches, --sharing and --plot-objects show");
	return !lode_trace_misses_are_wanted() || check_misses(self, error);
}

void lode_trace_work_clear(LodeTraceWork *self)
{
	g_clear_pointer(&self->hierarchies, g_ptr_array_unref);
	g_clear_pointer(&self->curves, g_array_unref);
}
