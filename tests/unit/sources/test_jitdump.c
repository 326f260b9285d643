/* SPDX-License-Identifier: MIT */
/*
 * Jitdumps: made ones with every kind of record, in both byte orders, cut short and broken; and one
 * that Node writes here and now, checked against what perf makes of it.
 */
#include "base/error.h"
#include "jitdump_bytes.h"
#include "seeds.h"
#include "sources/code/jitdump.h"

#include <stdlib.h>

static LodeJitdump *open_bytes(JitdumpBytes *bytes, GError **error)
{
	g_autofree char *path = jitdump_end(bytes);
	LodeJitdump *dump = lode_jitdump_open(path, error);

	g_unlink(path);
	return dump;
}

static LodeJitdump *open_good(JitdumpBytes *bytes)
{
	GError *error = NULL;
	LodeJitdump *dump = open_bytes(bytes, &error);

	g_assert_no_error(error);
	return dump;
}

static const char *name_at(const LodeJitdump *dump, uint64_t address, uint64_t time_ns)
{
	const LodeJitPlacement *placement = lode_jitdump_find(dump, address, time_ns);

	return placement != NULL ? g_array_index(dump->units, LodeJitUnit, placement->unit).name
	                         : NULL;
}

static const LodeJitUnit *unit_at(const LodeJitdump *dump, guint i)
{
	g_assert_cmpuint(i, <, dump->units->len);
	return &g_array_index(dump->units, LodeJitUnit, i);
}

static const LodeJitLine *line_of(const LodeJitdump *dump, const LodeJitUnit *unit, guint i)
{
	g_assert_cmpuint(i, <, unit->n_lines);
	return &g_array_index(dump->lines, LodeJitLine, unit->first_line + i);
}

static void put_all_kinds(JitdumpBytes *bytes)
{
	put_record(bytes, 4, 32, 5);
	put_u64(bytes, 8);
	put_u64(bytes, 4);
	put_u64(bytes, 0);
	put_u64(bytes, 0x1122334455667788);
	put_debug_info(bytes, 0x1000, 4, 21 + 3 * 18);
	put_line(bytes, 0x1008, 12, "a.js");
	put_line(bytes, 0x1000, 11, "\xff");
	put_line(bytes, 0x1008, 13, "\xff");
	put_line(bytes, 0x1010, 14, "\xff");
	put_load(bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "first", 0x90});
	put_record(bytes, 99, 8, 11);
	put_u64(bytes, 0);
	put_load(bytes, &(JitdumpLoad){20, 0x2000, 16, 2, "sec\xffond", 0xcc});
	put_load(bytes, &(JitdumpLoad){21, 0x3000, 0, 3, "empty", 0});
	put_move(bytes, 30, 0x1000, 0x4000, 1);
	put_move(bytes, 31, 0x9999, 0x5000, 77);
	put_record(bytes, 3, 0, 40);
}

static void check_all_kinds(const LodeJitdump *dump)
{
	const LodeJitUnit *first = unit_at(dump, 0), *second = unit_at(dump, 1);

	g_assert_cmpuint(dump->pid, ==, 4711);
	g_assert_cmpuint(dump->elf_machine, ==, 62);
	g_assert_false(dump->is_truncated);
	g_assert_cmpuint(dump->units->len, ==, 2);
	g_assert_cmpuint(dump->n_unknown_records, ==, 1);
	g_assert_cmpuint(dump->n_ignored, ==, 2); /* code of no bytes, a move of nothing */
	g_assert_cmpuint(dump->n_broken_lines, ==, 0);
	g_assert_cmpstr(first->name, ==, "first");
	g_assert_cmpuint(first->size, ==, 16);
	g_assert_cmpuint(first->unwinding_size, ==, 8);
	g_assert_cmpuint(second->unwinding_size, ==, 0);
	g_assert_cmpstr(second->name, ==, "sec\xef\xbf\xbdond");
	for (uint64_t i = 0; i < 16; i++) {
		g_assert_cmphex(dump->data[first->code_offset + i], ==, 0x90);
		g_assert_cmphex(dump->data[second->code_offset + i], ==, 0xcc);
	}
	/* sorted, of two at one address the last, none at the end of the code */
	g_assert_cmpuint(first->n_lines, ==, 2);
	g_assert_cmpuint(second->n_lines, ==, 0);
	g_assert_cmpuint(line_of(dump, first, 0)->address, ==, 0);
	g_assert_cmpuint(line_of(dump, first, 0)->line, ==, 11);
	g_assert_cmpuint(line_of(dump, first, 1)->address, ==, 8);
	g_assert_cmpuint(line_of(dump, first, 1)->line, ==, 13);
	g_assert_cmpuint(line_of(dump, first, 1)->discriminator, ==, 3);
	g_assert_cmpstr(line_of(dump, first, 1)->file, ==, "a.js");
}

