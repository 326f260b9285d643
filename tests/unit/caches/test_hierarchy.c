/* SPDX-License-Identifier: MIT */
/* Descriptions of caches: what they say, that they come back as text, and how wrong ones are
 * refused. */
#include "caches/hierarchy/hierarchy_text.h"

#include "base/error.h"
#include "machine/machine_caches.h"
#include "random_caches.h"
#include "seeds.h"

#include <glib/gstdio.h>
#include <hwloc.h>
#include <string.h>

#define CACHE(hierarchy, i) (&g_array_index((hierarchy)->caches, LodeCache, i))

static LodeHierarchy *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	LodeHierarchy *hierarchy = lode_hierarchy_parse(text, &error);

	g_assert_no_error(error);
	return hierarchy;
}

static void test_fields(void)
{
	g_autoptr(LodeHierarchy)
		hierarchy = parse(" l2=1M:16:64:write-through , d1=32K:8:64:plru:stride\n"
				  "# the first level of code, in a line of its own\n"
				  "i1=16k:full:32:random=9:next-line # and why\n"
				  "dtlb=64:4:4K:srrip,l3=2M:16:128:no-allocate,cores=4");
	const LodeCache *cache = CACHE(hierarchy, 0);

	g_assert_cmpuint(hierarchy->n_cores, ==, 4);
	g_assert_cmpuint(hierarchy->caches->len, ==, 5);
	g_assert_cmpstr(cache->name, ==, "i1");
	g_assert_cmpuint(cache->n_sets, ==, 1);
	g_assert_cmpuint(cache->n_ways, ==, 512);
	g_assert_cmpint(cache->replacement, ==, LODE_REPLACEMENT_RANDOM);
	g_assert_cmpuint(cache->seed, ==, 9);
	g_assert_cmpint(cache->prefetch, ==, LODE_PREFETCH_NEXT_LINE);
	cache = CACHE(hierarchy, 1);
	g_assert_cmpstr(cache->name, ==, "d1");
	g_assert_cmpuint(cache->holds, ==, LODE_CACHE_DATA);
	g_assert_cmpuint(cache->n_sets, ==, 64);
	g_assert_cmpint(cache->replacement, ==, LODE_REPLACEMENT_PLRU);
	g_assert_cmpint(cache->prefetch, ==, LODE_PREFETCH_STRIDE);
	g_assert_false(cache->is_shared);
	cache = CACHE(hierarchy, 2);
	g_assert_cmpuint(cache->holds, ==, LODE_CACHE_DATA | LODE_CACHE_INSTRUCTIONS);
	g_assert_true(cache->is_write_through);
	cache = CACHE(hierarchy, 3);
	g_assert_true(cache->is_no_allocate);
	g_assert_true(cache->is_shared);
	cache = CACHE(hierarchy, 4);
	g_assert_true(cache->is_tlb);
	g_assert_cmpuint(cache->n_sets, ==, 16);
	g_assert_cmpuint(cache->size_bytes, ==, 256 << 10);
}

/* Behind a d1 alone, a second level sees no fetches. */
static void test_holds_what_comes(void)
{
	g_autoptr(LodeHierarchy) hierarchy = parse("d1=32K:8:64,l2=1M:16:64");

	g_assert_cmpuint(CACHE(hierarchy, 1)->holds, ==, LODE_CACHE_DATA);
}

static void check_round_trip(const LodeHierarchy *hierarchy)
{
	g_autofree char *text = lode_hierarchy_to_text(hierarchy);
	g_autoptr(LodeHierarchy) again = parse(text);
	g_autofree char *text_again = lode_hierarchy_to_text(again);

	g_assert_cmpuint(again->caches->len, ==, hierarchy->caches->len);
	g_assert_cmpuint(again->n_cores, ==, hierarchy->n_cores);
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *a = CACHE(hierarchy, i), *b = CACHE(again, i);

		g_assert_cmpstr(a->name, ==, b->name);
		g_assert_cmpuint(a->holds, ==, b->holds);
		g_assert_cmpuint(a->size_bytes, ==, b->size_bytes);
		g_assert_cmpuint(a->n_ways, ==, b->n_ways);
		g_assert_cmpuint(a->line_bytes, ==, b->line_bytes);
		g_assert_cmpint(a->replacement, ==, b->replacement);
		g_assert_cmpint(a->prefetch, ==, b->prefetch);
		g_assert_true(a->is_write_through == b->is_write_through);
		g_assert_true(a->is_no_allocate == b->is_no_allocate);
		g_assert_true(a->is_shared == b->is_shared);
	}
	g_assert_cmpstr(text, ==, text_again);
}

