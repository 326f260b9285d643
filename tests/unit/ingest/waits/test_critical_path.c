/* SPDX-License-Identifier: MIT */
/*
 * Critical paths of simulated programs: beside a naive one where it is known who woke whom, by
 * their first cause where it is not; savings beside runs of the changed programs.
 */
#include "ingest/waits/critical_path.h"

#include "model/index.h"
#include "seeds.h"
#include "simulated_program.h"

enum { MS = 1000000, N_PROGRAMS = 300, MANY = 64 };

/* By hand */

/* All work of both threads is done under `n_locks` locks. */
static Program *make_locked(uint32_t n_processors, uint32_t n_locks)
{
	Program *program = program_new(3, n_locks, n_processors);

	for (uint32_t t = 1; t < 3; t++) {
		program_add(program, 0, OP_START, t, 0);
		for (int i = 0; i < 100; i++) {
			for (uint32_t k = 0; k < n_locks; k++)
				program_add(program, t, OP_LOCK, k, 0);
			program_add(program, t, OP_WORK, t, 1 * MS);
			for (uint32_t k = n_locks; k > 0; k--)
				program_add(program, t, OP_UNLOCK, k - 1, 0);
		}
	}
	for (uint32_t t = 1; t < 3; t++)
		program_add(program, 0, OP_JOIN, t, 0);
	return program;
}

static void give_holds(Run *run)
{
	run->input.holds = (const LodePathHold *)(const void *)run->holds->data;
	run->input.n_holds = run->holds->len;
}

static void assert_near(double value, double expected, double margin)
{
	if (value < expected - margin || value > expected + margin)
		g_test_message("%g is not %g ± %g", value, expected, margin);
	g_assert_cmpfloat(value, >=, expected - margin);
	g_assert_cmpfloat(value, <=, expected + margin);
}

static void test_one_lock(void)
{
	g_autoptr(Program) program = make_locked(2, 1);

	for (int wakers = WAKERS_GIVEN; wakers <= WAKERS_HIDDEN; wakers++) {
		g_autoptr(Run) run = program_run(program, (Wakers)wakers);
		g_autoptr(LodeCriticalPath) path = lode_critical_path_new(&run->input, MANY);
		double all = (double)run->length_ns;

		assert_near(lode_path_replay_whole(path->replay) / all, 1, 0.01);
		assert_near(path->causes[0].high_ns / all, 1, 0.02);
		assert_near(path->causes[0].low_ns / all, 0.5, 0.02);
		assert_near(path->causes[0].half_ns / all, 0.5, 0.02);
		assert_near(path->threads, 1, 0.02);
		assert_near(path->sure, 1, 0.02);
	}
}

static void test_two_locks(void)
{
	g_autoptr(Program) program = make_locked(2, 2);
	g_autoptr(Run) run = program_run(program, WAKERS_HIDDEN);

	give_holds(run);
	g_autoptr(LodeCriticalPath) path = lode_critical_path_new(&run->input, MANY);
	assert_near(path->causes[0].high_ns / (double)run->length_ns, 1, 0.02);
	assert_near(path->causes[0].low_ns / (double)run->length_ns, 0, 0.01);
	assert_near(path->causes[1].low_ns / (double)run->length_ns, 0, 0.01);
}

static void test_one_processor(void)
{
	g_autoptr(Program) program = make_locked(1, 1);

	for (int wakers = WAKERS_GIVEN; wakers <= WAKERS_HIDDEN; wakers++) {
		g_autoptr(Run) run = program_run(program, (Wakers)wakers);
		g_autoptr(LodeCriticalPath) path = lode_critical_path_new(&run->input, MANY);

		assert_near(path->causes[0].low_ns / (double)run->length_ns, 0, 0.02);
		assert_near(path->threads, 1, 0.02);
	}
}

/* Random programs */

static uint64_t random_ns(GRand *random, uint64_t mean_ns)
{
	return (uint64_t)((0.2 + 1.6 * g_rand_double(random)) * (double)mean_ns);
}

/* A kind of program, each with its objects: the last ones are for what binds the threads. */
typedef struct {
	Program *program;
	GRand *random;
	uint32_t n_workers, n_locks, n_rounds;
	uint64_t think_ns;
	uint64_t hold_ns[3], sync_ns[3];
} Maker;