static void test_all_kinds(const void *data)
{
	JitdumpBytes bytes = jitdump_begin(data != NULL, 4711, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	put_all_kinds(&bytes);
	dump = open_good(&bytes);
	g_assert_true(dump->is_swapped == (data != NULL));
	g_assert_false(dump->is_arch_clock);
	check_all_kinds(dump);
}

static void test_move(void)
{
	JitdumpBytes bytes = jitdump_begin(false, 1, 1);
	g_autoptr(LodeJitdump) dump = NULL;
	const LodeJitPlacement *placement;

	put_all_kinds(&bytes);
	dump = open_good(&bytes);
	g_assert_true(dump->is_arch_clock);
	g_assert_null(name_at(dump, 0x1000, 9));
	g_assert_cmpstr(name_at(dump, 0x1000, 10), ==, "first");
	g_assert_cmpstr(name_at(dump, 0x100f, 29), ==, "first");
	g_assert_null(name_at(dump, 0x1010, 29));
	g_assert_null(name_at(dump, 0x0fff, 29));
	g_assert_null(name_at(dump, 0x1000, 30));
	g_assert_cmpstr(name_at(dump, 0x1000, UINT64_MAX), ==, "first");
	g_assert_null(name_at(dump, 0x4000, 29));
	g_assert_cmpstr(name_at(dump, 0x4000, 30), ==, "first");
	placement = lode_jitdump_find(dump, 0x4005, 99);
	g_assert_nonnull(placement);
	g_assert_cmpuint(lode_jitdump_image_address(dump, placement, 0x4005), ==,
		unit_at(dump, 0)->code_offset + 5);
	g_assert_true(lode_jitdump_find_next(dump, 0x4005, 9) == placement);
	g_assert_null(lode_jitdump_find_next(dump, 0x4005, 30));
}

/* A unit that was loaded again over a part of an older one; the records are not in time's order. */
static void test_overlap(void)
{
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;
	const LodeJitPlacement *rest;

	put_load(&bytes, &(JitdumpLoad){20, 0x1040, 0x10, 2, "inner", 2});
	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 0x100, 1, "outer", 1});
	put_load(&bytes, &(JitdumpLoad){30, 0x0f00, 0x148, 3, "third", 3});
	dump = open_good(&bytes);
	g_assert_cmpstr(name_at(dump, 0x1040, 15), ==, "outer");
	g_assert_cmpstr(name_at(dump, 0x1040, 20), ==, "inner");
	g_assert_cmpstr(name_at(dump, 0x103f, 20), ==, "outer");
	g_assert_cmpstr(name_at(dump, 0x1050, 20), ==, "outer");
	g_assert_cmpstr(name_at(dump, 0x1040, UINT64_MAX), ==, "third");
	g_assert_cmpstr(name_at(dump, 0x1048, UINT64_MAX), ==, "inner");
	rest = lode_jitdump_find(dump, 0x1060, 40);
	g_assert_cmpuint(rest->offset, ==, 0x50);
	g_assert_cmpuint(lode_jitdump_image_address(dump, rest, 0x1060), ==,
		unit_at(dump, 1)->code_offset + 0x60);
}

