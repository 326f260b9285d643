/* SPDX-License-Identifier: MIT */
#include "record/ptrace/ptrace_sampler.h"

#include "base/error.h"
#include "base/monotonic_clock.h"
#include "record/budgets/budgets.h"
#include "record/programs/running_process.h"
#include "record/programs/script_program.h"
#include "record/ptrace/interrupted_call.h"
#include "record/ptrace/own_processor.h"
#include "record/ptrace/traced_records.h"
#include "record/ptrace/traced_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum {
	NOMINAL_FREQUENCY = 400,
	STACK_BYTES = 2048,
	SPIN_NS = 120 * 1000,     /* so long a thread that runs on another processor may take… */
	SLEEP_NS = 400 * 1000,    /* …and one that needs ours */
	MOST_MISSES = 4,          /* looks in a row at a thread that runs elsewhere, each time */
	LEAST_USE_NS = 10 * 1000, /* of a stop, else it was not used */
	BESIDE_NS = 100 * 1000,   /* to come to a processor, to wake up there and to sleep again */
	PROMPT_NS = 60 * 1000,    /* so soon after its timer lode looks when it is not held up */
	MOST_INTERVALS = 5,       /* a longer gap is not made up for */
	CHECK_NS = 100 * 1000 * 1000, /* from one look at a process's signals to the next */
	ARRIVALS = 16,                /* of which the mean is */
	RUNNING_OF_CPU = 2,           /* threads that run or wait for a processor, to be stopped */
	RELEASE_MS = 500,
	RESTARTS = 3, /* of one call, from which on it is left alone for longer and longer… */
	MOST_SKIPS = 1 << 9, /* …but looks at it again after so many */
};

/*
 * A thread that stops at the ends of calls more often than it is in the kernel, by so much, is
 * sampled from its own processor only. The kernel counts its time by ticks. Each sample from there
 * makes lode forget a little, as programs have phases.
 */
static const double MANY_CALLS = 0.2, TICK_ERROR = 0.5, TICK_NS = 4e6;
static const double CALLS_SMOOTHING = 1.0 / 32, CALLS_FORGOTTEN = 1.0 / 256;

/* In the signal of a stop at a system call's beginning or end (PTRACE_O_TRACESYSGOOD). */
enum { CALL_STOP = 0x80 };

typedef struct {
	double user_ns, kernel_ns; /* weights */
	double arrival_ns;         /* from asking a thread that runs to its stop: a moving mean */
	uint64_t n_samples, n_in_kernel, n_waiting;
	uint64_t used_ns; /* by the user of stops */
	unsigned n_let_go;
	char let_go[64]; /* one of them */
} Found;

struct LodePtraceSampler {
	const LodePerfSamplerOptions *wanted;
	char *reason;             /* why perf events are refused, and how they are allowed */
	char *text;               /* with the rate */
	char *obstacle;           /* why the program is not traced */
	LodePerfEventSet *events; /* NULL: no records are made */
	LodeTracedRecords records;
	LodeTracedThreads threads;
	LodeStopBudget budget;
	LodeOwnProcessor own;
	LodeStopUser user; /* .in_stop NULL: none */
	int timer;
	pid_t program;
	bool is_on, has_program_ended, is_tracing;
	int status;
	struct rusage usage;
	uint64_t look_ns;  /* the last look, or the start */
	uint64_t timer_ns; /* when the next one is due; 0: never */
	uint64_t random;
	unsigned n_cpus, n_running; /* processors; threads that the last look found running */
	unsigned n_found;   /* of these, those to be sampled on their processors: one of… */
	int next_processor; /* …them; −1: none */
	Found found;
};

/* xorshift64* (Vigna 2016); in [0, 1). */
static double next_random(LodePtraceSampler *self)
{
	self->random ^= self->random >> 12;
	self->random ^= self->random << 25;
	self->random ^= self->random >> 27;
	return (double)(self->random * UINT64_C(0x2545F4914F6CDD1D) >> 11) * 0x1p-53;
}

/* --- whether and what --- */

static bool can_do_without_events(const LodePerfSamplerOptions *options)
{
	bool has_windows = options->windows.share > 0;

	return options->can_trace && options->pid == 0 && options->events == NULL &&
	       options->exact_events == NULL && options->period == 0 &&
	       !options->content.has_kernel && !options->content.has_branch_stacks &&
	       !options->content.has_data_addresses && !has_windows;
}

