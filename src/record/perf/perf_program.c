/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_program.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVE_MS = 5 };

typedef struct {
	int gate[2], failure[2]; /* ends to read, to write */
} Pipes;

static void close_pipe(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

bool lode_perf_program_fix_addresses(void)
{
	int now = personality(UINT32_MAX);

	return now >= 0 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0;
}

/* Calls only functions that are safe between fork() and execve() in a process of several threads.
 */
_Noreturn static void wait_and_execute(const LodePerfCommand *command, const Pipes *pipes)
{
	char byte;

	close(pipes->gate[1]);
	close(pipes->failure[0]);
	/* The process that held us has ended. */
	if (read(pipes->gate[0], &byte, 1) != 1)
		_exit(127);
	close(pipes->gate[0]);
	if (command->has_fixed_addresses)
		lode_perf_program_fix_addresses();
	pthread_sigmask(SIG_SETMASK, command->mask, NULL);
	execve(command->path, (char *const *)command->argv,
		command->environment != NULL ? (char *const *)command->environment : environ);
	int code = errno;
	ssize_t written = write(pipes->failure[1], &code, sizeof(code));
	(void)written;
	_exit(127);
}

bool lode_perf_program_hold(LodePerfProgram *self, const LodePerfCommand *command, GError **error)
{
	Pipes pipes = {{-1, -1}, {-1, -1}};
	pid_t pid = -1;

	/* A socket, as one can write to it without SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipes.gate) == 0 &&
		pipe2(pipes.failure, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		wait_and_execute(command, &pipes);
	if (pid < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot start '%s': %s",
			command->path, g_strerror(errno));
		close_pipe(pipes.gate);
		close_pipe(pipes.failure);
		return false;
	}
	close(pipes.gate[0]);
	close(pipes.failure[1]);
	*self = (LodePerfProgram){.pid = pid, .gate = pipes.gate[1], .failure = pipes.failure[0]};
	return true;
}

static void reap(LodePerfProgram *self)
{
	while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
		;
	self->pid = 0;
}

static void close_ends(LodePerfProgram *self)
{
	close(self->gate);
	close(self->failure);
	self->gate = self->failure = -1;
}

static void serve_until_executed(const LodePerfProgram *self)
{
	struct pollfd wait = {.fd = self->failure, .events = POLLIN};

	while (self->serve != NULL && poll(&wait, 1, SERVE_MS) == 0)
		self->serve(self->serve_data);
}

/* Why a file that exists and is executable was not executed. */
static const char *reason_of(int code)
{
	if (code == ENOEXEC)
		return "it is neither a program of this machine nor a script that names its "
		       "interpreter (#!); what is written for a shell is recorded as 'sh FILE'";
	return code == ENOENT ? "the interpreter that it names does not exist" : g_strerror(code);
}

bool lode_perf_program_release(LodePerfProgram *self, const char *path, GError **error)
{
	int code = 0;
	ssize_t written = send(self->gate, "", 1, MSG_NOSIGNAL);
	ssize_t n;

	serve_until_executed(self);
	/* The descriptor closes when it is executed. */
	do
		n = read(self->failure, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close_ends(self);
	if (written == 1 && n == 0)
		return true;
	reap(self);
	const char *reason = n == sizeof(code) ? reason_of(code) : "it was killed";
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot start '%s': %s", path, reason);
	return false;
}

void lode_perf_program_cancel(LodePerfProgram *self)
{
	if (self->pid == 0 || self->gate < 0)
		return;
	close_ends(self);
	reap(self);
}
