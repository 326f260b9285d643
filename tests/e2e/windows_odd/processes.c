/* SPDX-License-Identifier: MIT */
/* Children of all kinds, and programs that execute others. */
#include "odd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long n_ended, sum_of_statuses;

static void reap(pid_t child)
{
	int status = 0;
	ODD_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	n_ended++;
	sum_of_statuses += WEXITSTATUS(status);
}

static int print_ended(void)
{
	printf("%ld %ld\n", n_ended, sum_of_statuses);
	return 0;
}

static int forks(void)
{
	for (long i = 0; i < odd_rounds(150); i++) {
		pid_t child = fork();
		if (child == 0)
			_exit((int)(odd_work(3, 100000) & 0x7f));
		odd_work(1, 100000);
		reap(child);
	}
	return print_ended();
}

/* Each child is the next one's parent. */
static int fork_chain(void)
{
	for (int i = 0; i < 8; i++) {
		uint64_t sum = odd_work((uint64_t)i, odd_rounds(10000000));
		printf("%d: %d\n", i, (int)(sum & 0xff));
		pid_t child = fork();
		if (child != 0) {
			odd_wait(child, "child");
			_exit(i);
		}
	}
	return 99;
}

static int vfork_exec(void)
{
	static char *const arguments[] = {"true", NULL};
	for (volatile long i = 0; i < odd_rounds(100); i++) {
		odd_work(1, 100000);
		pid_t child = vfork();
		if (child == 0) {
			execve("/bin/true", arguments, environ);
			_exit(127);
		}
		reap(child);
	}
	return print_ended();
}

/* The child works in its parent's memory, which waits. */
static int vfork_work(void)
{
	volatile uint64_t sum = 0;
	for (volatile long i = 0; i < odd_rounds(300); i++) {
		pid_t child = vfork();
		if (child == 0) {
			sum = odd_work(sum, 200000);
			_exit(3);
		}
		reap(child);
	}
	printf("%d\n", sum != 0);
	return print_ended();
}

static int plain_forks(void)
{
	for (long i = 0; i < odd_rounds(150); i++) {
		pid_t child = i % 2 == 0 ? _Fork() : (pid_t)syscall(SYS_fork);
		if (child == 0)
			_exit((int)(odd_work(3, 200000) & 0x7f));
		reap(child);
	}
	return print_ended();
}

static int raw_clones(void)
{
	for (long i = 0; i < odd_rounds(150); i++) {
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (child == 0)
			syscall(SYS_exit_group, (int)(odd_work(3, 200000) & 0x7f));
		reap(child);
	}
	return print_ended();
}

static volatile uint64_t result_of_child;

static int child_in_memory(void *data)
{
	result_of_child = odd_work((uintptr_t)data, 200000);
	return 4;
}

/* Processes with own stacks in one memory. */
static int shared_memory_clones(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	uint64_t sum = 0;
	for (long i = 0; i < odd_rounds(150); i++) {
		reap(clone(child_in_memory, stack + sizeof stack, CLONE_VM | SIGCHLD, (void *)i));
		sum += result_of_child;
	}
	ODD_CHECK(sum != 0);
	return print_ended();
}

static int spawns(void)
{
	char *const arguments[] = {"sh", "-c", "read line; exit $line", NULL};
	for (long i = 0; i < odd_rounds(60); i++) {
		posix_spawnattr_t attributes;
		posix_spawn_file_actions_t actions;
		sigset_t all;
		int ends[2];
		pid_t child;
		ODD_CHECK(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], "5\n", 2) == 2);
		sigfillset(&all);
		posix_spawnattr_init(&attributes);
		posix_spawnattr_setflags(
			&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
		posix_spawnattr_setsigdefault(&attributes, &all);
		sigdelset(&all, SIGTRAP);
		posix_spawnattr_setsigmask(&attributes, &all);
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
		odd_work(1, 200000);
		ODD_CHECK(posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments,
				  environ) == 0);
		reap(child);
		posix_spawn_file_actions_destroy(&actions);
		close(ends[0]);
		close(ends[1]);
	}
	return print_ended();
}

