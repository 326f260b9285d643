/* SPDX-License-Identifier: MIT */
#include "thread_ranks.h"

#include "run_comparison.h"

#include <string.h>

/* Where the ranks meet: what is added up grows rank by rank, and is read once all were there. */
typedef struct {
	GMutex mutex;
	GCond changed;
	unsigned n_ranks, n_arrived;
	uint64_t round, counter;
	GArray *sums, *last_sums; /* double */
} Meeting;

typedef struct {
	LodeRanks ranks;
	Meeting *meeting;
	const LodeFlowGraph *graph;
	LodeMiningParameters parameters;
	LodeMiningRun *run;
	GError *error;
} Rank;

static void finish_round(Meeting *self)
{
	GArray *sums = self->sums;

	self->sums = self->last_sums;
	self->last_sums = sums;
	self->n_arrived = 0;
	self->round++;
	g_cond_broadcast(&self->changed);
}

static void sum(LodeRanks *ranks, double *values, size_t n)
{
	Meeting *self = ranks->user_data;

	g_mutex_lock(&self->mutex);
	uint64_t round = self->round;
	if (self->n_arrived == 0) {
		g_array_set_size(self->sums, (guint)n);
		memset(self->sums->data, 0, n * sizeof(double));
	}
	/* As MPI would fail. */
	g_assert_cmpuint(self->sums->len, ==, n);
	for (guint i = 0; i < n; i++)
		g_array_index(self->sums, double, i) += values[i];
	if (++self->n_arrived == self->n_ranks)
		finish_round(self);
	while (self->round == round)
		g_cond_wait(&self->changed, &self->mutex);
	memcpy(values, self->last_sums->data, n * sizeof(double));
	g_mutex_unlock(&self->mutex);
}

static uint64_t count(LodeRanks *ranks, uint64_t more)
{
	Meeting *self = ranks->user_data;

	g_mutex_lock(&self->mutex);
	uint64_t before = self->counter;
	self->counter += more;
	g_mutex_unlock(&self->mutex);
	return before;
}

static void *run_rank(void *data)
{
	Rank *self = data;

	self->run = lode_miner_run_shared(
		self->graph, &self->parameters, "real", &self->ranks, NULL, &self->error);
	return NULL;
}

LodeMiningRun *thread_ranks_mine(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	unsigned n, bool *out_differs, LodeRankTraffic *out_traffic, GError **error)
{
	Meeting meeting = {.n_ranks = n,
		.sums = g_array_new(FALSE, FALSE, sizeof(double)),
		.last_sums = g_array_new(FALSE, FALSE, sizeof(double))};
	g_autofree Rank *all = g_new0(Rank, n);
	g_autofree GThread **threads = g_new0(GThread *, n);
	LodeMiningRun *run = NULL;

	g_mutex_init(&meeting.mutex);
	g_cond_init(&meeting.changed);
	for (unsigned i = 0; i < n; i++) {
		all[i] = (Rank){.ranks = {.rank = i,
					.size = n,
					.n_threads = n * lode_miner_threads(parameters),
					.sum = sum,
					.count = count,
					.user_data = &meeting},
			.meeting = &meeting,
			.graph = graph,
			.parameters = *parameters};
		threads[i] = g_thread_new("rank", run_rank, &all[i]);
	}
	for (unsigned i = 0; i < n; i++)
		g_thread_join(threads[i]);
	*out_differs = false;
	for (unsigned i = 0; i < n; i++) {
		if (all[i].error != NULL && error != NULL && *error == NULL)
			g_propagate_error(error, g_steal_pointer(&all[i].error));
		if (all[i].run != NULL && all[0].run != NULL && all[0].run->is_complete &&
			!runs_are_identical(all[0].run, all[i].run))
			*out_differs = true;
	}
	if (error == NULL || *error == NULL)
		run = g_steal_pointer(&all[0].run);
	if (out_traffic != NULL)
		*out_traffic = all[0].ranks.traffic;
	for (unsigned i = 0; i < n; i++) {
		g_clear_error(&all[i].error);
		lode_mining_run_free(all[i].run);
	}
	g_array_unref(meeting.sums);
	g_array_unref(meeting.last_sums);
	g_mutex_clear(&meeting.mutex);
	g_cond_clear(&meeting.changed);
	return run;
}