LodePtraceSampler *lode_ptrace_sampler_new(
	const LodePerfKernel *kernel, const LodePerfSamplerOptions *options)
{
#if defined(__x86_64__)
	char *reason = can_do_without_events(options) ? lode_perf_kernel_refusal(kernel) : NULL;

	if (reason == NULL)
		return NULL;
	LodePtraceSampler *self = g_new0(LodePtraceSampler, 1);
	self->wanted = options;
	self->n_cpus = (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	self->reason = reason;
	self->next_processor = -1;
	self->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	lode_own_processor_init(&self->own);
	self->random = (uint64_t)g_random_int() << 32 | g_random_int() | 1;
	lode_traced_threads_init(&self->threads);
	return self;
#else
	(void)kernel;
	(void)can_do_without_events;
	return NULL;
#endif
}

void lode_ptrace_sampler_free(LodePtraceSampler *self)
{
	if (self == NULL)
		return;
	if (self->timer >= 0)
		close(self->timer);
	lode_traced_threads_clear(&self->threads);
	lode_traced_records_clear(&self->records);
	g_free(self->reason);
	g_free(self->text);
	g_free(self->obstacle);
	g_free(self);
}

void lode_ptrace_sampler_set_user(LodePtraceSampler *self, LodeStopUser user)
{
	self->user = user;
}

/* Nothing is opened: the kernel refuses it, and the attributes only describe the samples. */
static int accept_event(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data)
{
	(void)attr;
	(void)pid;
	(void)cpu;
	(void)user_data;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

GPtrArray *lode_ptrace_sampler_choices(const LodePtraceSampler *self, GString *note, GError **error)
{
	static const char *const timer[] = {"cpu-clock:u", NULL};
	const LodePerfKernel kernel = {
		.open = accept_event,
		.settings = "/proc/sys/kernel",
		.devices = "/sys/bus/event_source/devices",
	};
	LodePerfSamplerOptions own = *self->wanted;
	bool has_stacks = own.content.has_user_registers || own.content.user_stack_bytes > 0;

	own.events = timer;
	own.aside_events = NULL;
	own.content.has_no_switches = true;
	own.frequency = own.first.ms > 0 || own.frequency == 0
	                        ? NOMINAL_FREQUENCY
	                        : MIN(own.frequency, NOMINAL_FREQUENCY);
	own.first.ms = 0;
	own.windows.share = 0;
	/* Callers are found in the copy of the stack. */
	own.content.has_user_registers = has_stacks || own.content.has_call_chains;
	if (own.content.has_user_registers)
		own.content.user_stack_bytes = MAX(own.content.user_stack_bytes, STACK_BYTES);
	own.content.has_call_chains = false;
	return lode_perf_choices_make(&kernel, &own, note, error);
}

/* --- stops --- */

static void set_timer(LodePtraceSampler *self, uint64_t at_ns)
{
	const struct itimerspec when = {
		.it_value = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)}};

	self->timer_ns = at_ns;
	timerfd_settime(self->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/*
 * Uniform between half and one and a half intervals from now. Where lode shares a processor with
 * the program it comes late, when that enters the kernel: a fixed time from then on would always be
 * at the same place of a loop with a system call.
 */
static void plan_look(LodePtraceSampler *self)
{
	uint64_t now = lode_now_ns();
	double interval_ns = lode_stop_budget_interval_ns(&self->budget, now);

	set_timer(self, now + (uint64_t)(interval_ns * (0.5 + next_random(self))));
}

static void go_on(LodeTracedThread *thread, int signal)
{
	ptrace(thread->parted != NULL ? PTRACE_SYSCALL : PTRACE_CONT, thread->tid, NULL,
		(void *)(intptr_t)signal);
}

static bool is_beside(const LodePtraceSampler *self, const LodeTracedThread *thread)
{
	return self->own.at >= 0 && thread->stat.processor == self->own.at;
}

/* A thread in whose calls' ends interruptions from elsewhere come too late to see what is between.
 */
static bool has_many_calls(const LodeTracedThread *thread)
{
	double error = TICK_ERROR / sqrt(MAX((double)thread->delay.ran_ns, TICK_NS) / TICK_NS);

	return thread->call_share > thread->stat.kernel_share + MANY_CALLS + error;
}

/* How the stop of a look from another processor was found; one from its own makes lode forget. */
static void note_calls(const LodePtraceSampler *self, LodeTracedThread *thread, bool is_in_call)
{
	double *share = &thread->call_share;

	if (is_beside(self, thread))
		*share += (thread->stat.kernel_share - *share) * CALLS_FORGOTTEN;
	else
		*share += (is_in_call - *share) * CALLS_SMOOTHING;
}

#if defined(__x86_64__)

/* Repairs a system call that the look interrupted: it goes on as without a tracer. */
static void repair_call(const LodeTracedThread *thread, struct user_regs_struct *registers)
{
	if (lode_interrupted_call_repair(registers))
		ptrace(PTRACE_SETREGS, thread->tid, NULL, registers);
}

/* Likewise; the thread goes on to the end of the call, where take_call() sums up. */
static void complete_call(LodeTracedThread *thread, struct user_regs_struct *registers)
{
	LodePartedCall parted;

	if (lode_interrupted_call_part(registers, thread->process->pid, &parted) &&
		ptrace(PTRACE_SETREGS, thread->tid, NULL, registers) == 0)
		thread->parted = g_memdup2(&parted, sizeof(parted));
}

/* A call that does all of its work again would not end while it is interrupted at each look. */
static void bound_restarts(LodeTracedThread *thread, const struct user_regs_struct *registers)
{
	bool is_same = registers->rip == thread->call_ip && registers->rsp == thread->call_sp;

	if (!lode_interrupted_call_restarts(registers)) {
		thread->n_restarts = 0;
		return;
	}
	thread->call_ip = registers->rip;
	thread->call_sp = registers->rsp;
	thread->n_restarts = is_same ? MIN(thread->n_restarts + 1, 100) : 1;
	if (thread->n_restarts > RESTARTS)
		thread->n_skips = MIN(1U << MIN(thread->n_restarts, 16), MOST_SKIPS);
}

static bool read_registers(const LodeTracedThread *thread, struct user_regs_struct *out)
{
	return ptrace(PTRACE_GETREGS, thread->tid, NULL, out) == 0;
}

/*
 * A traced thread is woken by signals that it ignores, too. Whatever it does with this one, a call
 * that returns EINTR without a handler is one that only the tracer ended; except that signals which
 * stop the process, and go on with it, end some calls also without a tracer (signal(7)).
 */
static void repair_at_signal(LodeTracedThread *thread, int signal)
{
	struct user_regs_struct registers;
	bool stops = signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
	             signal == SIGTTOU;

	if (!stops && !thread->was_stopped_by_group && read_registers(thread, &registers))
		repair_call(thread, &registers);
	thread->was_stopped_by_group = false;
}

static void repair(const LodeTracedThread *thread)
{
	struct user_regs_struct registers;

	if (read_registers(thread, &registers))
		repair_call(thread, &registers);
}

/*
 * Where lode is late, the program's processor may have gone on until the program entered the
 * kernel, which is not where it was when it was time to look.
 */
static bool is_counted(
	const LodeTracedThread *thread, const LodeRunDelay *delay, uint64_t now, bool is_in_call)
{
	LodeRan ran = lode_run_delay_compare(&thread->delay, delay, thread->look_ns, now);

	return ran == LODE_RAN_ON || (ran == LODE_RAN_UNTIL && !(is_in_call && thread->is_late));
}

/*
 * The time that the thread has run since its last sample, so that the sum is what it ran. Before
 * its first one it is not known for how many threads that ended without a sample this one stands:
 * the time between two looks, by the chance of a look.
 */
static double weigh(LodeTracedThread *thread, const LodeRunDelay *delay)
{
	double weight_ns = thread->weight_ns;

	if (thread->counted_ns > 0 && delay->ran_ns > thread->counted_ns)
		weight_ns = (double)(delay->ran_ns - thread->counted_ns);
	if (delay->is_known)
		thread->counted_ns = delay->ran_ns;
	return weight_ns;
}

static void note_arrival(LodePtraceSampler *self, uint64_t passed_ns)
{
	self->found.arrival_ns += (MIN((double)passed_ns, SPIN_NS) - self->found.arrival_ns) /
	                          ARRIVALS;
}

/*
 * An interruption takes some time to another processor. A thread that is at the end of a system
 * call meanwhile stops there at once, so that what follows its calls would never be seen: it is
 * stopped again when as much time has passed for it as for the others.
 *
 *   asked ├──── arrival ────▶│ in its code
 *   asked ├─▶│ end of a call ┊
 *             └── goes on ───▶│ and stops again
 */
static bool ask_again(LodePtraceSampler *self, LodeTracedThread *thread,
	const struct user_regs_struct *registers, uint64_t now)
{
	double left_ns = self->found.arrival_ns - (double)(now - thread->asked_ns);
	struct user_regs_struct rest = *registers;
	LodePartedCall parted;

	if (is_beside(self, thread) || thread->is_second || left_ns <= 0 ||
		lode_interrupted_call_restarts(registers) ||
		lode_interrupted_call_part(&rest, thread->process->pid, &parted))
		return false;
	ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
	for (uint64_t until_ns = lode_now_ns() + (uint64_t)left_ns; lode_now_ns() < until_ns;)
		;
	thread->is_second = thread->is_asked = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) ==
	                                       0;
	return true;
}

/* False: the thread goes on already. What its user takes is not charged to samples. */
static bool show_user(
	LodePtraceSampler *self, LodeTracedThread *thread, const struct user_regs_struct *registers)
{
	if (self->user.in_stop == NULL || thread->is_late_for_user)
		return true;
	uint64_t begin_ns = lode_now_ns();
	bool is_stopped = self->user.in_stop(
		self->user.user_data, thread->process->pid, thread->tid, registers);
	uint64_t used_ns = lode_now_ns() - begin_ns;
	thread->is_late_for_user = !is_stopped;
	if (used_ns < LEAST_USE_NS)
		return is_stopped;
	self->found.used_ns += used_ns;
	LodeRunDelay delay = lode_traced_thread_delay(&self->threads, thread);
	if (delay.is_known)
		thread->counted_ns = delay.ran_ns;
	return is_stopped;
}

/* False: the thread goes on already. */
static bool take_sample(LodePtraceSampler *self, LodeTracedThread *thread)
{
	struct user_regs_struct registers;
	uint64_t now = lode_now_ns();

	if (!read_registers(thread, &registers))
		return true;
	bool is_in_call = lode_is_in_call(&registers);
	bound_restarts(thread, &registers);
	repair_call(thread, &registers);
	LodeRunDelay delay = lode_traced_thread_delay(&self->threads, thread);
	if (self->events == NULL || thread->is_spoiled) {
		/* no sample */
	} else if (!thread->is_second && !is_counted(thread, &delay, now, is_in_call)) {
		self->found.n_waiting++;
	} else if (is_in_call && ask_again(self, thread, &registers, now)) {
		return false;
	} else {
		if (!is_in_call && !thread->is_second && !is_beside(self, thread))
			note_arrival(self, now - thread->asked_ns);
		note_calls(self, thread, is_in_call);
		double weight_ns = weigh(thread, &delay);
		*(is_in_call ? &self->found.kernel_ns : &self->found.user_ns) += weight_ns;
		(*(is_in_call ? &self->found.n_in_kernel : &self->found.n_samples))++;
		if (!is_in_call) {
			lode_traced_records_sample(
				&self->records, thread, &registers, weight_ns, now);
			return show_user(self, thread, &registers);
		}
	}
	complete_call(thread, &registers);
	return true;
}

/* A call went on with its rest: its beginning, or its end. */
static void take_call(LodeTracedThread *thread)
{
	struct user_regs_struct registers;

	/* At its beginning the kernel has not called yet. */
	if (!read_registers(thread, &registers) || (int64_t)registers.rax == -ENOSYS)
		return;
	lode_parted_call_join(thread->parted, &registers);
	ptrace(PTRACE_SETREGS, thread->tid, NULL, &registers);
	g_clear_pointer(&thread->parted, g_free);
}

#else

static void repair_at_signal(LodeTracedThread *thread, int signal)
{
	(void)thread;
	(void)signal;
}

static void repair(const LodeTracedThread *thread)
{
	(void)thread;
}

static bool take_sample(LodePtraceSampler *self, LodeTracedThread *thread)
{
	(void)self;
	(void)thread;
	return true;
}

static void take_call(LodeTracedThread *thread)
{
	(void)thread;
}

#endif

/* --- processes that are let go --- */

static void let_go(LodePtraceSampler *self, LodeTracedThread *thread, int signal)
{
	repair(thread);
	ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)signal);
	lode_traced_threads_remove(&self->threads, thread);
}

