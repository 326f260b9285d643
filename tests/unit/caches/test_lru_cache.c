/* SPDX-License-Identifier: MIT */
/* What the plugin simulates is what lode simulates: the same misses of random references. */
#include "base/error.h"
#include "caches/cache_simulation.h"
#include "caches/counted_caches.h"
#include "caches/sets/full_lru.h"
#include "caches/sets/lru_cache.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"

enum { N_REFERENCES = 60000, MAX_SIZE = 80 };

typedef struct {
	LodeLruCache i1, d1, last;
	uint64_t misses[2][LODE_N_REFERENCE_KINDS]; /* of the first level, of the last one */
} Levels;

static void refer(Levels *self, const LodeReference *reference)
{
	LodeLruCache *first = reference->kind == LODE_REFERENCE_FETCH ? &self->i1 : &self->d1;

	if (lode_lru_cache_refer(first, reference->address, reference->size))
		return;
	self->misses[0][reference->kind]++;
	if (!lode_lru_cache_refer(&self->last, reference->address, reference->size))
		self->misses[1][reference->kind]++;
}

/* Runs of code and pieces of data that come again. */
static LodeReference *make_references(void)
{
	LodeReference *references = g_new0(LodeReference, N_REFERENCES);
	uint64_t code = 0x401000, data = 0x800000;

	for (int i = 0; i < N_REFERENCES; i++) {
		if (random_int_range(0, 8) == 0)
			code = 0x401000 + (uint64_t)random_int_range(0, 40000);
		if (random_int_range(0, 4) == 0)
			data = 0x800000 + (uint64_t)random_int_range(0, 100000);
		LodeReference *reference = &references[i];
		reference->kind = (uint8_t)random_int_range(0, LODE_N_REFERENCE_KINDS);
		if (reference->kind == LODE_REFERENCE_FETCH) {
			reference->size = (uint32_t)random_int_range(1, 16);
			reference->address = code;
			code += reference->size;
		} else {
			reference->size = (uint32_t)random_int_range(1, MAX_SIZE);
			reference->address = data;
			data += (uint64_t)random_int_range(0, 64);
		}
	}
	return references;
}

static void replay(LodeCacheSimulation *simulation, const LodeReference *references)
{
	LodeBlockSplitter *splitter = lode_block_splitter_new();
	size_t n = 0;

	do {
		n += lode_block_splitter_add(splitter, references + n, N_REFERENCES - n);
		g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
		g_assert_true(lode_cache_simulation_replay(simulation, frame, NULL));
	} while (n < N_REFERENCES);
	lode_block_splitter_free(splitter);
}

static void test_same_misses(void)
{
	static const unsigned lines[] = {16, 32, 64};
	unsigned i1_line = lines[random_int_range(0, 3)], d1_line = lines[random_int_range(0, 3)];
	unsigned i1_ways = (unsigned)random_int_range(1, 9),
		 ways = (unsigned)random_int_range(1, 27);
	g_autofree char *text = g_strdup_printf("i1=%u:%u:%u,d1=%u:2:%u,l2=%u:%u:64",
		8 * i1_ways * i1_line, i1_ways, i1_line, 16 * 2 * d1_line, d1_line, 32 * ways * 64,
		ways);
	g_autofree char *own_text = g_strdup_printf(
		"8:%u:%u+16:2:%u+32:%u:64", i1_ways, i1_line, d1_line, ways);
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(text, NULL);
	const LodeHierarchy *one = hierarchy;
	const LodeCacheSimulationOptions options = {.threads = 1};
	g_autoptr(LodeCacheSimulation)
		simulation = lode_cache_simulation_new(&one, 1, &options, NULL);
	g_autofree LodeReference *references = make_references();
	LodeLruShape shapes[3];
	const char *rest = own_text;
	Levels own = {0};

	for (int i = 0; i < 3; i++)
		g_assert_true(lode_lru_shape_parse(&rest, &shapes[i]));
	g_assert_true(lode_lru_cache_init(&own.i1, &shapes[0]));
	g_assert_true(lode_lru_cache_init(&own.d1, &shapes[1]));
	g_assert_true(lode_lru_cache_init(&own.last, &shapes[2]));
	for (int i = 0; i < N_REFERENCES; i++)
		refer(&own, &references[i]);
	replay(simulation, references);
	const LodeCacheCounts *counts = lode_cache_simulation_counts(simulation, 0);
	for (int kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++) {
		const LodeCacheCounts *first = kind == LODE_REFERENCE_FETCH ? &counts[0]
		                                                            : &counts[1];
		g_assert_cmpuint(own.misses[0][kind], >, 0);
		g_assert_cmpuint(own.misses[0][kind], ==, first->misses[kind]);
		g_assert_cmpuint(own.misses[1][kind], ==, counts[2].misses[kind]);
	}
	lode_lru_cache_clear(&own.i1);
	lode_lru_cache_clear(&own.d1);
	lode_lru_cache_clear(&own.last);
}

