/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/loop_shares.h"

#include "base/arrays/hash.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <math.h>

/* A loop of which less was seen from the loop around it has other callers. */
static const double LEAST_OF_ALL = 0.5;

/* Loops of the same work that have fewer samples each have no common time. */
static const double FEWEST_OF_SEVERAL = 2.5;

typedef struct {
	uint32_t function, node;
} Call;

LODE_ORDER(compare_calls, Call, LODE_ASCENDING(function), LODE_ASCENDING(node))

void lode_loop_shares_init(LodeLoopShares *self)
{
	*self = (LodeLoopShares){
		.turns = g_array_new(FALSE, FALSE, sizeof(LodeSeenTurns)),
		.callees = g_array_new(FALSE, FALSE, sizeof(LodeLoopCallee)),
		.seen = g_array_new(FALSE, FALSE, sizeof(LodeSeenSample)),
		.found = g_array_new(FALSE, FALSE, sizeof(LodeLoopShare)),
		.rounds = lode_loop_rounds_new(),
		.inside = g_array_new(FALSE, FALSE, sizeof(LodeLoopPair)),
		.heads = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.calls = g_array_new(FALSE, FALSE, sizeof(Call)),
	};
}

void lode_loop_shares_clear(LodeLoopShares *self)
{
	g_clear_pointer(&self->turns, g_array_unref);
	g_clear_pointer(&self->callees, g_array_unref);
	g_clear_pointer(&self->seen, g_array_unref);
	g_clear_pointer(&self->found, g_array_unref);
	g_clear_pointer(&self->rounds, lode_loop_rounds_free);
	g_clear_pointer(&self->inside, g_array_unref);
	g_clear_pointer(&self->heads, g_array_unref);
	g_clear_pointer(&self->calls, g_array_unref);
}

void lode_loop_shares_begin(
	LodeLoopShares *self, const LodeLoopCode *code, uint32_t first_instruction)
{
	self->code = code;
	self->first_instruction = first_instruction;
	lode_loop_rounds_begin(self->rounds, code);
}

LODE_ORDER(compare_called, LodeLoopPair, LODE_ASCENDING(called_function), LODE_ASCENDING(called),
	LODE_ASCENDING(nodes[1]), LODE_ASCENDING(pair->weight))

/* Takes the pairs, the loops and the calls of a loop; out_time_ns: between all pairs. */
static LodeSeenTurns look_into(LodeLoopShares *self, const LodeLoopTurn *turn,
	LodeCalledFunc called, double out_time_ns[2])
{
	const LodeDependenceGraph *graph = self->code->graph;
	LodeSeenTurns turns = {.time = turn->time};

	g_array_set_size(self->inside, 0);
	g_array_set_size(self->heads, 0);
	g_array_set_size(self->calls, 0);
	if (!lode_loop_rounds_find(self->rounds, turn->head))
		return turns;
	for (size_t i = 0; i < turn->n_pairs; i++) {
		const LodeLoopPair *at = &turn->pairs[i];
		unsigned kind = at->pair->is_of_caller;
		if (!lode_loop_rounds_has(self->rounds, at->nodes[0]) ||
			!lode_loop_rounds_has(self->rounds, at->nodes[1]))
			continue;
		turns.n_samples[kind] += at->pair->weight * at->pair->n_samples;
		turns.n_seen[kind] += at->pair->weight;
		out_time_ns[kind] += at->pair->weight * at->pair->time_ns;
		g_array_append_vals(self->inside, at, 1);
	}
	g_array_sort(self->inside, compare_called);
	for (uint32_t i = 0; i < graph->n; i++) {
		if (!lode_loop_rounds_has(self->rounds, i))
			continue;
		if (graph->nodes[i].is_loop_head && i != turn->head)
			g_array_append_val(self->heads, i);
		if (graph->nodes[i].is_call) {
			const Call call = {called(self->code->data, i), i};
			g_array_append_val(self->calls, call);
		}
	}
	g_array_sort(self->calls, compare_calls);
	return turns;
}

/* Samples come in step with the turns, so that they lie at the same places again and again: the
 * turn is about as long as some of the distances between samples, or as a half, a third … of one.
 */
static bool is_in_step(double turn_ns, double n_samples, double time_ns)
{
	enum { PARTS = 4, LEAST_ROUNDS = 8, MOST_TURNS = 16 };
	double turns = time_ns / n_samples / turn_ns; /* from one sample to the next */

	for (int part = 1; part <= PARTS && turns < MOST_TURNS; part++)
		if (fabs(turns * part - round(turns * part)) * n_samples < LEAST_ROUNDS)
			return true;
	return false;
}

/* Of the loop at hand. */
static uint64_t find_shape(const LodeLoopShares *self)
{
	const LodeDependenceGraph *graph = self->code->graph;
	uint64_t shape = 0;

	for (uint32_t i = 0; i < graph->n; i++) {
		const LodeDependenceNode *node = &graph->nodes[i];
		if (!lode_loop_rounds_has(self->rounds, i))
			continue;
		const LodeInstructionWork *work = &node->use.work;
		shape = lode_hash_append(shape, (uint64_t)work->load << 8 | work->store);
		shape = lode_hash_append(shape, (uint64_t)work->work << 8 | work->merge);
	}
	return shape;
}

