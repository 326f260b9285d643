/* SPDX-License-Identifier: MIT */
/* The simulator agrees with a naive one to the last miss, whatever the hierarchy and the trace. */
#include "caches/cache_simulation.h"

#include "base/error.h"
#include "naive_simulator.h"
#include "random_caches.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"

#include <malloc.h>
#include <string.h>

enum { MAX_HIERARCHIES = 8 };

static LodeHierarchy *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	LodeHierarchy *hierarchy = lode_hierarchy_parse(text, &error);

	g_assert_no_error(error);
	return hierarchy;
}

/* One reference: where it is in the trace, and what it is. */
static void access_naively(
	NaiveSimulator *naive, NaiveReference *now, uint64_t address, uint32_t size, unsigned kind)
{
	now->reference = (LodeReference){address, size, now->miss.thread, (uint8_t)kind};
	now->miss.kind = (uint8_t)kind;
	now->miss.size = size;
	now->miss.address = address;
	naive_simulator_access(naive, now);
	now->miss.reference++;
}

/* A block's references, as its `now` says where; gives how many addresses it took. */
static unsigned run_block(NaiveSimulator *naive, const LodeTraceBlock *block, NaiveReference *now,
	const uint64_t *addresses)
{
	unsigned slot = 0;

	now->instruction = block->address;
	for (unsigned i = 0; i < MAX(block->n_instructions, 1); i++) {
		uint32_t size = block->n_instructions > 0 ? block->instruction_sizes[i] : 0;

		now->miss.instruction = (uint8_t)i;
		now->miss.slot = UINT8_MAX;
		if (block->n_instructions > 0)
			access_naively(naive, now, now->instruction, size, LODE_REFERENCE_FETCH);
		for (; slot < block->n_slots && block->slots[slot].instruction == i; slot++) {
			now->miss.slot = (uint8_t)slot;
			access_naively(naive, now, addresses[slot], block->slots[slot].size,
				block->slots[slot].kind);
		}
		now->instruction += size;
	}
	return slot;
}

/* The references of a frame, walked by its blocks. */
static void run_naive(NaiveSimulator *naive, const LodeTraceFrame *frame, uint32_t hierarchy)
{
	NaiveReference now = {
		.miss = {.hierarchy = hierarchy, .reference = frame->first_reference}};
	const uint64_t *addresses = frame->addresses;
	size_t next_switch = 0;

	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			now.miss.thread = frame->switches[next_switch++].thread;
		now.miss.block = frame->blocks[i];
		addresses += run_block(naive,
			lode_block_dictionary_at(frame->dictionary, frame->blocks[i]), &now,
			addresses);
	}
}

typedef struct {
	LodeHierarchy *hierarchies[MAX_HIERARCHIES];
	char *texts[MAX_HIERARCHIES];
	GArray *misses[MAX_HIERARCHIES]; /* LodeCacheMiss */
	LodeCacheCounts counts[MAX_HIERARCHIES][LODE_HIERARCHY_MAX_CACHES];
	size_t n;
	bool is_silent; /* misses are not told */
} Case;

static void note_miss(const LodeCacheMiss *miss, void *user_data)
{
	Case *self = user_data;

	g_array_append_val(self->misses[miss->hierarchy], *miss);
}

static void clear_case(Case *self)
{
	for (size_t i = 0; i < self->n; i++) {
		lode_hierarchy_free(self->hierarchies[i]);
		g_array_unref(self->misses[i]);
		g_free(self->texts[i]);
	}
}

static void add_hierarchy(Case *self, char *text)
{
	self->hierarchies[self->n] = parse(text);
	self->misses[self->n] = g_array_new(FALSE, FALSE, sizeof(LodeCacheMiss));
	self->texts[self->n++] = text;
}

static LodeCacheSimulation *simulate(
	Case *self, const GPtrArray *frames, unsigned threads, bool classifies)
{
	LodeCacheSimulationOptions options = {.threads = threads,
		.classifies = classifies,
		.names_stores = classifies,
		.on_miss = self->is_silent ? NULL : note_miss,
		.user_data = self};
	g_autoptr(GError) error = NULL;
	LodeCacheSimulation *simulation = lode_cache_simulation_new(
		(const LodeHierarchy *const *)self->hierarchies, self->n, &options, &error);

	g_assert_no_error(error);
	for (guint i = 0; i < frames->len; i++) {
		lode_cache_simulation_replay(simulation, g_ptr_array_index(frames, i), &error);
		g_assert_no_error(error);
	}
	return simulation;
}

