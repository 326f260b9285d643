/* SPDX-License-Identifier: MIT */
/* Steps from outside: what they see of a child, and that they leave nothing in it. */
#include "record/probes/probe_steps.h"

#include "sources/windows/window_log.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WANTED = 90, TRIES = 200, LATE_TRIES = 50 };

/* What a child says of itself. */
typedef struct {
	volatile uint64_t n, interrupted;
	volatile int is_ready, is_over;
} Shared;

static Shared *shared;

typedef struct {
	pid_t pid;
	LodeProbePlaces *places;
	LodeProbeLog *log;
	sigset_t mask;
} Fixture;

/* Counts in a loop of a few instructions, until it is told to end. */
static void count(void)
{
	shared->is_ready = 1;
	while (!shared->is_over)
		shared->n++;
	_exit(7);
}

/* Likewise, but it seldom has a processor: what it is asked for comes late. */
static void count_seldom(void)
{
	const struct sched_param none = {0};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (getppid() != 1)
				;
			_exit(0);
		}
	sched_setscheduler(0, SCHED_BATCH, &none);
	if (nice(5) == -1)
		_exit(1);
	count();
}

static void block_trap(void)
{
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(SIG_BLOCK, &trap, NULL);
	count();
}

static void ignore_trap(void)
{
	signal(SIGTRAP, SIG_IGN);
	count();
}

static void take_signal(int number)
{
	(void)number;
	shared->interrupted++;
}

static void count_signals(void)
{
	signal(SIGUSR1, take_signal);
	count();
}

static void handle(int number)
{
	(void)number;
}

static void handle_trap(void)
{
	signal(SIGTRAP, handle);
	count();
}

static volatile uint64_t n_own_steps;

static void count_step(int number)
{
	(void)number;
	n_own_steps++;
}

/* Steps itself: each step is a SIGTRAP that it counts, and that looks like one of lode's. */
static void step_itself(void)
{
	uint64_t expected = 0;

	signal(SIGTRAP, count_step);
	while (!shared->is_over) {
		long n = 20;
		n_own_steps = 0;
		__asm__ volatile("sub $128, %%rsp\n"
				 "pushf\n orl $0x100, (%%rsp)\n popf\n"
				 "1: dec %0\n jnz 1b\n"
				 "pushf\n andl $0xfffffeff, (%%rsp)\n popf\n"
				 "add $128, %%rsp"
				 : "+r"(n)
				 :
				 : "cc", "memory");
		expected = expected == 0 ? n_own_steps : expected;
		shared->interrupted += n_own_steps != expected;
		shared->n++;
		shared->is_ready = 1;
	}
	_exit(7);
}

/* Each of these calls ends with EINTR where a tracer interrupts it and does not begin it again. */
static void wait_for_events(void)
{
	int descriptor = epoll_create1(0);
	struct epoll_event event;
	sigset_t user;

	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	sigprocmask(SIG_BLOCK, &user, NULL);
	shared->is_ready = 1;
	while (!shared->is_over) {
		const struct timespec time = {.tv_nsec = 1000000};
		shared->n++;
		if (epoll_wait(descriptor, &event, 1, 1) < 0 && errno == EINTR)
			shared->interrupted++;
		if (sigtimedwait(&user, NULL, &time) < 0 && errno == EINTR)
			shared->interrupted++;
	}
	_exit(7);
}

/* Writes more at once than the pipe holds, which the reader empties in small parts. */
static void write_to_pipe(void)
{
	static char bytes[1 << 18];
	int ends[2];

	if (pipe(ends) != 0)
		_exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		while (read(ends[0], bytes, 1000) > 0)
			;
		_exit(0);
	}
	close(ends[0]);
	shared->is_ready = 1;
	while (!shared->is_over) {
		shared->n++;
		shared->interrupted += write(ends[1], bytes, sizeof(bytes)) != sizeof(bytes);
	}
	_exit(7);
}

