/* SPDX-License-Identifier: MIT */
#include "analyses/mine/rank_results.h"

#include "base/error.h"

#include <string.h>

/* The sizes of a result, of a rank or of all: the numbers of sequences, codes and supports. */
enum { SEQUENCES, CODES, SUPPORTS, N_SIZES };

/* A sequence is written as its number of codes and its support, before the codes of all. */
enum { CODES_OF, SUPPORT_OF, N_SEQUENCE };

/* A support, before the supports of events. */
enum { WEIGHT, FREQUENCY, EXECUTIONS, PLACES, FUNCTIONS, N_SUPPORT };

/* The state of the ranks, before the sizes of each; the first rank gives the counter. */
enum { IS_CANCELLED, IS_STOPPED, WORK, COUNTER, N_ASIDE };

typedef struct {
	LodeSearch *search;
	LodeSearcher **workers;
	unsigned n_workers;
	LodeRanks *ranks;
	uint32_t n_events;
	size_t before[N_SIZES], all[N_SIZES]; /* of the ranks before this one; of all */
} Gathering;

static void add_up(LodeRanks *ranks, double *values, size_t n)
{
	gint64 start_us = g_get_monotonic_time();

	ranks->sum(ranks, values, n);
	ranks->traffic.n_sums++;
	ranks->traffic.n_bytes += n * sizeof(double);
	ranks->traffic.wait_seconds += (double)(g_get_monotonic_time() - start_us) / 1e6;
}

/* Where one rank stops, all do: they would wait for its numbers otherwise. */
static void agree_to_stop(LodeSearch *search, const double *aside)
{
	if (aside[IS_STOPPED] > 0)
		atomic_store(&search->stop,
			1 + (aside[IS_CANCELLED] > 0 ? LODE_ERROR_CANCELLED : LODE_ERROR_LIMIT));
}

static void write_aside(const LodeSearch *search, double *aside)
{
	int stop = atomic_load((atomic_int *)&search->stop);

	aside[IS_CANCELLED] = stop == LODE_ERROR_CANCELLED + 1;
	aside[IS_STOPPED] = stop != 0;
}

/* Finds how much each rank has. */
static void exchange_sizes(Gathering *self)
{
	LodeRanks *ranks = self->ranks;
	size_t n = N_ASIDE + N_SIZES * (size_t)ranks->size;
	g_autofree double *values = g_new0(double, n);
	double *own = values + N_ASIDE + N_SIZES * (size_t)ranks->rank;

	write_aside(self->search, values);
	values[WORK] = ranks->traffic.own_work_seconds;
	for (unsigned i = 0; i < self->n_workers; i++) {
		own[SEQUENCES] += (double)self->workers[i]->sequences.n;
		own[CODES] += (double)self->workers[i]->codes.n;
		own[SUPPORTS] += (double)self->workers[i]->supports.n;
	}
	add_up(ranks, values, n);
	agree_to_stop(self->search, values);
	ranks->traffic.work_seconds = values[WORK];
	for (unsigned rank = 0; rank < ranks->size; rank++)
		for (int i = 0; i < N_SIZES; i++) {
			size_t size = (size_t)values[N_ASIDE + N_SIZES * (size_t)rank + (size_t)i];
			self->before[i] += rank < ranks->rank ? size : 0;
			self->all[i] += size;
		}
}

/* Whether all ranks have the memory. */
static bool make_room(Gathering *self, LodeSearcher *out, LodeBuffer *values)
{
	LodeSearch *search = self->search;
	LodeRanks *ranks = self->ranks;
	double aside[N_ASIDE] = {0};
	size_t n = N_SEQUENCE * self->all[SEQUENCES] + self->all[CODES] +
	           (N_SUPPORT + self->n_events) * self->all[SUPPORTS];

	if (lode_buffer_reserve(search, values, n, sizeof(double)) &&
		lode_buffer_reserve(
			search, &out->sequences, self->all[SEQUENCES], sizeof(LodeFound)) &&
		lode_buffer_reserve(search, &out->codes, self->all[CODES], sizeof(uint32_t)) &&
		lode_buffer_reserve(
			search, &out->supports, self->all[SUPPORTS], sizeof(LodeSupport)) &&
		lode_buffer_reserve(search, &out->event_supports,
			self->all[SUPPORTS] * self->n_events, sizeof(double)))
		values->n = n;
	write_aside(search, aside);
	/* All ranks have taken what they will. */
	aside[COUNTER] = ranks->rank == 0 ? (double)ranks->count(ranks, 0) : 0;
	add_up(ranks, aside, N_ASIDE);
	agree_to_stop(search, aside);
	ranks->first_part = (uint64_t)aside[COUNTER];
	return !(aside[IS_STOPPED] > 0);
}

