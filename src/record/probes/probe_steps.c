/* SPDX-License-Identifier: MIT */
#include "record/probes/probe_steps.h"

#include "base/monotonic_clock.h"
#include "images/instructions/instruction_decoder.h"
#include "record/programs/running_process.h"
#include "record/ptrace/own_processor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum {
	STOP_MS = 5,          /* a thread in the kernel may take long to stop… */
	STEP_MS = 20,         /* …and one that has to wait for a processor, to step */
	MOST_ROUNDS = 16,     /* of a repeated string instruction, each a step */
	CONTENDED_ROUNDS = 3, /* around an atomic instruction or pause */
	MAX_ATOMICS = 16,
	MOST_PENDING = 32, /* signals that are looked at; a trap of a step is among the first */
	DENORMAL = 1 << 1, /* sticky flags of MXCSR and of the x87 status word */
	UNDERFLOW = 1 << 4,
	STICKY = 0x3f,
	FLUSH_TO_ZERO = 1 << 15, /* of MXCSR */
	NATIVE_SEGMENT = 0x33,   /* of 64-bit code; that of others is different */
};

typedef enum { STOPPED, SIGNAL, GROUP_STOP, LATE, ENDED } Stop;

typedef struct {
	LodeProbeSteps *steps;
	LodeProbePlaces *places;
	struct user_regs_struct registers;
	int signal; /* of the last stop, to be passed on; 0: none */
	uint64_t atomics[MAX_ATOMICS];
	unsigned n_atomics;
} Tracing;

static uint64_t ran_ns(const LodeProbeSteps *self)
{
	char path[64], text[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)self->pid, (int)self->tid);
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return 0;
	char *line = fgets(text, sizeof(text), file);
	fclose(file);
	return line != NULL ? g_ascii_strtoull(line, NULL, 10) : 0;
}

/* --- stops --- */

/* Whether the last stop is that of a step. */
static bool is_step(const LodeProbeSteps *self)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, self->tid, NULL, &info) == 0 && info.si_signo == SIGTRAP &&
	       (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT ||
		       info.si_code == TRAP_HWBKPT);
}

/* The stop or end of a thread that is traced, if there is one. The end of lode's own child is left
 * to be waited for; that of others is taken here, as their parents are told after that. For a
 * thread that is traced by the sampler too, only stops of steps are taken. */
