/* SPDX-License-Identifier: MIT */
/* Timers, and system calls that signals interrupt or must not interrupt. */
#include "odd.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t n_signals;

static void count(int signal)
{
	(void)signal;
	n_signals++;
}

/* Works until `n` signals came: all do. */
static int await_signals(long n)
{
	uint64_t sum = 0;
	while (n_signals < n)
		sum = odd_work(sum, 1000);
	printf("came%s\n", sum == 1 ? "." : "");
	return 0;
}

static int interval_timer(__itimer_which_t which, int signal, long us, long n)
{
	struct itimerval timer = {{0, us}, {0, us}};
	odd_handle(signal, count, SA_RESTART);
	setitimer(which, &timer, NULL);
	return await_signals(n);
}

static int timer_prof(void)
{
	return interval_timer(ITIMER_PROF, SIGPROF, 4000, odd_rounds(25));
}

static int timer_virtual(void)
{
	return interval_timer(ITIMER_VIRTUAL, SIGVTALRM, 4000, odd_rounds(25));
}

static int timer_real(void)
{
	return interval_timer(ITIMER_REAL, SIGALRM, 200, odd_rounds(300));
}

static int timer_of_thread(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec when = {{0, 4000000}, {0, 4000000}};
	timer_t timer;
	odd_handle(SIGRTMIN, count, 0);
	ODD_CHECK(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0);
	timer_settime(timer, 0, &when, NULL);
	return await_signals(odd_rounds(25));
}

static void count_tick(union sigval value)
{
	(void)value;
	__atomic_fetch_add((int *)&n_signals, 1, __ATOMIC_RELAXED);
}

static int timer_in_thread(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = count_tick};
	struct itimerspec when = {{0, 500000}, {0, 500000}};
	timer_t timer;
	ODD_CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	timer_settime(timer, 0, &when, NULL);
	return await_signals(odd_rounds(100));
}

static bool is_done;

static void *keep_busy(void *data)
{
	uint64_t sum = 0;
	while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED))
		sum = odd_work(sum, 1000);
	return data;
}

static int wait_in_turn(long i, int epoll, int semaphores)
{
	struct timespec ms = {0, 300000};
	struct timeval short_time = {0, 300};
	struct epoll_event event;
	struct pollfd none = {.fd = -1};
	struct sembuf lower = {.sem_op = -1};
	sigset_t usr1, empty;
	int word = 1, result;
	sigemptyset(&empty);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	errno = 0;
	switch (i % 9) {
	case 0:
		result = nanosleep(&ms, NULL);
		break;
	case 1:
		result = poll(&none, 1, 1);
		break;
	case 2:
		result = epoll_wait(epoll, &event, 1, 1);
		break;
	case 3:
		result = select(0, NULL, NULL, NULL, &short_time);
		break;
	case 4:
		result = semtimedop(semaphores, &lower, 1, &ms);
		break;
	case 5:
		result = (int)syscall(SYS_futex, &word, FUTEX_WAIT, 1, &ms, NULL, 0);
		break;
	case 6:
		result = sigtimedwait(&usr1, NULL, &ms);
		break;
	case 7:
		result = ppoll(&none, 1, &ms, &empty);
		break;
	default:
		result = usleep(300);
	}
	return result != 0 && errno == EINTR;
}

/* Waits that no signal of the program's interrupts, between bits of work. */
static int uninterrupted(bool has_company)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), semaphores = semget(IPC_PRIVATE, 1, 0600);
	int n_interrupted = 0;
	pthread_t thread;
	if (has_company)
		pthread_create(&thread, NULL, keep_busy, NULL);
	for (long i = 0; i < odd_rounds(150); i++) {
		odd_work(1, has_company ? 1000 : 200000);
		n_interrupted += wait_in_turn(i, epoll, semaphores);
	}
	__atomic_store_n(&is_done, true, __ATOMIC_RELAXED);
	if (has_company)
		pthread_join(thread, NULL);
	semctl(semaphores, 0, IPC_RMID);
	printf("%d interrupted\n", n_interrupted);
	return 0;
}