static void compute_denormals(void)
{
	volatile double small = 1e-310, half = 0;

	shared->is_ready = 1;
	while (!shared->is_over)
		half = small * 0.5 + half * 0;
	_exit(7);
}

static void set_up(Fixture *self, const void *data)
{
	void (*const run)(void) = (void (*)(void))data;
	sigset_t child;

	memset(shared, 0, sizeof(*shared));
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &self->mask);
	self->pid = fork();
	if (self->pid == 0) {
		/* Nor does it outlive a test that fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &self->mask, NULL);
		run();
	}
	while (!shared->is_ready)
		g_usleep(1000);
	self->places = lode_probe_places_new(self->pid);
	self->log = lode_probe_log_new(self->pid);
}

/* It goes on, and ends as it would. */
static void tear_down(Fixture *self, const void *data)
{
	uint64_t n = shared->n;
	siginfo_t end = {0};
	int status;

	while (data != compute_denormals && shared->n == n &&
		waitid(P_PID, (id_t)self->pid, &end, WEXITED | WNOWAIT | WNOHANG) == 0 &&
		end.si_pid == 0)
		g_usleep(1000);
	shared->is_over = 1;
	g_assert_cmpint(waitpid(self->pid, &status, 0), ==, self->pid);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 7);
	lode_probe_places_free(self->places);
	lode_probe_log_free(self->log);
	sigprocmask(SIG_SETMASK, &self->mask, NULL);
}

/* Where it is too busy a machine to stop the child in time, it is let go later. */
static LodeStepsOutcome run_once(Fixture *self)
{
	LodeProbeSteps steps = {
		.pid = self->pid, .tid = self->pid, .child = self->pid, .n = WANTED};

	g_assert_true(lode_probe_places_refresh(self->places));
	LodeStepsOutcome outcome = lode_probe_steps_run(&steps, self->places, self->log);
	while (outcome == LODE_STEPS_LATE && !lode_probe_steps_let_go(&steps))
		g_usleep(1000);
	return outcome;
}

static LodeStepsOutcome run_until(Fixture *self, LodeStepsOutcome wanted)
{
	LodeStepsOutcome outcome = LODE_STEPS_NONE;

	for (unsigned i = 0; i < TRIES && outcome != wanted; i++)
		outcome = run_once(self);
	return outcome;
}

static LodeWindowLog *read_log(Fixture *self)
{
	g_autoptr(GError) error = NULL;
	size_t size;
	const uint8_t *bytes = lode_probe_log_bytes(self->log, &size);
	g_autoptr(GBytes) copy = g_bytes_new(bytes, size);
	LodeWindowLog *log = lode_window_log_new(copy, "log", &error);

	g_assert_no_error(error);
	return log;
}

/* Each step leads to the next, as the code has it. */
static void test_path(Fixture *self, const void *data)
{
	LodeWindow window;
	uint32_t n = 0;

	(void)data;
	g_assert_cmpint(run_until(self, LODE_STEPS_TAKEN), ==, LODE_STEPS_TAKEN);
	g_autoptr(LodeWindowLog) log = read_log(self);
	while (lode_window_log_next(log, &window)) {
		uint64_t address = 0, after = 0, target = 0;
		for (; lode_window_next(&window); n++) {
			LodeDecodedInstruction decoded;
			g_assert_true(address == 0 || window.step.address == after ||
				      window.step.address == target);
			address = window.step.address;
			g_assert_true(lode_probe_places_decode(self->places, address, &decoded));
			after = address + decoded.length;
			target = decoded.has_target ? decoded.target : after;
		}
	}
	g_assert_cmpuint(n, >, 0);
	g_assert_cmpuint(n, <=, WANTED * TRIES);
}

