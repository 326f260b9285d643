/* SPDX-License-Identifier: MIT */
#include "sources/perf_data/deferred_chains.h"

#include "base/arrays/sort_order.h"

#include <linux/perf_event.h>
#include <string.h>

/* A run of addresses in the store. */
typedef struct {
	const LodeDeferredChains *chains;
	size_t start, n;
} Run;

typedef struct {
	uint64_t cookie, time_ns, offset;
	uint32_t tid;
	bool is_used;
	const Run *run;
} Chain;

struct LodeDeferredChains {
	GArray *addresses; /* uint64_t: of all runs */
	GHashTable *runs;  /* set of Run, by their addresses */
	GArray *chains;    /* Chain, by thread, cookie, time and offset once they are sorted */
	GArray *joined;    /* uint64_t: the chain of the last sample */
	uint64_t n_used;
	bool is_sorted;
};

static const uint64_t *addresses_of(const Run *run)
{
	return &g_array_index(run->chains->addresses, uint64_t, run->start);
}

static guint run_hash(const void *data)
{
	const Run *run = data;
	const uint64_t *addresses = addresses_of(run);
	uint64_t hash = run->n;

	for (size_t i = 0; i < run->n; i++)
		hash = (hash ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32);
}

static gboolean run_equal(const void *a, const void *b)
{
	const Run *one = a, *other = b;

	return one->n == other->n &&
	       memcmp(addresses_of(one), addresses_of(other), one->n * sizeof(uint64_t)) == 0;
}

LodeDeferredChains *lode_deferred_chains_new(void)
{
	LodeDeferredChains *self = g_new0(LodeDeferredChains, 1);

	self->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->runs = g_hash_table_new_full(run_hash, run_equal, g_free, NULL);
	self->chains = g_array_new(FALSE, FALSE, sizeof(Chain));
	self->joined = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

void lode_deferred_chains_free(LodeDeferredChains *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->runs);
	g_array_unref(self->addresses);
	g_array_unref(self->chains);
	g_array_unref(self->joined);
	g_free(self);
}

/* The addresses are appended first, to be compared, and taken off again where they are known. */
static const Run *keep_run(LodeDeferredChains *self, const uint64_t *addresses, size_t n)
{
	const uint64_t user = (uint64_t)PERF_CONTEXT_USER;
	Run run = {self, self->addresses->len, n};

	if (n > 0 && addresses[0] < (uint64_t)PERF_CONTEXT_MAX) {
		g_array_append_val(self->addresses, user);
		run.n++;
	}
	g_array_append_vals(self->addresses, addresses, (guint)n);
	const Run *known = g_hash_table_lookup(self->runs, &run);
	if (known != NULL) {
		g_array_set_size(self->addresses, (guint)run.start);
		return known;
	}
	Run *kept = g_memdup2(&run, sizeof(run));
	g_hash_table_add(self->runs, kept);
	return kept;
}

void lode_deferred_chains_add(LodeDeferredChains *self, const LodePerfRecord *record,
	uint64_t cookie, const uint64_t *addresses, size_t n)
{
	const Chain chain = {
		.cookie = cookie,
		.time_ns = record->time_ns,
		.offset = record->offset,
		.tid = record->tid,
		.run = keep_run(self, addresses, n),
	};

	g_array_append_val(self->chains, chain);
	self->is_sorted = false;
}

LODE_ORDER(compare_keys, Chain, LODE_ASCENDING(tid), LODE_ASCENDING(cookie))

LODE_ORDER(compare_chains, Chain, compare_keys(left, right), LODE_ASCENDING(time_ns),
	LODE_ASCENDING(offset))

/* Without times all are 0, and the offset decides. With times it does not: the rings of several
 * CPUs are written one after the other. */
static Chain *find(LodeDeferredChains *self, const LodePerfRecord *sample, uint64_t cookie)
{
	const Chain wanted = {
		.cookie = cookie,
		.time_ns = sample->time_ns,
		.offset = sample->time_ns == 0 ? sample->offset : 0,
		.tid = sample->tid,
	};
	guint low = 0, high = self->chains->len;

	if (!self->is_sorted)
		g_array_sort(self->chains, compare_chains);
	self->is_sorted = true;
	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (compare_chains(&g_array_index(self->chains, Chain, middle), &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == self->chains->len)
		return NULL;
	Chain *found = &g_array_index(self->chains, Chain, low);
	return compare_keys(found, &wanted) == 0 ? found : NULL;
}

/* The marker's place; `n`: none. */
static size_t find_marker(const uint64_t *chain, size_t n)
{
	size_t at = 0;

	while (at < n && chain[at] != LODE_PERF_CONTEXT_USER_DEFERRED)
		at++;
	return at;
}

bool lode_deferred_chains_complete(LodeDeferredChains *self, LodePerfRecord *record)
{
	LodePerfSample *sample = &record->sample;
	size_t marker = find_marker(sample->callchain, sample->n_callchain);

	if (marker == sample->n_callchain)
		return true;
	Chain *chain = marker + 1 < sample->n_callchain
	                       ? find(self, record, sample->callchain[marker + 1])
	                       : NULL;
	if (chain == NULL)
		return false;
	self->n_used += !chain->is_used;
	chain->is_used = true;
	g_array_set_size(self->joined, 0);
	g_array_append_vals(self->joined, sample->callchain, (guint)marker);
	g_array_append_vals(self->joined, addresses_of(chain->run), (guint)chain->run->n);
	if (marker + 2 < sample->n_callchain)
		g_array_append_vals(self->joined, sample->callchain + marker + 2,
			(guint)(sample->n_callchain - marker - 2));
	sample->callchain = (const uint64_t *)self->joined->data;
	sample->n_callchain = self->joined->len;
	return true;
}

uint64_t lode_deferred_chains_n_unused(const LodeDeferredChains *self)
{
	return self->chains->len - self->n_used;
}
