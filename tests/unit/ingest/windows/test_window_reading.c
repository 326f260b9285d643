/* SPDX-License-Identifier: MIT */
/* Edges and facts of random steps against plain sums over what was executed; what is left out, and
 * by which name. */
#include "model/profile.h"

#include "model/run/unresolved.h"
#include "seeds.h"
#include "stepped_program.h"

enum { N_INSTRUCTIONS = 41, MAX_STEPS = 150, TIME_NS = STEPPED_MAPPED_NS + 100 };

typedef struct {
	SteppedProgram program;
	LodeWindowReading *reading;
	LodeRecording *recording;
	LodeWindowTimes times;
	WindowLogWriter log;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	stepped_program_open(&self->program, PROGRAM_STEPPED);
	self->reading = lode_window_reading_new(self->program.places);
	self->recording = lode_recording_new();
	lode_window_times_init(&self->times);
	window_log_init(&self->log, STEPPED_PID);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_window_reading_free(self->reading);
	lode_recording_free(self->recording);
	lode_window_times_clear(&self->times);
	window_log_clear(&self->log);
	stepped_program_close(&self->program);
}

static void add_bytes(Fixture *self, GBytes *bytes, const LodeWindowLogOptions *given)
{
	LodeWindowLogOptions options = *given;
	g_autoptr(GError) error = NULL;

	options.recording = self->recording;
	options.threads = &self->program.threads;
	options.times = &self->times;
	g_assert_true(lode_window_reading_add(self->reading, bytes, &options, NULL, &error));
	g_assert_no_error(error);
}

static void add(Fixture *self)
{
	g_autoptr(GBytes) bytes = window_log_finish(&self->log);
	const LodeWindowLogOptions options = {0};

	add_bytes(self, bytes, &options);
}

/* Edges as the test counts them, of instructions of `plain` by number. */
typedef struct {
	uint32_t steps[N_INSTRUCTIONS][N_INSTRUCTIONS], windows[N_INSTRUCTIONS][N_INSTRUCTIONS];
	uint32_t executed[N_INSTRUCTIONS];
} Sums;

static void add_random_window(Fixture *self, Sums *sums)
{
	int n = random_int_range(1, MAX_STEPS);
	int before = -1;
	bool is_seen[N_INSTRUCTIONS][N_INSTRUCTIONS] = {{false}};
	const LodeWindowHead head = {
		.tid = STEPPED_PID, .begin_ns = TIME_NS, .end_ns = TIME_NS + 500};

	window_log_begin(&self->log, &head);
	for (int i = 0; i < n; i++) {
		/* some instructions much more often than others */
		int now = random_int_range(0, random_int_range(1, N_INSTRUCTIONS + 1));
		bool is_gap = random_int_range(0, 20) == 0;
		const LodeWindowStep step = {
			.address = stepped_program_at(&self->program, "plain", (unsigned)now),
			.is_gap = is_gap};
		window_log_add(&self->log, &step);
		sums->executed[now]++;
		if (i > LODE_WINDOW_WARM_UP && !is_gap) {
			sums->steps[before][now]++;
			sums->windows[before][now] += !is_seen[before][now];
			is_seen[before][now] = true;
		}
		before = now;
	}
	window_log_end(&self->log);
}

static guint check_edges(const Fixture *self, const Sums *sums)
{
	uint64_t first = stepped_program_at(&self->program, "plain", 0);
	uint64_t bias = self->program.program.bias;
	const GArray *steps = self->recording->steps;
	guint n = 0;

	for (unsigned i = 0; i < N_INSTRUCTIONS; i++)
		for (unsigned k = 0; k < N_INSTRUCTIONS; k++) {
			if (sums->steps[i][k] == 0)
				continue;
			/* its instructions have four bytes each; sorted by address */
			const LodeRecordedStep *step = &LODE_AT(steps, LodeRecordedStep, n++);
			g_assert_cmphex(step->source, ==, first + 4 * i - bias);
			g_assert_cmphex(step->target, ==, first + 4 * k - bias);
			g_assert_cmpuint(step->steps, ==, sums->steps[i][k]);
			g_assert_cmpuint(step->windows, ==, sums->windows[i][k]);
			g_assert_cmpstr(
				LODE_AT(self->recording->objects, LodeRecordedObject, step->object)
					.path,
				==, PROGRAM_STEPPED);
			g_assert_cmpuint(step->object, ==, step->target_object);
		}
	return n;
}