/* Field by field: the structure has padding. */
static bool is_same_miss(const LodeCacheMiss *a, const LodeCacheMiss *b)
{
	return a->hierarchy == b->hierarchy && a->cache == b->cache && a->block == b->block &&
	       a->thread == b->thread && a->instruction == b->instruction && a->slot == b->slot &&
	       a->kind == b->kind && a->miss_class == b->miss_class && a->size == b->size &&
	       a->address == b->address && a->reference == b->reference;
}

static void compare_misses(const Case *self, size_t at, const GArray *expected)
{
	const GArray *misses = self->misses[at];

	for (guint i = 0; i < MIN(misses->len, expected->len); i++) {
		const LodeCacheMiss *a = &g_array_index(misses, LodeCacheMiss, i);
		const LodeCacheMiss *b = &g_array_index(expected, LodeCacheMiss, i);

		if (is_same_miss(a, b))
			continue;
		g_error("%s: miss %u: cache %u class %u at %" G_GUINT64_FORMAT
			", naively cache %u class %u at %" G_GUINT64_FORMAT,
			self->texts[at], i, a->cache, a->miss_class, a->reference, b->cache,
			b->miss_class, b->reference);
	}
	if (misses->len != expected->len)
		g_error("%s: %u misses, naively %u", self->texts[at], misses->len, expected->len);
}

static bool is_same_store(const LodeCacheMiss *miss, const NaiveStoreNamed *expected)
{
	const LodeCacheStore *a = &miss->store, *b = &expected->store;

	if (!miss->has_store || !expected->is_known)
		return miss->has_store == expected->is_known || expected->may_be_unknown;
	return miss->lost_line == expected->lost_line && a->instruction == b->instruction &&
	       a->thread == b->thread && a->first == b->first && a->last == b->last;
}

/* Gives how many were compared. */
static unsigned compare_stores(const Case *self, size_t at, const NaiveSimulator *naive)
{
	const GArray *misses = self->misses[at], *expected = naive_simulator_stores(naive);
	unsigned n = 0;

	for (guint i = 0; i < misses->len; i++) {
		const LodeCacheMiss *miss = &g_array_index(misses, LodeCacheMiss, i);
		const NaiveStoreNamed *named = &g_array_index(expected, NaiveStoreNamed, i);

		if (!is_same_store(miss, named))
			g_error("%s: miss %u at %" G_GUINT64_FORMAT
				": %d, thread %u bytes %u-%u of 0x%" G_GINT64_MODIFIER
				"x, naively %d, thread %u bytes %u-%u of 0x%" G_GINT64_MODIFIER "x",
				self->texts[at], i, miss->reference, miss->has_store,
				miss->store.thread, miss->store.first, miss->store.last,
				miss->lost_line, named->is_known, named->store.thread,
				named->store.first, named->store.last, named->lost_line);
		n += miss->has_store;
	}
	return n;
}

static void compare_counts(
	const Case *self, size_t at, const LodeCacheCounts *counts, const LodeCacheCounts *expected)
{
	for (guint i = 0; i < self->hierarchies[at]->caches->len; i++) {
		const uint64_t *a = (const uint64_t *)&counts[i];
		const uint64_t *b = (const uint64_t *)&expected[i];

		for (size_t j = 0; j < sizeof(*counts) / sizeof(uint64_t); j++) {
			if (a[j] != b[j])
				g_error("%s: cache %u: count %zu is %" G_GUINT64_FORMAT
					", naively %" G_GUINT64_FORMAT,
					self->texts[at], i, j, a[j], b[j]);
		}
	}
}