static bool has_calls(const LodeLoopShares *self)
{
	const LodeDependenceGraph *graph = self->code->graph;

	for (uint32_t i = 0; i < graph->n; i++)
		if (lode_loop_rounds_has(self->rounds, i) && graph->nodes[i].is_call)
			return true;
	return false;
}

/* A loop inside, with what it calls. */
static void add_inner(LodeLoopShares *self, const LodeLoopTurn *turn, uint32_t turns, uint32_t head)
{
	const LodeSeenTurns *of = &LODE_AT(self->turns, LodeSeenTurns, turns);
	double n_samples[2] = {0, 0};
	LodeLoopShare found = {.head = head + self->first_instruction, .turns = turns};

	if (!lode_loop_rounds_find(self->rounds, head))
		return;
	for (guint i = 0; i < self->inside->len; i++) {
		const LodeLoopPair *at = &LODE_AT(self->inside, LodeLoopPair, i);
		bool is_inner = lode_loop_rounds_has(self->rounds, at->nodes[1]);
		n_samples[at->pair->is_of_caller] += is_inner ? at->pair->weight : 0;
		found.n += is_inner;
	}
	if (has_calls(self) && !(of->n_samples[1] > 0))
		return;
	for (unsigned i = 0; i < 2; i++)
		found.share += n_samples[i] > 0 ? n_samples[i] / of->n_samples[i] : 0;
	found.shape = find_shape(self);
	found.iterations = lode_loop_rounds_count(self->rounds, turn->head, head);
	if (found.iterations > 0)
		g_array_append_val(self->found, found);
}

/* Calls of a function in a turn, by calls first … end − 1; 0: not known. */
static double count_calls(LodeLoopShares *self, const LodeLoopTurn *turn, guint first, guint end)
{
	double n = 0;

	for (guint i = first; i < end; i++) {
		double here = lode_loop_rounds_count(
			self->rounds, turn->head, LODE_AT(self->calls, Call, i).node);
		if (!(here > 0))
			return 0;
		n += here;
	}
	return n;
}

/* False: there are none, or other calls than direct ones lead there. */
static bool add_seen(LodeLoopShares *self, LodeLoopCallee *callee, LodeCalledFunc called)
{
	const LodeLoopPair *inside = (const LodeLoopPair *)(const void *)self->inside->data;
	guint n = self->inside->len;

	callee->first = self->seen->len;
	for (guint i = LODE_PARTITION_POINT(n, k, inside[k].called_function < callee->function);
		i < n && inside[i].called_function == callee->function; i++) {
		const LodeSeenSample sample = {inside[i].called, inside[i].pair->weight};
		if (called(self->code->data, inside[i].nodes[1]) != callee->function)
			return false;
		g_array_append_val(self->seen, sample);
	}
	callee->n_seen = self->seen->len - callee->first;
	return callee->n_seen > 0;
}

void lode_loop_shares_add_turn(
	LodeLoopShares *self, const LodeLoopTurn *turn, LodeCalledFunc called)
{
	double time_ns[2] = {0, 0};
	LodeSeenTurns seen = look_into(self, turn, called, time_ns);
	guint n = self->calls->len;
	uint32_t turns = self->turns->len;

	for (unsigned i = 0; i < 2; i++)
		if (seen.n_samples[i] > 0 &&
			is_in_step(turn->time.ns, seen.n_samples[i], time_ns[i]))
			return;
	g_array_append_val(self->turns, seen);
	for (guint i = 0; i < self->heads->len; i++)
		add_inner(self, turn, turns, LODE_AT(self->heads, uint32_t, i));
	for (guint first = 0, end; first < n; first = end) {
		LodeLoopCallee callee = {
			.function = LODE_AT(self->calls, Call, first).function, .turns = turns};
		for (end = first + 1; end < n; end++)
			if (LODE_AT(self->calls, Call, end).function != callee.function)
				break;
		if (callee.function == LODE_NONE || !add_seen(self, &callee, called))
			continue;
		callee.calls = count_calls(self, turn, first, end);
		if (callee.calls > 0)
			g_array_append_val(self->callees, callee);
	}
}

