/* SPDX-License-Identifier: MIT */
/*
 * Windows of programs of which each step is known, read back and compared: with the steps that
 * ptrace makes from the same registers, with what can follow an instruction, with the flags that
 * the code raises at known places.
 *
 *   test_windows LIBRARY WALK      WALK: walk.c
 */
#include "base/error.h"
#include "sources/windows/window_log.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *library, *walk;
static struct {
	uint64_t known_loop, known_end, flags_loop, flags_denormal, flags_inexact, flags_flushed,
		flags_x87_denormal, flags_x87_underflow, flags_end;
} places;

enum { DENORMAL = 2, UNDERFLOW = 16, INEXACT = 32 };

/* --- runs --- */

typedef struct {
	int status;
	uint64_t used_ns; /* processor time */
	GPtrArray *logs;  /* LodeWindowLog */
	char *directory;
} Run;

static void close_log(gpointer log)
{
	lode_window_log_free(log);
}

static void read_logs(Run *self)
{
	g_autoptr(GDir) directory = g_dir_open(self->directory, 0, NULL);
	const char *name;

	self->logs = g_ptr_array_new_with_free_func(close_log);
	while ((name = g_dir_read_name(directory)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		g_autoptr(GError) error = NULL;
		g_autoptr(GMappedFile) file = NULL;
		if (g_str_has_suffix(name, ".log")) {
			file = g_mapped_file_new(path, FALSE, &error);
			g_assert_no_error(error);
			g_autoptr(GBytes) bytes = g_mapped_file_get_bytes(file);
			LodeWindowLog *log = lode_window_log_new(bytes, name, &error);
			g_assert_no_error(error);
			g_ptr_array_add(self->logs, log);
		}
		g_unlink(path);
	}
	g_rmdir(self->directory);
}

static void run_init(Run *self)
{
	g_autoptr(GError) error = NULL;

	*self = (Run){.directory = g_dir_make_tmp("windows-XXXXXX", &error)};
	g_assert_no_error(error);
}

/* `settings`: NAME=VALUE …; the timer starts windows, as no recorder is there. */
static pid_t start_walk(const Run *self, const char *settings, const char *what, const char *rounds,
	const char *file)
{
	g_auto(GStrv) given = g_strsplit(settings, " ", -1);

	pid_t child = fork();
	if (child == 0) {
		for (char **at = given; *at != NULL; at++)
			putenv(*at);
		g_setenv("LODE_WINDOWS", self->directory, TRUE);
		g_setenv("LODE_WINDOWS_TIMER", "1", TRUE);
		g_setenv("LD_PRELOAD", library, TRUE);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		execl(walk, walk, what, rounds, file, NULL);
		_exit(127);
	}
	return child;
}

/* One more process. */
static void add_walk(
	Run *self, const char *settings, const char *what, const char *rounds, const char *file)
{
	pid_t child = start_walk(self, settings, what, rounds, file);
	struct rusage usage;

	g_assert_cmpint(wait4(child, &self->status, 0, &usage), ==, child);
	self->used_ns += (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	                 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void run_walk(
	Run *self, const char *settings, const char *what, const char *rounds, const char *file)
{
	run_init(self);
	add_walk(self, settings, what, rounds, file);
	read_logs(self);
}

static void run_clear(Run *self)
{
	g_ptr_array_unref(self->logs);
	g_free(self->directory);
}

static LodeWindowLog *only_log(const Run *self)
{
	g_assert_cmpint(self->status, ==, 0);
	g_assert_cmpint(self->logs->len, ==, 1);
	LodeWindowLog *log = self->logs->pdata[0];
	const LodeWindowLogHeader *header = lode_window_log_header(log);
	g_assert_cmpint(header->obstacle, ==, LODE_WINDOW_OBSTACLE_NONE);
	g_assert_cmpint(header->flags, ==, LODE_WINDOW_LOG_TIMER | LODE_WINDOW_LOG_UNDERFLOWS);
	g_assert_cmpuint(header->n_windows, >, 0);
	return log;
}

/* The steps of a window. */
static GArray *read_steps(LodeWindow *window)
{
	GArray *steps = g_array_new(FALSE, FALSE, sizeof(LodeWindowStep));

	while (lode_window_next(window))
		g_array_append_val(steps, window->step);
	g_assert_cmpint(steps->len, ==, window->head.n_steps);
	g_assert_true(window->at <= window->end && window->end - window->at < 8);
	return steps;
}

static const LodeWindowStep *step_at(const GArray *steps, guint i)
{
	return &g_array_index(steps, LodeWindowStep, i);
}

/* --- the same steps by ptrace --- */

typedef struct {
	pid_t pid;
	struct user_regs_struct registers;
} Tracer;

/* False: no program may be traced here. */
static bool tracer_open(Tracer *self)
{
	int status;

	self->pid = fork();
	if (self->pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(1);
		execl(walk, walk, "stop", NULL);
		_exit(127);
	}
	do {
		if (waitpid(self->pid, &status, 0) != self->pid || !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) != SIGSTOP)
			ptrace(PTRACE_CONT, self->pid, NULL, NULL);
	} while (WSTOPSIG(status) != SIGSTOP);
	return ptrace(PTRACE_GETREGS, self->pid, NULL, &self->registers) == 0;
}

static void tracer_close(Tracer *self)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
}

#define REGISTERS(r)                                                                               \
	{                                                                                          \
		&(r)->rax, &(r)->rcx, &(r)->rdx, &(r)->rbx, &(r)->rsp, &(r)->rbp, &(r)->rsi,       \
			&(r)->rdi, &(r)->r8, &(r)->r9, &(r)->r10, &(r)->r11, &(r)->r12, &(r)->r13, \
			&(r)->r14, &(r)->r15                                                       \
	}

static void tracer_set(Tracer *self, const LodeWindowStep *step)
{
	unsigned long long *const all[] = REGISTERS(&self->registers);

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		*all[i] = step->registers[i];
	self->registers.rip = step->address;
	g_assert_cmpint(ptrace(PTRACE_SETREGS, self->pid, NULL, &self->registers), ==, 0);
}

/* All rounds of a repeated instruction are one step. */
static void tracer_step(Tracer *self)
{
	const unsigned long long before = self->registers.rip;
	int status;

	do {
		g_assert_cmpint(ptrace(PTRACE_SINGLESTEP, self->pid, NULL, NULL), ==, 0);
		g_assert_cmpint(waitpid(self->pid, &status, 0), ==, self->pid);
		g_assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		g_assert_cmpint(ptrace(PTRACE_GETREGS, self->pid, NULL, &self->registers), ==, 0);
	} while (self->registers.rip == before);
}

static void compare_step(const Tracer *tracer, const LodeWindowStep *step)
{
	const unsigned long long *const all[] = REGISTERS(&tracer->registers);

	g_assert_cmphex(tracer->registers.rip, ==, step->address);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_assert_cmphex(*all[i], ==, step->registers[i]);
}

/* The loop writes all memory that it reads, so the comparison may start at each of its heads. */
static void test_known(void)
{
	Run run;
	Tracer tracer;
	LodeWindow window;
	uint32_t n_compared = 0;

	run_walk(&run, "LODE_WINDOWS_SHARE=0.5 LODE_WINDOWS_SEED=7", "known", "20000000", NULL);
	LodeWindowLog *log = only_log(&run);
	bool is_traced = tracer_open(&tracer);
	while (lode_window_log_next(log, &window)) {
		g_autoptr(GArray) steps = read_steps(&window);
		g_assert_cmpint(window.head.flags & LODE_WINDOW_HAS_REGISTERS, !=, 0);
		bool is_followed = false;
		for (guint i = 0; is_traced && i < steps->len && n_compared < 5000; i++) {
			const LodeWindowStep *step = step_at(steps, i);
			is_followed = is_followed && step->address != places.known_end;
			if (is_followed) {
				tracer_step(&tracer);
				compare_step(&tracer, step);
				n_compared++;
			} else if (step->address == places.known_loop) {
				tracer_set(&tracer, step);
				is_followed = true;
			}
		}
	}
	g_assert_cmpuint(lode_window_log_damaged(log), ==, 0);
	g_test_message("%u steps compared", n_compared);
	if (is_traced)
		g_assert_cmpint(n_compared, >, 100);
	else
		g_test_skip("no program may be traced");
	tracer_close(&tracer);
	run_clear(&run);
}

/* --- flags of MXCSR --- */

/* The program itself compares what it reads of them; so status 0 says that it saw no difference. */
static void test_flags(void)
{
	Run run;
	LodeWindow window;
	const struct {
		uint64_t place;
		uint8_t raised;
	} raising[] = {
		{places.flags_denormal, DENORMAL},
		{places.flags_inexact, INEXACT},
		/* UE is left out, as the result was flushed to 0. */
		{places.flags_flushed, INEXACT},
		{places.flags_x87_denormal, DENORMAL},
		{places.flags_x87_underflow, UNDERFLOW},
	};
	uint32_t n_seen[G_N_ELEMENTS(raising)] = {0};

	run_walk(&run, "LODE_WINDOWS_SHARE=0.5 LODE_WINDOWS_SEED=8", "flags", "5000000", NULL);
	LodeWindowLog *log = only_log(&run);
	while (lode_window_log_next(log, &window)) {
		g_autoptr(GArray) steps = read_steps(&window);
		for (guint i = 1; i < steps->len; i++) {
			uint64_t before = step_at(steps, i - 1)->address;
			uint8_t expected = 0;
			for (size_t k = 0; k < G_N_ELEMENTS(raising); k++) {
				if (before != raising[k].place)
					continue;
				expected = raising[k].raised;
				n_seen[k]++;
			}
			if (before < places.flags_loop || before >= places.flags_end)
				continue;
			g_assert_cmpint(step_at(steps, i)->raised, ==, expected);
		}
	}
	for (size_t k = 0; k < G_N_ELEMENTS(raising); k++)
		g_assert_cmpint(n_seen[k], >, 0);
	run_clear(&run);
}

/* --- what can follow --- */

typedef struct {
	uint64_t begin, end, offset;
	char *path;
	GMappedFile *file; /* NULL: not opened yet */
} Mapping;

static void clear_mapping(gpointer data)
{
	Mapping *self = data;

	g_free(self->path);
	if (self->file != NULL)
		g_mapped_file_unref(self->file);
}

static GArray *read_mappings(const char *path)
{
	g_autofree char *text = NULL;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(Mapping));

	g_array_set_clear_func(all, clear_mapping);
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		Mapping mapping = {0};
		char mode[5];
		const char *name = strchr(*line, '/');
		if (name == NULL ||
			sscanf(*line,
				"%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER
				"x %4s %" G_GINT64_MODIFIER "x",
				&mapping.begin, &mapping.end, mode, &mapping.offset) != 4 ||
			mode[2] != 'x')
			continue;
		mapping.path = g_strdup(name);
		g_array_append_val(all, mapping);
	}
	return all;
}

