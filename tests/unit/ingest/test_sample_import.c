/* SPDX-License-Identifier: MIT */
/*
 * perf.data files that are made here, whose samples lie in a real program: where each one comes to,
 * and what branch stacks of a walk through the program make of it.
 */
#include "base/error.h"
#include "ingest/import.h"
#include "model/causes.h"
#include "model/lines/own_lines.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"
#include "profile_sums.h"
#include "sample_file.h"
#include "sampled_program.h"
#include "seeds.h"
#include "sources/code/kernel_symbols.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

enum { PID = 7 };

static const LodePerfMapping vsyscall = {
	.start = 0x7fff00000000, .size = 0x2000, .path = "[vsyscall]"};
static const LodePerfMapping heap = {.start = 0x7ff000000000, .size = 0x2000, .path = "//anon"};

static void add_cpu_clock(SampleFile *file)
{
	sample_file_add_event(file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000);
}

static void begin(SampleFile *file, const SampledProgram *program)
{
	sample_file_exec(file, PID, 1);
	sample_file_map(file, PID, 2, &program->mapping);
	sample_file_map(file, PID, 3, &vsyscall);
	sample_file_map(file, PID, 4, &heap);
}

static void add_at(SampleFile *file, unsigned event, uint64_t ip, uint64_t period)
{
	const Sample sample = {.event = event,
		.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.time_ns = 100,
		.ip = ip,
		.period = period};

	sample_file_add(file, &sample);
}

/* What the functions of the kernel have of an event. */
static double event_in_kernel(const LodeProfile *profile, const char *name)
{
	uint32_t event = lode_profile_find_event(profile, name);
	double sum = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t function = lode_profile_instruction(profile, i)->function;
		uint32_t image = lode_profile_function(profile, function)->image;
		if (lode_profile_image(profile, image)->kind != LODE_IMAGE_KERNEL)
			continue;
		g_assert_cmpstr(lode_profile_image(profile, image)->path, ==, "[kernel]");
		sum += lode_profile_event_value(profile, event, i);
	}
	return sum;
}

/* The files as one recording; removes them. */
static LodeProfile *import_files(SampleFile *const *files, size_t n, GError **error)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	char *paths[2];

	g_assert_cmpuint(n, <=, G_N_ELEMENTS(paths));
	for (size_t i = 0; i < n; i++) {
		paths[i] = g_strdup_printf("%s/%u.data", directory, (unsigned)i);
		sample_file_write(files[i], paths[i]);
	}
	const LodeImportOptions options = {
		.paths = (const char *const *)paths, .n_paths = n, .threads = 2};
	LodeProfile *profile = lode_import(&options, NULL, error);
	for (size_t i = 0; i < n; i++) {
		g_unlink(paths[i]);
		g_free(paths[i]);
	}
	g_rmdir(directory);
	return profile;
}

static LodeProfile *import(SampleFile *file)
{
	g_autoptr(GError) error = NULL;
	LodeProfile *profile = import_files(&file, 1, &error);

	g_assert_no_error(error);
	check_weight_is_whole(profile);
	check_samples_are_costs(profile);
	return profile;
}

static double event_at(
	const LodeProfile *profile, const char *event, const char *function, uint64_t address)
{
	uint32_t id = lode_profile_find_event(profile, event);
	uint32_t at = find_instruction(profile, function, address);

	g_assert_cmpuint(id, !=, LODE_NONE);
	g_assert_cmpuint(at, !=, LODE_NONE);
	return lode_profile_event_value(profile, id, at);
}

static double event_total(const LodeProfile *profile, const char *event)
{
	uint32_t id = lode_profile_find_event(profile, event);

	g_assert_cmpuint(id, !=, LODE_NONE);
	return lode_profile_event(profile, id)->total;
}

static void check_reason(
	const LodeProfile *profile, const char *reason, double samples, double weight)
{
	const LodeUnresolved *row = find_unresolved(profile, reason);

	if (row == NULL)
		g_error("nothing unresolved by '%s'", reason);
	g_assert_cmpfloat(row->samples, ==, samples);
	g_assert_cmpfloat(row->weight, ==, weight);
}

static void add_outside(SampleFile *file, uint16_t mode, uint64_t ip, uint64_t period)
{
	Sample sample = {.mode = mode, .pid = PID, .time_ns = 100, .ip = ip, .period = period};

	sample_file_add(file, &sample);
	sample.period++;
	sample_file_add(file, &sample);
}

static void test_reasons(void)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;
	uint64_t high = UINT64_C(0xffffffff81000000);

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	add_cpu_clock(&file);
	begin(&file, &program);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	add_at(&file, 0, entry + program.bias, 1000);
	add_outside(&file, PERF_RECORD_MISC_KERNEL, high, 10);
	add_outside(&file, PERF_RECORD_MISC_HYPERVISOR, high, 20);
	add_outside(&file, PERF_RECORD_MISC_GUEST_KERNEL, high, 30);
	add_outside(&file, PERF_RECORD_MISC_GUEST_USER, entry + program.bias, 40);
	add_outside(&file, PERF_RECORD_MISC_USER, 0x1000, 50);
	add_outside(&file, PERF_RECORD_MISC_USER, heap.start + 16, 60);
	add_outside(&file, PERF_RECORD_MISC_USER, vsyscall.start + 16, 70);
	sample_file_lose(&file, PERF_RECORD_LOST, 3);
	sample_file_lose(&file, PERF_RECORD_LOST, 4);
	sample_file_lose(&file, PERF_RECORD_LOST_SAMPLES, 11);
	sample_file_lose(&file, PERF_RECORD_THROTTLE, 1);
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpfloat(profile->run.n_samples, ==, 15);
	g_assert_cmpfloat(event_total(profile, "cpu-clock"), ==, 1000 + 2 * 280 + 7);
	g_assert_cmpfloat(event_at(profile, "cpu-clock", "wander", entry), ==, 1000);
	/* Of a kernel whose functions are not known, all is one. */
	g_assert_cmpfloat(event_in_kernel(profile, "cpu-clock"), ==, 21);
	check_reason(profile, "sample in the hypervisor", 2, 41);
	check_reason(profile, "sample in a guest", 4, 61 + 81);
	check_reason(profile, "sample outside any mapping", 2, 101);
	check_reason(profile, "sample in code made at run time that no jitdump or perf map knows",
		2, 121);
	check_reason(profile, "sample in the kernel's pages of a process", 2, 141);
	check_reason(profile, "records lost by the kernel while sampling", 7, 0);
	check_reason(profile, "samples lost by the kernel", 11, 0);
	check_reason(profile, "times that the kernel throttled the sampling", 1, 0);
	g_assert_cmpstr(find_unresolved(profile, "sample outside any mapping")->example, ==,
		"0x1000 in process 7");
}

