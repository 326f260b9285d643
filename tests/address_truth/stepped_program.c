/* SPDX-License-Identifier: MIT */
#include "stepped_program.h"

#include "base/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	pid_t tid;
	bool is_stopped;
	bool is_known;       /* `before` was called for what runs next */
	bool is_interrupted; /* a signal is on its way to it */
	int signal;          /* to be passed on with the next step */
	void *data;          /* the watcher's */
} Thread;

struct SteppedProgram {
	const SteppedProgramOptions *options;
	LiveMappings *mappings;
	pid_t pid;
	GArray *threads; /* Thread */
	bool is_over;
};

static bool fail(GError **error, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", what, g_strerror(errno));
	return false;
}

/* --- threads --- */

static Thread *find_thread(SteppedProgram *self, pid_t tid)
{
	for (guint i = 0; i < self->threads->len; i++)
		if (g_array_index(self->threads, Thread, i).tid == tid)
			return &g_array_index(self->threads, Thread, i);
	return NULL;
}

static Thread *add_thread(SteppedProgram *self, pid_t tid)
{
	const SteppedProgramWatcher *watcher = self->options->watcher;
	const Thread thread = {
		.tid = tid,
		.is_stopped = true,
		.data = watcher->begin(watcher->user),
	};

	g_array_append_val(self->threads, thread);
	return &g_array_index(self->threads, Thread, self->threads->len - 1);
}

static void remove_thread(SteppedProgram *self, const Thread *thread)
{
	const SteppedProgramWatcher *watcher = self->options->watcher;

	watcher->end(watcher->user, thread->data);
	g_array_remove_index(
		self->threads, (guint)(thread - (const Thread *)(void *)self->threads->data));
	self->is_over |= self->threads->len == 0;
}

/* --- start --- */

static void run_program(char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	personality(ADDR_NO_RANDOMIZE);
	dup2(null, STDOUT_FILENO);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execvp(argv[0], argv);
	_exit(127);
}

/* A step wakes one of two up in turn: on one CPU that takes a third of the time. */
static void stay_on_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned)MAX(sched_getcpu(), 0), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static bool start(SteppedProgram *self, GError **error)
{
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
	int status = 0;

	stay_on_this_cpu();
	self->pid = fork();
	if (self->pid < 0)
		return fail(error, "fork");
	if (self->pid == 0)
		run_program(self->options->argv);
	waitpid(self->pid, &status, 0);
	if (!WIFSTOPPED(status)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "'%s' does not start",
			self->options->argv[0]);
		return false;
	}
	if (!self->options->is_main_only)
		options |= PTRACE_O_TRACECLONE;
	ptrace(PTRACE_SETOPTIONS, self->pid, NULL, options);
	return live_mappings_open(self->mappings, self->pid) || fail(error, "/proc/PID/mem");
}

static uint64_t auxiliary_value(pid_t pid, uint64_t type)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/auxv", pid);
	g_autofree char *text = NULL;
	size_t size = 0;
	uint64_t entry[2];

	if (!g_file_get_contents(path, &text, &size, NULL))
		return 0;
	for (size_t at = 0; at + sizeof(entry) <= size; at += sizeof(entry)) {
		memcpy(entry, text + at, sizeof(entry));
		if (entry[0] == type)
			return entry[1];
	}
	return 0;
}

static uint64_t start_address(SteppedProgram *self)
{
	g_autofree char *link = g_strdup_printf("/proc/%d/exe", self->pid);
	g_autofree char *path = g_file_read_link(link, NULL);
	uint64_t entry = auxiliary_value(self->pid, AT_ENTRY);
	const LiveMapping *mapping = live_mappings_find(self->mappings, entry);
	Elf64_Ehdr header;
	uint64_t address;

	if (strcmp(self->options->from, "entry") == 0)
		return entry;
	if (path == NULL || mapping == NULL ||
		live_mappings_read(self->mappings, mapping->start - mapping->offset, &header,
			sizeof(header)) != sizeof(header))
		return 0;
	address = self->options->find(self->options->watcher->user, path, self->options->from);
	return address != 0 ? address + (entry - header.e_entry) : 0;
}

/* Lets it run to a breakpoint there, which is gone afterwards. */
static bool run_to(SteppedProgram *self, uint64_t address)
{
	const uint8_t breakpoint = 0xcc;
	struct user_regs_struct registers;
	uint8_t saved;
	int status = 0;

	if (live_mappings_read(self->mappings, address, &saved, 1) != 1 ||
		pwrite(self->mappings->memory, &breakpoint, 1, (off_t)address) != 1)
		return false;
	ptrace(PTRACE_CONT, self->pid, NULL, NULL);
	waitpid(self->pid, &status, __WALL);
	while (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP) {
		ptrace(PTRACE_CONT, self->pid, NULL, (long)WSTOPSIG(status));
		waitpid(self->pid, &status, __WALL);
	}
	if (!WIFSTOPPED(status) || pwrite(self->mappings->memory, &saved, 1, (off_t)address) != 1)
		return false;
	ptrace(PTRACE_GETREGS, self->pid, NULL, &registers);
	registers.rip = address;
	ptrace(PTRACE_SETREGS, self->pid, NULL, &registers);
	self->mappings->is_stale = true;
	return true;
}

static bool go_to_start(SteppedProgram *self, GError **error)
{
	uint64_t address = self->options->from != NULL ? start_address(self) : 0;

	if (self->options->from == NULL || (address != 0 && run_to(self, address)))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "'%s' does not come to '%s'",
		self->options->argv[0], self->options->from);
	return false;
}

