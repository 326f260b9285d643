/* SPDX-License-Identifier: MIT */
/*
 * Weight moved to what waited, against the rule as it is written (docs/reference/waiting.md), edge
 * by edge for one instruction after the other, on random graphs; and counts that no program has.
 */
#include "model/causes.h"
#include "model/profile.h"
#include "seeds.h"

#include <math.h>
#include <stdlib.h>

static uint32_t add_instruction(LodeProfile *profile, double count, double next_count)
{
	const LodeInstruction instruction = {.count = count,
		.next_count = next_count,
		.block = LODE_NONE,
		.location = LODE_NONE};

	g_array_append_val(profile->code.instructions, instruction);
	return profile->code.instructions->len - 1;
}

static void add_edge(
	LodeProfile *profile, uint32_t source, uint32_t target, LodeEdgeKind kind, double count)
{
	const LodeEdge edge = {source, target, kind, count};

	g_array_append_val(profile->code.edges, edge);
}

static double sum(const double *values, uint32_t n)
{
	double all = 0;

	for (uint32_t i = 0; i < n; i++)
		all += values[i];
	return all;
}

/* Conserved, nothing negative, nothing that is no number. */
static void check_whole(const double *sampled, const double *charged, uint32_t n)
{
	double whole = sum(sampled, n);

	for (uint32_t i = 0; i < n; i++) {
		g_assert_true(isfinite(charged[i]));
		g_assert_cmpfloat(charged[i], >=, 0);
	}
	g_assert_cmpfloat(fabs(sum(charged, n) - whole), <=, 1e-9 * whole);
}

typedef struct {
	const LodeProfile *profile;
	const uint8_t *marks;
	GArray *edges; /* LodeEdge: all of them */
	const LodeCauseWay *ways;
	size_t n_ways;
} Naive;

static uint32_t cause_of(const Naive *self, uint32_t source)
{
	if ((self->marks[source] & LODE_CAUSE_ENDS_A_PAIR) != 0 && source > 0)
		return source - 1;
	bool prepares = (self->marks[source] & LODE_CAUSE_PREPARES) != 0;
	return prepares && source + 1 < self->profile->code.instructions->len ? source + 1 : source;
}

static bool has_ways(const Naive *self, uint32_t target)
{
	for (size_t i = 0; i < self->n_ways; i++)
		if (self->ways[i].target == target)
			return true;
	return false;
}

static double sampled_at(const LodeCauseWay *way, const double *sampled)
{
	return way->other != LODE_NONE ? sampled[way->other] : way->count;
}

static bool waits(const LodeCauseWay *way)
{
	return way->can_wait && way->other == LODE_NONE;
}

/* All functions are one here, and an execution stands for as much as was sampled. */
static void divide(
	const Naive *self, uint32_t target, double weight, const double *sampled, double *charged)
{
	double all = 0, executed = 0, free = 0, n_waiting = 0, rest = weight;

	for (size_t i = 0; i < self->n_ways; i++) {
		const LodeCauseWay *way = &self->ways[i];
		if (way->target != target)
			continue;
		all += sampled_at(way, sampled);
		free += way->can_wait || way->other == LODE_NONE ? sampled_at(way, sampled) : 0;
		executed += way->count;
		n_waiting += waits(way) ? 1 : 0;
	}
	n_waiting = weight >= 8 * executed ? n_waiting : 0;
	if (all <= 0)
		charged[target] += weight;
	for (size_t i = 0; all > 0 && i < self->n_ways; i++) {
		const LodeCauseWay *way = &self->ways[i];
		double part = weight * sampled_at(way, sampled) / all;
		bool is_free = way->can_wait || way->other == LODE_NONE;
		if (way->target != target || (n_waiting > 0 && is_free))
			continue;
		if (n_waiting > 0)
			part = MIN(part, sampled_at(way, sampled) + way->count);
		charged[cause_of(self, way->source)] += part;
		rest -= part;
	}
	for (size_t i = 0; all > 0 && n_waiting > 0 && i < self->n_ways; i++) {
		const LodeCauseWay *way = &self->ways[i];
		if (way->target != target || (!way->can_wait && way->other != LODE_NONE))
			continue;
		charged[cause_of(self, way->source)] += rest *
		                                        (free > 0 ? sampled_at(way, sampled) / free
								  : waits(way) / n_waiting);
	}
}

