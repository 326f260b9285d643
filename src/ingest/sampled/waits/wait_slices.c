/* SPDX-License-Identifier: MIT */
/*
 * Slices of what each thread did over time, for the timeline, no more than a file has room for:
 *
 *   thread     ━━━╡   lock   ╞━╡·╞━╡·╞━━╡·╞━╡  sleep  ╞━━
 *   slices     run    lock    run 3, lock 2     sleep   run
 *
 * Where the intervals are too many, those that are shorter than a length are summed by kind until
 * that length has passed, or a longer one comes.
 */
#include "ingest/sampled/waits/sampled_waits.h"

#include "base/arrays/sort_order.h"
#include "ingest/waits/critical_path.h"
#include "model/process.h"
#include "model/waits.h"

#include <stdlib.h>

/* Kinds and rows of waits that are told apart among short intervals; further rows are one for each
 * kind. The first length tried is that of a pixel of a wide screen. */
enum { MOST_SUMS = 16, FIRST_PARTS = 4096 };

typedef struct {
	uint32_t life;
	double ran_ns; /* and was on the path */
	bool is_first; /* the program's first thread begins what the others do */
} Ranked;

typedef struct {
	LodeWaits *waits;
	const LodeWaitTimes *times;
	const LodeThreads *threads;
	const LodePathPiece **piece_of; /* of each interval; NULL: it has none */
	GArray *lives;                  /* uint32_t, ascending: of times->threads, those shown */
	uint64_t shortest_ns;
	const LodeThread *thread; /* at hand */
	LodeWaitSlice sums[MOST_SUMS + LODE_N_SLICE_KINDS];
	unsigned n_sums;
	uint64_t sums_end_ns;
} Slicing;

static bool add_slice(Slicing *self, const LodeWaitSlice *slice)
{
	if (self->waits->slices->len == LODE_MAX_WAIT_SLICES)
		return false;
	g_array_append_vals(self->waits->slices, slice, 1);
	return true;
}

/* The sums of short intervals become slices, which lie above each other. */
static bool end_sums(Slicing *self)
{
	bool has_room = true;

	for (unsigned i = 0; i < self->n_sums && has_room; i++) {
		self->sums[i].begin_ns = self->sums[0].begin_ns;
		self->sums[i].end_ns = self->sums_end_ns;
		has_room = add_slice(self, &self->sums[i]);
	}
	self->n_sums = 0;
	return has_room;
}

static bool sum_up(Slicing *self, const LodeWaitSlice *slice)
{
	unsigned i = 0;
	uint32_t wait = self->n_sums < MOST_SUMS ? slice->wait : LODE_NONE;

	while (i < self->n_sums &&
		(self->sums[i].kind != slice->kind ||
			(self->sums[i].wait != slice->wait && self->sums[i].wait != wait)))
		i++;
	if (i == self->n_sums) {
		self->sums[i] = *slice;
		self->sums[i].wait = wait;
		self->n_sums++;
	} else {
		self->sums[i].time_ns += slice->time_ns;
		self->sums[i].path_ns += slice->path_ns;
	}
	self->sums_end_ns = slice->end_ns;
	return slice->end_ns - self->sums[0].begin_ns < self->shortest_ns || end_sums(self);
}

/* A long interval is divided where the path enters or leaves it. */
static bool add_long(Slicing *self, const LodeWaitSlice *slice, const LodePathPiece *piece)
{
	uint64_t on_ns = piece != NULL ? CLAMP(piece->begin_ns, slice->begin_ns, slice->end_ns)
	                               : slice->end_ns;
	uint64_t off_ns = piece != NULL ? CLAMP(piece->end_ns, on_ns, slice->end_ns)
	                                : slice->end_ns;
	const uint64_t at_ns[] = {slice->begin_ns, on_ns, off_ns, slice->end_ns};

	for (unsigned i = 0; i < 3; i++) {
		LodeWaitSlice part = *slice;
		part.begin_ns = at_ns[i];
		part.end_ns = at_ns[i + 1];
		part.time_ns = (double)(part.end_ns - part.begin_ns);
		part.path_ns = i == 1 ? part.time_ns : 0;
		if (part.time_ns > 0 && !add_slice(self, &part))
			return false;
	}
	return true;
}

