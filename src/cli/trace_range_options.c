/* SPDX-License-Identifier: MIT */
#include "cli/trace_range_options.h"

#include "base/error.h"
#include "cli/option_parser.h"

static struct {
	char *first, *count, *warm_up;
} given;

/* clang-format off */
#define RANGE_OPTIONS \
	{"from", 0, 0, G_OPTION_ARG_STRING, &given.first, \
		"begin with reference N of the trace, counted from 0 (default: 0)", "N"}, \
	{"count", 0, 0, G_OPTION_ARG_STRING, &given.count, \
		"read at most N references (default: all)", "N"}
/* clang-format on */

const GOptionEntry lode_trace_range_options[] = {RANGE_OPTIONS, G_OPTION_ENTRY_NULL};

const GOptionEntry lode_trace_warm_range_options[] = {
	RANGE_OPTIONS,
	{"warm-up", 0, 0, G_OPTION_ARG_STRING, &given.warm_up,
		"with --from: let N references before it go through the caches without being "
		"counted (default: 0; the caches are empty at first)",
		"N"},
	G_OPTION_ENTRY_NULL,
};

bool lode_trace_range_is_given(void)
{
	return given.first != NULL || given.count != NULL || given.warm_up != NULL;
}

bool lode_trace_range_read(LodeTraceRange *out_range, GError **error)
{
	*out_range = LODE_TRACE_RANGE_ALL;
	if (given.warm_up != NULL && given.first == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--warm-up needs --from: nothing is in front of the first reference");
		return false;
	}
	return lode_option_count("--from", given.first, UINT64_MAX, &out_range->first, error) &&
	       lode_option_count("--count", given.count, UINT64_MAX, &out_range->count, error) &&
	       lode_option_count(
		       "--warm-up", given.warm_up, UINT64_MAX, &out_range->warm_up, error);
}
