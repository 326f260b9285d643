/* SPDX-License-Identifier: MIT */
/* The agent inside a Java virtual machine: what it writes, and that the program does not notice. */
#include "images/code/control_flow.h"
#include "images/elf/binary_image.h"
#include "sources/code/jitdump.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>

typedef struct {
	char *directory, *source, *output, *messages;
	uint64_t limit_bytes; /* of a file; 0: none */
	int status;
	bool can_run;
} Fixture;

/* The walk over the list is on the lines 4 to 6, and in no inner loop there is anything else. */
static const char walking[] =
	"import java.util.Random; class Node { Node next; int value; }\n"
	"public class Program {\n"
	"  static int find(Node head, int wanted) { int steps = 0;\n"
	"    for (Node n = head; n != null; n = n.next) {\n"
	"      if (n.value == wanted) return steps;\n"
	"      steps++; }\n"
	"    return -1; }\n"
	"  static long serve(Node head, Random random, int requests, int size) {\n"
	"    long sum = 0;\n"
	"    for (int i = 0; i < requests; i++)\n"
	"      sum += find(head, random.nextInt(size));\n"
	"    return sum; }\n"
	"  public static void main(String[] arguments) {\n"
	"    Node head = null;\n"
	"    for (int i = 0; i < 30; i++) { Node n = new Node(); n.value = i; n.next = head;\n"
	"      head = n; }\n"
	"    Random random = new Random(7); long sum = 0;\n"
	"    for (int k = 0; k < 300; k++) sum += serve(head, random, 3000, 30);\n"
	"    for (int k = 0; k < 300; k++)\n"
	"      sum += java.util.stream.IntStream.range(0, 3000).map(x -> x ^ 7).sum();\n"
	"    System.out.println(\"sum \" + sum); } }\n";

static const char program[] = "public class Program {\n"
			      "  static int mix(int[] a) {\n"
			      "    int s = 0;\n"
			      "    for (int i = 0; i < a.length; i++)\n"
			      "      s += (a[i] = a[i] * 31 + i) / 7;\n"
			      "    return s; }\n"
			      "  static int twice(int[] a) { return mix(a) + mix(a); }\n"
			      "  public static void main(String[] arguments) throws Exception {\n"
			      "    Thread other = new Thread(() -> { int[] b = new int[512];\n"
			      "      for (int i = 0; i < 3000; i++) twice(b); });\n"
			      "    other.start();\n"
			      "    int[] a = new int[4096];\n"
			      "    int s = 0;\n"
			      "    for (int i = 0; i < 3000; i++) s += twice(a);\n"
			      "    other.join();\n"
			      "    System.out.println(\"sum \" + s); } }\n";

static void set_limit(void *data)
{
	const Fixture *self = data;
	struct rlimit limit = {self->limit_bytes, self->limit_bytes};

	if (self->limit_bytes > 0)
		setrlimit(RLIMIT_FSIZE, &limit);
}

/* Runs a program in the directory; false when it cannot be started. */
static bool run(Fixture *self, const char *const *arguments)
{
	g_clear_pointer(&self->output, g_free);
	g_clear_pointer(&self->messages, g_free);
	return g_spawn_sync(self->directory, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH,
		set_limit, self, &self->output, &self->messages, &self->status, NULL);
}

/* `option`: of the virtual machine. */
static bool run_with_agent_and(Fixture *self, const char *options, const char *option)
{
	g_autofree char *agent = g_strdup_printf(
		"-agentpath:%s%s", g_getenv("LODE_JVM_AGENT"), options);
	const char *const arguments[] = {"java", agent, option, "-cp", ".", "Program", NULL};

	return run(self, arguments);
}

static bool run_with_agent(Fixture *self, const char *options)
{
	return run_with_agent_and(self, options, "-Dprogram=Program");
}

static void write_source(Fixture *self, const char *text)
{
	const char *const compile[] = {"javac", "-g", "Program.java", NULL};
	uint64_t limit_bytes = self->limit_bytes;

	g_assert_true(g_file_set_contents(self->source, text, -1, NULL));
	self->limit_bytes = 0;
	self->can_run = run(self, compile) && self->status == 0;
	self->limit_bytes = limit_bytes;
}

static void set_up(Fixture *self, const void *data)
{
	char *source;

	self->limit_bytes = GPOINTER_TO_UINT(data);
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	source = g_build_filename(self->directory, "Program.java", NULL);
	self->source = source;
	write_source(self, program);
	if (!self->can_run)
		g_test_skip("no javac");
}