static void test_random(void)
{
	Fixture fixture = {0};
	Sums sums = {{{0}}};

	set_up(&fixture, NULL);
	for (unsigned i = 0; i < random_rounds(30, 1000); i++)
		add_random_window(&fixture, &sums);
	add(&fixture);
	lode_window_reading_finish(fixture.reading, fixture.recording);
	g_assert_cmpuint(check_edges(&fixture, &sums), ==, fixture.recording->steps->len);
	uint64_t first = stepped_program_at(&fixture.program, "plain", 0);
	uint32_t n = lode_window_steps_n_codes(fixture.reading->steps);
	for (uint32_t i = 0; i < n; i++) {
		const LodePlace place = lode_window_steps_code(fixture.reading->steps, i)->place;
		uint64_t number = (place.address + fixture.program.program.bias - first) / 4;
		g_assert_cmpuint(lode_window_facts_at(fixture.reading->facts, i)->steps, ==,
			sums.executed[number]);
	}
	g_assert_cmpuint(fixture.recording->unresolved->len, ==, 0);
	tear_down(&fixture, NULL);
}

static void run(Fixture *self, uint64_t time_ns, const uint64_t *addresses, size_t n)
{
	const LodeWindowHead head = {
		.tid = STEPPED_PID, .begin_ns = time_ns, .end_ns = time_ns + 500};

	stepped_program_run(&self->log, &head, addresses, n);
}

/* How many of a reason are unresolved. */
static double unresolved(const Fixture *self, const char *reason, const char *example)
{
	for (guint i = 0; i < self->recording->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(
			self->recording->unresolved, LodeUnresolved, i);
		if (g_str_equal(row->reason, reason)) {
			g_assert_cmpstr(row->example, ==, example);
			return row->samples;
		}
	}
	return 0;
}

static void test_left_out(Fixture *self, const void *data)
{
	const uint64_t addresses[] = {stepped_program_at(&self->program, "plain", 0), 16};
	g_autoptr(GBytes) no_log = g_bytes_new_static("lodewndw", 8);
	const LodeWindowLogOptions options = {0};

	(void)data;
	run(self, TIME_NS, addresses, 2);
	add(self);
	self->log.header.pid = 99;
	add(self);
	self->log.header.pid = STEPPED_PID;
	self->log.header.used += 8;
	add(self);
	add_bytes(self, no_log, &options);
	lode_window_reading_finish(self->reading, self->recording);
	g_assert_cmpfloat(
		unresolved(self, "step of a window outside any mapping", "0x10 in process 7"), ==,
		2);
	g_assert_cmpfloat(
		unresolved(self, "log of windows of a process that is not in the recording",
			"process 99"),
		==, 1);
	g_assert_cmpfloat(
		unresolved(self, "log of windows that is damaged or cut short", "process 7"), ==,
		1);
	g_assert_cmpfloat(unresolved(self, "log of windows that cannot be read",
				  "windows: not a log of windows"),
		==, 1);
	g_assert_cmpuint(self->recording->unresolved->len, ==, 4);
}

/* The header's figures of a process are kept; the time of windows is subtracted. */
static void test_processes(Fixture *self, const void *data)
{
	const uint64_t addresses[] = {stepped_program_at(&self->program, "plain", 0),
		stepped_program_at(&self->program, "plain", 1)};

	(void)data;
	run(self, TIME_NS, addresses, 2);
	run(self, TIME_NS + 1000, addresses, 1);
	self->log.header.begin_ns = TIME_NS;
	self->log.header.obstacle = LODE_WINDOW_OBSTACLE_SECCOMP;
	self->log.header.user_ns = 250000000;
	self->log.header.system_ns = 3000000000;
	add(self);
	self->recording->programs.user_seconds = 1;
	self->recording->programs.system_seconds = 2;
	lode_window_reading_finish(self->reading, self->recording);
	g_assert_cmpuint(self->reading->processes->len, ==, 1);
	const LodeReadProcess *process = &LODE_AT(self->reading->processes, LodeReadProcess, 0);
	g_assert_cmpuint(process->pid, ==, STEPPED_PID);
	g_assert_cmpstr(process->name, ==, "stepped");
	g_assert_cmpuint(process->obstacle, ==, LODE_WINDOW_OBSTACLE_SECCOMP);
	g_assert_cmpuint(process->n_windows, ==, 2);
	g_assert_cmpuint(process->n_steps, ==, 3);
	g_assert_cmpfloat(self->recording->programs.user_seconds, ==, 0.75);
	g_assert_cmpfloat(self->recording->programs.system_seconds, ==, 0);
}

static bool is_early(const void *data, uint32_t pid, uint64_t time_ns)
{
	(void)data;
	g_assert_cmpuint(pid, ==, STEPPED_PID);
	return time_ns < TIME_NS + 1000;
}

/* Samples are left out of unwanted windows, too. */
static void test_choice(Fixture *self, const void *data)
{
	const uint64_t address = stepped_program_at(&self->program, "plain", 0);
	const LodeWindowLogOptions options = {.is_wanted = is_early};

	(void)data;
	run(self, TIME_NS, &address, 1);
	run(self, TIME_NS + 1000000, &address, 1);
	g_autoptr(GBytes) bytes = window_log_finish(&self->log);
	add_bytes(self, bytes, &options);
	lode_window_times_freeze(&self->times);
	g_assert_cmpuint(lode_window_facts_at(self->reading->facts, 0)->steps, ==, 1);
	g_assert_true(lode_window_times_has(&self->times, STEPPED_PID, TIME_NS));
	g_assert_true(lode_window_times_has(&self->times, STEPPED_PID, TIME_NS + 1000000));
}