/* Random loads and moves against the plain rule: the newest that covers the address. */
static void test_random_places(void)
{
	enum { N = 300, SPAN = 400 };
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(7));
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;
	uint64_t addresses[N], sizes[N];

	for (unsigned i = 0; i < N; i++) {
		g_autofree char *name = g_strdup_printf("%u", i);
		addresses[i] = 1000 + (uint64_t)g_rand_int_range(rand, 0, SPAN);
		sizes[i] = (uint64_t)g_rand_int_range(rand, 1, 40);
		put_load(&bytes, &(JitdumpLoad){i + 1, addresses[i], sizes[i], i, name, 0});
	}
	dump = open_good(&bytes);
	for (unsigned check = 0; check < 20000; check++) {
		uint64_t address = 990 + (uint64_t)g_rand_int_range(rand, 0, SPAN + 60);
		int time = g_rand_int_range(rand, 0, N + 2), best = -1;

		for (int i = 0; i < N; i++) {
			bool is_in = address >= addresses[i] && address - addresses[i] < sizes[i];
			if (is_in && i + 1 <= time)
				best = i;
		}
		g_autofree char *name = best >= 0 ? g_strdup_printf("%d", best) : NULL;
		g_assert_cmpstr(name_at(dump, address, (uint64_t)time), ==, name);
	}
}

/* Moves from where the unit no longer is, among much that is: a minute of searching, if one did. */
static void test_stale_moves(void)
{
	enum { N = 40000 };
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	put_load(&bytes, &(JitdumpLoad){1, 0x100000, N, 1, "moved", 0});
	for (unsigned i = 0; i < N; i += 2)
		put_load(&bytes, &(JitdumpLoad){2 + i, 0x100000 + i, 1, 100 + i, "stays", 0});
	for (unsigned i = 0; i < N; i++)
		put_move(&bytes, 2 + N + i, 0x100001, 0x200000, 1);
	dump = open_good(&bytes);
	g_assert_cmpstr(name_at(dump, 0x100000, UINT64_MAX), ==, "stays");
	g_assert_cmpstr(name_at(dump, 0x200000, UINT64_MAX), ==, "moved");
}

/* V8 counts lines from 64 bytes before the code; others count from the code. */
static void test_v8_lines(void)
{
	static const char *const names[] = {"JS:*f", "f", "JS:*g"};
	static const uint64_t firsts[] = {64, 64, 8};
	static const uint64_t expected[] = {0, 64, 8};
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		uint64_t address = 0x1000 * (i + 1);
		put_debug_info(&bytes, address, 1, 21);
		put_line(&bytes, address + firsts[i], 5, "a.js");
		put_load(&bytes, &(JitdumpLoad){i + 1, address, 100, i, names[i], 0});
	}
	dump = open_good(&bytes);
	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		g_assert_cmpuint(line_of(dump, unit_at(dump, i), 0)->address, ==, expected[i]);
}

/* Offsets of bytecodes, the last of which returns, are stretched to the baseline code's length. */
static void test_baseline_lines(void)
{
	static const char *const names[] = {"JS:^f", "JS:*f"};
	static const uint64_t offsets[] = {0, 50, 99};
	static const uint64_t expected[][3] = {{0, 24 + 500, 24 + 990}, {0, 50, 99}};
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		uint64_t address = 0x1000 * (i + 1);
		put_debug_info(&bytes, address, G_N_ELEMENTS(offsets), 63);
		for (guint k = 0; k < G_N_ELEMENTS(offsets); k++)
			put_line(&bytes, address + 64 + offsets[k], 5 + k, "a.js");
		put_load(&bytes, &(JitdumpLoad){i + 1, address, 1024, i, names[i], 0});
	}
	dump = open_good(&bytes);
	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		for (guint k = 0; k < G_N_ELEMENTS(offsets); k++) {
			const LodeJitLine *line = line_of(dump, unit_at(dump, i), k);
			g_assert_cmpuint(line->address, ==, expected[i][k]);
			g_assert_cmpuint(line->line, ==, 5 + k);
		}
}

