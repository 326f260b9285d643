/* SPDX-License-Identifier: MIT */
/* Recordings with looks at threads that wait: what becomes of them, and of all else. */
#include "ingest/import.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"
#include "model/waits.h"
#include "profile_sums.h"
#include "sample_file.h"
#include "sampled_program.h"

#include <glib/gstdio.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#define MS UINT64_C(1000000)

enum { PID = 7, WORKER = 8, STACK_POINTER = 0x7ffc0000 };

typedef struct {
	SampledProgram program;
	SampleFile samples;
	char *directory, *path;
	bool has_looks;
} Made;

static void made_init(Made *self, bool has_switches, bool has_looks)
{
	*self = (Made){.has_looks = has_looks};
	sampled_program_open(&self->program, PROGRAM_BRANCHES);
	sample_file_init(&self->samples);
	self->samples.has_branches = false;
	self->samples.has_switches = has_switches;
	sample_file_add_event(&self->samples, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
	if (has_looks)
		sample_file_add_look_event(&self->samples);
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, "perf.data", NULL);
	sample_file_exec(&self->samples, PID, 1);
	sample_file_map(&self->samples, PID, 1, &self->program.mapping);
}

static void made_clear(Made *self)
{
	g_unlink(self->path);
	g_rmdir(self->directory);
	g_free(self->path);
	g_free(self->directory);
	sample_file_clear(&self->samples);
	sampled_program_close(&self->program);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static LodeProfile *import(Made *self)
{
	const char *const paths[] = {self->path};
	const LodeImportOptions options = {.paths = paths, .n_paths = 1, .threads = 2};
	g_autoptr(GError) error = NULL;

	sample_file_write(&self->samples, self->path);
	LodeProfile *profile = lode_import(&options, NULL, &error);
	g_assert_no_error(error);
	return profile;
}

static uint64_t address_in(const Made *self, const char *function)
{
	return sampled_program_second(&self->program, function) + self->program.bias;
}

static void sample(Made *self, uint32_t tid, uint64_t time_ns, const char *function)
{
	const Sample added = {
		.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.tid = tid,
		.time_ns = time_ns,
		.ip = address_in(self, function),
		.period = MS,
	};

	sample_file_add(&self->samples, &added);
}

static void change(Made *self, uint32_t tid, uint64_t time_ns, bool is_out, bool is_preempted)
{
	const SampleSwitch added = {
		PID, tid, time_ns, .is_out = is_out, .is_preempted = is_preempted};

	sample_file_switch(&self->samples, &added);
}

/* A thread runs in [begin, end): a sample each millisecond. */
static void run(Made *self, uint32_t tid, uint64_t begin_ns, uint64_t end_ns, const char *function,
	bool is_preempted)
{
	change(self, tid, begin_ns, false, false);
	for (uint64_t at = begin_ns + MS / 2; at < end_ns; at += MS)
		sample(self, tid, at, function);
	change(self, tid, end_ns, true, is_preempted);
}

/* With a stack, its first word is the return address of the caller. */
static void look(Made *self, uint32_t tid, uint64_t time_ns, const char *function,
	const LodeWaitLook *what, const char *caller)
{
	const uint64_t stack[] = {caller != NULL ? address_in(self, caller) : 0, 0, 0};
	const SampleLook added = {
		.pid = PID,
		.tid = tid,
		.time_ns = time_ns,
		.ip = address_in(self, function),
		.stack_pointer = STACK_POINTER,
		.look = what,
		.stack = stack,
		.n_stack = caller != NULL ? G_N_ELEMENTS(stack) : 0,
	};

	if (self->has_looks)
		sample_file_look(&self->samples, &added);
}

static LodeWaitLook look_of(int64_t call)
{
	return (LodeWaitLook){.call = call,
		.interval_ns = 5 * MS,
		.holder_call = LODE_LOOK_RUNS,
		.state = 'S',
		.target = "",
		.kernel_function = ""};
}

/*
 *   first    ━━━━━ 10 ╌╌╌ lock ╌╌╌ 40 ━━ 45 ╌ preempted ╌ 50 ━━━━ 60 ╌ sleep ╌ 68 ━━ exit 70
 *   worker   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 60
 */
static void make(Made *self)
{
	LodeWaitLook lock = look_of(SYS_futex), slept = look_of(SYS_nanosleep);

	lock.arguments[0] = 0x5000;
	lock.arguments[1] = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
	lock.arguments[2] = 2;
	lock.holder = WORKER;
	slept.timeout_ns = 8 * MS;
	sample_file_clone(&self->samples, PID, WORKER, 100 * MS);
	sample_file_name(&self->samples, PID, WORKER, 100 * MS, "worker");
	run(self, PID, 100 * MS, 110 * MS, "wander", false);
	look(self, PID, 120 * MS, "wander", &lock, NULL);
	run(self, PID, 140 * MS, 145 * MS, "wander", true);
	run(self, PID, 150 * MS, 160 * MS, "wander", false);
	look(self, PID, 163 * MS, "wander", &slept, NULL);
	change(self, PID, 168 * MS, false, false);
	sample_file_exit(&self->samples, PID, PID, 170 * MS);
	run(self, WORKER, 100 * MS, 160 * MS, "drive", false);
	sample_file_exit(&self->samples, PID, WORKER, 160 * MS);
}

static const LodeWait *row_of(const LodeProfile *profile, LodeWaitReason reason)
{
	const LodeWait *found = NULL;

	for (guint i = 0; i < profile->waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(profile->waits->rows, LodeWait, i);
		if (row->reason != reason)
			continue;
		g_assert_null(found);
		found = row;
	}
	g_assert_nonnull(found);
	return found;
}

static const char *function_of(const LodeProfile *profile, uint32_t stack)
{
	const LodeStacks *stacks = profile->stacks;

	g_assert_cmpuint(stack, <, stacks->stacks->len);
	return LODE_AT(stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, stack).frame)
	        .function;
}

