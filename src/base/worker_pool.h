/* SPDX-License-Identifier: MIT */
/*
 * A parallel for: n independent tasks over a fixed number of threads. Tasks are taken in order from
 * one counter, so that long tasks given first balance well; what a task computes must not depend on
 * which worker runs it (determinism is the caller's promise). A crew keeps its threads, for many
 * short rounds of tasks.
 */
#pragma once

#include <glib.h>
#include <stddef.h>

/* `task` is 0 … n_tasks−1; `worker` is 0 … n_workers−1, for scratch memory of the worker. */
typedef void (*LodeTaskFunc)(size_t task, unsigned worker, void *user_data);

/* The number of workers to use when the user did not say: the processors this process may run on.
 */
unsigned lode_worker_pool_default_size(void);

/*
 * Runs `func` for each task on `n_workers` threads (the calling thread is worker 0) and returns
 * when all have ended. n_workers 0 is taken as 1.
 */
void lode_worker_pool_run(size_t n_tasks, unsigned n_workers, LodeTaskFunc func, void *user_data);

typedef struct LodeWorkerCrew LodeWorkerCrew;

/* `n_workers` as for lode_worker_pool_run(), the caller of each round included; it frees them. */
LodeWorkerCrew *lode_worker_crew_new(unsigned n_workers);
void lode_worker_crew_free(LodeWorkerCrew *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWorkerCrew, lode_worker_crew_free)

/* As lode_worker_pool_run(); one round at a time. A thread that joins too late for a task is not
 * waited for, so that short rounds do not depend on when other threads get a processor. NULL: the
 * calling thread alone. */
void lode_worker_crew_run(LodeWorkerCrew *self, size_t n_tasks, LodeTaskFunc func, void *user_data);