/* Returns what stays of an instruction's weight. */
static double move_one(const Naive *self, uint32_t target, const double *sampled, double *charged)
{
	double weight = sampled[target], by_ways = 0;
	double returned = 0, fallen = 0, in = 0;

	for (guint i = 0; i < self->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(self->edges, LodeEdge, i);
		if (edge->target != target)
			continue;
		returned += edge->kind == LODE_EDGE_RETURN ? edge->count : 0;
		fallen += edge->kind == LODE_EDGE_FALL_THROUGH ? edge->count : 0;
		in += edge->count;
	}
	/* What fell through behind a call came back by the returns. */
	double hidden = MIN(returned, fallen);
	in -= hidden;
	double whole = MAX(in, lode_profile_instruction(self->profile, target)->count), moved = 0;
	for (guint i = 0; i < self->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(self->edges, LodeEdge, i);
		double count = edge->count;
		if (edge->target != target || in <= 0)
			continue;
		if (edge->kind == LODE_EDGE_FALL_THROUGH && fallen > 0)
			count -= hidden * count / fallen;
		if (has_ways(self, target) &&
			(edge->kind == LODE_EDGE_FALL_THROUGH || edge->kind == LODE_EDGE_TAKEN ||
				edge->kind == LODE_EDGE_JUMP))
			by_ways += weight * count / whole;
		else
			charged[cause_of(self, edge->source)] += weight * count / whole;
		moved += weight * count / whole;
	}
	divide(self, target, by_ways, sampled, charged);
	return MAX(weight - moved, 0);
}

static double charge_naively(const Naive *self, const double *sampled, double *charged)
{
	double stayed = 0;

	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++)
		charged[i] = 0;
	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++) {
		bool repeats = (self->marks[i] & LODE_CAUSE_REPEATS) != 0;
		double stays = repeats ? sampled[i] : move_one(self, i, sampled, charged);
		charged[i] += stays;
		stayed += repeats ? 0 : stays;
	}
	return stayed;
}

enum { MAX_INSTRUCTIONS = 40 };

static void fill_at_random(LodeProfile *profile, uint8_t *marks, double *sampled)
{
	uint32_t n = (uint32_t)random_int_range(1, MAX_INSTRUCTIONS);

	for (uint32_t i = 0; i < n; i++) {
		bool falls = random_int_range(0, 4) > 0;
		add_instruction(
			profile, random_int_range(0, 1000), falls ? random_int_range(0, 1000) : -1);
		marks[i] = random_int_range(0, 4) == 0 ? (uint8_t)random_int_range(0, 8) : 0;
		sampled[i] = random_bit() ? 0 : random_int_range(0, 1000);
	}
	for (int i = random_int_range(0, 80); i > 0; i--)
		add_edge(profile, (uint32_t)random_int_range(0, (gint32)n),
			(uint32_t)random_int_range(0, (gint32)n),
			(LodeEdgeKind)random_int_range(LODE_EDGE_FALL_THROUGH, LODE_EDGE_GIVEN + 1),
			random_int_range(0, 500));
}

enum { MAX_WAYS = 30 };

static int compare_targets(const void *a, const void *b)
{
	return (int)((const LodeCauseWay *)a)->target - (int)((const LodeCauseWay *)b)->target;
}

static size_t ways_at_random(LodeCauseWay *ways, gint32 n_instructions)
{
	size_t n = (size_t)random_int_range(0, MAX_WAYS);

	for (size_t i = 0; i < n; i++)
		ways[i] = (LodeCauseWay){(uint32_t)random_int_range(0, n_instructions),
			(uint32_t)random_int_range(0, n_instructions),
			random_bit() ? LODE_NONE : (uint32_t)random_int_range(0, n_instructions),
			random_bit(),
			random_bit() ? 0 : random_int_range(0, random_bit() ? 20 : 300)};
	qsort(ways, n, sizeof(*ways), compare_targets);
	return n;
}