/* A cache of one set by lists is one by moving entries. */
static void test_full(void)
{
	uint32_t n_ways = (uint32_t)random_int_range(1, 100);
	int n_numbers = random_int_range(1, 200);
	const LodeLruShape shape = {1, n_ways, 64};
	LodeFullLru full;
	LodeLruCache cache;

	g_assert_false(lode_full_lru_init(&full, 0));
	g_assert_true(lode_full_lru_init(&full, n_ways));
	g_assert_true(lode_lru_cache_init(&cache, &shape));
	for (int i = 0; i < N_REFERENCES; i++) {
		uint64_t number = (uint64_t)random_int_range(0, n_numbers) << 7;
		g_assert_true(
			lode_full_lru_use(&full, number) == lode_lru_cache_use(&cache, number));
	}
	lode_full_lru_clear(&full);
	lode_lru_cache_clear(&cache);
}

static void test_shapes(void)
{
	static const char *const wrong[] = {
		"", "64", "64:8", "64:8:", "64:8:64,", "-1:8:64", "a:8:64", "64:8:99999999999"};
	LodeLruShape shape;
	LodeLruCache cache;

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		const char *text = wrong[i];
		g_assert_false(lode_lru_shape_parse(&text, &shape));
	}
	static const LodeLruShape none[] = {
		{63, 8, 64}, {64, 0, 64}, {64, 8, 63}, {UINT64_C(1) << 60, 8, 64}};
	for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
		g_assert_false(lode_lru_cache_init(&cache, &none[i]));
}

static void test_argument(void)
{
	static const char *const refused[] = {"u1=32K:8:64,l2=1M:16:64", "i1=32K:8:64,d1=32K:8:64",
		"d1=32K:8:64,l2=1M:16:64", "i1=32K:8:64,d1=32K:8:64:plru,l2=1M:16:64",
		"i1=32K:8:64,d1=32K:8:64:stride,l2=1M:16:64",
		"i1=32K:8:64,d1=32K:8:64,i2=1M:16:64,d2=1M:16:64",
		"i1=32K:8:64,d1=32K:8:64,l2=1M:16:64:plru,l3=8M:16:64",
		"i1=32K:8:64,d1=32K:8:64,l2=1M:16:64,dtlb=64:4:4K:fifo"};
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(
		"i1=32K:8:64,d1=48K:12:64,l2=2M:16:64,l3=32M:16:64,dtlb=64:4:4K", NULL);
	LodeCountedCaches caches;

	g_assert_true(lode_counted_caches_init(&caches, hierarchy, NULL));
	g_autofree char *argument = lode_counted_caches_argument(&caches);
	g_assert_cmpstr(
		argument, ==, "caches=64:8:64+64:12:64+32768:16:64+2048:16:64+16:4:4096+0:0:0");
	g_autofree char *text = lode_counted_caches_to_text(&caches);
	g_assert_cmpstr(text, ==, "i1=32K:8:64,d1=48K:12:64,l2=2M:16:64,l3=32M:16:64,dtlb=64:4:4K");
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		g_autoptr(LodeHierarchy) other = lode_hierarchy_parse(refused[i], NULL);
		g_autoptr(GError) error = NULL;
		g_assert_nonnull(other);
		g_assert_false(lode_counted_caches_init(&caches, other, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/lru_cache/same_misses", test_same_misses,
		"R02S5b1d3c4e2f60718293a4b5c6d7e8f901", "R02S000102030405060708090a0b0c0d0e0f",
		"R02S0123456789abcdef0123456789abcdef", NULL);
	add_random_test("/lru_cache/full", test_full, "R02S5b1d3c4e2f60718293a4b5c6d7e8f901",
		"R02S000102030405060708090a0b0c0d0e0f", NULL);
	g_test_add_func("/lru_cache/shapes", test_shapes);
	g_test_add_func("/lru_cache/argument", test_argument);
	return g_test_run();
}