/* V8 writes names that it has freed: 16 bytes of them are malloc's. */
static void test_freed_names(void)
{
	static const char name[] = "JS:*get x /home/somebody12/program.js:2:13";
	static const char damaged[] = "\xbb\x7f\x88<\0\0\0\0\xc3\xa9^\x80\xb3Mz\x1d/program.js";
	static const char other[] = "\xbb\x7f\x88<\0\0\0\0\xc3\xa9^\x80\xb3Mz\x1d/another.js";
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;
	guint size = 16 + sizeof damaged;

	put_debug_info(&bytes, 0x1000, 4, 4 * size + 4);
	for (unsigned i = 0; i < 4; i++) {
		put_u64(&bytes, 0x1040 + i);
		put_u32(&bytes, 7 + i);
		put_u32(&bytes, 0);
		g_byte_array_append(
			bytes.bytes, (const uint8_t *)(i == 1 ? other : damaged), sizeof damaged);
	}
	put_text(&bytes, "   "); /* the record is padded */
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, name, 0});
	dump = open_good(&bytes);
	g_assert_cmpuint(dump->n_broken_lines, ==, 0);
	for (guint i = 0; i < 4; i++) {
		const LodeJitLine *line = line_of(dump, unit_at(dump, 0), i);
		g_assert_cmpuint(line->address, ==, i);
		g_assert_cmpuint(line->line, ==, i == 1 ? 0 : 7 + i);
		g_assert_cmpstr(line->file, ==, i == 1 ? NULL : "/home/somebody12/program.js");
	}
}

/* V8 names the function's own file for what is inlined from others: lines that it does not have. */
static void test_lines_of_other_scripts(void)
{
	g_autofree char *script = g_strdup_printf("%s/jitdump-%d.js", g_get_tmp_dir(), getpid());
	g_autofree char *name = g_strdup_printf("JS:*f %s:1:1", script);
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;
	guint size = 16 + (guint)strlen(script) + 1;

	g_assert_true(g_file_set_contents(script, "a\nb\nc", -1, NULL));
	put_debug_info(&bytes, 0x1000, 2, 2 * size);
	put_line(&bytes, 0x1040, 3, script);
	put_line(&bytes, 0x1048, 4, script);
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, name, 0});
	dump = open_good(&bytes);
	g_assert_cmpuint(line_of(dump, unit_at(dump, 0), 0)->line, ==, 3);
	g_assert_cmpstr(line_of(dump, unit_at(dump, 0), 0)->file, ==, script);
	g_assert_cmpuint(line_of(dump, unit_at(dump, 0), 1)->line, ==, 0);
	g_assert_cmpstr(line_of(dump, unit_at(dump, 0), 1)->file, ==, NULL);
	g_remove(script);
}

/* Lines that make no sense cost the lines, not the code. */
static void test_broken_lines(void)
{
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	put_debug_info(&bytes, 0x1000, 2, 21); /* says two, has one */
	put_line(&bytes, 0x1000, 5, "a.js");
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "count", 0});
	put_debug_info(&bytes, 0x1000, 1, 21); /* behind the code */
	put_line(&bytes, 0x1011, 5, "a.js");
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "outside", 0});
	put_debug_info(&bytes, 0x2000, 1, 21); /* of other code */
	put_line(&bytes, 0x1000, 5, "a.js");
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "other", 0});
	put_debug_info(&bytes, 0x1000, 1, 18); /* no name before the first */
	put_line(&bytes, 0x1000, 5, "\xff");
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "nameless", 0});
	put_debug_info(&bytes, 0x1000, 1, 21);
	put_line(&bytes, 0x1000, 5, "a.js");
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "good", 0});
	dump = open_good(&bytes);
	g_assert_cmpuint(dump->units->len, ==, 5);
	g_assert_cmpuint(dump->n_broken_lines, ==, 4);
	g_assert_cmpuint(dump->lines->len, ==, 1);
	g_assert_cmpuint(unit_at(dump, 4)->n_lines, ==, 1);
}

enum { N_LINES = 3 };

