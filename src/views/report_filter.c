/* SPDX-License-Identifier: MIT */
/*
 * Which sequences of a run a report shows. Globs are matched once for each attribute of the run,
 * not for each sequence: a sequence then only joins bit masks.
 */
#include "views/report_filter.h"

#include "base/error.h"

#include <fnmatch.h>
#include <string.h>

enum { MAX_GLOBS = 64 };

typedef struct {
	uint64_t *with;    /* [attributes] bit i: matches the i-th --with */
	uint64_t with_all; /* all bits that a sequence needs */
	bool *without;     /* [attributes] matches any --without */
} AttributeMatches;

static void clear_matches(AttributeMatches *self)
{
	g_free(self->with);
	g_free(self->without);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AttributeMatches, clear_matches)

/* By the whole name or by the value alone: ev:branch-miss, branch-miss. What an instruction waits
 * for is not what it is: load does not match needs:load. */
static bool does_match(const char *glob, const char *attribute)
{
	bool is_of_another = g_str_has_prefix(attribute, "needs:") ||
	                     g_str_has_prefix(attribute, "address:");
	const char *colon = is_of_another ? NULL : strchr(attribute, ':');

	return fnmatch(glob, attribute, 0) == 0 ||
	       (colon != NULL && fnmatch(glob, colon + 1, 0) == 0);
}

static bool check_globs(const char *const *globs, const char *option, GError **error)
{
	size_t n = 0;

	for (; globs != NULL && globs[n] != NULL; n++) {
		if (globs[n][0] == '\0') {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s needs an attribute, such as 'ev:*' or 'load'", option);
			return false;
		}
	}
	if (n <= MAX_GLOBS)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s can be given %d times at most", option,
		MAX_GLOBS);
	return false;
}

static void match_attributes(
	AttributeMatches *self, const LodeMiningRun *run, const LodeReportOptions *options)
{
	const char *const *with = options->with, *const *without = options->without;

	self->with = g_new0(uint64_t, run->attributes->len + 1);
	self->without = g_new0(bool, run->attributes->len + 1);
	for (guint i = 0; with != NULL && with[i] != NULL; i++)
		self->with_all |= UINT64_C(1) << i;
	for (guint a = 0; a < run->attributes->len; a++) {
		const char *name = g_ptr_array_index(run->attributes, a);
		for (guint i = 0; with != NULL && with[i] != NULL; i++)
			if (does_match(with[i], name))
				self->with[a] |= UINT64_C(1) << i;
		for (guint i = 0; without != NULL && without[i] != NULL; i++)
			self->without[a] |= does_match(without[i], name);
	}
}

static bool has_attributes(
	const AttributeMatches *self, const LodeMiningRun *run, size_t index, uint32_t n_items)
{
	const uint32_t *items = lode_mining_run_items(run, index);
	uint64_t found = 0;

	for (uint32_t i = 0; i < n_items; i++) {
		uint32_t attribute = LODE_ITEM_ATTRIBUTE(items[i]);
		if (self->without[attribute])
			return false;
		found |= self->with[attribute];
	}
	return found == self->with_all;
}

static bool is_inside(double value, const LodeReportRange *range)
{
	return value >= range->min && value <= range->max;
}

static bool has_supports(const LodeSequence *sequence, const LodeReportOptions *options)
{
	uint32_t max_size = options->max_size != 0 ? options->max_size : UINT32_MAX;

	return sequence->n_items >= options->min_size && sequence->n_items <= max_size &&
	       is_inside(sequence->weight, &options->weight) &&
	       is_inside(sequence->frequency, &options->frequency) &&
	       is_inside(lode_sequence_maximal(sequence), &options->maximal) &&
	       is_inside(lode_sequence_differential(sequence), &options->differential);
}

bool *lode_report_filter_apply(const LodeMiningRun *run, const LodeReportOptions *options,
	const LodeReportKey *key, GError **error)
{
	g_auto(AttributeMatches) matches = {0};
	size_t n = run->sequences->len;

	if (!check_globs(options->with, "--with", error) ||
		!check_globs(options->without, "--without", error))
		return NULL;
	if (options->percent_limit > 0 && !lode_report_key_is_share(run, key)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--percent-limit needs a sort key that is a share, not '%s'",
			options->sort != NULL ? options->sort : "count");
		return NULL;
	}
	match_attributes(&matches, run, options);
	bool *is_eligible = g_new0(bool, n + 1);
	for (size_t i = 0; i < n; i++) {
		const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, i);
		is_eligible[i] = has_supports(sequence, options) &&
		                 has_attributes(&matches, run, i, sequence->n_items);
		if (options->percent_limit > 0)
			is_eligible[i] &= lode_report_key_value(run, key, i) * 100 >=
			                  options->percent_limit;
	}
	return is_eligible;
}
