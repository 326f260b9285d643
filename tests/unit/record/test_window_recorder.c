/* SPDX-License-Identifier: MIT */
/* Processes that do as the preloaded library does get signals, no others do; their logs are in the
 * recording. */
#include "base/error.h"
#include "record/perf/perf_writer.h"
#include "record/windows/own_system_calls.h"
#include "record/windows/window_recorder.h"
#include "sources/perf_data/perf_data.h"
#include "sources/windows/window_log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
	char *directory, *output; /* of the library, and of the recording */
	char *logs;
	LodeWindowRecorder *recorder;
	unsigned *n_signals; /* shared with the child */
} Fixture;

static int refuse_all(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data)
{
	(void)cpu;
	(void)user_data;
	if (pid == 0)
		return lode_perf_kernel.open(attr, pid, cpu, NULL);
	errno = EACCES;
	return -1;
}

static const LodePerfKernel strict_kernel = {
	.open = refuse_all, .settings = "/proc/sys/kernel", .devices = "/sys"};

static void set_up(Fixture *self, const void *kernel)
{
	const LodeWindowOptions options = {0.03, true};
	g_autoptr(GError) error = NULL;

	self->directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	self->output = g_build_filename(self->directory, "perf.data", NULL);
	g_autofree char *library = g_build_filename(self->directory, "liblode-windows.so", NULL);
	g_assert_true(g_file_set_contents(library, "", 0, NULL));
	g_setenv("LODE_PRELOAD_DIRECTORY", self->directory, TRUE);
	self->recorder = lode_window_recorder_new(
		&options, kernel != NULL ? kernel : &lode_perf_kernel, true, &error);
	g_assert_no_error(error);
	const char *const none[] = {NULL};
	char **environment = (char **)lode_window_recorder_environment(self->recorder, none);
	self->logs = g_strdup(g_environ_getenv(environment, "LODE_WINDOWS"));
	g_assert_cmpstr(g_environ_getenv(environment, "LD_PRELOAD"), ==, library);
	g_assert_cmpstr(g_environ_getenv(environment, "LODE_WINDOWS_SHARE"), ==, "0.03");
	g_assert_cmpstr(g_environ_getenv(environment, "LODE_WINDOWS_PATHS"), ==, "1");
	self->n_signals = mmap(NULL, sizeof(*self->n_signals), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g_assert_true(self->n_signals != MAP_FAILED);
}

static void tear_down(Fixture *self, const void *kernel)
{
	g_autofree char *library = g_build_filename(self->directory, "liblode-windows.so", NULL);

	(void)kernel;
	lode_window_recorder_free(self->recorder);
	g_assert_false(g_file_test(self->logs, G_FILE_TEST_EXISTS));
	g_remove(self->output);
	g_remove(library);
	g_assert_cmpint(g_rmdir(self->directory), ==, 0);
	g_free(self->directory);
	g_free(self->output);
	g_free(self->logs);
	munmap(self->n_signals, sizeof(*self->n_signals));
}

/* --- a process as the library makes it --- */

typedef enum { HAS_PAGE = 1, HAS_HANDLER = 2, EXECUTES = 4, IS_LIMITED = 8, IS_TRACED = 16 } Manner;

static unsigned *counted;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	__atomic_add_fetch(counted, 1, __ATOMIC_RELAXED);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* In user code, as the events are of it. */
static void spin(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}

static void spin_for(double seconds)
{
	double end = cpu_seconds() + seconds;

	while (cpu_seconds() < end)
		spin();
}

static void announce(const char *logs, pid_t pid)
{
	g_autofree char *path = g_build_filename(logs, "announce", NULL);
	uint32_t number = (uint32_t)pid;
	int descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	g_assert_cmpint(write(descriptor, &number, sizeof(number)), ==, sizeof(number));
	close(descriptor);
}

/* The bytes of a log; it has two windows, as far as its header says. */
static GBytes *make_log(uint32_t pid, uint64_t begin_ns, uint64_t used)
{
	const LodeWindowLogHeader header = {
		.magic = LODE_WINDOW_LOG_MAGIC,
		.version = LODE_WINDOW_LOG_VERSION,
		.page = LODE_WINDOW_LOG_PAGE,
		.pid = pid,
		.begin_ns = begin_ns,
		.used = used,
		.n_windows = 2,
		.n_steps = 100,
		.user_ns = 2000,
		.system_ns = 3000,
	};
	uint8_t *content = g_malloc(used);

	for (uint64_t i = 0; i < used; i++)
		content[i] = (uint8_t)(i * pid >> 5);
	memcpy(content, &header, sizeof(header));
	return g_bytes_new_take(content, used);
}

/* Before bytes that are not used, as in a log that is mapped. */
static void put_log(const Fixture *self, const char *name, GBytes *log)
{
	g_autofree char *path = g_build_filename(self->logs, name, NULL);
	size_t size;
	const char *bytes = g_bytes_get_data(log, &size);
	g_autofree char *file = g_malloc0(size + 5000);

	if (size > 0)
		memcpy(file, bytes, size);
	g_assert_true(g_file_set_contents(path, file, (gssize)size + 5000, NULL));
}

/* All are allowed. */
static bool limit_calls(void)
{
	struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
	const struct sock_fprog program = {1, &allow};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* A byte read from `start` says that the parent has taken the announcement. */
_Noreturn static void live(const Fixture *self, Manner manner, int start, double seconds)
{
	g_autofree char *path = g_build_filename(self->logs, LODE_WINDOW_BUDGET_NAME, NULL);
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
	char byte;

	counted = self->n_signals;
	if ((manner & HAS_HANDLER) != 0)
		sigaction(SIGTRAP, &action, NULL);
	if ((manner & HAS_PAGE) != 0) {
		int descriptor = open(path, O_RDWR | O_CLOEXEC);
		if (mmap(NULL, LODE_WINDOW_LOG_PAGE, PROT_READ, MAP_SHARED, descriptor, 0) ==
			MAP_FAILED)
			_exit(1);
		close(descriptor);
	}
	if ((manner & IS_LIMITED) != 0 && !limit_calls())
		_exit(2);
	if ((manner & IS_TRACED) != 0 && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(2);
	announce(self->logs, getpid());
	while (read(start, &byte, 1) == 1) {
		if ((manner & EXECUTES) != 0)
			execl("/proc/self/exe", "test", "--spin", NULL);
		/* as long as it takes, where signals are expected */
		unsigned before = *self->n_signals;
		double end = cpu_seconds() + (seconds > 0 ? seconds : 20);
		while (cpu_seconds() < end && (seconds > 0 || *self->n_signals < before + 3))
			spin();
		if (seconds <= 0 && *self->n_signals < before + 3)
			_exit(1);
	}
	_exit(0);
}

typedef struct {
	pid_t pid;
	int start;
} Child;

/* Until what is announced is taken. */
static void update(Fixture *self)
{
	do {
		lode_window_recorder_update(self->recorder);
		g_usleep(1000);
	} while (lode_window_recorder_due_us(self->recorder) != 0);
}

/* Starts it, and takes its announcement. */
static Child start(Fixture *self, Manner manner, double seconds)
{
	int ends[2];
	struct pollfd wait = {
		.fd = lode_window_recorder_descriptor(self->recorder), .events = POLLIN};

	g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		live(self, manner, ends[0], seconds);
	}
	close(ends[0]);
	g_assert_cmpint(poll(&wait, 1, 60 * 1000), ==, 1);
	update(self);
	return (Child){pid, ends[1]};
}

static void go_on(const Child *child)
{
	g_assert_cmpint(write(child->start, "", 1), ==, 1);
}

/* Gives its status as from wait(). */
static int finish(const Child *child)
{
	int status = -1;

	close(child->start);
	g_assert_cmpint(waitpid(child->pid, &status, 0), ==, child->pid);
	return status;
}

/* As clang's sanitizers do, whose run-time is linked in. */
static bool has_own_system_calls(void)
{
	g_autoptr(LodeOwnSystemCalls) calls = lode_own_system_calls_new();
	g_autofree char *maps = NULL;

	return g_file_get_contents("/proc/self/maps", &maps, NULL, NULL) &&
	       lode_own_system_calls_are_in(calls, getpid(), maps);
}

static bool skips(const Fixture *self)
{
	if (lode_window_recorder_has_timer(self->recorder))
		g_test_skip("this kernel has no events that send signals");
	else if (has_own_system_calls())
		g_test_skip("this program has system calls that no library sees");
	else
		return false;
	return true;
}

/* --- tests --- */

static void test_signals(Fixture *self, const void *kernel)
{
	(void)kernel;
	if (skips(self))
		return;
	Child child = start(self, HAS_PAGE | HAS_HANDLER, 0);
	go_on(&child);
	g_assert_cmpint(finish(&child), ==, 0);
	g_assert_cmpuint(*self->n_signals, >=, 3);
}

/* The kernel would kill two of these, and the fourth is another process than it says. */
static void test_others(Fixture *self, const void *kernel)
{
	static const Manner manners[] = {HAS_PAGE, HAS_HANDLER, HAS_PAGE | HAS_HANDLER | EXECUTES};

	(void)kernel;
	if (skips(self))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(manners); i++) {
		Child child = start(self, manners[i], 0.1);
		go_on(&child);
		g_assert_cmpint(finish(&child), ==, 0);
		g_assert_cmpuint(*self->n_signals, ==, 0);
	}
	announce(self->logs, getpid());
	announce(self->logs, 0);
	update(self);
	spin_for(0.1);
}

static void test_switch(Fixture *self, const void *kernel)
{
	(void)kernel;
	if (skips(self))
		return;
	lode_window_recorder_switch(self->recorder, false);
	Child child = start(self, HAS_PAGE | HAS_HANDLER, 0.1);
	go_on(&child);
	g_assert_cmpint(finish(&child), ==, 0);
	g_assert_cmpuint(*self->n_signals, ==, 0);
	child = start(self, HAS_PAGE | HAS_HANDLER, 0);
	lode_window_recorder_switch(self->recorder, true);
	go_on(&child);
	g_assert_cmpint(finish(&child), ==, 0);
	g_assert_cmpuint(*self->n_signals, >=, 3);
}

/* A program that never stops announcing itself does not keep lode from the rest. */
static void test_flood(Fixture *self, const void *kernel)
{
	int status;
	pid_t pid = fork();

	(void)kernel;
	if (pid == 0) {
		g_autofree char *path = g_build_filename(self->logs, "announce", NULL);
		const uint32_t numbers[1024] = {0};
		int descriptor = open(path, O_WRONLY | O_CLOEXEC);
		while (write(descriptor, numbers, sizeof(numbers)) > 0)
			;
		_exit(1);
	}
	for (int i = 0; i < 50; i++) {
		lode_window_recorder_update(self->recorder);
		g_usleep(1000);
	}
	kill(pid, SIGKILL);
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_true(WIFSIGNALED(status));
}

static LodePerfData *write_and_read(Fixture *self)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) nothing = g_ptr_array_new();
	g_autoptr(GPtrArray)
		features = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	g_autoptr(LodePerfWriter) writer = lode_perf_writer_open(self->output, &error);
	const uint32_t record[] = {68, 8 << 16};
	struct stat status;

	g_assert_true(lode_perf_writer_publish(writer, nothing, &error));
	g_assert_true(lode_perf_writer_add(writer, record, sizeof(record), &error));
	lode_window_recorder_end(self->recorder);
	/* the section begins after it, at no multiple of 8 */
	g_ptr_array_set_size(features, 255);
	features->pdata[252] = g_bytes_new_static("odd", 3);
	g_assert_true(lode_perf_writer_finish(
		writer, features, NULL, lode_window_recorder_logs(self->recorder), &error));
	g_assert_no_error(error);
	g_assert_cmpint(stat(self->output, &status), ==, 0);
	g_assert_cmpint(status.st_mode & 0777, ==, 0600);
	LodePerfData *data = lode_perf_data_open(self->output, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(lode_perf_data_info(data)->left_out.n_damaged_features, ==, 0);
	return data;
}

