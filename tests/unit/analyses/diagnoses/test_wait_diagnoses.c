/* SPDX-License-Identifier: MIT */
/* Diagnoses of waiting, on waits made by hand. */
#include "analyses/diagnoses/diagnose.h"
#include "analyses/diagnoses/diagnosis_context.h"
#include "analyses/diagnoses/thread_diagnoses.h"
#include "model/findings.h"
#include "model/process.h"
#include "model/profile.h"

#include "made_profile.h"

#include <math.h>
#include <string.h>

#define S 1e9

/* A program of /home/me/app and the C library; of 1 s by the clock, in which `running` threads ran.
 */
static LodeProfile *profile_new(double running, bool has_path)
{
	LodeProfile *profile = made_profile("cpu-clock", LODE_EVENT_SAMPLED, "/home/me/app");

	made_image(profile, "/lib/x86_64-linux-gnu/libc.so.6");
	profile->stacks = lode_stacks_new();
	profile->run.n_samples = 1000;
	profile->run.wall_seconds = 1;
	profile->run.user_seconds = running;
	profile->waits = lode_waits_new();
	profile->waits->clock_ns = S;
	profile->waits->running_ns = running * S;
	profile->waits->has_path = has_path;
	profile->waits->path_running_ns = MIN(running, 1) * S;
	profile->waits->path_threads = running;
	profile->waits->path_sure = 1;
	return profile;
}

static LodeFrame frame(LodeProfile *profile, const char *function, uint32_t line)
{
	bool is_own = line > 0;

	return (LodeFrame){.function = lode_profile_intern(profile, function),
		.image = lode_profile_intern(
			profile, is_own ? "/home/me/app" : "/lib/x86_64-linux-gnu/libc.so.6"),
		.file = is_own ? lode_profile_intern(profile, "/home/me/app.c") : NULL,
		.line = line};
}

/* In a function of the C library that `function` calls. */
static uint32_t stack_of(LodeProfile *profile, const char *function, uint32_t line)
{
	uint32_t outer = made_stack(profile, frame(profile, function, line), LODE_NONE);

	return made_stack(profile, frame(profile, "futex_wait", 0), outer);
}

static LodeWait wait_of(LodeProfile *profile, LodeWaitReason reason, const char *object,
	const char *function, uint32_t tid, double seconds)
{
	return (LodeWait){.reason = reason,
		.object = (char *)object,
		.thread_name = "worker",
		.pid = 1,
		.tid = tid,
		.stack = stack_of(profile, function, 31),
		.holder_stack = LODE_NONE,
		.waiting_ns = seconds * S,
		.path_ns = seconds * S,
		.count = 100,
		.longest_ns = 0.05 * S,
		.looks = 50};
}

static bool has_text(const LodeDiagnosis *self, const char *text)
{
	for (guint i = 0; i < self->evidence->len; i++)
		if (strstr(g_array_index(self->evidence, LodeEvidence, i).text, text) != NULL)
			return true;
	g_test_message("no evidence '%s'", text);
	return false;
}

static void print_all(const LodeDiagnoses *all)
{
	for (guint i = 0; i < all->diagnoses->len; i++) {
		const LodeDiagnosis *one = lode_diagnoses_at(all, i);
		g_test_message("%s '%s' %s:%u %f..%f", one->name, one->title, one->site.file,
			one->site.line, one->clock_low, one->clock_high);
		for (guint k = 0; k < one->evidence->len; k++)
			g_test_message("  %s", g_array_index(one->evidence, LodeEvidence, k).text);
	}
}

static LodeDiagnoses *diagnose(const LodeProfile *profile)
{
	LodeDiagnoses *all = lode_diagnose(profile, NULL, profile->code.weight_event, NULL);

	print_all(all);
	return all;
}

static void test_lock(void)
{
	g_autoptr(LodeProfile) profile = profile_new(1, true);

	for (uint32_t i = 0; i < 3; i++) {
		LodeWait row = wait_of(profile, LODE_WAIT_LOCK, "ledger_lock", "post", 10 + i, 0.4);
		row.path_ns = 0;
		row.holder_stack = stack_of(profile, "seal", 12);
		row.holder_share = 0.9;
		made_wait(profile, row, 0.4 * S, 0.9 * S);
		LODE_AT(profile->waits->rows, LodeWait, i).cause = 0;
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "wait-lock");
	g_assert_cmpstr(one->name, ==, "wait-lock@ledger_lock");
	g_assert_cmpstr(one->title, ==, "waiting for a lock: ledger_lock");
	g_assert_cmpstr(one->site.function, ==, "post");
	g_assert_cmpuint(one->site.line, ==, 31);
	g_assert_true(fabs(one->clock_low - 0.4) < 1e-9 && fabs(one->clock_high - 0.9) < 1e-9);
	g_assert_cmpfloat(one->high, ==, 0);
	g_assert_true(fabs(one->clock - 1.2 / 2.2) < 1e-9);
	g_assert_true(has_text(one, "300 waits of 4 ms on average, 50 ms at most, by 3 threads"));
	g_assert_true(has_text(one, "its holder ran in seal (app.c:12) in 90 %"));
	g_assert_true(all->is_by_clock && all->has_clock);
}

/* Who waits for an answer under a lock: the lock is the cause, and saves what its threads leave. */
static void test_lock_in_request(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.02, true);

	made_wait(profile, wait_of(profile, LODE_WAIT_SOCKET, "tcp 10.0.0.1:80", "ask", 1, 0.9),
		0.8 * S, 0.9 * S);
	for (uint32_t i = 0; i < 4; i++) {
		LodeWait row = wait_of(profile, LODE_WAIT_LOCK, "cache", "look_up", 10 + i, 0.8);
		row.path_ns = 0;
		row.holder_stack = stack_of(profile, "ask", 31);
		row.holder_share = 0.9;
		row.holder_call = "read";
		made_wait(profile, row, 0.3 * S, 0.9 * S);
		LODE_AT(profile->waits->rows, LodeWait, i + 1).cause = 1;
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "wait-lock");
	g_assert_true(fabs(one->clock_high - 0.75) < 1e-9);
}

/* Without the lock the threads still take the processors that there are. */
static void test_lock_on_processors(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.9, true);
	LodeWait row = wait_of(profile, LODE_WAIT_LOCK, "album_lock", "draw", 10, 0.9);

	profile->run.n_processors = 2;
	made_wait(profile, row, NAN, 0.9 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_true(fabs(lode_diagnoses_at(all, 0)->clock_high - 0.55) < 1e-9);
}

/* Also where no cause of waiting is known, a program that hardly runs is judged by the clock. */
static void test_waits_without_cause(void)
{
	static const double running[] = {0.1, 0.5};

	for (guint i = 0; i < G_N_ELEMENTS(running); i++) {
		g_autoptr(LodeProfile) profile = profile_new(running[i], true);
		LodeWait row = wait_of(
			profile, LODE_WAIT_OTHER, "rt_sigtimedwait", "run", 1, 1 - running[i]);
		made_wait(profile, row, NAN, 0);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 0);
		g_assert_true(all->is_by_clock == (i == 0));
	}
}

/* The path waits for a pool, whose threads wait for a lock: its pieces do not say what that takes.
 */
static void test_lock_of_pool(void)
{
	static const LodeWaitReason reasons[] = {LODE_WAIT_LOCK, LODE_WAIT_SLEEP};

	for (guint i = 0; i < G_N_ELEMENTS(reasons); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		LodeWait pool = wait_of(profile, LODE_WAIT_CONDITION, NULL, "run", 1, 0.9);
		pool.path_ns = 0.9 * S;
		made_wait(profile, pool, NAN, 0.9 * S);
		for (uint32_t k = 0; k < 4; k++) {
			LodeWait row = wait_of(profile, reasons[i], NULL, "look_up", 10 + k, 0.7);
			row.path_ns = 0;
			made_wait(profile, row, NAN, 0);
		}
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		const LodeDiagnosis *first = all->diagnoses->len > 0 ? lode_diagnoses_at(all, 0)
		                                                     : NULL;
		if (i > 0) {
			g_assert_true(first == NULL || strcmp(first->cause, "wait-sleep") != 0);
			continue;
		}
		g_assert_cmpstr(first->cause, ==, "wait-lock");
		g_assert_true(fabs(first->clock_high - 0.7) < 1e-9);
	}
}

/* What runs in the kernel may be of the calls that wait there. */
static void test_sync_that_runs(void)
{
	static const double kernels[] = {0.02, 0.18};

	for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.2, true);
		LodeWait row = wait_of(profile, LODE_WAIT_SYNC, "/srv/a.log", "store", 10, 0.5);
		LodeWait other = wait_of(profile, LODE_WAIT_SYNC, "/srv/b.log", NULL, 10, 0.3);
		profile->run.user_seconds = 0.2 - kernels[i];
		profile->run.system_seconds = kernels[i];
		other.stack = LODE_NONE;
		made_wait(profile, row, 0.5 * S, 0.5 * S);
		made_wait(profile, other, 0.3 * S, 0.3 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->cause, ==, "wait-sync");
		g_assert_cmpstr(one->site.function, ==, "store");
		g_assert_true(has_text(one, "200 waits of 4 ms on average"));
		g_assert_true(has_text(one, "80 % of the critical path"));
		g_assert_true(fabs(one->clock_high - (i == 0 ? 0.8 : 0.98)) < 1e-9);
		for (guint k = 1; k < all->diagnoses->len; k++)
			g_assert_cmpstr(lode_diagnoses_at(all, k)->cause, !=, "kernel-time");
	}
}

