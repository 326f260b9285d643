/* SPDX-License-Identifier: MIT */
/* Walks over windows of a program whose code is known. */
#include "../../sources/jitdump_bytes.h"
#include "stepped_program.h"

#include <string.h>

enum { MAX_VISITED = 300 };

static const LodeWindowHead head = {.tid = STEPPED_PID,
	.begin_ns = STEPPED_MAPPED_NS + 1000,
	.end_ns = STEPPED_MAPPED_NS + 2000};

/* A visited step; pointers are turned into numbers. */
typedef struct {
	uint64_t address, next; /* next 0: none */
	uint32_t code, next_code, n_window, index;
	uint8_t next_raised;
	bool has_registers, is_round, is_frequent, is_hit;
} Visited;

typedef struct {
	SteppedProgram program;
	LodeWindowSteps *steps;
	WindowLogWriter log;
	Visited visited[MAX_VISITED];
	size_t n;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	stepped_program_open(&self->program, PROGRAM_STEPPED);
	self->steps = lode_window_steps_new(self->program.places);
	window_log_init(&self->log, STEPPED_PID);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_window_steps_free(self->steps);
	window_log_clear(&self->log);
	stepped_program_close(&self->program);
}

static void visit(void *data, const LodeVisitedStep *step)
{
	Fixture *self = data;

	g_assert_cmpuint(self->n, <, MAX_VISITED);
	g_assert_cmpuint(step->pid, ==, STEPPED_PID);
	g_assert_true(step->next != NULL || step->next_code == NULL);
	self->visited[self->n++] = (Visited){
		.address = step->step->address,
		.next = step->next != NULL ? step->next->address : 0,
		.code = step->code != NULL ? step->code->number : LODE_NONE,
		.next_code = step->next_code != NULL ? step->next_code->number : LODE_NONE,
		.n_window = step->n_window,
		.index = step->index,
		.next_raised = step->next != NULL ? step->next->raised : 0,
		.has_registers = step->has_registers,
		.is_round = step->is_round,
		.is_frequent = step->is_frequent,
		.is_hit = step->is_hit,
	};
}

static const Visited *walk(Fixture *self)
{
	g_autoptr(GBytes) bytes = window_log_finish(&self->log);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeWindowLog) log = lode_window_log_new(bytes, "log", &error);
	const LodeWindowVisitor visitor = {visit, self};

	g_assert_no_error(error);
	self->n = 0;
	g_assert_true(lode_window_steps_walk(self->steps, log, &visitor, 1, NULL, &error));
	g_assert_no_error(error);
	return self->visited;
}

static void run(Fixture *self, const LodeWindowHead *window, const uint64_t *addresses, size_t n)
{
	stepped_program_run(&self->log, window, addresses, n);
}

static uint64_t at(const Fixture *self, const char *function, unsigned n)
{
	return stepped_program_at(&self->program, function, n);
}

static const LodeWindowFigures *figures(const Fixture *self)
{
	return lode_window_steps_figures(self->steps);
}

/* Codes have their places, and are decoded; numbers are the same in the next window. */
static void test_codes(Fixture *self, const void *data)
{
	const uint64_t addresses[] = {at(self, "ask", 1), at(self, "ask", 3), at(self, "ask", 1)};
	uint64_t bias = self->program.program.bias;

	(void)data;
	run(self, &head, addresses, 3);
	run(self, &head, addresses + 1, 1);
	const Visited *visited = walk(self);
	g_assert_cmpuint(self->n, ==, 4);
	g_assert_cmpuint(lode_window_steps_n_codes(self->steps), ==, 2);
	for (size_t i = 0; i < 4; i++) {
		const LodeSteppedCode *code = lode_window_steps_code(self->steps, visited[i].code);
		g_assert_cmpuint(code->number, ==, i % 2);
		g_assert_cmphex(code->place.address, ==, addresses[i % 2] - bias);
		g_assert_cmpstr(
			lode_code_images_peek(self->program.images, code->place.image)->path, ==,
			PROGRAM_STEPPED);
		g_assert_cmpuint(visited[i].n_window, ==, i / 3);
		g_assert_cmpuint(visited[i].index, ==, i % 3);
	}
	const LodeSteppedCode *branch = lode_window_steps_code(self->steps, 0);
	g_assert_true(branch->decoded.branch == LODE_BRANCH_CONDITIONAL);
	g_assert_cmphex(branch->decoded.target, ==, addresses[1] - bias);
	g_assert_cmpuint(branch->n_bytes, >=, branch->decoded.length);
	g_assert_cmphex(visited[0].next, ==, addresses[1]);
	g_assert_cmpuint(visited[0].next_code, ==, 1);
	g_assert_cmphex(visited[2].next, ==, 0);
	g_assert_cmpuint(figures(self)->n_windows, ==, 2);
	g_assert_cmpuint(figures(self)->n_steps, ==, 4);
	g_assert_cmpuint(figures(self)->outcomes[LODE_PLACE_FOUND], ==, 4);
}

