/* SPDX-License-Identifier: MIT */
/*
 * Waits of one kind, measured by the program itself: known_waits KIND FILE appends to FILE a line
 *
 *   clock SECONDS THREADS WAITED      from begin to end; threads that wait; the sum of their waits
 *
 * by the clock before and after each call that waits, less the processor time of the call.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 3 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stock_ready = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t map_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t gate;
static sem_t tokens;
static unsigned stock;
static volatile unsigned long sink;

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Begins and ends a call that waits. */
typedef struct {
	double clock, processor;
} Mark;

static Mark begin_wait(void)
{
	return (Mark){now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID)};
}

static double end_wait(Mark mark)
{
	return now(CLOCK_MONOTONIC) - mark.clock - (now(CLOCK_THREAD_CPUTIME_ID) - mark.processor);
}

/* Computes for so long, of its own processor time. */
__attribute__((noinline)) static void compute(double seconds)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (unsigned i = 0; i < 1000; i++)
			sink += i * sink;
}

static double run_threads(void *(*work)(void *))
{
	pthread_t threads[N_THREADS];
	double waited[N_THREADS] = {0}, sum = 0;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, &waited[i]);
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += waited[i];
	}
	return sum;
}

/* --- kinds --- */

__attribute__((noinline)) static void hold_table(void)
{
	compute(0.002);
}

static void *update_table(void *waited)
{
	for (int i = 0; i < 150; i++) {
		Mark mark = begin_wait();
		pthread_mutex_lock(&table_lock);
		*(double *)waited += end_wait(mark);
		hold_table();
		pthread_mutex_unlock(&table_lock);
	}
	return NULL;
}

static void *take_stock(void *waited)
{
	for (int i = 0; i < 60; i++) {
		pthread_mutex_lock(&stock_lock);
		Mark mark = begin_wait();
		while (stock == 0)
			pthread_cond_wait(&stock_ready, &stock_lock);
		*(double *)waited += end_wait(mark);
		stock--;
		pthread_mutex_unlock(&stock_lock);
		compute(0.001);
	}
	return NULL;
}

__attribute__((noinline)) static void *make_stock(void *unused)
{
	(void)unused;
	for (int i = 0; i < 60 * N_THREADS; i++) {
		compute(0.005);
		pthread_mutex_lock(&stock_lock);
		stock++;
		pthread_cond_signal(&stock_ready);
		pthread_mutex_unlock(&stock_lock);
	}
	return NULL;
}

/* The end depends on those who take, and they on the one who makes. */
static double wait_condition(void)
{
	pthread_t threads[N_THREADS], maker;
	double waited[N_THREADS] = {0}, sum = 0;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, take_stock, &waited[i]);
	pthread_create(&maker, NULL, make_stock, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += waited[i];
	}
	pthread_join(maker, NULL);
	return sum;
}

static void *sum_alone(void *unused)
{
	(void)unused;
	compute(0.8);
	return NULL;
}

__attribute__((noinline)) static double await_sum(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sum_alone, NULL);
	Mark mark = begin_wait();
	pthread_join(thread, NULL);
	return end_wait(mark);
}

__attribute__((noinline)) static double await_children(void)
{
	double waited = 0;

	for (int i = 0; i < 8; i++) {
		pid_t child = fork();
		if (child == 0) {
			compute(0.1);
			_exit(0);
		}
		Mark mark = begin_wait();
		waitpid(child, NULL, 0);
		waited += end_wait(mark);
	}
	return waited;
}

/* As a shell does for $(…): until the child has closed its end of the pipe, as it ends. */
__attribute__((noinline)) static double await_output(void)
{
	double waited = 0;
	char byte;

	for (int i = 0; i < 8; i++) {
		int ends[2];
		if (pipe(ends) != 0)
			abort();
		pid_t child = fork();
		if (child == 0) {
			compute(0.1);
			_exit(write(ends[1], "x", 1) != 1);
		}
		close(ends[1]);
		Mark mark = begin_wait();
		while (read(ends[0], &byte, 1) > 0)
			continue;
		waited += end_wait(mark);
		close(ends[0]);
		waitpid(child, NULL, 0);
	}
	return waited;
}

static void ignore_signal(int number)
{
	(void)number;
}

/* As make does for its jobs. */
__attribute__((noinline)) static double await_signals(void)
{
	const struct sigaction action = {.sa_handler = ignore_signal};
	double waited = 0;
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	for (int i = 0; i < 8; i++) {
		pid_t child = fork();
		if (child == 0) {
			compute(0.1);
			_exit(0);
		}
		Mark mark = begin_wait();
		sigsuspend(&before);
		waited += end_wait(mark);
		waitpid(child, NULL, 0);
	}
	return waited;
}