static void check_log(LodePerfData *data, guint index, GBytes *expected)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) log = lode_perf_data_window_log(data, index, &error);

	g_assert_no_error(error);
	/* the recorder fills in the machine's cache */
	g_autofree char *bytes = g_memdup2(g_bytes_get_data(log, NULL), g_bytes_get_size(log));
	LodeWindowLogHeader *header = (LodeWindowLogHeader *)(void *)bytes;
	if (sysconf(_SC_LEVEL1_DCACHE_ASSOC) > 0 && sysconf(_SC_LEVEL1_DCACHE_LINESIZE) == 64)
		g_assert_cmpint((long)header->cache_sets * header->cache_ways * 64, ==,
			sysconf(_SC_LEVEL1_DCACHE_SIZE));
	header->cache_sets = header->cache_ways = 0;
	g_autoptr(GBytes) rest = g_bytes_new(bytes, g_bytes_get_size(log));
	g_assert_true(g_bytes_equal(rest, expected));
}

static void test_logs(Fixture *self, const void *kernel)
{
	g_autoptr(GBytes) first = make_log(7, 100, 70001);
	g_autoptr(GBytes) second = make_log(5, 200, 400000);
	g_autoptr(GBytes) empty = g_bytes_new("", 0);
	g_autoptr(GBytes) foreign = g_bytes_new_static("lodewndw", 8);
	g_autofree char *large = g_build_filename(self->logs, "windows-6.log", NULL);

	(void)kernel;
	put_log(self, "windows-5.log", second);
	put_log(self, "windows-7.1.log", first);
	put_log(self, "windows-1.log", empty);
	put_log(self, "windows-2.log", foreign);
	put_log(self, "windows-3.txt", first);
	/* with the others it would be more than a recording keeps */
	LodeWindowLogHeader header = *(const LodeWindowLogHeader *)g_bytes_get_data(first, NULL);
	header.begin_ns = 150;
	header.used = UINT64_C(1) << 30;
	g_assert_true(g_file_set_contents(large, (char *)&header, sizeof(header), NULL));
	g_assert_cmpint(truncate(large, (off_t)header.used), ==, 0);
	g_autoptr(LodePerfData) data = write_and_read(self);
	const GArray *logs = lode_perf_data_info(data)->window_logs;
	g_assert_cmpuint(logs->len, ==, 3);
	check_log(data, 0, second);
	check_log(data, 2, first);
	const LodePerfWindowLog *left_out = &g_array_index(logs, LodePerfWindowLog, 1);
	g_assert_cmpuint(left_out->size, ==, 0);
	g_assert_cmpuint(left_out->raw_size, ==, header.used);
	const LodeWindowTally *tally = lode_window_logs_tally(
		lode_window_recorder_logs(self->recorder));
	g_assert_cmpuint(tally->n_logs, ==, 3);
	g_assert_cmpuint(tally->n_left_out, ==, 1);
	g_assert_cmpuint(tally->n_windows, ==, 6);
	g_assert_cmpuint(tally->n_steps, ==, 300);
	g_assert_cmpuint(tally->cpu_ns, ==, 15000);
	g_autoptr(GString) note = g_string_new(NULL);
	lode_window_recorder_add_note(self->recorder, note);
	g_assert_cmpstr(note->str, ==, "processes whose windows the recording had no room for: 1");
}