/* Each thread must stop for it. */
static void ask_to_leave(LodePtraceSampler *self, const LodeTracedProcess *process)
{
	for (guint i = 0; i < self->threads.order->len; i++) {
		LodeTracedThread *thread = self->threads.order->pdata[i];
		if (thread->process == process && !thread->is_asked) {
			thread->is_asked = thread->is_spoiled = true;
			ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		}
	}
}

static LodeTrapUse read_trap_use(const LodeTracedThread *thread)
{
	g_autofree char *status = lode_thread_status_read(thread->process->pid, thread->tid);

	return lode_thread_status_trap(status);
}

/*
 * Debuggers and run-time environments that have a use for SIGTRAP are left alone. A thread may
 * block all signals for a moment, as pthread_create() does, or for ever, as servers' do: stops that
 * are asked for need no SIGTRAP, and leave a pending one. What counts is the mask that the program
 * begins with.
 */
static void check_signals(
	LodePtraceSampler *self, LodeTracedThread *thread, bool is_beginning, uint64_t now)
{
	LodeTracedProcess *process = thread->process;

	if (process->is_leaving ||
		(process->checked_ns > 0 && now < process->checked_ns + CHECK_NS))
		return;
	LodeTrapUse use = read_trap_use(thread);
	if (!use.is_known)
		return;
	process->checked_ns = now;
	const char *does = use.is_caught                    ? "catches"
	                   : use.is_ignored                 ? "ignores"
	                   : use.is_blocked && is_beginning ? "blocks"
	                                                    : NULL;
	if (does == NULL)
		return;
	process->is_leaving = true;
	if (self->found.n_let_go++ == 0)
		snprintf(self->found.let_go, sizeof(self->found.let_go),
			"process %d (%s), which %s it", (int)process->pid, thread->name, does);
	ask_to_leave(self, process);
}