/* Each is mostly started and ended. */
__attribute__((noinline)) static double await_short(void)
{
	double waited = 0;

	for (int i = 0; i < 400; i++) {
		pid_t child = fork();
		if (child == 0) {
			execlp("true", "true", NULL);
			_exit(127);
		}
		Mark mark = begin_wait();
		waitpid(child, NULL, 0);
		waited += end_wait(mark);
	}
	return waited;
}

__attribute__((noinline)) static void rest(double *waited)
{
	for (int i = 0; i < 30; i++) {
		Mark mark = begin_wait();
		usleep(50);
		*waited += end_wait(mark);
	}
}

__attribute__((noinline)) static void breathe(double *waited)
{
	for (int i = 0; i < 10; i++) {
		Mark mark = begin_wait();
		usleep(50);
		*waited += end_wait(mark);
	}
}

/* 800 waits, of which none is longer than the time between two looks. */
__attribute__((noinline)) static double rest_often(void)
{
	double waited = 0;

	for (int i = 0; i < 20; i++) {
		rest(&waited);
		breathe(&waited);
	}
	return waited;
}

__attribute__((noinline)) static double nap(void)
{
	double waited = 0;

	for (int i = 0; i < 40; i++) {
		Mark mark = begin_wait();
		usleep(20000);
		waited += end_wait(mark);
	}
	return waited;
}

/* As a program of another user, it does not tell what it waits for. */
static double nap_hidden(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	return nap();
}

__attribute__((noinline)) static double save_notes(void)
{
	static char block[1 << 16];
	double waited = 0;
	int file = open("known.notes", O_CREAT | O_WRONLY | O_TRUNC, 0600);

	for (int i = 0; i < 2000 && waited < 0.8; i++) {
		if (write(file, block, sizeof(block)) < 0)
			abort();
		Mark mark = begin_wait();
		fsync(file);
		waited += end_wait(mark);
	}
	close(file);
	unlink("known.notes");
	return waited;
}

__attribute__((noinline)) static double send_rows(void)
{
	static char row[1 << 14];
	double waited = 0;
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		close(ends[1]);
		while (read(ends[0], row, sizeof(row)) > 0)
			compute(0.004);
		_exit(0);
	}
	close(ends[0]);
	for (int i = 0; i < 200; i++) {
		Mark mark = begin_wait();
		if (write(ends[1], row, sizeof(row)) < 0)
			abort();
		waited += end_wait(mark);
	}
	close(ends[1]);
	waitpid(child, NULL, 0);
	return waited;
}

__attribute__((noinline)) static void draw(double *waited)
{
	Mark mark = begin_wait();

	compute(0.4);
	*waited += end_wait(mark);
}

static void *draw_thread(void *waited)
{
	draw(waited);
	return NULL;
}

static double crowd(void)
{
	cpu_set_t one;

	sched_getaffinity(0, sizeof(one), &one);
	for (int i = CPU_SETSIZE - 1, kept = 0; i >= 0; i--) {
		if (CPU_ISSET(i, &one) && kept++ > 0)
			CPU_CLR(i, &one);
	}
	sched_setaffinity(0, sizeof(one), &one);
	return run_threads(draw_thread);
}

/* Reads from a pipe that nobody writes to. */
static void *watch_pipe(void *ends)
{
	char byte;

	while (read(((const int *)ends)[0], &byte, 1) == 1)
		;
	return NULL;
}

static double compute_watched(void)
{
	static int ends[2];
	pthread_t watcher;

	if (pipe(ends) != 0 || pthread_create(&watcher, NULL, watch_pipe, ends) != 0)
		exit(2);
	for (double end = now(CLOCK_MONOTONIC) + 0.7; now(CLOCK_MONOTONIC) < end;)
		sink++;
	return 0;
}

static double lock(void)
{
	return run_threads(update_table);
}

__attribute__((noinline)) static void hold_map(void)
{
	compute(0.003);
}

/* The first one to come changes the map, the others read it until it is done. */
static void *use_map(void *waited)
{
	static int n_come, is_done;
	int is_writer = __atomic_fetch_add(&n_come, 1, __ATOMIC_RELAXED) == 0;

	for (int i = 0; is_writer ? i < 150 : !__atomic_load_n(&is_done, __ATOMIC_RELAXED); i++) {
		Mark mark = begin_wait();
		if (is_writer)
			pthread_rwlock_wrlock(&map_lock);
		else
			pthread_rwlock_rdlock(&map_lock);
		*(double *)waited += end_wait(mark);
		if (is_writer)
			hold_map();
		pthread_rwlock_unlock(&map_lock);
		compute(0.001);
	}
	if (is_writer)
		__atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
	return NULL;
}

static double read_locks(void)
{
	return run_threads(use_map);
}

static void *take_token(void *waited)
{
	for (int i = 0; i < 50; i++) {
		Mark mark = begin_wait();
		sem_wait(&tokens);
		*(double *)waited += end_wait(mark);
		compute(0.001);
	}
	return NULL;
}

