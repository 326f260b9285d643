/* SPDX-License-Identifier: MIT */
/*
 * Wraps the functions that execute a different program. Mask and pending signals outlive the
 * program: what is ours of them is taken back before.
 */
#include "real_signals.h"
#include "signals.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[])
{
	signals_prepare_execution();
	return real_signals()->execve(path, arguments, environment);
}

EXPORTED int execv(const char *path, char *const arguments[])
{
	signals_prepare_execution();
	return real_signals()->execve(path, arguments, environ);
}

EXPORTED int execvp(const char *file, char *const arguments[])
{
	signals_prepare_execution();
	return real_signals()->execvpe(file, arguments, environ);
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	signals_prepare_execution();
	return real_signals()->execvpe(file, arguments, environment);
}

EXPORTED int fexecve(int descriptor, char *const arguments[], char *const environment[])
{
	signals_prepare_execution();
	return real_signals()->fexecve(descriptor, arguments, environment);
}

/* glibc 2.34 */
int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
	int flags);

EXPORTED int execveat(int folder, const char *path, char *const arguments[],
	char *const environment[], int flags)
{
	signals_prepare_execution();
	return (int)syscall(SYS_execveat, folder, path, arguments, environment, flags);
}

/* --- arguments one by one --- */

static size_t count(va_list arguments)
{
	size_t n = 1;

	while (va_arg(arguments, char *) != NULL)
		n++;
	return n;
}

/* `n` with the first one and without the NULL. */
static void collect(char **out, size_t n, const char *first, va_list arguments)
{
	out[0] = (char *)first;
	for (size_t i = 1; i <= n; i++)
		out[i] = va_arg(arguments, char *);
}

EXPORTED int execl(const char *path, const char *first, ...)
{
	va_list counted, arguments;

	va_start(counted, first);
	va_start(arguments, first);
	size_t n = first != NULL ? count(counted) : 0;
	char *all[n + 1];
	all[0] = NULL;
	if (first != NULL)
		collect(all, n, first, arguments);
	va_end(counted);
	va_end(arguments);
	return execv(path, all);
}

EXPORTED int execlp(const char *file, const char *first, ...)
{
	va_list counted, arguments;

	va_start(counted, first);
	va_start(arguments, first);
	size_t n = first != NULL ? count(counted) : 0;
	char *all[n + 1];
	all[0] = NULL;
	if (first != NULL)
		collect(all, n, first, arguments);
	va_end(counted);
	va_end(arguments);
	return execvp(file, all);
}

/* The environment comes after the NULL. */
EXPORTED int execle(const char *path, const char *first, ...)
{
	va_list counted, arguments;

	va_start(counted, first);
	va_start(arguments, first);
	size_t n = first != NULL ? count(counted) : 0;
	char *all[n + 1];
	all[0] = NULL;
	if (first != NULL)
		collect(all, n, first, arguments);
	char *const *environment = va_arg(arguments, char *const *);
	va_end(counted);
	va_end(arguments);
	return execve(path, all, environment);
}

/* --- children that execute --- */

EXPORTED int posix_spawn(pid_t *out_pid, const char *path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const arguments[], char *const environment[])
{
	const bool is_blocked = signals_block_for_child();
	int failure = real_signals()->posix_spawn(
		out_pid, path, actions, attributes, arguments, environment);

	if (is_blocked)
		signals_unblock();
	return failure;
}

EXPORTED int posix_spawnp(pid_t *out_pid, const char *file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const arguments[], char *const environment[])
{
	const bool is_blocked = signals_block_for_child();
	int failure = real_signals()->posix_spawnp(
		out_pid, file, actions, attributes, arguments, environment);

	if (is_blocked)
		signals_unblock();
	return failure;
}
