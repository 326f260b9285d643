/* SPDX-License-Identifier: MIT */
/* The agent's dumps, without a virtual machine, as lode reads them. */
#include "images/elf/binary_image.h"
#include "jitdump_writer.h"
#include "sources/code/jitdump.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct {
	char *directory, *path;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	g_autofree char *name = g_strdup_printf("jit-%d.dump", (int)getpid());

	(void)data;
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, name, NULL);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_unlink(self->path);
	g_rmdir(self->directory);
	g_free(self->path);
	g_free(self->directory);
}

static const uint8_t code[64] = {0x90};

static void add(const char *name, const char *const *files, size_t n)
{
	JitdumpLine lines[8];

	g_assert_cmpuint(n, <=, G_N_ELEMENTS(lines));
	for (size_t i = 0; i < n; i++)
		lines[i] = (JitdumpLine){
			(uint64_t)(uintptr_t)code + i, (uint32_t)i + 1, files[i], 0, 0};
	jitdump_writer_add(&(JitdumpCode){name, code, sizeof code, lines, n, NULL, 0, NULL, 0});
}

static LodeJitdump *read_back(const Fixture *self)
{
	g_autoptr(GError) error = NULL;
	LodeJitdump *dump = lode_jitdump_open(self->path, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(dump->n_broken_lines, ==, 0);
	g_assert_false(dump->is_truncated);
	return dump;
}

/* Repeated names are written shorter; those of no letter become longer by it. */
static void test_repeated_files(Fixture *self, const void *data)
{
	static const char *const files[] = {"a/Long.java", "a/Long.java", "B.java", "a/Long.java"};
	static const char *const empty[] = {"", "", "", "", "", "", "", ""};

	(void)data;
	g_assert_true(jitdump_writer_open(self->directory));
	add("long", files, G_N_ELEMENTS(files));
	add("empty", empty, G_N_ELEMENTS(empty));
	add("none", NULL, 0);
	jitdump_writer_close();
	g_autoptr(LodeJitdump) dump = read_back(self);
	g_assert_cmpuint(dump->units->len, ==, 3);
	g_assert_cmpuint(dump->lines->len, ==, G_N_ELEMENTS(files) + G_N_ELEMENTS(empty));
	for (guint i = 0; i < dump->lines->len; i++) {
		const LodeJitLine *line = &g_array_index(dump->lines, LodeJitLine, i);
		guint n = G_N_ELEMENTS(files);
		g_assert_cmpstr(line->file, ==, i < n ? files[i] : "");
		g_assert_cmpuint(line->line, ==, (i < n ? i : i - n) + 1);
	}
}

/* Methods of which little is known have calls, too. */
static void test_inlined(Fixture *self, const void *data)
{
	static const JitdumpMethod methods[] = {{"A.f()", "A.java"}, {"B.g()", NULL}, {NULL, NULL}};
	static const JitdumpCall calls[] = {{1, 3, JITDUMP_NO_CALL}, {2, 0, 0}};
	uint64_t start = (uint64_t)(uintptr_t)code;
	const JitdumpLine lines[] = {{start, 7, "C.java", JITDUMP_LINE_BACK, 1},
		{start + 8, 4, "A.java", JITDUMP_LINE_BACK, JITDUMP_NO_CALL},
		{start + 9, 0, "A.java", JITDUMP_LINE_BACK, JITDUMP_NO_CALL}};

	(void)data;
	g_assert_cmpuint(JITDUMP_MAX_INLINED, ==, LODE_JIT_MAX_INLINED);
	g_assert_true(jitdump_writer_open(self->directory));
	jitdump_writer_add(&(JitdumpCode){
		"A.f() [tier 4]", code, sizeof code, lines, 3, methods, 3, calls, 2});
	add("last", NULL, 0);
	jitdump_writer_close();
	g_autoptr(LodeJitdump) dump = read_back(self);
	g_assert_cmpuint(dump->units->len, ==, 2);
	g_assert_cmpuint(dump->lines->len, ==, 3);
	g_assert_cmpuint(dump->calls->len, ==, 2);
	const LodeJitLine *line = &g_array_index(dump->lines, LodeJitLine, 0);
	const LodeJitCall *call = &g_array_index(dump->calls, LodeJitCall, 0);
	g_assert_cmpuint(line[0].call, ==, 1);
	g_assert_cmpuint(line[1].call, ==, LODE_JIT_NO_CALL);
	g_assert_cmpstr(call[0].function, ==, "B.g()");
	g_assert_cmpstr(call[0].file, ==, "A.java");
	g_assert_cmpuint(call[0].line, ==, 3);
	g_assert_cmpstr(call[1].function, ==, NULL);
	g_assert_cmpstr(call[1].file, ==, NULL);
}

/* As an agent that is loaded twice would do. */
static void test_opened_twice(Fixture *self, const void *data)
{
	(void)data;
	g_assert_true(jitdump_writer_open(self->directory));
	add("first", NULL, 0);
	g_assert_false(jitdump_writer_open(self->directory));
	add("second", NULL, 0);
	jitdump_writer_close();
	g_autoptr(LodeJitdump) dump = read_back(self);
	g_assert_cmpuint(dump->units->len, ==, 2);
}

/*
 *    0 mov rax, rax          5 jz 0xa     ┐ a record at 5, of line 5
 *    3 add eax, ebx          7 nop        │
 *    8 nop                   9 nop        │
 *    a inc eax ◀─────────────────────────┘
 *    c call 0x11                            a record at 0x11, of line 7
 *   11 ret
 */
static void check_kind(const Fixture *self, uint32_t kind, const uint32_t *expected)
{
	static const uint8_t bytes[] = {0x48, 0x89, 0xc0, 0x01, 0xd8, 0x74, 0x03, 0x90, 0x90, 0x90,
		0xff, 0xc0, 0xe8, 0x00, 0x00, 0x00, 0x00, 0xc3};
	static const uint64_t offsets[] = {0, 3, 5, 7, 8, 9, 0xa, 0xc, 0x11};
	uint64_t start = (uint64_t)(uintptr_t)bytes;
	const JitdumpLine lines[] = {{start, 5, "A.java", kind, 0},
		{start + 5, 7, "A.java", kind, 0}, {start + 0x11, 0, "A.java", kind, 0}};
	LodeBinaryLocation locations[G_N_ELEMENTS(offsets)];
	uint64_t addresses[G_N_ELEMENTS(offsets)];
	size_t n;

	g_assert_true(jitdump_writer_open(self->directory));
	jitdump_writer_add(&(JitdumpCode){
		"f", bytes, sizeof bytes, lines, G_N_ELEMENTS(lines), NULL, 0, NULL, 0});
	jitdump_writer_close();
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(self->path, NULL, NULL);
	const LodeBinaryFunction *function = lode_binary_image_functions(image, &n);
	g_assert_cmpuint(n, ==, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++)
		addresses[i] = function->address + offsets[i];
	lode_binary_image_locate(image, addresses, G_N_ELEMENTS(offsets), locations);
	for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++)
		g_assert_cmpuint(locations[i].line, ==, expected[i]);
}

