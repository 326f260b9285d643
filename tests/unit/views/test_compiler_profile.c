/* SPDX-License-Identifier: MIT */
/* The forms that compilers read, of a profile made by hand; and profiles that have no code for
 * them. */
#include "base/error.h"
#include "sample_profile.h"
#include "views/export/compiler_profile.h"

#include "made_profile.h"

#include <string.h>

static LodeCompilerFunction *add_function(
	GPtrArray *to, const char *name, uint32_t offset, uint64_t total, uint64_t head)
{
	LodeCompilerFunction *function = g_new0(LodeCompilerFunction, 1);

	function->name = name;
	function->offset = offset;
	function->total = total;
	function->head = head;
	function->lines = g_array_new(FALSE, FALSE, sizeof(LodeCompilerLine));
	function->inlined = g_ptr_array_new();
	g_ptr_array_add(to, function);
	return function;
}

static LodeCompilerLine *add_line(
	LodeCompilerFunction *function, uint32_t offset, uint32_t discriminator, uint64_t count)
{
	const LodeCompilerLine line = {
		.offset = offset, .discriminator = discriminator, .count = count};

	g_array_append_val(function->lines, line);
	return &g_array_index(function->lines, LodeCompilerLine, function->lines->len - 1);
}

static void add_target(LodeCompilerLine *line, const char *name, uint64_t count)
{
	const LodeCompilerTarget target = {name, count};

	if (line->targets == NULL)
		line->targets = g_array_new(FALSE, FALSE, sizeof(target));
	g_array_append_val(line->targets, target);
}

static void free_functions(GPtrArray *functions)
{
	for (guint i = 0; i < functions->len; i++) {
		LodeCompilerFunction *function = functions->pdata[i];
		for (guint k = 0; k < function->lines->len; k++) {
			GArray *targets =
				g_array_index(function->lines, LodeCompilerLine, k).targets;
			if (targets != NULL)
				g_array_unref(targets);
		}
		g_array_unref(function->lines);
		free_functions(function->inlined);
		g_free(function);
	}
	g_ptr_array_unref(functions);
}

/* main() calls work() and memcpy(); step() is inlined into work(), and leaf() into that. */
static LodeCompilerProfile made(void)
{
	LodeCompilerProfile profile = {.functions = g_ptr_array_new()};
	LodeCompilerFunction *work = add_function(profile.functions, "_Z4workv", 0, 650, 10);
	LodeCompilerFunction *step = add_function(work->inlined, "step", 3, 540, 0);
	LodeCompilerFunction *leaf = add_function(step->inlined, "leaf", 2, 40, 0);
	LodeCompilerFunction *main = add_function(profile.functions, "main", 0, 11, 1);

	add_line(work, 1, 0, 10);
	add_line(work, 2, 3, 100);
	add_line(step, 1, 0, 500);
	add_line(leaf, 0, 1, 40);
	LodeCompilerLine *call = add_line(main, 4, 0, 11);
	add_target(call, "_Z4workv", 10);
	add_target(call, "memcpy", 1);
	step->discriminator = 2;
	return profile;
}

static void test_text(void)
{
	LodeCompilerProfile profile = made();
	FILE *file = sample_open();

	g_assert_true(lode_sample_profile_write(&profile, file, NULL));
	g_autofree char *text = sample_close(file);
	g_assert_cmpstr(text, ==,
		"_Z4workv:650:10\n"
		" 1: 10\n"
		" 2.3: 100\n"
		" 3.2: step:540\n"
		"  1: 500\n"
		"  2: leaf:40\n"
		"   0.1: 40\n"
		"main:11:1\n"
		" 4: 11 _Z4workv:10 memcpy:1\n");
	free_functions(profile.functions);
}

/* What a reader of words takes, one after the other. */
typedef struct {
	const uint8_t *bytes;
	size_t n, at;
} Words;

static uint64_t take(Words *self, size_t size)
{
	uint64_t value = 0;

	g_assert_cmpuint(self->at + size, <=, self->n);
	memcpy(&value, self->bytes + self->at, size);
	self->at += size;
	return value;
}

static void expect_words(Words *self, const uint32_t *expected, size_t n)
{
	for (size_t i = 0; i < n; i++)
		g_assert_cmphex(take(self, 4), ==, expected[i]);
}

