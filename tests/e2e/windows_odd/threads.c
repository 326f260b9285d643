/* SPDX-License-Identifier: MIT */
/* Threads' beginnings and ends. */
#include "odd.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long n_done;

static void *work_a_little(void *data)
{
	uint64_t sum = odd_work((uint64_t)(uintptr_t)data, 20000);
	__atomic_fetch_add(&n_done, 1, __ATOMIC_RELAXED);
	return (void *)(uintptr_t)(sum & 0xff);
}

static int storm(void)
{
	enum { AT_ONCE = 10 };
	pthread_t threads[AT_ONCE];
	uintptr_t sum = 0;
	for (long i = 0; i < odd_rounds(200); i++) {
		void *result = NULL;
		for (long j = 0; j < AT_ONCE; j++)
			pthread_create(&threads[j], NULL, work_a_little, (void *)j);
		for (int j = 0; j < AT_ONCE; j++) {
			pthread_join(threads[j], &result);
			sum += (uintptr_t)result;
		}
	}
	printf("%ld %lu\n", n_done, sum);
	return 0;
}

static int detached(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (long i = 0; i < odd_rounds(1000); i++) {
		ODD_CHECK(pthread_create(&thread, &attributes, work_a_little, NULL) == 0);
		while (__atomic_load_n(&n_done, __ATOMIC_RELAXED) + 8 < i)
			sched_yield();
	}
	while (__atomic_load_n(&n_done, __ATOMIC_RELAXED) < odd_rounds(1000))
		sched_yield();
	printf("%ld\n", n_done);
	return 0;
}

/* Fills its stack but for what the system itself may need there. */
static void *fill_stack(void *data)
{
	pthread_attr_t attributes;
	void *bottom;
	size_t size;
	char here;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &bottom, &size);
	pthread_attr_destroy(&attributes);
	size_t room = (size_t)(&here - (char *)bottom) - 1024;
	volatile char *all = __builtin_alloca(room);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < room; i += 16)
			all[i] = (char)(i / 16 + (size_t)round);
		for (size_t i = 0; i < room; i += 16)
			ODD_CHECK(all[i] == (char)(i / 16 + (size_t)round));
	}
	return data;
}

static int small_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t threads[4];
	pthread_attr_init(&attributes);
	ODD_CHECK(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) == 0);
	for (long i = 0; i < odd_rounds(800); i++) {
		for (int j = 0; j < 4; j++)
			ODD_CHECK(pthread_create(&threads[j], &attributes, fill_stack, NULL) == 0);
		for (int j = 0; j < 4; j++)
			pthread_join(threads[j], NULL);
	}
	printf("filled\n");
	return 0;
}

static int given_stacks(void)
{
	static char memory[2][65536] __attribute__((aligned(4096)));
	pthread_attr_t attributes;
	pthread_t threads[2];
	for (long i = 0; i < odd_rounds(800); i++) {
		for (int j = 0; j < 2; j++) {
			pthread_attr_init(&attributes);
			ODD_CHECK(!pthread_attr_setstack(&attributes, memory[j], sizeof memory[j]));
			ODD_CHECK(pthread_create(&threads[j], &attributes, fill_stack, NULL) == 0);
		}
		for (int j = 0; j < 2; j++)
			pthread_join(threads[j], NULL);
	}
	printf("filled\n");
	return 0;
}

static void clean_up(void *data)
{
	__atomic_fetch_add((long *)data, 1, __ATOMIC_RELAXED);
}

