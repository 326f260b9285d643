/* SPDX-License-Identifier: MIT */
/* The callgrind reader: each rule of the format on small texts, damage, and what valgrind writes.
 */
#include "base/error.h"
#include "seeds.h"
#include "sources/counts/callgrind_records.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

#include <stdlib.h>
#include <string.h>

#define HEADER "version: 1\ncreator: callgrind-3.19.0\npid: 12\ncmd: ./a b\npart: 1\n"
#define EVENTS "positions: instr line\nevents: Ir Dr\n"
#define PLACE "ob=(1) /bin/a\nfl=(1) a.c\nfn=(1) main\n"

static LodeRecording *read_text(const char *text)
{
	g_autoptr(GError) error = NULL;
	LodeRecording *recording = lode_callgrind_read_text("x", text, strlen(text), &error);

	g_assert_no_error(error);
	return recording;
}

static const LodeRecordedInstruction *instruction(const LodeRecording *self, guint index)
{
	g_assert_cmpuint(index, <, self->instructions->len);
	return &g_array_index(self->instructions, LodeRecordedInstruction, index);
}

static double value(const LodeRecording *self, guint index, guint column)
{
	const LodeRecordedInstruction *row = instruction(self, index);

	return column < row->n_values ? self->values[row->first_value + column] : 0;
}

static const char *name(const LodeRecording *self, uint32_t index)
{
	g_assert_cmpuint(index, <, self->names->len);
	return self->names->pdata[index];
}

static void test_costs(void)
{
	g_autoptr(LodeRecording) recording = read_text(
		HEADER EVENTS PLACE "0x10 4 1 1\n+2 * 2\n-2 -1 5 1\n* +3 1\ntotals: 9 2\n");

	g_assert_cmpstr(recording->programs.creator, ==, "callgrind-3.19.0");
	g_autofree char *program = lode_recording_program(recording);
	g_assert_cmpstr(program, ==, "./a b");
	g_assert_cmpuint(recording->pids->len, ==, 1);
	g_assert_cmpuint(recording->instructions->len, ==, 2);
	g_assert_cmpuint(instruction(recording, 0)->address, ==, 0x10);
	g_assert_cmpuint(instruction(recording, 0)->line, ==, 4);
	g_assert_cmpuint(instruction(recording, 1)->address, ==, 0x12);
	g_assert_cmpfloat(value(recording, 0, 0), ==, 7);
	g_assert_cmpfloat(value(recording, 0, 1), ==, 2);
	g_assert_cmpfloat(value(recording, 1, 0), ==, 2);
	g_assert_cmpfloat(value(recording, 1, 1), ==, 0);
	g_assert_cmpfloat(g_array_index(recording->totals, double, 0), ==, 9);
}

/* Targets and the positions after jumps and calls are relative, but nothing is relative to them. */
static void test_transfers(void)
{
	g_autoptr(LodeRecording) recording = read_text(HEADER EVENTS PLACE
		"0x100 4 3\njcnd=2/3 +16 +1\n* *\njump=1 -16 *\n* *\n"
		"cob=(2) libc.so\ncfi=(2) puts.c\ncfn=(2) puts\ncalls=7 0x500 9\n* * 1000 50\n"
		"cfn=(3) unused\n"
		"fn=(1)\n+4 +1 1\ncfn=(2)\ncalls=1 +1 *\n* * 8\njfi=(2)\njfn=(2)\njump=1 +2 *\n* "
		"*\n"
		"totals: 4\n");
	const LodeRecordedJump *jumps = (const LodeRecordedJump *)recording->jumps->data;
	const LodeRecordedCall *calls = (const LodeRecordedCall *)recording->calls->data;

	g_assert_cmpuint(instruction(recording, 1)->address, ==, 0x104);
	g_assert_cmpuint(recording->jumps->len, ==, 3);
	g_assert_cmpuint(jumps[0].target, ==, 0xf0);
	g_assert_false(jumps[0].is_conditional);
	g_assert_cmpuint(jumps[1].source, ==, 0x100);
	g_assert_cmpuint(jumps[1].target, ==, 0x110);
	g_assert_true(jumps[1].is_conditional);
	g_assert_cmpfloat(jumps[1].taken, ==, 2);
	g_assert_cmpfloat(jumps[1].executed, ==, 3);
	g_assert_cmpstr(name(recording, jumps[2].target_function), ==, "puts");
	g_assert_cmpuint(recording->calls->len, ==, 2);
	g_assert_cmpuint(calls[0].target, ==, 0x500);
	g_assert_cmpfloat(calls[0].count, ==, 7);
	g_assert_cmpuint(calls[0].target_object, ==, 1);
	g_assert_cmpstr(name(recording, calls[0].target_function), ==, "puts");
	/* The object of one call is not that of the next. */
	g_assert_cmpuint(calls[1].target_object, ==, 0);
	g_assert_cmpuint(calls[1].target, ==, 0x105);
}

