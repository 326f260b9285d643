/* SPDX-License-Identifier: MIT */
/*
 * Programs that do one thing as often as they can: what a recorder costs them shows at its worst.
 *
 *   often KIND ROUNDS   prints "seconds S": by the clock, from before the first round to after the
 * last often               prints the kinds, and how many rounds take some tenths of a second
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long rounds;
static volatile uint64_t sink;

/* Some 200 ns. */
static void work(void)
{
	uint64_t x = sink;

	for (int i = 0; i < 100; i++)
		x = x * 6364136223846793005u + 1;
	sink = x;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Runs it in a second thread beside this one. */
static void beside(void *(*other)(void *), void *data)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other, data) != 0)
		fail("pthread_create");
	other(NULL);
	pthread_join(thread, NULL);
}

/* --- turns of two threads or processes --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *data)
{
	int mine = data != NULL;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		while (turn != mine)
			pthread_cond_wait(&changed, &lock);
		turn = !mine;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
static void condition(void)
{
	beside(take_turns, &turn);
}

static sem_t semaphores[2];
static void *post_in_turn(void *data)
{
	int mine = data != NULL;

	for (long i = 0; i < rounds; i++) {
		sem_wait(&semaphores[mine]);
		sem_post(&semaphores[!mine]);
	}
	return NULL;
}
static void semaphore(void)
{
	sem_init(&semaphores[0], 0, 1);
	sem_init(&semaphores[1], 0, 0);
	beside(post_in_turn, &turn);
}

/* Two ends, each of which is read and written by one. */
static int ends[2][2];
static void *pass_by_pipes(void *data)
{
	int mine = data != NULL;
	uint64_t one = 1;

	for (long i = 0; i < rounds; i++) {
		if (mine && read(ends[0][0], &one, 8) != 8)
			fail("read");
		if (write(ends[mine ? 1 : 0][1], &one, 8) != 8)
			fail("write");
		if (!mine && read(ends[1][0], &one, 8) != 8)
			fail("read");
	}
	return NULL;
}
static void make_pipes(void)
{
	if (pipe(ends[0]) != 0 || pipe(ends[1]) != 0)
		fail("pipe");
}
static void pipes(void)
{
	make_pipes();
	beside(pass_by_pipes, &turn);
}
static void pipes_of_processes(void)
{
	make_pipes();
	pid_t child = fork();
	if (child == 0) {
		pass_by_pipes(&turn);
		_exit(0);
	}
	pass_by_pipes(NULL);
	waitpid(child, NULL, 0);
}
static void eventfds(void)
{
	for (int i = 0; i < 2; i++)
		ends[i][0] = ends[i][1] = eventfd(0, 0);
	beside(pass_by_pipes, &turn);
}
static void sockets(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		fail("socketpair");
	/* What is written to one end is read at the other. */
	ends[0][0] = ends[1][1] = pair[0];
	ends[0][1] = ends[1][0] = pair[1];
	beside(pass_by_pipes, &turn);
}

static pthread_barrier_t barrier;
static void *meet(void *data)
{
	(void)data;
	for (long i = 0; i < rounds; i++)
		pthread_barrier_wait(&barrier);
	return NULL;
}
static void barriers(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	beside(meet, &turn);
}

static void *yield(void *data)
{
	(void)data;
	for (long i = 0; i < rounds; i++)
		sched_yield();
	return NULL;
}
static void yields(void)
{
	yield(NULL);
}
static void yields_of_two(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	beside(yield, &turn);
}

/* --- locks --- */