static double total_of(const LodeProfile *profile, const char *event)
{
	uint32_t number = lode_profile_find_event(profile, event);

	g_assert_cmpuint(number, !=, LODE_NONE);
	return lode_profile_event(profile, number)->total;
}

static double sum_in(const LodeProfile *profile, const char *event, const char *name)
{
	uint32_t number = lode_profile_find_event(profile, event);
	const LodeFunction *function = find_profile_function(profile, name);
	double value = 0;

	for (uint32_t i = 0; i < function->n_instructions; i++)
		value += lode_profile_event_value(profile, number, function->first_instruction + i);
	return value;
}

static void assert_ms(double ns, double ms)
{
	if (fabs(ns / (double)MS - ms) > 1e-6 * fmax(ms, 1))
		g_error("%.9g, not %.9g", ns / (double)MS, ms);
}

static void test_rows(void)
{
	g_auto(Made) made;

	made_init(&made, true, true);
	make(&made);
	g_autoptr(LodeProfile) profile = import(&made);
	const LodeWaits *waits = profile->waits;
	g_assert_nonnull(waits);
	g_assert_cmpuint(waits->rows->len, ==, 3);
	const LodeWait *lock = row_of(profile, LODE_WAIT_LOCK);
	assert_ms(lock->waiting_ns, 30);
	assert_ms(lock->longest_ns, 30);
	g_assert_cmpfloat(lock->count, ==, 1);
	g_assert_cmpfloat(lock->looks, ==, 1);
	g_assert_cmpstr(lock->call, ==, "futex");
	g_assert_cmpstr(lock->thread_name, ==, "program");
	g_assert_cmpuint(lock->tid, ==, PID);
	g_assert_cmpstr(function_of(profile, lock->stack), ==, "wander");
	g_assert_cmpstr(function_of(profile, lock->holder_stack), ==, "drive");
	g_assert_cmpfloat(lock->holder_share, ==, 1);
	g_assert_null(lock->holder_call);
	const LodeWait *slept = row_of(profile, LODE_WAIT_SLEEP);
	assert_ms(slept->waiting_ns, 8);
	g_assert_cmpfloat(slept->holder_share, ==, 0);
	const LodeWait *ready = row_of(profile, LODE_WAIT_PROCESSOR);
	assert_ms(ready->waiting_ns, 5);
	g_assert_cmpfloat(ready->looks, ==, 0);
	g_assert_cmpfloat(ready->count, ==, 1);
	g_assert_cmpstr(function_of(profile, ready->stack), ==, "wander");
	assert_ms(waits->waiting_ns, 43);
	assert_ms(waits->seen_ns, 43);
	assert_ms(waits->running_ns, 27 + 60);
	assert_ms(waits->clock_ns, 70);
	assert_ms(total_of(profile, "waiting"), 43);
	assert_ms(sum_in(profile, "waiting", "wander"), 43);
	assert_ms(total_of(profile, "clock"), 43 + 85);
	assert_ms(sum_in(profile, "clock", "wander"), 43 + 25);
	assert_ms(sum_in(profile, "clock", "drive"), 60);
}