static Stop take_stop(const LodeProbeSteps *self, int *out_signal)
{
	siginfo_t info = {0};
	int status;

	*out_signal = 0;
	if (waitid(P_PID, (id_t)self->tid, &info,
		    WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
		return errno == ECHILD ? ENDED : LATE;
	if (info.si_pid == 0)
		return LATE;
	bool is_end = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
	              info.si_code == CLD_DUMPED;
	if (is_end && (self->is_kept || self->tid == self->child))
		return ENDED;
	if (self->is_kept && !(info.si_status == SIGTRAP && is_step(self))) {
		*out_signal = info.si_status;
		return SIGNAL;
	}
	if (waitpid(self->tid, &status, WNOHANG | __WALL) != self->tid || !WIFSTOPPED(status))
		return ENDED;
	if (status >> 16 == PTRACE_EVENT_STOP)
		return WSTOPSIG(status) == SIGTRAP ? STOPPED : GROUP_STOP;
	*out_signal = WSTOPSIG(status);
	return SIGNAL;
}

/* Sleeps until the thread stops; each stop is a SIGCHLD. */
static Stop wait_for_stop(const LodeProbeSteps *self, unsigned limit_ms, int *out_signal)
{
	uint64_t end_ns = lode_now_ns() + limit_ms * UINT64_C(1000000), now;
	sigset_t child;
	Stop stop;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while ((stop = take_stop(self, out_signal)) == LATE && (now = lode_now_ns()) < end_ns) {
		const struct timespec left = {.tv_nsec = (long)(end_ns - now)};
		sigtimedwait(&child, NULL, &left);
	}
	return stop;
}

/* The flags that were cleared meanwhile are set again. */
static void restore_raised(const LodeProbeSteps *self)
{
	struct user_fpregs_struct state;

	if ((self->mxcsr | self->x87) == 0 ||
		ptrace(PTRACE_GETFPREGS, self->tid, NULL, &state) != 0)
		return;
	state.mxcsr |= self->mxcsr;
	state.swd |= self->x87;
	ptrace(PTRACE_SETFPREGS, self->tid, NULL, &state);
}

/* Whether the SIGTRAP of a step is still pending. A thread that is detached from now would get it,
 * and end. */
static bool has_step_pending(const LodeProbeSteps *self)
{
	struct __ptrace_peeksiginfo_args which = {.nr = MOST_PENDING};
	siginfo_t infos[MOST_PENDING];
	long n = ptrace(PTRACE_PEEKSIGINFO, self->tid, &which, infos);

	for (long i = 0; i < n; i++)
		if (infos[i].si_signo == SIGTRAP && infos[i].si_code == TRAP_TRACE)
			return true;
	return false;
}

static void detach(const LodeProbeSteps *self, int signal)
{
	restore_raised(self);
	ptrace(PTRACE_DETACH, self->tid, NULL, (void *)(intptr_t)signal);
}

/* A system call that the interruption ended is begun again. False: it moved a part of its bytes
 * before, and goes on with the rest. */
static bool complete_call(LodeProbeSteps *self)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, self->tid, NULL, &registers) != 0)
		return true;
	if (lode_interrupted_call_repair(&registers))
		ptrace(PTRACE_SETREGS, self->tid, NULL, &registers);
	else if (lode_interrupted_call_part(&registers, self->pid, &self->parted) &&
		 ptrace(PTRACE_SETREGS, self->tid, NULL, &registers) == 0)
		self->is_parted = ptrace(PTRACE_SYSCALL, self->tid, NULL, NULL) == 0;
	return !self->is_parted;
}

/* The thread has stopped in a call that moves the rest. False: that is not at its end. */
static bool end_call(LodeProbeSteps *self, Stop stop, int signal)
{
	struct user_regs_struct registers;

	if (stop == GROUP_STOP) {
		ptrace(PTRACE_LISTEN, self->tid, NULL, NULL);
		return false;
	}
	bool is_known = ptrace(PTRACE_GETREGS, self->tid, NULL, &registers) == 0;
	/* At its beginning the kernel has not called yet. */
	if (stop != SIGNAL || signal != SIGTRAP || !is_known || (int64_t)registers.rax == -ENOSYS) {
		int passed_on = stop == SIGNAL && signal != SIGTRAP ? signal : 0;
		ptrace(PTRACE_SYSCALL, self->tid, NULL, (void *)(intptr_t)passed_on);
		return false;
	}
	lode_parted_call_join(&self->parted, &registers);
	ptrace(PTRACE_SETREGS, self->tid, NULL, &registers);
	self->is_parted = false;
	detach(self, 0);
	return true;
}

/* A signal is passed on, except the trap of a step, which would end the program. False: the thread
 * goes on to that trap, or has a call to complete before. */
static bool let_go(LodeProbeSteps *self, Stop stop, int signal)
{
	if (stop == ENDED)
		return true;
	if (self->is_parted)
		return end_call(self, stop, signal);
	if (stop == STOPPED && !complete_call(self))
		return false;
	/* Before the first step it is the program's, which steps itself. */
	bool is_own = self->has_stepped && stop == SIGNAL && signal == SIGTRAP && is_step(self);
	if (self->has_stepped && !is_own && has_step_pending(self)) {
		ptrace(PTRACE_CONT, self->tid, NULL, (void *)(intptr_t)signal);
		return false;
	}
	detach(self, is_own ? 0 : signal);
	return true;
}

bool lode_probe_steps_let_go(LodeProbeSteps *self)
{
	int signal;
	Stop stop = take_stop(self, &signal);

	return stop != LATE && let_go(self, stop, signal);
}

