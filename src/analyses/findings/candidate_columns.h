/* SPDX-License-Identifier: MIT */
/*
 * The vertices of candidates: listed by vertex, in chunks that several threads fill, then sorted by
 * candidate, and kept once for all candidates with the same ones.
 *
 *   chunks ──sort──▶ memberships ──share──▶ columns of LodeCandidates
 *
 * Private to analyses/findings/.
 */
#pragma once

#include "analyses/findings/candidates.h"

#include <stdint.h>

enum {
	/* Chunks of vertices; each has a sum per candidate. */
	LODE_MEMBERSHIP_CHUNKS = 16,
	LODE_CANDIDATE_PARTS = 2, /* profiles */
};

typedef struct {
	uint32_t candidate;
	LodeFocusVertex vertex;
} LodeMembership;

typedef struct {
	uint32_t candidate;
	LodeFocusBlock block;
} LodeBlockMembership;

/* The memberships of a chunk's vertices. Plain arrays: they are long, and each row is added by
 * itself. */
typedef struct {
	LodeMembership *members;     /* by vertex */
	LodeBlockMembership *blocks; /* by block */
	size_t n_members, members_room, n_blocks, blocks_room;
	/* [candidates]: how many of each; later, where the next one goes. */
	uint32_t *member_places, *block_places;
	double *executions; /* [candidates × parts], where they were counted */
} LodeMembershipChunk;

void lode_membership_chunk_init(LodeMembershipChunk *self, guint n_candidates);
void lode_membership_chunk_clear(LodeMembershipChunk *self);

static inline void lode_membership_chunk_add(LodeMembershipChunk *self, LodeMembership one)
{
	if (self->n_members == self->members_room) {
		self->members_room = 2 * self->members_room + 1024;
		self->members = g_renew(LodeMembership, self->members, self->members_room);
	}
	self->members[self->n_members++] = one;
	self->member_places[one.candidate]++;
}

static inline void lode_membership_chunk_add_block(
	LodeMembershipChunk *self, LodeBlockMembership one)
{
	if (self->n_blocks == self->blocks_room) {
		self->blocks_room = 2 * self->blocks_room + 1024;
		self->blocks = g_renew(LodeBlockMembership, self->blocks, self->blocks_room);
	}
	self->blocks[self->n_blocks++] = one;
	self->block_places[one.candidate]++;
}

/* The results of the chunks, by candidate. */
typedef struct {
	size_t *member_starts, *block_starts; /* [candidates + 1] */
	LodeFocusVertex *members;
	LodeFocusBlock *blocks;
	double *executions; /* [candidates × parts] */
} LodeMemberships;

/* Sorts what the LODE_MEMBERSHIP_CHUNKS chunks list of n candidates; uses their places up. There
 * are fewer than 2³² of them: LODE_CANDIDATES_MAX_MEMBERS, and a vertex's of each thread. */
void lode_memberships_sort(
	const LodeMembershipChunk *chunks, guint n, unsigned n_workers, LodeMemberships *out);
void lode_memberships_clear(LodeMemberships *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeMemberships, lode_memberships_clear)

/* Gives each candidate its column, from its members or, for a place, from its observed vertex.
 * Candidates with the same vertices share one; two different columns with the same 64-bit hash do
 * not occur but by intent, and then one of the two is judged as the other. */
void lode_candidates_share_columns(LodeCandidates *found, const LodeObservations *seen,
	const LodeMemberships *all, unsigned n_workers);