/* --- what stops say --- */

/* Its first stop may come before the one of its parent that announces it: see /proc then. */
static bool read_parent(pid_t tid, pid_t *out_pid, pid_t *out_parent)
{
	g_autofree char *status = lode_thread_status_read(tid, tid);

	*out_pid = (pid_t)lode_thread_status_number(status, "Tgid", 10);
	*out_parent = (pid_t)lode_thread_status_number(status, "PPid", 10);
	return *out_pid > 0;
}

static LodeTracedThread *add_thread(
	LodePtraceSampler *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid)
{
	const LodeTracedProcess *parent = lode_traced_threads_find_process(
		&self->threads, parent_pid);
	LodeTracedThread *thread = lode_traced_threads_add(&self->threads, pid, tid, parent);

	if (self->events != NULL)
		lode_traced_records_begin(
			&self->records, thread, parent_pid, parent_tid, lode_now_ns());
	return thread;
}

static LodeTracedThread *find_or_add(LodePtraceSampler *self, pid_t tid)
{
	LodeTracedThread *thread = lode_traced_threads_find(&self->threads, tid);
	pid_t pid = tid, parent = 0;

	if (thread != NULL)
		return thread;
	if (!read_parent(tid, &pid, &parent))
		return add_thread(self, tid, tid, 0, 0);
	return pid == tid ? add_thread(self, pid, tid, parent, parent)
	                  : add_thread(self, pid, tid, pid, pid);
}