/* More than the store has columns for, which is told before all is read. */
static void test_many_events(void)
{
	enum { FILES = 334, EVENTS = 3 };
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autoptr(GError) error = NULL;
	const char *paths[FILES];

	for (unsigned i = 0; i < FILES; i++) {
		g_auto(SampleFile) file;
		sample_file_init(&file);
		for (unsigned event = 0; event < EVENTS; event++)
			sample_file_add_event(&file, PERF_TYPE_RAW, EVENTS * i + event, 1);
		paths[i] = g_strdup_printf("%s/%u.data", directory, i);
		sample_file_write(&file, paths[i]);
	}
	const LodeImportOptions options = {.paths = paths, .n_paths = FILES, .threads = 2};
	g_assert_null(lode_import(&options, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_true(g_str_has_prefix(error->message, paths[FILES - 1]));
	for (unsigned i = 0; i < FILES; i++) {
		g_unlink(paths[i]);
		g_free((char *)paths[i]);
	}
	g_rmdir(directory);
}

/* Samples of an id that no event has, in a file whose writer did not come to its end. */
static void test_left_out(void)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	add_cpu_clock(&file);
	sample_file_add_event(&file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	begin(&file, &program);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	add_at(&file, 0, entry + program.bias, 1000);
	add_at(&file, 5, entry + program.bias, 1000);
	add_at(&file, 6, entry + program.bias, 1000);
	file.file.has_data_size = false;
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpfloat(event_total(profile, "cpu-clock"), ==, 1000);
	check_reason(profile, "sample of an event that the recording does not describe", 2, 0);
	check_reason(profile, "recording that is cut short", 1, 0);
}

/* Executions are an event of that name already; cycles can be cycles where none are estimated. */
static void test_event_names(void)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	sample_file_add_event(&file, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 100);
	sample_file_add_event(&file, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 200);
	sample_file_add_event(&file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	begin(&file, &program);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	add_at(&file, 0, entry + program.bias, 100);
	add_at(&file, 1, entry + program.bias, 200);
	add_at(&file, 1, entry + program.bias, 201);
	add_at(&file, 2, entry + program.bias, 1);
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpfloat(event_at(profile, "instructions-sampled", "wander", entry), ==, 100);
	g_assert_cmpfloat(event_at(profile, "cycles", "wander", entry), ==, 401);
	g_assert_cmpfloat(event_at(profile, "page-faults", "wander", entry), ==, 1);
	g_assert_cmpint(lode_profile_event(profile, 0)->kind, ==, LODE_EVENT_COUNT);
	g_assert_cmpstr(lode_profile_event(profile, 0)->name, ==, "instructions");
	g_assert_cmpfloat(lode_profile_event(profile, 0)->total, ==, profile->run.total_count);
	g_assert_cmpuint(profile->code.events->len, ==, 6);
	g_assert_cmpstr(lode_profile_event(profile, profile->code.weight_event)->name, ==,
		"instructions-sampled:cause");
}

/* Of a timer the weight is at what ran before; of page faults it stays. A function's first
 * instruction has nothing before it here. */
static void test_causes(void)
{
	g_auto(SampledProgram) program;
	uint64_t second = 0;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	for (int pass = 0; pass < 2; pass++) {
		g_auto(SampleFile) file;
		sample_file_init(&file);
		add_cpu_clock(&file);
		sample_file_add_event(&file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
		begin(&file, &program);
		add_at(&file, 0, entry + program.bias, 300);
		add_at(&file, 0, 0x1000, 7);
		for (int i = 0; i < pass; i++) {
			add_at(&file, 0, second + program.bias, 500);
			add_at(&file, 1, second + program.bias, 1);
		}
		g_autoptr(LodeProfile) profile = import(&file);
		uint32_t at = find_instruction(profile, "wander", entry);
		uint32_t charged = lode_profile_event_as_charged(
			profile, lode_profile_find_event(profile, "cpu-clock"));
		g_assert_cmpuint(charged, ==, profile->code.weight_event);
		/* A page fault is no sample of the time: errors would seem too small. */
		g_assert_cmpfloat(profile->run.n_samples, ==, 2 + pass);
		g_assert_cmpfloat(
			lode_profile_event(profile, charged)->total, ==, 307 + 500 * pass);
		g_assert_cmpfloat(
			lode_profile_event_value(profile, charged, at), ==, 300 + 500 * pass);
		g_assert_cmpuint(
			lode_profile_find_event(profile, "page-faults:cause"), ==, LODE_NONE);
		second = lode_profile_instruction(profile, at + 1)->address;
		if (pass == 0)
			continue;
		g_assert_cmpfloat(event_at(profile, "cpu-clock", "wander", second), ==, 500);
		g_assert_cmpfloat(event_at(profile, "cpu-clock:cause", "wander", second), ==, 0);
		g_assert_cmpfloat(event_at(profile, "page-faults", "wander", second), ==, 1);
	}
}

/* The first event took no sample: the second weighs, also where samples are unresolved, and says
 * whether the kernel's time is in the profile. */
static void test_unused_event(void)
{
	enum { EXCLUDE_KERNEL = 1 << 5 };
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	sample_file_add_event(&file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	add_cpu_clock(&file);
	file.file.attributes[1].flags |= EXCLUDE_KERNEL;
	begin(&file, &program);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	add_at(&file, 1, entry + program.bias, 300);
	add_at(&file, 1, 0x1000, 500);
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpstr(lode_profile_event(profile, profile->code.weight_event)->name, ==,
		"cpu-clock:cause");
	check_reason(profile, "sample outside any mapping", 1, 500);
	g_assert_false(profile->run.is_kernel_sampled);
}

enum { FORMAT_LOST = 1 << 4, GROUP_EVENTS = 3, INHERIT = 1 << 1 };

/* A sample in which the counters of a group, or of its first event alone, stand at `values`. */
typedef struct {
	uint64_t read_format, ip;
	unsigned counter; /* of each event's ids */
	uint32_t tid;
	bool has_unknown_id; /* in place of the last event's */
} CountedAt;

static void add_counts(SampleFile *file, const CountedAt *at, const uint64_t *values)
{
	uint64_t words[3 + 3 * GROUP_EVENTS];
	size_t n = 0;
	bool is_group = (at->read_format & PERF_FORMAT_GROUP) != 0;

	if (is_group)
		words[n++] = GROUP_EVENTS;
	else
		words[n++] = values[0];
	if ((at->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0)
		words[n++] = 999999;
	if ((at->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0)
		words[n++] = 888888;
	for (unsigned i = 0; i < (is_group ? GROUP_EVENTS : 1); i++) {
		bool is_unknown = at->has_unknown_id && i == GROUP_EVENTS - 1;
		if (is_group)
			words[n++] = values[i];
		if ((at->read_format & PERF_FORMAT_ID) != 0)
			words[n++] = is_unknown ? 4711 : sample_file_id(i, at->counter);
		if ((at->read_format & FORMAT_LOST) != 0)
			words[n++] = 777777;
	}
	const Sample sample = {.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.tid = at->tid,
		.time_ns = 100,
		.ip = at->ip,
		.period = 1000,
		.counter = at->counter,
		.read = words,
		.n_read = n};
	sample_file_add(file, &sample);
}

static void init_group(SampleFile *file, const SampledProgram *program, uint64_t read_format)
{
	sample_file_init(file);
	file->has_branches = false;
	file->has_counts = true;
	file->read_format = read_format;
	add_cpu_clock(file);
	sample_file_add_event(file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0);
	sample_file_add_event(file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0);
	begin(file, program);
}

/* Each counter goes on from its own last value, whatever other counters of the event do. */
static void check_group(uint64_t read_format, bool is_inherited)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;
	bool is_group = (read_format & PERF_FORMAT_GROUP) != 0;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t wander = sampled_program_function(&program, "wander")->address;
	init_group(&file, &program, read_format);
	for (unsigned i = 0; i < GROUP_EVENTS; i++)
		file.file.attributes[i].flags |= is_inherited ? INHERIT : 0;
	CountedAt at = {.read_format = read_format, .ip = wander + program.bias};
	add_counts(&file, &at, (const uint64_t[]){1000, 7, 0});
	at.counter = 1;
	add_counts(&file, &at, (const uint64_t[]){500, 100, 1});
	at.counter = 0;
	add_counts(&file, &at, (const uint64_t[]){2000, 7, 1});
	/* Of a started thread when these have their own counts, and else of the first. */
	at.tid = PID + 1;
	add_counts(&file, &at, (const uint64_t[]){2100, 9, 2});
	at.tid = 0;
	add_counts(&file, &at, (const uint64_t[]){3001, 12, 2});
	/* It was reset. */
	add_counts(&file, &at, (const uint64_t[]){1000, 5, 1});
	g_autoptr(LodeProfile) profile = import(&file);
	double thread = is_inherited ? 2100 : 0;
	g_assert_cmpfloat(event_total(profile, "cpu-clock"), ==, 500 + 3001 + 1000 + thread);
	g_assert_cmpfloat(
		event_at(profile, "cpu-clock", "wander", wander), ==, 500 + 3001 + 1000 + thread);
	thread = is_inherited ? 9 : 0;
	g_assert_cmpfloat(
		event_total(profile, "page-faults"), ==, is_group ? 100 + 12 + 5 + thread : 0);
	thread = is_inherited ? 2 : 0;
	g_assert_cmpfloat(
		event_total(profile, "context-switches"), ==, is_group ? 1 + 2 + 1 + thread : 0);
	g_assert_cmpfloat(profile->run.n_samples, ==, 6);
}

static void test_groups(void)
{
	const uint64_t parts[] = {PERF_FORMAT_ID, FORMAT_LOST, PERF_FORMAT_TOTAL_TIME_ENABLED,
		PERF_FORMAT_TOTAL_TIME_RUNNING, PERF_FORMAT_GROUP};

	for (unsigned i = 0; i < 1 << G_N_ELEMENTS(parts); i++) {
		uint64_t read_format = 0;
		for (unsigned j = 0; j < G_N_ELEMENTS(parts); j++)
			read_format |= i >> j & 1 ? parts[j] : 0;
		check_group(read_format, false);
		check_group(read_format, true);
	}
}

/* What is counted has the place of the sample, and moves with it to what waited; a count of an
 * unknown event is said. */
static void test_group_of_unknown(void)
{
	const uint64_t read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t wander = sampled_program_function(&program, "wander")->address;
	init_group(&file, &program, read_format);
	CountedAt at = {
		.read_format = read_format, .ip = wander + program.bias, .has_unknown_id = true};
	add_counts(&file, &at, (const uint64_t[]){1000, 7, 0});
	at.ip = 0x1000;
	add_counts(&file, &at, (const uint64_t[]){2000, 9, 0});
	g_autoptr(LodeProfile) profile = import(&file);
	check_reason(profile, "count of an event that the recording does not describe", 2, 0);
	g_assert_cmpfloat(event_total(profile, "page-faults"), ==, 9);
	g_assert_cmpfloat(event_at(profile, "page-faults", "wander", wander), ==, 7);
	g_assert_cmpuint(lode_profile_find_event(profile, "page-faults:cause"), !=, LODE_NONE);
}

/* "nothing;main;read": the functions of a sample's stack, the outermost first. */
static char *stack_text(const LodeProfile *profile, guint sample)
{
	const LodeStacks *stacks = profile->stacks;
	uint32_t at = g_array_index(stacks->samples, LodeStackSample, sample).stack;
	GString *text = g_string_new(NULL);

	while (at != LODE_NONE) {
		const LodeStack *stack = &g_array_index(stacks->stacks, LodeStack, at);
		const LodeFrame *frame = &g_array_index(stacks->frames, LodeFrame, stack->frame);
		at = stack->outer;
		g_string_prepend(text, frame->function);
		if (at != LODE_NONE)
			g_string_prepend_c(text, ';');
	}
	return g_string_free(text, FALSE);
}

static void add_kernel_sample(SampleFile *file, uint16_t mode, const uint64_t *chain, size_t n)
{
	const Sample sample = {.mode = mode,
		.pid = PID,
		.time_ns = 100,
		.ip = chain[1],
		.period = 1000,
		.chain = chain,
		.n_chain = n};

	sample_file_add(file, &sample);
}

/* Samples in four functions of the kernel that begin at `kernel` and each other's end. */
static void add_kernel_samples(
	SampleFile *file, const SampledProgram *program, const uint64_t kernel[4])
{
	uint64_t entry = sampled_program_function(program, "wander")->address + program->bias;
	const uint64_t called[] = {PERF_CONTEXT_KERNEL, kernel[2] + 1, kernel[1] + 1,
		/* A call that is its function's last instruction. */
		kernel[1], kernel[0] + 1, PERF_CONTEXT_USER, entry};
	const uint64_t kernel_thread[] = {PERF_CONTEXT_KERNEL, kernel[2] + 1, kernel[0] + 1};
	const uint64_t guest[] = {PERF_CONTEXT_GUEST_KERNEL, kernel[2] + 1, kernel[0] + 1};
	const uint64_t hypervisor[] = {PERF_CONTEXT_HV, kernel[2] + 1, PERF_CONTEXT_KERNEL,
		kernel[1] + 1, kernel[0] + 1, PERF_CONTEXT_USER, entry};

	add_kernel_sample(file, PERF_RECORD_MISC_KERNEL, called, G_N_ELEMENTS(called));
	add_kernel_sample(
		file, PERF_RECORD_MISC_KERNEL, kernel_thread, G_N_ELEMENTS(kernel_thread));
	add_kernel_sample(file, PERF_RECORD_MISC_GUEST_KERNEL, guest, G_N_ELEMENTS(guest));
	add_kernel_sample(file, PERF_RECORD_MISC_HYPERVISOR, hypervisor, G_N_ELEMENTS(hypervisor));
}

static void check_stack(const LodeProfile *profile, guint sample, const char *expected)
{
	g_autofree char *found = stack_text(profile, sample);

	g_assert_cmpstr(found, ==, expected);
}

/* Of a kernel whose functions are not known, all is one. */
static void test_unknown_kernel_chain(void)
{
	const uint64_t kernel[] = {
		0xffffffff81000000, 0xffffffff81000100, 0xffffffff81000200, 0xffffffff81000300};
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	file.has_branches = false;
	file.has_chains = true;
	add_cpu_clock(&file);
	begin(&file, &program);
	add_kernel_samples(&file, &program, kernel);
	g_autoptr(LodeProfile) profile = import(&file);
	check_stack(profile, 0, "wander;[kernel]");
	check_stack(profile, 1, "[kernel]");
	check_stack(profile, 2, "");
	check_stack(profile, 3, "wander");
}

/* Four functions of the running kernel that follow each other; false: it hides them. */
static bool find_kernel_functions(
	const LodeKernelSymbols *symbols, uint64_t out_starts[4], const char *out_names[4])
{
	unsigned n = 0;
	uint64_t start;

	if (symbols == NULL)
		return false;
	uint64_t at = lode_kernel_symbols_text(symbols);
	for (unsigned i = 0; i < 1 << 16 && n < 4; i++, at += 16) {
		const char *name = lode_kernel_symbols_find(symbols, at, &start);
		if (name != NULL && start == at && (n == 0 || start - out_starts[n - 1] > 16)) {
			out_starts[n] = start;
			out_names[n++] = name;
		}
	}
	return n == 4;
}

/* Each function on the way is a frame, as perf script has them. */
static void test_kernel_chain(void)
{
	enum { FEATURE_OS_RELEASE = 4 };
	g_autoptr(LodeKernelSymbols) symbols = lode_kernel_symbols_read("/proc/kallsyms");
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;
	struct utsname own;
	uint64_t starts[4], start;
	const char *names[4];

	if (!find_kernel_functions(symbols, starts, names)) {
		g_test_skip("the kernel's symbols cannot be read");
		return;
	}
	const LodePerfMapping text = {.start = lode_kernel_symbols_text(symbols),
		.size = 1 << 24,
		.offset = lode_kernel_symbols_text(symbols),
		.path = "[kernel.kallsyms]_text"};
	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	file.has_branches = false;
	file.has_chains = true;
	g_assert_cmpint(uname(&own), ==, 0);
	put_counted_text(perf_data_file_feature(&file.file, FEATURE_OS_RELEASE), own.release);
	add_cpu_clock(&file);
	sample_file_map_kernel(&file, &text);
	begin(&file, &program);
	add_kernel_samples(&file, &program, starts);
	g_autoptr(LodeProfile) profile = import(&file);
	const char *last_of_first = lode_kernel_symbols_find(symbols, starts[1] - 1, &start);
	g_autofree char *called = g_strjoin(";", "wander", names[0],
		last_of_first != NULL ? last_of_first : "[kernel]", names[1], names[2], NULL);
	check_stack(profile, 0, called);
	g_autofree char *kernel_thread = g_strjoin(";", names[0], names[2], NULL);
	check_stack(profile, 1, kernel_thread);
	check_stack(profile, 2, "");
	check_stack(profile, 3, "wander");
}

/* Without calls, a stack has all functions that are inlined where its samples are. */
static void test_inlined(void)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;
	guint deepest = 0;

	sampled_program_open(&program, PROGRAM_EXCEPTIONS);
	const LodeBinaryFunction *function = sampled_program_function(&program, "main");
	sample_file_init(&file);
	file.has_branches = false;
	add_cpu_clock(&file);
	begin(&file, &program);
	for (uint64_t i = 0; i < function->size; i++) {
		const Sample sample = {.mode = PERF_RECORD_MISC_USER,
			.pid = PID,
			.tid = PID,
			.time_ns = 1000 + i,
			.ip = function->address + program.bias + i,
			.period = 1000};
		sample_file_add(&file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&file);
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	const LodeStacks *stacks = profile->stacks;
	for (guint i = 0; i < stacks->samples->len; i++) {
		uint32_t at = LODE_AT(stacks->samples, LodeStackSample, i).stack;
		uint32_t instruction = lode_stacks_instruction(stacks, at);
		if (instruction == LODE_NONE)
			continue;
		g_autoptr(GArray) lines = lode_own_lines_chain(own, instruction);
		deepest = MAX(deepest, lines->len);
		for (guint k = lines->len; k-- > 0;) {
			const LodeInlinedLine *line = &g_array_index(lines, LodeInlinedLine, k);
			const LodeStack *stack = &LODE_AT(stacks->stacks, LodeStack, at);
			const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, stack->frame);
			g_assert_cmpstr(frame->function, ==, line->function);
			g_assert_cmpstr(frame->file, ==, line->location->file);
			g_assert_cmpuint(frame->line, ==, line->location->line);
			g_assert_cmpint(frame->is_inlined, ==, k > 0);
			at = stack->outer;
			g_assert_true((at == LODE_NONE) == (k == 0));
		}
	}
	g_assert_cmpuint(deepest, >=, 3);
}

/* Beyond some number, samples that are alike in all but a little time are one row; with times out
 * of order, too, and with none. */
static void test_many_samples(void)
{
	enum { MANY = 450000, THREADS = 3, MAX_ROWS = 200000 };
	uint64_t rounds[] = {10000, 0}; /* nanoseconds between two samples */
	g_auto(SampledProgram) program;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t entry = sampled_program_function(&program, "wander")->address + program.bias;
	for (size_t round = 0; round < G_N_ELEMENTS(rounds); round++) {
		g_auto(SampleFile) file;
		double sums[THREADS] = {0}, found[THREADS] = {0}, n = 0;
		sample_file_init(&file);
		file.has_branches = false;
		add_cpu_clock(&file);
		begin(&file, &program);
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t thread = i * 7 % 19 % THREADS;
			Sample sample = {.mode = PERF_RECORD_MISC_USER,
				.pid = PID,
				.tid = PID + thread,
				.time_ns = 1000 + (i ^ (i >> 3 & 0x1f)) * rounds[round],
				.ip = i % 11 == 0 ? 0x1000 : entry + (i % 5 == 0 ? 4U : 0U),
				.period = 1000 + i % 3};
			sample_file_add(&file, &sample);
			sums[thread] += (double)sample.period;
		}
		g_autoptr(LodeProfile) profile = import(&file);
		const LodeStacks *stacks = profile->stacks;
		g_assert_false(stacks->has_chains);
		g_assert_cmpuint(stacks->samples->len, <=, MAX_ROWS);
		g_assert_cmpuint(stacks->threads->len, ==, THREADS);
		for (guint i = 0; i < stacks->samples->len; i++) {
			const LodeStackSample *row = &LODE_AT(stacks->samples, LodeStackSample, i);
			n += 1.0 + row->n_more;
			found[LODE_AT(stacks->threads, LodeStackThread, row->thread).tid - PID] +=
				row->weight;
		}
		g_assert_cmpfloat(n, ==, MANY);
		for (unsigned i = 0; i < THREADS; i++)
			g_assert_cmpfloat(found[i], ==, sums[i]);
	}
}

/* Two recordings of a second each, a month apart: times are kept in both. */
static void test_many_samples_apart(void)
{
	enum { EACH = 150000, TIMES = 1000 };
	const uint64_t month_ns = UINT64_C(30) * 86400 * 1000000000;
	g_auto(SampledProgram) program;
	SampleFile files[2], *both[] = {&files[0], &files[1]};
	g_autoptr(GError) error = NULL;
	g_autoptr(GHashTable) times = g_hash_table_new(NULL, NULL);

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t entry = sampled_program_function(&program, "wander")->address + program.bias;
	for (unsigned k = 0; k < 2; k++) {
		sample_file_init(&files[k]);
		files[k].has_branches = false;
		add_cpu_clock(&files[k]);
		begin(&files[k], &program);
		for (uint32_t i = 0; i < EACH; i++) {
			const Sample sample = {.mode = PERF_RECORD_MISC_USER,
				.pid = PID,
				.time_ns = 1000 + k * month_ns + i * UINT64_C(6667),
				.ip = entry,
				.period = 1000};
			sample_file_add(&files[k], &sample);
		}
	}
	g_autoptr(LodeProfile) profile = import_files(both, 2, &error);
	g_assert_no_error(error);
	check_samples_are_costs(profile);
	g_assert_cmpuint(profile->stacks->samples->len, <, EACH);
	for (guint i = 0; i < profile->stacks->samples->len; i++)
		g_hash_table_add(times,
			GSIZE_TO_POINTER(
				LODE_AT(profile->stacks->samples, LodeStackSample, i).time_ns));
	g_assert_cmpuint(g_hash_table_size(times), >, TIMES);
	for (unsigned k = 0; k < 2; k++)
		sample_file_clear(&files[k]);
}

/* A thread's process has the name of its first thread, which has no samples here. */
static void test_names_of_threads(void)
{
	static const struct {
		const char *name;
		uint32_t tid;
	} expected[] = {{"server", PID}, {"work\x1b[2J", PID + 1}, {"last", PID + 1}};
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	file.has_branches = false;
	add_cpu_clock(&file);
	begin(&file, &program);
	sample_file_name(&file, PID, PID, 5, "server");
	sample_file_clone(&file, PID, PID + 1, 6);
	sample_file_name(&file, PID, PID + 1, 7, expected[1].name);
	sample_file_exit(&file, PID, PID + 1, 1000);
	sample_file_clone(&file, PID, PID + 1, 2000);
	sample_file_name(&file, PID, PID + 1, 2001, "last");
	for (uint64_t i = 0; i < 4; i++) {
		const Sample sample = {.mode = PERF_RECORD_MISC_USER,
			.pid = PID,
			.tid = PID + 1,
			.time_ns = 100 + i / 2 * 5000,
			.ip = sampled_program_function(&program, "wander")->address + program.bias,
			.period = 1000};
		sample_file_add(&file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&file);
	const LodeStacks *stacks = profile->stacks;
	g_assert_cmpuint(stacks->threads->len, ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < stacks->threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(stacks->threads, LodeStackThread, i);
		g_assert_cmpstr(thread->name, ==, expected[i].name);
		g_assert_cmpuint(thread->tid, ==, expected[i].tid);
	}
	for (guint i = 0; i < stacks->samples->len; i++)
		g_assert_cmpuint(
			LODE_AT(stacks->samples, LodeStackSample, i).thread, ==, 1 + i / 2);
}

/* A trace of the processor's, as perf writes it: what kind it is, a record, and its bytes. */
static void put_trace(PerfDataWriter *data, uint32_t kind, bool has_kind)
{
	enum { AUXTRACE_INFO = 70, AUXTRACE = 71, TRACE_BYTES = 96 };

	if (has_kind) {
		begin_record(data, AUXTRACE_INFO, 0);
		put32(data, kind);
		put32(data, 0);
		end_record(data);
	}
	begin_record(data, AUXTRACE, 0);
	put64(data, TRACE_BYTES);
	for (int i = 0; i < 4; i++)
		put64(data, 0);
	end_record(data);
	for (int i = 0; i < TRACE_BYTES; i++)
		put8(data, 0xff);
}

/* Alone it is no recording; beside samples it is said. */
static void test_hardware_trace(void)
{
	static const char *const names[] = {"a hardware trace", "an Intel PT trace",
		"an Intel BTS trace", "a CoreSight trace", "an Arm SPE trace",
		"a CPU-measurement trace of s390", "a HiSilicon PTT trace", "a hardware trace",
		"a hardware trace"};

	for (uint32_t kind = 0; kind < G_N_ELEMENTS(names); kind++) {
		for (int has_samples = 0; has_samples < 2; has_samples++) {
			g_auto(SampleFile) file;
			g_autoptr(GError) error = NULL;
			SampleFile *files[] = {&file};
			sample_file_init(&file);
			add_cpu_clock(&file);
			put_trace(&file.file.data, kind, kind + 1 < G_N_ELEMENTS(names));
			if (has_samples != 0)
				add_at(&file, 0, 0x1000, 1000);
			g_autoptr(LodeProfile) profile = import_files(files, 1, &error);
			if (has_samples == 0) {
				g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
				g_assert_nonnull(strstr(error->message, names[kind]));
				g_assert_nonnull(strstr(error->message, "(96 bytes)"));
				g_assert_nonnull(strstr(error->message, "perf inject --itrace"));
				continue;
			}
			g_assert_no_error(error);
			g_autofree char *reason = g_strconcat(
				strchr(names[kind], ' ') + 1, " that is not decoded", NULL);
			check_reason(profile, reason, 1, 0);
		}
	}
}

/* 'perf record -c N' need not write the period, and what was mapped counts in the file's order. */
static void check_bare(bool is_pipe)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	sample_file_init(&file);
	file.file.is_pipe = is_pipe;
	file.has_times = file.has_periods = file.has_branches = false;
	add_cpu_clock(&file);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	add_at(&file, 0, entry + program.bias, 0);
	begin(&file, &program);
	add_at(&file, 0, entry + program.bias, 0);
	add_at(&file, 0, entry + program.bias, 0);
	sample_file_exec(&file, PID, 0);
	add_at(&file, 0, entry + program.bias, 0);
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpfloat(event_at(profile, "cpu-clock", "wander", entry), ==, 2000);
	check_reason(profile, "sample outside any mapping", 2, 2000);
}

static void test_no_times(void)
{
	check_bare(false);
	check_bare(true);
}

static LodePerfMapping with_build_id(const SampledProgram *program, const uint8_t *build_id)
{
	LodePerfMapping mapping = program->mapping;

	mapping.build_id = build_id;
	return mapping;
}

static void test_build_id(void)
{
	g_auto(SampledProgram) program;
	g_autoptr(GString) other = g_string_new(NULL);
	uint8_t wrong[20];

	sampled_program_open(&program, PROGRAM_BRANCHES);
	for (uint8_t i = 0; i < 20; i++) {
		wrong[i] = (uint8_t)(i + 100);
		g_string_append_printf(other, "%02x", wrong[i]);
	}
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	for (int i = 0; i < 2; i++) {
		g_auto(SampleFile) file;
		LodePerfMapping mapping = with_build_id(
			&program, i == 0 ? program.build_id : wrong);
		sample_file_init(&file);
		add_cpu_clock(&file);
		sample_file_map(&file, PID, 2, &mapping);
		add_at(&file, 0, entry + program.bias, 1000);
		g_autoptr(LodeProfile) profile = import(&file);
		const LodeUnresolved *row = find_unresolved(profile, "no image file");
		g_assert_cmpint(row != NULL, ==, i == 1);
		if (row == NULL)
			continue;
		g_assert_cmpfloat(row->weight, ==, 1000);
		g_assert_nonnull(strstr(row->example, other->str));
		g_assert_nonnull(strstr(row->example, lode_binary_image_build_id(program.image)));
		g_assert_cmpstr(lode_profile_image(profile, 0)->build_id, ==, other->str);
	}
}

static void test_missing_file(void)
{
	const LodePerfMapping gone = {.start = 0x400000, .size = 0x1000, .path = "/nonexistent/x"};
	g_auto(SampleFile) file;

	sample_file_init(&file);
	add_cpu_clock(&file);
	sample_file_map(&file, PID, 2, &gone);
	add_at(&file, 0, 0x400010, 1000);
	add_at(&file, 0, 0x400020, 1000);
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpfloat(find_unresolved(profile, "no image file")->weight, ==, 2000);
	g_assert_cmpuint(find_unresolved(profile, "no image file")->places, ==, 2);
}

/* Where code is not decoded, one place stands for a function, beside decoded code too. */
static void test_other_machine(void)
{
	g_auto(SampledProgram) program;
	g_auto(SampleFile) file;

	sampled_program_open(&program, PROGRAM_OF_MIPS);
	uint64_t first = sampled_program_function(&program, "first")->address;
	uint64_t second = sampled_program_function(&program, "second")->address;
	sample_file_init(&file);
	file.has_branches = false;
	add_cpu_clock(&file);
	sample_file_map(&file, PID, 2, &program.mapping);
	for (uint64_t i = 0; i < 9; i++)
		add_at(&file, 0, first + program.bias + 4 * (i % 4), 1000);
	add_at(&file, 0, second + program.bias + 8, 1000);
	g_autoptr(LodeProfile) profile = import(&file);
	g_assert_cmpuint(profile->code.functions->len, ==, 2);
	g_assert_cmpuint(profile->code.instructions->len, ==, 2);
	g_assert_cmpfloat(event_at(profile, "cpu-clock", "first", first), ==, 9000);
	g_assert_cmpfloat(event_at(profile, "cpu-clock", "second", second), ==, 1000);
	check_reason(profile, "not decoded: MIPS", 0, 10000);
	const LodeInstruction *row = lode_profile_instruction(
		profile, find_instruction(profile, "first", first));
	g_assert_cmpuint(row->location, !=, LODE_NONE);
	const LodeAttributeSet *set = &LODE_AT(
		profile->code.attribute_sets, LodeAttributeSet, row->attribute_set);
	g_assert_cmpuint(set->n, ==, 1);
	g_assert_cmpstr(g_ptr_array_index(profile->code.attributes,
				LODE_AT(profile->code.set_members, uint32_t, set->first)),
		==, "kind:not-decoded");
}

/* Of two processes with the same number, at two places, in two files. */
static void test_two_files(void)
{
	g_auto(SampledProgram) program;
	SampleFile files[2], *both[] = {&files[0], &files[1]};
	g_autoptr(GError) error = NULL;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	for (unsigned i = 0; i < 2; i++) {
		LodePerfMapping moved = program.mapping;
		moved.start += i * 0x10000000;
		sample_file_init(&files[i]);
		sample_file_add_event(&files[i], PERF_TYPE_SOFTWARE,
			i == 0 ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_PAGE_FAULTS, 1);
		add_cpu_clock(&files[i]);
		sample_file_map(&files[i], PID, 2, &moved);
		add_at(&files[i], 1, entry + program.bias + i * 0x10000000, 1000 + i);
		add_at(&files[i], 1, entry + program.bias + (1 - i) * 0x10000000, 10);
	}
	g_autoptr(LodeProfile) profile = import_files(both, 2, &error);
	g_assert_no_error(error);
	check_weight_is_whole(profile);
	check_samples_are_costs(profile);
	g_assert_cmpfloat(event_at(profile, "cpu-clock", "wander", entry), ==, 2001);
	check_reason(profile, "sample outside any mapping", 2, 20);
	sample_file_clear(&files[0]);
	sample_file_clear(&files[1]);
}

/* perf's table of build-ids has rows of the program: its own id where nothing is added to it. */
static void put_table(
	SampleFile *file, const SampledProgram *program, const uint8_t *added, unsigned n)
{
	PerfDataWriter *table = perf_data_file_feature(&file->file, 2);

	for (unsigned i = 0; i < n; i++) {
		begin_record(table, 0, PERF_RECORD_MISC_USER);
		put32(table, UINT32_MAX);
		for (unsigned j = 0; j < 20; j++)
			put8(table, (uint8_t)(program->build_id[j] + added[i]));
		put32(table, 0);
		put_text(table, program->path);
		end_record(table);
	}
}

/* A program that was built again while it was recorded: perf looks at its path when it ends, so
 * that only the inode tells which of its mappings are of the file that lies there. */
static void test_several_builds(void)
{
	enum { DISTANCE = 0x10000000 };
	/* What the table has, and of two mappings, the first with the file's inode, which resolve.
	 */
	static const struct {
		uint8_t ids[4];
		unsigned n_ids, n_mappings, n_resolved;
		unsigned other_device;
	} rows[] = {
		{{0}, 1, 1, 1, 0},
		{{0}, 1, 2, 1, 0},
		{{0}, 1, 2, 2, 1},
		{{1, 2}, 2, 1, 0, 0},
		{{0, 1, 0}, 3, 1, 0, 0},
		{{0, 1}, 2, 2, 1, 0},
		{{1, 2, 0}, 3, 2, 1, 0},
	};
	g_auto(SampledProgram) program;
	struct stat status;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	g_assert_cmpint(stat(program.path, &status), ==, 0);
	uint64_t entry = sampled_program_function(&program, "wander")->address + program.bias;
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		SampleFile file, *one = &file;
		g_autoptr(GError) error = NULL;
		sample_file_init(&file);
		add_cpu_clock(&file);
		for (unsigned j = 0; j < rows[i].n_mappings; j++) {
			LodePerfMapping mapping = program.mapping;
			mapping.start += j * DISTANCE;
			mapping.device_major = major(status.st_dev) + j * rows[i].other_device;
			mapping.device_minor = minor(status.st_dev);
			mapping.inode = status.st_ino + j;
			sample_file_map(&file, PID, 2, &mapping);
			add_at(&file, 0, entry + j * DISTANCE, 1000);
		}
		put_table(&file, &program, rows[i].ids, rows[i].n_ids);
		g_autoptr(LodeProfile) profile = import_files(&one, 1, &error);
		g_assert_no_error(error);
		const LodeUnresolved *lost = find_unresolved(profile, "no image file");
		unsigned n_lost = rows[i].n_mappings - rows[i].n_resolved;
		g_assert_cmpfloat(lost != NULL ? lost->weight : 0, ==, 1000.0 * n_lost);
		sample_file_clear(&file);
	}
}

/* What the first file's build-id table says of a path is not said of the second's. */
static void test_build_ids_of_two_files(void)
{
	g_auto(SampledProgram) program;
	SampleFile files[2], *both[] = {&files[0], &files[1]};
	g_autoptr(GError) error = NULL;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	uint64_t entry = sampled_program_function(&program, "wander")->address;
	for (unsigned i = 0; i < 2; i++) {
		sample_file_init(&files[i]);
		add_cpu_clock(&files[i]);
		sample_file_map(&files[i], PID, 2, &program.mapping);
		add_at(&files[i], 0, entry + program.bias, 1000);
		const uint8_t added = (uint8_t)i;
		put_table(&files[i], &program, &added, 1);
	}
	g_autoptr(LodeProfile) profile = import_files(both, 2, &error);
	g_assert_no_error(error);
	g_assert_nonnull(find_unresolved(profile, "no image file"));
	g_assert_nonnull(
		strstr(find_unresolved(profile, "no image file")->example, "not the file that"));
	sample_file_clear(&files[0]);
	sample_file_clear(&files[1]);
}

static void test_no_event(void)
{
	g_auto(SampleFile) file;
	SampleFile *one = &file;
	g_autoptr(GError) error = NULL;

	sample_file_init(&file);
	file.file.is_pipe = true;
	g_assert_null(import_files(&one, 1, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
}

/* As one stack each holds so many branches, newest first; the last one holds fewer. */
static void add_stacks(SampleFile *file, const Walk *walk, guint depth)
{
	for (guint first = 0; first < walk->branches->len; first += depth) {
		guint n = MIN(depth, walk->branches->len - first);
		g_autofree LodePerfBranch *newest_first = g_new(LodePerfBranch, n);
		for (guint i = 0; i < n; i++)
			newest_first[i] = g_array_index(
				walk->branches, LodePerfBranch, first + n - 1 - i);
		const Sample sample = {.mode = PERF_RECORD_MISC_USER,
			.pid = PID,
			.time_ns = 100,
			.ip = newest_first[0].target,
			.period = 1000,
			.branches = newest_first,
			.n_branches = n};
		sample_file_add(file, &sample);
	}
}

static LodeProfile *import_walk(const SampledProgram *program, const Walk *walk, guint depth)
{
	g_auto(SampleFile) file;

	sample_file_init(&file);
	add_cpu_clock(&file);
	begin(&file, program);
	add_stacks(&file, walk, depth);
	LodeProfile *profile = import(&file);
	g_assert_cmpint(profile->run.frequency, ==, LODE_FREQUENCY_SAMPLED);
	return profile;
}

static bool is_near(double value, double wanted, double tolerance)
{
	return value >= wanted - tolerance * (wanted + 10) &&
	       value <= wanted + tolerance * (wanted + 10);
}

/* The counts of a function are those of the walk; with tolerance 0, exactly. */
static void check_counts(const LodeProfile *profile, const SampledProgram *program,
	const Walk *walk, const char *name, double tolerance)
{
	const LodeBinaryFunction *function = sampled_program_function(program, name);
	unsigned n = 0;

	for (uint64_t offset = 0; offset < function->size; offset++) {
		uint64_t address = function->address + offset;
		double executed = walk_count(walk->executed, address);
		uint32_t at = find_instruction(profile, name, address);
		double count = at != LODE_NONE ? lode_profile_instruction(profile, at)->count : 0;
		if (!is_near(count, executed, tolerance))
			g_error("%s+0x%x: %g instead of %g", name, (unsigned)offset, count,
				executed);
		n += executed > 0;
		if (executed == 0 || tolerance > 0)
			continue;
		double fallen = walk_count(walk->fallen, address);
		double next = lode_profile_instruction(profile, at)->next_count;
		g_assert_cmpfloat(MAX(next, 0), ==, fallen);
	}
	g_assert_cmpuint(n, >, 8);
}

/* Taken branches inside of it; gives how many executions went over them. */
static double check_taken(const LodeProfile *profile, const SampledProgram *program,
	const Walk *walk, const char *name, double tolerance)
{
	const LodeFunction *own = find_profile_function(profile, name);
	double sum = 0;

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		const LodeInstruction *rows =
			(const LodeInstruction *)profile->code.instructions->data;
		uint64_t source = rows[edge->source].address, target = rows[edge->target].address;
		if (source - own->address >= own->size || target - own->address >= own->size)
			continue;
		double wanted = walk_taken(walk, program, source, target);
		g_assert_true(is_near(edge->count, wanted, tolerance));
		sum += edge->count;
	}
	return sum;
}

static double taken_inside(const Walk *walk, const SampledProgram *program, const char *name)
{
	const LodeBinaryFunction *own = sampled_program_function(program, name);
	double n = 0;

	for (guint i = 0; i < walk->branches->len; i++) {
		const LodePerfBranch *branch = &g_array_index(walk->branches, LodePerfBranch, i);
		n += branch->source - program->bias - own->address < own->size &&
		     branch->target - program->bias - own->address < own->size;
	}
	return n;
}

/* What comes into each instruction of the function is what executes; its entry is called. */
static void check_conserved(const LodeProfile *profile, const char *name)
{
	const LodeFunction *own = find_profile_function(profile, name);
	const LodeInstruction *rows = (const LodeInstruction *)profile->code.instructions->data;
	g_autofree double *in = g_new0(double, profile->code.instructions->len);

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->kind != LODE_EDGE_RETURN && edge->kind != LODE_EDGE_CALL)
			in[edge->target] += edge->count;
	}
	for (guint i = 0; i + 1 < profile->code.instructions->len; i++)
		in[i + 1] += MAX(rows[i].next_count, 0);
	for (uint32_t i = 1; i < own->n_instructions; i++)
		g_assert_cmpfloat(
			in[own->first_instruction + i], ==, rows[own->first_instruction + i].count);
}

static void test_whole_stack(void)
{
	enum { BRANCHES = 2500 };

	for (guint32 seed = 0; seed < 20; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(seed));
		g_auto(SampledProgram) program;
		g_auto(Walk) walk;
		sampled_program_open(&program, PROGRAM_BRANCHES);
		walk_run(&walk, &program, "drive", "wander", BRANCHES, rand);
		g_autoptr(LodeProfile) profile = import_walk(&program, &walk, walk.branches->len);
		check_counts(profile, &program, &walk, "wander", 0);
		check_counts(profile, &program, &walk, "descend", 0);
		check_conserved(profile, "descend");
		g_assert_cmpfloat(check_taken(profile, &program, &walk, "wander", 0), ==,
			taken_inside(&walk, &program, "wander"));
		check_conserved(profile, "wander");
		check_conserved(profile, "drive");
	}
}