/* NULL: code of no file. */
static const uint8_t *find_code(GArray *mappings, uint64_t address, size_t *out_n)
{
	for (guint i = 0; i < mappings->len; i++) {
		Mapping *mapping = &g_array_index(mappings, Mapping, i);
		if (address < mapping->begin || address >= mapping->end)
			continue;
		if (mapping->file == NULL)
			mapping->file = g_mapped_file_new(mapping->path, FALSE, NULL);
		g_assert_nonnull(mapping->file);
		uint64_t offset = mapping->offset + (address - mapping->begin);
		size_t length = g_mapped_file_get_length(mapping->file);
		*out_n = length > offset ? length - offset : 0;
		return (const uint8_t *)g_mapped_file_get_contents(mapping->file) + offset;
	}
	return NULL;
}

typedef struct {
	ZydisDecoder decoder;
	GArray *mappings;
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
} Decoder;

static bool decode(Decoder *self, uint64_t address)
{
	size_t n;
	const uint8_t *code = find_code(self->mappings, address, &n);

	return code != NULL && ZYAN_SUCCESS(ZydisDecoderDecodeFull(
				       &self->decoder, code, n, &self->decoded, self->operands));
}

/* Whether the decoded instruction at the address can be followed by the next. */
static bool can_follow(const Decoder *self, uint64_t address, uint64_t next)
{
	const ZydisDecodedInstruction *decoded = &self->decoded;
	const ZydisDecodedOperand *target = &self->operands[0];
	uint64_t after = address + decoded->length;

	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_RET:
		return true;
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return target->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
		       next == after + (uint64_t)target->imm.value.s;
	case ZYDIS_CATEGORY_COND_BR:
		return next == after || next == after + (uint64_t)target->imm.value.s;
	default:
		return next == after;
	}
}

