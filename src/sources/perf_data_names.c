/* SPDX-License-Identifier: MIT */
/* Names of events, as perf makes them, for files that do not name them: "cpu-clock:u". */
#include "sources/perf_data_reader.h"

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
	const char *pmu = g_hash_table_lookup(self->pmu_names, GUINT_TO_POINTER(attribute->type));

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
	const char *known = g_hash_table_lookup(self->tracepoint_names, &attribute->config);

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
