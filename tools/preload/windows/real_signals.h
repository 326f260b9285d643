/* SPDX-License-Identifier: MIT */
/* The functions about signals and programs that ours stand in front of, and those that are called
 * inside. */
#pragma once

#include <signal.h>
#include <spawn.h>
#include <time.h>

typedef struct {
	int (*sigaction)(int number, const struct sigaction *given, struct sigaction *old);
	sighandler_t (*signal)(int number, sighandler_t handler);
	sighandler_t (*sysv_signal)(int number, sighandler_t handler);
	sighandler_t (*sigset)(int number, sighandler_t handler);
	int (*sigignore)(int number);
	int (*sighold)(int number);
	int (*sigaltstack)(const stack_t *given, stack_t *old);
	int (*sigprocmask)(int how, const sigset_t *given, sigset_t *old);
	int (*pthread_sigmask)(int how, const sigset_t *given, sigset_t *old);
	int (*sigwait)(const sigset_t *awaited, int *out_number);
	int (*sigtimedwait)(const sigset_t *awaited, siginfo_t *info, const struct timespec *limit);
	int (*signalfd)(int descriptor, const sigset_t *awaited, int flags);
	int (*sigpending)(sigset_t *pending);
	int (*raise)(int number);
	int (*pthread_kill)(pthread_t thread, int number);
	int (*prctl)(int option, ...);
	long (*ptrace)(int request, ...);
	long (*syscall)(long number, ...);
	int (*execve)(const char *path, char *const arguments[], char *const environment[]);
	int (*execvpe)(const char *file, char *const arguments[], char *const environment[]);
	int (*fexecve)(int descriptor, char *const arguments[], char *const environment[]);
	int (*posix_spawn)(pid_t *out_pid, const char *path,
		const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		char *const arguments[], char *const environment[]);
	int (*posix_spawnp)(pid_t *out_pid, const char *file,
		const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		char *const arguments[], char *const environment[]);
} RealSignals;

const RealSignals *real_signals(void);
