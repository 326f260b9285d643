/* SPDX-License-Identifier: MIT */
/*
 * Parts of random profiles against a naive way: which samples are chosen, their costs one by one,
 * the weight moved by the rule of model/causes.h, and all else by each function's share. Parts that
 * together are the whole add up to it.
 */
#include "analyses/parts/part_choice.h"

#include "analyses/parts/stack_attributes.h"
#include "base/error.h"
#include "model/causes.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { N_FUNCTIONS = 5, OWN = 4, N = N_FUNCTIONS * OWN, N_THREADS = 4, N_SAMPLES = 300 };
enum { INLINED = 2 * OWN };
enum { INSTRUCTIONS, CLOCK, CLOCK_CAUSE, MISSES, TWICE_MISSES, N_EVENTS };

#define FIRST_NS UINT64_C(1000000000)
#define STEP_NS UINT64_C(10000000)

static const LodeStackThread threads[N_THREADS] = {
	{(char *)"make", 10, 10},
	{(char *)"io-1", 10, 11},
	{(char *)"io-2", 10, 12},
	{(char *)"cc1\x1b[2J", 20, 20},
};

/* The same, one that has no samples, and one of a number that another process has as well. */
enum { N_TIMES = N_THREADS + 2 };
static const LodeStackThread timed[N_TIMES] = {
	{(char *)"make", 10, 10},
	{(char *)"io-1", 10, 11},
	{(char *)"io-2", 10, 12},
	{(char *)"cc1\x1b[2J", 20, 20},
	{(char *)"io-3", 10, 13},
	{(char *)"sh", 30, 11},
};

static GRand *source; /* while a profile is made */

static int pick(int begin, int end)
{
	return g_rand_int_range(source, begin, end);
}

static void add_events(LodeProfile *profile)
{
	const LodeEventTerm twice = {MISSES, 2};

	lode_profile_add_event(profile, "instructions", NULL, LODE_EVENT_COUNT, NULL, 0);
	lode_profile_add_event(profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "cpu-clock:cause", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "misses", NULL, LODE_EVENT_RECORDED, NULL, 0);
	lode_profile_add_event(profile, "twice", NULL, LODE_EVENT_DERIVED, &twice, 1);
	profile->code.weight_event = CLOCK_CAUSE;
}

static void add_code(LodeProfile *profile)
{
	const LodeImage image = {.path = lode_profile_intern(profile, "program")};

	g_array_append_val(profile->code.images, image);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		g_autofree char *name = g_strdup_printf("f%u", i);
		const LodeFunction function = {.name = lode_profile_intern(profile, name),
			.address = 0x1000 * (i + 1),
			.size = OWN,
			.calls = pick(0, 9),
			.first_instruction = i * OWN,
			.n_instructions = OWN,
			.first_block = i,
			.n_blocks = 1};
		const LodeBlock block = {.function = i, .count = pick(0, 100)};
		g_array_append_val(profile->code.functions, function);
		g_array_append_val(profile->code.blocks, block);
		for (uint32_t k = 0; k < OWN; k++) {
			const LodeInstruction row = {.address = function.address + k,
				.count = pick(0, 1000),
				.next_count = k + 1 < OWN ? pick(-1, 500) : -1,
				.function = i,
				.block = i,
				.size = 1,
				.location = lode_profile_location(
					profile, "a.c", i * OWN + k + 1, NULL)};
			g_array_append_val(profile->code.instructions, row);
			profile->run.total_count += row.count;
		}
	}
	/* One is inlined from a header, by a call in a line of its own. */
	LodeInstruction *inlined = lode_profile_instruction(profile, INLINED);
	lode_profile_set_inlining(
		profile, INLINED, lode_profile_inlining(profile, inlined->location, LODE_NONE));
	inlined->location = lode_profile_location(profile, "/usr/include/b.h", 7, "g");
	profile->run.total_count += 50;
	for (int i = 0; i < 10; i++) {
		const LodeEdge edge = {(uint32_t)pick(0, N), (uint32_t)pick(0, N),
			i % 3 == 0 ? LODE_EDGE_CALL : LODE_EDGE_JUMP, pick(0, 300)};
		g_array_append_val(profile->code.edges, edge);
	}
}