static void test_round_trip(void)
{
	for (unsigned i = 0; i < 500; i++) {
		g_autofree char *text = random_hierarchy_text();
		g_autoptr(LodeHierarchy) hierarchy = parse(text);

		check_round_trip(hierarchy);
	}
}

/* All that do not ask the machine; "host" needs one that tells. */
static void test_presets(void)
{
	static const char *const presets[] = {
		"host", "cachegrind", "skylake-server", "zen3", "cortex-a72", "apple-m1"};

	for (size_t i = 0; i < G_N_ELEMENTS(presets); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(presets[i], &error);

		if (g_error_matches(error, LODE_ERROR, LODE_ERROR_NOT_FOUND)) {
			g_test_message("%s", error->message);
			continue;
		}
		g_assert_no_error(error);
		g_assert_cmpstr(hierarchy->name, ==, presets[i]);
		check_round_trip(hierarchy);
	}
}

/* A preset may have parts behind it, which are read as if they stood in it. */
static void test_preset_with_parts(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeHierarchy) plain = lode_hierarchy_parse("apple-m1", &error);
	g_autoptr(LodeHierarchy)
		more = lode_hierarchy_parse("apple-m1,cores=4, dtlb=64:4:4K", &error);

	g_assert_no_error(error);
	g_assert_cmpuint(more->n_cores, ==, 4);
	g_assert_cmpuint(more->caches->len, ==, plain->caches->len + 1);
	g_assert_cmpstr(more->name, ==, "apple-m1,cores=4, dtlb=64:4:4K");
	check_round_trip(more);
}

static const struct {
	const char *text, *part, *says;
	LodeErrorCode code;
} wrong_texts[] = {
	{"d1=32K:7:64", "'d1=32K:7:64'", "power of two: here 512 / 7", LODE_ERROR_USAGE},
	{"i1=32K:8:64,d1=32K:8:48", "'d1=32K:8:48'", "not 48", LODE_ERROR_USAGE},
	{"d1=32K:8", "'d1=32K:8'", "d1=SIZE:WAYS:LINE", LODE_ERROR_USAGE},
	{"dtlb=64", "'dtlb=64'", "dtlb=ENTRIES:WAYS:PAGE", LODE_ERROR_USAGE},
	{"d9=32K:8:64", "'d9=32K:8:64'", "no cache is called 'd9'", LODE_ERROR_USAGE},
	{"d1=32Q:8:64", "'d1=32Q:8:64'", "K, M or G", LODE_ERROR_USAGE},
	{"d1=-1:8:64", "'d1=-1:8:64'", "a number", LODE_ERROR_USAGE},
	{"d1=32K:8:64:pluru", "'d1=32K:8:64:pluru'", "did you mean 'plru'?", LODE_ERROR_USAGE},
	{"d1=24K:6:64:plru", "'d1=24K:6:64:plru'", "a binary tree", LODE_ERROR_USAGE},
	{"d1=32K:8:64:random=x", "'d1=32K:8:64:random=x'", "not 'x'", LODE_ERROR_USAGE},
	{"i1=32K:8:64:stride", "'i1=32K:8:64:stride'", "stride is of data", LODE_ERROR_USAGE},
	{"dtlb=64:4:4K:shared", "'dtlb=64:4:4K:shared'", "replacement only", LODE_ERROR_USAGE},
	{"d1=32K:8:64,d1=16K:8:64", "'d1=16K:8:64'", "same place as 'd1'", LODE_ERROR_USAGE},
	{"d1=32K:8:64,u1=16K:8:64", "'u1=16K:8:64'", "same place as 'd1'", LODE_ERROR_USAGE},
	{"l2=1M:16:64", "'l2'", "a level in front of it is missing", LODE_ERROR_USAGE},
	{"d1=32K:8:64,l3=1M:16:64", "'l3'", "is missing", LODE_ERROR_USAGE},
	{"d1=32K:8:64,stlb=64:4:4K", "'stlb'", "is missing", LODE_ERROR_USAGE},
	{"d1=32K:8:64:shared,l2=1M:16:64,cores=2", "'l2'", "after the shared 'd1'",
		LODE_ERROR_USAGE},
	{"d1=32K:8:64,l2=1M:16:128,cores=2", "'l2'", "lines of one size", LODE_ERROR_USAGE},
	{"d1=32K:8:64,cores=65", "'cores=65'", "up to 64", LODE_ERROR_USAGE},
	{"cores=2", "", "no cache is described", LODE_ERROR_USAGE},
	{"d1=32K:8:64,foo", "'foo'", "NAME=SIZE:WAYS:LINE", LODE_ERROR_USAGE},
	{"skylake-sever", "'skylake-sever'", "did you mean 'skylake-server'?", LODE_ERROR_USAGE},
	{"d1=64G:8:64", "'d1=64G:8:64'", "more than 67108864", LODE_ERROR_LIMIT},
	{"d1=16M:full:64", "'d1=16M:full:64'", "from 1 to 65536", LODE_ERROR_USAGE},
	{"d1=32K:0:64", "'d1=32K:0:64'", "from 1 to 65536", LODE_ERROR_USAGE},
	{"d1=18446744073709551615G:8:64", "'d1=18446744073709551615G:8:64'", "a number",
		LODE_ERROR_USAGE},
	{"apple-m1,cores=65", "'cores=65'", "up to 64", LODE_ERROR_USAGE},
	{"apple-m1,d1=32K:8:64", "'d1=32K:8:64'", "same place as 'd1'", LODE_ERROR_USAGE},
	{"apple-m2,cores=4", "'apple-m2'", "NAME=SIZE:WAYS:LINE", LODE_ERROR_USAGE},
	{"/nowhere/caches", "/nowhere/caches", "", LODE_ERROR_IO},
};

