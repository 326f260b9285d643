/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_times.h"

#include "model/index.h"

struct LodeLoopTimes {
	LodeNaturalLoop loop;
	LodeLoopForms forms;
	GArray *paces; /* LodePace */
};

LodeLoopTimes *lode_loop_times_new(void)
{
	LodeLoopTimes *self = g_new0(LodeLoopTimes, 1);

	lode_natural_loop_init(&self->loop);
	lode_loop_forms_init(&self->forms);
	self->paces = g_array_new(FALSE, FALSE, sizeof(LodePace));
	return self;
}

void lode_loop_times_free(LodeLoopTimes *self)
{
	if (self == NULL)
		return;
	lode_natural_loop_clear(&self->loop);
	lode_loop_forms_clear(&self->forms);
	g_array_unref(self->paces);
	g_free(self);
}

static bool is_inside(const LodeLoopTimes *self, const LodeLoopPair *pair)
{
	return lode_natural_loop_has(&self->loop, pair->nodes[0]) &&
	       lode_natural_loop_has(&self->loop, pair->nodes[1]);
}

/* Pairs in the loop: of samples there, or of samples in what it calls. */
typedef struct {
	size_t n[2];
} Inside;

static Inside count_inside(const LodeLoopTimes *self, const LodeLoopPair *pairs, size_t n_pairs)
{
	Inside inside = {{0, 0}};

	for (size_t i = 0; i < n_pairs; i++)
		inside.n[pairs[i].pair->is_of_caller] += is_inside(self, &pairs[i]);
	return inside;
}

static void add_pace(LodeLoopTimes *self, const LodeLoopPair *pair)
{
	const LodeSamplePair *samples = pair->pair;
	const LodeLoopSample first = {pair->nodes[0], samples->known, samples->registers[0]};
	const LodeLoopSample second = {pair->nodes[1], samples->known, samples->registers[1]};
	int64_t n = 0;
	LodePace pace = {.time_ns = samples->time_ns, .error_ns = samples->error_ns};

	if (!is_inside(self, pair))
		return;
	switch (lode_loop_forms_between(&self->forms, &first, &second, &n)) {
	case LODE_ITERATIONS_KNOWN:
		pace.iterations = (double)n;
		break;
	case LODE_ITERATIONS_CONTRADICTORY:
		pace.iterations = -1;
		break;
	default:
		return;
	}
	g_array_append_val(self->paces, pace);
}

void lode_loop_times_find(LodeLoopTimes *self, const LodeLoopCode *code, const LodeLoopPair *pairs,
	size_t n_pairs, GArray *out)
{
	const LodeDependenceGraph *graph = code->graph;

	if (n_pairs < LODE_PACE_FEWEST)
		return;
	lode_natural_loop_begin(&self->loop, graph);
	for (uint32_t i = 0; i < graph->n; i++) {
		LodeLoopTime found = {.head = i};
		if (!graph->nodes[i].is_loop_head || !lode_natural_loop_find(&self->loop, i))
			continue;
		const Inside inside = count_inside(self, pairs, n_pairs);
		if (MAX(inside.n[0], inside.n[1]) < LODE_PACE_FEWEST ||
			!lode_loop_forms_find(&self->forms, &self->loop, code, NULL))
			continue;
		bool is_found = false;
		for (unsigned of_callers = 0; of_callers < 2 && !is_found; of_callers++) {
			g_array_set_size(self->paces, 0);
			for (size_t k = 0; k < n_pairs; k++)
				if (pairs[k].pair->is_of_caller == of_callers)
					add_pace(self, &pairs[k]);
			is_found = lode_pace_time((LodePace *)(void *)self->paces->data,
				self->paces->len, &found.time);
		}
		if (is_found)
			g_array_append_val(out, found);
	}
}