/* The remedy is another one where the holder is in a system call. */
static void test_lock_in_call(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.2, true);
	LodeWait row = wait_of(profile, LODE_WAIT_LOCK, NULL, "post", 10, 0.8);

	row.holder_share = 0.7;
	row.holder_call = "fsync";
	made_wait(profile, row, NAN, 0.8 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->title, ==, "waiting for a lock");
	g_assert_cmpstr(one->name, ==, "wait-lock@post");
	g_assert_nonnull(strstr(one->remedy, "outside the lock"));
	g_assert_true(has_text(one, "its holder was in fsync in 70 %"));
}

/* A thread that waits for the only one that runs. */
static void test_serial(void)
{
	g_autoptr(LodeProfile) profile = profile_new(1, true);
	const LodeStackThread threads[] = {{NULL, 1, 1}, {NULL, 1, 2}};

	g_array_append_vals(profile->stacks->threads, threads, 2);
	uint32_t busy = made_stack(profile, frame(profile, "sum_up", 40), LODE_NONE);
	for (guint i = 0; i < 100; i++) {
		made_sample(profile, busy, 1e7);
		LODE_AT(profile->stacks->samples, LodeStackSample, i).thread = 1;
	}
	LodeWait row = wait_of(profile, LODE_WAIT_JOIN, NULL, "collect", 1, 0.9);
	row.path_ns = 0;
	row.count = 1;
	row.looks = 1;
	row.longest_ns = 0.9 * S;
	made_wait(profile, row, 0.1 * S, 0.9 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, >=, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "wait-serial");
	g_assert_cmpstr(one->name, ==, "wait-serial@collect");
	g_assert_cmpstr(one->site.function, ==, "sum_up");
	g_assert_cmpuint(one->site.line, ==, 40);
	g_assert_true(has_text(one, "sum_up (app.c:40) runs while collect (app.c:31) waits"));
	g_assert_true(has_text(one, "one wait of 0.9 s"));
}

/* Threads that wait for each other at a lock, whose holder waits itself, are not said to run while
 * another one waits for their end. */
static void test_held_in_waits(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.05, true);
	LodeWait join = wait_of(profile, LODE_WAIT_JOIN, NULL, "main", 1, 0.98);

	join.path_ns = 0;
	made_wait(profile, join, 0.1 * S, 0.98 * S);
	for (uint32_t i = 0; i < 4; i++) {
		LodeWait row = wait_of(profile, LODE_WAIT_LOCK, "bus_lock", "send", 10 + i, 0.7);
		row.path_ns = 0;
		row.holder_stack = stack_of(profile, "post", 12);
		row.holder_share = 0.9;
		row.holder_call = "recvfrom";
		made_wait(profile, row, 0.05 * S, 0.2 * S);
		LODE_AT(profile->waits->rows, LodeWait, i + 1).cause = 1;
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->name, ==, "wait-lock@bus_lock");
	g_assert_true(fabs(one->clock_high - 0.7) < 1e-9);
	g_assert_cmpstr(g_array_index(one->evidence, LodeEvidence, 0).text, ==,
		"its holder was in recvfrom at post (app.c:12) in 90 % of the looks");
}

/* Nor where what most of them wait for was not seen, as they live shortly. */
static void test_for_unseen(void)
{
	for (int is_seen = 0; is_seen < 2; is_seen++) {
		g_autoptr(LodeProfile) profile = profile_new(0.05, true);
		LodeWait join = wait_of(profile, LODE_WAIT_JOIN, NULL, "main", 1, 0.9);
		LodeWait unseen = wait_of(profile, LODE_WAIT_UNSEEN, NULL, "main", 11, 0.6);
		join.path_ns = 0;
		unseen.stack = LODE_NONE;
		made_wait(profile, join, 0.1 * S, 0.9 * S);
		made_wait(profile, unseen, NAN, 0.6 * S);
		if (is_seen)
			made_wait(profile, wait_of(profile, LODE_WAIT_SLEEP, NULL, "slow", 10, 0.3),
				0.3 * S, 0.3 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==,
			is_seen ? "wait-sleep" : "wait-serial");
	}
}

/* Around an event loop is nobody's code, and an address is not a place; no library is the cause. */
static void test_without_place(void)
{
	static const struct {
		const char *function, *image, *outer, *place;
	} cases[] = {{"uv_run", "/usr/bin/node", NULL, NULL},
		{"futex_wait", "/usr/lib/jvm/lib/server/libjvm.so", NULL, NULL},
		{"Interpreter", "/tmp/jit-7.dump", NULL, NULL},
		{"java.lang.Thread.run() [tier 3]", "/tmp/jit-7.dump", NULL, NULL},
		{"Board.next() [tier 3]", "/tmp/jit-7.dump", NULL, "Board.next() [tier 3]"},
		{"fn_12f0", "/usr/bin/find", NULL, NULL},
		{"fn_12f0", "/usr/bin/find", "consider_visiting", "consider_visiting"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		LodeWait row = wait_of(profile, LODE_WAIT_POLL, NULL, "post", 10, 0.8);
		LodeFrame code = frame(profile, cases[i].function, 0);
		code.image = lode_profile_intern(profile, cases[i].image);
		LodeFrame outer = code;
		outer.function = (char *)cases[i].outer;
		row.stack = cases[i].outer != NULL ? made_stack(profile, outer, LODE_NONE)
		                                   : LODE_NONE;
		row.stack = made_stack(profile, code, row.stack);
		row.stack = made_stack(profile, frame(profile, "poll", 0), row.stack);
		made_wait(profile, row, NAN, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->site.function, ==, cases[i].place);
		g_assert_null(lode_diagnoses_at(all, 0)->authors);
	}
}

/* The code that an event loop runs between its waits asks for what it waits for; what ran before
 * the first wait, in other threads, or belongs to the environment does not. */
static void test_event_loop(void)
{
	static const struct {
		const char *function, *image;
		uint32_t tid;
		uint64_t time_ns;
		guint n;
	} samples[] = {{"JS:~load /home/me/a.js:3:9", "/tmp/jit-1.dump", 10, 20, 6},
		{"JS:~read /home/me/a.js:9:9", "/tmp/jit-1.dump", 10, 20, 4},
		{"JS:~start /home/me/a.js:1:1", "/tmp/jit-1.dump", 10, 5, 50},
		{"JS:~other /home/me/b.js:1:1", "/tmp/jit-1.dump", 11, 20, 50},
		{"uv_run", "/usr/bin/node", 10, 20, 50}};

	for (guint few = 0; few < 2; few++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		const LodeStackThread threads[] = {{NULL, 1, 10}, {NULL, 1, 11}};
		made_image(profile, "/tmp/jit-1.dump");
		LODE_AT(profile->code.images, LodeImage, profile->code.images->len - 1).kind =
			LODE_IMAGE_JIT;
		g_array_append_vals(profile->stacks->threads, threads, G_N_ELEMENTS(threads));
		for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
			LodeFrame code = {.function = (char *)samples[i].function,
				.image = (char *)samples[i].image};
			uint32_t stack = made_stack(profile, code, LODE_NONE);
			for (guint k = 0; k < (few == 1 ? 1 : samples[i].n); k++) {
				made_sample(profile, stack, 1e6);
				LodeStackSample *sample = &LODE_AT(profile->stacks->samples,
					LodeStackSample, profile->stacks->samples->len - 1);
				sample->thread = samples[i].tid - 10;
				sample->time_ns = samples[i].time_ns;
			}
		}
		LodeWait row = wait_of(profile, LODE_WAIT_POLL, NULL, "post", 10, 0.8);
		row.stack = LODE_NONE;
		made_wait(profile, row, NAN, 0.8 * S);
		const LodeWaitSlice slice = {
			.pid = 1, .tid = 10, .begin_ns = 10, .end_ns = 15, .kind = LODE_WAIT_POLL};
		g_array_append_val(profile->waits->slices, slice);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->site.function, ==,
			few == 1 ? NULL : samples[0].function);
	}
}

/* An answer after 40 ms may be one that is delayed, whatever the longest one takes; one that takes
 * other times is the peer's work. */