static void check_random(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(LodeEdge));
	uint8_t marks[MAX_INSTRUCTIONS];
	double sampled[MAX_INSTRUCTIONS], charged[MAX_INSTRUCTIONS], naive[MAX_INSTRUCTIONS];
	LodeCauseWay ways[MAX_WAYS];

	fill_at_random(profile, marks, sampled);
	uint32_t n = profile->code.instructions->len;
	size_t n_ways = ways_at_random(ways, (gint32)n);
	const Naive reference = {profile, marks, edges, ways, n_ways};
	g_array_append_vals(edges, profile->code.edges->data, profile->code.edges->len);
	for (uint32_t i = 0; i + 1 < n; i++) {
		const LodeEdge edge = {i, i + 1, LODE_EDGE_FALL_THROUGH,
			lode_profile_instruction(profile, i)->next_count};
		if (edge.count >= 0)
			g_array_append_val(edges, edge);
	}
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, marks);
	lode_causes_take_ways(causes, ways, n_ways, sum(sampled, n));
	double stayed = lode_causes_charge(causes, sampled, charged);
	double expected = charge_naively(&reference, sampled, naive);
	check_whole(sampled, charged, n);
	double tolerance = 1e-9 * (sum(sampled, n) + 1);
	g_assert_cmpfloat_with_epsilon(stayed, expected, tolerance);
	for (uint32_t i = 0; i < n; i++)
		g_assert_cmpfloat_with_epsilon(charged[i], naive[i], tolerance);
}

static void test_random(void)
{
	for (int i = 0; i < 500; i++)
		check_random();
}

/* A loop of a load and three more, entered by a call and left by a return:
 *   0 call 3 ─ 1 · ─ 2 ret of the caller ; 3 load ─ 4 · ─ 5 jump to 3, or ─ 6 ret to 1 */
static void test_call(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const double sampled[] = {0, 8, 0, 10, 90, 0, 0};
	double charged[7];

	add_instruction(profile, 10, 10);
	add_instruction(profile, 10, 10);
	add_instruction(profile, 10, -1);
	add_instruction(profile, 100, 100);
	add_instruction(profile, 100, 100);
	add_instruction(profile, 100, 10);
	add_instruction(profile, 10, -1);
	add_edge(profile, 0, 3, LODE_EDGE_CALL, 10);
	add_edge(profile, 5, 3, LODE_EDGE_TAKEN, 90);
	add_edge(profile, 6, 1, LODE_EDGE_RETURN, 10);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	g_assert_cmpfloat(lode_causes_charge(causes, sampled, charged), ==, 0);
	g_assert_cmpfloat(charged[0], ==, 1);  /* of what the entry waited for */
	g_assert_cmpfloat(charged[3], ==, 90); /* the load */
	g_assert_cmpfloat(charged[5], ==, 9);
	g_assert_cmpfloat(charged[6], ==, 8); /* the return, not the call */
	check_whole(sampled, charged, 7);
}

/* Callees that are not known: the call itself has what comes after it; half came from nowhere. */
static void test_unknown_callee(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const double sampled[] = {0, 40};
	double charged[2];

	add_instruction(profile, 10, 10);
	add_instruction(profile, 20, -1);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	g_assert_cmpfloat(lode_causes_charge(causes, sampled, charged), ==, 20);
	g_assert_cmpfloat(charged[0], ==, 20);
	g_assert_cmpfloat(charged[1], ==, 20);
}

/* 0 compare of memory, 1 jump, 2 string instruction, 3. */
static void test_marks(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const uint8_t marks[] = {0, LODE_CAUSE_ENDS_A_PAIR, LODE_CAUSE_REPEATS, 0};
	const double sampled[] = {0, 5, 70, 30};
	double charged[4];

	for (int i = 0; i < 4; i++)
		add_instruction(profile, 10, i < 3 ? 10 : -1);
	add_edge(profile, 2, 2, LODE_EDGE_REPEAT, 500);
	add_edge(profile, 1, 3, LODE_EDGE_TAKEN, 10);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, marks);
	g_assert_cmpfloat(lode_causes_charge(causes, sampled, charged), ==, 0);
	g_assert_cmpfloat(charged[0], ==, 5 + 15);
	g_assert_cmpfloat(charged[1], ==, 0);
	g_assert_cmpfloat(charged[2], ==, 70 + 15);
	check_whole(sampled, charged, 4);
}