static void add_samples(LodeProfile *profile)
{
	LodeStacks *stacks = profile->stacks = lode_stacks_new();
	const LodeFrame frame = {0};

	stacks->has_chains = false;
	g_array_append_vals(stacks->threads, threads, N_THREADS);
	g_array_append_val(stacks->frames, frame);
	for (uint32_t i = 0; i < N; i++) {
		const LodeStack stack = {0, LODE_NONE};
		g_array_append_val(stacks->stacks, stack);
		g_array_append_val(stacks->instructions, i);
	}
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		bool has_time = pick(0, 20) > 0;
		const LodeStackSample sample = {
			.time_ns = has_time ? FIRST_NS + (uint64_t)pick(0, 300) * STEP_NS : 0,
			.weight = pick(1, 100),
			.event = CLOCK,
			.thread = (uint32_t)pick(0, N_THREADS),
			/* The last function has no samples. */
			.stack = pick(0, 12) == 0 ? LODE_NONE : (uint32_t)pick(0, N - OWN),
			.n_more = (uint32_t)pick(0, 3),
		};
		g_array_append_val(stacks->samples, sample);
		profile->run.n_samples += 1.0 + sample.n_more;
		lode_profile_event(profile, CLOCK)->total += sample.weight;
		lode_profile_event(profile, CLOCK_CAUSE)->total += sample.weight;
	}
	/* One begins the time of all. */
	LODE_AT(stacks->samples, LodeStackSample, 0).time_ns = FIRST_NS;
}

typedef struct {
	double values[N];
} Values;

static Values sum_samples(const LodeProfile *profile, const bool *chosen)
{
	Values sums = {{0}};

	for (uint32_t i = 0; i < profile->stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(
			profile->stacks->samples, LodeStackSample, i);
		if ((chosen == NULL || chosen[i]) && sample->stack != LODE_NONE)
			sums.values[sample->stack] += sample->weight;
	}
	return sums;
}

static void add_costs(LodeProfile *profile)
{
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, NULL);
	Values sampled = sum_samples(profile, NULL), charged;

	lode_causes_charge(causes, sampled.values, charged.values);
	g_array_set_size(profile->code.cost_starts, 0);
	for (uint32_t i = 0; i <= N; i++) {
		const LodeCost costs[] = {{CLOCK, i < N ? sampled.values[i] : 0},
			{CLOCK_CAUSE, i < N ? charged.values[i] : 0}, {MISSES, pick(0, 50)}};
		g_array_append_val(profile->code.cost_starts, profile->code.costs->len);
		for (size_t k = 0; i < N && k < G_N_ELEMENTS(costs); k++)
			if (costs[k].value != 0)
				g_array_append_val(profile->code.costs, costs[k]);
		if (i < N)
			lode_profile_event(profile, MISSES)->total += costs[2].value;
	}
	lode_profile_event(profile, MISSES)->total += 20;
	lode_profile_event(profile, INSTRUCTIONS)->total = profile->run.total_count;
	lode_profile_event(profile, TWICE_MISSES)->total =
		2 * lode_profile_event(profile, MISSES)->total;
}

/* The same for the same seed. */
static LodeProfile *random_whole(guint32 seed)
{
	LodeProfile *profile = lode_profile_new();

	source = g_rand_new_with_seed(soak_seed(seed));
	add_events(profile);
	add_code(profile);
	add_samples(profile);
	profile->waits = lode_waits_new();
	profile->waits->has_path = true;
	for (uint32_t i = 0; i < N_TIMES; i++) {
		const LodeThreadTime time = {
			.name = timed[i].name, .pid = timed[i].pid, .tid = timed[i].tid};
		g_array_append_val(profile->thread_times, time);
		const LodeWait wait = {
			.reason = i % 2 == 0 ? LODE_WAIT_LOCK : LODE_WAIT_UNSEEN,
			.thread_name = time.name,
			.pid = time.pid,
			.tid = time.tid,
			.stack = LODE_NONE,
			.holder_stack = LODE_NONE,
			.waiting_ns = i + 1,
			.path_ns = 1,
		};
		g_array_append_val(profile->waits->rows, wait);
	}
	add_costs(profile);
	g_rand_free(source);
	return profile;
}