/* No way leads over a gap; flags are those that the step before raised. */
static void test_gap(Fixture *self, const void *data)
{
	LodeWindowHead window = head;
	LodeWindowStep steps[] = {{.address = at(self, "plain", 0)},
		{.address = at(self, "plain", 1), .raised = 2},
		{.address = at(self, "plain", 2), .is_gap = true}};

	(void)data;
	window.flags = LODE_WINDOW_HAS_REGISTERS;
	window_log_begin(&self->log, &window);
	for (size_t i = 0; i < 3; i++)
		window_log_add(&self->log, &steps[i]);
	window_log_end(&self->log);
	const Visited *visited = walk(self);
	g_assert_cmphex(visited[0].next, ==, steps[1].address);
	g_assert_cmpuint(visited[0].next_raised, ==, 2);
	g_assert_cmphex(visited[1].next, ==, 0);
	g_assert_true(visited[2].has_registers);
}

/* Of hits, only they are visited, each with where it led; none is too early to count. */
static void test_hits(Fixture *self, const void *data)
{
	LodeWindowHead window = head;
	const LodeWindowStep steps[] = {{.address = at(self, "ask", 1), .is_gap = true},
		{.address = at(self, "ask", 3)}, {.address = at(self, "plain", 1), .is_gap = true},
		{.address = at(self, "ask", 1), .is_gap = true}, {.address = at(self, "ask", 2)}};

	(void)data;
	window.flags = LODE_WINDOW_HAS_REGISTERS | LODE_WINDOW_IS_PROBES;
	window_log_begin(&self->log, &window);
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
		window_log_add(&self->log, &steps[i]);
	window_log_end(&self->log);
	run(self, &head, &steps[2].address, 1);
	const Visited *visited = walk(self);
	g_assert_cmpuint(self->n, ==, 4);
	g_assert_cmphex(visited[0].address, ==, steps[0].address);
	g_assert_cmphex(visited[0].next, ==, steps[1].address);
	g_assert_cmphex(visited[1].address, ==, steps[2].address);
	g_assert_cmphex(visited[1].next, ==, 0);
	g_assert_cmphex(visited[2].next, ==, steps[4].address);
	for (unsigned i = 0; i < 4; i++) {
		g_assert_cmpint(visited[i].is_hit, ==, i < 3);
		g_assert_cmpint(visited[i].is_frequent, ==, i < 3);
		g_assert_cmpuint(visited[i].n_window, ==, i / 3);
	}
	g_assert_cmpuint(figures(self)->n_hits, ==, 3);
	g_assert_cmpuint(figures(self)->n_steps, ==, 1);
	g_assert_cmpuint(figures(self)->n_windows, ==, 1);
}