/* 0 load, 1 cqo, 2 division, 3: the load waits for 4, the division for the rest, wherever it was
 * sampled. */
static void test_division(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const uint8_t marks[] = {0, LODE_CAUSE_PREPARES, 0, 0};
	const double sampled[] = {0, 4, 50, 30};
	double charged[4];

	for (int i = 0; i < 4; i++)
		add_instruction(profile, 10, i < 3 ? 10 : -1);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, marks);
	g_assert_cmpfloat(lode_causes_charge(causes, sampled, charged), ==, 0);
	g_assert_cmpfloat(charged[0], ==, 4);
	g_assert_cmpfloat(charged[1], ==, 0);
	g_assert_cmpfloat(charged[2], ==, 50 + 30);
	check_whole(sampled, charged, 4);
}

/*
 * Three ways back to a loop's head, of which the first is inferred as never taken:
 *   0 head ─ 1 branch to 0 ─ 2 · ─ 3 branch to 0 ─ 4 · ─ 5 jump to 0
 */
static void test_ways(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const LodeCauseWay ways[] = {
		{1, 0, 2, false, 0}, {3, 0, 4, false, 50}, {5, 0, LODE_NONE, false, 10}};
	const double sampled[] = {1000, 0, 85, 0, 5, 0};
	double charged[6];

	for (int i = 0; i < 6; i++)
		add_instruction(profile, i < 4 ? 60 : 10, i == 3 ? 10 : i < 5 ? 60 : -1);
	profile->run.n_samples = 109;
	add_edge(profile, 3, 0, LODE_EDGE_TAKEN, 50);
	add_edge(profile, 5, 0, LODE_EDGE_JUMP, 10);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	lode_causes_take_ways(causes, ways, G_N_ELEMENTS(ways), 1090);
	g_assert_cmpfloat(lode_causes_charge(causes, sampled, charged), ==, 0);
	/* Half a sample of ten at each of the branches; an execution is as much as a unit. */
	g_assert_cmpfloat_with_epsilon(charged[1], 85 + 1000 * 90 / 110.0, 1e-9);
	g_assert_cmpfloat_with_epsilon(charged[3], 5 + 1000 * 10 / 110.0, 1e-9);
	g_assert_cmpfloat_with_epsilon(charged[5], 1000 * 10 / 110.0, 1e-9);
	check_whole(sampled, charged, 6);
}

/*
 * A branch of registers goes around a load, which is inferred as never executed, or once:
 *   0 branch to 2 ─ 1 load ─ 2 ·
 */
static void check_passed_load(double weight, double taken, bool reads_memory, double expected)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const LodeCauseWay ways[] = {
		{0, 2, 1, reads_memory, taken}, {1, 2, LODE_NONE, true, 100 - taken}};
	const double sampled[] = {1000 - weight, 0, weight};
	double charged[3];

	add_instruction(profile, 100, 100 - taken);
	add_instruction(profile, 100 - taken, 100 - taken);
	add_instruction(profile, 100, -1);
	profile->run.n_samples = 100;
	add_edge(profile, 0, 2, LODE_EDGE_TAKEN, taken);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	lode_causes_take_ways(causes, ways, G_N_ELEMENTS(ways), 1000);
	/* Nothing leads to the first. */
	g_assert_cmpfloat(lode_causes_charge(causes, sampled, charged), ==, 1000 - weight);
	g_assert_cmpfloat_with_epsilon(charged[0] - sampled[0], expected, 1e-9);
	check_whole(sampled, charged, 3);
}

static void test_passed_load(void)
{
	/* Half a sample of ten at the branch, and its executions. */
	check_passed_load(1000, 100, false, 105);
	check_passed_load(1000, 90, false, 95);
	check_passed_load(1000, 0, false, 5);
	/* Not far more than what executes as often has. */
	check_passed_load(700, 100, false, 700);
	check_passed_load(700, 90, false, 700 * 5 / 15.0);
	/* A compare of memory waits by itself. */
	check_passed_load(1000, 100, true, 1000);
	check_passed_load(1000, 90, true, 1000 * 5 / 15.0);
}

