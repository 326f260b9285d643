/* SPDX-License-Identifier: MIT */
/* Threads that wait for each other. */
#include "odd.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/rseq.h>

static long shared; /* by the lock that is tried */
static unsigned next_ticket, served;
static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t read_write = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;

/* Runs as two threads, and prints what they counted. */
static int in_two(void *(*run)(void *))
{
	pthread_t threads[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", shared);
	return 0;
}

static void pause_or_yield(int n)
{
	if (n % 64 == 63)
		sched_yield();
	else
		__builtin_ia32_pause();
}

static void *take_spin_lock(void *data)
{
	for (long i = odd_rounds(3000000); i > 0; i--) {
		for (int n = 0; pthread_spin_trylock(&spin) != 0; n++)
			pause_or_yield(n);
		shared++;
		pthread_spin_unlock(&spin);
	}
	return data;
}

static int spin_lock(void)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	return in_two(take_spin_lock);
}

static void *take_ticket(void *data)
{
	for (long i = odd_rounds(80000); i > 0; i--) {
		unsigned mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
		for (int n = 0; __atomic_load_n(&served, __ATOMIC_ACQUIRE) != mine; n++)
			pause_or_yield(n);
		shared++;
		__atomic_store_n(&served, mine + 1, __ATOMIC_RELEASE);
		odd_work(1, 300);
	}
	return data;
}

static int ticket_lock(void)
{
	return in_two(take_ticket);
}

static void *take_mutex(void *data)
{
	for (long i = odd_rounds(500000); i > 0; i--) {
		pthread_mutex_lock(&mutex);
		shared += (long)odd_work(1, 30) != 0;
		pthread_mutex_unlock(&mutex);
	}
	return data;
}

static int contended_mutex(void)
{
	return in_two(take_mutex);
}