static void test_parts(void)
{
	g_autoptr(LodeRecording) recording = read_text(HEADER EVENTS PLACE
		"16 4 1 1\ntotals: 1 1\npart: 2\n"
		"events: Dr Ir Bc\nfn=(1)\n0x10 4 10 20 30\ntotals: 10 20 30\n");

	g_assert_cmpuint(recording->events->len, ==, 3);
	g_assert_cmpuint(recording->instructions->len, ==, 1);
	g_assert_cmpfloat(value(recording, 0, 0), ==, 21);
	g_assert_cmpfloat(value(recording, 0, 1), ==, 11);
	g_assert_cmpfloat(value(recording, 0, 2), ==, 30);
	g_assert_cmpfloat(g_array_index(recording->totals, double, 0), ==, 21);
}

/* Names are numbered for each file anew, and a "???" belongs to its process. */
static void test_files(void)
{
	static const char *const texts[] = {
		HEADER EVENTS PLACE "16 4 1\nob=(2) ???\n0x99 0 1\ntotals: 2\n",
		"version: 1\npid: 13\n" EVENTS
		"ob=(2) /bin/a\nfn=(5) main\n16 4 2\nob=(1) ???\n0x99 0 1\nsummary: 3\n",
	};
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	const char *paths[2];
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < 2; i++) {
		g_autofree char *file = g_strdup_printf("%d", i);
		paths[i] = g_build_filename(directory, file, NULL);
		g_assert_true(g_file_set_contents(paths[i], texts[i], -1, NULL));
	}
	g_autoptr(LodeRecording) recording = lode_callgrind_read(paths, 2, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(recording->pids->len, ==, 2);
	g_assert_cmpuint(recording->objects->len, ==, 3);
	g_assert_cmpuint(recording->instructions->len, ==, 3);
	g_assert_cmpfloat(value(recording, 0, 0), ==, 3);
	g_assert_cmpuint(instruction(recording, 1)->address, ==, 0x99);
	g_assert_cmpfloat(value(recording, 1, 0), ==, 1);
	g_assert_cmpstr(name(recording, instruction(recording, 0)->function), ==, "main");
	for (int i = 0; i < 2; i++) {
		g_unlink(paths[i]);
		g_free((char *)paths[i]);
	}
	g_rmdir(directory);
}

/* valgrind before 3.6; and a file of it beside one of a newer valgrind. */
static void test_old_events(void)
{
	g_autoptr(GError) error = NULL;
	const char text[] = "version: 1\npositions: instr line\nevents: Ir I2mr D2mr D2mw\n"
			    "ob=x\nfn=f\n0x10 1 5 1 2 3\n\nsummary: 5 1 2 3\n"
			    "events: Ir ILmr\nob=x\nfn=f\n0x10 1 2 4\n\nsummary: 2 4\n";
	g_autoptr(LodeRecording)
		recording = lode_callgrind_read_text("x", text, strlen(text), &error);
	static const char *const names[] = {"Ir", "ILmr", "DLmr", "DLmw"};
	static const double totals[] = {7, 5, 2, 3};

	g_assert_no_error(error);
	g_assert_cmpuint(recording->events->len, ==, G_N_ELEMENTS(names));
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_assert_cmpstr(recording->events->pdata[i], ==, names[i]);
		g_assert_cmpfloat(g_array_index(recording->totals, double, i), ==, totals[i]);
	}
}

static void test_plain_names(void)
{
	g_autoptr(LodeRecording) recording = read_text(
		HEADER EVENTS "ob=/bin/a\nfl=a.c\nfn=(below main)\n0xffffffffff600000 1 1\n"
			      "fn=(anonymous namespace)::f(int)\n0x10 2 1\ntotals: 2");

	g_assert_cmpuint(recording->instructions->len, ==, 2);
	g_assert_cmpstr(name(recording, instruction(recording, 0)->function), ==,
		"(anonymous namespace)::f(int)");
	g_assert_cmpstr(name(recording, instruction(recording, 1)->function), ==, "(below main)");
	g_assert_cmpuint(instruction(recording, 1)->address, ==, UINT64_C(0xffffffffff600000));
}

