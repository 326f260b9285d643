/* SPDX-License-Identifier: MIT */
/*
 * The functions about signals that stand in front of the real ones, so that the program sees no
 * handler of ours, and that SIGTRAP reaches it wherever the trap flag could be set.
 *
 *   SIGTRAP's action        a program that sets one has its own from then on, and no more windows
 *   other signals' actions  SIGTRAP is blocked while their handlers run, which may be on small
 * stacks masks, awaited signals  without SIGTRAP, unless the program names it: then no more windows
 */
#include "real_signals.h"
#include "stepping.h"
#include "thread_setup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#define EXPORTED __attribute__((visibility("default")))

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

/* --- actions --- */

static int set_other(int number, const struct sigaction *given, struct sigaction *out_old)
{
	const uint64_t before = __atomic_load_n(&blocking, __ATOMIC_RELAXED);
	struct sigaction changed;

	if (given != NULL && is_function(given)) {
		changed = *given;
		if (sigismember(&changed.sa_mask, SIGTRAP) == 1)
			__atomic_fetch_or(&blocking, bit_of(number), __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(&blocking, ~bit_of(number), __ATOMIC_RELAXED);
		sigaddset(&changed.sa_mask, SIGTRAP);
		given = &changed;
	}
	int result = real_signals()->sigaction(number, given, out_old);
	if (result == 0 && out_old != NULL && is_function(out_old) &&
		(before & bit_of(number)) == 0)
		sigdelset(&out_old->sa_mask, SIGTRAP);
	return result;
}

EXPORTED int sigaction(int number, const struct sigaction *given, struct sigaction *out_old)
{
	if (!stepping_is_installed() || !is_signal(number))
		return real_signals()->sigaction(number, given, out_old);
	if (number != SIGTRAP)
		return set_other(number, given, out_old);
	return stepping_program_action(given, out_old);
}

/* What a simple function has set is set again with SIGTRAP in its mask. */
static sighandler_t masked(int number, sighandler_t old)
{
	struct sigaction action;
	int code = errno;

	if (old != SIG_ERR && is_signal(number) &&
		real_signals()->sigaction(number, NULL, &action) == 0 && is_function(&action)) {
		sigdelset(&action.sa_mask, SIGTRAP);
		set_other(number, &action, NULL);
	}
	errno = code;
	return old;
}

static sighandler_t set_trap(sighandler_t handler, int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

	if ((flags & (int)SA_NODEFER) == 0)
		sigaddset(&action.sa_mask, SIGTRAP);
	return stepping_program_action(&action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
	if (!stepping_is_installed())
		return real_signals()->signal(number, handler);
	if (number == SIGTRAP)
		return set_trap(handler, SA_RESTART);
	return masked(number, real_signals()->signal(number, handler));
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
	if (!stepping_is_installed())
		return real_signals()->sysv_signal(number, handler);
	if (number == SIGTRAP)
		return set_trap(handler, (int)(SA_RESETHAND | SA_NODEFER));
	return masked(number, real_signals()->sysv_signal(number, handler));
}

/* What signal() is in programs built for System V. */
EXPORTED sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return sysv_signal(number, handler);
}

static void stop_for_mask(void)
{
	stepping_stop(LODE_WINDOW_OBSTACLE_BLOCKED);
	stepping_wait();
}

EXPORTED int sighold(int number)
{
	if (number == SIGTRAP && stepping_is_installed())
		stop_for_mask();
	return real_signals()->sighold(number);
}

EXPORTED sighandler_t sigset(int number, sighandler_t handler)
{
	if (!stepping_is_installed())
		return real_signals()->sigset(number, handler);
	if (number == SIGTRAP && handler == SIG_HOLD) {
		stop_for_mask();
		return real_signals()->sigset(number, handler);
	}
	if (number == SIGTRAP)
		return set_trap(handler, 0);
	return masked(number, real_signals()->sigset(number, handler));
}

EXPORTED int sigignore(int number)
{
	if (!stepping_is_installed() || number != SIGTRAP)
		return real_signals()->sigignore(number);
	return set_trap(SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

/* --- masks --- */

/* SIGTRAP is taken out of what has it among all others; a set that names it stops windows. */
static const sigset_t *without_trap(const sigset_t *given, sigset_t *changed)
{
	if (given == NULL || !stepping_is_installed() || sigismember(given, SIGTRAP) != 1)
		return given;
	if (sigismember(given, SIGTERM) != 1) {
		stop_for_mask();
		return given;
	}
	if (!stepping_is_on())
		return given;
	*changed = *given;
	sigdelset(changed, SIGTRAP);
	return changed;
}

EXPORTED int sigprocmask(int how, const sigset_t *given, sigset_t *out_old)
{
	sigset_t changed;

	return real_signals()->sigprocmask(
		how, how == SIG_UNBLOCK ? given : without_trap(given, &changed), out_old);
}

EXPORTED int pthread_sigmask(int how, const sigset_t *given, sigset_t *out_old)
{
	sigset_t changed;

	return real_signals()->pthread_sigmask(
		how, how == SIG_UNBLOCK ? given : without_trap(given, &changed), out_old);
}

EXPORTED int sigwait(const sigset_t *awaited, int *out_number)
{
	sigset_t changed;

	return real_signals()->sigwait(without_trap(awaited, &changed), out_number);
}

EXPORTED int sigwaitinfo(const sigset_t *awaited, siginfo_t *info)
{
	sigset_t changed;

	return real_signals()->sigwaitinfo(without_trap(awaited, &changed), info);
}

EXPORTED int sigtimedwait(const sigset_t *awaited, siginfo_t *info, const struct timespec *limit)
{
	sigset_t changed;

	return real_signals()->sigtimedwait(without_trap(awaited, &changed), info, limit);
}

EXPORTED int signalfd(int descriptor, const sigset_t *awaited, int flags)
{
	sigset_t changed;

	return real_signals()->signalfd(descriptor, without_trap(awaited, &changed), flags);
}

/* --- limits of system calls --- */

static void stop_for_limits(void)
{
	if (!stepping_is_installed())
		return;
	stepping_stop(LODE_WINDOW_OBSTACLE_SECCOMP);
	stepping_wait();
	threads_stop_timers();
}

EXPORTED int prctl(int option, ...)
{
	unsigned long given[4];
	va_list arguments;

	va_start(arguments, option);
	for (size_t i = 0; i < 4; i++)
		given[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (option == PR_SET_SECCOMP)
		stop_for_limits();
	return real_signals()->prctl(option, given[0], given[1], given[2], given[3]);
}

typedef long SystemCall(long number, long a, long b, long c, long d, long e, long f);

/* The real one is jumped to: what forks by a system call returns twice from here. */
EXPORTED SystemCall pass_system_call __asm__("syscall");

long pass_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_seccomp)
		stop_for_limits();
	return ((SystemCall *)real_signals()->syscall)(number, a, b, c, d, e, f);
}