/* The multiplication has a denormal operand, each time, though the flag is sticky. */
static void test_denormals(Fixture *self, const void *data)
{
	uint32_t n_raised = 0, n_multiplied = 0;
	LodeWindow window;

	(void)data;
	g_assert_cmpint(run_until(self, LODE_STEPS_TAKEN), ==, LODE_STEPS_TAKEN);
	g_autoptr(LodeWindowLog) log = read_log(self);
	while (lode_window_log_next(log, &window))
		for (bool is_multiplied = false; lode_window_next(&window);) {
			LodeDecodedInstruction decoded;
			n_multiplied += is_multiplied;
			n_raised += is_multiplied && (window.step.raised & 2) != 0;
			g_assert_true(lode_probe_places_decode(
				self->places, window.step.address, &decoded));
			is_multiplied = (decoded.kinds & 1u << LODE_KIND_MUL) != 0 &&
			                (decoded.kinds & 1u << LODE_KIND_FP) != 0;
		}
	g_assert_cmpuint(n_multiplied, >, 0);
	g_assert_cmpuint(n_raised, ==, n_multiplied);
}

/* A step that is late is not forgotten: the trap of one that nobody waits for would end the child,
 * which tear_down() sees. */
static void test_late(Fixture *self, const void *data)
{
	(void)data;
	for (unsigned i = 0; i < LATE_TRIES; i++)
		g_assert_cmpint(run_once(self), !=, LODE_STEPS_ENDED);
}

/* Takes the next stop of a child that is traced by us. */
static int wait_for_stop(pid_t pid)
{
	int status;

	g_assert_cmpint(waitpid(pid, &status, __WALL), ==, pid);
	g_assert_true(WIFSTOPPED(status));
	return status;
}

/*
 * As who traces the child anyhow: asks it to stop, steps it, and goes on. One that was late is left
 * to its next stop, of which the trap of a step is nobody's.
 */