static void test_delayed_answers(void)
{
	static const struct {
		double milliseconds, longest;
		const char *remedy;
	} cases[] = {{41, 45, "Send a request in one piece"},
		{41, 64, "Send a request in one piece"}, {25, 45, "Send requests side by side"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		LodeWait row = wait_of(
			profile, LODE_WAIT_SOCKET, "tcp 127.0.0.1:80", "ask", 10, 0.8);
		row.count = 40;
		row.longest_ns = cases[i].longest * 1e6;
		made_wait(profile, row, NAN, 0.8 * S);
		for (guint k = 0; k < 20; k++) {
			const LodeWaitSlice slice = {.pid = 1,
				.tid = 10,
				.begin_ns = k * 100000000,
				.end_ns = k * 100000000 + 50000000,
				.kind = LODE_WAIT_SOCKET,
				.time_ns = cases[i].milliseconds * 1e6};
			g_array_append_val(profile->waits->slices, slice);
		}
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_test_message("%s", lode_diagnoses_at(all, 0)->remedy);
		g_assert_true(g_str_has_prefix(lode_diagnoses_at(all, 0)->remedy, cases[i].remedy));
	}
}

static void add_answers(LodeProfile *profile, uint32_t tid, double milliseconds)
{
	LodeWait row = wait_of(profile, LODE_WAIT_SOCKET, "tcp 127.0.0.1:80", "ask", tid, 0.8);

	row.count = 20;
	row.longest_ns = milliseconds * 1e6;
	made_wait(profile, row, NAN, 0.8 * S);
	for (guint k = 0; k < 20; k++) {
		const LodeWaitSlice slice = {.pid = 1,
			.tid = tid,
			.begin_ns = k * 100000000,
			.end_ns = k * 100000000 + 80000000,
			.kind = LODE_WAIT_SOCKET,
			.time_ns = milliseconds * 1e6};
		g_array_append_val(profile->waits->slices, slice);
	}
}

/* Of a connection within a program, one end waits for the delay, the other for that and for what
 * the first does then. */
static void test_delayed_at_one_end(void)
{
	for (int is_delayed = 0; is_delayed < 2; is_delayed++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		add_answers(profile, 10, is_delayed ? 41 : 30);
		add_answers(profile, 11, 57);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_test_message("%s", lode_diagnoses_at(all, 0)->remedy);
		g_assert_cmpint(g_str_has_prefix(lode_diagnoses_at(all, 0)->remedy,
					"Send a request in one piece"),
			==, is_delayed);
	}
}

/* Who sleeps inside of the function where others wait for a lock has it, where no look says who
 * has; who sleeps elsewhere does not. */
static void test_inferred_holder(void)
{
	for (int is_inside = 0; is_inside < 2; is_inside++) {
		g_autoptr(LodeProfile) profile = profile_new(0.05, true);
		LodeWait lock = wait_of(profile, LODE_WAIT_LOCK, NULL, "deposit", 10, 0.8);
		LodeWait sleep = wait_of(profile, LODE_WAIT_SLEEP, "8 ms", "audit", 11, 0.9);
		uint32_t outer = made_stack(
			profile, frame(profile, is_inside ? "deposit" : "main", 33), LODE_NONE);
		outer = made_stack(profile, frame(profile, "audit", 6), outer);
		sleep.stack = made_stack(profile, frame(profile, "futex_wait", 0), outer);
		lock.path_ns = 0;
		made_wait(profile, lock, 0.1 * S, 0.8 * S);
		made_wait(profile, sleep, 0.1 * S, 0.9 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		bool has_lock = false;
		for (guint i = 0; i < all->diagnoses->len; i++) {
			const LodeDiagnosis *one = lode_diagnoses_at(all, i);
			if (strcmp(one->title, "lock whose holder sleeps") != 0)
				continue;
			has_lock = true;
			g_assert_cmpstr(one->site.function, ==, "deposit");
			g_assert_true(has_text(
				one, "meanwhile a thread that has it waits at audit (app.c:6)"));
		}
		g_assert_cmpint(has_lock, ==, is_inside == 1);
	}
}

/* What a condition of HotSpot's is made for: locks of java.util.concurrent, and the collector,
 * whose own time is diagnosed. */
static void test_hotspot(void)
{
	static const struct {
		const char *function, *title; /* NULL: no diagnosis */
	} cases[] = {{"java.util.concurrent.locks.ReentrantLock.lock()", "waiting for a lock"},
		{"VMThread::execute(VM_Operation*)", NULL}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.05, true);
		LodeWait row = wait_of(profile, LODE_WAIT_CONDITION, NULL, "order", 10, 0.8);
		uint32_t outer = made_stack(profile, frame(profile, "order", 6), LODE_NONE);
		outer = made_stack(profile, frame(profile, cases[i].function, 0), outer);
		row.stack = made_stack(profile, frame(profile, "futex_wait", 0), outer);
		made_wait(profile, row, 0.8 * S, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, cases[i].title != NULL ? 1 : 0);
		if (cases[i].title != NULL)
			g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==, cases[i].title);
	}
}

/* Divided work is waited for in most parallel programs: no diagnosis, and the order of before. */
static void test_parallel(void)
{
	g_autoptr(LodeProfile) profile = profile_new(2, true);

	made_wait(profile, wait_of(profile, LODE_WAIT_JOIN, NULL, "main", 1, 0.98), 0, 0.98 * S);
	LODE_AT(profile->waits->rows, LodeWait, 0).path_ns = 0;
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 0);
	g_assert_false(all->is_by_clock);
}

/* Files of transactions, which are written with others, take another remedy. */
static void test_journals(void)
{
	static const struct {
		const char *file, *other;
		const char *remedy; /* its beginning */
	} cases[] = {{"/srv/a.db-journal", "/srv/a.db", "One transaction"},
		{"/srv/a.db-wal", "/srv/a.db-wal", "One transaction"},
		{"/srv/a.db", "/srv/journal", "One sync"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.02, true);
		made_wait(profile,
			wait_of(profile, LODE_WAIT_SYNC, cases[i].file, "store", 10, 0.3), 0.3 * S,
			0.3 * S);
		made_wait(profile,
			wait_of(profile, LODE_WAIT_SYNC, cases[i].other, "store", 10, 0.4), 0.4 * S,
			0.4 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_true(g_str_has_prefix(lode_diagnoses_at(all, 0)->remedy, cases[i].remedy));
	}
}

/* The costliest first; idle waits and what is little are no causes. */
static void test_order(void)
{
	static const struct {
		LodeWaitReason reason;
		double seconds;
		const char *cause;
	} cases[] = {{LODE_WAIT_SYNC, 0.3, "wait-sync"}, {LODE_WAIT_SLEEP, 0.2, "wait-sleep"},
		{LODE_WAIT_READ, 0.12, "wait-read"}, {LODE_WAIT_CHILD, 0.09, "wait-child"},
		{LODE_WAIT_PIPE, 0.08, "wait-pipe"}, {LODE_WAIT_SOCKET, 0.07, "wait-socket"},
		{LODE_WAIT_PAGE, 0.06, "wait-page"}, {LODE_WAIT_WRITE, 0.05, "wait-write"}};
	g_autoptr(LodeProfile) profile = profile_new(0.02, true);

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		double all = cases[i].seconds * S;
		g_autofree char *name = g_strdup_printf("f%u", i);
		made_wait(profile,
			wait_of(profile, cases[i].reason, NULL, name, 10, cases[i].seconds), all,
			all);
	}
	LodeWait idle = wait_of(profile, LODE_WAIT_POLL, NULL, "serve", 11, 0.9);
	idle.is_idle = true;
	made_wait(profile, idle, NAN, 0.9 * S);
	made_wait(profile, wait_of(profile, LODE_WAIT_OTHER, NULL, "odd", 12, 0.5), NAN, 0.5 * S);
	made_wait(profile, wait_of(profile, LODE_WAIT_WRITE, NULL, "small", 12, 0.01), 0, 0.01 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, G_N_ELEMENTS(cases));
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpstr(lode_diagnoses_at(all, i)->cause, ==, cases[i].cause);
}

/* Processes that a shell, or make, waits for: many short ones, several in a row, fewer at once than
 * processors; of a few, and of those that keep all processors busy, nothing is said. */
static void test_children(void)
{
	static const struct {
		double processes, lives;
		const char *title; /* NULL: no diagnosis */
	} cases[] = {
		{400, 0.8, "many short processes: sed ×400"},
		{8, 0.8, "processes in a row: sed ×8"},
		{8, 1.6, "too few processes at once: sed ×8"},
		{8, 3.0, NULL},
		{2, 0.8, NULL},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.9, true);
		const LodeWaitProgram programs[] = {
			{(char *)"sed", cases[i].processes, 0.7 * S, cases[i].lives * S, 0.8 * S,
				0.7 * S, 0.7 * S},
			{(char *)"worker", 1, 0.2 * S, S, S, 0.2 * S, 0.2 * S}};
		profile->run.n_processors = 4;
		g_array_append_vals(profile->waits->programs, programs, 2);
		made_wait(profile, wait_of(profile, LODE_WAIT_CHILD, "sed", "each", 1, 0.8),
			0.3 * S, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, cases[i].title != NULL);
		if (cases[i].title == NULL)
			continue;
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, "wait-child");
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==, cases[i].title);
		g_assert_true(has_text(lode_diagnoses_at(all, 0), "on 4 processors"));
	}
}

