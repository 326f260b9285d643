/* SPDX-License-Identifier: MIT */
/*
 * The flow file's reader and writer: what each record becomes, every error with its line, round
 * trips of random profiles, compressed input, and a disk that is full.
 */
#include "base/error.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "seeds.h"
#include "sources/flow_file/flow_file.h"
#include "sources/text_lines.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

/* A file under the temporary directory; the caller frees the name and unlinks it. */
static char *write_file(const void *data, size_t size)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.flow", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, data, size), ==, (ssize_t)size);
	close(fd);
	return g_steal_pointer(&path);
}

static LodeProfile *read_bytes(const void *data, size_t size, GError **error)
{
	g_autofree char *path = write_file(data, size);
	LodeProfile *profile = lode_flow_file_read(path, NULL, error);

	g_unlink(path);
	return profile;
}

static LodeProfile *read_text(const char *text)
{
	GError *error = NULL;
	LodeProfile *profile = read_bytes(text, strlen(text), &error);

	g_assert_no_error(error);
	g_assert_nonnull(profile);
	return profile;
}

static char *write_text(const LodeProfile *profile, uint32_t weight, double rate)
{
	GError *error = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bool is_written = lode_flow_file_write(profile, weight, rate, out, &error);
	fclose(out);
	g_assert_no_error(error);
	g_assert_true(is_written);
	return text;
}

static const LodeInstruction *vertex(const LodeProfile *profile, guint i)
{
	g_assert_cmpuint(i, <, profile->code.instructions->len);
	return lode_profile_instruction(profile, i);
}

static bool has_attribute(const LodeProfile *profile, guint i, const char *name)
{
	const LodeAttributeSet *set = &LODE_AT(
		profile->code.attribute_sets, LodeAttributeSet, vertex(profile, i)->attribute_set);

	for (uint32_t k = set->first; k < set->first + set->n; k++)
		if (g_strcmp0(g_ptr_array_index(profile->code.attributes,
				      LODE_AT(profile->code.set_members, uint32_t, k)),
			    name) == 0)
			return true;
	return false;
}

static const char example[] = "lode-flow 1\n"
			      "# a comment, \x01 anything\n"
			      "event cycles\n"
			      "graph first\n"
			      "e c a 3\n"
			      "v a 10 4 op:load kind:load op:load\n"
			      "x c misses 2\n"
			      "\n"
			      "v b 2.5 4\top:add\n"
			      "v c 0 - op:load kind:load\r\n"
			      "e a b 4\n"
			      "e  b\tc 4 \n"
			      "e c c 0\n"
			      "x a misses 0\n"
			      "graph first\n"
			      "v a 1e3 0.25\n";

static void test_records(void)
{
	g_autoptr(LodeProfile) profile = read_text(example);
	const LodeFunction *first = lode_profile_function(profile, 0);
	const LodeFunction *second = lode_profile_function(profile, 1);

	g_assert_cmpuint(profile->code.functions->len, ==, 2);
	g_assert_cmpstr(first->name, ==, "first");
	g_assert_cmpstr(second->name, ==, "first");
	g_assert_cmpuint(first->n_instructions, ==, 3);
	g_assert_cmpuint(second->first_instruction, ==, 3);
	g_assert_cmpuint(second->n_instructions, ==, 1);
	g_assert_cmpint(first->source, ==, LODE_FUNCTION_GIVEN);
	g_assert_cmpint(profile->run.frequency, ==, LODE_FREQUENCY_GIVEN);
	g_assert_cmpuint(profile->code.images->len, ==, 1);
	g_assert_cmpint(lode_profile_image(profile, 0)->kind, ==, LODE_IMAGE_GRAPHS);
	g_assert_cmpstr(vertex(profile, 2)->name, ==, "c");
	g_assert_cmpuint(vertex(profile, 2)->address, ==, 2);
	g_assert_cmpuint(vertex(profile, 3)->address, ==, 0);
	g_assert_cmpuint(vertex(profile, 0)->attribute_set, ==, vertex(profile, 2)->attribute_set);
	g_assert_true(has_attribute(profile, 0, "kind:load"));
	g_assert_true(has_attribute(profile, 1, "op:add"));
	g_assert_false(has_attribute(profile, 1, "op:load"));
	g_assert_cmpuint(profile->code.attributes->len, ==, 3);
}

static void test_flow(void)
{
	g_autoptr(LodeProfile) profile = read_text(example);
	const LodeEdge *back = &LODE_AT(profile->code.edges, LodeEdge, 0);

	g_assert_cmpfloat(vertex(profile, 0)->next_count, ==, 4);
	g_assert_cmpfloat(vertex(profile, 1)->next_count, ==, 4);
	g_assert_cmpfloat(vertex(profile, 2)->next_count, ==, -1);
	g_assert_cmpfloat(vertex(profile, 2)->count, ==, 4); /* max(in 4 + 0, out 3 + 0) */
	g_assert_cmpuint(profile->code.edges->len, ==, 2);
	g_assert_cmpuint(back[0].source, ==, 2);
	g_assert_cmpuint(back[0].target, ==, 0);
	g_assert_cmpfloat(back[0].count, ==, 3);
	g_assert_cmpint(back[0].kind, ==, LODE_EDGE_GIVEN);
	g_assert_cmpuint(back[1].target, ==, 2);
	g_assert_cmpfloat(back[1].count, ==, 0);
	g_assert_cmpfloat(profile->run.total_count, ==, 12.25);
	g_assert_cmpfloat(profile->run.inflow_checked, ==, 12);
	g_assert_cmpfloat(profile->run.inflow_equal, ==, 8); /* a is entered from outside */
}