/* A choice, and the same said in C. */
typedef struct {
	LodePartChoice choice;
	bool (*is_chosen)(const LodeStackSample *sample, const LodeStackThread *thread);
} Case;

static bool is_io(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)sample;
	return g_str_has_prefix(thread->name, "io-");
}

static bool is_10_or_cc1(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)sample;
	return thread->tid == 10 || g_str_has_prefix(thread->name, "cc1");
}

static bool is_of_make(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)sample;
	return thread->pid == 10;
}

static bool is_between(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)thread;
	return sample->time_ns >= FIRST_NS + 500000000 && sample->time_ns < FIRST_NS + 1250000000;
}

static bool is_late_make(const LodeStackSample *sample, const LodeStackThread *thread)
{
	return sample->time_ns >= FIRST_NS + 2000000000 && thread->pid == 10;
}

static bool is_first_half(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)thread;
	return sample->time_ns != 0 && sample->time_ns < FIRST_NS + 1500000000;
}

static bool is_where(const LodeStackSample *sample, const LodeStackThread *thread)
{
	return sample->stack / OWN == 1 && sample->weight > 20 && thread->tid != 11;
}

static bool is_at_place(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)thread;
	return sample->stack == OWN;
}

static bool is_at_call(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)thread;
	return sample->stack == INLINED;
}

static bool is_all(const LodeStackSample *sample, const LodeStackThread *thread)
{
	(void)sample;
	(void)thread;
	return true;
}

#define LIST(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static const Case cases[] = {
	{{.threads = LIST("io-*")}, is_io},
	{{.threads = LIST("10", "cc1*")}, is_10_or_cc1},
	{{.commands = LIST("make")}, is_of_make},
	{{.pids = LIST("10")}, is_of_make},
	{{.time = "0.5..1.25"}, is_between},
	{{.time = "500ms..1250000us"}, is_between},
	{{.time = "2..", .pids = LIST("10")}, is_late_make},
	{{.time = "..1.5s"}, is_first_half},
	{{.where = "function == 'f1' && weight > 20 && tid != 11"}, is_where},
	{{.where = "place == 'a.c:5'"}, is_at_place},
	{{.where = "place == 'a.c:9' && line == 9 && file == 'a.c'"}, is_at_call},
	{{.where = "!(event =~ 'miss') && image == 'program' || !has(function)"}, is_all},
	{{.where = "pid in (10, 20)", .threads = LIST("*")}, is_all},
};

static void assert_near(double found, double expected, double scale)
{
	g_assert_cmpfloat(fabs(found - expected), <=, 1e-9 * scale);
}