/* As the hardware has them: each stack's newest range is estimated from the others. */
static void test_short_stacks(void)
{
	enum { BRANCHES = 100000, DEPTH = 32 };
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(1));
	g_auto(SampledProgram) program;
	g_auto(Walk) walk;

	sampled_program_open(&program, PROGRAM_BRANCHES);
	walk_run(&walk, &program, "drive", "wander", BRANCHES, rand);
	g_autoptr(LodeProfile) profile = import_walk(&program, &walk, DEPTH);
	check_counts(profile, &program, &walk, "wander", 0.01);
	check_counts(profile, &program, &walk, "descend", 0.01);
	check_counts(profile, &program, &walk, "drive", 0.01);
	check_taken(profile, &program, &walk, "wander", 0.01);
	check_conserved(profile, "wander");
	check_conserved(profile, "drive");
	double calls = walk_count(
		walk.executed, sampled_program_function(&program, "wander")->address);
	g_assert_true(is_near(find_profile_function(profile, "wander")->calls, calls, 0.01));
}

/* Samples all over a program of the system, in nearly each of its functions. */
static void add_everywhere(SampleFile *file, const SampledProgram *program)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(5);
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(program->image, &n);

	for (size_t i = 0; i < n; i++)
		for (int hot = g_rand_int_range(rand, 0, 6); hot > 0 && functions[i].size > 0;
			hot--) {
			uint64_t offset = g_rand_int(rand) % functions[i].size;
			add_at(file, 0, functions[i].address + program->bias + offset,
				(uint64_t)g_rand_int_range(rand, 1, 5000));
		}
}

