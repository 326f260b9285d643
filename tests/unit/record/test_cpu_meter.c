/* SPDX-License-Identifier: MIT */
/* Processor time and kinship by what /proc says, of processes made up and of one that works. */
#include "machine/cpu_meter.h"
#include "machine/process_tree.h"

#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	char *proc;
	GPtrArray *paths; /* what was written, to be removed */
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->proc = g_dir_make_tmp("lode-test-proc-XXXXXX", NULL);
	self->paths = g_ptr_array_new_with_free_func(g_free);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	for (guint i = self->paths->len; i-- > 0;)
		g_remove(self->paths->pdata[i]);
	g_remove(self->proc);
	g_ptr_array_unref(self->paths);
	g_free(self->proc);
}

static void make_directory(Fixture *self, const char *path)
{
	if (g_mkdir(path, 0700) == 0)
		g_ptr_array_add(self->paths, g_strdup(path));
}

/* A process of one thread; times in ticks: user, system, and the same of its dead children. */
static void write_named(
	Fixture *self, int pid, const char *name, const unsigned times[4], const char *children)
{
	g_autofree char *directory = g_strdup_printf("%s/%d", self->proc, pid);
	g_autofree char *tasks = g_strdup_printf("%s/task", directory);
	g_autofree char *task = g_strdup_printf("%s/%d", tasks, pid);
	g_autofree char *stat = g_strdup_printf("%s/stat", directory);
	g_autofree char *list = g_strdup_printf("%s/children", task);
	g_autofree char *text = g_strdup_printf(
		"%d (%s) S 1 1 1 0 -1 4194560 200 30 1 2 %u %u %u %u 20 0 1 0 99 1 2\n", pid, name,
		times[0], times[1], times[2], times[3]);

	make_directory(self, directory);
	make_directory(self, tasks);
	make_directory(self, task);
	g_assert_true(g_file_set_contents(stat, text, -1, NULL));
	g_assert_true(g_file_set_contents(list, children, -1, NULL));
	g_ptr_array_add(self->paths, g_steal_pointer(&stat));
	g_ptr_array_add(self->paths, g_steal_pointer(&list));
}

static void write_process(Fixture *self, int pid, const unsigned times[4], const char *children)
{
	write_named(self, pid, "a ) name", times, children);
}