/* Each figure of the part, worked out from the whole. */
static void check_part(const LodeProfile *part, const LodeProfile *whole, const bool *chosen)
{
	Values all = sum_samples(whole, NULL), own = sum_samples(whole, chosen), charged;
	g_autoptr(LodeCauses) causes = lode_causes_new(whole, NULL);
	double shares[N_FUNCTIONS], weight = 0, n = 0, misses = 0, executions = 0;
	double total = lode_profile_event(whole, CLOCK)->total;

	lode_causes_charge(causes, own.values, charged.values);
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		const LodeStackSample *sample = &LODE_AT(
			whole->stacks->samples, LodeStackSample, i);
		weight += chosen[i] ? sample->weight : 0;
		n += chosen[i] ? 1.0 + sample->n_more : 0;
	}
	for (uint32_t f = 0; f < N_FUNCTIONS; f++) {
		double mine = 0, theirs = 0;
		for (uint32_t k = 0; k < OWN; k++) {
			mine += own.values[f * OWN + k];
			theirs += all.values[f * OWN + k];
		}
		shares[f] = theirs > 0 ? mine / theirs : weight / total;
		assert_near(lode_profile_function(part, f)->calls,
			lode_profile_function(whole, f)->calls * shares[f], 10);
		assert_near(lode_profile_block(part, f)->count,
			lode_profile_block(whole, f)->count * shares[f], 100);
	}
	for (uint32_t i = 0; i < N; i++) {
		double share = shares[i / OWN];
		double next = lode_profile_instruction(whole, i)->next_count;
		assert_near(lode_profile_event_value(part, CLOCK, i), own.values[i], total);
		assert_near(
			lode_profile_event_value(part, CLOCK_CAUSE, i), charged.values[i], total);
		double missed = lode_profile_event_value(whole, MISSES, i) * share;
		assert_near(lode_profile_event_value(part, MISSES, i), missed, 1e3);
		double count = lode_profile_instruction(whole, i)->count * share;
		assert_near(lode_profile_instruction(part, i)->count, count, 1e3);
		assert_near(lode_profile_instruction(part, i)->next_count,
			next >= 0 && share > 0 ? next * share : -1, 1e3);
		misses += missed;
		executions += count;
	}
	assert_near(lode_profile_event(part, CLOCK)->total, weight, total);
	assert_near(lode_profile_event(part, CLOCK_CAUSE)->total, weight, total);
	misses += 20 * weight / total;
	assert_near(lode_profile_event(part, MISSES)->total, misses, 1e3);
	assert_near(lode_profile_event(part, TWICE_MISSES)->total, 2 * misses, 1e3);
	assert_near(part->run.total_count, executions + 50 * weight / total, 1e5);
	g_assert_cmpfloat(part->run.n_samples, ==, n);
	for (guint i = 0, at = 0; i < whole->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(whole->code.edges, LodeEdge, i);
		if (!(shares[edge->source / OWN] > 0))
			continue;
		g_assert_cmpuint(at, <, part->code.edges->len);
		const LodeEdge *kept = &LODE_AT(part->code.edges, LodeEdge, at++);
		g_assert_cmpuint(kept->source, ==, edge->source);
		g_assert_cmpuint(kept->target, ==, edge->target);
		assert_near(kept->count, edge->count * shares[edge->source / OWN], 1e3);
	}
}

/* Those of the threads, where the part is of threads alone. */
static void check_thread_times(const LodeProfile *part, const Case *one)
{
	bool is_of_threads = one->choice.time == NULL && one->choice.where == NULL;
	const LodeStackSample none = {0};
	double waiting_ns = 0, seen_ns = 0;
	guint n = 0;

	for (guint i = 0; i < N_TIMES; i++) {
		if (!is_of_threads || !one->is_chosen(&none, &timed[i]))
			continue;
		g_assert_cmpuint(n, <, part->thread_times->len);
		const LodeWait *wait = &LODE_AT(part->waits->rows, LodeWait, n);
		g_assert_cmpstr(wait->thread_name, ==, timed[i].name);
		g_assert_true(wait->path_ns == 0 && wait->cause == LODE_NONE);
		waiting_ns += i + 1;
		seen_ns += i % 2 == 0 ? i + 1 : 0;
		g_assert_cmpstr(
			LODE_AT(part->thread_times, LodeThreadTime, n++).name, ==, timed[i].name);
	}
	g_assert_cmpuint(n, ==, part->thread_times->len);
	g_assert_true((part->waits != NULL) == is_of_threads);
	if (part->waits == NULL)
		return;
	g_assert_cmpuint(n, ==, part->waits->rows->len);
	g_assert_cmpfloat(part->waits->waiting_ns, ==, waiting_ns);
	g_assert_cmpfloat(part->waits->seen_ns, ==, seen_ns);
	g_assert_false(part->waits->has_path);
}

static void test_cases(void)
{
	for (unsigned round = 0; round < random_rounds(20, 300); round++) {
		for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
			g_autoptr(GError) error = NULL;
			g_autoptr(LodeProfile) whole = random_whole(round + 1);
			g_autoptr(LodeProfile) part = random_whole(round + 1);
			bool chosen[N_SAMPLES];
			guint n = 0;
			for (uint32_t i = 0; i < N_SAMPLES; i++) {
				const LodeStackSample *sample = &LODE_AT(
					whole->stacks->samples, LodeStackSample, i);
				chosen[i] = cases[c].is_chosen(sample, &threads[sample->thread]);
				n += chosen[i];
			}
			g_assert_true(lode_part_choice_apply(part, &cases[c].choice, NULL, &error));
			g_assert_no_error(error);
			g_assert_cmpuint(part->stacks->samples->len, ==, n);
			g_assert_nonnull(part->part);
			check_thread_times(part, &cases[c]);
			check_part(part, whole, chosen);
		}
	}
}

