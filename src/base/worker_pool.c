/* SPDX-License-Identifier: MIT */
#include "base/worker_pool.h"

#include "base/quiet_thread.h"

#include <stdatomic.h>

typedef struct {
	atomic_size_t next;
	size_t n_tasks;
	LodeTaskFunc func;
	void *user_data;
} Pool;

typedef struct {
	Pool *pool;
	unsigned worker;
} Worker;

static void *run_worker(void *data)
{
	Worker *self = data;
	Pool *pool = self->pool;
	size_t task;

	while ((task = atomic_fetch_add(&pool->next, 1)) < pool->n_tasks)
		pool->func(task, self->worker, pool->user_data);
	return NULL;
}

unsigned lode_worker_pool_default_size(void)
{
	return MAX(g_get_num_processors(), 1);
}

void lode_worker_pool_run(size_t n_tasks, unsigned n_workers, LodeTaskFunc func, void *user_data)
{
	Pool pool = {.n_tasks = n_tasks, .func = func, .user_data = user_data};

	n_workers = (unsigned)CLAMP((size_t)n_workers, 1, MAX(n_tasks, 1));
	g_autofree Worker *workers = g_new0(Worker, n_workers);
	g_autofree GThread **threads = g_new0(GThread *, n_workers);
	for (unsigned i = 0; i < n_workers; i++)
		workers[i] = (Worker){.pool = &pool, .worker = i};
	for (unsigned i = 1; i < n_workers; i++)
		threads[i] = lode_quiet_thread_new("lode-worker", run_worker, &workers[i]);
	run_worker(&workers[0]);
	for (unsigned i = 1; i < n_workers; i++)
		g_thread_join(threads[i]);
}