/* The instruction that a system call returns to is inserted where the log lacks it. */
static void test_system_call(Fixture *self, const void *data)
{
	const uint64_t trapped[] = {at(self, "ask", 0), at(self, "ask", 1), at(self, "ask", 2)};
	const uint64_t fallen[] = {at(self, "ask", 0), at(self, "ask", 2)};
	const uint64_t taken[] = {at(self, "ask", 0), at(self, "ask", 3)};
	const uint64_t through[] = {at(self, "leap", 0), at(self, "plain", 5)};
	const uint64_t elsewhere[] = {at(self, "ask", 0), at(self, "plain", 5)};
	LodeWindowHead window = head;

	(void)data;
	window.flags = LODE_WINDOW_HAS_REGISTERS;
	run(self, &window, trapped, 3);
	g_assert_cmphex(walk(self)[2].address, ==, trapped[2]);
	g_assert_cmpuint(self->n, ==, 3);
	struct {
		const uint64_t *addresses;
		uint64_t inserted;
	} rows[] = {{fallen, at(self, "ask", 1)}, {taken, at(self, "ask", 1)},
		{through, at(self, "leap", 1)}};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		window_log_clear(&self->log);
		window_log_init(&self->log, STEPPED_PID);
		run(self, &window, rows[i].addresses, 2);
		const Visited *visited = walk(self);
		g_assert_cmpuint(self->n, ==, 3);
		g_assert_cmphex(visited[0].next, ==, rows[i].inserted);
		g_assert_true(visited[0].has_registers);
		g_assert_cmphex(visited[1].address, ==, rows[i].inserted);
		g_assert_false(visited[1].has_registers);
		g_assert_cmphex(visited[1].next, ==, rows[i].addresses[1]);
		g_assert_cmpuint(visited[2].index, ==, 2);
	}
	g_assert_cmpuint(figures(self)->n_cut, ==, 0);
	window_log_clear(&self->log);
	window_log_init(&self->log, STEPPED_PID);
	run(self, &window, elsewhere, 2);
	g_assert_cmphex(walk(self)[0].next, ==, 0);
	g_assert_cmpuint(self->n, ==, 2);
	g_assert_cmpuint(figures(self)->n_cut, ==, 1);
}

/* Rounds of a string instruction are one execution, and lead nowhere before the last. */
static void test_rounds(Fixture *self, const void *data)
{
	const uint64_t move = at(self, "copy", 0), addresses[] = {move, move, move, move + 2, move};

	(void)data;
	run(self, &head, addresses, 5);
	const Visited *visited = walk(self);
	for (size_t i = 0; i < 5; i++)
		g_assert_true(visited[i].is_round == (i == 1 || i == 2));
	g_assert_cmphex(visited[0].next, ==, 0);
	g_assert_cmphex(visited[1].next, ==, 0);
	g_assert_cmphex(visited[2].next, ==, move + 2);
	g_assert_cmphex(visited[3].next, ==, move);
}

/* The first steps count for no frequency, nor does a loop that waited for another thread, from the
 * first of its last three rounds on. */
static void test_frequent(Fixture *self, const void *data)
{
	enum { BEFORE = 36, ROUNDS = 5, PER_ROUND = 5 };
	uint64_t addresses[BEFORE + ROUNDS * PER_ROUND];
	const size_t n = G_N_ELEMENTS(addresses);
	LodeWindowHead window = head;

	(void)data;
	for (unsigned i = 0; i < BEFORE; i++)
		addresses[i] = at(self, "plain", i);
	for (unsigned i = 0; i < ROUNDS * PER_ROUND; i++)
		addresses[BEFORE + i] = at(self, "take", 1 + i % PER_ROUND);
	run(self, &window, addresses, n);
	window.end = LODE_WINDOW_END_CONTENDED;
	run(self, &window, addresses, n);
	run(self, &window, addresses, BEFORE);
	const Visited *visited = walk(self);
	/* its xchg is the third of a round, and the branch by what it found the last */
	const size_t first_left = BEFORE + (ROUNDS - 3) * PER_ROUND + 2;
	for (size_t i = 0; i < n; i++) {
		bool is_of_lock = i >= BEFORE && (i - BEFORE) % PER_ROUND == PER_ROUND - 1;
		bool is_frequent = i >= LODE_WINDOW_WARM_UP && !is_of_lock;
		g_assert_true(visited[i].is_frequent == is_frequent);
		g_assert_true(visited[n + i].is_frequent == (is_frequent && i < first_left));
	}
	g_assert_true(visited[2 * n + BEFORE - 1].is_frequent);
}