static bool is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

/* New threads and processes are traced already. */
static void take_birth(LodePtraceSampler *self, LodeTracedThread *thread)
{
	unsigned long number = 0;

	if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &number) != 0)
		return;
	pid_t tid = (pid_t)number, pid = thread->process->pid;
	if (lode_traced_threads_find(&self->threads, tid) == NULL)
		add_thread(self, is_thread_of(pid, tid) ? pid : tid, tid, pid, thread->tid);
}

static LodeTracedThread *take_execution(LodePtraceSampler *self, pid_t pid)
{
	LodeTracedThread *thread = lode_traced_threads_execute(&self->threads, pid);
	uint64_t now = lode_now_ns();

	if (self->events == NULL)
		return thread;
	thread->process->mapped_ns = now;
	lode_traced_records_name(&self->records, thread, true, now);
	lode_traced_records_map(&self->records, thread->process, now);
	check_signals(self, thread, true, now);
	return thread;
}

/* A stop of the tracer's: asked for, a new thread's first, or that of a process that is stopped. */
static void take_trap(LodePtraceSampler *self, LodeTracedThread *thread, int signal)
{
	bool was_asked = thread->is_asked;

	thread->is_frozen = signal != SIGTRAP;
	if (thread->is_frozen) {
		thread->was_stopped_by_group = true;
		thread->is_spoiled = true;
		ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
		return;
	}
	thread->is_asked = false;
	if (was_asked && !take_sample(self, thread))
		return;
	if (was_asked && !thread->is_spoiled)
		check_signals(self, thread, false, lode_now_ns());
	thread->is_spoiled = false;
	go_on(thread, 0);
}

/* True: the stop was its user's. */
static bool end_use(LodePtraceSampler *self, LodeTracedThread *thread, int signal)
{
	LodeLateStop late = self->user.take_late(self->user.user_data, thread->tid, signal);

	thread->is_late_for_user = late == LODE_LATE_STOP_BEFORE;
	return late == LODE_LATE_STOP_OWN;
}

static void take_stop(LodePtraceSampler *self, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	LodeTracedThread *thread = find_or_add(self, tid);
	bool is_trap = event == PTRACE_EVENT_STOP;
	bool is_frozen = is_trap && signal != SIGTRAP;

	if (thread->is_late_for_user && end_use(self, thread, event == 0 ? signal : 0))
		signal = 0;
	if (event == 0 && signal == (SIGTRAP | CALL_STOP)) {
		if (thread->parted != NULL)
			take_call(thread);
		signal = 0;
	}
	if (event == PTRACE_EVENT_EXEC)
		thread = take_execution(self, tid);
	else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
		 event == PTRACE_EVENT_VFORK)
		take_birth(self, thread);
	if ((thread->process->is_leaving || !self->is_tracing) && !is_frozen &&
		thread->parted == NULL && !thread->is_late_for_user) {
		let_go(self, thread, event == 0 ? signal : 0);
		return;
	}
	if (is_trap) {
		take_trap(self, thread, signal);
		return;
	}
	if (event == 0 && signal != 0)
		repair_at_signal(thread, signal);
	/* Any stop ends what was asked for before it. */
	if (thread->is_asked) {
		note_calls(self, thread, true);
		thread->is_spoiled = true;
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	}
	go_on(thread, event == 0 ? signal : 0);
}