static void test_events(void)
{
	g_autoptr(LodeProfile) profile = read_text(example);
	uint32_t misses = lode_profile_find_event(profile, "misses");
	uint32_t cycles = lode_profile_find_event(profile, "cycles");

	g_assert_cmpuint(profile->code.events->len, ==, 3);
	g_assert_cmpuint(lode_profile_find_event(profile, "executions"), ==, 0);
	g_assert_cmpuint(cycles, ==, profile->code.weight_event);
	g_assert_cmpfloat(lode_profile_event_value(profile, cycles, 1), ==, 2.5);
	g_assert_cmpfloat(lode_profile_event_value(profile, cycles, 3), ==, 1000);
	g_assert_cmpfloat(lode_profile_event_value(profile, misses, 2), ==, 2);
	g_assert_cmpuint(profile->code.costs->len, ==, 4); /* zeroes take no room */
	g_assert_cmpuint(profile->code.cost_starts->len, ==, 5);
	g_assert_cmpfloat(lode_profile_event(profile, 0)->total, ==, 12.25);
	g_assert_cmpfloat(lode_profile_event(profile, cycles)->total, ==, 1012.5);
	g_assert_cmpfloat(lode_profile_event(profile, misses)->total, ==, 2);
}

static void test_event_names(void)
{
	g_autoptr(LodeProfile) plain = read_text("lode-flow 1\ngraph g\nv a 1 2\n");
	g_autoptr(LodeProfile)
		taken = read_text("lode-flow 1\ngraph g\nv a 1 2\nx a executions 5\nevent late\n");

	g_assert_cmpuint(lode_profile_find_event(plain, "weight"), ==, plain->code.weight_event);
	g_assert_cmpuint(lode_profile_find_event(taken, "late"), ==, taken->code.weight_event);
	uint32_t given = lode_profile_find_event(taken, "executions");
	g_assert_cmpfloat(lode_profile_event_value(taken, given, 0), ==, 5);
	g_assert_cmpint(LODE_AT(taken->code.events, LodeEvent, 0).kind, ==, LODE_EVENT_COUNT);
}

/* a → b → c, c → d and c → e, d → e: blocks are abc, d, e. */
static void test_blocks(void)
{
	g_autoptr(LodeProfile) profile = read_text(
		"lode-flow 1\ngraph g\nv a 1 7\nv b 1 7\nv c 1 7\nv d 1 3\nv e 1 7\n"
		"e a b 7\ne b c 7\ne c d 3\ne c e 4\ne d e 3\n");
	const LodeFunction *function = lode_profile_function(profile, 0);
	static const uint32_t expected[] = {0, 0, 0, 1, 2};

	g_assert_cmpuint(function->n_blocks, ==, 3);
	for (guint i = 0; i < 5; i++)
		g_assert_cmpuint(vertex(profile, i)->block, ==, expected[i]);
	const LodeBlock *block = lode_profile_block(profile, 0);
	g_assert_cmpuint(block[0].address, ==, 0);
	g_assert_cmpuint(block[0].end, ==, 3);
	g_assert_cmpuint(block[2].address, ==, 4);
	g_assert_cmpuint(block[2].end, ==, 5);
	g_assert_cmpfloat(block[1].count, ==, 3);
}

/* Bodies that follow "lode-flow 1", and the line and the word that the error must have. */
static const struct {
	const char *body;
	int line;
	const char *message;
} faults[] = {
	{"wrong\n", 2, "unknown record 'wrong'"},
	{"V a 1 1\n", 2, "unknown record"},
	{"v a 1 1\n", 2, "outside a graph"},
	{"e a b 1\n", 2, "outside a graph"},
	{"x a b 1\n", 2, "outside a graph"},
	{"graph\n", 2, "missing, expected the graph's name"},
	{"graph a b\n", 2, "surplus field 'b'"},
	{"event\n", 2, "missing, expected the event's name"},
	{"event a b\n", 2, "surplus field"},
	{"event a\n\nevent b\n", 4, "second 'event'"},
	{"graph g\nv\n", 3, "missing, expected the vertex's id"},
	{"graph g\nv a\n", 3, "missing, expected the vertex's weight"},
	{"graph g\nv a 1\n", 3, "missing, expected the vertex's execution count"},
	{"graph g\nv a x 1\n", 3, "'x', expected a finite decimal number"},
	{"graph g\nv a - 1\n", 3, "'-', expected a finite decimal number"},
	{"graph g\nv a -1 1\n", 3, "'-1', expected"},
	{"graph g\nv a 1 -1\n", 3, "'-1', expected"},
	{"graph g\nv a nan 1\n", 3, "expected a finite"},
	{"graph g\nv a 1 inf\n", 3, "expected a finite"},
	{"graph g\nv a 1e999 1\n", 3, "expected a finite"},
	{"graph g\nv a 0x10 1\n", 3, "expected a finite"},
	{"graph g\nv a 1. 1\nv b . 1\n", 4, "expected a finite"},
	{"graph g\nv a 1e 1\n", 3, "expected a finite"},
	{"graph g\nv a 1,5 1\n", 3, "expected a finite"},
	{"graph g\nv a 1 1\nv a 1 1\n", 4, "vertex 'a' is there already"},
	{"graph g\nv a 1 1\ne a\n", 4, "missing, expected the edge's target"},
	{"graph g\nv a 1 1\ne a a\n", 4, "missing, expected the edge's count"},
	{"graph g\nv a 1 1\ne a a -\n", 4, "expected a finite"},
	{"graph g\nv a 1 1\ne a a 1 1\n", 4, "surplus field '1'"},
	{"graph g\nv a 1 1\ne a a 1\n#\ne a a 1\nv b 1 1\n", 6, "edge from 'a' to 'a' is there"},
	{"graph g\nv a 1 1\ne a b 1\ne c a 1\n", 4, "vertex 'b', which its graph does not have"},
	{"graph g\ne c a 1\nv a 1 1\ngraph h\nv c 1 1\n", 3, "vertex 'c', which"},
	{"graph g\nv a 1 1\nx b m 1\n", 4, "vertex 'b', which"},
	{"graph g\nv a 1 1\nx a m\n", 4, "missing, expected the event's value"},
	{"graph g\nv a 1 1\nx a m 1 2\n", 4, "surplus"},
	{"graph g\nv a 1 1\nx a m 1\nx a m 1\n", 5, "already"},
	{"graph g\nv a 1 1\nx a weight 1\n", 4, "weight's name"},
	{"graph g\nv a 1 1\nx a c 1\nevent c\n", 4, "weight's name"},
	{"graph g\nv a 1 1 op\x01x\n", 3, "control character"},
	{"graph g\nv a\x7f 1 1\n", 3, "control character"},
	{"graph \xff\n", 2, "UTF-8"},
	{"graph g\nv a 1e308 1\nv b 1e308 1\n", 4, "add up"},
	{"windows 1 2\n", 2, "unknown record 'windows', expected 'event', 'graph', 'v', 'e' or"},
	{"graph g\nv a 1 1\no a a 1 1\n", 4, "unknown record 'o'"},
};