static bool add_interval(Slicing *self, uint32_t number)
{
	const LodeWaitInterval *interval = &LODE_AT(
		self->times->intervals, LodeWaitInterval, number);
	const LodePathPiece *piece = self->piece_of != NULL ? self->piece_of[number] : NULL;
	const LodeWaitSlice slice = {
		.pid = self->thread->pid,
		.tid = self->thread->tid,
		.begin_ns = interval->begin_ns,
		.end_ns = interval->end_ns,
		.kind = interval->kind,
		.wait = interval->row,
		.time_ns = (double)(interval->end_ns - interval->begin_ns),
		.path_ns = piece != NULL ? (double)(piece->end_ns - piece->begin_ns) : 0,
	};

	if (slice.time_ns > 0 && slice.time_ns < (double)self->shortest_ns)
		return sum_up(self, &slice);
	return !(slice.time_ns > 0) || (end_sums(self) && add_long(self, &slice, piece));
}

/* False: there are too many. */
static bool slice_all(Slicing *self)
{
	g_array_set_size(self->waits->slices, 0);
	for (guint i = 0; i < self->lives->len; i++) {
		const LodeWaitThread *life = &LODE_AT(
			self->times->threads, LodeWaitThread, LODE_AT(self->lives, uint32_t, i));
		self->thread = &LODE_AT(self->threads->threads, LodeThread, life->thread);
		self->n_sums = 0;
		for (uint32_t k = life->first; k < life->first + life->n; k++)
			if (!add_interval(self, k))
				return false;
		if (!end_sums(self))
			return false;
	}
	return true;
}

LODE_ORDER(compare_ranked, Ranked, LODE_DESCENDING(is_first), LODE_DESCENDING(ran_ns),
	LODE_ASCENDING(life))

/* The first thread, and those that ran longest. */
static void choose_lives(Slicing *self)
{
	const GArray *threads = self->times->threads;
	g_autoptr(GArray) ranked = g_array_new(FALSE, TRUE, sizeof(Ranked));
	guint first = 0;

	for (guint i = 0; i < threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(threads, LodeWaitThread, i);
		Ranked one = {.life = i};
		for (uint32_t k = life->first; k < life->first + life->n; k++) {
			const LodeWaitInterval *interval = &LODE_AT(
				self->times->intervals, LodeWaitInterval, k);
			const LodePathPiece *piece = self->piece_of != NULL ? self->piece_of[k]
			                                                    : NULL;
			one.ran_ns += interval->kind == LODE_SLICE_RUNNING
			                      ? (double)(interval->end_ns - interval->begin_ns)
			              : piece != NULL ? (double)(piece->end_ns - piece->begin_ns)
			                              : 0;
		}
		g_array_append_val(ranked, one);
		if (life->begin_ns < LODE_AT(threads, LodeWaitThread, first).begin_ns)
			first = i;
	}
	LODE_AT(ranked, Ranked, first).is_first = true;
	g_array_sort(ranked, compare_ranked);
	for (guint i = 0; i < MIN(ranked->len, LODE_MAX_SLICED_THREADS); i++)
		g_array_append_val(self->lives, LODE_AT(ranked, Ranked, i).life);
	g_array_sort(self->lives, lode_compare_u32);
}

void lode_wait_slices_find(LodeWaits *waits, const LodeWaitTimes *times, const LodeThreads *threads,
	const GArray *pieces)
{
	Slicing self = {.waits = waits, .times = times, .threads = threads};
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	if (times->threads->len == 0)
		return;
	if (pieces != NULL)
		self.piece_of = g_new0(const LodePathPiece *, (gsize)times->intervals->len + 1);
	for (guint i = 0; pieces != NULL && i < pieces->len; i++) {
		const LodePathPiece *piece = &LODE_AT(pieces, LodePathPiece, i);
		if (piece->interval < times->intervals->len)
			self.piece_of[piece->interval] = piece;
	}
	for (guint i = 0; i < times->threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(times->threads, LodeWaitThread, i);
		begin_ns = MIN(begin_ns, life->begin_ns);
		end_ns = MAX(end_ns, life->end_ns);
	}
	self.lives = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	choose_lives(&self);
	/* At the whole length a thread has some ten slices. */
	for (uint64_t length_ns = MAX(end_ns - begin_ns, 1);
		!slice_all(&self) && self.shortest_ns <= length_ns;)
		self.shortest_ns = MAX(2 * self.shortest_ns, length_ns / FIRST_PARTS + 1);
	g_array_unref(self.lives);
	g_free(self.piece_of);
}
