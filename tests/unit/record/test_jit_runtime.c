/* SPDX-License-Identifier: MIT */
/*
 * What is run in place of node and java. With LODE_LONG_TESTS in the environment also that what is
 * counted of the real ones has nearly all of its anonymous instructions in code that the dumps
 * describe.
 */
#include "record/programs/jit_runtime.h"

#include "ingest/traced/counted_recording.h"
#include "model/index.h"
#include "record/qemu/count_run.h"
#include "sources/code/jit_code_set.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	char *old_directory, *old_path;
	char *directory; /* where the program starts */
	char *recording; /* where dumps go */
} Fixture;

static void write_file(const char *name, const char *text)
{
	g_assert_true(g_file_set_contents(name, text, -1, NULL));
}

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->old_directory = g_get_current_dir();
	self->old_path = g_strdup(g_getenv("PATH"));
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->recording = g_dir_make_tmp("lode-test-100%p-XXXXXX", NULL);
	g_assert_cmpint(g_chdir(self->directory), ==, 0);
}

static void remove_directory(char *path)
{
	const char *argv[] = {"rm", "-rf", path, NULL};

	g_spawn_sync(
		NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
	g_free(path);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_setenv("PATH", self->old_path, TRUE);
	g_assert_cmpint(g_chdir(self->old_directory), ==, 0);
	remove_directory(self->directory);
	remove_directory(self->recording);
	g_free(self->old_directory);
	g_free(self->old_path);
}

/* Puts a program of that name first in PATH, and `alias`, a link to it. */
static void make_program(const Fixture *self, const char *name, const char *alias)
{
	g_autofree char *path = g_strconcat(self->directory, ":", self->old_path, NULL);

	write_file(name, "#!/bin/sh\n");
	g_assert_cmpint(g_chmod(name, 0755), ==, 0);
	g_assert_cmpint(symlink(name, alias), ==, 0);
	g_setenv("PATH", path, TRUE);
}

static void check_argv(const LodeJitRuntime *runtime, const char *expected)
{
	g_autofree char *text = g_strjoinv(" ", (char **)runtime->argv->pdata);

	g_assert_cmpstr(text, ==, expected);
}

static LodeJitRuntime *prepare(const Fixture *self, const char *command)
{
	g_auto(GStrv) argv = g_strsplit(command, " ", -1);

	return lode_jit_runtime_prepare((const char *const *)argv, self->recording, 0);
}

static void test_other_program(Fixture *self, const void *data)
{
	g_autoptr(LodeJitRuntime) runtime = prepare(self, "sh -c node");
	g_autoptr(LodeJitRuntime) missing = prepare(self, "no-such-program x");

	(void)data;
	g_assert_null(runtime->name);
	g_assert_null(runtime->warning);
	check_argv(runtime, "sh -c node");
	g_assert_null(missing->name);
	check_argv(missing, "no-such-program x");
}

static void test_node_arguments(Fixture *self, const void *data)
{
	g_auto(GStrv) parts = g_strsplit(self->recording, "%", -1);
	g_autofree char *escaped = g_strjoinv("%%", parts);
	g_autofree char *start = g_strdup_printf("runner --perf-prof --logfile=%s/v8.log", escaped);
	g_autofree char *sampled = g_strconcat(start, " a.js -x", NULL);

	(void)data;
	make_program(self, "node", "runner");
	g_autoptr(LodeJitRuntime) plain = prepare(self, "runner a.js -x");
	g_assert_cmpstr(plain->name, ==, "Node.js");
	check_argv(plain, sampled);
	/* who asks for a dump gets it where node puts it */
	g_autoptr(LodeJitRuntime) own = prepare(self, "runner --perf-prof a.js");
	check_argv(own, "runner --perf-prof a.js");
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	write_file("jit-12.dump", "");
	lode_jit_runtime_add_mapping(own, 12, "jit-12.dump");
	lode_jit_runtime_collect(own, files);
	g_assert_cmpuint(files->len, ==, 1);
	g_assert_true(g_file_test("jit-12.dump", G_FILE_TEST_EXISTS));
}

/* An interpreter that the first line of a script names is run with the script; a program that env
 * starts is known. */
static void test_interpreters(Fixture *self, const void *data)
{
	static const struct {
		const char *text, *command;
		const char *prefix, *options, *suffix; /* NULL: the command stays as it is */
	} cases[] = {
		{"#!/usr/bin/env node\nx", "tool -x", "node", "", " -x"},
		{"#! /usr/bin/env -S node --no-warnings\n", "tool", "node", " --no-warnings", ""},
		{"#!/usr/bin/env node\n", "env A=b B= tool y", "env A=b B= node", "", " y"},
		{"#!/usr/bin/env nodes\n", "tool -x", NULL, NULL, NULL},
		{"#!/bin/sh\nnode\n", "tool -x", NULL, NULL, NULL},
		{"#!\n", "tool -x", NULL, NULL, NULL},
		{"", "env -i tool", NULL, NULL, NULL},
		{"", "env", NULL, NULL, NULL},
		{"", "env A=b", NULL, NULL, NULL},
	};
	g_auto(GStrv) parts = g_strsplit(self->recording, "%", -1);
	g_autofree char *escaped = g_strjoinv("%%", parts);
	g_autofree char *script = g_build_filename(self->directory, "tool", NULL);
	g_autofree char *direct = g_strdup_printf(
		"env A=b node --perf-prof --logfile=%s/v8.log a.js", escaped);

	(void)data;
	make_program(self, "node", "runner");
	g_autoptr(LodeJitRuntime) by_env = prepare(self, "env A=b node a.js");
	check_argv(by_env, direct);
	make_program(self, "tool", "other");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		write_file("tool", cases[i].text);
		g_assert_cmpint(g_chmod("tool", 0755), ==, 0);
		g_autoptr(LodeJitRuntime) runtime = prepare(self, cases[i].command);
		g_autofree char *expected =
			cases[i].prefix == NULL
				? g_strdup(cases[i].command)
				: g_strdup_printf("%s --perf-prof --logfile=%s/v8.log%s %s%s",
					  cases[i].prefix, escaped, cases[i].options, script,
					  cases[i].suffix);
		g_assert_cmpstr(runtime->name, ==, cases[i].prefix != NULL ? "Node.js" : NULL);
		check_argv(runtime, expected);
	}
}

