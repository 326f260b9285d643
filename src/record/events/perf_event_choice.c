/* SPDX-License-Identifier: MIT */
#include "record/events/perf_event_choice.h"

#include "base/bits.h"
#include "base/error.h"
#include "machine/late_library.h"
#include "record/events/perf_pmu_event.h"
#include "record/waits/switch_samples.h"
#include "sources/perf_data/wait_switch.h"

#include <asm/perf_regs.h>
#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>
#include <unistd.h>

#define ONLY_USER_CODE "only user code is sampled"

/* The kernel refuses 64 KiB − 1 and all that is not a multiple of 8. */
enum { MAX_PRECISE = 3, DEFAULT_FREQUENCY = 4000, MAX_STACK_BYTES = 65528 };

/* Registers that user code sees. The segment registers of x86-64 cannot be sampled. */
#if defined(__x86_64__)
#define USER_REGISTERS                                                                             \
	((LODE_BIT(PERF_REG_X86_64_MAX) - 1) &                                                     \
		~(LODE_BIT(PERF_REG_X86_DS) | LODE_BIT(PERF_REG_X86_ES) |                          \
			LODE_BIT(PERF_REG_X86_FS) | LODE_BIT(PERF_REG_X86_GS)))
#elif defined(__aarch64__)
#define USER_REGISTERS (LODE_BIT(PERF_REG_ARM64_PC + 1) - 1)
#else
#define USER_REGISTERS UINT64_C(0)
#endif

void lode_perf_note(GString *note, const char *format, ...)
{
	va_list arguments;

	if (note->len > 0)
		g_string_append(note, "; ");
	va_start(arguments, format);
	g_string_append_vprintf(note, format, arguments);
	va_end(arguments);
}

/* Where perf's modifiers (perf-list(1)) begin, "u" of "cycles:u" or "cpu/event=1/u"; the end of a
 * name without. */
static const char *modifiers_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *colon = strrchr(name, ':');
	const char *start = colon == NULL || (slash != NULL && slash > colon) ? slash : colon;

	if (start == NULL || start[1 + strspn(start + 1, "ukhpP")] != '\0')
		return name + strlen(name);
	return start + 1;
}

/* Without modifiers, and without the colon before them. */
static char *stem_of(const char *name, const char *modifiers)
{
	bool has_colon = *modifiers != '\0' && modifiers[-1] == ':';

	return g_strndup(name, (gsize)(modifiers - name - has_colon));
}

static void apply_modifiers(
	struct perf_event_attr *attr, const char *modifiers, bool *out_max_precise)
{
	unsigned precise = 0;

	if (strpbrk(modifiers, "ukh") != NULL) {
		attr->exclude_user = strchr(modifiers, 'u') == NULL;
		attr->exclude_kernel = strchr(modifiers, 'k') == NULL;
		attr->exclude_hv = strchr(modifiers, 'h') == NULL;
	}
	for (const char *at = modifiers; *at != '\0'; at++)
		precise += *at == 'p';
	attr->precise_ip = (precise < MAX_PRECISE ? precise : MAX_PRECISE) & MAX_PRECISE;
	*out_max_precise = strchr(modifiers, 'P') != NULL;
}

static bool read_raw(const char *stem, struct perf_event_attr *attr)
{
	guint64 config;

	if (stem[0] != 'r' ||
		!g_ascii_string_to_unsigned(stem + 1, 16, 0, G_MAXUINT64, &config, NULL))
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	attr->exclude_hv = 1;
	return true;
}

/* The tables of events of all processors, which take longer to load than the rest of lode. */
typedef struct {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_get_os_event_encoding) get_os_event_encoding;
	__typeof__(&pfm_strerror) strerror;
} Pfm;

static bool open_pfm(Pfm *out, GError **error)
{
	const LodeLateSymbol symbols[] = {
		{"pfm_initialize", &out->initialize},
		{"pfm_get_os_event_encoding", &out->get_os_event_encoding},
		{"pfm_strerror", &out->strerror},
	};

	return lode_late_library_open(
		"libpfm.so.4", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), error);
}

/* Reads the generic events that the kernel itself numbers, under the names that perf has for them.
 */
