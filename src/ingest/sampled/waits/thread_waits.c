/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/waits/thread_waits.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <stdlib.h>

/* A look's time is that after it: the wait may have ended just before. */
#define LATEST_NS UINT64_C(1000000)

/* From the kernel's look at a switch to the switch. */
#define SWITCH_NS UINT64_C(100000)

/* From so many looks on, a thread has an interval of its own. */
enum { ENOUGH_LOOKS = 8 };

/* Of the intervals: a wait as long as so many of them has a look, but for a few. */
#define LONG_QUANTILE 0.95

/* Waits are alike whose lengths differ by at most this factor. */
#define ALIKE 2.0

void lode_thread_waits_init(LodeThreadWaits *self)
{
	*self = (LodeThreadWaits){
		.gaps = g_array_new(FALSE, FALSE, sizeof(LodeThreadGap)),
		.looks = g_array_new(FALSE, FALSE, sizeof(LodeThreadLook)),
		.lives = g_array_new(FALSE, FALSE, sizeof(LodeThreadLife)),
	};
}

void lode_thread_waits_clear(LodeThreadWaits *self)
{
	g_clear_pointer(&self->gaps, g_array_unref);
	g_clear_pointer(&self->looks, g_array_unref);
	g_clear_pointer(&self->lives, g_array_unref);
}

void lode_thread_waits_add_look(
	LodeThreadWaits *self, uint32_t thread, uint64_t time_ns, uint64_t interval_ns)
{
	const LodeThreadLook look = {.time_ns = time_ns,
		.interval_ns = MAX(interval_ns, 1),
		.thread = thread,
		.gap = LODE_NONE};

	g_array_append_val(self->looks, look);
}

void lode_thread_waits_add_switch(LodeThreadWaits *self, uint32_t thread, uint64_t time_ns)
{
	lode_thread_waits_add_look(self, thread, time_ns, 1);
	LODE_AT(self->looks, LodeThreadLook, self->looks->len - 1).is_switch = true;
}

LODE_ORDER(compare_looks, LodeThreadLook, LODE_ASCENDING(thread), LODE_ASCENDING(time_ns),
	LODE_ASCENDING(interval_ns))

void lode_thread_waits_sort_looks(LodeThreadWaits *self)
{
	g_array_sort(self->looks, compare_looks);
}

guint lode_thread_waits_find_look(const LodeThreadWaits *self, uint32_t thread, uint64_t time_ns)
{
	const LodeThreadLook *looks = (const LodeThreadLook *)(const void *)self->looks->data;

	return LODE_PARTITION_POINT(self->looks->len, i,
		looks[i].thread < thread ||
			(looks[i].thread == thread && looks[i].time_ns < time_ns));
}

static double length_of(const LodeThreadGap *gap)
{
	return (double)(gap->end_ns - gap->begin_ns);
}

/* `intervals` (double) are sorted. */
static double quantile(const GArray *intervals, double share)
{
	return intervals->len > 0
	               ? LODE_AT(intervals, double, (guint)(share * (double)(intervals->len - 1)))
	               : 0;
}

/* The life at hand. */
typedef struct {
	LodeThreadWaits *all;
	LodeThreadLife *life;
	LodeThreadGap *gaps;
	LodeThreadLook *looks; /* of its thread, from its beginning to its end */
	guint n_looks;
	guint *n_looks_of; /* looks in each gap */
	double usual_ns;   /* interval of the looks at all threads */
	double long_ns;    /* waits from here on are long */
	bool has_short;    /* looks at short waits */
	bool has_exact;    /* each wait has a look, but for what was not recorded */
} Weighing;

static bool is_wait(const LodeThreadGap *gap)
{
	return gap->kind == LODE_GAP_WAIT;
}

/* The last look at a gap says why the thread waited. */
static void put_into(Weighing *self, LodeThreadLook *look, guint gap)
{
	look->gap = self->life->first_gap + gap;
	self->n_looks_of[gap]++;
	self->gaps[gap].look = (uint32_t)(look - (LodeThreadLook *)(void *)self->all->looks->data);
	self->gaps[gap].is_looked_at = true;
}