static void test_wrong(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(wrong_texts); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(lode_hierarchy_parse(wrong_texts[i].text, &error));
		g_assert_error(error, LODE_ERROR, (gint)wrong_texts[i].code);
		if (strstr(error->message, wrong_texts[i].part) == NULL ||
			strstr(error->message, wrong_texts[i].says) == NULL)
			g_error("%s: %s", wrong_texts[i].text, error->message);
	}
}

static void test_file(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("caches-XXXXXX", &path, &error);

	g_assert_no_error(error);
	g_close(fd, NULL);
	g_file_set_contents(path, "i1=32K:8:64\nd1=32K:8:64 # data\n\nl2=1M:16:64\n", -1, &error);
	g_assert_no_error(error);
	g_autoptr(LodeHierarchy) hierarchy = parse(path);
	g_assert_cmpuint(hierarchy->caches->len, ==, 3);
	g_assert_cmpstr(hierarchy->name, ==, path);
	g_file_set_contents(path, "i1=32K:8:64\nd1=what\n", -1, NULL);
	g_assert_null(lode_hierarchy_parse(path, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_true(g_str_has_prefix(error->message, path));
	g_remove(path);
}

/* Writes a machine as lstopo would; a synthetic one has no ways: they are set here, by level. */
static void write_machine(const char *path, const char *description, const int ways[4])
{
	hwloc_topology_t machine;

	g_assert_cmpint(hwloc_topology_init(&machine), ==, 0);
	hwloc_topology_set_icache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
	g_assert_cmpint(hwloc_topology_set_synthetic(machine, description), ==, 0);
	g_assert_cmpint(hwloc_topology_load(machine), ==, 0);
	for (int depth = 0; depth < hwloc_topology_get_depth(machine); depth++) {
		for (hwloc_obj_t at = hwloc_get_obj_by_depth(machine, depth, 0); at != NULL;
			at = at->next_cousin) {
			if (hwloc_obj_type_is_icache(at->type))
				at->attr->cache.associativity = ways[0];
			else if (hwloc_obj_type_is_cache(at->type))
				at->attr->cache.associativity = ways[at->attr->cache.depth];
		}
	}
	g_assert_cmpint(hwloc_topology_export_xml(machine, path, 0), ==, 0);
	hwloc_topology_destroy(machine);
}

static void check_machine(
	char *(*ask)(const char *, GError **), const char *path, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = ask(path, &error);

	if (expected == NULL)
		g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	else
		g_assert_no_error(error);
	g_assert_cmpstr(text, ==, expected);
}

static void test_machine(void)
{
	/* 24.75 MiB of 11 ways are 36,864 sets, which is not a power of two. */
	static const char skylake[] = "l3:1(size=25952256) l2:2(size=1048576) "
				      "l1d:1(size=32768) l1i:1(size=32768) core:1 pu:2";
	/* 1.5 MiB of 12 ways are 2,048 sets; of 8 ways 3,072, one and a half times a power of two.
	 */
	static const char one_level[] = "l2:2(size=1572864) l1d:1(size=32768) core:1 pu:2";
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "machine-XXXXXX", NULL);

	g_close(g_mkstemp(path), NULL);
	write_machine(path, skylake, (int[]){-1, 8, 16, 11});
	check_machine(lode_machine_caches_text, path,
		"d1=32768:8:64:private,i1=32768:512:64:private,l2=1048576:16:64:private,"
		"l3=25165824:12:64:shared");
	check_machine(lode_machine_caches_as_cachegrind, path,
		"i1=32768:512:64,d1=32768:8:64,l2=23068672:11:64");
	check_machine(lode_machine_caches_first_and_last, path,
		"i1=32768:512:64,d1=32768:8:64,l2=23068672:11:64");
	check_machine(lode_machine_caches_counted, path,
		"i1=32768:512:64,d1=32768:8:64,l2=1048576:16:64,l3=23068672:11:64");
	/* A hypervisor hides how many ways the last level has. */
	write_machine(path, skylake, (int[]){8, 8, 16, 0});
	check_machine(lode_machine_caches_text, path,
		"d1=32768:8:64:private,i1=32768:8:64:private,l2=1048576:16:64:private,"
		"l3=25165824:24:64:shared");
	write_machine(path, one_level, (int[]){0, 8, 8, 0});
	check_machine(
		lode_machine_caches_text, path, "d1=32768:8:64:private,l2=1572864:12:64:private");
	check_machine(lode_machine_caches_as_cachegrind, path, NULL);
	check_machine(lode_machine_caches_first_and_last, path, NULL);
	write_machine(path, "core:2 pu:2", (int[]){0, 0, 0, 0});
	check_machine(lode_machine_caches_text, path, NULL);
	g_assert_true(g_file_set_contents(path, "not XML", -1, NULL));
	check_machine(lode_machine_caches_text, path, NULL);
	g_remove(path);
}

/* hwloc and the files that it reads on Linux give the same. */
static void test_this_machine(void)
{
	static const char file[] = "/sys/devices/system/cpu/cpu0/cache/index0/size";
	g_autofree char *text = NULL, *size = NULL, *kilobytes = NULL;
	g_autoptr(GError) error = NULL;

	if (!g_file_get_contents(file, &size, NULL, NULL)) {
		g_test_skip("this machine does not describe its caches");
		return;
	}
	text = lode_machine_caches_text(NULL, &error);
	g_assert_no_error(error);
	kilobytes = g_strdup_printf(
		"1=%" G_GUINT64_FORMAT ":", g_ascii_strtoull(size, NULL, 10) << 10);
	g_assert_nonnull(strstr(text, kilobytes));
}

/* The last level is as large as Linux says, but for what rounding takes. */
static void test_last_level(void)
{
	g_autofree char *size = NULL;

	for (int i = 0; i < 10; i++) {
		g_autofree char *file = g_strdup_printf(
			"/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		char *next = NULL;
		if (!g_file_get_contents(file, &next, NULL, NULL))
			break;
		g_free(size);
		size = next;
	}
	g_autofree char *text = lode_machine_caches_first_and_last(NULL, NULL);
	if (size == NULL || text == NULL) {
		g_test_skip("this machine does not describe its caches");
		return;
	}
	uint64_t bytes = g_ascii_strtoull(size, NULL, 10) << 10;
	uint64_t found = g_ascii_strtoull(strstr(text, "l2=") + strlen("l2="), NULL, 10);
	g_assert_cmpuint(found, <=, bytes);
	g_assert_cmpuint(found, >=, bytes / 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/caches/hierarchy/fields", test_fields);
	g_test_add_func("/caches/hierarchy/holds_what_comes", test_holds_what_comes);
	add_random_test("/caches/hierarchy/round_trip", test_round_trip,
		"R02S00000000000000000000000000000001", NULL);
	g_test_add_func("/caches/hierarchy/presets", test_presets);
	g_test_add_func("/caches/hierarchy/preset_with_parts", test_preset_with_parts);
	g_test_add_func("/caches/hierarchy/wrong", test_wrong);
	g_test_add_func("/caches/hierarchy/file", test_file);
	g_test_add_func("/caches/hierarchy/machine", test_machine);
	g_test_add_func("/caches/hierarchy/this_machine", test_this_machine);
	g_test_add_func("/caches/hierarchy/last_level", test_last_level);
	return g_test_run();
}