/* All but the events of waiting is as without looks. */
static void test_others(void)
{
	g_auto(Made) with, without;

	made_init(&with, true, true);
	make(&with);
	made_init(&without, true, false);
	make(&without);
	g_autoptr(LodeProfile) looked = import(&with);
	g_autoptr(LodeProfile) plain = import(&without);
	g_assert_null(plain->waits);
	g_assert_cmpuint(lode_profile_find_event(plain, "waiting"), ==, LODE_NONE);
	g_assert_cmpfloat(looked->run.n_samples, ==, plain->run.n_samples);
	g_assert_cmpfloat(looked->run.n_equal_samples, ==, plain->run.n_equal_samples);
	g_assert_cmpfloat(looked->run.total_count, ==, plain->run.total_count);
	g_assert_cmpuint(looked->code.functions->len, ==, plain->code.functions->len);
	g_assert_cmpuint(looked->code.instructions->len, ==, plain->code.instructions->len);
	g_assert_cmpuint(looked->thread_times->len, ==, plain->thread_times->len);
	g_assert_cmpuint(looked->unresolved->len, ==, plain->unresolved->len);
	g_assert_cmpstr(lode_profile_event(looked, looked->code.weight_event)->name, ==,
		lode_profile_event(plain, plain->code.weight_event)->name);
	for (uint32_t e = 0; e < plain->code.events->len; e++) {
		const char *name = lode_profile_event(plain, e)->name;
		uint32_t same = lode_profile_find_event(looked, name);
		g_assert_cmpuint(same, !=, LODE_NONE);
		for (uint32_t i = 0; i < plain->code.instructions->len; i++)
			g_assert_cmpfloat(lode_profile_event_value(looked, same, i), ==,
				lode_profile_event_value(plain, e, i));
	}
	check_weight_is_whole(looked);
}

