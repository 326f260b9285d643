/* SPDX-License-Identifier: MIT */
#include "base/worker_pool.h"

#include "base/quiet_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

struct LodeWorkerCrew {
	GMutex mutex; /* protects what follows, up to the threads */
	GCond begun, left;
	Pool *round;       /* NULL: none that could be joined */
	uint64_t n_rounds; /* so that a thread joins each round once */
	unsigned n_inside; /* threads, without the caller's, that take tasks of the round */
	bool is_ending;
	unsigned n_threads;
	GThread **threads;
	struct Member {
		LodeWorkerCrew *crew;
		unsigned worker;
	} * members;
};

static void *run_member(void *data)
{
	const struct Member *self = data;
	LodeWorkerCrew *crew = self->crew;
	uint64_t n_joined = 0;

	g_mutex_lock(&crew->mutex);
	for (;;) {
		while (!crew->is_ending && (crew->round == NULL || crew->n_rounds == n_joined))
			g_cond_wait(&crew->begun, &crew->mutex);
		if (crew->is_ending)
			break;
		Worker worker = {crew->round, self->worker};
		n_joined = crew->n_rounds;
		crew->n_inside++;
		g_mutex_unlock(&crew->mutex);
		run_worker(&worker);
		g_mutex_lock(&crew->mutex);
		if (--crew->n_inside == 0)
			g_cond_signal(&crew->left);
	}
	g_mutex_unlock(&crew->mutex);
	return NULL;
}

LodeWorkerCrew *lode_worker_crew_new(unsigned n_workers)
{
	LodeWorkerCrew *self = g_new0(LodeWorkerCrew, 1);

	g_mutex_init(&self->mutex);
	g_cond_init(&self->begun);
	g_cond_init(&self->left);
	self->n_threads = MAX(n_workers, 1) - 1;
	self->threads = g_new0(GThread *, self->n_threads + 1);
	self->members = g_new0(struct Member, self->n_threads + 1);
	for (unsigned i = 0; i < self->n_threads; i++) {
		self->members[i] = (struct Member){self, i + 1};
		self->threads[i] = lode_quiet_thread_new(
			"lode-worker", run_member, &self->members[i]);
	}
	return self;
}

void lode_worker_crew_free(LodeWorkerCrew *self)
{
	if (self == NULL)
		return;
	g_mutex_lock(&self->mutex);
	self->is_ending = true;
	g_cond_broadcast(&self->begun);
	g_mutex_unlock(&self->mutex);
	for (unsigned i = 0; i < self->n_threads; i++)
		g_thread_join(self->threads[i]);
	g_mutex_clear(&self->mutex);
	g_cond_clear(&self->begun);
	g_cond_clear(&self->left);
	g_free(self->threads);
	g_free(self->members);
	g_free(self);
}

void lode_worker_crew_run(LodeWorkerCrew *self, size_t n_tasks, LodeTaskFunc func, void *user_data)
{
	Pool round = {.n_tasks = n_tasks, .func = func, .user_data = user_data};
	Worker caller = {&round, 0};

	if (self == NULL || self->n_threads == 0 || n_tasks < 2) {
		run_worker(&caller);
		return;
	}
	g_mutex_lock(&self->mutex);
	self->round = &round;
	self->n_rounds++;
	g_cond_broadcast(&self->begun);
	g_mutex_unlock(&self->mutex);
	run_worker(&caller);
	g_mutex_lock(&self->mutex);
	self->round = NULL;
	while (self->n_inside > 0)
		g_cond_wait(&self->left, &self->mutex);
	g_mutex_unlock(&self->mutex);
}
