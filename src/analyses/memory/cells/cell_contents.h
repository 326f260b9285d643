/* SPDX-License-Identifier: MIT */
/*
 * The contents of a range of addresses: the data objects of the samples there, by weight.
 *
 *   (thread, cell, object) ─▶ weight        sorted, so that a stretch is a range of rows
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeCellContents LodeCellContents;
typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t object;  /* LODE_NONE: unknown */
	uint32_t mapping; /* of one of its samples; LODE_NONE */
	double weight;
} LodeContent;

/* Made of the samples that a histogram counts; `granularity` as there. */
LodeCellContents *lode_cell_contents_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, uint64_t granularity);
void lode_cell_contents_free(LodeCellContents *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCellContents, lode_cell_contents_free)

/* The objects in the cells from `first` to `last`, both included, accessed by a thread, or by all
 * for LODE_NONE; heaviest first. The caller unrefs the GArray of LodeContent. */
GArray *lode_cell_contents_between(
	const LodeCellContents *self, uint32_t thread, uint64_t first, uint64_t last);

/* The heaviest of one cell; object and mapping LODE_NONE where nothing was sampled. */
LodeContent lode_cell_contents_main(const LodeCellContents *self, uint32_t thread, uint64_t cell);

/* Its name: the object's, else the mapping's, else "?". */
const char *lode_content_name(const LodeProfile *profile, const LodeContent *content);
const char *lode_content_mapping_name(const LodeProfile *profile, const LodeContent *content);
