/* SPDX-License-Identifier: MIT */
/* What keys do to what is seen. */
#include "live_world.h"
#include "seeds.h"

static void test_granularity(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 24);
	live_world_type(&world, "g");
	g_assert_cmpuint(world.state.granularity, ==, 64);
	live_world_type(&world, "g");
	g_assert_cmpuint(world.state.granularity, ==, 8);
	live_world_type(&world, "<");
	g_assert_cmpuint(world.state.granularity, ==, 8);
	live_world_type(&world, "g>>");
	g_assert_cmpuint(world.state.granularity, ==, 16384);
	live_world_type(&world, "g");
	g_assert_cmpuint(world.state.granularity, ==, 4096);
	live_world_clear(&world);
}

static LodeLiveZoom zoom_of(LiveWorld *world)
{
	live_world_press(world, 0);
	return world->scene.zoom;
}

static void test_zoom(void)
{
	LiveWorld world;
	uint64_t size = UINT64_MAX;

	live_world_init(&world, 80, 24);
	live_world_type(&world, "+");
	g_assert_cmphex(zoom_of(&world).start, ==, 0x405000);
	g_assert_cmphex(zoom_of(&world).end, ==, 0x42a000);
	/* Down to one word, which cannot be zoomed any further. */
	for (int i = 0; i < 20; i++) {
		live_world_press(&world, LODE_LIVE_KEY_ENTER);
		g_assert_cmpuint(zoom_of(&world).end - zoom_of(&world).start, <=, size);
		size = zoom_of(&world).end - zoom_of(&world).start;
	}
	g_assert_cmpuint(size, ==, 8);
	live_world_type(&world, "-");
	live_world_type(&world, "0");
	g_assert_cmphex(zoom_of(&world).end, ==, UINT64_MAX);
	live_world_clear(&world);
}

static void test_cursor(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 24);
	live_world_press(&world, LODE_LIVE_KEY_END);
	g_assert_cmphex(world.state.cursor, ==, 0x7ffffffde000);
	live_world_press(&world, LODE_LIVE_KEY_RIGHT);
	g_assert_cmphex(world.state.cursor, ==, 0x7ffffffde000);
	live_world_press(&world, LODE_LIVE_KEY_LEFT);
	g_assert_cmphex(world.state.cursor, ==, 0x7f0000001000);
	live_world_press(&world, LODE_LIVE_KEY_HOME);
	g_assert_cmphex(world.state.cursor, ==, 0x405000);
	live_world_clear(&world);
}

static void test_threads(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 24);
	live_world_press(&world, LODE_LIVE_KEY_UP);
	g_assert_cmpuint(world.state.thread, ==, UINT32_MAX);
	live_world_press(&world, LODE_LIVE_KEY_DOWN);
	live_world_press(&world, LODE_LIVE_KEY_DOWN);
	live_world_press(&world, LODE_LIVE_KEY_DOWN);
	g_assert_cmpuint(world.state.thread, ==, 1);
	live_world_type(&world, "f");
	live_world_press(&world, 0);
	g_assert_cmpuint(world.scene.rows->len, ==, 1);
	g_assert_cmpfloat(world.scene.seen, ==, 120);
	g_assert_cmpfloat(world.scene.total, ==, 890);
	live_world_type(&world, "f");
	live_world_press(&world, 0);
	g_assert_cmpuint(world.scene.rows->len, ==, 3);
	live_world_type(&world, "u");
	g_assert_cmpuint(g_hash_table_size(world.state.tagged), ==, 0);
	live_world_clear(&world);
}

/* In a filter with nothing chosen, nothing is hidden. */
static void test_filter_of_none(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 24);
	live_world_type(&world, "f");
	g_assert_false(world.state.only_tagged);
	live_world_clear(&world);
}

static void test_measures(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 24);
	live_world_type(&world, "l");
	live_world_press(&world, 0);
	g_assert_cmpfloat(world.scene.total, ==, 640 + 100 + 40);
	live_world_type(&world, "l");
	live_world_press(&world, 0);
	g_assert_cmpfloat(world.scene.total, ==, 80 + 40 + 30);
	live_world_clear(&world);
}

static void test_wishes(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 24);
	g_assert_cmpint(live_world_press(&world, 's'), ==, LODE_LIVE_SAMPLE);
	g_assert_cmpint(live_world_press(&world, 'p'), ==, LODE_LIVE_PAUSE);
	g_assert_true(world.state.is_paused);
	g_assert_cmpint(live_world_press(&world, 'p'), ==, LODE_LIVE_PAUSE);
	g_assert_false(world.state.is_paused);
	g_assert_cmpint(live_world_press(&world, 'z'), ==, LODE_LIVE_FREEZE);
	g_assert_cmpint(live_world_press(&world, 'r'), ==, LODE_LIVE_RESET);
	g_assert_cmpint(live_world_press(&world, '\f'), ==, LODE_LIVE_REPAINT);
	g_assert_cmpint(live_world_press(&world, 'h'), ==, LODE_LIVE_NOTHING);
	/* On a page of text, q leaves the page only. */
	g_assert_cmpint(live_world_press(&world, 'q'), ==, LODE_LIVE_NOTHING);
	g_assert_cmpint(world.state.page, ==, LODE_LIVE_SHOWS_ADDRESSES);
	g_assert_cmpint(live_world_press(&world, LODE_LIVE_KEY_F10), ==, LODE_LIVE_QUIT);
	live_world_clear(&world);
}

/* Any keys in any order, on screens of any size: the picture can be drawn. */
static void test_random_keys(void)
{
	static const uint32_t keys[] = {'+', '-', '0', 'g', '<', '>', 'l', ' ', 'f', 'u', 'h', 'o',
		LODE_LIVE_KEY_UP, LODE_LIVE_KEY_DOWN, LODE_LIVE_KEY_LEFT, LODE_LIVE_KEY_RIGHT,
		LODE_LIVE_KEY_PAGE_UP, LODE_LIVE_KEY_PAGE_DOWN, LODE_LIVE_KEY_HOME,
		LODE_LIVE_KEY_END, LODE_LIVE_KEY_ENTER, 'x', 0, UINT32_MAX};
	const unsigned n_keys = random_rounds(3000, 30000);
	LiveWorld world;

	live_world_init(&world, 80, 24);
	for (unsigned i = 0; i < n_keys; i++) {
		world.width = (unsigned)random_int_range(1, 130);
		world.height = (unsigned)random_int_range(1, 40);
		live_world_press(&world, keys[random_int_range(0, G_N_ELEMENTS(keys))]);
		g_autofree char *text = live_world_draw(&world, NULL);
		g_assert_true(g_utf8_validate(text, -1, NULL));
	}
	live_world_clear(&world);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_state/granularity", test_granularity);
	g_test_add_func("/live_state/zoom", test_zoom);
	g_test_add_func("/live_state/cursor", test_cursor);
	g_test_add_func("/live_state/threads", test_threads);
	g_test_add_func("/live_state/filter_of_none", test_filter_of_none);
	g_test_add_func("/live_state/measures", test_measures);
	g_test_add_func("/live_state/wishes", test_wishes);
	add_random_test("/live_state/random_keys", test_random_keys,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	return g_test_run();
}