/* Side by side, processes still take their processor time divided by the processors, and wait for
 * those that other programs have; what need not be started at all is not bound. */
static void test_saves_side_by_side(void)
{
	static const struct {
		double processes, processors, kept_waiting;
		double high; /* of 0.8 s that are waited for them; they run for 0.7 */
	} cases[] = {
		{8, 2, 0, 0.45},
		{8, 7, 0, 0.7},
		{8, 2, 0.6, 0.15},
		{8, 0, 0, 0.8},
		{400, 2, 0, 0.8},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.9, true);
		const LodeWaitProgram programs[] = {{(char *)"sed", cases[i].processes, 0.7 * S,
							    0.8 * S, 0.8 * S, 0.7 * S, 0.7 * S},
			{(char *)"worker", 1, 0.2 * S, S, S, 0.2 * S, 0.2 * S}};
		LodeWait others = wait_of(profile, LODE_WAIT_PROCESSOR, LODE_WAIT_OTHERS, "f", 9,
			cases[i].kept_waiting);
		others.thread_name = (char *)"sed";
		profile->run.n_processors = cases[i].processors;
		g_array_append_vals(profile->waits->programs, programs, 2);
		made_wait(profile, wait_of(profile, LODE_WAIT_CHILD, "sed", "each", 1, 0.8),
			0.3 * S, 0.8 * S);
		made_wait(profile, others, NAN, 0);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, >=, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->cause, ==, "wait-child");
		g_assert_true(fabs(one->clock_high - cases[i].high) < 1e-9);
		g_assert_true(one->clock_low <= one->clock_high);
	}
}

enum {
	SAME,
	OTHER_WORDS,
	OTHER_INPUT,
	NOT_READ,
	OTHER_ENVIRONMENT,
	CUT,
	SLEEPS,
	ASLEEP,
	N_REPEATS
};

/* A parent and twelve processes of 50 ms, in a row, of which the odd ones are as `kind` says. */
static LodeProfile *repeating(guint kind, const char *parent)
{
	LodeProfile *profile = profile_new(0.9, true);
	LodeWaitProcess root = {
		.pid = 1, .parent = LODE_NONE, .name = (char *)parent, .end_ns = (uint64_t)S};

	g_array_append_val(profile->waits->processes, root);
	for (guint i = 0; i < 12; i++) {
		bool is_odd = i % 2 != 0;
		LodeWaitProcess one = {.pid = 10 + i,
			.name = (char *)(kind == SLEEPS && is_odd ? "sleep" : "survey"),
			.command = (char *)(kind == OTHER_WORDS && is_odd ? "survey b"
									  : "survey a"),
			.directory = (char *)"/home/me",
			.input = kind == OTHER_INPUT ? g_strdup_printf("pipe:[%u]", i)
		                                     : (char *)"/dev/null",
			.output = (char *)(kind == NOT_READ ? "/dev/null" : "pipe:[9]"),
			.environment = kind == OTHER_ENVIRONMENT ? i : 7,
			.is_cut = kind == CUT,
			.begin_ns = (uint64_t)(i * 0.07 * S),
			.end_ns = (uint64_t)((i * 0.07 + 0.05) * S)};
		if (kind == OTHER_INPUT) {
			char *input = lode_profile_intern(profile, one.input);
			g_free(one.input);
			one.input = input;
		}
		g_array_append_val(profile->waits->processes, one);
	}
	if (kind == ASLEEP)
		made_wait(profile, wait_of(profile, LODE_WAIT_SLEEP, NULL, "f", 1, 0.3), 0, 0);
	LodeWait waits = wait_of(profile, LODE_WAIT_CHILD, "survey", "each", 1, 0.8);
	waits.thread_name = (char *)parent;
	made_wait(profile, waits, NAN, 0.8 * S);
	return profile;
}

/* The same command again and again, whose output is read. Neighbours: with other words, another
 * input or environment each time, or more words than are known; for its effect; while its parent
 * waits for a change. */
static void test_repeated(void)
{
	for (guint kind = 0; kind < N_REPEATS; kind++) {
		g_autoptr(LodeProfile) profile = repeating(kind, "sh");
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		const LodeDiagnosis *found = NULL;
		for (guint i = 0; i < all->diagnoses->len; i++)
			if (strcmp(lode_diagnoses_at(all, i)->cause, "repeated-command") == 0)
				found = lode_diagnoses_at(all, i);
		g_assert_cmpint(found != NULL, ==, kind == SAME || kind == OTHER_WORDS);
		if (found == NULL)
			continue;
		guint n = 12;
		g_autofree char *title = g_strdup_printf("the same commands again: survey ×%u", n);
		g_assert_cmpstr(found->title, ==, title);
		g_assert_true(g_str_has_prefix(found->remedy, "Run it once and keep its output"));
		g_assert_true(has_text(found,
			kind == SAME ? "sh ran 12 times: survey a" : "sh ran 6 times: survey "));
		g_assert_true(has_text(found, "12 processes of sh in all"));
		/* of two commands, one of each is needed */
		double needed = kind == SAME ? 1 : 2;
		g_assert_cmpfloat(fabs(found->clock_low - 0.05 * (n - needed)), <, 1e-6);
		g_assert_cmpfloat(fabs(found->clock_high - 0.05 * (n - needed)), <, 1e-6);
	}
	g_autoptr(LodeProfile) profile = repeating(SAME, "make");
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, "repeated-command");
	g_assert_true(g_str_has_prefix(lode_diagnoses_at(all, 0)->remedy, "Expand once: :="));
	/* what is left is no cause of its own */
	for (guint i = 1; i < all->diagnoses->len; i++)
		g_assert_cmpfloat(lode_diagnoses_at(all, i)->clock_high, <, 0.26);
}

/* Of some the command is not known, as they were too short: they may be the same. */
static void test_repeated_unseen(void)
{
	g_autoptr(LodeProfile) profile = repeating(SAME, "sh");

	for (guint i = 7; i <= 12; i++)
		LODE_AT(profile->waits->processes, LodeWaitProcess, i).command = NULL;
	/* which ended while it was looked at */
	LODE_AT(profile->waits->processes, LodeWaitProcess, 7).command = (char *)"survey a";
	LODE_AT(profile->waits->processes, LodeWaitProcess, 7).output = NULL;
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->cause, ==, "repeated-command");
	g_assert_true(g_str_has_suffix(one->title, "survey ×12"));
	g_assert_true(has_text(one, "sh ran 12 times: survey a"));
	g_assert_true(has_text(one, "the arguments of 6 of these 12 were seen"));
	g_assert_cmpfloat(fabs(one->clock_low - 0.25), <, 1e-6);
	g_assert_cmpfloat(fabs(one->clock_high - 0.55), <, 1e-6);
}

/* Adds a process of `parent` that lives for 10 ms from `begin` seconds on; returns its number. */
static uint32_t add_process(
	LodeProfile *profile, uint32_t parent, const char *name, const char *command, double begin)
{
	const LodeWaitProcess one = {.pid = 1000 + profile->waits->processes->len,
		.parent = parent,
		.name = (char *)name,
		.command = (char *)command,
		.directory = (char *)"/home/me",
		.input = (char *)"/dev/null",
		.output = (char *)"pipe:[9]",
		.environment = 7,
		.begin_ns = (uint64_t)(begin * S),
		.end_ns = (uint64_t)((begin + 0.01) * S)};

	g_array_append_val(profile->waits->processes, one);
	return profile->waits->processes->len - 1;
}

/* Two commands that one make runs twenty times each, and a recipe that it runs as often, all by sh;
 * of every other one the command is seen. What each starts tells them apart. */
static LodeProfile *remaking(void)
{
	static const char *const commands[] = {"/bin/sh -c 'cat tiles.txt | md5sum'",
		"/bin/sh -c 'find . | wc -l'", "/bin/sh -c 'sed 1d'"};
	static const char *const started[] = {"cat", "find", "sed"};
	LodeProfile *profile = profile_new(0.9, true);
	const LodeWaitProgram programs[] = {
		{(char *)"sh", 60, 0.3 * S, 0.6 * S, 0.6 * S, 0.3 * S, 0.3 * S},
		{(char *)"cat", 20, 0.2 * S, 0.2 * S, 0.2 * S, 0.2 * S, 0.2 * S}};

	profile->run.n_processors = 2;
	g_array_append_vals(profile->waits->programs, programs, 2);
	uint32_t make = add_process(profile, LODE_NONE, "make", NULL, 0);
	for (guint i = 0; i < 60; i++) {
		guint kind = i % 3;
		bool is_seen = i / 3 % 2 == 0 && i / 3 < 12 + 4 * kind;
		double begin = 0.015 * i;
		uint32_t sh = add_process(
			profile, make, "sh", is_seen ? commands[kind] : NULL, begin);
		if (kind == 2)
			LODE_AT(profile->waits->processes, LodeWaitProcess, sh).output =
				(char *)"/home/me/tiles.out";
		add_process(profile, sh, started[kind], NULL, begin);
	}
	const char *names[] = {"sh", "cat"};
	for (guint i = 0; i < 2; i++) {
		LodeWait waits = wait_of(
			profile, LODE_WAIT_CHILD, names[i], "each", 1, i == 0 ? 0.7 : 0.1);
		waits.thread_name = (char *)"make";
		made_wait(profile, waits, NAN, (i == 0 ? 0.7 : 0.1) * S);
	}
	return profile;
}