/* The misses that were told add up to the counts. */
static void check_sums(const Case *self, size_t at, const LodeCacheCounts *counts, bool classifies)
{
	for (guint i = 0; i < self->hierarchies[at]->caches->len; i++) {
		uint64_t told = 0, counted = 0, classed = 0;

		for (guint j = 0; j < self->misses[at]->len; j++)
			told += g_array_index(self->misses[at], LodeCacheMiss, j).cache == i;
		for (unsigned j = 0; j < LODE_N_REFERENCE_KINDS; j++)
			counted += counts[i].misses[j];
		for (unsigned j = 0; j < LODE_N_MISS_CLASSES; j++)
			classed += counts[i].classes[j];
		g_assert_cmpuint(told, ==, counted);
		g_assert_cmpuint(classed, ==, classifies ? counted : 0);
	}
}

/* Gives how many misses named their stores. */
static unsigned compare_with_naive(Case *self, const GPtrArray *frames, bool classifies)
{
	unsigned n_stores = 0;
	g_autoptr(LodeCacheSimulation)
		simulation = simulate(self, frames, 1 + frames->len % 3, classifies);

	for (size_t i = 0; i < self->n; i++) {
		g_autoptr(NaiveSimulator)
			naive = naive_simulator_new(self->hierarchies[i], classifies);

		for (guint j = 0; j < frames->len; j++)
			run_naive(naive, g_ptr_array_index(frames, j), (uint32_t)i);
		compare_misses(self, i, naive_simulator_misses(naive));
		if (classifies)
			n_stores += compare_stores(self, i, naive);
		compare_counts(self, i, lode_cache_simulation_counts(simulation, i),
			naive_simulator_counts(naive));
		check_sums(self, i, lode_cache_simulation_counts(simulation, i), classifies);
	}
	return n_stores;
}

static void compare_random(bool classifies)
{
	enum { ROUNDS = 25 };
	unsigned n_rounds = random_rounds(ROUNDS, 80), n_stores = 0;

	for (unsigned round = 0; round < n_rounds; round++) {
		g_autoptr(GPtrArray) frames = random_frames(3000);
		Case now = {0};

		for (unsigned i = 0; i < 4; i++)
			add_hierarchy(&now, random_hierarchy_text());
		n_stores += compare_with_naive(&now, frames, classifies);
		clear_case(&now);
	}
	/* In few rounds there may be none. */
	g_assert_true(!classifies || n_rounds < ROUNDS || n_stores > 0);
}

static void test_naive(void)
{
	compare_random(false);
}

static void test_naive_classes(void)
{
	compare_random(true);
}

/* Alone a usual hierarchy is replayed directly; two of a kind share a filter, unless each has a
 * worker. */
static void compare_usual(bool is_alone)
{
	for (unsigned round = 0; round < random_rounds(40, 120); round++) {
		g_autoptr(GPtrArray) frames = random_frames(4000);
		char *text = random_usual_hierarchy_text();
		Case now = {0};

		add_hierarchy(&now, text);
		if (!is_alone)
			add_hierarchy(&now, g_strdup(text));
		compare_with_naive(&now, frames, false);
		clear_case(&now);
	}
}

static void test_usual(void)
{
	compare_usual(true);
}

static void test_usual_twice(void)
{
	compare_usual(false);
}

/* Of hierarchies that have caches in common, which are then simulated once. */
static void compare_sweep(bool classifies)
{
	for (unsigned round = 0; round < random_rounds(30, 100); round++) {
		g_autoptr(GPtrArray) frames = random_frames(3000);
		char *texts[MAX_HIERARCHIES];
		Case now = {0};

		random_sweep_texts(texts, MAX_HIERARCHIES);
		for (unsigned i = 0; i < MAX_HIERARCHIES; i++)
			add_hierarchy(&now, texts[i]);
		now.is_silent = true;
		g_autoptr(LodeCacheSimulation)
			simulation = simulate(&now, frames, 1 + round % 3, classifies);
		for (size_t i = 0; i < now.n; i++) {
			g_autoptr(NaiveSimulator)
				naive = naive_simulator_new(now.hierarchies[i], classifies);

			for (guint j = 0; j < frames->len; j++)
				run_naive(naive, g_ptr_array_index(frames, j), (uint32_t)i);
			compare_counts(&now, i, lode_cache_simulation_counts(simulation, i),
				naive_simulator_counts(naive));
		}
		g_clear_pointer(&simulation, lode_cache_simulation_free);
		clear_case(&now);
	}
}