typedef struct {
	const char *text, *message;
	LodeErrorCode code;
} Damage;

static const Damage damages[] = {
	{"", "x: line 1: no events line", LODE_ERROR_CORRUPT},
	{"version: 2\n", "x: line 1: only version 1", LODE_ERROR_UNSUPPORTED},
	{"hello\n", "x: line 1: not a line of a callgrind file", LODE_ERROR_CORRUPT},
	{"positions: line\nevents: Ir\nob=a\n1 1\n", "x: line 4: no instruction addresses",
		LODE_ERROR_UNSUPPORTED},
	{HEADER "ob=a\n1 1\n", "x: line 7: costs before the events line", LODE_ERROR_CORRUPT},
	{HEADER EVENTS "1 1 1\n", "x: line 8: costs before the first ob=", LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10 4 1 2 3\n", "x: line 11: more costs than", LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10 4 1 -2\n", "x: line 11: expected a cost", LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10\n", "x: line 11: expected a line number", LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x11112222333344445 1 1\n", "x: line 11: expected an instruction",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10 4 99999999999999999999\n", "x: line 11: expected a cost",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "fn=(7)\n", "x: line 11: a name's number that was not",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "fn=(4000000000) f\n", "x: line 11: a name's number is larger",
		LODE_ERROR_LIMIT},
	{HEADER EVENTS PLACE "jcnd=3/2 +1 *\n", "x: line 11: a jump taken more often",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "jump=3 +1 *\nfn=(1)\n", "x: line 12: expected the position",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "jump=3 +1 *\n* * 5\n", "x: line 12: a jump's position cannot",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "calls=3 +1 *\n",
		"x: line 11: calls= without cfn=", LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10 4 1\n", "x: line 12: ends before its totals",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10 4 1\njump=1 * *", "x: line 13: ends inside a jump",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS PLACE "0x10 4 1\ntotals: 2\n", "x: the costs of event 'Ir' sum to 1 but",
		LODE_ERROR_CORRUPT},
	{HEADER EVENTS "events: Ir Ir\n", "x: line 8: ends before its totals", LODE_ERROR_CORRUPT},
	{"events: Ir Ir\n", "x: line 1: an event twice", LODE_ERROR_CORRUPT},
};

static void test_damage(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(damages); i++) {
		g_autoptr(GError) error = NULL;
		LodeRecording *recording = lode_callgrind_read_text(
			"x", damages[i].text, strlen(damages[i].text), &error);
		g_assert_null(recording);
		g_assert_error(error, LODE_ERROR, (int)damages[i].code);
		if (!g_str_has_prefix(error->message, damages[i].message))
			g_error("'%s' is not '%s…'", error->message, damages[i].message);
	}
}

static void test_missing_file(void)
{
	const char *path = "/nonexistent/callgrind.out";
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_callgrind_read(&path, 1, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, path));
}

