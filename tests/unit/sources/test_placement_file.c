/* SPDX-License-Identifier: MIT */
/* Placement files: every documented command, the places of errors, and the way there and back. */
#include "base/error.h"
#include "seeds.h"
#include "sources/placement_file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static LodePlacement *read_text(const char *text, GPtrArray *ignored, GError **error)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.place", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	LodePlacement *placement = lode_placement_file_read(path, ignored, error);
	if (error != NULL && *error != NULL && g_str_has_prefix((*error)->message, path)) {
		g_autofree char *rest = g_strdup((*error)->message + strlen(path));
		g_free((*error)->message);
		(*error)->message = g_strconcat("FILE", rest, NULL);
	}
	g_unlink(path);
	return placement;
}

static LodePlacement *read_good(const char *text)
{
	GError *error = NULL;
	LodePlacement *placement = read_text(text, NULL, &error);

	g_assert_no_error(error);
	return placement;
}

/* "0 0 1 -": the memory of each thread. */
static char *threads_of(const LodePlacement *placement)
{
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t memory = lode_placement_thread_memory(placement, i);
		g_string_append(text, i > 0 ? " " : "");
		if (memory == LODE_NONE)
			g_string_append_c(text, '-');
		else
			g_string_append_printf(text, "%u", memory);
	}
	return g_string_free(text, FALSE);
}

static const LodePlacedRange *range(const LodePlacement *placement, guint i)
{
	g_assert_cmpuint(i, <, placement->ranges->len);
	return &LODE_AT(placement->ranges, LodePlacedRange, i);
}

/* The example of the manual page. */
static void test_manual_example(void)
{
	g_autoptr(LodePlacement) placement = read_good("# placement specification file\n"
						       "\n"
						       "# set up 2 memories which are close\n"
						       "memories 2 in topology cube\n"
						       "\n"
						       "threads 2\n"
						       "run thread 0 on memory 1\n"
						       "run thread 1 on memory 0\n");
	g_autofree char *threads = threads_of(placement);

	g_assert_cmpuint(placement->n_memories, ==, 2);
	g_assert_cmpstr(placement->topology, ==, "cube");
	g_assert_cmpstr(threads, ==, "1 0");
	g_assert_cmpuint(placement->ranges->len, ==, 0);
}

static void test_scalable_example(void)
{
	g_setenv("MP_SET_NUMTHREADS", "4", TRUE);
	g_autoptr(LodePlacement) placement = read_good(
		"memories ( $MP_SET_NUMTHREADS + 1)/2 in cube\n"
		"threads ${MP_SET_NUMTHREADS}\n"
		"distribute threads $MP_SET_NUMTHREADS-1:0:-1 across memories\n");
	g_autofree char *threads = threads_of(placement);

	g_assert_cmpuint(placement->n_memories, ==, 2);
	g_assert_cmpstr(placement->topology, ==, "cube");
	g_assert_cmpstr(threads, ==, "1 1 0 0");
}

