/* SPDX-License-Identifier: MIT */
#include "analyses/findings/candidate_columns.h"

#include "analyses/findings/observations.h"
#include "base/arrays/hash.h"
#include "base/arrays/partition_point.h"
#include "base/worker_pool.h"
#include "model/index.h"

#include <string.h>

void lode_membership_chunk_init(LodeMembershipChunk *self, guint n_candidates)
{
	*self = (LodeMembershipChunk){
		.member_places = g_new0(uint32_t, n_candidates + 1),
		.block_places = g_new0(uint32_t, n_candidates + 1),
		.executions = g_new0(double, LODE_CANDIDATE_PARTS *(size_t)n_candidates + 1),
	};
}

void lode_membership_chunk_clear(LodeMembershipChunk *self)
{
	g_free(self->members);
	g_free(self->blocks);
	g_free(self->member_places);
	g_free(self->block_places);
	g_free(self->executions);
}

void lode_memberships_clear(LodeMemberships *self)
{
	g_free(self->member_starts);
	g_free(self->block_starts);
	g_free(self->members);
	g_free(self->blocks);
	g_free(self->executions);
}

/* Counts by candidate become where the next one of each chunk goes, chunk after chunk. */
static size_t lay_out(uint32_t *const *places, guint n, size_t *out_starts)
{
	size_t at = 0;

	for (guint i = 0; i < n; i++) {
		out_starts[i] = at;
		for (size_t c = 0; c < LODE_MEMBERSHIP_CHUNKS; c++) {
			uint32_t count = places[c][i];
			places[c][i] = (uint32_t)at;
			at += count;
		}
	}
	out_starts[n] = at;
	return at;
}

typedef struct {
	const LodeMembershipChunk *chunks;
	LodeMemberships *out;
} Sorting;

static void place_chunk(size_t task, unsigned worker, void *data)
{
	const Sorting *self = data;
	const LodeMembershipChunk *chunk = &self->chunks[task];

	(void)worker;
	for (size_t i = 0; i < chunk->n_members; i++) {
		const LodeMembership *one = &chunk->members[i];
		self->out->members[chunk->member_places[one->candidate]++] = one->vertex;
	}
	for (size_t i = 0; i < chunk->n_blocks; i++) {
		const LodeBlockMembership *one = &chunk->blocks[i];
		self->out->blocks[chunk->block_places[one->candidate]++] = one->block;
	}
}

void lode_memberships_sort(
	const LodeMembershipChunk *chunks, guint n, unsigned n_workers, LodeMemberships *out)
{
	uint32_t *member_places[LODE_MEMBERSHIP_CHUNKS], *block_places[LODE_MEMBERSHIP_CHUNKS];
	Sorting sorting = {chunks, out};

	*out = (LodeMemberships){
		.member_starts = g_new(size_t, n + 1),
		.block_starts = g_new(size_t, n + 1),
		.executions = g_new0(double, LODE_CANDIDATE_PARTS *(size_t)n + 1),
	};
	for (size_t c = 0; c < LODE_MEMBERSHIP_CHUNKS; c++) {
		member_places[c] = chunks[c].member_places;
		block_places[c] = chunks[c].block_places;
		for (size_t i = 0; i < LODE_CANDIDATE_PARTS * (size_t)n; i++)
			out->executions[i] += chunks[c].executions[i];
	}
	out->members = g_new(LodeFocusVertex, lay_out(member_places, n, out->member_starts) + 1);
	out->blocks = g_new(LodeFocusBlock, lay_out(block_places, n, out->block_starts) + 1);
	lode_worker_pool_run(LODE_MEMBERSHIP_CHUNKS, n_workers, place_chunk, &sorting);
}

/* A candidate's vertices, in place. */
typedef struct {
	const LodeFocusVertex *vertices;
	const LodeFocusBlock *blocks;
	size_t n_vertices, n_blocks;
	double executions[LODE_CANDIDATE_PARTS];
} Column;

static uint64_t hash_share(uint64_t hash, uint32_t number, float share)
{
	uint32_t bits;

	memcpy(&bits, &share, sizeof(bits));
	return lode_hash_append(hash, (uint64_t)number << 32 | bits);
}