/* A script that starts java has the agent in the environment. */
static void test_scripts(Fixture *self, const void *data)
{
	static const struct {
		const char *text;
		bool is_java;
	} cases[] = {
		{"#!/bin/sh\nexec java -cp . Main\n", true},
		{"#!/usr/bin/env bash\n\"$JAVA_HOME/bin/java\" Main\n", true},
		{"#!/bin/sh\nexec javelin\n", false},
		{"#!/usr/bin/env python3\njava\n", false},
		{"exec java\n", false},
		{"#!/bin/sh java", false},
		{"", false},
	};
	g_autofree char *agent = g_build_filename(self->directory, "agent.so", NULL);
	g_autofree char *expected = g_strdup_printf(
		"-Xmx1g \"-agentpath:%s=%s\"", agent, self->recording);
	const char *const given[] = {"A=b", "JDK_JAVA_OPTIONS=-Xss1m", NULL};

	(void)data;
	write_file("agent.so", "");
	g_setenv("LODE_JVM_AGENT", agent, TRUE);
	g_setenv("JDK_JAVA_OPTIONS", "-Xmx1g", TRUE);
	make_program(self, "start", "other");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		write_file("start", cases[i].text);
		g_assert_cmpint(g_chmod("start", 0755), ==, 0);
		g_autoptr(LodeJitRuntime) runtime = prepare(self, "start x");
		g_auto(GStrv) environment = lode_jit_runtime_environment(runtime, given);
		g_assert_null(runtime->name);
		check_argv(runtime, "start x");
		g_assert_true((environment != NULL) == cases[i].is_java);
		g_assert_cmpstr(environment != NULL
					? g_environ_getenv(environment, "JDK_JAVA_OPTIONS")
					: expected,
			==, expected);
		g_assert_cmpstr(
			environment != NULL ? g_environ_getenv(environment, "A") : "b", ==, "b");
	}
	g_unsetenv("JDK_JAVA_OPTIONS");
	g_unsetenv("LODE_JVM_AGENT");
}