static bool is_locked(const Decoder *self)
{
	return (self->decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
	       self->decoded.mnemonic == ZYDIS_MNEMONIC_XCHG ||
	       self->decoded.mnemonic == ZYDIS_MNEMONIC_PAUSE;
}

/* The last step is the instruction before which the window ended. */
static void check_end(Decoder *self, const LodeWindow *window, const GArray *steps)
{
	const LodeWindowStep *last = step_at(steps, steps->len - 1);
	uint32_t n_met = 0;

	if (!decode(self, last->address))
		return;
	switch (window->head.end) {
	case LODE_WINDOW_END_SYSTEM_CALL:
		g_assert_cmpint(self->decoded.mnemonic, ==, ZYDIS_MNEMONIC_SYSCALL);
		break;
	case LODE_WINDOW_END_REPEAT:
		g_assert_true(
			(self->decoded.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
							    ZYDIS_ATTRIB_HAS_REPNE)) != 0);
		g_assert_cmpuint(last->registers[1], >, 16);
		break;
	case LODE_WINDOW_END_CONTENDED:
		g_assert_true(is_locked(self));
		for (guint i = 0; i < steps->len; i++)
			n_met += step_at(steps, i)->address == last->address;
		g_assert_cmpint(n_met, ==, 3);
		break;
	default:
		break;
	}
}