static uint64_t hash_column(const Column *self)
{
	uint64_t hash = self->n_vertices, bits;

	for (size_t part = 0; part < LODE_CANDIDATE_PARTS; part++) {
		memcpy(&bits, &self->executions[part], sizeof(bits));
		hash = lode_hash_append(hash, bits);
	}
	for (size_t i = 0; i < self->n_vertices; i++)
		hash = hash_share(hash, self->vertices[i].sampled, self->vertices[i].share);
	for (size_t i = 0; i < self->n_blocks; i++)
		hash = hash_share(hash, self->blocks[i].block, self->blocks[i].share);
	return hash;
}

static guint column_hash(const void *key)
{
	return (guint)(*(const uint64_t *)key >> 32);
}

/* Where the vertices and the blocks of a place are: one of each part. */
typedef struct {
	LodeFocusVertex vertices[LODE_CANDIDATE_PARTS];
	LodeFocusBlock blocks[LODE_CANDIDATE_PARTS];
} Place;

static void add_to_place(const LodeObservations *seen, uint32_t u, Column *column, Place *scratch)
{
	if (seen->samples[u] > 0) {
		uint32_t k = LODE_PARTITION_POINT(seen->n_sampled, i, seen->sampled[i] < u);
		scratch->vertices[column->n_vertices++] = (LodeFocusVertex){k, 1};
	}
	if (seen->is_counted)
		column->executions[u >= seen->second] = seen->executions[u];
	else
		scratch->blocks[column->n_blocks++] = (LodeFocusBlock){seen->blocks[u], 1};
}

typedef struct {
	LodeCandidates *found;
	const LodeObservations *seen;
	const LodeMemberships *all;
	uint64_t *hashes; /* of each candidate's column */
} Sharing;

static Column column_of(const Sharing *self, guint candidate, Place *scratch)
{
	const LodeObservations *seen = self->seen;
	const LodeMemberships *all = self->all;
	uint32_t place = g_array_index(self->found->candidates, LodeCandidate, candidate).place;

	if (place == LODE_NONE)
		return (Column){
			.vertices = &all->members[all->member_starts[candidate]],
			.n_vertices = all->member_starts[candidate + 1] -
		                      all->member_starts[candidate],
			.blocks = &all->blocks[all->block_starts[candidate]],
			.n_blocks = all->block_starts[candidate + 1] - all->block_starts[candidate],
			.executions = {all->executions[LODE_CANDIDATE_PARTS * (size_t)candidate],
				all->executions[LODE_CANDIDATE_PARTS * (size_t)candidate + 1]},
		};
	uint32_t u = seen->sampled[place];
	uint32_t same = seen->counterparts != NULL ? seen->counterparts[u] : LODE_NONE;
	Column column = {.vertices = scratch->vertices, .blocks = scratch->blocks};
	if (same != LODE_NONE && same < u)
		add_to_place(seen, same, &column, scratch);
	add_to_place(seen, u, &column, scratch);
	if (same != LODE_NONE && same > u)
		add_to_place(seen, same, &column, scratch);
	return column;
}

enum { CANDIDATES_A_TASK = 64 };

static void hash_columns(size_t task, unsigned worker, void *data)
{
	const Sharing *self = data;
	guint first = (guint)task * CANDIDATES_A_TASK;
	guint end = MIN(first + CANDIDATES_A_TASK, self->found->candidates->len);

	(void)worker;
	for (guint i = first; i < end; i++) {
		Place place;
		const Column column = column_of(self, i, &place);
		self->hashes[i] = hash_column(&column);
	}
}