/* What is stored of a file that is imported by so many threads. */
static GBytes *stored_by(const char *directory, const char *data, unsigned threads)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_build_filename(directory, "stored.lode", NULL);
	const LodeImportOptions options = {.paths = &data, .n_paths = 1, .threads = threads};
	g_autoptr(LodeProfile) profile = lode_import(&options, NULL, &error);
	char *bytes;
	gsize size;

	g_assert_no_error(error);
	g_assert_cmpuint(profile->code.functions->len, >, 50);
	lode_profile_store_write(path, profile, NULL, &error);
	g_assert_no_error(error);
	g_file_get_contents(path, &bytes, &size, &error);
	g_assert_no_error(error);
	g_unlink(path);
	return g_bytes_new_take(bytes, size);
}

static void test_threads(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *data = g_build_filename(directory, "sampled.data", NULL);
	g_auto(SampledProgram) program = {0};
	g_auto(SampleFile) file;

	sampled_program_open(&program, "/bin/sh");
	sample_file_init(&file);
	file.has_branches = false;
	add_cpu_clock(&file);
	begin(&file, &program);
	add_everywhere(&file, &program);
	sample_file_write(&file, data);
	g_autoptr(GBytes) first = stored_by(directory, data, 1);
	for (unsigned threads = 2; threads <= 3; threads++) {
		g_autoptr(GBytes) more = stored_by(directory, data, threads);
		g_assert_true(g_bytes_equal(first, more));
	}
	g_unlink(data);
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sample-import/reasons", test_reasons);
	g_test_add_func("/sample-import/many-events", test_many_events);
	g_test_add_func("/sample-import/left-out", test_left_out);
	g_test_add_func("/sample-import/event-names", test_event_names);
	g_test_add_func("/sample-import/causes", test_causes);
	g_test_add_func("/sample-import/unused-event", test_unused_event);
	g_test_add_func("/sample-import/groups", test_groups);
	g_test_add_func("/sample-import/group-of-unknown", test_group_of_unknown);
	g_test_add_func("/sample-import/unknown-kernel-chain", test_unknown_kernel_chain);
	g_test_add_func("/sample-import/kernel-chain", test_kernel_chain);
	g_test_add_func("/sample-import/hardware-trace", test_hardware_trace);
	g_test_add_func("/sample-import/no-times", test_no_times);
	g_test_add_func("/sample-import/build-id", test_build_id);
	g_test_add_func("/sample-import/missing-file", test_missing_file);
	g_test_add_func("/sample-import/inlined", test_inlined);
	g_test_add_func("/sample-import/many-samples", test_many_samples);
	g_test_add_func("/sample-import/many-samples-apart", test_many_samples_apart);
	g_test_add_func("/sample-import/names-of-threads", test_names_of_threads);
	g_test_add_func("/sample-import/other-machine", test_other_machine);
	g_test_add_func("/sample-import/two-files", test_two_files);
	g_test_add_func("/sample-import/build-ids-of-two-files", test_build_ids_of_two_files);
	g_test_add_func("/sample-import/several-builds", test_several_builds);
	g_test_add_func("/sample-import/no-event", test_no_event);
	g_test_add_func("/sample-import/whole-stack", test_whole_stack);
	g_test_add_func("/sample-import/short-stacks", test_short_stacks);
	g_test_add_func("/sample-import/threads", test_threads);
	return g_test_run();
}