static void *be_cancelled(void *data)
{
	int before;
	volatile uint64_t sum = 0;
	pthread_cleanup_push(clean_up, &n_done);
	if (data != NULL)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	for (;;) {
		sum = odd_work(sum, 1000);
		if (data == NULL)
			pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	return (void *)(uintptr_t)sum;
}

static int cancelled(void)
{
	long n_cancelled = 0;
	for (long i = 0; i < odd_rounds(500); i++) {
		pthread_t thread;
		void *result;
		pthread_create(&thread, NULL, be_cancelled, (void *)(i % 2));
		odd_work(1, 50000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		n_cancelled += result == PTHREAD_CANCELED;
	}
	printf("%ld\n", n_cancelled);
	printf("%d\n", n_done >= odd_rounds(500) / 2);
	return 0;
}

static pthread_key_t key;

static void destroy(void *data)
{
	odd_work((uint64_t)(uintptr_t)data, 3000);
	__atomic_fetch_add(&n_done, 1, __ATOMIC_RELAXED);
	if ((uintptr_t)data > 1)
		pthread_setspecific(key, (char *)data - 1);
}

static void *leave(void *data)
{
	pthread_setspecific(key, (void *)3);
	odd_work(1, 3000);
	pthread_exit(data);
}

static int thread_exits(void)
{
	pthread_key_create(&key, destroy);
	for (long i = 0; i < odd_rounds(1500); i++) {
		pthread_t thread;
		void *result;
		pthread_create(&thread, NULL, leave, (void *)i);
		pthread_join(thread, &result);
		ODD_CHECK(result == (void *)i);
	}
	printf("%ld\n", n_done);
	return 0;
}

static void *finish_late(void *data)
{
	(void)data;
	printf("%d\n", (int)(odd_work(1, odd_rounds(30000000)) & 0xff));
	exit(5);
}

static int main_exits(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, finish_late, NULL);
	pthread_exit(NULL);
}

static void *work_for_ever(void *data)
{
	for (uint64_t sum = 0;;)
		sum = odd_work(sum + (uint64_t)(uintptr_t)data, 1000);
	return NULL;
}

/* One thread ends the process while others work. */
static int exit_in_thread(void)
{
	pthread_t thread;
	for (long i = 0; i < 3; i++)
		pthread_create(&thread, NULL, work_for_ever, (void *)i);
	pthread_create(&thread, NULL, finish_late, NULL);
	work_for_ever(NULL);
	return 0;
}

static void *execute(void *data)
{
	odd_work(1, odd_rounds(10000000));
	odd_execute("thread-exec", "second");
	return data;
}

static int exec_in_thread(void)
{
	pthread_t thread;
	if (odd_stage != NULL) {
		printf("%s %d\n", odd_stage, (int)(odd_work(1, odd_rounds(10000000)) & 0xff));
		return 6;
	}
	pthread_create(&thread, NULL, work_for_ever, NULL);
	pthread_create(&thread, NULL, execute, NULL);
	work_for_ever(NULL);
	return 0;
}

static int fork_beside_threads(void)
{
	pthread_t threads[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work_for_ever, (void *)i);
	long n_children = 0;
	for (long i = 0; i < odd_rounds(25); i++) {
		int status = 0;
		pid_t child = fork();
		if (child == 0)
			_exit((int)(odd_work(1, 50000) & 0x7f));
		waitpid(child, &status, 0);
		n_children += WIFEXITED(status) &&
		              WEXITSTATUS(status) == (int)(odd_work(1, 50000) & 0x7f);
	}
	printf("%ld\n", n_children);
	return 0;
}

static void *work_blocked(void *data)
{
	sigset_t mask;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ODD_CHECK(sigismember(&mask, SIGTRAP) == 1 && sigismember(&mask, SIGUSR1) == 1);
	return (void *)(uintptr_t)(odd_work((uintptr_t)data, odd_rounds(15000000)) & 0xff);
}

/* Threads that are made with all signals blocked, and so are for ever, beside one that is not. */
static int blocked_threads(void)
{
	sigset_t all, before;
	pthread_t threads[2];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work_blocked, (void *)i);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	printf("%d\n", (int)(odd_work(7, odd_rounds(15000000)) & 0xff));
	for (int i = 0; i < 2; i++) {
		void *result;
		pthread_join(threads[i], &result);
		printf("%d\n", (int)(uintptr_t)result);
	}
	return 0;
}

static volatile int raw_result;

static int raw_thread(void *data)
{
	raw_result = (int)(odd_work((uintptr_t)data, 300000) & 0xff);
	return 0;
}

/* A thread that the C library does not know. */
static int unknown_thread(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	long sum = 0;
	for (long i = 0; i < odd_rounds(100); i++) {
		volatile int alive = 1;
		int tid = clone(raw_thread, stack + sizeof stack,
			CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
			(void *)i, NULL, NULL, &alive);
		ODD_CHECK(tid > 0);
		while (alive != 0)
			syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL, NULL, 0);
		sum += raw_result;
	}
	printf("%ld\n", sum);
	return 0;
}

static volatile sig_atomic_t n_handled[64];

static void count(int signal)
{
	n_handled[signal]++;
}

static void *keep_credentials(void *data)
{
	for (long i = 0; i < odd_rounds(500); i++) {
		ODD_CHECK(setresgid(getgid(), getegid(), getegid()) == 0);
		odd_work(1, 5000);
	}
	return data;
}

/* setgid() of all threads goes by a signal of the C library's own. */
static int credentials(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, keep_credentials, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("kept\n");
	return 0;
}

static bool is_done;

static void *work_until_done(void *data)
{
	while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED))
		odd_work(1, 1000);
	return data;
}

static int kill_each_other(void)
{
	pthread_t thread;
	odd_handle(SIGUSR2, count, SA_RESTART);
	pthread_create(&thread, NULL, work_until_done, NULL);
	for (long i = 0; i < odd_rounds(300); i++) {
		pthread_kill(thread, SIGUSR2);
		while (n_handled[SIGUSR2] <= i) {
			odd_work(1, 3000);
			sched_yield();
		}
	}
	__atomic_store_n(&is_done, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	printf("%ld\n", (long)n_handled[SIGUSR2]);
	return 0;
}

static __thread long own_number = 3;

static void *use_own(void *data)
{
	for (long i = 0; i < 2000; i++) {
		own_number += (long)data;
		errno = (int)own_number;
		odd_work(1, 10);
		ODD_CHECK(errno == (int)own_number);
	}
	return (void *)own_number;
}

static int thread_local_storage(void)
{
	long sum = 0;
	for (long i = 0; i < odd_rounds(300); i++) {
		pthread_t threads[4];
		void *result;
		for (long j = 0; j < 4; j++)
			pthread_create(&threads[j], NULL, use_own, (void *)j);
		for (int j = 0; j < 4; j++) {
			pthread_join(threads[j], &result);
			sum += (long)result;
		}
	}
	printf("%ld\n", sum);
	return 0;
}

const OddKind odd_threads[] = {
	{"thread-storm", storm},
	{"thread-detached", detached},
	{"thread-small-stacks", small_stacks},
	{"thread-given-stacks", given_stacks},
	{"thread-cancelled", cancelled},
	{"thread-exit", thread_exits},
	{"thread-main-exits", main_exits},
	{"thread-ends-process", exit_in_thread},
	{"thread-exec", exec_in_thread},
	{"thread-fork", fork_beside_threads},
	{"thread-blocked", blocked_threads},
	{"thread-unknown", unknown_thread, "none"},
	{"thread-credentials", credentials},
	{"thread-kill", kill_each_other},
	{"thread-local", thread_local_storage},
	{0},
};
