/* SPDX-License-Identifier: MIT */
/* The heap of a program that has objects as V8 has: read as it is, cyclic, and not published. */
#include "record/programs/v8_survey.h"

#include "sources/allocations/heap_log.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	GPid pid;
	int input;
	uint64_t objects;
} Program;

static Program start(const char *path, const char *argument)
{
	const char *argv[] = {path, argument, NULL};
	char line[64] = "";
	Program self;
	int output;

	g_assert_true(g_spawn_async_with_pipes(NULL, (char **)argv, NULL,
		G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH, NULL, NULL, &self.pid, &self.input,
		&output, NULL, NULL));
	g_assert_cmpint(read(output, line, sizeof(line) - 1), >, 0);
	close(output);
	self.objects = g_ascii_strtoull(line, NULL, 16);
	return self;
}

static void stop(const Program *self)
{
	close(self->input);
	g_spawn_close_pid(self->pid);
}

/* Waits until it is due, and runs it. */
static void survey(LodeV8Survey *self, const Program *program)
{
	g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(pid_t));

	g_array_append_val(pids, program->pid);
	while (!lode_v8_survey_is_due(self))
		g_usleep(1000);
	lode_v8_survey_run(self, pids);
}

/* The log of a program that is read twice; NULL: there is none. `out_ns`: between the two. */
static LodeHeapLog *read_twice(const Program *program, uint64_t *out_ns)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_strdup_printf("%s/heap-%d.log", directory, (int)program->pid);
	LodeV8Survey *self = lode_v8_survey_new(directory);
	g_autoptr(GError) error = NULL;

	survey(self, program);
	while (!lode_v8_survey_is_due(self))
		g_usleep(1000);
	*out_ns = (uint64_t)g_get_monotonic_time() * 1000;
	survey(self, program);
	lode_v8_survey_free(self);
	LodeHeapLog *log = lode_heap_log_read(path, &error);
	g_assert_true(log != NULL || !g_file_test(path, G_FILE_TEST_EXISTS));
	g_unlink(path);
	g_rmdir(directory);
	return log;
}

static void check(const LodeHeapLog *log, uint64_t address, uint64_t time_ns, const char *name)
{
	LodeHeapObject found = {0};

	g_assert_true(lode_heap_log_find(log, address, time_ns, &found) == (name != NULL));
	g_assert_cmpstr(found.name, ==, name);
}

static void test_classes(void)
{
	Program program = start(g_getenv("LODE_FORGED_NODE"), NULL);
	uint64_t time_ns;
	g_autoptr(LodeHeapLog) log = read_twice(&program, &time_ns);

	if (log == NULL) {
		g_test_skip("the memory of other processes cannot be read here");
		stop(&program);
		return;
	}
	check(log, program.objects, time_ns, "Apple");
	check(log, program.objects + 63, time_ns, "Apple");
	check(log, program.objects + 64, time_ns, "Pear");
	check(log, program.objects + 111, time_ns, "Pear");
	check(log, program.objects + 112, time_ns, "String");
	/* before the first walk, and after the last */
	check(log, program.objects, lode_heap_log_begin_ns(log), NULL);
	check(log, program.objects, time_ns + 3600 * (uint64_t)1000000000, NULL);
	g_assert_cmpstr(lode_heap_log_name(log), ==, "[Node heap]");
	g_assert_true(lode_heap_log_is_in(log, program.objects, program.objects + 1));
	stop(&program);
}

/* Maps that point to each other have no constructor. */
static void test_cycle(void)
{
	Program program = start(g_getenv("LODE_FORGED_NODE"), "cycle");
	uint64_t time_ns;
	g_autoptr(LodeHeapLog) log = read_twice(&program, &time_ns);

	if (log != NULL)
		check(log, program.objects, time_ns, "(other object)");
	stop(&program);
}

static void test_other_program(void)
{
	const Program program = {.pid = getpid()};
	uint64_t time_ns;

	g_assert_null(read_twice(&program, &time_ns));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/v8_survey/classes", test_classes);
	g_test_add_func("/v8_survey/cycle", test_cycle);
	g_test_add_func("/v8_survey/other_program", test_other_program);
	return g_test_run();
}