/* Several commands of one parent are one diagnosis, before that of all its children, which has what
 * is left. */
static void test_repeated_several(void)
{
	g_autoptr(LodeProfile) profile = remaking();
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);

	g_assert_cmpstr(one->title, ==, "the same commands again: sh ×40");
	g_assert_cmpstr(one->name, ==, "repeated-command@make");
	g_assert_true(has_text(one, "make ran 20 times: cat tiles.txt | md5sum"));
	g_assert_true(has_text(one, "make ran 20 times: find . | wc -l"));
	g_assert_true(has_text(one, "the arguments of 14 of these 40 were seen"));
	g_assert_cmpfloat(fabs(one->clock_high - 0.38), <, 1e-6);
	g_assert_cmpuint(all->diagnoses->len, ==, 2);
	g_assert_cmpstr(lode_diagnoses_at(all, 1)->title, ==, "many short processes: sh ×20");
	g_assert_cmpfloat(lode_diagnoses_at(all, 1)->clock_high, <, 0.201);
}

/* A loop of a shell whose output is read: its processes are known by their times alone, and what
 * the reader waits for is what they cost. Neighbours: few of them, and some that compute. */
static void test_started(void)
{
	static const struct {
		guint n;
		double life, running;
		const char *by, *title, *remedy;
	} cases[] = {
		{40, 0.018, 0.002, "/bin/sh ./names.sh", "many short processes: cut ×40",
			"One process for all"},
		{40, 0.018, 0.002, "/usr/bin/python3 names.py", "many short processes: cut ×40",
			"Give one process all items"},
		{12, 0.06, 0.05, "/bin/sh ./names.sh", "waiting for the writer of a pipe: names.sh",
			"Make the writer faster"},
		{20, 0.04, 0.035, "/bin/sh ./names.sh",
			"waiting for the writer of a pipe: names.sh", "Make the writer faster"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.3, true);
		uint32_t shell = add_process(profile, LODE_NONE, "names.sh", cases[i].by, 0);
		for (guint k = 0; k < cases[i].n; k++) {
			double begin = 0.01 + (cases[i].life + 0.001) * k;
			uint32_t number = add_process(profile, shell, "cut", NULL, begin);
			LodeWaitProcess *one = &LODE_AT(
				profile->waits->processes, LodeWaitProcess, number);
			one->end_ns = one->begin_ns + (uint64_t)(cases[i].life * S);
			one->running_ns = cases[i].running * S;
			const LodeWaitStart start = {.process = number,
				.function = (char *)"each",
				.file = (char *)"/home/me/names.sh",
				.line = k % 3 == 0 ? 9 : 7};
			g_array_append_val(profile->waits->starts, start);
		}
		LodeWait waits = wait_of(profile, LODE_WAIT_PIPE, "names.sh", "each", 1, 0.8);
		waits.thread_name = (char *)"sort";
		made_wait(profile, waits, NAN, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->title, ==, cases[i].title);
		g_assert_true(g_str_has_prefix(one->remedy, cases[i].remedy));
		if (i > 1)
			continue;
		g_assert_true(has_text(one, "18 ms each, started by names.sh, 1 at a time"));
		g_assert_cmpfloat(fabs(one->clock_high - 0.72), <, 1e-6);
		/* where most of them are started */
		g_assert_cmpstr(one->site.function, ==, "each");
		g_assert_cmpuint(one->site.line, ==, 7);
	}
}

/* Ruby's first thread sleeps in poll, at an eventfd; a thread that others wake waits there for
 * times that differ. */
static void test_slept_out(void)
{
	static const struct {
		const char *file, *remedy;
		double longest;
	} cases[] = {{"/home/me/wait.rb", "Wait for the event itself", 0.0085},
		{"/home/me/wait.rb", "Send requests", 0.3},
		{"/home/me/app.c", "Send requests", 0.0085}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		LodeWait row = wait_of(profile, LODE_WAIT_POLL, "eventfd", "wait_for", 1, 0.8);
		for (guint k = 0; k < profile->stacks->frames->len; k++)
			if (LODE_AT(profile->stacks->frames, LodeFrame, k).file != NULL)
				LODE_AT(profile->stacks->frames, LodeFrame, k).file =
					lode_profile_intern(profile, cases[i].file);
		row.longest_ns = cases[i].longest * S;
		made_wait(profile, row, NAN, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_true(g_str_has_prefix(lode_diagnoses_at(all, 0)->remedy, cases[i].remedy));
	}
}

/* A parent that waits for another child may be woken by the end of one that sleeps beside it. */
static void test_sleep_beside(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.9, true);
	const char *names[] = {"awk", "sleep"};

	uint32_t parent = add_process(profile, LODE_NONE, "beside.sh", NULL, 0);
	add_process(profile, parent, "sleep", "sleep 0.2", 0);
	for (guint i = 0; i < 2; i++) {
		LodeWait waits = wait_of(
			profile, LODE_WAIT_CHILD, names[i], "each", 1, i == 0 ? 0.7 : 0.2);
		waits.thread_name = (char *)"beside.sh";
		made_wait(profile, waits, 0.05 * S, 0.2 * S);
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	for (guint i = 0; i < all->diagnoses->len; i++)
		g_assert_cmpstr(lode_diagnoses_at(all, i)->cause, !=, "wait-sleep");
}

/* A script that polls by the command sleep: what the processes say themselves is not said of their
 * parent again, nor are the pauses those of what it waits for at the same line. */
static void test_sleep_command(void)
{
	for (guint is_seen = 0; is_seen < 2; is_seen++) {
		g_autoptr(LodeProfile) profile = profile_new(0.1, true);
		const LodeWaitProgram programs[] = {
			{(char *)"awk", 4, 0.04 * S, 0.05 * S, 0.05 * S, 0.04 * S, 0.04 * S}};
		g_array_append_vals(profile->waits->programs, programs, 1);
		uint32_t poll = add_process(profile, LODE_NONE, "poll.sh", NULL, 0);
		for (guint i = 0; i < 4; i++) {
			LodeWait sleeps = wait_of(
				profile, LODE_WAIT_SLEEP, "200 ms", "nap", 10 + i, 0.2);
			sleeps.thread_name = (char *)"sleep";
			sleeps.pid = 10 + i;
			sleeps.count = 1;
			add_process(profile, poll, "sleep", "sleep 0.2", 0.2 * i);
			if (is_seen)
				made_wait(profile, sleeps, NAN, i == 0 ? 0.8 * S : 0);
		}
		const char *names[] = {"sleep", "awk"};
		for (guint i = 0; i < 2; i++) {
			LodeWait waits = wait_of(
				profile, LODE_WAIT_CHILD, names[i], "each", 1, i == 0 ? 0.8 : 0.05);
			waits.thread_name = (char *)"poll.sh";
			waits.path_ns = 0;
			made_wait(profile, waits, 0.75 * S, 0.85 * S);
			/* they are at one line */
			LODE_AT(profile->waits->rows, LodeWait, profile->waits->rows->len - 1)
				.cause = profile->waits->causes->len - 1 - i;
		}
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		for (guint i = 0; i < all->diagnoses->len; i++)
			g_assert_true(strstr(lode_diagnoses_at(all, i)->title, "awk") == NULL ||
				      lode_diagnoses_at(all, i)->clock_high < 0.051);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->title, ==, "pauses: sleep ×4, started by poll.sh");
		g_assert_cmpstr(one->name, ==, "wait-sleep@poll.sh");
		g_assert_true(has_text(one, is_seen ? "by 4 processes" : "by 1 thread"));
		for (guint i = 1; i < all->diagnoses->len; i++)
			g_assert_null(strstr(lode_diagnoses_at(all, i)->title, "sleep"));
	}
}

/* Nor can threads that share the work take less than all their time divided by the processors. */
static void test_serial_part_on_processors(void)
{
	for (guint processors = 0; processors <= 4; processors += 2) {
		g_autoptr(LodeProfile) profile = profile_new(0.9, true);
		profile->run.n_processors = processors;
		made_wait(profile, wait_of(profile, LODE_WAIT_JOIN, NULL, "main", 1, 0.9), 0.2 * S,
			0.9 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		double most = processors > 0 ? 1 - 0.9 / processors : 0.9;
		g_assert_cmpfloat(fabs(lode_diagnoses_at(all, 0)->clock_high - most), <, 1e-9);
	}
}

/* A program that copies itself is not one of its children. */
static void test_copies(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.9, true);
	const LodeWaitProgram program = {
		(char *)"worker", 5, 0.9 * S, 1.8 * S, S, 0.9 * S, 0.9 * S};
	const LodeThreadTime time = {
		.name = (char *)"worker", .pid = 1, .tid = 1, .end_ns = 1000000000};

	g_array_append_val(profile->waits->programs, program);
	g_array_append_val(profile->thread_times, time);
	made_wait(profile, wait_of(profile, LODE_WAIT_CHILD, "worker", "each", 1, 0.8), 0.3 * S,
		0.8 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==, "processes in a row: worker ×4");
}