static void test_what_lines_hold_for(Fixture *self, const void *data)
{
	static const uint32_t back[] = {5, 5, 0, 0, 0, 0, 7, 7, 0};
	static const uint32_t here[] = {0, 0, 5, 0, 0, 0, 0, 7, 0};
	static const uint32_t on[] = {5, 5, 7, 7, 7, 7, 7, 7, 0};

	(void)data;
	g_assert_cmpuint(JITDUMP_LINE_BACK, ==, LODE_JIT_LINE_BACK);
	g_assert_cmpuint(JITDUMP_LINE_HERE, ==, LODE_JIT_LINE_HERE);
	check_kind(self, JITDUMP_LINE_BACK, back);
	check_kind(self, JITDUMP_LINE_HERE, here);
	check_kind(self, 0, on);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/jitdump-writer/repeated-files", Fixture, NULL, set_up, test_repeated_files,
		tear_down);
	g_test_add("/jitdump-writer/what-lines-hold-for", Fixture, NULL, set_up,
		test_what_lines_hold_for, tear_down);
	g_test_add("/jitdump-writer/inlined", Fixture, NULL, set_up, test_inlined, tear_down);
	g_test_add("/jitdump-writer/opened-twice", Fixture, NULL, set_up, test_opened_twice,
		tear_down);
	return g_test_run();
}
