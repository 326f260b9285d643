/* SPDX-License-Identifier: MIT */
/* A jitdump and a perf map as images: functions, bytes, lines, and what they do not have. */
#include "../sources/jitdump_bytes.h"
#include "base/error.h"
#include "images/elf/binary_image.h"

static char *write_dump(uint32_t machine)
{
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);

	memcpy(bytes.bytes->data + 12, &machine, sizeof machine);
	put_debug_info(&bytes, 0x1000, 2, 21 + 18);
	put_line(&bytes, 0x1004, 11, "a.js");
	put_line(&bytes, 0x1008, 12, "\xff");
	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "_Z1fv", 1});
	put_load(&bytes, &(JitdumpLoad){20, 0x1000, 8, 2, "g\xff", 2}); /* at the same place */
	return jitdump_end(&bytes);
}

static void check_functions(LodeBinaryImage *image)
{
	size_t n, n_bytes = 0;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	g_assert_cmpuint(n, ==, 2);
	g_assert_cmpstr(functions[0].name, ==, "_Z1fv"); /* not demangled */
	g_assert_cmpstr(functions[1].name, ==, "g\xef\xbf\xbd");
	g_assert_cmpuint(functions[0].size, ==, 16);
	g_assert_cmpuint(functions[1].size, ==, 8);
	for (size_t i = 0; i < 2; i++) {
		uint64_t last = functions[i].address + functions[i].size - 1;
		const uint8_t *bytes = lode_binary_image_bytes(
			image, functions[i].address, &n_bytes);
		g_assert_cmpuint(n_bytes, ==, functions[i].size);
		g_assert_cmpuint(bytes[0], ==, i + 1);
		g_assert_cmpuint(bytes[n_bytes - 1], ==, i + 1);
		g_assert_nonnull(lode_binary_image_bytes(image, last, &n_bytes));
		g_assert_cmpuint(n_bytes, ==, 1);
		g_assert_null(lode_binary_image_bytes(image, last + 1, &n_bytes));
	}
	g_assert_null(lode_binary_image_bytes(image, 0, &n_bytes));
	g_assert_null(lode_binary_image_build_id(image));
}

static void check_lines(LodeBinaryImage *image)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	uint64_t start = functions[0].address;
	const uint64_t addresses[] = {
		0, start, start + 4, start + 7, start + 8, start + 15, functions[1].address};
	const uint32_t lines[] = {0, 0, 11, 11, 12, 12, 0};
	LodeBinaryLocation locations[G_N_ELEMENTS(addresses)];

	g_assert_true(lode_binary_image_has_lines(image));
	lode_binary_image_locate(image, addresses, G_N_ELEMENTS(addresses), locations);
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		g_assert_cmpuint(locations[i].line, ==, lines[i]);
		g_assert_cmpstr(locations[i].file, ==, lines[i] > 0 ? "a.js" : NULL);
		g_assert_null(locations[i].inlined);
	}
}

static void test_jitdump(void)
{
	g_autofree char *path = write_dump(62);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, &error);

	g_assert_no_error(error);
	g_unlink(path);
	check_functions(image);
	check_lines(image);
	g_assert_null(lode_binary_image_warning(image));
}

