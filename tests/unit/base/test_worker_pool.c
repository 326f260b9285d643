/* SPDX-License-Identifier: MIT */
#include "base/worker_pool.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { N_TASKS = 10000, MAX_WORKERS = 16 };

typedef struct {
	atomic_int runs[N_TASKS];        /* how often each task ran */
	unsigned long sums[MAX_WORKERS]; /* not atomic: a worker's own scratch memory */
	atomic_int running[MAX_WORKERS]; /* tasks of a worker at this moment */
	GThread *threads[MAX_WORKERS];   /* the thread that a worker is */
	unsigned n_workers;
	atomic_bool has_failed;
} Record;

static void note_task(size_t task, unsigned worker, void *user_data)
{
	Record *record = user_data;

	if (task >= N_TASKS || worker >= record->n_workers) {
		atomic_store(&record->has_failed, true);
		return;
	}
	if (atomic_fetch_add(&record->running[worker], 1) != 0)
		atomic_store(&record->has_failed, true);
	if (record->threads[worker] == NULL)
		record->threads[worker] = g_thread_self();
	else if (record->threads[worker] != g_thread_self())
		atomic_store(&record->has_failed, true);
	record->sums[worker] += task + 1;
	atomic_fetch_add(&record->runs[task], 1);
	atomic_fetch_sub(&record->running[worker], 1);
}

static void check_record(const Record *record, size_t n_tasks, unsigned n_rounds)
{
	unsigned long sum = 0;

	g_assert_false(atomic_load(&record->has_failed));
	for (size_t i = 0; i < N_TASKS; i++)
		g_assert_cmpuint(
			(unsigned)atomic_load(&record->runs[i]), ==, i < n_tasks ? n_rounds : 0);
	for (size_t i = 0; i < MAX_WORKERS; i++)
		sum += record->sums[i];
	g_assert_cmpuint(sum, ==, n_rounds * n_tasks * (n_tasks + 1) / 2);
}

static void run_with(unsigned n_workers, size_t n_tasks)
{
	g_autofree Record *record = g_new0(Record, 1);

	record->n_workers = MAX(n_workers, 1);
	lode_worker_pool_run(n_tasks, n_workers, note_task, record);
	check_record(record, n_tasks, 1);
}

static void test_each_task_once(void)
{
	for (unsigned n_workers = 0; n_workers <= MAX_WORKERS; n_workers++)
		run_with(n_workers, N_TASKS);
}

static void test_few_tasks(void)
{
	for (size_t n_tasks = 0; n_tasks < 5; n_tasks++)
		run_with(MAX_WORKERS, n_tasks);
}

static void note_thread(size_t task, unsigned worker, void *user_data)
{
	GThread **threads = user_data;

	(void)worker;
	threads[task] = g_thread_self();
}

static void test_one_worker_is_the_caller(void)
{
	GThread *threads[3] = {NULL};

	lode_worker_pool_run(3, 1, note_thread, threads);
	for (int i = 0; i < 3; i++)
		g_assert_true(threads[i] == g_thread_self());
}

typedef struct {
	size_t order[100];
	size_t n;
} Order;

static void note_order(size_t task, unsigned worker, void *user_data)
{
	Order *order = user_data;

	(void)worker;
	order->order[order->n++] = task;
}

static void test_tasks_come_in_order(void)
{
	Order order = {.n = 0};

	lode_worker_pool_run(G_N_ELEMENTS(order.order), 1, note_order, &order);
	for (size_t i = 0; i < G_N_ELEMENTS(order.order); i++)
		g_assert_cmpuint(order.order[i], ==, i);
}

/* Rounds of few tasks, some of which are done before a thread has joined. */
static void test_rounds_of_a_crew(void)
{
	enum { ROUNDS = 300, TASKS = 7 };

	for (unsigned n_workers = 0; n_workers <= 5; n_workers++) {
		g_autoptr(LodeWorkerCrew) crew = lode_worker_crew_new(n_workers);
		g_autofree Record *record = g_new0(Record, 1);
		record->n_workers = MAX(n_workers, 1);
		for (unsigned i = 0; i < ROUNDS; i++) {
			lode_worker_crew_run(crew, TASKS, note_task, record);
			/* All are done when it returns. */
			for (size_t task = 0; task < TASKS; task++)
				g_assert_cmpint(atomic_load_explicit(
							&record->runs[task], memory_order_relaxed),
					==, (int)i + 1);
		}
		check_record(record, TASKS, ROUNDS);
	}
}

static void test_crews_that_never_work(void)
{
	g_autofree Record *record = g_new0(Record, 1);

	record->n_workers = 1;
	lode_worker_crew_run(NULL, 3, note_task, record);
	check_record(record, 3, 1);
	lode_worker_crew_free(lode_worker_crew_new(4));
	lode_worker_crew_free(NULL);
}

static void test_default_size(void)
{
	g_assert_cmpuint(lode_worker_pool_default_size(), ==, g_get_num_processors());
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/worker_pool/each_task_once", test_each_task_once);
	g_test_add_func("/worker_pool/few_tasks", test_few_tasks);
	g_test_add_func("/worker_pool/one_worker_is_the_caller", test_one_worker_is_the_caller);
	g_test_add_func("/worker_pool/tasks_come_in_order", test_tasks_come_in_order);
	g_test_add_func("/worker_pool/rounds_of_a_crew", test_rounds_of_a_crew);
	g_test_add_func("/worker_pool/crews_that_never_work", test_crews_that_never_work);
	g_test_add_func("/worker_pool/default_size", test_default_size);
	return g_test_run();
}
