/* SPDX-License-Identifier: MIT */
/* Does what programs do around fork(2) and execve(2), for tests of what is followed there. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned sum;

static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

static int wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int make_process(void)
{
	pid_t child = fork();

	work(50000);
	if (child == 0)
		_exit(7);
	printf("%d\n", wait_for(child));
	return 0;
}

static int kill_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		work(50000);
		raise(SIGKILL);
	}
	int status = wait_for(child);
	work(50000);
	printf("%d\n", status);
	return 5;
}

static int make_many(int n)
{
	int total = 0;

	for (int i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(i % 3);
		total += wait_for(child);
	}
	printf("%d\n", total);
	return 0;
}

static void *execute(void *argv)
{
	execv(((char **)argv)[0], argv);
	_exit(127);
}

static void *wait_for_ever(void *data)
{
	for (;;)
		pause();
	return data;
}

static int execute_in_thread(char **argv)
{
	pthread_t threads[3];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, wait_for_ever, NULL);
	pthread_create(&threads[2], NULL, execute, argv);
	pthread_join(threads[2], NULL);
	return 1;
}

static void see_nothing(int signal)
{
	(void)signal;
}

/* Blocked: USR1, which is pending too, TERM; ignored: INT, USR2; handled: HUP. */
static int set_signals(char **argv)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGHUP, see_nothing);
	raise(SIGUSR1);
	if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 || open("/dev/null", O_RDONLY) < 0)
		return 1;
	execv(argv[0], argv);
	return 1;
}

static int show_signals(void)
{
	struct sigaction action;
	sigset_t blocked, pending;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	sigpending(&pending);
	for (int i = 1; i < 32; i++) {
		sigaction(i, NULL, &action);
		printf("%d:%d%d%d ", i, sigismember(&blocked, i), sigismember(&pending, i),
			action.sa_handler == SIG_IGN);
	}
	for (int i = 3; i < 16; i++)
		printf("%d", fcntl(i, F_GETFD) != -1);
	printf("\n");
	return 0;
}

static int execute_self(void)
{
	char *argv[] = {"another name", "show", "1", "2", NULL};

	execv("/proc/self/exe", argv);
	return 1;
}

static int execute_descriptor(void)
{
	char *argv[] = {"echo", "by descriptor", NULL};
	int file = open("/bin/echo", O_RDONLY | O_CLOEXEC);

	fexecve(file, argv, environ);
	return 1;
}

static int spawn(char **argv)
{
	pid_t child;
	int code = posix_spawn(&child, argv[0], NULL, NULL, argv, environ);

	printf("%d\n", code == 0 ? wait_for(child) : -code);
	return 0;
}

/* Three instructions. */
void inside(void);
__asm__(".text\n"
	".globl inside\n"
	".type inside, @function\n"
	"inside: nop\n"
	"	nop\n"
	"	ret\n"
	".size inside, . - inside\n");

/* Called once in each of two processes, and in the program that the second becomes. */
static int call_inside(char **argv)
{
	char *again[] = {argv[0], "inside", NULL};
	pid_t child = fork();

	inside();
	if (child == 0) {
		execv("/proc/self/exe", again);
		_exit(1);
	}
	return wait_for(child);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* then PROGRAM burn N PROGRAM burn N: the first in this one's place after as much work */
	if (strcmp(what, "then") == 0) {
		for (int i = atoi(argv[4]); i > 0; i--)
			work(1000000);
		execv(argv[5], argv + 5);
		return 1;
	}
	if (strcmp(what, "burn") == 0) {
		for (int i = atoi(argv[2]); i > 0; i--)
			work(1000000);
		return 0;
	}
	if (strcmp(what, "function") == 0)
		return call_inside(argv);
	if (strcmp(what, "inside") == 0) {
		inside();
		return 0;
	}
	if (strcmp(what, "fork") == 0)
		return make_process();
	if (strcmp(what, "kill-child") == 0)
		return kill_child();
	if (strcmp(what, "many") == 0)
		return make_many(atoi(argv[2]));
	if (strcmp(what, "threads-exec") == 0)
		return execute_in_thread(argv + 2);
	if (strcmp(what, "signals") == 0)
		return set_signals(argv + 2);
	if (strcmp(what, "show-signals") == 0)
		return show_signals();
	if (strcmp(what, "self") == 0)
		return execute_self();
	if (strcmp(what, "descriptor") == 0)
		return execute_descriptor();
	if (strcmp(what, "spawn") == 0)
		return spawn(argv + 2);
	if (strcmp(what, "show") == 0)
		return printf("%s %d\n", argv[0], argc) < 0;
	if (strcmp(what, "close-all") == 0)
		for (int i = 3; i < 1024; i++)
			close(i);
	execv(argv[2], argv + 2);
	printf("%s: %s\n", argv[2], strerror(errno));
	return 6;
}
