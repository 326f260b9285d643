/* SPDX-License-Identifier: MIT */
/* A recording of samples and windows in a real program: what its profile knows of both. */
#include "../sources/windows/window_log_writer.h"
#include "images/instructions/instruction_decoder.h"
#include "ingest/import.h"
#include "model/observed/windows.h"
#include "model/run/unresolved.h"
#include "profile_sums.h"
#include "sample_file.h"
#include "sampled_program.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <zstd.h>

enum { PID = 7, OTHER = 8, THREAD = 9, FEATURE_WINDOWS = 253, N_WINDOWS = 40, N_ROUNDS = 60 };

static const uint64_t BEGIN_NS = 1000000, WINDOW_NS = 100000, DISTANCE_NS = 1000000;
static const uint64_t OWN = UINT64_C(0x7f0000000000);

/* Section 253: a log, and one that was left out. */
static void put_log(SampleFile *file, WindowLogWriter *log)
{
	PerfDataWriter *out = perf_data_file_feature(&file->file, FEATURE_WINDOWS);
	g_autoptr(GBytes) bytes = window_log_finish(log);
	gsize size;
	const void *data = g_bytes_get_data(bytes, &size);
	g_autofree guint8 *frame = g_malloc(ZSTD_compressBound(size));
	size_t packed = ZSTD_compress(frame, ZSTD_compressBound(size), data, size, 1);

	put32(out, 1);
	put32(out, 2);
	put64(out, packed);
	put64(out, size);
	g_byte_array_append(out->bytes, frame, (guint)packed);
	while (out->bytes->len % 8 != 0)
		put8(out, 0);
	put64(out, 0);
	put64(out, UINT64_C(1) << 31);
}

/* The ends of the first conditional branch of a function that jumps back, in the image. */
typedef struct {
	uint64_t source, target;
	uint8_t length;
} Branch;

static Branch find_loop(const SampledProgram *program, const char *function)
{
	const LodeBinaryFunction *found = sampled_program_function(program, function);
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;

	lode_instruction_decoder_init(&decoder);
	for (uint64_t at = found->address; at < found->address + found->size;
		at += decoded.length) {
		size_t size;
		const uint8_t *code = lode_binary_image_bytes(program->image, at, &size);
		g_assert_true(lode_instruction_decoder_decode(&decoder, code, size, at, &decoded));
		if (decoded.branch == LODE_BRANCH_CONDITIONAL && decoded.target < at)
			return (Branch){at, decoded.target, decoded.length};
	}
	g_error("no loop in '%s'", function);
}

/* Each window goes from the branch back three times of four, and else on. */
static void add_windows(WindowLogWriter *log, const SampledProgram *program, Branch branch)
{
	for (unsigned i = 0; i < N_WINDOWS; i++) {
		uint64_t begin_ns = BEGIN_NS + i * DISTANCE_NS;
		const LodeWindowHead head = {.tid = i % 2 == 0 ? PID : THREAD,
			.begin_ns = begin_ns,
			.end_ns = begin_ns + WINDOW_NS};
		window_log_begin(log, &head);
		for (unsigned k = 0; k < N_ROUNDS; k++) {
			uint64_t to = k % 8 == 7 ? branch.source + branch.length : branch.target;
			const LodeWindowStep steps[] = {{.address = branch.source + program->bias},
				{.address = to + program->bias}};
			window_log_add(log, &steps[0]);
			window_log_add(log, &steps[1]);
		}
		window_log_end(log);
	}
}

typedef struct {
	SampledProgram program;
	Branch branch;
	SampleFile file;
	WindowLogWriter log;
	unsigned n_kept, n_dropped;
} Fixture;

static void add_sample(Fixture *self, const Sample *given, bool is_kept)
{
	Sample sample = *given;

	sample.period = 100;
	sample_file_add(&self->file, &sample);
	*(is_kept ? &self->n_kept : &self->n_dropped) += 1;
}

enum { N_IN_LIBRARY = 2 };