static void tear_down(Fixture *self, const void *data)
{
	const char *argv[] = {"rm", "-rf", self->directory, NULL};

	(void)data;
	g_spawn_sync(
		NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
	g_free(self->directory);
	g_free(self->source);
	g_free(self->output);
	g_free(self->messages);
}

static LodeJitdump *open_dump(const Fixture *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		g_autoptr(GError) error = NULL;
		if (!g_str_has_prefix(name, "jit-"))
			continue;
		LodeJitdump *dump = lode_jitdump_open(path, &error);
		g_assert_no_error(error);
		return dump;
	}
	g_error("no dump");
}

static const LodeJitUnit *find_unit(const LodeJitdump *dump, const char *name)
{
	const LodeJitUnit *found = NULL;

	for (guint i = 0; i < dump->units->len; i++) {
		const LodeJitUnit *unit = &g_array_index(dump->units, LodeJitUnit, i);
		if (g_str_has_prefix(unit->name, name))
			found = unit;
	}
	return found;
}

static void check_lines(const LodeJitdump *dump, const LodeJitUnit *unit)
{
	bool has_body = false;

	for (guint i = 0; i < unit->n_lines; i++) {
		const LodeJitLine *line = &g_array_index(
			dump->lines, LodeJitLine, unit->first_line + i);
		g_assert_cmpuint(line->discriminator, ==, LODE_JIT_LINE_BACK);
		if (line->line == 0)
			continue;
		g_assert_cmpstr(line->file, ==, "Program.java");
		g_assert_cmpuint(line->line, >=, 3);
		g_assert_cmpuint(line->line, <=, 6);
		has_body |= line->line == 5;
	}
	g_assert_true(has_body);
}

static void test_dump(Fixture *self, const void *data)
{
	(void)data;
	if (!self->can_run)
		return;
	g_assert_true(run_with_agent(self, ""));
	g_assert_cmpint(self->status, ==, 0);
	g_assert_true(g_str_has_prefix(self->output, "sum "));
	g_assert_cmpstr(self->messages, ==, "");
	g_autoptr(LodeJitdump) dump = open_dump(self);
	g_assert_false(dump->is_truncated);
	g_assert_cmpuint(dump->n_unknown_records + dump->n_broken_lines + dump->n_ignored, ==, 0);
	g_assert_nonnull(find_unit(dump, "Interpreter"));
	g_assert_nonnull(find_unit(dump, "call_stub"));
	const LodeJitUnit *mix = find_unit(dump, "Program.mix(int[])");
	g_assert_nonnull(mix);
	check_lines(dump, mix);
}

/* The lines of a unit's innermost loops, where a walk over the list is alone. */
static guint check_walk(LodeBinaryImage *image, const LodeJitUnit *unit)
{
	g_auto(LodeControlFlow) flow;
	guint n_known = 0;
	size_t n;
	const uint8_t *code = lode_binary_image_bytes(image, unit->code_offset, &n);
	bool is_whole = strstr(unit->name, ".find") != NULL;

	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, code, n, unit->code_offset, NULL);
	for (guint i = 0; i < flow.instructions->len; i++) {
		const LodeStaticInstruction *one = &g_array_index(
			flow.instructions, LodeStaticInstruction, i);
		LodeBinaryLocation location;
		lode_binary_image_locate(image, &one->address, 1, &location);
		/* What gives the frame back is of no line. */
		if (one->decoded.branch == LODE_BRANCH_RETURN && location.line > 0)
			g_assert_cmpstr(location.file, ==, "Program.java");
		if (g_array_index(flow.blocks, LodeStaticBlock, one->block).loop_depth <
				(is_whole ? 1 : 2) ||
			location.line == 0)
			continue;
		g_assert_cmpstr(location.file, ==, "Program.java");
		g_assert_cmpuint(location.line, >=, 4);
		g_assert_cmpuint(location.line, <=, 6);
		n_known++;
	}
	return n_known;
}

/* All that is inlined into serve() is called from its line 11. Gives how many lines are inlined. */
static guint check_calls(const LodeJitdump *dump, const LodeJitUnit *unit)
{
	guint n = 0;

	for (guint i = 0; i < unit->n_lines; i++) {
		uint32_t at = g_array_index(dump->lines, LodeJitLine, unit->first_line + i).call;
		if (at == LODE_JIT_NO_CALL)
			continue;
		const LodeJitCall *call = &g_array_index(dump->calls, LodeJitCall, at);
		while (call->outer != LODE_JIT_NO_CALL)
			call = &g_array_index(dump->calls, LodeJitCall, call->outer);
		g_assert_cmpstr(call->file, ==, "Program.java");
		g_assert_cmpuint(call->line, ==, 11);
		g_assert_true(g_str_equal(call->function, "Program.find(Node, int)") ||
			      g_str_equal(call->function, "java.util.Random.nextInt(int)"));
		n++;
	}
	return n;
}

