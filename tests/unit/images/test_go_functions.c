/* SPDX-License-Identifier: MIT */
/*
 * Tables of each version of Go, written by an assembler: in a section of their own, in one of the
 * linker's, in a program that can be loaded anywhere, and without any section. Of two functions the
 * first has two lines.
 */
#include "images/elf/binary_image.h"

#include "tool_output.h"

#include <elf.h>

typedef struct {
	unsigned magic;
	const char *compiler, *section;
	bool has_sections;
} Variant;

enum { GO_1_2 = 0xfb, GO_1_16 = 0xfa, GO_1_18 = 0xf0, GO_1_20 = 0xf1 }; /* the last byte */

/* Offsets count from the whole table, or from the part that they lie in. */
static void append_records(GString *out, bool is_old, const char *entry)
{
	for (int i = 1; i <= 2; i++) {
		g_string_append_printf(out, "record%d: %s f%d%s\n", i, entry, i,
			strcmp(entry, ".long") == 0 ? "-f1" : "");
		g_string_append_printf(out,
			"	.long name%d-%s, 0, 0, 0, file_value%d-%s, line_value%d-%s, 0, 0\n",
			i, is_old ? "table" : "names", i, is_old ? "table" : "values", i,
			is_old ? "table" : "values");
	}
}

/* Files are numbered from 1 in the old form, else from 0; a value begins at -1. */
static void append_parts(GString *out, bool is_old)
{
	g_string_append(out, "names:\nname1: .asciz \"main.first\"\nname2: .asciz "
			     "\"main.(*T).second\"\n"
			     "files:\nfile1: .asciz \"/src/a.go\"\nfile2: .asciz \"/src/b.go\"\n");
	g_string_append_printf(out,
		"values:\nfile_value1: .byte %d, 32, 0\nfile_value2: .byte %d, 32, 0\n"
		"line_value1: .byte 22, 16, 4, 16, 0\nline_value2: .byte 0xae, 0x02, 32, 0\n"
		"	.balign 4\n",
		is_old ? 4 : 2, is_old ? 6 : 4);
	if (is_old)
		g_string_append(out, "units: .long 3, file1-table, file2-table\n");
	else
		g_string_append(out, "units: .long file1-files, file2-files\n");
}

static char *assembly(const Variant *variant)
{
	bool is_32 = strstr(variant->compiler, "mips") != NULL;
	bool is_old = variant->magic == GO_1_2;
	bool has_text = variant->magic == GO_1_18 || variant->magic == GO_1_20;
	const char *word = is_32 ? ".long" : ".quad", *entry = has_text ? ".long" : word;
	GString *out = g_string_new(NULL);

	g_string_append_printf(out,
		"	.text\n	.space 64\n	.balign 32\n	.globl start\nstart:\n"
		"f1:	.space 32\nf2:	.space 32\nf3:	.space 32\n"
		"	.section .go.buildinfo,\"a\"\n	.long 0\n"
		"	.section %s,\"aw\"\n	.balign 32\n"
		"table:	.long 0xffffff%02x\n	.byte 0, 0, 1, %d\n	%s 2\n",
		variant->section, variant->magic, is_32 ? 4 : 8, word);
	if (!is_old)
		g_string_append_printf(out, "	%s 2\n", word);
	if (has_text)
		g_string_append_printf(out, "	%s f1\n", word);
	if (!is_old)
		g_string_append_printf(out,
			"	%s names-table, units-table, files-table, values-table, "
			"functions-table\n",
			word);
	g_string_append(out, "functions:\n");
	for (int i = 1; i <= 3; i++) {
		g_string_append_printf(out, "	%s f%d%s\n", entry, i, has_text ? "-f1" : "");
		if (i < 3)
			g_string_append_printf(out, "	%s record%d-%s\n", entry, i,
				is_old ? "table" : "functions");
	}
	if (is_old)
		g_string_append(out, "	.long units-table\n");
	append_records(out, is_old, entry);
	append_parts(out, is_old);
	return g_string_free(out, FALSE);
}

static void remove_section_headers(const char *path)
{
	g_autofree char *data = NULL;
	size_t size;

	g_assert_true(g_file_get_contents(path, &data, &size, NULL));
	((Elf64_Ehdr *)(void *)data)->e_shoff = 0;
	((Elf64_Ehdr *)(void *)data)->e_shnum = 0;
	((Elf64_Ehdr *)(void *)data)->e_shstrndx = 0;
	g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
}

static const LodeBinaryFunction *find_named(const LodeBinaryImage *image, const char *name)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	}
	return NULL;
}

static void check(const char *path)
{
	const LodeBinaryImageOptions options = {.debug_directory = "/nonexistent"};
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, &options, NULL);
	LodeBinaryLocation at[5];

	g_assert_nonnull(image);
	const LodeBinaryFunction *first = find_named(image, "main.first");
	const LodeBinaryFunction *second = find_named(image, "main.(*T).second");
	g_assert_nonnull(first);
	g_assert_nonnull(second);
	g_assert_cmpuint(first->size, ==, 32);
	g_assert_cmpuint(second->size, ==, 32);
	g_assert_cmphex(second->address, ==, first->address + 32);
	g_assert_true(lode_binary_image_has_lines(image));
	const uint64_t addresses[] = {first->address - 1, first->address, first->address + 16,
		second->address + 31, second->address + 32};
	for (int i = 0; i < 2; i++) { /* once more from the first */
		lode_binary_image_locate(image, addresses, G_N_ELEMENTS(at), at);
		g_assert_null(at[0].file);
		g_assert_cmpstr(at[1].file, ==, "/src/a.go");
		g_assert_cmpuint(at[1].line, ==, 10);
		g_assert_cmpstr(at[2].file, ==, "/src/a.go");
		g_assert_cmpuint(at[2].line, ==, 12);
		g_assert_cmpstr(at[3].file, ==, "/src/b.go");
		g_assert_cmpuint(at[3].line, ==, 150);
		g_assert_null(at[4].file);
		g_assert_cmpuint(at[4].line, ==, 0);
	}
}

static void test_versions(void)
{
	static const unsigned magics[] = {GO_1_2, GO_1_16, GO_1_18, GO_1_20};
	static const Variant variants[] = {
		{0, "gcc -static", ".gopclntab", true},
		{0, "gcc -static", ".gopclntab", false},
		{0, "gcc -static", ".rodata", true},
		{0, "gcc -pie", ".data.rel.ro.gopclntab", true},
		{0, "gcc -pie", ".data.rel.ro.gopclntab", false},
		{0, "clang --target=mips-linux-gnu -fuse-ld=lld -static", ".gopclntab", true},
	};
	char *directory = tool_directory();
	g_autofree char *source = g_build_filename(directory, "p.s", NULL);
	g_autofree char *path = g_build_filename(directory, "p", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(magics) * G_N_ELEMENTS(variants); i++) {
		Variant variant = variants[i % G_N_ELEMENTS(variants)];
		variant.magic = magics[i / G_N_ELEMENTS(variants)];
		g_autofree char *text = assembly(&variant);
		g_autofree char *command = g_strdup_printf(
			"%s -nostdlib -Wl,-e,start -Wl,-s -o %s %s", variant.compiler, path,
			source);

		g_assert_true(g_file_set_contents(source, text, -1, NULL));
		if (!tool_run(command)) {
			g_test_message("not built: %s", command);
			continue;
		}
		if (!variant.has_sections)
			remove_section_headers(path);
		check(path);
	}
	tool_directory_remove(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/go_functions/versions", test_versions);
	return g_test_run();
}