/* Soon after a clock was read, a branch may depend on how long the steps took. */
static void test_clock(Fixture *self, const void *data)
{
	enum { BEFORE = 10, CLOCK = 29, SOON = 2, LATE = 28 };
	uint64_t addresses[BEFORE + CLOCK];

	(void)data;
	for (unsigned i = 0; i < BEFORE; i++)
		addresses[i] = at(self, "plain", i);
	for (unsigned i = 0; i < CLOCK; i++)
		addresses[BEFORE + i] = at(self, "clock", i);
	run(self, &head, addresses, G_N_ELEMENTS(addresses));
	const Visited *visited = walk(self);
	for (size_t i = LODE_WINDOW_WARM_UP; i < BEFORE + CLOCK; i++)
		g_assert_true(visited[i].is_frequent == (i != BEFORE + SOON));
	g_assert_cmphex(visited[BEFORE + LATE].address, ==, at(self, "clock", LATE));
}

/* An atomic instruction that is met in a long loop is no wait. */
static void test_long_rounds(Fixture *self, const void *data)
{
	enum { PER_ROUND = 66 };
	uint64_t addresses[2 * PER_ROUND + 1];
	LodeWindowHead window = head;

	(void)data;
	for (unsigned i = 0; i < G_N_ELEMENTS(addresses); i++)
		addresses[i] = i % PER_ROUND == 0 ? at(self, "take", 3)
		                                  : at(self, "plain", i % PER_ROUND % 40);
	window.end = LODE_WINDOW_END_CONTENDED;
	run(self, &window, addresses, G_N_ELEMENTS(addresses));
	walk(self);
	for (size_t i = LODE_WINDOW_WARM_UP; i < self->n; i++)
		g_assert_true(self->visited[i].is_frequent);
}

static void test_nowhere(Fixture *self, const void *data)
{
	uint64_t own = UINT64_C(0x7f0000000010);
	const uint64_t addresses[] = {at(self, "plain", 0), 0, own, 1, at(self, "plain", 1)};
	LodeWindowHead early = head;

	(void)data;
	run(self, &head, addresses, 5);
	early.begin_ns = early.end_ns = STEPPED_MAPPED_NS - 1;
	run(self, &early, addresses, 1);
	const Visited *visited = walk(self);
	for (size_t i = 0; i < 6; i++)
		g_assert_true((visited[i].code == LODE_NONE) == (i != 0 && i != 4));
	g_assert_cmphex(visited[0].next, ==, 0);
	g_assert_cmphex(visited[2].next, ==, 1);
	g_assert_cmpuint(visited[2].next_code, ==, LODE_NONE);
	g_assert_cmpuint(figures(self)->outcomes[LODE_PLACE_UNMAPPED], ==, 3);
	g_assert_cmpuint(figures(self)->outcomes[LODE_PLACE_FOUND], ==, 3);
	g_assert_cmpuint(figures(self)->n_own, ==, 1);
	g_assert_cmpuint(lode_window_steps_n_codes(self->steps), ==, 2);
}

/* The process is another program later. */
static void test_time(Fixture *self, const void *data)
{
	uint64_t address = at(self, "plain", 0);
	const LodePerfMapping map = {.start = address / 4096 * 4096, .size = 4096, .path = "/none"};
	const LodePerfRecord record = {.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = STEPPED_PID,
		.mapping = map};
	LodeWindowHead late = head;

	(void)data;
	lode_places_begin(self->program.places);
	for (int i = 0; i < 2; i++) {
		LodePerfRecord at_time = record;
		at_time.mapping.protection = 5;
		at_time.mapping.path = i == 0 ? "/none/a" : "/none/b";
		lode_places_note(self->program.places, &at_time, i == 0 ? 1 : head.end_ns);
	}
	lode_places_freeze(self->program.places, NULL, NULL, NULL);
	late.begin_ns = late.end_ns = head.end_ns;
	run(self, &head, &address, 1);
	run(self, &late, &address, 1);
	run(self, &head, &address, 1);
	const Visited *visited = walk(self);
	g_assert_cmpuint(visited[0].code, ==, 0);
	g_assert_cmpuint(visited[1].code, ==, 1);
	g_assert_cmpuint(visited[2].code, ==, 0);
	const LodeSteppedCode *code = lode_window_steps_code(self->steps, 1);
	g_assert_cmpstr(lode_code_images_peek(self->program.images, code->place.image)->path, ==,
		"/none/b");
	g_assert_cmpuint(code->decoded.length, ==, 0);
	g_assert_null(code->bytes);
}