static void test_cancel(void)
{
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	LodeProgress progress = {.cancellable = cancellable};
	const char *text = HEADER EVENTS PLACE "0x10 4 1\ntotals: 1\n";
	g_autofree char *path = NULL;
	g_autoptr(GError) error = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	g_close(fd, NULL);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_cancellable_cancel(cancellable);
	const char *paths[] = {path};
	g_assert_null(lode_callgrind_read(paths, 1, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	g_unlink(path);
}

static void test_format(void)
{
	g_assert_true(lode_callgrind_is_format("# callgrind format\n", 19));
	g_assert_true(lode_callgrind_is_format("version: 1\ncreator", 18));
	g_assert_false(lode_callgrind_is_format("lode-flow 1\n", 12));
	g_assert_false(lode_callgrind_is_format("# call", 6));
}

typedef struct {
	uint32_t object;
	uint64_t address;
	double value;
} Row;

static int compare_rows(const void *a, const void *b)
{
	const Row *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

/* Random costs at random places, against sorting and summing them plainly. */
static void test_random(void)
{
	for (int round = 0; round < 50; round++) {
		g_autoptr(GString) text = g_string_new("positions: instr\nevents: Ir\n");
		guint n = (guint)random_int_range(1, 3000);
		uint64_t base = round % 2 == 0 ? 0x400000 : UINT64_C(0xffffffffff600000);
		g_autofree Row *rows = g_new(Row, n);
		double total = 0;
		for (guint i = 0; i < n; i++) {
			rows[i] = (Row){(uint32_t)random_int_range(0, 5),
				base + (uint64_t)random_int_range(0, 5000),
				random_int_range(1, 1 << 20)};
			total += rows[i].value;
			g_string_append_printf(text, "ob=o%u\n0x%" G_GINT64_MODIFIER "x %.0f\n",
				rows[i].object, rows[i].address, rows[i].value);
		}
		g_string_append_printf(text, "totals: %.0f\n", total);
		g_autoptr(LodeRecording) recording = read_text(text->str);
		for (guint i = 0; i < n; i++) {
			/* Numbered as they first occur. */
			g_autofree char *path = g_strdup_printf("o%u", rows[i].object);
			for (guint j = 0; j < recording->objects->len; j++)
				if (strcmp(g_array_index(recording->objects, LodeRecordedObject, j)
						    .path,
					    path) == 0)
					rows[i].object = j | 0x100;
		}
		qsort(rows, n, sizeof(Row), compare_rows);
		guint at = 0;
		for (guint i = 0; i < recording->instructions->len; i++) {
			double sum = 0;
			g_assert_cmpuint(
				instruction(recording, i)->object | 0x100, ==, rows[at].object);
			g_assert_cmpuint(instruction(recording, i)->address, ==, rows[at].address);
			guint first = at;
			while (at < n && compare_rows(&rows[first], &rows[at]) == 0)
				sum += rows[at++].value;
			g_assert_cmpfloat(value(recording, i, 0), ==, sum);
		}
		g_assert_cmpuint(at, ==, n);
	}
}

/* What valgrind writes of itself: the reader checks all sums against the totals line. */
static void test_valgrind(void)
{
	g_autofree char *path = NULL;
	g_autofree char *valgrind = g_find_program_in_path("valgrind");
	g_autoptr(GError) error = NULL;
	int status;

	if (valgrind == NULL) {
		g_test_skip("no valgrind");
		return;
	}
	int fd = g_file_open_tmp("lode-XXXXXX", &path, NULL);
	g_assert_cmpint(fd, >=, 0);
	g_close(fd, NULL);
	g_autofree char *out = g_strconcat("--callgrind-out-file=", path, NULL);
	const char *arguments[] = {valgrind, "--tool=callgrind", "--dump-instr=yes",
		"--collect-jumps=yes", "--cache-sim=yes", "--branch-sim=yes", out, "/bin/true",
		NULL};
	g_assert_true(g_spawn_sync(NULL, (char **)arguments, NULL,
		G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
		&status, &error));
	g_assert_no_error(error);
	const char *paths[] = {path};
	g_autoptr(LodeRecording) recording = lode_callgrind_read(paths, 1, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(recording->events->len, ==, 13);
	g_assert_cmpuint(recording->instructions->len, >, 1000);
	g_assert_cmpuint(recording->jumps->len, >, 100);
	g_assert_cmpuint(recording->calls->len, >, 100);
	for (guint column = 0; column < 13; column++) {
		double sum = 0;
		for (guint i = 0; i < recording->instructions->len; i++)
			sum += value(recording, i, column);
		g_assert_cmpfloat(sum, ==, g_array_index(recording->totals, double, column));
	}
	g_unlink(path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/callgrind/costs", test_costs);
	g_test_add_func("/callgrind/transfers", test_transfers);
	g_test_add_func("/callgrind/parts", test_parts);
	g_test_add_func("/callgrind/files", test_files);
	g_test_add_func("/callgrind/old-events", test_old_events);
	g_test_add_func("/callgrind/plain-names", test_plain_names);
	g_test_add_func("/callgrind/damage", test_damage);
	g_test_add_func("/callgrind/missing-file", test_missing_file);
	g_test_add_func("/callgrind/cancel", test_cancel);
	g_test_add_func("/callgrind/format", test_format);
	add_random_test("/callgrind/random", test_random, "R02S00000000000000000000000000000001",
		"R02S00000000000000000000000000000002", NULL);
	g_test_add_func("/callgrind/valgrind", test_valgrind);
	return g_test_run();
}