/* One at an instruction; LODE_NONE: of waiting. */
static void add_diagnosis(LodeDiagnoses *all, const char *cause, uint32_t instruction)
{
	bool waits = instruction == LODE_NONE;
	LodeDiagnosis *one = lode_diagnosis_new(
		cause, waits ? LODE_SCOPE_WAIT : LODE_SCOPE_FUNCTION);
	const LodeFindingPlace place = {instruction, 1};

	one->site.instruction = instruction;
	if (!waits)
		g_array_append_val(one->at, place);
	g_ptr_array_add(all->diagnoses, one);
}

/* A compiler of the system and a program of the user's own, both in the C library, too: what is
 * inside the first is set aside. Of a program alone what has lines is not, as its user built it. */
static void test_foreign(void)
{
	enum { CC1, APP, LIBC, N };
	static const char *const images[N] = {
		"/usr/lib/gcc/cc1", "/home/me/app", "/usr/lib/x86_64-linux-gnu/libc.so.6"};
	static const struct {
		uint32_t thread, at;
		bool is_called; /* by the user's own code */
	} samples[] = {{0, CC1, false}, {0, LIBC, false}, {0, LIBC, false}, {0, LIBC, false},
		{0, LIBC, false}, {1, LIBC, true}, {1, APP, false}};
	const LodeStackThread threads[] = {{(char *)"cc1", 1, 1}, {(char *)"app", 2, 2}};

	for (guint round = 0; round < 3; round++) {
		bool is_lone = round > 0, has_lines = round > 1;
		g_autoptr(LodeProfile)
			profile = made_profile("cpu-clock", LODE_EVENT_SAMPLED, images[CC1]);
		g_autoptr(LodeDiagnoses) all = lode_diagnoses_new();
		const LodeWaitProgram programs[] = {{(char *)"cc1", 9, 0.5 * S, 0, 0, 0, 0},
			{(char *)"app", 1, 0.2 * S, 0, 0, 0, 0}};
		uint32_t functions[N];
		for (guint i = 0; i < N; i++) {
			if (i > 0)
				made_image(profile, images[i]);
			functions[i] = made_small_function(profile, "f", 1);
			add_diagnosis(all, images[i], i);
		}
		add_diagnosis(all, "wait-child", LODE_NONE);
		profile->stacks = lode_stacks_new();
		g_array_append_vals(profile->stacks->threads, threads, 2);
		uint32_t own = made_stack(profile, made_frame(profile, functions[APP]), LODE_NONE);
		g_array_append_val(profile->stacks->instructions, functions[APP]);
		for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
			uint32_t stack = made_stack(profile,
				made_frame(profile, functions[samples[i].at]),
				samples[i].is_called ? own : LODE_NONE);
			while (profile->stacks->instructions->len < profile->stacks->stacks->len)
				g_array_append_val(profile->stacks->instructions, samples[i].at);
			made_sample(profile, stack, 1);
			LODE_AT(profile->stacks->samples, LodeStackSample, i).thread =
				samples[i].thread;
		}
		profile->waits = lode_waits_new();
		profile->waits->clock_ns = S;
		g_array_append_vals(profile->waits->programs, programs, is_lone ? 1 : 2);
		if (has_lines)
			lode_profile_instruction(profile, CC1)->location = lode_profile_location(
				profile, "cc1.c", 1, NULL);
		const LodeDiagnosisContext context = {.profile = profile, .total = 7, .user = 1};
		lode_foreign_diagnoses_set_aside(all, &context);
		g_assert_cmpuint(all->smaller->len, ==, has_lines ? 0 : 2);
		if (has_lines)
			continue;
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, images[APP]);
		g_assert_cmpstr(lode_diagnoses_at(all, 1)->cause, ==, "wait-child");
		g_assert_cmpstr(all->foreigners, ==, "cc1");
		g_assert_true(fabs(all->foreign - 5.0 / 7) < 1e-9);
	}
}

/* Without a path it is known how much of the clock one thread waits there. */
static void test_without_path(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.3, false);

	for (uint32_t i = 0; i < 3; i++)
		made_wait(profile,
			wait_of(profile, LODE_WAIT_SYNC, i == 0 ? "a.log" : "b.log", "commit",
				10 + i, 0.5 + 0.1 * i),
			0, 0);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->title, ==, "syncs to the disk: b.log and 1 more");
	g_assert_true(isnan(one->clock_low));
	g_assert_true(fabs(one->clock_high - 0.7) < 1e-9);
}

static void test_processor(void)
{
	for (guint n = 1; n <= 3; n++) {
		g_autoptr(LodeProfile) profile = profile_new(1, true);
		for (guint i = 1; i < n; i++) {
			LodeWait row = wait_of(
				profile, LODE_WAIT_PROCESSOR, NULL, "draw", 10 + i, 0.95);
			row.path_ns = 0.3 * S;
			row.looks = 0;
			made_wait(profile, row, 0, 0);
		}
		profile->waits->path_running_ns = (1 - 0.3 * (n - 1)) * S;
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, n > 1);
		if (n > 1)
			g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, "wait-processor");
	}
}

static void test_herd(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.2, true);

	for (uint32_t i = 0; i < 4; i++) {
		const LodeThreadTime time = {
			.pid = 1, .tid = 10 + i, .end_ns = 1000000000, .running_ns = 5e6};
		LodeWait row = wait_of(profile, LODE_WAIT_CONDITION, "ready", "take", 10 + i, 0.9);
		row.count = 1000;
		made_wait(profile, row, 0.1 * S, 0.2 * S);
		LODE_AT(profile->waits->rows, LodeWait, i).cause = 0;
		g_array_append_val(profile->thread_times, time);
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, "wait-herd");
}

/* Too short for diagnoses of code is not too short for those of waiting. */
static void test_few_samples(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.02, true);

	profile->run.n_samples = 20;
	made_wait(profile, wait_of(profile, LODE_WAIT_SLEEP, NULL, "await", 1, 0.95), 0.9 * S,
		0.95 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_true(all->is_too_short);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->name, ==, "wait-sleep@await");
}

/* A sleep under a lock is the lock's matter, if others wait for it for as long. */
static void test_lock_in_sleep(void)
{
	for (uint32_t others = 0; others < 4; others += 3) {
		g_autoptr(LodeProfile) profile = profile_new(0.02, true);
		made_wait(profile, wait_of(profile, LODE_WAIT_SLEEP, "5 ms", "travel", 1, 0.9),
			0.5 * S, 0.9 * S);
		for (uint32_t i = 0; i < others; i++) {
			LodeWait row = wait_of(
				profile, LODE_WAIT_LOCK, "lift_lock", "serve", 10 + i, 0.7);
			row.path_ns = 0;
			row.holder_stack = stack_of(profile, "travel", 31);
			row.holder_share = 0.9;
			row.holder_call = "clock_nanosleep";
			made_wait(profile, row, 0.3 * S, 0.6 * S);
			LODE_AT(profile->waits->rows, LodeWait, i + 1).cause = 1;
		}
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==,
			others > 0 ? "lock whose holder sleeps: lift_lock"
				   : "sleeping for a fixed time: 5 ms");
	}
}

/* A sleep that stands for work: of a pool, of many lengths, or with one wait beside many sleeps; a
 * thread that is woken as often may as well be what the sleep looks at. */
static void test_sleep_for_work(void)
{
	static const struct {
		const char *thread;
		uint32_t lengths;
		double waits;       /* of another thread */
		const char *title;  /* its beginning */
		const char *beside; /* another thread; NULL: none */
	} cases[] = {
		{"worker", 1, 0, "sleeping for", NULL},
		{"pool-1-thread-1", 1, 0, "tasks that wait, in a pool of one thread", NULL},
		{"pool-1-thread-1", 1, 0, "tasks that wait, in a pool of one", "pool-2-thread-1"},
		{"pool-1-thread-1", 1, 0, "sleeping while others wait", "pool-1-thread-2"},
		{"worker", 5, 0, "sleeping for", NULL},
		{"worker", 6, 0, "sleeping while others wait", NULL},
		{"worker", 1, 100, "sleeping for", NULL},
		{"worker", 1, 1, "sleeping while others wait", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_new(0.02, true);
		double seconds = 0.9 / cases[i].lengths;
		for (uint32_t k = 0; k < cases[i].lengths; k++) {
			g_autofree char *length = g_strdup_printf("%u ms", k + 1);
			LodeWait row = wait_of(profile, LODE_WAIT_SLEEP,
				lode_profile_intern(profile, length), "await", 2, seconds);
			row.thread_name = (char *)cases[i].thread;
			made_wait(profile, row, 0.9 * S, 0.95 * S);
		}
		LodeWait other = wait_of(profile, LODE_WAIT_CONDITION, "done", "collect", 1, 0.85);
		other.path_ns = 0;
		other.count = cases[i].waits;
		if (cases[i].waits > 0)
			made_wait(profile, other, 0, 0);
		LodeWait idle = wait_of(profile, LODE_WAIT_CONDITION, "queue", "take", 3, 0.9);
		idle.thread_name = (char *)cases[i].beside;
		idle.is_idle = true;
		if (cases[i].beside != NULL)
			made_wait(profile, idle, 0, 0);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_assert_cmpuint(all->diagnoses->len, >=, 1);
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->cause, ==, "wait-sleep");
		if (!g_str_has_prefix(one->title, cases[i].title))
			g_error("case %zu: %s", i, one->title);
	}
}