/* Looks and gaps are both in the order of time. */
static void place_looks(Weighing *self)
{
	guint at = 0, last_wait = LODE_NONE;

	for (guint i = 0; i < self->n_looks; i++) {
		LodeThreadLook *look = &self->looks[i];
		for (; at < self->life->n_gaps && self->gaps[at].end_ns <= look->time_ns; at++)
			last_wait = is_wait(&self->gaps[at]) ? at : last_wait;
		uint64_t latest_ns = look->time_ns + (look->is_switch ? SWITCH_NS : 0);
		bool is_in = at < self->life->n_gaps && self->gaps[at].begin_ns <= latest_ns;
		if (look->is_switch) {
			if (!is_in || self->gaps[at].kind == LODE_GAP_READY)
				continue;
			put_into(self, look, at);
			self->has_exact = self->gaps[at].is_exact = true;
		} else if (is_in && self->gaps[at].kind != LODE_GAP_READY)
			put_into(self, look, at);
		else if (last_wait != LODE_NONE &&
			 look->time_ns - self->gaps[last_wait].end_ns <= LATEST_NS)
			put_into(self, look, last_wait);
	}
}

/* From which length on a wait has a look, but for a few. */
static double find_long(const Weighing *self)
{
	g_autoptr(GArray) intervals = g_array_new(FALSE, FALSE, sizeof(double));

	if (self->has_exact)
		return 0;
	for (guint i = 0; i < self->n_looks; i++) {
		double interval = (double)self->looks[i].interval_ns;
		if (!self->looks[i].is_switch)
			g_array_append_val(intervals, interval);
	}
	g_array_sort(intervals, lode_compare_doubles);
	return intervals->len >= ENOUGH_LOOKS ? quantile(intervals, LONG_QUANTILE)
	                                      : MAX(quantile(intervals, 1), self->usual_ns);
}

static bool is_long(const Weighing *self, const LodeThreadGap *gap)
{
	return length_of(gap) >= self->long_ns;
}

static void leave_unseen(Weighing *self, double waiting_ns, double count, double longest_ns)
{
	LodeThreadLife *life = self->life;

	life->unseen_ns += waiting_ns;
	life->unseen_count += count;
	life->unseen_longest_ns = MAX(life->unseen_longest_ns, longest_ns);
}

/* What a look at a short wait stands for, before the sum is known. */
static double raw_weight(const Weighing *self, const LodeThreadLook *look, guint gap)
{
	return MAX(length_of(&self->gaps[gap]), (double)look->interval_ns) / self->n_looks_of[gap];
}

static guint gap_of(const Weighing *self, const LodeThreadLook *look)
{
	return look->gap - self->life->first_gap;
}

/* The short waits' sum goes to the looks at short waits, where there are any. */
static void share_short(Weighing *self)
{
	double sum = 0, n = 0, raw = 0, raw_n = 0;

	for (guint i = 0; i < self->life->n_gaps; i++) {
		const LodeThreadGap *gap = &self->gaps[i];
		if (!is_wait(gap) || is_long(self, gap))
			continue;
		sum += gap->waiting_ns;
		n++;
	}
	for (int pass = 0; pass < 2; pass++)
		for (guint i = 0; i < self->n_looks; i++) {
			LodeThreadLook *look = &self->looks[i];
			guint at = look->gap != LODE_NONE ? gap_of(self, look) : LODE_NONE;
			if (at == LODE_NONE || !is_wait(&self->gaps[at]) ||
				is_long(self, &self->gaps[at]))
				continue;
			double weight = raw_weight(self, look, at);
			double count = weight / length_of(&self->gaps[at]);
			if (pass == 0) {
				raw += weight;
				raw_n += count;
			} else {
				look->waiting_ns = sum * weight / raw;
				look->count = n * count / raw_n;
			}
		}
	self->has_short = raw > 0;
}

/* A wait that looks know, by its length. */
typedef struct {
	double length_ns;
	guint gap;
} SeenWait;

LODE_ORDER(compare_seen, SeenWait, LODE_ASCENDING(length_ns), LODE_ASCENDING(gap))

/* Adds to each look what the waits give for which no look stands: each as much to all of like
 * length. */
