/* SPDX-License-Identifier: MIT */
/* Recordings with looks at the frames of a script: its functions and lines above native code. */
#include "images/variants/script_image.h"
#include "ingest/import.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"
#include "sample_file.h"
#include "sampled_program.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>

#define MS UINT64_C(1000000)

enum { PID = 7, MAIN = 3, FIND = 4 };

typedef struct {
	SampledProgram program;
	SampleFile samples;
	char *directory, *path;
} Made;

static void made_init(Made *self)
{
	*self = (Made){0};
	sampled_program_open(&self->program, PROGRAM_BRANCHES);
	sample_file_init(&self->samples);
	self->samples.has_branches = false;
	sample_file_add_event(&self->samples, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000);
	sample_file_add_script_event(&self->samples);
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

static LodeProfile *import(Made *self, bool is_native)
{
	const char *const paths[] = {self->path};
	const LodeImportOptions options = {
		.paths = paths, .n_paths = 1, .threads = 2, .is_native = is_native};
	g_autoptr(GError) error = NULL;

	sample_file_write(&self->samples, self->path);
	LodeProfile *profile = lode_import(&options, NULL, &error);
	g_assert_no_error(error);
	return profile;
}

static void sample(Made *self, uint64_t time_ns, const char *function)
{
	const Sample added = {
		.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.tid = PID,
		.time_ns = time_ns,
		.ip = sampled_program_second(&self->program, function) + self->program.bias,
		.period = MS,
	};

	sample_file_add(&self->samples, &added);
}

static void tell(Made *self, uint64_t time_ns, const LodeScriptCode *code)
{
	g_autoptr(GByteArray) raw = g_byte_array_new();

	lode_script_code_append(code, raw);
	sample_file_script(&self->samples, PID, PID, time_ns, raw);
}

static void look(
	Made *self, uint64_t time_ns, const LodeScriptFrame *frames, uint32_t n, uint32_t flags)
{
	g_autoptr(GByteArray) raw = g_byte_array_new();

	lode_script_frames_append(frames, n, flags, raw);
	sample_file_script(&self->samples, PID, PID, time_ns, raw);
}

/* Two functions of app.py: find() of line 10 is called at line 40. */
static void tell_app(Made *self)
{
	const LodeScriptCode codes[] = {{MAIN, 1, 50, "python", "<module>", "/home/me/app.py"},
		{FIND, 10, 14, "python", "Table.find", "/home/me/app.py"}};

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
		tell(self, 10 * MS, &codes[i]);
}

static const LodeFunction *function_named(const LodeProfile *profile, const char *name)
{
	for (guint i = 0; i < profile->code.functions->len; i++)
		if (strcmp(lode_profile_function(profile, i)->name, name) == 0)
			return lode_profile_function(profile, i);
	return NULL;
}

/* How many samples have a line of app.py on their stack. */
static double samples_at(const LodeProfile *profile, uint32_t line)
{
	const LodeStacks *stacks = profile->stacks;
	double n = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *one = &g_array_index(stacks->samples, LodeStackSample, i);
		bool is_there = false;
		for (uint32_t at = one->stack; at != LODE_NONE;) {
			const LodeStack *stack = &g_array_index(stacks->stacks, LodeStack, at);
			const LodeFrame *frame = &g_array_index(
				stacks->frames, LodeFrame, stack->frame);
			is_there |= frame->line == line &&
			            g_strcmp0(frame->file, "/home/me/app.py") == 0;
			at = stack->outer;
		}
		n += is_there ? 1 + one->n_more : 0;
	}
	return n;
}

static void test_frames(void)
{
	const LodeScriptFrame in_find[] = {{FIND, 12}, {MAIN, 40}}, in_main[] = {{MAIN, 44}};
	g_auto(Made) made;

	made_init(&made);
	tell_app(&made);
	look(&made, 20 * MS, in_find, 2, 0);
	look(&made, 30 * MS, NULL, 0, LODE_SCRIPT_WAS_TORN);
	look(&made, 40 * MS, in_main, 1, 0);
	look(&made, 50 * MS, in_find, 2, LODE_SCRIPT_IS_WAITING);
	/* as near as a second: 4 to the first look, 4 to the second; and one that is far from both
	 */
	for (unsigned i = 0; i < 4; i++) {
		sample(&made, (19 + i) * MS, "wander");
		sample(&made, (38 + i) * MS, "wander");
	}
	sample(&made, 1200 * MS, "wander");
	g_autoptr(LodeProfile) profile = import(&made, false);
	g_assert_cmpfloat(samples_at(profile, 12), ==, 4);
	g_assert_cmpfloat(samples_at(profile, 40), ==, 4);
	g_assert_cmpfloat(samples_at(profile, 44), ==, 4);
	g_assert_true(profile->stacks->has_chains);
	const LodeFunction *find = function_named(profile, "Table.find");
	g_assert_nonnull(find);
	g_assert_cmpuint(lode_script_image_line(find->address), ==, 10);
	const LodeImage *image = lode_profile_image(profile, find->image);
	g_assert_cmpint(image->kind, ==, LODE_IMAGE_PYTHON);
	g_assert_cmpstr(image->path, ==, "/home/me/app.py");
	g_assert_cmpfloat(profile->run.n_samples, ==, 9);
}