/* --- what may be stepped --- */

/* Read while the thread is stopped: a trap would unblock the signal, or reset its handling, for
 * good. */
static bool leaves_trap_alone(const LodeProbeSteps *self)
{
	g_autofree char *status = lode_thread_status_read(self->pid, self->tid);
	LodeTrapUse use = lode_thread_status_trap(status);

	return use.is_known &&
	       !(use.is_blocked || use.is_ignored || use.is_caught || use.is_pending);
}

/* Instructions that would show the trap flag, or that sticky flags were cleared; by how their names
 * begin. */
static bool is_unsafe(const char *name)
{
	static const char *const unsafe[] = {"int", "pushf", "popf", "iret", "xbegin", "sti", "cli",
		"hlt", "ud0", "ud1", "ud2", "stmxcsr", "vstmxcsr", "ldmxcsr", "vldmxcsr", "fnst",
		"fldenv", "fnsave", "frstor", "fnclex", "fninit", "fxsave", "fxrstor", "xsave",
		"xrstor"};

	for (size_t i = 0; i < G_N_ELEMENTS(unsafe); i++)
		if (g_str_has_prefix(name, unsafe[i]))
			return true;
	return false;
}

/* Whether it loads the stack segment (mov, lss), after which one more instruction is executed
 * before the trap. */
static bool loads_stack_segment(Tracing *self)
{
	enum { MOV_SEGMENT = 0x8e, TWO_BYTES = 0x0f, LSS = 0xb2, SS = 2 };
	size_t size = 0, i = 0;
	const uint8_t *code = lode_probe_places_code(self->places, self->registers.rip, &size);

	while (code != NULL && i < size && (code[i] == 0x66 || (code[i] & 0xf0) == 0x40))
		i++;
	return code != NULL && i + 1 < size &&
	       ((code[i] == MOV_SEGMENT && (code[i + 1] >> 3 & 7) == SS) ||
		       (code[i] == TWO_BYTES && code[i + 1] == LSS));
}

/* Why an instruction is not to be stepped over; LENGTH: it may be. */
static LodeWindowEnd obstacle_at(Tracing *self, const LodeDecodedInstruction *decoded)
{
	uint64_t address = self->registers.rip;
	char text[32];

	if (decoded->length == 0)
		return LODE_WINDOW_END_UNKNOWN_CODE;
	if ((decoded->kinds & 1u << LODE_KIND_SYSCALL) != 0)
		return LODE_WINDOW_END_SYSTEM_CALL;
	if (lode_instruction_string_width(decoded) > 0 && self->registers.rcx > MOST_ROUNDS)
		return LODE_WINDOW_END_REPEAT;
	const char *name = lode_instruction_mnemonic(decoded, text, sizeof(text));
	if (is_unsafe(name) || loads_stack_segment(self))
		return LODE_WINDOW_END_UNSAFE;
	if ((decoded->kinds & 1u << LODE_KIND_ATOMIC) == 0 && strcmp(name, "pause") != 0)
		return LODE_WINDOW_END_LENGTH;
	unsigned n = 0;
	for (unsigned i = 0; i < self->n_atomics; i++)
		n += self->atomics[i] == address;
	if (n >= CONTENDED_ROUNDS || self->n_atomics == MAX_ATOMICS)
		return LODE_WINDOW_END_CONTENDED;
	self->atomics[self->n_atomics++] = address;
	return LODE_WINDOW_END_LENGTH;
}

/* --- sticky flags of floating point --- */

/* The flags that were raised since the last time, which are cleared so that the next are seen.
 * Nothing is written where none is set. */
