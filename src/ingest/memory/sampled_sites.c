/* SPDX-License-Identifier: MIT */
#include "ingest/memory/managed_objects.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <math.h>
#include <stdlib.h>

#define REST UINT64_MAX /* the code of accesses that are taken together */

typedef LodeSampledAccessSite Access;

static uint64_t scattered(uint64_t object)
{
	return lode_hash_append(1, object);
}

LODE_ORDER(compare_alike, Access, LODE_ASCENDING(class), LODE_ASCENDING(event),
	LODE_ASCENDING(code), LODE_ASCENDING(number))
/* Not by address: neighbours are often of one site. */
LODE_ORDER(compare_objects, Access,
	lode_number_order(scattered(left->object), scattered(right->object)),
	LODE_ASCENDING(object), LODE_ASCENDING(number))
LODE_ORDER_OF_POINTERS(compare_sites, Access, LODE_ASCENDING(site), LODE_ASCENDING(number))

static bool is_sampled(const Access *access)
{
	return access->site != LODE_NONE && !access->is_estimated;
}

static double others_of(const Access *access)
{
	return is_sampled(access) ? access->weight * access->n_others : 0;
}

/* How many objects of equal weight would be as uncertain (Kish, Survey Sampling, 1965). The
 * accesses are in the order of objects. */
static double n_sampled_objects(const Access *accesses, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0, next; i < n; i = next) {
		double others = 0;
		for (next = i; next < n && accesses[next].object == accesses[i].object; next++)
			others += others_of(&accesses[next]);
		sum += others;
		squares += others * others;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

static double weight_of(const Access *accesses, size_t n)
{
	double weight = 0;

	for (size_t i = 0; i < n; i++)
		weight += accesses[i].weight;
	return weight;
}

/* Charges whole objects, one after the other, along the sampled accesses. */
static void charge(Access *accesses, size_t n, GPtrArray *sampled)
{
	double all = weight_of(accesses, n), others = 0, unknown = 0, charged = 0, passed = 0;
	guint at = 0;

	g_ptr_array_set_size(sampled, 0);
	for (size_t i = 0; i < n; i++) {
		others += others_of(&accesses[i]);
		unknown += is_sampled(&accesses[i]) ? 0 : accesses[i].weight;
		if (others_of(&accesses[i]) > 0)
			g_ptr_array_add(sampled, &accesses[i]);
	}
	g_ptr_array_sort(sampled, compare_sites);
	for (size_t i = 0, next; i < n; i = next) {
		double weight = 0;
		for (next = i; next < n && accesses[next].object == accesses[i].object; next++)
			weight += is_sampled(&accesses[next]) ? 0 : accesses[next].weight;
		if (weight == 0)
			continue;
		double middle = (charged + weight / 2) / unknown * others;
		charged += weight;
		while (at + 1 < sampled->len && passed + others_of(sampled->pdata[at]) <= middle)
			passed += others_of(sampled->pdata[at++]);
		uint32_t site = ((const Access *)sampled->pdata[at])->site;
		for (size_t k = i; weight <= all / LODE_SAMPLED_SITES_OBJECTS && k < next; k++)
			if (!is_sampled(&accesses[k])) {
				accesses[k].site = site;
				accesses[k].is_estimated = true;
			}
	}
}

/* False: too few objects were sampled. */
static bool estimate(Access *accesses, size_t n, GPtrArray *sampled)
{
	qsort(accesses, n, sizeof(Access), compare_objects);
	if (n_sampled_objects(accesses, n) < LODE_SAMPLED_SITES_OBJECTS)
		return false;
	charge(accesses, n, sampled);
	return true;
}

/* Those with the same class, event and code, or only the rest. Those that cannot be estimated are
 * the rest. */
static void estimate_alike(GArray *accesses, bool is_rest)
{
	g_autoptr(GPtrArray) sampled = g_ptr_array_new();
	Access *rows = (Access *)(void *)accesses->data;
	size_t n = accesses->len;

	qsort(rows, n, sizeof(Access), compare_alike);
	for (size_t begin = 0, end; begin < n; begin = end) {
		const Access first = rows[begin];
		for (end = begin; end < n && rows[end].class == first.class &&
				  rows[end].event == first.event && rows[end].code == first.code;)
			end++;
		if (first.class == 0 || (is_rest && first.code != REST) ||
			estimate(&rows[begin], end - begin, sampled))
			continue;
		for (size_t i = begin; i < end; i++)
			rows[i].code = REST;
	}
}

void lode_sampled_sites_estimate(GArray *accesses)
{
	if (accesses->len == 0)
		return;
	estimate_alike(accesses, false);
	estimate_alike(accesses, true);
}
