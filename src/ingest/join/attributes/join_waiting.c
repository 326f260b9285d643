/* SPDX-License-Identifier: MIT */
/*
 * Samples of which several instructions may have waited are charged to the way that nearly all
 * executions take, by the counted or inferred edges. Their addresses are marked unverified.
 */
#include "base/arrays/sum_table.h"
#include "ingest/join/join.h"

#include "base/arrays/hash.h"
#include "ingest/memory/memory_reading.h"
#include "model/code.h"

typedef struct {
	const LodeProfile *profile;
	const LodeJoinAccesses *accesses;
	GHashTable *counts; /* (source, target) → double *: executions of edges into the sampled */
} Choosing;

/* So much of the executions must take one way: the others, which may wait many times as long, must
 * not have most of the time all the same. Measured in bench/results/data-addresses.md. */
static const double NEARLY_ALL = 0.99;

static void *edge_key(uint32_t source, uint32_t target)
{
	return GSIZE_TO_POINTER((guint64)target << 32 | source);
}

static void add_count(Choosing *self, uint32_t source, uint32_t target, double count)
{
	*lode_sum_at(self->counts, edge_key(source, target)) += MAX(count, 0);
}

/* Return edges have one common source: where they come from does not matter. */
static void count_edges(Choosing *self)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < lode_code_of(profile)->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(lode_code_of(profile)->edges, LodeEdge, i);
		if (edge->source != LODE_NONE && edge->target != LODE_NONE)
			add_count(self, edge->kind == LODE_EDGE_RETURN ? LODE_NONE : edge->source,
				edge->target, edge->count);
	}
}

static double count_of(const Choosing *self, uint32_t source, uint32_t target)
{
	const double *sum = g_hash_table_lookup(self->counts, edge_key(source, target));
	double count = sum != NULL ? *sum : 0;

	if (source != LODE_NONE && source + 1 == target)
		count += MAX(lode_profile_instruction(self->profile, source)->next_count, 0);
	return count;
}

static uint32_t choose(const LodeReadAccess *row, const LodeReadWay *ways, void *data)
{
	const Choosing *self = data;
	uint32_t image = lode_join_image_of(self->accesses->images, row->image), best = 0;
	uint32_t target = lode_join_find(self->profile, image, row->image_pc);
	double sum = 0, most = 0;

	if (target == LODE_NONE)
		return LODE_NONE;
	for (uint32_t i = 0; i < row->n_ways; i++) {
		uint32_t source = ways[i].source != 0
		                          ? lode_join_find(self->profile, image, ways[i].source)
		                          : LODE_NONE;
		double count = ways[i].source != 0 && source == LODE_NONE
		                       ? 0
		                       : count_of(self, source, target);
		sum += count;
		if (count > most) {
			most = count;
			best = i;
		}
	}
	return most > 0 && most >= NEARLY_ALL * sum ? best : LODE_NONE;
}

void lode_join_waiting(const LodeProfile *profile, const LodeJoinAccesses *accesses)
{
	Choosing choosing = {.profile = profile, .accesses = accesses};

	choosing.counts = g_hash_table_new_full(lode_hash_pair, NULL, NULL, g_free);
	count_edges(&choosing);
	lode_memory_reading_settle(accesses->reading, choose, &choosing);
	g_hash_table_unref(choosing.counts);
}