static void add_samples(Fixture *self)
{
	const uint64_t ip = self->branch.source + self->program.bias;
	Sample sample = {.mode = PERF_RECORD_MISC_USER, .pid = PID, .ip = ip};

	for (unsigned i = 0; i < N_WINDOWS; i++) {
		uint64_t begin_ns = BEGIN_NS + i * DISTANCE_NS;
		bool is_first = i % 2 == 0;
		const struct {
			uint64_t time_ns;
			bool is_in;
		} moments[] = {{begin_ns - 1, false}, {begin_ns, true},
			{begin_ns + WINDOW_NS + 49999, true},
			{begin_ns + WINDOW_NS + 50000, false}};
		for (size_t k = 0; k < G_N_ELEMENTS(moments); k++) {
			sample.time_ns = moments[k].time_ns;
			sample.tid = PID,
			add_sample(self, &sample, !(moments[k].is_in && is_first));
			sample.tid = THREAD;
			add_sample(self, &sample, !(moments[k].is_in && !is_first));
		}
	}
	/* between windows */
	sample.tid = PID;
	sample.time_ns = BEGIN_NS + DISTANCE_NS / 2;
	sample.mode = PERF_RECORD_MISC_KERNEL;
	add_sample(self, &sample, true);
	sample.time_ns = BEGIN_NS + WINDOW_NS / 2;
	add_sample(self, &sample, false);
	sample.time_ns = BEGIN_NS + DISTANCE_NS / 2;
	sample.mode = PERF_RECORD_MISC_USER;
	sample.ip = OWN + 16;
	for (unsigned i = 0; i < N_IN_LIBRARY; i++)
		add_sample(self, &sample, false);
}

static void set_up(Fixture *self, const void *data)
{
	LodePerfMapping own = {.size = 0x1000, .start = OWN, .path = "/none/liblode-windows.so"};

	(void)data;
	sampled_program_open(&self->program, PROGRAM_BRANCHES);
	self->branch = find_loop(&self->program, "wander");
	sample_file_init(&self->file);
	sample_file_add_event(&self->file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000);
	self->file.file.attributes[0].flags |= 1 << 25; /* use_clockid */
	sample_file_exec(&self->file, PID, 1);
	sample_file_map(&self->file, PID, 2, &self->program.mapping);
	sample_file_map(&self->file, PID, 3, &own);
	sample_file_clone(&self->file, PID, THREAD, 4);
	self->n_kept = self->n_dropped = 0;
	add_samples(self);
	window_log_init(&self->log, PID);
	self->log.header.begin_ns = 5;
	self->log.header.obstacle = LODE_WINDOW_OBSTACLE_HANDLER;
	self->log.header.user_ns = 1500000000;
	add_windows(&self->log, &self->program, self->branch);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	window_log_clear(&self->log);
	sample_file_clear(&self->file);
	sampled_program_close(&self->program);
}

static LodeProfile *import(Fixture *self, const LodeImportOptions *given)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
	const char *const paths[] = {path};
	LodeImportOptions options = *given;
	g_autoptr(GError) error = NULL;

	put_log(&self->file, &self->log);
	sample_file_write(&self->file, path);
	options.paths = paths;
	options.n_paths = 1;
	LodeProfile *profile = lode_import(&options, NULL, &error);
	g_assert_no_error(error);
	g_unlink(path);
	g_rmdir(directory);
	check_weight_is_whole(profile);
	return profile;
}