/* Where sequences, codes and supports are among the values. */
typedef struct {
	double *sequences, *codes, *supports;
} Places;

static Places places_in(const Gathering *self, double *values)
{
	double *codes = values + N_SEQUENCE * self->all[SEQUENCES];

	return (Places){values, codes, codes + self->all[CODES]};
}

/* Writes what a worker found at the places, and moves them on. */
static void write_worker(
	const Gathering *self, const LodeSearcher *worker, size_t first_support, Places *at)
{
	for (size_t i = 0; i < worker->sequences.n; i++, at->sequences += N_SEQUENCE) {
		const LodeFound *one = &LODE_BUFFER_AT(&worker->sequences, LodeFound, i);
		at->sequences[CODES_OF] = one->n_codes;
		at->sequences[SUPPORT_OF] = (double)(first_support + one->support);
	}
	/* Codes lie in the order of their sequences. */
	for (size_t i = 0; i < worker->codes.n; i++)
		*at->codes++ = LODE_BUFFER_AT(&worker->codes, uint32_t, i);
	for (size_t i = 0; i < worker->supports.n; i++) {
		const LodeSupport *one = &LODE_BUFFER_AT(&worker->supports, LodeSupport, i);
		at->supports[WEIGHT] = one->weight;
		at->supports[FREQUENCY] = one->frequency;
		at->supports[EXECUTIONS] = one->executions;
		at->supports[PLACES] = one->places;
		at->supports[FUNCTIONS] = one->functions;
		if (self->n_events > 0)
			memcpy(at->supports + N_SUPPORT,
				&LODE_BUFFER_AT(
					&worker->event_supports, double, i * self->n_events),
				self->n_events * sizeof(double));
		at->supports += N_SUPPORT + self->n_events;
	}
}

static void write_own(const Gathering *self, double *values)
{
	Places at = places_in(self, values);
	size_t first_support = self->before[SUPPORTS];

	at.sequences += N_SEQUENCE * self->before[SEQUENCES];
	at.codes += self->before[CODES];
	at.supports += (N_SUPPORT + self->n_events) * self->before[SUPPORTS];
	for (unsigned i = 0; i < self->n_workers; i++) {
		LodeSearcher *worker = self->workers[i];
		write_worker(self, worker, first_support, &at);
		first_support += worker->supports.n;
		worker->sequences.n = worker->codes.n = 0;
		worker->supports.n = worker->event_supports.n = 0;
	}
}

static void read_all(const Gathering *self, LodeSearcher *out, double *values)
{
	Places at = places_in(self, values);

	for (; out->sequences.n < self->all[SEQUENCES]; at.sequences += N_SEQUENCE) {
		LodeFound one = {.first_code = out->codes.n,
			.n_codes = (uint32_t)at.sequences[CODES_OF],
			.support = (uint32_t)at.sequences[SUPPORT_OF]};
		LODE_BUFFER_AT(&out->sequences, LodeFound, out->sequences.n++) = one;
		for (uint32_t i = 0; i < one.n_codes; i++)
			LODE_BUFFER_AT(
				&out->codes, uint32_t, out->codes.n++) = (uint32_t)*at.codes++;
	}
	for (; out->supports.n < self->all[SUPPORTS]; at.supports += N_SUPPORT + self->n_events) {
		LODE_BUFFER_AT(&out->supports, LodeSupport, out->supports.n++) = (LodeSupport){
			.weight = at.supports[WEIGHT],
			.frequency = at.supports[FREQUENCY],
			.executions = at.supports[EXECUTIONS],
			.places = (uint32_t)at.supports[PLACES],
			.functions = (uint32_t)at.supports[FUNCTIONS]};
		if (self->n_events > 0)
			memcpy(&LODE_BUFFER_AT(&out->event_supports, double, out->event_supports.n),
				at.supports + N_SUPPORT, self->n_events * sizeof(double));
		out->event_supports.n += self->n_events;
	}
}

uint64_t lode_rank_results_gather(
	LodeSearch *search, LodeSearcher **workers, unsigned n_workers, LodeRanks *ranks)
{
	Gathering self = {
		.search = search,
		.workers = workers,
		.n_workers = n_workers,
		.ranks = ranks,
		.n_events = search->graph->graph->n_events,
	};
	LodeBuffer values = {0};

	exchange_sizes(&self);
	if (atomic_load(&search->stop) == 0 &&
		self.all[SEQUENCES] <= search->parameters->max_sequences &&
		make_room(&self, workers[0], &values) && values.n > 0) {
		memset(values.data, 0, values.n * sizeof(double));
		write_own(&self, values.data);
		add_up(ranks, values.data, values.n);
		read_all(&self, workers[0], values.data);
	}
	lode_buffer_clear(search, &values, sizeof(double));
	return self.all[SEQUENCES];
}