static void guess_others(Weighing *self)
{
	g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(SeenWait));

	for (guint i = 0; i < self->life->n_gaps; i++) {
		const SeenWait wait = {length_of(&self->gaps[i]), i};
		if (is_wait(&self->gaps[i]) && self->n_looks_of[i] > 0)
			g_array_append_val(seen, wait);
	}
	g_array_sort(seen, compare_seen);
	const SeenWait *waits = (const SeenWait *)(const void *)seen->data;
	/* By how much the sums grow from this one on. */
	g_autofree double *steps_ns = g_new0(double, seen->len + 1);
	g_autofree double *steps = g_new0(double, seen->len + 1);
	g_autofree double *guessed_ns = g_new0(double, MAX(self->life->n_gaps, 1));
	g_autofree double *guessed = g_new0(double, MAX(self->life->n_gaps, 1));
	for (guint i = 0; i < self->life->n_gaps; i++) {
		LodeThreadGap *gap = &self->gaps[i];
		double length = length_of(gap);
		if (!is_wait(gap) || (self->has_short && !is_long(self, gap)) ||
			self->n_looks_of[i] > 0)
			continue;
		guint first = LODE_PARTITION_POINT(
			seen->len, k, waits[k].length_ns < length / ALIKE);
		guint end = LODE_PARTITION_POINT(
			seen->len, k, waits[k].length_ns <= length * ALIKE);
		if (first == end) {
			leave_unseen(self, gap->waiting_ns, 1, length);
			continue;
		}
		guint nearest = LODE_PARTITION_POINT(seen->len, k, waits[k].length_ns < length);
		gap->look = self->gaps[waits[MIN(nearest, end - 1)].gap].look;
		steps_ns[first] += gap->waiting_ns / (end - first);
		steps_ns[end] -= gap->waiting_ns / (end - first);
		steps[first] += 1.0 / (end - first);
		steps[end] -= 1.0 / (end - first);
	}
	double sum_ns = 0, sum = 0;
	for (guint k = 0; k < seen->len; k++) {
		sum_ns += steps_ns[k];
		sum += steps[k];
		guessed_ns[waits[k].gap] = MAX(sum_ns, 0);
		guessed[waits[k].gap] = MAX(sum, 0);
	}
	for (guint i = 0; i < self->n_looks; i++) {
		LodeThreadLook *look = &self->looks[i];
		guint at = look->gap != LODE_NONE ? gap_of(self, look) : LODE_NONE;
		if (at == LODE_NONE || !is_wait(&self->gaps[at]))
			continue;
		look->guessed_ns = guessed_ns[at] / self->n_looks_of[at];
		look->waiting_ns += look->guessed_ns;
		look->count += guessed[at] / self->n_looks_of[at];
	}
}

static void share_long(Weighing *self)
{
	for (guint i = 0; i < self->n_looks; i++) {
		LodeThreadLook *look = &self->looks[i];
		guint at = look->gap != LODE_NONE ? gap_of(self, look) : LODE_NONE;
		if (at == LODE_NONE || !is_wait(&self->gaps[at]) || !is_long(self, &self->gaps[at]))
			continue;
		look->waiting_ns = self->gaps[at].waiting_ns / self->n_looks_of[at];
		look->count = 1.0 / self->n_looks_of[at];
	}
}

/* Where a switch is missing, a look stands for its interval, as far as that is in the gap. */
static void share_unsure(Weighing *self)
{
	for (guint i = 0; i < self->n_looks; i++) {
		LodeThreadLook *look = &self->looks[i];
		LodeThreadGap *gap = look->gap != LODE_NONE ? &self->gaps[gap_of(self, look)]
		                                            : NULL;
		if (gap == NULL || gap->kind != LODE_GAP_UNSURE)
			continue;
		look->waiting_ns = MIN((double)look->interval_ns,
			length_of(gap) / self->n_looks_of[gap_of(self, look)]);
		look->count = 1;
		gap->waiting_ns += look->waiting_ns;
		self->life->waiting_ns += look->waiting_ns;
	}
}

/* Looks while no switches were recorded have the waiting of that time. Where there are none, it is
 * as that before. */
static void share_unrecorded(
	Weighing *self, bool (*is_recorded)(const void *data, uint64_t time_ns), const void *data)
{
	LodeThreadLife *life = self->life;
	double raw = 0, n_waits = 0, length = 0, known_ns = life->waiting_ns - life->unrecorded_ns;

	for (guint i = 0; i < life->n_gaps; i++)
		if (is_wait(&self->gaps[i])) {
			n_waits++;
			length += length_of(&self->gaps[i]);
		}
	for (int pass = 0; pass < 2; pass++)
		for (guint i = 0; i < self->n_looks; i++) {
			LodeThreadLook *look = &self->looks[i];
			if (look->gap != LODE_NONE || look->is_switch ||
				is_recorded(data, look->time_ns))
				continue;
			if (pass == 0) {
				raw += (double)look->interval_ns;
				continue;
			}
			look->waiting_ns = life->unrecorded_ns * (double)look->interval_ns / raw;
			look->count = length > 0 ? look->waiting_ns * n_waits / length : 1;
		}
	if (raw > 0 || known_ns <= 0)
		return;
	double times = life->waiting_ns / known_ns;
	for (guint i = 0; i < self->n_looks; i++) {
		self->looks[i].waiting_ns *= times;
		self->looks[i].guessed_ns *= times;
		self->looks[i].count *= times;
	}
	life->unseen_ns *= times;
	life->unseen_count *= times;
}

