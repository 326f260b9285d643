/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/registers/sample_pairs.h"

#include "base/arrays/hash.h"
#include "base/arrays/id_cache.h"
#include "ingest/sampled/sampled_threads.h"
#include "model/index.h"

#include <math.h>
#include <string.h>

enum {
	PAIRS_OF_FUNCTION = 1024,
	PAIRS_OF_CALLER = 4096, /* among which are those of what it calls */
	MAX_PAIRS = 1 << 17,    /* 40 MB; and of callers a quarter */
	MAX_LASTS = 1 << 16,    /* functions in each thread; half of it may be callers */
};

/* Samples of a timer that are further apart were delayed, or the thread did not run all the time.
 */
static const double MOST_PERIODS = 1.2;

/* Stands for all functions of a thread. */
static const uint64_t ALL_FUNCTIONS = UINT64_MAX;

/* In keys: the function as a caller, whose samples are kept apart. */
static const uint64_t AS_CALLER = (uint64_t)1 << 63;

/* The last sample of a thread in a function. */
typedef struct {
	uint64_t time_ns;
	uint64_t n_samples; /* of the thread until then */
	LodePlace place;
	uint64_t registers[LODE_N_GENERAL_REGISTERS];
	uint32_t known;
} Last;

/* The pairs in a function. */
typedef struct {
	GArray *kept; /* uint32_t: numbers among all */
	uint32_t n;   /* that there were */
} Function;

static void clear_function(void *data)
{
	g_array_unref(((Function *)data)->kept);
}

struct LodeSamplePairs {
	LodeIdCache ids;          /* thread, function → number in `lasts` */
	LodeIdCache function_ids; /* function → number in `functions` */
	GArray *lasts;            /* Last */
	GArray *functions;        /* Function */
	GArray *pairs;            /* LodeSamplePair */
	uint32_t n_of_callers;    /* of them */
	uint32_t n_begun;
};

LodeSamplePairs *lode_sample_pairs_new(void)
{
	LodeSamplePairs *self = g_new0(LodeSamplePairs, 1);

	lode_id_cache_init(&self->ids);
	self->lasts = g_array_new(FALSE, TRUE, sizeof(Last));
	lode_id_cache_init(&self->function_ids);
	self->functions = g_array_new(FALSE, FALSE, sizeof(Function));
	g_array_set_clear_func(self->functions, clear_function);
	self->pairs = g_array_new(FALSE, FALSE, sizeof(LodeSamplePair));
	return self;
}

void lode_sample_pairs_free(LodeSamplePairs *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->ids);
	g_array_unref(self->lasts);
	lode_id_cache_clear(&self->function_ids);
	g_array_unref(self->functions);
	g_array_unref(self->pairs);
	g_free(self);
}

const GArray *lode_sample_pairs_list(LodeSamplePairs *self)
{
	for (guint i = 0; i < self->functions->len; i++) {
		const Function *function = &LODE_AT(self->functions, Function, i);
		for (guint k = 0; k < function->kept->len; k++) {
			uint32_t kept = LODE_AT(function->kept, uint32_t, k);
			LODE_AT(self->pairs, LodeSamplePair, kept).weight = (double)function->n /
			                                                    function->kept->len;
		}
	}
	return self->pairs;
}

void lode_sample_pairs_begin(LodeSamplePairs *self)
{
	self->n_begun++;
}

static Function *find_function(LodeSamplePairs *self, uint64_t number)
{
	const LodeIdKey key = {{number}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->function_ids, &key, &is_new);

	if (is_new) {
		const Function function = {g_array_new(FALSE, FALSE, sizeof(uint32_t)), 0};
		slot->id = self->functions->len;
		g_array_append_val(self->functions, function);
	}
	return &LODE_AT(self->functions, Function, slot->id);
}

/* Each pair of a function is as likely to be kept (Vitter, "Random sampling with a reservoir",
 * 1985, algorithm R), by numbers that are the same in each import. */