static bool is_left_alone(const Decoder *self)
{
	switch (self->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_XBEGIN:
		return true;
	default:
		return false;
	}
}

static void test_mixed(void)
{
	Run run;
	Decoder decoder;
	LodeWindow window;
	uint64_t n_pairs = 0, n_checked = 0, n_steps = 0;
	uint32_t n_ends[LODE_N_WINDOW_ENDS] = {0};
	g_autofree char *file = NULL;
	int descriptor = g_file_open_tmp("mappings-XXXXXX", &file, NULL);

	close(descriptor);
	run_walk(&run, "LODE_WINDOWS_SHARE=0.5 LODE_WINDOWS_SEED=9", "mixed", "300000", file);
	LodeWindowLog *log = only_log(&run);
	ZydisDecoderInit(&decoder.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	decoder.mappings = read_mappings(file);
	while (lode_window_log_next(log, &window)) {
		g_autoptr(GArray) steps = read_steps(&window);
		n_steps += steps->len;
		n_ends[window.head.end]++;
		for (guint i = 0; i + 1 < steps->len; i++) {
			const LodeWindowStep *step = step_at(steps, i), *next = step + 1;
			n_pairs++;
			if (!decode(&decoder, step->address) || next->is_gap)
				continue;
			n_checked++;
			g_assert_false(is_left_alone(&decoder));
			if (!can_follow(&decoder, step->address, next->address))
				g_error("%" G_GINT64_MODIFIER
					"x was followed by %" G_GINT64_MODIFIER "x",
					step->address, next->address);
		}
		check_end(&decoder, &window, steps);
	}
	const LodeWindowLogHeader *header = lode_window_log_header(log);
	g_assert_cmpuint(lode_window_log_damaged(log), ==, 0);
	g_assert_cmpuint(header->n_steps, ==, n_steps);
	g_assert_cmpuint(n_checked, >, n_pairs / 2);
	g_assert_cmpint(n_ends[LODE_WINDOW_END_LENGTH], >, 0);
	g_test_message("ends: %u length, %u system call, %u contended, %u repeat", n_ends[0],
		n_ends[LODE_WINDOW_END_SYSTEM_CALL], n_ends[LODE_WINDOW_END_CONTENDED],
		n_ends[LODE_WINDOW_END_REPEAT]);
	/* A step of code like this; what random numbers need is in
	 * docs/reference/formats/windows.md. */
	g_assert_cmpuint(header->used - header->page, <, 40 * n_steps);
	g_array_unref(decoder.mappings);
	g_unlink(file);
	run_clear(&run);
}

/* --- budget --- */

/* By the log's own figures. A window that lasts longer than the others did is paid for afterwards.
 */
static void test_budget(void)
{
	Run run;
	const uint64_t one_window_ns = 60000000;

	run_walk(&run, "LODE_WINDOWS_SHARE=0.03", "known", "100000000", NULL);
	const LodeWindowLogHeader *header = lode_window_log_header(only_log(&run));
	uint64_t spent = header->user_ns + header->system_ns;
	g_assert_cmpuint(spent, >, 0);
	g_assert_cmpuint(spent, <, MAX(run.used_ns * 3 / 100, 50000000) * 2 + one_window_ns);
	g_assert_cmpuint(header->n_signals, >, header->n_windows);
	run_clear(&run);
}

/* Processor time in windows, by the logs' own figures. */
static uint64_t spent_of_all(const Run *run)
{
	uint64_t sum = 0;

	for (guint i = 0; i < run->logs->len; i++) {
		const LodeWindowLogHeader *header = lode_window_log_header(run->logs->pdata[i]);
		sum += header->user_ns + header->system_ns;
	}
	return sum;
}

/* Each process alone could have a tenth of its time. */
static void test_shared_budget(void)
{
	const uint64_t short_ns = 25000000, one_window_ns = 60000000;
	Run run;

	run_init(&run);
	for (int i = 0; i < 20; i++) {
		add_walk(&run, "LODE_WINDOWS_SHARE=0.01", "known", "5000000", NULL);
		g_assert_cmpint(run.status, ==, 0);
	}
	read_logs(&run);
	g_test_message("%u logs, %.1f ms of %.1f ms", run.logs->len,
		(double)spent_of_all(&run) / 1e6, (double)run.used_ns / 1e6);
	g_assert_cmpuint(run.logs->len, >, 0);
	g_assert_cmpuint(spent_of_all(&run), <, MAX(run.used_ns / 100, short_ns) + one_window_ns);
	run_clear(&run);
}

static void put_budget(const Run *run, LodeWindowBudget budget)
{
	g_autofree char *path = g_build_filename(run->directory, LODE_WINDOW_BUDGET_NAME, NULL);
	g_autofree char *page = g_malloc0(LODE_WINDOW_LOG_PAGE);

	memcpy(page, &budget, sizeof(budget));
	g_assert_true(g_file_set_contents(path, page, LODE_WINDOW_LOG_PAGE, NULL));
}

/* Whatever a program has written there: at most a quarter of a process's time. */
static void test_damaged_budget(void)
{
	static const LodeWindowBudget damaged[] = {{0}, {UINT64_MAX, 0, 0}, {0, UINT64_MAX, 0},
		{UINT64_MAX, UINT64_MAX, 0}, {UINT64_MAX / 2, UINT64_MAX - 1, UINT32_MAX & ~1u}};
	const uint64_t one_window_ns = 60000000;

	for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
		Run run;
		run_init(&run);
		put_budget(&run, damaged[i]);
		add_walk(&run, "LODE_WINDOWS_SHARE=0.03", "known", "10000000", NULL);
		read_logs(&run);
		g_assert_cmpint(run.status, ==, 0);
		g_assert_cmpuint(spent_of_all(&run), <, run.used_ns / 4 + one_window_ns);
		run_clear(&run);
	}
}