static void test_sweep(void)
{
	compare_sweep(false);
}

static void test_sweep_classes(void)
{
	compare_sweep(true);
}

/* What is replayed without being counted is not counted later, either: a sweep counts as its
 * hierarchies one by one. */
static void test_sweep_parts(void)
{
	for (unsigned round = 0; round < random_rounds(10, 40); round++) {
		g_autoptr(GPtrArray) frames = random_frames(6000);
		char *texts[MAX_HIERARCHIES];
		Case now = {.is_silent = true};

		random_sweep_texts(texts, MAX_HIERARCHIES);
		for (unsigned i = 0; i < MAX_HIERARCHIES; i++)
			add_hierarchy(&now, texts[i]);
		for (size_t i = 0; i <= now.n; i++) {
			g_autoptr(GError) error = NULL;
			const LodeHierarchy *const *hierarchies =
				(const LodeHierarchy *const *)now.hierarchies;
			g_autoptr(LodeCacheSimulation) simulation =
				i == 0 ? lode_cache_simulation_new(hierarchies, now.n, NULL, &error)
				       : lode_cache_simulation_new(
						 &hierarchies[i - 1], 1, NULL, &error);

			g_assert_no_error(error);
			for (guint j = 0; j < frames->len; j++) {
				lode_cache_simulation_set_counting(simulation, j % 2 == 1);
				lode_cache_simulation_replay(
					simulation, g_ptr_array_index(frames, j), &error);
				g_assert_no_error(error);
			}
			lode_cache_simulation_set_counting(simulation, true);
			for (size_t k = 0; i == 0 && k < now.n; k++)
				memcpy(now.counts[k], lode_cache_simulation_counts(simulation, k),
					sizeof(now.counts[k]));
			if (i > 0)
				compare_counts(&now, i - 1, now.counts[i - 1],
					lode_cache_simulation_counts(simulation, 0));
		}
		clear_case(&now);
	}
}

/* The same misses in the same order, whatever the number of workers. */
static void test_workers(void)
{
	for (unsigned round = 0; round < random_rounds(4, 10); round++) {
		g_autoptr(GPtrArray) frames = random_frames(random_rounds(10000, 20000));
		Case one = {0}, many = {0};
		g_autoptr(LodeCacheSimulation) first = NULL, second = NULL;

		for (unsigned i = 0; i < MAX_HIERARCHIES; i++) {
			char *text = random_hierarchy_text();

			add_hierarchy(&one, text);
			add_hierarchy(&many, g_strdup(text));
		}
		first = simulate(&one, frames, 1, round % 2);
		second = simulate(&many, frames, 3, round % 2);
		for (size_t i = 0; i < one.n; i++) {
			compare_misses(&one, i, many.misses[i]);
			compare_counts(&one, i, lode_cache_simulation_counts(first, i),
				lode_cache_simulation_counts(second, i));
		}
		g_clear_pointer(&first, lode_cache_simulation_free);
		g_clear_pointer(&second, lode_cache_simulation_free);
		clear_case(&one);
		clear_case(&many);
	}
}

static GPtrArray *frames_of(const LodeReference *references, size_t n)
{
	GPtrArray *frames = g_ptr_array_new_with_free_func((GDestroyNotify)lode_trace_frame_free);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();

	lode_block_splitter_add(splitter, references, n);
	g_ptr_array_add(frames, lode_block_splitter_take_frame(splitter));
	return frames;
}

