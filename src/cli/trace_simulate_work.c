/* SPDX-License-Identifier: MIT */
/* lode trace simulate: what is to be done, by all groups of options together. */
#include "base/error.h"
#include "cli/trace_range_options.h"
#include "cli/trace_simulate.h"
#include "views/display_text.h"

static bool usage(const char *message, GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return false;
}

static bool read_curves(LodeTraceWork *self, GError **error)
{
	self->curves = lode_trace_curves_read(error);
	if (self->curves == NULL)
		return false;
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
		return usage(
			"--by, --branches, --sharing and --plot-objects exclude curves", error);
	self->misses.range = &self->range;
	self->misses.function = lode_trace_range_function();
	self->misses.quantum = self->replay.quantum;
	self->misses.threads = self->replay.threads;
	if (self->misses.predicts_branches && self->replay.n_hierarchies == 0)
		return true;
	if (self->replay.n_hierarchies != 1)
		return usage("--by, --branches, --sharing and --plot-objects are of one hierarchy",
			error);
	self->misses.hierarchy = self->replay.hierarchies[0];
	if (self->misses.shares && self->misses.hierarchy->n_cores == 1)
		return usage("--sharing needs several cores, as in --cache host,cores=4", error);
	self->misses.classifies = self->replay.classifies || self->misses.shares;
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
	if (self->range.every > 0 && (self->curves != NULL || lode_trace_misses_are_wanted()))
		return usage("--every samples misses of caches, not curves or what --by, "
			     "--branches, --sharing and --plot-objects show",
			error);
	return !lode_trace_misses_are_wanted() || check_misses(self, error);
}

void lode_trace_work_clear(LodeTraceWork *self)
{
	g_clear_pointer(&self->hierarchies, g_ptr_array_unref);
	g_clear_pointer(&self->curves, g_array_unref);
}