static int systems(void)
{
	for (long i = 0; i < odd_rounds(60); i++) {
		odd_work(1, 200000);
		int status = system("i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; exit 6");
		n_ended += WIFEXITED(status);
		sum_of_statuses += WEXITSTATUS(status);
	}
	return print_ended();
}

static int pipes(void)
{
	long n_lines = 0;
	for (long i = 0; i < odd_rounds(40); i++) {
		char line[100];
		odd_work(1, 200000);
		FILE *from = popen("printf '%s\\n' b c a | sort | tr a-c A-C", "r");
		while (fgets(line, sizeof line, from) != NULL)
			n_lines += line[0] >= 'A' && line[0] <= 'C';
		ODD_CHECK(pclose(from) == 0);
	}
	printf("%ld\n", n_lines);
	return 0;
}

/* The program executes itself twenty times. */
static int self_exec(void)
{
	char next[12];
	int stage = odd_stage == NULL ? 0 : atoi(odd_stage);
	printf("%d: %d\n", stage, (int)(odd_work((uint64_t)stage, odd_rounds(3000000)) & 0xff));
	snprintf(next, sizeof next, "%d", stage + 1);
	if (stage < 20)
		odd_execute("process-exec", next);
	return stage;
}

static int exec_without_environment(void)
{
	char *const arguments[] = {"odd", "process-exec-clean", "10", "second", NULL};
	char *const none[] = {NULL};
	printf("%d\n", (int)(odd_work(1, odd_rounds(20000000)) & 0xff));
	if (odd_stage == NULL)
		execve("/proc/self/exe", arguments, none);
	return 8;
}

