/* SPDX-License-Identifier: MIT */
/* Which attributes are opened on machines that the test makes up: with a PMU, without, forbidden.
 */
#include "base/error.h"
#include "record/events/perf_event_choice.h"

#include "fake_kernel.h"

#include <string.h>
#include <time.h>

typedef int (*Judge)(const struct perf_event_attr *attr, int cpu);

static const struct perf_event_attr *first_of(const GPtrArray *choices)
{
	return &((const LodePerfChoice *)choices->pdata[0])->attr;
}

static const char *name_of_first(const GPtrArray *choices)
{
	return ((const LodePerfChoice *)choices->pdata[0])->name;
}

/* The choices on a machine; tries, if given, counts the attributes that were tried. */
static GPtrArray *choose(Judge judge, const LodePerfSamplerOptions *options, char **out_note,
	GError **error, guint *out_tries)
{
	FakeKernel fake;
	GString *note = g_string_new(NULL);

	fake_kernel_init(&fake, judge);
	GPtrArray *choices = lode_perf_choices_make(&fake.kernel, options, note, error);
	if (out_tries != NULL)
		*out_tries = fake.tried->len;
	fake_kernel_clear(&fake);
	*out_note = g_string_free(note, FALSE);
	return choices;
}

/* As Intel's since Sandy Bridge without extended PEBS: precise up to 2, branches, user code only.
 */
static int judge_pmu(const struct perf_event_attr *attr, int cpu)
{
	(void)cpu;
	if (!attr->exclude_kernel)
		return EACCES;
	if (attr->precise_ip > 2)
		return EOPNOTSUPP;
	return 0;
}