static void test_java_arguments(Fixture *self, const void *data)
{
	g_autofree char *agent = g_build_filename(self->directory, "agent.so", NULL);
	g_autofree char *start = g_strdup_printf("java -agentpath:%s=%s", agent, self->recording);
	g_autofree char *sampled = g_strconcat(start, " Main", NULL);
	g_autofree char *with_stacks = g_strdup_printf(
		"java -XX:+PreserveFramePointer -agentpath:%s=heap:%s Main", agent,
		self->recording);

	(void)data;
	make_program(self, "java", "runner");
	g_autofree char *old_agent = g_strdup(g_getenv("LODE_JVM_AGENT"));
	g_setenv("LODE_JVM_AGENT", agent, TRUE);
	g_autoptr(LodeJitRuntime) without = prepare(self, "java Main");
	check_argv(without, "java Main");
	g_assert_nonnull(strstr(without->warning, "liblode-jvm-agent.so, is not installed"));
	write_file("agent.so", "");
	g_autoptr(LodeJitRuntime) plain = prepare(self, "java Main");
	g_assert_null(plain->warning);
	check_argv(plain, sampled);
	const char *argv[] = {"java", "Main", NULL};
	g_autoptr(LodeJitRuntime) stacks = lode_jit_runtime_prepare(
		argv, self->recording, LODE_JIT_CALLS | LODE_JIT_HEAP);
	check_argv(stacks, with_stacks);
	g_unsetenv("LODE_JVM_AGENT");
	if (old_agent != NULL)
		g_setenv("LODE_JVM_AGENT", old_agent, TRUE);
}

/* The tools of a JDK have the same options for the machine that they run in; what is only called
 * like one of them has none. */
static void test_jdk_tools(Fixture *self, const void *data)
{
	g_autofree char *agent = g_build_filename(self->directory, "agent.so", NULL);
	g_autofree char *compiles = g_strdup_printf(
		"javac -J-agentpath:%s=%s A.java", agent, self->recording);
	g_autofree char *evaluates = g_strdup_printf(
		"jshell -J-agentpath:%s=%s -R-agentpath:%s=%s -s", agent, self->recording, agent,
		self->recording);
	g_autofree char *folder = g_build_filename(self->directory, "bin", NULL);
	g_autofree char *path = g_strconcat(folder, ":", self->old_path, NULL);
	g_autofree char *old_agent = g_strdup(g_getenv("LODE_JVM_AGENT"));

	(void)data;
	g_assert_cmpint(g_mkdir("bin", 0755) | g_mkdir("lib", 0755), ==, 0);
	for (const char **name = (const char *[]){"bin/java", "bin/javac", "bin/jshell", NULL};
		*name != NULL; name++) {
		write_file(*name, "no program");
		g_assert_cmpint(g_chmod(*name, 0755), ==, 0);
	}
	write_file("agent.so", "");
	g_setenv("PATH", path, TRUE);
	g_setenv("LODE_JVM_AGENT", agent, TRUE);
	g_autoptr(LodeJitRuntime) other = prepare(self, "javac A.java");
	check_argv(other, "javac A.java");
	write_file("lib/modules", "");
	g_autoptr(LodeJitRuntime) compiler = prepare(self, "javac A.java");
	g_assert_cmpstr(compiler->name, ==, "Java");
	check_argv(compiler, compiles);
	g_autoptr(LodeJitRuntime) shell = prepare(self, "jshell -s");
	check_argv(shell, evaluates);
	g_unsetenv("LODE_JVM_AGENT");
	if (old_agent != NULL)
		g_setenv("LODE_JVM_AGENT", old_agent, TRUE);
}

/* Where it says that it can write elsewhere, it is told where; likewise of code for functions that
 * are interpreted. */
static void test_node_directory(Fixture *self, const void *data)
{
	g_auto(GStrv) parts = g_strsplit(self->recording, "%", -1);
	g_autofree char *escaped = g_strjoinv("%%", parts);
	g_autofree char *expected = g_strdup_printf(
		"runner --perf-prof --interpreted-frames-native-stack --logfile=%s/v8.log "
		"--perf-prof-path=%s a.js",
		escaped, self->recording);

	(void)data;
	make_program(self, "node", "runner");
	write_file("node", "#!/bin/sh\n[ \"$*\" != --v8-options ] || echo '  --perf-prof-path (x)"
			   "  --interpreted-frames-native-stack (x)'\n");
	g_assert_cmpint(g_chmod("node", 0755), ==, 0);
	g_autoptr(LodeJitRuntime) runtime = prepare(self, "runner a.js");
	check_argv(runtime, expected);
}

static void write_dump(const char *name, uint32_t pid)
{
	uint32_t header[10] = {0x4a695444, 1, sizeof(header), 62, 0, pid};

	g_assert_true(g_file_set_contents(name, (const char *)header, sizeof(header), NULL));
}

