/* SPDX-License-Identifier: MIT */
/*
 * Programs of the kinds that a tracer can disturb: kinds KIND [ARGUMENT]. What each prints, and how
 * it ends, must be the same with a tracer as without. Work is done in `heavy` and `light`, of which
 * the first takes 70 % of the processor time by construction.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static double cpu_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void heavy(unsigned n)
{
	uint64_t x = sink | 1;

	for (unsigned i = 0; i < n; i++)
		x = x * 6364136223846793005U + 1442695040888963407U;
	sink = x;
}

__attribute__((noinline)) static void light(unsigned n)
{
	uint64_t x = sink | 1;

	for (unsigned i = 0; i < n; i++)
		x = x * 6364136223846793005U + 1442695040888963409U;
	sink = x;
}

/* The same instructions in both, 7 to 3; the constants differ, or compilers make one function of
 * both. */
static void work(double seconds)
{
	double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
		heavy(70000);
		light(30000);
	}
}

static double argument = 1;

static int run_shares(void)
{
	work(argument);
	return 0;
}

/* The same shares, and a system call every microsecond or less. */
static int run_calls(void)
{
	double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + argument;

	while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (unsigned i = 0; i < 100; i++) {
			heavy(1400);
			syscall(SYS_getppid);
			light(600);
			syscall(SYS_getppid);
		}
	return 0;
}

static void *end_thread(void *unused)
{
	return unused;
}

/* The same shares, and a thread that begins and ends some thousand times a second. */
static int run_births(void)
{
	double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + argument;
	pthread_t thread;

	while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
		heavy(70000);
		light(30000);
		if (pthread_create(&thread, NULL, end_thread, NULL) == 0)
			pthread_detach(thread);
	}
	return 0;
}

static void *work_thread(void *seconds)
{
	work(*(double *)seconds);
	return NULL;
}

static void run_threads(unsigned n, double seconds)
{
	pthread_t threads[256];

	for (unsigned i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work_thread, &seconds);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static int run_four_threads(void)
{
	run_threads(4, argument / 4);
	return 0;
}

static int run_many_threads(void)
{
	run_threads(200, argument / 200);
	puts("200 threads");
	return 0;
}

static int run_children(void)
{
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();
		int status;
		if (pid == 0 && i % 2 == 0) {
			char text[32];
			snprintf(text, sizeof(text), "%g", argument / 8);
			execl("/proc/self/exe", "kinds", "shares", text, (char *)NULL);
			_exit(127);
		}
		if (pid == 0) {
			work(argument / 8);
			_exit(i);
		}
		if (waitpid(pid, &status, 0) != pid)
			perror("waitpid");
		printf("child %d: %d %d\n", i, WIFEXITED(status), WEXITSTATUS(status));
	}
	return 0;
}

static volatile sig_atomic_t n_alarms, n_children, n_continued;

static void count_signal(int signal)
{
	n_alarms += signal == SIGALRM;
	n_children += signal == SIGCHLD;
	n_continued += signal == SIGCONT;
}

/* As many handlers run as signals are sent, each answered before the next one. */
static int run_signals(void)
{
	struct sigaction action = {.sa_handler = count_signal};

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	for (int i = 0; i < 300; i++) {
		work(0.001);
		kill(getpid(), SIGALRM);
	}
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	printf("%d alarms, %d children\n", (int)n_alarms, (int)n_children);
	return 0;
}

/* A child is stopped and goes on; its parent sees both, once each. */
static int run_stops(void)
{
	struct sigaction action = {.sa_handler = count_signal};

	/* inherited: a child that is stopped at once has it */
	sigaction(SIGCONT, &action, NULL);
	for (int i = 0; i < 10; i++) {
		int status, kinds[3], ends[2];
		char byte;
		if (pipe(ends) != 0)
			return 1;
		pid_t pid = fork();
		if (pid == 0) {
			close(ends[1]);
			while (n_continued == 0)
				work(0.002);
			while (read(ends[0], &byte, 1) < 0)
				;
			_exit(3);
		}
		close(ends[0]);
		work(0.01);
		kill(pid, SIGSTOP); /* others are ignored in an orphaned process group */
		waitpid(pid, &status, WUNTRACED);
		kinds[0] = WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
		work(0.01);
		kinds[1] = waitpid(pid, &status, WNOHANG | WUNTRACED);
		kill(pid, SIGCONT);
		waitpid(pid, &status, WCONTINUED);
		kinds[2] = WIFCONTINUED(status);
		close(ends[1]);
		waitpid(pid, &status, 0);
		printf("%d %d %d %d\n", kinds[0], kinds[1], kinds[2], WEXITSTATUS(status));
	}
	return 0;
}

