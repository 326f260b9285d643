/* SPDX-License-Identifier: MIT */
#include "cli/trace_range_options.h"

#include "cli/option_parser.h"
#include "ingest/traced/traced_functions.h"

static struct {
	char *first, *count, *warm_up, *every, *length, *function;
} given;

/* clang-format off */
#define RANGE_OPTIONS \
	{"from", 0, 0, G_OPTION_ARG_STRING, &given.first, \
		"begin with reference N of the trace, counted from 0 (default: 0)", "N"}, \
	{"count", 0, 0, G_OPTION_ARG_STRING, &given.count, \
		"read at most N references (default: all)", "N"}, \
	{"function", 0, 0, G_OPTION_ARG_STRING, &given.function, \
		"only while this function runs, including functions that it calls", "NAME"}
#define WARM_RANGE_OPTIONS \
	RANGE_OPTIONS, \
	{"warm-up", 0, 0, G_OPTION_ARG_STRING, &given.warm_up, \
		"let N references before what is counted go through the caches without being " \
		"counted (default: 0; the caches are empty at first)", \
		"N"}
/* clang-format on */

const GOptionEntry lode_trace_range_options[] = {RANGE_OPTIONS, G_OPTION_ENTRY_NULL};

const GOptionEntry lode_trace_warm_range_options[] = {WARM_RANGE_OPTIONS, G_OPTION_ENTRY_NULL};

const GOptionEntry lode_trace_sample_options[] = {
	WARM_RANGE_OPTIONS,
	{"every", 0, 0, G_OPTION_ARG_STRING, &given.every,
		"with --length: simulate a sample, a window of every N references", "N"},
	{"length", 0, 0, G_OPTION_ARG_STRING, &given.length, "references of a window of the sample",
		"N"},
	G_OPTION_ENTRY_NULL,
};

bool lode_trace_range_is_given(void)
{
	return given.first != NULL || given.count != NULL || given.warm_up != NULL;
}

const char *lode_trace_range_function(void)
{
	return given.function;
}

LodeTraceReader *lode_trace_range_open(
	const char *path, const LodeTraceReaderOptions *reading, GError **error)
{
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, reading, error);

	if (reader != NULL && given.function != NULL &&
		!lode_traced_functions_choose(reader, given.function, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&reader);
}

static bool check(const LodeTraceRange *range, GError **error)
{
	if ((given.every == NULL) != (given.length == NULL))
		return lode_option_refuse(error, "--every and --length are given together");
	if (given.warm_up != NULL && given.first == NULL && given.every == NULL)
		return lode_option_refuse(error,
			"--warm-up needs --from or --every: nothing is before the first "
			"reference");
	if (given.function != NULL && *given.function == '\0')
		return lode_option_refuse(error, "--function: the name is empty");
	if (range->every == 0)
		return true;
	if (given.function != NULL)
		return lode_option_refuse(error,
			"--function and --every exclude each other: calls are followed through "
			"all that lies between windows");
	if (range->length > range->every)
		return lode_option_refuse(
			error, "--length is more than --every: windows would overlap");
	if (range->warm_up > range->every - range->length)
		return lode_option_refuse(error,
			"--warm-up is more than lies between windows: --every less --length");
	return true;
}

bool lode_trace_range_read(LodeTraceRange *out_range, GError **error)
{
	*out_range = LODE_TRACE_RANGE_ALL;
	return lode_option_count("--from", given.first, UINT64_MAX, &out_range->first, error) &&
	       lode_option_count("--count", given.count, UINT64_MAX, &out_range->count, error) &&
	       lode_option_count(
		       "--warm-up", given.warm_up, UINT64_MAX, &out_range->warm_up, error) &&
	       lode_option_positive("--every", given.every, UINT64_MAX, &out_range->every, error) &&
	       lode_option_positive(
		       "--length", given.length, UINT64_MAX, &out_range->length, error) &&
	       check(out_range, error);
}