static bool is_here(const char *name)
{
	return g_file_test(name, G_FILE_TEST_EXISTS);
}

/* New dumps of the processes that were recorded are moved; all others stay. */
static void test_collect(Fixture *self, const void *data)
{
	static const uint32_t recorded[] = {11, 12, 13, 15};
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);

	(void)data;
	make_program(self, "node", "runner");
	write_dump("jit-11.dump", 11);
	g_autoptr(LodeJitRuntime) runtime = prepare(self, "node a.js");
	write_dump("jit-12.dump", 12);
	write_dump("jit-14.dump", 14);
	write_dump("jit-15.dump", 16); /* as of a process in a container */
	write_file("jit-12.dump.txt", "no dump");
	g_assert_cmpint(symlink("/etc/passwd", "jit-13.dump"), ==, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(recorded); i++)
		lode_jit_runtime_add_process(runtime, recorded[i]);
	lode_jit_runtime_collect(runtime, files);
	g_autofree char *moved = g_build_filename(self->recording, "jit-12.dump", NULL);
	g_assert_cmpuint(files->len, ==, 1);
	g_assert_cmpstr(files->pdata[0], ==, moved);
	g_assert_true(g_file_test(moved, G_FILE_TEST_IS_REGULAR));
	g_assert_false(is_here("jit-12.dump"));
	g_assert_true(is_here("jit-11.dump"));
	g_assert_true(is_here("jit-13.dump"));
	g_assert_true(is_here("jit-14.dump"));
	g_assert_true(is_here("jit-15.dump"));
	g_assert_true(is_here("jit-12.dump.txt"));
	g_assert_nonnull(strstr(runtime->warning, "jit-15.dump is not used"));
}

/* A dump goes when it is mapped, also where the process has gone to; its program may be replaced by
 * one that makes another. Only the process of that number has it. */
static void test_mapped(Fixture *self, const void *data)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *here = realpath(self->directory, NULL);
	g_autofree char *path = g_build_filename(here, "jit-12.dump", NULL);
	g_autofree char *below = g_build_filename(here, "below", NULL);
	g_autofree char *other = g_build_filename(below, "jit-13.dump", NULL);
	g_autofree char *last = g_build_filename(self->recording, "jit-12.dump.2", NULL);

	(void)data;
	make_program(self, "node", "runner");
	g_assert_cmpint(g_mkdir(below, 0700), ==, 0);
	g_autoptr(LodeJitRuntime) runtime = prepare(self, "node a.js");
	write_dump(path, 12);
	write_dump(other, 13);
	lode_jit_runtime_add_mapping(runtime, 11, path);
	g_assert_true(is_here(path));
	lode_jit_runtime_add_mapping(runtime, 12, "/nowhere/jit-12.dump");
	lode_jit_runtime_add_mapping(runtime, 12, path);
	g_assert_false(is_here(path));
	lode_jit_runtime_add_mapping(runtime, 13, other);
	g_assert_false(is_here(other));
	write_dump(path, 12);
	lode_jit_runtime_add_mapping(runtime, 12, path);
	lode_jit_runtime_collect(runtime, files);
	g_assert_cmpuint(files->len, ==, 3);
	g_assert_cmpstr(files->pdata[1], ==, last);
	g_assert_null(runtime->warning);
}

static unsigned count_files(const char *directory)
{
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	unsigned n = 0;

	while (g_dir_read_name(listing) != NULL)
		n++;
	return n;
}

/* The share of the instructions outside any file that lie in code of the dumps. */
static double share_in_dumps(const LodeRecording *recording, const LodeCodeImages *images)
{
	double total = 0, inside = 0;

	for (guint i = 0; i < recording->instructions->len; i++) {
		const LodeRecordedInstruction *row = &g_array_index(
			recording->instructions, LodeRecordedInstruction, i);
		const LodeRecordedObject *object = &g_array_index(
			recording->objects, LodeRecordedObject, row->object);
		double count = row->n_values > 0 ? recording->values[row->first_value] : 0;

		bool is_jit = object->image != LODE_NONE &&
		              lode_code_images_peek(images, object->image)->kind == LODE_IMAGE_JIT;

		total += is_jit || object->image == LODE_NONE ? count : 0;
		inside += is_jit ? count : 0;
	}
	g_assert_cmpfloat(total, >, 1e6);
	return inside / total;
}

