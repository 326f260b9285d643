/* SPDX-License-Identifier: MIT */
/* Harmless text and its width; shell words; source lines. */
#include "base/error.h"
#include "model/profile.h"
#include "sample_profile.h"
#include "views/code/source_text.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/shell_word.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void test_pipe_is_plain(void)
{
	FILE *file = sample_open();
	LodeTerminal terminal = lode_terminal_of(file);

	g_assert_cmpuint(terminal.width, ==, 0);
	g_assert_false(terminal.has_colour);
	fclose(file);
}

static void test_full_disk(void)
{
	g_autoptr(GError) error = NULL;
	FILE *full = fopen("/dev/full", "w");

	if (full == NULL) {
		g_test_skip("no /dev/full");
		return;
	}
	fputs("lost", full);
	g_assert_false(lode_view_flush(full, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	fclose(full);
}

static void assert_display(const char *text, bool is_ascii, const char *expected)
{
	g_autofree char *display = lode_display_text(text, is_ascii);

	g_assert_cmpstr(display, ==, expected);
}

static void test_harmless(void)
{
	assert_display("plain ünï", false, "plain ünï");
	assert_display("a\x1b[31mb", false, "a\\x1b[31mb");
	assert_display("a\nb\tc", false, "a\\x0ab\\x09c");
	assert_display("\xc2\x9b", false, "\\u{9b}");
	assert_display("a\xe2\x80\xae"
		       "b",
		false, "a\\u{202e}b");
	assert_display("a\xff\xc3", false, "a\\xff\\xc3");
	assert_display("⟨load⟩ → ⟨add⟩", true, "<load> -> <add>");
	assert_display("é 2.0×", true, "\\u{e9} 2.0x");
	assert_display("−1.5 µs ±2 ⟪a ≥ 1⟫…", true, "-1.5 us +-2 <<a >= 1>>...");
	assert_display("a\xe2\x80\xa8"
		       "b",
		false, "a\\u{2028}b");
}

/* A name of 10 MB of two-byte characters, an odd byte before them. */
static void test_long_name(void)
{
	enum { N = 5 << 20 };
	g_autoptr(GString) name = g_string_new("x");

	for (int i = 0; i < N; i++)
		g_string_append(name, "é");
	g_string_append(name, "end");
	g_autofree char *text = lode_display_text(name->str, false);
	g_assert_cmpuint(strlen(text), <, 4096);
	g_assert_true(g_utf8_validate(text, -1, NULL));
	g_assert_true(g_str_has_prefix(text, "xéé"));
	g_assert_true(g_str_has_suffix(text, "ééend"));
	g_assert_nonnull(strstr(text, "é[10,482,694 bytes left out]é"));

	g_autoptr(GString) whole = g_string_new(NULL);
	lode_display_append_whole(whole, name->str, name->len);
	g_assert_cmpstr(whole->str, ==, name->str);
}

static void test_line(void)
{
	FILE *file = sample_open();

	lode_display_line(file, "lode %s: %s", "verb", "a\nb\x1b[2J");
	g_autofree char *text = sample_close(file);
	g_assert_cmpstr(text, ==, "lode verb: a\\x0ab\\x1b[2J\n");
}

static void test_width(void)
{
	g_assert_cmpuint(lode_display_width("⟨load⟩"), ==, 6);
	g_assert_cmpuint(lode_display_width("漢字"), ==, 4);
	g_assert_cmpuint(lode_display_width("e\xcc\x81"), ==, 1);
}

static void assert_short(const char *text, size_t width, bool is_middle, const char *expected)
{
	g_autoptr(GString) string = g_string_new(text);

	if (is_middle)
		lode_display_shorten_middle(string, width, false);
	else
		lode_display_shorten(string, width, false);
	g_assert_cmpstr(string->str, ==, expected);
	g_assert_cmpuint(lode_display_width(string->str), <=, width);
}

static void test_shorten(void)
{
	assert_short("abcdef", 6, false, "abcdef");
	assert_short("abcdefg", 6, false, "abcde…");
	assert_short("漢字漢字", 4, false, "漢…");
	assert_short("abc", 0, false, "");
	assert_short("/usr/lib/libc.so", 9, true, "/usr…c.so");
}

static void test_shorten_words(void)
{
	static const struct {
		const char *text;
		size_t width;
		const char *expected;
	} cases[] = {
		{"the end of a word", 17, "the end of a word"},
		{"the end of a word", 16, "the end of a …"},
		{"the end of a word", 15, "the end of a …"},
		{"the end of a word", 12, "the end of …"},
		{"a verylongwordthatgoeson", 12, "a verylongw…"},
		{"abcdef", 3, "ab…"},
		{"a b", 0, ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) string = g_string_new(cases[i].text);
		lode_display_shorten_words(string, cases[i].width, false);
		g_assert_cmpstr(string->str, ==, cases[i].expected);
		g_assert_cmpuint(lode_display_width(string->str), <=, cases[i].width);
	}
}

static void test_shell_word(void)
{
	g_autofree char *plain = lode_shell_word("dir/x.lode");
	g_autofree char *quoted = lode_shell_word("a b'c");
	g_autofree char *option = lode_shell_word("-x");

	g_assert_cmpstr(plain, ==, "dir/x.lode");
	g_assert_cmpstr(quoted, ==, "'a b'\\''c'");
	g_assert_cmpstr(option, ==, "'-x'");
}

/* A file below a named folder, of code that no binary is of. */
typedef struct {
	char *path;
	LodeProfile *profile;
	const char *folders[2];
	LodeSourceAccess access;
	LodeSourceText *sources;
} Source;

static const char *admit(Source *self, const char *file)
{
	return lode_source_text_admit(
		self->sources, lode_profile_instruction(self->profile, 0), file);
}

static void source_init(Source *self)
{
	const LodeImage image = {.path = "x", .kind = LODE_IMAGE_FILE};
	const LodeFunction function = {.name = "f", .n_instructions = 1};
	const LodeInstruction instruction = {0};
	int descriptor = g_file_open_tmp("source-XXXXXX.c", &self->path, NULL);

	g_assert_cmpint(descriptor, >=, 0);
	g_close(descriptor, NULL);
	self->profile = lode_profile_new();
	g_array_append_val(self->profile->code.images, image);
	g_array_append_val(self->profile->code.functions, function);
	g_array_append_val(self->profile->code.instructions, instruction);
	self->folders[0] = g_get_tmp_dir();
	self->folders[1] = NULL;
	self->access = (LodeSourceAccess){.folders = self->folders};
	self->sources = lode_source_text_new(self->profile, &self->access);
}

static void source_clear(Source *self)
{
	g_unlink(self->path);
	g_free(self->path);
	lode_source_text_free(self->sources);
	lode_profile_free(self->profile);
}

static void test_source_text(void)
{
	Source source;

	source_init(&source);
	g_assert_true(g_file_set_contents(source.path, "one\r\n\ttwo\nthree", -1, NULL));
	g_assert_null(lode_source_text_line(source.sources, source.path, 1));
	const char *path = admit(&source, source.path);
	g_assert_cmpstr(path, ==, source.path);
	g_assert_cmpstr(lode_source_text_line(source.sources, path, 1), ==, "one");
	g_assert_cmpstr(lode_source_text_line(source.sources, path, 2), ==, "        two");
	g_assert_cmpstr(lode_source_text_line(source.sources, path, 3), ==, "three");
	g_assert_null(lode_source_text_line(source.sources, path, 0));
	g_assert_null(lode_source_text_line(source.sources, path, 4));
	g_assert_null(admit(&source, "/nowhere/x.c"));
	g_assert_null(admit(&source, "/dev/zero"));
	/* A file without a size, of which reading gives something, or waits, as from /proc/kmsg. */
	g_assert_null(admit(&source, "/proc/version"));
	g_assert_null(admit(&source, NULL));
	g_autofree char *base = g_path_get_basename(source.path);
	g_assert_nonnull(admit(&source, base));
	source_clear(&source);
}

/* What lies elsewhere, by its name or by a link, and what has another name. */
static void test_refused_source(void)
{
	static const char *const links[] = {"/etc/passwd", "/proc/self/environ"};
	Source source;

	source_init(&source);
	g_assert_true(g_file_set_contents(source.path, "one\n", -1, NULL));
	source.access.refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree char *odd = g_strconcat(source.path, ".key", NULL);
	g_assert_cmpint(g_rename(source.path, odd), ==, 0);
	g_assert_null(admit(&source, odd));
	for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
		g_autofree char *linked = g_strdup_printf("%s.%zu.c", source.path, i);
		g_assert_cmpint(symlink(links[i], linked), ==, 0);
		g_assert_null(admit(&source, linked));
		g_unlink(linked);
	}
	g_autoptr(GPtrArray) lines = lode_source_access_refusals(&source.access);
	g_assert_cmpuint(lines->len, ==, 2);
	g_assert_true(g_str_has_prefix(lines->pdata[0], "source of "));
	g_assert_nonnull(strstr(lines->pdata[0], "/etc/passwd, which is outside the folder"));
	g_assert_nonnull(strstr(lines->pdata[1], "which has not the name of a source file"));
	g_hash_table_unref(source.access.refused);
	g_unlink(odd);
	source_clear(&source);
}

/* Lines are found in any order, in files of very many and of very long ones. */
static void test_large_source(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *shown = NULL;
	Source source;

	source_init(&source);
	for (int i = 0; i < 5000; i++)
		g_string_append(text, "ä");
	g_string_append(text, "\n");
	for (int i = 2; i <= 1000; i++)
		g_string_append_printf(text, i % 3 == 0 ? "\n" : "%d\n", i);
	for (int i = 0; i < 1000000; i++)
		g_string_append_c(text, '\n');
	g_assert_true(g_file_set_contents(source.path, text->str, (gssize)text->len, NULL));
	const char *path = admit(&source, source.path);
	for (uint32_t line = 1000; line >= 2; line--) {
		g_autofree char *number = g_strdup_printf("%u", line);
		g_assert_cmpstr(lode_source_text_line(source.sources, path, line), ==,
			line % 3 == 0 ? "" : number);
	}
	const char *same = lode_source_text_line(source.sources, path, 64);
	g_assert_true(lode_source_text_line(source.sources, path, 64) == same);
	g_assert_cmpstr(lode_source_text_line(source.sources, path, 1001000), ==, "");
	g_assert_null(lode_source_text_line(source.sources, path, 1001001));
	g_assert_null(lode_source_text_line(source.sources, path, UINT32_MAX));
	shown = g_strndup(text->str, 4096);
	const char *first = lode_source_text_line(source.sources, path, 1);
	g_assert_true(g_str_has_prefix(first, shown));
	g_assert_cmpstr(first + 4096, ==, "…");
	source_clear(&source);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/text/pipe-is-plain", test_pipe_is_plain);
	g_test_add_func("/views/text/full-disk", test_full_disk);
	g_test_add_func("/views/text/harmless", test_harmless);
	g_test_add_func("/views/text/long-name", test_long_name);
	g_test_add_func("/views/text/line", test_line);
	g_test_add_func("/views/text/width", test_width);
	g_test_add_func("/views/text/shorten", test_shorten);
	g_test_add_func("/views/text/shorten_words", test_shorten_words);
	g_test_add_func("/views/text/shell-word", test_shell_word);
	g_test_add_func("/views/text/source-text", test_source_text);
	g_test_add_func("/views/text/refused-source", test_refused_source);
	g_test_add_func("/views/text/large-source", test_large_source);
	return g_test_run();
}