static void take_end(LodePtraceSampler *self, pid_t tid, int status, const struct rusage *usage)
{
	LodeTracedThread *thread = lode_traced_threads_find(&self->threads, tid);

	if (tid == self->program) {
		self->has_program_ended = true;
		self->status = status;
		self->usage = *usage;
	}
	if (thread == NULL)
		return;
	if (self->events != NULL)
		lode_traced_records_end(&self->records, thread, lode_now_ns());
	lode_traced_threads_remove(&self->threads, thread);
}

/* Takes the next stop or end of a thread, or of any (−1): false when there is none. */
static bool take_next(LodePtraceSampler *self, pid_t tid)
{
	struct rusage usage;
	int status;
	pid_t found = wait4(tid, &status, WNOHANG | __WALL | __WNOTHREAD, &usage);

	if (found <= 0)
		return false;
	if (WIFSTOPPED(status))
		take_stop(self, found, status);
	else
		take_end(self, found, status, &usage);
	return true;
}

static void take_all(LodePtraceSampler *self)
{
	uint64_t start_ns = lode_now_ns();
	uint64_t n_samples = self->found.n_samples + self->found.n_in_kernel +
	                     self->found.n_waiting;
	bool has_any = false;

	while (take_next(self, -1))
		has_any = true;
	uint64_t end_ns = lode_now_ns();
	if (has_any && self->found.n_samples + self->found.n_in_kernel + self->found.n_waiting ==
			       n_samples)
		lode_stop_budget_add_other(&self->budget, end_ns - start_ns, end_ns);
}

/* --- looks --- */

static bool is_asked(const LodePtraceSampler *self, pid_t tid)
{
	const LodeTracedThread *thread = lode_traced_threads_find(&self->threads, tid);

	return thread != NULL && thread->is_asked;
}

/* It runs on another processor and comes in some microseconds; else it waits for one, and loses
 * nothing meanwhile: gives for how long. */
static uint64_t wait_a_moment(LodePtraceSampler *self, pid_t tid)
{
	uint64_t begin_ns = lode_now_ns();

	while (is_asked(self, tid) && lode_now_ns() < begin_ns + SPIN_NS)
		take_next(self, tid);
	return is_asked(self, tid) ? lode_now_ns() - begin_ns : 0;
}

/* It gets our processor, and stops there. Each stop is a SIGCHLD, which is blocked, and which
 * take_all() need not be told by. Gives how long lode slept. */
static uint64_t sleep_a_moment(LodePtraceSampler *self, pid_t tid)
{
	uint64_t until_ns = lode_now_ns() + SLEEP_NS, now, slept_ns = 0;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (is_asked(self, tid) && (now = lode_now_ns()) < until_ns) {
		const struct timespec left = {.tv_nsec = (long)(until_ns - now)};
		if (take_next(self, tid))
			continue;
		sigtimedwait(&child, NULL, &left);
		slept_ns += lode_now_ns() - now;
	}
	return slept_ns;
}

/* One of those that run is chosen by chance. */
static void choose_next(LodePtraceSampler *self, const LodeTracedThread *thread)
{
	self->n_found++;
	if (next_random(self) * self->n_found < 1)
		self->next_processor = thread->stat.processor;
}

/* More threads than run can wait for a processor: few of them are stopped, by chance. */
static double chance_of_stop(const LodePtraceSampler *self)
{
	unsigned most = RUNNING_OF_CPU * self->n_cpus;

	return self->n_running > most ? (double)most / self->n_running : 1;
}

/* Gives whether it runs, or waits for a processor. */
static bool look_at(
	LodePtraceSampler *self, LodeTracedThread *thread, double weight_ns, uint64_t look_ns)
{
	double chance = chance_of_stop(self);
	uint64_t start_ns = lode_now_ns(), used_ns = self->found.used_ns;
	LodeRunDelay delay = {0};

	if (!lode_traced_thread_is_running(&self->threads, thread, &delay)) {
		thread->n_waited = MIN(thread->n_waited + 1, 1000);
		return false;
	}
	thread->n_waited = 0;
	if (has_many_calls(thread) &&
		lode_own_processor_may_go(&self->own, thread->stat.processor)) {
		choose_next(self, thread);
		if (!is_beside(self, thread) && ++thread->n_missed < MOST_MISSES)
			return true;
	}
	thread->n_missed = 0;
	thread->asked_ns = lode_now_ns();
	if ((chance < 1 && next_random(self) >= chance) ||
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0)
		return true;
	thread->is_asked = true;
	thread->is_second = thread->is_spoiled = false;
	thread->look_ns = look_ns;
	thread->is_late = look_ns > self->timer_ns + PROMPT_NS;
	thread->weight_ns = weight_ns / chance;
	thread->delay = delay;
	bool is_here = thread->stat.processor == sched_getcpu();
	uint64_t free_ns = is_here ? sleep_a_moment(self, thread->tid)
	                           : wait_a_moment(self, thread->tid);
	uint64_t cost_ns = lode_now_ns() - start_ns - (self->found.used_ns - used_ns) - free_ns;
	lode_stop_budget_add_sample(&self->budget, cost_ns + (is_here ? BESIDE_NS : 0));
	return true;
}