static void test_inlined(void)
{
	static const char *const texts[] = {"f()", "F.java", "g()", "G.java", "h()", "H.java"};
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(LodeInlinedCall));
	LodeBinaryLocation locations[2];

	put_debug_info(&bytes, 0x1000, 2, 2 * 23 + 4 + 33 + 4 + 2 * 12 + 2 * 4);
	put_marked_line(&bytes, 0x1000, 9, "H.java", 0x4c4f4401);
	put_marked_line(&bytes, 0x1008, 2, "F.java", 0x4c4f4401);
	put_u32(&bytes, 3);
	for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
		put_text(&bytes, texts[i]);
	put_u32(&bytes, 2);
	put_call(&bytes, 1, 3, UINT32_MAX); /* g() in f() */
	put_call(&bytes, 2, 7, 0);          /* h() in g() */
	put_u32(&bytes, 1);
	put_u32(&bytes, UINT32_MAX);
	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "f() [tier 4]", 0x90});
	g_autofree char *path = jitdump_end(&bytes);
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, NULL);
	g_unlink(path);
	size_t n;
	uint64_t start = lode_binary_image_functions(image, &n)->address;
	const uint64_t addresses[] = {start + 2, start + 8};
	lode_binary_image_locate_calls(image, addresses, 2, locations, calls);
	g_assert_cmpstr(locations[0].file, ==, "H.java");
	g_assert_cmpuint(locations[0].line, ==, 9);
	g_assert_cmpstr(locations[0].inlined, ==, "h()");
	g_assert_cmpstr(locations[0].caller_file, ==, "F.java");
	g_assert_cmpuint(locations[0].caller_line, ==, 3);
	g_assert_null(locations[1].inlined);
	g_assert_cmpuint(calls->len, ==, 2);
	const LodeInlinedCall *inner = &g_array_index(calls, LodeInlinedCall, 0);
	g_assert_cmpuint(inner[0].index + inner[1].index, ==, 0);
	g_assert_cmpstr(inner[0].function, ==, "h()");
	g_assert_cmpstr(inner[0].file, ==, "G.java");
	g_assert_cmpuint(inner[0].line, ==, 7);
	g_assert_cmpstr(inner[1].function, ==, "g()");
	g_assert_cmpstr(inner[1].file, ==, "F.java");
	g_assert_cmpuint(inner[1].line, ==, 3);
	lode_binary_image_locate(image, addresses, 2, locations);
	g_assert_cmpstr(locations[0].inlined, ==, "h()");
}

static void test_other_machine(void)
{
	g_autofree char *path = write_dump(183);
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_binary_image_open(path, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	g_assert_true(g_str_has_suffix(error->message, ".dump: not x86-64 code (ELF machine 183)"));
	g_unlink(path);
}

static void test_truncated(void)
{
	g_autofree char *path = write_dump(62);
	g_autoptr(LodeBinaryImage) image = NULL;
	size_t n;

	g_assert_cmpint(truncate(path, 40 + 32 + 39 + 56 + 6 + 16 + 20), ==, 0);
	image = lode_binary_image_open(path, NULL, NULL);
	g_unlink(path);
	lode_binary_image_functions(image, &n);
	g_assert_cmpuint(n, ==, 1);
	g_assert_true(
		g_str_has_suffix(lode_binary_image_warning(image), ".dump: the dump is cut short"));
}

static void test_perf_map(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "perf-7.map", NULL);
	LodeBinaryLocation location = {"unset", 7, "unset"};
	const uint64_t address = 0x1000;
	size_t n;

	g_assert_true(g_file_set_contents(path, "2000 8 b\n1000 10 a b\n", -1, NULL));
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, &error);
	g_assert_no_error(error);
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	g_assert_cmpuint(n, ==, 2);
	g_assert_cmphex(functions[0].address, ==, 0x1000);
	g_assert_cmpuint(functions[0].size, ==, 16);
	g_assert_cmpstr(functions[0].name, ==, "a b");
	g_assert_null(lode_binary_image_bytes(image, address, &n));
	g_assert_null(lode_binary_image_build_id(image));
	g_assert_false(lode_binary_image_has_lines(image));
	lode_binary_image_locate(image, &address, 1, &location);
	g_assert_null(location.file);
	g_assert_cmpuint(location.line, ==, 0);
	g_unlink(path);
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/jit_image/jitdump", test_jitdump);
	g_test_add_func("/jit_image/inlined", test_inlined);
	g_test_add_func("/jit_image/other_machine", test_other_machine);
	g_test_add_func("/jit_image/truncated", test_truncated);
	g_test_add_func("/jit_image/perf_map", test_perf_map);
	return g_test_run();
}
