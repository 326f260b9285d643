/* SPDX-License-Identifier: MIT */
/* Keys keep their ids while the table grows, and there are no more of them than asked for. */
#include "base/arrays/id_cache.h"

#include <glib.h>

enum { N_KEYS = 5000 };

static LodeIdKey key_of(uint32_t i)
{
	return (LodeIdKey){{i % 7, i, UINT64_MAX - i}};
}

static void test_ids(void)
{
	LodeIdCache cache;
	bool is_new;

	lode_id_cache_init(&cache);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N_KEYS; i++) {
			const LodeIdKey key = key_of(i);
			LodeIdSlot *slot = lode_id_cache_find(&cache, &key, &is_new);
			g_assert_cmpint(is_new, ==, round == 0);
			if (is_new)
				slot->id = i;
			g_assert_cmpuint(slot->id, ==, i);
		}
	g_assert_cmpuint(cache.n_used, ==, N_KEYS);
	lode_id_cache_clear(&cache);
}

/* Those that are there are found, the others are refused, and do not make the table grow. */
static void test_limit(void)
{
	LodeIdCache cache;
	bool is_new;

	lode_id_cache_init(&cache);
	for (uint32_t i = 0; i < N_KEYS; i++) {
		const LodeIdKey key = key_of(i), first = key_of(0);
		LodeIdSlot *slot = lode_id_cache_find_limited(&cache, &key, 10, &is_new);
		g_assert_cmpint(slot != NULL, ==, i < 10);
		if (slot != NULL)
			slot->id = 100 + i;
		slot = lode_id_cache_find_limited(&cache, &first, 10, &is_new);
		g_assert_false(is_new);
		g_assert_cmpuint(slot->id, ==, 100);
	}
	g_assert_cmpuint(cache.n_used, ==, 10);
	g_assert_cmpuint(cache.n_slots, ==, 1024);
	lode_id_cache_clear(&cache);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/base/id_cache/ids", test_ids);
	g_test_add_func("/base/id_cache/limit", test_limit);
	return g_test_run();
}