static int judge_no_pmu(const struct perf_event_attr *attr, int cpu)
{
	(void)cpu;
	if (attr->type != PERF_TYPE_SOFTWARE)
		return ENOENT;
	return (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 ? EOPNOTSUPP : 0;
}

/* Linux 4.x: none of the newer fields. */
static int judge_old(const struct perf_event_attr *attr, int cpu)
{
	if ((attr->read_format & PERF_FORMAT_LOST) != 0 ||
		(attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) != 0 ||
		(attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0)
		return EINVAL;
	return judge_pmu(attr, cpu);
}

/* An architecture that cannot dump stacks. */
static int judge_no_dumps(const struct perf_event_attr *attr, int cpu)
{
	return (attr->sample_type & PERF_SAMPLE_STACK_USER) != 0 ? ENOSYS : judge_no_pmu(attr, cpu);
}

static int judge_forbidden(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	(void)cpu;
	return EACCES;
}

static int judge_filtered(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	(void)cpu;
	return EPERM;
}

static void test_default_with_pmu(void)
{
	const LodePerfSamplerOptions options = {.content.has_branch_stacks = true};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	guint tries;
	g_autoptr(GPtrArray) choices = choose(judge_pmu, &options, &note, &error, &tries);

	g_assert_no_error(error);
	g_assert_cmpuint(choices->len, ==, 2);
	g_assert_cmpstr(name_of_first(choices), ==, "cycles:upp");
	g_assert_cmpstr(note, ==, "");
	g_assert_cmpuint(tries, ==, 4);
	const struct perf_event_attr *attr = first_of(choices);
	g_assert_cmpuint(attr->type, ==, PERF_TYPE_HARDWARE);
	g_assert_cmpuint(attr->config, ==, PERF_COUNT_HW_CPU_CYCLES);
	g_assert_cmpuint(attr->precise_ip, ==, 2);
	g_assert_true(attr->exclude_kernel && attr->exclude_hv && !attr->exclude_user);
	g_assert_true(attr->inherit && attr->disabled && attr->sample_id_all);
	g_assert_true(attr->mmap2 && attr->comm_exec && attr->task && !attr->mmap_data);
	g_assert_true(attr->use_clockid);
	g_assert_cmpint(attr->clockid, ==, CLOCK_MONOTONIC);
	g_assert_true(attr->freq && (attr->sample_type & PERF_SAMPLE_PERIOD) != 0);
	g_assert_cmpuint(attr->sample_freq, ==, 4000);
	g_assert_cmpuint(attr->branch_sample_type, ==,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_HW_INDEX);
}

static void test_default_without_pmu(void)
{
	const LodePerfSamplerOptions options = {.frequency = 1000};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	g_autoptr(GPtrArray) choices = choose(judge_no_pmu, &options, &note, &error, NULL);

	g_assert_no_error(error);
	g_assert_cmpstr(name_of_first(choices), ==, "cpu-clock:u");
	g_assert_cmpuint(first_of(choices)->type, ==, PERF_TYPE_SOFTWARE);
	g_assert_cmpuint(first_of(choices)->config, ==, PERF_COUNT_SW_CPU_CLOCK);
	g_assert_cmpuint(first_of(choices)->sample_freq, ==, 1000);
	/* What each recording on a virtual machine would say tells nobody anything. */
	g_assert_cmpstr(note != NULL ? note : "", ==, "");
}

/* What an old kernel lacks is left out, and neither the precise level nor the samples suffer. */
static void test_old_kernel(void)
{
	const LodePerfSamplerOptions options = {.content.has_branch_stacks = true,
		.content.has_data_addresses = true,
		.period = 1009};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	g_autoptr(GPtrArray) choices = choose(judge_old, &options, &note, &error, NULL);

	g_assert_no_error(error);
	const struct perf_event_attr *attr = first_of(choices);
	g_assert_cmpstr(name_of_first(choices), ==, "cycles:upp");
	g_assert_cmpuint(attr->read_format, ==, PERF_FORMAT_ID);
	g_assert_cmpuint(attr->sample_type, ==,
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_CPU | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_ADDR |
			PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT);
	g_assert_cmpuint(
		attr->branch_sample_type, ==, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	g_assert_true(attr->mmap_data && !attr->freq);
	g_assert_cmpuint(attr->sample_period, ==, 1009);
	g_assert_cmpstr(note, ==, "");
}

static void check_stack(Judge judge, uint32_t stack_bytes)
{
	static const char *const faults[] = {"page-faults:u", NULL};
	const LodePerfSamplerOptions options = {.content.has_user_registers = true,
		.content.has_data_addresses = true,
		.content.user_stack_bytes = 250,
		.exact_events = faults};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	g_autoptr(GPtrArray) choices = choose(judge, &options, &note, &error, NULL);

	g_assert_no_error(error);
	const struct perf_event_attr *attr = first_of(choices);
	const LodePerfChoice *each = choices->pdata[1];
	g_assert_cmpuint(attr->sample_stack_user, ==, stack_bytes);
	g_assert_true(((attr->sample_type & PERF_SAMPLE_STACK_USER) != 0) == (stack_bytes > 0));
	g_assert_true((attr->sample_type & PERF_SAMPLE_REGS_USER) != 0);
	g_assert_cmpuint(each->attr.sample_type & PERF_SAMPLE_STACK_USER, ==, 0);
	g_assert_cmpuint(each->attr.sample_stack_user, ==, 0);
}

static void test_stack(void)
{
	check_stack(judge_no_pmu, 256);
	check_stack(judge_no_dumps, 0);
}

/* Refuses page faults. */
static int judge_no_faults(const struct perf_event_attr *attr, int cpu)
{
	return attr->config == PERF_COUNT_SW_PAGE_FAULTS && attr->type == PERF_TYPE_SOFTWARE
	               ? ENOENT
	               : judge_no_pmu(attr, cpu);
}

/* Beside the others: by its own period, with addresses and nothing else; or not at all. */
static void test_aside(void)
{
	static const char *const faults[] = {"page-faults:u", NULL};
	const LodePerfSamplerOptions options = {.content.has_user_registers = true,
		.content.has_data_mappings = true,
		.content.has_no_switches = true,
		.content.user_stack_bytes = 512,
		.aside_events = faults,
		.aside_period = 61};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL, *refused_note = NULL;
	g_autoptr(GPtrArray) choices = choose(judge_no_pmu, &options, &note, &error, NULL);
	g_autoptr(GPtrArray)
		refused = choose(judge_no_faults, &options, &refused_note, &error, NULL);

	g_assert_no_error(error);
	g_assert_cmpuint(choices->len, ==, 2);
	const struct perf_event_attr *attr = first_of(choices);
	const LodePerfChoice *aside = choices->pdata[1];
	g_assert_true(attr->mmap_data && (attr->sample_type & PERF_SAMPLE_ADDR) == 0);
	g_assert_true(aside->is_aside && !aside->is_tracking && !aside->attr.freq);
	g_assert_cmpuint(aside->attr.sample_period, ==, 61);
	g_assert_cmpuint(aside->attr.sample_type, ==,
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_CPU | PERF_SAMPLE_ADDR);
	g_assert_cmpuint(refused->len, ==, 1);
	g_assert_nonnull(strstr(refused_note, "not sampled: "));
}

/* The kernel's own calls say what entered it, unless calls are recorded anyway. */
static void test_kernel_entries(void)
{
	static const char *const both[] = {"cpu-clock", "task-clock:u", NULL};
	LodePerfSamplerOptions options = {
		.events = both, .content.has_kernel = true, .content.has_user_registers = true};
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < 2; i++) {
		g_autofree char *note = NULL;
		g_autoptr(GPtrArray) choices = choose(judge_no_pmu, &options, &note, &error, NULL);
		g_assert_no_error(error);
		const struct perf_event_attr *attr = first_of(choices);
		const LodePerfChoice *user = choices->pdata[1];
		g_assert_true((attr->sample_type & PERF_SAMPLE_CALLCHAIN) != 0);
		g_assert_cmpint(attr->exclude_callchain_user, ==, i == 0);
		g_assert_cmpint((user->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0, ==, i == 1);
		options.content.has_call_chains = true;
	}
}

static void test_kernel_code(void)
{
	const char *const events[] = {"instructions,cycles:p", "branch-misses:u", NULL};
	const LodePerfSamplerOptions options = {.events = events};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	g_autoptr(GPtrArray) choices = choose(judge_pmu, &options, &note, &error, NULL);

	g_assert_no_error(error);
	g_assert_cmpuint(choices->len, ==, 4);
	g_assert_cmpstr(name_of_first(choices), ==, "instructions:u");
	const LodePerfChoice *second = choices->pdata[1], *third = choices->pdata[2];
	g_assert_cmpstr(second->name, ==, "cycles:up");
	g_assert_cmpstr(third->name, ==, "branch-misses:u");
	g_assert_true(first_of(choices)->mmap && !second->attr.mmap && !third->attr.mmap);
	g_assert_cmpstr(note, ==, "only user code is sampled (kernel.perf_event_paranoid is 2)");
}

/* The message names what was asked for, not the event that was chosen. */
static void test_kernel_refused(void)
{
	const LodePerfSamplerOptions options = {.content.has_kernel = true};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;

	g_assert_null(choose(judge_pmu, &options, &note, &error, NULL));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_true(g_str_has_prefix(error->message,
		"--kernel: the kernel forbids sampling its own code: "
		"kernel.perf_event_paranoid is 2;"));
	g_assert_null(strstr(error->message, "cycles"));
}

/* Calls inside the kernel belong to chains of samples there, and to no others. */
static void test_kernel_chains(void)
{
	const char *const events[] = {"cpu-clock", "page-faults:u", NULL};
	const Judge judges[] = {judge_no_pmu, judge_pmu};

	for (size_t i = 0; i < G_N_ELEMENTS(judges); i++) {
		const LodePerfSamplerOptions options = {
			.events = events, .content.has_call_chains = true};
		g_autoptr(GError) error = NULL;
		g_autofree char *note = NULL;
		g_autoptr(GPtrArray) choices = choose(judges[i], &options, &note, &error, NULL);
		g_assert_no_error(error);
		const LodePerfChoice *second = choices->pdata[1];
		g_assert_cmpint(
			first_of(choices)->exclude_kernel, ==, judges[i] == judge_pmu ? 1 : 0);
		g_assert_cmpint(first_of(choices)->exclude_callchain_kernel, ==,
			judges[i] == judge_pmu ? 1 : 0);
		g_assert_cmpint(second->attr.exclude_callchain_kernel, ==, 1);
	}
}

/* Mappings are told by an event that nobody stops. */
static void test_tracking(void)
{
	const char *const events[] = {"cpu-clock:u", NULL};
	const LodePerfSamplerOptions options = {.events = events, .control.start_stopped = true};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	g_autoptr(GPtrArray) choices = choose(judge_no_pmu, &options, &note, &error, NULL);

	g_assert_no_error(error);
	g_assert_cmpuint(choices->len, ==, 3);
	const LodePerfChoice *first = choices->pdata[0], *last = choices->pdata[1];
	g_assert_true(!first->is_tracking && !first->attr.mmap2 && !first->attr.comm);
	g_assert_true(last->is_tracking && last->attr.mmap2 && last->attr.comm);
	g_assert_cmpuint(last->attr.config, ==, PERF_COUNT_SW_DUMMY);
	g_assert_cmpuint(last->attr.sample_type & PERF_SAMPLE_IDENTIFIER, !=, 0);
}

/* A timer samples more often at first, by an event of its own, unless it can be stopped, the rate
 * is not higher or the kernel allows no more, or the event is none. */
static void test_first(void)
{
	const char *const clock[] = {"cpu-clock:u", NULL}, *const faults[] = {
								   "page-faults:u", NULL};
	const struct {
		LodePerfSamplerOptions options;
		uint64_t first; /* 0: none */
	} cases[] = {
		{{.events = clock, .frequency = 1500, .first.frequency = 6000, .first.ms = 500},
			6000},
		{{.events = clock, .frequency = 1500, .first.frequency = 6000000, .first.ms = 500},
			100000},
		{{.events = clock, .frequency = 7000, .first.frequency = 6000, .first.ms = 500}, 0},
		{{.events = clock, .frequency = 1500}, 0},
		{{.events = clock, .period = 50000, .first.frequency = 90000, .first.ms = 500}, 0},
		{{.events = faults, .frequency = 1500, .first.frequency = 6000, .first.ms = 500},
			0},
		{{.events = clock,
			 .frequency = 1500,
			 .first.frequency = 6000,
			 .first.ms = 500,
			 .control.delay_ms = 10},
			0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *note = NULL;
		g_autoptr(GPtrArray)
			choices = choose(judge_no_pmu, &cases[i].options, &note, &error, NULL);
		g_assert_no_error(error);
		const LodePerfChoice *later = choices->pdata[0], *first = choices->pdata[1];
		if (cases[i].first == 0) {
			g_assert_cmpint(later->stretch, ==, LODE_PERF_ALWAYS);
			g_assert_true(first->is_tracking);
			continue;
		}
		g_assert_cmpint(later->stretch, ==, LODE_PERF_LATER);
		g_assert_cmpint(first->stretch, ==, LODE_PERF_AT_FIRST);
		g_assert_cmpstr(first->name, ==, later->name);
		g_assert_cmpuint(later->attr.sample_freq, ==, cases[i].options.frequency);
		g_assert_cmpuint(first->attr.sample_freq, ==, cases[i].first);
		const LodePerfChoice *slices = choices->pdata[2];
		g_assert_cmpint(slices->stretch, ==, LODE_PERF_IN_SLICES);
		/* What each stands for is written into the samples. */
		g_assert_true((slices->attr.sample_type & PERF_SAMPLE_PERIOD) != 0);
		/* Mappings are told in all stretches. */
		const LodePerfChoice *tracking = choices->pdata[3];
		g_assert_true(tracking->is_tracking && tracking->attr.mmap2);
		g_assert_true(!first->attr.mmap2 && !later->attr.mmap2 && !slices->attr.mmap2);
	}
}

/* Linux 4.2. */
static int judge_no_switches(const struct perf_event_attr *attr, int cpu)
{
	return attr->context_switch ? EINVAL : judge_no_pmu(attr, cpu);
}

/* Context switches are told by an event of their own, where the kernel knows them. */
static void test_switching(void)
{
	const char *const events[] = {"cpu-clock:u", NULL};
	const LodePerfSamplerOptions options = {.events = events};
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	g_autoptr(GPtrArray) with = choose(judge_no_pmu, &options, &note, &error, NULL);

	g_assert_no_error(error);
	g_assert_cmpuint(with->len, ==, 2);
	const LodePerfChoice *first = with->pdata[0], *last = with->pdata[1];
	g_assert_true(!first->attr.context_switch && !first->is_switching && first->attr.mmap2);
	g_assert_true(last->attr.context_switch && last->is_switching && last->is_tracking);
	g_assert_true(!last->attr.mmap2 && !last->attr.comm && !last->attr.task);
	g_assert_cmpuint(last->attr.sample_type & PERF_SAMPLE_TIME, !=, 0);
	g_clear_pointer(&note, g_free);
	g_autoptr(GPtrArray) without = choose(judge_no_switches, &options, &note, &error, NULL);
	g_assert_no_error(error);
	g_assert_cmpuint(without->len, ==, 1);
	g_assert_cmpstr(note, ==, "");
	g_clear_pointer(&note, g_free);
	const LodePerfSamplerOptions none = {.events = events, .content.has_no_switches = true};
	g_autoptr(GPtrArray) unwanted = choose(judge_no_pmu, &none, &note, &error, NULL);
	g_assert_no_error(error);
	g_assert_cmpuint(unwanted->len, ==, 1);
}

/* As to a user who may not sample the kernel. */
static int judge_user_code(const struct perf_event_attr *attr, int cpu)
{
	(void)cpu;
	return attr->exclude_kernel ? 0 : EACCES;
}

static int judge_nothing(const struct perf_event_attr *attr, int cpu)
{
	(void)attr;
	(void)cpu;
	return 0;
}

static void write_tracepoint(const char *folder, const char *format)
{
	g_autofree char *sched = g_build_filename(folder, "events/sched/sched_waking", NULL);
	g_autofree char *id = g_build_filename(sched, "id", NULL);
	g_autofree char *form = g_build_filename(sched, "format", NULL);

	g_assert_cmpint(g_mkdir_with_parents(sched, 0700), ==, 0);
	g_assert_true(g_file_set_contents(id, "321\n", -1, NULL));
	g_assert_true(g_file_set_contents(form, format, -1, NULL));
}

static void remove_tracepoint(const char *folder)
{
	static const char *const paths[] = {"events/sched/sched_waking/id",
		"events/sched/sched_waking/format", "events/sched/sched_waking", "events/sched",
		"events", ""};

	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autofree char *path = g_build_filename(folder, paths[i], NULL);
		g_remove(path);
	}
}

/* Where the kernel allows it, and waits are asked for, each switch is a sample, and so is each
 * wake-up if its tracepoint has the known form. */
static void test_switch_samples(void)
{
	static const char known[] =
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
	static const char moved[] =
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";
	static const struct {
		Judge judge;
		const char *format; /* NULL: no tracefs */
		bool has_each_wait;
		guint n;
		bool is_sampled;
	} cases[] = {
		{judge_nothing, known, true, 3, true},
		{judge_nothing, moved, true, 2, true},
		{judge_nothing, NULL, true, 2, true},
		{judge_nothing, known, false, 2, false},
		{judge_user_code, known, true, 2, false},
	};
	const char *const events[] = {"cpu-clock:u", NULL};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodePerfSamplerOptions options = {
			.events = events, .content.has_each_wait = cases[i].has_each_wait};
		g_autofree char *folder = g_dir_make_tmp("lode-test-tracing-XXXXXX", NULL);
		g_autoptr(GString) note = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		FakeKernel fake;
		fake_kernel_init(&fake, cases[i].judge);
		if (cases[i].format != NULL)
			write_tracepoint(folder, cases[i].format);
		fake.kernel.tracing = folder;
		g_autoptr(GPtrArray)
			choices = lode_perf_choices_make(&fake.kernel, &options, note, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(choices->len, ==, cases[i].n);
		const LodePerfChoice *switched = choices->pdata[1];
		g_assert_true(switched->attr.context_switch && switched->is_switching);
		g_assert_cmpuint(switched->attr.config, ==,
			cases[i].is_sampled ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_DUMMY);
		g_assert_cmpint(switched->attr.sample_stack_user > 0, ==, cases[i].is_sampled);
		g_assert_cmpint(switched->attr.exclude_kernel, ==, !cases[i].is_sampled);
		if (cases[i].n > 2) {
			const LodePerfChoice *waking = choices->pdata[2];
			g_assert_cmpuint(waking->attr.type, ==, PERF_TYPE_TRACEPOINT);
			g_assert_cmpuint(waking->attr.config, ==, 321);
			g_assert_true(waking->is_switching && !waking->attr.context_switch);
		}
		bool is_refused = cases[i].has_each_wait && !cases[i].is_sampled;
		g_assert_cmpstr(note->str, ==,
			is_refused
				? "the kernel lets no switch be sampled here: waits are looked at"
				: "");
		remove_tracepoint(folder);
		fake_kernel_clear(&fake);
	}
}

static void check_refusal(
	Judge judge, const LodePerfSamplerOptions *options, int code, const char *words)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;

	g_assert_null(choose(judge, options, &note, &error, NULL));
	g_assert_error(error, LODE_ERROR, code);
	if (strstr(error->message, words) == NULL)
		g_error("'%s' is not in '%s'", words, error->message);
}

static void test_refusals(void)
{
	const char *const cycles[] = {"cycles:u", NULL}, *const precise[] = {"cycles:uppp", NULL};
	const char *const unknown[] = {"cycels", NULL}, *const clock[] = {"cpu-clock:u", NULL};
	const LodePerfSamplerOptions plain = {0},
				     with_branches = {.content.has_branch_stacks = true},
				     by_cycles = {.events = cycles},
				     by_precise = {.events = precise},
				     by_unknown = {.events = unknown},
				     by_clock = {.events = clock,
					     .content.has_branch_stacks = true},
				     too_often = {.frequency = 100001};

	check_refusal(judge_no_pmu, &by_cycles, LODE_ERROR_NOT_FOUND, "'cpu-clock:u' is sampled");
	check_refusal(judge_no_pmu, &with_branches, LODE_ERROR_NOT_FOUND, "branch stacks need");
	check_refusal(judge_no_pmu, &by_clock, LODE_ERROR_UNSUPPORTED, "branch records");
	check_refusal(judge_pmu, &by_precise, LODE_ERROR_UNSUPPORTED, "no precise level 3");
	check_refusal(judge_pmu, &by_unknown, LODE_ERROR_NOT_FOUND, "event 'cycels' is unknown");
	check_refusal(judge_pmu, &too_often, LODE_ERROR_LIMIT,
		"kernel.perf_event_max_sample_rate, 100000");
	check_refusal(judge_filtered, &plain, LODE_ERROR_IO, "seccomp");
}

static void test_paranoid(void)
{
	const LodePerfSamplerOptions options = {0};
	g_autoptr(GString) note = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	FakeKernel fake;

	fake_kernel_init(&fake, judge_forbidden);
	fake_kernel_set(&fake, "perf_event_paranoid", "4\n");
	g_assert_null(lode_perf_choices_make(&fake.kernel, &options, note, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, "kernel.perf_event_paranoid is 4"));
	g_assert_nonnull(strstr(error->message, "sysctl kernel.perf_event_paranoid=2"));
	fake_kernel_clear(&fake);
}

typedef struct {
	const char *name, *stem;
	uint32_t type;
	uint64_t config;
	bool exclude_user, exclude_kernel;
	unsigned precise;
	bool max_precise;
} Name;

static void test_names(void)
{
	static const Name names[] = {
		{"cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false, 0,
			false},
		{"cycles:k", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, false, 0,
			false},
		{"cycles:ukpp", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false,
			false, 2, false},
		{"cycles:upppppp", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false,
			true, 3, false},
		{"PERF_COUNT_SW_PAGE_FAULTS:uP", "PERF_COUNT_SW_PAGE_FAULTS", PERF_TYPE_SOFTWARE,
			PERF_COUNT_SW_PAGE_FAULTS, false, true, 0, true},
		{"r1cd:u", "r1cd", PERF_TYPE_RAW, 0x1cd, false, true, 0, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		struct perf_event_attr attr;
		g_autofree char *stem = NULL;
		g_autoptr(GError) error = NULL;
		bool max_precise;

		g_assert_true(lode_perf_choice_read_name(
			&lode_perf_kernel, names[i].name, &attr, &max_precise, &stem, &error));
		g_assert_no_error(error);
		g_assert_cmpstr(stem, ==, names[i].stem);
		g_assert_cmpuint(attr.type, ==, names[i].type);
		g_assert_cmpuint(attr.config, ==, names[i].config);
		g_assert_cmpuint(attr.exclude_user, ==, names[i].exclude_user);
		g_assert_cmpuint(attr.exclude_kernel, ==, names[i].exclude_kernel);
		g_assert_cmpuint(attr.precise_ip, ==, names[i].precise);
		g_assert_true(max_precise == names[i].max_precise);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/perf-event-choice/default-with-pmu", test_default_with_pmu);
	g_test_add_func("/record/perf-event-choice/default-without-pmu", test_default_without_pmu);
	g_test_add_func("/record/perf-event-choice/old-kernel", test_old_kernel);
	g_test_add_func("/record/perf-event-choice/stack", test_stack);
	g_test_add_func("/record/perf-event-choice/kernel-code", test_kernel_code);
	g_test_add_func("/record/perf-event-choice/kernel-refused", test_kernel_refused);
	g_test_add_func("/record/perf-event-choice/kernel-chains", test_kernel_chains);
	g_test_add_func("/record/perf-event-choice/tracking", test_tracking);
	g_test_add_func("/record/perf-event-choice/first", test_first);
	g_test_add_func("/record/perf-event-choice/switching", test_switching);
	g_test_add_func("/record/perf-event-choice/switch-samples", test_switch_samples);
	g_test_add_func("/record/perf-event-choice/aside", test_aside);
	g_test_add_func("/record/perf-event-choice/kernel_entries", test_kernel_entries);
	g_test_add_func("/record/perf-event-choice/refusals", test_refusals);
	g_test_add_func("/record/perf-event-choice/paranoid", test_paranoid);
	g_test_add_func("/record/perf-event-choice/names", test_names);
	return g_test_run();
}