static void test_no_log(Fixture *self, const void *kernel)
{
	g_autoptr(GString) note = g_string_new(NULL);

	(void)kernel;
	g_autoptr(LodePerfData) data = write_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->window_logs->len, ==, 0);
	lode_window_recorder_add_note(self->recorder, note);
	g_assert_nonnull(strstr(note->str, "no process loaded liblode-windows.so"));
}

static uint32_t obstacle_of(LodePerfData *data, guint index)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = lode_perf_data_window_log(data, index, &error);
	g_autoptr(LodeWindowLog) log = lode_window_log_new(bytes, "log", &error);
	LodeWindow window;

	g_assert_no_error(error);
	g_assert_false(lode_window_log_next(log, &window));
	return lode_window_log_header(log)->obstacle;
}

/* Processes that a debugger would see stopped, and that the return from a handler would end. */
static void test_looked_at(Fixture *self, const void *kernel)
{
	static const struct {
		Manner manner;
		LodeWindowObstacle obstacle;
	} cases[] = {{IS_LIMITED, LODE_WINDOW_OBSTACLE_SECCOMP},
		{IS_TRACED, LODE_WINDOW_OBSTACLE_TRACED}};
	LodeWindowObstacle expected[2];
	guint n = 0;

	(void)kernel;
	if (skips(self))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		Child child = start(self, HAS_PAGE | HAS_HANDLER | cases[i].manner, 0.1);
		go_on(&child);
		int status = finish(&child);
		/* a container may allow neither */
		g_assert_true(status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 2));
		if (status == 0)
			expected[n++] = cases[i].obstacle;
	}
	g_assert_cmpuint(*self->n_signals, ==, 0);
	g_autoptr(LodePerfData) data = write_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->window_logs->len, ==, n);
	for (guint i = 0; i < n; i++)
		g_assert_cmpuint(obstacle_of(data, i), ==, expected[i]);
}

