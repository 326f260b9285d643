/* SPDX-License-Identifier: MIT */
/* Source files with another name, paired by functions; and their lines. */
#include "analyses/compare/moved_code.h"
#include "model/profile.h"

static void add_function(LodeProfile *profile, const char *file, uint32_t first, uint32_t last)
{
	g_autofree char *name = g_strdup_printf("f%u", profile->code.functions->len);
	LodeFunction function = {.name = lode_profile_intern(profile, name),
		.first_instruction = profile->code.instructions->len,
		.n_instructions = last - first + 1};

	for (uint32_t line = first; line <= last; line++) {
		LodeInstruction one = {.address = profile->code.instructions->len,
			.block = LODE_NONE,
			.function = profile->code.functions->len,
			.location = lode_profile_location(profile, file, line, NULL)};
		g_array_append_val(profile->code.instructions, one);
	}
	const LodeImage image = {.path = lode_profile_intern(profile, "/src/app")};

	if (profile->code.images->len == 0)
		g_array_append_val(profile->code.images, image);
	g_array_append_val(profile->code.functions, function);
}

static void test_lines(void)
{
	LodeProfile *profiles[2] = {lode_profile_new(), lode_profile_new()};
	LodeFunctionPairs pairs = {.pairs = g_array_new(FALSE, FALSE, sizeof(LodeFunctionPair))};
	const char *file = NULL;
	uint32_t line = 0;

	add_function(profiles[0], "/src/before.c", 10, 20);
	add_function(profiles[0], "/src/before.c", 30, 40);
	add_function(profiles[0], "/src/same.c", 5, 9);
	add_function(profiles[1], "/src/after.c", 12, 18);
	add_function(profiles[1], "/src/after.c", 25, 35);
	add_function(profiles[1], "/src/same.c", 7, 11);
	for (uint32_t i = 0; i < 3; i++) {
		LodeFunctionPair pair = {.functions = {i, i}};
		g_array_append_val(pairs.pairs, pair);
	}
	g_autoptr(LodeOwnLines) base = lode_own_lines_new(profiles[0], NULL);
	g_autoptr(LodeOwnLines) other = lode_own_lines_new(profiles[1], NULL);
	const LodeOwnLines *const own[2] = {base, other};
	g_autoptr(LodeRenamedFiles)
		renamed = lode_renamed_files_new((const LodeProfile *const *)profiles, &pairs, own);
	g_assert_true(lode_renamed_files_has(renamed, 0, "/src/before.c"));
	g_assert_true(lode_renamed_files_has(renamed, 1, "/src/after.c"));
	g_assert_false(lode_renamed_files_has(renamed, 1, "/src/same.c"));
	const uint32_t lines[][2] = {{12, 10}, {15, 13}, {24, 22}, {25, 30}, {35, 40}, {3, 1}};
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		const LodeLocation at = {.file = (char *)"/src/after.c", .line = lines[i][0]};
		g_assert_true(lode_renamed_files_find(renamed, &at, &file, &line));
		g_assert_cmpstr(file, ==, "/src/before.c");
		g_assert_cmpuint(line, ==, lines[i][1]);
	}
	const LodeLocation same = {.file = (char *)"/src/same.c", .line = 8};
	g_assert_false(lode_renamed_files_find(renamed, &same, &file, &line));
	g_array_unref(pairs.pairs);
	for (int side = 0; side < 2; side++)
		lode_profile_free(profiles[side]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/renamed_files/lines", test_lines);
	return g_test_run();
}