/* Likewise, after "lode-flow 2". */
static const struct {
	const char *body;
	int line;
	const char *message;
} faults_of_windows[] = {
	{"wrong\n", 2, "expected 'event', 'graph', 'v', 'e', 'o', 'windows' or 'x'"},
	{"o a a 1 1\n", 2, "outside a graph"},
	{"windows\n", 2, "missing, expected the number of windows"},
	{"windows 1\n", 2, "missing, expected the number of steps"},
	{"windows 1 1.5\n", 2, "'1.5', expected a whole number"},
	{"windows 1 1e300\n", 2, "'1e300', expected a whole number"},
	{"windows 1 1 1\n", 2, "surplus field '1', expected 'windows WINDOWS STEPS'"},
	{"windows 1 1\nwindows 1 1\n", 3, "'windows' stands before the graphs, at most once"},
	{"graph g\nv a 1 1\no a a 1 1\ngraph h\nwindows 1 1\n", 6, "before the graphs"},
	{"graph g\nv a 1 1\no a a 1\n", 4, "missing, expected the number of windows"},
	{"graph g\nv a 1 1\no a a -1 1\n", 4, "expected a whole number up to 4294967295"},
	{"graph g\nv a 1 1\no a a 4294967296 1\n", 4, "expected a whole number"},
	{"graph g\nv a 1 1\no a a 3 4\n", 4, "'4', expected a whole number up to 3"},
	{"graph g\nv a 1 1\no a a 3 1 1\n", 4, "surplus field"},
	{"graph g\nv a 1 1\no a b 3 1\n", 4, "vertex 'b', which its graph does not have"},
	{"graph g\nv a 1 1\no a a 3 1\no a a 3 1\n", 5, "edge from 'a' to 'a' is there"},
};

/* Each sequence that is mined repeats the names of its attributes. */
static void test_long_names(void)
{
	static const char *const forms[] = {"graph g\nv a 1 1 op:x %s\n",
		"graph g\nv a 1 1\nx a %s 1\n", "event %s\ngraph g\nv a 1 1\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(forms) * 2; i++) {
		g_autofree char *name = g_strnfill(i % 2 == 0 ? 4096 : 4097, 'n');
		g_auto(GStrv) parts = g_strsplit(forms[i / 2], "%s", 2);
		g_autofree char *text = g_strconcat(
			"lode-flow 1\n", parts[0], name, parts[1], NULL);
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = read_bytes(text, strlen(text), &error);
		if (i % 2 == 0) {
			g_assert_no_error(error);
			g_assert_nonnull(profile);
			continue;
		}
		g_assert_null(profile);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
		g_assert_nonnull(strstr(error->message, "of 4097 bytes, at most 4096"));
	}
}

static void assert_fault(const char *first_line, const char *body, int line, const char *message)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = g_strconcat(first_line, "\n", body, NULL);
	g_autofree char *place = g_strdup_printf(".flow: line %d: ", line);
	g_autoptr(LodeProfile) profile = read_bytes(text, strlen(text), &error);

	g_test_message("%s", error != NULL ? error->message : body);
	g_assert_null(profile);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, place));
	g_assert_nonnull(strstr(error->message, message));
}

static void test_errors(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		assert_fault("lode-flow 1", faults[i].body, faults[i].line, faults[i].message);
	for (size_t i = 0; i < G_N_ELEMENTS(faults_of_windows); i++)
		assert_fault("lode-flow 2", faults_of_windows[i].body, faults_of_windows[i].line,
			faults_of_windows[i].message);
}

/* Steps of two graphs, in any order; edges that were observed need not have been counted. */
static void test_windows(void)
{
	static const char text[] = "lode-flow 2\nwindows 7 300\ngraph g\no b a 3 2\nv a 1 4\n"
				   "v b 1 4\no a b 40 7\ne a b 4\ngraph h\nv c 1 1\no c c 0 0\n";
	static const LodeObservedEdge expected[] = {{0, 1, 40, 7}, {1, 0, 3, 2}, {2, 2, 0, 0}};
	g_autoptr(LodeProfile) profile = read_text(text);
	g_autofree char *written = write_text(profile, profile->code.weight_event, 0.01);
	g_autoptr(LodeProfile) again = read_text(written);
	const LodeProfile *both[] = {profile, again};

	for (int i = 0; i < 2; i++) {
		const LodeWindows *windows = both[i]->windows;
		g_assert_cmpuint(windows->n_windows, ==, 7);
		g_assert_cmpuint(windows->n_steps, ==, 300);
		g_assert_cmpuint(windows->edges->len, ==, G_N_ELEMENTS(expected));
		g_assert_true(memcmp(windows->edges->data, expected, sizeof(expected)) == 0);
	}
	g_autoptr(LodeProfile) without = read_text("lode-flow 2\ngraph g\nv a 1 1\n");
	g_assert_null(without->windows);
	g_autoptr(LodeProfile) untitled = read_text("lode-flow 2\ngraph g\nv a 1 1\no a a 3 1\n");
	g_assert_cmpuint(untitled->windows->edges->len, ==, 1);
}