static void change(Made *self, uint64_t time_ns, bool is_out)
{
	const SampleSwitch added = {PID, PID, time_ns, is_out, is_out, false};

	sample_file_switch(&self->samples, &added);
}

/* A thread that runs for 3 of each 10 ms, and waits for a processor in the module's code; it is
 * seen in find() in the first turns. */
static void run_in_turns(Made *self, unsigned n, unsigned n_seen, const char *last)
{
	const LodeScriptFrame in_find[] = {{FIND, 12}, {MAIN, 40}}, in_main[] = {{MAIN, 44}};

	sample(self, 20 * MS, "wander");
	for (unsigned i = 0; i < n; i++) {
		uint64_t begin = (30 + 10 * i) * MS;
		change(self, begin, false);
		if (i < n_seen)
			look(self, begin, in_find, 2, 0);
		sample(self, begin + 2 * MS, i + 1 < n ? "wander" : last);
		change(self, begin + 3 * MS, true);
		look(self, begin + 3 * MS, in_main, 1, 0);
		look(self, begin + 7 * MS, in_main, 1, 0);
	}
	change(self, (30 + 10 * n) * MS, false);
}

/* A look at a thread without a processor counts only where none is that had one: in the same native
 * function, or near. */
static void test_processors(void)
{
	static const struct {
		unsigned n, n_seen;
		const char *last;
		double in_main;
	} cases[] = {{16, 16, "wander", 0}, {16, 12, "wander", 0}, {16, 11, "wander", 16},
		{16, 0, "wander", 17}, {16, 12, "main", 0}, {130, 12, "main", 19}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_auto(Made) made;
		made_init(&made);
		made.samples.has_switches = true;
		tell_app(&made);
		run_in_turns(&made, cases[i].n, cases[i].n_seen, cases[i].last);
		g_autoptr(LodeProfile) profile = import(&made, false);
		g_assert_cmpfloat(samples_at(profile, 44), ==, cases[i].in_main);
		g_assert_cmpfloat(samples_at(profile, 12), ==, cases[i].n + 1 - cases[i].in_main);
	}
}

/* The image of a script is of its language; code of one that is not known has none. */
static void test_languages(void)
{
	const LodeScriptCode codes[] = {{MAIN, 1, 50, "perl", "main", "/home/me/app.py"},
		{FIND, 10, 14, "file", "find", "/home/me/app.py"},
		{FIND + 1, 10, 14, "none", "find", "/home/me/app.py"}};
	g_auto(Made) made;

	made_init(&made);
	for (uint32_t i = 0; i < G_N_ELEMENTS(codes); i++) {
		const LodeScriptFrame frame = {codes[i].number, 12};
		tell(&made, 10 * MS, &codes[i]);
		look(&made, (20 + 2000 * i) * MS, &frame, 1, 0);
		sample(&made, (20 + 2000 * i) * MS, "wander");
	}
	g_autoptr(LodeProfile) profile = import(&made, false);
	g_assert_cmpfloat(samples_at(profile, 12), ==, 1);
	g_assert_null(function_named(profile, "find"));
	const LodeFunction *found = function_named(profile, "main");
	g_assert_nonnull(found);
	g_assert_cmpint(lode_profile_image(profile, found->image)->kind, ==, LODE_IMAGE_PERL);
}

/* How many samples have a line innermost. */
static double samples_in(const LodeProfile *profile, uint32_t line)
{
	const LodeStacks *stacks = profile->stacks;
	double n = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *one = &g_array_index(stacks->samples, LodeStackSample, i);
		const LodeStack *stack = &g_array_index(stacks->stacks, LodeStack, one->stack);
		const LodeFrame *frame = &g_array_index(stacks->frames, LodeFrame, stack->frame);
		n += frame->line == line ? 1 + one->n_more : 0;
	}
	return n;
}

