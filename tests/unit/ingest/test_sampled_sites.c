/* SPDX-License-Identifier: MIT */
/*
 * Sites of accesses by the sampled ones: heaps whose objects have a known site each, of which some
 * are sampled by their size, as the virtual machine does.
 */
#include "ingest/memory/managed_objects.h"

#include "model/index.h"

#include <math.h>

enum { CODES = 3, SITES = 3 };

typedef struct {
	GRand *random;
	GArray *accesses;
	uint32_t *sites; /* the true one of each access, by its number */
} Heap;

static void init(Heap *self, guint32 seed, guint n)
{
	self->random = g_rand_new_with_seed(seed);
	self->accesses = g_array_new(FALSE, TRUE, sizeof(LodeSampledAccessSite));
	self->sites = g_new0(uint32_t, n);
}

static void clear(Heap *self)
{
	g_rand_free(self->random);
	g_array_unref(self->accesses);
	g_free(self->sites);
}

typedef struct {
	uint32_t site;
	double n_others; /* of it, if it is sampled; else below 0 */
} Object;

/* Objects of three sizes at two intervals; a site's are more often large or small. */
static Object *make_objects(GRand *random, guint n)
{
	static const double sizes[] = {16, 40, 4000}, intervals[] = {1000, 4000};
	Object *objects = g_new0(Object, n);

	for (guint i = 0; i < n; i++) {
		uint32_t site = (uint32_t)g_rand_int_range(random, 0, SITES);
		double size = sizes[(site + (guint)g_rand_int_range(random, 0, 2)) % 3];
		double x = size / intervals[g_rand_int_range(random, 0, 2)];
		objects[i].site = site;
		objects[i].n_others = g_rand_double(random) < -expm1(-x) ? 1 / expm1(x) : -1;
	}
	return objects;
}

static void add(Heap *self, const Object *objects, guint object, uint64_t code)
{
	const LodeSampledAccessSite access = {
		.class = 1,
		.event = 2,
		.code = code,
		.object = 0x1000 + 64 * (uint64_t)object,
		.weight = 1 + g_rand_double(self->random),
		.n_others = objects[object].n_others,
		.site = objects[object].n_others >= 0 ? objects[object].site : LODE_NONE,
		.number = self->accesses->len,
	};

	self->sites[access.number] = objects[object].site;
	g_array_append_val(self->accesses, access);
}

/* Each instruction accesses different sites: the first mostly site 0, and so on; the last is rare.
 */
static void access_all(Heap *self, const Object *objects, guint n_objects, guint n)
{
	for (guint i = 0; i < n; i++) {
		guint code = i % 100 == 0 ? CODES - 1 : i % (CODES - 1);
		guint object = (guint)g_rand_int_range(self->random, 0, (gint)n_objects);
		for (guint k = 0; k < 3 && objects[object].site != code; k++)
			object = (guint)g_rand_int_range(self->random, 0, (gint)n_objects);
		add(self, objects, object, 0x400 + code);
	}
}

/* The shares of an instruction's accesses are right within what the sample allows: an object has
 * hardly more than one access. */
static void check_shares(const Heap *self, const uint64_t *codes, uint64_t code)
{
	double truth[SITES] = {0}, found[SITES] = {0}, squares[SITES] = {0}, all = 0;

	for (guint i = 0; i < self->accesses->len; i++) {
		const LodeSampledAccessSite *access = &g_array_index(
			self->accesses, LodeSampledAccessSite, i);
		if (codes[access->number] != code)
			continue;
		uint32_t site = self->sites[access->number];
		all += access->weight;
		truth[site] += access->weight;
		g_assert_cmpuint(access->site, <, SITES);
		found[access->site] += access->weight;
		if (access->is_estimated)
			continue;
		g_assert_cmpuint(access->site, ==, site);
		squares[site] += pow(access->weight * (access->n_others + 1), 2);
	}
	for (guint i = 0; i < SITES; i++) {
		double error = sqrt(squares[0] + squares[1] + squares[2]);
		g_test_message("code %u site %u: %.3f of %.3f, error %.3f", (unsigned)code, i,
			found[i] / all, truth[i] / all, error / all);
		g_assert_cmpfloat(fabs(found[i] - truth[i]), <, 4 * error);
	}
}

