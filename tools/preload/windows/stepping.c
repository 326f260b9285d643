/* SPDX-License-Identifier: MIT */
#include "stepping.h"

#include "../process_log.h"
#include "budget.h"
#include "known_code.h"
#include "next_instruction.h"
#include "real_signals.h"
#include "short_programs.h"
#include "thread_setup.h"
#include "window_log.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Beside the page of the budget. */
#define STATE_PLACE ((void *)0x552000110000)

enum { TRAP_FLAG = 0x100, ALIGNMENT_FLAG = 0x40000, RAISED_FLAGS = 0x3f, CODE_64_BIT = 0x33 };

/* Bits of MXCSR and of the x87 status and control words. */
enum { DENORMAL_FLAG = 1 << 1, UNDERFLOW_FLAG = 1 << 4, FLUSH_TO_ZERO = 1 << 15 };

/* The state of a signal's frame beyond that of fxsave: the kernel's mark in it, and then the parts
 * that are not in their initial state, of which x87 is bit 0. */
enum { FRAME_MARK_AT = 464, PARTS_AT = 512, INITIAL_CONTROL = 0x37f, TAGS_AND_AFTER = 20 };
#define FRAME_MARK UINT32_C(0x46505853)
enum { MAX_ROUNDS = 16, MAX_MET = 3, N_ATOMICS = 16 };
enum { SHORT_STEPS = 64, LONG_STEPS = 1000 }; /* at least; less than twice as many */

/* Codes of SIGTRAP that the headers of older C libraries lack. */
enum { CODE_TRACE = 2, CODE_PERF = 6 };

#define MILLION UINT64_C(1000000)
#define STALE_NS (500 * MILLION)
/* The cost of a window beside its steps: most of it afterwards, when caches are filled again. */
#define BESIDE_NS 150000

typedef struct {
	uint64_t all_ns, user_us, system_us;
} Usage;

/* The log is made when it is needed: most processes of a build or a script never have a window. */
typedef enum {
	LOG_NONE,
	LOG_BEGUN, /* by one thread */
	LOG_MADE,
} LogProgress;

typedef struct {
	WindowLog log;
	LogProgress progress;
	uint32_t pid;        /* 0: a child in which nothing has begun */
	uint32_t obstacle;   /* LodeWindowObstacle */
	uint32_t n_failures; /* to make the log */
	uint64_t n_signals;
	uintptr_t owner; /* the thread in a window, IS_BUSY: one that is at work here; 0: none */
	uint64_t random;
	Budget budget;
	uint64_t step_ns; /* what a step costs, about */
	bool was_lost;    /* a thread may come back with the flag set */

	/* The window that is drawn, then the one that is stepped. */
	uint32_t length; /* 0: none is drawn */
	bool is_long;
	uint64_t cost_ns, wanted_ns; /* it begins when the budget has so much as is wanted */
	LodeWindowHead head;
	uint64_t last_ns; /* time of the last step */
	Usage begin;      /* of the thread */
	Usage usage;      /* of all windows */
	KnownCode code;
	NextInstruction next;
	uint64_t next_address;
	uint8_t raised;     /* flags of MXCSR that the program must find at the end */
	uint8_t raised_x87; /* likewise of the x87 status word */
	uint32_t n_atomics;
	struct {
		uint64_t address;
		uint32_t n;
	} atomics[N_ATOMICS];
} State;

enum { IS_BUSY = 1, MAX_WAITS = 500, MAX_FAILURES = 4 };

static State *state;
static SteppingOptions options;
static const char *directory;
static bool is_installed;

/* A child has these, too. */
static struct sigaction program_action;
static LodeWindowObstacle first_obstacle;
static bool is_limited;

/* --- budget --- */

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
	uint64_t x = state->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	state->random = x;
	return (x * UINT64_C(0x2545f4914f6cdd1d) >> 32) * below >> 32;
}

/* Half of the steps are in windows of each kind. Those of a process's first window must be few, so
 * that a short one has some, too. */
static void draw_window(void)
{
	const uint64_t mean_short = SHORT_STEPS * 3 / 2 + LODE_WINDOW_WARM_UP;
	const uint64_t mean_long = LONG_STEPS * 3 / 2;

	state->is_long = state->budget.spent_ns > 0 && draw(mean_short + mean_long) < mean_short;
	state->length = state->is_long
	                        ? LONG_STEPS + (uint32_t)draw(LONG_STEPS)
	                        : LODE_WINDOW_WARM_UP + SHORT_STEPS + (uint32_t)draw(SHORT_STEPS);
	state->cost_ns = state->length * state->step_ns + BESIDE_NS;
	state->wanted_ns = state->cost_ns / 2 + draw(state->cost_ns);
}