static void test_gcc(void)
{
	static const char *const names[] = {"", "_Z4workv", "step", "leaf", "main", "memcpy"};
	static const uint32_t work[] = {
		10, 0, 1, 2, 1,        /* entries, name, lines, inlined */
		1 << 16, 0, 10, 0,     /* place, calls, executions */
		2 << 16 | 3, 0, 100, 0 /* and the second line */
	};
	static const uint32_t step[] = {3 << 16 | 2, 2, 1, 1, 1 << 16, 0, 500, 0};
	static const uint32_t leaf[] = {2 << 16, 3, 1, 0, 1, 0, 40, 0};
	static const uint32_t main_words[] = {
		1, 0, 4, 1, 0, 4 << 16, 2, 11, 0, 7, 1, 0, 10, 0, 7, 5, 0, 1, 0};
	static const uint32_t end[] = {0xae000000, 4, 0};
	LodeCompilerProfile profile = made();
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "lode-afdo-XXXXXX", NULL);
	int descriptor = g_mkstemp(path);
	FILE *file = fdopen(descriptor, "w");
	g_autofree char *bytes = NULL;
	gsize n;

	g_assert_true(lode_auto_profile_write(&profile, file, NULL));
	fclose(file);
	g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
	g_assert_cmpint(remove(path), ==, 0);
	Words words = {(const uint8_t *)bytes, n, 0};
	g_assert_cmphex(take(&words, 4), ==, 0x67636461);
	g_assert_cmpuint(take(&words, 4), ==, 2);
	g_assert_cmpuint(take(&words, 4), ==, 0);
	g_assert_cmphex(take(&words, 4), ==, 0xaa000000);
	size_t length = take(&words, 4), section = words.at;
	g_assert_cmpuint(take(&words, 4), ==, G_N_ELEMENTS(names));
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_assert_cmpuint(take(&words, 4), ==, strlen(names[i]) + 1);
		g_assert_cmpstr(bytes + words.at, ==, names[i]);
		words.at += strlen(names[i]) + 1;
	}
	g_assert_cmpuint(words.at - section, ==, length);
	g_assert_cmphex(take(&words, 4), ==, 0xac000000);
	length = take(&words, 4);
	section = words.at;
	g_assert_cmpuint(take(&words, 4), ==, 2);
	expect_words(&words, work, G_N_ELEMENTS(work));
	expect_words(&words, step, G_N_ELEMENTS(step));
	expect_words(&words, leaf, G_N_ELEMENTS(leaf));
	expect_words(&words, main_words, G_N_ELEMENTS(main_words));
	g_assert_cmpuint(words.at - section, ==, length);
	expect_words(&words, end, G_N_ELEMENTS(end));
	g_assert_cmpuint(words.at, ==, n);
	free_functions(profile.functions);
}

static void check_refusal(const LodeProfile *profile, const char *binary, const char *pattern)
{
	const char *const binaries[] = {binary, NULL};
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_compiler_profile_new(
		profile, LODE_COMPILER_LLVM, binary != NULL ? binaries : NULL, &error));
	if (!g_pattern_match_simple(pattern, error->message))
		g_error("%s", error->message);
}

/* Of graphs without addresses, of a file that is not there, and of one that has other code. */
static void test_refusals(void)
{
	g_autoptr(LodeProfile) graphs = sample_profile();
	g_autoptr(LodeProfile) gone = sample_profile();
	g_autoptr(LodeProfile) other = sample_profile();

	lode_profile_image(graphs, 0)->kind = LODE_IMAGE_GRAPHS;
	check_refusal(graphs, NULL, "the profile has no code of any binary: *");
	check_refusal(gone, NULL, "/bin/sample*");
	check_refusal(gone, "other", "the profile has no code of 'other'; *");
	lode_profile_image(other, 0)->path = lode_profile_intern(other, "/bin/sh");
	check_refusal(other, NULL, "/bin/sh: *build-id*abcd*");
	lode_profile_image(other, 0)->build_id = NULL;
	check_refusal(other, NULL, "/bin/sh: not the file that ran: its code of hot, at 0x1000, *");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/compiler_profile/text", test_text);
	g_test_add_func("/views/compiler_profile/gcc", test_gcc);
	g_test_add_func("/views/compiler_profile/refusals", test_refusals);
	return g_test_run();
}