static void add_locked(Maker *self, uint32_t thread, uint32_t lock)
{
	program_add(self->program, thread, OP_LOCK, lock, 0);
	program_add(self->program, thread, OP_WORK, 1 + lock,
		random_ns(self->random, self->hold_ns[lock]));
	if (self->sync_ns[lock] > 0)
		program_add(self->program, thread, OP_SYNC, 0,
			random_ns(self->random, self->sync_ns[lock]));
	program_add(self->program, thread, OP_UNLOCK, lock, 0);
}

static void add_round(Maker *self, uint32_t thread)
{
	program_add(self->program, thread, OP_WORK, 4, random_ns(self->random, self->think_ns));
	for (uint32_t lock = 0; lock < self->n_locks; lock++)
		if (g_rand_int_range(self->random, 0, 3) > 0)
			add_locked(self, thread, lock);
	if (g_rand_int_range(self->random, 0, 10) == 0)
		program_add(self->program, thread, OP_SLEEP, 0,
			random_ns(self->random, self->think_ns));
	program_add(self->program, thread, OP_WORK, 5, random_ns(self->random, self->think_ns / 2));
}

static void add_barriers(Maker *self, uint32_t object)
{
	for (uint32_t t = 1; t <= self->n_workers; t++)
		for (uint32_t i = 0; i < self->n_rounds; i++) {
			add_round(self, t);
			program_add(self->program, t, OP_ARRIVE, object, self->n_workers);
		}
}

static void add_pool(Maker *self, uint32_t object)
{
	uint32_t n = self->n_rounds * self->n_workers;
	uint64_t make_ns = random_ns(self->random, self->think_ns / self->n_workers);

	for (uint32_t t = 1; t <= self->n_workers; t++)
		for (uint32_t i = 0; i < self->n_rounds; i++) {
			program_add(self->program, t, OP_TAKE, object, 0);
			add_round(self, t);
		}
	for (uint32_t i = 0; i < n; i++) {
		program_add(self->program, 0, OP_WORK, 6, random_ns(self->random, make_ns));
		program_add(self->program, 0, OP_PUT, object, 0);
	}
}

static void add_pipes(Maker *self, uint32_t object)
{
	for (uint32_t t = 1; t <= self->n_workers; t++)
		for (uint32_t i = 0; i < self->n_rounds; i++) {
			if (t > 1)
				program_add(self->program, t, OP_READ, object + t - 1, 0);
			program_add(self->program, t, OP_WORK, 6 + t,
				random_ns(self->random, self->think_ns * (1 + t % 3)));
			if (t < self->n_workers)
				program_add(self->program, t, OP_PUT, object + t, 0);
		}
}

static Program *make_random(uint32_t seed)
{
	static const uint32_t processors[] = {1, 2, 2, 3, 4, 4, 6, 8, 12, 16};
	Maker self = {.random = g_rand_new_with_seed(seed)};

	self.n_workers = (uint32_t)g_rand_int_range(self.random, 2, 13);
	self.n_locks = (uint32_t)g_rand_int_range(self.random, 0, 4);
	self.n_rounds = (uint32_t)g_rand_int_range(self.random, 10, 60);
	self.think_ns = (uint64_t)g_rand_int_range(self.random, 50000, 5 * MS);
	self.program = program_new(self.n_workers + 1, 4 + self.n_workers,
		processors[g_rand_int_range(self.random, 0, G_N_ELEMENTS(processors))]);
	self.program->is_fair = g_rand_boolean(self.random);
	for (uint32_t i = 0; i < 3; i++) {
		self.hold_ns[i] = 1000 + random_ns(self.random, self.think_ns / 3);
		if (g_rand_int_range(self.random, 0, 4) == 0)
			self.sync_ns[i] = random_ns(self.random, self.think_ns / 3);
	}
	program_add(self.program, 0, OP_WORK, 0, random_ns(self.random, 5 * self.think_ns));
	for (uint32_t t = 1; t <= self.n_workers; t++)
		program_add(self.program, 0, OP_START, t, 0);
	switch (g_rand_int_range(self.random, 0, 4)) {
	case 0:
		for (uint32_t t = 1; t <= self.n_workers; t++)
			for (uint32_t i = 0; i < self.n_rounds; i++)
				add_round(&self, t);
		break;
	case 1:
		add_barriers(&self, 3);
		break;
	case 2:
		add_pool(&self, 3);
		break;
	default:
		add_pipes(&self, 3);
	}
	for (uint32_t t = 1; t <= self.n_workers; t++)
		program_add(self.program, 0, OP_JOIN, t, 0);
	program_add(self.program, 0, OP_WORK, 0, random_ns(self.random, 5 * self.think_ns));
	g_rand_free(self.random);
	return self.program;
}