/* --- the log --- */

/* False: there is no log: it could not be made, or another thread is making it. */
static bool make_log(void)
{
	LogProgress progress = LOG_NONE;

	if (!__atomic_compare_exchange_n(&state->progress, &progress, LOG_BEGUN, false,
		    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return progress == LOG_MADE;
	if (!window_log_open(&state->log, directory)) {
		if (++state->n_failures == MAX_FAILURES)
			state->obstacle = LODE_WINDOW_OBSTACLE_MEMORY;
		__atomic_store_n(&state->progress, LOG_NONE, __ATOMIC_RELEASE);
		return false;
	}
	state->log.header->flags = LODE_WINDOW_LOG_UNDERFLOWS |
	                           (options.is_timed ? LODE_WINDOW_LOG_TIMER : 0);
	__atomic_store_n(&state->progress, LOG_MADE, __ATOMIC_SEQ_CST);
	/* Windows may have been stopped meanwhile. */
	state->log.header->obstacle = __atomic_load_n(&state->obstacle, __ATOMIC_SEQ_CST);
	return true;
}

static bool has_log(void)
{
	return __atomic_load_n(&state->progress, __ATOMIC_SEQ_CST) == LOG_MADE;
}

/* --- windows --- */

/* The kernel counts the two by ticks, and late; their sum is exact by the clock only. */
static void read_usage(Usage *out_usage)
{
	struct rusage usage = {0};
	struct timespec used = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	getrusage(RUSAGE_THREAD, &usage);
	*out_usage = (Usage){
		.all_ns = (uint64_t)(used.tv_sec * 1000000000 + used.tv_nsec),
		.user_us = (uint64_t)(usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec),
		.system_us = (uint64_t)(usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec),
	};
}

/* All of the windows', of which the parts by ticks only say how it is divided. */
static void add_usage(uint64_t all_ns, uint64_t user_us, uint64_t system_us)
{
	Usage *sum = &state->usage;

	sum->all_ns += all_ns;
	sum->user_us += user_us;
	sum->system_us += system_us;
	uint64_t whole_us = sum->user_us + sum->system_us;
	uint64_t user_ns = whole_us != 0 ? (uint64_t)((double)sum->all_ns * (double)sum->user_us /
						      (double)whole_us)
	                                 : 0;
	state->log.header->user_ns = user_ns;
	state->log.header->system_ns = sum->all_ns - user_ns;
}

/* By the numbers of the registers in instructions. */
static const uint8_t register_places[LODE_WINDOW_REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX,
	REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
	REG_R14, REG_R15};

static bool add_step(const mcontext_t *machine, uint8_t raised, bool is_gap)
{
	WindowStep step = {
		.address = (uint64_t)machine->gregs[REG_RIP],
		.raised = raised,
		.is_gap = is_gap,
	};

	if (options.has_registers)
		for (size_t i = 0; i < LODE_WINDOW_REGISTERS; i++)
			step.registers[i] = (uint64_t)machine->gregs[register_places[i]];
	if (!window_log_add(&state->log, &step))
		return false;
	state->head.n_steps++;
	return true;
}

/* Shows the window, and draws the next. The thread's time is not known where another ends it. */
static void publish(LodeWindowEnd end, uint64_t end_ns, bool is_own)
{
	LodeWindowLogHeader *header = state->log.header;
	const uint32_t n = state->head.n_steps;
	uint64_t cost = n * state->step_ns;

	state->head.end = (uint8_t)end;
	state->head.end_ns = end_ns;
	if (n > 0) {
		window_log_end(&state->log, state->head);
		header->n_windows++;
		header->n_steps += n;
	}
	header->window_ns += end_ns - state->head.begin_ns;
	if (is_own) {
		Usage now;
		read_usage(&now);
		cost = now.all_ns - state->begin.all_ns;
		add_usage(cost, now.user_us - state->begin.user_us,
			now.system_us - state->begin.system_us);
		if (n >= SHORT_STEPS)
			state->step_ns = (3 * state->step_ns + cost / n) / 4;
	} else {
		add_usage(cost, 0, 0);
	}
	budget_settle(&state->budget, cost + BESIDE_NS);
	if (end == LODE_WINDOW_END_ROOM)
		stepping_stop(LODE_WINDOW_OBSTACLE_MEMORY);
	draw_window();
}

/* The window's thread jumped out of a handler that was set by a system call, or has not come back
 * from one for long: it may yet come back with the flag set. */
static void publish_lost(void)
{
	state->was_lost = true;
	publish(LODE_WINDOW_END_LOST, state->last_ns, false);
}

/* False: no code that may be stepped. */
static bool look_at(uint64_t address, NextInstruction *out_next)
{
	uint8_t buffer[KNOWN_CODE_BYTES];
	size_t n;
	const uint8_t *code = known_code_read((uintptr_t)address, &state->code, buffer, &n);

	*out_next = code != NULL ? next_instruction(code, n) : NEXT_UNSAFE;
	return code != NULL;
}

static bool is_contended(uint64_t address)
{
	uint32_t n = state->n_atomics < N_ATOMICS ? state->n_atomics : N_ATOMICS;

	for (uint32_t i = 0; i < n; i++)
		if (state->atomics[i].address == address)
			return ++state->atomics[i].n >= MAX_MET;
	uint32_t place = state->n_atomics++ % N_ATOMICS;
	state->atomics[place].address = address;
	state->atomics[place].n = 1;
	return false;
}

/* Whether the window must end before the next instruction, and why. */
static bool must_end(const mcontext_t *machine, LodeWindowEnd *out_end)
{
	const uint64_t address = (uint64_t)machine->gregs[REG_RIP];

	if (!look_at(address, &state->next)) {
		*out_end = LODE_WINDOW_END_UNKNOWN_CODE;
		return true;
	}
	if (!stepping_is_on()) {
		*out_end = LODE_WINDOW_END_UNSAFE;
		return true;
	}
	state->next_address = address;
	switch (state->next) {
	case NEXT_SYSTEM_CALL:
		*out_end = LODE_WINDOW_END_SYSTEM_CALL;
		return true;
	case NEXT_UNSAFE:
		*out_end = LODE_WINDOW_END_UNSAFE;
		return true;
	case NEXT_ATOMIC:
		*out_end = LODE_WINDOW_END_CONTENDED;
		return is_contended(address);
	case NEXT_REPEAT:
		*out_end = LODE_WINDOW_END_REPEAT;
		return (uint64_t)machine->gregs[REG_RCX] > MAX_ROUNDS;
	default:
		*out_end = LODE_WINDOW_END_LENGTH;
		return state->head.n_steps + 1 >= state->length;
	}
}

/* Which parts of the state are not initial; NULL: not known, all of them may be in use. */
static uint64_t *parts_in_use(const mcontext_t *machine)
{
	uint8_t *frame = (uint8_t *)machine->fpregs;
	uint32_t mark;

	memcpy(&mark, frame + FRAME_MARK_AT, sizeof(mark));
	return mark == FRAME_MARK ? (uint64_t *)(void *)(frame + PARTS_AT) : NULL;
}

/* Flags that are not masked are left: they have the next x87 instruction fault. */
static uint8_t take_raised_x87(mcontext_t *machine)
{
	const uint64_t *parts = parts_in_use(machine);
	uint16_t raised = machine->fpregs->swd & machine->fpregs->cwd &
	                  (DENORMAL_FLAG | UNDERFLOW_FLAG);

	if (raised == 0 || (parts != NULL && (*parts & 1) == 0))
		return 0;
	machine->fpregs->swd &= (uint16_t)~raised;
	return (uint8_t)raised;
}

static void give_raised_back_x87(mcontext_t *machine)
{
	uint64_t *parts = parts_in_use(machine);

	if (state->raised_x87 == 0)
		return;
	/* Without the flags all of it was initial: so it is written out. */
	if (parts != NULL && (*parts & 1) == 0) {
		uint8_t *frame = (uint8_t *)machine->fpregs;
		memset(frame, 0, sizeof(uint16_t) * 2 + TAGS_AND_AFTER);
		memset(machine->fpregs->_st, 0, sizeof(machine->fpregs->_st));
		machine->fpregs->cwd = INITIAL_CONTROL;
		*parts |= 1;
	}
	machine->fpregs->swd |= state->raised_x87;
}

/*
 * The sticky flags are cleared before each instruction, so that those seen after it are its own.
 * Whoever reads or sets them finds what would be there without us, and what is there after it is
 * what the program has.
 */
static uint8_t take_raised(mcontext_t *machine, NextInstruction before)
{
	uint8_t raised = machine->fpregs->mxcsr & RAISED_FLAGS, x87 = take_raised_x87(machine);

	if (before == NEXT_STATUS)
		state->raised = state->raised_x87 = 0;
	state->raised |= raised;
	state->raised_x87 |= x87;
	machine->fpregs->mxcsr &= ~(uint32_t)RAISED_FLAGS;
	if ((machine->fpregs->mxcsr & FLUSH_TO_ZERO) != 0)
		raised &= (uint8_t)~UNDERFLOW_FLAG;
	return before == NEXT_STATUS ? 0 : raised | x87;
}

static void give_raised_back(mcontext_t *machine)
{
	machine->fpregs->mxcsr |= state->raised;
	give_raised_back_x87(machine);
}

/* Also called for a window's first instruction. */
static void step(mcontext_t *machine)
{
	const uint64_t length = (uint64_t)machine->gregs[REG_RIP] - state->next_address;
	const bool is_first = state->head.n_steps == 0;
	/* A handler of the program's can have it go on elsewhere. */
	const bool is_gap = !is_first && state->next != NEXT_BRANCH &&
	                    (length == 0 || length > KNOWN_CODE_BYTES);
	LodeWindowEnd end;

	state->last_ns = window_log_now();
	if (!is_first && state->next == NEXT_REPEAT && length == 0)
		return;
	uint8_t raised = take_raised(machine, state->next);
	bool is_last = must_end(machine, &end);
	if (!add_step(machine, raised, is_gap)) {
		is_last = true;
		end = LODE_WINDOW_END_ROOM;
	}
	if (is_last || state->next == NEXT_STATUS)
		give_raised_back(machine);
	if (is_last) {
		machine->gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		publish(end, state->last_ns, true);
	}
}

static bool can_begin(const ucontext_t *context)
{
	const mcontext_t *machine = &context->uc_mcontext;
	const uint64_t address = (uint64_t)machine->gregs[REG_RIP];
	NextInstruction next;

	/* A stack that is too small for the frames of signals is none of ours: see thread_setup.h.
	 */
	if (context->uc_stack.ss_size == 0 || machine->fpregs == NULL ||
		(machine->gregs[REG_EFL] & TRAP_FLAG) != 0 ||
		(machine->gregs[REG_CSGSFS] & 0xffff) != CODE_64_BIT || !look_at(address, &next))
		return false;
	return next == NEXT_PLAIN || next == NEXT_BRANCH || next == NEXT_STATUS;
}

static void begin_window(ucontext_t *context, uint64_t now)
{
	state->code = (KnownCode){0};
	if (!can_begin(context)) {
		state->log.header->n_passed++;
		budget_settle(&state->budget, 0);
		return;
	}
	state->head = (LodeWindowHead){
		.tid = (uint32_t)syscall(SYS_gettid),
		.flags = (uint8_t)((options.has_registers ? LODE_WINDOW_HAS_REGISTERS : 0) |
				   (state->is_long ? LODE_WINDOW_IS_LONG : 0)),
		.begin_ns = now,
		.thread_pointer = options.has_registers ? thread_pointer() : 0,
	};
	read_usage(&state->begin);
	state->n_atomics = 0;
	state->raised = state->raised_x87 = 0;
	/* Flags raised before the window are kept, and belong to no step. */
	state->next = NEXT_STATUS;
	window_log_begin(&state->log);
	context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	step(&context->uc_mcontext);
}

/* --- signals --- */

static bool take(uintptr_t *owner, uintptr_t from, uintptr_t to)
{
	return __atomic_compare_exchange_n(
		owner, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void release(uintptr_t self, const ucontext_t *context)
{
	bool is_stepped = (context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG) != 0;

	__atomic_store_n(&state->owner, is_stepped ? self : 0, __ATOMIC_RELEASE);
}

/* Takes the state when it is free, or when its window was left for long. */
static bool take_free(uintptr_t self, uint64_t now)
{
	uintptr_t owner = __atomic_load_n(&state->owner, __ATOMIC_RELAXED);

	if (owner == 0)
		return take(&state->owner, 0, self | IS_BUSY);
	if ((owner & IS_BUSY) != 0 ||
		now - __atomic_load_n(&state->last_ns, __ATOMIC_RELAXED) < STALE_NS ||
		!take(&state->owner, owner, self | IS_BUSY))
		return false;
	publish_lost();
	return true;
}

/* Whether the program has worked long enough for the next window, which can be kept. */
static bool is_due(void)
{
	if (state->length == 0)
		draw_window();
	if (!budget_reserve(&state->budget, state->wanted_ns, state->cost_ns))
		return false;
	if (make_log())
		return true;
	budget_settle(&state->budget, 0);
	return false;
}

static void take_chance(uintptr_t self, ucontext_t *context)
{
	uint64_t now = window_log_now();

	/* The log is not read any more. */
	if (budget_is_over()) {
		threads_stop_timers();
		return;
	}
	short_programs_leave_out();
	uint64_t n_signals = __atomic_add_fetch(&state->n_signals, 1, __ATOMIC_RELAXED);
	if (has_log())
		state->log.header->n_signals = n_signals;
	if (!take_free(self, now))
		return;
	if (is_due())
		begin_window(context, now);
	release(self, context);
}

/* In the thread that has a window. */
static void take_own(uintptr_t self, ucontext_t *context, bool is_trace)
{
	mcontext_t *machine = &context->uc_mcontext;

	if ((machine->gregs[REG_EFL] & TRAP_FLAG) == 0)
		publish_lost();
	/* The kernel keeps the first of two signals at once: an event's may be a step, too. */
	else if (is_trace || (uint64_t)machine->gregs[REG_RIP] != state->next_address)
		step(machine);
	release(self, context);
}

/* --- signals of others --- */

/* It comes when this handler returns. A signal is pending only once: one of ours that is would be
 * in its place. */
static void send_again(siginfo_t *info)
{
	const struct timespec now = {0, 0};
	sigset_t trap;
	long pid = syscall(SYS_getpid), tid = syscall(SYS_gettid);
	siginfo_t pending;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	while (real_signals()->sigtimedwait(&trap, &pending, &now) == SIGTRAP &&
		stepping_is_chance(&pending))
		;
	if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, (long)SIGTRAP, info) != 0)
		syscall(SYS_tgkill, pid, tid, (long)SIGTRAP);
}

/* By the default action: same status, same core. */
static void die(siginfo_t *info)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	real_signals()->sigaction(SIGTRAP, &action, NULL);
	send_again(info);
}

static void give_to_program(int number, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action = program_action;

	/* Where the program has blocked all, it waits until that ends. */
	if (info->si_code <= 0 && thread_is_masked()) {
		stepping_interrupt(context);
		sigaddset(&context->uc_sigmask, SIGTRAP);
		send_again(info);
		return;
	}
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
		die(info);
		return;
	}
	if ((action.sa_flags & (int)SA_RESETHAND) != 0)
		program_action.sa_handler = SIG_DFL;
	if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

bool stepping_is_chance(const siginfo_t *info)
{
	uint64_t data;

	/* si_perf_data, which older headers lack, lies after the address. */
	memcpy(&data, (const char *)&info->si_addr + sizeof(info->si_addr), sizeof(data));
	return (info->si_code == CODE_PERF && data == LODE_WINDOW_SIGNAL) ||
	       (info->si_code == SI_TIMER &&
		       info->si_value.sival_ptr == (const void *)LODE_WINDOW_SIGNAL);
}

/* The kernel lets a handler have the flag that faults accesses which are not aligned. */
static void allow_unaligned(void)
{
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)ALIGNMENT_FLAG);
}

