/* SPDX-License-Identifier: MIT */
/*
 * Wraps the functions that execute a different program. Mask and pending signals outlive the
 * program: what is ours of them is taken back before.
 */
#include "real_signals.h"
#include "short_programs.h"
#include "signals.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define PRELOAD "LD_PRELOAD="
#define VARIABLES "LODE_WINDOWS"
#define LIBRARY "liblode-windows.so"

/* --- the environment --- */

/* A larger one is left as it is. */
enum { MAX_VARIABLES = 1000 };

static bool is_only_ours(const char *list)
{
	const size_t size = strlen(list), name = strlen(LIBRARY);

	return strpbrk(list, ": ") == NULL && size >= name &&
	       strcmp(list + size - name, LIBRARY) == 0;
}

/* Whether a variable is for the library alone. */
static bool is_ours(const char *variable)
{
	return strncmp(variable, VARIABLES, strlen(VARIABLES)) == 0 ||
	       (strncmp(variable, PRELOAD, strlen(PRELOAD)) == 0 &&
		       is_only_ours(variable + strlen(PRELOAD)));
}

/* The environment for a program: without the library where it is too short for a window. `changed`
 * has room for MAX_VARIABLES. On the stack, as the memory may be the parent's. */
static char *const *environment_for(
	const char *path, char *const environment[], char *changed[MAX_VARIABLES])
{
	size_t n = 0;

	if (environment == NULL || !short_programs_has(path))
		return environment;
	for (char *const *at = environment; *at != NULL; at++) {
		if (is_ours(*at))
			continue;
		if (n + 1 == MAX_VARIABLES)
			return environment;
		changed[n++] = *at;
	}
	changed[n] = NULL;
	return changed;
}

/* --- programs --- */

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[])
{
	char *changed[MAX_VARIABLES];

	signals_prepare_execution();
	return real_signals()->execve(path, arguments, environment_for(path, environment, changed));
}

EXPORTED int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

EXPORTED int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	char *changed[MAX_VARIABLES];

	signals_prepare_execution();
	return real_signals()->execvpe(
		file, arguments, environment_for(file, environment, changed));
}

EXPORTED int fexecve(int descriptor, char *const arguments[], char *const environment[])
{
	signals_prepare_execution();
	return real_signals()->fexecve(descriptor, arguments, environment);
}

/* glibc 2.34 */
int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
	int flags);

EXPORTED int execveat(
	int folder, const char *path, char *const arguments[], char *const environment[], int flags)
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
	size_t n = count(counted);
	char *all[n + 1];
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
	size_t n = count(counted);
	char *all[n + 1];
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
	size_t n = count(counted);
	char *all[n + 1];
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
	char *changed[MAX_VARIABLES];
	const bool is_blocked = signals_block_for_child();

	short_programs_leave_out();
	int failure = real_signals()->posix_spawn(out_pid, path, actions, attributes, arguments,
		environment_for(path, environment, changed));

	if (is_blocked)
		signals_unblock();
	return failure;
}

EXPORTED int posix_spawnp(pid_t *out_pid, const char *file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const arguments[], char *const environment[])
{
	char *changed[MAX_VARIABLES];
	const bool is_blocked = signals_block_for_child();

	short_programs_leave_out();
	int failure = real_signals()->posix_spawnp(out_pid, file, actions, attributes, arguments,
		environment_for(file, environment, changed));

	if (is_blocked)
		signals_unblock();
	return failure;
}