/* Its processes were too short for a window. */
static void test_no_window(Fixture *self, const void *kernel)
{
	g_autoptr(GString) note = g_string_new(NULL);
	g_autofree char *path = g_build_filename(self->logs, LODE_WINDOW_BUDGET_NAME, NULL);
	const LodeWindowBudget budget = {.spent_ns = 1};
	int descriptor = open(path, O_WRONLY | O_CLOEXEC);

	(void)kernel;
	g_assert_cmpint(write(descriptor, &budget, sizeof(budget)), ==, sizeof(budget));
	close(descriptor);
	g_autoptr(LodePerfData) data = write_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->window_logs->len, ==, 0);
	lode_window_recorder_add_note(self->recorder, note);
	g_assert_cmpstr(note->str, ==, "");
}

static void test_obstacles(Fixture *self, const void *kernel)
{
	(void)kernel;
	if (skips(self))
		return;
	Child child = start(self, HAS_PAGE | HAS_HANDLER, 0.001);
	g_assert_cmpint(finish(&child), ==, 0);
	lode_window_recorder_add_obstacle(self->recorder, 1);
	g_autoptr(LodePerfData) data = write_and_read(self);
	g_assert_cmpuint(lode_perf_data_info(data)->window_logs->len, ==, 2);
	g_assert_cmpuint(obstacle_of(data, 1), ==, LODE_WINDOW_OBSTACLE_EVENT);
	g_assert_cmpuint(obstacle_of(data, 0), ==, LODE_WINDOW_OBSTACLE_PRELOAD);
	g_autoptr(GString) note = g_string_new(NULL);
	lode_window_recorder_add_note(self->recorder, note);
	g_assert_nonnull(strstr(note->str, "refused their event: 1, such as process"));
	g_assert_nonnull(strstr(note->str, "(Permission denied)"));
}