static void test_distributions(void)
{
	static const struct {
		const char *command, *threads;
	} cases[] = {
		{"distribute threads across memories", "0 0 1 1 2 2"},
		{"distribute threads across memories block", "0 0 1 1 2 2"},
		{"distribute threads across memories block 1", "0 1 2 0 1 2"},
		{"distribute threads across memories block 4", "0 0 0 0 1 1"},
		{"distribute threads across memories cyclic", "0 1 2 0 1 2"},
		{"distribute threads across memories cyclic 2", "0 0 1 1 2 2"},
		{"distribute threads 0:5:2 across memories 2:0:-1", "2 - 1 - 0 -"},
		{"distribute threads 0:4:3 across memories 1:1", "1 - - 1 - -"},
		{"distribute threads 1:3 across memories 0:1 cyclic", "- 0 1 0 - -"},
		{"distribute thread 2:2 across memory", "- - 0 - - -"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf(
			"memories 3\nthreads 6\n%s\n", cases[i].command);
		g_autoptr(LodePlacement) placement = read_good(text);
		g_autofree char *threads = threads_of(placement);
		g_assert_cmpstr(threads, ==, cases[i].threads);
	}
}

static void test_ranges_and_objects(void)
{
	g_autoptr(LodePlacement)
		placement = read_good("memories 2\nthreads 1\n"
				      "place range 0x1000 to 0x1fff on memory 1\n"
				      "place range 4096*4 \\ # a comment\n"
				      "  to 4096*5-1 on memory 0 with pagesize 64k\n"
				      "interleave range 0x7fff00000000 to 0x7fff0000ffff\n"
				      "place object counts on memory 1\n"
				      "place object \"std::map<int, int> \\\"x\\\"\" on memory 0\n"
				      "place object ns::table.next on memory 0\n"
				      "run thread 0 on memory 1 using cpu 3");

	g_assert_cmpuint(placement->ranges->len, ==, 6);
	g_assert_cmpint(range(placement, 0)->kind, ==, LODE_PLACE_RANGE);
	g_assert_cmphex(range(placement, 0)->start, ==, 0x1000);
	g_assert_cmphex(range(placement, 0)->end, ==, 0x2000);
	g_assert_cmpuint(range(placement, 0)->memory, ==, 1);
	g_assert_cmphex(range(placement, 1)->start, ==, 0x4000);
	g_assert_cmphex(range(placement, 1)->end, ==, 0x5000);
	g_assert_cmpint(range(placement, 2)->kind, ==, LODE_PLACE_INTERLEAVE);
	g_assert_cmpstr(range(placement, 3)->object, ==, "counts");
	g_assert_cmpstr(range(placement, 4)->object, ==, "std::map<int, int> \"x\"");
	g_assert_cmpstr(range(placement, 5)->object, ==, "ns::table.next");
	g_assert_cmpuint(LODE_AT(placement->thread_cpus, uint32_t, 0), ==, 3);
}

static void test_ignored(void)
{
	g_autoptr(GPtrArray) ignored = g_ptr_array_new_with_free_func(g_free);
	GError *error = NULL;
	g_autoptr(LodePlacement) placement = read_text(
		"policy data roundrobin\n"
		"memories 2 in topology physical near /hw/module/1 \\\n /hw/module/2\n"
		"threads 1\n"
		"place range 1 to 2 on memory 0 with pagesize 64k # big\n"
		"migrate range 0 to 9 to memory 1\n"
		"move thread 0 to memory 1\n"
		"mode verbose on\n"
		"page migration threshold 10 %\n",
		ignored, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(ignored->len, ==, 7);
	g_assert_cmpstr(ignored->pdata[0], ==, "line 1: policy data roundrobin");
	g_assert_cmpstr(ignored->pdata[1], ==, "line 2: near /hw/module/1 /hw/module/2");
	g_assert_cmpstr(ignored->pdata[2], ==, "line 5: with pagesize 64k");
	g_assert_cmpstr(ignored->pdata[6], ==, "line 9: page migration threshold 10 %");
	g_assert_cmpuint(placement->ranges->len, ==, 1);
}

#define HEAD "memories 2\nthreads 4\n"

static void test_errors(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "FILE: the file ends without 'memories'"},
		{"memories 2\n", "FILE: the file ends without 'threads'"},
		{"run thread 0 on memory 0\n",
			"FILE: line 1, column 1: 'run' comes before 'memories'"},
		{"memories 0\n", "FILE: line 1, column 10: memories: 0, expected 1 to 1024"},
		{"memories 2\nmemories 2\n",
			"FILE: line 2, column 1: memories are given a second time"},
		{"memories 2 in\n", "FILE: line 1, column 14: the command ends, expected a "
				    "topology such as cube"},
		{"threads 70000\n", "FILE: line 1, column 9: threads: 70000, expected 1 to 65536"},
		{"memroies 2\n", "FILE: line 1, column 1: 'memroies', expected memories, threads, "
				 "run, distribute, "
				 "place or interleave"},
		{HEAD "run thread 4 on memory 0\n",
			"FILE: line 3, column 12: thread: 4, expected 0 to 3"},
		{HEAD "run thread 0 on memory 2\n",
			"FILE: line 3, column 24: memory: 2, expected 0 to 1"},
		{HEAD "run thread 0-1 on memory 1\n",
			"FILE: line 3, column 12: thread: -1, expected 0 to 3"},
		{HEAD "run thread 0 at memory 1\n", "FILE: line 3, column 14: 'at', expected 'on'"},
		{HEAD "run thread 0 \\\n on memory\n",
			"FILE: line 4, column 11: the command ends, expected a number"},
		{HEAD "run thread 0 on memory 1 twice\n",
			"FILE: line 3, column 26: 'twice', expected the command's end"},
		{HEAD "run thread $LODE_NO_SUCH on memory 1\n",
			"FILE: line 3, column 12: the variable 'LODE_NO_SUCH' is not set in the "
			"environment"},
		{HEAD "run thread $LODE_WORD on memory 1\n",
			"FILE: line 3, column 12: the variable 'LODE_WORD' is 'four', expected a "
			"number"},
		{HEAD "run thread 1/0 on memory 1\n",
			"FILE: line 3, column 13: a division by zero"},
		{HEAD "run thread (1 on memory 1\n", "FILE: line 3, column 15: expected ')'"},
		{HEAD "run thread 99999999999999999999 on memory 1\n",
			"FILE: line 3, column 12: '99999999999999999999' is not a number below "
			"2^64"},
		{HEAD "run thread 0xffffffffffffffff*0xffffffffffffffff*2 on memory 1\n",
			"FILE: line 3, column 30: too large a number"},
		{HEAD "distribute threads 3:0 across memories\n",
			"FILE: line 3, column 20: steps of 1 from 3 never reach 0"},
		{HEAD "distribute threads 0:3:0 across memories\n",
			"FILE: line 3, column 24: the step must not be 0"},
		{HEAD "distribute threads 0 across memories\n",
			"FILE: line 3, column 22: 'across', expected ':' and where they end"},
		{HEAD "place range 2 to 1 on memory 0\n",
			"FILE: line 3, column 13: the range ends (0x1) before it starts (0x2)"},
		{HEAD "place thread 2\n",
			"FILE: line 3, column 7: 'thread', expected 'range' or 'object'"},
		{HEAD "place object \"x on memory 0\n",
			"FILE: line 3, column 14: a quoted name does not end on its line"},
		{HEAD "place object\n", "FILE: line 3, column 13: the command ends, expected the "
					"name of an object"},
		{HEAD "run ; thread\n", "FILE: line 3, column 5: ';' has no meaning here"},
		{HEAD "run \x01\n", "FILE: line 3, column 5: a byte that is not text (0x01)"},
	};

	g_setenv("LODE_WORD", "four", TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(read_text(cases[i].text, NULL, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_cmpstr(error->message, ==, cases[i].message);
	}
}

/* Parentheses cannot exhaust the stack. */
static void test_deep_nesting(void)
{
	g_autofree char *open = g_strnfill(1000 * 1000, '(');
	g_autofree char *text = g_strconcat("memories ", open, NULL);
	g_autoptr(GError) error = NULL;

	g_assert_null(read_text(text, NULL, &error));
	g_assert_nonnull(strstr(error->message, "inside each other"));
}

/* Each of many lines distributes all threads: work without end for a small file. */
static void test_distribution_limit(void)
{
	g_autoptr(GString) text = g_string_new("memories 2\nthreads 65536\n");
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < 300; i++)
		g_string_append(text, "distribute threads across memories\n");
	g_assert_null(read_text(text->str, NULL, &error));
	g_assert_nonnull(strstr(error->message, "line 259, column 1: more than 16777216 threads"));
}

static LodePlacement *random_placement(GRand *random)
{
	uint32_t n_memories = (uint32_t)g_rand_int_range(random, 1, 9);
	uint32_t n_threads = (uint32_t)g_rand_int_range(random, 1, 33);
	LodePlacement *self = lode_placement_new(n_memories, n_threads);

	self->topology = g_rand_boolean(random) ? g_strdup("cube") : NULL;
	for (uint32_t i = 0; i < n_threads; i++) {
		if (g_rand_boolean(random))
			continue;
		LODE_AT(self->thread_memories, uint32_t, i) = g_rand_int(random) % n_memories;
		if (g_rand_boolean(random))
			LODE_AT(self->thread_cpus, uint32_t, i) = g_rand_int(random) % 8;
	}
	for (int i = g_rand_int_range(random, 0, 20); i > 0; i--) {
		LodePlacedRange range = {.kind = (LodePlacedKind)g_rand_int_range(random, 0, 3)};
		range.start = (uint64_t)g_rand_int(random) << 12;
		range.end = range.start + 1 + g_rand_int(random);
		range.object = range.kind == LODE_PLACE_OBJECT ? (char *)"a \"quoted\\\" #x" : NULL;
		range.memory = g_rand_int(random) % n_memories;
		lode_placement_add(self, &range);
	}
	return self;
}

static void test_round_trip(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(7));

	for (int i = 0; i < 200; i++) {
		g_autoptr(LodePlacement) first = random_placement(random);
		g_autoptr(GString) once = g_string_new(NULL), twice = g_string_new(NULL);
		lode_placement_file_append(first, "for people\n\nand more", once);
		g_autoptr(LodePlacement) second = read_good(once->str);
		lode_placement_file_append(second, "for people\n\nand more", twice);
		g_assert_cmpstr(once->str, ==, twice->str);
		g_autofree char *threads = threads_of(first), *again = threads_of(second);
		g_assert_cmpstr(threads, ==, again);
		g_assert_cmpuint(first->ranges->len, ==, second->ranges->len);
		for (guint r = 0; r < first->ranges->len; r++)
			g_assert_cmpstr(range(first, r)->object, ==, range(second, r)->object);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/placement-file/manual-example", test_manual_example);
	g_test_add_func("/placement-file/scalable-example", test_scalable_example);
	g_test_add_func("/placement-file/distributions", test_distributions);
	g_test_add_func("/placement-file/ranges-and-objects", test_ranges_and_objects);
	g_test_add_func("/placement-file/ignored", test_ignored);
	g_test_add_func("/placement-file/errors", test_errors);
	g_test_add_func("/placement-file/deep-nesting", test_deep_nesting);
	g_test_add_func("/placement-file/distribution-limit", test_distribution_limit);
	g_test_add_func("/placement-file/round-trip", test_round_trip);
	return g_test_run();
}