static void keep(LodeSamplePairs *self, uint64_t number, const LodeSamplePair *pair)
{
	Function *function = find_function(self, number);
	uint32_t chosen = function->n++;
	bool has_room = pair->is_of_caller ? self->n_of_callers < MAX_PAIRS / 4
	                                   : self->pairs->len - self->n_of_callers < MAX_PAIRS;

	if (chosen < (pair->is_of_caller ? PAIRS_OF_CALLER : PAIRS_OF_FUNCTION) && has_room) {
		self->n_of_callers += pair->is_of_caller;
		g_array_append_val(function->kept, self->pairs->len);
		g_array_append_val(self->pairs, *pair);
		return;
	}
	chosen = (uint32_t)(lode_hash_append(number, function->n) % function->n);
	if (chosen < function->kept->len)
		LODE_AT(self->pairs, LodeSamplePair,
			LODE_AT(function->kept, uint32_t, chosen)) = *pair;
}

/* Each interrupt of a timer costs time, also one in the kernel, of which there is no sample. */
static bool measure(const LodePairClock *clock, const LodePerfRecord *record, const Last *last,
	uint64_t n_samples, LodeSamplePair *out)
{
	uint64_t time_ns = record->time_ns;
	double ran_ns = (double)time_ns - (double)last->time_ns;
	double n_interrupts = (double)(n_samples - last->n_samples);

	if (time_ns <= last->time_ns ||
		lode_window_times_running(clock->windows, record->tid, last->time_ns, time_ns) > 0)
		return false;
	if (clock->threads != NULL
			? !lode_sampled_threads_running(
				  clock->threads, record, last->time_ns, time_ns, &ran_ns)
			: clock->period_ns > 0 && ran_ns > MOST_PERIODS * clock->period_ns)
		return false;
	if (clock->period_ns > 0)
		n_interrupts = MAX(round(ran_ns / clock->period_ns), 1);
	out->n_samples = n_interrupts;
	out->time_ns = ran_ns - n_interrupts * clock->cost_ns;
	out->error_ns = n_interrupts * clock->cost_error_ns;
	return out->time_ns > 0;
}

/* That of a new one is all zeros. NULL: there are too many. */
static Last *find_last(LodeSamplePairs *self, const LodePerfRecord *record, uint64_t function)
{
	bool is_of_caller = function != ALL_FUNCTIONS && function >= AS_CALLER;
	const LodeIdKey key = {
		{(uint64_t)record->pid << 32 | record->tid, self->n_begun, function}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(
		&self->ids, &key, is_of_caller ? MAX_LASTS / 2 : MAX_LASTS, &is_new);

	if (slot == NULL)
		return NULL;
	if (is_new) {
		slot->id = self->lasts->len;
		g_array_set_size(self->lasts, slot->id + 1);
	}
	return &LODE_AT(self->lasts, Last, slot->id);
}

void lode_sample_pairs_add(
	LodeSamplePairs *self, const LodePairSample *sample, const LodePairClock *clock)
{
	const LodePerfRecord *record = sample->record;
	const uint64_t *registers = sample->registers->values;
	uint64_t function = sample->function | (sample->is_of_caller ? AS_CALLER : 0);
	Last *all = find_last(self, record, ALL_FUNCTIONS);
	uint64_t n_samples = all != NULL ? all->n_samples += !sample->is_of_caller : 0;
	Last *last = all != NULL ? find_last(self, record, function) : NULL;
	LodeSamplePair pair = {.is_of_caller = sample->is_of_caller, .called = sample->called};

	if (last == NULL)
		return;
	pair.places[0] = last->place;
	pair.places[1] = sample->place;
	memcpy(pair.registers[0], last->registers, sizeof(pair.registers[0]));
	memcpy(pair.registers[1], registers, sizeof(pair.registers[1]));
	pair.known = last->known & sample->registers->known;
	if (last->n_samples > 0 &&
		last->registers[LODE_REGISTER_RSP] == registers[LODE_REGISTER_RSP] &&
		measure(clock, record, last, n_samples, &pair))
		keep(self, function, &pair);
	last->time_ns = record->time_ns;
	last->n_samples = n_samples;
	last->place = sample->place;
	last->known = sample->registers->known;
	memcpy(last->registers, registers, sizeof(last->registers));
}