static uint64_t ticks(unsigned n)
{
	return n * (1000000000U / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Children that ran before count from then on, others as a whole, also those of children. */
static void test_children(Fixture *self, const void *data)
{
	g_auto(LodeCpuMeter) meter = {0};
	LodeCpuTime time;

	(void)data;
	write_process(self, 10, (const unsigned[]){100, 50, 7, 3}, "11 ");
	write_process(self, 11, (const unsigned[]){1000, 1000, 0, 0}, "");
	lode_cpu_meter_begin(&meter, self->proc, 10, false);
	lode_cpu_meter_follow(&meter, 10);
	lode_cpu_meter_follow(&meter, 11);
	write_process(self, 10, (const unsigned[]){120, 90, 17, 3}, "11 12 ");
	write_process(self, 11, (const unsigned[]){1300, 1004, 0, 0}, "");
	write_process(self, 12, (const unsigned[]){5, 6, 0, 0}, "13");
	write_process(self, 13, (const unsigned[]){1, 2, 0, 0}, "12 13");
	g_assert_true(lode_cpu_meter_end(&meter, NULL, &time));
	g_assert_cmpuint(time.user_ns, ==, ticks(20 + 10 + 5 + 1 + 300));
	g_assert_cmpuint(time.system_ns, ==, ticks(40 + 6 + 2 + 4));
	g_assert_false(lode_cpu_meter_end(&meter, NULL, &time));
}

/* "10 11 12": the list, in its order. */
static void assert_tree(const Fixture *self, pid_t pid, bool has_siblings, const char *expected)
{
	const LodeProcessTree tree = {pid, has_siblings};
	g_autoptr(GArray) list = lode_process_tree_list(&tree, self->proc);
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < list->len; i++)
		g_string_append_printf(
			text, "%s%d", i > 0 ? " " : "", (int)g_array_index(list, pid_t, i));
	g_assert_cmpstr(text->str, ==, expected);
}

/* A parent of the same name, two workers of which one has a child, and one of another name. */
static void test_tree(Fixture *self, const void *data)
{
	const unsigned times[4] = {0};

	(void)data;
	write_process(self, 1, times, "20 21 22 23");
	write_process(self, 20, times, "");
	write_process(self, 21, times, "30");
	write_process(self, 22, times, "22");
	write_process(self, 30, times, "");
	write_named(self, 23, "other", times, "");
	assert_tree(self, 20, false, "20");
	assert_tree(self, 21, false, "21 30");
	assert_tree(self, 1, false, "1 20 21 22 23 30");
	assert_tree(self, 20, true, "20 1 21 22 23 30");
	assert_tree(self, 23, true, "23");
	write_named(self, 1, "init", times, "20 21 22 23");
	assert_tree(self, 20, true, "20 21 22 30");
	assert_tree(self, 99, true, "99");
	/* Neither who asks nor what it started. */
	g_autofree char *asker = g_strdup_printf("20 %d", (int)getpid());
	write_named(self, 1, "shell", times, asker);
	write_process(self, getpid(), times, "22");
	assert_tree(self, 1, false, "1 20");
}

/* What was seen last counts; no time passes backwards. */
static void test_end(Fixture *self, const void *data)
{
	g_auto(LodeCpuMeter) meter = {0};
	LodeCpuTime time;

	(void)data;
	write_process(self, 10, (const unsigned[]){100, 50, 0, 0}, "");
	lode_cpu_meter_begin(&meter, self->proc, 10, false);
	write_process(self, 10, (const unsigned[]){130, 49, 0, 0}, "");
	lode_cpu_meter_update(&meter);
	g_remove(self->paths->pdata[self->paths->len - 2]);
	g_assert_true(lode_cpu_meter_end(&meter, NULL, &time));
	g_assert_cmpuint(time.user_ns, ==, ticks(30));
	g_assert_cmpuint(time.system_ns, ==, 0);
}

static void test_usage(Fixture *self, const void *data)
{
	const struct rusage usage = {.ru_utime = {1, 500}, .ru_stime = {0, 7}};
	g_auto(LodeCpuMeter) meter = {0};
	LodeCpuTime time;

	(void)data;
	lode_cpu_meter_begin(&meter, self->proc, 10, true);
	g_assert_true(lode_cpu_meter_end(&meter, &usage, &time));
	g_assert_cmpuint(time.user_ns, ==, 1000500000);
	g_assert_cmpuint(time.system_ns, ==, 7000);
}

/* What was not waited for is added, with what it waited for itself; a zombie does not run. */
static void test_others(Fixture *self, const void *data)
{
	const struct rusage usage = {.ru_utime = {1, 0}, .ru_stime = {2, 0}};
	g_autofree char *zombie = g_strdup_printf("%s/12/stat", self->proc);
	g_auto(LodeCpuMeter) meter = {0};
	LodeCpuTime time;

	(void)data;
	write_process(self, 11, (const unsigned[]){30, 4, 5, 1}, "");
	write_process(self, 12, (const unsigned[]){0, 0, 0, 0}, "");
	g_assert_true(g_file_set_contents(zombie,
		"12 (x) Z 1 1 1 0 -1 4194560 200 30 1 2 6 7 0 0 20 0 1 0 99 1 2\n", -1, NULL));
	lode_cpu_meter_begin(&meter, self->proc, 10, true);
	g_assert_true(lode_cpu_meter_add(&meter, 11));
	g_assert_false(lode_cpu_meter_add(&meter, 12));
	g_assert_false(lode_cpu_meter_add(&meter, 13));
	g_assert_true(lode_cpu_meter_end(&meter, &usage, &time));
	g_assert_cmpuint(time.user_ns, ==, 1000000000 + ticks(30 + 5 + 6));
	g_assert_cmpuint(time.system_ns, ==, 2000000000 + ticks(4 + 1 + 7));
}

static void test_nonsense(Fixture *self, const void *data)
{
	g_autofree char *directory = g_strdup_printf("%s/10", self->proc);
	g_autofree char *stat = g_strdup_printf("%s/stat", directory);
	g_auto(LodeCpuMeter) meter = {0};
	LodeCpuTime time;

	(void)data;
	make_directory(self, directory);
	g_assert_true(g_file_set_contents(stat, "10 (x) S 1 2", -1, NULL));
	g_ptr_array_add(self->paths, g_steal_pointer(&stat));
	lode_cpu_meter_begin(&meter, self->proc, 10, false);
	g_assert_false(lode_cpu_meter_end(&meter, NULL, &time));
	lode_cpu_meter_begin(&meter, self->proc, 99, false);
	g_assert_false(lode_cpu_meter_end(&meter, NULL, &time));
}

static int64_t own_time_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/* The real /proc: this process itself, which works until the kernel has seen it. */
static void test_ourselves(Fixture *self, const void *data)
{
	g_auto(LodeCpuMeter) meter = {0};
	LodeCpuTime time;

	(void)self;
	(void)data;
	lode_cpu_meter_begin(&meter, "/proc", getpid(), false);
	int64_t end_ms = own_time_ms() + 200;
	while (own_time_ms() < end_ms)
		;
	g_assert_true(lode_cpu_meter_end(&meter, NULL, &time));
	g_assert_cmpuint(time.user_ns + time.system_ns, >=, 100000000);
}

static void add(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/cpu-meter/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add("children", test_children);
	add("tree", test_tree);
	add("end", test_end);
	add("usage", test_usage);
	add("others", test_others);
	add("nonsense", test_nonsense);
	add("ourselves", test_ourselves);
	return g_test_run();
}