void lode_loop_shares_add_callee(
	LodeLoopShares *self, const LodeLoopCallee *callee, double sample_weight)
{
	const LodeDependenceGraph *graph = self->code->graph;
	const LodeSeenTurns *turns = &LODE_AT(self->turns, LodeSeenTurns, callee->turns);

	for (uint32_t head = 0; head < graph->n; head++) {
		LodeLoopShare found = {
			.head = head + self->first_instruction, .turns = callee->turns};
		double n_samples = 0, n_of_all = 0;
		if (!graph->nodes[head].is_loop_head ||
			!lode_loop_rounds_find(self->rounds, head) || has_calls(self))
			continue;
		for (size_t i = callee->first; i < callee->first + callee->n_seen; i++) {
			const LodeSeenSample *seen = &LODE_AT(self->seen, LodeSeenSample, i);
			bool is_inside = lode_loop_rounds_has(
				self->rounds, seen->instruction - self->first_instruction);
			n_samples += is_inside ? seen->weight : 0;
			found.n += is_inside;
		}
		for (uint32_t i = 0; i < graph->n; i++)
			n_of_all += lode_loop_rounds_has(self->rounds, i)
			                    ? graph->nodes[i].weight / sample_weight
			                    : 0;
		found.share = n_samples / turns->n_samples[1];
		found.shape = find_shape(self);
		found.iterations = callee->calls *
		                   lode_loop_rounds_count(self->rounds, LODE_LOOP_OF_CALL, head);
		if (n_samples >= LEAST_OF_ALL * n_of_all && found.iterations > 0)
			g_array_append_val(self->found, found);
	}
}

/* --- times --- */

LODE_ORDER(compare_shapes, LodeLoopShare, LODE_ASCENDING(turns), LODE_ASCENDING(shape),
	LODE_ASCENDING(iterations), LODE_ASCENDING(head))

LODE_ORDER(compare_times, LodeLoopTime, LODE_DESCENDING(time.n), LODE_ASCENDING(head))

/* Functions without a sample are not in the profile: the mean with those, of numbers of samples by
 * chance (Poisson's distribution without zero). */
static double mean_with_unseen(double mean)
{
	enum { ROUNDS = 50 };
	double found = mean;

	for (int i = 0; i < ROUNDS; i++)
		found = mean * -expm1(-found);
	return found;
}

/* Of a loop that n samples tell of. */
typedef struct {
	double share;  /* of its turn */
	double spread; /* by what part such loops differ */
	size_t n;
} Known;

static void add_time(
	const LodeLoopShares *self, const LodeLoopShare *share, Known known, GArray *out)
{
	const LodeSeenTurns *turns = &LODE_AT(self->turns, LodeSeenTurns, share->turns);
	double missed = 1;
	double of_share = hypot(1 / sqrt((double)known.n), known.spread);
	LodeLoopTime found = {.head = share->head};

	if (known.n < LODE_PACE_FEWEST)
		return;
	for (unsigned i = 0; i < 2; i++)
		missed -= turns->n_seen[i] > 0 ? turns->n_seen[i] / turns->n_samples[i] : 0;
	double of_turn = hypot(turns->time.error_ns / turns->time.ns, MAX(missed, 0));
	found.time.n = known.n;
	found.time.ns = turns->time.ns * known.share / share->iterations;
	found.time.error_ns = found.time.ns * hypot(of_turn, of_share);
	if (isfinite(found.time.ns) && found.time.error_ns <= found.time.ns / 2)
		g_array_append_val(out, found);
}

/* Whether loops that should have the same time have numbers of samples that differ by chance
 * (dispersion test), and by how much the loops may differ nevertheless. */
static bool is_common(
	const LodeLoopShare *shares, size_t n_loops, size_t n_samples, double *out_spread)
{
	double mean = (double)n_samples / (double)n_loops, squares = 0;
	double freedom = (double)n_loops - 1;

	if (n_loops < 2 || mean < FEWEST_OF_SEVERAL)
		return false;
	for (size_t i = 0; i < n_loops; i++)
		squares += ((double)shares[i].n - mean) * ((double)shares[i].n - mean);
	double excess = squares / mean / freedom - 1;
	*out_spread = sqrt(MAX(excess, 0) / mean);
	return excess <= 2 * sqrt(2 / freedom);
}

void lode_loop_shares_times(LodeLoopShares *self, GArray *out)
{
	const LodeLoopShare *shares = (const LodeLoopShare *)(const void *)self->found->data;
	guint n = self->found->len;

	g_array_sort(self->found, compare_shapes);
	for (guint first = 0, end; first < n; first = end) {
		Known all = {0, 0, 0};
		bool has_unseen = false;
		for (end = first; end < n && shares[end].turns == shares[first].turns &&
				  shares[end].shape == shares[first].shape &&
				  !(shares[end].iterations > shares[first].iterations);
			end++) {
			all.share += shares[end].share;
			all.n += shares[end].n;
			has_unseen |= shares[end].n == 0;
		}
		bool is_together = is_common(shares + first, end - first, all.n, &all.spread);
		double n_loops = end - first, mean = (double)all.n / n_loops, n_unseen = 0;
		if (is_together && !has_unseen)
			n_unseen = MAX((double)all.n / mean_with_unseen(mean) - n_loops, 0);
		all.share /= n_loops + n_unseen;
		all.spread = hypot(all.spread, sqrt(n_unseen) / n_loops);
		for (guint i = first; i < end; i++) {
			const Known own = {shares[i].share, 0, shares[i].n};
			add_time(self, &shares[i], is_together ? all : own, out);
		}
	}
	g_array_sort(out, compare_times);
}