static void test_first_line(void)
{
	static const char *const wrong[] = {
		"", "\n", "graph g\n", "lode-flow\n", "lode-flow 1 2\n", "lode-flow1\n", "# x\n"};
	g_autoptr(GError) newer = NULL, absent = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(read_bytes(wrong[i], strlen(wrong[i]), &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(error->message, "line 1: "));
		g_assert_nonnull(strstr(error->message, "expected 'lode-flow 1'"));
	}
	g_assert_null(read_bytes("lode-flow 3\n", 12, &newer));
	g_assert_error(newer, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	g_assert_null(lode_flow_file_read("/nonexistent/x.flow", NULL, &absent));
	g_assert_error(absent, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(absent->message, "/nonexistent/x.flow"));
}

/* A NUL must not hide the rest of its line. */
static void test_nul(void)
{
	static const char text[] = "lode-flow 1\ngraph g\nv a 1 1 op:x\0surplus\n";
	g_autoptr(GError) error = NULL;

	g_assert_null(read_bytes(text, sizeof(text) - 1, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "line 3: a control character"));
}

static void test_is_format(void)
{
	g_assert_true(lode_flow_file_is_format("lode-flow 1\n", 12));
	g_assert_true(lode_flow_file_is_format("lode-flow 2\n", 12));
	g_assert_false(lode_flow_file_is_format("lode-flows 1", 12));
	g_assert_false(lode_flow_file_is_format("lode-fl", 7));
	g_assert_false(lode_flow_file_is_format("", 0));
	g_assert_false(lode_flow_file_is_format("# callgrind format\n", 19));
}

/* Numbers of every size come back as the same double, and stand without exponent. */
static void test_numbers(void)
{
	static const double given[] = {0, 1, 0.1, 1e-7, 123456789.125, 5e-324, 2.5e-310, 1e22, 1e23,
		9007199254740993.0, 1.7976931348623157e308, 1.0 / 3, 12345e17, 99999.5e-20};

	for (size_t i = 0; i < G_N_ELEMENTS(given); i++) {
		g_autofree char *text = g_strdup_printf(
			"lode-flow 1\nevent w\ngraph g\nv a %.17g %.17g\n", given[i], given[i]);
		g_autoptr(LodeProfile) profile = read_text(text);
		g_autofree char *written = write_text(profile, profile->code.weight_event, 0.01);
		g_autoptr(LodeProfile) again = read_text(written);
		g_assert_cmpfloat(vertex(profile, 0)->count, ==, given[i]);
		g_assert_cmpfloat(vertex(again, 0)->count, ==, given[i]);
		g_assert_null(strpbrk(strstr(written, "v a"), "eE"));
	}
}

/* The reader's own conversion of short numbers agrees with the C library's. */
static void test_random_numbers(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(7));

	for (unsigned i = 0; i < random_rounds(500, 5000); i++) {
		char number[64];
		g_snprintf(number, sizeof(number), "%.*f", g_rand_int_range(rand, 0, 14),
			g_rand_double(rand) * pow(10, g_rand_int_range(rand, -6, 19)));
		g_autofree char *text = g_strdup_printf("lode-flow 1\ngraph g\nv a 1 %s\n", number);
		g_autoptr(LodeProfile) profile = read_text(text);
		g_assert_cmpfloat(vertex(profile, 0)->count, ==, g_ascii_strtod(number, NULL));
	}
}

/* ---- round trips ---- */

static void append_random_graph(GRand *rand, GString *text)
{
	int n = g_rand_int_range(rand, 0, 12);

	g_string_append_printf(text, "graph g%d\n", g_rand_int_range(rand, 0, 3));
	for (int i = 0; i < n; i++) {
		g_string_append_printf(text, "v n%d %d.%d %d", (i * 7) % n * 100 + i,
			g_rand_int_range(rand, 0, 50), g_rand_int_range(rand, 0, 100),
			g_rand_int_range(rand, 0, 9));
		for (int k = g_rand_int_range(rand, 0, 5); k > 0; k--)
			g_string_append_printf(text, " op:%c", g_rand_int_range(rand, 'a', 'k'));
		g_string_append_c(text, '\n');
	}
	for (int pair = 0; pair < n * n; pair++) {
		int from = pair * 5 % (n * n) / n, to = pair * 5 % (n * n) % n;
		if (n % 5 != 0 && g_rand_int_range(rand, 0, 3) == 0)
			g_string_append_printf(text, "e n%d n%d %d\n", (from * 7) % n * 100 + from,
				(to * 7) % n * 100 + to, g_rand_int_range(rand, 0, 9));
		if (n % 5 != 0 && g_rand_int_range(rand, 0, 4) == 0)
			g_string_append_printf(text, "o n%d n%d %d 5\n",
				(from * 7) % n * 100 + from, (to * 7) % n * 100 + to,
				g_rand_int_range(rand, 5, 100));
	}
	for (int i = n - 1; i >= 0; i--)
		for (int event = 0; event < 3; event++)
			if (g_rand_boolean(rand))
				g_string_append_printf(text, "x n%d ev%d %d\n",
					(i * 7) % n * 100 + i, 9 - event,
					g_rand_int_range(rand, 0, 3));
}

static void check_round_trip(const LodeProfile *profile, uint32_t weight, double rate)
{
	g_autofree char *once = write_text(profile, weight, rate);
	g_autoptr(LodeProfile) again = read_text(once);
	g_autofree char *twice = write_text(again, again->code.weight_event, rate);

	g_assert_cmpstr(once, ==, twice);
}