static int refuse_own(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data)
{
	(void)attr;
	(void)pid;
	(void)cpu;
	(void)user_data;
	errno = EINVAL;
	return -1;
}

/* As before Linux 5.13. */
static const LodePerfKernel old_kernel = {
	.open = refuse_own, .settings = "/proc/sys/kernel", .devices = "/sys"};

static void test_timer(Fixture *self, const void *kernel)
{
	const char *const given[] = {"LD_PRELOAD=/a.so", "LODE_WINDOWS_PATHS=0", NULL};
	char **environment = (char **)lode_window_recorder_environment(self->recorder, given);
	g_autofree char *name = g_strdup_printf("windows-%d.log", (int)getpid());
	g_autofree char *path = g_build_filename(self->logs, LODE_WINDOW_BUDGET_NAME, NULL);
	g_autoptr(GBytes) log = make_log((uint32_t)getpid(), 1, LODE_WINDOW_LOG_PAGE);

	(void)kernel;
	g_assert_true(lode_window_recorder_has_timer(self->recorder));
	g_assert_cmpstr(g_environ_getenv(environment, "LODE_WINDOWS_TIMER"), ==, "1");
	g_assert_true(g_str_has_suffix(g_environ_getenv(environment, "LD_PRELOAD"), ":/a.so"));
	announce(self->logs, getpid());
	update(self);
	/* a process that outlives the recording is told */
	put_log(self, name, log);
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	const LodeWindowBudget *budget = mmap(
		NULL, LODE_WINDOW_LOG_PAGE, PROT_READ, MAP_SHARED, descriptor, 0);
	g_assert_true(budget != MAP_FAILED);
	g_assert_cmpuint(budget->flags, ==, 0);
	g_autoptr(LodePerfData) data = write_and_read(self);
	g_assert_cmpuint(budget->flags, ==, LODE_WINDOW_BUDGET_OVER);
	check_log(data, 0, log);
	munmap((void *)budget, LODE_WINDOW_LOG_PAGE);
	close(descriptor);
}

static void add(
	const char *name, const LodePerfKernel *kernel, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/window-recorder/", name, NULL);

	g_test_add(path, Fixture, kernel, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--spin") == 0) {
		spin_for(0.1);
		return 0;
	}
	g_test_init(&argc, &argv, NULL);
	add("signals", NULL, test_signals);
	add("others", NULL, test_others);
	add("looked-at", NULL, test_looked_at);
	add("switch", NULL, test_switch);
	add("logs", NULL, test_logs);
	add("no-log", NULL, test_no_log);
	add("no-window", NULL, test_no_window);
	add("obstacles", &strict_kernel, test_obstacles);
	add("flood", NULL, test_flood);
	add("timer", &old_kernel, test_timer);
	return g_test_run();
}
