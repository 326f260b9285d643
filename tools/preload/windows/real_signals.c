/* SPDX-License-Identifier: MIT */
#include "real_signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static RealSignals found;
static bool is_found;

static void search(void)
{
	const struct {
		const char *name;
		void *slot;
	} wanted[] = {
		{"sigaction", &found.sigaction},
		{"signal", &found.signal},
		{"sysv_signal", &found.sysv_signal},
		{"sigset", &found.sigset},
		{"sigignore", &found.sigignore},
		{"sighold", &found.sighold},
		{"sigaltstack", &found.sigaltstack},
		{"sigprocmask", &found.sigprocmask},
		{"pthread_sigmask", &found.pthread_sigmask},
		{"sigwait", &found.sigwait},
		{"sigtimedwait", &found.sigtimedwait},
		{"signalfd", &found.signalfd},
		{"sigpending", &found.sigpending},
		{"raise", &found.raise},
		{"pthread_kill", &found.pthread_kill},
		{"prctl", &found.prctl},
		{"ptrace", &found.ptrace},
		{"syscall", &found.syscall},
		{"execve", &found.execve},
		{"execvpe", &found.execvpe},
		{"fexecve", &found.fexecve},
		{"posix_spawn", &found.posix_spawn},
		{"posix_spawnp", &found.posix_spawnp},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		__atomic_store_n((void **)wanted[i].slot, dlsym(RTLD_NEXT, wanted[i].name),
			__ATOMIC_RELAXED);
}

/* Two threads at once would find the same. */
const RealSignals *real_signals(void)
{
	if (!__atomic_load_n(&is_found, __ATOMIC_ACQUIRE)) {
		int code = errno;
		search();
		errno = code;
		__atomic_store_n(&is_found, true, __ATOMIC_RELEASE);
	}
	return &found;
}