/*
 * A record of the agent's, at 0x1000: three lines, the methods f (F.java), g (G.java) and one of
 * which nothing is known, and calls of them.
 */
static void put_inlined(
	JitdumpBytes *bytes, const uint32_t (*calls)[3], guint n, const uint32_t of[N_LINES])
{
	static const char *const texts[] = {"f", "F.java", "g", "G.java", "", ""};
	uint32_t size = N_LINES * 23 + 4 + 20 + 4 + 12 * n + N_LINES * 4;

	put_debug_info(bytes, 0x1000, N_LINES, size);
	/* not by address, and the last of those at one counts */
	put_marked_line(bytes, 0x1008, 9, "G.java", LODE_JIT_LINE_BACK);
	put_marked_line(bytes, 0x1000, 5, "F.java", LODE_JIT_LINE_BACK);
	put_marked_line(bytes, 0x1008, 8, "G.java", LODE_JIT_LINE_BACK);
	put_u32(bytes, 3);
	for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
		put_text(bytes, texts[i]);
	put_u32(bytes, n);
	for (guint i = 0; i < n; i++)
		put_call(bytes, calls[i][0], calls[i][1], calls[i][2]);
	for (guint i = 0; i < N_LINES; i++)
		put_u32(bytes, of[i]);
	put_load(bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "f", 0x90});
}

static const LodeJitCall *call_at(const LodeJitdump *dump, uint32_t i)
{
	g_assert_cmpuint(i, <, dump->calls->len);
	return &g_array_index(dump->calls, LodeJitCall, i);
}