static unsigned count_waiting(const LodePtraceSampler *self)
{
	unsigned n = 0;

	for (guint i = 0; i < self->threads.order->len; i++)
		n += lode_stop_budget_is_waiting(
			((const LodeTracedThread *)self->threads.order->pdata[i])->n_waited);
	return n;
}

static void look(LodePtraceSampler *self)
{
	uint64_t start_ns = lode_now_ns(), used_ns = self->found.used_ns;
	double interval_ns = lode_stop_budget_interval_ns(&self->budget, start_ns);
	double passed_ns = MIN(
		(double)(self->timer_ns - self->look_ns), MOST_INTERVALS * interval_ns);
	unsigned n_waiting = count_waiting(self), n_running = 0;
	g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(pid_t));

	self->n_found = 0;
	self->next_processor = -1;

	/* Threads come and go while others are looked at. */
	for (guint i = 0; i < self->threads.order->len; i++) {
		LodeTracedThread *thread = self->threads.order->pdata[i];
		double chance = lode_stop_budget_chance(thread->n_waited, n_waiting);
		if (thread->n_skips > 0) {
			thread->n_skips--;
			continue;
		}
		bool is_free = !thread->is_asked && !thread->is_frozen && thread->parted == NULL &&
		               !thread->is_late_for_user && !thread->process->is_leaving;
		if (is_free && (chance >= 1 || next_random(self) < chance))
			g_array_append_val(chosen, thread->tid);
	}
	for (guint i = 0; i < chosen->len; i++) {
		LodeTracedThread *thread = lode_traced_threads_find(
			&self->threads, g_array_index(chosen, pid_t, i));
		if (thread != NULL)
			n_running += look_at(self, thread,
				passed_ns / lode_stop_budget_chance(thread->n_waited, n_waiting),
				start_ns);
	}
	lode_stop_budget_add_round(
		&self->budget, lode_now_ns() - start_ns - (self->found.used_ns - used_ns));
	self->look_ns = self->timer_ns;
	self->n_running = n_running;
}

void lode_ptrace_sampler_update(LodePtraceSampler *self)
{
	uint64_t n_expired;

	take_all(self);
	if (self->timer_ns == 0 || read(self->timer, &n_expired, sizeof(n_expired)) < 0)
		return;
	look(self);
	take_all(self);
	/* Before the timer is set, as it comes where that was. */
	lode_own_processor_go(&self->own, self->next_processor);
	plan_look(self);
}

void lode_ptrace_sampler_step_aside(LodePtraceSampler *self, bool is_aside)
{
	if (is_aside && self->own.at >= 0) {
		self->next_processor = self->own.at;
		lode_own_processor_leave(&self->own);
	} else if (!is_aside && self->timer_ns > 0 && self->next_processor >= 0 &&
		   self->own.at < 0) {
		lode_own_processor_go(&self->own, self->next_processor);
		set_timer(self, self->timer_ns);
	}
}

/* --- rights by a file: set-user-ID, capabilities --- */

/* A tracer with this capability does not take rights from who it traces. */
static bool may_trace_all(void)
{
	g_autofree char *status = lode_thread_status_read(getpid(), getpid());

	return (lode_thread_status_number(status, "CapEff", 16) >> CAP_SYS_PTRACE & 1) != 0;
}

/* Neither gives rights on a file system or in a process that allows none. */
static bool gives_no_rights(const char *path)
{
	struct statvfs system;

	return (statvfs(path, &system) == 0 && (system.f_flag & ST_NOSUID) != 0) ||
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* Why the program, or of a script its interpreter, may not be traced: it has rights by its file
 * that the kernel does not give it while it is traced, execve(2). NULL: it may be. */
static char *find_obstacle(const char *path, const char *const *argv)
{
	g_autofree char *name = NULL;
	g_autoptr(GPtrArray) line = lode_script_program(path, argv, &name);
	const char *executed = line->pdata[0], *kind = NULL;
	struct stat status;

	if (stat(executed, &status) != 0)
		return NULL;
	if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid())
		kind = "set-user-ID";
	else if ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		 status.st_gid != getegid())
		kind = "set-group-ID";
	else if (getxattr(executed, "security.capability", NULL, 0) > 0)
		kind = "a program with capabilities";
	if (kind == NULL || may_trace_all() || gives_no_rights(executed))
		return NULL;
	return g_strdup_printf("'%s' is %s and would not get its rights while it is traced, so "
			       "that it ran without being sampled",
		executed, kind);
}