/* Code made at run time is that of its time, though the mapping stays. */
static void test_jit(Fixture *self, const void *data)
{
	enum { ADDRESS = 0x10000, SECOND_NS = STEPPED_MAPPED_NS + 5000 };
	g_autofree char *folder = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "jit-7.dump", NULL);
	JitdumpBytes dump = jitdump_begin(false, STEPPED_PID, 0);
	g_autoptr(LodeJitCodeSet) jit = lode_jit_code_set_new();
	const LodePlacesOptions options = {.images = self->program.images, .jit = jit};
	const struct perf_event_attr event = {.size = sizeof(event),
		.sample_type = PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC};
	g_autoptr(LodePerfData) perf = lode_perf_data_new("test");
	const uint64_t id = 1;

	(void)data;
	put_load(&dump, &(JitdumpLoad){10, ADDRESS, 16, 1, "nops", 0x90});
	put_load(&dump, &(JitdumpLoad){SECOND_NS, ADDRESS, 16, 2, "returns", 0xc3});
	g_autofree char *written = jitdump_end(&dump);
	g_assert_cmpint(g_rename(written, path), ==, 0);
	lode_perf_data_add(perf, &event, "cpu-clock", &id, 1);
	lode_window_steps_free(self->steps);
	lode_places_free(self->program.places);
	self->program.places = lode_places_new(&options);
	self->steps = lode_window_steps_new(self->program.places);
	lode_places_begin(self->program.places);
	for (int i = 0; i < 2; i++) {
		const LodePerfRecord record = {.kind = LODE_PERF_MAPPING,
			.mode = LODE_PERF_MODE_USER,
			.pid = STEPPED_PID,
			.mapping = {.start = i == 0 ? 0x80000 : ADDRESS,
				.size = 4096,
				.protection = 5,
				.path = i == 0 ? path : "//anon"}};
		lode_places_note(self->program.places, &record, (uint64_t)i);
	}
	lode_places_freeze(self->program.places, perf, "test", NULL);
	const uint64_t addresses[] = {ADDRESS, ADDRESS + 1};
	LodeWindowHead late = head;
	late.begin_ns = late.end_ns = SECOND_NS;
	run(self, &head, addresses, 2);
	run(self, &late, addresses, 2);
	run(self, &head, addresses, 2);
	const Visited *visited = walk(self);
	for (size_t i = 0; i < 6; i++) {
		g_assert_cmpuint(visited[i].code, ==, i % 4);
		g_assert_true(
			lode_window_steps_code(self->steps, visited[i].code)->decoded.branch ==
			(i == 2 || i == 3 ? LODE_BRANCH_RETURN : LODE_BRANCH_NONE));
	}
	g_unlink(path);
	g_rmdir(folder);
}

/* Steps that the head promises and the window does not have. */
static void test_damaged(Fixture *self, const void *data)
{
	const uint64_t addresses[] = {at(self, "plain", 0), at(self, "plain", 1)};

	(void)data;
	run(self, &head, addresses, 2);
	run(self, &head, addresses, 2);
	LodeWindowHead *written = (LodeWindowHead *)(void *)(self->log.bytes->data +
							     LODE_WINDOW_LOG_PAGE);
	memset(written + 1, 0xff, written->size - sizeof(*written));
	walk(self);
	g_assert_cmpuint(self->n, ==, 2);
	g_assert_cmpuint(figures(self)->n_damaged, ==, 2);
	g_assert_cmpuint(figures(self)->n_steps, ==, 2);
	g_assert_cmpuint(figures(self)->n_windows, ==, 2);
}

#define ADD(name, test) g_test_add(name, Fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("/window-steps/hits", test_hits);
	ADD("/window-steps/codes", test_codes);
	ADD("/window-steps/gap", test_gap);
	ADD("/window-steps/system-call", test_system_call);
	ADD("/window-steps/rounds", test_rounds);
	ADD("/window-steps/frequent", test_frequent);
	ADD("/window-steps/clock", test_clock);
	ADD("/window-steps/long-rounds", test_long_rounds);
	ADD("/window-steps/nowhere", test_nowhere);
	ADD("/window-steps/time", test_time);
	ADD("/window-steps/jit", test_jit);
	ADD("/window-steps/damaged", test_damaged);
	return g_test_run();
}
