/* SPDX-License-Identifier: MIT */
/* lode trace simulate: which miss-ratio curves. */
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/trace_simulate.h"

#include <string.h>

enum { MAX_CURVES = 32, DEFAULT_LINE = 64 };

static struct {
	char **curves, **lines;
} given;

const GOptionEntry lode_trace_curve_options[] = {
	{"curve", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.curves,
		"misses of fully associative LRU caches of every size for data, instructions "
		"or both, and the reuse distances; may be repeated",
		"data|instructions|all"},
	{"line", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.lines,
		"line size for --curve, a power of two (default: 64); may be repeated", "BYTES"},
	G_OPTION_ENTRY_NULL,
};

bool lode_trace_curves_are_wanted(void)
{
	return given.curves != NULL || given.lines != NULL;
}

static bool read_holds(const char *text, uint8_t *out_holds, GError **error)
{
	static const uint8_t known[] = {LODE_CACHE_DATA, LODE_CACHE_INSTRUCTIONS,
		LODE_CACHE_DATA | LODE_CACHE_INSTRUCTIONS};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		if (strcmp(text, lode_miss_curve_holds_text(known[i])) != 0)
			continue;
		*out_holds = known[i];
		return true;
	}
	return lode_option_refuse(error, "--curve: '%s' is not data, instructions or all", text);
}

static bool read_line(const char *text, uint32_t *out_bytes, GError **error)
{
	uint64_t bytes = 0;

	if (!lode_option_size("--line", text, &bytes, error))
		return false;
	if (bytes < LODE_STACK_DISTANCES_MIN_LINE || bytes > LODE_STACK_DISTANCES_MAX_LINE ||
		(bytes & (bytes - 1)) != 0)
		return lode_option_refuse(error, "--line: '%s' is not a power of two from %d to 1G",
			text, LODE_STACK_DISTANCES_MIN_LINE);
	*out_bytes = (uint32_t)bytes;
	return true;
}

static bool add_curves(GArray *curves, const char *line, GError **error)
{
	static const char *const data[] = {"data", NULL};
	const char *const *words = given.curves != NULL ? (const char *const *)given.curves : data;
	LodeStackDistancesOptions options = {.line_bytes = DEFAULT_LINE};

	if (line != NULL && !read_line(line, &options.line_bytes, error))
		return false;
	for (; *words != NULL; words++) {
		if (!read_holds(*words, &options.holds, error))
			return false;
		g_array_append_val(curves, options);
	}
	if (curves->len <= MAX_CURVES)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "more than %d curves", MAX_CURVES);
	return false;
}

GArray *lode_trace_curves_read(GError **error)
{
	g_autoptr(GArray) curves = g_array_new(FALSE, FALSE, sizeof(LodeStackDistancesOptions));

	if (given.lines == NULL && !add_curves(curves, NULL, error))
		return NULL;
	for (size_t i = 0; given.lines != NULL && given.lines[i] != NULL; i++)
		if (!add_curves(curves, given.lines[i], error))
			return NULL;
	return g_steal_pointer(&curves);
}