static uint8_t take_raised(Tracing *self)
{
	struct user_fpregs_struct state;

	if (ptrace(PTRACE_GETFPREGS, self->steps->tid, NULL, &state) != 0)
		return 0;
	uint8_t raised = (uint8_t)(state.mxcsr & STICKY), x87 = (uint8_t)(state.swd & STICKY);
	uint8_t masked = (uint8_t)(state.cwd & STICKY);
	bool is_flushed = (state.mxcsr & FLUSH_TO_ZERO) != 0;
	/* One of x87 that is not masked is an exception on its way. */
	x87 &= masked & (DENORMAL | UNDERFLOW);
	raised &= DENORMAL | UNDERFLOW;
	if ((raised | x87) == 0)
		return 0;
	state.mxcsr &= ~(unsigned)raised;
	state.swd = (unsigned short)(state.swd & ~x87);
	if (ptrace(PTRACE_SETFPREGS, self->steps->tid, NULL, &state) != 0)
		return 0;
	self->steps->mxcsr |= raised;
	self->steps->x87 |= x87;
	return (uint8_t)((is_flushed ? raised & ~UNDERFLOW : raised) | x87);
}

/* --- steps --- */

static LodeProbeStep step_of(const struct user_regs_struct *registers)
{
	return (LodeProbeStep){
		.address = registers->rip,
		.registers = {registers->rax, registers->rcx, registers->rdx, registers->rbx,
			registers->rsp, registers->rbp, registers->rsi, registers->rdi,
			registers->r8, registers->r9, registers->r10, registers->r11,
			registers->r12, registers->r13, registers->r14, registers->r15},
	};
}

/* Steps until there are enough, or something is in the way; the thread is stopped then unless it
 * has ended or is late. */
static Stop take_steps(Tracing *self, LodeProbeLog *log, LodeWindowEnd *out_end)
{
	LodeProbeSteps *steps = self->steps;
	Stop stop = STOPPED;

	*out_end = LODE_WINDOW_END_LENGTH;
	take_raised(self);
	for (unsigned i = 0; i < steps->n; i++) {
		LodeDecodedInstruction decoded = {0};
		LodeProbeStep step = step_of(&self->registers);
		step.raised = i > 0 ? take_raised(self) : 0;
		lode_probe_places_decode(self->places, self->registers.rip, &decoded);
		*out_end = obstacle_at(self, &decoded);
		/* The registers before a string instruction tell its rounds. */
		bool is_kept = *out_end == LODE_WINDOW_END_LENGTH ||
		               *out_end == LODE_WINDOW_END_REPEAT;
		if ((is_kept && !lode_probe_log_add(log, &step)) ||
			*out_end != LODE_WINDOW_END_LENGTH)
			break;
		if (ptrace(PTRACE_SINGLESTEP, steps->tid, NULL, NULL) != 0)
			return ENDED;
		steps->has_stepped = true;
		stop = wait_for_stop(steps, STEP_MS, &self->signal);
		steps->n_stops++;
		if (stop == SIGNAL && self->signal == SIGTRAP && is_step(steps)) {
			self->signal = 0;
			stop = STOPPED;
		}
		if (stop != STOPPED ||
			ptrace(PTRACE_GETREGS, steps->tid, NULL, &self->registers) != 0) {
			*out_end = LODE_WINDOW_END_LOST;
			break;
		}
	}
	return stop;
}

/* lode goes to the thread's processor meanwhile. */
static void go_to_thread(const LodeProbeSteps *self, LodeOwnProcessor *own)
{
	g_autofree char *path = g_strdup_printf(
		"/proc/%d/task/%d/stat", (int)self->pid, (int)self->tid);
	g_autofree char *text = NULL;

	lode_own_processor_init(own);
	if (g_file_get_contents(path, &text, NULL, NULL))
		lode_own_processor_go(own, lode_thread_stat(text).processor);
}

/* Also where the next stop has come, as it is not taken yet. */
static LodeStepsOutcome leave_stopped(const LodeProbeSteps *self, Stop stop)
{
	if (stop == LATE || stop == ENDED)
		return stop == LATE ? LODE_STEPS_LATE : LODE_STEPS_ENDED;
	restore_raised(self);
	return stop == STOPPED ? LODE_STEPS_TAKEN : LODE_STEPS_LATE;
}