/* A wait without a look is taken to be as the nearest short one that has one. */
static void find_nearest(Weighing *self)
{
	guint last = LODE_NONE;

	for (guint i = 0, next = 0; i < self->life->n_gaps; i++) {
		LodeThreadGap *gap = &self->gaps[i];
		if (!is_wait(gap) || is_long(self, gap))
			continue;
		if (gap->is_looked_at) {
			last = i;
			continue;
		}
		for (next = MAX(next, i);
			next < self->life->n_gaps &&
			(!is_wait(&self->gaps[next]) || is_long(self, &self->gaps[next]) ||
				!self->gaps[next].is_looked_at);)
			next++;
		bool has_next = next < self->life->n_gaps;
		if (has_next &&
			(last == LODE_NONE || self->gaps[next].begin_ns - gap->end_ns <
						      gap->begin_ns - self->gaps[last].end_ns))
			gap->look = self->gaps[next].look;
		else if (last != LODE_NONE)
			gap->look = self->gaps[last].look;
	}
}

static void sum_ready(LodeThreadLife *life, const LodeThreadGap *gaps)
{
	for (guint i = 0; i < life->n_gaps; i++) {
		if (gaps[i].kind != LODE_GAP_READY)
			continue;
		life->ready_ns += gaps[i].waiting_ns;
		life->ready_count += gaps[i].waiting_ns / length_of(&gaps[i]);
		life->ready_longest_ns = MAX(life->ready_longest_ns, length_of(&gaps[i]));
	}
}

static double usual_interval(const LodeThreadWaits *self)
{
	g_autoptr(GArray) intervals = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < self->looks->len; i++) {
		const LodeThreadLook *look = &LODE_AT(self->looks, LodeThreadLook, i);
		double interval = (double)look->interval_ns;
		if (!look->is_switch)
			g_array_append_val(intervals, interval);
	}
	g_array_sort(intervals, lode_compare_doubles);
	return quantile(intervals, 0.5);
}

void lode_thread_waits_weigh(LodeThreadWaits *self,
	bool (*is_recorded)(const void *data, uint64_t time_ns), const void *data)
{
	double usual_ns = usual_interval(self);

	for (guint i = 0; i < self->lives->len; i++) {
		LodeThreadLife *life = &LODE_AT(self->lives, LodeThreadLife, i);
		guint first = lode_thread_waits_find_look(self, life->thread, life->begin_ns);
		guint end = lode_thread_waits_find_look(self, life->thread, life->end_ns);
		g_autofree guint *n_looks_of = g_new0(guint, MAX(life->n_gaps, 1));
		Weighing weighing = {
			.all = self,
			.life = life,
			.gaps = (LodeThreadGap *)(void *)self->gaps->data + life->first_gap,
			.looks = (LodeThreadLook *)(void *)self->looks->data + first,
			.n_looks = end - first,
			.n_looks_of = n_looks_of,
			.usual_ns = usual_ns,
		};
		sum_ready(life, weighing.gaps);
		place_looks(&weighing);
		weighing.long_ns = find_long(&weighing);
		share_short(&weighing);
		share_long(&weighing);
		guess_others(&weighing);
		share_unsure(&weighing);
		share_unrecorded(&weighing, is_recorded, data);
		find_nearest(&weighing);
	}
	for (guint i = 0; i < self->looks->len; i++) {
		const LodeThreadLook *look = &LODE_AT(self->looks, LodeThreadLook, i);
		self->n_stray += look->waiting_ns <= 0 && !look->is_switch;
	}
}

void lode_thread_waits_weigh_alone(LodeThreadWaits *self)
{
	for (guint i = 0; i < self->gaps->len; i++) {
		const LodeThreadGap *gap = &LODE_AT(self->gaps, LodeThreadGap, i);
		LodeThreadLook *look = &LODE_AT(self->looks, LodeThreadLook, gap->look);
		look->gap = i;
		look->waiting_ns = gap->waiting_ns;
	}
}