/* Gives each candidate its column: that of the first one with the same vertices. */
static void number_columns(const Sharing *self)
{
	LodeCandidates *found = self->found;
	g_autoptr(GHashTable) columns = g_hash_table_new(column_hash, g_int64_equal);

	for (guint i = 0; i < found->candidates->len; i++) {
		LodeCandidate *candidate = &g_array_index(found->candidates, LodeCandidate, i);
		uint32_t first = i, none = LODE_NONE;
		g_array_append_val(found->next_member, none);
		void *known = g_hash_table_lookup(columns, &self->hashes[i]);
		if (known != NULL) {
			candidate->column = GPOINTER_TO_UINT(known) - 1;
			first = g_array_index(found->column_members, uint32_t, candidate->column);
			g_array_index(found->next_member, uint32_t, i) = g_array_index(
				found->next_member, uint32_t, first);
			g_array_index(found->next_member, uint32_t, first) = i;
			continue;
		}
		candidate->column = found->column_members->len;
		g_hash_table_insert(
			columns, &self->hashes[i], GUINT_TO_POINTER(candidate->column + 1));
		g_array_append_val(found->column_members, first);
	}
}

static void copy_column(size_t task, unsigned worker, void *data)
{
	const Sharing *self = data;
	LodeCandidates *found = self->found;
	uint32_t first = g_array_index(found->column_members, uint32_t, task);
	Place place;
	const Column column = column_of(self, first, &place);

	(void)worker;
	for (size_t i = 0; i < column.n_vertices; i++)
		g_array_index(found->vertices, LodeFocusVertex,
			g_array_index(found->column_starts, size_t, task) + i) = column.vertices[i];
	for (size_t i = 0; i < column.n_blocks; i++)
		g_array_index(found->blocks, LodeFocusBlock,
			g_array_index(found->block_starts, size_t, task) + i) = column.blocks[i];
}

/* Finds the middle of a column, and numbers what comes after it within the second part. */
static void divide_column(LodeCandidates *found, const LodeObservations *seen, guint column)
{
	const size_t *starts = (const size_t *)(void *)found->column_starts->data + column;
	const size_t *block_starts = (const size_t *)(void *)found->block_starts->data + column;
	LodeFocusVertex *vertices = (LodeFocusVertex *)(void *)found->vertices->data + starts[0];
	LodeFocusBlock *blocks = (LodeFocusBlock *)(void *)found->blocks->data + block_starts[0];
	size_t n = starts[1] - starts[0], n_blocks = block_starts[1] - block_starts[0];
	size_t middle = LODE_PARTITION_POINT(n, i, vertices[i].sampled < seen->second_sampled);
	size_t block_middle = LODE_PARTITION_POINT(
		n_blocks, i, blocks[i].block < seen->second_block);

	for (size_t i = middle; i < n; i++)
		vertices[i].sampled -= seen->second_sampled;
	for (size_t i = block_middle; i < n_blocks; i++)
		blocks[i].block -= seen->second_block;
	g_array_index(found->vertex_middles, size_t, column) = starts[0] + middle;
	g_array_index(found->block_middles, size_t, column) = block_starts[0] + block_middle;
}

void lode_candidates_share_columns(LodeCandidates *found, const LodeObservations *seen,
	const LodeMemberships *all, unsigned n_workers)
{
	guint n = found->candidates->len;
	g_autofree uint64_t *hashes = g_new(uint64_t, n + 1);
	Sharing sharing = {found, seen, all, hashes};
	size_t vertices = 0, blocks = 0;

	lode_worker_pool_run(
		(n + CANDIDATES_A_TASK - 1) / CANDIDATES_A_TASK, n_workers, hash_columns, &sharing);
	number_columns(&sharing);
	g_array_append_val(found->column_starts, vertices);
	g_array_append_val(found->block_starts, blocks);
	for (guint c = 0; c < found->column_members->len; c++) {
		Place place;
		const Column column = column_of(
			&sharing, g_array_index(found->column_members, uint32_t, c), &place);
		vertices += column.n_vertices;
		blocks += column.n_blocks;
		g_array_append_val(found->column_starts, vertices);
		g_array_append_val(found->block_starts, blocks);
		g_array_append_vals(found->executions, column.executions, LODE_CANDIDATE_PARTS);
	}
	g_array_set_size(found->vertices, (guint)vertices);
	g_array_set_size(found->blocks, (guint)blocks);
	lode_worker_pool_run(found->column_members->len, n_workers, copy_column, &sharing);
	g_array_set_size(found->vertex_middles, found->column_members->len);
	g_array_set_size(found->block_middles, found->column_members->len);
	for (guint c = 0; c < found->column_members->len; c++)
		divide_column(found, seen, c);
}