/* Zero, tiny, huge and infinite counts; flow that is more or less than what executed. */
static void check_hostile(void)
{
	static const double counts[] = {
		0, 1, 1e15, 1e300, 1e308, 5e-324, 1e-300, 0.5, (double)INFINITY, -1};
	g_autoptr(LodeProfile) profile = lode_profile_new();
	double sampled[MAX_INSTRUCTIONS], charged[MAX_INSTRUCTIONS];
	gint32 n_counts = G_N_ELEMENTS(counts);
	gint32 n = random_int_range(1, MAX_INSTRUCTIONS);

	for (gint32 i = 0; i < n; i++) {
		add_instruction(profile, counts[random_int_range(0, n_counts)],
			counts[random_int_range(0, n_counts)]);
		sampled[i] = random_bit() ? 0 : pow(10, random_int_range(-9, 16));
	}
	for (gint32 i = 0; i < 2 * n; i++)
		add_edge(profile, (uint32_t)random_int_range(0, n),
			(uint32_t)random_int_range(0, n),
			(LodeEdgeKind)random_int_range(LODE_EDGE_FALL_THROUGH, LODE_EDGE_GIVEN + 1),
			counts[random_int_range(0, n_counts)]);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	LodeCauseWay ways[MAX_WAYS];
	size_t n_ways = ways_at_random(ways, n);
	for (size_t i = 0; i < n_ways; i++)
		ways[i].count = counts[random_int_range(0, n_counts)];
	lode_causes_take_ways(causes, ways, n_ways, counts[random_int_range(0, n_counts)]);
	double stayed = lode_causes_charge(causes, sampled, charged);
	g_assert_true(isfinite(stayed) && stayed >= 0);
	check_whole(sampled, charged, (uint32_t)n);
}

static void test_hostile(void)
{
	for (int i = 0; i < 2000; i++)
		check_hostile();
}

static void test_nothing(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	double none[1] = {0};

	g_assert_cmpfloat(lode_causes_charge(causes, none, none), ==, 0);
	lode_causes_free(NULL);
}

static void test_events(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const char *const names[] = {"misses", "misses:cause", "faults", ":cause"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		lode_profile_add_event(profile, names[i], NULL, LODE_EVENT_SAMPLED, NULL, 0);
	g_assert_cmpuint(lode_profile_event_as_charged(profile, 0), ==, 1);
	g_assert_cmpuint(lode_profile_event_as_sampled(profile, 1), ==, 0);
	g_assert_cmpuint(lode_profile_event_as_sampled(profile, 0), ==, LODE_NONE);
	g_assert_cmpuint(lode_profile_event_as_charged(profile, 2), ==, LODE_NONE);
	g_assert_cmpuint(lode_profile_event_as_sampled(profile, 3), ==, LODE_NONE);
	g_assert_cmpuint(lode_profile_event_as_charged(profile, LODE_NONE), ==, LODE_NONE);
	g_assert_cmpuint(lode_profile_event_as_sampled(profile, LODE_NONE), ==, LODE_NONE);
	g_autofree char *attribute = lode_event_attribute(lode_profile_event(profile, 1));
	g_assert_cmpstr(attribute, ==, "ev:misses");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/causes/random", test_random, "R02S5e1c7a90b3d2f4861a6b9c0d7e8f3421",
		"R02S00c1d2e3f4a5b6978877665544332211", NULL);
	g_test_add_func("/causes/call", test_call);
	g_test_add_func("/causes/unknown-callee", test_unknown_callee);
	g_test_add_func("/causes/marks", test_marks);
	g_test_add_func("/causes/division", test_division);
	g_test_add_func("/causes/ways", test_ways);
	g_test_add_func("/causes/passed-load", test_passed_load);
	add_random_test("/causes/hostile", test_hostile, "R02S9a8b7c6d5e4f30211203f4e5d6c7b8a9",
		"R02S0f1e2d3c4b5a69788796a5b4c3d2e1f0", NULL);
	g_test_add_func("/causes/nothing", test_nothing);
	g_test_add_func("/causes/events", test_events);
	return g_test_run();
}