static void test_shares(void)
{
	for (guint32 seed = 1; seed <= 10; seed++) {
		enum { OBJECTS = 200000, ACCESSES = 60000 };
		Heap heap;
		init(&heap, seed, ACCESSES);
		g_autofree Object *objects = make_objects(heap.random, OBJECTS);
		g_autofree uint64_t *codes = g_new0(uint64_t, ACCESSES);

		access_all(&heap, objects, OBJECTS, ACCESSES);
		for (guint i = 0; i < ACCESSES; i++)
			codes[i] = g_array_index(heap.accesses, LodeSampledAccessSite, i).code;
		lode_sampled_sites_estimate(heap.accesses);
		g_assert_cmpuint(heap.accesses->len, ==, ACCESSES);
		for (guint i = 0; i < CODES - 1; i++)
			check_shares(&heap, codes, 0x400 + i);
		clear(&heap);
	}
}

static guint n_estimated(const Heap *self)
{
	guint n = 0;

	for (guint i = 0; i < self->accesses->len; i++)
		n += g_array_index(self->accesses, LodeSampledAccessSite, i).is_estimated;
	return n;
}

/* 29 sampled objects are too few, 30 of equal weight are enough; two instructions with 15 each are
 * taken together, two classes are not. */
static void test_few(void)
{
	for (guint i = 0; i < 4; i++) {
		Heap heap;
		init(&heap, 1, 1000);
		Object objects[1000];

		for (guint k = 0; k < 1000; k++)
			objects[k] = (Object){k % SITES, k < (i == 0 ? 29 : 30) ? 10 : -1};
		for (guint k = 0; k < 1000; k++)
			add(&heap, objects, k, i == 2 ? k % 2 : 5);
		for (guint k = 0; k < 1000; k++) {
			LodeSampledAccessSite *access = &g_array_index(
				heap.accesses, LodeSampledAccessSite, k);
			access->weight = 1;
			access->class = i == 3 ? 1 + k % 2 : 1;
		}
		lode_sampled_sites_estimate(heap.accesses);
		g_assert_cmpuint(n_estimated(&heap), ==, i == 0 || i == 3 ? 0 : 970);
		clear(&heap);
	}
}

/* One object with half of the accesses is of one site, which is not known. */
static void test_hot(void)
{
	Heap heap;
	Object objects[1000];

	init(&heap, 1, 2000);
	for (guint i = 0; i < 1000; i++)
		objects[i] = (Object){i % SITES, i < 100 ? 10 : -1};
	for (guint i = 0; i < 2000; i++)
		add(&heap, objects, i < 1000 ? i : 500, 5);
	lode_sampled_sites_estimate(heap.accesses);
	g_assert_cmpuint(n_estimated(&heap), ==, 899);
	for (guint i = 0; i < heap.accesses->len; i++) {
		const LodeSampledAccessSite *access = &g_array_index(
			heap.accesses, LodeSampledAccessSite, i);
		if (access->object == 0x1000 + 64 * 500)
			g_assert_cmpuint(access->site, ==, LODE_NONE);
	}
	clear(&heap);
}

/* Nothing, accesses without weight, and sampled objects that are certain to be. */
static void test_edges(void)
{
	const Object objects[] = {{0, 0}, {1, -1}};
	Heap heap;

	init(&heap, 1, 200);
	lode_sampled_sites_estimate(heap.accesses);
	for (guint i = 0; i < 200; i++)
		add(&heap, objects, i % 2, 5);
	lode_sampled_sites_estimate(heap.accesses);
	g_assert_cmpuint(n_estimated(&heap), ==, 0);
	for (guint i = 0; i < 200; i++)
		g_array_index(heap.accesses, LodeSampledAccessSite, i).weight = 0;
	lode_sampled_sites_estimate(heap.accesses);
	g_assert_cmpuint(n_estimated(&heap), ==, 0);
	clear(&heap);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sampled_sites/shares", test_shares);
	g_test_add_func("/sampled_sites/few", test_few);
	g_test_add_func("/sampled_sites/hot", test_hot);
	g_test_add_func("/sampled_sites/edges", test_edges);
	return g_test_run();
}