static void *count_locked(void *data)
{
	(void)data;
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		work();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
static void lock_of_one(void)
{
	count_locked(NULL);
}
static void lock_of_two(void)
{
	beside(count_locked, &turn);
}

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static void *read_locked(void *data)
{
	for (long i = 0; i < rounds; i++) {
		if (data != NULL && i % 16 == 0)
			pthread_rwlock_wrlock(&shared);
		else
			pthread_rwlock_rdlock(&shared);
		work();
		pthread_rwlock_unlock(&shared);
	}
	return NULL;
}
static void readers(void)
{
	beside(read_locked, &turn);
}

static atomic_flag spin = ATOMIC_FLAG_INIT;
static void *count_spinning(void *data)
{
	(void)data;
	for (long i = 0; i < rounds; i++) {
		while (atomic_flag_test_and_set(&spin))
			__builtin_ia32_pause();
		work();
		atomic_flag_clear(&spin);
	}
	return NULL;
}
static void spinning(void)
{
	beside(count_spinning, &turn);
}

static _Atomic uint64_t counter;
static void *add(void *data)
{
	(void)data;
	for (long i = 0; i < rounds; i++)
		atomic_fetch_add(&counter, 1);
	return NULL;
}
static void atomics(void)
{
	beside(add, &turn);
}

static void wake_nobody(void)
{
	int word = 0;

	for (long i = 0; i < rounds; i++)
		syscall(SYS_futex, &word, 1, 1, NULL, NULL, 0);
}

/* --- signals --- */

static void count_signal(int signal)
{
	(void)signal;
	sink++;
}
static void signals(void)
{
	signal(SIGUSR1, count_signal);
	for (long i = 0; i < rounds; i++)
		raise(SIGUSR1);
}
static void signals_waited_for(void)
{
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (long i = 0; i < rounds; i++) {
		raise(SIGUSR1);
		sigwaitinfo(&set, &info);
	}
}
static char *guarded;
static void lift(int signal)
{
	(void)signal;
	mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}
static void barriers_of_pages(void)
{
	guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, lift);
	for (long i = 0; i < rounds; i++) {
		*(volatile char *)guarded = 1;
		mprotect(guarded, 4096, PROT_NONE);
	}
}
static void masks(void)
{
	sigset_t set, old;

	sigfillset(&set);
	for (long i = 0; i < rounds; i++) {
		sigprocmask(SIG_BLOCK, &set, &old);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
}
static void jumps(void)
{
	sigjmp_buf place;

	for (volatile long i = 0; i < rounds; i++)
		if (sigsetjmp(place, 1) == 0)
			siglongjmp(place, 1);
}

/* --- waits --- */

static void sleeps(void)
{
	const struct timespec shortest = {0, 1};

	prctl(PR_SET_TIMERSLACK, 1);
	for (long i = 0; i < rounds; i++)
		nanosleep(&shortest, NULL);
}
static void polls(void)
{
	make_pipes();
	struct pollfd one = {.fd = ends[0][0], .events = POLLIN};
	for (long i = 0; i < rounds; i++)
		poll(&one, 1, 0);
}
static void epolls(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int set = epoll_create1(0);

	make_pipes();
	epoll_ctl(set, EPOLL_CTL_ADD, ends[0][0], &event);
	for (long i = 0; i < rounds; i++)
		epoll_wait(set, &event, 1, 0);
}
static void clocks(void)
{
	struct timespec time;

	for (long i = 0; i < rounds; i++)
		clock_gettime(CLOCK_MONOTONIC, &time);
}

/* --- processes and threads --- */

static void forks(void)
{
	for (long i = 0; i < rounds; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}
static void programs(void)
{
	for (volatile long i = 0; i < rounds; i++) {
		pid_t child = vfork();
		if (child == 0) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}
static void *nothing(void *data)
{
	return data;
}
static void threads(void)
{
	for (long i = 0; i < rounds; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, nothing, NULL) != 0)
			fail("pthread_create");
		pthread_join(thread, NULL);
	}
}
static void moves(void)
{
	for (long i = 0; i < rounds; i++) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET((size_t)i % 2, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
}

/* --- memory --- */

static void maps(void)
{
	for (long i = 0; i < rounds; i++)
		munmap(mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0),
			65536);
}
static void maps_of_code(void)
{
	int file = open("/bin/true", O_RDONLY | O_CLOEXEC);

	for (long i = 0; i < rounds; i++)
		munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0), 4096);
}
static void faults(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; i < rounds; i++) {
		*(volatile char *)page = 1;
		madvise(page, 4096, MADV_DONTNEED);
	}
}
static void protections(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; i < rounds; i++)
		mprotect(page, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE);
}
static void breaks(void)
{
	for (long i = 0; i < rounds; i++) {
		if (sbrk(4096) == (void *)-1)
			fail("sbrk");
		sbrk(-4096);
	}
}
static void large_blocks(void)
{
	for (long i = 0; i < rounds; i++) {
		volatile char *block = malloc(200000);
		block[0] = 1;
		free((void *)block);
	}
}