static void test_round_trip_given(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(1));

	for (unsigned i = 0; i < random_rounds(300, 3000); i++) {
		g_autoptr(GString) text = g_string_new("lode-flow 2\n");
		for (int graphs = g_rand_int_range(rand, 0, 4); graphs > 0; graphs--)
			append_random_graph(rand, text);
		g_autoptr(LodeProfile) profile = read_text(text->str);
		check_round_trip(profile, profile->code.weight_event, 0.01);
	}
}

static void add_random_edges(GRand *rand, LodeProfile *profile)
{
	guint n = profile->code.instructions->len;

	for (guint source = 0; source < n; source++)
		for (guint target = 0; target < n; target++) {
			LodeEdge edge = {.source = source,
				.target = target,
				.kind = (LodeEdgeKind)g_rand_int_range(rand, 0, 6),
				.count = g_rand_int_range(rand, 0, 100)};
			if (n % 5 != 0 && g_rand_int_range(rand, 0, 4) == 0)
				g_array_append_val(profile->code.edges, edge);
		}
}

static void add_random_function(GRand *rand, LodeProfile *profile, uint32_t misses)
{
	static const char *const attributes[] = {"op:mov", "user:two words", "a", "ev:l1d-miss"};
	LodeFunction function = {.source = LODE_FUNCTION_SYMBOL,
		.name = lode_profile_intern(profile, "foo(int, char)"),
		.first_instruction = profile->code.instructions->len,
		.n_instructions = (uint32_t)g_rand_int_range(rand, 1, 8)};

	for (uint32_t i = 0; i < function.n_instructions; i++) {
		uint32_t ids[3];
		for (size_t k = 0; k < 3; k++)
			ids[k] = lode_profile_attribute(
				profile, attributes[g_rand_int_range(rand, 0, 4)]);
		LodeInstruction instruction = {.address = 0x1000 + 4 * i,
			.count = g_rand_int_range(rand, 0, 100),
			.next_count = g_rand_boolean(rand) ? g_rand_int_range(rand, 0, 100) : -1,
			.function = profile->code.functions->len,
			.attribute_set = lode_profile_attribute_set(profile, ids, 3),
			.location = LODE_NONE};
		LodeCost cost = {.event = misses, .value = g_rand_double(rand)};
		g_array_append_val(profile->code.instructions, instruction);
		if (g_rand_boolean(rand))
			g_array_append_val(profile->code.costs, cost);
		g_array_append_val(profile->code.cost_starts, profile->code.costs->len);
	}
	lode_profile_instruction(profile, profile->code.instructions->len - 1)->next_count = -1;
	g_array_append_val(profile->code.functions, function);
}

static LodeProfile *random_binary_profile(GRand *rand, uint32_t *out_cycles)
{
	LodeProfile *profile = lode_profile_new();
	LodeEventTerm terms[] = {{0, 1}, {1, 10}};

	lode_profile_add_event(profile, "instructions", NULL, LODE_EVENT_COUNT, NULL, 0);
	uint32_t misses = lode_profile_add_event(
		profile, "l1d-miss", NULL, LODE_EVENT_RECORDED, NULL, 0);
	lode_profile_event(profile, misses)->is_attribute = true;
	*out_cycles = lode_profile_add_event(
		profile, "cycles", NULL, LODE_EVENT_DERIVED, terms, G_N_ELEMENTS(terms));
	for (int n = g_rand_int_range(rand, 1, 5); n > 0; n--)
		add_random_function(rand, profile, misses);
	add_random_edges(rand, profile);
	return profile;
}

static void test_round_trip_binary(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(2));

	for (unsigned i = 0; i < random_rounds(200, 2000); i++) {
		uint32_t cycles;
		g_autoptr(LodeProfile) profile = random_binary_profile(rand, &cycles);
		check_round_trip(profile, cycles, 0.01);
		check_round_trip(profile, 0, 0.01);
		check_round_trip(profile, 1, 0.5);
	}
}

/* Calls stay out, edges with the same ends become one, rare events give no attribute. */
static void test_write_binary(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	LodeFunction function = {
		.name = lode_profile_intern(profile, "f(int, char)"), .n_instructions = 2};
	uint32_t op = lode_profile_attribute(profile, "op:jne");
	uint32_t set = lode_profile_attribute_set(profile, &op, 1);
	LodeInstruction instructions[] = {{0x10, 100, 60, 0, LODE_NONE, set, LODE_NONE, 0, NULL},
		{0x12, 100, -1, 0, LODE_NONE, set, LODE_NONE, 0, NULL}};
	LodeEdge edges[] = {{0, 1, LODE_EDGE_TAKEN, 40}, {1, 0, LODE_EDGE_CALL, 7},
		{1, 0, LODE_EDGE_RETURN, 7}, {1, 1, LODE_EDGE_REPEAT, 9}};

	lode_profile_add_event(profile, "instructions", NULL, LODE_EVENT_COUNT, NULL, 0);
	lode_profile_add_event(profile, "miss", NULL, LODE_EVENT_RECORDED, NULL, 0);
	lode_profile_event(profile, 1)->is_attribute = true;
	LodeCost costs[] = {{1, 1}, {1, 0.5}};
	uint32_t starts[] = {1, 2};
	g_array_append_val(profile->code.functions, function);
	g_array_append_vals(profile->code.instructions, instructions, 2);
	g_array_append_vals(profile->code.edges, edges, 4);
	g_array_append_vals(profile->code.costs, costs, 2);
	g_array_append_vals(profile->code.cost_starts, starts, 2);
	g_autofree char *text = write_text(profile, 0, 0.01);
	g_assert_cmpstr(text, ==,
		"lode-flow 1\nevent instructions\ngraph f(int,%20char)\n"
		"v 0x10 100 100 ev:miss op:jne\nv 0x12 100 100 op:jne\n"
		"e 0x10 0x12 100\ne 0x12 0x12 9\n"
		"x 0x10 miss 1\nx 0x12 miss 0.5\n");
}