static bool read_generic(const char *stem, struct perf_event_attr *attr)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
		{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
		{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
		{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
		{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
		{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
		{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
		{"stalled-cycles-frontend", PERF_TYPE_HARDWARE,
			PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
		{"stalled-cycles-backend", PERF_TYPE_HARDWARE,
			PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
		{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
		{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
		{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
		if (g_ascii_strcasecmp(events[i].name, stem) != 0)
			continue;
		attr->type = events[i].type;
		attr->config = events[i].config;
		attr->exclude_hv = 1;
		return true;
	}
	return false;
}

static bool read_known(const char *stem, struct perf_event_attr *attr, GError **error)
{
	pfm_perf_encode_arg_t encoding = {.attr = attr, .size = sizeof(encoding)};
	Pfm pfm;

	g_autoptr(GError) missing = NULL;
	if (!open_pfm(&pfm, &missing)) {
		if (read_generic(stem, attr))
			return true;
		g_propagate_prefixed_error(error, g_steal_pointer(&missing),
			"event '%s' is unknown without its library: ", stem);
		return false;
	}
	int code = pfm.initialize();
	if (code == PFM_SUCCESS)
		code = pfm.get_os_event_encoding(
			stem, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &encoding);
	if (code == PFM_SUCCESS)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"event '%s' is unknown on this machine: %s; 'perf list' shows names, such as "
		"cpu-clock, page-faults, and with a PMU cycles, instructions, branch-misses",
		stem, pfm.strerror(code));
	return false;
}

bool lode_perf_choice_read_name(const LodePerfKernel *kernel, const char *name,
	struct perf_event_attr *out_attr, bool *out_max_precise, char **out_stem, GError **error)
{
	const char *modifiers = modifiers_of(name);
	g_autofree char *stem = stem_of(name, modifiers);
	struct perf_event_attr attr = {.size = sizeof(attr)};
	bool max_precise = false;

	bool is_read = strchr(stem, '/') != NULL
	                       ? lode_perf_pmu_event_read(kernel->devices, stem, &attr, error)
	                       : read_raw(stem, &attr) || read_known(stem, &attr, error);
	if (!is_read)
		return false;
	attr.size = sizeof(attr);
	apply_modifiers(&attr, modifiers, &max_precise);
	*out_attr = attr;
	*out_max_precise = max_precise;
	*out_stem = g_steal_pointer(&stem);
	return true;
}

/* Sets the attributes of every event. Inherited, so that threads and children are followed. */
static void set_basics(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->disabled = 1;
	attr->inherit = 1;
	attr->exclude_guest = 1;
	attr->sample_id_all = 1;
	/* The clock of jitdumps. */
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

/* With the same fields as the other events have: perf wants that. */
static void set_each(struct perf_event_attr *attr, const LodePerfSamplerOptions *options)
{
	attr->sample_period = 1;
	if (options->period == 0)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
}

/* By a fixed period: to a frequency the kernel adapts too late for what comes in bursts. */
static void set_aside(struct perf_event_attr *attr, const LodePerfSamplerOptions *options)
{
	attr->sample_period = options->aside_period;
	attr->sample_type |= PERF_SAMPLE_ADDR;
}

static void set_rate(struct perf_event_attr *attr, const LodePerfKernel *kernel,
	const LodePerfSamplerOptions *options)
{
	int64_t bound = lode_perf_kernel_setting(
		kernel, "perf_event_max_sample_rate", DEFAULT_FREQUENCY);

	attr->freq = options->period == 0;
	/* Where the period is fixed, a software event that records it would be sampled each time.
	 */
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (options->period > 0)
		attr->sample_period = options->period;
	else if (options->frequency > 0)
		attr->sample_freq = options->frequency;
	else
		attr->sample_freq = (uint64_t)CLAMP(bound, 1, DEFAULT_FREQUENCY);
}

static void set_wishes(struct perf_event_attr *attr, const LodePerfSamplerOptions *options)
{
	if (options->content.has_branch_stacks) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX;
		if (!attr->exclude_user)
			attr->branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
		if (!attr->exclude_kernel)
			attr->branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
	}
	if (options->content.has_call_chains) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_kernel = attr->exclude_kernel;
	}
	/* The kernel's functions say what entered it, the registers where. */
	if (options->content.has_kernel && options->content.has_user_registers &&
		!options->content.has_call_chains && !attr->exclude_kernel) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr->exclude_callchain_user = 1;
	}
	if (options->content.has_user_registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = USER_REGISTERS;
	}
	if (options->content.user_stack_bytes > 0) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = MIN(
			(options->content.user_stack_bytes + 7U) & ~7U, MAX_STACK_BYTES);
	}
	if (options->content.has_data_addresses)
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
		                     PERF_SAMPLE_WEIGHT_STRUCT;
}

static void leave_out_stack(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = 0;
}

/* Each has its address, and there are many: at half the size, fewer are lost in a burst. */
static void leave_out_registers(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN);
	attr->exclude_callchain_kernel = 0;
	attr->exclude_callchain_user = 0;
	attr->sample_regs_user = 0;
	leave_out_stack(attr);
}

/* Tells of mappings, names, and the starts and ends of threads. */
static void set_tracking(struct perf_event_attr *attr, bool has_data)
{
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->mmap_data = has_data;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

static int probe(const LodePerfKernel *kernel, const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	int descriptor = kernel->open(&copy, 0, -1, kernel->user_data);

	if (descriptor < 0)
		return errno;
	close(descriptor);
	return 0;
}

/* Removes attributes that older kernels do not know, newest first: the samples do not change. */
static void leave_out(struct perf_event_attr *attr, unsigned level)
{
	if (level >= 1)
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	if (level >= 2 && (attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) != 0) {
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
		attr->sample_type |= PERF_SAMPLE_WEIGHT;
	}
	if (level >= 3)
		attr->branch_sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_HW_INDEX;
	if (level >= 4)
		attr->exclude_guest = 0;
}

enum { N_LEVELS = 5 };

static bool may_depend_on_attr(int code)
{
	return code == EINVAL || code == EOPNOTSUPP || code == E2BIG;
}

/* Tries the newest fields first, and with them the most precise level: 0, or the errno of the last
 * try, which asks least. */
static int settle(const LodePerfKernel *kernel, struct perf_event_attr *attr, bool max_precise)
{
	unsigned highest = max_precise ? MAX_PRECISE : attr->precise_ip;
	unsigned lowest = max_precise ? 0 : attr->precise_ip;
	int code = 0;

	for (unsigned level = 0; level < N_LEVELS; level++) {
		struct perf_event_attr trial = *attr;
		leave_out(&trial, level);
		for (unsigned i = 0; i <= highest - lowest; i++) {
			trial.precise_ip = (highest - i) & MAX_PRECISE;
			code = probe(kernel, &trial);
			if (code == 0)
				*attr = trial;
			if (!may_depend_on_attr(code))
				return code;
		}
	}
	return code;
}

/* Architectures without dumps of the stack give ENOSYS. */
static int settle_with_stack(
	const LodePerfKernel *kernel, struct perf_event_attr *attr, bool max_precise)
{
	int code = settle(kernel, attr, max_precise);

	if ((attr->sample_type & PERF_SAMPLE_STACK_USER) == 0 ||
		(code != ENOSYS && !may_depend_on_attr(code)))
		return code;
	leave_out_stack(attr);
	return settle(kernel, attr, max_precise);
}

static void choice_free(void *data)
{
	LodePerfChoice *self = data;

	g_free(self->name);
	g_array_unref(self->ids);
	g_free(self);
}

GPtrArray *lode_perf_choices_without_events(void)
{
	GPtrArray *choices = g_ptr_array_new_with_free_func(choice_free);
	LodePerfChoice *choice = g_new0(LodePerfChoice, 1);

	choice->name = g_strdup("cpu-clock:u");
	choice->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	choice->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(choice->attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.read_format = PERF_FORMAT_ID,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	g_ptr_array_add(choices, choice);
	return choices;
}

static char *name_of(const char *stem, const struct perf_event_attr *attr)
{
	GString *name = g_string_new(stem);

	if (!g_str_has_suffix(stem, "/") &&
		(attr->exclude_kernel || attr->exclude_user || attr->precise_ip > 0))
		g_string_append_c(name, ':');
	if (attr->exclude_kernel && !attr->exclude_user)
		g_string_append_c(name, 'u');
	if (attr->exclude_user && !attr->exclude_kernel)
		g_string_append_c(name, 'k');
	for (unsigned i = 0; i < attr->precise_ip; i++)
		g_string_append_c(name, 'p');
	return g_string_free(name, FALSE);
}

static LodePerfChoice *choice_new(const char *stem, const struct perf_event_attr *attr)
{
	LodePerfChoice *self = g_new0(LodePerfChoice, 1);

	self->attr = *attr;
	self->name = name_of(stem, attr);
	self->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

typedef struct {
	const LodePerfKernel *kernel;
	const LodePerfSamplerOptions *options;
	GString *note;
	bool is_exact; /* each event is a sample */
	bool is_aside;
} Chooser;

/* Whether the kernel's own code is what is forbidden: then user code is sampled alone. */
static bool restrict_to_user_code(const Chooser *self, struct perf_event_attr *attr)
{
	if (attr->exclude_kernel || attr->exclude_user || self->options->content.has_kernel)
		return false;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->exclude_callchain_kernel = (attr->sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	attr->branch_sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_KERNEL;
	if (strstr(self->note->str, ONLY_USER_CODE) == NULL)
		lode_perf_note(self->note,
			ONLY_USER_CODE " (kernel.perf_event_paranoid is %" G_GINT64_FORMAT ")",
			lode_perf_kernel_setting(self->kernel, "perf_event_paranoid", 2));
	return true;
}

/* NULL with *out_code 0 when the name is the fault. */
static LodePerfChoice *choose(const Chooser *self, const char *name, int *out_code, GError **error)
{
	struct perf_event_attr attr;
	g_autofree char *stem = NULL;
	bool max_precise;

	*out_code = 0;
	if (!lode_perf_choice_read_name(self->kernel, name, &attr, &max_precise, &stem, error))
		return NULL;
	set_basics(&attr);
	if (self->is_aside)
		set_aside(&attr, self->options);
	else if (self->is_exact)
		set_each(&attr, self->options);
	else
		set_rate(&attr, self->kernel, self->options);
	if (!self->is_aside)
		set_wishes(&attr, self->options);
	if (self->is_exact && self->options->content.has_data_addresses)
		leave_out_registers(&attr);
	int code = settle_with_stack(self->kernel, &attr, max_precise);
	if ((code == EACCES || code == EPERM) && restrict_to_user_code(self, &attr))
		code = settle_with_stack(self->kernel, &attr, max_precise);
	if (code == 0)
		return choice_new(stem, &attr);
	const LodePerfRefusal refusal = {.attr = &attr,
		.event = name,
		.code = code,
		.is_by_kernel = self->options->content.has_kernel && !attr.exclude_kernel &&
	                        !attr.exclude_user};
	lode_perf_kernel_refuse(self->kernel, &refusal, error);
	*out_code = code;
	return NULL;
}

/* Cycles tell more than a timer, as they can be precise and have branch stacks. */
static LodePerfChoice *choose_default(const Chooser *self, GError **error)
{
	g_autoptr(GError) refused = NULL;
	int code;
	bool has_kernel = self->options->content.has_kernel;
	const char *timer = has_kernel ? "cpu-clock" : "cpu-clock:u";
	LodePerfChoice *choice = choose(
		self, has_kernel ? "cycles:P" : "cycles:uP", &code, &refused);

	if (choice != NULL)
		return choice;
	if (self->options->content.has_branch_stacks || (code != ENOENT && code != EOPNOTSUPP)) {
		g_propagate_error(error, g_steal_pointer(&refused));
		return NULL;
	}
	return choose(self, timer, &code, error);
}

static struct perf_event_attr dummy_attr(const Chooser *self)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	set_basics(&attr);
	settle(self->kernel, &attr, false);
	return attr;
}

/* Stopped events report no mappings, so that one event never stops. */
static LodePerfChoice *tracking_choice(const Chooser *self, bool has_data)
{
	struct perf_event_attr attr = dummy_attr(self);

	set_tracking(&attr, has_data);
	LodePerfChoice *choice = choice_new("dummy", &attr);
	choice->is_tracking = true;
	return choice;
}

/* An event of its own, as it is stopped when switches are too many, or mappings of data: those that
 * last are then read from /proc. NULL: the kernel refuses. */
static LodePerfChoice *switching_choice(const Chooser *self, bool has_data)
{
	struct perf_event_attr attr = dummy_attr(self);

	attr.context_switch = 1;
	attr.mmap2 = attr.mmap_data = has_data;
	struct perf_event_attr each = attr;
	if (self->options->content.has_each_wait)
		lode_switch_samples_ask(&each);
	bool is_each = each.sample_regs_user != 0 && probe(self->kernel, &each) == 0;
	if (!is_each && probe(self->kernel, &attr) != 0)
		return NULL;
	LodePerfChoice *choice = choice_new("dummy", is_each ? &each : &attr);
	if (is_each) {
		g_free(choice->name);
		choice->name = g_strdup(LODE_SWITCHED_EVENT);
	}
	choice->is_tracking = true;
	choice->is_switching = true;
	return choice;
}

/* NULL: the kernel, or tracefs, refuses. */
static LodePerfChoice *waking_choice(const Chooser *self)
{
	struct perf_event_attr attr = dummy_attr(self);

	if (!lode_waking_samples_ask(self->kernel, &attr) || probe(self->kernel, &attr) != 0)
		return NULL;
	LodePerfChoice *choice = choice_new("", &attr);
	g_free(choice->name);
	choice->name = g_strdup(LODE_WAKING_EVENT);
	choice->is_tracking = true;
	choice->is_switching = true;
	return choice;
}

static bool check_frequency(
	const LodePerfKernel *kernel, const LodePerfSamplerOptions *options, GError **error)
{
	int64_t bound = lode_perf_kernel_setting(kernel, "perf_event_max_sample_rate", G_MAXINT64);

	if (options->period > 0 || options->frequency <= (uint64_t)MAX(bound, 0))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"%" G_GUINT64_FORMAT
		" samples a second are more than kernel.perf_event_max_sample_rate, "
		"%" G_GINT64_FORMAT
		"; ask for fewer, or 'sudo sysctl kernel.perf_event_max_sample_rate="
		"%" G_GUINT64_FORMAT "'",
		options->frequency, bound, options->frequency);
	return false;
}

static bool is_timer(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		       attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool is_stoppable(const LodePerfSamplerOptions *options)
{
	return options->control.start_stopped || options->control.fifo != NULL ||
	       options->control.delay_ms > 0 ||
	       (options->observer != NULL && options->observer->round != NULL);
}

/* The names in "cycles:u,cpu/event=1,umask=2/,page-faults", where commas in slashes separate none.
 */
static GPtrArray *names_in(const char *const *texts)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (; texts != NULL && *texts != NULL; texts++) {
		const char *start = *texts, *at = start;
		for (bool is_inside = false; *at != '\0'; at++) {
			is_inside ^= *at == '/';
			if (*at != ',' || is_inside)
				continue;
			g_ptr_array_add(names, g_strndup(start, (gsize)(at - start)));
			start = at + 1;
		}
		g_ptr_array_add(names, g_strdup(start));
	}
	return names;
}

static bool add_choices(
	const Chooser *chooser, const GPtrArray *names, GPtrArray *choices, GError **error)
{
	int code;

	for (guint i = 0; i < names->len; i++) {
		LodePerfChoice *choice = choose(chooser, names->pdata[i], &code, error);
		if (choice == NULL)
			return false;
		g_ptr_array_add(choices, choice);
	}
	return true;
}

static void add_aside(const Chooser *chooser, const GPtrArray *names, GPtrArray *choices)
{
	int code;

	for (guint i = 0; i < names->len; i++) {
		g_autoptr(GError) refused = NULL;
		LodePerfChoice *choice = choose(chooser, names->pdata[i], &code, &refused);
		if (choice == NULL) {
			lode_perf_note(chooser->note, "not sampled: %s", refused->message);
			continue;
		}
		choice->is_aside = true;
		g_ptr_array_add(choices, choice);
	}
}

/* By an event of its own, as the period of one that was inherited does not change. */
static void add_stretch(GPtrArray *choices, LodePerfStretch stretch, uint64_t frequency)
{
	const LodePerfChoice *first = choices->pdata[0];
	LodePerfChoice *other = choice_new("", &first->attr);

	g_free(other->name);
	other->name = g_strdup(first->name);
	other->attr.sample_freq = frequency;
	other->stretch = stretch;
	g_ptr_array_insert(choices, 1, other);
}

bool lode_perf_choice_is_optional(const LodePerfChoice *self)
{
	return self->stretch == LODE_PERF_AT_FIRST || self->stretch == LODE_PERF_LATER ||
	       self->is_aside;
}

/* Where lode chooses how often it samples by a timer, that differs from stretch to stretch. */
static bool divide_first(const Chooser *self, GPtrArray *choices)
{
	LodePerfChoice *first = choices->pdata[0];
	int64_t bound = lode_perf_kernel_setting(
		self->kernel, "perf_event_max_sample_rate", G_MAXINT64);
	uint64_t frequency = MIN(self->options->first.frequency, (uint64_t)MAX(bound, 0));

	if (self->options->first.ms == 0 || is_stoppable(self->options) || !first->attr.freq ||
		!is_timer(&first->attr) || frequency <= first->attr.sample_freq)
		return false;
	if (!self->options->content.has_no_switches)
		add_stretch(choices, LODE_PERF_IN_SLICES,
			(uint64_t)CLAMP(bound, 1, LODE_PERF_SLICE_FREQUENCY));
	add_stretch(choices, LODE_PERF_AT_FIRST, frequency);
	first->stretch = LODE_PERF_LATER;
	return true;
}

static bool add_default(const Chooser *chooser, GPtrArray *choices, GError **error)
{
	LodePerfChoice *choice = choose_default(chooser, error);

	if (choice != NULL)
		g_ptr_array_add(choices, choice);
	return choice != NULL;
}

GPtrArray *lode_perf_choices_make(const LodePerfKernel *kernel,
	const LodePerfSamplerOptions *options, GString *note, GError **error)
{
	const Chooser chooser = {kernel, options, note, false, false},
		      exact = {kernel, options, note, true, false},
		      aside = {kernel, options, note, false, true};
	g_autoptr(GPtrArray) choices = g_ptr_array_new_with_free_func(choice_free);
	g_autoptr(GPtrArray) names = names_in(options->events);
	g_autoptr(GPtrArray) exact_names = names_in(options->exact_events);
	g_autoptr(GPtrArray) aside_names = names_in(options->aside_events);

	if (!check_frequency(kernel, options, error))
		return NULL;
	if (names->len == 0 && !add_default(&chooser, choices, error))
		return NULL;
	if (!add_choices(&chooser, names, choices, error) ||
		!add_choices(&exact, exact_names, choices, error))
		return NULL;
	add_aside(&aside, aside_names, choices);
	LodePerfChoice *first = choices->pdata[0];
	bool is_exact_data = options->content.has_data_addresses ||
	                     lode_window_options_has_addresses(&options->windows);
	bool has_data = is_exact_data || options->content.has_data_mappings;
	LodePerfChoice *switching = options->content.has_no_switches
	                                    ? NULL
	                                    : switching_choice(
						      &chooser, has_data && !is_exact_data);
	has_data &= is_exact_data || switching == NULL;
	if (is_stoppable(options) || divide_first(&chooser, choices))
		g_ptr_array_add(choices, tracking_choice(&chooser, has_data));
	else
		set_tracking(&first->attr, has_data);
	LodePerfChoice *waking = switching != NULL && switching->attr.sample_regs_user != 0
	                                 ? waking_choice(&chooser)
	                                 : NULL;
	if (options->content.has_each_wait &&
		(switching == NULL || switching->attr.sample_regs_user == 0))
		lode_perf_note(
			note, "the kernel lets no switch be sampled here: waits are looked at");
	if (switching != NULL)
		g_ptr_array_add(choices, switching);
	if (waking != NULL)
		g_ptr_array_add(choices, waking);
	return g_steal_pointer(&choices);
}