/* The costs of all parts together are those of the whole, and so are the executions of functions
 * with samples. */
static void test_sums(void)
{
	const LodePartChoice choices[] = {
		{.time = "..1", .threads = LIST("io-*")},
		{.time = "1..", .threads = LIST("io-*")},
		{.where = "!has(time) && thread =~ '^io-'"},
		{.commands = LIST("make"), .threads = LIST("make")},
		{.commands = LIST("cc1*")},
	};

	for (guint32 seed = 1; seed < 20; seed++) {
		g_autoptr(LodeProfile) whole = random_whole(seed);
		double costs[N_EVENTS][N] = {{0}}, counts[N] = {0};
		for (size_t c = 0; c < G_N_ELEMENTS(choices); c++) {
			g_autoptr(GError) error = NULL;
			g_autoptr(LodeProfile) part = random_whole(seed);
			if (!lode_part_choice_apply(part, &choices[c], NULL, &error)) {
				g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
				continue;
			}
			for (uint32_t i = 0; i < N; i++) {
				counts[i] += lode_profile_instruction(part, i)->count;
				for (uint32_t e = 0; e < N_EVENTS; e++)
					costs[e][i] += lode_profile_event_value(part, e, i);
			}
		}
		for (uint32_t i = 0; i < N - OWN; i++) {
			assert_near(counts[i], lode_profile_instruction(whole, i)->count, 1e3);
			for (uint32_t e = 0; e < N_EVENTS; e++)
				assert_near(
					costs[e][i], lode_profile_event_value(whole, e, i), 1e5);
		}
	}
}