/* A program that only waits is not weighed by that. */
static void test_only_waits(void)
{
	g_auto(Made) made;
	const LodeWaitLook slept = look_of(SYS_nanosleep);

	made_init(&made, true, true);
	change(&made, PID, 100 * MS, false, false);
	change(&made, PID, 101 * MS, true, false);
	look(&made, PID, 120 * MS, "wander", &slept, NULL);
	change(&made, PID, 190 * MS, false, false);
	sample(&made, PID, 191 * MS, "drive");
	sample_file_exit(&made.samples, PID, PID, 200 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	g_assert_cmpstr(lode_profile_event(profile, profile->code.weight_event)->name, ==,
		"cpu-clock:cause");
	assert_ms(row_of(profile, LODE_WAIT_SLEEP)->waiting_ns, 89);
	g_assert_cmpfloat(profile->run.n_samples, ==, 1);
}

/* Raw data that ends early, or says more than it has, is counted, and nothing more. */
static void test_damaged(void)
{
	g_autoptr(GByteArray) whole = g_byte_array_new();
	const LodeWaitLook slept = look_of(SYS_nanosleep);
	g_auto(Made) made;
	unsigned n = 0;

	lode_wait_look_append(&slept, whole);
	made_init(&made, true, true);
	change(&made, PID, 100 * MS, false, false);
	change(&made, PID, 110 * MS, true, false);
	for (uint32_t size = 4; size + 8 < whole->len; size += 8, n++) {
		const SampleLook cut = {
			.pid = PID,
			.tid = PID,
			.time_ns = (111 + n) * MS,
			.ip = address_in(&made, "wander"),
			.raw = whole->data,
			.raw_size = size,
		};
		sample_file_look(&made.samples, &cut);
	}
	change(&made, PID, 190 * MS, false, false);
	sample(&made, PID, 191 * MS, "drive");
	sample_file_exit(&made.samples, PID, PID, 200 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	assert_ms(row_of(profile, LODE_WAIT_UNSEEN)->waiting_ns, 80);
	assert_ms(profile->waits->seen_ns, 0);
	assert_ms(total_of(profile, "waiting"), 80);
	double n_damaged = 0;
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (g_str_has_prefix(row->reason, "looks at threads that wait, which"))
			n_damaged += row->samples;
	}
	g_assert_cmpfloat(n_damaged, ==, n);
}

/* Without switches, looks are all that is known. */
static void test_without_switches(void)
{
	g_auto(Made) made;
	const LodeWaitLook slept = look_of(SYS_nanosleep);

	made_init(&made, false, true);
	sample(&made, PID, 100 * MS, "drive");
	look(&made, PID, 110 * MS, "wander", &slept, NULL);
	sample(&made, PID, 150 * MS, "drive");
	sample_file_exit(&made.samples, PID, PID, 151 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	assert_ms(row_of(profile, LODE_WAIT_SLEEP)->waiting_ns, 45);
	g_assert_cmpuint(profile->thread_times->len, ==, 0);
	g_assert_cmpuint(lode_profile_find_event(profile, "latency"), ==, LODE_NONE);
}

/* Looks alone: each stands for the time since the one before, or for as long as the thread went on
 * to wait; how often it waited is not known. */
static void test_looks_alone(void)
{
	g_auto(Made) made;
	LodeWaitLook slept = look_of(SYS_nanosleep), runs = look_of(LODE_LOOK_NO_CALL);

	runs.state = LODE_LOOK_STATE_RUNS;
	runs.interval_ns = slept.interval_ns = 10 * MS;
	made_init(&made, false, true);
	const SampleLook looks[] = {{.pid = PID, .tid = PID, .time_ns = 100 * MS, .look = &runs},
		{.pid = PID, .tid = PID, .time_ns = 110 * MS, .look = &runs},
		{.pid = PID, .tid = PID, .time_ns = 120 * MS, .look = &slept},
		/* it was looked at in between, and waited as before */
		{.pid = PID, .tid = PID, .time_ns = 160 * MS, .look = &runs},
		{.pid = PID, .tid = PID, .time_ns = 170 * MS, .look = &runs}};
	for (guint i = 0; i < G_N_ELEMENTS(looks); i++)
		sample_file_look(&made.samples, &looks[i]);
	g_autoptr(LodeProfile) profile = import(&made);
	const LodeWait *row = row_of(profile, LODE_WAIT_SLEEP);
	/* from 110 to 120 and on to 150; of 100 to 170 */
	g_assert_cmpfloat(fabs(row->waiting_ns - 40 * MS), <, 10);
	g_assert_cmpfloat(row->count, ==, 0);
	g_assert_cmpuint(profile->waits->rows->len, ==, 1);
	g_assert_cmpfloat(fabs(profile->waits->running_ns - 30 * MS), <, 10);
	g_assert_cmpfloat(fabs(profile->waits->clock_ns - 70 * MS), <, 10);
}

/* A sleep that a stop interrupted goes on as restart_syscall, whose looks say nothing else. */
static void test_again(void)
{
	LodeWaitLook slept = look_of(SYS_nanosleep), again = look_of(SYS_restart_syscall);
	g_auto(Made) made;

	slept.timeout_ns = 300 * MS;
	made_init(&made, true, true);
	run(&made, PID, 100 * MS, 110 * MS, "wander", false);
	look(&made, PID, 120 * MS, "wander", &slept, NULL);
	run(&made, PID, 140 * MS, 141 * MS, "wander", false);
	look(&made, PID, 150 * MS, "wander", &again, NULL);
	change(&made, PID, 170 * MS, false, false);
	sample_file_exit(&made.samples, PID, PID, 171 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	g_assert_cmpuint(profile->waits->rows->len, ==, 1);
	assert_ms(row_of(profile, LODE_WAIT_SLEEP)->waiting_ns, 30 + 29);
}

/* What is left of its time at a look is not what a thread wanted to wait in all. */
static void test_until(void)
{
	LodeWaitLook slept = look_of(SYS_clock_nanosleep), waits = look_of(SYS_futex);
	g_auto(Made) made;

	slept.flags = waits.flags = LODE_LOOK_TIME_IS_LEFT;
	slept.timeout_ns = 10 * MS;
	waits.timeout_ns = 15 * MS;
	waits.arguments[0] = 0x5000;
	waits.arguments[1] = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	made_init(&made, true, true);
	run(&made, PID, 100 * MS, 110 * MS, "wander", false);
	look(&made, PID, 120 * MS, "wander", &slept, NULL);
	run(&made, PID, 130 * MS, 140 * MS, "wander", false);
	look(&made, PID, 150 * MS, "drive", &waits, NULL);
	change(&made, PID, 165 * MS, false, false);
	sample_file_exit(&made.samples, PID, PID, 166 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	const GArray *rows = profile->waits->rows;
	g_assert_cmpuint(rows->len, ==, 2);
	/* A condition that nobody signalled was slept. */
	g_assert_cmpint(LODE_AT(rows, LodeWait, 0).reason, ==, LODE_WAIT_SLEEP);
	g_assert_cmpstr(LODE_AT(rows, LodeWait, 0).object, ==, "25 ms");
	g_assert_cmpint(LODE_AT(rows, LodeWait, 1).reason, ==, LODE_WAIT_SLEEP);
	g_assert_cmpstr(LODE_AT(rows, LodeWait, 1).object, ==, "20 ms");
}

/* Looks that the system refused say what the kernel's function says, or nothing. */
static void test_refused(void)
{
	LodeWaitLook sleeps = look_of(LODE_LOOK_NO_CALL), hidden = look_of(LODE_LOOK_NO_CALL);
	const SampleLook looks[] = {
		{.pid = PID, .tid = PID, .time_ns = 120 * MS, .look = &sleeps},
		{.pid = PID, .tid = PID, .time_ns = 150 * MS, .look = &hidden},
	};
	g_auto(Made) made;

	sleeps.flags = hidden.flags = LODE_LOOK_WAS_REFUSED;
	sleeps.kernel_function = "hrtimer_nanosleep";
	made_init(&made, true, true);
	run(&made, PID, 100 * MS, 110 * MS, "wander", false);
	sample_file_look(&made.samples, &looks[0]);
	run(&made, PID, 130 * MS, 140 * MS, "wander", false);
	sample_file_look(&made.samples, &looks[1]);
	change(&made, PID, 165 * MS, false, false);
	sample_file_exit(&made.samples, PID, PID, 166 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	assert_ms(row_of(profile, LODE_WAIT_SLEEP)->waiting_ns, 20);
	assert_ms(row_of(profile, LODE_WAIT_UNSEEN)->waiting_ns, 25);
	assert_ms(profile->waits->waiting_ns, 45);
	assert_ms(profile->waits->seen_ns, 20);
	assert_ms(profile->waits->refused_ns, 45);
	assert_ms(total_of(profile, "waiting"), 45);
}

/* Waits of io_uring's workers are those of who waits for them. */
static void test_worker_of_kernel(void)
{
	g_auto(Made) made;
	const LodeWaitLook enters = look_of(SYS_io_uring_enter);

	made_init(&made, true, true);
	sample_file_clone(&made.samples, PID, WORKER, 100 * MS);
	sample_file_name(&made.samples, PID, WORKER, 100 * MS, "iou-wrk-7");
	run(&made, PID, 100 * MS, 110 * MS, "wander", false);
	look(&made, PID, 120 * MS, "wander", &enters, NULL);
	change(&made, PID, 168 * MS, false, false);
	sample_file_exit(&made.samples, PID, PID, 170 * MS);
	run(&made, WORKER, 100 * MS, 101 * MS, "drive", false);
	change(&made, WORKER, 168 * MS, false, false);
	sample_file_exit(&made.samples, PID, WORKER, 169 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	g_assert_cmpuint(profile->waits->rows->len, ==, 1);
	assert_ms(row_of(profile, LODE_WAIT_OTHER)->waiting_ns, 58);
	assert_ms(profile->waits->waiting_ns, 58);
	assert_ms(profile->waits->seen_ns, 58);
	assert_ms(profile->waits->running_ns, 12 + 2);
}

/* Of a service, whose end is not seen, a thread that nobody wakes waits for work; one that is woken
 * in between may be what others wait for. */
static void test_unwoken(void)
{
	for (int is_woken = 0; is_woken < 2; is_woken++) {
		LodeWaitLook waits = look_of(SYS_futex);
		g_auto(Made) made;
		waits.arguments[0] = 0x5000;
		waits.arguments[1] = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
		made_init(&made, true, true);
		sample_file_clone(&made.samples, PID, WORKER, 100 * MS);
		run(&made, WORKER, 100 * MS, 101 * MS, "drive", false);
		look(&made, WORKER, 120 * MS, "drive", &waits, NULL);
		if (is_woken) {
			run(&made, WORKER, 134 * MS, 135 * MS, "drive", false);
			look(&made, WORKER, 150 * MS, "drive", &waits, NULL);
		}
		run(&made, WORKER, 168 * MS, 170 * MS, "drive", false);
		run(&made, PID, 100 * MS, 170 * MS, "wander", false);
		g_autoptr(LodeProfile) profile = import(&made);
		const LodeWait *row = row_of(profile, LODE_WAIT_CONDITION);
		g_assert_false(profile->waits->has_path);
		assert_ms(row->waiting_ns, is_woken ? 66 : 67);
		g_assert_cmpint(row->is_idle, ==, !is_woken);
	}
}

/* A pool at its queue, each of whose threads is woken often: idle, unless somebody else of the
 * process works meanwhile. */
static void test_pool(void)
{
	for (int is_busy = 0; is_busy < 2; is_busy++) {
		LodeWaitLook waits = look_of(SYS_futex);
		g_auto(Made) made;
		waits.arguments[0] = 0x5000;
		waits.arguments[1] = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
		made_init(&made, true, true);
		for (uint32_t worker = WORKER; worker < WORKER + 2; worker++) {
			sample_file_clone(&made.samples, PID, worker, 100 * MS);
			for (uint64_t at = 100; at < 180; at += 20) {
				run(&made, worker, at * MS, (at + 2) * MS, "drive", false);
				look(&made, worker, (at + 10) * MS, "drive", &waits, NULL);
			}
			run(&made, worker, 180 * MS, 181 * MS, "drive", false);
		}
		run(&made, PID, 100 * MS, (is_busy ? 170 : 101) * MS, "wander", false);
		run(&made, PID, 180 * MS, 181 * MS, "wander", false);
		g_autoptr(LodeProfile) profile = import(&made);
		const GArray *rows = profile->waits->rows;
		guint n = 0;
		g_assert_false(profile->waits->has_path);
		for (guint i = 0; i < rows->len; i++) {
			const LodeWait *row = &LODE_AT(rows, LodeWait, i);
			if (row->reason != LODE_WAIT_CONDITION)
				continue;
			g_assert_cmpint(row->is_idle, ==, !is_busy);
			n++;
		}
		g_assert_cmpuint(n, ==, 2);
	}
}

/* A server's loop waits for requests by several callers: together they are most of its waiting. */
static void test_requests(void)
{
	for (int is_most = 0; is_most < 2; is_most++) {
		const LodeWaitLook polls = look_of(SYS_epoll_wait), syncs = look_of(SYS_fsync);
		uint64_t at = is_most ? 150 : 210;
		g_auto(Made) made;
		made_init(&made, true, true);
		run(&made, PID, 100 * MS, 101 * MS, "drive", false);
		look(&made, PID, 110 * MS, "wander", &polls, NULL);
		run(&made, PID, 121 * MS, 122 * MS, "drive", false);
		look(&made, PID, 130 * MS, "drive", &polls, NULL);
		run(&made, PID, 142 * MS, 143 * MS, "drive", false);
		look(&made, PID, 145 * MS, "wander", &syncs, NULL);
		run(&made, PID, at * MS + 18 * MS, at * MS + 20 * MS, "drive", false);
		g_autoptr(LodeProfile) profile = import(&made);
		guint n = 0;
		for (guint i = 0; i < profile->waits->rows->len; i++) {
			const LodeWait *row = &LODE_AT(profile->waits->rows, LodeWait, i);
			if (row->reason == LODE_WAIT_POLL)
				g_assert_cmpint(row->is_idle, ==, is_most);
			else
				g_assert_false(row->is_idle);
			n += row->reason == LODE_WAIT_POLL;
		}
		g_assert_cmpuint(n, ==, 2);
	}
}

/* Without a path, a wait for a condition that is ended by a thread which mostly waited for a file
 * itself says so; one that ran does not. */
static void test_awaited(void)
{
	for (int is_file = 0; is_file < 2; is_file++) {
		LodeWaitLook waits = look_of(SYS_futex), syncs = look_of(SYS_fdatasync);
		g_auto(Made) made;
		waits.arguments[0] = 0x5000;
		waits.arguments[1] = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
		made_init(&made, true, true);
		sample_file_clone(&made.samples, PID, WORKER, 100 * MS);
		for (uint64_t at = 100; at < 200; at += 20) {
			run(&made, WORKER, at * MS, (at + 2) * MS, "drive", false);
			look(&made, WORKER, (at + 8) * MS, "drive", &waits, NULL);
			run(&made, PID, (at + 1) * MS, (at + (is_file ? 3 : 15)) * MS, "wander",
				false);
			look(&made, PID, (at + 16) * MS, "wander", &syncs, NULL);
			run(&made, PID, (at + 18) * MS, (at + 20) * MS, "wander", false);
		}
		run(&made, WORKER, 200 * MS, 202 * MS, "drive", false);
		g_autoptr(LodeProfile) profile = import(&made);
		const LodeWait *row = row_of(profile, LODE_WAIT_CONDITION);
		g_assert_false(profile->waits->has_path);
		assert_ms(row->waiting_ns, 5 * 18);
		g_assert_false(row->is_idle);
		g_assert_cmpfloat(row->holder_share, ==, is_file ? 1 : 0);
		if (!is_file)
			continue;
		g_assert_cmpstr(row->holder_call, ==, "fdatasync");
		g_assert_cmpstr(function_of(profile, row->holder_stack), ==, "wander");
	}
}

static void look_at_script(Made *self, uint64_t time_ns, uint32_t line)
{
	const LodeScriptFrame frame = {1, line};
	g_autoptr(GByteArray) raw = g_byte_array_new();

	lode_script_frames_append(&frame, 1, LODE_SCRIPT_IS_WAITING, raw);
	sample_file_script(&self->samples, PID, PID, time_ns, raw);
}

/* A wait has the frames that its thread was seen to have during it, above native code. */
static void test_scripts(void)
{
	const LodeScriptCode code = {1, 10, 14, "python", "Table.find", "/home/me/app.py"};
	const LodeWaitLook slept = look_of(SYS_nanosleep), read = look_of(SYS_read);
	g_autoptr(GByteArray) raw = g_byte_array_new();
	g_auto(Made) made;

	made_init(&made, true, true);
	sample_file_add_script_event(&made.samples);
	lode_script_code_append(&code, raw);
	sample_file_script(&made.samples, PID, PID, 100 * MS, raw);
	run(&made, PID, 100 * MS, 110 * MS, "wander", false);
	look(&made, PID, 120 * MS, "wander", &slept, "drive");
	look_at_script(&made, 129 * MS, 12);
	run(&made, PID, 130 * MS, 140 * MS, "wander", false);
	look(&made, PID, 150 * MS, "wander", &read, "drive");
	change(&made, PID, 160 * MS, false, false);
	look_at_script(&made, 161 * MS, 14);
	sample_file_exit(&made.samples, PID, PID, 170 * MS);
	g_autoptr(LodeProfile) profile = import(&made);
	const LodeStacks *stacks = profile->stacks;
	uint32_t at = row_of(profile, LODE_WAIT_SLEEP)->stack;
	g_assert_cmpstr(function_of(profile, at), ==, "wander");
	at = LODE_AT(stacks->stacks, LodeStack, at).outer;
	g_assert_cmpstr(function_of(profile, at), ==, "drive");
	at = LODE_AT(stacks->stacks, LodeStack, at).outer;
	g_assert_cmpstr(function_of(profile, at), ==, "Table.find");
	const LodeFrame *frame = &LODE_AT(
		stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, at).frame);
	g_assert_cmpstr(frame->file, ==, "/home/me/app.py");
	g_assert_cmpuint(frame->line, ==, 12);
	g_assert_cmpuint(LODE_AT(stacks->stacks, LodeStack, at).outer, ==, LODE_NONE);
	at = row_of(profile, LODE_WAIT_READ)->stack;
	at = LODE_AT(stacks->stacks, LodeStack, at).outer;
	g_assert_cmpstr(function_of(profile, at), ==, "drive");
	g_assert_cmpuint(LODE_AT(stacks->stacks, LodeStack, at).outer, ==, LODE_NONE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/wait-import/rows", test_rows);
	g_test_add_func("/ingest/wait-import/others", test_others);
	g_test_add_func("/ingest/wait-import/only-waits", test_only_waits);
	g_test_add_func("/ingest/wait-import/damaged", test_damaged);
	g_test_add_func("/ingest/wait-import/without-switches", test_without_switches);
	g_test_add_func("/ingest/wait-import/looks-alone", test_looks_alone);
	g_test_add_func("/ingest/wait-import/again", test_again);
	g_test_add_func("/ingest/wait-import/until", test_until);
	g_test_add_func("/ingest/wait-import/refused", test_refused);
	g_test_add_func("/ingest/wait-import/worker-of-kernel", test_worker_of_kernel);
	g_test_add_func("/ingest/wait-import/unwoken", test_unwoken);
	g_test_add_func("/ingest/wait-import/pool", test_pool);
	g_test_add_func("/ingest/wait-import/requests", test_requests);
	g_test_add_func("/ingest/wait-import/awaited", test_awaited);
	g_test_add_func("/ingest/wait-import/scripts", test_scripts);
	return g_test_run();
}