/* Four lines that fight over one set of two ways; known by heart. */
static void test_conflict(void)
{
	LodeReference references[12];
	Case now = {0};

	for (unsigned i = 0; i < G_N_ELEMENTS(references); i++)
		references[i] = (LodeReference){0x1000 + i % 3 * 1024, 4, 0, LODE_REFERENCE_LOAD};
	g_autoptr(GPtrArray) frames = frames_of(references, G_N_ELEMENTS(references));
	add_hierarchy(&now, g_strdup("d1=2K:2:64"));
	g_autoptr(LodeCacheSimulation) simulation = simulate(&now, frames, 1, true);
	const LodeCacheCounts *counts = lode_cache_simulation_counts(simulation, 0);

	g_assert_cmpuint(counts->accesses[LODE_REFERENCE_LOAD], ==, 12);
	g_assert_cmpuint(counts->misses[LODE_REFERENCE_LOAD], ==, 12);
	g_assert_cmpuint(counts->classes[LODE_MISS_COMPULSORY], ==, 3);
	g_assert_cmpuint(counts->classes[LODE_MISS_CONFLICT], ==, 9);
	g_clear_pointer(&simulation, lode_cache_simulation_free);
	clear_case(&now);
}

/* A fetch without a size lies behind the last byte of its block, in a line of its own. */
static void test_sizeless_fetch(void)
{
	LodeReference references[30];
	Case now = {0};

	for (unsigned i = 0; i < G_N_ELEMENTS(references); i += 3) {
		references[i] = (LodeReference){0x1000, 16, 0, LODE_REFERENCE_FETCH};
		references[i + 1] = (LodeReference){0x1010, 0, 0, LODE_REFERENCE_FETCH};
		references[i + 2] = (LodeReference){0x2010, 4, 0, LODE_REFERENCE_FETCH};
	}
	g_autoptr(GPtrArray) frames = frames_of(references, G_N_ELEMENTS(references));
	add_hierarchy(&now, g_strdup("i1=64:1:16"));
	compare_with_naive(&now, frames, false);
	g_assert_cmpuint(now.misses[0]->len, ==, 21);
	clear_case(&now);
}

/* A fetch wider than its cache is one reference: it misses once, not again for each line that its
 * own later lines push out. */
static void test_wide_fetch(void)
{
	LodeReference references[30];
	Case now = {0};

	for (unsigned i = 0; i < G_N_ELEMENTS(references); i += 3) {
		references[i] = (LodeReference){0x1008, 100, 0, LODE_REFERENCE_FETCH};
		references[i + 1] = (LodeReference){0x9000 + i * 64, 8, 0, LODE_REFERENCE_LOAD};
		references[i + 2] = (LodeReference){0x106c, 4, 0, LODE_REFERENCE_FETCH};
	}
	g_autoptr(GPtrArray) frames = frames_of(references, G_N_ELEMENTS(references));
	/* with a policy that asks for the filter, and as two hierarchies that share one */
	add_hierarchy(&now, g_strdup("i1=32:2:16,d1=128:2:16:fifo,l2=4K:2:16"));
	add_hierarchy(&now, g_strdup("i1=32:2:16,d1=128:2:16:fifo,l2=4K:2:16"));
	compare_with_naive(&now, frames, false);
	clear_case(&now);
}

/* Two cores on the two halves of a line: the sharing is false; on one half: it is true. */
static void test_sharing(gconstpointer data)
{
	bool is_true = GPOINTER_TO_INT(data) != 0;
	LodeReference references[20];
	Case now = {0};

	for (unsigned i = 0; i < G_N_ELEMENTS(references); i++)
		references[i] = (LodeReference){0x1000 + (is_true ? 0 : i % 2 * 32), 8,
			(uint16_t)(i % 2), LODE_REFERENCE_STORE};
	g_autoptr(GPtrArray) frames = frames_of(references, G_N_ELEMENTS(references));
	add_hierarchy(&now, g_strdup("d1=2K:2:64,cores=2"));
	g_autoptr(LodeCacheSimulation) simulation = simulate(&now, frames, 1, true);
	const LodeCacheCounts *counts = lode_cache_simulation_counts(simulation, 0);

	g_assert_cmpuint(counts->misses[LODE_REFERENCE_STORE], ==, 20);
	g_assert_cmpuint(counts->invalidations, ==, 19);
	g_assert_cmpuint(counts->write_backs, ==, 19);
	g_assert_cmpuint(counts->classes[LODE_MISS_COMPULSORY], ==, 2);
	g_assert_cmpuint(
		counts->classes[is_true ? LODE_MISS_TRUE_SHARING : LODE_MISS_FALSE_SHARING], ==,
		18);
	g_clear_pointer(&simulation, lode_cache_simulation_free);
	clear_case(&now);
}