/* What has most of the time is known by four looks, and so are waits of one length; what has less
 * is not. */
static void test_few_looks(void)
{
	for (int looks = 3; looks <= 4; looks++)
		for (int tenths = 3; tenths <= 6; tenths += 3) {
			g_autoptr(LodeProfile) alike = profile_new(0.3, true);
			LodeWait same = wait_of(
				alike, LODE_WAIT_SYNC, NULL, "post", 1, tenths / 10.0);
			same.looks = looks;
			same.longest_ns = 1.5 * same.waiting_ns / same.count;
			made_wait(alike, same, same.waiting_ns, same.waiting_ns);
			g_autoptr(LodeDiagnoses) known = diagnose(alike);
			g_assert_cmpuint(known->diagnoses->len, ==, looks == 4);
			g_autoptr(LodeProfile) profile = profile_new(0.3, true);
			double seconds = tenths / 10.0;
			LodeWait row = wait_of(profile, LODE_WAIT_SYNC, NULL, "post", 1, seconds);
			row.looks = looks;
			made_wait(profile, row, seconds * S, seconds * S);
			g_autoptr(LodeDiagnoses) all = diagnose(profile);
			g_assert_cmpuint(all->diagnoses->len, ==, looks == 4 && tenths == 6);
		}
}

/* Whatever a file says, figures stay shares. */
static void test_odd_figures(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0, true);
	LodeWait row = wait_of(profile, LODE_WAIT_SLEEP, NULL, "await", 1, 50);

	row.stack = row.holder_stack = 4711;
	row.holder_share = 3;
	row.looks = 0;
	row.count = 0;
	made_wait(profile, row, 9 * S, 2 * S);
	LODE_AT(profile->waits->rows, LodeWait, 0).cause = 0;
	made_wait(profile, row, 0, 0);
	LODE_AT(profile->waits->rows, LodeWait, 1).cause = 77;
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	for (guint i = 0; i < all->diagnoses->len; i++) {
		const LodeDiagnosis *one = lode_diagnoses_at(all, i);
		g_assert_true(one->clock_high >= 0 && one->clock_high <= 1);
		g_assert_true(one->clock_low >= 0 && one->clock_low <= one->clock_high);
	}
	profile->waits->clock_ns = 0;
	g_autoptr(LodeDiagnoses) none = diagnose(profile);
	g_assert_cmpuint(none->diagnoses->len, ==, 0);
}

/* A recorded program of the system alone, named as its file is, whose samples are in its own code.
 */
static LodeProfile *foreign_new(const char *path)
{
	LodeProfile *profile = profile_new(0.1, true);
	const char *name = strrchr(path, '/') + 1;
	const LodeStackThread thread = {lode_profile_intern(profile, name), 1, 1};
	const LodeThreadTime time = {
		.name = lode_profile_intern(profile, name), .pid = 1, .tid = 1};
	LodeFrame code = frame(profile, "fn_12f0", 0);

	code.image = lode_profile_intern(profile, path);
	g_array_append_val(profile->stacks->threads, thread);
	g_array_append_val(profile->thread_times, time);
	made_sample(profile, made_stack(profile, code, LODE_NONE), 0.1 * S);
	LODE_AT(profile->stacks->samples, LodeStackSample, 0).thread = 0;
	LODE_AT(profile->code.events, LodeEvent, profile->code.weight_event).total = 0.1 * S;
	return profile;
}

static LodeWait wait_of_foreign(
	LodeProfile *profile, LodeWaitReason reason, const char *object, uint32_t tid)
{
	LodeWait row = wait_of(profile, reason, object, "post", tid, 0.8);

	row.thread_name = (char *)"thread";
	row.stack = made_stack(profile, frame(profile, "poll", 0), LODE_NONE);
	return row;
}

/* Who calls a program of the system can change its options, and not its code. */
static void test_of_system(void)
{
	static const struct {
		const char *program;
		LodeWaitReason reason;
		const char *object;
		const char *remedy; /* its beginning; NULL: no diagnosis */
	} cases[] = {{"/usr/bin/fetch", LODE_WAIT_SLEEP, "1 s", "Look for an option"},
		{"/usr/bin/fetch", LODE_WAIT_SOCKET, "tcp 10.0.0.1:80", "Several side by side"},
		{"/usr/bin/fetch", LODE_WAIT_POLL, NULL, "Several side by side"},
		{"/usr/bin/fetch", LODE_WAIT_SYNC, "/srv/note", "A setting that waits less"},
		{"/usr/bin/fetch", LODE_WAIT_SYNC, "/srv/a.db-journal", "One transaction"},
		{"/usr/bin/fetch", LODE_WAIT_POLL, "unix", NULL},
		{"/usr/bin/fetch", LODE_WAIT_LOCK, "a lock", NULL},
		{"/home/me/fetch", LODE_WAIT_SLEEP, "1 s", "Wait for the event"},
		{"/home/me/fetch", LODE_WAIT_SOCKET, "tcp 10.0.0.1:80", "Send requests"},
		{"/home/me/fetch", LODE_WAIT_POLL, "unix", "Send requests"},
		{"/home/me/fetch", LODE_WAIT_SYNC, "/srv/note", "One sync"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = foreign_new(cases[i].program);
		made_wait(profile, wait_of_foreign(profile, cases[i].reason, cases[i].object, 2),
			0.7 * S, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_test_message("case %u", i);
		g_assert_cmpuint(all->diagnoses->len, ==, cases[i].remedy != NULL);
		if (cases[i].remedy != NULL)
			g_assert_true(g_str_has_prefix(
				lode_diagnoses_at(all, 0)->remedy, cases[i].remedy));
	}
}

/* That it starts itself again is not its caller's doing, unless it executes what that wrote. */
static void test_parts_of_system(void)
{
	static const char *const paths[] = {
		"/usr/bin/git", "/usr/bin/bash", "/usr/bin/perl", "/home/me/git"};

	for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autoptr(LodeProfile) profile = foreign_new(paths[i]);
		const char *name = strrchr(paths[i], '/') + 1;
		const LodeWaitProgram program = {
			(char *)name, 7, 0.6 * S, 0.8 * S, 0.7 * S, 0.1 * S, 0.1 * S};
		g_array_append_val(profile->waits->programs, program);
		profile->run.n_processors = 2;
		LodeWait row = wait_of_foreign(profile, LODE_WAIT_CHILD, name, 1);
		row.thread_name = (char *)name;
		made_wait(profile, row, NAN, 0.8 * S);
		g_autoptr(LodeDiagnoses) all = diagnose(profile);
		g_test_message("%s", name);
		g_assert_cmpuint(all->diagnoses->len, ==, i > 0);
		if (i > 0)
			g_assert_cmpstr(lode_diagnoses_at(all, 0)->cause, ==, "wait-child");
	}
}

/* "tar | head | xz": who writes to head waits for xz, as head does. */
static void test_end_of_pipes(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.6, true);
	const char *const names[] = {"tar", "head", "xz"};

	profile->run.n_processors = 2;
	for (uint32_t i = 0; i < 2; i++) {
		LodeWait row = wait_of(
			profile, LODE_WAIT_PIPE, names[i + 1], "post", 10 + i, i == 0 ? 0.9 : 0.8);
		row.call = (char *)"write";
		row.thread_name = (char *)names[i];
		row.path_ns = 0;
		made_wait(profile, row, NAN, 0);
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->title, ==, "waiting for the reader of a pipe: xz and 1 more");
	/* 0.6 s of processor time take 0.3 s on two processors */
	g_assert_true(fabs(one->clock_high - 0.7) < 1e-9);
	g_assert_true(has_text(one, "200 waits of 8.5 ms on average"));
	g_assert_true(has_text(one, "one call may wait several times"));
}