/* f calls the unknown method in line 6, which calls g; each record has calls of its own. */
static void test_inlined(const void *data)
{
	static const uint32_t calls[][3] = {{2, 6, LODE_JIT_NO_CALL}, {1, 7, 0}};
	static const uint32_t of[N_LINES] = {0, LODE_JIT_NO_CALL, 1};
	JitdumpBytes bytes = jitdump_begin(data != NULL, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	put_inlined(&bytes, calls, G_N_ELEMENTS(calls), of);
	put_inlined(&bytes, calls, G_N_ELEMENTS(calls), of);
	dump = open_good(&bytes);
	g_assert_cmpuint(dump->n_broken_lines, ==, 0);
	for (guint i = 0; i < 2; i++) {
		const LodeJitUnit *unit = unit_at(dump, i);
		g_assert_cmpuint(unit->n_lines, ==, 2);
		g_assert_cmpuint(line_of(dump, unit, 0)->call, ==, LODE_JIT_NO_CALL);
		g_assert_cmpuint(line_of(dump, unit, 1)->line, ==, 8);
		g_assert_cmpuint(line_of(dump, unit, 1)->call, ==, 2 * i + 1);
		const LodeJitCall *inner = call_at(dump, 2 * i + 1);
		g_assert_cmpstr(inner->function, ==, "g");
		g_assert_cmpstr(inner->file, ==, NULL);
		g_assert_cmpuint(inner->line, ==, 0);
		g_assert_cmpuint(inner->outer, ==, 2 * i);
		g_assert_cmpuint(inner->depth, ==, 2);
		const LodeJitCall *outer = call_at(dump, 2 * i);
		g_assert_cmpstr(outer->function, ==, NULL);
		g_assert_cmpstr(outer->file, ==, "F.java");
		g_assert_cmpuint(outer->line, ==, 6);
		g_assert_cmpuint(outer->outer, ==, LODE_JIT_NO_CALL);
	}
}

static void check_broken_calls(const uint32_t (*calls)[3], guint n, const uint32_t of[N_LINES])
{
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	g_autoptr(LodeJitdump) dump = NULL;

	put_inlined(&bytes, calls, n, of);
	dump = open_good(&bytes);
	g_assert_cmpuint(dump->units->len, ==, 1);
	g_assert_cmpuint(dump->n_broken_lines, ==, 1);
	g_assert_cmpuint(dump->lines->len + dump->calls->len, ==, 0);
}

static void test_broken_calls(void)
{
	enum { N = LODE_JIT_MAX_INLINED + 1 };
	static const uint32_t none = LODE_JIT_NO_CALL, zeros[N_LINES];
	static const uint32_t no_method[][3] = {{3, 1, LODE_JIT_NO_CALL}};
	static const uint32_t itself[][3] = {{1, 1, 0}};
	static const uint32_t later[][3] = {{1, 1, 1}, {1, 1, LODE_JIT_NO_CALL}};
	static const uint32_t good[][3] = {{1, 1, LODE_JIT_NO_CALL}};
	static const uint32_t beyond[N_LINES] = {0, 1, 0};
	uint32_t deep[N][3];

	for (guint i = 0; i < N; i++) {
		const uint32_t call[3] = {1, i, i > 0 ? i - 1 : none};
		memcpy(deep[i], call, sizeof call);
	}
	check_broken_calls(no_method, 1, zeros);
	check_broken_calls(itself, 1, zeros);
	check_broken_calls(later, 2, zeros);
	check_broken_calls(good, 1, beyond);
	check_broken_calls(NULL, 0, zeros);
	check_broken_calls(deep, N, zeros);
	JitdumpBytes bytes = jitdump_begin(false, 1, 0);
	put_inlined(&bytes, deep, N - 1, zeros);
	g_autoptr(LodeJitdump) dump = open_good(&bytes);
	g_assert_cmpuint(dump->calls->len, ==, LODE_JIT_MAX_INLINED);
}

/* What stands after the lines ends somewhere, or says that there is more. */
static void test_cut_calls(void)
{
	static const uint32_t calls[][3] = {{1, 6, LODE_JIT_NO_CALL}};
	static const uint32_t of[N_LINES] = {0, 0, 0};
	const guint begin = 40, inlining = begin + 32 + N_LINES * 23, size = 4 + 20 + 4 + 12 + 12;

	for (guint cut = 0; cut <= size; cut++) {
		JitdumpBytes bytes = jitdump_begin(false, 1, 0);
		uint32_t record_size = 32 + N_LINES * 23 + size - cut;

		put_inlined(&bytes, calls, 1, of);
		g_byte_array_remove_range(bytes.bytes, inlining + size - cut, cut);
		memcpy(bytes.bytes->data + begin + 4, &record_size, sizeof record_size);
		g_autoptr(LodeJitdump) dump = open_good(&bytes);
		/* with nothing there, it is as an older agent wrote it */
		g_assert_cmpuint(dump->n_broken_lines, ==, cut > 0 && cut < size);
		g_assert_cmpuint(dump->lines->len, ==, cut > 0 && cut < size ? 0 : 2);
		g_assert_cmpuint(dump->calls->len, ==, cut == 0);
	}
	for (guint i = 0; i < 2; i++) {
		JitdumpBytes bytes = jitdump_begin(false, 1, 0);
		const uint32_t many = UINT32_MAX - i;

		put_inlined(&bytes, calls, 1, of);
		memcpy(bytes.bytes->data + inlining + (i == 0 ? 0 : 4 + 20), &many, sizeof many);
		g_autoptr(LodeJitdump) dump = open_good(&bytes);
		g_assert_cmpuint(dump->n_broken_lines, ==, 1);
	}
}

/* Cut anywhere, the dump holds what stood whole before, and says that it was cut. */
static void test_truncated(void)
{
	JitdumpBytes whole = jitdump_begin(false, 4711, 0);
	g_autoptr(GByteArray) bytes = NULL;
	guint last = 0;

	put_all_kinds(&whole);
	bytes = whole.bytes;
	for (guint cut = 40; cut <= bytes->len; cut++) {
		JitdumpBytes part = {g_byte_array_new(), false};
		g_autoptr(LodeJitdump) dump = NULL;

		g_byte_array_append(part.bytes, bytes->data, cut);
		dump = open_good(&part);
		g_assert_cmpuint(dump->units->len, >=, last);
		last = dump->units->len;
		/* the last record has 16 bytes */
		if (cut < bytes->len && cut > bytes->len - 16)
			g_assert_true(dump->is_truncated);
		if (cut == 40 || cut == bytes->len)
			g_assert_false(dump->is_truncated);
	}
	g_assert_cmpuint(last, ==, 2);
}

static void check_error(JitdumpBytes *bytes, LodeErrorCode code, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeJitdump) dump = open_bytes(bytes, &error);

	g_assert_null(dump);
	g_assert_error(error, LODE_ERROR, (int)code);
	g_assert_nonnull(strstr(error->message, text));
}