static void test_walk(Fixture *self, const void *data)
{
	guint n_known = 0, n_inlined = 0;

	(void)data;
	write_source(self, walking);
	if (!self->can_run)
		return;
	g_assert_true(run_with_agent(self, ""));
	g_assert_cmpint(self->status, ==, 0);
	g_autoptr(LodeJitdump) dump = open_dump(self);
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(dump->path, NULL, NULL);
	for (guint i = 0; i < dump->units->len; i++) {
		const LodeJitUnit *unit = &g_array_index(dump->units, LodeJitUnit, i);
		if (g_str_has_prefix(unit->name, "Program.find") ||
			g_str_has_prefix(unit->name, "Program.serve"))
			n_known += check_walk(image, unit);
		if (g_str_has_prefix(unit->name, "Program.serve"))
			n_inlined += check_calls(dump, unit);
	}
	g_assert_cmpuint(n_known, >, 5);
	g_assert_cmpuint(n_inlined, >, 0);
	/* Methods without lines, of lambda expressions, are in no chain. */
	for (guint i = 0; i < dump->calls->len; i++) {
		const LodeJitCall *call = &g_array_index(dump->calls, LodeJitCall, i);
		g_assert_true(call->outer == LODE_JIT_NO_CALL || call->file != NULL);
		g_assert_null(strstr(call->function, "$$Lambda"));
	}
}

/* Names of methods end with the tier, where the virtual machine describes its structs so: 0 for
 * bytecodes, which have the lines of the source, the first at the first. */
static void check_tiers(Fixture *self, const char *option, const char *tier, const char *osr)
{
	guint n = 0, n_tiers = 0, n_bytecodes = 0;

	g_assert_true(run_with_agent_and(self, "", option));
	g_assert_cmpint(self->status, ==, 0);
	g_autoptr(LodeJitdump) dump = open_dump(self);
	for (guint i = 0; i < dump->units->len; i++) {
		const LodeJitUnit *unit = &g_array_index(dump->units, LodeJitUnit, i);
		const char *name = unit->name;
		if (!g_str_has_prefix(name, "Program."))
			continue;
		if (g_str_has_suffix(name, " [tier 0]")) {
			const LodeJitLine *line = &g_array_index(
				dump->lines, LodeJitLine, unit->first_line);
			g_assert_cmpuint(unit->n_lines, >, 0);
			g_assert_cmpuint(line->address, ==, 0);
			g_assert_cmpstr(line->file, ==, "Program.java");
			n_bytecodes++;
			continue;
		}
		n++;
		n_tiers += g_str_has_suffix(name, tier) || g_str_has_suffix(name, osr);
	}
	g_unlink(dump->path);
	g_assert_cmpuint(n, >, 0);
	if (n_tiers == 0)
		g_test_skip("this virtual machine describes its methods in another way");
	else
		g_assert_cmpuint(n_tiers, ==, n);
	g_assert_cmpuint(n_bytecodes, >, n_tiers > 0 ? 2 : 0);
}

static void test_tiers(Fixture *self, const void *data)
{
	(void)data;
	if (!self->can_run)
		return;
	check_tiers(self, "-XX:TieredStopAtLevel=1", " [tier 1]", " [tier 1, OSR]");
	check_tiers(self, "-XX:-TieredCompilation", " [tier 4]", " [tier 4, OSR]");
}

static void test_no_directory(Fixture *self, const void *data)
{
	(void)data;
	if (!self->can_run)
		return;
	g_assert_true(run_with_agent(self, "=/nonexistent"));
	g_assert_cmpint(self->status, ==, 0);
	g_assert_true(g_str_has_prefix(self->output, "sum "));
	g_assert_nonnull(strstr(self->messages, "in '/nonexistent': No such file or directory\n"));
}

/* A file that may not grow stands for a full disk. */
static void test_full_disk(Fixture *self, const void *data)
{
	const char *warning;

	(void)data;
	if (!self->can_run)
		return;
	g_assert_true(run_with_agent(self, ""));
	g_assert_cmpint(self->status, ==, 0);
	g_assert_true(g_str_has_prefix(self->output, "sum "));
	warning = strstr(self->messages, "cannot write its dump");
	g_assert_nonnull(warning);
	g_assert_null(strstr(warning + 1, "cannot write its dump"));
	g_autoptr(LodeJitdump) dump = open_dump(self);
	g_assert_false(dump->is_truncated);
	g_assert_cmpuint(dump->units->len, >, 10);
	g_assert_cmpuint(dump->size, <=, self->limit_bytes);
}

#define ADD(name, limit, test)                                                                     \
	g_test_add("/jvm_agent/" name, Fixture, GUINT_TO_POINTER(limit), set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("dump", 0, test_dump);
	ADD("walk", 0, test_walk);
	ADD("tiers", 0, test_tiers);
	ADD("no_directory", 0, test_no_directory);
	ADD("full_disk", 100 << 10, test_full_disk);
	return g_test_run();
}