static bool step_in_stop(Fixture *self, bool has_signal)
{
	LodeProbeSteps steps = {.pid = self->pid, .tid = self->pid, .n = WANTED};
	struct user_regs_struct registers;
	int status;

	g_assert_cmpint(ptrace(PTRACE_INTERRUPT, self->pid, NULL, NULL), ==, 0);
	while ((status = wait_for_stop(self->pid)) >> 16 != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, self->pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
	g_assert_cmpint(ptrace(PTRACE_GETREGS, self->pid, NULL, &registers), ==, 0);
	g_assert_true(lode_probe_places_refresh(self->places));
	if (has_signal)
		g_assert_cmpint(kill(self->pid, SIGUSR1), ==, 0);
	LodeStepsOutcome outcome = lode_is_in_call(&registers)
	                                   ? LODE_STEPS_NONE
	                                   : lode_probe_steps_run_in_stop(
						     &steps, self->places, self->log, &registers);
	g_assert_cmpint(outcome, !=, LODE_STEPS_ENDED);
	for (LodeLateStop late = LODE_LATE_STOP_BEFORE;
		outcome == LODE_STEPS_LATE && late == LODE_LATE_STOP_BEFORE;) {
		status = wait_for_stop(self->pid);
		int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
		late = lode_probe_steps_take_late(&steps, signal);
		signal = late == LODE_LATE_STOP_OWN ? 0 : signal;
		if (late == LODE_LATE_STOP_BEFORE || signal != 0)
			ptrace(PTRACE_CONT, self->pid, NULL, (void *)(intptr_t)signal);
		if (late == LODE_LATE_STOP_ANOTHER)
			return false;
	}
	g_assert_cmpint(ptrace(PTRACE_CONT, self->pid, NULL, NULL), ==, 0);
	return outcome == LODE_STEPS_TAKEN;
}

/* Its handler has run so often. */
static void wait_for_signals(const Fixture *self, unsigned n)
{
	while (shared->interrupted < n) {
		int status;
		if (waitpid(self->pid, &status, WNOHANG | __WALL) == self->pid)
			ptrace(PTRACE_CONT, self->pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
		g_usleep(100);
	}
	g_assert_cmpuint(shared->interrupted, ==, n);
}

static void test_in_stops(Fixture *self, const void *data)
{
	unsigned n_stepped = 0, n_signals = 0;
	int status;

	(void)data;
	g_assert_cmpint(ptrace(PTRACE_SEIZE, self->pid, NULL, NULL), ==, 0);
	for (unsigned i = 0; i < TRIES; i++) {
		bool has_signal = i % 4 == 1;
		n_stepped += step_in_stop(self, has_signal);
		n_signals += has_signal;
		wait_for_signals(self, n_signals);
	}
	g_assert_cmpuint(n_stepped, >, TRIES / 2);
	g_assert_cmpint(ptrace(PTRACE_INTERRUPT, self->pid, NULL, NULL), ==, 0);
	while ((status = wait_for_stop(self->pid)) >> 16 != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, self->pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
	g_assert_cmpint(ptrace(PTRACE_DETACH, self->pid, NULL, NULL), ==, 0);
	g_autoptr(LodeWindowLog) log = read_log(self);
	g_assert_cmpuint(lode_window_log_header(log)->n_steps, >, WANTED);
}

/* The signal is the program's: not one step. */
static void test_trap(Fixture *self, const void *data)
{
	(void)data;
	g_assert_cmpint(run_until(self, LODE_STEPS_TRAP), ==, LODE_STEPS_TRAP);
	g_autoptr(LodeWindowLog) log = read_log(self);
	g_assert_cmpuint(lode_window_log_header(log)->n_steps, ==, 0);
}

/* A thread that waits, or writes, is interrupted again and again, and does not see it. */
static void test_waiting(Fixture *self, const void *data)
{
	(void)data;
	for (unsigned i = 0; i < TRIES; i++) {
		LodeStepsOutcome outcome = run_once(self);
		g_assert_cmpint(outcome, !=, LODE_STEPS_TRAP);
		g_assert_cmpint(outcome, !=, LODE_STEPS_ENDED);
		g_usleep(300);
	}
	g_assert_cmpuint(shared->interrupted, ==, 0);
}

/* Each of its steps is its own. */
static void test_own_steps(Fixture *self, const void *data)
{
	(void)data;
	for (unsigned i = 0; i < TRIES; i++)
		g_assert_cmpint(run_once(self), !=, LODE_STEPS_ENDED);
	g_assert_cmpuint(shared->interrupted, ==, 0);
}

/* One that ends meanwhile: its status is left to be read. */
static void test_ended(void)
{
	sigset_t child, mask;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &mask);
	pid_t pid = fork();
	if (pid == 0)
		_exit(5);
	siginfo_t info;
	g_assert_cmpint(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), ==, 0);
	g_autoptr(LodeProbePlaces) places = lode_probe_places_new(pid);
	g_autoptr(LodeProbeLog) log = lode_probe_log_new(pid);
	LodeProbeSteps steps = {.pid = pid, .tid = pid, .child = pid, .n = WANTED};
	LodeStepsOutcome outcome = lode_probe_steps_run(&steps, places, log);
	g_assert_true(outcome == LODE_STEPS_ENDED || outcome == LODE_STEPS_REFUSED);
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_cmpint(WEXITSTATUS(status), ==, 5);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*child)(void);
		void (*test)(Fixture *self, const void *data);
	} all[] = {
		{"/record/probe_steps/path", count, test_path},
		{"/record/probe_steps/denormals", compute_denormals, test_denormals},
		{"/record/probe_steps/late", count_seldom, test_late},
		{"/record/probe_steps/in_stops", count_signals, test_in_stops},
		{"/record/probe_steps/blocked", block_trap, test_trap},
		{"/record/probe_steps/ignored", ignore_trap, test_trap},
		{"/record/probe_steps/handled", handle_trap, test_trap},
		{"/record/probe_steps/own", step_itself, test_own_steps},
		{"/record/probe_steps/waiting", wait_for_events, test_waiting},
		{"/record/probe_steps/writing", write_to_pipe, test_waiting},
	};

	g_test_init(&argc, &argv, NULL);
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g_assert_true(shared != MAP_FAILED);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_test_add(all[i].name, Fixture, (const void *)all[i].child, set_up, all[i].test,
			tear_down);
	g_test_add_func("/record/probe_steps/ended", test_ended);
	return g_test_run();
}