__attribute__((noinline)) static void *make_tokens(void *unused)
{
	(void)unused;
	for (int i = 0; i < 50 * N_THREADS; i++) {
		compute(0.005);
		sem_post(&tokens);
	}
	return NULL;
}

static double wait_semaphore(void)
{
	pthread_t maker;

	sem_init(&tokens, 0, 0);
	pthread_create(&maker, NULL, make_tokens, NULL);
	double waited = run_threads(take_token);
	pthread_join(maker, NULL);
	return waited;
}

static void *meet(void *waited)
{
	static int n_come;
	int is_slow = __atomic_fetch_add(&n_come, 1, __ATOMIC_RELAXED) == 0;

	for (int i = 0; i < 80; i++) {
		compute(is_slow ? 0.01 : 0.001);
		Mark mark = begin_wait();
		pthread_barrier_wait(&gate);
		*(double *)waited += end_wait(mark);
	}
	return NULL;
}

static double wait_barrier(void)
{
	pthread_barrier_init(&gate, NULL, N_THREADS);
	return run_threads(meet);
}

/* Looks after each 20 ms in vain. */
__attribute__((noinline)) static double watch(void)
{
	struct pollfd watched = {.events = POLLIN};
	double waited = 0;
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	watched.fd = ends[0];
	for (int i = 0; i < 40; i++) {
		Mark mark = begin_wait();
		poll(&watched, 1, 20);
		waited += end_wait(mark);
		compute(0.001);
	}
	return waited;
}

/* Answers each request of two bytes, which may come one at a time. */
static void serve(int peer, double seconds)
{
	char byte;

	while (read(peer, &byte, 1) == 1 && read(peer, &byte, 1) == 1) {
		compute(seconds);
		if (write(peer, "x", 1) != 1)
			abort();
	}
	_exit(0);
}

/* Waits for answers by this, as event loops do; -1: by read(2). */
static int loop = -1;

__attribute__((noinline)) static double ask(int peer, int n)
{
	struct epoll_event event = {.events = EPOLLIN};
	double waited = 0;
	char byte;

	if (loop >= 0 && epoll_ctl(loop, EPOLL_CTL_ADD, peer, &event) != 0)
		abort();

	for (int i = 0; i < n; i++) {
		if (write(peer, "a", 1) != 1 || write(peer, "b", 1) != 1)
			abort();
		Mark mark = begin_wait();
		if (loop >= 0 && epoll_wait(loop, &event, 1, -1) != 1)
			abort();
		if (read(peer, &byte, 1) != 1)
			abort();
		waited += end_wait(mark);
	}
	close(peer);
	wait(NULL);
	return waited;
}

static double ask_neighbour(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	if (fork() == 0) {
		close(ends[0]);
		serve(ends[1], 0.01);
	}
	close(ends[1]);
	return ask(ends[0], 80);
}

/* The second of two small packets waits for the acknowledgement of the first, which is delayed. */
static double ask_server(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listening, (struct sockaddr *)&address, size) != 0 || listen(listening, 1) != 0 ||
		getsockname(listening, (struct sockaddr *)&address, &size) != 0)
		abort();
	if (fork() == 0)
		serve(accept(listening, NULL, NULL), 0.0001);
	close(listening);
	/* The server is seen to wait for connections. */
	usleep(100000);
	int peer = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(peer, (struct sockaddr *)&address, size) != 0)
		abort();
	return ask(peer, 25);
}

static double ask_by_loop(void)
{
	loop = epoll_create1(0);
	return ask_server();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(void);
		int n_threads;
	} kinds[] = {{"lock", lock, N_THREADS}, {"rwlock", read_locks, N_THREADS},
		{"condition", wait_condition, N_THREADS}, {"semaphore", wait_semaphore, N_THREADS},
		{"barrier", wait_barrier, N_THREADS}, {"join", await_sum, 1},
		{"child", await_children, 1}, {"output", await_output, 1},
		{"signal", await_signals, 1}, {"short", await_short, 1}, {"rests", rest_often, 1},
		{"sleep", nap, 1}, {"hidden", nap_hidden, 1}, {"poll", watch, 1},
		{"sync", save_notes, 1}, {"pipe", send_rows, 1}, {"unix", ask_neighbour, 1},
		{"tcp", ask_server, 1}, {"epoll", ask_by_loop, 1}, {"processor", crowd, N_THREADS},
		{"watcher", compute_watched, 1}};
	double begin = now(CLOCK_MONOTONIC);

	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		double waited = kinds[i].run();
		FILE *out = fopen(argv[2], "a");
		if (out == NULL)
			return 1;
		fprintf(out, "clock %f %d %f\n", now(CLOCK_MONOTONIC) - begin, kinds[i].n_threads,
			waited);
		return fclose(out) != 0;
	}
	fputs("known_waits KIND FILE\n", stderr);
	return 2;
}
