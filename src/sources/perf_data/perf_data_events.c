/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording: from perf_event_attr as the file has it, of whatever length, and the
 * ids by which records name their event.
 */
#include "base/bits.h"
#include "sources/perf_data/perf_data_reader.h"

/* --- names --- */

/* Names of events, as perf makes them, for files that do not name them: "cpu-clock:u". */

static const char *const hardware_names[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software_names[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
	[PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
	[PERF_COUNT_SW_DUMMY] = "dummy",
	[PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
	[PERF_COUNT_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const cache_accesses[] = {"loads", "stores", "prefetches"};
static const char *const cache_misses[] = {"load-misses", "store-misses", "prefetch-misses"};

static void append_numbered(GString *name, const char *const *names, size_t n, uint64_t number)
{
	if (number < n)
		g_string_append(name, names[number]);
	else
		g_string_append_printf(name, "unknown-%" G_GINT64_MODIFIER "x", number);
}

static void append_cache(GString *name, uint64_t config)
{
	uint64_t cache = config & 0xff, access = config >> 8 & 0xff, result = config >> 16 & 0xff;

	append_numbered(name, cache_names, G_N_ELEMENTS(cache_names), cache);
	g_string_append_c(name, '-');
	append_numbered(name, result == 0 ? cache_accesses : cache_misses,
		G_N_ELEMENTS(cache_accesses), access);
}

static void append_breakpoint(GString *name, const LodePerfAttribute *attribute)
{
	/* bp_addr is what config1 is for other events. */
	g_string_append_printf(name, "mem:0x%" G_GINT64_MODIFIER "x:", attribute->config1);
	if (attribute->breakpoint_type & 1)
		g_string_append_c(name, 'r');
	if (attribute->breakpoint_type & 2)
		g_string_append_c(name, 'w');
	if (attribute->breakpoint_type & 4)
		g_string_append_c(name, 'x');
}

static void append_of_pmu(
	const LodePerfData *self, GString *name, const LodePerfAttribute *attribute)
{
	const char *pmu = g_hash_table_lookup(self->names.pmus, GUINT_TO_POINTER(attribute->type));

	if (pmu != NULL)
		g_string_append_printf(
			name, "%s/config=0x%" G_GINT64_MODIFIER "x/", pmu, attribute->config);
	else if (attribute->type == PERF_TYPE_RAW)
		g_string_append_printf(name, "raw 0x%" G_GINT64_MODIFIER "x", attribute->config);
	else
		g_string_append_printf(name, "type-%u/config=0x%" G_GINT64_MODIFIER "x/",
			attribute->type, attribute->config);
}

static void append_tracepoint(
	const LodePerfData *self, GString *name, const LodePerfAttribute *attribute)
{
	const char *known = g_hash_table_lookup(self->names.tracepoints, &attribute->config);

	if (known != NULL)
		g_string_append(name, known);
	else
		g_string_append_printf(
			name, "tracepoint-%" G_GINT64_MODIFIER "u", attribute->config);
}

/* ":u", ":kpp": what runs where, and how precisely; as perf, nothing when all is as usual. */
static void append_modifiers(GString *name, const LodePerfAttribute *attribute)
{
	const uint64_t flags = attribute->flags;
	const uint64_t rings = LODE_PERF_FLAG_EXCLUDE_KERNEL | LODE_PERF_FLAG_EXCLUDE_USER |
	                       LODE_PERF_FLAG_EXCLUDE_HYPERVISOR;
	g_autoptr(GString) modifiers = g_string_new(NULL);

	if ((flags & rings) != 0) {
		g_string_append(modifiers, flags & LODE_PERF_FLAG_EXCLUDE_KERNEL ? "" : "k");
		g_string_append(modifiers, flags & LODE_PERF_FLAG_EXCLUDE_USER ? "" : "u");
		g_string_append(modifiers, flags & LODE_PERF_FLAG_EXCLUDE_HYPERVISOR ? "" : "h");
	}
	for (uint64_t n = flags >> LODE_PERF_PRECISE_SHIFT & 3; n > 0; n--)
		g_string_append_c(modifiers, 'p');
	if ((flags & LODE_PERF_FLAG_EXCLUDE_HOST) && !(flags & LODE_PERF_FLAG_EXCLUDE_GUEST))
		g_string_append_c(modifiers, 'G');
	if (modifiers->len > 0)
		g_string_append_printf(name, ":%s", modifiers->str);
}

static char *make_name(const LodePerfData *self, const LodePerfAttribute *attribute)
{
	GString *name = g_string_new(NULL);

	switch (attribute->type) {
	case PERF_TYPE_HARDWARE:
		/* The upper half is the PMU of a machine with several kinds of cores. */
		append_numbered(name, hardware_names, G_N_ELEMENTS(hardware_names),
			attribute->config & UINT32_MAX);
		break;
	case PERF_TYPE_SOFTWARE:
		append_numbered(
			name, software_names, G_N_ELEMENTS(software_names), attribute->config);
		break;
	case PERF_TYPE_HW_CACHE:
		append_cache(name, attribute->config);
		break;
	case PERF_TYPE_TRACEPOINT:
		append_tracepoint(self, name, attribute);
		return g_string_free(name, FALSE);
	case PERF_TYPE_BREAKPOINT:
		append_breakpoint(name, attribute);
		break;
	default:
		append_of_pmu(self, name, attribute);
		break;
	}
	append_modifiers(name, attribute);
	return g_string_free(name, FALSE);
}

void lode_perf_data_make_names(LodePerfData *self, uint32_t first)
{
	for (uint32_t i = first; i < self->events->len; i++) {
		if (g_array_index(self->layouts, LodePerfLayout, i).is_named)
			continue;
		g_autofree char *name = make_name(
			self, &g_array_index(self->attributes, LodePerfAttribute, i));
		g_array_index(self->events, LodePerfEvent, i).name = g_string_chunk_insert(
			self->strings, name);
	}
}

/* The PMU of the cores' own counters, by the start of its name: types are numbered as they come. */
static bool is_core_pmu(const char *name)
{
	static const char *const starts[] = {"cpu/", "cpu_core/", "cpu_atom/", "cpu_lowpower/",
		"armv7_", "armv8_", "armv9_", "apple_"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(name, starts[i]))
			return true;
	return false;
}

bool lode_perf_event_is_late(const LodePerfEvent *event)
{
	switch (event->type) {
	case PERF_TYPE_SOFTWARE:
		return event->config == PERF_COUNT_SW_CPU_CLOCK ||
		       event->config == PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return event->precise == 0;
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return false;
	default:
		return event->precise == 0 && is_core_pmu(event->name);
	}
}

bool lode_perf_event_is_time(uint32_t type, uint64_t config)
{
	if (type == PERF_TYPE_SOFTWARE)
		return config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK;
	return type == PERF_TYPE_HARDWARE &&
	       (config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_REF_CPU_CYCLES);
}

/* --- events --- */

#define TRAILER_FIELDS                                                                             \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
		PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static uint64_t reverse_bits(uint64_t value)
{
	uint64_t reversed = 0;

	for (int i = 0; i < 64; i++)
		reversed |= (value >> i & 1) << (63 - i);
	return reversed;
}

/* A big-endian machine counts bit fields from the highest bit: the only one of two bits is
 * turned round by that. */
static uint64_t little_endian_flags(const LodePerfData *self, uint64_t flags)
{
	const uint64_t low = LODE_BIT(LODE_PERF_PRECISE_SHIFT), high = low << 1;

	if (!self->is_big_endian)
		return flags;
	flags = reverse_bits(flags);
	return (flags & ~(low | high)) | (flags & low) << 1 | (flags & high) >> 1;
}

LodePerfAttribute lode_perf_data_read_attribute(const LodePerfData *self, LodeByteCursor *cursor)
{
	LodePerfAttribute attribute = {.clock_id = -1};
	LodeByteCursor fields = *cursor;
	uint32_t size;

	attribute.type = lode_byte_cursor_u32(&fields);
	size = lode_byte_cursor_u32(&fields);
	/* The first kernels took 0 for the first size. */
	attribute.size = size == 0 ? LODE_PERF_ATTRIBUTE_MIN_BYTES : size;
	lode_byte_cursor_skip(cursor, attribute.size);
	if (attribute.size < LODE_PERF_ATTRIBUTE_MIN_BYTES)
		cursor->is_overrun = true;
	if (cursor->is_overrun)
		return attribute;
	fields.end = cursor->at;
	attribute.config = lode_byte_cursor_u64(&fields);
	attribute.period = lode_byte_cursor_u64(&fields);
	attribute.sample_type = lode_byte_cursor_u64(&fields);
	attribute.read_format = lode_byte_cursor_u64(&fields);
	attribute.flags = little_endian_flags(self, lode_byte_cursor_u64(&fields));
	lode_byte_cursor_skip(&fields, 4);
	attribute.breakpoint_type = lode_byte_cursor_u32(&fields);
	/* From here on, what a shorter attribute lacks is read as 0. */
	attribute.config1 = lode_byte_cursor_u64(&fields);
	attribute.config2 = lode_byte_cursor_u64(&fields);
	attribute.branch_sample_type = lode_byte_cursor_u64(&fields);
	attribute.user_registers = lode_byte_cursor_u64(&fields);
	lode_byte_cursor_skip(&fields, 4);
	attribute.clock_id = (int32_t)lode_byte_cursor_u32(&fields);
	attribute.interrupt_registers = lode_byte_cursor_u64(&fields);
	return attribute;
}

/* Words before the id in a sample; −1: a sample has none. */
static int find_id_word(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

/* Words from the id to the end of a trailer, its own with them; −1: a trailer has none. */
static int find_trailer_id_word(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(sample_type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

static bool is_same_layout(const LodePerfLayout *a, const LodePerfLayout *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type &&
	       a->n_user_registers == b->n_user_registers &&
	       a->n_interrupt_registers == b->n_interrupt_registers;
}

/* The id must stand at one place in the samples of all events, or they must all look the same. */
static void place_id(LodePerfData *self, const LodePerfLayout *layout)
{
	const LodePerfLayout *first = &g_array_index(self->layouts, LodePerfLayout, 0);
	int id_word = find_id_word(layout->sample_type);

	if (self->layouts->len == 1) {
		self->ids.word = id_word;
		self->ids.trailer_word = find_trailer_id_word(layout->sample_type);
		return;
	}
	if (id_word != self->ids.word || (id_word < 0 && !is_same_layout(first, layout)))
		self->is_ambiguous = true;
	if (find_trailer_id_word(layout->sample_type) != self->ids.trailer_word)
		self->ids.trailer_word = -1;
}

static LodePerfLayout make_layout(const LodePerfAttribute *attribute)
{
	LodePerfLayout layout = {
		.sample_type = attribute->sample_type,
		.read_format = attribute->read_format,
		.branch_sample_type = attribute->branch_sample_type,
		.n_user_registers = (unsigned)__builtin_popcountll(attribute->user_registers),
		.n_interrupt_registers = (unsigned)__builtin_popcountll(
			attribute->interrupt_registers),
	};

	if (attribute->flags & LODE_PERF_FLAG_SAMPLE_ID_ALL)
		layout.trailer_size = 8 * (unsigned)__builtin_popcountll(
						  attribute->sample_type & TRAILER_FIELDS);
	return layout;
}

void lode_perf_data_add_event(LodePerfData *self, const LodePerfAttribute *attribute)
{
	LodePerfLayout layout = make_layout(attribute);
	LodePerfEvent event = {
		.name = "",
		.type = attribute->type,
		.config = attribute->config,
		.sample_type = attribute->sample_type,
		.read_format = attribute->read_format,
		.branch_sample_type = attribute->branch_sample_type,
		.user_registers = attribute->user_registers,
		.interrupt_registers = attribute->interrupt_registers,
		.period_or_frequency = attribute->period,
		.is_frequency = (attribute->flags & LODE_PERF_FLAG_FREQUENCY) != 0,
		.precise = attribute->flags >> LODE_PERF_PRECISE_SHIFT & 3,
		.has_time = (attribute->sample_type & PERF_SAMPLE_TIME) != 0,
		.has_period = (attribute->sample_type & PERF_SAMPLE_PERIOD) != 0,
		.has_kernel = (attribute->flags & LODE_PERF_FLAG_EXCLUDE_KERNEL) == 0,
		.has_no_user_chains = (attribute->flags & LODE_PERF_FLAG_EXCLUDE_CALLCHAIN_USER) !=
	                              0,
		.has_switches = (attribute->flags & LODE_PERF_FLAG_CONTEXT_SWITCH) != 0,
		.has_tasks = (attribute->flags & LODE_PERF_FLAG_TASK) != 0,
		.is_inherited = (attribute->flags & LODE_PERF_FLAG_INHERIT) != 0,
	};

	g_array_append_val(self->layouts, layout);
	g_array_append_val(self->attributes, *attribute);
	g_array_append_val(self->events, event);
	self->has_tasks |= event.has_tasks;
	if (attribute->flags & LODE_PERF_FLAG_USE_CLOCK_ID && self->events->len == 1)
		self->info.clock_id = attribute->clock_id;
	place_id(self, &layout);
}

/* A damaged recording may have any type. */
enum { MAX_SKIPPED_TYPES = 64 };

/* Records that perf writes for itself, which say nothing about the program. */
static bool is_bookkeeping(uint32_t type)
{
	static const uint32_t types[] = {LODE_PERF_RECORD_HEADER_ATTR,
		LODE_PERF_RECORD_FINISHED_ROUND, LODE_PERF_RECORD_ID_INDEX,
		LODE_PERF_RECORD_THREAD_MAP, LODE_PERF_RECORD_CPU_MAP, LODE_PERF_RECORD_TIME_CONV,
		LODE_PERF_RECORD_FINISHED_INIT};

	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

void lode_perf_data_skip(LodePerfData *self, const LodePerfRawRecord *raw)
{
	GArray *skipped = self->info.left_out.skipped;
	LodePerfSkipped one = {raw->type, 1};
	guint i = 0;

	if (!raw->is_first_reading || is_bookkeeping(raw->type))
		return;
	self->info.left_out.n_skipped++;
	while (i < skipped->len && g_array_index(skipped, LodePerfSkipped, i).type != raw->type)
		i++;
	if (i == MAX_SKIPPED_TYPES)
		one.type = LODE_PERF_FURTHER_TYPES;
	if (i > MAX_SKIPPED_TYPES)
		i = MAX_SKIPPED_TYPES;
	if (i < skipped->len)
		g_array_index(skipped, LodePerfSkipped, i).n++;
	else
		g_array_append_val(skipped, one);
}

const char *lode_perf_data_record_name(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} names[] = {{8, "READ"}, {11, "AUX"}, {12, "ITRACE_START"}, {16, "NAMESPACES"},
		{17, "KSYMBOL"}, {18, "BPF_EVENT"}, {19, "CGROUP"}, {20, "TEXT_POKE"},
		{21, "AUX_OUTPUT_HW_ID"}, {72, "AUXTRACE_ERROR"}, {75, "STAT_CONFIG"}, {76, "STAT"},
		{77, "STAT_ROUND"}, {84, "BPF_METADATA"}, {85, "SCHEDSTAT_CPU"},
		{86, "SCHEDSTAT_DOMAIN"}, {32769, "KERNEL_SYMBOL"}, {32770, "DSO"},
		{32771, "SYMBOL"}, {32772, "SPLIT"}, {32773, "SPLIT_END"}, {32774, "EVENT_ID"},
		{32775, "CALLCHAIN"}, {32776, "UNWINDING_RESULT"}, {32777, "TRACING_DATA"}};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return NULL;
}

void lode_perf_data_add_id(LodePerfData *self, uint64_t id, uint32_t event)
{
	if (id == 0)
		return;
	self->ids.cache[id % LODE_PERF_ID_CACHE].id = 0;
	g_hash_table_insert(
		self->ids.known, g_memdup2(&id, sizeof(id)), GUINT_TO_POINTER(event + 1));
}

bool lode_perf_data_find_id_slowly(LodePerfData *self, uint64_t id, uint32_t *out_event)
{
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(self->ids.known, &id));

	if (found == 0)
		return false;
	*out_event = found - 1;
	self->ids.cache[id % LODE_PERF_ID_CACHE] = (LodePerfIdEntry){id, found - 1};
	return true;
}

void lode_perf_data_name_event(LodePerfData *self, uint32_t event, const char *name)
{
	if (event >= self->events->len || *name == '\0')
		return;
	g_array_index(self->events, LodePerfEvent, event).name = name;
	g_array_index(self->layouts, LodePerfLayout, event).is_named = true;
}