/* The path, found with a scan of everything at each step. */

static const LodePathInterval *find_before(
	const LodePathInput *input, uint32_t thread, uint64_t time_ns, bool is_run)
{
	const LodePathThread *life = &input->threads[thread];
	const LodePathInterval *found = NULL;

	for (uint32_t i = life->first; i < life->first + life->n; i++) {
		const LodePathInterval *interval = &input->intervals[i];
		if (interval->begin_ns < time_ns && (!is_run || interval->kind == LODE_PATH_RUN))
			found = interval;
	}
	return found;
}

static GArray *walk_naively(const LodePathInput *input)
{
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(LodePathPiece));
	uint32_t thread = 0;
	uint64_t time_ns = input->threads[0].end_ns;

	while (thread != LODE_NONE) {
		const LodePathInterval *interval = find_before(input, thread, time_ns, false);
		uint32_t next = thread, number = LODE_NONE;
		uint64_t next_ns;
		if (interval == NULL) {
			next = input->threads[thread].starter;
			next_ns = input->threads[thread].begin_ns;
		} else if (interval->end_ns < time_ns) {
			next_ns = interval->end_ns;
		} else {
			number = (uint32_t)(interval - input->intervals);
			next_ns = interval->begin_ns;
			if (interval->kind != LODE_PATH_RUN && interval->other != LODE_NONE) {
				next = interval->other;
				next_ns = MIN(
					find_before(input, next, time_ns, true)->end_ns, time_ns);
			}
		}
		const LodePathPiece piece = {next_ns, time_ns, thread, number, 0};
		if (number != LODE_NONE || next_ns < time_ns)
			g_array_prepend_val(pieces, piece);
		thread = next;
		time_ns = next_ns;
	}
	return pieces;
}

static void check_beside_naive(const LodeCriticalPath *path, const LodePathInput *input)
{
	g_autoptr(GArray) naive = walk_naively(input);

	g_assert_cmpuint(path->pieces->len, ==, naive->len);
	for (guint i = 0; i < naive->len; i++) {
		const LodePathPiece *a = &g_array_index(path->pieces, LodePathPiece, i);
		const LodePathPiece *b = &g_array_index(naive, LodePathPiece, i);
		g_assert_cmpuint(a->thread, ==, b->thread);
		g_assert_cmpuint(a->interval, ==, b->interval);
		g_assert_cmpuint(a->begin_ns, ==, b->begin_ns);
		g_assert_cmpuint(a->end_ns, ==, b->end_ns);
	}
}

/* Each piece begins where the one before ends. */
static void check_whole(const LodeCriticalPath *path)
{
	uint64_t time_ns = path->begin_ns;

	for (guint i = 0; i < path->pieces->len; i++) {
		const LodePathPiece *piece = &g_array_index(path->pieces, LodePathPiece, i);
		g_assert_cmpuint(piece->begin_ns, ==, time_ns);
		g_assert_cmpuint(piece->end_ns, >=, piece->begin_ns);
		time_ns = piece->end_ns;
	}
	g_assert_cmpuint(time_ns, ==, path->end_ns);
}

static double *time_of_places(const LodeCriticalPath *path, const LodePathInput *input)
{
	double *sums = g_new0(double, input->n_places + 1);
	g_autofree double *pieces = g_new0(double, input->n_intervals);

	for (guint i = 0; i < path->pieces->len; i++) {
		const LodePathPiece *piece = &g_array_index(path->pieces, LodePathPiece, i);
		if (piece->interval != LODE_NONE)
			pieces[piece->interval] = (double)(piece->end_ns - piece->begin_ns);
	}
	for (uint32_t i = 0; i < input->n_intervals; i++) {
		const LodePathInterval *run = &input->intervals[i];
		if (run->kind == LODE_PATH_RUN && run->what < input->n_places)
			sums[run->what] += lode_critical_path_weight(path, input, run, pieces[i]);
	}
	return sums;
}

