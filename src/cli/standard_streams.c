/* SPDX-License-Identifier: MIT */
#include "cli/standard_streams.h"

#include "cli/verb.h"
#include "views/display_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void do_nothing(int signal)
{
	(void)signal;
}

/*
 * Opened the wrong way round, so that using them fails as with a closed descriptor; closed again
 * in a program that we start.
 */
static void fill_closed(void)
{
	for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
		if (fcntl(number, F_GETFD) != -1 || errno != EBADF)
			continue;
		int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
		int opened = open("/dev/null", mode | O_CLOEXEC);
		if (opened != number)
			_exit(LODE_EXIT_FAILED);
	}
}

void lode_standard_streams_open(void)
{
	/* Writing fails then, which says where: a closed pipe, a file above RLIMIT_FSIZE. */
	static const int signals[] = {SIGPIPE, SIGXFSZ};
	const struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
	struct sigaction old;

	fill_closed();
	/* A handler, not SIG_IGN: that would be inherited by a program that we start. */
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/* What stdio's error flag does not tell: which error. The pipe still knows. */
bool lode_standard_output_is_broken_pipe(void)
{
	struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};

	fflush(stdout);
	return ferror(stdout) && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

int lode_standard_streams_close(int status)
{
	int reason = fflush(stdout) != 0 ? errno : 0;
	bool is_broken = lode_standard_output_is_broken_pipe();
	bool has_failed = ferror(stdout) != 0;

	if (fclose(stdout) != 0 && !has_failed) {
		has_failed = true;
		reason = errno;
	}
	/* A verb that failed has said why already. */
	if (!has_failed || (status != LODE_EXIT_OK && !is_broken))
		return status;
	if (is_broken)
		return LODE_EXIT_BY_SIGNAL + SIGPIPE;
	lode_display_line(stderr, "lode: cannot write to standard output%s%s",
		reason != 0 ? ": " : "", reason != 0 ? g_strerror(reason) : "");
	return LODE_EXIT_FAILED;
}