/* More threads than a hierarchy of a core each may have. */
static void test_too_many_cores(void)
{
	g_autoptr(LodeHierarchy) hierarchy = parse("d1=2K:2:64,cores=0");
	const LodeHierarchy *hierarchies[] = {hierarchy};
	LodeReference references[LODE_HIERARCHY_MAX_CORES + 1];
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCacheSimulation)
		simulation = lode_cache_simulation_new(hierarchies, 1, NULL, &error);

	for (unsigned i = 0; i < G_N_ELEMENTS(references); i++)
		references[i] = (LodeReference){0x1000, 4, (uint16_t)i, LODE_REFERENCE_LOAD};
	g_autoptr(GPtrArray) frames = frames_of(references, G_N_ELEMENTS(references));
	g_assert_false(
		lode_cache_simulation_replay(simulation, g_ptr_array_index(frames, 0), &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_nonnull(strstr(error->message, "cores=N"));
}

/* Nine of the largest caches do not fit the bound, and nothing is taken for them; equal ones are
 * one. */
static void test_too_large(void)
{
	g_autoptr(LodeHierarchy) one = parse("d1=4G:8:64,l2=4G:8:64,l3=4G:8:64");
	g_autoptr(LodeHierarchy) two = parse("d1=4G:4:64,l2=4G:8:64,l3=4G:8:64");
	g_autoptr(LodeHierarchy) three = parse("d1=4G:2:64,l2=4G:8:64,l3=4G:8:64");
	const LodeHierarchy *hierarchies[] = {one, two, three};
	const LodeHierarchy *equal[] = {one, one, one};
	g_autoptr(GError) error = NULL;

	/* Meson sets MALLOC_PERTURB_ for tests, with which calloc() would write over all of the
	 * memory, here 5 GB. */
	mallopt(M_PERTURB, 0);
	g_assert_null(lode_cache_simulation_new(hierarchies, 3, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_clear_error(&error);
	g_autoptr(LodeCacheSimulation) whole = lode_cache_simulation_new(equal, 3, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(whole);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	/* with these a fetch wider than its cache was looked up more than once */
	add_random_test("/caches/cache_simulation/naive", test_naive,
		"R02S73408051e17c5ab8c8a702febdcd4d68", NULL);
	add_random_test("/caches/cache_simulation/naive_classes", test_naive_classes,
		"R02S73408051e17c5ab8c8a702febdcd4d68", NULL);
	add_random_test("/caches/cache_simulation/usual", test_usual,
		"R02Sb8fe3d2603d014f83e05b19a796497e4", NULL);
	add_random_test("/caches/cache_simulation/usual_twice", test_usual_twice,
		"R02Sb8fe3d2603d014f83e05b19a796497e4", NULL);
	add_random_test("/caches/cache_simulation/sweep", test_sweep,
		"R02S5d6e7f80000000000000000000000001", "R02S5d6e7f80000000000000000000000002",
		NULL);
	add_random_test("/caches/cache_simulation/sweep_classes", test_sweep_classes,
		"R02S5d6e7f80000000000000000000000003", NULL);
	add_random_test("/caches/cache_simulation/sweep_parts", test_sweep_parts,
		"R02S5d6e7f80000000000000000000000004", NULL);
	add_random_test("/caches/cache_simulation/workers", test_workers,
		"R02S00000000000000000000000000000001", NULL);
	g_test_add_func("/caches/cache_simulation/conflict", test_conflict);
	g_test_add_func("/caches/cache_simulation/sizeless_fetch", test_sizeless_fetch);
	g_test_add_func("/caches/cache_simulation/wide_fetch", test_wide_fetch);
	g_test_add_data_func(
		"/caches/cache_simulation/true_sharing", GINT_TO_POINTER(1), test_sharing);
	g_test_add_data_func(
		"/caches/cache_simulation/false_sharing", GINT_TO_POINTER(0), test_sharing);
	g_test_add_func("/caches/cache_simulation/too_many_cores", test_too_many_cores);
	g_test_add_func("/caches/cache_simulation/too_large", test_too_large);
	return g_test_run();
}