static void test_edges(Fixture *self, const void *data)
{
	const LodeImportOptions options = {.threads = 1};
	g_autoptr(LodeProfile) profile = import(self, &options);
	const Branch *branch = &self->branch;
	uint32_t source = find_instruction(profile, "wander", branch->source);
	uint32_t target = find_instruction(profile, "wander", branch->target);
	uint32_t next = find_instruction(profile, "wander", branch->source + branch->length);
	const LodeWindows *windows = profile->windows;

	(void)data;
	g_assert_nonnull(windows);
	g_assert_cmpuint(windows->n_windows, ==, N_WINDOWS);
	g_assert_cmpuint(windows->n_steps, ==, 2 * N_WINDOWS * N_ROUNDS);
	g_assert_cmpuint(windows->n_unresolved, ==, 0);
	g_assert_cmpfloat(windows->user_seconds, ==, 1.5);
	/* The first two rounds are left out; one of eight falls through. */
	const unsigned n_on = N_ROUNDS / 8, n_back = N_ROUNDS - LODE_WINDOW_WARM_UP / 2 - n_on;
	const LodeObservedEdge *back = lode_windows_find_edge(windows, source, target);
	const LodeObservedEdge *on = lode_windows_find_edge(windows, source, next);
	g_assert_nonnull(back);
	g_assert_nonnull(on);
	g_assert_cmpuint(back->steps, ==, N_WINDOWS * n_back);
	g_assert_cmpuint(back->windows, ==, N_WINDOWS);
	g_assert_cmpuint(on->steps, ==, N_WINDOWS * n_on);
	g_assert_cmpuint(windows->edges->len, ==, 4);
	g_assert_cmpuint(lode_windows_find(windows, source)->steps, ==, N_WINDOWS * N_ROUNDS);
	g_assert_cmpuint(windows->processes->len, ==, 1);
	const LodeSteppedProcess *process = &LODE_AT(windows->processes, LodeSteppedProcess, 0);
	g_assert_cmpuint(process->pid, ==, PID);
	g_assert_cmpstr(process->name, ==, "program");
	g_assert_cmpstr(
		process->obstacle, ==, lode_window_obstacle_text(LODE_WINDOW_OBSTACLE_HANDLER));
	g_assert_cmpuint(process->n_steps, ==, windows->n_steps);
	const LodeUnresolved *left_out = find_unresolved(
		profile, "log of windows that the recording had no room for");
	g_assert_nonnull(left_out);
	g_assert_cmpfloat(left_out->samples, ==, 1);
}

/* Samples of the thread that was stepped, and of the library. */
static void test_dropped(Fixture *self, const void *data)
{
	const LodeImportOptions options = {.threads = 1};
	g_autoptr(LodeProfile) profile = import(self, &options);
	const LodeWindows *windows = profile->windows;

	(void)data;
	g_assert_cmpuint(self->n_dropped, ==, 2 * N_WINDOWS + 3);
	g_assert_cmpuint(windows->n_dropped, ==, self->n_dropped - N_IN_LIBRARY);
	g_assert_cmpfloat(windows->dropped_weight, ==, 100 * windows->n_dropped);
	const LodeUnresolved *in_library = find_unresolved(
		profile, "samples of lode's own libraries in the program: left out of all shares");
	g_assert_nonnull(in_library);
	g_assert_cmpfloat(in_library->samples, ==, N_IN_LIBRARY);
	g_assert_cmpfloat(profile->run.n_samples, ==, self->n_kept);
	g_assert_cmpfloat(lode_profile_event(profile, profile->code.weight_event)->total, ==,
		100 * self->n_kept);
}

static void test_other_time(Fixture *self, const void *data)
{
	const LodeImportOptions options = {
		.threads = 1, .begin_ns = 1, .end_ns = BEGIN_NS + 9 * DISTANCE_NS + 1};
	g_autoptr(LodeProfile) profile = import(self, &options);

	(void)data;
	g_assert_cmpuint(profile->windows->n_windows, ==, 10);
	g_assert_cmpuint(profile->windows->n_steps, ==, 10 * 2 * N_ROUNDS);
}

/* Times of another clock say nothing of the samples. */
static void test_other_clock(Fixture *self, const void *data)
{
	const LodeImportOptions options = {.threads = 1};

	(void)data;
	self->file.file.attributes[0].flags &= ~(UINT64_C(1) << 25);
	g_autoptr(LodeProfile) profile = import(self, &options);
	g_assert_null(profile->windows);
	g_assert_nonnull(
		find_unresolved(profile, "log of windows in a recording of another clock"));
	g_assert_cmpfloat(profile->run.n_samples, ==, self->n_kept + self->n_dropped - 2);
}