static void test_names(void)
{
	const struct {
		LodePartChoice choice;
		const char *text;
	} names[] = {
		{{.threads = LIST("io-1"), .time = "0..4"}, "thread io-1, 0–4 s: "},
		{{.threads = LIST("io-1", "12"), .time = "1500ms.."},
			"thread io-1 or 12, from 1.5 s: "},
		{{.commands = LIST("make"), .pids = LIST("10")}, "command make, process 10: "},
		{{.where = "weight > 0"}, "where weight > 0: 100.0 % of the weight"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = random_whole(1);
		g_assert_true(lode_part_choice_apply(profile, &names[i].choice, NULL, &error));
		g_assert_true(g_str_has_prefix(profile->part, names[i].text));
		g_assert_true(g_str_has_suffix(profile->part, " of the weight"));
	}
}

static void test_errors(void)
{
	const struct {
		LodePartChoice choice;
		LodeErrorCode code;
		const char *message;
	} errors[] = {
		{{.time = "1"}, LODE_ERROR_USAGE, "--time: '1' is not a stretch of time"},
		{{.time = ".."}, LODE_ERROR_USAGE, "'..' is not"},
		{{.time = "2..1"}, LODE_ERROR_USAGE, "'2..1' is not"},
		{{.time = "1..1"}, LODE_ERROR_USAGE, "'1..1' is not"},
		{{.time = "-1..1"}, LODE_ERROR_USAGE, "'-1..1' is not"},
		{{.time = "nan..1"}, LODE_ERROR_USAGE, "'nan..1' is not"},
		{{.time = "1..1e300"}, LODE_ERROR_USAGE, "'1..1e300' is not"},
		{{.time = "1h..2h"}, LODE_ERROR_USAGE, "'1h..2h' is not"},
		{{.time = "1000.."}, LODE_ERROR_NOT_FOUND, "from 1000 s; the samples are of"},
		{{.pids = LIST("make")}, LODE_ERROR_USAGE, "--pid: 'make' is not"},
		{{.pids = LIST("99")}, LODE_ERROR_NOT_FOUND, "no sample is of this part"},
		{{.threads = LIST("none")}, LODE_ERROR_NOT_FOUND, "threads such as: make, io-1"},
		{{.commands = LIST("io-1")}, LODE_ERROR_NOT_FOUND, "commands such as: make, cc1"},
		{{.where = "weight"}, LODE_ERROR_USAGE,
			"--where: the expression is not a condition"},
		{{.where = "address > 1"}, LODE_ERROR_USAGE, "unknown attribute 'address'"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(errors); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) profile = random_whole(1);
		g_assert_false(lode_part_choice_apply(profile, &errors[i].choice, NULL, &error));
		g_assert_error(error, LODE_ERROR, (int)errors[i].code);
		g_assert_nonnull(strstr(error->message, errors[i].message));
		g_assert_null(profile->part);
		g_assert_cmpuint(profile->stacks->samples->len, ==, N_SAMPLES);
	}
}

static void test_lacking(void)
{
	const LodePartChoice choice = {.time = "..1"};
	g_autoptr(LodeProfile) profile = random_whole(1);
	g_autoptr(GError) no_time = NULL, old = NULL, none = NULL;

	for (guint i = 0; i < N_SAMPLES; i++)
		LODE_AT(profile->stacks->samples, LodeStackSample, i).time_ns = 0;
	g_assert_false(lode_part_choice_apply(profile, &choice, NULL, &no_time));
	g_assert_nonnull(strstr(no_time->message, "the samples have no times; record again"));
	g_array_set_size(profile->stacks->instructions, 0);
	g_assert_false(lode_part_choice_apply(profile, &choice, NULL, &old));
	g_assert_nonnull(strstr(old->message, "import the recording again"));
	profile->run.n_samples = 0;
	g_array_set_size(profile->stacks->samples, 0);
	g_assert_false(lode_part_choice_apply(profile, &choice, NULL, &none));
	g_assert_nonnull(strstr(none->message, "the profile has none"));
}

/* Times of any size, and far more threads than are listed. */
static void test_hostile(void)
{
	enum { MANY = 1000000 };
	const LodePartChoice choice = {.threads = LIST("io-*"), .time = "0..1"};
	const LodePartChoice none = {.threads = LIST("none")};
	g_autoptr(LodeProfile) profile = random_whole(1);
	g_autoptr(GError) error = NULL;

	for (guint i = 0; i < MANY; i++) {
		const LodeStackThread thread = {i % 3 == 0 ? NULL : (char *)"many\n", i / 7, i};
		g_array_append_val(profile->stacks->threads, thread);
	}
	for (guint i = 0; i < N_SAMPLES; i++) {
		LodeStackSample *sample = &LODE_AT(profile->stacks->samples, LodeStackSample, i);
		sample->time_ns = i % 3 == 0 ? UINT64_MAX - i : i % 3 == 1 ? 0 : N_SAMPLES - i;
		sample->weight = i % 5 == 0 ? 1e300 : sample->weight;
	}
	g_assert_false(lode_part_choice_apply(profile, &none, NULL, &error));
	g_assert_cmpuint(strlen(error->message), <, 300);
	g_clear_error(&error);
	g_assert_true(lode_part_choice_apply(profile, &choice, NULL, &error));
	g_assert_no_error(error);
	for (guint i = 0; i < profile->code.costs->len; i++)
		g_assert_true(isfinite(LODE_AT(profile->code.costs, LodeCost, i).value));
}

static void test_documented(void)
{
	g_autofree char *path = g_build_filename(
		g_getenv("LODE_SOURCE_ROOT"), "docs", "use", "parts.md", NULL);
	g_autofree char *page = NULL;

	g_assert_true(g_file_get_contents(path, &page, NULL, NULL));
	for (size_t i = 0; i < lode_stack_attribute_source.n; i++) {
		g_autofree char *span = g_strdup_printf(
			"`%s`", lode_stack_attribute_source.attribute(i).name);
		g_assert_nonnull(strstr(page, span));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/part_choice/cases", test_cases);
	g_test_add_func("/part_choice/sums", test_sums);
	g_test_add_func("/part_choice/names", test_names);
	g_test_add_func("/part_choice/errors", test_errors);
	g_test_add_func("/part_choice/lacking", test_lacking);
	g_test_add_func("/part_choice/hostile", test_hostile);
	g_test_add_func("/part_choice/documented", test_documented);
	return g_test_run();
}