/* awk's system("sleep 0.1"): a pause, not a process in a row nor a command whose output to keep. */
static void test_sleep_of_shells(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.1, true);
	const LodeWaitProgram programs[] = {
		{(char *)"sh", 8, 0.02 * S, 0.8 * S, 0.8 * S, 0.02 * S, 0.02 * S},
		{(char *)"sleep", 8, 0.02 * S, 0.78 * S, 0.78 * S, 0.02 * S, 0.02 * S}};

	profile->run.n_processors = 2;
	g_array_append_vals(profile->waits->programs, programs, 2);
	uint32_t awk = add_process(profile, LODE_NONE, "awk", "awk -f loop.awk", 0);
	for (guint i = 0; i < 8; i++) {
		uint32_t sh = add_process(profile, awk, "sh", "sh -c 'sleep 0.1'", 0.1 * i);
		add_process(profile, sh, "sleep", "sleep 0.1", 0.1 * i);
		LodeWait row = wait_of(profile, LODE_WAIT_SLEEP, "0.1 s", "nap", 20 + i, 0.097);
		row.stack = LODE_NONE;
		row.thread_name = (char *)"sleep";
		row.pid = 20 + i;
		row.count = 1;
		made_wait(profile, row, 0.09 * S, 0.097 * S);
	}
	LodeWait waits = wait_of(profile, LODE_WAIT_CHILD, "sh", "each", 1000, 0.8);
	waits.pid = 1000;
	waits.thread_name = (char *)"awk";
	waits.path_ns = 0;
	made_wait(profile, waits, 0.75 * S, 0.8 * S);
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	g_assert_cmpstr(lode_diagnoses_at(all, 0)->title, ==, "pauses: sleep ×8, started by awk");
}

/* Only the thread that has the lock runs Python code: processes help, and more threads do not. */
static void test_global_lock(void)
{
	g_autoptr(LodeProfile) profile = profile_new(1, true);
	LodeWait join = wait_of(profile, LODE_WAIT_CONDITION, "a Python lock", "main", 1, 0.95);

	join.path_ns = 0;
	made_wait(profile, join, 0.1 * S, 0.95 * S);
	for (uint32_t i = 0; i < 2; i++) {
		LodeWait row = wait_of(
			profile, LODE_WAIT_LOCK, LODE_WAIT_GIL, "crunch", 10 + i, 0.45);
		row.path_ns = 0;
		made_wait(profile, row, 0.3 * S, 0.5 * S);
		LODE_AT(profile->waits->rows, LodeWait, i + 1).cause = 1;
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
	g_assert_cmpstr(one->name, ==, "wait-lock@" LODE_WAIT_GIL);
	g_assert_true(g_str_has_prefix(one->remedy, "Processes"));
}

/* Threads of a service that each serve one request: all of them, as many as there are at once. */
static void test_short_threads(void)
{
	g_autoptr(LodeProfile) profile = profile_new(0.1, false);

	for (uint32_t i = 0; i < 20; i++) {
		const LodeThreadTime time = {.name = (char *)"worker",
			.pid = 1,
			.tid = 10 + i,
			.begin_ns = (uint64_t)(0.05 * S) * (i / 2 * 2),
			.end_ns = (uint64_t)(0.05 * S) * (i / 2 * 2 + 2)};
		LodeWait row = wait_of(profile, LODE_WAIT_SYNC, "/srv/db", "store", 10 + i, 0.05);
		g_array_append_val(profile->thread_times, time);
		row.count = 10;
		made_wait(profile, row, NAN, 0);
	}
	g_autoptr(LodeDiagnoses) all = diagnose(profile);
	g_assert_cmpuint(all->diagnoses->len, ==, 1);
	g_assert_true(fabs(lode_diagnoses_at(all, 0)->clock_high - 0.5) < 1e-6);
}

static LodeDiagnosis *added(LodeDiagnoses *all, const char *cause, LodeScopeKind scope,
	const char *function, double saves)
{
	LodeDiagnosis *one = lode_diagnosis_new(cause, scope);

	one->site.function = g_strdup(function);
	one->remedy = g_strdup("Do less of it: the rest");
	one->time = scope == LODE_SCOPE_WAIT ? 0 : saves;
	one->clock_high = saves;
	g_ptr_array_add(all->diagnoses, one);
	return one;
}

/* One lock is told once; what is of the same time is said to be. */
static void test_joined(void)
{
	g_autoptr(LodeDiagnoses) all = lode_diagnoses_new();

	all->is_by_clock = true;
	added(all, "wait-lock", LODE_SCOPE_WAIT, "post", 0.6);
	added(all, "division", LODE_SCOPE_LOOP, "post", 0.5);
	added(all, "service-lock", LODE_SCOPE_SERVICE, "post", 0.3);
	added(all, "atomic", LODE_SCOPE_LOOP, "seal", 0.2);
	added(all, "wait-lock", LODE_SCOPE_WAIT, "seal", 0.1);
	added(all, "service-lock", LODE_SCOPE_SERVICE, NULL, 0.05);
	lode_wait_diagnoses_join(all);
	lode_wait_diagnoses_tell_overlaps(all);
	print_all(all);
	g_assert_cmpuint(all->diagnoses->len, ==, 4);
	const LodeDiagnosis *post = lode_diagnoses_at(all, 0), *seal = lode_diagnoses_at(all, 2);
	g_assert_true(has_text(post, "the instructions that take it have 30 % of the processor"));
	g_assert_cmpfloat(post->time, ==, 0.3);
	g_assert_cmpstr(seal->cause, ==, "atomic");
	g_assert_true(
		has_text(seal, "threads also wait for it, up to 10 % of the time by the clock"));
	g_assert_true(has_text(lode_diagnoses_at(all, 1), "which is 110 %"));
	g_assert_false(has_text(post, "their sum"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/wait_diagnoses/lock", test_lock);
	g_test_add_func("/wait_diagnoses/lock_in_request", test_lock_in_request);
	g_test_add_func("/wait_diagnoses/lock_on_processors", test_lock_on_processors);
	g_test_add_func("/wait_diagnoses/waits_without_cause", test_waits_without_cause);
	g_test_add_func("/wait_diagnoses/lock_of_pool", test_lock_of_pool);
	g_test_add_func("/wait_diagnoses/sync_that_runs", test_sync_that_runs);
	g_test_add_func("/wait_diagnoses/lock_in_call", test_lock_in_call);
	g_test_add_func("/wait_diagnoses/lock_in_sleep", test_lock_in_sleep);
	g_test_add_func("/wait_diagnoses/sleep_for_work", test_sleep_for_work);
	g_test_add_func("/wait_diagnoses/few_looks", test_few_looks);
	g_test_add_func("/wait_diagnoses/serial", test_serial);
	g_test_add_func("/wait_diagnoses/held-in-waits", test_held_in_waits);
	g_test_add_func("/wait_diagnoses/for-unseen", test_for_unseen);
	g_test_add_func("/wait_diagnoses/event-loop", test_event_loop);
	g_test_add_func("/wait_diagnoses/delayed-answers", test_delayed_answers);
	g_test_add_func("/wait_diagnoses/delayed-at-one-end", test_delayed_at_one_end);
	g_test_add_func("/wait_diagnoses/inferred-holder", test_inferred_holder);
	g_test_add_func("/wait_diagnoses/hotspot", test_hotspot);
	g_test_add_func("/wait_diagnoses/without-place", test_without_place);
	g_test_add_func("/wait_diagnoses/parallel", test_parallel);
	g_test_add_func("/wait_diagnoses/order", test_order);
	g_test_add_func("/wait_diagnoses/journals", test_journals);
	g_test_add_func("/wait_diagnoses/children", test_children);
	g_test_add_func("/wait_diagnoses/side_by_side", test_saves_side_by_side);
	g_test_add_func("/wait_diagnoses/repeated", test_repeated);
	g_test_add_func("/wait_diagnoses/repeated_unseen", test_repeated_unseen);
	g_test_add_func("/wait_diagnoses/repeated_several", test_repeated_several);
	g_test_add_func("/wait_diagnoses/sleep_command", test_sleep_command);
	g_test_add_func("/wait_diagnoses/started", test_started);
	g_test_add_func("/wait_diagnoses/slept_out", test_slept_out);
	g_test_add_func("/wait_diagnoses/sleep_beside", test_sleep_beside);
	g_test_add_func("/wait_diagnoses/serial_part", test_serial_part_on_processors);
	g_test_add_func("/wait_diagnoses/copies", test_copies);
	g_test_add_func("/wait_diagnoses/foreign", test_foreign);
	g_test_add_func("/wait_diagnoses/without_path", test_without_path);
	g_test_add_func("/wait_diagnoses/processor", test_processor);
	g_test_add_func("/wait_diagnoses/herd", test_herd);
	g_test_add_func("/wait_diagnoses/few_samples", test_few_samples);
	g_test_add_func("/wait_diagnoses/odd_figures", test_odd_figures);
	g_test_add_func("/wait_diagnoses/of_system", test_of_system);
	g_test_add_func("/wait_diagnoses/parts_of_system", test_parts_of_system);
	g_test_add_func("/wait_diagnoses/end_of_pipes", test_end_of_pipes);
	g_test_add_func("/wait_diagnoses/sleep_of_shells", test_sleep_of_shells);
	g_test_add_func("/wait_diagnoses/global_lock", test_global_lock);
	g_test_add_func("/wait_diagnoses/short_threads", test_short_threads);
	g_test_add_func("/wait_diagnoses/joined", test_joined);
	return g_test_run();
}