/* The place or the cause that most of the path is due to. */
static uint32_t first_cause(const LodeCriticalPath *path, const LodePathInput *input)
{
	g_autofree double *places = time_of_places(path, input);
	uint32_t best = 0;
	double best_ns = -1;

	for (uint32_t i = 0; i < input->n_places; i++)
		if (places[i] > best_ns) {
			best = i;
			best_ns = places[i];
		}
	for (uint32_t i = 0; i < input->n_causes; i++)
		if (path->causes[i].high_ns > best_ns) {
			best = input->n_places + i;
			best_ns = path->causes[i].high_ns;
		}
	return best;
}

static void test_wakers(void)
{
	unsigned n_same = 0;
	double sure = 0, whole = 0;

	for (uint32_t i = 0; i < N_PROGRAMS; i++) {
		g_autoptr(Program) program = make_random(soak_seed(1000 + i));
		g_autoptr(Run) given = program_run(program, WAKERS_GIVEN);
		g_autoptr(Run) hidden = program_run(program, WAKERS_HIDDEN);
		g_autoptr(LodeCriticalPath) exact = lode_critical_path_new(&given->input, 1);
		g_autoptr(LodeCriticalPath) inferred = lode_critical_path_new(&hidden->input, 0);

		check_beside_naive(exact, &given->input);
		check_whole(inferred);
		n_same += first_cause(exact, &given->input) ==
		          first_cause(inferred, &hidden->input);
		sure += inferred->sure;
		double share = lode_path_replay_whole(exact->replay) / (double)given->length_ns;
		whole += ABS(share - 1);
	}
	g_test_message("the first cause is the same in %u of %u programs; %.0f %% of the waits on "
		       "their paths are sure; replays differ by %.1f %%",
		n_same, N_PROGRAMS, 100 * sure / N_PROGRAMS, 100 * whole / N_PROGRAMS);
	g_assert_cmpuint(n_same * 10, >=, N_PROGRAMS * 9);
}

/* Savings */

typedef struct {
	unsigned n, n_inside;
} Rate;

/* A saving below a hundredth of the time by the clock is not told from none. */
static void judge(Rate *rate, const char *what, double saved, double low, double high, double all)
{
	bool is_inside = saved >= low - 0.01 * all && saved <= high + 0.01 * all;

	rate->n++;
	rate->n_inside += is_inside;
	if (!is_inside && g_getenv("LODE_TEST_VERBOSE") != NULL)
		g_test_message("%s: %.3f is not from %.3f to %.3f", what, saved / all, low / all,
			high / all);
}

static char *describe(const Program *program, const LodeCriticalPath *path, const char *what)
{
	return g_strdup_printf("%s, %u threads on %u processors%s%s, %.0f %% sure, replay %.3f",
		what, program->threads->len, program->n_processors,
		program->is_fair ? ", fair" : "",
		program->n_places > 7   ? ", pipes"
		: program->n_places > 6 ? ", pool"
					: "",
		100 * path->sure,
		lode_path_replay_whole(path->replay) / (double)(path->end_ns - path->begin_ns));
}

static void judge_place(Rate *rate, const Program *program, const Run *run,
	const LodeCriticalPath *path, uint32_t place)
{
	double scales[MANY], low, high;
	g_autofree char *what = describe(program, path, "place");
	g_autoptr(Program) other = program_without_place(program, place);
	g_autoptr(Run) changed = program_run(other, WAKERS_HIDDEN);

	for (uint32_t i = 0; i < MANY; i++)
		scales[i] = i == place ? 0 : 1;
	lode_critical_path_saving(path, &run->input, scales, &low, &high);
	judge(rate, what, (double)run->length_ns - (double)changed->length_ns, low, high,
		(double)run->length_ns);
}

static void judge_lock(Rate *rate, const Program *program, const Run *run,
	const LodeCriticalPath *path, uint32_t lock)
{
	g_autofree char *what = describe(program, path, "lock");
	g_autoptr(Program) other = program_with_short_lock(program, lock);
	g_autoptr(Run) changed = program_run(other, WAKERS_HIDDEN);

	judge(rate, what, (double)run->length_ns - (double)changed->length_ns,
		path->causes[lock].half_ns, path->causes[lock].high_ns, (double)run->length_ns);
}