static int n_interrupted;

static void check(long result)
{
	if (result < 0 && errno == EINTR)
		n_interrupted++;
}

static double started_at;

static int is_time_left(void)
{
	return cpu_seconds(CLOCK_MONOTONIC) < started_at + argument;
}

/* Waits of a fraction of a millisecond, between which it runs as long. */
static void *wait_by_epoll(void *unused)
{
	int queue = epoll_create1(0), ends[2];
	struct epoll_event event = {.events = EPOLLIN};

	(void)unused;
	if (pipe(ends) != 0)
		return NULL;
	epoll_ctl(queue, EPOLL_CTL_ADD, ends[0], &event);
	while (is_time_left()) {
		heavy(30000);
		check(epoll_wait(queue, &event, 1, 1));
	}
	return NULL;
}

static void *wait_by_signal(void *unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (is_time_left()) {
		const struct timespec time = {0, 300000};
		heavy(30000);
		check(sigtimedwait(&set, NULL, &time));
	}
	return NULL;
}

static void *wait_by_semaphore(void *unused)
{
	int set = semget(IPC_PRIVATE, 1, 0600);

	(void)unused;
	while (is_time_left()) {
		const struct timespec time = {0, 300000};
		struct sembuf take = {0, -1, 0};
		heavy(30000);
		check(semtimedop(set, &take, 1, &time));
	}
	semctl(set, 0, IPC_RMID);
	return NULL;
}

static void *wait_by_poll(void *unused)
{
	(void)unused;
	while (is_time_left()) {
		heavy(30000);
		check(poll(NULL, 0, 1));
	}
	return NULL;
}

static void *wait_by_sleep(void *unused)
{
	(void)unused;
	while (is_time_left()) {
		const struct timespec time = {0, 300000};
		heavy(30000);
		check(nanosleep(&time, NULL));
	}
	return NULL;
}

static void *wait_by_socket(void *unused)
{
	const struct timeval time = {0, 1000};
	int ends[2];
	char byte;

	(void)unused;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return NULL;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	while (is_time_left()) {
		heavy(30000);
		check(recv(ends[0], &byte, 1, 0));
	}
	return NULL;
}

static void *wait_by_message(void *unused)
{
	(void)unused;
	while (is_time_left()) {
		heavy(30000);
		check(select(0, NULL, NULL, NULL, &(struct timeval){0, 300}));
	}
	return NULL;
}

static void *(*const waits[])(void *) = {wait_by_epoll, wait_by_signal, wait_by_semaphore,
	wait_by_poll, wait_by_sleep, wait_by_socket, wait_by_message};

enum { N_WAITS = sizeof(waits) / sizeof(waits[0]) };

static int run_waits(void)
{
	pthread_t threads[N_WAITS];

	started_at = cpu_seconds(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < N_WAITS; i++)
		pthread_create(&threads[i], NULL, waits[i], NULL);
	for (unsigned i = 0; i < N_WAITS; i++)
		pthread_join(threads[i], NULL);
	printf("%d interrupted\n", n_interrupted);
	return n_interrupted != 0;
}

/* Signals that are ignored do not end a wait either. */
static int run_ignored(void)
{
	struct epoll_event event;
	int queue = epoll_create1(0);
	pid_t parent = getpid();

	signal(SIGUSR1, SIG_IGN);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 50; i++) {
			const struct timespec time = {0, 1000000};
			nanosleep(&time, NULL);
			kill(parent, i % 2 ? SIGUSR1 : SIGWINCH);
		}
		_exit(0);
	}
	check(epoll_wait(queue, &event, 1, 200));
	waitpid(pid, NULL, 0);
	printf("%d interrupted\n", n_interrupted);
	return n_interrupted != 0;
}

/* A process that executes another one, again and again, by vfork(2). */
static int run_vfork(void)
{
	static volatile int n, i;

	for (i = 0; i < 100; i++) {
		int status = 0;
		pid_t pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		work(0.002);
		n += waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		     WEXITSTATUS(status) == 0;
	}
	printf("%d of 100\n", n);
	return 0;
}