/* A function that the interpreter says is its loop stands for the line. */
static void test_loop(void)
{
	const LodeScriptFrame in_main[] = {{MAIN, 44}};
	g_autoptr(GByteArray) raw = g_byte_array_new();

	for (unsigned is_told = 0; is_told < 2; is_told++) {
		g_auto(Made) made;
		made_init(&made);
		tell_app(&made);
		g_byte_array_set_size(raw, 0);
		lode_script_loop_append(
			sampled_program_second(&made.program, "wander") + made.program.bias, raw);
		if (is_told)
			sample_file_script(&made.samples, PID, PID, 10 * MS, raw);
		look(&made, 40 * MS, in_main, 1, 0);
		sample(&made, 41 * MS, "wander");
		g_autoptr(LodeProfile) profile = import(&made, false);
		g_assert_cmpfloat(samples_at(profile, 44), ==, 1);
		g_assert_cmpfloat(samples_in(profile, 44), ==, is_told);
	}
}

static void test_native(void)
{
	const LodeScriptFrame in_main[] = {{MAIN, 44}};
	g_auto(Made) made;

	made_init(&made);
	tell_app(&made);
	look(&made, 40 * MS, in_main, 1, 0);
	sample(&made, 41 * MS, "wander");
	g_autoptr(LodeProfile) profile = import(&made, true);
	g_assert_null(function_named(profile, "<module>"));
	g_assert_cmpfloat(samples_at(profile, 44), ==, 0);
}

/* Frames of code that was not told, lines that no function has, damaged looks. */
static void test_damaged(void)
{
	const LodeScriptFrame unknown[] = {{99, 1}, {MAIN, 40}};
	const LodeScriptFrame beyond[] = {{FIND, 4000000000u}, {99, 0}, {MAIN, 40}};
	g_auto(Made) made;

	made_init(&made);
	tell_app(&made);
	look(&made, 100 * MS, unknown, 2, 0);
	look(&made, 3000 * MS, beyond, 3, 0);
	g_autoptr(GByteArray) raw = g_byte_array_new();
	g_byte_array_set_size(raw, 12);
	memset(raw->data, 0xff, raw->len);
	sample_file_script(&made.samples, PID, PID, 4000 * MS, raw);
	sample(&made, 100 * MS, "wander");
	sample(&made, 3000 * MS, "wander");
	g_autoptr(LodeProfile) profile = import(&made, false);
	g_assert_cmpfloat(samples_at(profile, 14), ==, 1);
	g_assert_cmpfloat(samples_at(profile, 40), ==, 0);
	bool is_counted = false;
	for (guint i = 0; i < profile->unresolved->len; i++)
		is_counted |= strstr(g_array_index(profile->unresolved, LodeUnresolved, i).reason,
				      "looks at scripts, which are damaged") != NULL;
	g_assert_true(is_counted);
}

/* Functions at one line are told apart, and an address is a line whatever else was seen. */
static void test_addresses(void)
{
	const LodeScriptFunction functions[] = {
		{"<lambda>", 7, 7}, {"<module>", 1, 90}, {"outer", 7, 12}, {"outer", 7, 20}};
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(LodeScriptFunction));
	LodeBinaryLocation location;

	g_array_append_vals(list, functions, G_N_ELEMENTS(functions));
	LodeBinaryImage *image = lode_script_image_new("a.py", list);
	uint64_t address = lode_script_image_address(image, "outer", 7, 19);
	g_assert_cmpuint(address, !=, 0);
	lode_binary_image_locate(image, &address, 1, &location);
	g_assert_cmpstr(location.file, ==, "a.py");
	g_assert_cmpuint(location.line, ==, 19);
	uint64_t lambda = lode_script_image_address(image, "<lambda>", 7, 7);
	g_assert_cmpuint(lambda, !=, lode_script_image_address(image, "outer", 7, 7));
	lode_binary_image_locate(image, &lambda, 1, &location);
	g_assert_cmpuint(location.line, ==, 7);
	g_assert_cmpuint(lode_script_image_address(image, "inner", 7, 7), ==, 0);
	g_assert_cmpuint(lode_script_image_address(image, "outer", 8, 8), ==, 0);
	lode_binary_image_close(image);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/script-import/frames", test_frames);
	g_test_add_func("/ingest/script-import/processors", test_processors);
	g_test_add_func("/ingest/script-import/languages", test_languages);
	g_test_add_func("/ingest/script-import/loop", test_loop);
	g_test_add_func("/ingest/script-import/native", test_native);
	g_test_add_func("/ingest/script-import/damaged", test_damaged);
	g_test_add_func("/ingest/script-import/addresses", test_addresses);
	return g_test_run();
}