static void *swap_in(void *data)
{
	for (long i = odd_rounds(3000000); i > 0; i--) {
		long now = __atomic_load_n(&shared, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(
			&shared, &now, now + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
	}
	return data;
}

static int compare_and_swap(void)
{
	return in_two(swap_in);
}

static struct {
	_Alignas(16) uint64_t low;
	uint64_t high;
} pair;

static void *swap_pair(void *data)
{
	for (long i = odd_rounds(2000000); i > 0; i--) {
		uint64_t low = pair.low, high = pair.high;
		char is_swapped;
		do {
			__asm__ volatile("lock cmpxchg16b %1"
					 : "=@ccz"(is_swapped), "+m"(pair), "+a"(low), "+d"(high)
					 : "b"(low + 1), "c"(high + 2)
					 : "memory");
		} while (!is_swapped);
	}
	return data;
}

static int swap_pairs(void)
{
	in_two(swap_pair);
	printf("%lu %lu\n", (unsigned long)pair.low, (unsigned long)pair.high);
	return 0;
}

/* A stack without locks, whose heads are counted. */
static struct {
	uint32_t next, value;
} nodes[64];
static uint64_t head;

static void push(uint32_t node)
{
	uint64_t now = __atomic_load_n(&head, __ATOMIC_RELAXED), next;
	do {
		nodes[node].next = (uint32_t)now;
		next = ((now >> 32) + 1) << 32 | node;
	} while (!__atomic_compare_exchange_n(
		&head, &now, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static uint32_t pop(void)
{
	uint64_t now = __atomic_load_n(&head, __ATOMIC_ACQUIRE), next;
	do {
		if ((uint32_t)now == 0)
			return 0;
		uint32_t below = __atomic_load_n(&nodes[(uint32_t)now].next, __ATOMIC_RELAXED);
		next = ((now >> 32) + 1) << 32 | below;
	} while (!__atomic_compare_exchange_n(
		&head, &now, next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return (uint32_t)now;
}

static void *pop_and_push(void *data)
{
	for (long i = odd_rounds(1500000); i > 0; i--) {
		uint32_t node;
		while ((node = pop()) == 0)
			sched_yield();
		nodes[node].value++;
		push(node);
	}
	return data;
}

static int lock_free_stack(void)
{
	for (uint32_t i = 1; i < 64; i++)
		push(i);
	in_two(pop_and_push);
	for (int i = 1; i < 64; i++)
		shared += nodes[i].value;
	printf("%ld\n", shared);
	return 0;
}

static void *take_turns(void *data)
{
	for (long i = 0; i < odd_rounds(3000); i++) {
		pthread_mutex_lock(&mutex);
		while (shared % 2 != (long)data)
			pthread_cond_wait(&condition, &mutex);
		shared++;
		odd_work(1, 500);
		pthread_cond_signal(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return data;
}

static int turns(void)
{
	return in_two(take_turns);
}

static void *meet(void *data)
{
	for (long i = 0; i < odd_rounds(2500); i++) {
		odd_work(1, 2000);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			shared++;
		pthread_barrier_wait(&barrier);
		ODD_CHECK(__atomic_load_n(&shared, __ATOMIC_RELAXED) >= i + 1);
	}
	return data;
}

static int barriers(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	return in_two(meet);
}

static void *read_or_write(void *data)
{
	for (long i = 0; i < odd_rounds(400000); i++) {
		if (i % 8 == 0) {
			pthread_rwlock_wrlock(&read_write);
			shared++;
		} else {
			pthread_rwlock_rdlock(&read_write);
		}
		odd_work(1, 30);
		pthread_rwlock_unlock(&read_write);
	}
	return data;
}

static int readers_writers(void)
{
	return in_two(read_or_write);
}

static pthread_mutex_t robust;

static void *die_with_it(void *data)
{
	pthread_mutex_lock(&robust);
	odd_work(1, 5000);
	return data;
}

static int robust_mutex(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	long n_dead = 0;
	for (long i = 0; i < odd_rounds(1500); i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, die_with_it, NULL);
		pthread_join(thread, NULL);
		n_dead += pthread_mutex_lock(&robust) == EOWNERDEAD;
		pthread_mutex_consistent(&robust);
		pthread_mutex_unlock(&robust);
	}
	printf("%ld\n", n_dead);
	return 0;
}

/* Counters of processors, by sequences that the kernel begins again when it interrupts them. */
static struct {
	_Alignas(64) long n;
} counters[1024];

static bool add_restartable(struct rseq *area, uint32_t processor)
{
	__asm__ goto(
		".pushsection odd_rseq, \"aw\"\n .balign 32\n"
		"3: .long 0, 0\n .quad 1f, 2f - 1f, 4f\n .popsection\n"
		".pushsection .text.odd_rseq, \"ax\"\n"
		".byte 0x0f, 0xb9, 0x3d\n .long %c[signature]\n 4: jmp %l[aborted]\n .popsection\n"
		"lea 3b(%%rip), %%rax\n mov %%rax, %[sequence]\n"
		"1: cmp %[processor], %[current]\n jne 4b\n"
		"incq %[counter]\n 2:"
		:
		: [signature] "i"(RSEQ_SIG), [sequence] "m"(area->rseq_cs),
		[current] "m"(area->cpu_id), [processor] "r"(processor),
		[counter] "m"(counters[processor % 1024].n)
		: "rax", "memory", "cc"
		: aborted);
	return true;
aborted:
	return false;
}

static void *count_on_processors(void *data)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	for (long i = odd_rounds(40000000); i > 0;)
		i -= add_restartable(area, __atomic_load_n(&area->cpu_id_start, __ATOMIC_RELAXED));
	return data;
}

static int restartable(void)
{
	if (__rseq_size == 0) {
		printf("no restartable sequences\n");
		return 0;
	}
	in_two(count_on_processors);
	for (int i = 0; i < 1024; i++)
		shared += counters[i].n;
	printf("%ld\n", shared);
	return 0;
}

static int sequence;
static long left, right;

static void *read_twice(void *data)
{
	for (long i = 0; i < odd_rounds(2000000); i++) {
		if (data == NULL) {
			__atomic_store_n(&sequence, sequence + 1, __ATOMIC_RELEASE);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			__atomic_store_n(&left, i, __ATOMIC_RELAXED);
			__atomic_store_n(&right, -i, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			__atomic_store_n(&sequence, sequence + 1, __ATOMIC_RELEASE);
			continue;
		}
		int before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);
		long l = __atomic_load_n(&left, __ATOMIC_RELAXED);
		long r = __atomic_load_n(&right, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before % 2 == 0 && before == __atomic_load_n(&sequence, __ATOMIC_RELAXED))
			ODD_CHECK(l == -r);
	}
	return NULL;
}

static int sequence_lock(void)
{
	return in_two(read_twice);
}

const OddKind odd_locks[] = {
	{"lock-spin", spin_lock},
	{"lock-ticket", ticket_lock},
	{"lock-mutex", contended_mutex},
	{"lock-cmpxchg", compare_and_swap},
	{"lock-cmpxchg16b", swap_pairs},
	{"lock-free-stack", lock_free_stack},
	{"lock-condition", turns},
	{"lock-barrier", barriers},
	{"lock-read-write", readers_writers},
	{"lock-robust", robust_mutex},
	{"lock-rseq", restartable},
	{"lock-sequence", sequence_lock},
	{0},
};