/* Large writes into a pipe whose reader is slow are not cut short. */
static int run_pipe(void)
{
	enum { BYTES = 1 << 20 };
	char *bytes = calloc(1, BYTES);
	int ends[2], n_short = 0;
	double end = cpu_seconds(CLOCK_MONOTONIC) + argument;

	if (bytes == NULL || pipe(ends) != 0)
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		while (read(ends[0], bytes, 4096) > 0)
			;
		_exit(0);
	}
	close(ends[0]);
	while (cpu_seconds(CLOCK_MONOTONIC) < end)
		n_short += write(ends[1], bytes, BYTES) != BYTES;
	close(ends[1]);
	waitpid(pid, NULL, 0);
	printf("%d short\n", n_short);
	return n_short != 0;
}

static void *execute(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "kinds", "shares", "0.2", (char *)NULL);
	return NULL;
}

/* A thread other than the first executes a program. */
static int run_thread_executes(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work_thread, &argument);
	work(0.05);
	pthread_create(&threads[3], NULL, execute, NULL);
	pause();
	return 1;
}

/* Threads that live for a moment. */
static int run_short_threads(void)
{
	double seconds = 0.001;

	for (int i = 0; i < 300; i++)
		run_threads(4, seconds);
	puts("1200 threads");
	return 0;
}

static int run_exit(void)
{
	work(0.05);
	return (int)argument;
}

static int run_killed(void)
{
	work(0.05);
	kill(getpid(), (int)argument);
	work(0.05);
	return 0;
}

static int run_abort(void)
{
	work(0.05);
	abort();
}

/* It asks to be traced, as debuggers' children do. */
static int run_traceme(void)
{
	long result = ptrace(PTRACE_TRACEME, 0, NULL, NULL);

	work(0.1);
	printf("traceme: %s\n", result == 0 ? "traced" : "refused");
	return 0;
}

static int run_trap(void)
{
	struct sigaction action = {.sa_handler = count_signal};

	sigaction(SIGTRAP, &action, NULL);
	work(argument);
	raise(SIGTRAP);
	puts("caught");
	return 0;
}

/* SIGTRAP that is blocked stays pending. */
static int run_blocked_trap(void)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTRAP);
	work(argument);
	sigpending(&pending);
	printf("pending: %d\n", sigismember(&pending, SIGTRAP));
	return 0;
}

/* What lode leaves of itself in a program. */
static int run_traces(void)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "re");

	work(0.1);
	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0)
			fputs(line, stdout);
	for (int i = 3; i < 64; i++)
		if (i != fileno(status) && fcntl(i, F_GETFD) >= 0)
			printf("descriptor %d\n", i);
	for (char **at = environ; *at != NULL; at++)
		if (strncmp(*at, "LODE", 4) == 0 || strncmp(*at, "LD_", 3) == 0)
			puts(*at);
	return 0;
}

/* A daemon that lives on. */
static int run_daemon(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (freopen("/dev/null", "w", stdout) == NULL)
			_exit(1);
		sleep(3);
		kill(getpid(), SIGWINCH);
		work(0.05);
		int file = open(getenv("KINDS_MARK"), O_CREAT | O_WRONLY, 0600);
		close(file);
		_exit(0);
	}
	work(0.2);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} kinds[] = {
		{"shares", run_shares},
		{"calls", run_calls},
		{"births", run_births},
		{"threads", run_four_threads},
		{"many-threads", run_many_threads},
		{"short-threads", run_short_threads},
		{"children", run_children},
		{"signals", run_signals},
		{"stops", run_stops},
		{"waits", run_waits},
		{"ignored", run_ignored},
		{"vfork", run_vfork},
		{"pipe", run_pipe},
		{"thread-executes", run_thread_executes},
		{"exit", run_exit},
		{"killed", run_killed},
		{"abort", run_abort},
		{"traceme", run_traceme},
		{"trap", run_trap},
		{"blocked-trap", run_blocked_trap},
		{"traces", run_traces},
		{"daemon", run_daemon},
	};

	if (argc > 2)
		argument = strtod(argv[2], NULL);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			return kinds[i].run();
	return 2;
}
