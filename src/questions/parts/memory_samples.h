/* SPDX-License-Identifier: MIT */
/* Selects the samples of data addresses for a question. */
#pragma once

#include "analyses/memory/sample_filter.h"
#include "questions/asking.h"

/* Rows for a LodeSampleFilterOptions. */
extern const LodeParameter lode_memory_sample_rows[];

/* The samples of the first profile that pass the filter. */
typedef struct {
	const LodeProfile *profile; /* with memory */
	GArray *numbers;            /* uint32_t, ascending */
	const uint32_t *samples;    /* the same array */
	size_t n;
} LodeMemorySamples;

void lode_memory_samples_clear(LodeMemorySamples *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeMemorySamples, lode_memory_samples_clear)

/*
 * `weight` as in LodeProfileChoice. The page requests the parts of a picture with one filter, so
 * the samples are cached. Errors: _NOT_FOUND where there are no addresses, those of the filter.
 */
bool lode_memory_samples_choose(LodeMemorySamples *self, LodeAsking *asking,
	LodeSampleFilterOptions *filter, const char *weight, GError **error);

/* "page", "line", "word" or bytes; NULL: *out_bytes is unchanged. Errors: _USAGE. */
bool lode_memory_granularity_read(const char *text, uint64_t *out_bytes, GError **error);

/* The row of a text for it. */
/* clang-format off */
#define LODE_GRANULARITY_ROW(type, field) \
	{"granularity", LODE_TEXT(type, field), .value = "page|line|word|BYTES", \
		.summary = "count by page, cache line or word, or by a power of two such as 64K " \
			"(default: page)"}
/* clang-format on */