/* --- start and end --- */

bool lode_ptrace_sampler_begin(LodePtraceSampler *self, pid_t pid, const char *path,
	LodePerfEventSet *events, LodeKeptFiles *files, GError **error)
{
	const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	                     PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
	const LodePerfChoice *first = events->choices->pdata[0];
	bool is_default = self->wanted->first.ms > 0 || self->wanted->frequency == 0;

	self->program = pid;
	self->obstacle = find_obstacle(path, self->wanted->argv);
	if (self->obstacle != NULL)
		return true;
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"perf events are refused here (%s), and tracing by ptrace is, too: %s "
			"(kernel.yama.ptrace_scope of 2 or 3, or a seccomp filter)",
			self->reason, g_strerror(errno));
		return false;
	}
	self->is_tracing = true;
	self->events = events;
	lode_traced_records_init(&self->records, &first->attr,
		g_array_index(first->ids, uint64_t, 0),
		&g_array_index(events->cpus, LodePerfCpu, 0).ring, files);
	lode_traced_threads_add(&self->threads, pid, pid, NULL);
	lode_stop_budget_init(
		&self->budget, is_default ? 0 : self->wanted->frequency, lode_now_ns());
	return true;
}

int lode_ptrace_sampler_descriptor(const LodePtraceSampler *self)
{
	return self->timer;
}

void lode_ptrace_sampler_switch(LodePtraceSampler *self, bool is_on)
{
	if (is_on == self->is_on || !self->is_tracing)
		return;
	self->is_on = is_on;
	if (!is_on) {
		const struct itimerspec never = {0};
		timerfd_settime(self->timer, 0, &never, NULL);
		self->timer_ns = 0;
		lode_own_processor_go(&self->own, -1);
		return;
	}
	self->look_ns = lode_now_ns();
	if (self->budget.begin_ns == 0 || self->found.n_samples == 0)
		lode_stop_budget_init(&self->budget,
			self->budget.least_ns > 0 ? (uint64_t)(1e9 / self->budget.least_ns) : 0,
			self->look_ns);
	plan_look(self);
}

bool lode_ptrace_sampler_is_full(const LodePtraceSampler *self)
{
	return self->events != NULL &&
	       lode_perf_ring_used(self->records.ring) > self->records.ring->mask / 4;
}

bool lode_ptrace_sampler_reap(LodePtraceSampler *self, int *out_status, struct rusage *out_usage)
{
	take_all(self);
	if (!self->has_program_ended)
		return false;
	*out_status = self->status;
	*out_usage = self->usage;
	return true;
}

void lode_ptrace_sampler_end(LodePtraceSampler *self)
{
	uint64_t until_ns = lode_now_ns() + RELEASE_MS * (uint64_t)1000000;

	lode_ptrace_sampler_switch(self, false);
	self->is_tracing = false;
	self->events = NULL;
	for (guint i = 0; i < self->threads.order->len; i++) {
		LodeTracedThread *thread = self->threads.order->pdata[i];
		thread->is_spoiled = true;
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	}
	while (self->threads.order->len > 0 && lode_now_ns() < until_ns)
		if (!take_next(self, -1))
			g_usleep(200);
}

/* --- results --- */

/* Samples a second of a thread that runs; 0: there were none. */
static double sample_rate(const LodePtraceSampler *self)
{
	return self->found.user_ns > 0 ? (double)self->found.n_samples / (self->found.user_ns / 1e9)
	                               : 0;
}

double lode_ptrace_sampler_spent_ns(const LodePtraceSampler *self)
{
	return self->budget.spent_ns;
}

const char *lode_ptrace_sampler_text(LodePtraceSampler *self)
{
	double rate = sample_rate(self);

	g_free(self->text);
	self->text = rate > 0 ? g_strdup_printf("perf events are refused here (%s): sampled by "
						"ptrace, %.0f a second",
					self->reason, rate)
	                      : g_strdup_printf(
					"perf events are refused here (%s): sampled by ptrace",
					self->reason);
	return self->text;
}

const char *lode_ptrace_sampler_obstacle(const LodePtraceSampler *self)
{
	return self->obstacle;
}

void lode_ptrace_sampler_add_note(const LodePtraceSampler *self, GString *note)
{
	if (self->found.n_let_go > 0)
		lode_perf_note(note,
			"processes that have a use for SIGTRAP are not sampled by ptrace: %u, such "
			"as %s",
			self->found.n_let_go, self->found.let_go);
}
