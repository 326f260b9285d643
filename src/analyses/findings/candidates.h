/* SPDX-License-Identifier: MIT */
/*
 * The patterns that might explain cost, each with the vertices that are its focus.
 *
 *   ⟨before²⟩ → ⟨before¹⟩ → ⟪focus⟫ → ⟨after⟩
 *
 * The focus has up to two attributes, the others one or none (⟨·⟩, any instruction). A pattern is a
 * candidate when enough samples lie on its vertices for something to be learned from them. Single
 * instructions are candidates likewise.
 *
 * Only the vertices of a candidate that have samples are kept one by one. The others count through
 * sums alone: by block where executions were not counted, in total where they were.
 *
 * Where the observations are of two profiles, a candidate is one in both, and a place is the same
 * instruction in both. A column's vertices and blocks are then those of the first part and, from
 * its middle on, those of the second, which are numbered within their part.
 * Private to analyses/findings/.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeObservations LodeObservations;

/* Whether an attribute names a cause of its own cost: instructions that take long wherever they
 * are, and loads that wait for stores. */
bool lode_attribute_is_cause(const char *attribute);

/* A sampled vertex (LodeObservations.sampled) that is a pattern's focus in `share` of its
 * executions. */
typedef struct {
	uint32_t sampled;
	float share;
} LodeFocusVertex;

/* Σ share over the vertices of a block, those without samples too. */
typedef struct {
	uint32_t block;
	float share;
} LodeFocusBlock;

/* Attributes of the graph; LODE_NONE: none. The attributes of the focus ascend. */
typedef struct {
	uint32_t focus[2], before[2], after;
	uint32_t place;  /* the sampled vertex that is the place; LODE_NONE in a pattern */
	uint32_t column; /* its vertices; patterns with the same ones share a column */
	float price;     /* in nats: ln 2 × its description length in bits */
} LodeCandidate;

typedef struct {
	GArray *candidates;     /* LodeCandidate */
	GArray *column_starts;  /* size_t [columns + 1]: ranges of `vertices` */
	GArray *vertices;       /* LodeFocusVertex, ascending inside a column */
	GArray *block_starts;   /* size_t [columns + 1]: ranges of `blocks` */
	GArray *blocks;         /* LodeFocusBlock, likewise; none where executions were counted */
	GArray *vertex_middles; /* size_t [columns]: where the second part's begin; ends, if none */
	GArray *block_middles;  /* likewise */
	GArray *executions;     /* double [columns × 2]: Σ executions × share, of each part */
	double needed;          /* samples that a pattern's vertices must have */
	bool is_limited;        /* that is more than usual, because of the bound */
	GArray *column_members; /* uint32_t: the first candidate of each column… */
	GArray *next_member; /* uint32_t: …and of each candidate the next one; LODE_NONE ends */
} LodeCandidates;

/* A bound on the vertices and blocks of all candidates together: they take up to 28 bytes each. */
#define LODE_CANDIDATES_MAX_MEMBERS ((size_t)32 << 20)

/*
 * Finds them. Where those of the usual samples would have more than `max_members` vertices and
 * blocks together, twice as many samples are needed, until they have not. The result does not
 * depend on the number of threads; the caller frees it. NULL: cancelled.
 */
LodeCandidates *lode_candidates_find(const LodeObservations *observations, size_t max_members,
	unsigned n_workers, const LodeProgress *progress);
void lode_candidates_free(LodeCandidates *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCandidates, lode_candidates_free)

static inline size_t lode_candidates_n_columns(const LodeCandidates *self)
{
	return self->column_starts->len - 1;
}
