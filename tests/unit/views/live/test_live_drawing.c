/* SPDX-License-Identifier: MIT */
/*
 * Screens, compared with those in screens/ as text. UPDATE_SCREENS=1 in the environment writes them
 * anew: look at what has changed.
 */
#include "live_world.h"
#include "model/address_rule.h"

#include <string.h>

typedef struct {
	const char *name;
	unsigned width, height;
	bool is_ascii;
	const char *keys; /* pressed before */
} Screen;

static const Screen screens[] = {
	{"all", 80, 24, true, ""},
	{"smallest", 40, 10, true, ""},
	{"too_small", 39, 10, true, ""},
	{"utf8_zoomed_by_line", 110, 20, false, "+g"},
	{"utf8_stores", 70, 14, false, "ll"},
	{"deep_zoom", 80, 16, true, "++++++++"},
	{"help", 80, 24, true, "h"},
	{"output", 80, 12, true, "o"},
	{"paused_and_frozen", 80, 12, true, "pz"},
};

static void compare_screen(const char *name, const char *text)
{
	g_autofree char *file = g_strconcat(name, ".txt", NULL);
	g_autofree char *path = g_test_build_filename(G_TEST_DIST, "screens", file, NULL);
	g_autofree char *expected = NULL;

	if (g_getenv("UPDATE_SCREENS") != NULL)
		g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_assert_true(g_file_get_contents(path, &expected, NULL, NULL));
	g_assert_cmpstr(text, ==, expected);
}

static void test_screen(const void *data)
{
	const Screen *screen = data;
	LiveWorld world;

	live_world_init(&world, screen->width, screen->height);
	world.terminal.is_ascii = screen->is_ascii;
	live_world_type(&world, screen->keys);
	g_autofree char *text = live_world_draw(&world, NULL);
	compare_screen(screen->name, text);
	live_world_clear(&world);
}

/* More threads than there is room for: the chosen one is seen, and what was dropped is said. */
static void test_many_threads(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 14);
	for (uint32_t i = 2; i < 30; i++) {
		const LodeLiveThread thread = {
			.label = g_strdup_printf("%u", i), .n_samples = i, .has_ended = i % 2 != 0};
		const LiveAccesses accesses = {
			i, LODE_ACCESS_LOAD, 0x405000, 8, i, live_world_heap, NULL};
		g_array_append_val(world.threads, thread);
		live_world_access(&world, &accesses);
	}
	world.status.n_dropped = 123456;
	world.status.is_sampling = false;
	for (int i = 0; i < 20; i++)
		live_world_press(&world, LODE_LIVE_KEY_DOWN);
	live_world_type(&world, " ");
	live_world_press(&world, LODE_LIVE_KEY_PAGE_DOWN);
	g_autofree char *text = live_world_draw(&world, NULL);
	compare_screen("many_threads", text);
	live_world_clear(&world);
}

static void lose(LiveWorld *world, guint thread, uint64_t n_accesses, uint64_t n_lost)
{
	LodeLiveThread *row = &g_array_index(world->threads, LodeLiveThread, thread);

	row->n_accesses = n_accesses;
	row->n_lost = n_lost;
}

/* Who lost much more than others is told; where all lost alike, nobody. */
static void test_lost_threads(void)
{
	LiveWorld world;

	live_world_init(&world, 100, 14);
	lose(&world, 0, 500, 150);
	lose(&world, 1, 500, 200);
	g_assert_null(lode_live_lost_threads(world.threads));
	lose(&world, 0, 500, 5);
	lose(&world, 1, 500, 490);
	g_autofree char *text = live_world_draw(&world, NULL);
	compare_screen("lost_threads", text);
	for (uint32_t i = 2; i < 5; i++) {
		const LodeLiveThread thread = {
			.label = g_strdup_printf("%u", i), .n_samples = 1, .n_accesses = 1};
		g_array_append_val(world.threads, thread);
		lose(&world, i, 100, 100);
	}
	g_autofree char *many = lode_live_lost_threads(world.threads);
	g_assert_cmpstr(many, ==, "1 worker 98 %, 2 100 % and 2 more");
	/* Too few samples to be told of. */
	lose(&world, 1, 3, 3);
	lose(&world, 0, 100000, 0);
	g_assert_null(lode_live_lost_threads(world.threads));
	live_world_clear(&world);
}

static void test_nothing_yet(void)
{
	LiveWorld world;

	live_world_init(&world, 80, 12);
	lode_live_counts_reset(world.counts);
	g_array_set_size(world.threads, 0);
	world.status = (LodeLiveStatus){.program = "", .is_sampling = true};
	live_world_type(&world, "+-fg ");
	g_autofree char *text = live_world_draw(&world, NULL);
	compare_screen("nothing_yet", text);
	live_world_clear(&world);
}

/* Names are a stranger's: none of their bytes reaches the screen as it is. */
static void test_strange_names(void)
{
	static const char name[] = "\033[31m/\xff", path[] = "/tmp/\033]0;x\007";
	const LiveAccesses accesses = {0, LODE_ACCESS_LOAD, 0x1000, 8, 500, path, name};
	LiveWorld world;

	live_world_init(&world, 80, 24);
	world.status.program = name;
	live_world_access(&world, &accesses);
	g_autofree char *text = live_world_draw(&world, NULL);
	g_assert_null(strpbrk(text, "\033\007\xff"));
	g_assert_nonnull(strstr(text, "?]0;x?"));
	live_world_clear(&world);
}

static const LodeCell *cell_at(const LodeCellGrid *grid, unsigned x, unsigned y)
{
	return &grid->cells[y * grid->width + x];
}

static void test_styles(void)
{
	enum { FIRST_COLUMN = 19, FIRST_ROW = 3 };
	g_auto(LodeCellGrid) grid;
	LiveWorld world;

	live_world_init(&world, 80, 24);
	live_world_press(&world, LODE_LIVE_KEY_DOWN);
	live_world_type(&world, "p");
	g_autofree char *text = live_world_draw(&world, &grid);
	g_assert_nonnull(text);
	g_assert_cmpint(cell_at(&grid, 0, 0)->style, ==, LODE_CELL_WARNING);
	g_assert_cmpint(cell_at(&grid, 79, 0)->style, ==, LODE_CELL_BAR);
	g_assert_cmpint(cell_at(&grid, FIRST_COLUMN, FIRST_ROW)->style, ==,
		LODE_CELL_HEAT + LODE_CELL_N_HEATS - 1);
	g_assert_cmpint(cell_at(&grid, FIRST_COLUMN, FIRST_ROW + 2)->style, ==, LODE_CELL_PLAIN);
	g_assert_cmpint(cell_at(&grid, 0, FIRST_ROW)->style, ==, LODE_CELL_PLAIN);
	g_assert_cmpint(cell_at(&grid, 0, FIRST_ROW + 1)->style, ==, LODE_CELL_CHOSEN);
	live_world_clear(&world);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(screens); i++) {
		g_autofree char *path = g_strconcat("/live_drawing/", screens[i].name, NULL);
		g_test_add_data_func(path, &screens[i], test_screen);
	}
	g_test_add_func("/live_drawing/many_threads", test_many_threads);
	g_test_add_func("/live_drawing/nothing_yet", test_nothing_yet);
	g_test_add_func("/live_drawing/lost_threads", test_lost_threads);
	g_test_add_func("/live_drawing/strange_names", test_strange_names);
	g_test_add_func("/live_drawing/styles", test_styles);
	return g_test_run();
}