/* The attribute of weight at its cause has the event's plain name. */
static void test_write_cause(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const LodeFunction function = {
		.name = lode_profile_intern(profile, "f"), .n_instructions = 1};
	const LodeInstruction instruction = {0x10, 100, -1, 0, LODE_NONE,
		lode_profile_attribute_set(profile, NULL, 0), LODE_NONE, 0, NULL};
	const LodeCost cost = {1, 5};
	const uint32_t end = 1;

	lode_profile_add_event(profile, "instructions", NULL, LODE_EVENT_COUNT, NULL, 0);
	lode_profile_add_event(profile, "miss:cause", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_event(profile, 1)->is_attribute = true;
	g_array_append_val(profile->code.functions, function);
	g_array_append_val(profile->code.instructions, instruction);
	g_array_append_val(profile->code.costs, cost);
	g_array_append_val(profile->code.cost_starts, end);
	g_autofree char *text = write_text(profile, 0, 0.01);
	g_assert_cmpstr(text, ==,
		"lode-flow 1\nevent instructions\ngraph f\nv 0x10 100 100 ev:miss\n"
		"x 0x10 miss:cause 5\n");
}

/* Counted events have an attribute for each rate that they reach; estimates only the first one. */
static void test_write_grades(void)
{
	static const struct {
		LodeFrequency frequency;
		LodeEventKind kind;
		double value;
		const char *attributes;
	} cases[] = {
		{LODE_FREQUENCY_EXACT, LODE_EVENT_RECORDED, 9, "ev:miss"},
		{LODE_FREQUENCY_EXACT, LODE_EVENT_RECORDED, 10, "ev:miss ev:miss:10"},
		{LODE_FREQUENCY_EXACT, LODE_EVENT_RECORDED, 50, "ev:miss ev:miss:10 ev:miss:50"},
		{LODE_FREQUENCY_EXACT, LODE_EVENT_SAMPLED, 50, "ev:miss"},
		{LODE_FREQUENCY_INFERRED, LODE_EVENT_RECORDED, 50, "ev:miss"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = lode_profile_new();
		const LodeFunction function = {
			.name = lode_profile_intern(profile, "f"), .n_instructions = 1};
		const LodeInstruction instruction = {0x10, 100, -1, 0, LODE_NONE,
			lode_profile_attribute_set(profile, NULL, 0), LODE_NONE, 0, NULL};
		const LodeCost cost = {1, cases[i].value};
		const uint32_t end = 1;
		g_autofree char *vertex = g_strdup_printf(
			"\nv 0x10 100 100 %s\n", cases[i].attributes);

		profile->run.frequency = cases[i].frequency;
		lode_profile_add_event(profile, "instructions", NULL, LODE_EVENT_COUNT, NULL, 0);
		lode_profile_add_event(profile, "miss", NULL, cases[i].kind, NULL, 0);
		lode_profile_event(profile, 1)->is_attribute = true;
		g_array_append_val(profile->code.functions, function);
		g_array_append_val(profile->code.instructions, instruction);
		g_array_append_val(profile->code.costs, cost);
		g_array_append_val(profile->code.cost_starts, end);
		g_autofree char *text = write_text(profile, 0, 0.01);
		g_assert_nonnull(strstr(text, vertex));
	}
}

static void test_write_bad_number(void)
{
	g_autoptr(LodeProfile) profile = read_text("lode-flow 1\ngraph g\nv a 1 1\n");
	g_autoptr(GError) error = NULL;
	FILE *out = fopen("/dev/null", "w");

	lode_profile_instruction(profile, 0)->count = NAN;
	g_assert_false(lode_flow_file_write(profile, 1, 0.01, out, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	fclose(out);
}

/* ---- compressed files ---- */

static GBytes *compress(const char *text, size_t size)
{
	size_t bound = ZSTD_compressBound(size);
	char *data = g_malloc(bound);
	size_t compressed = ZSTD_compress(data, bound, text, size, 3);

	g_assert_false(ZSTD_isError(compressed));
	return g_bytes_new_take(data, compressed);
}

static void test_compressed(void)
{
	g_autoptr(GBytes) bytes = compress(example, sizeof(example) - 1);
	g_autoptr(GByteArray) twice = g_byte_array_new();
	g_autoptr(LodeProfile) plain = read_text(example);
	size_t size;
	const uint8_t *data = g_bytes_get_data(bytes, &size);

	g_autoptr(LodeProfile) profile = read_bytes(data, size, NULL);
	g_assert_nonnull(profile);
	g_autofree char *expected = write_text(plain, 1, 0.01);
	g_autofree char *found = write_text(profile, 1, 0.01);
	g_assert_cmpstr(found, ==, expected);

	/* Several frames are one text: here the second starts with a wrong record. */
	g_byte_array_append(twice, data, (guint)size);
	g_byte_array_append(twice, data, (guint)size);
	g_autoptr(GError) error = NULL;
	g_assert_null(read_bytes(twice->data, twice->len, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "line 17: unknown record 'lode-flow'"));
}

static void test_compressed_broken(void)
{
	g_autoptr(GBytes) bytes = compress(example, sizeof(example) - 1);
	size_t size;
	const char *data = g_bytes_get_data(bytes, &size);

	for (size_t cut = 0; cut < size; cut++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(read_bytes(data, cut, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	}
	for (size_t at = 4; at < size; at++) {
		g_autofree char *bad = g_memdup2(data, size);
		g_autoptr(GError) error = NULL;
		bad[at] = (char)(bad[at] ^ 0x55);
		g_autoptr(LodeProfile) profile = read_bytes(bad, size, &error);
		g_assert_true((profile == NULL) == (error != NULL));
	}
}

/* A frame of one raw block, "lode-flow 1", whose header asks for a window of 2^log bytes. */
static LodeProfile *read_window(int log, GError **error)
{
	static const char text[] = "lode-flow 1\n";
	g_autoptr(GByteArray) frame = g_byte_array_new();
	const uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, (uint8_t)((log - 10) << 3),
		(sizeof(text) - 1) << 3 | 1, 0, 0};

	g_byte_array_append(frame, head, sizeof(head));
	g_byte_array_append(frame, (const uint8_t *)text, sizeof(text) - 1);
	return read_bytes(frame->data, frame->len, error);
}

static void test_window(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) small = read_window(20, &error);

	g_assert_no_error(error);
	g_assert_nonnull(small);
	g_assert_null(read_window(29, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_nonnull(strstr(error->message, "memory"));
}

/* 64 MiB of empty lines in a few kilobytes. */
static void test_bomb(void)
{
	size_t text_size = (size_t)64 << 20;
	g_autofree char *text = g_malloc(text_size);
	g_autoptr(GError) error = NULL;
	size_t size, length;
	const char *line;
	int found;

	memset(text, '\n', text_size);
	g_autoptr(GBytes) bytes = compress(text, text_size);
	const void *data = g_bytes_get_data(bytes, &size);
	g_autofree char *path = write_file(data, size);
	g_autoptr(LodeTextLines) lines = lode_text_lines_open(path, text_size - 1, NULL, &error);
	g_assert_nonnull(lines);
	while ((found = lode_text_lines_next(lines, &line, &length, &error)) > 0)
		;
	g_unlink(path);
	g_assert_cmpint(found, ==, -1);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_nonnull(strstr(error->message, "decompresses to more than"));
	g_assert_cmpuint(size, <, 1 << 20);
}

static void test_long_line(void)
{
	size_t size = LODE_TEXT_LINES_MAX_LENGTH + ((size_t)4 << 20);
	g_autofree char *text = g_malloc(size);
	g_autoptr(GError) error = NULL;

	memset(text, 'a', size);
	memcpy(text, "lode-flow 1\ngraph ", 18);
	text[(size_t)9 << 20] = '\n';
	text[size - 1] = '\n';
	g_assert_null(read_bytes(text, size - ((size_t)10 << 20), &error));
	/* A name of 9 MiB is one, and in the message it is short. */
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_cmpuint(strlen(error->message), <, 400);
	g_clear_error(&error);
	text[(size_t)9 << 20] = 'a';
	g_assert_null(read_bytes(text, size, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_nonnull(strstr(error->message, "line 2: longer than"));
}

/* Lines that lie across blocks, with and without a last line feed. */
static void test_many_lines(void)
{
	g_autoptr(GString) text = g_string_new("lode-flow 1\ngraph g\n");

	for (int i = 0; i < 100000; i++)
		g_string_append_printf(text, "v vertex-%d %d 1 op:a%d\n", i, i, i % 977);
	for (int i = 1; i < 100000; i++)
		g_string_append_printf(text, "e vertex-%d vertex-%d 1\n", i - 1, i);
	g_string_truncate(text, text->len - 1);
	g_autoptr(LodeProfile) profile = read_text(text->str);
	g_assert_cmpuint(profile->code.instructions->len, ==, 100000);
	g_assert_cmpuint(profile->code.edges->len, ==, 0);
	g_assert_cmpuint(profile->code.attributes->len, ==, 977);
	g_assert_cmpstr(vertex(profile, 99999)->name, ==, "vertex-99999");
	g_assert_cmpfloat(profile->run.inflow_equal, ==, 99999);
	g_assert_cmpuint(lode_profile_function(profile, 0)->n_blocks, ==, 1);
}

/* ---- what the system refuses ---- */

static void test_full_disk(void)
{
	g_autoptr(LodeProfile) profile = read_text(example);
	g_autoptr(GError) error = NULL;
	FILE *full = fopen("/dev/full", "w");

	if (full == NULL) {
		g_test_skip("there is no /dev/full");
		return;
	}
	g_assert_false(lode_flow_file_write(profile, 1, 0.01, full, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, "No space left"));
	fclose(full);
}

/* Runs `body` in a child with a limit set; its result is whether all went as it should. */
static bool run_limited(
	__rlimit_resource_t resource, rlim_t value, bool (*body)(const char *), const char *path)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct rlimit limit = {value, value};
		signal(SIGXFSZ, SIG_IGN);
		_exit(setrlimit(resource, &limit) == 0 && body(path) ? 0 : 1);
	}
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static char *large_text(size_t *out_size)
{
	GString *text = g_string_new("lode-flow 1\ngraph g\n");

	for (int i = 0; i < 300000; i++)
		g_string_append_printf(text, "v %d 1 1\n", i);
	*out_size = text->len;
	return g_string_free(text, FALSE);
}

static bool write_is_refused(const char *path)
{
	g_autoptr(LodeProfile) profile = lode_flow_file_read(path, NULL, NULL);
	g_autofree char *target = g_strconcat(path, ".out", NULL);
	g_autoptr(GError) error = NULL;
	FILE *out = fopen(target, "w");

	g_unlink(target);
	return profile != NULL && out != NULL &&
	       !lode_flow_file_write(profile, 1, 0.01, out, &error) &&
	       g_error_matches(error, LODE_ERROR, LODE_ERROR_IO);
}

static void test_short_write(void)
{
	size_t size;
	g_autofree char *text = large_text(&size);
	g_autofree char *path = write_file(text, size);
	bool is_refused = run_limited(RLIMIT_FSIZE, 100000, write_is_refused, path);

	g_unlink(path);
	g_assert_true(is_refused);
}

static bool read_is_refused(const char *path)
{
	g_autoptr(GError) error = NULL;
	LodeProfile *profile = lode_flow_file_read(path, NULL, &error);

	return profile == NULL && g_error_matches(error, LODE_ERROR, LODE_ERROR_LIMIT);
}

static rlim_t address_space_now(void)
{
	g_autofree char *text = NULL;

	g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
	return (rlim_t)(g_ascii_strtoull(text, NULL, 10) * (guint64)sysconf(_SC_PAGESIZE));
}

/* Sanitizers need an address space of their own. */
static bool has_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

/* Too little memory ends in an error, not in an abort. */
static void test_little_memory(void)
{
	size_t size;

	if (has_sanitizer()) {
		g_test_skip("a sanitizer is there");
		return;
	}
	g_autofree char *text = large_text(&size);
	g_autofree char *path = write_file(text, size);
	rlim_t limit = address_space_now() + ((rlim_t)64 << 20);
	bool is_refused = run_limited(RLIMIT_AS, limit, read_is_refused, path);
	g_unlink(path);
	g_assert_true(is_refused);
}

/* A pipe gives its bytes in small pieces. */
static void *feed_pipe(void *data)
{
	FILE *out = fopen(data, "w");

	for (size_t i = 0; i < sizeof(example) - 1; i++) {
		fputc(example[i], out);
		fflush(out);
	}
	fclose(out);
	return NULL;
}

static void test_short_reads(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "pipe", NULL);
	g_autoptr(GError) error = NULL;

	g_assert_cmpint(mkfifo(path, 0600), ==, 0);
	GThread *writer = g_thread_new("writer", feed_pipe, path);
	g_autoptr(LodeProfile) profile = lode_flow_file_read(path, NULL, &error);
	g_thread_join(writer);
	g_unlink(path);
	g_rmdir(directory);
	g_assert_no_error(error);
	g_assert_cmpuint(profile->code.instructions->len, ==, 4);
}

static void test_cancelled(void)
{
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	LodeProgress progress = {.cancellable = cancellable};
	g_autofree char *path = write_file(example, sizeof(example) - 1);
	g_autoptr(GError) error = NULL;

	g_cancellable_cancel(cancellable);
	g_assert_null(lode_flow_file_read(path, &progress, &error));
	g_unlink(path);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
}

/* ---- a real program ---- */

static char *shared_file(const char *name)
{
	const char *data = g_getenv("LODE_SHARED_DATA");
	const char *root = g_getenv("LODE_SOURCE_ROOT");

	if (data != NULL)
		return g_build_filename(data, name, NULL);
	return g_build_filename(root != NULL ? root : ".", "..", "shared", "data", name, NULL);
}

static void test_sqlite(void)
{
	g_autofree char *path = shared_file("flow/sqlite_shell.flow.zst");
	g_autoptr(GError) error = NULL;
	guint edges = 0;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_test_skip("no sqlite_shell.flow.zst; LODE_SHARED_DATA says where it is");
		return;
	}
	g_autoptr(LodeProfile) profile = lode_flow_file_read(path, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(profile->code.functions->len, ==, 480);
	g_assert_cmpuint(profile->code.instructions->len, ==, 40644);
	for (guint i = 0; i < profile->code.instructions->len; i++)
		edges += vertex(profile, i)->next_count >= 0;
	g_assert_cmpuint(edges + profile->code.edges->len, ==, 41494);
	g_assert_cmpstr(lode_profile_image(profile, 0)->path, ==, "sqlite_shell.flow.zst");
	check_round_trip(profile, profile->code.weight_event, 0.01);
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "");
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/flow-file/records", test_records);
	g_test_add_func("/flow-file/flow", test_flow);
	g_test_add_func("/flow-file/events", test_events);
	g_test_add_func("/flow-file/event-names", test_event_names);
	g_test_add_func("/flow-file/blocks", test_blocks);
	g_test_add_func("/flow-file/errors", test_errors);
	g_test_add_func("/flow-file/windows", test_windows);
	g_test_add_func("/flow-file/long-names", test_long_names);
	g_test_add_func("/flow-file/first-line", test_first_line);
	g_test_add_func("/flow-file/nul", test_nul);
	g_test_add_func("/flow-file/is-format", test_is_format);
	g_test_add_func("/flow-file/numbers", test_numbers);
	g_test_add_func("/flow-file/random-numbers", test_random_numbers);
	g_test_add_func("/flow-file/round-trip/given", test_round_trip_given);
	g_test_add_func("/flow-file/round-trip/binary", test_round_trip_binary);
	g_test_add_func("/flow-file/write/binary", test_write_binary);
	g_test_add_func("/flow-file/write/cause", test_write_cause);
	g_test_add_func("/flow-file/write/grades", test_write_grades);
	g_test_add_func("/flow-file/write/bad-number", test_write_bad_number);
	g_test_add_func("/flow-file/compressed/whole", test_compressed);
	g_test_add_func("/flow-file/compressed/broken", test_compressed_broken);
	g_test_add_func("/flow-file/compressed/window", test_window);
	g_test_add_func("/flow-file/compressed/bomb", test_bomb);
	g_test_add_func("/flow-file/long-line", test_long_line);
	g_test_add_func("/flow-file/many-lines", test_many_lines);
	g_test_add_func("/flow-file/system/full-disk", test_full_disk);
	g_test_add_func("/flow-file/system/short-write", test_short_write);
	g_test_add_func("/flow-file/system/little-memory", test_little_memory);
	g_test_add_func("/flow-file/system/short-reads", test_short_reads);
	g_test_add_func("/flow-file/system/cancelled", test_cancelled);
	g_test_add_func("/flow-file/real/sqlite", test_sqlite);
	return g_test_run();
}