/* A thread whose pointer is not its own has no errno of its own; a pointer of 0 stands for no
 * owner. */
static void handle(int number, siginfo_t *info, void *given)
{
	allow_unaligned();
	ucontext_t *context = given;
	const uintptr_t self = thread_pointer();
	const bool is_trace = info->si_code == CODE_TRACE, is_chance = stepping_is_chance(info);
	const bool is_known = thread_is_known(self);
	const int code = is_known ? errno : 0;

	if ((is_trace || is_chance) && self != 0 && take(&state->owner, self, self | IS_BUSY)) {
		take_own(self, context, is_trace);
	} else if (is_chance) {
		if (is_known && stepping_is_on())
			take_chance(self, context);
	} else if (is_trace && state->was_lost) {
		context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	} else {
		give_to_program(number, info, context);
		return;
	}
	if (is_known)
		errno = code;
}

void stepping_interrupt(ucontext_t *context)
{
	mcontext_t *machine = &context->uc_mcontext;
	const uint64_t flags = __builtin_ia32_readeflags_u64();

	if ((machine->gregs[REG_EFL] & TRAP_FLAG) == 0)
		return;
	allow_unaligned();
	const uintptr_t self = thread_pointer();
	const int code = errno;
	if (take(&state->owner, self, self | IS_BUSY)) {
		machine->gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		give_raised_back(machine);
		publish(LODE_WINDOW_END_LOST, state->last_ns, true);
		release(self, context);
	}
	errno = code;
	__builtin_ia32_writeeflags_u64(flags);
}