static void check_recording(const LodeCountRun *run, const char *function)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeJitCodeSet) set = lode_jit_code_set_new();
	g_autoptr(LodeCodeImages) images = lode_code_images_new(NULL, false);

	g_assert_cmpuint(run->jit_files->len, ==, 1);
	g_assert_null(run->jit_warning);
	g_assert_true(lode_jit_code_set_add(set, run->jit_files->pdata[0], &error));
	g_assert_no_error(error);
	g_autoptr(LodeRecording) recording = lode_counted_recording_read(
		(const char *const *)run->files->pdata, run->files->len, images, set, NULL, &error);
	g_assert_no_error(error);
	double share = share_in_dumps(recording, images);
	g_test_message(
		"%s: %.4f %% of the anonymous instructions are in the dump", function, 100 * share);
	g_assert_cmpfloat(share, >=, 0.999);
}

static void record(const Fixture *self, const char *const *argv)
{
	const LodeCountRunOptions options = {.argv = argv, .directory = self->recording};
	unsigned n_files = count_files(self->directory);
	gint64 start_us = g_get_monotonic_time();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCountRun) run = lode_count_run(&options, &error);

	g_assert_no_error(error);
	g_test_message("%s: %.1f s in qemu", argv[0],
		(double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC);
	g_assert_true(WIFEXITED(run->exit_status));
	g_assert_cmpint(WEXITSTATUS(run->exit_status), ==, 3);
	g_assert_cmpuint(count_files(self->directory), ==, n_files);
	check_recording(run, argv[0]);
}

static bool is_there(const char *program)
{
	g_autofree char *path = g_find_program_in_path(program);

	if (g_getenv("LODE_LONG_TESTS") == NULL) {
		g_test_skip("LODE_LONG_TESTS is not set");
		return false;
	}
	if (path == NULL)
		g_test_skip("no such program here");
	return path != NULL;
}

static void test_node(Fixture *self, const void *data)
{
	static const char program[] =
		"function mix(a, n) { let s = 0;\n"
		"  for (let i = 0; i < n; i++) { a[i] = a[i] * 3 + i; s += a[i]; } return s; }\n"
		"const a = new Int32Array(1024); let t = 0;\n"
		"for (let r = 0; r < 300; r++) t += mix(a, 1024);\n"
		"for (let r = 0; r < 20; r++)\n"
		"  t += JSON.stringify(JSON.parse(JSON.stringify([...a.subarray(0, "
		"99)]))).length;\n"
		"process.exitCode = t === t ? 3 : 0;\n";
	const char *const argv[] = {"node", "program.js", NULL};

	(void)data;
	if (!is_there("node"))
		return;
	write_file("program.js", program);
	record(self, argv);
}

static void test_java(Fixture *self, const void *data)
{
	static const char program[] =
		"public class Program {\n"
		"  static int mix(int[] a) { int s = 0;\n"
		"    for (int i = 0; i < a.length; i++) s += (a[i] = a[i] * 31 + i) / 7;\n"
		"    return s; }\n"
		"  public static void main(String[] arguments) { int[] a = new int[1024]; int s = "
		"0;\n"
		"    for (int i = 0; i < 300; i++) s += mix(a);\n"
		"    System.exit(s == s + 1 ? 0 : 3); } }\n";
	const char *const argv[] = {"java", "-cp", ".", "Program", NULL};

	(void)data;
	if (!is_there("java") || !is_there("javac"))
		return;
	if (g_getenv("LODE_JVM_AGENT") == NULL) {
		g_test_skip("built without the agent for Java");
		return;
	}
	write_file("Program.java", program);
	g_assert_true(g_spawn_command_line_sync("javac Program.java", NULL, NULL, NULL, NULL));
	record(self, argv);
}

#define ADD(name, test) g_test_add("/jit_runtime/" name, Fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_unsetenv("NODE_OPTIONS");
	g_unsetenv("JAVA_TOOL_OPTIONS");
	g_unsetenv("JDK_JAVA_OPTIONS");
	ADD("other_program", test_other_program);
	ADD("node_arguments", test_node_arguments);
	ADD("interpreters", test_interpreters);
	ADD("scripts", test_scripts);
	ADD("java_arguments", test_java_arguments);
	ADD("node-directory", test_node_directory);
	ADD("collect", test_collect);
	ADD("mapped", test_mapped);
	ADD("node", test_node);
	ADD("jdk-tools", test_jdk_tools);
	ADD("java", test_java);
	return g_test_run();
}
