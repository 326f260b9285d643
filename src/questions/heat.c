/* SPDX-License-Identifier: MIT */
/* Accesses by address, thread and time as a picture, whole or a part of it. */
#include "views/pictures/memory_heat.h"

#include "analyses/memory/cells/address_histogram.h"
#include "base/error.h"
#include "questions/parts/memory_samples.h"
#include "questions/questions.h"

typedef struct {
	LodeSampleFilterOptions filter;
	const char *granularity;
	uint64_t first, last, from, to;
	uint32_t n_rows;
	bool has_first;
	LodeViewFormat format;
} Options;

static const LodeParameter rows[] = {
	LODE_GRANULARITY_ROW(Options, granularity),
	{"format", LODE_WORD(Options, format), .value = "json", .summary = "only JSON"},
	{NULL},
};

static const LodeParameter part_rows[] = {
	{"first", LODE_ADDRESS(Options, first), .given = offsetof(Options, has_first),
		.value = "ADDRESS", .needs = "last", .summary = "a part of the picture from here"},
	{"last", LODE_ADDRESS(Options, last), .value = "ADDRESS", .needs = "first",
		.summary = "to here"},
	{"rows", LODE_COUNT(Options, n_rows), .least = 1, .most = LODE_GRID_MAX_PART_ROWS,
		.needs = "first", .standard = "128", .value = "N", .summary = "in so many rows"},
	{"from", LODE_COUNT(Options, from), .most = G_MAXINT64, .value = "NS", .needs = "first",
		.summary = "of the samples from this time on, as 'time' in expressions"},
	{"to", LODE_COUNT(Options, to), .most = G_MAXINT64, .needs = "first",
		.standard = "9223372036854775807", .value = "NS", .summary = "up to this time"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Which samples", lode_memory_sample_rows, offsetof(Options, filter)},
	{"Part", part_rows, 0},
	{NULL},
};

static void *ref_parts(void *parts)
{
	return lode_memory_grid_parts_ref(parts);
}

static void unref_parts(void *parts)
{
	lode_memory_grid_parts_unref(parts);
}

/* A picture that is moved requests many parts of the same samples, so their index is cached. */
static LodeMemoryGridParts *find_parts(
	LodeAsking *asking, const LodeMemorySamples *chosen, GError **error)
{
	static const LodeKeptKind kind = {ref_parts, unref_parts};
	static const char *const of_part[] = {
		"granularity", "first", "last", "rows", "from", "to", "format", NULL};
	g_autofree char *key = lode_asking_key(asking, "parts", of_part, true);
	LodeMemoryGridParts *parts = asking->asker->find(asking, &kind, key);

	if (parts != NULL)
		return parts;
	parts = lode_memory_grid_parts_new(
		chosen->profile, chosen->samples, chosen->n, asking->progress);
	if (parts != NULL)
		asking->asker->keep(asking, &kind, key, parts);
	else
		lode_asking_fail_stopped(error);
	return parts;
}

static bool write_part(LodeAsking *asking, const Options *options, const LodeMemorySamples *chosen,
	FILE *out, GError **error)
{
	if (options->first > options->last || options->from > options->to)
		return lode_parameter_refuse(error, "the ends of a part are in the wrong order");
	g_autoptr(LodeMemoryGridParts) parts = find_parts(asking, chosen, error);
	if (parts == NULL)
		return false;
	uint64_t first_ns = lode_memory_grid_parts_first_time(parts);
	const LodeMemoryGridPart part = {.first = options->first,
		.last = options->last,
		.n_rows = options->n_rows,
		.begin_ns = options->from <= UINT64_MAX - first_ns ? first_ns + options->from
	                                                           : UINT64_MAX,
		.end_ns = options->to <= UINT64_MAX - first_ns ? first_ns + options->to
	                                                       : UINT64_MAX};
	return lode_memory_heat_write_part(
		chosen->profile, parts, &part, asking->progress, out, error);
}

static bool answer(LodeAsking *asking, void *given, GError **error)
{
	Options *options = given;
	g_auto(LodeMemorySamples) chosen = {0};
	uint64_t granularity = LODE_PAGE_BYTES;

	if (!lode_memory_granularity_read(options->granularity, &granularity, error) ||
		!lode_memory_samples_choose(&chosen, asking, &options->filter, NULL, error))
		return false;
	FILE *out = lode_asking_begin(asking, NULL, error);
	if (out == NULL)
		return false;
	bool is_written = options->has_first
	                          ? write_part(asking, options, &chosen, out, error)
	                          : lode_memory_heat_write(chosen.profile, chosen.samples, chosen.n,
					    granularity, asking->progress, out, error);
	return is_written && lode_asking_end(asking, error);
}

const LodeVerb lode_question_heat = {
	.name = "heat",
	.summary = "draw accesses by address, thread and time",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
