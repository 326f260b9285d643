/* SPDX-License-Identifier: MIT */
/*
 * The functions about signals that stand in front of the real ones, so that the program sees no
 * handler of ours, and that the trap flag is never set where SIGTRAP cannot be handled.
 *
 *   SIGTRAP's action        a program that sets one has its own from then on, and no more windows
 *   other signals' actions  a function of ours ends the window before their handlers run, which
 *                           have SIGTRAP blocked where they ask for the alternate stack
 *   masks, awaited signals  without SIGTRAP; a program that names it has no more windows
 *
 * A child of vfork(), which has the parent's memory, changes nothing that is kept here.
 */
#include "signals.h"

#include "real_signals.h"
#include "requests.h"
#include "stepping.h"
#include "thread_setup.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The program's own handlers, by signal; the kernel has pass_signal() in their place. */
static void (*handlers[NSIG])(int number, siginfo_t *info, void *context);

/* A bit for each signal in whose handler the program itself blocks SIGTRAP. */
static uint64_t blocking;

static uint64_t bit_of(int number)
{
	return UINT64_C(1) << (number - 1);
}

static bool is_signal(int number)
{
	return number >= 1 && number < NSIG;
}

static bool is_function(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The recorder has closed the event of this process. */
static bool is_closed;

/* Ends windows: the program's next action meets none, and no later signal of ours. */
static void stop(LodeWindowObstacle obstacle)
{
	if (!stepping_is_installed() || !stepping_is_own_process() || !stepping_is_begun())
		return;
	stepping_stop(obstacle);
	stepping_wait();
	threads_stop_timers();
	if (stepping_has_events() && !is_closed)
		is_closed = requests_close_event();
}

/* --- actions --- */

/* The handler is jumped to: it is as near to what was interrupted as without us. */
static void pass_signal(int number, siginfo_t *info, void *context)
{
	stepping_interrupt(context);
	handlers[number](number, info, context);
}

static int set_other(int number, const struct sigaction *given, struct sigaction *out_old)
{
	const uint64_t before = __atomic_load_n(&blocking, __ATOMIC_RELAXED);
	void (*const handler)(int, siginfo_t *, void *) = handlers[number];
	struct sigaction changed;

	if (given != NULL && is_function(given) && given->sa_sigaction != pass_signal) {
		changed = *given;
		if (sigismember(&changed.sa_mask, SIGTRAP) == 1)
			__atomic_fetch_or(&blocking, bit_of(number), __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(&blocking, ~bit_of(number), __ATOMIC_RELAXED);
		if ((given->sa_flags & SA_ONSTACK) != 0)
			sigaddset(&changed.sa_mask, SIGTRAP);
		__atomic_store_n(&handlers[number], given->sa_sigaction, __ATOMIC_RELAXED);
		changed.sa_sigaction = pass_signal;
		given = &changed;
	}
	int result = real_signals()->sigaction(number, given, out_old);
	if (result != 0)
		__atomic_store_n(&handlers[number], handler, __ATOMIC_RELAXED);
	if (result != 0 || out_old == NULL || out_old->sa_sigaction != pass_signal)
		return result;
	out_old->sa_sigaction = handler;
	if ((before & bit_of(number)) == 0)
		sigdelset(&out_old->sa_mask, SIGTRAP);
	return result;
}

EXPORTED int sigaction(int number, const struct sigaction *given, struct sigaction *out_old)
{
	if (!stepping_is_installed() || !is_signal(number) || !stepping_is_own_process())
		return real_signals()->sigaction(number, given, out_old);
	if (number != SIGTRAP)
		return set_other(number, given, out_old);
	if (given != NULL && given->sa_handler != SIG_DFL)
		stop(LODE_WINDOW_OBSTACLE_HANDLER);
	return stepping_program_action(given, out_old);
}

/* A handler that signal() or the like has set is set again as ours. `before`: that until then. */
static sighandler_t passed(int number, sighandler_t old, sighandler_t before)
{
	struct sigaction action;
	int code = errno;

	if (old != SIG_ERR && real_signals()->sigaction(number, NULL, &action) == 0 &&
		is_function(&action))
		set_other(number, &action, NULL);
	errno = code;
	return (void *)old == (void *)pass_signal ? before : old;
}

static sighandler_t set_trap(sighandler_t handler, int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

	if ((flags & (int)SA_NODEFER) == 0)
		sigaddset(&action.sa_mask, SIGTRAP);
	return sigaction(SIGTRAP, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* `flags`: of SIGTRAP's. */
static sighandler_t set_simply(sighandler_t (*set)(int number, sighandler_t handler), int number,
	sighandler_t handler, int flags)
{
	if (!stepping_is_installed() || !is_signal(number) || !stepping_is_own_process())
		return set(number, handler);
	if (number == SIGTRAP)
		return set_trap(handler, flags);
	sighandler_t before = (sighandler_t)(void *)handlers[number];
	return passed(number, set(number, handler), before);
}

EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
	return set_simply(real_signals()->signal, number, handler, SA_RESTART);
}

/* Not in the headers of today. */
sighandler_t bsd_signal(int number, sighandler_t handler);

EXPORTED sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

EXPORTED sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

EXPORTED sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return set_simply(
		real_signals()->sysv_signal, number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

/* The signal() of programs built for System V. */
EXPORTED sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return sysv_signal(number, handler);
}

EXPORTED int sighold(int number)
{
	if (number == SIGTRAP)
		stop(LODE_WINDOW_OBSTACLE_BLOCKED);
	return real_signals()->sighold(number);
}

EXPORTED sighandler_t sigset(int number, sighandler_t handler)
{
	if (number == SIGTRAP && handler == SIG_HOLD) {
		stop(LODE_WINDOW_OBSTACLE_BLOCKED);
		return real_signals()->sigset(number, handler);
	}
	return set_simply(real_signals()->sigset, number, handler, 0);
}

EXPORTED int sigignore(int number)
{
	if (number != SIGTRAP)
		return real_signals()->sigignore(number);
	return signal(SIGTRAP, SIG_IGN) == SIG_ERR ? -1 : 0;
}

/* --- masks --- */

static bool has_trap(const sigset_t *given)
{
	return given != NULL && stepping_is_installed() && sigismember(given, SIGTRAP) == 1;
}

/* SIGTRAP is taken out of what has it among all others; a set that names it stops windows. */
static const sigset_t *without_trap(const sigset_t *given, sigset_t *changed)
{
	if (!has_trap(given))
		return given;
	if (sigismember(given, SIGTERM) != 1)
		stop(LODE_WINDOW_OBSTACLE_BLOCKED);
	if (!stepping_is_on())
		return given;
	*changed = *given;
	sigdelset(changed, SIGTRAP);
	return changed;
}

typedef int SetMask(int how, const sigset_t *given, sigset_t *old);

/* The program finds SIGTRAP blocked where it has blocked all, and nowhere else. That it has done so
 * does not last for longer than the rest of the mask. */
static int set_mask(SetMask *set, int how, const sigset_t *given, sigset_t *out_old)
{
	if (!stepping_is_installed())
		return set(how, given, out_old);
	const bool was_masked = thread_is_masked();
	const bool is_changed = has_trap(given) || (given != NULL && how == SIG_SETMASK);
	sigset_t changed;

	if (how != SIG_UNBLOCK)
		given = without_trap(given, &changed);
	/* Before, as what has waited comes now. */
	if (is_changed)
		thread_set_masked(how != SIG_UNBLOCK && given == &changed);
	int result = set(how, given, out_old);
	if (result != 0 && is_changed)
		thread_set_masked(was_masked);
	if (result != 0 || out_old == NULL || !stepping_is_on())
		return result;
	if (was_masked && sigisemptyset(out_old) == 0)
		sigaddset(out_old, SIGTRAP);
	else
		sigdelset(out_old, SIGTRAP);
	return result;
}

EXPORTED int sigprocmask(int how, const sigset_t *given, sigset_t *out_old)
{
	return set_mask(real_signals()->sigprocmask, how, given, out_old);
}

EXPORTED int pthread_sigmask(int how, const sigset_t *given, sigset_t *out_old)
{
	return set_mask(real_signals()->pthread_sigmask, how, given, out_old);
}

/* --- awaited signals --- */

/* The recorder's events may go on for a while when windows were stopped: a program that blocks
 * SIGTRAP and awaits it must not get theirs. */
static bool is_ours(int number, const siginfo_t *info)
{
	return number == SIGTRAP && stepping_is_installed() && stepping_is_chance(info);
}

EXPORTED int sigtimedwait(const sigset_t *awaited, siginfo_t *info, const struct timespec *limit)
{
	sigset_t changed;
	siginfo_t own;
	siginfo_t *there = info != NULL ? info : &own;
	int number;

	awaited = without_trap(awaited, &changed);
	do
		number = real_signals()->sigtimedwait(awaited, there, limit);
	while (is_ours(number, there));
	return number;
}

EXPORTED int sigwaitinfo(const sigset_t *awaited, siginfo_t *info)
{
	return sigtimedwait(awaited, info, NULL);
}

EXPORTED int sigwait(const sigset_t *awaited, int *out_number)
{
	sigset_t changed;
	int code = errno, number;

	awaited = without_trap(awaited, &changed);
	if (!has_trap(awaited))
		return real_signals()->sigwait(awaited, out_number);
	do
		number = sigtimedwait(awaited, NULL, NULL);
	while (number < 0 && errno == EINTR);
	if (number < 0)
		return errno;
	errno = code;
	*out_number = number;
	return 0;
}

EXPORTED int signalfd(int descriptor, const sigset_t *awaited, int flags)
{
	sigset_t changed;

	return real_signals()->signalfd(descriptor, without_trap(awaited, &changed), flags);
}

/* A pending SIGTRAP is taken to see whose it is, and sent again when it is the program's. */
EXPORTED int sigpending(sigset_t *out_pending)
{
	const struct timespec now = {0, 0};
	int result = real_signals()->sigpending(out_pending);
	siginfo_t info;
	sigset_t trap;

	if (result != 0 || !has_trap(out_pending))
		return result;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (sigtimedwait(&trap, &info, &now) == SIGTRAP)
		syscall(SYS_rt_tgsigqueueinfo, (long)getpid(), syscall(SYS_gettid), (long)SIGTRAP,
			&info);
	else
		sigdelset(out_pending, SIGTRAP);
	return 0;
}

/* --- sent signals --- */

/* A system call without a function: few instructions lie between two of them. */
static inline long call_kernel(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return result;
}

static bool is_blocked_trap(int number)
{
	return number == SIGTRAP && stepping_is_installed() && !stepping_is_on();
}

/*
 * A signal is pending only once: if the program blocks SIGTRAP by name, a pending one of the
 * recorder's would replace the program's. So it is removed right before the program's is sent. The
 * event may still signal in the few instructions in between. 0, or an error's number.
 */
static int send_trap(void)
{
	const uint64_t trap = bit_of(SIGTRAP);
	const struct timespec now = {0, 0};
	const long pid = getpid(), tid = syscall(SYS_gettid);
	siginfo_t info;

	long taken = call_kernel(
		SYS_rt_sigtimedwait, (long)&trap, (long)&info, (long)&now, sizeof(trap));
	if (taken != SIGTRAP || is_ours(SIGTRAP, &info))
		return (int)-call_kernel(SYS_tgkill, pid, tid, SIGTRAP, 0);
	return (int)-call_kernel(SYS_rt_tgsigqueueinfo, pid, tid, SIGTRAP, (long)&info);
}

static int send_trap_or_fail(void)
{
	int failure = send_trap();

	if (failure == 0)
		return 0;
	errno = failure;
	return -1;
}

EXPORTED int raise(int number)
{
	return is_blocked_trap(number) ? send_trap_or_fail() : real_signals()->raise(number);
}

EXPORTED int pthread_kill(pthread_t thread, int number)
{
	if (is_blocked_trap(number) && pthread_equal(thread, pthread_self()) != 0)
		return send_trap();
	return real_signals()->pthread_kill(thread, number);
}

/* --- system calls --- */

/* One that is pending and not ours is sent again. */
static void drop_own_trap(void)
{
	const struct timespec now = {0, 0};
	const uint64_t trap = bit_of(SIGTRAP);
	siginfo_t info;

	while (call_kernel(SYS_rt_sigtimedwait, (long)&trap, (long)&info, (long)&now,
		       sizeof(trap)) == SIGTRAP)
		if (!is_ours(SIGTRAP, &info)) {
			call_kernel(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGTRAP,
				(long)&info);
			return;
		}
}

/*
 * The way back from a handler is a system call, which may not be allowed: no signal of ours may
 * come. With the event closed the program has its own action again, unless a thread that has all
 * signals blocked may still have one; where the event could not be closed the kernel is to drop
 * them.
 */
static void stop_for_limits(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction own;

	if (!stepping_is_installed() || !stepping_is_own_process() || stepping_is_limited())
		return;
	stop(LODE_WINDOW_OBSTACLE_SECCOMP);
	stepping_limit();
	if (!stepping_has_events() || is_closed) {
		drop_own_trap();
		if (!threads_has_others())
			stepping_give_back_action();
	} else if (stepping_program_action(NULL, &own) == 0 && own.sa_handler == SIG_DFL) {
		real_signals()->sigaction(SIGTRAP, &ignore, NULL);
	}
}

/* Not in the headers of today. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/* The kernel is asked to refuse system calls, to hand them to a handler, or to refuse the clock. */
static bool is_limit(long option, unsigned long value)
{
	return option == PR_SET_SECCOMP || (option == PR_SET_SYSCALL_USER_DISPATCH && value != 0) ||
	       (option == PR_SET_TSC && value != PR_TSC_ENABLE);
}

EXPORTED int prctl(int option, ...)
{
	unsigned long given[4];
	va_list arguments;

	va_start(arguments, option);
	for (size_t i = 0; i < 4; i++)
		given[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (is_limit(option, given[0]))
		stop_for_limits();
	return real_signals()->prctl(option, given[0], given[1], given[2], given[3]);
}

EXPORTED long ptrace(enum __ptrace_request request, ...)
{
	void *given[3];
	va_list arguments;

	va_start(arguments, request);
	for (size_t i = 0; i < 3; i++)
		given[i] = va_arg(arguments, void *);
	va_end(arguments);
	if (request == PTRACE_TRACEME)
		stop(LODE_WINDOW_OBSTACLE_TRACED);
	return real_signals()->ptrace((int)request, given[0], given[1], given[2]);
}

/* As the kernel has it. */
typedef struct {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
} KernelAction;

typedef long SystemCall(long number, long a, long b, long c, long d, long e, long f);

static long set_trap_by_call(const KernelAction *given, KernelAction *out_old)
{
	struct sigaction action = {0}, old;

	if (given != NULL) {
		action.sa_handler = (sighandler_t)given->handler;
		action.sa_flags = (int)given->flags;
		memcpy(&action.sa_mask, &given->mask, sizeof(given->mask));
	}
	if (sigaction(SIGTRAP, given != NULL ? &action : NULL, &old) != 0)
		return -1;
	if (out_old == NULL)
		return 0;
	*out_old = (KernelAction){
		.handler = (void *)old.sa_handler,
		.flags = (unsigned long)(unsigned)old.sa_flags,
	};
	memcpy(&out_old->mask, &old.sa_mask, sizeof(out_old->mask));
	return 0;
}

/* Those of other signals are set as they are: such handlers run in the midst of a window. */
static long set_other_by_call(
	int number, const KernelAction *given, KernelAction *out_old, long size)
{
	void *handler = (void *)handlers[number];
	long result = ((SystemCall *)real_signals()->syscall)(
		SYS_rt_sigaction, number, (long)given, (long)out_old, size, 0, 0);

	if (result == 0 && out_old != NULL && out_old->handler == (void *)pass_signal) {
		out_old->handler = handler;
		if ((blocking & bit_of(number)) == 0)
			out_old->mask &= ~bit_of(SIGTRAP);
	}
	return result;
}

static int set_mask_by_call(int how, const sigset_t *given, sigset_t *out_old)
{
	return (int)((SystemCall *)real_signals()->syscall)(
		SYS_rt_sigprocmask, how, (long)given, (long)out_old, sizeof(unsigned long), 0, 0);
}

/* The kernel has a word where the C library has a set. */
static long set_raw_mask(int how, const unsigned long *given, unsigned long *out_old)
{
	sigset_t wanted = {0}, old = {0};

	if (given != NULL)
		memcpy(&wanted, given, sizeof(*given));
	if (set_mask(set_mask_by_call, how, given != NULL ? &wanted : NULL,
		    out_old != NULL ? &old : NULL) != 0)
		return -1;
	if (out_old != NULL)
		memcpy(out_old, &old, sizeof(*out_old));
	return 0;
}

/* The set of signals that a system call awaits; NULL: it awaits none. */
static const unsigned long *awaited_by(long number, long a, long b)
{
	if (number == SYS_rt_sigtimedwait)
		return (const unsigned long *)a;
	return number == SYS_signalfd || number == SYS_signalfd4 ? (const unsigned long *)b : NULL;
}

/* The real one is jumped to: what forks by a system call returns twice from here. */
EXPORTED SystemCall pass_system_call __asm__("syscall");

long pass_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	const unsigned long *awaited = awaited_by(number, a, b);

	if (number == SYS_seccomp || (number == SYS_prctl && is_limit(a, (unsigned long)b)))
		stop_for_limits();
	if (number == SYS_ptrace && a == PTRACE_TRACEME)
		stop(LODE_WINDOW_OBSTACLE_TRACED);
	if (number == SYS_execve || number == SYS_execveat)
		signals_prepare_execution();
	if (awaited != NULL && (*awaited & bit_of(SIGTRAP)) != 0 &&
		(*awaited & bit_of(SIGTERM)) == 0)
		stop(LODE_WINDOW_OBSTACLE_BLOCKED);
	if (number == SYS_tgkill && is_blocked_trap((int)c) && b == syscall(SYS_gettid))
		return send_trap_or_fail();
	if (number == SYS_rt_sigaction && is_signal((int)a) && d == sizeof(unsigned long) &&
		stepping_is_installed())
		return a == SIGTRAP ? set_trap_by_call((const KernelAction *)b, (KernelAction *)c)
		                    : set_other_by_call((int)a, (const KernelAction *)b,
					      (KernelAction *)c, d);
	if (number == SYS_rt_sigprocmask && d == sizeof(unsigned long) && stepping_is_installed())
		return set_raw_mask((int)a, (const unsigned long *)b, (unsigned long *)c);
	return ((SystemCall *)real_signals()->syscall)(number, a, b, c, d, e, f);
}

/* --- another program --- */

/* A handler of the program's that runs on the alternate stack has SIGTRAP blocked by us. */
static bool is_blocked_by_us(void)
{
	stack_t stack = {0};

	return thread_is_blocked() ||
	       (stepping_is_on() && real_signals()->sigaltstack(NULL, &stack) == 0 &&
		       (stack.ss_flags & SS_ONSTACK) != 0);
}

/* Whether the program believes that SIGTRAP is blocked with all others. Functions that are not
 * ours, such as siglongjmp(), may have unblocked them. */
static bool is_masked_with_others(uint64_t mask)
{
	return thread_is_masked() && (mask & bit_of(SIGTERM)) != 0;
}

/* Neither a signal of ours nor our mask is to outlive the program, in a child that has the parent's
 * memory either. */
void signals_prepare_execution(void)
{
	const uint64_t trap = bit_of(SIGTRAP);
	const int code = errno;
	uint64_t mask = 0;

	if (!stepping_is_installed() || stepping_is_limited())
		return;
	call_kernel(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(mask));
	const bool is_masked = is_masked_with_others(mask);
	if (!is_masked && (mask & trap) == 0)
		return;
	call_kernel(SYS_rt_sigprocmask, SIG_BLOCK, (long)&trap, 0, sizeof(trap));
	const bool is_ours = !is_masked && is_blocked_by_us();
	stop(LODE_WINDOW_OBSTACLE_BLOCKED);
	drop_own_trap();
	if (is_ours)
		call_kernel(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&trap, 0, sizeof(trap));
	errno = code;
}

/* A child is to have SIGTRAP blocked where the program believes that it is: whether it was. */
bool signals_block_for_child(void)
{
	const uint64_t trap = bit_of(SIGTRAP);
	uint64_t mask = 0;

	if (!stepping_is_installed() || !thread_is_masked() || !stepping_is_on())
		return false;
	call_kernel(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(mask));
	if (!is_masked_with_others(mask))
		return false;
	call_kernel(SYS_rt_sigprocmask, SIG_BLOCK, (long)&trap, 0, sizeof(trap));
	return true;
}

void signals_unblock(void)
{
	const uint64_t trap = bit_of(SIGTRAP);

	call_kernel(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&trap, 0, sizeof(trap));
}