static int install(void)
{
	struct sigaction action = {
		.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	sigfillset(&action.sa_mask);
	return real_signals()->sigaction(SIGTRAP, &action, NULL);
}

/* As the program's own would be installed, but for what would be different at our signals. */
static int install_for_program(const struct sigaction *given)
{
	struct sigaction action = *given;

	action.sa_sigaction = handle;
	action.sa_flags = (given->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	return real_signals()->sigaction(SIGTRAP, &action, NULL);
}

int stepping_program_action(const struct sigaction *given, struct sigaction *out_old)
{
	const struct sigaction old = program_action;
	int result = 0;

	if (given != NULL) {
		if (given->sa_handler == SIG_IGN)
			result = real_signals()->sigaction(SIGTRAP, given, NULL);
		else if (given->sa_handler == SIG_DFL)
			result = install();
		else
			result = install_for_program(given);
		if (result == 0)
			program_action = *given;
	}
	if (out_old != NULL)
		*out_old = old;
	return result;
}

void stepping_give_back_action(void)
{
	real_signals()->sigaction(SIGTRAP, &program_action, NULL);
}

/* --- life --- */

bool stepping_begin(const SteppingOptions *given)
{
	State *at = map_far(STATE_PLACE, sizeof(State), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (at == NULL)
		return false;
	if (syscall(SYS_madvise, at, sizeof(State), MADV_WIPEONFORK) != 0) {
		syscall(SYS_munmap, at, sizeof(State));
		return false;
	}
	options = *given;
	directory = given->directory;
	state = at;
	return true;
}

void stepping_open(void)
{
	/* A full log is not the child's. */
	const LodeWindowObstacle obstacle = first_obstacle == LODE_WINDOW_OBSTACLE_MEMORY
	                                            ? LODE_WINDOW_OBSTACLE_NONE
	                                            : first_obstacle;

	state->pid = (uint32_t)syscall(SYS_getpid);
	state->step_ns = 8000;
	state->random = options.seed != 0 ? options.seed
	                                  : window_log_now() ^ (uint64_t)state->pid << 40;
	state->obstacle = obstacle;
	if (obstacle != LODE_WINDOW_OBSTACLE_NONE)
		make_log();
	else if (!is_installed)
		is_installed = install() == 0;
}

void stepping_begin_program(void)
{
	budget_begin(&state->budget);
}

void stepping_end_program(void)
{
	if (state != NULL && !is_limited && stepping_is_own_process())
		short_programs_end(budget_tell(&state->budget));
}

void stepping_keep_log(void)
{
	if (stepping_is_installed() && stepping_is_own_process() && stepping_is_on())
		make_log();
}

void stepping_stop(LodeWindowObstacle obstacle)
{
	uint32_t none = LODE_WINDOW_OBSTACLE_NONE;

	if (first_obstacle == LODE_WINDOW_OBSTACLE_NONE)
		first_obstacle = obstacle;
	if (state == NULL || state->pid == 0 ||
		!__atomic_compare_exchange_n(&state->obstacle, &none, obstacle, false,
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	if (make_log())
		state->log.header->obstacle = obstacle;
}

void stepping_limit(void)
{
	is_limited = true;
}

bool stepping_is_limited(void)
{
	return is_limited;
}

/* A thread that is in a window ends it at its next step. */
void stepping_wait(void)
{
	const struct timespec moment = {0, 1000000};

	for (int i = 0; i < MAX_WAITS && state != NULL; i++) {
		if (__atomic_load_n(&state->owner, __ATOMIC_ACQUIRE) == 0)
			return;
		syscall(SYS_nanosleep, &moment, NULL);
	}
}

bool stepping_is_begun(void)
{
	return state != NULL && state->pid != 0;
}

bool stepping_is_on(void)
{
	return stepping_is_begun() &&
	       __atomic_load_n(&state->obstacle, __ATOMIC_RELAXED) == LODE_WINDOW_OBSTACLE_NONE;
}

bool stepping_is_installed(void)
{
	return is_installed;
}

bool stepping_has_events(void)
{
	return !options.is_timed;
}

bool stepping_is_own_process(void)
{
	return state->pid == 0 || (long)state->pid == syscall(SYS_getpid);
}