static void test_errors(void)
{
	g_autoptr(GError) error = NULL;
	JitdumpBytes bytes = {g_byte_array_new(), false};

	g_assert_null(lode_jitdump_open("/nonexistent/jit-1.dump", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	check_error(&bytes, LODE_ERROR_CORRUPT, "not a jitdump file");
	bytes = jitdump_begin(false, 1, 0);
	g_byte_array_set_size(bytes.bytes, 39);
	check_error(&bytes, LODE_ERROR_CORRUPT, "offset 39: the header is cut short");
	bytes = jitdump_begin(false, 1, 0);
	bytes.bytes->data[4] = 2;
	check_error(&bytes, LODE_ERROR_UNSUPPORTED, "jitdump version 2, this lode reads version 1");
	bytes = jitdump_begin(false, 1, 0);
	bytes.bytes->data[8] = 39;
	check_error(&bytes, LODE_ERROR_CORRUPT, "offset 8: the header's size is wrong");
	bytes = jitdump_begin(false, 1, 0);
	put_record(&bytes, 3, 0, 0);
	bytes.bytes->data[44] = 15;
	check_error(&bytes, LODE_ERROR_CORRUPT, "offset 40: a record of no size");
	bytes = jitdump_begin(false, 1, 0);
	put_load(&bytes, &(JitdumpLoad){1, 0x1000, 16, 0, "f", 0});
	bytes.bytes->data[40 + 16 + 24] = 17; /* the code's size */
	check_error(&bytes, LODE_ERROR_CORRUPT, "offset 40: a record is too short");
	bytes = jitdump_begin(false, 1, 0);
	put_load(&bytes, &(JitdumpLoad){1, UINT64_MAX - 14, 16, 0, "f", 0});
	check_error(&bytes, LODE_ERROR_CORRUPT, "offset 40: ");
}

static bool run(const char *directory, const char *const *argv)
{
	g_autoptr(GError) error = NULL;
	int status;

	if (!g_spawn_sync(directory, (char **)argv, NULL,
		    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
		    NULL, NULL, NULL, NULL, &status, &error))
		return false;
	return g_spawn_check_wait_status(status, NULL);
}

static void remove_directory(const char *path)
{
	const char *argv[] = {"rm", "-rf", path, NULL};

	run(NULL, argv);
}

static char *find_file(const char *directory, const char *prefix)
{
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(listing)) != NULL)
		if (g_str_has_prefix(name, prefix))
			return g_build_filename(directory, name, NULL);
	return NULL;
}

static const LodeJitUnit *find_unit(const LodeJitdump *dump, const char *prefix)
{
	for (guint i = 0; i < dump->units->len; i++)
		if (g_str_has_prefix(unit_at(dump, i)->name, prefix))
			return unit_at(dump, i);
	return NULL;
}

/* perf writes each unit as an ELF file, jitted-PID-INDEX.so, with its code at offset 64 or 128. */
static unsigned count_equal_in_perf(const LodeJitdump *dump, const char *directory)
{
	unsigned n = 0;

	for (guint i = 0; i < dump->units->len; i++) {
		const LodeJitUnit *unit = unit_at(dump, i);
		g_autofree char *name = g_strdup_printf("%s/jitted-%u-%" G_GUINT64_FORMAT ".so",
			directory, dump->pid, (guint64)unit->index);
		g_autofree char *contents = NULL;
		size_t size;

		if (!g_file_get_contents(name, &contents, &size, NULL))
			continue;
		g_assert_nonnull(
			memmem(contents, size, dump->data + unit->code_offset, (size_t)unit->size));
		g_assert_nonnull(memmem(contents, size, unit->name, strlen(unit->name)));
		n++;
	}
	return n;
}