/* Runs freely, which is a thousand times as fast as by steps. */
static bool pass_system_calls(SteppedProgram *self, GError **error)
{
	uint64_t n_stops = 2 * self->options->n_calls; /* at its begin, at its end */
	long signal = 0;
	int status = 0;

	for (uint64_t i = 0; i < n_stops;) {
		ptrace(PTRACE_SYSCALL, self->pid, NULL, signal);
		if (waitpid(self->pid, &status, __WALL) != self->pid || !WIFSTOPPED(status)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
				"'%s' ends after %" G_GUINT64_FORMAT " system calls",
				self->options->argv[0], i / 2);
			return false;
		}
		i += WSTOPSIG(status) == (SIGTRAP | 0x80);
		signal = (WSTOPSIG(status) & 0x7f) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	self->mappings->is_stale = true;
	return true;
}

/* --- steps --- */

static void interrupt_thread(SteppedProgram *self, Thread *thread)
{
	const SteppedProgramWatcher *watcher = self->options->watcher;

	watcher->interrupted(watcher->user, thread->data);
	thread->is_known = false;
}

static void take_step(SteppedProgram *self, Thread *thread)
{
	const SteppedProgramWatcher *watcher = self->options->watcher;
	struct user_regs_struct registers;

	if (thread->is_interrupted)
		interrupt_thread(self, thread);
	thread->is_interrupted = false;
	if (thread->is_known && ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) == 0)
		watcher->after(watcher->user, thread->data, &registers);
	thread->is_known = false;
}

static void take_signal(SteppedProgram *self, Thread *thread, int signal, bool is_new)
{
	/* A new thread's first stop is one that only a tracer sees. */
	if (is_new && signal == SIGSTOP)
		return;
	thread->signal = signal;
	thread->is_interrupted = true;
	interrupt_thread(self, thread);
}

/* The descriptor of the memory is that of the old program. */
static void take_exec(SteppedProgram *self, Thread *thread)
{
	live_mappings_close(self->mappings);
	live_mappings_open(self->mappings, self->pid);
	interrupt_thread(self, thread);
}

static void step(Thread *thread)
{
	long signal = thread->signal;

	thread->signal = 0;
	thread->is_stopped = false;
	ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, signal);
}

static void take_status(SteppedProgram *self, pid_t tid, int status)
{
	Thread *thread = find_thread(self, tid);
	bool is_new = thread == NULL;

	if (!WIFSTOPPED(status)) {
		if (!is_new)
			remove_thread(self, thread);
		return;
	}
	if (is_new)
		thread = add_thread(self, tid);
	thread->is_stopped = true;
	if (WSTOPSIG(status) != SIGTRAP) {
		take_signal(self, thread, WSTOPSIG(status), is_new);
	} else if (status >> 16 != 0) {
		/* In the midst of a system call, which is still to end. */
		if (status >> 16 == PTRACE_EVENT_EXEC)
			take_exec(self, thread);
		step(thread);
	} else {
		take_step(self, thread);
	}
}

/* Whether it can take another step at once. */
static bool run_one(SteppedProgram *self, pid_t tid)
{
	const SteppedProgramWatcher *watcher = self->options->watcher;
	Thread *thread = find_thread(self, tid);
	struct user_regs_struct registers;
	bool is_system_call = false;
	int status = 0;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0)
		return false;
	if (!watcher->before(watcher->user, thread->data, &registers, &is_system_call)) {
		self->is_over = true;
		return false;
	}
	thread->is_known = true;
	step(thread);
	if (is_system_call)
		return false;
	if (waitpid(tid, &status, __WALL) == tid)
		take_status(self, tid, status);
	thread = find_thread(self, tid);
	return thread != NULL && thread->is_stopped;
}

static bool wait_for_any(SteppedProgram *self, int flags)
{
	int status = 0;
	pid_t tid = waitpid(-1, &status, __WALL | flags);

	if (tid > 0)
		take_status(self, tid, status);
	else if (tid < 0)
		self->is_over = true;
	return tid > 0;
}

static void run_turn(SteppedProgram *self, pid_t tid)
{
	for (unsigned i = 0; i < self->options->quantum && !self->is_over; i++)
		if (!run_one(self, tid))
			return;
}

static void run_all(SteppedProgram *self)
{
	for (guint turn = 0; !self->is_over; turn++) {
		guint n = self->threads->len, i = 0;

		while (i < n && !g_array_index(self->threads, Thread, (turn + i) % n).is_stopped)
			i++;
		if (i == n) {
			wait_for_any(self, 0);
			continue;
		}
		turn += i;
		run_turn(self, g_array_index(self->threads, Thread, turn % n).tid);
		while (!self->is_over && wait_for_any(self, WNOHANG))
			;
	}
}

static void end_all(SteppedProgram *self)
{
	const SteppedProgramWatcher *watcher = self->options->watcher;

	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		while (waitpid(-1, NULL, __WALL) > 0)
			;
	}
	for (guint i = 0; i < self->threads->len; i++)
		watcher->end(watcher->user, g_array_index(self->threads, Thread, i).data);
	g_array_unref(self->threads);
}

bool stepped_program_run(
	const SteppedProgramOptions *options, LiveMappings *mappings, GError **error)
{
	SteppedProgram self = {
		.options = options,
		.mappings = mappings,
		.threads = g_array_new(FALSE, FALSE, sizeof(Thread)),
	};
	bool is_started = start(&self, error) && go_to_start(&self, error) &&
	                  pass_system_calls(&self, error);

	if (is_started) {
		add_thread(&self, self.pid);
		run_all(&self);
	}
	end_all(&self);
	return is_started;
}