/* --- files --- */

static void calls(void)
{
	for (long i = 0; i < rounds; i++)
		syscall(SYS_getppid);
}
static void opens(void)
{
	for (long i = 0; i < rounds; i++)
		close(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}
static void states(void)
{
	struct stat state;

	for (long i = 0; i < rounds; i++)
		stat("/etc/passwd", &state);
}
static void own_pipe(void)
{
	char byte = 0;

	make_pipes();
	for (long i = 0; i < rounds; i++)
		if (write(ends[0][1], &byte, 1) != 1 || read(ends[0][0], &byte, 1) != 1)
			fail("pipe");
}
static void reads(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char byte;

	for (long i = 0; i < rounds; i++)
		if (read(zero, &byte, 1) != 1)
			fail("read");
}
static void computes(void)
{
	for (long i = 0; i < rounds; i++)
		work();
}

static const struct {
	const char *name;
	void (*run)(void);
	long rounds; /* of some tenths of a second */
} kinds[] = {
	{"compute", computes, 4000000},
	{"condition", condition, 50000},
	{"semaphore", semaphore, 50000},
	{"pipes", pipes, 50000},
	{"pipes-processes", pipes_of_processes, 50000},
	{"eventfd", eventfds, 50000},
	{"socketpair", sockets, 40000},
	{"barrier", barriers, 50000},
	{"yield", yields, 1000000},
	{"yield-two", yields_of_two, 300000},
	{"lock-one", lock_of_one, 4000000},
	{"lock-two", lock_of_two, 1000000},
	{"readers", readers, 500000},
	{"spin", spinning, 1000000},
	{"atomic", atomics, 10000000},
	{"futex-wake", wake_nobody, 2000000},
	{"signal", signals, 300000},
	{"sigwait", signals_waited_for, 500000},
	{"page-guard", barriers_of_pages, 100000},
	{"mask", masks, 1000000},
	{"jump", jumps, 1000000},
	{"sleep", sleeps, 20000},
	{"poll", polls, 1000000},
	{"epoll", epolls, 1000000},
	{"clock", clocks, 10000000},
	{"fork", forks, 2000},
	{"exec", programs, 1000},
	{"thread", threads, 20000},
	{"move", moves, 30000},
	{"mmap", maps, 300000},
	{"mmap-code", maps_of_code, 100000},
	{"fault", faults, 200000},
	{"mprotect", protections, 500000},
	{"brk", breaks, 300000},
	{"large-block", large_blocks, 300000},
	{"call", calls, 3000000},
	{"open", opens, 300000},
	{"stat", states, 500000},
	{"own-pipe", own_pipe, 500000},
	{"read", reads, 2000000},
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc < 3) {
			printf("%s %ld\n", kinds[i].name, kinds[i].rounds);
		} else if (strcmp(kinds[i].name, argv[1]) == 0) {
			rounds = atol(argv[2]);
			double begin = now();
			kinds[i].run();
			printf("seconds %.4f\n", now() - begin);
			return 0;
		}
	}
	return argc < 3 ? 0 : 1;
}
