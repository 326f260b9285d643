/* SPDX-License-Identifier: MIT */
/* Which samples of data addresses a question is about. */
#pragma once

#include "analyses/memory/sample_filter.h"
#include "questions/asking.h"

/* Rows for a LodeSampleFilterOptions. */
extern const LodeParameter lode_memory_sample_rows[];

/* What they choose of the first profile. */
typedef struct {
	const LodeProfile *profile; /* with memory */
	GArray *numbers;            /* uint32_t, ascending */
	const uint32_t *samples;    /* the same */
	size_t n;
} LodeMemorySamples;

void lode_memory_samples_clear(LodeMemorySamples *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeMemorySamples, lode_memory_samples_clear)

/*
 * `weight` as of LodeProfileChoice. A page that is moved about asks for its parts with one filter,
 * so that they are kept. Errors: _NOT_FOUND where there are no addresses, those of the filter.
 */
bool lode_memory_samples_choose(LodeMemorySamples *self, LodeAsking *asking,
	LodeSampleFilterOptions *filter, const char *weight, GError **error);

/* "page", "line", "word" or bytes; NULL leaves *out_bytes. Errors: _USAGE. */
bool lode_memory_granularity_read(const char *text, uint64_t *out_bytes, GError **error);

/* The row of such a text. */
/* clang-format off */
#define LODE_GRANULARITY_ROW(type, field) \
	{"granularity", LODE_TEXT(type, field), .value = "page|line|word|BYTES", \
		.summary = "count by page, cache line or word, or by a power of two such as 64K " \
			"(default: page)"}
/* clang-format on */