static void test_savings(void)
{
	Rate places = {0, 0}, locks = {0, 0};

	for (uint32_t i = 0; i < N_PROGRAMS; i++) {
		g_autoptr(Program) program = make_random(soak_seed(5000 + i));
		g_autoptr(Run) run = program_run(program, WAKERS_HIDDEN);
		g_autoptr(LodeCriticalPath) path = lode_critical_path_new(&run->input, MANY);
		uint32_t lock = 0;

		judge_place(&places, program, run, path, run->input.n_places > 7 ? 7 : 4);
		for (uint32_t k = 1; k < 3; k++)
			if (path->causes[k].high_ns > path->causes[lock].high_ns)
				lock = k;
		if (path->causes[lock].is_replayed)
			judge_lock(&locks, program, run, path, lock);
	}
	g_test_message("what is saved is inside in %u of %u programs without a line, %u of %u with "
		       "a lock that is had half as long",
		places.n_inside, places.n, locks.n_inside, locks.n);
	g_assert_cmpuint(places.n_inside * 10, >=, places.n * 8);
	g_assert_cmpuint(locks.n_inside * 10, >=, locks.n * 8);
	g_assert_cmpuint(locks.n, >=, N_PROGRAMS / 10);
}

/* Anything */

/* Intervals in order, and nothing else that holds together. */
static void test_anything(void)
{
	enum { N_THREADS = 9, N_EACH = 40, N_OBJECTS = 4, N_CAUSES = 6 };
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(77));

	for (unsigned round = 0; round < 2000; round++) {
		LodePathThread threads[N_THREADS];
		LodePathInterval intervals[N_THREADS * N_EACH];
		for (uint32_t t = 0; t < N_THREADS; t++) {
			uint64_t time_ns = g_rand_int(random) % 1000;
			threads[t] = (LodePathThread){time_ns, 0,
				g_rand_int(random) % (N_THREADS + 1), g_rand_int(random) % 2,
				t * N_EACH, N_EACH, g_rand_int(random) % 4 == 0};
			for (uint32_t i = 0; i < N_EACH; i++) {
				LodePathInterval *interval = &intervals[t * N_EACH + i];
				uint32_t step_ns = round % 2 > 0 ? 3 : 40000;
				time_ns += g_rand_int(random) % 4 > 0
				                   ? 0
				                   : g_rand_int(random) % step_ns;
				*interval = (LodePathInterval){time_ns,
					time_ns + g_rand_int(random) % step_ns,
					g_rand_int(random) % (N_CAUSES + 1),
					g_rand_int(random) % (N_OBJECTS + 1),
					g_rand_int(random) % (N_THREADS + 1),
					(uint8_t)(g_rand_int(random) % 2 > 0
							  ? LODE_PATH_RUN
							  : g_rand_int(random) %
								    LODE_N_WAIT_REASONS),
					g_rand_int(random) % 4};
				time_ns = interval->end_ns;
			}
			threads[t].end_ns = time_ns;
		}
		LodePathInput input = {.threads = threads,
			.intervals = intervals,
			.n_threads = N_THREADS,
			.n_intervals = N_THREADS * N_EACH,
			.n_objects = N_OBJECTS,
			.n_causes = N_CAUSES,
			.n_places = N_CAUSES,
			.n_processors = 1 + g_rand_int(random) % 4};
		g_autoptr(LodeCriticalPath) path = lode_critical_path_new(&input, MANY);
		if (path == NULL)
			continue;
		check_whole(path);
		g_assert_cmpuint(path->pieces->len, <=, 2 * (input.n_intervals + N_THREADS));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/critical-path/one-lock", test_one_lock);
	g_test_add_func("/critical-path/two-locks", test_two_locks);
	g_test_add_func("/critical-path/one-processor", test_one_processor);
	g_test_add_func("/critical-path/wakers", test_wakers);
	g_test_add_func("/critical-path/savings", test_savings);
	g_test_add_func("/critical-path/anything", test_anything);
	return g_test_run();
}