static void check_node_lines(const LodeJitdump *dump, const LodeJitUnit *unit)
{
	g_assert_cmpuint(unit->n_lines, >, 2);
	g_assert_cmpuint(line_of(dump, unit, 0)->address, ==, 0);
	for (guint i = 0; i < unit->n_lines; i++) {
		const LodeJitLine *line = line_of(dump, unit, i);
		g_assert_true(g_str_has_suffix(line->file, "/program.js"));
		g_assert_cmpuint(line->line, >=, 2);
		g_assert_cmpuint(line->line, <=, 5);
	}
}

static void check_with_perf(const LodeJitdump *dump, const char *directory)
{
	const char *const inject[] = {
		"perf", "inject", "--jit", "-i", "perf.data", "-o", "jitted.data", NULL};

	if (!run(directory, inject)) {
		g_test_message("perf inject --jit did not work here");
		return;
	}
	/* perf keeps those that it saw while it recorded, and of equal numbers the last */
	g_assert_cmpuint(count_equal_in_perf(dump, directory), >, 5);
}

static void test_node(void)
{
	static const char program[] = "// a comment\nfunction hot(n) {\n  let s = 0;\n"
				      "  for (let i = 0; i < n; i++) s += i % 7;\n  return s; }\n"
				      "for (let i = 0; i < 3000; i++) hot(10000);\n";
	const char *const record[] = {"perf", "record", "-q", "-k", "mono", "-e", "cpu-clock:u",
		"-o", "perf.data", "node", "--perf-prof", "program.js", NULL};
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *script = g_build_filename(directory, "program.js", NULL);
	g_autofree char *path = NULL;

	g_assert_true(g_file_set_contents(script, program, -1, NULL));
	bool has_perf = run(directory, record);
	if (has_perf || run(directory, record + 9))
		path = find_file(directory, "jit-");
	if (path != NULL) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeJitdump) dump = lode_jitdump_open(path, &error);
		g_assert_no_error(error);
		g_assert_false(dump->is_truncated);
		g_assert_cmpuint(dump->n_unknown_records, ==, 0);
		g_assert_cmpuint(dump->units->len, >, 500);
		const LodeJitUnit *hot = find_unit(dump, "JS:*hot ");
		g_assert_nonnull(hot);
		check_node_lines(dump, hot);
		if (has_perf)
			check_with_perf(dump, directory);
	} else {
		g_test_skip("no node with --perf-prof");
	}
	remove_directory(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/jitdump/all_kinds", NULL, test_all_kinds);
	g_test_add_data_func("/jitdump/all_kinds_swapped", "swapped", test_all_kinds);
	g_test_add_func("/jitdump/move", test_move);
	g_test_add_func("/jitdump/overlap", test_overlap);
	g_test_add_func("/jitdump/random_places", test_random_places);
	g_test_add_func("/jitdump/stale_moves", test_stale_moves);
	g_test_add_func("/jitdump/v8_lines", test_v8_lines);
	g_test_add_func("/jitdump/baseline_lines", test_baseline_lines);
	g_test_add_func("/jitdump/other-scripts", test_lines_of_other_scripts);
	g_test_add_func("/jitdump/freed_names", test_freed_names);
	g_test_add_func("/jitdump/broken_lines", test_broken_lines);
	g_test_add_data_func("/jitdump/inlined", NULL, test_inlined);
	g_test_add_data_func("/jitdump/inlined_swapped", "swapped", test_inlined);
	g_test_add_func("/jitdump/broken_calls", test_broken_calls);
	g_test_add_func("/jitdump/cut_calls", test_cut_calls);
	g_test_add_func("/jitdump/truncated", test_truncated);
	g_test_add_func("/jitdump/errors", test_errors);
	g_test_add_func("/jitdump/node", test_node);
	return g_test_run();
}