/* Masks and ignored signals are inherited; what is pending, too. */
static int exec_inherits(void)
{
	sigset_t mask, pending;
	if (odd_stage == NULL) {
		odd_handle(SIGHUP, SIG_IGN, 0);
		odd_handle(SIGTRAP, SIG_IGN, 0);
		sigemptyset(&mask);
		sigaddset(&mask, SIGUSR1);
		sigaddset(&mask, SIGRTMIN);
		sigaddset(&mask, SIGTRAP);
		sigprocmask(SIG_BLOCK, &mask, NULL);
		raise(SIGUSR1);
		odd_execute("process-exec-inherits", "second");
	}
	printf("%d\n", (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	for (int i = 1; i <= SIGRTMAX; i++) {
		struct sigaction now = {0};
		bool is_ignored = sigaction(i, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
		if (sigismember(&mask, i) == 1 || sigismember(&pending, i) == 1 || is_ignored)
			printf("%d: %d %d %d\n", i, sigismember(&mask, i), sigismember(&pending, i),
				is_ignored);
	}
	sigemptyset(&mask);
	sigaddset(&mask, SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	raise(SIGTRAP);
	printf("%d\n", (int)(odd_work(1, odd_rounds(20000000)) & 0xff));
	return 0;
}

/* As exec_inherits(), of what blocks and ignores nothing but SIGTRAP by chance of its parent. */
static int exec_ignores_trap(void)
{
	if (odd_stage == NULL) {
		signal(SIGTRAP, SIG_IGN);
		odd_execute("process-exec-ignores", "second");
	}
	for (long i = odd_rounds(20000); i > 0; i--)
		raise(SIGTRAP);
	printf("%d\n", (int)(odd_work(1, odd_rounds(20000000)) & 0xff));
	return 0;
}

static int daemonized(void)
{
	int ends[2];
	char text[100] = "";
	ODD_CHECK(pipe(ends) == 0);
	odd_work(1, odd_rounds(5000000));
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		(void)!chdir("/");
		umask(0);
		dup2(ends[1], 100);
		for (int i = 0; i < 100; i++)
			close(i);
		ODD_CHECK(open("/dev/null", O_RDWR) == 0 && dup(0) == 1 && dup(0) == 2);
		uint64_t sum = odd_work(2, odd_rounds(40000000));
		dprintf(100, "worked %d, next descriptor %d\n", (int)(sum & 0xff), dup(0));
		_exit(0);
	}
	odd_wait(child, "child");
	close(ends[1]);
	for (size_t n = 0; n < sizeof text - 1;) {
		ssize_t got = read(ends[0], text + n, sizeof text - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	printf("%s", text);
	return 0;
}

static int order[6], n_order;
static void prepare(void)
{
	order[n_order++ % 6] = 1;
	odd_work(1, 20000);
}
static void in_parent(void)
{
	order[n_order++ % 6] = 2;
	odd_work(1, 20000);
}
static void in_child(void)
{
	order[n_order++ % 6] = 3;
	odd_work(1, 20000);
}

static int fork_handlers(void)
{
	pthread_atfork(prepare, in_parent, in_child);
	for (long i = 0; i < odd_rounds(300); i++) {
		n_order = 0;
		pid_t child = fork();
		if (child == 0)
			_exit(order[0] * 10 + order[1]);
		reap(child);
		ODD_CHECK(n_order == 2 && order[0] == 1 && order[1] == 2);
	}
	return print_ended();
}

static int not_dumpable(void)
{
	char name[16] = "";
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "odd one");
	printf("%d\n", (int)(odd_work(1, odd_rounds(20000000)) & 0xff));
	prctl(PR_GET_NAME, name);
	printf("%s %d\n", name, prctl(PR_GET_DUMPABLE));
	pid_t child = fork();
	if (child == 0)
		_exit((int)(odd_work(1, odd_rounds(10000000)) & 0x7f));
	odd_wait(child, "child");
	return 0;
}

static void say_exit(void)
{
	printf("exit %d\n", (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
}

static void say_destructor(void) __attribute__((destructor));
static bool has_destructor;
static void say_destructor(void)
{
	if (has_destructor)
		printf("destructor %d\n", (int)(odd_work(2, odd_rounds(10000000)) & 0xff));
}

/* Work at the very end. */
static int exit_handlers(void)
{
	has_destructor = true;
	atexit(say_exit);
	on_exit((void (*)(int, void *))(void *)odd_work, (void *)odd_rounds(5000000));
	return 11;
}

/* All output at the end, of a buffer. */
static int late_output(void)
{
	static char all[20000];
	size_t n = 0;
	for (int i = 0; i < 1000; i++)
		n += (size_t)snprintf(all + n, sizeof all - n, "%lu\n",
			(unsigned long)odd_work((uint64_t)i, odd_rounds(30000)) & 0xffff);
	(void)!write(1, all, n);
	return 0;
}

/* A death that the parent is to be told of, and orphans that come to a process of own choice. */
static int orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (long i = 0; i < odd_rounds(60); i++) {
		pid_t child = fork();
		if (child == 0) {
			if (fork() == 0) {
				odd_work(1, 200000);
				_exit(2);
			}
			_exit(1);
		}
		for (int status, j = 0; j < 2; j++) {
			ODD_CHECK(wait(&status) > 0 && WIFEXITED(status));
			sum_of_statuses += WEXITSTATUS(status);
			n_ended++;
		}
	}
	return print_ended();
}

const OddKind odd_processes[] = {
	{"process-fork", forks},
	{"process-fork-chain", fork_chain},
	{"process-vfork-exec", vfork_exec},
	{"process-vfork-work", vfork_work, "none"},
	{"process-plain-fork", plain_forks, "none"},
	{"process-clone", raw_clones, "none"},
	{"process-clone-vm", shared_memory_clones, "none"},
	{"process-spawn", spawns},
	{"process-system", systems},
	{"process-popen", pipes},
	{"process-exec", self_exec},
	{"process-exec-clean", exec_without_environment},
	{"process-exec-inherits", exec_inherits},
	{"process-exec-ignores", exec_ignores_trap, "none"},
	{"process-daemon", daemonized},
	{"process-atfork", fork_handlers},
	{"process-not-dumpable", not_dumpable},
	{"process-exit-handlers", exit_handlers},
	{"process-late-output", late_output},
	{"process-orphans", orphans, "none"},
	{0},
};