static void test_paths(void)
{
	Run run;
	LodeWindow window;

	run_walk(&run, "LODE_WINDOWS_SHARE=0.5 LODE_WINDOWS_PATHS=1", "known", "5000000", NULL);
	LodeWindowLog *log = only_log(&run);
	while (lode_window_log_next(log, &window)) {
		g_assert_cmpint(window.head.flags & LODE_WINDOW_HAS_REGISTERS, ==, 0);
		g_assert_cmpuint(window.head.thread_pointer, ==, 0);
		while (lode_window_next(&window))
			for (int i = 0; i < LODE_WINDOW_REGISTERS; i++)
				g_assert_cmpuint(window.step.registers[i], ==, 0);
	}
	run_clear(&run);
}

static bool has_timers(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/timers", (int)pid);
	g_autofree char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) && *text != '\0';
}

static bool waits_for_timers(pid_t pid, bool are_there)
{
	for (int i = 0; i < 3000 && has_timers(pid) != are_there; i++)
		g_usleep(10000);
	return has_timers(pid) == are_there;
}

/* A process that has outlived the recording, as the recorder tells it, stops its timers. */
static void test_over(void)
{
	const uint32_t flags = LODE_WINDOW_BUDGET_OVER;
	Run run;

	if (!g_file_test("/proc/self/timers", G_FILE_TEST_EXISTS)) {
		g_test_skip("the kernel does not list timers");
		return;
	}
	run_init(&run);
	pid_t child = start_walk(&run, "LODE_WINDOWS_SHARE=0.03", "known", "1000000000000", NULL);
	g_assert_true(waits_for_timers(child, true));
	g_autofree char *path = g_build_filename(run.directory, LODE_WINDOW_BUDGET_NAME, NULL);
	int budget = open(path, O_WRONLY | O_CLOEXEC);
	g_assert_cmpint(pwrite(budget, &flags, sizeof(flags), offsetof(LodeWindowBudget, flags)),
		==, sizeof(flags));
	close(budget);
	bool is_stopped = waits_for_timers(child, false);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	g_assert_true(is_stopped);
	read_logs(&run);
	run_clear(&run);
}

static void find_places(void)
{
	g_autofree char *command = g_strdup_printf("%s places", walk);
	g_autofree char *text = NULL;

	g_assert_true(g_spawn_command_line_sync(command, &text, NULL, NULL, NULL));
	g_assert_cmpint(
		sscanf(text,
			"%" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER
			"x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER
			"x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x",
			&places.known_loop, &places.known_end, &places.flags_loop,
			&places.flags_denormal, &places.flags_inexact, &places.flags_flushed,
			&places.flags_x87_denormal, &places.flags_x87_underflow, &places.flags_end),
		==, 9);
}

int main(int n, char **words)
{
	g_test_init(&n, &words, NULL);
	g_assert_cmpint(n, ==, 3);
	library = words[1];
	walk = words[2];
	find_places();
	g_test_add_func("/windows/known", test_known);
	g_test_add_func("/windows/flags", test_flags);
	g_test_add_func("/windows/mixed", test_mixed);
	g_test_add_func("/windows/budget", test_budget);
	g_test_add_func("/windows/shared-budget", test_shared_budget);
	g_test_add_func("/windows/damaged-budget", test_damaged_budget);
	g_test_add_func("/windows/paths", test_paths);
	g_test_add_func("/windows/over", test_over);
	return g_test_run();
}