/* A process is listed when it was wanted at its beginning, or in a window. */
static void test_chosen_processes(Fixture *self, const void *data)
{
	const uint64_t address = stepped_program_at(&self->program, "plain", 0);
	const LodeWindowLogOptions options = {.is_wanted = is_early};
	const struct {
		uint64_t begin_ns, window_ns;
		guint n_listed;
	} rows[] = {{TIME_NS, TIME_NS + 1000, 1}, {TIME_NS + 1000, TIME_NS, 2},
		{TIME_NS + 1000, TIME_NS + 1000, 2}};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		window_log_clear(&self->log);
		window_log_init(&self->log, STEPPED_PID);
		self->log.header.begin_ns = rows[i].begin_ns;
		run(self, rows[i].window_ns, &address, 1);
		g_autoptr(GBytes) bytes = window_log_finish(&self->log);
		add_bytes(self, bytes, &options);
		g_assert_cmpuint(self->reading->processes->len, ==, rows[i].n_listed);
	}
}

typedef struct {
	uint32_t tid;
	uint64_t begin_ns, end_ns;
	bool stops;
} Interval;

/* Intervals that overlap, lie in each other and are far apart, against a look at each. */
static void test_times(void)
{
	enum { MAX_INTERVALS = 60, RANGE = 20 * LODE_WINDOW_RETURN_NS };
	LodeWindowTimes times;
	Interval intervals[MAX_INTERVALS];
	int n = random_int_range(0, MAX_INTERVALS);

	lode_window_times_init(&times);
	for (int i = 0; i < n; i++) {
		uint64_t begin_ns = (uint64_t)random_int_range(0, RANGE);
		uint64_t length = (uint64_t)random_int_range(0, random_bit() ? 1000 : RANGE / 4);
		intervals[i] = (Interval){(uint32_t)random_int_range(1, 6), begin_ns,
			begin_ns + length, random_bit()};
		lode_window_times_add(&times, intervals[i].tid, intervals[i].begin_ns,
			intervals[i].end_ns, 0.5, intervals[i].stops);
	}
	lode_window_times_freeze(&times);
	for (unsigned round = 0; round < random_rounds(3000, 30000); round++) {
		uint32_t tid = (uint32_t)random_int_range(0, 7);
		uint64_t time_ns = (uint64_t)random_int_range(0, 2 * RANGE);
		bool is_in = false, is_stopped = false;
		if (n > 0 && random_bit()) { /* at a border */
			const Interval *interval = &intervals[random_int_range(0, n)];
			tid = interval->tid;
			time_ns = (random_bit() ? interval->begin_ns
						: interval->end_ns + LODE_WINDOW_RETURN_NS) -
			          (uint64_t)random_bit();
		}
		for (int i = 0; i < n; i++) {
			bool has = intervals[i].tid == tid && intervals[i].begin_ns <= time_ns &&
			           time_ns < intervals[i].end_ns + LODE_WINDOW_RETURN_NS;
			is_in |= has;
			is_stopped |= has && intervals[i].stops;
		}
		g_assert_true(lode_window_times_has(&times, tid, time_ns) == is_in);
		g_assert_true(lode_window_times_has_stopped(&times, tid, time_ns) == is_stopped);
		uint64_t until_ns = time_ns + (uint64_t)random_int_range(0, RANGE);
		double ran_ns = 0;
		for (int i = 0; i < n; i++)
			if (intervals[i].tid == tid && intervals[i].begin_ns >= time_ns &&
				intervals[i].begin_ns <= until_ns)
				ran_ns += (double)(intervals[i].end_ns - intervals[i].begin_ns) / 2;
		g_assert_cmpfloat(
			lode_window_times_running(&times, tid, time_ns, until_ns), ==, ran_ns);
	}
	lode_window_times_clear(&times);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/window-reading/random", test_random,
		"R02S9d24a1f6c80b73e5e14f06b28a97cd53", "R02S36b0e9d17f5c428aa02d8be4719fc365",
		NULL);
	g_test_add("/window-reading/left-out", Fixture, NULL, set_up, test_left_out, tear_down);
	g_test_add("/window-reading/processes", Fixture, NULL, set_up, test_processes, tear_down);
	g_test_add("/window-reading/choice", Fixture, NULL, set_up, test_choice, tear_down);
	g_test_add("/window-reading/chosen-processes", Fixture, NULL, set_up, test_chosen_processes,
		tear_down);
	add_random_test("/window-reading/times", test_times, "R02S5ce81b09f3a64d72b6817fc05de2943a",
		"R02Se07a5dc9142f8b63d1b49c70f8536ea2", "R02S18c4b7f06ade3259740fb8e1c6d29a35",
		NULL);
	return g_test_run();
}