static LodeStepsOutcome step_in_stop(Tracing *self, LodeProbeLog *log)
{
	LodeProbeSteps *steps = self->steps;
	uint64_t before_ns = ran_ns(steps);
	const LodeWindowHead head = {
		.tid = (uint32_t)steps->tid,
		.flags = LODE_WINDOW_HAS_REGISTERS,
		.begin_ns = lode_now_ns(),
		.thread_pointer = self->registers.fs_base,
	};
	LodeWindowEnd end;
	LodeOwnProcessor own;

	go_to_thread(steps, &own);
	lode_probe_log_begin(log, &head);
	Stop stop = take_steps(self, log, &end);
	lode_probe_log_end(log, lode_now_ns(), end);
	lode_own_processor_go(&own, -1);
	uint64_t after_ns = ran_ns(steps);
	steps->spent_ns = after_ns > before_ns ? after_ns - before_ns : 0;
	if (steps->is_kept)
		return leave_stopped(steps, stop);
	/* Its step ends when it has a processor. An interruption would come before the trap. */
	if (stop == LATE || !let_go(steps, stop, self->signal))
		return LODE_STEPS_LATE;
	return stop == ENDED ? LODE_STEPS_ENDED : LODE_STEPS_TAKEN;
}

static void begin(LodeProbeSteps *self)
{
	self->spent_ns = 0;
	self->n_stops = 1;
	self->mxcsr = self->x87 = 0;
	self->is_parted = self->has_stepped = self->is_kept = false;
}

LodeStepsOutcome lode_probe_steps_run(
	LodeProbeSteps *self, LodeProbePlaces *places, LodeProbeLog *log)
{
	Tracing tracing = {.steps = self, .places = places};
	Stop stop;

	begin(self);
	if (ptrace(PTRACE_SEIZE, self->tid, NULL, NULL) != 0)
		return errno == ESRCH ? LODE_STEPS_ENDED : LODE_STEPS_REFUSED;
	if (ptrace(PTRACE_INTERRUPT, self->tid, NULL, NULL) != 0)
		return LODE_STEPS_ENDED;
	stop = wait_for_stop(self, STOP_MS, &tracing.signal);
	if (stop == LATE)
		return LODE_STEPS_LATE;
	bool is_stopped = stop == STOPPED &&
	                  ptrace(PTRACE_GETREGS, self->tid, NULL, &tracing.registers) == 0;
	bool is_in_call = lode_is_in_call(&tracing.registers);
	bool is_native = tracing.registers.cs == NATIVE_SEGMENT;
	if (!is_stopped || is_in_call || !is_native) {
		bool is_gone = let_go(self, stop, tracing.signal);
		return stop == ENDED ? LODE_STEPS_ENDED
		       : is_gone     ? LODE_STEPS_NONE
		                     : LODE_STEPS_LATE;
	}
	if (!leaves_trap_alone(self)) {
		let_go(self, stop, 0);
		return LODE_STEPS_TRAP;
	}
	return step_in_stop(&tracing, log);
}

LodeStepsOutcome lode_probe_steps_run_in_stop(LodeProbeSteps *self, LodeProbePlaces *places,
	LodeProbeLog *log, const struct user_regs_struct *registers)
{
	Tracing tracing = {.steps = self, .places = places, .registers = *registers};
	bool is_native = registers->cs == NATIVE_SEGMENT;

	begin(self);
	self->is_kept = true;
	if (!is_native)
		return LODE_STEPS_NONE;
	return leaves_trap_alone(self) ? step_in_stop(&tracing, log) : LODE_STEPS_TRAP;
}

LodeLateStop lode_probe_steps_take_late(LodeProbeSteps *self, int signal)
{
	restore_raised(self);
	if (signal == SIGTRAP && is_step(self))
		return LODE_LATE_STOP_OWN;
	return has_step_pending(self) ? LODE_LATE_STOP_BEFORE : LODE_LATE_STOP_ANOTHER;
}