static int waits(void)
{
	return uninterrupted(false);
}

static int waits_beside_work(void)
{
	return uninterrupted(true);
}

/* Reads that signals interrupt again and again, and that are restarted. */
static int restarted(void)
{
	struct itimerval timer = {{0, 250}, {0, 250}};
	int ends[2], n_interrupted = 0;
	long n_bytes = 0;
	char byte;
	ODD_CHECK(pipe(ends) == 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		for (long i = 0; i < odd_rounds(150); i++) {
			odd_work(1, 200000);
			(void)!write(ends[1], "x", 1);
		}
		_exit(0);
	}
	close(ends[1]);
	odd_handle(SIGALRM, count, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (ssize_t got; (got = read(ends[0], &byte, 1)) != 0;) {
		odd_work(1, 100000);
		n_bytes += got > 0;
		n_interrupted += got < 0;
	}
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	odd_wait(child, "child");
	printf("%ld bytes, %d interrupted\n", n_bytes, n_interrupted);
	return 0;
}

static long n_seen;
static pthread_t reader;

/* Sends signals until the other says that its call was interrupted as often. */
static void *interrupt(void *data)
{
	struct timespec pause = {0, 300000};
	for (long i = 1; i <= odd_rounds(100); i++) {
		while (__atomic_load_n(&n_seen, __ATOMIC_ACQUIRE) < i) {
			pthread_kill(reader, SIGUSR1);
			odd_work(1, 50000);
			nanosleep(&pause, NULL);
		}
	}
	return data;
}

static int interrupted(void)
{
	int ends[2];
	char byte;
	pthread_t thread;
	reader = pthread_self();
	ODD_CHECK(pipe(ends) == 0);
	odd_handle(SIGUSR1, count, 0);
	pthread_create(&thread, NULL, interrupt, NULL);
	for (long i = 0; i < odd_rounds(100); i++) {
		odd_work(1, 100000);
		ODD_CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
		__atomic_fetch_add(&n_seen, 1, __ATOMIC_RELEASE);
	}
	pthread_join(thread, NULL);
	printf("%ld\n", n_seen);
	return 0;
}

/* A signal comes only while ppoll() lets it. */
static int masked_poll(void)
{
	sigset_t usr1, before;
	struct timespec second = {1, 0};
	long n_woken = 0;
	odd_handle(SIGUSR1, count, 0);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &before);
	for (long i = 0; i < odd_rounds(8000); i++) {
		raise(SIGUSR1);
		odd_work(1, 2000);
		ODD_CHECK(n_signals == i);
		n_woken += ppoll(NULL, 0, &second, &before) == -1 && errno == EINTR;
		ODD_CHECK(n_signals == i + 1);
	}
	printf("%ld\n", n_woken);
	return 0;
}

static int timer_descriptor(void)
{
	struct itimerspec when = {{0, 300000}, {0, 300000}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t n, sum = 0;
	timerfd_settime(fd, 0, &when, NULL);
	for (uint64_t total = 0; total < (uint64_t)odd_rounds(300); total += n) {
		ODD_CHECK(read(fd, &n, sizeof n) == sizeof n);
		sum = odd_work(sum, 50000);
	}
	printf("descriptor %d\n", fd);
	return 0;
}

const OddKind odd_waits[] = {
	{"wait-timer-prof", timer_prof},
	{"wait-timer-virtual", timer_virtual},
	{"wait-timer-real", timer_real},
	{"wait-timer-thread-time", timer_of_thread},
	{"wait-timer-in-thread", timer_in_thread},
	{"wait-uninterrupted", waits, "event"},
	{"wait-uninterrupted-threads", waits_beside_work, "event"},
	{"wait-restarted", restarted},
	{"wait-interrupted", interrupted},
	{"wait-ppoll-mask", masked_poll, "event"},
	{"wait-timerfd", timer_descriptor},
	{0},
};