static void test_none(Fixture *self, const void *data)
{
	const LodeImportOptions options = {.threads = 1};

	(void)data;
	self->log.header.pid = OTHER;
	g_autoptr(LodeProfile) profile = import(self, &options);
	g_assert_null(profile->windows);
	g_assert_nonnull(find_unresolved(
		profile, "log of windows of a process that is not in the recording"));
}

static double taken_count(const LodeProfile *profile, uint32_t source, uint32_t target)
{
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->source == source && edge->target == target)
			return edge->count;
	}
	return 0;
}

/* The branch goes back about as often as in the windows; samples are of the branch alone, and say
 * nothing of it. A function that was stepped through and not sampled has executions, too. */
static void test_executions(Fixture *self, const void *data)
{
	const LodeImportOptions options = {.threads = 1};
	const LodeBinaryFunction *other = sampled_program_function(&self->program, "descend");
	const LodeWindowHead head = {.tid = PID,
		.begin_ns = BEGIN_NS + N_WINDOWS * DISTANCE_NS,
		.end_ns = BEGIN_NS + N_WINDOWS * DISTANCE_NS + 1};
	LodeWindowStep step = {.address = self->branch.source + self->program.bias};

	(void)data;
	window_log_begin(&self->log, &head);
	for (unsigned i = 0; i < LODE_WINDOW_WARM_UP; i++)
		window_log_add(&self->log, &step);
	step.address = other->address + self->program.bias;
	window_log_add(&self->log, &step);
	step.address = self->branch.source + self->program.bias;
	window_log_add(&self->log, &step);
	window_log_end(&self->log);
	g_autoptr(LodeProfile) profile = import(self, &options);
	uint32_t source = find_instruction(profile, "wander", self->branch.source);
	uint32_t target = find_instruction(profile, "wander", self->branch.target);
	const unsigned n_on = N_ROUNDS / 8, n = N_ROUNDS - LODE_WINDOW_WARM_UP / 2;
	double share = taken_count(profile, source, target) /
	               lode_profile_instruction(profile, source)->count;

	/* Nothing but the branch was stepped, so that a part of the inferred flow remains. */
	g_assert_cmpfloat(fabs(share - (n - n_on) / (double)n), <, 0.1);
	uint32_t first = find_instruction(profile, "descend", other->address);
	g_assert_cmpfloat(lode_profile_instruction(profile, first)->count, >, 0);
	g_assert_cmpuint(profile->windows->n_unresolved, ==, 0);
}

/* Code at the beginning of a window alone has no frequency: it is not in the profile. */
static void test_first_steps(Fixture *self, const void *data)
{
	const LodeImportOptions options = {.threads = 1};
	const LodeBinaryFunction *other = sampled_program_function(&self->program, "descend");
	const LodeWindowHead head = {.tid = PID,
		.begin_ns = BEGIN_NS + N_WINDOWS * DISTANCE_NS,
		.end_ns = BEGIN_NS + N_WINDOWS * DISTANCE_NS + 1};
	const LodeWindowStep step = {.address = other->address + self->program.bias};

	(void)data;
	window_log_begin(&self->log, &head);
	for (unsigned i = 0; i < LODE_WINDOW_WARM_UP; i++)
		window_log_add(&self->log, &step);
	window_log_end(&self->log);
	g_autoptr(LodeProfile) profile = import(self, &options);
	for (guint i = 0; i < profile->code.functions->len; i++)
		g_assert_cmpstr(lode_profile_function(profile, i)->name, !=, "descend");
	g_assert_cmpuint(profile->windows->n_unresolved, ==, LODE_WINDOW_WARM_UP);
}

#define ADD(name, test) g_test_add(name, Fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("/window-import/edges", test_edges);
	ADD("/window-import/executions", test_executions);
	ADD("/window-import/first-steps", test_first_steps);
	ADD("/window-import/dropped", test_dropped);
	ADD("/window-import/other-time", test_other_time);
	ADD("/window-import/other-clock", test_other_clock);
	ADD("/window-import/none", test_none);
	return g_test_run();
}
